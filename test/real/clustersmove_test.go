package real_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/real"
)

// TestFieldClustersRotateMoveAndHang: with the real Cluster API, leases of before a new authority end through it; a cluster
// that moves between two management clusters, as "clusterctl move" moves it, stays the VIM that it is, with its leases; a
// management cluster that hangs is seen within a minute, and a namespace that is not there stops no other.
func TestFieldClustersRotateMoveAndHang(t *testing.T) {
	field.Only(t)
	o := startOnboarding(t)
	ctx := t.Context()
	edge := real.OwnKubernetes(t)
	o.create("edge", edge)
	o.write("edge", edge.NewKubeconfig(t))
	first := o.await("edge", "registered", in("registered", ""))
	before, moved := o.lease(first.VIM, edge), o.lease(first.VIM, edge)

	edge.ReplaceCA(t)
	o.write("edge", edge.NewKubeconfig(t))
	o.await("edge", "known by its next authority", func(w v1.WorkloadCluster) bool {
		v, err := o.VIM(ctx, w.VIM)
		return err == nil && strings.TrimSpace(v.CACert) == strings.TrimSpace(edge.CAPEM) && in("registered", "")(w)
	})
	began := time.Now()
	if _, err := o.RevokeLease(ctx, before); err != nil {
		t.Fatal(err)
	}
	if !real.Poll(t, time.Minute, func() bool {
		l, err := o.Lease(ctx, before)
		return err == nil && l.State == "revoked" && !l.ConfirmedDeadAt.IsZero()
	}) {
		t.Error("a lease of before the next authority is not revoked, and dead")
	}
	t.Logf("a lease of before is dead %s after it was revoked", time.Since(began).Round(time.Millisecond))

	source := o.hub
	source.Run(t, "", "-n", "tenant", "patch", "cluster", "edge", "--type=merge", "-p", `{"spec":{"paused":true}}`)
	o.await("edge", "paused", in("registered", "paused"))
	target := real.OwnKubernetes(t)
	target.InstallClusterAPI(t)
	target.Run(t, "", "create", "namespace", "tenant")
	o.enable("hub2", target, "--namespaces tenant")
	o.shell().Must(t, "vimbroker management-cluster enable hub2 --namespaces tenant,nowhere") // the rest stays as it is
	o.hub = target
	o.create("edge", edge)
	o.write("edge", edge.NewKubeconfig(t))
	source.Run(t, "", "-n", "tenant", "delete", "cluster", "edge", "--wait=false")
	source.Run(t, "", "-n", "tenant", "patch", "cluster", "edge", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	hub2, err := o.VIM(ctx, "hub2")
	if err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	c := o.await("edge", "followed by the other management cluster", func(w v1.WorkloadCluster) bool {
		return w.ManagementCluster == hub2.ID && in("registered", "")(w)
	})
	t.Logf("moved after %s", time.Since(began).Round(time.Millisecond))
	if c.VIM != first.VIM {
		t.Errorf("it is VIM %s, was %s", c.VIM, first.VIM)
	}
	if _, err := o.RenewLease(ctx, moved, v1.Renewal{}); err != nil {
		t.Errorf("a lease of before is not renewed: %v", err)
	}
	o.lease(c.VIM, edge)
	o.await("edge", "let go of where it was", func(w v1.WorkloadCluster) bool {
		return w.ManagementCluster != hub2.ID && w.State == "retired" && w.VIM == ""
	})
	if _, _, err := o.DeleteVIM(ctx, "hub2", client.Deletion{Drain: true}); err == nil || !strings.Contains(err.Error(), "tenant/edge") {
		t.Errorf("deleting a management cluster = %v, want that its clusters are named", err)
	}

	trouble := func() string {
		m, err := o.ManagementCluster(ctx, "hub2")
		if err != nil {
			t.Fatal(err)
		}
		return m.Trouble
	}
	if got := trouble(); !strings.Contains(got, "namespace nowhere") {
		t.Errorf("of a namespace that is not there it says %q", got)
	}
	target.Pause(t)
	began = time.Now()
	if !real.Poll(t, time.Minute, func() bool { return strings.Contains(trouble(), "answer") }) {
		t.Errorf("a management cluster that hangs says %q", trouble())
	}
	t.Logf("it is seen to hang after %s", time.Since(began).Round(time.Millisecond))
}
