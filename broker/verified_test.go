package broker_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
)

// A lease whose holder must verify the VIM is refused on one that is not verified, before anything is there of it.
func TestALeaseOnAVerifiedVIM(t *testing.T) {
	b := newStandingBench(t, benchOptions{})
	request := standingRequest()
	request.Verified = true
	insecure := func(yes bool) {
		t.Helper()
		change := broker.Change{InsecureSkipVerify: &yes, Credential: b.registration("").Credential}
		if !yes {
			change.InsecureSkipVerify, change.CACert = nil, &b.kube.CA
		}
		if _, err := b.UpdateVIM(t.Context(), alice, "edge1", change); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(what string) {
		t.Helper()
		before := b.upstream()
		_, config, err := b.IssueLease(t.Context(), vnfm, request)
		if !errors.Is(err, broker.ErrUnsupported) || !strings.Contains(err.Error(), "caCert") || !config.LeaseSecret.Empty() {
			t.Errorf("%s: IssueLease() = %v, want it to name the remedy", what, err)
		}
		if after := b.upstream(); after != before {
			t.Errorf("%s: there are %d accounts upstream, not %d", what, after, before)
		}
	}
	insecure(true)
	refused("a VIM that is not verified")
	if leases, _, err := b.store.Leases(t.Context(), broker.LeaseFilter{Page: broker.Page{Size: 10}}); err != nil || len(leases) != 0 {
		t.Errorf("there are leases: %+v, %v", leases, err)
	}
	insecure(false)
	first, config, err := b.IssueLease(t.Context(), vnfm, request)
	if err != nil || config.CACert != b.kube.CA || config.LeaseSecret.Empty() {
		t.Fatalf("IssueLease() on a VIM that is verified = %v, CA %q", err, config.CACert)
	}
	again := request
	again.Verified = false
	if same, _, err := b.IssueLease(t.Context(), vnfm, again); err != nil || same.ID != first.ID {
		t.Errorf("a repeat without the demand is lease %s, %v; want %s", same.ID, err, first.ID)
	}
	insecure(true)
	request.IdempotencyKey, again.IdempotencyKey = "k2", "k2"
	refused("a VIM that is not verified any more")
	if _, _, err := b.IssueLease(t.Context(), vnfm, again); err != nil {
		t.Errorf("IssueLease() that demands nothing = %v", err)
	}
	refused("a repeat on a VIM that is not verified")
}
