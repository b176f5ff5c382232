package lifecycle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/vimbroker/vimbroker/broker/job"
)

// turnsEvery is the interval of the pass that gives the turns which a process that died has left
// out.
const turnsEvery = 15 * time.Second

// Place is an operation that is worked, or waits for its turn.
type Place struct {
	Operation, Project string
	// VIM is empty if the row names none: the operation then counts on no VIM.
	VIM      string
	QueuedAt time.Time
	Waits    bool
}

// Waiting is the state of an operation that waits for its turn.
type Waiting struct {
	Since time.Time
	// Position counts those that wait in its project: 1 is the next of them.
	Position int
	// Reason is the bound that keeps it waiting.
	Reason string
}

// soon is the reason if no bound keeps an operation waiting.
const soon = "it begins in a moment"

// atOnce is the number of operations that one process works in parallel: enough that those of one project
// leave room for others'.
func (t Terms) atOnce() int { return 3 * t.PerProject }

// busy counts the operations that have their turn.
type busy struct {
	terms     Terms
	byProject map[string]int
	byVIM     map[string]int
	// shares are a project's on one VIM.
	shares map[[2]string]int
}

// busyWith counts those of places that have their turn.
func (t Terms) busyWith(places []Place) *busy {
	b := &busy{terms: t, byProject: map[string]int{}, byVIM: map[string]int{}, shares: map[[2]string]int{}}
	for _, p := range places {
		if !p.Waits {
			b.add(p)
		}
	}
	return b
}

func (b *busy) add(p Place) {
	b.byProject[p.Project]++
	b.byVIM[p.VIM]++
	b.shares[p.share()]++
}

func (p Place) share() [2]string { return [2]string{p.Project, p.VIM} }

// full is the bound that is reached for a place; empty if it may begin.
func (b *busy) full(p Place) string {
	switch {
	case b.byProject[p.Project] >= b.terms.PerProject:
		return fmt.Sprintf("the project has %d operations under way, as many as are allowed at once (vnf.operationsPerProject)",
			b.byProject[p.Project])
	case p.VIM != "" && b.byVIM[p.VIM] >= b.terms.PerVIM:
		return fmt.Sprintf("the VIM has %d operations under way, as many as are allowed at once (vnf.operationsPerVIM)", b.byVIM[p.VIM])
	}
	return ""
}

// turns are the operations among places whose turn it is now, in the order in which they begin. Among the operations
// that no bound keeps waiting, the next is the one whose project has the fewest under way on its VIM, then the one
// queued first. Places are in the order of the queue.
func (t Terms) turns(places []Place) []string {
	b := t.busyWith(places)
	waiting := slices.DeleteFunc(slices.Clone(places), func(p Place) bool { return !p.Waits })
	var begin []string
	for {
		next := -1
		for n, p := range waiting {
			if b.full(p) == "" && (next < 0 || b.shares[p.share()] < b.shares[waiting[next].share()]) {
				next = n
			}
		}
		if next < 0 {
			return begin
		}
		b.add(waiting[next])
		begin = append(begin, waiting[next].Operation)
		waiting = slices.Delete(waiting, next, next+1)
	}
}

// GiveTurns lets those operations begin that wait and that no bound keeps waiting. It is called when an operation is
// queued and when one ends, and by a pass, for the turns that a process that died has left out.
func (l *Lifecycle) GiveTurns(ctx context.Context) error {
	return l.Store.GiveTurns(job.WithoutClaim(ctx), l.Terms.turns, func(o *Operation) {
		o.TurnAt = l.Now()
		o.Deadline = o.TurnAt.Add(l.Terms.Patience)
	})
}

// nextTurns is GiveTurns for callers that leave a failure to the pass.
func (l *Lifecycle) nextTurns(ctx context.Context) {
	if err := l.GiveTurns(ctx); err != nil {
		l.Log.WarnContext(ctx, "operations that wait are not begun now; the next pass does it", "error", err)
	}
}

// showWaiting says of operations that have not ended what they rest on, and of those that wait how they stand.
func (l *Lifecycle) showWaiting(ctx context.Context, all []Operation) error {
	for n, o := range all {
		if o.State.Live() {
			all[n].Warrant = l.Delegates.Warrant(o.Asker)
		}
	}
	if !slices.ContainsFunc(all, Operation.Waits) {
		return nil
	}
	places, err := l.Store.Places(ctx)
	if err != nil {
		return err
	}
	b, positions, at := l.Terms.busyWith(places), map[string]int{}, map[string]Waiting{}
	for _, p := range places {
		if p.Waits {
			positions[p.Project]++
			at[p.Operation] = Waiting{p.QueuedAt, positions[p.Project], cmp.Or(b.full(p), soon)}
		}
	}
	for n, o := range all {
		if !o.Waits() {
			continue
		}
		w, waits := at[o.ID]
		if !waits { // its turn came, or it ended, after it was read
			w = Waiting{o.QueuedAt, 1, soon}
		}
		all[n].Waiting = &w
	}
	return nil
}
