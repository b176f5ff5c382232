package broker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// spoiltKeys is a key store that can be told to fail.
type spoiltKeys struct {
	secret.KeyStore
	undeletable bool
	// another gives a key back that is not the one that was put.
	another bool
}

var errUndeletable = errors.New("the key store deletes nothing now")

func (k *spoiltKeys) Delete(ctx context.Context, r secret.Ref) (secret.Erasure, error) {
	if k.undeletable {
		return "", errUndeletable
	}
	return k.KeyStore.Delete(ctx, r)
}

func (k *spoiltKeys) Put(ctx context.Context, o secret.Owner, key *secret.Key) (secret.Ref, error) {
	if !k.another {
		return k.KeyStore.Put(ctx, o, key)
	}
	other, err := secret.NewKey()
	if err != nil {
		return "", err
	}
	defer other.Clear()
	return k.KeyStore.Put(ctx, o, other)
}

// spoilKeys starts the broker anew on a key store that can be told to fail.
func (b *bench) spoilKeys() *spoiltKeys {
	k := &spoiltKeys{KeyStore: b.keys}
	b.options.Keys = []secret.KeyStore{k}
	b.Broker = mustNew(b.t, b.options)
	return k
}

// Once the key store deletes again, what failed meanwhile is settled by the next pass, and the key can be replaced.
func TestAFailedWriteDoesNotWaitAsOneOfADeadProcess(t *testing.T) {
	b := newBench(t, benchOptions{})
	keys := b.spoilKeys()
	v := b.mustRegister(alice, "edge1")
	keys.another, keys.undeletable = true, true
	_, err := b.RekeyVIM(t.Context(), alice, v.ID, "", 0)
	wantKind(t, "RekeyVIM() where the key store gives another key back and deletes none", err, broker.ErrUnavailable)
	keys.another, keys.undeletable = false, false
	if got, err := b.store.VIM(t.Context(), v.ID); err != nil || got.Pending == nil {
		t.Fatalf("a key that could not be destroyed is forgotten (%v)", err)
	}
	b.clock.Add(time.Second)
	if err := b.Settle(t.Context(), b.clock.Now().Add(-b.options.Terms.AbandonedAfter)); err != nil {
		t.Fatal(err)
	}
	b.wantKeys(1)
	if _, err := b.RekeyVIM(t.Context(), alice, v.ID, "", 0); err != nil {
		t.Errorf("RekeyVIM() after the next pass = %v", err)
	}
}

// A new key is read back, and opens what is sealed with it, before an old one goes.
func TestAKeyThatIsNotWhatWasStoredReplacesNone(t *testing.T) {
	b := newBench(t, benchOptions{})
	keys := b.spoilKeys()
	v := b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	keys.another = true
	_, err := b.RekeyVIM(t.Context(), alice, v.ID, "", 0)
	wantKind(t, "RekeyVIM() where the key store gives another key back", err, broker.ErrUnavailable)
	keys.another = false
	b.wantKeys(1)
	b.mustIssue(alice, "edge1")
	if _, _, err := b.RenewLease(t.Context(), alice, l.ID, 0); err != nil {
		t.Errorf("RenewLease() afterwards = %v", err)
	}
}

// A key that cannot be destroyed now stays on the ledger until it is.
func TestAKeyStaysOnTheLedgerUntilItIsDestroyed(t *testing.T) {
	b := newBench(t, benchOptions{})
	keys := b.spoilKeys()
	v := b.mustRegister(alice, "edge1")
	keys.undeletable = true
	if _, err := b.RekeyVIM(t.Context(), alice, v.ID, "", 0); err != nil {
		t.Fatal(err)
	}
	if err := b.Settle(t.Context(), b.clock.Now()); err == nil {
		t.Error("Settle() = nil although a retired key cannot be destroyed")
	}
	if retired, err := b.store.RetiredKeys(t.Context(), 10); err != nil || len(retired) != 1 {
		t.Errorf("the ledger names %d retired keys, %v, want the one that is still there", len(retired), err)
	}
	keys.undeletable = false
	if err := b.Settle(t.Context(), b.clock.Now()); err != nil {
		t.Error(err)
	}
	if retired, err := b.store.RetiredKeys(t.Context(), 10); err != nil || len(retired) != 0 {
		t.Errorf("the ledger names %d retired keys, %v, want none", len(retired), err)
	}
	b.wantKeys(1)
}

// The row of a registration that died goes after its key: a key without a row is
// nobody's.
func TestADeadRegistrationStaysUntilItsKeyIsDestroyed(t *testing.T) {
	b := newBench(t, benchOptions{})
	keys := b.spoilKeys()
	b.store.fail("UpdateVIM", 1) // the switch, after the key was stored
	keys.undeletable = true      // and the undoing fails as well
	_, err := b.RegisterVIM(t.Context(), alice, b.registration("edge1"))
	wantKind(t, "RegisterVIM()", err, broker.ErrUnavailable)
	stored := func() (rows, held int) {
		vims, _, err := b.store.VIMs(t.Context(), broker.VIMFilter{Page: broker.Page{Size: 10}})
		all, keysErr := b.keys.List(t.Context(), "")
		if err != nil || keysErr != nil {
			t.Fatal(err, keysErr)
		}
		return len(vims), len(all)
	}
	for _, when := range []string{"after the failed registration", "after a settle pass"} {
		if rows, held := stored(); rows != 1 || held != 1 {
			t.Errorf("%s there are %d rows and %d keys, want the row to stay with its key", when, rows, held)
		}
		b.clock.Add(time.Hour)
		if err := b.Settle(t.Context(), b.clock.Now()); err == nil {
			t.Error("Settle() = nil although a key cannot be destroyed")
		}
	}
	keys.undeletable = false
	b.clock.Add(time.Hour)
	if err := b.Settle(t.Context(), b.clock.Now()); err != nil {
		t.Error(err)
	}
	if rows, held := stored(); rows != 0 || held != 0 {
		t.Errorf("at last there are %d rows and %d keys, want none", rows, held)
	}
}

// What is sealed for one lease does not open as another's, also under the same key.
func TestSealedCopiesOfTwoLeasesCannotBeSwapped(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	requests := []broker.LeaseRequest{{VIM: "edge1", IdempotencyKey: "k1"}, {VIM: "edge1", IdempotencyKey: "k2"}}
	var leases []broker.Lease
	for _, r := range requests {
		l, _, err := b.IssueLease(t.Context(), alice, r)
		if err != nil {
			t.Fatal(err)
		}
		leases = append(leases, b.row(l.ID))
	}
	for i, l := range leases {
		_, err := b.store.UpdateLease(t.Context(), l.ID, func(now *broker.Lease) error {
			now.Sealed = leases[1-i].Sealed
			return nil
		}, audit.Entry{Time: b.clock.Now(), Outcome: audit.Done})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range requests {
		_, config, err := b.IssueLease(t.Context(), alice, r)
		wantKind(t, "the repeat for a lease that has another's sealed copy", err, broker.ErrUnopenable)
		if !config.Token.Empty() {
			t.Error("the credential of another lease was handed out")
		}
	}
}
