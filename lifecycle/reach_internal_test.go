package lifecycle

import (
	"slices"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
)

// TestOnlyWhatCanBeSharedIs: the list of a VIM's owner lets unknown kinds pass and networks of its types, and nothing else
// of the same object.
func TestOnlyWhatCanBeSharedIs(t *testing.T) {
	const networks = "network-attachment-definitions.k8s.cni.cncf.io"
	all := func() []Reach {
		return []Reach{
			{What: ReachNode, Resource: "slices.example.com"},
			{What: ReachUnknown, Resource: "slices.example.com", Shareable: true},
			{What: ReachNetwork, Resource: networks, Types: []string{"bridge"}, Shareable: true},
			{What: ReachNetwork, Resource: networks, Types: []string{"bridge", "host-device"}, Shareable: true},
			{What: ReachNetwork, Resource: networks},
		}
	}
	for kinds, want := range map[string][]string{
		"":                               {ReachNode, ReachUnknown, ReachNetwork, ReachNetwork, ReachNetwork},
		"slices.example.com":             {ReachNode, ReachNetwork, ReachNetwork, ReachNetwork},
		networks + "=bridge":             {ReachNode, ReachUnknown, ReachNetwork, ReachNetwork},
		networks + " slices.example.com": {ReachNode, ReachNetwork},
	} {
		var got []string
		for _, r := range unvouched(all(), broker.Vouched{SharedKinds: kinds}) {
			got = append(got, r.What)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", kinds, got, want)
		}
	}
}

// What is reached is shown once for each object and field, and nothing else is left out.
func TestReachesAreShownOnce(t *testing.T) {
	one := Reach{What: ReachNetwork, Kind: "Service", Namespace: "a", Name: "n", Field: "f", Why: "w"}
	edit := func(change func(*Reach)) Reach {
		r := one
		change(&r)
		return r
	}
	others := []Reach{
		edit(func(r *Reach) { r.What = ReachNode }), edit(func(r *Reach) { r.Kind = "Ingress" }), edit(func(r *Reach) { r.Namespace = "b" }),
		edit(func(r *Reach) { r.Name = "m" }), edit(func(r *Reach) { r.Field = "g" }),
	}
	for _, other := range others {
		if two := SortReaches([]Reach{other, one}); len(two) != 2 {
			t.Errorf("of two that differ in one word there is %v", two)
		}
	}
	again := edit(func(r *Reach) { r.Why = "x" })
	got := SortReaches(append([]Reach{one, again, one}, others...))
	if len(got) != 1+len(others) {
		t.Errorf("%d are shown: %v", len(got), got)
	}
	if got[0].What != ReachNode || got[1].Kind != "Ingress" {
		t.Errorf("they are shown in another order: %v", got)
	}
}
