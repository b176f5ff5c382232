package postgres

import (
	"context"
	"fmt"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	sealedLeases = `SELECT ` + leaseColumns + ` FROM leases WHERE ` + sealedOnVIM + ` FOR UPDATE`
	rekeyVIM     = numbered(`UPDATE vims SET ` + rows.RekeyColumns.Set() + ` WHERE id = ?`)
	rekeyOne     = `UPDATE vim_generations SET sealed = $1, sealed_as = $2, key_ref = $3, key_store = $4 WHERE vim = $5 AND number = $6`
	resealed     = `UPDATE leases SET sealed = $1, sealed_key = $2 WHERE id = $3`
)

// Rekey reseals the generations of a VIM, and everything sealed with their keys.
func (s *Store) Rekey(ctx context.Context, id string, change func(*broker.VIM, []broker.Lease) error, e audit.Entry) (broker.VIM, error) {
	var stored broker.VIM
	var refusal error // change's own error, returned unchanged
	err := s.write(ctx, e, func(t txn) error {
		if _, err := t.hold(id); err != nil {
			return err
		}
		v, err := t.vim(id)
		if err != nil {
			return err
		}
		leases, err := query(t, scanLeases(), sealedLeases, id)
		if err != nil {
			return err
		}
		revision := v.Revision + 1
		if refusal = change(&v, leases); refusal != nil {
			return refusal
		}
		for _, g := range append(v.Past, v.Current) {
			t.shared().RetireReplacedKey(id, g.Number, g.Key)
			t.queue(rekeyOne, g.Sealed, string(g.SealedAs), string(g.Key), g.KeyStore, id, g.Number)
		}
		for _, l := range leases {
			t.queue(resealed, t.stow(l.ID, l.Sealed), string(l.SealedKey), l.ID)
		}
		v.Revision = revision
		t.queue(rekeyVIM, append(values(rows.RekeyColumns.Fields(rows.OfVIM(v))), id)...)
		stored, err = t.vim(id)
		return err
	})
	if refusal != nil {
		return broker.VIM{}, refusal
	}
	if err != nil {
		return broker.VIM{}, fmt.Errorf("sealing VIM %s anew: %w", id, err)
	}
	return stored, nil
}
