package vault

import (
	"bytes"
	"context"
	"fmt"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// Check writes an entry that is no key, reads it back, and deletes it as keys
// are deleted: it proves the login, the policy, the mount and the storage behind
// it. The error says in words what is wrong ("Vault is sealed", "Vault refuses the
// login").
func (s *Store) Check(ctx context.Context) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.check(ctx); err != nil {
		return fmt.Errorf("checking Vault key store: %w", err)
	}
	return nil
}

func (s *Store) check(ctx context.Context) error {
	// A name for each check: several may run at the same time. A process that
	// dies here leaves one entry, which holds nothing.
	name := "check/" + secret.RandomHex()
	value := []byte(secret.RandomHex())
	if err := s.create(ctx, name, "probe", value); err != nil {
		return err
	}
	got, err := s.read(ctx, name, "probe")
	if err == nil && !bytes.Equal(got, value) {
		err = fmt.Errorf("%w: Vault gives another value than was written", secret.ErrUnavailable)
	}
	if gone := s.shred(ctx, name); err == nil {
		err = gone
	}
	return err
}
