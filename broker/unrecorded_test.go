package broker_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
)

// inVain asks for a lease that is a project token, whose recording fails, and returns
// the lease's row and how many tokens there are more than before.
func (b *cloudBench) inVain(fail func()) (broker.Lease, func() int) {
	b.t.Helper()
	before := b.cloud.Tokens()
	fail()
	if _, _, err := b.IssueLease(b.t.Context(), root, broker.LeaseRequest{VIM: "core", Purpose: openstack.Heat}); err == nil {
		b.t.Fatal("a lease that could not be recorded was handed out")
	}
	all, _, err := b.store.Leases(b.t.Context(), broker.LeaseFilter{Page: broker.Page{Size: 10}})
	if err != nil || len(all) != 1 {
		b.t.Fatalf("there are %d leases, %v; want one", len(all), err)
	}
	return all[0], func() int { return b.cloud.Tokens() - before }
}

// A project token can be revoked by nothing but itself: it is not lost with the write
// that was to record it.
func TestATokenThatWasNotRecordedIsRevoked(t *testing.T) {
	b := newCloudBench(t, benchOptions{})
	l, more := b.inVain(func() { b.store.fail("UpdateLease", 1) })
	if l.State != broker.LeaseRevoked || more() > 0 {
		t.Errorf("the lease is %s, and %d tokens are left", l.State, more())
	}
}

func TestATokenThatWasNotRecordedIsRevokedWhenTheCloudIsBack(t *testing.T) {
	b := newCloudBench(t, benchOptions{})
	l, more := b.inVain(func() {
		b.store.fail("UpdateLease", 1)
		b.cloud.Fail(fake.Fault{Method: http.MethodDelete, Path: "/auth/tokens$", Kind: fake.Refuse, Status: 503, Times: -1})
	})
	if l.State != broker.LeaseRevoking || more() != 1 {
		t.Fatalf("while the cloud does not answer the lease is %s, and %d tokens are left", l.State, more())
	}
	b.cloud.Heal()
	b.clock.Add(time.Minute)
	b.mustReap()
	if l = b.row(l.ID); l.State != broker.LeaseRevoked || more() != 0 {
		t.Errorf("when it is back the lease is %s, and %d tokens are left", l.State, more())
	}
}

func TestATokenOfALeaseThatWasRevokedMeanwhileIsRevoked(t *testing.T) {
	b := newCloudBench(t, benchOptions{})
	l, more := b.inVain(func() {
		// Somebody revokes, and the reaper comes by, while the cloud makes the token.
		b.cloud.Fail(fake.Fault{Method: http.MethodGet, Path: "/trusts$", Kind: fake.Refuse, Status: 403, Reached: func() {
			if _, err := b.RevokeLeases(t.Context(), root, broker.LeaseSelector{VIM: "core"}); err != nil {
				t.Error(err)
			}
			b.clock.Add(3 * time.Minute)
			b.mustReap()
		}})
	})
	if l.State != broker.LeaseRevoked || more() > 0 {
		t.Errorf("the lease is %s, and %d tokens are left", l.State, more())
	}
}

// downStore is a store whose leases cannot be read or written from now on.
type downStore struct{ broker.Store }

func (downStore) UpdateLease(context.Context, string, func(*broker.Lease) error, audit.Entry) (broker.Lease, error) {
	return broker.Lease{}, errQueued
}

func (downStore) Lease(context.Context, string) (broker.Lease, error) {
	return broker.Lease{}, errQueued
}

// Where nothing can be recorded at all, as when the broker dies, nobody has the token,
// and it ends when the cloud's tokens do: here in an hour.
func TestATokenThatNobodyKnowsEndsByItself(t *testing.T) {
	b := newCloudBench(t, benchOptions{})
	l, more := b.inVain(func() {
		options := b.options
		options.Store = downStore{b.store}
		b.Broker = mustNew(t, options)
	})
	b.Broker = mustNew(t, b.options)
	b.clock.Add(10 * time.Minute)
	if err := b.Settle(t.Context(), b.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if now := b.row(l.ID); l.State != broker.LeasePending || now.State != broker.LeaseRevoked || now.Reason != broker.ReasonAbandoned || more() < 1 {
		t.Errorf("the lease was %s and is %s, %s; there are %d tokens more", l.State, now.State, now.Reason, more())
	}
	b.clock.Add(50 * time.Minute)
	if more() > 0 {
		t.Error("the token outlives the cloud's tokens")
	}
}
