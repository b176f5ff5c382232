package rows

import (
	"slices"

	"github.com/vimbroker/vimbroker/broker"
)

// LiveStates are those of leases that have not ended, sorted.
var LiveStates = []broker.LeaseState{broker.LeaseActive, broker.LeaseIrrevocable, broker.LeasePending, broker.LeaseRevoking}

// LeaseWindow is how many leases a page may look at, where not all that it looks at are on it: in one range, or half of
// them in each of two.
func LeaseWindow(p broker.Page) int {
	page, _ := p.Valid() // who lists says what is wrong with it
	return max(500, 2*page.Size)
}

// WindowOfLeases returns the filter of the one range of an index that the leases of f are looked for in; nil if f is such a
// range itself, or selects few. If f has a project the range is that project's: a page token names the end of the window, which
// must not be another project's lease. A page of f looks at [LeaseWindow] leases of the range, and so may hold fewer than were
// asked for, and even none, while there is a next one. The states of the returned f are each there once, sorted.
func WindowOfLeases(f broker.LeaseFilter) (broker.LeaseFilter, *broker.LeaseFilter) {
	f.States = slices.Clone(f.States)
	slices.Sort(f.States)
	f.States = slices.Compact(f.States)
	if f.IDPrefix != "" || f.Operation != "" || f.Instance != "" || !f.DueBefore.IsZero() {
		return f, nil
	}
	wider := f
	if slices.Contains(f.States, broker.LeaseRevoked) {
		wider.States = nil
	} else if len(f.States) > 0 {
		wider.States = LiveStates
	}
	if f.Project != "" {
		wider.Principal = ""
	}
	if f.Project != "" || f.Principal != "" {
		wider.VIM = ""
	}
	if slices.Equal(wider.States, f.States) && wider.VIM == f.VIM && wider.Principal == f.Principal {
		return f, nil
	}
	return f, &wider
}
