package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// queueOf reads places as "project/VIM", with a "!" before those that have their turn; each is named by its number.
func queueOf(text string) (places []Place) {
	for n, word := range strings.Fields(text) {
		name, worked := strings.CutPrefix(word, "!")
		project, vim, _ := strings.Cut(name, "/")
		places = append(places, Place{Operation: fmt.Sprint(n), Project: project, VIM: vim, Waits: !worked})
	}
	return places
}

func TestTurns(t *testing.T) {
	terms := Terms{PerVIM: 3, PerProject: 2}
	for name, c := range map[string]struct{ queue, want string }{
		"room for all":                        {"a/x b/x", "0 1"},
		"nothing waits":                       {"!a/x !b/x", ""},
		"a project's bound, over VIMs":        {"!a/x !a/y a/z b/x", "3"},
		"a VIM's bound":                       {"!a/x !a/x !b/x b/x c/y", "4"},
		"in order":                            {"a/x a/x a/x", "0 1"},
		"who has less on the VIM goes first":  {"!a/x a/x a/x b/x", "3 1"},
		"one that has to wait keeps no other": {"!a/x !a/x a/x b/y", "3"},
		"where the VIM is not known":          {"!a/ !b/ !c/ d/ e/", "3 4"},
		"who waits is not under way":          {"a/ a/ a/ b/x b/x b/x c/", "0 3 6 1 4"},
		"turn about":                          {"a/x a/x b/x b/x", "0 2 1"},
	} {
		if got := strings.Join(terms.turns(queueOf(c.queue)), " "); got != c.want {
			t.Errorf("%s: of %q begin %q, want %q", name, c.queue, got, c.want)
		}
	}
}

// TestTurnsKeepTheBounds: no bound is exceeded, nothing waits that could begin, and of one project on one VIM those
// begin first that were queued first.
func TestTurnsKeepTheBounds(t *testing.T) {
	dice := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // the same each time
	for range 500 {
		terms := Terms{PerVIM: 1 + dice.IntN(5), PerProject: 1 + dice.IntN(5)}
		var places []Place
		for n := range dice.IntN(40) {
			places = append(places, Place{Operation: fmt.Sprint(n), Project: fmt.Sprint("p", dice.IntN(4)), VIM: fmt.Sprint("v", dice.IntN(3)), Waits: true})
		}
		begin := terms.turns(places)
		for n := range places {
			places[n].Waits = !slices.Contains(begin, places[n].Operation)
		}
		b, waits := terms.busyWith(places), map[[2]string]bool{}
		for project, n := range b.byProject {
			if n > terms.PerProject {
				t.Fatalf("project %s has %d of %d", project, n, terms.PerProject)
			}
		}
		for vim, n := range b.byVIM {
			if n > terms.PerVIM {
				t.Fatalf("VIM %s has %d of %d", vim, n, terms.PerVIM)
			}
		}
		for _, p := range places {
			if p.Waits && b.full(p) == "" {
				t.Fatalf("%+v waits for nothing", p)
			}
			if !p.Waits && waits[p.share()] {
				t.Fatalf("%+v begins before one that was queued before it", p)
			}
			waits[p.share()] = waits[p.share()] || p.Waits
		}
	}
}
