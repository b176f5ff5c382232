package replicas

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// TestStoppedWhileItWatches stops the replica that watches a management cluster in the middle of
// looking at two clusters: one that becomes a VIM, and one whose secret was rotated. Another takes
// the watch over and does both. What the first does when it wakes is done by nobody else's right:
// nothing of it is stored, and it asks the management cluster nothing once it has noticed.
func TestStoppedWhileItWatches(t *testing.T) {
	t.Parallel()
	f := newFleet(t, shared(t))
	hub := fakekube.New(t, fakekube.Options{ClusterAPI: []string{"v1beta2"}})
	a, b := fakekube.New(t, fakekube.Options{}), fakekube.New(t, fakekube.Options{})
	put := func(name, config string) {
		hub.PutCluster(fakekube.Cluster{Namespace: "tenant", Name: name, Ready: true, Kubeconfig: config})
	}
	rotated := a.Anew
	put("a", a.Kubeconfig())
	first, second := f.replicas[0], f.replicas[1]
	f.follow(hub)
	one := first.registered("a", 1)
	for _, r := range f.replicas[1:] {
		r.start()
	}

	// Both looks have asked for the secret, and have no answer yet, when the replica stops.
	asked, answer := make(chan string, 2), make(chan struct{})
	for _, name := range []string{"a", "b"} {
		hub.Fail(fake.Fault{Method: "GET", Path: "/secrets/" + name + "-kubeconfig$", Kind: fake.Pass, Reached: func() {
			asked <- name
			<-answer
		}})
	}
	put("a", rotated())
	put("b", b.Kubeconfig())
	for range 2 {
		select {
		case <-asked:
		case <-time.After(patience):
			t.Fatal("nobody asks for the secrets")
		}
	}
	watched := tokens(hub.Requests(), "watch=true")
	if len(watched) != 1 {
		t.Fatalf("%d tokens watch, want that of one lease", len(watched))
	}
	first.signal(syscall.SIGSTOP)
	close(answer)
	two := second.registered("a", 2)
	other := second.registered("b", 1)
	hub.Requests()

	first.signal(syscall.SIGCONT)
	eventually(t, "the one that was stopped notices that another watches", func(context.Context) error {
		text, err := os.ReadFile(first.broker.File)
		if err == nil && !strings.Contains(string(text), "job was taken over by another worker") {
			err = errors.New("its log does not say so")
		}
		return err
	})
	eventually(t, "it asks the management cluster nothing more", func(ctx context.Context) error {
		hub.Requests()
		select { // a request that it sent before may be read only now
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
		for token := range tokens(hub.Requests(), "") {
			if watched[token] {
				return errors.New("it asks with the lease that it had")
			}
		}
		return nil
	})
	put("a", rotated()) // is followed by the second alone
	second.registered("a", 3)
	for token := range tokens(hub.Requests(), "") {
		if watched[token] {
			t.Error("the one that was stopped asks the management cluster with the lease that it had")
		}
	}
	for _, w := range []v1.WorkloadCluster{one, two, other} {
		now := second.registered(w.Name, 0)
		if now.ID != w.ID || now.VIM != w.VIM {
			t.Errorf("%s is row %s and VIM %s, was %s and %s", w.Name, now.ID, now.VIM, w.ID, w.VIM)
		}
	}
	got := map[string]int{}
	for e, err := range second.AllAudit(t.Context(), client.AuditQuery{Principal: "system:onboard"}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Action == "vim:register" || e.Action == "vim:update" {
			got[e.Action+" "+e.Outcome+" "+e.Detail["vimName"]]++
		}
	}
	if diff := cmp.Diff(map[string]int{
		"vim:register intent tenant.a": 1, "vim:register done tenant.a": 1,
		"vim:register intent tenant.b": 1, "vim:register done tenant.b": 1,
		"vim:update intent tenant.a": 2, "vim:update done tenant.a": 2,
	}, got); diff != "" {
		t.Errorf("the audit log does not say that each was done once (-want +got):\n%s", diff)
	}
	f.proveKeys()
	f.proveAudit()
}

// TestKilledWhileItWatches kills the replica that watches a management cluster, twice. Another
// takes the watch over, registers what became ready meanwhile, and ends the lease that the dead
// one watched with. How long that takes is logged.
func TestKilledWhileItWatches(t *testing.T) {
	t.Parallel()
	f := newFleet(t, shared(t))
	hub := fakekube.New(t, fakekube.Options{ClusterAPI: []string{"v1beta2"}})
	ready := func(name string) {
		k := fakekube.New(t, fakekube.Options{})
		hub.PutCluster(fakekube.Cluster{Namespace: "tenant", Name: name, Ready: true, Kubeconfig: k.Kubeconfig()})
	}
	ready("before")
	f.follow(hub)
	watches, other := f.replicas[0], f.replicas[1]
	before := watches.registered("before", 1)
	for _, name := range []string{"once", "twice"} {
		other.start()
		killed := time.Now()
		watches.broker.Kill()
		ready(name)
		w := other.registered(name, 1)
		t.Logf("a cluster that became ready when the replica was killed is a VIM %v later", w.RegisteredAt.Sub(killed).Round(10*time.Millisecond))
		if now := other.registered("before", 1); now.ID != before.ID || now.VIM != before.VIM {
			t.Errorf("%s is row %s and VIM %s, was %s and %s", now.Name, now.ID, now.VIM, before.ID, before.VIM)
		}
		eventually(t, "one lease on the management cluster is left", func(ctx context.Context) error {
			l, err := other.Leases(ctx, client.LeaseQuery{VIM: "hub", State: "active"})
			if err == nil && len(l.Items) != 1 {
				err = fmt.Errorf("%d are active", len(l.Items))
			}
			return err
		})
		watches, other = other, watches
	}
	f.proveAudit()
}

// follow has the first replica, which alone goes on, watch namespace tenant of a management cluster.
func (f *fleet) follow(hub *fakekube.Server) {
	f.t.Helper()
	for _, r := range f.replicas[1:] {
		if err := r.broker.Stop(); err != nil {
			f.t.Fatal(err)
		}
	}
	first := f.replicas[0]
	if _, err := registers(f.t, first, v1.Registration{Name: "hub", Kubeconfig: secret.NewText(hub.Kubeconfig())}); err != nil {
		f.t.Fatal(err)
	}
	if _, err := first.EnableManagementCluster(f.t.Context(), v1.ManagementClusterRequest{
		VIM: "hub", ClusterSettings: v1.ClusterSettings{Namespaces: []string{"tenant"}, Projects: map[string]string{"": "default"}},
	}); err != nil {
		f.t.Fatal(err)
	}
}

// tokens are those of the requests whose query holds a text, as they stand in their header. The reaper's question whether
// one of a lease that has ended is dead is none of who watches.
func tokens(asked []fake.Request, query string) map[string]bool {
	all := map[string]bool{}
	for _, r := range asked {
		if strings.Contains(r.Query, query) && !strings.HasSuffix(r.Path, "/selfsubjectreviews") {
			all[r.Header.Get("Authorization")] = true
		}
	}
	return all
}

// registered waits until a cluster is a VIM of that generation, or of any if that is zero.
func (r *replica) registered(name string, generation int64) (w v1.WorkloadCluster) {
	r.fleet.t.Helper()
	eventually(r.fleet.t, fmt.Sprintf("%s is a VIM of generation %d", name, generation), func(ctx context.Context) error {
		l, err := r.Clusters(ctx, client.ClusterQuery{Name: name, State: "registered"})
		if err != nil {
			return err
		}
		if len(l.Items) != 1 {
			return fmt.Errorf("%d are registered", len(l.Items))
		}
		w = l.Items[0]
		v, err := r.VIM(ctx, w.VIM)
		if err == nil && generation > 0 && v.Generation != generation {
			err = fmt.Errorf("it is of generation %d", v.Generation)
		}
		return err
	})
	return w
}
