package barbican

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// provenFor is how long a Check that wrote lets the following ones only read: what
// is deleted in Barbican stays in its database for months.
const provenFor = time.Hour

// Check proves that the store works. The first, the first after one that failed,
// and one in each hour write a secret that is no key, read it back and delete it;
// the others look whether the login, Barbican and its database answer. The error
// says in words what is wrong ("Keystone refuses the login").
func (s *Store) Check(ctx context.Context) error {
	ctx, cancel := s.bounded(ctx, 3)
	defer cancel()
	s.mu.Lock()
	proven := s.proven
	s.mu.Unlock()
	now, err := s.now(), error(nil)
	if age := now.Sub(proven); !proven.IsZero() && age >= 0 && age < provenFor {
		_, _, err = s.page(ctx, s.folder+"/check", 0)
	} else {
		err = s.probe(ctx)
		proven = now
	}
	if err != nil {
		proven = time.Time{}
	}
	s.mu.Lock()
	s.proven = proven
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("checking Barbican key store: %w", err)
	}
	return nil
}

// probe writes, reads and deletes. A process that dies here leaves one secret, which
// holds nothing.
func (s *Store) probe(ctx context.Context) error {
	value := []byte(secret.RandomHex())
	id, err := s.create(ctx, label{s.folder + "/check", secret.RandomHex()}, value)
	if err != nil {
		return err
	}
	got, err := s.read(ctx, id)
	if err == nil && !bytes.Equal(got, value) {
		err = fmt.Errorf("%w: Barbican gives another value than was written", secret.ErrUnavailable)
	}
	return errors.Join(err, s.remove(ctx, id))
}
