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
		if err == nil && one.State.Needed() && due.Selects(one.Sealed) {
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

// sealedRow is the row of a subscription, for resealing.
func (s *Subscriptions) sealedRow(one Subscription) keyring.Row {
	return broker.RekeyRow(sealedField, s.Now, (*Subscription).held,
		func(ctx context.Context, change func(*Subscription) error) (Subscription, error) {
			return s.Store.RekeySubscription(ctx, one.ID, change)
		})
}
