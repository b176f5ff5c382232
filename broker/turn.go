package broker

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	// reapVIMs is how many VIMs one pass of the reaper works on at once, and
	// reapOfProject how many of them may be one project's: other projects always find
	// a place.
	reapVIMs      = 24
	reapOfProject = 16

	// checkVIMs and checkOfProject are the same for one pass of checks, and of inventories.
	checkVIMs      = 16
	checkOfProject = 10
)

type turn struct {
	vim     string
	project string
	// since is how long it has waited.
	since time.Time
	// drains: there are no leases to end, and the VIM is to be removed.
	drains bool
}

// fairQueue says whose turn it is. It is not safe for concurrent use.
type fairQueue struct {
	// waiting are the turns of each project: leases before drains, then who has waited longest.
	waiting map[string][]turn
	// places are how many places each project has, and taken their sum.
	places map[string]int
	taken  int
	// most and ofProject bound taken, and the places of a project.
	most, ofProject int
	// patience is how long a VIM keeps its place; zero: until its work is over.
	patience time.Duration
	// rest is how long a VIM is left alone whose work failed, before it is worked on again; zero: not at all.
	rest time.Duration
}

func newFairQueue(most, ofProject int) *fairQueue {
	return &fairQueue{places: map[string]int{}, most: most, ofProject: ofProject}
}

func (q *fairQueue) wait(turns []turn) {
	q.waiting = map[string][]turn{}
	for _, t := range turns {
		q.waiting[t.project] = append(q.waiting[t.project], t)
	}
	for _, of := range q.waiting {
		slices.SortFunc(of, turn.compare)
	}
}

// next gives a place to the VIM whose turn it is; false if none waits that may have one.
// The project with the fewest places comes first, then leases before drains, then who
// has waited longest.
func (q *fairQueue) next() (turn, bool) {
	var first turn
	if q.taken >= q.most {
		return first, false
	}
	for project, of := range q.waiting {
		if q.places[project] >= q.ofProject {
			continue
		}
		fewer := cmp.Compare(q.places[project], q.places[first.project])
		if first.vim == "" || cmp.Or(fewer, of[0].compare(first)) < 0 {
			first = of[0]
		}
	}
	if first.vim == "" {
		return first, false
	}
	of := q.waiting[first.project]
	if q.waiting[first.project] = of[1:]; len(of) == 1 {
		delete(q.waiting, first.project)
	}
	q.places[first.project]++
	q.taken++
	return first, true
}

func (t turn) compare(other turn) int {
	switch {
	case t.drains == other.drains:
		return cmp.Or(t.since.Compare(other.since), cmp.Compare(t.vim, other.vim))
	case t.drains:
		return 1
	}
	return -1
}

func (q *fairQueue) leave(project string) {
	q.places[project]--
	q.taken--
}

// errDown is the end of work on a VIM that is down: it rests, and nothing has failed.
var errDown = errors.New("the VIM is down")

// outcome is the end of work on a VIM or, before it, that the VIM has left its place.
type outcome struct {
	turn
	over  bool
	again bool
	err   error
}

// work does a pass's work on a VIM that has a place. A VIM that keeps its place for longer than
// q.patience leaves it, for it may be silent, and goes on.
func (q *fairQueue) work(ctx context.Context, t turn, outcomes chan<- outcome, do func(ctx context.Context, vim string) (bool, error)) {
	leave := sync.OnceFunc(func() { outcomes <- outcome{turn: t} })
	if q.patience > 0 {
		defer time.AfterFunc(q.patience, leave).Stop()
	}
	again, err := do(ctx, t.vim)
	leave()
	outcomes <- outcome{turn: t, over: true, again: again, err: err}
}

// inTurn does a pass's work on the VIMs that list returns, side by side in the places of
// q, and lists again every Terms.ReapEvery: what becomes due while others hang does not
// wait for the pass's end. A VIM is worked on again in one pass only if do says so.
func (b *core) inTurn(
	ctx context.Context, q *fairQueue, list func() ([]turn, error), do func(ctx context.Context, vim string) (again bool, err error),
) error {
	var (
		outcomes = make(chan outcome)
		begun    = map[string]bool{}      // and not to be begun now
		resting  = map[string]time.Time{} // until when
		failed   []error
	)
	for underWay := 0; ; {
		waiting, err := list()
		if err != nil {
			failed = append(failed, err)
		}
		q.wait(rested(waiting, begun, resting, b.now()))
		for next := time.After(b.terms.ReapEvery); next != nil; {
			if ctx.Err() != nil {
				q.waiting = nil
			}
			for t, ok := q.next(); ok; t, ok = q.next() {
				underWay++
				begun[t.vim] = true
				go q.work(ctx, t, outcomes, do)
			}
			if underWay == 0 { // nobody waits either: there is a place for each
				return errors.Join(failed...)
			}
			select {
			case was := <-outcomes:
				if !was.over {
					q.leave(was.project)
					break
				}
				underWay--
				if q.rest > 0 && was.err != nil {
					resting[was.vim] = b.now().Add(q.rest)
				}
				if was.again {
					delete(begun, was.vim)
				}
				if was.err != nil && !errors.Is(was.err, errDown) {
					failed = append(failed, was.err)
				}
			case <-next:
				next = nil
			}
		}
	}
}

// rested are those of turns that may begin: they are neither under way nor resting. One that has
// rested stands behind those that were not tried.
func rested(turns []turn, underWay map[string]bool, resting map[string]time.Time, now time.Time) []turn {
	turns = slices.DeleteFunc(turns, func(t turn) bool { return underWay[t.vim] || now.Before(resting[t.vim]) })
	for i, t := range turns {
		turns[i].since = latest(t.since, resting[t.vim])
	}
	return turns
}
