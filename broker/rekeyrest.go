package broker

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Sealer keeps sealed texts that belong to no VIM: secrets of subscriptions, the key that signs tokens.
type Sealer interface {
	// Reseal seals each due text under a new key. A text that fails does not stop the others.
	Reseal(ctx context.Context, due Due) error
}

// AddSealer adds a sealer, before the broker is used.
func (b *Registry) AddSealer(s Sealer) { b.sealers = append(b.sealers, s) }

// Due selects the texts to seal again: those whose key is in another key store than that of To, and those that were sealed
// before a time.
type Due struct {
	To     keyring.Ring
	Before time.Time
}

// Selects reports whether a text is due.
func (d Due) Selects(s keyring.Sealed) bool {
	at, err := secret.SealedAt(s.Text)
	return s.Text != "" && (s.KeyStore != d.To.Name() || err != nil || at.Before(d.Before))
}

// RekeyRest seals anew what belongs to no VIM, and has its key in another key store than the one of that name (empty: the
// one for new keys), or was sealed before a time: secrets of subscriptions. Keys that sign tokens and checkpoints are
// replaced. Where something fails the rest is done, and the same call again goes on with it.
func (b *Registry) RekeyRest(ctx context.Context, p policy.Principal, keyStore string, before time.Time) error {
	act, err := b.enter(ctx, p, policy.VIMRotate, projectResource(anyProject), policy.Wish{})
	if err != nil {
		return err
	}
	to, err := b.keys.Only(keyStore)
	if err != nil {
		return b.refuse(ctx, act, notConfigured(ErrInvalid, err))
	}
	act.With(audit.DetailReason, "all that belongs to no VIM is sealed anew in "+to.Name())
	if err := b.entries.Append(ctx, act.Intent()); err != nil {
		return Unrecorded(err)
	}
	due := Due{To: to, Before: before}
	var failed []error
	for _, s := range b.sealers {
		failed = append(failed, s.Reseal(ctx, due))
	}
	if err := errors.Join(failed...); err != nil {
		return b.refuse(ctx, act, &Error{
			Kind: ErrUnavailable, Detail: "not all that belongs to no VIM is sealed anew: " + strings.ReplaceAll(err.Error(), "\n", "; "),
			Remedy: "repeat it in a few minutes", Cause: err,
		})
	}
	return b.entries.Append(ctx, act.Done())
}

// Reseal implements [Sealer] for the key that signs checkpoints.
func (b *Oversight) Reseal(ctx context.Context, due Due) error {
	keys, err := b.signatures.SigningKeys(ctx)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k.State != notary.Signing {
			continue
		}
		if due.Selects(keyring.Sealed{KeyStore: k.KeyStore, Ref: k.Ref, Text: k.Sealed}) {
			_, err = b.rotateAuditKey(ctx, system("notary"), due.To)
		}
		return err
	}
	return nil
}
