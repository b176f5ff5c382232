package conformance

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// auditTree adds entries and grows the tree in turn, and proves each state from the last.
func auditTree(t *testing.T, s storeTest) {
	now := func() tree.Head {
		t.Helper()
		if err := s.Grow(s.ctx); err != nil {
			t.Fatalf("Grow = %v", err)
		}
		state, err := s.Tree(s.ctx)
		if err != nil {
			t.Fatalf("Tree = %v", err)
		}
		return state
	}
	if state, err := s.Tree(s.ctx); err != nil || state != tree.Empty() {
		t.Errorf("Tree of an empty log = %v, %v, want %v", state, err, tree.Empty())
	}
	if got := now(); got != tree.Empty() {
		t.Errorf("Tree after Grow of an empty log = %v, want %v", got, tree.Empty())
	}
	var states []tree.Head
	for _, n := range []int{1, 2, 300} {
		var writers sync.WaitGroup
		for w := range 3 {
			writers.Go(func() {
				for i := w; i < n; i += 3 {
					e := entry(fmt.Sprintf("grown-%d-%d", n, i))
					e.Time = time.Now().Add(-time.Hour).UTC().Truncate(time.Microsecond)
					if err := s.Append(s.ctx, e); err != nil {
						t.Errorf("Append = %v", err)
					}
				}
			})
		}
		writers.Wait()
		if behind, err := s.Behind(s.ctx); err != nil || behind < time.Hour {
			t.Errorf("Behind while %d entries are not in the tree = %v, %v", n, behind, err)
		}
		states = append(states, now())
		if behind, err := s.Behind(s.ctx); err != nil || behind != 0 {
			t.Errorf("Behind once all entries are in the tree = %v, %v", behind, err)
		}
	}
	last := states[len(states)-1]
	entries, err := s.Entries(s.ctx, audit.Query{Limit: 1000})
	if err != nil || int64(len(entries)) != last.Size || last.Size != 303 {
		t.Fatalf("%d entries (%v) in a tree of %d, want 303", len(entries), err, last.Size)
	}
	for _, e := range entries {
		leaf, err := audit.Leaf(e)
		if err != nil {
			t.Fatal(err)
		}
		proof, err := tree.ProveInclusion(s.ctx, s.Store, last, e.Seq-1)
		if err != nil || tree.CheckInclusion(last, e.Seq-1, leaf, proof) != nil {
			t.Fatalf("entry %d is not proven to be in the log: %v", e.Seq, err)
		}
	}
	for _, before := range states {
		proof, err := tree.ProveConsistency(s.ctx, s.Store, last, before.Size)
		if err != nil || tree.CheckConsistency(last, before, proof) != nil {
			t.Errorf("the log of %d entries is not proven to go on from the one of %d: %v", last.Size, before.Size, err)
		}
	}
	if got := now(); got != last {
		t.Errorf("Grow without new entries = %v, want %v", got, last)
	}
}
