package real_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/real"
)

// TestRevocationOutlivesAnOutage revokes while the API server answers nothing,
// and expects the reaper to finish when it does again, and to serve another
// cluster meanwhile.
func TestRevocationOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	c := real.OwnKubernetes(t)
	b := sitDown(t, c)
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config edge1")
	b.Must(t, "vimbroker vim register --kubeconfig "+real.Kubernetes(t).Kubeconfig+" edge2")
	b.Must(t, "vimbroker lease issue --vim edge2 --out other")
	other := b.leases(t)[0].ID
	vim := b.id(t, "edge1")
	b.Must(t, "vimbroker lease issue --vim edge1 --out kubeconfig")
	b.Must(t, "kubectl --kubeconfig kubeconfig get ns")
	id := b.leases(t)[0].ID

	c.Pause(t)
	began := time.Now()
	if got := b.Must(t, "vimbroker lease revoke "+id); !strings.Contains(got, " revoking ") {
		t.Errorf("revoke without an API server: %q, want revoking", got)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("revoke without an API server took %s", took)
	}
	if r := b.Try(t, "vimbroker vim check edge1"); r.Code != 1 || !strings.Contains(r.Stderr+r.Stdout, "unreachable") {
		t.Errorf("check without an API server: %+v, want unreachable", r)
	}
	if r := b.Try(t, "vimbroker lease issue --vim edge1"); r.Code != 1 || r.Stdout != "" {
		t.Errorf("a lease without an API server: %+v, want refusal", r)
	}
	b.Must(t, "vimbroker lease revoke "+other)
	if !real.Poll(t, patience, func() bool {
		return slices.ContainsFunc(b.leases(t), func(l lease) bool { return l.ID == other && !l.ConfirmedDeadAt.IsZero() })
	}) {
		t.Error("a lease on another cluster is not confirmed dead while one answers nothing")
	}
	c.Resume(t)
	// Nobody asks again: the reaper's next attempt must do.
	if !real.Poll(t, 2*patience, func() bool {
		return !slices.ContainsFunc(b.leases(t), func(l lease) bool {
			return l.State != "revoked" || l.ID == id && l.ConfirmedDeadAt.IsZero()
		})
	}) {
		t.Fatalf("the reaper has not finished: %+v", b.leases(t))
	}
	for _, l := range b.leases(t) { // the one that was never issued, too
		b.Must(t, "vimbroker lease revoke --wait --timeout 30s "+l.ID)
	}
	if r := b.Try(t, "kubectl --kubeconfig kubeconfig get ns"); !strings.Contains(r.Stderr, "Unauthorized") {
		t.Errorf("after the outage: %+v, want Unauthorized", r)
	}

	// Restarted at the same address, it is the same cluster.
	b.Must(t, "vimbroker lease issue --vim edge1 --out before")
	c.Restart(t)
	b.Must(t, "kubectl --kubeconfig before get ns")
	b.Must(t, "vimbroker vim check edge1")
	b.Must(t, "vimbroker exec edge1 -- kubectl get ns")
	b.Must(t, "vimbroker vim inventory edge1")
	b.Must(t, "vimbroker vim delete edge2 --wait")
	b.Must(t, "vimbroker vim delete edge1 --drain --wait")
	b.nothingLeft(t, vim)
}
