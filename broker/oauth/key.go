package oauth

import (
	"time"

	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// TokenKey signs tokens. Its private half lies sealed in the store, under a Fernet key in a key
// store, as the credential of a VIM does.
type TokenKey struct {
	// ID is a UUID: the key id (kid) in tokens, and the owner of the Fernet key.
	ID    string
	State TokenKeyState
	// Public is the public half as a JWK (RFC 7517); empty while the key is being made.
	Public string
	// Sealed is the private half. It is empty before the key is made, and once its private half is destroyed.
	keyring.Sealed

	CreatedAt time.Time
	// Until is when tokens of a key that another has taken over from have all expired.
	Until time.Time
}

// TokenKeyState is where a key stands. A key that signs or verifies may also be removed: then its
// tokens count no more.
type TokenKeyState = keyring.State

// Every state of a key.
const (
	KeyMaking    = keyring.Making
	KeyAbandoned = keyring.Abandoned
	KeySigning   = keyring.Signing
	KeyVerifying = keyring.Verifying
)

// Owner is whom the Fernet key belongs to.
func (k TokenKey) Owner() secret.Owner { return secret.Owner{ID: k.ID, Generation: 1} }

// Held is the part of the row that seals the private half.
func (k TokenKey) Held() keyring.SealedRow {
	return keyring.SealedRow{State: k.State, Owner: k.Owner(), Sealed: k.Sealed}
}

func (k TokenKey) counts(now time.Time) bool {
	return k.State == KeySigning || k.State == KeyVerifying && now.Before(k.Until)
}
