package conformance

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// rekeys checks that a VIM is sealed anew all at once: its generations, and the
// leases that are sealed with their keys.
func rekeys(t *testing.T, s storeTest) {
	s.mustCreateVIM(t, plainVIM("north", "vim"))
	bystander := s.mustCreateLease(t, fullLease(s.mustCreateVIM(t, plainVIM("north", "bystander"))))
	vims, _, err := s.VIMs(s.ctx, broker.VIMFilter{Name: "vim"})
	if err != nil || len(vims) != 1 {
		t.Fatalf("VIMs = %d, %v", len(vims), err)
	}
	v := vims[0]
	first := plainLease(v)
	first.Sealed, first.SealedKey = "first", v.Current.Key
	s.mustCreateLease(t, first)
	empty := s.mustCreateLease(t, plainLease(v))
	v, err = s.UpdateVIM(s.ctx, v.ID, func(v *broker.VIM) error {
		v.Current = fullGeneration(v.ID, 2)
		return nil
	}, entry("second generation"))
	if err != nil || len(v.Past) != 1 {
		t.Fatalf("UpdateVIM = %+v, %v", v, err)
	}
	second := plainLease(v)
	second.Sealed, second.SealedKey = "second", v.Current.Key
	s.mustCreateLease(t, second)
	ended := plainLease(v)
	ended.Sealed, ended.SealedKey = "ended", v.Current.Key
	s.mustCreateLease(t, ended)
	for _, state := range []broker.LeaseState{broker.LeaseRevoking, broker.LeaseRevoked} { // and is still to be tried
		if _, err := s.UpdateLease(s.ctx, ended.ID, func(l *broker.Lease) error {
			if l.State = state; state == broker.LeaseRevoked {
				l.RevokedAt = epoch
			}
			return nil
		}, entry("end")); err != nil {
			t.Fatal(err)
		}
	}
	before := v

	refusal := errors.New("no")
	if _, err := s.Rekey(s.ctx, v.ID, func(v *broker.VIM, _ []broker.Lease) error {
		v.Current.Sealed, v.Current.Key = "lost", "lost"
		return refusal
	}, entry("refused")); err != refusal { //nolint:errorlint // the contract: as it is
		t.Errorf("Rekey = %v, want the change's own error", err)
	}
	wantSame(t, "VIM after a refused Rekey", s.mustVIM(t, v.ID), before)

	got, err := s.Rekey(s.ctx, v.ID, func(v *broker.VIM, leases []broker.Lease) error {
		sealed := map[string]string{}
		for i := range leases {
			sealed[leases[i].ID] = leases[i].Sealed
			leases[i].Sealed, leases[i].SealedKey = "anew "+leases[i].Sealed, "key "+leases[i].SealedKey
			leases[i].Role = "ignored"
		}
		wantSame(t, "leases given to change", sealed, map[string]string{first.ID: "first", second.ID: "second", ended.ID: "ended"})
		for _, g := range []*broker.Generation{&v.Past[0], &v.Current} {
			g.Sealed, g.Key, g.KeyStore = "anew "+g.Sealed, "key "+g.Key, "vault"
		}
		v.Name, v.State, v.Revision = "ignored", broker.VIMDraining, 99
		return nil
	}, entry("rekey"))
	if err != nil {
		t.Fatalf("Rekey = %v", err)
	}
	want := before
	want.Revision++
	want.Past = []broker.Generation{before.Past[0]}
	for _, g := range []*broker.Generation{&want.Past[0], &want.Current} {
		g.Sealed, g.Key, g.KeyStore = "anew "+g.Sealed, "key "+g.Key, "vault"
	}
	wantSame(t, "Rekey's answer", got, want)
	wantSame(t, "VIM after Rekey", s.mustVIM(t, v.ID), want)
	for id, sealed := range map[string]string{first.ID: "anew first", second.ID: "anew second", ended.ID: "anew ended", empty.ID: "", bystander.ID: bystander.Sealed} {
		l, err := s.Lease(s.ctx, id)
		if err != nil || l.Sealed != sealed || l.Role == "ignored" {
			t.Errorf("lease after Rekey = %q, role %q, %v; want %q", l.Sealed, l.Role, err, sealed)
		}
	}
	keys, err := s.RetiredKeys(s.ctx, 10)
	if err != nil {
		t.Fatal(err)
	}
	retired := map[secret.Ref]bool{}
	for _, k := range keys {
		retired[k.Ref] = true
	}
	wantSame(t, "retired keys", retired, map[secret.Ref]bool{before.Past[0].Key: true, before.Current.Key: true})

	// What was sealed with a key before it was replaced does not get in after it.
	_, err = s.UpdateLease(s.ctx, second.ID, func(l *broker.Lease) error {
		l.Sealed, l.SealedKey = "late", before.Current.Key
		return nil
	}, entry("late"))
	wantError(t, "UpdateLease sealed with a replaced key", err, broker.ErrConflict, "")
	if _, err = s.UpdateLease(s.ctx, second.ID, func(l *broker.Lease) error {
		l.Sealed, l.SealedKey = "in time", got.Current.Key
		return nil
	}, entry("in time")); err != nil {
		t.Errorf("UpdateLease sealed with the present key = %v", err)
	}

	_, err = s.Rekey(s.ctx, uuid.NewString(), func(*broker.VIM, []broker.Lease) error { return nil }, entry("missing"))
	wantError(t, "Rekey of a VIM that is gone", err, broker.ErrNotFound, "")
}
