package onboard

import (
	"context"
	"sync"
	"time"
)

const (
	// patience is how long a look may take before another is begun beside it.
	patience = 2 * time.Second
	// maxHanging bounds how many looks take longer than that at a time.
	maxHanging = 480
)

type key struct{ namespace, name string }

// queue holds the keys that are due for a look, and their times. Each key is handed out
// to one worker at a time; a key that is added meanwhile comes again.
type queue struct {
	now func() time.Time

	mu      sync.Mutex
	due     map[key]time.Time
	working map[key]bool
	changed chan struct{}
}

func newQueue(now func() time.Time) *queue {
	return &queue{now: now, due: map[key]time.Time{}, working: map[key]bool{}, changed: make(chan struct{}, 1)}
}

// add has a key looked at after a while; an earlier time that it has already counts.
func (q *queue) add(k key, after time.Duration) {
	at := q.now().Add(after)
	q.mu.Lock()
	if old, there := q.due[k]; !there || at.Before(old) {
		q.due[k] = at
	}
	q.mu.Unlock()
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.changed <- struct{}{}:
	default: // it will be received
	}
}

// take returns a key that is due and not handed out, or how long to wait for one.
func (q *queue) take() (k key, wait time.Duration, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now, wait := q.now(), time.Minute
	for k, at := range q.due {
		if q.working[k] {
			continue
		}
		if left := at.Sub(now); left > 0 {
			wait = min(wait, left)
			continue
		}
		delete(q.due, k)
		q.working[k] = true
		return k, 0, true
	}
	return key{}, wait, false
}

func (q *queue) overdue() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	for k, at := range q.due {
		if !q.working[k] && !at.After(now) {
			n++
		}
	}
	return n
}

func (q *queue) done(k key) {
	q.mu.Lock()
	delete(q.working, k)
	q.mu.Unlock()
	q.wake()
}

// run hands keys to do until ctx ends, so many at a time, and returns when the last has
// returned. do returns the time after which the key is due again; zero is never. A key that
// takes longer than [patience] leaves its place to the next, so those that hang delay no other.
func (q *queue) run(ctx context.Context, atOnce int, after func(time.Duration) <-chan time.Time, do func(key) time.Duration) {
	var group sync.WaitGroup
	defer group.Wait()
	places, all := make(chan struct{}, atOnce), make(chan struct{}, atOnce+maxHanging)
	for ctx.Err() == nil {
		for _, free := range []chan struct{}{places, all} {
			select {
			case free <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
		k, wait, ok := q.take()
		if !ok {
			<-places
			<-all
			select {
			case <-q.changed:
			case <-after(wait):
			case <-ctx.Done():
			}
			continue
		}
		leave := sync.OnceFunc(func() { <-places })
		group.Go(func() {
			defer func() { <-all }()
			defer leave()
			late := time.AfterFunc(patience, leave)
			defer late.Stop()
			if again := do(k); again > 0 {
				q.add(k, again)
			}
			q.done(k)
		})
	}
}
