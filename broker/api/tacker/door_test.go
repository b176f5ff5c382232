package tacker_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/tacker"
	"github.com/vimbroker/vimbroker/test/sentinel"
)

// No operation of this door reads a secret or an object of a VIM.
func TestTackersOperationsAreThese(t *testing.T) {
	var got []string
	for _, op := range tacker.Door(tacker.Options{}).Routes {
		got = append(got, op.Method+" "+op.Path)
		for _, p := range op.Also {
			if p != op.Path+".json" {
				t.Errorf("%s %s answers %s too", op.Method, op.Path, p)
			}
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{
		"DELETE /v1.0/vims/{id}", "GET /v1.0/extensions", "GET /v1.0/vims", "GET /v1.0/vims/{id}", "GET /{$}",
		"POST /v1.0/vims", "PUT /v1.0/vims/{id}",
	}, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

func TestEverySentinelHasTackersName(t *testing.T) {
	for _, compat := range []bool{false, true} {
		kinds := tacker.Door(tacker.Options{Compat: compat}).Kinds
		for name, err := range sentinel.All(t) {
			i := slices.IndexFunc(kinds, func(k api.ErrorKind) bool { return errors.Is(err, k.Err) })
			if i < 0 || kinds[i].Name == "" || kinds[i].Name == "HTTPInternalServerError" {
				t.Errorf("compat %v: %s has no name of Tacker's", compat, name)
			}
		}
	}
}

func TestEveryNextStepIsInTackersWords(t *testing.T) {
	words := tacker.Door(tacker.Options{}).Next
	for step := broker.NextNothing + 1; step < broker.NextEnd; step++ {
		if text := words[step]; text == "" || strings.Contains(text, "vimbroker ") || strings.Contains(text, "--") {
			t.Errorf("step %d is worded %q", step, text)
		}
	}
}
