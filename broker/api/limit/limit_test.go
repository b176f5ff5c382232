package limit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/clock"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// over wants that err is of a limit.
func over(t *testing.T, err error) *Exceeded {
	t.Helper()
	var e *Exceeded
	if !errors.As(err, &e) {
		t.Fatalf("%v, want an Exceeded", err)
	}
	if want := map[bool]string{true: "too many at a time", false: "too often"}[e.InFlight]; err.Error() != want {
		t.Errorf("it is told as %v, want %s", err, want)
	}
	return e
}

func enter(t *testing.T, k *Keys, key string) (leave func()) {
	t.Helper()
	leave, err := k.Enter(key)
	if err != nil {
		t.Fatal(err)
	}
	return leave
}

func TestRateOfEachKey(t *testing.T) {
	now := clock.New(began)
	k := NewKeys(Bound{PerSecond: 2, Burst: 3}, 10, now.Now)
	for range 3 {
		enter(t, k, "a")()
	}
	for range 5 { // what is refused costs nothing
		if _, err := k.Enter("a"); over(t, err).Wait != time.Second || over(t, err).InFlight {
			t.Errorf("a fourth at once = %+v", err)
		}
	}
	enter(t, k, "b")()
	now.Add(500 * time.Millisecond)
	enter(t, k, "a")()
	if _, err := k.Enter("a"); err == nil {
		t.Error("two within half a second are more than two a second")
	}
	slow := NewKeys(Bound{PerSecond: 1}, 10, now.Now) // a burst of one
	enter(t, slow, "a")()
	if _, err := slow.Enter("a"); over(t, err).Bound != 1 {
		t.Errorf("%+v", err)
	}
}

func TestInFlightOfEachKey(t *testing.T) {
	k := NewKeys(Bound{InFlight: 2}, 10, time.Now)
	first, second := enter(t, k, "a"), enter(t, k, "a")
	if _, err := k.Enter("a"); !over(t, err).InFlight || over(t, err).Wait < time.Second {
		t.Errorf("a third = %+v", err)
	}
	enter(t, k, "b")()
	first()
	enter(t, k, "a")()
	second()
	if len(k.known.known) != 2 || k.known.idle.Len() != 2 {
		t.Errorf("%d keys, %d of them idle", len(k.known.known), k.known.idle.Len())
	}
}

func TestNoBound(t *testing.T) {
	k, f := NewKeys(Bound{}, 1, time.Now), NewFailures(Bound{}, 1, time.Now)
	for range 100 {
		enter(t, k, "a")
		f.Count("a")
		if _, err := f.Try(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	if len(k.known.known) != 0 {
		t.Error("what is not bounded is remembered")
	}
}

// A flood of new keys takes no more memory, and what is under way keeps its count.
func TestMemoryIsBounded(t *testing.T) {
	k := NewKeys(Bound{PerSecond: 1, Burst: 2, InFlight: 1}, 100, time.Now)
	leave := enter(t, k, "busy")
	f := NewFailures(Bound{PerSecond: 1, InFlight: 1}, 100, time.Now)
	for n := range 5000 {
		enter(t, k, fmt.Sprint(n))()
		f.Count(fmt.Sprint(n))
	}
	refusing := NewKeys(Bound{PerSecond: 1, Burst: 1}, 100, clock.New(began).Now)
	for n := range 300 {
		enter(t, refusing, fmt.Sprint(n))()
		if _, err := refusing.Enter(fmt.Sprint(n)); err == nil {
			t.Fatal("a key enters twice")
		}
	}
	if len(refusing.known.known) != 100 || refusing.known.idle.Len() != 100 {
		t.Errorf("%d keys that were refused are remembered, %d of them idle", len(refusing.known.known), refusing.known.idle.Len())
	}
	if len(k.known.known) != 100 || k.known.idle.Len() != 99 || len(f.known.known) != 100 {
		t.Errorf("%d and %d keys are remembered, %d of them idle", len(k.known.known), len(f.known.known), k.known.idle.Len())
	}
	if _, err := k.Enter("busy"); !over(t, err).InFlight {
		t.Errorf("a flood made the server forget what is under way: %v", err)
	}
	leave()
}

func TestOnlyFailuresCount(t *testing.T) {
	now := clock.New(began)
	f := NewFailures(Bound{PerSecond: 1, Burst: 2}, 10, now.Now)
	for range 10 {
		leave, err := f.Try(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		leave()
	}
	f.Count("a")
	f.Count("a")
	f.Count("a")
	if e := over(t, f.Check("a")); e.Wait != 2*time.Second {
		t.Errorf("one failure too many: %+v", e)
	}
	if _, err := f.Try(t.Context(), "a"); err == nil {
		t.Error("who has failed too often is tried")
	}
	if err := f.Check("b"); err != nil {
		t.Error(err)
	}
	now.Add(2 * time.Second)
	if err := f.Check("a"); err != nil {
		t.Error(err)
	}
}

// A key is a suspect for a while after each failure, the first and later ones.
func TestHowLongAKeyIsSuspect(t *testing.T) {
	now := clock.New(began)
	f := NewFailures(Bound{PerSecond: 1, Burst: 9, InFlight: 1}, 10, now.Now)
	e := f.hold("a")
	defer f.release(e)
	for n := range 3 {
		f.Count("a")
		now.Add(suspectFor - 1)
		suspect := f.suspect(e)
		if now.Add(1); !suspect || f.suspect(e) {
			t.Errorf("after failure %d it is suspect: %t, and then still: %t", n, suspect, f.suspect(e))
		}
	}
}

// Tries of one key wait for each other, and are refused once those before have failed.
func TestTriesWait(t *testing.T) {
	f := NewFailures(Bound{PerSecond: 1, InFlight: 1}, 10, clock.New(began).Now)
	leave, err := f.Try(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Try(gone, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("a try whose caller is gone = %v", err)
	}
	later := make(chan error, 1)
	go func() {
		_, err := f.Try(t.Context(), "a")
		later <- err
	}()
	if other, err := f.Try(t.Context(), "b"); err != nil {
		t.Error(err)
	} else {
		other()
	}
	f.Count("a")
	leave()
	over(t, <-later)
	if len(f.known.known) != f.known.idle.Len() {
		t.Error("a key is held by nobody and cannot be forgotten")
	}
}

func TestGate(t *testing.T) {
	var g Gate
	leave, err := g.Enter(2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Enter(1); !errors.Is(err, errFull) {
		t.Errorf("beyond = %v", err)
	}
	if _, err := g.Enter(2); err != nil {
		t.Errorf("what is refused counts: %v", err)
	}
	leave()
	if _, err := g.Enter(2); err != nil {
		t.Error(err)
	}
	if _, err := g.Enter(0); err != nil {
		t.Error(err)
	}
}

// Keys that have failed lately are tried one after the other, and hold up no others.
func TestKeysThatHaveFailedShareOneSeat(t *testing.T) {
	now := clock.New(time.Unix(1000, 0))
	f := NewFailures(Bound{PerSecond: 1, Burst: 50, InFlight: 4}, 1000, now.Now)
	try := func(ctx context.Context, key string) func() {
		t.Helper()
		leave, err := f.Try(ctx, key)
		if err != nil {
			t.Fatalf("Try(%s) = %v", key, err)
		}
		return leave
	}
	for n := range maxSuspects + 2 {
		f.Count(fmt.Sprint("bad-", n))
	}
	leave := try(t.Context(), "bad-0")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Try(ended, "bad-1"); !errors.Is(err, context.Canceled) {
		t.Errorf("the try of another key that failed = %v, want that it waits", err)
	}
	for n := range 10 {
		defer try(t.Context(), fmt.Sprint("good-", n))()
	}

	// Those that wait are bounded too.
	waiting, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	refused := make(chan error, maxSuspects+1)
	for n := range maxSuspects + 1 {
		all.Go(func() {
			if _, err := f.Try(waiting, fmt.Sprint("bad-", n+1)); err != nil {
				refused <- err
			}
		})
	}
	go func() {
		all.Wait()
		close(refused)
	}()
	over(t, <-refused)
	stop()
	all.Wait()
	now.Add(suspectFor)
	try(t.Context(), "bad-1")() // it failed long ago
	leave()
	f.Count("bad-2")
	try(t.Context(), "bad-2")()
	if waiting, tried := f.queue.under.Load(), len(f.suspects); waiting != 0 || tried != 0 {
		t.Errorf("when all have gone %d count as waiting and %d as tried", waiting, tried)
	}
}
