package subscription

import (
	"context"
	"errors"
	"fmt"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/keyring"
)

// Reseal reseals the secrets of the subscriptions that due selects, under new keys in the key store that due names,
// and destroys the old keys. It is for [broker.Registry.RekeyRest], which has decided on and recorded it.
func (s *Subscriptions) Reseal(ctx context.Context, due broker.Due) error {
	var failed []error
	q := Query{Sealed: true}
	for one, err := range broker.Pages(&q.Page, func() ([]Subscription, string, error) { return s.Store.Subscriptions(ctx, q) }) {
		if err == nil && one.State.Needed() && due.Selects(one.held().Sealed) {
			if err = s.Keys.Rekey(ctx, due.To, s.sealedRow(one)); errors.Is(err, broker.ErrNotFound) { // it was deleted
				err = nil
			}
			if err != nil {
				err = fmt.Errorf("subscription %s: %w", one.ID, keyFault(err)) // others may open
			}
		}
		if failed = append(failed, err); ctx.Err() != nil {
			return errors.Join(append(failed, ctx.Err())...)
		}
	}
	return errors.Join(failed...)
}

func (s Subscription) held() keyring.SealedRow {
	return keyring.SealedRow{
		State: s.State, Since: s.Since, Owner: s.Owner(), Next: s.Owner(),
		Sealed: keyring.Sealed{KeyStore: s.KeyStore, Ref: s.Ref, Text: s.Sealed},
	}
}

// sealedRow is the row of a subscription, for resealing.
func (s *Subscriptions) sealedRow(one Subscription) keyring.Row {
	update := func(ctx context.Context, change func(*keyring.SealedRow) error) (keyring.SealedRow, error) {
		now, err := s.Store.RekeySubscription(ctx, one.ID, func(now *Subscription) error {
			held := now.held()
			err := change(&held)
			now.State, now.Since, now.KeyStore, now.Ref, now.Sealed = held.State, held.Since, held.KeyStore, held.Ref, held.Text
			return err
		})
		if errors.Is(err, broker.ErrConflict) || errors.Is(err, broker.ErrNotFound) {
			err = fmt.Errorf("%w: %w", keyring.ErrOvertaken, err)
		}
		return now.held(), err
	}
	return keyring.Row{Field: sealedField, Now: s.Now, Update: update}
}
