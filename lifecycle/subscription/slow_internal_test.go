package subscription

import (
	"errors"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/clock"
)

// Patient has no subscriber be slow until the test ends, however busy the machine is.
func Patient(t testing.TB) {
	was := slowAfter
	slowAfter = time.Hour
	t.Cleanup(func() { slowAfter = was })
}

// forgetful is an endpoint of which only Forget is called.
type forgetful struct{ Endpoint }

func (forgetful) Forget(string) {}

// What is noted of slow subscribers counts for an hour, and is dropped then and where a subscription goes.
func TestWhatIsNotedOfSlowSubscribersGoes(t *testing.T) {
	at := clock.New(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC))
	s := New(Options{Now: at.Now, Endpoint: forgetful{}})
	o := order{Subscriptions: s, one: Subscription{ID: "a"}}
	tardy := func() bool {
		t.Helper()
		if err := o.place(); err != nil {
			t.Fatal(err)
		}
		had := !o.since.IsZero()
		o.leave()
		return had
	}
	if tardy() {
		t.Error("one that was never slow has a place among the tardy")
	}
	s.slowed("a")
	if at.Add(slowFor - time.Second); !tardy() {
		t.Error("one that was slow has no place among the tardy")
	}
	if at.Add(time.Second); tardy() {
		t.Error("one that was slow an hour ago has a place among the tardy")
	}
	s.slowed("a")
	for range cap(s.tardy) - 1 {
		s.tardy <- struct{}{}
	}
	for _, after := range []time.Duration{0, tardyTurn} {
		if at.Add(after); o.place() != nil {
			t.Errorf("one of the tardy loses its place after %v, want more than %v", after, tardyTurn)
		}
	}
	if at.Add(time.Millisecond); !errors.Is(o.place(), errTardy) {
		t.Error("one of the tardy keeps its place after its turn, where all places are taken")
	}
	<-s.tardy
	if err := o.place(); err != nil {
		t.Errorf("one of the tardy loses its place, where others are free: %v", err)
	}
	o.leave()
	s.slowed("a")
	at.Add(slowFor - time.Second)
	if s.slowed("b"); len(s.slow) != 2 {
		t.Errorf("%d are noted before the hour is over, want both", len(s.slow))
	}
	at.Add(time.Second)
	if s.slowed("b"); len(s.slow) != 1 {
		t.Errorf("%d are noted, want the last", len(s.slow))
	}
	if s.forget("b"); len(s.slow) != 0 {
		t.Errorf("%d are noted of what is gone", len(s.slow))
	}
}
