package audit

import (
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// PollWithin is the time within which the same read by the same principal is a poll.
const PollWithin = 10 * time.Minute

// maxRemembered bounds the remembered reads and logins. When it is reached, all are
// forgotten, and more entries are recorded than necessary.
const maxRemembered = 10000

// Reads says which reads are recorded. A read that is repeated within [PollWithin] is a
// poll, and is not. Safe for concurrent use.
type Reads struct {
	mu   sync.Mutex
	seen map[read]time.Time
}

// read is the key by which two reads are alike.
type read struct {
	principal, project string
	action             policy.Action
	kind               policy.Kind
	resource           string
}

// NewReads records all reads but polls.
func NewReads() *Reads { return &Reads{seen: map[read]time.Time{}} }

// due reports whether to record a read.
func (r *Reads) due(e Entry) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at, again := r.seen[readOf(e)]
	return !again || !e.Time.Before(at.Add(PollWithin))
}

// recorded says that a read is in the log.
func (r *Reads) recorded(e Entry) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.seen) >= maxRemembered {
		clear(r.seen)
	}
	r.seen[readOf(e)] = e.Time
}

func readOf(e Entry) read { return read{e.Principal, e.Project, e.Action, e.Kind, e.Resource} }
