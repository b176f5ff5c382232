package barbican

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/gophercloud/gophercloud/v2/openstack/keymanager/v1/secrets"

	"github.com/vimbroker/vimbroker/broker/secret"
)

var (
	errBadOwner   = errors.New("owner must be a UUID in its canonical spelling with a generation from 1")
	errForeignRef = errors.New("not a reference of this key store")
)

// label is how Barbican's own fields say whose key a secret is.
type label struct{ name, mode string }

func (s *Store) newLabel(owner secret.Owner) (label, error) {
	if !canonicalUUID(owner.ID) || owner.Generation < 1 {
		return label{}, errBadOwner
	}
	return label{s.folder + "/" + owner.ID, strconv.FormatInt(owner.Generation, 10) + "." + randomHex()}, nil
}

// ownerOf reads whose key a secret is. It is false for anything that newLabel
// could not have made in this folder.
func (s *Store) ownerOf(found secrets.Secret) (secret.Owner, bool) {
	id, ours := strings.CutPrefix(found.Name, s.folder+"/")
	number, random, _ := strings.Cut(found.Mode, ".")
	generation, err := strconv.ParseInt(number, 10, 64)
	if !ours || !canonicalUUID(id) || err != nil || generation < 1 || strconv.FormatInt(generation, 10) != number || !isRandomHex(random) {
		return secret.Owner{}, false
	}
	return secret.Owner{ID: id, Generation: generation}, true
}

// idOf takes the UUID off a secret's URL, and nothing else.
func idOf(url string) (string, bool) {
	id := url[strings.LastIndexByte(url, '/')+1:]
	return id, canonicalUUID(id)
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
