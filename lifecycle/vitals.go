package lifecycle

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// OperationCount counts operations that are Live.
type OperationCount struct {
	Type  OperationType
	State OperationState
	Count int
	// Oldest is when the first of them came into the state, to the second.
	Oldest time.Time
	// Waiting is how many of them wait for their turn, OldestWaiting since when the first has, to the second.
	Waiting       int
	OldestWaiting time.Time
}

// Ended is the outcome of an operation: Completed, RolledBack or FailedTemp.
type Ended struct {
	Type  OperationType
	State OperationState
}

// Vitals are the figures of operations for operators.
type Vitals struct {
	// Live are those of all processes; nil if the store could not be asked.
	Live []OperationCount
	// Took is the time from the request for an operation to an end, with the time in which it waited
	// for somebody to retry it, of those that this process ended since it started.
	Took map[Ended]broker.Lag
}

// Vitals returns the figures for operators.
func (l *Lifecycle) Vitals(ctx context.Context) Vitals {
	v := Vitals{Took: l.took.all()}
	live, err := l.Store.LiveOperations(ctx)
	if err != nil {
		l.Log.WarnContext(ctx, "the store could not be asked which operations there are", "error", err)
		return v
	}
	v.Live = slices.Grow(live, 1) // none is not nil
	return v
}

// took counts how long operations took.
type took struct {
	mu   sync.Mutex
	ends map[Ended]broker.Lag
}

func (t *took) add(o Operation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ends == nil {
		t.ends = map[Ended]broker.Lag{}
	}
	lag := t.ends[Ended{o.Type, o.State}]
	lag.Add(o.StateEnteredAt.Sub(o.StartedAt))
	t.ends[Ended{o.Type, o.State}] = lag
}

func (t *took) all() map[Ended]broker.Lag {
	t.mu.Lock()
	defer t.mu.Unlock()
	shown := maps.Clone(t.ends)
	for e, lag := range shown {
		lag.Buckets = slices.Clone(lag.Buckets)
		shown[e] = lag
	}
	return shown
}
