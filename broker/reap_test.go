package broker

import (
	"context"
	"slices"
	"testing"
	"time"
)

// What a pass has tried in vain rests, and then waits behind what it has not tried: however
// long the others have waited, all have their turn.
func TestWhatWasTriedInVainWaitsBehindTheRest(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	waiting := func() []turn {
		return []turn{
			{vim: "under way", since: now.Add(-5 * time.Hour)},
			{vim: "resting", since: now.Add(-4 * time.Hour)},
			{vim: "rested", since: now.Add(-3 * time.Hour)},
			{vim: "untried", since: now.Add(-time.Hour)},
		}
	}
	underWay := map[string]bool{"under way": true}
	resting := map[string]time.Time{"resting": now.Add(time.Nanosecond), "rested": now}
	r := newFairQueue(10, 10)
	r.wait(rested(waiting(), underWay, resting, now))
	var got []string
	for turn, ok := r.next(); ok; turn, ok = r.next() {
		got = append(got, turn.vim)
	}
	if want := []string{"untried", "rested"}; !slices.Equal(got, want) {
		t.Errorf("turns are %q, want %q", got, want)
	}
}

// dueStore has VIMs on which leases are due, and VIMs that drain. It has nothing else.
type dueStore struct {
	Store
	due    []DueVIM
	drains []VIM
}

func (s dueStore) DueVIMs(context.Context, time.Time) ([]DueVIM, error) { return s.due, nil }

func (s dueStore) VIMs(context.Context, VIMFilter) ([]VIM, string, error) { return s.drains, "", nil }

// A VIM has one turn: for its leases, since the first of them is due, or for its drain, since
// that is due. Leases come first.
func TestATurnIsForLeasesOrADrain(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	draining := func(id string, since time.Duration) VIM {
		return VIM{ID: id, Project: "demo", State: VIMDraining, Health: Health{Next: now.Add(-since)}}
	}
	store := dueStore{
		due: []DueVIM{
			{VIM: "late leases", Project: "demo", Since: now.Add(-time.Minute)},
			{VIM: "leases and drain", Project: "demo", Since: now.Add(-2 * time.Minute)},
		},
		drains: []VIM{draining("late drain", time.Hour), draining("leases and drain", 3*time.Hour), draining("early drain", 2*time.Hour)},
	}
	b := &Leaser{core: &core{now: func() time.Time { return now }, leases: store, vims: store}}
	turns, err := b.reapable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := newFairQueue(10, 10)
	r.wait(turns)
	var got []string
	for turn, ok := r.next(); ok; turn, ok = r.next() {
		got = append(got, turn.vim)
	}
	if want := []string{"leases and drain", "late leases", "early drain", "late drain"}; !slices.Equal(got, want) {
		t.Errorf("turns are %q, want %q", got, want)
	}
}
