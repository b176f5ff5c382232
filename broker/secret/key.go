package secret

import (
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/fernet/fernet-go"
)

// Key is one Fernet key: 16 bytes that sign and 16 that encrypt
// (https://github.com/fernet/spec). It prints as "[secret]" in every format. Its
// zero value, like a nil or cleared Key, holds no key: it seals and opens nothing.
//
// A Key is safe for concurrent use, except with Clear.
type Key struct {
	redacted
	raw func() *fernet.Key // the closure keeps the bytes from reflection
}

// encodedKeyLen is the length of 32 bytes in padded base64.
const encodedKeyLen = 44

var errNotKey = errors.New("not a Fernet key: want 32 bytes, not all zero, in canonical base64url")

func wrapKey(k *fernet.Key) *Key { return &Key{raw: func() *fernet.Key { return k }} }

// NewKey makes a random key.
func NewKey() (*Key, error) {
	var k fernet.Key
	if err := k.Generate(); err != nil {
		return nil, fmt.Errorf("generating key: %w", err)
	}
	return wrapKey(&k), nil
}

// ParseKey reads what [Key.Encode] wrote: exactly 44 bytes of canonical, padded
// base64url (RFC 4648 section 5). Other spellings of the same key, the all-zero
// key, and surrounding white space are refused. The error never holds any of the
// input, and the input is not kept: the caller may clear it.
func ParseKey(encoded []byte) (*Key, error) {
	// Decode skips line breaks even when strict, hence the length before it.
	var raw [encodedKeyLen / 4 * 3]byte
	if len(encoded) != encodedKeyLen {
		return nil, errNotKey
	}
	n, err := base64.URLEncoding.Strict().Decode(raw[:], encoded)
	defer clear(raw[:])
	k := new(fernet.Key)
	if err != nil || n != len(k) {
		return nil, errNotKey
	}
	copy(k[:], raw[:])
	if zero(k) {
		return nil, errNotKey
	}
	return wrapKey(k), nil
}

// Encode returns the key in base64url, for a key store to keep. This is key
// material: write it to the store and clear it. A Key that holds no key gives nil.
func (k *Key) Encode() []byte {
	raw := k.material()
	if raw == nil {
		return nil
	}
	return base64.URLEncoding.AppendEncode(nil, raw[:])
}

// Equal reports in constant time whether both hold the same key. A Key that
// holds none equals nothing.
func (k *Key) Equal(other *Key) bool {
	a, b := k.material(), other.material()
	return a != nil && b != nil && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// Clear overwrites the key in memory, in all copies of this Key. Copies made
// by the cipher and by Encode are out of its reach. It may be repeated, and must
// not run at the same time as another use of the key.
func (k *Key) Clear() {
	if raw := k.material(); raw != nil {
		clear(raw[:])
	}
}

// material returns the bytes of the key, or nil if there is none.
func (k *Key) material() *fernet.Key {
	if k == nil || k.raw == nil {
		return nil
	}
	if raw := k.raw(); !zero(raw) {
		return raw
	}
	return nil
}

func zero(k *fernet.Key) bool {
	var none fernet.Key
	return subtle.ConstantTimeCompare(k[:], none[:]) == 1
}
