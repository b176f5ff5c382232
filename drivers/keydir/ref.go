//go:build unix

package keydir

import (
	"encoding/hex"
	"strings"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// tempPrefix starts the names of files that are not keys yet. No reference
// starts with it.
const tempPrefix = ".tmp-"

// newRef makes a reference for a new key of owner.
func newRef(owner secret.Owner) (secret.Ref, error) {
	version, err := owner.NewVersion()
	return secret.Ref(owner.ID + "." + version), err
}

// ownerOf reads whose key a reference or a file name stands for. It is false for
// anything that newRef could not have made: for a path, above all.
func ownerOf(ref string) (secret.Owner, bool) {
	id, version, _ := strings.Cut(ref, ".")
	return secret.OwnerOf(id, version)
}

// shardOf names the folder of a VIM's keys: the last two digits of its id, since
// the first ones of a UUID version 7 are the time, and the same for years.
func shardOf(id string) string { return id[len(id)-2:] }

// isShard reports whether a directory entry can be such a folder.
func isShard(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == 2 && strings.ToLower(name) == name
}
