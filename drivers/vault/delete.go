package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
)

var (
	errForeignRef = errors.New("not a reference of this key store")
	errStillThere = fmt.Errorf("%w: Vault still holds it after its deletion", secret.ErrUnavailable)
)

// Delete destroys all versions of a key and then its metadata, and looks whether
// that is so; the answer is always [secret.Shredded]. Backups of Vault's storage are
// not reached. A reference that this store cannot have given is an error: the key
// may be alive in another store.
func (s *Store) Delete(ctx context.Context, ref secret.Ref) (secret.Erasure, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err := errForeignRef
	if _, ok := ownerOf(string(ref)); ok {
		err = s.shred(ctx, string(ref))
	}
	if err != nil {
		return "", fmt.Errorf("deleting key %q: %w", ref, err)
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
		body, err := json.Marshal(map[string][]int64{"versions": versions})
		if err != nil {
			return fmt.Errorf("asking for destruction: %w", err)
		}
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
