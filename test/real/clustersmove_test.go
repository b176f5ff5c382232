package real_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// TestFieldClustersRotateMoveAndHang: with the real Cluster API, leases of before a new authority end through it; a cluster
// that moves between two management clusters, as "clusterctl move" moves it, stays the VIM that it is, with its leases and
// its VNF instance; a management cluster that hangs is seen within a minute, and a namespace that is not there stops no other;
// a lease that the management cluster refuses (401), a history that it has forgotten (410) and a kind that it serves no more
// (404) remove nothing, and end by themselves.
func TestFieldClustersRotateMoveAndHang(t *testing.T) {
	field.Only(t)
	o := startOnboarding(t)
	ctx := t.Context()
	edge := real.OwnKubernetes(t)
	front := real.NewCut(t, strings.TrimPrefix(edge.Endpoint, "https://"))
	o.create("edge", edge)
	o.write("edge", strings.ReplaceAll(edge.NewKubeconfig(t), edge.Endpoint, "https://"+front.Addr()))
	first := o.await("edge", "registered", in("registered", ""))
	before, moved, away := o.lease(first.VIM, edge), o.lease(first.VIM, edge), o.lease(first.VIM, edge)
	dead := func(lease, what string) {
		t.Helper()
		began := time.Now()
		if _, err := o.RevokeLease(ctx, lease); err != nil {
			t.Fatal(err)
		}
		if !real.Poll(t, time.Minute, func() bool {
			l, err := o.Lease(ctx, lease)
			return err == nil && l.State == "revoked" && !l.ConfirmedDeadAt.IsZero()
		}) {
			t.Errorf("a lease of before %s is not revoked, and dead", what)
		}
		t.Logf("a lease of before %s is dead %s after it was revoked", what, time.Since(began).Round(time.Millisecond))
	}

	front.Refuse()
	o.write("edge", edge.NewKubeconfig(t))
	o.await("edge", "known at its next address", func(w v1.WorkloadCluster) bool {
		v, err := o.VIM(ctx, w.VIM)
		return err == nil && v.Endpoint == edge.Endpoint && in("registered", "")(w)
	})
	dead(away, "the next address")
	o.claimed(edge, first)

	must := o.instance(edge, "tenant.edge")

	edge.ReplaceCA(t)
	o.write("edge", edge.NewKubeconfig(t))
	o.await("edge", "known by its next authority", func(w v1.WorkloadCluster) bool {
		v, err := o.VIM(ctx, w.VIM)
		return err == nil && strings.TrimSpace(v.CACert) == strings.TrimSpace(edge.CAPEM) && in("registered", "")(w)
	})
	dead(before, "the next authority")

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
	began := time.Now()
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

	must("vnf heal runs --wait")
	if shown := must("vnf show runs"); !strings.Contains(shown, "tenant.edge") || !strings.Contains(shown, "INSTANTIATED") {
		t.Errorf("after the move the instance is\n%s", shown)
	}
	must("vnf terminate runs --wait")
	if left := edge.Run(t, "", "-n", "runs", "get", "configmaps", "-o", "name"); strings.Contains(left, "configmap/a\n") {
		t.Errorf("the instance leaves %s", left)
	}

	o.refused(target, hub2.ID)
	if _, err := o.RenewLease(ctx, moved, v1.Renewal{}); err != nil {
		t.Errorf("a lease is not renewed although nothing is known to be gone: %v", err)
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

// claimed has a server of another project's claim to be a cluster's system: neither is refused, and each is its own VIM.
func (o *onboarded) claimed(edge *real.Cluster, of v1.WorkloadCluster) {
	o.t.Helper()
	o.hub.Run(o.t, "", "create", "namespace", "others")
	o.hub.ApplyText(o.t, o.shell().Must(o.t, "vimbroker management-cluster enable hub --namespaces others"+
		" --control-planes toycontrolplanes.controlplane.cluster.x-k8s.io --project others --print-rbac"))
	o.shell().Must(o.t, "vimbroker management-cluster enable hub --namespaces tenant,others --project others=other --project default")
	uid := edge.Run(o.t, "", "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")
	fake := fakekube.New(o.t, fakekube.Options{})
	fake.Update("namespaces", "", "kube-system", func(n metav1.Object) { n.SetUID(types.UID(uid)) })
	theirs := *o
	theirs.namespace = "others"
	theirs.create("claims", edge)
	theirs.write("claims", fake.Kubeconfig())
	c := o.await("claims", "registered", in("registered", ""))
	if c.Project != "other" || c.VIM == of.VIM {
		o.t.Errorf("what claims to be the system is VIM %s of project %s", c.VIM, c.Project)
	}
	if now := o.await("edge", "registered", in("registered", "")); now.VIM != of.VIM {
		o.t.Errorf("the cluster is VIM %s, was %s", now.VIM, of.VIM)
	}
	o.lease(of.VIM, edge)
}

// instance instantiates a VNF on a cluster, as runs, and returns what runs a command.
func (o *onboarded) instance(c *real.Cluster, vim string) func(line string) string {
	o.t.Helper()
	shell := o.shell()
	must := func(line string) string {
		o.t.Helper()
		return shell.Must(o.t, "vimbroker "+line)
	}
	if err := os.Mkdir(filepath.Join(o.dir, "vnf"), 0o700); err != nil {
		o.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.dir, "vnf", "a.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"), 0o600); err != nil {
		o.t.Fatal(err)
	}
	c.Run(o.t, "", "create", "namespace", "runs")
	must("package create vnf --vnfd runs --out runs.csar")
	must("package upload runs.csar")
	must("vnf create --vnfd runs runs")
	must("vnf instantiate runs --vim " + vim + " --namespace runs --wait")
	return must
}

// refused has a management cluster refuse the watch in each way that says nothing of its clusters.
func (o *onboarded) refused(hub *real.Cluster, id string) {
	o.t.Helper()
	ctx := o.t.Context()
	lease := func() string {
		found, err := o.Leases(ctx, client.LeaseQuery{VIM: id, State: "active"})
		if err != nil || len(found.Items) != 1 {
			return ""
		}
		return found.Items[0].ID
	}
	follows := func(what string) { // a change is seen
		o.t.Helper()
		for _, paused := range []string{"true", "false"} {
			hub.Run(o.t, "", "-n", "tenant", "patch", "cluster", "edge", "--type=merge", "-p", `{"spec":{"paused":`+paused+`}}`)
			reason := map[string]string{"true": "paused"}[paused]
			o.await("edge", "followed "+what, func(w v1.WorkloadCluster) bool { return w.ManagementCluster == id && in("registered", reason)(w) })
		}
	}
	before := lease()
	homes := hub.Run(o.t, "", "get", "namespaces", "-l", "app.kubernetes.io/managed-by=vimbroker", "-o", "name")
	for home := range strings.FieldsSeq(homes) {
		hub.Run(o.t, "", "-n", strings.TrimPrefix(home, "namespace/"), "delete", "serviceaccounts", "-l", "app.kubernetes.io/managed-by=vimbroker")
	}
	if !real.Poll(o.t, 2*time.Minute, func() bool { now := lease(); return now != "" && now != before }) {
		o.t.Error("a lease that is refused (401) is not replaced")
	}
	follows("after 401")

	hub.Run(o.t, "", "-n", "tenant", "label", "cluster", "edge", "site=south", "--overwrite")
	hub.Restart(o.t) // what it keeps in mind of the past begins now: older versions are 410
	follows("after 410")

	hub.Run(o.t, "", "delete", "crd", "clusters.cluster.x-k8s.io", "--wait=false")
	hub.Run(o.t, "", "-n", "tenant", "patch", "cluster", "edge", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	if !real.Poll(o.t, time.Minute, func() bool {
		return !strings.Contains(hub.Run(o.t, "", "get", "crd", "-o", "name"), "/clusters.cluster.x-k8s.io")
	}) {
		o.t.Error("the kind is still served")
	}
	c := o.await("edge", "doubted", func(w v1.WorkloadCluster) bool { return w.ManagementCluster == id && w.Reason == "doubtful" })
	if v, err := o.VIM(ctx, c.VIM); err != nil || v.State != "registered" {
		o.t.Errorf("without the kind (404) the VIM is %s, %v", v.State, err)
	}
}

// TestFieldControlPlanesOfOthers: without a setting the clusters of all known providers come in, of one that is installed later
// too. One that the stored credential may not read keeps no other out, says so, and comes in once the credential may.
func TestFieldControlPlanesOfOthers(t *testing.T) {
	field.Only(t)
	hub := real.OwnKubernetes(t)
	hub.InstallClusterAPI(t)
	hub.Run(t, "", "create", "namespace", "tenant")
	hub.DefineControlPlane(t, "RKE2ControlPlane")
	hub.DefineControlPlane(t, "TalosControlPlane")
	o := &onboarded{t: t, hub: hub, bin: story.Build(t, t.TempDir()), dir: process.TempDir(t, "vimbroker-planes-")}
	o.start()
	shell := o.shell()
	hub.ApplyText(t, shell.Must(t, "vimbroker vim rbac"))
	kubeconfig, err := hub.AccountKubeconfig(t.Context(), rbac.Namespace, rbac.Account)
	if err != nil {
		t.Fatal(err)
	}
	shell.Must(t, "vimbroker vim register --kubeconfig "+kubeconfig+" hub")
	enable := "vimbroker management-cluster enable hub --namespaces tenant --project default"
	narrow := " --control-planes taloscontrolplanes.controlplane.cluster.x-k8s.io --control-planes kamajicontrolplanes.controlplane.cluster.x-k8s.io"
	hub.ApplyText(t, shell.Must(t, enable+narrow+" --print-rbac"))
	shell.Must(t, enable)
	comes := func(kind string, c *real.Cluster, so func(v1.WorkloadCluster) bool) v1.WorkloadCluster {
		t.Helper()
		o.plane = kind
		name := strings.ToLower(kind)
		o.create(name, c)
		o.write(name, c.NewKubeconfig(t))
		began := time.Now()
		got := o.await(name, "as it is to be", so)
		t.Logf("%s is %s (%s) after %s: %s", kind, got.State, got.Reason, time.Since(began).Round(time.Second), got.Message)
		return got
	}
	comes("TalosControlPlane", real.OwnKubernetes(t), in("registered", ""))
	other := comes("RKE2ControlPlane", real.OwnKubernetes(t), func(c v1.WorkloadCluster) bool { return c.Reason == "unavailable" })
	if !strings.Contains(other.Message, "rke2controlplanes.controlplane.cluster.x-k8s.io, which the credential of the management cluster may not read") {
		t.Errorf("a cluster whose control plane the credential may not read says %q", other.Message)
	}
	hub.DefineControlPlane(t, "KamajiControlPlane")
	comes("KamajiControlPlane", real.OwnKubernetes(t), in("registered", ""))
	hub.ApplyText(t, shell.Must(t, enable+" --print-rbac"))
	began := time.Now()
	o.await("rke2controlplane", "registered", in("registered", ""))
	t.Logf("it comes in %s after its credential may read it", time.Since(began).Round(time.Second))
	m, err := o.ManagementCluster(t.Context(), "hub")
	if err != nil || m.Trouble != "" {
		t.Errorf("the management cluster has trouble: %q, %v", m.Trouble, err)
	}
	if leases := shell.Must(t, "vimbroker lease list --vim hub --state active -o json"); strings.Contains(leases, "kthreescontrolplanes") ||
		!strings.Contains(leases, "rke2controlplanes") {
		t.Errorf("the lease does not read what is served, or more: %s", leases)
	}
}

// TestFieldPreparedManagementCluster: a management cluster in prepared mode is followed by a credential that reads secrets in
// the named namespaces alone.
func TestFieldPreparedManagementCluster(t *testing.T) {
	field.Only(t)
	hub := real.OwnKubernetes(t)
	hub.InstallClusterAPI(t)
	hub.Run(t, "", "create", "namespace", "tenant")
	hub.ApplyText(t, `{apiVersion: v1, kind: Namespace, metadata: {name: ours}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: broker, namespace: ours}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reads-namespaces}
rules: [{apiGroups: [""], resources: [namespaces], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reads-namespaces}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reads-namespaces}
subjects: [{kind: ServiceAccount, name: broker, namespace: ours}]
`)
	o := &onboarded{t: t, hub: hub, bin: story.Build(t, t.TempDir()), dir: process.TempDir(t, "vimbroker-prepared-")}
	o.start()
	shell := o.shell()
	kubeconfig, err := hub.AccountKubeconfig(t.Context(), "ours", "broker")
	if err != nil {
		t.Fatal(err)
	}
	shell.Must(t, "vimbroker vim register --kubeconfig "+kubeconfig+" hub")
	hub.ApplyText(t, shell.Must(t, "vimbroker vim rbac hub --pool 2 --namespace tenant --namespace default"))
	enable := "vimbroker management-cluster enable hub --namespaces tenant --project default" +
		" --control-planes toycontrolplanes.controlplane.cluster.x-k8s.io"
	hub.ApplyText(t, shell.Must(t, enable+" --print-rbac"))
	shell.Must(t, "vimbroker vim check hub")
	shell.Must(t, enable)
	edge := real.OwnKubernetes(t)
	o.create("edge", edge)
	o.write("edge", edge.NewKubeconfig(t))
	c := o.await("edge", "registered", in("registered", ""))
	o.lease(c.VIM, edge)
	for namespace, want := range map[string]string{"tenant": "true", "kube-system": "false", "ours": "false"} {
		review := `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"system:serviceaccount:ours:broker",` +
			`"resourceAttributes":{"resource":"secrets","verb":"get","namespace":"` + namespace + `"}}}`
		if got := hub.Run(t, review, "create", "-f", "-", "-o", "jsonpath={.status.allowed}"); got != want {
			t.Errorf("the credential reads secrets in %s: %s, want %s", namespace, got, want)
		}
	}
}
