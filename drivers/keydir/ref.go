//go:build unix

package keydir

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

// tempPrefix starts the names of files that are not keys yet. No reference
// starts with it.
const tempPrefix = ".tmp-"

var errBadOwner = errors.New("owner must be a UUID in its canonical spelling with a generation from 1")

// newRef makes a reference for a new key of owner.
func newRef(owner secret.Owner) (secret.Ref, error) {
	if !canonicalUUID(owner.ID) || owner.Generation < 1 {
		return "", errBadOwner
	}
	return secret.Ref(fmt.Sprintf("%s.%d.%s", owner.ID, owner.Generation, randomHex())), nil
}

// ownerOf reads whose key a reference or a file name stands for. It is false for
// anything that newRef could not have made: for a path, above all.
func ownerOf(ref string) (secret.Owner, bool) {
	parts := strings.Split(ref, ".")
	if len(parts) != 3 || !canonicalUUID(parts[0]) {
		return secret.Owner{}, false
	}
	generation, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || generation < 1 || strconv.FormatInt(generation, 10) != parts[1] {
		return secret.Owner{}, false
	}
	if b, err := hex.DecodeString(parts[2]); err != nil || len(b) != 16 || hex.EncodeToString(b) != parts[2] {
		return secret.Owner{}, false
	}
	return secret.Owner{ID: parts[0], Generation: generation}, true
}

// shardOf names the folder of a VIM's keys: the last two digits of its id, since
// the first ones of a UUID version 7 are the time, and the same for years.
func shardOf(id string) string { return id[len(id)-2:] }

// isShard reports whether a directory entry can be such a folder.
func isShard(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == 2 && strings.ToLower(name) == name
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
