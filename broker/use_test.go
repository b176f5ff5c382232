package broker_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/fake"
)

// TestAVIMThatAnInstanceStandsOnIsNotDeleted: it is refused in each way, names the instance, and ends no lease.
func TestAVIMThatAnInstanceStandsOnIsNotDeleted(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	i, leave := conformance.Occupy(t, b.store.Store.(conformance.LifecycleStore), v.ID)
	for _, del := range []broker.Deletion{{}, {Drain: true}, {Force: true}, {Drain: true, Force: true}} {
		_, _, err := b.DeleteVIM(t.Context(), root, v.ID, del)
		var known *broker.Error
		if !errors.As(err, &known) || known.Kind != broker.ErrConflict || known.Next != broker.NextEndUses || !strings.Contains(known.Detail, i.ID) {
			t.Errorf("DeleteVIM(%+v) = %v, want %v that names the instance", del, err, broker.ErrConflict)
		}
	}
	if now, err := b.VIM(t.Context(), alice, v.ID); err != nil || now.State != broker.VIMRegistered || b.row(l.ID).State != broker.LeaseActive {
		t.Errorf("the VIM is %s, %v, and its lease %s, want both as they were", now.State, err, b.row(l.ID).State)
	}
	leave()
	if _, gone, err := b.DeleteVIM(t.Context(), alice, v.ID, broker.Deletion{Drain: true}); err != nil || !gone {
		t.Errorf("DeleteVIM after the instance = %v, %v, want it gone", gone, err)
	}
}

// TestForceGivesUpWhatStandsOnAVIMThatIsGone: only where a check did not reach it.
func TestForceGivesUpWhatStandsOnAVIMThatIsGone(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	_, leave := conformance.Occupy(t, b.store.Store.(conformance.LifecycleStore), v.ID)
	b.kube.Fail(fake.Fault{Kind: fake.Drop, Times: -1})
	if _, err := b.CheckVIM(t.Context(), alice, v.ID); err != nil {
		t.Fatal(err)
	}
	_, _, err := b.DeleteVIM(t.Context(), alice, v.ID, broker.Deletion{Drain: true})
	wantKind(t, "draining it", err, broker.ErrConflict)
	if _, gone, err := b.DeleteVIM(t.Context(), root, v.ID, broker.Deletion{Drain: true, Force: true}); err != nil || !gone {
		t.Errorf("DeleteVIM(force) = %v, %v, want it gone", gone, err)
	}
	b.wantKeys(0)
	leave() // its rows can be written still
}
