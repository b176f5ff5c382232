package barbican

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
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

// What broke may work at once, but not what took too long.
func TestFaultsThatPass(t *testing.T) {
	for name, c := range map[string]struct {
		f    fault
		want bool
	}{
		"a broken way": {fault{kind: secret.ErrUnavailable, cause: errors.New("x")}, true}, "a timeout": {fault{kind: secret.ErrUnavailable, cause: context.DeadlineExceeded}, false}, "given up": {fault{cause: context.Canceled}, false},
		"500": {fault{status: 500}, true}, "502": {fault{status: 502}, true}, "503": {fault{status: 503}, true}, "504": {fault{kind: secret.ErrUnavailable, status: 504}, false}, "403": {fault{kind: secret.ErrForbidden, status: 403}, false},
	} {
		if c.f.passing() != c.want {
			t.Errorf("%s passes: %t", name, !c.want)
		}
	}
}

// An error is the server's where it has a code and a title in the place where that server writes them.
func TestErrorsThatAServerWrote(t *testing.T) {
	for body, by := range map[string]string{
		`{"code":404,"title":"Not Found"}`: keeper, `{"error":{"code":404,"title":"Not Found"}}`: issuer, `{"code":404}`: "", `{"title":"Not Found"}`: "", `{"error":{"title":"x"}}`: "", `{"error":{"code":1}}`: "",
		`{"code":404,"title":"x"`: "", `{"code":"404","title":"x"}`: "", "<html>": "",
	} {
		for _, server := range []string{keeper, issuer} {
			if speaks([]byte(body), server) != (server == by) {
				t.Errorf("%s is taken for the word of %s: %t", body, server, server != by)
			}
		}
	}
}
