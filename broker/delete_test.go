package broker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// interruptedStore lets something happen, once, before a VIM is written.
type interruptedStore struct {
	broker.Store
	meanwhile func()
}

func (s *interruptedStore) interrupt() {
	if f := s.meanwhile; f != nil {
		s.meanwhile = nil
		f()
	}
}

func (s *interruptedStore) UpdateVIM(ctx context.Context, id string, change func(*broker.VIM) error, e audit.Entry) (broker.VIM, error) {
	s.interrupt()
	return s.Store.UpdateVIM(ctx, id, change, e)
}

func (s *interruptedStore) UpdateIdleVIM(ctx context.Context, id string, leased bool, change func(*broker.VIM) error, e audit.Entry) (broker.VIM, error) {
	s.interrupt()
	return s.Store.UpdateIdleVIM(ctx, id, leased, change, e)
}

// Whoever deletes a VIM that nobody uses must not take the lease of someone who
// was quicker.
func TestDeletingRevokesNoLeaseThatWasIssuedMeanwhile(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	var l broker.Lease
	options := b.options
	options.Store = &interruptedStore{Store: b.store, meanwhile: func() { l, _ = b.mustIssue(alice, v.Name) }}
	_, _, err := mustNew(t, options).DeleteVIM(t.Context(), alice, v.ID, broker.Deletion{})
	wantKind(t, "deleting a VIM that was leased meanwhile", err, broker.ErrConflict)
	if l = b.row(l.ID); l.State != broker.LeaseActive {
		t.Errorf("the lease is %s, want active", l.State)
	}
	if got, err := b.VIM(t.Context(), alice, v.ID); err != nil || got.State != broker.VIMRegistered {
		t.Errorf("the VIM is %s, %v, want registered", got.State, err)
	}
}

// A VIM whose row cannot be removed is not gone: it says why, and a later pass removes it and destroys its keys.
func TestAVIMWhoseRowStaysIsNotGone(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	b.store.fail("DeleteVIM", 1)
	left, gone, err := b.DeleteVIM(t.Context(), alice, v.ID, broker.Deletion{})
	if err != nil || gone || left.State != broker.VIMDraining || !strings.Contains(left.Health.Message, errQueued.Detail) || !left.Health.Next.After(b.clock.Now()) {
		t.Errorf("DeleteVIM = %s, %+v, gone %t, %v", left.State, left.Health, gone, err)
	}
	b.wantKeys(1)
	b.clock.Add(time.Hour)
	b.mustReap()
	if _, err := b.VIM(t.Context(), alice, v.ID); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("after a pass the VIM is there: %v", err)
	}
	b.wantKeys(0)
}

// A VIM's keepers see and revoke the leases that others took on it.
func TestLeasesOnOwnVIMsAreListed(t *testing.T) {
	b := newBench(t, benchOptions{})
	shared := true
	v := b.mustRegister(alice, "hub")
	if _, err := b.UpdateVIM(t.Context(), root, v.ID, broker.Change{Shared: &shared}); err != nil {
		t.Fatal(err)
	}
	lent, _ := b.mustIssue(mallet, v.ID)
	own, _ := b.mustIssue(alice, v.ID)
	for q, want := range map[*broker.LeaseQuery]int{{}: 2, {VIM: "hub"}: 2, {Principal: "mallet"}: 1} {
		if got, _, err := b.Leases(t.Context(), alice, *q); err != nil || len(got) != want {
			t.Errorf("Leases(%+v) of the VIM's keeper = %d, %v, want %d", *q, len(got), err, want)
		}
	}
	if got, _, err := b.Leases(t.Context(), mallet, broker.LeaseQuery{}); err != nil || len(got) != 1 || got[0].ID != lent.ID {
		t.Errorf("Leases() of the borrower = %v, %v, want its own", got, err)
	}
	if got, _, err := b.Leases(t.Context(), rita, broker.LeaseQuery{}); err != nil || len(got) != 1 || got[0].ID != own.ID {
		t.Errorf("Leases() of a reader = %v, %v, want the project's", got, err)
	}
	done, err := b.RevokeLeases(t.Context(), alice, broker.LeaseSelector{VIM: "hub"})
	if err != nil || len(done) != 2 || b.row(lent.ID).State != broker.LeaseRevoked {
		t.Errorf("RevokeLeases(hub) of its keeper = %d, %v, want both", len(done), err)
	}
}
