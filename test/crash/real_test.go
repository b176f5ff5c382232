package crash_test

import (
	"testing"

	"github.com/vimbroker/vimbroker/test/field"
)

// death is one of a scenario.
type death struct {
	point string
	in    scenario
}

// TestKilledBeforeARealCluster plays deaths between calls of a cluster once more before a real API server.
func TestKilledBeforeARealCluster(t *testing.T) {
	diesBefore(t, []death{
		{"k8s.home.namespace", issuing},
		{"k8s.home.bound", issuingRules},
		{"k8s.bound.again", mintingUnbound},
		{"k8s.issue.account", issuing},
		{"k8s.issue.token", issuingRules},
		{"issue.minted", issuing},
		{"k8s.revoke.deleted", revoking},
		{"k8s.tidy.unbound", drainingRules},
		{"k8s.tidy.unbound", tidying},
	})
}

// TestFieldKilledBeforeARealCluster has some of those beside, between writes of the store.
func TestFieldKilledBeforeARealCluster(t *testing.T) {
	field.Only(t)
	diesBefore(t, []death{
		{"issue.intent", issuing}, {"issue.active", issuing}, {"revoke.intent", revoking}, {"revoke.gone", settlingALease}, {"revoke.done", draining},
	})
}

// diesBefore has one after the other: what is upstream must be this scene's alone.
func diesBefore(t *testing.T, all []death) {
	t.Helper()
	kube := realCluster(t)
	for _, one := range all {
		t.Run(one.point+"/"+one.in.name, func(t *testing.T) { one.in.killedAt(t, kube, one.point) })
	}
}
