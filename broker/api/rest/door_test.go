package rest_test

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/rest"
)

// registry serves no type of VIM.
type registry struct{ rest.Registry }

func (registry) Types() []broker.Type { return nil }

func TestEveryNextStepIsInRESTsWords(t *testing.T) {
	d := rest.Door(rest.Options{Registry: registry{}})
	for step := broker.NextNothing + 1; step < broker.NextEnd; step++ {
		text := d.Next[step]
		if text == "" || strings.Contains(text, "vimbroker ") || strings.Contains(text, "--") {
			t.Errorf("step %d is worded %q", step, text)
		}
		for i, word := range strings.Fields(text) {
			if !strings.HasPrefix(word, "/v1/") {
				continue
			}
			path, _, _ := strings.Cut(strings.TrimSuffix(word, ","), "?")
			named, found := strings.Fields(text)[i-1]+" "+path, false
			for _, op := range d.Routes {
				found = found || op.Method+" "+op.Path == named
			}
			if !found {
				t.Errorf("step %d names %s, and there is no such operation", step, named)
			}
		}
	}
}
