package vault

import (
	"strings"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// newRef makes a reference for a new key of owner.
func newRef(owner secret.Owner) (secret.Ref, error) {
	version, err := owner.NewVersion()
	return secret.Ref(owner.ID + "/" + version), err
}

// ownerOf reads whose key a reference stands for. It is false for anything that
// newRef could not have made, so what it lets through can stand in a path.
func ownerOf(ref string) (secret.Owner, bool) {
	id, version, _ := strings.Cut(ref, "/")
	return secret.OwnerOf(id, version)
}
