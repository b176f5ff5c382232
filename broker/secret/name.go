package secret

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

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
