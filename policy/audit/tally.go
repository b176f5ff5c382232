package audit

import (
	"maps"
	"sync"

	"github.com/vimbroker/vimbroker/policy"
)

// Result is the end of an act: an action, its outcome ([Done], [Failed] or [Denied]), and
// of a failure its class.
type Result struct {
	Action  policy.Action
	Outcome Outcome
	Class   string
}

// Tally counts results since the process started, when their entries are made: if the store
// then refuses the entry, the act is counted again, as failed. The zero Tally is ready, and
// safe for concurrent use.
type Tally struct {
	mu      sync.Mutex
	results map[Result]int
}

// Results returns the counts so far.
func (t *Tally) Results() map[Result]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.results)
}

// add counts one; a nil Tally counts nothing.
func (t *Tally) add(r Result) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.results == nil {
		t.results = map[Result]int{}
	}
	t.results[r]++
}
