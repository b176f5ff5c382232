package onboard_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

// another registers one more management cluster, which b has from now on, and returns what goes back to the one before.
func (b *bench) another(name string) (back func()) {
	b.t.Helper()
	hub, m, w, shown := b.hub, b.m, b.w, b.source
	fresh := &source{clusters: map[string]onboard.Seen{}, secrets: map[string]onboard.ClusterSecret{}, planes: map[string]string{}}
	var err error
	if b.hub, err = b.RegisterVIM(b.t.Context(), root, broker.Registration{Name: name, Kubeconfig: secret.NewText(b.kube(name).Kubeconfig())}); err != nil {
		b.t.Fatal(err)
	}
	set := onboard.Settings{Namespaces: m.Namespaces, Projects: m.Projects}
	if b.m, err = b.Enable(b.t.Context(), root, name, set); err != nil {
		b.t.Fatal(err)
	}
	b.source = fresh
	b.serve(func(*broker.Terms) {})
	b.watch()
	return func() {
		b.hub, b.m, b.source = hub, m, shown
		b.serve(func(*broker.Terms) {})
		b.w = w
		b.watch()
	}
}

// on is the row of a cluster on one management cluster.
func (b *bench) on(hub, namespace, name string) onboard.Cluster {
	b.t.Helper()
	found, _, err := b.store.Clusters(b.t.Context(), onboard.ClusterFilter{Management: hub, Namespace: namespace, Name: name})
	if err != nil || len(found) != 1 {
		b.t.Fatalf("%s/%s has %d rows there, %v", namespace, name, len(found), err)
	}
	return found[0]
}

// TestAMoveIsNoOutage: a cluster that is paused, made on another management cluster and vanishes from its own, as
// "clusterctl move" has it, is the same VIM; its leases go on. The other way round it comes back.
func TestAMoveIsNoOutage(t *testing.T) {
	for _, paused := range []bool{true, false} {
		b := newBench(t)
		s := b.cluster("a", "edge")
		b.look("a", "edge")
		first := b.want("a", "edge", onboard.StateRegistered, "")
		lease := b.lease(alice, first.VIM)
		hub := b.hub.ID
		if paused {
			s.Paused = true
			b.source.put(s)
			b.look("a", "edge")
			b.want("a", "edge", onboard.StateRegistered, onboard.ReasonPaused)
			leaving := s
			leaving.Deleting = true // its finalizers go last
			b.source.put(leaving)
			b.look("a", "edge")
			b.want("a", "edge", onboard.StateRegistered, onboard.ReasonPaused)
		}

		back := b.another("hub2")
		s.UID = "moved"
		b.source.put(s)
		b.secret(s, b.kube("a/edge").Kubeconfig())
		b.look("a", "edge")
		back()
		b.source.drop("a", "edge")
		b.gone("a", "edge")
		if c := b.on(hub, "a", "edge"); c.State != onboard.StateRegistered || c.Reason != onboard.ReasonMoving || c.GoneAt.IsZero() {
			t.Fatalf("paused %t: it is %s (%s: %s)", paused, c.State, c.Reason, c.Message)
		}
		if v := b.vim(first.VIM); v.State != broker.VIMRegistered {
			t.Fatalf("paused %t: its VIM is %s", paused, v.State)
		}

		found, _, err := b.VIMs(t.Context(), root, broker.VIMQuery{Name: "hub2"})
		if err != nil || len(found) != 1 {
			t.Fatal(err)
		}
		b.to(found[0])
		s.Paused = false
		b.source.put(s)
		b.secret(s, b.kube("a/edge").Kubeconfig())
		b.look("a", "edge")
		now := b.on(found[0].ID, "a", "edge")
		if now.State != onboard.StateRegistered || now.VIM != first.VIM || now.Reason != "" {
			t.Fatalf("paused %t: there it is %s (%s: %s), the same VIM: %t", paused, now.State, now.Reason, now.Message, now.VIM == first.VIM)
		}
		v := b.vim(first.VIM)
		if v.Suspended != "" || v.Labels[broker.LabelManagement] != found[0].ID || v.Labels[broker.LabelCluster] != "moved" {
			t.Errorf("the VIM is suspended (%q), with labels %v", v.Suspended, v.Labels)
		}
		if c := b.on(hub, "a", "edge"); c.State != onboard.StateRetired || c.VIM != "" {
			t.Errorf("where it was it is %s, with VIM %q", c.State, c.VIM)
		}
		if l := b.leaseRow(lease.ID); l.State != broker.LeaseActive {
			t.Errorf("a lease of before is %s", l.State)
		}
		if _, _, err := b.RenewLease(t.Context(), alice, lease.ID, 0); err != nil {
			t.Errorf("a lease of before is not renewed: %v", err)
		}
		if got := accounts(b.kube("a/edge")); len(got) != 6 {
			t.Errorf("the accounts are %q, want the one of before", got)
		}
		b.lease(alice, first.VIM)
	}
}

// to has b watch another management cluster, which shows nothing yet.
func (b *bench) to(hub broker.VIM) {
	b.t.Helper()
	var err error
	b.hub = hub
	b.source = &source{clusters: map[string]onboard.Seen{}, secrets: map[string]onboard.ClusterSecret{}, planes: map[string]string{}}
	b.serve(func(*broker.Terms) {})
	if b.m, err = b.store.Management(b.t.Context(), hub.ID); err != nil {
		b.t.Fatal(err)
	}
	b.watch()
}

// TestAClusterThatMovesNowhereIsLetGo, after ten minutes, and at once if it was being deleted.
func TestAClusterThatMovesNowhereIsLetGo(t *testing.T) {
	b := newBench(t)
	s := b.cluster("a", "edge")
	b.look("a", "edge")
	s.Paused = true
	b.source.put(s)
	b.look("a", "edge")
	b.source.drop("a", "edge")
	b.gone("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, onboard.ReasonMoving)
	b.clock.Add(9 * time.Minute)
	if again := b.look("a", "edge"); again <= 0 || again > time.Minute {
		t.Errorf("it is looked at again after %s", again)
	}
	b.want("a", "edge", onboard.StateRegistered, onboard.ReasonMoving)
	b.clock.Add(time.Minute)
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRetired, "")
	// One that is shown again meanwhile goes on.
	s = b.cluster("a", "far")
	b.look("a", "far")
	s.Paused = true
	b.source.put(s)
	b.look("a", "far")
	b.source.drop("a", "far")
	b.gone("a", "far")
	s.Paused = false
	b.source.put(s)
	b.secret(s, b.kube("a/far").Kubeconfig())
	b.look("a", "far")
	if c := b.want("a", "far", onboard.StateRegistered, ""); !c.GoneAt.IsZero() {
		t.Error("it is said to be gone")
	}
}

// TestAManagementClusterRegisteredAnew has its clusters' VIMs again, by their ids, where the server is the same: whoever else
// says that he is that system does not. While clusters are followed from it, it is not deleted.
func TestAManagementClusterRegisteredAnew(t *testing.T) {
	for name, same := range map[string]bool{"the same server": true, "another that claims to be the system": false} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := b.cluster("a", "edge")
			b.look("a", "edge")
			first := b.want("a", "edge", onboard.StateRegistered, "")
			lease := b.lease(alice, first.VIM)
			_, _, err := b.DeleteVIM(t.Context(), root, "hub", broker.Deletion{Drain: true})
			if !errors.Is(err, broker.ErrConflict) || !strings.Contains(err.Error(), "a/edge") || !strings.Contains(err.Error(), "disable it") {
				t.Fatalf("DeleteVIM() of a management cluster = %v, want that it names its clusters", err)
			}
			if err := b.Disable(t.Context(), root, "hub"); err != nil {
				t.Fatal(err)
			}
			if _, gone, err := b.DeleteVIM(t.Context(), root, "hub", broker.Deletion{Drain: true}); err != nil || !gone {
				t.Fatal(gone, err)
			}
			shown := b.source
			b.another("hub2")
			if !same {
				b.claims("impostor", "a/edge")
				shown.secrets["a/edge-kubeconfig"] = onboard.ClusterSecret{
					SecretVersion: shown.secrets["a/edge-kubeconfig"].SecretVersion, Owners: shown.secrets["a/edge-kubeconfig"].Owners,
					Value: secret.NewText(b.kube("impostor").Kubeconfig()),
				}
			}
			b.source.put(s)
			b.source.putSecret("a", "edge-kubeconfig", shown.secrets["a/edge-kubeconfig"])
			b.look("a", "edge")
			c := b.row("a", "edge")
			if !same {
				b.want("a", "edge", onboard.StateWaiting, onboard.ReasonNameTaken)
				if v := b.vim(first.VIM); v.Current.Number != 1 || v.Labels[broker.LabelManagement] == b.hub.ID || len(accounts(b.kube("impostor"))) != 0 {
					t.Errorf("the VIM was given to another server: generation %d, %v", v.Current.Number, v.Labels)
				}
				return
			}
			if c.State != onboard.StateRegistered || c.VIM != first.VIM {
				t.Errorf("the cluster is %s (%s: %s), the VIM of before: %t", c.State, c.Reason, c.Message, c.VIM == first.VIM)
			}
			if l := b.leaseRow(lease.ID); l.State != broker.LeaseActive {
				t.Errorf("a lease of before is %s", l.State)
			}
		})
	}
}

// TestAVIMThatAPersonDeletesKeepsItsId when it is registered again.
func TestAVIMThatAPersonDeletesKeepsItsId(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.look("a", "edge")
	first := b.want("a", "edge", onboard.StateRegistered, "")
	l := b.lease(alice, first.VIM)
	if _, gone, err := b.DeleteVIM(t.Context(), alice, first.VIM, broker.Deletion{Drain: true}); err != nil || !gone {
		t.Fatal(gone, err)
	}
	b.look("a", "edge")
	if c := b.want("a", "edge", onboard.StateWaiting, ""); c.VIM != "" || c.Former != first.VIM {
		t.Errorf("its VIM is %q, was %q", c.VIM, c.Former)
	}
	b.look("a", "edge")
	if c := b.want("a", "edge", onboard.StateRegistered, ""); c.VIM != first.VIM || c.Former != "" {
		t.Errorf("its VIM is %s, was %s", c.VIM, first.VIM)
	}
	if after := b.leaseRow(l.ID); after.State != broker.LeaseRevoked {
		t.Errorf("a lease of before is %s", after.State)
	}
	b.lease(alice, first.VIM)
	if used, err := b.store.KeysInUse(t.Context(), first.VIM); err != nil || len(used) < 1 {
		t.Errorf("%d keys, %v", len(used), err)
	}
}

// TestAVIMThatFollowsAnotherAlreadyIsNotLetGo, also where the process that gave it to the other one died after that.
func TestAVIMThatFollowsAnotherAlreadyIsNotLetGo(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	uid := "moved"
	self := policy.Principal{Name: "system:onboard", Project: "default", Roles: []string{policy.RoleSystem}}
	if _, err := b.UpdateVIM(t.Context(), self, c.VIM, broker.Change{Labels: map[string]*string{broker.LabelManagement: &uid}}); err != nil {
		t.Fatal(err)
	}
	b.source.drop("a", "edge")
	b.gone("a", "edge")
	if c := b.want("a", "edge", onboard.StateRetired, ""); c.VIM != "" {
		t.Errorf("it is retired with VIM %s", c.VIM)
	}
	if v := b.vim(c.VIM); v.State != broker.VIMRegistered {
		t.Errorf("the VIM is %s", v.State)
	}
}
