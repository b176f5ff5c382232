package broker

import (
	"cmp"
	"context"
	"errors"
	"slices"
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

// turn is work of a pass on one VIM.
type turn struct {
	vim     string
	project string
	// since is how long it has waited.
	since time.Time
	// drains: there are no leases to end, and the VIM is to be removed.
	drains bool
}

// rota says whose turn it is. It is not safe for concurrent use.
type rota struct {
	// waiting are the turns of each project: leases before drains, then who has waited longest.
	waiting map[string][]turn
	// places are how many places each project has, and taken their sum.
	places map[string]int
	taken  int
	// most and ofProject bound taken, and the places of a project.
	most, ofProject int
}

func newRota(most, ofProject int) *rota {
	return &rota{places: map[string]int{}, most: most, ofProject: ofProject}
}

// wait replaces those who wait.
func (r *rota) wait(turns []turn) {
	r.waiting = map[string][]turn{}
	for _, t := range turns {
		r.waiting[t.project] = append(r.waiting[t.project], t)
	}
	for _, of := range r.waiting {
		slices.SortFunc(of, turn.compare)
	}
}

// next gives a place to the VIM whose turn it is; false if none waits that may have one.
// The project with the fewest places comes first, then leases before drains, then who
// has waited longest.
func (r *rota) next() (turn, bool) {
	var first turn
	if r.taken >= r.most {
		return first, false
	}
	for project, of := range r.waiting {
		if r.places[project] >= r.ofProject {
			continue
		}
		fewer := cmp.Compare(r.places[project], r.places[first.project])
		if first.vim == "" || cmp.Or(fewer, of[0].compare(first)) < 0 {
			first = of[0]
		}
	}
	if first.vim == "" {
		return first, false
	}
	of := r.waiting[first.project]
	if r.waiting[first.project] = of[1:]; len(of) == 1 {
		delete(r.waiting, first.project)
	}
	r.places[first.project]++
	r.taken++
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

// leave gives a project's place away.
func (r *rota) leave(project string) {
	if r.places[project]--; r.places[project] == 0 {
		delete(r.places, project)
	}
	r.taken--
}

// inTurn does a pass's work on the VIMs that list returns, side by side in the places of
// r, and lists again every Terms.ReapEvery: what becomes due while others hang does not
// wait for the pass's end. A VIM is worked on again in one pass only if do says so.
func (b *core) inTurn(
	ctx context.Context, r *rota, list func() ([]turn, error), do func(ctx context.Context, vim string) (again bool, err error),
) error {
	type outcome struct {
		turn
		again bool
		err   error
	}
	told := make(chan outcome)
	begun := map[string]bool{} // and not to be begun now
	var failed []error
	for underWay := 0; ; {
		waiting, err := list()
		if err != nil {
			failed = append(failed, err)
		}
		r.wait(slices.DeleteFunc(waiting, func(t turn) bool { return begun[t.vim] }))
		for next := time.After(b.terms.ReapEvery); next != nil; {
			if ctx.Err() != nil {
				r.waiting = nil
			}
			for t, ok := r.next(); ok; t, ok = r.next() {
				underWay++
				begun[t.vim] = true
				go func() {
					again, err := do(ctx, t.vim)
					told <- outcome{t, again, err}
				}()
			}
			if underWay == 0 { // nobody waits either: there is a place for each
				return errors.Join(failed...)
			}
			select {
			case was := <-told:
				underWay--
				r.leave(was.project)
				if was.again {
					delete(begun, was.vim)
				}
				if was.err != nil {
					failed = append(failed, was.err)
				}
			case <-next:
				next = nil
			}
		}
	}
}
