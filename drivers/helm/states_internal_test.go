package helm

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/helm/chart"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// states are all that Helm has for a revision, and for each whether somebody is at it, whether the release stood with it,
// and what becomes of it when another revision stands: of the one just before, and of an earlier one; empty if nothing.
var states = []struct {
	name            string
	pending, stood  bool
	before, earlier string
}{
	{deployed, false, true, superseded, superseded},
	{superseded, false, true, superseded, ""},
	{failed, false, false, failed, ""},
	{pendingInstall, true, false, failed, failed},
	{pendingUpgrade, true, false, failed, failed},
	{pendingRollback, true, false, failed, failed},
	{"uninstalling", false, false, "", ""},
	{"uninstalled", false, false, "", ""},
	{"unknown", false, false, "", ""},
}

// became is the state in which a plan writes a revision, and its description; empty if it writes none.
func became(plan string, version int) string {
	m := regexp.MustCompile(fmt.Sprintf(`Secret \S+ vdu "" release "[^"]*" revision %d (\S+ "[^"]*")`, version)).FindStringSubmatch(plan)
	if m == nil {
		return ""
	}
	return m[1]
}

// TestEachStateOfTheNewestRevision: of somebody else's that is pending a change says so and makes nothing; one of an attempt
// of ours, and all others, are overtaken.
func TestEachStateOfTheNewestRevision(t *testing.T) {
	for _, state := range states {
		for _, theirs := range []bool{false, true} {
			mark := "m2"
			if theirs {
				mark = "m1" // as Helm takes it over
			}
			said, err := newRelease(t, does(lifecycle.ChangePackage, stands("a", 1, 2)), []revision{
				{version: 1, status: deployed, mark: "m1", owner: vnf}, {version: 2, status: state.name, mark: mark, owner: vnf},
			}, []chart.Rendering{answer(configMap("a"))}).plan()
			if state.pending && theirs {
				if !errors.Is(err, broker.ErrConflict) || !strings.Contains(said, "its revision 2 is "+state.name) {
					t.Errorf("%s, of somebody else: %v\n%s", state.name, err, said)
				}
				continue
			}
			want := map[string]string{"": "", superseded: superseded + ` "was ` + state.name + `"`, failed: failed + ` "Given up"`}[state.before]
			if got := became(said, 2); err != nil || got != want || became(said, 3) == "" {
				t.Errorf("%s, of somebody else %t: became %q, want %q (%v)\n%s", state.name, theirs, got, want, err, said)
			}
		}
	}
}

// TestEachStateOfAnEarlierRevision: also of the first of several, none stays deployed or pending beside the one that stands.
func TestEachStateOfAnEarlierRevision(t *testing.T) {
	for _, state := range states {
		said, err := newRelease(t, does(lifecycle.ChangePackage, stands("a", 1, 2, 3)), []revision{
			{version: 1, status: state.name, mark: "m1", owner: vnf},
			{version: 2, status: state.name, mark: "m2", owner: vnf},
			{version: 3, status: deployed, mark: "m3", owner: vnf},
		}, []chart.Rendering{answer(configMap("a"))}).plan()
		want := map[string]string{"": "", superseded: superseded + ` "was ` + state.name + `"`, failed: failed + ` "Given up"`}[state.earlier]
		if first, second := became(said, 1), became(said, 2); err != nil || first != want || second != want {
			t.Errorf("%s: became %q and %q, want %q (%v)\n%s", state.name, first, second, want, err, said)
		}
	}
}

// TestEachStateThatARollbackMeets: it goes back to what stood, past what did not, and what Helm has made of a release counts
// as the instance's where the release stood once.
func TestEachStateThatARollbackMeets(t *testing.T) {
	for _, state := range states {
		said, err := newRelease(t, does(lifecycle.ChangePackage, undoing(older), stands("a", 1, 2, 3)), []revision{
			{version: 1, status: superseded, mark: "m1", owner: vnf, manifest: configMap("first")},
			{version: 2, status: state.name, mark: "m2", owner: vnf, manifest: configMap("second")},
			{version: 3, status: failed, mark: older, owner: vnf, manifest: configMap("a")},
		}, nil).plan()
		want := map[bool]string{true: "second", false: "first"}[state.stood]
		if err != nil || !strings.Contains(said, `ConfigMap `+want+" ") {
			t.Errorf("a rollback past %s: not to %s (%v)\n%s", state.name, want, err, said)
		}
		said, err = newRelease(t, does(lifecycle.ChangePackage, stands("a", 1, 2)), []revision{
			{version: 1, status: state.name, mark: "m1", owner: vnf}, {version: 2, status: failed, mark: "m2", owner: vnf},
		}, []chart.Rendering{answer(configMap("a"))}).plan()
		if ours := strings.Contains(said, `release "cnf/vnf`); err != nil || ours != state.stood {
			t.Errorf("of a release with %s what Helm made is the instance's: %t, want %t (%v)\n%s", state.name, ours, state.stood, err, said)
		}
	}
}
