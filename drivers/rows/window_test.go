package rows

import (
	"testing"

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
