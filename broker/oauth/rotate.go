package oauth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// keyLife is the time for which a key signs before the pass replaces it.
	keyLife = 30 * 24 * time.Hour
	// makingTime bounds the making of a key; an older attempt is a dead process's.
	makingTime = 5 * time.Minute
	// cleanupTime bounds the undoing of an attempt.
	cleanupTime = 30 * time.Second
	// sealedField is the envelope's field for the private half of a key.
	sealedField = "token signing key"
)

// TokenKeyStore keeps the keys that sign tokens. It is part of what a [Store] is about.
type TokenKeyStore interface {
	audit.Sink
	// TokenKeys returns all keys, oldest first.
	TokenKeys(ctx context.Context) ([]TokenKey, error)
	// ChangeTokenKeys lets change alter the keys, and stores them with the entry that records it,
	// atomically; no other process changes them meanwhile. A key that change leaves out goes, one
	// that is new comes. The Fernet key that no key names any more goes on the ledger of retired
	// keys. If change fails nothing is written and its error is returned unchanged. A move that
	// the table of states does not list is [broker.ErrConflict], and so is a second key that
	// signs.
	ChangeTokenKeys(ctx context.Context, change func([]TokenKey) ([]TokenKey, error), e audit.Entry) error
}

// enter decides on an action on the keys, which are every project's.
func (t *Tokens) enter(ctx context.Context, p policy.Principal) (*audit.Act, error) {
	return t.desk.Enter(ctx, p, policy.TokenKey, broker.InProject("*"))
}

// signing returns the key that signs. If there is none, it makes the first.
func (t *Tokens) signing(ctx context.Context) (TokenKey, error) {
	keys, err := t.Store.TokenKeys(ctx)
	if err != nil {
		return TokenKey{}, err
	}
	if k, found := keyring.Signs(keys); found {
		return k, nil
	}
	return t.replace(ctx, self(""), "", t.keys)
}

// Keys returns the keys that sign tokens, or did while their tokens count, oldest first: their
// public halves.
func (t *Tokens) Keys(ctx context.Context, p policy.Principal) ([]TokenKey, error) {
	if err := t.desk.Read(ctx, p, policy.TokenKey, broker.InProject("*")); err != nil {
		return nil, err
	}
	keys, err := t.Store.TokenKeys(ctx)
	keys = slices.DeleteFunc(keys, func(k TokenKey) bool { return !k.counts(t.Now()) })
	for i := range keys {
		keys[i].Text = ""
	}
	return keys, err
}

// RotateKey replaces the key that signs tokens by a new one in the first key store. Tokens of
// the one before count until they expire; its private half is destroyed.
func (t *Tokens) RotateKey(ctx context.Context, p policy.Principal) (TokenKey, error) {
	keys, err := t.Store.TokenKeys(ctx)
	if err != nil {
		return TokenKey{}, err
	}
	now, _ := keyring.Signs(keys)
	return t.replace(ctx, p, now.ID, t.keys)
}

// RevokeKey removes a key that somebody else may have: from then on none of its tokens counts.
// If it signs, a new one takes its place with the next token.
func (t *Tokens) RevokeKey(ctx context.Context, p policy.Principal, id string) error {
	act, err := t.enter(ctx, p)
	if err != nil {
		return err
	}
	err = t.Store.ChangeTokenKeys(ctx, func(keys []TokenKey) ([]TokenKey, error) {
		left := slices.DeleteFunc(slices.Clone(keys), func(k TokenKey) bool {
			return k.ID == id && (k.State == KeySigning || k.State == KeyVerifying)
		})
		if len(left) == len(keys) {
			return nil, &broker.Error{Kind: broker.ErrNotFound, Field: "key", Detail: "no key of this id signs tokens, now or before"}
		}
		return left, nil
	}, act.With(audit.DetailTokenKey, id).Done(audit.DetailReason, "revoked"))
	if err != nil {
		return t.desk.Refuse(ctx, act, err)
	}
	failpoint.At("token.key-revoked")
	t.Ledger.RetireKeys(ctx)
	return nil
}

var errTaken = errors.New("another key signs by now")

// replace makes a key that takes over from the one of that id; from none if it is empty. If
// another has taken over meanwhile, that one is returned: intent, key, one write that switches.
func (t *Tokens) replace(ctx context.Context, p policy.Principal, before string, to keyring.Ring) (TokenKey, error) {
	act, err := t.enter(ctx, p)
	if err != nil {
		return TokenKey{}, err
	}
	mine := TokenKey{ID: uuid.NewString(), State: KeyMaking, CreatedAt: t.Now()}
	begun := mine
	act.With(audit.DetailTokenKey, mine.ID)
	add := func(keys []TokenKey) ([]TokenKey, error) { return append(keys, begun), nil }
	if err := t.Store.ChangeTokenKeys(ctx, add, act.Intent()); err != nil {
		return TokenKey{}, t.desk.Refuse(ctx, act, err)
	}
	failpoint.At("token.key-intent")
	if err = t.fill(ctx, &mine, to); err == nil {
		mine.State = KeySigning
		err = t.Store.ChangeTokenKeys(ctx, func(keys []TokenKey) ([]TokenKey, error) { return t.takeOver(keys, mine, before) }, act.Done())
	}
	if err != nil {
		if left := t.drop(ctx, begun, act); left != nil {
			t.Log.WarnContext(ctx, "a key that was not made is left for the pass", "key", mine.ID, "error", left)
		}
		if errors.Is(err, errTaken) {
			keys, err := t.Store.TokenKeys(ctx)
			if now, found := keyring.Signs(keys); found || err != nil {
				return now, err
			}
			return TokenKey{}, &broker.Error{Kind: broker.ErrConflict, Detail: "the keys were changed at the same time", Remedy: "try again"}
		}
		return TokenKey{}, err
	}
	failpoint.At("token.key-switched")
	t.Ledger.RetireKeys(ctx)
	return mine, nil
}

// Reseal implements [broker.Sealer] for the key that signs tokens: if the key is due, a new one in the key stores of due.To
// replaces it. [broker.Registry.RekeyRest] has decided on the call.
func (t *Tokens) Reseal(ctx context.Context, due broker.Due) error {
	keys, err := t.Store.TokenKeys(ctx)
	if err != nil {
		return err
	}
	k, found := keyring.Signs(keys)
	if !found {
		return nil
	}
	if due.Selects(k.Sealed) {
		_, err = t.replace(ctx, self(""), k.ID, due.To)
	}
	return err
}

// takeOver lets mine sign in the place of the key of that id.
func (t *Tokens) takeOver(keys []TokenKey, mine TokenKey, before string) ([]TokenKey, error) {
	old, _ := keyring.Signs(keys)
	at := slices.IndexFunc(keys, func(k TokenKey) bool { return k.ID == mine.ID })
	if old.ID != before || at < 0 {
		return nil, errTaken
	}
	for i := range keys {
		if keys[i].ID == before {
			keys[i].State, keys[i].Until, keys[i].Sealed = KeyVerifying, t.Now().Add(TokenLife+leeway), keyring.Sealed{}
		}
	}
	keys[at] = mine
	return keys, nil
}

// fill makes both halves of a key, and stores what seals the private one.
func (t *Tokens) fill(ctx context.Context, k *TokenKey, to keyring.Ring) error {
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	private := jose.JSONWebKey{Key: made, KeyID: k.ID, Algorithm: string(algorithm), Use: "sig"}
	text, err := json.Marshal(private)
	if err != nil {
		return errors.New("writing a key") // never with what is in it
	}
	defer clear(text)
	public, err := json.Marshal(private.Public())
	if err != nil {
		return errors.New("writing a key")
	}
	sealed, err := to.Seal(ctx, k.Owner(), sealedField, secret.NewText(string(text)))
	if err != nil {
		return keyFault(err)
	}
	failpoint.At("token.key-stored")
	k.Public, k.Sealed = string(public), sealed
	return nil
}

func (t *Tokens) open(ctx context.Context, k TokenKey) (jose.JSONWebKey, error) {
	var private jose.JSONWebKey
	text, err := t.keys.Open(ctx, k.Owner(), sealedField, k.Sealed)
	if err != nil {
		return private, keyFault(err)
	}
	if json.Unmarshal([]byte(text.Reveal()), &private) != nil || private.KeyID != k.ID {
		return private, errKeyLost()
	}
	return private, nil
}

// drop ends a key that never signed, so that it never will; then it destroys what seals the
// key, and removes its row. A key that signs by now stays.
func (t *Tokens) drop(ctx context.Context, k TokenKey, act *audit.Act) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	signs := false
	err := t.Store.ChangeTokenKeys(ctx, func(keys []TokenKey) ([]TokenKey, error) {
		signs = false
		for i := range keys {
			switch {
			case keys[i].ID != k.ID:
			case keys[i].State == KeyMaking:
				keys[i].State = KeyAbandoned
			case keys[i].State != KeyAbandoned:
				signs = true
			}
		}
		return keys, nil
	}, act.Failed("the key was not made"))
	if err != nil || signs {
		return err
	}
	if err := t.keys.Drop(ctx, k.ID); err != nil {
		return keyFault(err)
	}
	failpoint.At("token.key-dropped")
	return t.Store.ChangeTokenKeys(ctx, func(keys []TokenKey) ([]TokenKey, error) {
		return slices.DeleteFunc(keys, func(other TokenKey) bool { return other.ID == k.ID && other.State == KeyAbandoned }), nil
	}, act.Done(audit.DetailReason, "what sealed the key is destroyed"))
}

// Settle is the pass that replaces a key that has signed for long, and removes keys of which
// no token is left, and those that were begun before a time and never made.
func (t *Tokens) Settle(ctx context.Context, before time.Time) error {
	keys, err := t.Store.TokenKeys(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, k := range keys {
		switch {
		case k.State == KeyAbandoned, k.State == KeyMaking && k.CreatedAt.Before(before):
			failed = append(failed, t.settle(ctx, k, t.drop))
		case k.State == KeyVerifying && !k.counts(t.Now()):
			failed = append(failed, t.settle(ctx, k, t.forget))
		case k.State == KeySigning && t.Now().Sub(k.CreatedAt) >= keyLife:
			_, err := t.replace(ctx, self(""), k.ID, t.keys)
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

func (t *Tokens) settle(ctx context.Context, k TokenKey, end func(context.Context, TokenKey, *audit.Act) error) error {
	act, err := t.enter(ctx, self(""))
	if err != nil {
		return err
	}
	return end(ctx, k, act.With(audit.DetailTokenKey, k.ID))
}

// forget removes a key whose tokens have all expired.
func (t *Tokens) forget(ctx context.Context, k TokenKey, act *audit.Act) error {
	return t.Store.ChangeTokenKeys(ctx, func(keys []TokenKey) ([]TokenKey, error) {
		return slices.DeleteFunc(keys, func(other TokenKey) bool { return other.ID == k.ID }), nil
	}, act.Done(audit.DetailReason, "its tokens have expired"))
}

// Passes are the periodic work, for a job queue to run.
func (t *Tokens) Passes() []broker.Pass {
	return []broker.Pass{{Name: "settle-token-keys", Every: time.Minute, Run: func(ctx context.Context) error {
		return t.Settle(ctx, t.Now().Add(-makingTime))
	}}}
}
