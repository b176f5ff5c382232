package rows

import (
	"errors"
	"sync"

	"github.com/vimbroker/vimbroker/broker"
)

// WriteRefusal is the last answer of a database that takes no writes, until it has taken one that was tried for that. Safe for
// concurrent use.
type WriteRefusal struct {
	mu    sync.Mutex
	count int
	last  error
}

// Note returns err, and keeps it if it says that the database takes no writes.
func (r *WriteRefusal) Note(err error) error {
	if errors.Is(err, broker.ErrNoWrites) { // with which ErrNoSpace comes
		r.mu.Lock()
		defer r.mu.Unlock()
		r.count, r.last = r.count+1, err
	}
	return err
}

// Settle tries a write that needs what others need. If it succeeds, what was refused before it is forgotten.
func (r *WriteRefusal) Settle(try func() error) error {
	r.mu.Lock()
	before := r.count
	r.mu.Unlock()
	if err := try(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == before {
		r.last = nil
	}
	return nil
}

// Last is the error that Note kept, or nil.
func (r *WriteRefusal) Last() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}
