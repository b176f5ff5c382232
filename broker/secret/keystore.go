package secret

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Sentinels that key stores and sealing answer with. Implementations wrap them
// with what they were doing and to which key, never with key material.
var (
	// ErrNotFound: the key store holds no key under that reference.
	ErrNotFound = errors.New("key not found")
	// ErrUnavailable: the key store cannot be asked now (sealed, unreachable,
	// rate limited, no space left). The same call may succeed later.
	ErrUnavailable = errors.New("key store unavailable")
	// ErrForbidden: the key store answers, and refuses this process.
	ErrForbidden = errors.New("key store refuses access")
	// ErrCorrupt: what the store holds under that reference is not a key.
	ErrCorrupt = errors.New("stored key is corrupt")
	// ErrUnopenable: a sealed value does not open under this key, or what is
	// inside names another owner. No reason finer than this is given.
	ErrUnopenable = errors.New("sealed value does not open")
)

// Owner names what a key belongs to: one generation of one VIM. The same pair
// stands in the envelope inside every value sealed with that key.
type Owner struct {
	// ID is the VIM's id (a UUID).
	ID string
	// Generation counts the VIM's credential from 1 upwards.
	Generation int64
}

// Ref is a key store's own reference to one key. It is not secret, it is opaque
// to everyone but the store that gave it, and it is at most 256 bytes long.
type Ref string

// Held is one key that a key store holds.
type Held struct {
	Owner Owner
	Ref   Ref
}

// Erasure says what deleting a key from a store is worth.
type Erasure string

const (
	// Shredded: no one can bring the key back.
	Shredded Erasure = "shredded"
	// Recoverable: the store's operator can bring the key back for a while
	// (from a soft-deleted row or from the disk's free blocks).
	Recoverable Erasure = "recoverable"
)

// KeyStore keeps Fernet keys, one per [Owner]. Implementations stand under
// drivers/ and pass test/conformance.KeyStore. All methods are safe for
// concurrent use and honour the context's deadline.
type KeyStore interface {
	// Name is the kind of store, as a VIM shows it: "keydir", "vault", "barbican".
	Name() string

	// Put stores a new key and returns its reference. It never overwrites: two
	// Puts for one owner give two references. If it fails, no key is left
	// behind that List does not show.
	Put(ctx context.Context, owner Owner, key *Key) (Ref, error)

	// Get returns the key under ref. A missing key is ErrNotFound; an empty
	// reference is never a key.
	Get(ctx context.Context, ref Ref) (*Key, error)

	// Delete removes the key under ref, and says what that is worth. A key that
	// is already gone is success. After Delete returns nil, Get answers
	// ErrNotFound and List no longer shows it.
	Delete(ctx context.Context, ref Ref) (Erasure, error)

	// List shows the keys of one VIM (by Owner.ID), or every key for an empty
	// id, in no order. It reads no key material.
	List(ctx context.Context, id string) ([]Held, error)

	// Check reports whether the store can be written and read now; nil means it
	// can. Readiness calls it.
	Check(ctx context.Context) error
}

// Doing adds to the error that a function returns what it was doing: defer it.
func Doing(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), *err)
	}
}

// NewVersion makes what a key store tells a new key by from the owner's others: its generation
// and 128 random bits.
func (o Owner) NewVersion() (string, error) {
	if !IsID(o.ID) || o.Generation < 1 {
		return "", errors.New("owner must be a UUID in its canonical spelling with a generation from 1")
	}
	return strconv.FormatInt(o.Generation, 10) + "." + RandomHex(), nil
}

// OwnerOf reads an owner back from its id and a version. It is false for anything that
// NewVersion could not have made, so what it lets through can stand in a path.
func OwnerOf(id, version string) (Owner, bool) {
	number, random, _ := strings.Cut(version, ".")
	generation, err := strconv.ParseInt(number, 10, 64)
	if !IsID(id) || err != nil || generation < 1 || strconv.FormatInt(generation, 10) != number {
		return Owner{}, false
	}
	b, err := hex.DecodeString(random)
	if err != nil || len(b) != 16 || hex.EncodeToString(b) != random {
		return Owner{}, false
	}
	return Owner{ID: id, Generation: generation}, true
}

// IsID reports whether s is a UUID in its canonical spelling.
func IsID(s string) bool {
	id, err := uuid.Parse(s)
	return err == nil && id.String() == s
}

// RandomHex returns 128 random bits as 32 digits.
func RandomHex() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the process instead
	return hex.EncodeToString(b[:])
}
