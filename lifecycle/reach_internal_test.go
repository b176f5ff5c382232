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
