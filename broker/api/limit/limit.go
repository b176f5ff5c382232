// Package limit bounds how often something is done, and how many at a time: for each of
// many keys, such as addresses and callers, and for all together. It remembers a bounded
// number of keys, so a flood of new ones takes no more memory.
package limit

import (
	"container/list"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Bound is the limit of one key. Zero in a field is no bound.
type Bound struct {
	// PerSecond is the rate in the long run, Burst the number at once after a rest. A
	// Burst of zero is PerSecond.
	PerSecond, Burst int
	// InFlight is how many at a time.
	InFlight int
}

// limiter is nil if the rate has no bound.
func (b Bound) limiter() *rate.Limiter {
	switch {
	case b.PerSecond == 0:
		return nil
	case b.Burst == 0:
		b.Burst = b.PerSecond
	}
	return rate.NewLimiter(rate.Limit(b.PerSecond), b.Burst)
}

// Exceeded is the error of a call beyond a bound.
type Exceeded struct {
	// InFlight: too many at a time. Otherwise: too often.
	InFlight bool
	// Bound is the number that is exceeded.
	Bound int
	// Wait is when to come again; at least a second.
	Wait time.Duration
}

func (e *Exceeded) Error() string {
	if e.InFlight {
		return "too many at a time"
	}
	return "too often"
}

// again is the time to retry after, if it is unknown when others are done.
const again = time.Second

// wait makes a waiting time of what a limiter says: whole seconds, as Retry-After has them.
func wait(d time.Duration) time.Duration {
	return max(again, time.Duration(math.Ceil(d.Seconds()))*time.Second)
}

// Keys bounds each of many keys. It is safe for concurrent use.
type Keys struct {
	bound Bound
	now   func() time.Time

	mu    sync.Mutex
	known recent[counted]
}

type counted struct {
	rate     *rate.Limiter
	inFlight int
}

// NewKeys bounds keys, of which it remembers that many most recently used: a forgotten
// key counts from zero again. now tells the time.
func NewKeys(b Bound, most int, now func() time.Time) *Keys {
	return &Keys{bound: b, now: now, known: newRecent[counted](most)}
}

// Enter counts one more of key, or returns an [*Exceeded]. Call leave once it is done.
func (k *Keys) Enter(key string) (leave func(), err error) {
	if k.bound == (Bound{}) {
		return func() {}, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	e, made := k.known.hold(key)
	if made {
		e.value.rate = k.bound.limiter()
	}
	if err := k.enter(&e.value); err != nil {
		k.known.release(e)
		return nil, err
	}
	e.value.inFlight++
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		e.value.inFlight--
		k.known.release(e)
	}, nil
}

func (k *Keys) enter(c *counted) error {
	if k.bound.InFlight > 0 && c.inFlight >= k.bound.InFlight {
		return &Exceeded{InFlight: true, Bound: k.bound.InFlight, Wait: again}
	}
	if c.rate == nil {
		return nil
	}
	now := k.now()
	r := c.rate.ReserveN(now, 1)
	if d := r.DelayFrom(now); d > 0 {
		r.CancelAt(now)
		return &Exceeded{Bound: k.bound.PerSecond, Wait: wait(d)}
	}
	return nil
}

// Failures bounds what fails, for each of many keys: only failures count, and who has
// failed too often is not even tried. Keys that have failed lately, of which there may be many,
// are tried one after the other, so that others do not wait for them. It is safe for concurrent use.
type Failures struct {
	bound    Bound
	now      func() time.Time
	suspects chan struct{} // the seat of those that have failed lately
	queue    Gate          // those of them that wait for it

	mu    sync.Mutex
	known recent[failing]
}

const (
	// suspectFor is the time for which a failure of a key counts as recent.
	suspectFor = time.Minute
	// maxSuspects bounds the tries that wait because their keys have failed lately.
	maxSuspects = 64
)

type failing struct {
	rate  *rate.Limiter
	seats chan struct{} // nil: there are as many as anyone likes
	last  time.Time     // of its failures; under the lock of Failures
}

// NewFailures bounds failures of keys, as [NewKeys] bounds calls. InFlight is the number of
// tries of one key at a time.
func NewFailures(b Bound, most int, now func() time.Time) *Failures {
	return &Failures{bound: b, now: now, suspects: make(chan struct{}, 1), known: newRecent[failing](most)}
}

func (f *Failures) hold(key string) *held[failing] {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, made := f.known.hold(key)
	if made {
		e.value.rate = f.bound.limiter()
		if f.bound.InFlight > 0 {
			e.value.seats = make(chan struct{}, f.bound.InFlight)
		}
	}
	return e
}

func (f *Failures) release(e *held[failing]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known.release(e)
}

// Check returns an [*Exceeded] if key has failed too often by now.
func (f *Failures) Check(key string) error {
	e := f.hold(key)
	defer f.release(e)
	return f.check(e)
}

func (f *Failures) check(e *held[failing]) error {
	if e.value.rate == nil {
		return nil
	}
	if tokens := e.value.rate.TokensAt(f.now()); tokens < 1 {
		missing := (1 - tokens) / float64(f.bound.PerSecond)
		return &Exceeded{Bound: f.bound.PerSecond, Wait: wait(time.Duration(missing * float64(time.Second)))}
	}
	return nil
}

func (f *Failures) Count(key string) {
	e := f.hold(key)
	defer f.release(e)
	if e.value.rate != nil {
		e.value.rate.ReserveN(f.now(), 1) // it may go below zero, since it has happened
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	e.value.last = f.now()
}

// Try waits until one more try of key may begin. It returns an [*Exceeded] once key has
// failed too often, or where it has failed lately and too many such wait, and ctx's error if
// that ends first. Call leave once the try is over.
func (f *Failures) Try(ctx context.Context, key string) (leave func(), err error) {
	e := f.hold(key)
	left := []func(){func() { f.release(e) }}
	leave = func() {
		for _, l := range slices.Backward(left) {
			l()
		}
	}
	sit := func(seats chan struct{}) error {
		select {
		case seats <- struct{}{}:
			left = append(left, func() { <-seats })
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if e.value.seats != nil {
		err = sit(e.value.seats)
		if err == nil && f.suspect(e) {
			waits, full := f.queue.Enter(maxSuspects)
			if full != nil {
				leave()
				return nil, &Exceeded{Bound: f.bound.PerSecond, Wait: wait(time.Second)}
			}
			err = sit(f.suspects)
			waits()
		}
	}
	if err == nil {
		err = f.check(e) // others may have failed meanwhile
	}
	if err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

func (f *Failures) suspect(e *held[failing]) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now().Sub(e.value.last) < suspectFor
}

// Gate bounds the number of requests at a time, from all callers together. It is safe for
// concurrent use.
type Gate struct {
	under atomic.Int64
}

var errFull = errors.New("too many at a time")

// Enter counts one more, unless there are most already: errFull. Zero is no bound. Call
// leave once it is done.
func (g *Gate) Enter(most int) (leave func(), err error) {
	if g.under.Add(1) > int64(most) && most > 0 {
		g.under.Add(-1)
		return nil, errFull
	}
	return func() { g.under.Add(-1) }, nil
}

// recent remembers the keys that were used last. A key that is held is never forgotten, so
// there may be more than most while so many are held. It is not safe for concurrent use.
type recent[T any] struct {
	most  int
	known map[string]*held[T]
	idle  *list.List // the keys not in use, the longest unused first
}

type held[T any] struct {
	value   T
	key     string
	holders int
	idle    *list.Element // nil while it is held
}

func newRecent[T any](most int) recent[T] {
	return recent[T]{most: most, known: map[string]*held[T]{}, idle: list.New()}
}

// hold returns the remembered state of a key; made says that it was not known. Release it.
func (r *recent[T]) hold(key string) (h *held[T], made bool) {
	h = r.known[key]
	if made = h == nil; made {
		h = &held[T]{key: key}
		r.known[key] = h
	}
	if h.idle != nil {
		r.idle.Remove(h.idle)
		h.idle = nil
	}
	h.holders++
	return h, made
}

// release forgets the keys that were unused the longest, if there are too many.
func (r *recent[T]) release(h *held[T]) {
	h.holders--
	if h.holders > 0 {
		return
	}
	h.idle = r.idle.PushBack(h)
	for len(r.known) > r.most && r.idle.Len() > 0 {
		oldest := r.idle.Front()
		delete(r.known, r.idle.Remove(oldest).(*held[T]).key)
	}
}

// Seats bounds the number of one key at a time, and of all keys; others wait in the order of
// arrival. A wait for a key's seat takes no other key's place. It is safe for concurrent
// use.
type Seats struct {
	all   chan struct{}
	ofKey int

	mu    sync.Mutex
	known recent[chan struct{}]
}

// NewSeats returns seats for so many of all keys, and for so many of one.
func NewSeats(all, ofKey int) *Seats {
	return &Seats{all: make(chan struct{}, all), ofKey: ofKey, known: newRecent[chan struct{}](0)}
}

// Sit waits for a seat; ctx's error where that ends first. Call leave to give it away.
func (s *Seats) Sit(ctx context.Context, key string) (leave func(), err error) {
	of := s.hold(key)
	if err := sit(ctx, of.value); err != nil {
		s.release(of)
		return nil, err
	}
	stand := func() {
		<-of.value
		s.release(of)
	}
	if err := sit(ctx, s.all); err != nil {
		stand()
		return nil, err
	}
	return func() {
		<-s.all
		stand()
	}, nil
}

func sit(ctx context.Context, seats chan struct{}) error {
	select {
	case seats <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Seats) hold(key string) *held[chan struct{}] {
	s.mu.Lock()
	defer s.mu.Unlock()
	of, made := s.known.hold(key)
	if made {
		of.value = make(chan struct{}, s.ofKey)
	}
	return of
}

func (s *Seats) release(of *held[chan struct{}]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.release(of)
}
