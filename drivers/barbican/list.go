package barbican

import (
	"context"
	"fmt"

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
func (s *Store) List(ctx context.Context, id string) ([]secret.Held, error) {
	held, err := s.list(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("listing keys: %w", err)
	}
	return held, nil
}

func (s *Store) list(ctx context.Context, id string) ([]secret.Held, error) {
	// Without a name Barbican lists the whole project, whatever else is in it.
	name := ""
	if id != "" {
		if !secret.IsID(id) {
			return nil, nil // Put stores no such key
		}
		name = s.folder + "/" + id
	}
	var (
		held []secret.Held
		last label // of the page before
		back int
	)
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
