package broker_test

import (
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
)

// TestOwnersOfUnqualifiedRows has a version that did not qualify names store a VIM and
// leases for a Keystone caller. This version knows the caller as their owner, and
// nobody else of the same bare name.
func TestOwnersOfUnqualifiedRows(t *testing.T) {
	ctx := t.Context()
	b := newBench(t, benchOptions{})
	before := policy.Principal{Name: "u1@default", Project: "demo", Roles: []string{policy.RoleMember}}
	now := policy.Principal{Name: "keystone:u1@default", Formerly: "u1@default", Project: "demo", Roles: []string{policy.RoleMember}}
	other := policy.Principal{Name: "oidc:u1@default", Project: "demo", Roles: []string{policy.RoleMember}}

	registration := b.registration("edge1")
	registration.IdempotencyKey = "register"
	v, err := b.RegisterVIM(ctx, before, registration)
	if err != nil {
		t.Fatal(err)
	}
	request := broker.LeaseRequest{VIM: "edge1", TTL: time.Hour, IdempotencyKey: "issue"}
	l, _, err := b.IssueLease(ctx, before, request)
	if err != nil {
		t.Fatal(err)
	}

	if again, err := b.RegisterVIM(ctx, now, registration); err != nil || again.ID != v.ID {
		t.Errorf("the registration repeated = %s, %v; want %s", again.ID, err, v.ID)
	}
	if again, _, err := b.IssueLease(ctx, now, request); err != nil || again.ID != l.ID {
		t.Errorf("the lease request repeated = %s, %v; want %s", again.ID, err, l.ID)
	}
	if _, _, err := b.RenewLease(ctx, other, l.ID, time.Hour); err == nil {
		t.Error("another authenticator's caller of the same name renewed the lease")
	}
	if again, _, err := b.IssueLease(ctx, other, request); err != nil || again.ID == l.ID {
		t.Errorf("another authenticator's caller under the same key = %s, %v; want a lease of their own", again.ID, err)
	}
	if _, _, err := b.RenewLease(ctx, now, l.ID, time.Hour); err != nil {
		t.Errorf("the owner renews: %v", err)
	}
	if _, err := b.RevokeLease(ctx, now, l.ID); err != nil {
		t.Errorf("the owner revokes: %v", err)
	}
	fresh, _, err := b.IssueLease(ctx, now, broker.LeaseRequest{VIM: "edge1", TTL: time.Hour})
	if err != nil || fresh.Principal != now.Name {
		t.Errorf("a new lease is %q's (%v), want the qualified name", fresh.Principal, err)
	}
	if _, _, err := b.RenewLease(ctx, before, fresh.ID, time.Hour); err == nil {
		t.Error("a static caller of the bare name renewed the Keystone caller's lease")
	}
}
