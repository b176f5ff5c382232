package broker_test

import (
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
)

// TestOwnersAreQualified has callers of three authenticators under one bare name: each owns what is its own,
// idempotency keys included.
func TestOwnersAreQualified(t *testing.T) {
	ctx := t.Context()
	b := newBench(t, benchOptions{})
	caller := func(name string) policy.Principal {
		return policy.Principal{Name: name, Project: "demo", Roles: []string{policy.RoleMember}}
	}
	static, keystone, other := caller("u1@default"), caller("keystone:u1@default"), caller("oidc:u1@default")
	b.mustRegister(keystone, "edge1")
	request := broker.LeaseRequest{VIM: "edge1", TTL: time.Hour, IdempotencyKey: "issue"}
	l, _, err := b.IssueLease(ctx, keystone, request)
	if err != nil || l.Principal != keystone.Name {
		t.Fatalf("the lease is %q's (%v), want the qualified name", l.Principal, err)
	}
	for _, p := range []policy.Principal{static, other} {
		if _, _, err := b.RenewLease(ctx, p, l.ID, time.Hour); err == nil {
			t.Errorf("%s renewed the lease of %s", p.Name, keystone.Name)
		}
		if again, _, err := b.IssueLease(ctx, p, request); err != nil || again.ID == l.ID {
			t.Errorf("%s under the same key = %s, %v; want a lease of their own", p.Name, again.ID, err)
		}
	}
	if again, _, err := b.IssueLease(ctx, keystone, request); err != nil || again.ID != l.ID {
		t.Errorf("the lease request repeated = %s, %v; want %s", again.ID, err, l.ID)
	}
	if _, _, err := b.RenewLease(ctx, keystone, l.ID, time.Hour); err != nil {
		t.Errorf("the owner renews: %v", err)
	}
	if _, err := b.RevokeLease(ctx, keystone, l.ID); err != nil {
		t.Errorf("the owner revokes: %v", err)
	}
}
