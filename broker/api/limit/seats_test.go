package limit

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

// Many of one key that wait, or sit, leave a seat to another key; and of all no more sit than
// there are seats.
func TestSeatsOfOneKeyLeaveSeatsToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSeats(2, 1)
		first, err := s.Sit(t.Context(), "loud")
		if err != nil {
			t.Fatal(err)
		}
		var order []int
		var waiting sync.WaitGroup
		for n := range 100 {
			synctest.Wait() // they come one after the other
			waiting.Go(func() {
				leave, err := s.Sit(t.Context(), "loud")
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, n)
				leave()
			})
		}
		synctest.Wait()
		if len(order) != 0 {
			t.Errorf("%d more of a key sit that has its seat", len(order))
		}
		quiet, err := s.Sit(t.Context(), "quiet")
		if err != nil {
			t.Fatal(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		full := make(chan error)
		go func() {
			_, err := s.Sit(gone, "third")
			full <- err
		}()
		synctest.Wait()
		select {
		case err := <-full:
			t.Fatalf("Sit() = %v while all seats are taken", err)
		default:
		}
		cancel()
		if err := <-full; !errors.Is(err, context.Canceled) {
			t.Errorf("Sit() whose caller is gone = %v", err)
		}
		if leave, err := s.Sit(gone, "loud"); !errors.Is(err, context.Canceled) || leave != nil {
			t.Errorf("Sit() of a key without a seat, whose caller is gone = %v", err)
		}
		quiet()
		first()
		waiting.Wait()
		for n, was := range order {
			if n != was {
				t.Fatalf("they sat in the order %v, want that in which they came", order)
			}
		}
		if len(order) != 100 || len(s.known.known) != 0 || len(s.all) != 0 {
			t.Errorf("%d sat, %d keys and %d seats are held by nobody", len(order), len(s.known.known), len(s.all))
		}
	})
}
