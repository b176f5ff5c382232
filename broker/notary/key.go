package notary

import (
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// KeyState is where a signing key stands. What may follow what is [keyMoves].
type KeyState string

const (
	// Making: the intent is stored; what seals the key may be in a key store.
	Making KeyState = "making"
	// Abandoned: it was never finished. What seals it is destroyed, and then its row goes.
	Abandoned KeyState = "abandoned"
	// Signing: it signs checkpoints. One key does.
	Signing KeyState = "signing"
	// Retired: another has taken over. Its private half is destroyed.
	Retired KeyState = "retired"
	// Revoked: somebody else may have it. Its private half is destroyed here.
	Revoked KeyState = "revoked"
)

// keyMoves is the state machine of a signing key, as pairs that may follow one another.
var keyMoves = map[KeyState][]KeyState{
	Making:    {Signing, Abandoned},
	Abandoned: {},
	Signing:   {Retired, Revoked},
	Retired:   {Revoked},
	Revoked:   {},
}

// CanMove reports whether a key may go from one state to another.
func (s KeyState) CanMove(to KeyState) bool { return slices.Contains(keyMoves[s], to) }

// Key signs checkpoints. Its private half lies sealed in the store, under a Fernet key in a
// key store, as the credential of a VIM does.
type Key struct {
	// ID is a UUID; it is the owner of the Fernet key.
	ID    string
	State KeyState
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

	// Sealed is the Fernet token of the private half, under Ref in KeyStore. They are
	// empty once it is destroyed.
	Sealed   string
	KeyStore string
	Ref      secret.Ref
}

// Owner is whom the Fernet key belongs to.
func (k Key) Owner() secret.Owner { return secret.Owner{ID: k.ID, Generation: 1} }

// counts reports whether the key may have signed a checkpoint of that size.
func (k Key) counts(size int64) bool {
	switch k.State {
	case Signing:
		return size >= k.Since
	case Retired, Revoked:
		return size >= k.Since && size <= k.Until
	}
	return false
}

// end retires or revokes the key, whose checkpoints count up to a size.
func (k *Key) end(state KeyState, until int64, at time.Time) {
	k.State, k.Until, k.EndedAt = state, until, at
	k.Sealed, k.KeyStore, k.Ref = "", "", ""
}

// signing returns the key that signs, if there is one.
func signing(keys []Key) (Key, bool) {
	at := slices.IndexFunc(keys, func(k Key) bool { return k.State == Signing })
	if at < 0 {
		return Key{}, false
	}
	return keys[at], true
}

// verifiers are those of keys whose checkpoints of a size count.
func verifiers(keys []Key, size int64) []note.Verifier {
	var all []note.Verifier
	for _, k := range keys {
		if v, err := note.NewVerifier(k.Verifier); err == nil && k.counts(size) {
			all = append(all, v)
		}
	}
	return all
}
