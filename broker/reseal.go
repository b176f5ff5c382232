package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// SealAnew is the pass that seals anew, under new keys, every VIM with an earlier
// generation that is still sealed as the current one. It does one VIM after the other
// while all are in use, and may end at any point: the next pass goes on. It also
// reports keys that no row explains.
func (b *Registry) SealAnew(ctx context.Context) error {
	var due []VIM
	err := b.eachVIM(ctx, VIMFilter{State: VIMRegistered}, func(v VIM) {
		if v.Pending == nil && v.sealedOtherwise() {
			due = append(due, v)
		}
	})
	for _, v := range due {
		if sealErr := b.sealVIMAnew(ctx, v); sealErr != nil && ctx.Err() == nil {
			b.log.WarnContext(ctx, "a VIM could not be sealed anew", "vim", v.ID, "error", sealErr)
		}
	}
	return errors.Join(err, b.unexplainedKeys(ctx), ctx.Err())
}

// sealedOtherwise reports whether an earlier generation is still sealed as the current one.
func (v VIM) sealedOtherwise() bool {
	return slices.ContainsFunc(v.Past, func(g Generation) bool { return g.SealedAs != SealedPast })
}

func (b *Registry) sealVIMAnew(ctx context.Context, v VIM) error {
	act, err := b.enter(ctx, system("settle"), policy.VIMSettle, vimResource(v), policy.Wish{})
	if err != nil {
		return err
	}
	keys, err := b.keys.Only(v.Current.KeyStore)
	if err != nil {
		return b.refuse(ctx, act, notConfigured(ErrUnopenable, err))
	}
	_, err = b.sealAnew(ctx, keys, v, func(now *VIM) error { return now.writable(0) },
		act.With(audit.DetailReason, "an earlier generation was sealed as the current one"))
	return err
}

// unexplainedKeys counts the VIMs that keys name and no row does: after an old
// backup was restored those were registered later, and their leases may be alive.
func (b *Registry) unexplainedKeys(ctx context.Context) error {
	used, err := b.ledger.KeysInUse(ctx, "")
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, k := range used {
		known[k.Owner.ID] = true
	}
	signing, err := b.signatures.SigningKeys(ctx)
	if err != nil {
		return err
	}
	for _, k := range signing { // one that is being made names no key yet
		known[k.ID] = true
	}
	unexplained := map[string]string{} // VIM's id, key store
	for _, keys := range b.keys {
		held, err := keys.List(ctx, "")
		if err != nil {
			return fmt.Errorf("listing the keys of %s: %w", keys.Name(), err)
		}
		for _, h := range held {
			if !known[h.Owner.ID] {
				unexplained[h.Owner.ID] = keys.Name()
			}
		}
	}
	for id, store := range unexplained {
		switch _, err := b.vims.VIM(ctx, id); {
		case err == nil: // being registered
			delete(unexplained, id)
		case !errors.Is(err, ErrNotFound):
			return fmt.Errorf("looking for the VIM of a key: %w", err)
		default:
			b.log.ErrorContext(ctx, "a key names a VIM that no row explains: its leases may be alive, register it again and take its inventory",
				"vim", id, "keyStore", store)
		}
	}
	b.discrepancies.setUnexplained(len(unexplained))
	return nil
}
