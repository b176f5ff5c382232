package crash_test

import "testing"

// TestKilledBeforeARealCluster plays some of the deaths once more before a real
// API server, one after the other: what is upstream must be this scene's alone.
func TestKilledBeforeARealCluster(t *testing.T) {
	kube := realCluster(t)
	for _, death := range []struct {
		point string
		in    scenario
	}{
		{"issue.intent", issuing},
		{"k8s.ensure.serviceaccount", issuing},
		{"k8s.issue.secret", issuing},
		{"k8s.issue.token", issuing},
		{"issue.minted", issuing},
		{"issue.active", issuing},
		{"revoke.intent", revoking},
		{"k8s.revoke.deleted", revoking},
		{"revoke.gone", settlingALease},
		{"revoke.done", draining},
	} {
		t.Run(death.point+"/"+death.in.name, func(t *testing.T) { death.in.killedAt(t, kube, death.point) })
	}
}
