package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// listers is how many VIMs' folders are listed at the same time.
const listers = 8

// List shows the keys of one VIM, or all: one request, and one more for each VIM.
// It reads names only. It skips names that are not the broker's. With keys being
// written and deleted at the same time, each of those may be shown or not.
func (s *Store) List(ctx context.Context, id string) ([]secret.Held, error) {
	held, err := s.list(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("listing keys: %w", err)
	}
	return held, nil
}

func (s *Store) list(ctx context.Context, id string) ([]secret.Held, error) {
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
	var (
		mu   sync.Mutex
		held []secret.Held
	)
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
