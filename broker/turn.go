package broker

import (
	"cmp"
	"slices"
	"time"
)

const (
	// reapVIMs is how many VIMs one pass of the reaper works on at once, and
	// reapOfProject how many of them may be one project's: other projects always find
	// a place.
	reapVIMs      = 24
	reapOfProject = 16
)

// turn is work of the reaper on one VIM.
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
	if r.taken >= reapVIMs {
		return first, false
	}
	for project, of := range r.waiting {
		if r.places[project] >= reapOfProject {
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
