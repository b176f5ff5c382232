package barbican

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/keymanager/v1/secrets"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// pageSize is how many secrets Barbican lists at most (its option max_limit_paging,
// by default). It may give fewer.
const pageSize = 100

// maxBack bounds how often a listing goes back a page.
const maxBack = 100

// List shows the keys of one VIM, or all: a request for each hundred. It reads no
// payloads. It skips secrets that another user made, or whose name is not one of the
// broker's. With keys being written and deleted at the same time, each of those may
// be shown or not; all others are.
func (s *Store) List(ctx context.Context, id string) (held []secret.Held, err error) {
	defer secret.Doing(&err, "listing keys")
	// Without a name Barbican lists the whole project, whatever else is in it.
	name := ""
	if id != "" {
		if !secret.IsID(id) {
			return nil, nil // Put stores no such key
		}
		name = s.folder + "/" + id
	}
	var last label // of the page before
	back := 0
	seen := map[string]bool{}
	for offset := 0; ; {
		page, user, err := s.page(ctx, name, offset)
		if err != nil {
			return nil, err
		}
		// A page starts with the last secret of the previous page, or with its equal
		// in the order (none of the broker's is). If not, and it holds none that was
		// seen, secrets before it were deleted meanwhile, and those between the two
		// pages have moved up.
		joined := offset == 0 || len(page) > 0 && last == label{page[0].Name, page[0].Mode}
		for _, found := range page {
			ref, ok := idOf(found.SecretRef)
			if !ok {
				return nil, errNotBarbican
			}
			if seen[ref] {
				joined = true
				continue
			}
			if !joined {
				break
			}
			seen[ref] = true
			if owner, ours := s.ownerOf(found); ours && found.CreatorID == user && (id == "" || owner.ID == id) {
				held = append(held, secret.Held{Owner: owner, Ref: secret.Ref(ref)})
			}
		}
		switch {
		case joined && len(page) < 2:
			return held, nil
		case joined:
			end := page[len(page)-1]
			last, offset = label{end.Name, end.Mode}, offset+len(page)-1
		case back == maxBack:
			return nil, unavailable("Barbican's secrets change faster than they can be listed")
		default:
			back++
			offset = max(0, offset-pageSize)
		}
	}
}

// page reads a page of the secrets of one name, or of all, in the order of the
// random digits; and returns the user that it reads as. Barbican's own links between
// pages are not followed.
func (s *Store) page(ctx context.Context, name string, offset int) (page []secrets.Secret, as string, err error) {
	err = s.ask(ctx, true, func(ctx context.Context, client *gophercloud.ServiceClient, user string) error {
		query, err := secrets.ListOpts{Name: name, Offset: offset, Limit: pageSize, Sort: "name:asc,mode:asc"}.ToSecretListQuery()
		if err != nil {
			return err
		}
		var body struct {
			Secrets *[]secrets.Secret `json:"secrets"`
		}
		response, err := client.Get(remote.Expect(ctx, remote.List), client.ServiceURL("secrets")+query, &body, nil)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if body.Secrets == nil {
			return errNotBarbican
		}
		page, as = *body.Secrets, user
		return nil
	})
	return page, as, err
}

// Delete deletes a key. The answer is always [secret.Recoverable]: Barbican keeps
// the row, encrypted, until its operator purges it. A reference that this store
// cannot have given is an error: the key may be alive in another store.
func (s *Store) Delete(ctx context.Context, ref secret.Ref) (_ secret.Erasure, err error) {
	defer secret.Doing(&err, "deleting key %q", ref)
	ctx, cancel := s.bounded(ctx, 3)
	defer cancel()
	if !secret.IsID(string(ref)) {
		return "", errForeignRef
	}
	if err := s.remove(ctx, string(ref)); err != nil {
		return "", err
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

// provenFor is how long a Check that wrote lets the following ones only read: what
// is deleted in Barbican stays in its database for months.
const provenFor = time.Hour

// Check proves that the store works. The first, the first after one that failed,
// and one in each hour write a secret that is no key, read it back and delete it;
// the others look whether the login, Barbican and its database answer. The error
// says in words what is wrong ("Keystone refuses the login").
func (s *Store) Check(ctx context.Context) (err error) {
	defer secret.Doing(&err, "checking Barbican key store")
	ctx, cancel := s.bounded(ctx, 3)
	defer cancel()
	s.mu.Lock()
	proven := s.proven
	s.mu.Unlock()
	now := s.now()
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
	return err
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
