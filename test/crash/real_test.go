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
		{"k8s.home.namespace", issuing},
		{"k8s.home.bound", issuingRules},
		{"k8s.bound.again", mintingUnbound},
		{"k8s.issue.account", issuing},
		{"k8s.issue.token", issuingRules},
		{"issue.minted", issuing},
		{"issue.active", issuing},
		{"revoke.intent", revoking},
		{"k8s.revoke.deleted", revoking},
		{"revoke.gone", settlingALease},
		{"revoke.done", draining},
		{"k8s.tidy.unbound", drainingRules},
		{"k8s.tidy.unbound", tidying},
	} {
		t.Run(death.point+"/"+death.in.name, func(t *testing.T) { death.in.killedAt(t, kube, death.point) })
	}
}
