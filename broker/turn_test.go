package broker

import (
	"fmt"
	"testing"
	"time"
)

// turns are so many VIMs of a project that have waited since then.
func turns(project string, n int, since time.Time, drains bool) []turn {
	var all []turn
	for i := range n {
		all = append(all, turn{vim: fmt.Sprintf("%s-%03d", project, i), project: project, since: since.Add(time.Duration(i) * time.Second), drains: drains})
	}
	return all
}

// Whoever has many VIMs that hold their places leaves places to the others, however many wait.
func TestAProjectLeavesPlacesToOthers(t *testing.T) {
	long := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	late := long.Add(time.Hour)
	r := newRota(reapVIMs, reapOfProject)
	r.wait(append(turns("loud", 500, long, false), turns("loud", 500, long, true)...))
	taken := 0
	for _, ok := r.next(); ok; _, ok = r.next() {
		taken++
	}
	if taken != reapOfProject {
		t.Fatalf("one project has %d places, want %d", taken, reapOfProject)
	}
	r.wait(append(turns("loud", 500, long, false), turns("quiet", 1, late, false)...))
	if got, ok := r.next(); !ok || got.project != "quiet" {
		t.Errorf("next() = %v, %v, want the VIM of the other project", got, ok)
	}
	if got, ok := r.next(); ok {
		t.Errorf("next() = %v, want none: the loud project has its places", got)
	}
	r.leave("loud")
	if got, ok := r.next(); !ok || got.vim != "loud-000" {
		t.Errorf("next() = %v, %v, want the one that has waited longest", got, ok)
	}
	for range 100 { // each project may have few places, and all together no more than there are
		r.wait(append(turns("a", 20, long, false), append(turns("b", 20, long, false), turns("c", 20, long, false)...)...))
		r.next()
	}
	if r.taken != reapVIMs {
		t.Errorf("%d places are taken, want %d", r.taken, reapVIMs)
	}
}

// Leases come before drains, the longest wait before the shorter, and projects in turn.
func TestWhoseTurnItIs(t *testing.T) {
	long := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := newRota(reapVIMs, reapOfProject)
	r.wait([]turn{
		{vim: "old drain", project: "a", since: long, drains: true},
		{vim: "late", project: "a", since: long.Add(2 * time.Hour)},
		{vim: "early", project: "a", since: long.Add(time.Hour)},
		{vim: "of another", project: "b", since: long.Add(3 * time.Hour)},
		{vim: "drain of another", project: "b", since: long, drains: true},
	})
	for _, want := range []string{"early", "of another", "late", "drain of another", "old drain"} {
		if got, ok := r.next(); !ok || got.vim != want {
			t.Errorf("next() = %q, %v, want %q", got.vim, ok, want)
		}
	}
	if got, ok := r.next(); ok {
		t.Errorf("next() = %v, want none", got)
	}
}
