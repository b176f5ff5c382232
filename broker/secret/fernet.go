package secret

import (
	"crypto/aes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/fernet/fernet-go"
)

// The parts of a Fernet token before base64url, as the specification draws them:
//
//	0x80 | timestamp (8, seconds, in the clear) | IV (16) | ciphertext (n x 16) | HMAC-SHA256 (32)
const (
	tokenVersion  = 0x80
	tokenHead     = 1 + 8 + aes.BlockSize
	tokenOverhead = tokenHead + sha256.Size
)

// maxTokenTime is the last second of the year 9999, the last that RFC 3339 can
// spell.
const maxTokenTime = 253402300799

// decodeToken returns the bytes of a token that is exactly as the specification
// has it. It checks the form only, before any key is at hand. It is stricter than
// fernet-go, which takes a good token with anything behind it, and panics on one
// whose ciphertext is empty.
func decodeToken(token string) ([]byte, bool) {
	if len(token) > maxToken {
		return nil, false
	}
	raw, err := base64.URLEncoding.Strict().DecodeString(token)
	// Decoding skips line breaks even when strict; they make the token longer
	// than its bytes encode to.
	if err != nil || base64.URLEncoding.EncodedLen(len(raw)) != len(token) {
		return nil, false
	}
	ciphertext := len(raw) - tokenOverhead
	if ciphertext <= 0 || ciphertext%aes.BlockSize != 0 || raw[0] != tokenVersion {
		return nil, false
	}
	if binary.BigEndian.Uint64(raw[1:]) > maxTokenTime {
		return nil, false
	}
	return raw, true
}

// encrypt makes a token of the message, dated now.
func encrypt(key *Key, message []byte) (string, error) {
	raw := key.material()
	if raw == nil {
		return "", errNoKey
	}
	token, err := fernet.EncryptAndSign(message, raw)
	if err != nil {
		return "", err
	}
	return string(token), nil
}

// decrypt returns the message of a token that this key made. The age of the
// token does not matter. The caller owns, and clears, the result.
func decrypt(key *Key, token string) (message []byte, ok bool) {
	raw := key.material()
	if raw == nil {
		return nil, false
	}
	if _, ok := decodeToken(token); !ok {
		return nil, false
	}
	// decodeToken lets through nothing that is known to make fernet-go panic.
	// Should there be something, one bad row must not take the process down.
	defer func() {
		if recover() != nil {
			message, ok = nil, false
		}
	}()
	const anyAge = 0
	message = fernet.VerifyAndDecrypt([]byte(token), anyAge, []*fernet.Key{raw})
	return message, message != nil
}

// SealedAt returns when a value was sealed, to the second, in UTC, as the token
// says in the clear: true if the value opens, anyone's word until then. A token
// that is not well-formed is [ErrUnopenable].
func SealedAt(token string) (time.Time, error) {
	raw, ok := decodeToken(token)
	if !ok {
		return time.Time{}, ErrUnopenable
	}
	return time.Unix(int64(binary.BigEndian.Uint64(raw[1:])), 0).UTC(), nil
}
