package sqlite

import (
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/drivers/tables"
)

// TestTheIndexOfAListOfVIMs: each filter alone decides on it, and whether few are looked for among those that are shared.
func TestTheIndexOfAListOfVIMs(t *testing.T) {
	at := time.Unix(1, 0)
	for _, c := range []struct {
		f     broker.VIMFilter
		index string
		few   bool
	}{
		{broker.VIMFilter{}, "otherwise", false},
		{broker.VIMFilter{Type: "kubernetes"}, "otherwise", false},
		{broker.VIMFilter{PendingBefore: at, CheckDue: at, ID: "v"}, " INDEXED BY vim_unsettled", true},
		{broker.VIMFilter{CheckDue: at, Name: "v"}, " INDEXED BY vim_check_due", false},
		{broker.VIMFilter{ID: "v"}, "", true},
		{broker.VIMFilter{IDPrefix: "v"}, "", true},
		{broker.VIMFilter{Identity: "v"}, "", true},
		{broker.VIMFilter{Name: "v"}, "", false},
		{broker.VIMFilter{Default: true}, "", false},
		{broker.VIMFilter{EndsBefore: at}, "", true},
		{broker.VIMFilter{Labels: map[string]string{"a": "b"}}, "", true},
	} {
		if got := vimIndex(c.f, "otherwise"); got != c.index {
			t.Errorf("%+v is looked for by %q, want %q", c.f, got, c.index)
		}
		f := c.f
		f.Project = "north"
		text, args, size, err := database{}.VIMQuery(f)
		if err != nil || strings.Count(text, "?") != len(args) || args[len(args)-1] != size+1 {
			t.Errorf("%+v is asked for as %s with %d arguments, %v", f, text, len(args), err)
		}
		if strings.Contains(text, sharedAmongFew) != c.few || strings.Contains(text, sharedPositions) == c.few {
			t.Errorf("%+v is asked for as %s, want few: %v", f, text, c.few)
		}
	}
	if _, _, _, err := (database{}).VIMQuery(broker.VIMFilter{Page: broker.Page{Token: "strange"}}); err == nil {
		t.Error("a page of a strange token is asked for")
	}
}

// TestTheIndexOfAListOfLeases: each filter alone, and those that decide before others.
func TestTheIndexOfAListOfLeases(t *testing.T) {
	at := time.Unix(1, 0)
	for _, c := range []struct {
		f          broker.LeaseFilter
		ended, now string // the index for all leases, and for live ones
	}{
		{broker.LeaseFilter{}, "lease_newest", "lease_live"},
		{broker.LeaseFilter{IDPrefix: "l", Operation: "o"}, "sqlite_autoindex_leases_1", "sqlite_autoindex_leases_1"},
		{broker.LeaseFilter{DueBefore: at, VIM: "v"}, "lease_due_by_vim", "lease_due_by_vim"},
		{broker.LeaseFilter{DueBefore: at, Operation: "o"}, "lease_due", "lease_due"},
		{broker.LeaseFilter{Operation: "o", Instance: "i"}, "lease_by_operation", "lease_by_operation"},
		{broker.LeaseFilter{Instance: "i", For: "w"}, "lease_by_instance", "lease_by_instance"},
		{broker.LeaseFilter{For: "w", Project: "p"}, "lease_by_whom", "lease_by_whom"},
		{broker.LeaseFilter{Project: "p", Principal: "a"}, "", ""},
		{broker.LeaseFilter{Principal: "a", VIM: "v"}, "lease_by_principal", "lease_live_by_principal"},
		{broker.LeaseFilter{VIM: "v"}, "lease_by_vim", "lease_live_by_vim"},
	} {
		if got := leaseIndex(c.f, false); got != c.ended {
			t.Errorf("%+v is looked for by %q, want %q", c.f, got, c.ended)
		}
		if got := leaseIndex(c.f, true); got != c.now {
			t.Errorf("%+v of live ones is looked for by %q, want %q", c.f, got, c.now)
		}
		for _, states := range [][]broker.LeaseState{nil, {broker.LeaseActive}, {broker.LeaseActive, broker.LeaseRevoked}} {
			f := c.f
			f.States = states
			text, args, size, err := database{}.LeaseQuery(f, nil)
			if live := len(states) == 1; err != nil || strings.Count(text, "?") != len(args) || args[len(args)-1] != size+1 || strings.Contains(text, "live = 1") != live {
				t.Errorf("%+v is asked for as %s with %d arguments, %v", f, text, len(args), err)
			}
			end, args, err := database{}.LeaseWindowEnd(f, f)
			if byStates := len(states) == 1 && c.now == "lease_live"; err != nil || (end == "") != byStates || strings.Count(end, "?") != len(args) {
				t.Errorf("the window of %+v ends by %q, %v", f, end, err)
			}
		}
	}
	strange := broker.LeaseFilter{Page: broker.Page{Token: "strange"}}
	if _, _, err := (database{}).LeaseWindowEnd(strange, strange); err == nil {
		t.Error("the window of a strange token is asked for")
	}
}

// TestFewGrantsAreNotLookedForByTheirProject: each of the other filters leaves fewer.
func TestFewGrantsAreNotLookedForByTheirProject(t *testing.T) {
	for n, f := range grantFilters() {
		f.Project = "north"
		text, args, size, err := tables.VNFGrantQuery(f)
		if err != nil || strings.Count(text, "?") != len(args) || args[len(args)-1] != size+1 || strings.Contains(text, "/*slow*/") != (n > 1) {
			t.Errorf("%+v is asked for as %s with %d arguments, %v", f, text, len(args), err)
		}
	}
}

// grantFilters are two that leave many, and those that leave few.
func grantFilters() []grant.Filter {
	of := func(change func(*grant.Filter)) (f grant.Filter) {
		change(&f)
		return f
	}
	return []grant.Filter{
		{},
		of(func(f *grant.Filter) { f.State = grant.Granted }),
		{VIMName: "v"},
		of(func(f *grant.Filter) { f.VIM = "v" }), of(func(f *grant.Filter) { f.Client = "c" }),
		of(func(f *grant.Filter) { f.Instance = "i" }), of(func(f *grant.Filter) { f.Operation = "o" }), of(func(f *grant.Filter) { f.Lease = "l" }),
	}
}
