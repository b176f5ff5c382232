package vault

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/secret"
)

var errBadOwner = errors.New("owner must be a UUID in its canonical spelling with a generation from 1")

// newRef makes a reference for a new key of owner.
func newRef(owner secret.Owner) (secret.Ref, error) {
	if !canonicalUUID(owner.ID) || owner.Generation < 1 {
		return "", errBadOwner
	}
	return secret.Ref(fmt.Sprintf("%s/%d.%s", owner.ID, owner.Generation, randomHex())), nil
}

// ownerOf reads whose key a reference stands for. It is false for anything that
// newRef could not have made, so what it lets through can stand in a path.
func ownerOf(ref string) (secret.Owner, bool) {
	id, name, _ := strings.Cut(ref, "/")
	number, random, _ := strings.Cut(name, ".")
	if !canonicalUUID(id) || !isRandomHex(random) {
		return secret.Owner{}, false
	}
	generation, err := strconv.ParseInt(number, 10, 64)
	if err != nil || generation < 1 || strconv.FormatInt(generation, 10) != number {
		return secret.Owner{}, false
	}
	return secret.Owner{ID: id, Generation: generation}, true
}

func canonicalUUID(s string) bool {
	id, err := uuid.Parse(s)
	return err == nil && id.String() == s
}

// randomHex returns 128 random bits as 32 digits.
func randomHex() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the process instead
	return hex.EncodeToString(b[:])
}

func isRandomHex(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 16 && hex.EncodeToString(b) == s
}
