package notary

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

const (
	// takeovers is how often a new key tries to take over, where another signs meanwhile.
	takeovers = 5
	// dropWithin bounds taking back what was begun.
	dropWithin = 30 * time.Second
)

// Rotate makes a new key, sealed in a ring of key stores, which takes over. The previous key
// endorses it, and both sign a checkpoint. The sealing key of the previous key's private
// half goes on the ledger of retired keys. If no key signs yet, the new one is the first.
func (n *Notary) Rotate(ctx context.Context, act *audit.Act, to keyring.Ring) (SigningKey, error) {
	return n.introduce(ctx, act, to, func(keys []SigningKey, mine *SigningKey, p pen) (*Checkpoint, error) {
		old, found := keyring.Signs(keys)
		if !found {
			return n.takeOver(ctx, act, mine, p)
		}
		before, err := n.open(ctx, old)
		if err != nil {
			return nil, err
		}
		signed, err := note.Sign(&note.Note{Text: endorsement(mine.Origin, mine.Verifier)}, before.signer)
		if err != nil {
			return nil, fmt.Errorf("endorsing a key: %w", err)
		}
		mine.Endorsement = string(signed)
		c, err := n.takeOver(ctx, act, mine, before, p)
		if err != nil {
			return nil, err
		}
		endIn(keys, old.ID, Retired, c.Size, n.now())
		return c, nil
	})
}

// Revoke ends a key that somebody else may have, or that is lost: its checkpoints of more
// than so many entries do not count. If it signs, a new key takes over without its endorsement:
// a verifier who has kept the old key must get the new one in another way. It returns the key
// that signs then.
func (n *Notary) Revoke(ctx context.Context, act *audit.Act, id string, until int64) (SigningKey, error) {
	keys, err := n.store.SigningKeys(ctx)
	if err != nil {
		return SigningKey{}, err
	}
	at := slices.IndexFunc(keys, func(k SigningKey) bool { return k.ID == id })
	switch {
	case at < 0:
		return SigningKey{}, ErrNone
	case !keys[at].State.CanMove(Revoked):
		return SigningKey{}, ErrEnded
	case keys[at].State == Signing:
		return n.introduce(ctx, act, n.keys, func(keys []SigningKey, mine *SigningKey, p pen) (*Checkpoint, error) {
			if old, found := keyring.Signs(keys); !found || old.ID != id {
				return nil, ErrOvertaken
			}
			c, err := n.takeOver(ctx, act, mine, p)
			if err == nil {
				endIn(keys, id, Revoked, min(until, c.Size), n.now())
			}
			return c, err
		})
	}
	if err := n.store.ChangeSigningKeys(ctx, func(now []SigningKey) ([]SigningKey, error) {
		if !same(keys, now) {
			return nil, ErrOvertaken
		}
		endIn(now, id, Revoked, min(until, keys[at].Until), n.now())
		return now, nil
	}, nil, act.Done()); err != nil {
		return SigningKey{}, err
	}
	now, _ := keyring.Signs(keys)
	return now, nil
}

func (n *Notary) makeFirst(ctx context.Context, act *audit.Act) (SigningKey, error) {
	return n.introduce(ctx, act, n.keys, func(keys []SigningKey, _ *SigningKey, _ pen) (*Checkpoint, error) {
		if _, other := keyring.Signs(keys); other {
			return nil, ErrOvertaken
		}
		return nil, nil
	})
}

// introduce makes a key that signs from now on: intent, key, one write that switches. plan gets
// the other keys inside that write, changes them and the new one, and returns the checkpoint to
// store with them.
func (n *Notary) introduce(
	ctx context.Context, act *audit.Act, to keyring.Ring, plan func(others []SigningKey, mine *SigningKey, p pen) (*Checkpoint, error),
) (SigningKey, error) {
	keys, err := n.store.SigningKeys(ctx)
	if err != nil {
		return SigningKey{}, err
	}
	mine := SigningKey{ID: uuid.NewString(), State: Making, CreatedAt: n.now()}
	mine.Origin = "vimbroker.audit/" + mine.ID
	if len(keys) > 0 {
		mine.Origin = keys[0].Origin
	}
	act.With(audit.DetailAuditKey, mine.ID)
	begun := mine
	add := func(now []SigningKey) ([]SigningKey, error) { return append(now, begun), nil }
	if err := n.store.ChangeSigningKeys(ctx, add, nil, act.Intent()); err != nil {
		return SigningKey{}, err
	}
	failpoint.At("audit.key-intent")
	err = func() error {
		p, err := n.fill(ctx, &mine, to)
		if err != nil {
			return err
		}
		mine.State = Signing
		for range takeovers {
			if err = n.switchTo(ctx, mine, p, plan, act); !errors.Is(err, ErrOvertaken) {
				break
			}
		}
		return err
	}()
	if err != nil {
		return SigningKey{}, errors.Join(err, n.drop(ctx, begun, act, "the key was not made"))
	}
	failpoint.At("audit.key-switched")
	if keys, err = n.store.SigningKeys(ctx); err != nil {
		return SigningKey{}, err
	}
	now, _ := keyring.Signs(keys)
	return now, nil
}

// switchTo lets a key take over in one write, if the keys are then those that plan has seen.
func (n *Notary) switchTo(
	ctx context.Context, mine SigningKey, p pen,
	plan func([]SigningKey, *SigningKey, pen) (*Checkpoint, error), act *audit.Act,
) error {
	seen, err := n.store.SigningKeys(ctx)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(seen), func(k SigningKey) bool { return k.ID == mine.ID })
	if len(others) == len(seen) {
		return fmt.Errorf("%w: making the key took too long", ErrOvertaken)
	}
	c, err := plan(others, &mine, p)
	if err != nil {
		return err
	}
	return n.store.ChangeSigningKeys(ctx, func(now []SigningKey) ([]SigningKey, error) {
		if !same(seen, now) {
			return nil, ErrOvertaken
		}
		return append(others, mine), nil
	}, c, act.Done())
}

// takeOver is the checkpoint with which a key takes over, signed by it and by others. It covers
// everything that was written before. If another process has signed all of that meanwhile, the
// intent is written again: no two checkpoints have the same size.
func (n *Notary) takeOver(ctx context.Context, act *audit.Act, mine *SigningKey, pens ...pen) (*Checkpoint, error) {
	last, now, err := n.look(ctx)
	if err == nil && last.Size == now.Size {
		unchanged := func(keys []SigningKey) ([]SigningKey, error) { return keys, nil }
		if err = n.store.ChangeSigningKeys(ctx, unchanged, nil, act.Intent()); err == nil {
			_, now, err = n.look(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	var signers []note.Signer
	for _, p := range pens {
		signers = append(signers, p.signer)
	}
	signed, err := tree.Sign(mine.Origin, now, signers...)
	if err != nil {
		return nil, err
	}
	mine.Since = now.Size
	return &Checkpoint{Head: now, Time: n.now(), Key: mine.ID, Note: signed}, nil
}

// Settle drops keys that were begun before a time and never signed: their process died.
func (n *Notary) Settle(ctx context.Context, before time.Time, begin Begin) error {
	keys, err := n.store.SigningKeys(ctx)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k.State != Abandoned && (k.State != Making || !k.CreatedAt.Before(before)) {
			continue
		}
		act, err := begin(ctx)
		if err != nil {
			return err
		}
		if err := n.drop(ctx, k, act.With(audit.DetailAuditKey, k.ID), "abandoned"); err != nil {
			return err
		}
	}
	return nil
}

// drop ends a key that never signed, so that it never will; then it destroys what seals the key, and
// removes its row. A key that signs by now stays.
func (n *Notary) drop(ctx context.Context, k SigningKey, act *audit.Act, why string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropWithin)
	defer cancel()
	var signs bool
	err := n.store.ChangeSigningKeys(ctx, func(now []SigningKey) ([]SigningKey, error) {
		for i := range now {
			if now[i].ID == k.ID && now[i].State == Making {
				now[i].State = Abandoned
			}
			signs = signs || now[i].ID == k.ID && now[i].State != Abandoned
		}
		return now, nil
	}, nil, act.Failed(why))
	if err != nil || signs {
		return err
	}
	if err := n.keys.Drop(ctx, k.ID); err != nil {
		return fmt.Errorf("destroying what seals a key that was abandoned: %w", err)
	}
	failpoint.At("audit.key-dropped")
	return n.store.ChangeSigningKeys(ctx, func(now []SigningKey) ([]SigningKey, error) {
		return slices.DeleteFunc(now, func(other SigningKey) bool { return other.ID == k.ID }), nil
	}, nil, act.Done(audit.DetailReason, "what sealed the key is destroyed"))
}

// endIn ends one of the keys, whose checkpoints count up to a size.
func endIn(keys []SigningKey, id string, state SigningKeyState, until int64, at time.Time) {
	for i := range keys {
		if keys[i].ID == id {
			keys[i].end(state, until, at)
		}
	}
}

func same(a, b []SigningKey) bool {
	return slices.EqualFunc(a, b, func(a, b SigningKey) bool { return a.ID == b.ID && a.State == b.State })
}
