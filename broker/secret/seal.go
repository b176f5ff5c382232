package secret

import (
	"crypto/aes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/fernet/fernet-go"
)

// MaxPlaintext is the longest text that can be sealed, in bytes.
const MaxPlaintext = 1 << 20

// maxName bounds the owner's id and the field name in an envelope, in bytes.
const maxName = 256

const (
	maxEnvelope = 1 + 8 + 2 + maxName + 2 + maxName + MaxPlaintext
	maxToken    = (tokenOverhead + maxEnvelope + aes.BlockSize + 2) / 3 * 4
)

// envelopeVersion is the first byte inside every sealed value.
const envelopeVersion = 1

// Reasons not to seal. All are faults of the caller.
var (
	errNoKey   = errors.New("no key")
	errNoOwner = errors.New("owner needs an id of 1 to 256 bytes and a generation from 1")
	errNoField = errors.New("field name must have 1 to 256 bytes")
	errTooLong = fmt.Errorf("text is longer than %d bytes", MaxPlaintext)
)

// Seal encrypts plain under key, bound to its owner and to the name of the
// field it stands in: only [Open] with the same three gives it back. The result
// is a Fernet token, at most about 1.4 MiB of base64url. Sealing the same text
// twice gives two tokens. The time of sealing stands in it for all to read. Seal
// fails, and nothing is made, without a key, an owner and a field, and for a text
// over [MaxPlaintext].
func Seal(key *Key, owner Owner, field string, plain Text) (string, error) {
	head, err := envelopeHead(owner, field)
	if err != nil {
		return "", fmt.Errorf("sealing %q: %w", field, err)
	}
	text := plain.Reveal()
	if len(text) > MaxPlaintext {
		return "", fmt.Errorf("sealing %q: %w", field, errTooLong)
	}
	message := make([]byte, 0, len(head)+len(text)) // exact, so that append leaves no copy behind
	message = append(append(message, head...), text...)
	defer clear(message)
	token, err := encrypt(key, message)
	if err != nil {
		return "", fmt.Errorf("sealing %q: %w", field, err)
	}
	return token, nil
}

// Open decrypts a text that [Seal] made. For every fault (the key, the token, the
// owner, the generation, the field) the error is [ErrUnopenable] and says no
// more. It never panics, and it does not ask how old the token is.
func Open(key *Key, owner Owner, field string, token string) (Text, error) {
	head, err := envelopeHead(owner, field)
	if err != nil {
		return Text{}, ErrUnopenable
	}
	message, ok := decrypt(key, token)
	if !ok {
		return Text{}, ErrUnopenable
	}
	defer clear(message)
	if len(message) < len(head) || subtle.ConstantTimeCompare(message[:len(head)], head) != 1 {
		return Text{}, ErrUnopenable
	}
	return NewText(string(message[len(head):])), nil
}

// envelopeHead encodes whom a sealed value belongs to. It stands before the
// plaintext:
//
//	version (1) | generation (8) | len(id) (2) | id | len(field) (2) | field | plaintext ...
//
// Integers are big-endian. As each name carries its length, no head is the
// beginning of another, so comparing the head compares all three.
func envelopeHead(owner Owner, field string) ([]byte, error) {
	if owner.ID == "" || len(owner.ID) > maxName || owner.Generation < 1 {
		return nil, errNoOwner
	}
	if field == "" || len(field) > maxName {
		return nil, errNoField
	}
	head := []byte{envelopeVersion}
	head = binary.BigEndian.AppendUint64(head, uint64(owner.Generation))
	for _, name := range []string{owner.ID, field} {
		head = binary.BigEndian.AppendUint16(head, uint16(len(name)))
		head = append(head, name...)
	}
	return head, nil
}

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
