package conformance

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
)

// generationRaces checks that a generation stays for the last lease that needs it,
// and no longer, when leases end, are issued, and the VIM changes at the same time.
func generationRaces(t *testing.T, s storeTest) {
	v := s.mustCreateVIM(t, plainVIM("north", "v"))
	replace := func(number int64) error {
		_, err := s.UpdateVIM(s.ctx, v.ID, func(v *broker.VIM) error {
			if v.Current.Number >= number {
				return broker.ErrConflict
			}
			v.Current = fullGeneration(v.ID, number)
			return nil
		}, entry("replace"))
		return err
	}

	// All leases of a past generation end at once.
	var ids []string
	for range crowd {
		ids = append(ids, s.mustCreateLease(t, plainLease(v)).ID)
		s.mustMove(t, ids[len(ids)-1], broker.LeaseRevoking)
	}
	if err := replace(2); err != nil {
		t.Fatal(err)
	}
	end := func(id string) error {
		_, err := s.UpdateLease(s.ctx, id, func(l *broker.Lease) error {
			moveLease(l, broker.LeaseRevoked)
			l.Sealed = ""
			return nil
		}, entry("end"))
		return err
	}
	wantCounts(t, "ending all leases at once", together(crowd, func(i int) error { return end(ids[i]) }), map[error]int{nil: crowd})
	if now := s.mustVIM(t, v.ID); len(now.Past) != 0 || now.Current.Number != 2 {
		t.Errorf("generations once nobody needs the first: %d past, current %d", len(now.Past), now.Current.Number)
	}
	keys, err := s.RetiredKeys(s.ctx, 10)
	if err != nil || len(keys) != 1 || keys[0].Owner.Generation != 1 {
		t.Errorf("retired keys = %+v, %v; want that of the first generation, once", keys, err)
	}

	// Leases come and go while the VIM changes and is sealed anew.
	var issued atomic.Int64
	refused := together(crowd, func(i int) error {
		switch i % 5 {
		case 0:
			return replace(int64(3 + i/5))
		case 1:
			_, err := s.Rekey(s.ctx, v.ID, func(v *broker.VIM, leases []broker.Lease) error {
				for j := range v.Past {
					v.Past[j].Key += "'"
				}
				v.Current.Key += "'"
				for j := range leases {
					leases[j].SealedKey += "'"
				}
				return nil
			}, entry("rekey"))
			return err
		}
		for {
			now, err := s.VIM(s.ctx, v.ID)
			if err != nil {
				return err
			}
			l := plainLease(now)
			if _, err := s.CreateLease(s.ctx, l, broker.Quota{}, entry("lease")); errors.Is(err, broker.ErrConflict) {
				continue // changed in the meantime; the changes come to an end
			} else if err != nil {
				return err
			}
			issued.Add(1)
			_, err = s.UpdateLease(s.ctx, l.ID, func(l *broker.Lease) error {
				moveLease(l, broker.LeaseActive)
				l.Sealed, l.SealedKey = sealedText, now.Current.Key
				return nil
			}, entry("activate"))
			if i%2 == 0 {
				s.mustMove(t, l.ID, broker.LeaseRevoking)
				return end(l.ID)
			}
			return err
		}
	})
	for err, n := range refused {
		if err != nil && !errors.Is(err, broker.ErrConflict) {
			t.Errorf("%d answers are %v, want success or ErrConflict", n, err)
		}
	}
	now := s.mustVIM(t, v.ID)
	there := map[int64]broker.Generation{now.Current.Number: now.Current}
	for _, g := range now.Past {
		there[g.Number] = g
	}
	needed := map[int64]bool{now.Current.Number: true}
	leases, _, err := s.Leases(s.ctx, broker.LeaseFilter{VIM: v.ID, Page: broker.Page{Size: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leases {
		if !l.State.Live() && l.Sealed == "" {
			continue
		}
		needed[l.VIMGeneration] = true
		g, ok := there[l.VIMGeneration]
		if !ok {
			t.Errorf("a live lease needs generation %d, which is gone", l.VIMGeneration)
		} else if l.Sealed != "" && l.SealedKey != g.Key {
			t.Errorf("a lease is sealed with %q, its generation with %q", l.SealedKey, g.Key)
		}
	}
	for number := range there {
		if !needed[number] {
			t.Errorf("generation %d stayed, and nobody needs it", number)
		}
	}
	if issued.Load() != crowd*3/5 {
		t.Errorf("%d leases were issued, want %d", issued.Load(), crowd*3/5)
	}
	// No key that is in use is on the ledger.
	inUse, err := s.KeysInUse(s.ctx, v.ID)
	if err != nil {
		t.Fatal(err)
	}
	retired, err := s.RetiredKeys(s.ctx, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range retired {
		if g, ok := there[k.Owner.Generation]; ok && g.Key == k.Ref {
			t.Errorf("the key of generation %d is in use and to be destroyed", k.Owner.Generation)
		}
	}
	if len(inUse) != len(retired)+len(there) {
		t.Errorf("%d keys in use; want %d of generations and %d retired", len(inUse), len(there), len(retired))
	}
	VerifyLog(t, s.Store)
}
