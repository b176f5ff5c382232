package keyring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// Faults of key stores, and of sealed texts. Each wraps the key store's own error, which holds no key material.
var (
	// ErrLost: the key is gone or is not a key, or the sealed text does not open with it. No later call
	// succeeds.
	ErrLost = errors.New("the sealed text does not open")
	// ErrUnusable: the key store cannot be used now. The same call may succeed later; where the cause is
	// [secret.ErrForbidden], once its operator has given a right back.
	ErrUnusable = errors.New("the key store cannot be used now")
)

// UnknownError says that no key store of a name is configured here.
type UnknownError struct {
	Name  string
	Known []string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("the key store %q is not configured here; there is %s", e.Name, strings.Join(e.Known, ", "))
}

// Sealed is the part of a row that holds a sealed text.
type Sealed struct {
	// KeyStore and Ref say where its key is.
	KeyStore string
	Ref      secret.Ref
	// Text is the Fernet token.
	Text string
}

// Ring is key stores, each of another name. New keys go to the first; there is one.
type Ring []secret.KeyStore

// Name is that of the key store that new keys go to.
func (r Ring) Name() string { return r[0].Name() }

// Only returns the ring of one key store alone; an empty name is the one that new keys go to. It is an [UnknownError]
// where that is not configured.
func (r Ring) Only(name string) (Ring, error) {
	if name == "" {
		return r[:1], nil
	}
	unknown := &UnknownError{Name: name}
	for i, keys := range r {
		if keys.Name() == name {
			return r[i : i+1], nil
		}
		unknown.Known = append(unknown.Known, keys.Name())
	}
	return nil, unknown
}

// Seal seals a text under a new key. If it fails, a key may be left: its owner drops it.
func (r Ring) Seal(ctx context.Context, owner secret.Owner, field string, plain secret.Text) (Sealed, error) {
	sealed, key, err := r.SealWithKey(ctx, owner, field, plain)
	if err == nil {
		key.Clear()
	}
	return sealed, err
}

// SealWithKey is Seal for a caller that seals more under the same key. The caller clears the key.
func (r Ring) SealWithKey(ctx context.Context, owner secret.Owner, field string, plain secret.Text) (Sealed, *secret.Key, error) {
	key, err := secret.NewKey()
	if err != nil {
		return Sealed{}, nil, fmt.Errorf("making a key of %s: %w", owner.ID, err)
	}
	sealed := Sealed{KeyStore: r.Name()}
	if sealed.Text, err = secret.Seal(key, owner, field, plain); err == nil {
		if sealed.Ref, err = r[0].Put(ctx, owner, key); err != nil {
			err = unusable("storing a key of "+owner.ID, err)
		}
	}
	if err != nil {
		key.Clear()
		return Sealed{}, nil, err
	}
	return sealed, key, nil
}

// Open opens a text that was sealed for that field of that owner, and for no other.
func (r Ring) Open(ctx context.Context, owner secret.Owner, field string, s Sealed) (secret.Text, error) {
	key, err := r.Key(ctx, s)
	if err != nil {
		return secret.Text{}, err
	}
	defer key.Clear()
	text, err := secret.Open(key, owner, field, s.Text)
	if err != nil {
		return secret.Text{}, fmt.Errorf("%w: %w", ErrLost, err)
	}
	return text, nil
}

// Key fetches the key of a sealed text, for a caller that opens more with it. The caller clears it.
func (r Ring) Key(ctx context.Context, s Sealed) (*secret.Key, error) {
	at, err := r.Only(s.KeyStore)
	if err != nil {
		return nil, err
	}
	key, err := at[0].Get(ctx, s.Ref)
	switch {
	case errors.Is(err, secret.ErrNotFound), errors.Is(err, secret.ErrCorrupt):
		return nil, fmt.Errorf("%w: fetching its key: %w", ErrLost, err)
	case err != nil:
		return nil, unusable("fetching a key", err)
	}
	return key, nil
}

// Destroy destroys one key. A key that is gone is success.
func (r Ring) Destroy(ctx context.Context, s Sealed) error {
	at, err := r.Only(s.KeyStore)
	if err != nil {
		return err
	}
	if _, err := at[0].Delete(ctx, s.Ref); err != nil {
		return unusable("destroying a key", err)
	}
	return nil
}

// Drop destroys every key of an owner, by its id. Nothing there is success. A key store that cannot be used keeps no
// other from being asked.
func (r Ring) Drop(ctx context.Context, id string) error {
	return r.Sweep(ctx, id, func() ([]Sealed, error) { return nil, nil })
}

// Sweep is Drop of all keys but those that rows name. named says which these are, and is called once all keys are
// listed: a key that is put after that is none of those which are destroyed. If it fails, nothing is destroyed.
func (r Ring) Sweep(ctx context.Context, id string, named func() ([]Sealed, error)) error {
	type place struct {
		store secret.KeyStore
		key   Sealed
	}
	var found []place
	var faults []error
	for _, keys := range r {
		held, err := keys.List(ctx, id)
		if err != nil {
			faults = append(faults, unusable("listing the keys of "+id, err))
		}
		for _, h := range held {
			found = append(found, place{keys, Sealed{KeyStore: keys.Name(), Ref: h.Ref}})
		}
	}
	rows, err := named()
	if err != nil {
		return errors.Join(append(faults, err)...)
	}
	inUse := map[Sealed]bool{}
	for _, s := range rows {
		inUse[Sealed{KeyStore: s.KeyStore, Ref: s.Ref}] = true
	}
	for _, at := range found {
		if inUse[at.key] {
			continue
		}
		if _, err := at.store.Delete(ctx, at.key.Ref); err != nil {
			faults = append(faults, unusable("destroying a key of "+id, err))
		}
	}
	return errors.Join(faults...)
}

func unusable(doing string, err error) error {
	return fmt.Errorf("%w: %s: %w", ErrUnusable, doing, err)
}

// State is where a row stands whose text is sealed: a key that signs, the secrets of a subscription, secret parameters.
// A VIM has more than one sealed text, and its own states.
type State string

// Every state.
const (
	// Making: the intent is stored; what seals the text may be in a key store.
	Making State = "making"
	// Abandoned: the text was never finished, or is not needed. Its key is destroyed, and then its row goes.
	Abandoned State = "abandoned"
	// Active: the text is needed.
	Active State = "active"
	// Rekeying: the text is needed, and is being resealed; a key store may hold a second key of it.
	Rekeying State = "rekeying"

	// Signing: a key that signs. Each kind has one.
	Signing State = "signing"
	// Verifying: another key signs, and the sealed half is destroyed. Its signatures count for a time.
	Verifying State = "verifying"
	// Retired: another key signs, and the sealed half is destroyed. Its signatures count.
	Retired State = "retired"
	// Revoked: somebody else may have the key. The sealed half is destroyed.
	Revoked State = "revoked"
)

// moves is the state machine of all that is sealed. Each table says which of the states its rows may
// have.
var moves = map[State][]State{
	Making:    {Active, Signing, Abandoned},
	Abandoned: {},
	Active:    {Rekeying, Abandoned},
	Rekeying:  {Active, Abandoned},
	Signing:   {Verifying, Retired, Revoked},
	Verifying: {},
	Retired:   {Revoked},
	Revoked:   {},
}

// CanMove reports whether a row may go from one state to another. Staying is no move.
func (s State) CanMove(to State) bool { return slices.Contains(moves[s], to) }

// Signs returns the one of some keys that signs, if one does.
func Signs[K interface{ Held() SealedRow }](keys []K) (signs K, found bool) {
	at := slices.IndexFunc(keys, func(k K) bool { return k.Held().State == Signing })
	if at < 0 {
		return signs, false
	}
	return keys[at], true
}

// Needed reports whether the owner works with the text.
func (s State) Needed() bool { return s == Active || s == Rekeying }
