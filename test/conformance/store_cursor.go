package conformance

import (
	"errors"
	"testing"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// cursors checks the contract of [delivery.Store].
func cursors(t *testing.T, s storeTest) {
	for _, what := range []string{"one", "two", "three"} {
		if err := s.Append(s.ctx, entry(what)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Grow(s.ctx); err != nil {
		t.Fatal(err)
	}
	some, err := s.EntriesAfter(s.ctx, 1, 10)
	if err != nil || len(some) != 2 || some[0].Seq != 2 || some[1].Seq != 3 || some[0].Resource != "two" {
		t.Errorf("EntriesAfter(1) = %+v, %v", some, err)
	}
	if some, err := s.EntriesAfter(s.ctx, 0, 2); err != nil || len(some) != 2 || some[0].Seq != 1 {
		t.Errorf("EntriesAfter(0, 2) = %+v, %v", some, err)
	}
	now := func() []delivery.Cursor {
		t.Helper()
		all, err := s.Cursors(s.ctx)
		if err != nil {
			t.Fatalf("Cursors = %v", err)
		}
		return all
	}
	if all := now(); len(all) != 0 {
		t.Errorf("Cursors of an empty store = %v", all)
	}
	for _, sink := range []string{"siem", "disk", "siem"} {
		if err := s.BeginCursor(s.ctx, sink, entry(sink)); err != nil {
			t.Errorf("BeginCursor(%s) = %v", sink, err)
		}
	}
	begun := []delivery.Cursor{{Sink: "disk", Start: 3}, {Sink: "siem", Start: 3}}
	if all := now(); len(all) == 2 {
		begun[0].Start = all[0].Start // what was begun before may have its place, or wait for it
	}
	wantSame(t, "cursors", now(), begun)
	if all, err := s.Entries(s.ctx, audit.Query{Limit: 10}); err != nil || len(all) != 5 {
		t.Errorf("there are %d entries (%v), want one for each sink that was begun", len(all), err)
	}
	to := delivery.Cursor{Sink: "siem", Seq: 2, Start: 3, Skipped: 1}
	if err := s.MoveCursor(s.ctx, begun[1], to); err != nil {
		t.Errorf("MoveCursor = %v", err)
	}
	if err := s.MoveCursor(s.ctx, begun[1], to); !errors.Is(err, delivery.ErrMoved) {
		t.Errorf("MoveCursor of one that was moved = %v, want ErrMoved", err)
	}
	if err := s.MoveCursor(s.ctx, delivery.Cursor{Sink: "none"}, to); !errors.Is(err, delivery.ErrMoved) {
		t.Errorf("MoveCursor of none = %v, want ErrMoved", err)
	}
	if err := s.MoveCursor(s.ctx, to, begun[1]); err == nil {
		t.Error("a cursor was moved back")
	}
	wantSame(t, "moved cursors", now(), []delivery.Cursor{begun[0], to})
}
