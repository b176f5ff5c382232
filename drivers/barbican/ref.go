package barbican

import (
	"errors"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/keymanager/v1/secrets"

	"github.com/vimbroker/vimbroker/broker/secret"
)

var errForeignRef = errors.New("not a reference of this key store")

// label is how Barbican's own fields say whose key a secret is.
type label struct{ name, mode string }

func (s *Store) newLabel(owner secret.Owner) (label, error) {
	version, err := owner.NewVersion()
	return label{s.folder + "/" + owner.ID, version}, err
}

// ownerOf reads whose key a secret is. It is false for anything that newLabel
// could not have made in this folder.
func (s *Store) ownerOf(found secrets.Secret) (secret.Owner, bool) {
	id, ours := strings.CutPrefix(found.Name, s.folder+"/")
	owner, ok := secret.OwnerOf(id, found.Mode)
	return owner, ours && ok
}

// idOf takes the UUID off a secret's URL, and nothing else.
func idOf(url string) (string, bool) {
	id := url[strings.LastIndexByte(url, '/')+1:]
	return id, secret.IsID(id)
}
