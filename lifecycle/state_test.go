package lifecycle

import "testing"

// TestOperationStates walks all pairs of states.
func TestOperationStates(t *testing.T) {
	legal := map[[2]OperationState]bool{
		{Starting, Processing}: true, {Starting, RolledBack}: true,
		{Processing, Completed}: true, {Processing, FailedTemp}: true,
		{FailedTemp, Processing}: true, {FailedTemp, RollingBack}: true, {FailedTemp, Failed}: true,
		{RollingBack, RolledBack}: true, {RollingBack, FailedTemp}: true,
	}
	all := []OperationState{Starting, Processing, Completed, FailedTemp, Failed, RollingBack, RolledBack}
	for _, from := range all {
		for _, to := range all {
			if got := from.CanMove(to); got != legal[[2]OperationState{from, to}] {
				t.Errorf("from %s to %s: %t", from, to, got)
			}
		}
	}
}
