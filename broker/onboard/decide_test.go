package onboard_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

func TestStatesAreClosed(t *testing.T) {
	moves := onboard.Moves()
	for _, from := range onboard.States() {
		if _, ok := moves[from]; !ok {
			t.Errorf("%s has no line", from)
		}
		for _, to := range onboard.States() {
			if got := from.CanMove(to); got != slices.Contains(moves[from], to) || got && from == to {
				t.Errorf("%s.CanMove(%s) = %v", from, to, got)
			}
		}
	}
	if len(moves) != len(onboard.States()) {
		t.Errorf("%d states have lines, %d are known", len(moves), len(onboard.States()))
	}
}

// TestClusterBecomesAVIM: a cluster is registered as soon as its control plane is up, its
// secret is there and its API server answers, and not before.
func TestClusterBecomesAVIM(t *testing.T) {
	b := newBench(t, func(m *onboard.Settings) { m.CopyLabels = []string{"site", "topology.kubernetes.io/region"} })
	s := onboard.Seen{Namespace: "b", Name: "edge", UID: "u1", Labels: map[string]string{
		"site": "x", "topology.kubernetes.io/region": "r1", "vimbroker.io/cluster": "forged", "other": "y",
	}}
	b.source.put(s)
	b.look("b", "edge")
	b.want("b", "edge", onboard.StateWaiting, onboard.ReasonNotReady)
	s.Ready = true
	b.source.put(s)
	b.look("b", "edge")
	b.want("b", "edge", onboard.StateWaiting, onboard.ReasonSecretMissing)
	b.secret(s, b.kube("edge").Kubeconfig())
	b.look("b", "edge")
	c := b.want("b", "edge", onboard.StateRegistered, "")
	v := b.vim(c.VIM)
	if v.Name != "b.edge" || v.Project != "south" || v.CreatedBy != "system:onboard" || c.System != b.kube("edge").Identity() {
		t.Errorf("the VIM is %s of %s by %s, the system %s", v.Name, v.Project, v.CreatedBy, c.System)
	}
	for key, want := range map[string]string{
		"cluster/site": "x", "cluster/topology.kubernetes.io.region": "r1", "vimbroker.io/cluster": "u1",
		"vimbroker.io/management-cluster": b.hub.ID, "vimbroker.io/cluster-name": "edge", "vimbroker.io/cluster-namespace": "b",
	} {
		if v.Labels[key] != want {
			t.Errorf("label %s = %q, want %q", key, v.Labels[key], want)
		}
	}
	if len(v.Labels) != 6 {
		t.Errorf("labels = %v", v.Labels)
	}
	// A label that changes is followed.
	s.Labels = map[string]string{"site": "z"}
	b.source.put(s)
	b.look("b", "edge")
	if v = b.vim(c.VIM); v.Labels["cluster/site"] != "z" || len(v.Labels) != 5 {
		t.Errorf("labels after a change = %v", v.Labels)
	}
	entries, err := b.store.Entries(t.Context(), audit.Query{Principal: "system:onboard", Limit: 100})
	if err != nil || !slices.ContainsFunc(entries, func(e audit.Entry) bool {
		return e.Action == "vim:register" && e.Outcome == audit.Done && e.Detail[audit.DetailVIM] == v.ID
	}) || !slices.ContainsFunc(entries, func(e audit.Entry) bool {
		return e.Action == "cluster:follow" && e.Detail["new.state"] == "registered" && e.Detail["clusterVIM"] == v.ID
	}) {
		t.Errorf("the audit log does not say how the cluster became a VIM: %v", err)
	}
}

// TestOnlyTheClustersOwnSecretCounts: the secret of that name, label and owner.
func TestOnlyTheClustersOwnSecretCounts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*onboard.ClusterSecret)
		why    onboard.ClusterReason
	}{
		"without a label":                {func(s *onboard.ClusterSecret) { s.Cluster = "" }, onboard.ReasonSecretMislabelled},
		"with another cluster's label":   {func(s *onboard.ClusterSecret) { s.Cluster = "edge10" }, onboard.ReasonSecretMislabelled},
		"without an owner":               {func(s *onboard.ClusterSecret) { s.Owners = nil }, onboard.ReasonSecretForeign},
		"of another Cluster of its name": {func(s *onboard.ClusterSecret) { s.Owners[0].UID = "before" }, onboard.ReasonSecretForeign},
		"of another kind":                {func(s *onboard.ClusterSecret) { s.Owners[0].Kind = "Pod" }, onboard.ReasonSecretForeign},
		"of another group":               {func(s *onboard.ClusterSecret) { s.Owners[0].Group = "x" }, onboard.ReasonSecretForeign},
		"of a control plane it lacks":    {func(s *onboard.ClusterSecret) { s.Owners[0] = plane("other", "p1") }, onboard.ReasonSecretForeign},
		"of another control plane":       {func(s *onboard.ClusterSecret) { s.Owners[0] = plane("neighbour", "p2") }, onboard.ReasonSecretForeign},
		"of a control plane made up":     {func(s *onboard.ClusterSecret) { s.Owners[0] = plane("edge-plane", "forged") }, onboard.ReasonSecretForeign},
		"of its control plane":           {func(s *onboard.ClusterSecret) { s.Owners[0] = plane("edge-plane", "p1") }, ""},
		"that is too large":              {func(s *onboard.ClusterSecret) { s.Large, s.Value = true, secret.Text{} }, onboard.ReasonSecretInvalid},
		"without the entry":              {func(s *onboard.ClusterSecret) { s.Value = secret.Text{} }, onboard.ReasonSecretInvalid},
		"that is garbage":                {func(s *onboard.ClusterSecret) { s.Value = secret.NewText("\x00{{") }, onboard.ReasonSecretInvalid},
		"that runs a command": {func(s *onboard.ClusterSecret) {
			s.Value = secret.NewText(strings.Replace(s.Value.Reveal(), "user: {", "user: {exec: {command: id}, ", 1))
		}, onboard.ReasonSecretInvalid},
		"over plain http": {func(s *onboard.ClusterSecret) {
			s.Value = secret.NewText(strings.Replace(s.Value.Reveal(), "https://", "http://", 1))
		}, onboard.ReasonSecretInvalid},
		"without a current context": {func(s *onboard.ClusterSecret) {
			s.Value = secret.NewText(strings.Replace(s.Value.Reveal(), "current-context: fakekube\n", "", 1))
		}, onboard.ReasonSecretInvalid},
		"with a second context beside its": {func(s *onboard.ClusterSecret) {
			s.Value = secret.NewText(strings.Replace(s.Value.Reveal(), "contexts:\n", "contexts:\n- name: first\n  context: {cluster: none, user: none}\n", 1))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := onboard.Seen{Namespace: "a", Name: "edge", UID: "u1", Ready: true, ControlPlane: onboard.ObjectReference{
				Group: "controlplane.cluster.x-k8s.io", Kind: "KubeadmControlPlane", Name: "edge-plane",
			}}
			b.source.planes["a/kubeadmcontrolplanes.controlplane.cluster.x-k8s.io/edge-plane"] = "p1"
			b.source.planes["a/kubeadmcontrolplanes.controlplane.cluster.x-k8s.io/neighbour"] = "p2"
			b.source.put(s)
			b.secretAs(s, b.kube("edge").Kubeconfig(), c.change)
			b.look("a", "edge")
			if c.why == "" {
				b.want("a", "edge", onboard.StateRegistered, "")
				return
			}
			b.want("a", "edge", onboard.StateQuarantined, c.why)
			if got := b.vims(); len(got) != 0 {
				t.Errorf("%d VIMs are registered", len(got))
			}
			reads := b.source.reads
			b.look("a", "edge")
			if b.source.reads != reads && c.why != onboard.ReasonSecretMislabelled { // which no watch shows
				t.Error("a secret that was refused is read again before it changes")
			}
			b.secret(s, b.kube("edge").Kubeconfig()) // put right
			b.look("a", "edge")
			b.want("a", "edge", onboard.StateRegistered, "")
		})
	}
}

// TestSecretsOfOtherProviders have another name and another entry, as Kamaji's have.
func TestSecretsOfOtherProviders(t *testing.T) {
	b := newBench(t, func(m *onboard.Settings) {
		m.SecretName, m.SecretKey = "{cluster}-admin-kubeconfig", "super-admin.conf"
	})
	s := b.cluster("a", "edge") // with a secret of the usual name
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateWaiting, onboard.ReasonSecretMissing)
	own := b.source.secrets["a/edge-kubeconfig"]
	own.Value = secret.NewText(b.kube("own").Kubeconfig())
	b.source.putSecret("a", s.Name+"-admin-kubeconfig", own)
	b.look("a", "edge")
	if c := b.want("a", "edge", onboard.StateRegistered, ""); c.System != b.kube("own").Identity() || b.source.entry != "super-admin.conf" {
		t.Errorf("it leads to %s, by the entry %q", c.System, b.source.entry)
	}
}

// TestAControlPlaneThatTheLeaseDoesNotRead makes no secret foreign: the cluster waits until the lease reads it.
func TestAControlPlaneThatTheLeaseDoesNotRead(t *testing.T) {
	b := newBench(t, func(m *onboard.Settings) { m.ControlPlanes = []string{"talosplanes.example.org"} })
	b.source.planes["a/talosplanes.example.org/cp"] = "p1"
	b.w.Reads()
	s := onboard.Seen{Namespace: "a", Name: "edge", UID: "u1", Ready: true, ControlPlane: onboard.ObjectReference{Group: "example.org", Kind: "TalosPlane", Name: "cp"}}
	b.source.put(s)
	b.secretAs(s, b.kube("a/edge").Kubeconfig(), func(got *onboard.ClusterSecret) {
		got.Owners[0] = onboard.OwnerReference{Group: "example.org", Kind: "TalosPlane", Name: "cp", UID: "p1"}
	})
	for range 2 { // the second look asks the management cluster, which does not serve the kind
		b.look("a", "edge")
		if c := b.want("a", "edge", onboard.StateWaiting, onboard.ReasonUnavailable); !strings.Contains(c.Message, "talosplanes.example.org") {
			t.Errorf("it says %q", c.Message)
		}
		b.clock.Add(time.Minute)
	}
	b.watch()
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, "")
}

// TestOtherSettingsHaveARefusedSecretReadAgain: whoever names the control planes of another
// provider, or another entry of the secret, need not wait until the secret is rotated.
func TestOtherSettingsHaveARefusedSecretReadAgain(t *testing.T) {
	b := newBench(t)
	b.source.planes["a/talosplanes.example.org/cp"] = "p1"
	shown := func(name string) (onboard.Seen, func(*onboard.ClusterSecret)) {
		s := onboard.Seen{Namespace: "a", Name: name, UID: "uid-" + name, Ready: true, ControlPlane: onboard.ObjectReference{Group: "example.org", Kind: "TalosPlane", Name: "cp"}}
		return s, func(got *onboard.ClusterSecret) {
			got.Owners[0] = onboard.OwnerReference{Group: "example.org", Kind: "TalosPlane", Name: "cp", UID: "p1"}
		}
	}
	fresh, owner := shown("fresh")
	b.source.put(fresh)
	b.secretAs(fresh, b.kube("a/fresh").Kubeconfig(), owner)
	b.look("a", "fresh")
	b.want("a", "fresh", onboard.StateQuarantined, onboard.ReasonSecretForeign)

	old := b.cluster("a", "old")
	b.look("a", "old")
	was := b.want("a", "old", onboard.StateRegistered, "")
	moved, owner := shown("old")
	moved.UID = old.UID
	b.source.put(moved)
	kube := b.kube("a/old")
	b.secretAs(moved, strings.Replace(kube.Kubeconfig(), kube.AdminToken, kube.AdminTokenFor(0), 1), owner)
	b.look("a", "old")
	b.want("a", "old", onboard.StateQuarantined, onboard.ReasonSecretForeign)

	b.clock.Add(time.Minute)
	b.m.ControlPlanes = []string{"talosplanes.example.org"}
	if _, err := b.Enable(t.Context(), root, "hub", b.m.Settings); err != nil {
		t.Fatal(err)
	}
	b.look("a", "fresh")
	b.look("a", "old")
	b.want("a", "fresh", onboard.StateRegistered, "")
	if c := b.want("a", "old", onboard.StateRegistered, ""); c.VIM != was.VIM || b.vim(c.VIM).Current.Number != 2 {
		t.Error("the VIM does not work with what the secret holds")
	}
}

func plane(name, uid string) onboard.OwnerReference {
	return onboard.OwnerReference{Group: "controlplane.cluster.x-k8s.io", Kind: "KubeadmControlPlane", Name: name, UID: uid}
}

// TestNamesThatLookAlike: each cluster has its own secret, namespace by namespace.
func TestNamesThatLookAlike(t *testing.T) {
	b := newBench(t)
	for _, at := range [][2]string{{"a", "edge1"}, {"a", "edge10"}, {"b", "edge1"}, {"a", "x"}} {
		b.cluster(at[0], at[1])
	}
	user := b.source.secrets["a/x-kubeconfig"]
	user.Value = secret.NewText("not this one")
	b.source.putSecret("a", "x-user-kubeconfig", user)
	systems := map[string]bool{}
	for _, at := range [][2]string{{"a", "edge1"}, {"a", "edge10"}, {"b", "edge1"}, {"a", "x"}, {"a", "x-user"}} {
		b.look(at[0], at[1])
		if at[1] == "x-user" {
			if n := len(b.rows("a", "x-user")); n != 0 {
				t.Errorf("a user's secret made %d clusters", n)
			}
			continue
		}
		c := b.want(at[0], at[1], onboard.StateRegistered, "")
		if c.System != b.kube(at[0]+"/"+at[1]).Identity() {
			t.Errorf("%s/%s leads to another cluster", at[0], at[1])
		}
		systems[c.System] = true
	}
	if len(systems) != 4 || len(b.vims()) != 4 {
		t.Errorf("%d systems, %d VIMs, want 4", len(systems), len(b.vims()))
	}
	// One that goes takes no other with it.
	b.source.drop("b", "edge1")
	b.gone("b", "edge1")
	b.want("b", "edge1", onboard.StateRetired, "")
	b.want("a", "edge1", onboard.StateRegistered, "")
	if len(b.vims()) != 3 {
		t.Errorf("%d VIMs are left, want 3", len(b.vims()))
	}
}

// TestRotation: a new credential is adopted where it leads to the same system.
func TestRotation(t *testing.T) {
	b := newBench(t)
	s := b.cluster("a", "edge")
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	kube := b.kube("a/edge")
	before := b.vim(c.VIM)

	b.secret(s, kube.Anew())
	b.look("a", "edge")
	c = b.want("a", "edge", onboard.StateRegistered, "")
	if v := b.vim(c.VIM); v.Current.Number != before.Current.Number+1 || c.Secret == "" {
		t.Errorf("generation %d after %d", v.Current.Number, before.Current.Number)
	}

	// Another system's credential is not adopted, and the VIM stays as it is.
	good := b.vim(c.VIM).Current
	b.secret(s, b.kube("elsewhere").Kubeconfig())
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateQuarantined, onboard.ReasonOtherSystem)
	if v := b.vim(c.VIM); v.Current.Sealed != good.Sealed || v.Current.Target.Endpoint != kube.Endpoint {
		t.Error("a credential that leads elsewhere was adopted")
	}
	b.lease(root, c.VIM)

	b.secret(s, kube.Kubeconfig())
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, "")
}

// TestAnotherCA is adopted, and the audit log says so, where the system is the same; a
// rotation with the same CA says nothing of one.
func TestAnotherCA(t *testing.T) {
	b := newBench(t, func(m *onboard.Settings) { m.Account = onboard.AccountNone })
	s := b.cluster("a", "edge")
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	kube := b.kube("a/edge")
	with := func(ca string) string {
		return strings.Replace(kube.Kubeconfig(), base64.StdEncoding.EncodeToString([]byte(kube.CA)), base64.StdEncoding.EncodeToString([]byte(ca)), 1)
	}
	next := func() string {
		ca, err := pki.NewCA("the next CA")
		if err != nil {
			t.Fatal(err)
		}
		return kube.CA + string(ca.PEM)
	}
	// said is what the last update says of the CA.
	said := func() (was, is string) {
		entries, err := b.store.Entries(t.Context(), audit.Query{Principal: "system:onboard", Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(entries, func(a, b audit.Entry) int { return int(b.Seq - a.Seq) })
		at := slices.IndexFunc(entries, func(e audit.Entry) bool { return e.Action == policy.VIMUpdate && e.Outcome == audit.Done })
		if at < 0 {
			t.Fatal("the audit log has no update")
		}
		return entries[at].Detail["old.caCert"], entries[at].Detail["new.caCert"]
	}
	b.secret(s, strings.Replace(kube.Kubeconfig(), kube.AdminToken, kube.AdminTokenFor(0), 1))
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, "")
	if was, is := said(); was != "" || is != "" {
		t.Errorf("a rotation with the same CA is said to have another: %q, %q", was, is)
	}
	ca := next()
	b.secret(s, with(ca))
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, "")
	if v := b.vim(c.VIM); v.Current.Number != 3 || strings.TrimSpace(v.Current.Target.CACert) != strings.TrimSpace(ca) {
		t.Errorf("the VIM is of generation %d and does not trust the CA of the secret", v.Current.Number)
	}
	if was, is := said(); was == "" || is == "" || was == is {
		t.Errorf("the audit log says of the CA: %q, then %q", was, is)
	}
	kube.ChangeIdentity()
	b.secret(s, with(next()))
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateQuarantined, onboard.ReasonOtherSystem)
	if v := b.vim(c.VIM); v.Current.Number != 3 {
		t.Error("another system is adopted with another CA")
	}
}

// TestRefusedCredentialIsReadAgain: a 401 means that the secret is to be read again, once
// for each check, and never that the cluster is gone.
func TestRefusedCredentialIsReadAgain(t *testing.T) {
	b := newBench(t, func(m *onboard.Settings) { m.Account = onboard.AccountNone })
	s := b.cluster("a", "edge")
	kube := b.kube("a/edge")
	short := strings.Replace(kube.Kubeconfig(), kube.AdminToken, kube.AdminTokenFor(15*60e9), 1)
	b.secret(s, short)
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	b.clock.Add(20 * 60e9)
	if v, err := b.CheckVIM(t.Context(), root, c.VIM); err != nil || v.Health.Status != broker.HealthUnauthorized {
		t.Fatalf("the VIM is %s, %v", v.Health.Status, err)
	}
	reads := b.source.reads
	for range 3 {
		b.look("a", "edge")
	}
	b.want("a", "edge", onboard.StateRegistered, onboard.ReasonCredentialRefused)
	if got := b.source.reads - reads; got != 1 {
		t.Errorf("the secret was read %d times after one refusal, want once", got)
	}
	// The watch is behind; reading the secret finds the new token.
	b.source.mu.Lock()
	got := b.source.secrets["a/edge-kubeconfig"]
	got.Value, got.Version = secret.NewText(kube.Kubeconfig()), "uid/new"
	b.source.secrets["a/edge-kubeconfig"] = got
	b.source.mu.Unlock()
	b.clock.Add(60e9)
	if _, err := b.CheckVIM(t.Context(), root, c.VIM); err != nil {
		t.Fatal(err)
	}
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, "")
}

// TestPausedClusterIssuesNoLease: renewals go on.
func TestPausedClusterIssuesNoLease(t *testing.T) {
	b := newBench(t)
	s := b.cluster("a", "edge")
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	l := b.lease(alice, c.VIM)
	s.Paused = true
	b.source.put(s)
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, onboard.ReasonPaused)
	_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: c.VIM, Role: "view", Namespaces: []string{"default"}})
	wantKind(t, "a lease on a paused cluster", err, broker.ErrConflict)
	if _, _, err := b.RenewLease(t.Context(), alice, l.ID, 0); err != nil {
		t.Errorf("renewing a lease on a paused cluster: %v", err)
	}
	s.Paused = false
	b.source.put(s)
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, "")
	b.lease(alice, c.VIM)
	// What a person has suspended stays so.
	why := "maintenance"
	if _, err := b.UpdateVIM(t.Context(), alice, c.VIM, broker.Change{Suspended: &why}); err != nil {
		t.Fatal(err)
	}
	b.look("a", "edge")
	if v := b.vim(c.VIM); v.Suspended != why {
		t.Errorf("suspended = %q, want the person's reason", v.Suspended)
	}
}

// TestDeletedClusterIsLetGo: drain, revoke, deregister, shred.
func TestDeletedClusterIsLetGo(t *testing.T) {
	b := newBench(t)
	s := b.cluster("a", "edge")
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	l := b.lease(alice, c.VIM)
	s.Deleting = true
	b.source.put(s)
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, onboard.ReasonDeleting)
	_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: c.VIM, Role: "view", Namespaces: []string{"default"}})
	wantKind(t, "a lease on a cluster that is being deleted", err, broker.ErrConflict)

	b.source.drop("a", "edge")
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, onboard.ReasonDeleting) // not at once
	b.clock.Add(onboard.Settled)
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRetired, "")
	if l = b.leaseRow(l.ID); l.State != broker.LeaseRevoked || l.Reason != broker.ReasonVIMDeleted {
		t.Errorf("its lease is %s (%s)", l.State, l.Reason)
	}
	if _, err := b.VIM(t.Context(), root, c.VIM); err == nil {
		t.Error("its VIM is there still")
	}
	used, err := b.store.KeysInUse(t.Context(), c.VIM)
	if err != nil || len(used) != 0 {
		t.Errorf("%d keys of it are in use, %v", len(used), err)
	}
	b.clock.Add(onboard.KeepRetired)
	b.look("a", "edge")
	if n := len(b.rows("a", "edge")); n != 0 {
		t.Errorf("%d rows are kept after a day", n)
	}
}

// TestClusterThatIsGoneWithItsSystem: leases that nothing is left to revoke at end as
// revoked, and nobody is alarmed.
func TestClusterThatIsGoneWithItsSystem(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	l := b.lease(alice, c.VIM)
	b.kube("a/edge").Close()
	b.source.drop("a", "edge")
	b.gone("a", "edge")
	b.want("a", "edge", onboard.StateRetiring, onboard.ReasonDraining)
	if l = b.leaseRow(l.ID); l.State != broker.LeaseRevoking {
		t.Errorf("its lease is %s a moment after, want revoking", l.State)
	}
	b.clock.Add(onboard.SilentFor)
	b.watch() // another process goes on
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRetired, "")
	if l = b.leaseRow(l.ID); l.State != broker.LeaseRevoked || l.Reason != broker.ReasonSystemGone || l.Sealed != "" {
		t.Errorf("its lease is %s (%s), sealed %t", l.State, l.Reason, l.Sealed != "")
	}
	if alarms := b.Vitals(t.Context()).Alarms; len(alarms) != 0 {
		t.Errorf("alarms: %v", alarms)
	}
}

// TestInstancesAreToldThatTheirClusterIsGone: once that is certain no lease is issued, with the reason, and the VIM goes
// with the last instance. While its server answers they can be terminated there.
func TestInstancesAreToldThatTheirClusterIsGone(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	i, leave := conformance.Occupy(t, b.store, c.VIM)
	b.source.drop("a", "edge")
	b.gone("a", "edge")
	if c = b.want("a", "edge", onboard.StateRetiring, onboard.ReasonDraining); !strings.Contains(c.Message, i.ID) {
		t.Errorf("the cluster says %q, want the instance in it", c.Message)
	}
	b.lease(alice, c.VIM)
	b.kube("a/edge").Close()
	b.clock.Add(onboard.SilentFor)
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRetiring, onboard.ReasonDraining)
	if v := b.vim(c.VIM); v.Labels[broker.LabelGone] == "" || !strings.Contains(v.Suspended, "terminate its VNF instances") {
		t.Errorf("the VIM says %q, with the labels %v", v.Suspended, v.Labels)
	}
	_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: c.VIM, Role: "view", Namespaces: []string{"default"}})
	if wantKind(t, "a lease on it", err, broker.ErrConflict); err == nil || !strings.Contains(err.Error(), "its cluster is gone") {
		t.Errorf("a lease on it: %v", err)
	}
	leave()
	b.clock.Add(time.Hour)
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRetired, "")
}

// TestUnreachableClusterThatIsThereIsKept: only what is not found is gone.
func TestNothingIsRemovedOnDoubt(t *testing.T) {
	for name, fail := range map[string]error{
		"forbidden":           &broker.Error{Kind: broker.ErrForbidden},
		"the CRD is missing":  &broker.Error{Kind: broker.ErrUnsupported},
		"no connection":       &broker.Error{Kind: broker.ErrUnreachable},
		"the lease has ended": &broker.Error{Kind: broker.ErrUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := b.cluster("a", "edge")
			b.look("a", "edge")
			c := b.want("a", "edge", onboard.StateRegistered, "")
			b.source.drop("a", "edge") // the list is empty
			b.source.fail = fail
			b.gone("a", "edge")
			b.want("a", "edge", onboard.StateRegistered, onboard.ReasonDoubtful)
			b.vim(c.VIM)
			b.source.fail = nil
			b.source.put(s)
			b.secret(s, b.kube("a/edge").Kubeconfig())
			b.look("a", "edge")
			b.want("a", "edge", onboard.StateRegistered, "")
		})
	}
	t.Run("only the list lacks it", func(t *testing.T) {
		b := newBench(t)
		b.cluster("a", "edge")
		b.look("a", "edge")
		b.w.Sight("a").Clusters(nil)
		for range 3 {
			if _, err := b.w.Step(t.Context(), "a", "edge"); err != nil {
				t.Fatal(err)
			}
			b.clock.Add(onboard.Settled)
		}
		b.want("a", "edge", onboard.StateRegistered, "")
	})
	t.Run("it is not listed yet", func(t *testing.T) {
		b := newBench(t)
		b.cluster("a", "edge")
		b.look("a", "edge")
		m, err := b.store.Management(t.Context(), b.hub.ID)
		if err != nil {
			t.Fatal(err)
		}
		if b.w, err = b.Onboarding.Watch(t.Context(), m, b.hub); err != nil {
			t.Fatal(err)
		}
		b.source.drop("a", "edge")
		for range 3 {
			if _, err := b.w.Step(t.Context(), "a", "edge"); err != nil {
				t.Fatal(err)
			}
			b.clock.Add(onboard.Settled)
		}
		b.want("a", "edge", onboard.StateRegistered, "")
	})
}

// TestClusterCreatedAgainIsAnotherVIM: the leases on the first end.
func TestClusterCreatedAgainIsAnotherVIM(t *testing.T) {
	b := newBench(t)
	s := b.cluster("a", "edge")
	b.look("a", "edge")
	first := b.want("a", "edge", onboard.StateRegistered, "")
	l := b.lease(alice, first.VIM)
	s.UID = "second"
	b.source.put(s)
	b.secret(s, b.kube("second").Kubeconfig())
	b.look("a", "edge") // the name is taken
	b.clock.Add(onboard.Settled)
	b.look("a", "edge")
	b.clock.Add(60e9)
	b.look("a", "edge")
	states := map[string]onboard.Cluster{}
	for _, c := range b.rows("a", "edge") {
		states[c.UID] = c
	}
	if states[first.UID].State != onboard.StateRetired || states["second"].State != onboard.StateRegistered || states["second"].VIM == first.VIM {
		t.Errorf("the first is %s, the second %s (%s)", states[first.UID].State, states["second"].State, states["second"].Message)
	}
	if l = b.leaseRow(l.ID); l.State != broker.LeaseRevoked {
		t.Errorf("a lease on the first is %s", l.State)
	}
}

// TestTooManyGoneAtOnceAreHeld: the breaker stops, keeps everything, and waits for a person.
func TestTooManyGoneAtOnceAreHeld(t *testing.T) {
	b := newBench(t)
	for i := range 6 {
		b.cluster("a", fmt.Sprint("c", i))
	}
	all := func() {
		for i := range 6 {
			b.look("a", fmt.Sprint("c", i))
		}
	}
	all()
	for i := range 4 {
		b.source.drop("a", fmt.Sprint("c", i))
	}
	all()
	b.clock.Add(onboard.Settled)
	all()
	if got := len(b.vims()); got != 6 {
		t.Fatalf("%d VIMs are left, want all 6", got)
	}
	b.want("a", "c0", onboard.StateRegistered, onboard.ReasonHeld)
	m, err := b.store.Management(t.Context(), b.hub.ID)
	if err != nil || m.HeldAt.IsZero() {
		t.Errorf("nothing says that clusters are held: %v", err)
	}
	if c, err := b.Count(t.Context()); err != nil || c.Managements != 1 || c.Held != 1 || c.Troubled != 0 {
		t.Errorf("Count = %+v, %v, want one management cluster, which is held", c, err)
	}
	for i := range 2 { // neither do some that come back
		b.cluster("a", fmt.Sprint("c", i))
	}
	b.watch()
	b.clock.Add(3600e9) // nor time alone
	all()
	b.clock.Add(onboard.Settled)
	all()
	if got := len(b.vims()); got != 6 {
		t.Fatalf("%d VIMs are left after an hour, want all 6", got)
	}
	_, err = b.Release(t.Context(), alice, b.hub.ID)
	wantKind(t, "a member's release", err, broker.ErrNotFound)
	for range 2 { // the second releases nothing, and is no event
		if _, err := b.Release(t.Context(), root, "hub"); err != nil {
			t.Fatal(err)
		}
	}
	b.watch()
	all()
	b.clock.Add(onboard.Settled)
	all()
	if got := len(b.vims()); got != 4 {
		t.Errorf("%d VIMs are left after a release, want 4", got)
	}
	var told []onboard.ClusterEventKind
	for _, e := range b.events("") {
		if told = append(told, e.Kind); e.ManagementCluster != b.hub.ID {
			t.Errorf("%s is told of %+v", e.Kind, e)
		}
	}
	if !slices.Equal(told, []onboard.ClusterEventKind{onboard.EventHeld, onboard.EventReleased}) {
		t.Errorf("told %v, want that they are held, and released, once each", told)
	}
}

// TestHowManyMayGo within ten minutes: three or a fifth, and as many as there are after a release.
func TestHowManyMayGo(t *testing.T) {
	const all = 20
	b := newBench(t)
	name := func(i int) string { return fmt.Sprintf("c%02d", i) }
	for i := range all {
		b.cluster("a", name(i))
		b.look("a", name(i))
	}
	next := 0
	// vanish lets so many vanish, and says how many VIMs are left then.
	vanish := func(n int) int {
		t.Helper()
		from := next
		for ; next < from+n; next++ {
			b.source.drop("a", name(next))
		}
		for range 2 {
			for i := range next {
				b.look("a", name(i))
			}
			b.clock.Add(onboard.Settled)
		}
		return len(b.vims())
	}
	held := func() bool {
		t.Helper()
		m, err := b.store.Management(t.Context(), b.hub.ID)
		if err != nil {
			t.Fatal(err)
		}
		return !m.HeldAt.IsZero()
	}
	if got := vanish(4); got != 16 || held() {
		t.Fatalf("of 20 a fifth is gone: %d VIMs are left, held %t; want 16", got, held())
	}
	if got := vanish(1); got != 16 || !held() {
		t.Fatalf("and one more within ten minutes: %d VIMs are left, held %t; want 16, held", got, held())
	}
	if _, err := b.Release(t.Context(), root, "hub"); err != nil {
		t.Fatal(err)
	}
	b.watch()
	if got := vanish(5); got != 10 || held() {
		t.Fatalf("after a release: %d VIMs are left, held %t; want 10", got, held())
	}
	b.clock.Add(11 * time.Minute)
	if got := vanish(3); got != 7 || held() {
		t.Fatalf("three more are gone, ten minutes later: %d VIMs are left, held %t; want 7", got, held())
	}
	if got := vanish(1); got != 7 || !held() {
		t.Errorf("one more, and the release was long ago: %d VIMs are left, held %t; want 7, held", got, held())
	}
}

// TestHowManyMayGoIsASetting, for sites that make and delete many.
func TestHowManyMayGoIsASetting(t *testing.T) {
	for _, c := range []struct{ max, share, left int }{{1, 10, 6}, {5, 10, 1}, {1, 90, 1}} {
		b := newBench(t, func(m *onboard.Settings) { m.MaxGone, m.MaxGoneShare = c.max, c.share })
		for i := range 6 {
			b.cluster("a", fmt.Sprint("c", i))
			b.look("a", fmt.Sprint("c", i))
		}
		for i := range 5 {
			b.source.drop("a", fmt.Sprint("c", i))
		}
		for range 2 {
			for i := range 5 {
				b.look("a", fmt.Sprint("c", i))
			}
			b.clock.Add(onboard.Settled)
		}
		if got := len(b.vims()); got != c.left {
			t.Errorf("at most %d or %d %%: %d VIMs are left, want %d", c.max, c.share, got, c.left)
		}
	}
	m := onboard.Settings{Namespaces: []string{"a"}, Projects: map[string]string{"": "north"}}
	for _, c := range []struct {
		max, share int
		field      string
	}{{-1, 20, "maxGone"}, {1, 101, "maxGoneShare"}, {1, -1, "maxGoneShare"}, {1, 100, ""}, {1, 1, ""}} {
		m.MaxGone, m.MaxGoneShare = c.max, c.share
		var e *broker.Error
		if err := m.Complete(); (err != nil) != (c.field != "") || err != nil && (!errors.As(err, &e) || e.Field != c.field) {
			t.Errorf("Complete() with %d and %d = %v, want a fault of %q", c.max, c.share, err, c.field)
		}
	}
}

// TestADrainIsNotRecordedAgainAndAgain: a VIM that cannot be tidied rests, and its cluster writes nothing meanwhile.
func TestADrainIsNotRecordedAgainAndAgain(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	b.lease(alice, c.VIM)
	kube := b.kube("a/edge")
	kube.Fail(fake.Fault{Method: "DELETE", Kind: fake.Refuse, Status: http.StatusServiceUnavailable, Times: -1})
	b.source.drop("a", "edge")
	b.gone("a", "edge")
	b.want("a", "edge", onboard.StateRetiring, onboard.ReasonDraining)
	count := func() int {
		t.Helper()
		entries, err := b.store.Entries(t.Context(), audit.Query{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := count()
	kube.Requests()
	for range 10 {
		b.clock.Add(onboard.Settled)
		if again := b.look("a", "edge"); again <= 0 {
			t.Fatal("nobody looks again")
		}
	}
	if got := count() - before; got != 0 {
		t.Errorf("%d entries were written by looks at a VIM that drains", got)
	}
	if asked := kube.Requests(); len(asked) != 0 {
		t.Errorf("it was asked %d times", len(asked))
	}
	b.clock.Add(onboard.SilentFor)
	if first, second := b.look("a", "edge"), b.look("a", "edge"); second <= first/2 {
		t.Errorf("it is looked at again after %s, then after %s", first, second)
	}
}

// TestASystemIsOneClusters: a tenant's secret that names another's endpoint, or the
// management cluster, makes no VIM.
func TestASystemIsOneClusters(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.look("a", "edge")
	thief := b.cluster("b", "thief")
	b.secret(thief, b.kube("a/edge").Kubeconfig())
	b.look("b", "thief")
	b.want("b", "thief", onboard.StateQuarantined, onboard.ReasonSystemTaken)
	self := b.cluster("b", "self")
	b.secret(self, b.kube("hub").Kubeconfig())
	b.look("b", "self")
	b.want("b", "self", onboard.StateQuarantined, onboard.ReasonSystemTaken)
	if got := b.vims(); len(got) != 1 {
		t.Errorf("%d VIMs, want 1", len(got))
	}
}

// TestARegistrationThatDiedHalfWay is gone on with, and makes one VIM, whatever became of
// the secret meanwhile.
func TestARegistrationThatDiedHalfWay(t *testing.T) {
	for name, rotated := range map[string]bool{"the same secret": false, "another secret": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := b.cluster("a", "edge")
			b.look("a", "edge")
			c := b.want("a", "edge", onboard.StateRegistered, "")
			vim := c.VIM
			b.halfWay(c)
			if rotated {
				b.secret(s, b.kube("a/edge").Anew())
			}
			b.watch()
			b.look("a", "edge")
			c = b.want("a", "edge", onboard.StateRegistered, "")
			if got := b.vims(); len(got) != 1 || c.VIM != vim || c.System != b.kube("a/edge").Identity() {
				t.Errorf("%d VIMs, the cluster's is another: %t", len(got), c.VIM != vim)
			}
			if v := b.vim(vim); rotated && v.Current.Number != 2 {
				t.Error("what the secret says now was not adopted")
			}
			used, err := b.store.KeysInUse(t.Context(), vim)
			if err != nil || len(used) != 1 {
				t.Errorf("%d keys, %v, want 1", len(used), err)
			}
		})
	}
}

// halfWay has a cluster's row stand as where a process was killed after the VIM was registered.
func (b *bench) halfWay(c onboard.Cluster) {
	b.t.Helper()
	e := audit.Entry{Time: b.clock.Now(), Principal: "test", Action: "cluster:follow", Outcome: audit.Done}
	for _, to := range []onboard.State{onboard.StateQuarantined, onboard.StateRetired} {
		if _, err := b.store.UpdateCluster(b.t.Context(), c.ID, func(c *onboard.Cluster) error { c.State = to; return nil }, e); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := b.store.ForgetCluster(b.t.Context(), c.ID); err != nil {
		b.t.Fatal(err)
	}
	c.State, c.VIM, c.System = onboard.StateRegistering, "", ""
	if err := b.store.AddCluster(b.t.Context(), c, e); err != nil {
		b.t.Fatal(err)
	}
}

// TestARegistrationThatDiedAndItsClusterToo: the VIM that nobody has noted goes with the cluster.
func TestARegistrationThatDiedAndItsClusterToo(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.look("a", "edge")
	b.halfWay(b.want("a", "edge", onboard.StateRegistered, ""))
	b.source.drop("a", "edge")
	b.watch()
	b.gone("a", "edge")
	b.want("a", "edge", onboard.StateRetired, "")
	if got := b.vims(); len(got) != 0 {
		t.Errorf("%d VIMs are left of a cluster that is gone", len(got))
	}
}

// TestAVIMThatAPersonMadeStays, whatever labels it has: it is none that a registration left.
func TestAVIMThatAPersonMadeStays(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	b.halfWay(c)
	if _, gone, err := b.DeleteVIM(t.Context(), alice, c.VIM, broker.Deletion{}); err != nil || !gone {
		t.Fatal(gone, err)
	}
	if _, err := b.RegisterVIM(t.Context(), root, broker.Registration{
		Name: "mine", Project: "north", Kubeconfig: secret.NewText(b.kube("mine").Kubeconfig()),
		Labels: map[string]string{broker.LabelCluster: c.UID, broker.LabelManagement: b.hub.ID},
	}); err != nil {
		t.Fatal(err)
	}
	b.source.drop("a", "edge")
	b.watch()
	b.gone("a", "edge")
	b.want("a", "edge", onboard.StateRetired, "")
	if got := b.vims(); len(got) != 1 || got[0].State != broker.VIMRegistered {
		t.Errorf("%d VIMs are left, want the one that a person made", len(got))
	}
}

// TestNoVIMIsMadeOf a cluster that is paused or being deleted when it becomes ready.
func TestNoVIMIsMadeOf(t *testing.T) {
	for why, change := range map[onboard.ClusterReason]func(*onboard.Seen){
		onboard.ReasonPaused:   func(s *onboard.Seen) { s.Paused = true },
		onboard.ReasonDeleting: func(s *onboard.Seen) { s.Deleting = true },
	} {
		b := newBench(t)
		s := b.cluster("a", "edge")
		s.Ready = false
		b.source.put(s)
		b.look("a", "edge")
		b.want("a", "edge", onboard.StateWaiting, onboard.ReasonNotReady)
		s.Ready = true
		change(&s)
		b.source.put(s)
		b.look("a", "edge")
		b.want("a", "edge", onboard.StateWaiting, why)
		if got := b.vims(); len(got) != 0 || b.source.reads != 0 {
			t.Errorf("%s: %d VIMs, %d secrets were read", why, len(got), b.source.reads)
		}
	}
}

// TestOnlySelectedClustersAreFollowed: a cluster without the labels makes no row, and one that
// loses them keeps its VIM as it is.
func TestOnlySelectedClustersAreFollowed(t *testing.T) {
	b := newBench(t, func(m *onboard.Settings) { m.Selector = map[string]string{"tier": "edge"} })
	b.cluster("a", "other")
	b.look("a", "other")
	if got := b.rows("a", "other"); len(got) != 0 {
		t.Errorf("a cluster without the label made %d rows", len(got))
	}
	s := b.cluster("a", "edge")
	s.Labels = map[string]string{"tier": "edge"}
	b.source.put(s)
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	s.Labels, s.Paused = map[string]string{"tier": "core"}, true
	b.source.put(s)
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, onboard.ReasonNotSelected)
	if v := b.vim(c.VIM); v.Suspended != "" {
		t.Error("its VIM follows it still")
	}
}

// TestAClusterThatIsSeenAsItGoes makes no row.
func TestAClusterThatIsSeenAsItGoes(t *testing.T) {
	b := newBench(t)
	s := b.cluster("a", "edge")
	s.Deleting = true
	b.source.put(s)
	b.look("a", "edge")
	if got := b.rows("a", "edge"); len(got) != 0 {
		t.Errorf("it made %d rows", len(got))
	}
}

// TestAVIMThatSomebodyDeletes is left alone until it is gone.
func TestAVIMThatSomebodyDeletes(t *testing.T) {
	b := newBench(t)
	s := b.cluster("a", "edge")
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	b.lease(alice, c.VIM)
	b.kube("a/edge").Fail(fake.Fault{Method: "DELETE", Kind: fake.Refuse, Status: http.StatusServiceUnavailable, Times: -1})
	if _, gone, err := b.DeleteVIM(t.Context(), alice, c.VIM, broker.Deletion{Drain: true}); err != nil || gone {
		t.Fatal(gone, err)
	}
	s.Paused = true // which would be a change of the VIM
	b.source.put(s)
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, onboard.ReasonDraining)
}

// TestARestartAsksForNothing: whoever begins to watch clusters that are VIMs and well reads no
// secret, asks no cluster, and writes no row, in whatever order clusters and secrets are shown; a
// secret that has gone meanwhile is missed.
func TestARestartAsksForNothing(t *testing.T) {
	b := newBench(t)
	names := []string{"one", "two", "three"}
	for _, name := range names {
		b.cluster("a", name)
		b.look("a", name)
		b.want("a", name, onboard.StateRegistered, "")
		b.look("a", name) // its VIM was changed by its registration
		b.kube("a/" + name).Requests()
	}
	counts, err := b.store.Entries(t.Context(), audit.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	reads := b.source.reads
	for _, secretsFirst := range []bool{false, true} {
		w, err := b.Onboarding.Watch(t.Context(), b.m, b.hub)
		if err != nil {
			t.Fatal(err)
		}
		shows := []func(){
			func() { w.Sight("a").Clusters(b.source.all("a")) },
			func() { w.Sight("a").Secrets(b.source.versions("a")) },
		}
		if secretsFirst {
			slices.Reverse(shows)
		}
		for _, show := range shows {
			show()
			for _, name := range names {
				before := b.row("a", name)
				if again, err := w.Step(t.Context(), "a", name); err != nil || again != 0 {
					t.Errorf("Step(%s) = %v, %v", name, again, err)
				}
				if now := b.row("a", name); now != before {
					t.Errorf("%s is stored as %+v, was %+v", name, now, before)
				}
				if asked := b.kube("a/" + name).Requests(); len(asked) != 0 {
					t.Errorf("%s is asked %d times", name, len(asked))
				}
			}
		}
	}
	now, err := b.store.Entries(t.Context(), audit.Query{Limit: 1000})
	if err != nil || len(now) != len(counts) || b.source.reads != reads {
		t.Errorf("%d entries were written and %d secrets read, %v", len(now)-len(counts), b.source.reads-reads, err)
	}
	delete(b.source.secrets, "a/two-kubeconfig")
	w, err := b.Onboarding.Watch(t.Context(), b.m, b.hub)
	if err != nil {
		t.Fatal(err)
	}
	w.Sight("a").Clusters(b.source.all("a"))
	for range names {
		w.Look(t.Context())
	}
	w.Sight("a").Secrets(b.source.versions("a"))
	for range names {
		w.Look(t.Context())
	}
	b.want("a", "two", onboard.StateRegistered, onboard.ReasonSecretMissing)
	b.want("a", "one", onboard.StateRegistered, "")
}

// TestOtherSecretsOfAClusterAreNotRead: its CA and its own users' secrets have its label, too.
func TestOtherSecretsOfAClusterAreNotRead(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, "")
	reads := b.source.reads
	for _, name := range []string{"edge-ca", "edge-etcd", "edge-proxy", "edge-sa", "edge-user-kubeconfig"} {
		b.source.putSecret("a", name, onboard.ClusterSecret{SecretVersion: onboard.SecretVersion{Cluster: "edge"}})
		b.look("a", "edge") // as a list shows them
		b.w.Sight("a").Secret(onboard.SecretVersion{Name: name, Cluster: "edge", Version: name})
		if _, err := b.w.Step(t.Context(), "a", "edge"); err != nil { // as a watch does
			t.Fatal(err)
		}
	}
	if b.source.reads != reads {
		t.Errorf("secrets were read %d times for others of the cluster", b.source.reads-reads)
	}
}

// TestAFailedRegistrationIsTriedAgain: a cluster that did not answer at first is registered
// when it does, and a name that was taken when it is free.
func TestAFailedRegistrationIsTriedAgain(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.kube("a/edge").FailNext("GET", "/", 503, 1)
	if again := b.look("a", "edge"); again <= 0 {
		t.Error("nobody tries again")
	}
	b.want("a", "edge", onboard.StateWaiting, onboard.ReasonUnreachable)
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, "")

	squatter, err := b.RegisterVIM(t.Context(), root, broker.Registration{
		Name: "a.late", Project: "north", Kubeconfig: secret.NewText(b.kube("squatter").Kubeconfig()),
	})
	if err != nil {
		t.Fatal(err)
	}
	b.cluster("a", "late")
	if again := b.look("a", "late"); again <= 0 {
		t.Error("nobody tries again")
	}
	b.want("a", "late", onboard.StateWaiting, onboard.ReasonNameTaken)
	if _, _, err := b.DeleteVIM(t.Context(), root, squatter.ID, broker.Deletion{}); err != nil {
		t.Fatal(err)
	}
	b.look("a", "late")
	b.want("a", "late", onboard.StateRegistered, "")
}

// TestAVIMThatWasDeletedByHand is registered again: what Cluster API says counts.
func TestAVIMThatWasDeletedByHand(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.look("a", "edge")
	c := b.want("a", "edge", onboard.StateRegistered, "")
	if _, gone, err := b.DeleteVIM(t.Context(), alice, c.VIM, broker.Deletion{}); err != nil || !gone {
		t.Fatal(err)
	}
	b.look("a", "edge")
	b.look("a", "edge")
	again := b.want("a", "edge", onboard.StateRegistered, "")
	if again.VIM != c.VIM {
		t.Error("it is another VIM")
	}
	// Its system is the one that it had.
	if _, gone, err := b.DeleteVIM(t.Context(), alice, again.VIM, broker.Deletion{}); err != nil || !gone {
		t.Fatal(err)
	}
	b.secret(b.source.clusters["a/edge"], b.kube("elsewhere").Kubeconfig())
	b.look("a", "edge")
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateQuarantined, onboard.ReasonOtherSystem)
}

// TestClustersAreSeenByTheirProject: foreign is not found.
func TestClustersAreSeenByTheirProject(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.cluster("b", "edge")
	b.look("a", "edge")
	b.look("b", "edge")
	for _, c := range []struct {
		p    policy.Principal
		want int
	}{{root, 2}, {alice, 1}, {bob, 1}, {policy.Principal{Name: "eve", Project: "east", Roles: []string{policy.RoleMember}}, 0}} {
		found, _, err := b.Clusters(t.Context(), c.p, onboard.ClusterQuery{})
		if err != nil || len(found) != c.want {
			t.Errorf("%s sees %d clusters, %v, want %d", c.p.Name, len(found), err, c.want)
		}
		for _, view := range found {
			if view.VIMName != view.Namespace+".edge" || view.Health.Status != broker.HealthReachable {
				t.Errorf("the VIM of %s/%s is %q, %s", view.Namespace, view.Name, view.VIMName, view.Health.Status)
			}
		}
	}
	foreign := b.row("b", "edge")
	_, err := b.Cluster(t.Context(), alice, foreign.ID)
	wantKind(t, "another project's cluster", err, broker.ErrNotFound)
	if _, err := b.Cluster(t.Context(), bob, foreign.ID); err != nil {
		t.Errorf("the own project's cluster: %v", err)
	}
	_, err = b.Enable(t.Context(), alice, "hub", b.m.Settings)
	wantKind(t, "enabling another's VIM", err, broker.ErrNotFound)
	_, err = b.Enable(t.Context(), policy.Principal{Name: "dora", Project: "default", Roles: []string{policy.RoleMember}}, "hub", b.m.Settings)
	wantKind(t, "a member's enabling", err, broker.ErrDenied)
	_, err = b.Enable(t.Context(), policy.Principal{Name: "pa", Project: "default", Roles: []string{policy.RoleProjectAdmin}}, "hub", b.m.Settings)
	wantKind(t, "enabling into projects of others", err, broker.ErrDenied)
}

// TestManagementClustersAreSeenByTheirProject: who may see the VIM and not the clusters of its
// project does not see how they become VIMs.
func TestManagementClustersAreSeenByTheirProject(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.look("a", "edge")
	foreign := func(what string) {
		t.Helper()
		if all, err := b.Managements(t.Context(), alice); err != nil || len(all) != 0 {
			t.Errorf("%s: the list is %v, %v", what, all, err)
		}
		_, err := b.Management(t.Context(), alice, "hub")
		if !errors.Is(err, broker.ErrNotFound) && !errors.Is(err, broker.ErrDenied) {
			t.Errorf("%s: Management() = %v", what, err)
		}
	}
	foreign("another project's VIM")
	_, _, err := b.Clusters(t.Context(), alice, onboard.ClusterQuery{Management: "hub"})
	wantKind(t, "the clusters of another project's VIM", err, broker.ErrNotFound)
	if _, err := b.UpdateVIM(t.Context(), root, "hub", broker.Change{SharedWith: &[]string{"north"}}); err != nil {
		t.Fatal(err)
	}
	foreign("a VIM that is shared")
	if found, _, err := b.Clusters(t.Context(), alice, onboard.ClusterQuery{Management: "hub"}); err != nil || len(found) != 1 {
		t.Errorf("of the clusters of a VIM that is shared the own project's are %v, %v", found, err)
	}
	carol := policy.Principal{Name: "carol", Project: "default", Roles: []string{policy.RoleReader}}
	if all, err := b.Managements(t.Context(), carol); err != nil || len(all) != 1 || all[0].Name != "hub" {
		t.Errorf("the own project's list is %v, %v", all, err)
	}
	if m, err := b.Management(t.Context(), carol, "hub"); err != nil || m.VIM != b.hub.ID {
		t.Errorf("the own project's is %v, %v", m, err)
	}
	// What is looked at is recorded, and what is looked for and not found.
	rita := policy.Principal{Name: "rita", Project: "north", Roles: []string{policy.RoleReader}}
	for id, want := range map[string]error{b.row("a", "edge").ID: nil, "00000000-0000-4000-8000-000000000000": broker.ErrNotFound} {
		if _, err := b.Cluster(t.Context(), rita, id); !errors.Is(err, want) {
			t.Errorf("Cluster(%s) = %v, want %v", id, err, want)
		}
	}
	entries, err := b.store.Entries(t.Context(), audit.Query{Principal: "rita", Limit: 100})
	outcomes := map[audit.Outcome]int{}
	for _, e := range entries {
		if e.Action == policy.ClusterShow {
			outcomes[e.Outcome]++
		}
	}
	if err != nil || outcomes[audit.Read] != 1 || outcomes[audit.Denied] != 1 {
		t.Errorf("the audit log has her looks with the outcomes %v, %v", outcomes, err)
	}
}

// TestNoSecretOfAClusterShows: not in log, rows, audit log or messages.
func TestNoSecretOfAClusterShows(t *testing.T) {
	b := newBench(t)
	s := b.cluster("a", "edge")
	kube := b.kube("a/edge")
	b.look("a", "edge")
	b.secret(s, strings.Replace(kube.Kubeconfig(), "namespace: default", "namespace: [default]", 1))
	b.look("a", "edge")
	b.secret(s, b.kube("elsewhere").Kubeconfig())
	b.look("a", "edge")
	b.source.drop("a", "edge")
	b.gone("a", "edge")
	b.want("a", "edge", onboard.StateRetired, "")
	var text strings.Builder
	text.WriteString(b.log.String())
	for name, content := range files(t, b.dir) {
		if !strings.Contains(name, "/keys/") {
			text.Write(content)
		}
	}
	for _, secret := range []string{kube.AdminToken, b.kube("elsewhere").AdminToken} {
		if strings.Contains(text.String(), secret) {
			t.Error("a credential of a cluster stands in the log or the database")
		}
	}
	if !strings.Contains(text.String(), "a cluster is quarantined") {
		t.Error("the log is empty: the test proves nothing")
	}
}

func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		all[path], err = os.ReadFile(path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestWhatOthersAreTold: a cluster's life, as events of the entries that were really written.
func TestWhatOthersAreTold(t *testing.T) {
	b := newBench(t, func(m *onboard.Settings) { m.CopyLabels = []string{"site"} })
	s := b.cluster("a", "edge")
	s.Labels = map[string]string{"site": "x"}
	b.source.put(s)
	b.look("a", "edge")
	vim := b.want("a", "edge", onboard.StateRegistered, "").VIM
	kube := b.kube("a/edge")
	b.secret(s, kube.Anew())
	b.look("a", "edge")
	b.secret(s, b.kube("elsewhere").Kubeconfig())
	b.look("a", "edge")
	b.secret(s, "\x00{{")
	b.look("a", "edge")
	b.secret(s, kube.Kubeconfig())
	b.look("a", "edge")
	s.Paused = true
	b.source.put(s)
	for range 3 {
		b.look("a", "edge")
	}
	s.Paused = false
	b.source.put(s)
	for range 3 {
		b.look("a", "edge")
	}
	if _, gone, err := b.DeleteVIM(t.Context(), alice, vim, broker.Deletion{}); err != nil || !gone {
		t.Fatal(gone, err)
	}
	b.look("a", "edge")
	b.look("a", "edge")
	b.source.drop("a", "edge")
	b.gone("a", "edge")
	b.want("a", "edge", onboard.StateRetired, "")
	forged := b.cluster("a", "forged")
	b.secret(forged, kube.AdminToken)
	b.look("a", "forged")
	entries, err := b.store.Entries(t.Context(), audit.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(entries, func(a, b audit.Entry) int { return int(a.Seq - b.Seq) })
	var told []string
	for _, e := range entries {
		v, ok := onboard.EventOf(e)
		if !ok {
			continue
		}
		told = append(told, fmt.Sprint(v.Kind, " ", v.Cluster, " ", v.Reason))
		if v.Project != "north" || v.ManagementCluster != b.hub.ID || v.Cluster == "a/edge" && (v.VIM != vim || v.Name != "a.edge" || v.Labels["cluster/site"] != "x") {
			t.Errorf("%s is told of %+v", v.Kind, v)
		}
	}
	want := []string{
		"vim.registered a/edge ", "vim.updated a/edge ", "vim.quarantined a/edge otherSystem", "vim.quarantined a/edge secretInvalid",
		"vim.updated a/edge ", "vim.suspended a/edge paused", "vim.resumed a/edge ", "vim.retired a/edge ", "vim.registered a/edge ", "vim.retired a/edge ",
		"vim.quarantined a/forged secretInvalid",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// TestWhatTellsNothing: of entries that are like those of events.
func TestWhatTellsNothing(t *testing.T) {
	told := func(change func(*audit.Entry)) (onboard.ClusterEventKind, bool) {
		e := audit.Entry{Principal: "system:onboard", Action: policy.ClusterFollow, Kind: policy.KindVIM, Resource: "hub", Outcome: audit.Done, Detail: map[string]string{
			"cluster": "a/edge", "clusterVIM": "v", "old.state": "registering", "new.state": "registered",
		}}
		change(&e)
		v, ok := onboard.EventOf(e)
		return v.Kind, ok
	}
	states := func(e *audit.Entry, from, to, secret string) {
		e.Detail["old.state"], e.Detail["new.state"], e.Detail["new.secret"] = from, to, secret
	}
	for name, c := range map[string]struct {
		change func(*audit.Entry)
		want   onboard.ClusterEventKind
	}{
		"registered":                           {func(*audit.Entry) {}, onboard.EventRegistered},
		"registered with a secret":             {func(e *audit.Entry) { states(e, "registering", "registered", "2") }, onboard.EventRegistered},
		"a person's":                           {func(e *audit.Entry) { e.Principal = "root" }, ""},
		"of another action":                    {func(e *audit.Entry) { e.Action = policy.VIMRegister }, ""},
		"an intent":                            {func(e *audit.Entry) { e.Outcome = audit.Intent }, ""},
		"believed again":                       {func(e *audit.Entry) { states(e, "quarantined", "registered", "") }, ""},
		"believed again, by another secret":    {func(e *audit.Entry) { states(e, "quarantined", "registered", "2") }, onboard.EventUpdated},
		"begun again":                          {func(e *audit.Entry) { states(e, "waiting", "registering", "2") }, ""},
		"quarantined by a secret":              {func(e *audit.Entry) { states(e, "registered", "quarantined", "2") }, onboard.EventQuarantined},
		"retired":                              {func(e *audit.Entry) { states(e, "retiring", "retired", "") }, onboard.EventRetired},
		"retired before it was a VIM":          {func(e *audit.Entry) { states(e, "waiting", "retired", ""); delete(e.Detail, "clusterVIM") }, ""},
		"another secret before it was a VIM":   {func(e *audit.Entry) { states(e, "", "", "2"); delete(e.Detail, "clusterVIM") }, ""},
		"its VIM is being deleted":             {func(e *audit.Entry) { states(e, "registered", "retiring", "") }, ""},
		"its VIM was deleted by somebody else": {func(e *audit.Entry) { states(e, "registered", "waiting", "") }, onboard.EventRetired},
	} {
		if kind, ok := told(c.change); kind != c.want || ok != (c.want != "") {
			t.Errorf("%s tells %q, %t, want %q", name, kind, ok, c.want)
		}
	}
}
