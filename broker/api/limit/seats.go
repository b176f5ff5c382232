package limit

import (
	"context"
	"sync"
)

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
