package faults

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// KeysOf lists the keys that a key store holds, as a [World] has them.
func KeysOf(t testing.TB, keys secret.KeyStore) (all []string) {
	t.Helper()
	held, err := keys.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range held {
		all = append(all, fmt.Sprint("a key of generation ", k.Owner.Generation))
	}
	return all
}

// DestroyRetired destroys the keys that a ledger names, as a broker's pass does.
func DestroyRetired(ctx context.Context, ledger broker.KeyLedger, keys secret.KeyStore) error {
	retired, err := ledger.RetiredKeys(ctx, 100)
	failed := []error{err}
	for _, k := range retired {
		_, err := keys.Delete(ctx, k.Ref)
		failed = append(failed, err, ledger.ForgetKey(ctx, k))
	}
	return errors.Join(failed...)
}
