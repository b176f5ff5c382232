package audit

import (
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// PollWithin is how soon the same read by the same principal is a poll.
const PollWithin = 10 * time.Minute

// maxRemembered bounds what is remembered of reads and logins. When it is reached, all
// is forgotten, and more is recorded than need be.
const maxRemembered = 10000

// Reads says which reads are recorded. A read that is repeated within [PollWithin] is a
// poll, and is not; of the others one in some is. Safe for concurrent use.
type Reads struct {
	oneIn int

	mu    sync.Mutex
	seen  map[read]time.Time
	count int
}

// read is what is the same read again.
type read struct {
	principal, project string
	action             policy.Action
	kind               policy.Kind
	resource           string
}

// NewReads records the first read and then one in so many; zero records none.
func NewReads(oneIn int) *Reads { return &Reads{oneIn: oneIn, seen: map[read]time.Time{}} }

// due reports whether a read is to be recorded.
func (r *Reads) due(e Entry) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.oneIn <= 0 {
		return false
	}
	if at, again := r.seen[readOf(e)]; again && e.Time.Before(at.Add(PollWithin)) {
		return false
	}
	r.count++
	if (r.count-1)%r.oneIn != 0 {
		r.remember(e)
		return false
	}
	return true
}

// recorded says that a read is in the log.
func (r *Reads) recorded(e Entry) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remember(e)
}

func (r *Reads) remember(e Entry) {
	if len(r.seen) >= maxRemembered {
		clear(r.seen)
	}
	r.seen[readOf(e)] = e.Time
}

func readOf(e Entry) read { return read{e.Principal, e.Project, e.Action, e.Kind, e.Resource} }
