package bench

import (
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// contender is one of the things that a figure sets side by side.
type contender struct {
	what string
	// call does the thing once; n is different at each call.
	call func(n int) error
}

// outcome is how one contender did.
type outcome struct {
	sample
	// busy is the time of its turns from beginning to end.
	busy time.Duration
}

// perSecond is the throughput of all clients together.
func (o outcome) perSecond() float64 { return float64(len(o.sample)) / o.busy.Seconds() }

// turns lets the contenders take turns, each beginning as often as the others.
// In its turn a contender is called by so many clients at once, each so many
// times. A turn before the first is not counted: it connects, and makes what is
// made once.
func turns(rounds, clients, each int, contenders ...contender) ([]outcome, error) {
	out := make([]outcome, len(contenders))
	for round := -1; round < rounds; round++ {
		for k := range contenders {
			i := (k + max(round, 0)) % len(contenders)
			began := time.Now()
			took, err := turn(clients, each, (round+1)*clients*each, contenders[i].call)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", contenders[i].what, err)
			}
			if round >= 0 {
				out[i].busy += time.Since(began)
				out[i].sample = append(out[i].sample, took...)
			}
		}
	}
	return out, nil
}

// turn calls from several clients at once; numbers count from first.
func turn(clients, each, first int, call func(n int) error) (sample, error) {
	took := make(sample, clients*each)
	var group errgroup.Group
	for c := range clients {
		group.Go(func() error {
			for n := c * each; n < (c+1)*each; n++ {
				began := time.Now()
				if err := call(first + n); err != nil {
					return err
				}
				took[n] = time.Since(began)
			}
			return nil
		})
	}
	return took, group.Wait()
}
