package rows

import (
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// TestAWindowOfAProjectIsItsOwn: the end of a window is in a page's token, which whoever lists can read.
func TestAWindowOfAProjectIsItsOwn(t *testing.T) {
	for _, states := range [][]broker.LeaseState{nil, {broker.LeaseIrrevocable}, {broker.LeaseRevoked}, LiveStates} {
		for _, f := range []broker.LeaseFilter{
			{Project: "north"}, {Project: "north", VIM: "edge1"}, {Project: "north", Principal: "alice"}, {Project: "north", VIM: "edge1", Principal: "alice"},
		} {
			f.States = states
			_, wider := WindowOfLeases(f)
			if wider != nil && (wider.Project != "north" || wider.VIM != "" || wider.Principal != "") {
				t.Errorf("the window of %+v is %+v", f, *wider)
			}
			if bounded := f.VIM != "" || f.Principal != ""; bounded && wider == nil {
				t.Errorf("%+v has no window", f)
			}
		}
	}
}

// A list that selects few has no window: each of these does alone.
func TestWhatSelectsFewHasNoWindow(t *testing.T) {
	all := broker.LeaseFilter{VIM: "edge1", Principal: "alice", Project: "north", States: []broker.LeaseState{broker.LeaseIrrevocable}}
	if _, wider := WindowOfLeases(all); wider == nil {
		t.Fatalf("%+v has no window", all)
	}
	for _, narrow := range []func(*broker.LeaseFilter){
		func(f *broker.LeaseFilter) { f.IDPrefix = "l" }, func(f *broker.LeaseFilter) { f.Operation = "o" },
		func(f *broker.LeaseFilter) { f.Instance = "i" }, func(f *broker.LeaseFilter) { f.DueBefore = time.Unix(1, 0) },
	} {
		f := all
		narrow(&f)
		if _, wider := WindowOfLeases(f); wider != nil {
			t.Errorf("%+v has the window %+v", f, *wider)
		}
	}
	for size, want := range map[int]int{1: 500, 250: 500, 251: 502} {
		if got := LeaseWindow(broker.Page{Size: size}); got != want {
			t.Errorf("a page of %d looks at %d leases, want %d", size, got, want)
		}
	}
}

// A VIM is damaged where a row of any of its generations is, and the next is not.
func TestOneDamagedGenerationDamagesItsVIM(t *testing.T) {
	row := func(id string, number, current int64, damaged bool) VIM {
		r := VIM{Number: current, Generation: Generation{Generation: broker.Generation{Number: number}}}
		r.VIM.ID, r.VIM.Damaged = id, damaged
		return r
	}
	found := Gather([]VIM{row("a", 1, 2, true), row("a", 2, 2, false), row("b", 1, 2, false), row("b", 2, 2, true), row("c", 1, 1, false), row("d", 0, 0, false)})
	for i, want := range []bool{true, true, false, false} {
		if v := found[i]; v.Damaged != want || v.Pending != nil || len(v.Past) != map[bool]int{true: 1}[want] || v.Current.Number != []int64{2, 2, 1, 0}[i] {
			t.Errorf("VIM %d is gathered as %+v, want it damaged: %v", i, v, want)
		}
	}
	if len(found) != 4 {
		t.Errorf("%d VIMs are gathered, want 4", len(found))
	}
}
