package rows

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// shapeOf is a shape of which all is named so.
func shapeOf(name string) lifecycle.Shape {
	s := lifecycle.Shape{
		Package: name, Links: []lifecycle.Link{{ID: name}}, Volumes: []lifecycle.Volume{{ID: "volume-" + name}}, Parameters: json.RawMessage(`{"of":"` + name + `"}`),
	}
	s.VIM, s.Concealed.ID = name, name
	return s
}

// holds fails unless a row holds what these are named, and no more.
func holds(t *testing.T, what string, row Instance, names ...string) {
	t.Helper()
	var assets []string
	for _, name := range names {
		assets = append(assets, name, "volume-"+name)
	}
	slices.Sort(assets)
	for of, got := range map[string][]string{"packages": row.Packages, "VIMs": row.VIMs, "links": row.Links} {
		want := names
		if of == "links" {
			want = assets
		}
		if got := slices.Compact(slices.Sorted(slices.Values(got))); !slices.Equal(got, want) {
			t.Errorf("%s: the instance holds the %s %q, want %q", what, of, got, want)
		}
	}
}

// While an operation is live its instance holds what it stands on, and what the operation leads from and to: packages, VIMs,
// assets and secret parameters. Once it has ended, the instance holds its own, and the parameters of both ways are forgotten.
func TestWhatALiveOperationHolds(t *testing.T) {
	states := []lifecycle.OperationState{
		lifecycle.Starting, lifecycle.Processing, lifecycle.Completed, lifecycle.FailedTemp, lifecycle.Failed, lifecycle.RollingBack, lifecycle.RolledBack,
	}
	i := soundInstance(t, lifecycle.Instance{ID: "i", Revision: 3, Shape: shapeOf("a")})
	of := lifecycle.Operation{ID: "o", Instance: "i", Type: lifecycle.ChangePackage, State: lifecycle.Starting, Before: shapeOf("b"), Target: shapeOf("c")}
	begun, err := BeginOperation(i, of, 3, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, "begun", begun.Instance, "a", "b", "c")
	if c := begun.Concealed; !slices.Equal(c.Kept, []string{"b", "c"}) || len(c.Dropped) != 0 {
		t.Errorf("as it begins secret parameters change so: %+v", c)
	}
	for _, from := range states {
		for _, to := range states {
			if !from.Live() || from != to && !from.CanMove(to) {
				continue
			}
			of.State = from
			changed, err := ChangeOperation(soundOperation(t, of), i, func(o *lifecycle.Operation, _ *lifecycle.Instance) error { o.State = to; return nil })
			if err != nil {
				t.Fatal(err)
			}
			what := string(from) + " to " + string(to)
			stored, err := changed.Operation.Read()
			if err != nil {
				t.Fatal(err)
			}
			if to.Live() {
				holds(t, what, changed.Instance, "a", "b", "c")
			} else {
				holds(t, what, changed.Instance, "a")
			}
			for way, s := range map[string]lifecycle.Shape{"before": stored.Before, "target": stored.Target} {
				if (len(s.Parameters) > 0) != to.Live() {
					t.Errorf("%s: the parameters of %s are %s", what, way, s.Parameters)
				}
			}
			if c := changed.Concealed; len(c.Kept) != 0 || to.Live() && len(c.Dropped) != 0 || !to.Live() && !slices.Equal(c.Dropped, []string{"b", "c"}) {
				t.Errorf("%s: secret parameters change so: %+v", what, c)
			}
		}
	}
}
