package broker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/keyring"
)

// A row that is gone, or cannot make the move, is another's work by now: what was sealed for it is taken back.
func TestRekeyRow(t *testing.T) {
	type row struct{ keyring.SealedRow }
	for kind, overtaken := range map[error]bool{nil: false, broker.ErrConflict: true, broker.ErrNotFound: true, broker.ErrUnavailable: false} {
		stored := row{keyring.SealedRow{State: keyring.Active}}
		r := broker.RekeyRow("field", time.Now, func(r *row) *keyring.SealedRow { return r.OwnedBy("id") },
			func(_ context.Context, change func(*row) error) (row, error) {
				err := errors.Join(change(&stored), kind)
				return stored, err
			})
		h, err := r.Update(t.Context(), func(h *keyring.SealedRow) error { h.State = keyring.Rekeying; return nil })
		if errors.Is(err, keyring.ErrOvertaken) != overtaken || kind != nil && !errors.Is(err, kind) {
			t.Errorf("%v is answered as %v", kind, err)
		}
		if stored.State != keyring.Rekeying || h.Owner.ID != "id" || h.Next.Generation != h.Owner.Generation+1 {
			t.Errorf("the row is %+v, answered %+v", stored, h)
		}
	}
}
