package notary

import (
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// SigningKeyState is the state of a signing key.
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

	// Sealed is the Fernet token of the private half, under Ref in KeyStore. They are
	// empty once it is destroyed.
	Sealed   string
	KeyStore string
	Ref      secret.Ref
}

// Owner is whom the Fernet key belongs to.
func (k SigningKey) Owner() secret.Owner { return secret.Owner{ID: k.ID, Generation: 1} }

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
	k.State, k.Until, k.EndedAt = state, until, at
	k.Sealed, k.KeyStore, k.Ref = "", "", ""
}

// signing returns the key that signs, if there is one.
func signing(keys []SigningKey) (SigningKey, bool) {
	at := slices.IndexFunc(keys, func(k SigningKey) bool { return k.State == Signing })
	if at < 0 {
		return SigningKey{}, false
	}
	return keys[at], true
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
