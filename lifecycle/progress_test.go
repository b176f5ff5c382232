package lifecycle_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// ledger is a store that counts how often an operation is read and its progress saved.
type ledger struct {
	lifecycle.Store
	reads, saves atomic.Int32
	read         chan struct{}
}

func (l *ledger) Operation(ctx context.Context, id string) (lifecycle.Operation, error) {
	l.reads.Add(1)
	select {
	case l.read <- struct{}{}:
	default:
	}
	return l.Store.Operation(ctx, id)
}

func (l *ledger) SaveProgress(ctx context.Context, o lifecycle.Operation) error {
	l.saves.Add(1)
	return l.Store.SaveProgress(ctx, o)
}

// crowd is a yard in which each wave has many objects, of which one changes whenever the engine looks.
type crowd struct {
	*yard
	ledger  *ledger
	objects int
	// looked and saved are what the waves saw of the ledger.
	looked, saved int32
}

func (c *crowd) Run(ctx context.Context, conn lifecycle.Connection, instance string, w lifecycle.Wave, progress func(lifecycle.Observation)) error {
	see := func(n int) {
		progress(lifecycle.Observation{Resource: lifecycle.Resource{Version: "v1", Kind: "Thing", Plural: "things", Namespace: "default", Name: fmt.Sprintf("thing-%05d", n)}})
	}
	for n := range c.objects {
		see(n)
	}
	reads, saves := c.ledger.reads.Load(), c.ledger.saves.Load()
	for c.ledger.reads.Load()-reads < 20 {
		see(0)
		select {
		case <-c.ledger.read:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	c.looked += c.ledger.reads.Load() - reads
	c.saved += c.ledger.saves.Load() - saves
	return c.yard.Run(ctx, conn, instance, w, progress)
}

// TestManyStepsAreSavedLessOften: an operation's row is written whole, so that of 4000 objects is written at every
// fifth look at most, and that of a few at each.
func TestManyStepsAreSavedLessOften(t *testing.T) {
	for objects, every := range map[int]int32{4000: 5, 10: 1} {
		var c *crowd
		p := newPlantWith(t, func(o *lifecycle.Options, y *yard) {
			c = &crowd{yard: y, ledger: &ledger{Store: o.Store, read: make(chan struct{})}, objects: objects}
			o.Store, o.Drivers = c.ledger, []lifecycle.Driver{c}
		})
		p.lends.out.None()
		p.running()
		if most := c.looked/every + 4; c.saved > most || c.saved == 0 {
			t.Errorf("%d objects: %d looks save %d times, want 1 to %d", objects, c.looked, c.saved, most)
		}
	}
}

// parade is a yard in which an instance is made in many waves, the first of which has many objects.
type parade struct {
	*yard
	waves, objects int
}

func (p parade) Plan(ctx context.Context, c lifecycle.Connection, in lifecycle.PlanInput) (lifecycle.Plan, error) {
	plan, err := p.yard.Plan(ctx, c, in)
	if err == nil {
		plan.Stages[0].Waves = slices.Repeat(plan.Stages[0].Waves, p.waves)
	}
	return plan, err
}

func (p parade) Run(ctx context.Context, conn lifecycle.Connection, instance string, w lifecycle.Wave, progress func(lifecycle.Observation)) error {
	for n := range p.objects {
		progress(lifecycle.Observation{Resource: lifecycle.Resource{Version: "v1", Kind: "Thing", Plural: "things", Namespace: "default", Name: fmt.Sprintf("thing-%05d", n)}})
	}
	return p.yard.Run(ctx, conn, instance, w, progress)
}

// TestWavesOfManyStepsAreSavedLessOften: 100 waves of an operation that has 4000 objects write its row once in the time
// of four looks, and not after each.
func TestWavesOfManyStepsAreSavedLessOften(t *testing.T) {
	for objects, least := range map[int]int32{4000: 1, 10: 100} {
		var l *ledger
		p := newPlantWith(t, func(o *lifecycle.Options, y *yard) {
			l = &ledger{Store: o.Store, read: make(chan struct{})}
			o.Store, o.Drivers = l, []lifecycle.Driver{parade{y, 100, objects}}
			o.Terms.LookEvery = time.Hour
		})
		p.lends.out.None()
		p.running()
		if n := l.saves.Load(); n < least || n > least+5 {
			t.Errorf("%d objects: 100 waves are saved %d times, want %d and those of the stages", objects, n, least)
		}
	}
}
