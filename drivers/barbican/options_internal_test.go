package barbican

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/drivers/keystone"
)

// Options at their last good values and beyond.
func TestOptionsAtTheEdge(t *testing.T) {
	good := Options{AuthURL: "https://k", Endpoint: "https://b", Folder: "f", Auth: keystone.Auth{ApplicationCredential: &keystone.ApplicationCredential{ID: "a", SecretFile: "f"}}}
	for name, c := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"as they are": {func(*Options) {}, ""}, "a timeout": {func(o *Options) { o.Timeout = 1 }, ""}, "a timeout below": {func(o *Options) { o.Timeout = -1 }, "timeout -1ns"},
		"a long folder": {func(o *Options) { o.Folder = strings.Repeat("f", 64) }, ""}, "a longer folder": {func(o *Options) { o.Folder = strings.Repeat("f", 65) }, "folder"}, "an odd folder": {func(o *Options) { o.Folder = ".f" }, "folder"},
		"no Keystone": {func(o *Options) { o.AuthURL = "" }, "address of Keystone"}, "no Barbican": {func(o *Options) { o.Endpoint = "x" }, "address of Barbican"}, "no login": {func(o *Options) { o.Auth = keystone.Auth{} }, "login"},
	} {
		o := good
		c.change(&o)
		if _, err := o.withDefaults(); err == nil != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
