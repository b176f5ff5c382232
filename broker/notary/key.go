package notary

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

type SigningKeyState = keyring.State

// Every state of a signing key.
const (
	Making    = keyring.Making
	Abandoned = keyring.Abandoned
	Signing   = keyring.Signing
	Retired   = keyring.Retired
	Revoked   = keyring.Revoked
)

// SigningKey signs checkpoints. Its private half lies sealed in the store, under a Fernet key in a
// key store, as the credential of a VIM does.
type SigningKey struct {
	// ID is a UUID; it is the owner of the Fernet key.
	ID    string
	State SigningKeyState
	// Origin names the log in every checkpoint; all keys of a log have the same.
	Origin string
	// Verifier is the public half, as golang.org/x/mod/sumdb/note writes it.
	Verifier string
	// Since and Until are sizes of the log: a checkpoint of the key counts if its size is
	// between them, both included. Until means nothing while the key signs.
	Since, Until int64
	// Endorsement is a note in which the key before names this one. It is empty for the
	// first key, and for one that follows a key which was revoked.
	Endorsement string
	CreatedAt   time.Time
	// EndedAt is when it was retired or revoked.
	EndedAt time.Time

	// Sealed is the private half; empty once it is destroyed.
	keyring.Sealed
}

// Owner is whom the Fernet key belongs to.
func (k SigningKey) Owner() secret.Owner { return secret.Owner{ID: k.ID, Generation: 1} }

// Held is the part of the row that seals the private half.
func (k SigningKey) Held() keyring.SealedRow {
	return keyring.SealedRow{State: k.State, Owner: k.Owner(), Sealed: k.Sealed}
}

// counts reports whether the key may have signed a checkpoint of that size.
func (k SigningKey) counts(size int64) bool {
	switch k.State {
	case Signing:
		return size >= k.Since
	case Retired, Revoked:
		return size >= k.Since && size <= k.Until
	}
	return false
}

// end retires or revokes the key, whose checkpoints count up to a size.
func (k *SigningKey) end(state SigningKeyState, until int64, at time.Time) {
	k.State, k.Until, k.EndedAt, k.Sealed = state, until, at, keyring.Sealed{}
}

// verifiers are those of keys whose checkpoints of a size count.
func verifiers(keys []SigningKey, size int64) []note.Verifier {
	var all []note.Verifier
	for _, k := range keys {
		if v, err := note.NewVerifier(k.Verifier); err == nil && k.counts(size) {
			all = append(all, v)
		}
	}
	return all
}

// Open returns the state that a checkpoint states, if a key whose checkpoints of that size
// count has signed it. Otherwise it is [tree.ErrUnsigned].
func Open(keys []SigningKey, signed string) (tree.Head, error) {
	if len(keys) == 0 {
		return tree.Head{}, tree.ErrUnsigned
	}
	origin := keys[0].Origin
	var all []note.Verifier
	for _, k := range keys {
		if v, err := note.NewVerifier(k.Verifier); err == nil {
			all = append(all, v)
		}
	}
	state, err := tree.OpenCheckpoint(origin, signed, all...)
	if err != nil {
		return tree.Head{}, err
	}
	if state, err = tree.OpenCheckpoint(origin, signed, verifiers(keys, state.Size)...); err != nil {
		return tree.Head{}, ErrBeyond
	}
	return state, nil
}

// ErrBeyond is a [tree.ErrUnsigned]: a key of the log signed the checkpoint, and its checkpoints of that size do
// not count.
var ErrBeyond = fmt.Errorf("%w: it is signed by a key whose checkpoints of that size do not count", tree.ErrUnsigned)

// Trusted returns those keys of a log that verifier keys vouch for which somebody has
// kept: the keys themselves, and each that the key before has endorsed, from one to the
// next. None is [tree.ErrUnsigned].
func Trusted(keys []SigningKey, kept ...string) ([]SigningKey, error) {
	trusted := map[string]bool{}
	vouched := func(k SigningKey) bool {
		return slices.Contains(kept, k.Verifier) || slices.ContainsFunc(keys, func(before SigningKey) bool {
			return trusted[before.ID] && before.State != Revoked && endorses(before, k)
		})
	}
	for more := true; more; {
		more = false
		for _, k := range keys {
			if !trusted[k.ID] && vouched(k) {
				trusted[k.ID], more = true, true
			}
		}
	}
	if len(trusted) == 0 {
		return nil, fmt.Errorf("%w: the log has none of the keys that were kept, nor one that they endorsed", tree.ErrUnsigned)
	}
	return slices.DeleteFunc(slices.Clone(keys), func(k SigningKey) bool { return !trusted[k.ID] }), nil
}

// endorsement is the text in which the key before names the next one. It is no checkpoint:
// its second line is no number.
func endorsement(origin, verifier string) string {
	return origin + "\nthe next key that signs checkpoints\n" + verifier + "\n"
}

func endorses(before, next SigningKey) bool {
	v, err := note.NewVerifier(before.Verifier)
	if err != nil {
		return false
	}
	n, err := note.Open([]byte(next.Endorsement), note.VerifierList(v))
	return err == nil && n.Text == endorsement(next.Origin, next.Verifier)
}
