package secret

import (
	"crypto/aes"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
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
