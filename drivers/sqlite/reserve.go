package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/broker/rows"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// lookEvery is how often the space on the disk is looked at.
	lookEvery = 5 * time.Second
	// leastFree is how much space is left when the reserve is given up.
	leastFree = 1 << 20
)

// reserve is a file that takes up space while all is well. When the disk is full it is
// removed, and what that frees is for what ends leases, until there is space for it again.
type reserve struct {
	path string

	mu   sync.Mutex
	size int64
	kept bool // it is on the disk

	spent atomic.Bool // it was given up: only what ends leases is written
}

// keep makes the reserve.
func (r *reserve) keep() error {
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	// Written, because not every file system can set space aside otherwise.
	nothing := make([]byte, leastFree)
	for at := int64(0); err == nil && at < r.size; at += leastFree {
		_, err = f.WriteAt(nothing, at)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(r.path))
	}
	r.kept = true
	return nil
}

// setAside makes the reserve when the store opens, of at most a quarter of the free space;
// none where that is little.
func (s *Store) setAside(size int64) error {
	r := &s.reserve
	r.path = s.path + "-reserve"
	if size == 0 {
		return nil
	}
	if info, err := os.Stat(r.path); err == nil && info.Size() > 0 {
		r.size, r.kept = info.Size(), true
		return nil
	}
	free, err := s.free()
	if err != nil {
		return err
	}
	if r.size = min(size, free/4); r.size < leastFree {
		r.size = 0
		return errors.New("the disk is nearly full")
	}
	return r.keep()
}

// free is how much space there is on the disk of the database.
func (s *Store) free() (int64, error) {
	var disk unix.Statfs_t
	err := unix.Statfs(filepath.Dir(s.path), &disk)
	return int64(disk.Bavail) * int64(disk.Bsize), err //nolint:unconvert // the types differ between systems
}

// giveUp frees the space of the reserve; false if there is none to free.
func (s *Store) giveUp() bool {
	r := &s.reserve
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.kept {
		return false
	}
	r.spent.Store(true) // first: what is freed is not for others
	if err := os.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Error("the space that is set aside for revoking leases cannot be freed", "file", r.path, "error", err)
	}
	r.kept = false
	s.log.Error("the disk of the database is full: until there is space, leases are revoked and shown, and nothing else is done", "file", s.path)
	return true
}

// look gives the reserve up where the disk is as good as full, and makes it again where
// there is space for it: the job queue, whose passes end leases, writes by itself.
func (s *Store) look() {
	r := &s.reserve
	free, err := s.free()
	switch {
	case err != nil:
	case free < leastFree:
		s.giveUp()
	case r.spent.Load() && free > r.size+2*leastFree:
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.keep() == nil {
			r.spent.Store(false)
			s.log.Info("the disk of the database has space again", "file", s.path)
		}
	}
}

// keepLooking looks until ctx ends.
func (s *Store) keepLooking(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		s.look()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// ends reports whether an entry records that a lease is ended, or a VIM with its leases.
func ends(e audit.Entry) bool {
	switch e.Action {
	case policy.LeaseRevoke, policy.VIMDelete, policy.VIMForceDelete, policy.VIMRetire:
		return e.Outcome != audit.Denied
	}
	return false
}

// outOfSpace reports whether a write failed for want of space.
func outOfSpace(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_FULL
}

func noSpace() error { return rows.NoSpace("leases can be revoked and shown, and nothing else", nil) }
