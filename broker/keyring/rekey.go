package keyring

import (
	"context"
	"errors"
	"time"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// endWithin bounds the end of resealing, which the end of the caller's context does not stop.
const endWithin = 30 * time.Second

// ErrOvertaken: the row is another's work by now, or gone.
var ErrOvertaken = errors.New("the row was changed at the same time")

// SealedRow is the part of a row that resealing reads and writes.
type SealedRow struct {
	State State
	// Since is when the row entered the state, or was taken over in it.
	Since time.Time
	// Owner is whom the key belongs to, and Next whom the next one will.
	Owner, Next secret.Owner
	Sealed
}

// OwnedBy completes the owners of a row of which the generation is kept.
func (h *SealedRow) OwnedBy(id string) *SealedRow {
	h.Owner.ID, h.Next = id, secret.Owner{ID: id, Generation: h.Owner.Generation + 1}
	return h
}

// Row is a row whose text is resealed.
type Row struct {
	// Field is the envelope's.
	Field string
	// Update changes the row by a function in one write, and returns the new row. If the function fails nothing is
	// written and its error is returned. A row that is gone, and a move that it cannot make, are [ErrOvertaken].
	Update func(ctx context.Context, change func(*SealedRow) error) (SealedRow, error)
	// Now is the store's time.
	Now func() time.Time
	// Text takes the place of the one that is sealed; nil keeps that.
	Text *secret.Text
}

// Rekey reseals the text of a row that is [Active], under a new key in a ring: intent, new key, one write that
// switches, and the end of the old key. A process that dies leaves the row [Rekeying], for [Ring.EndRekey].
func (r Ring) Rekey(ctx context.Context, to Ring, row Row) error {
	mine := row.Now()
	h, err := row.Update(ctx, func(h *SealedRow) error {
		if h.State != Active {
			return ErrOvertaken
		}
		h.State, h.Since = Rekeying, mine
		return nil
	})
	if err != nil {
		return err
	}
	failpoint.At("keyring.rekey-intent")
	err = r.switchKey(ctx, to, row, h)
	if errors.Is(err, ErrOvertaken) {
		return err
	}
	failpoint.At("keyring.rekeyed")
	return errors.Join(err, r.EndRekey(context.WithoutCancel(ctx), row, mine))
}

// switchKey seals the text of a row under a new key, and names it in the row, if that is still held.
func (r Ring) switchKey(ctx context.Context, to Ring, row Row, held SealedRow) error {
	text := row.Text
	if text == nil {
		stored, err := r.Open(ctx, held.Owner, row.Field, held.Sealed)
		if err != nil {
			return err
		}
		text = &stored
	}
	fresh, err := to.Seal(ctx, held.Next, row.Field, *text)
	if err != nil {
		return err
	}
	failpoint.At("keyring.rekey-stored")
	_, err = row.Update(ctx, func(now *SealedRow) error {
		if now.State != Rekeying || !now.Since.Equal(held.Since) {
			return ErrOvertaken
		}
		now.Owner, now.Sealed = held.Next, fresh
		return nil
	})
	if errors.Is(err, ErrOvertaken) { // the key belongs to no row
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
		defer cancel()
		err = errors.Join(err, to.Destroy(ctx, fresh))
	}
	return err
}

// EndRekey destroys all keys of a row but the one that it names, if the row is still in the resealing that
// began then.
func (r Ring) EndRekey(ctx context.Context, row Row, began time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	mine := row.Now()
	held := func(since time.Time, change func(*SealedRow)) (SealedRow, error) {
		return row.Update(ctx, func(h *SealedRow) error {
			if h.State != Rekeying || !h.Since.Equal(since) {
				return ErrOvertaken
			}
			change(h)
			return nil
		})
	}
	h, err := held(began, func(h *SealedRow) { h.Since = mine }) // no process switches from here on
	if err == nil {
		err = r.Sweep(ctx, h.Owner.ID, func() ([]Sealed, error) { return []Sealed{h.Sealed}, nil })
	}
	if err == nil {
		_, err = held(mine, func(h *SealedRow) { h.State = Active })
	}
	if errors.Is(err, ErrOvertaken) {
		return nil // another process settles it, or it is no longer needed
	}
	return err
}
