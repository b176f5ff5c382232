package barbican

import (
	"context"
	"errors"
	"fmt"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/keymanager/v1/secrets"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// Delete deletes a key. The answer is always [secret.Recoverable]: Barbican keeps
// the row, encrypted, until its operator purges it. A reference that this store
// cannot have given is an error: the key may be alive in another store.
func (s *Store) Delete(ctx context.Context, ref secret.Ref) (secret.Erasure, error) {
	ctx, cancel := s.bounded(ctx, 3)
	defer cancel()
	err := errForeignRef
	if secret.IsID(string(ref)) {
		err = s.remove(ctx, string(ref))
	}
	if err != nil {
		return "", fmt.Errorf("deleting key %q: %w", ref, err)
	}
	return secret.Recoverable, nil
}

// remove deletes a secret, or finds it deleted.
func (s *Store) remove(ctx context.Context, id string) error {
	err := s.ask(ctx, true, func(ctx context.Context, client *gophercloud.ServiceClient, _ string) error {
		return secrets.Delete(ctx, client, id).Err
	})
	if errors.Is(err, secret.ErrNotFound) {
		return nil
	}
	return err
}
