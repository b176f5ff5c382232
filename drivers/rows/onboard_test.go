package rows

import (
	"maps"
	"testing"

	"github.com/vimbroker/vimbroker/broker/onboard"
)

// TestClustersAreCountedByStateAndByReason: a state and a reason that stand in several counts have the sum of them.
func TestClustersAreCountedByStateAndByReason(t *testing.T) {
	got := CountClusters([]ClusterCount{{"a", "x", 1}, {"a", "y", 2}, {"a", "", 4}, {"b", "x", 8}, {"b", "", 16}})
	if want := map[onboard.State]int{"a": 7, "b": 24}; !maps.Equal(got.States, want) {
		t.Errorf("states = %v, want %v", got.States, want)
	}
	if want := map[onboard.ClusterReason]int{"x": 9, "y": 2}; !maps.Equal(got.Reasons, want) {
		t.Errorf("reasons = %v, want %v", got.Reasons, want)
	}
}
