package clientconfig_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
)

var cachedAt = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func cached(token string, life time.Duration) clientconfig.Cached {
	return clientconfig.Cached{IssuedAt: cachedAt, Config: clientconfig.Config{
		VIM: "edge", Lease: "l", Endpoint: "https://k:6443", ServerName: "k", CACert: "pem", Client: clientconfig.KubernetesClient{},
		Credential: secret.Credential{Token: secret.NewText(token)}, ExpiresAt: cachedAt.Add(life),
	}}
}

func openCache(t *testing.T, root string) *clientconfig.Cache {
	t.Helper()
	c, err := clientconfig.OpenCache(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestCacheKeepsConfigurations: for others of the same user, in files that nobody else reads,
// until they expire.
func TestCacheKeepsConfigurations(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	c := openCache(t, root)
	if _, err := c.Get("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get of nothing = %v", err)
	}
	for _, token := range []string{"first", "second"} {
		if err := c.Put("a", cached(token, time.Hour), cachedAt); err != nil {
			t.Fatal(err)
		}
	}
	got, err := openCache(t, root).Get("a")
	if err != nil || got.Token.Reveal() != "second" || !got.IssuedAt.Equal(cachedAt) || !got.ExpiresAt.Equal(cachedAt.Add(time.Hour)) ||
		got.Endpoint != "https://k:6443" || got.ServerName != "k" || got.CACert != "pem" || got.Lease != "l" || got.VIM != "edge" {
		t.Errorf("Get = %+v, %v", got, err)
	}
	for name, mode := range map[string]fs.FileMode{"": 0o700, "leases": 0o700, "leases/a": 0o600} {
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%q has mode %v, %v; want %v", name, info.Mode().Perm(), err, mode)
		}
	}
	if err := c.Put("lives", cached("fourth", 4*time.Hour), cachedAt); err != nil {
		t.Fatal(err)
	}
	if err := c.Put("b", cached("third", 3*time.Hour), cachedAt.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get("lives"); err != nil || got.Token.Reveal() != "fourth" {
		t.Errorf("what lives is gone with what has expired: %v", err)
	}
	if err := c.Remove("lives"); err != nil {
		t.Error(err)
	}
	if _, err := c.Get("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what has expired is there still: %v", err)
	}
	for range 2 {
		if err := c.Remove("b"); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(root, "leases")); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

// TestCacheTrustsNobody: what others could have written or read is not used, and no error
// holds anything of it.
func TestCacheTrustsNobody(t *testing.T) {
	const canary = "canary-of-the-cache"
	root := filepath.Join(t.TempDir(), "root")
	c := openCache(t, root)
	path := filepath.Join(root, "leases", "a")
	for name, spoil := range map[string]func() error{
		"readable by others": func() error { return os.Chmod(path, 0o644) },
		"writable by others": func() error { return os.Chmod(path, 0o620) },
		"no JSON":            func() error { return os.WriteFile(path, []byte(`{"config": "`+canary), 0o600) },
		"no configuration":   func() error { return os.WriteFile(path, []byte(`{"config": {"`+canary+`": 1}}`), 0o600) },
		"a link out": func() error {
			return errors.Join(os.Remove(path), os.WriteFile(root+"-elsewhere", []byte("{}"), 0o600), os.Symlink(root+"-elsewhere", path))
		},
		"a directory": func() error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := errors.Join(os.RemoveAll(path), c.Put("a", cached(canary, time.Hour), cachedAt), spoil()); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Get("a"); err == nil || strings.Contains(err.Error(), canary) {
				t.Errorf("Get = %v, want an error without what the file holds", err)
			}
		})
	}
	for name, spoil := range map[string]func(dir string) error{
		"open to others": func(dir string) error { return os.Chmod(dir, 0o755) },
		"a link": func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.Mkdir(dir+"-2", 0o700), os.Symlink(dir+"-2", dir))
		},
	} {
		for _, below := range []string{"", "leases"} {
			t.Run(name+below, func(t *testing.T) {
				root := filepath.Join(t.TempDir(), "root")
				openCache(t, root)
				if err := spoil(filepath.Join(root, below)); err != nil {
					t.Fatal(err)
				}
				if c, err := clientconfig.OpenCache(root); err == nil {
					c.Close()
					t.Error("the cache is used")
				}
			})
		}
	}
}

// TestSweepLeavesTheCache: it removes directories of processes that have died.
func TestSweepLeavesTheCache(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	c := openCache(t, root)
	if err := c.Put("a", cached("t", time.Hour), cachedAt); err != nil {
		t.Fatal(err)
	}
	if _, err := clientconfig.Sweep(root); err != nil {
		t.Error(err)
	}
	if _, err := c.Get("a"); err != nil {
		t.Errorf("after a sweep: %v", err)
	}
}
