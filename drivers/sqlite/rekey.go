package sqlite

import (
	"context"
	"fmt"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	sealedLeases = prepared(`SELECT ` + leaseColumns + ` FROM leases INDEXED BY lease_needs_generation
		WHERE vim = ? AND (live = 1 OR sealed <> '') AND sealed <> ''`)
	rekeyVIM = prepared(`UPDATE vims SET ` + rows.RekeyColumns.Set() + ` WHERE id = ?`)
	rekeyOne = prepared(`UPDATE vim_generations SET sealed = ?, sealed_as = ?, key_ref = ?, key_store = ? WHERE vim = ? AND number = ?`)
	resealed = prepared(`UPDATE leases SET sealed = ?, sealed_key = ? WHERE id = ?`)
)

// Rekey reseals the generations of a VIM, and everything sealed with their keys.
func (s *Store) Rekey(ctx context.Context, id string, change func(*broker.VIM, []broker.Lease) error, e audit.Entry) (broker.VIM, error) {
	var stored broker.VIM
	var refusal error // change's own error, returned unchanged
	err := s.write(ctx, func(t txn) error {
		v, err := t.vim(id)
		if err != nil {
			return err
		}
		found, err := t.query(sealedLeases, id)
		leases, err := collect(found, err, scanLeases())
		if err != nil {
			return err
		}
		revision := v.Revision + 1
		if refusal = change(&v, leases); refusal != nil {
			return refusal
		}
		for _, g := range append(v.Past, v.Current) {
			t.shared().RetireReplacedKey(id, g.Number, g.Key)
			if _, err := t.exec(rekeyOne, g.Sealed, string(g.SealedAs), string(g.Key), g.KeyStore, id, g.Number); err != nil {
				return err
			}
		}
		for _, l := range leases {
			if _, err := t.exec(resealed, l.Sealed, string(l.SealedKey), l.ID); err != nil {
				return err
			}
		}
		v.Revision = revision
		if _, err := t.exec(rekeyVIM, append(values(rows.RekeyColumns.Fields(rows.OfVIM(v))), id)...); err != nil {
			return err
		}
		if err := t.append(e); err != nil {
			return err
		}
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
