package manifests

import (
	"testing"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// A kind of Kubernetes has its place, the first has the first, and a custom resource of the same name comes last.
func TestPlacesOfKinds(t *testing.T) {
	for _, c := range []struct {
		group, kind string
		place       int
		custom      bool
	}{
		{"scheduling.k8s.io", "PriorityClass", 0, false},
		{"", "Namespace", 1, false},
		{"apps", "ControllerRevision", len(order), false},
		{"mist.io", "PriorityClass", len(order), true},
		{"mist.io", "Mist", len(order), true},
	} {
		of := lifecycle.Resource{Group: c.group, Kind: c.kind}
		if rank(of) != c.place || isCustom(of) != c.custom {
			t.Errorf("%s of %q is at %d, custom %t; want %d, %t", c.kind, c.group, rank(of), isCustom(of), c.place, c.custom)
		}
	}
}
