package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// listers is how many VIMs' folders are listed at the same time.
const listers = 8

// List shows the keys of one VIM, or all: one request, and one more for each VIM.
// It reads names only. It skips names that are not the broker's. With keys being
// written and deleted at the same time, each of those may be shown or not.
func (s *Store) List(ctx context.Context, id string) (held []secret.Held, err error) {
	defer secret.Doing(&err, "listing keys")
	if id != "" {
		if !secret.IsID(id) {
			return nil, nil // Put stores no such key
		}
		return s.listVIM(ctx, id)
	}
	folders, err := s.names(ctx, "")
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(listers)
	for _, folder := range folders {
		id, isFolder := strings.CutSuffix(folder, "/")
		if !isFolder || !secret.IsID(id) {
			continue
		}
		group.Go(func() error {
			of, err := s.listVIM(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			held = append(held, of...)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return held, nil
}

func (s *Store) listVIM(ctx context.Context, id string) ([]secret.Held, error) {
	names, err := s.names(ctx, id+"/")
	if err != nil {
		return nil, err
	}
	var held []secret.Held
	for _, name := range names {
		ref := id + "/" + name
		if owner, ok := ownerOf(ref); ok {
			held = append(held, secret.Held{Owner: owner, Ref: secret.Ref(ref)})
		}
	}
	return held, nil
}

// names lists a folder. Vault has no empty folders, so one that it does not know
// has nothing in it.
func (s *Store) names(ctx context.Context, folder string) ([]string, error) {
	answer, err := s.ask(ctx, request{method: http.MethodGet, path: s.metadata(folder), query: url.Values{"list": {"true"}}})
	if errors.Is(err, secret.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var a struct {
		Data *struct {
			Keys []string `json:"keys"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || a.Data == nil || a.Data.Keys == nil {
		return nil, unavailable("what answers is not a KV version 2 engine of Vault")
	}
	return a.Data.Keys, nil
}

var (
	errForeignRef = errors.New("not a reference of this key store")
	errStillThere = fmt.Errorf("%w: Vault still holds it after its deletion", secret.ErrUnavailable)
)

// Delete destroys all versions of a key and then its metadata, and looks whether
// that is so; the answer is always [secret.Shredded]. Backups of Vault's storage are
// not reached. A reference that this store cannot have given is an error: the key
// may be alive in another store.
func (s *Store) Delete(ctx context.Context, ref secret.Ref) (_ secret.Erasure, err error) {
	defer secret.Doing(&err, "deleting key %q", ref)
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if _, ok := ownerOf(string(ref)); !ok {
		return "", errForeignRef
	}
	if err := s.shred(ctx, string(ref)); err != nil {
		return "", err
	}
	return secret.Shredded, nil
}

func (s *Store) shred(ctx context.Context, name string) error {
	versions, err := s.versions(ctx, name)
	if errors.Is(err, secret.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(versions) > 0 {
		body, _ := json.Marshal(map[string][]int64{"versions": versions}) // of numbers: it cannot fail
		path := s.mount + "/destroy/" + s.path + "/" + name
		if _, err := s.ask(ctx, request{method: http.MethodPut, path: path, body: body}); err != nil && !errors.Is(err, secret.ErrNotFound) {
			return err
		}
	}
	failpoint.At("vault.delete.destroyed")
	if _, err := s.ask(ctx, request{method: http.MethodDelete, path: s.metadata(name)}); err != nil && !errors.Is(err, secret.ErrNotFound) {
		return err
	}
	failpoint.At("vault.delete.metadata")
	switch _, err := s.versions(ctx, name); {
	case errors.Is(err, secret.ErrNotFound):
		return nil
	case err == nil:
		return errStillThere
	default:
		return err
	}
}

// versions lists the versions that Vault knows of a secret, destroyed ones
// included. A secret that it knows nothing of is [secret.ErrNotFound].
func (s *Store) versions(ctx context.Context, name string) ([]int64, error) {
	answer, err := s.ask(ctx, request{method: http.MethodGet, path: s.metadata(name)})
	if err != nil {
		return nil, err
	}
	var a struct {
		Data *struct {
			Versions map[string]struct{} `json:"versions"`
		} `json:"data"`
	}
	err = json.Unmarshal(answer, &a)
	if err != nil || a.Data == nil || a.Data.Versions == nil {
		return nil, unavailable("what answers is not a KV version 2 engine of Vault")
	}
	versions := make([]int64, 0, len(a.Data.Versions))
	for number := range a.Data.Versions {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, unavailable("what answers is not a KV version 2 engine of Vault")
		}
		versions = append(versions, n)
	}
	return versions, nil
}

// Check writes an entry that is no key, reads it back, and deletes it as keys
// are deleted: it proves the login, the policy, the mount and the storage behind
// it. The error says in words what is wrong ("Vault is sealed", "Vault refuses the
// login").
func (s *Store) Check(ctx context.Context) (err error) {
	defer secret.Doing(&err, "checking Vault key store")
	ctx, cancel := s.bounded(ctx)
	defer cancel()
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
