package clientconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// Cache keeps configurations for later processes of the same user, until they expire.
//
//	<root>/          0700, ours
//	  leases/        0700
//	    <key>        0600, one configuration with its credential
//
// Safe for use by many processes: a file is there whole or not at all.
type Cache struct{ dir *os.Root }

// cacheDir is where configurations lie. [Sweep] leaves it alone: it is no process's name.
const cacheDir = "leases"

const maxCached = 1 << 20

// Cached is a configuration that was kept.
type Cached struct {
	Config
	IssuedAt time.Time
}

// cachedWire is the JSON of a file. Config is the result of [Config.Render] as [JSON].
type cachedWire struct {
	IssuedAt time.Time       `json:"issuedAt"`
	Config   json.RawMessage `json:"config"`
}

// OpenCache opens the cache under root, and makes it where it is not there; empty means
// [DefaultRoot]. A directory that is a symbolic link, another user's, or open to others is
// refused. Close it.
func OpenCache(root string) (*Cache, error) {
	parent, err := openRoot(root, true)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	dir, err := openRoot(filepath.Join(parent.Name(), cacheDir), true)
	if err != nil {
		return nil, err
	}
	return &Cache{dir}, nil
}

// Close closes the cache. The files stay.
func (c *Cache) Close() { _ = c.dir.Close() }

// Get returns the configuration under a key; or fs.ErrNotExist. A file that others could
// have written or read is an error, as is one that does not hold a configuration.
func (c *Cache) Get(key string) (_ Cached, err error) {
	defer wrap(&err, "reading a cached lease")
	f, err := c.dir.Open(key)
	if err != nil {
		return Cached{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Cached{}, err
	}
	if !info.Mode().IsRegular() || !ours(info) || openToOthers(info) {
		return Cached{}, errors.New("its file is not this user's alone")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxCached))
	if err != nil {
		return Cached{}, err
	}
	defer clear(text)
	var w cachedWire
	if json.Unmarshal(text, &w) != nil { // its words would quote the file
		return Cached{}, errors.New("the file holds none")
	}
	config, err := Decode(secret.NewText(string(w.Config)))
	if err != nil {
		return Cached{}, err
	}
	return Cached{config, w.IssuedAt}, nil
}

// wrap says what failed.
func wrap(err *error, what string) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", what, *err)
	}
}

// Put keeps a configuration under a key, in place of the previous one, and removes
// expired ones.
func (c *Cache) Put(key string, kept Cached, now time.Time) error {
	text, err := kept.Render(JSON)
	if err != nil {
		return err
	}
	whole, err := json.Marshal(cachedWire{kept.IssuedAt.UTC(), json.RawMessage(text.Reveal())})
	if err != nil {
		return fmt.Errorf("caching a lease: %w", err)
	}
	defer clear(whole)
	c.prune(now)
	temporary := "." + random()
	if err = c.write(temporary, whole, kept.ExpiresAt); err == nil {
		err = c.dir.Rename(temporary, key)
	}
	if err != nil {
		_ = c.dir.Remove(temporary)
		return fmt.Errorf("caching a lease: %w", err)
	}
	return nil
}

// write makes a file, whose time is when its content expires.
func (c *Cache) write(name string, content []byte, expires time.Time) error {
	f, err := c.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close(), c.dir.Chtimes(name, expires, expires))
}

// Remove removes the configuration under a key. A missing one is success.
func (c *Cache) Remove(key string) error {
	if err := c.dir.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing a cached lease: %w", err)
	}
	return nil
}

// prune removes expired files, and, a minute later, the files of a process that died in
// Put. The next call retries the files that it cannot remove.
func (c *Cache) prune(now time.Time) {
	all, _ := fs.ReadDir(c.dir.FS(), ".")
	for _, entry := range all {
		if info, err := entry.Info(); err == nil && info.ModTime().Before(now.Add(-time.Minute)) {
			_ = c.dir.Remove(entry.Name())
		}
	}
}
