package real_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/real/pki"
	"github.com/vimbroker/vimbroker/test/story"
)

// onboarded is a broker with a management cluster on which the real Cluster API works.
type onboarded struct {
	*client.Client
	t      *testing.T
	broker *story.Broker
	hub    *real.Cluster
	bin    string
	dir    string
	// namespace is where clusters are made; empty is tenant. plane is the kind of their control planes; empty is ToyControlPlane.
	namespace, plane string
}

func (o *onboarded) where() string { return cmp.Or(o.namespace, "tenant") }

func (o *onboarded) planes() string { return cmp.Or(o.plane, "ToyControlPlane") }

// startOnboarding starts a broker, and enables the hub for namespace tenant, by its label. The hub's
// credential has the rights that the broker prints for that, and no others.
func startOnboarding(t *testing.T) *onboarded {
	t.Helper()
	hub := real.OwnKubernetes(t)
	hub.InstallClusterAPI(t)
	hub.Run(t, "", "create", "namespace", "tenant")
	o := &onboarded{t: t, hub: hub, bin: story.Build(t, t.TempDir()), dir: process.TempDir(t, "vimbroker-onboard-")}
	o.start()
	o.enable("hub", hub, "--namespace-selector kubernetes.io/metadata.name=tenant")
	return o
}

// enable registers a management cluster, and enables it for the namespaces of a flag.
func (o *onboarded) enable(name string, hub *real.Cluster, namespaces string) {
	o.t.Helper()
	t := o.t
	shell := o.shell()
	hub.ApplyText(t, shell.Must(t, "vimbroker vim rbac"))
	kubeconfig, err := hub.AccountKubeconfig(t.Context(), rbac.Namespace, rbac.Account)
	if err != nil {
		t.Fatal(err)
	}
	shell.Must(t, "vimbroker vim register --kubeconfig "+kubeconfig+" "+name)
	enable := "vimbroker management-cluster enable " + name + " " + namespaces + " --project default --copy-labels site" +
		" --control-planes toycontrolplanes.controlplane.cluster.x-k8s.io"
	hub.ApplyText(t, shell.Must(t, enable+" --print-rbac"))
	shell.Must(t, enable)
}

func (o *onboarded) shell() story.Shell {
	return story.Shell{Dir: o.dir, Env: []string{
		"HOME=" + o.dir, "PATH=" + filepath.Dir(o.bin) + ":" + os.Getenv("PATH"),
		"VIMBROKER_ADDR=" + o.broker.URL, "VIMBROKER_TOKEN_FILE=" + filepath.Join(o.dir, "data", "dev-token"),
	}}
}

// start starts the server, on the data of the one before.
func (o *onboarded) start() {
	o.t.Helper()
	data := filepath.Join(o.dir, "data")
	b, err := story.Serve(o.bin, o.dir, []string{"HOME=" + o.dir}, "--dev", "--listen", "127.0.0.1:0", "--data-dir", data, "--log-level", "debug")
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(b.Kill)
	token, err := os.ReadFile(filepath.Join(data, "dev-token"))
	if err != nil {
		o.t.Fatal(err)
	}
	o.broker = b
	if o.Client, err = client.New(client.Options{Addr: b.URL, Token: secret.NewText(strings.TrimSpace(string(token)))}); err != nil {
		o.t.Fatal(err)
	}
}

// create makes a Cluster of the toy provider, whose control plane is the API server of c.
func (o *onboarded) create(name string, c *real.Cluster) {
	o.t.Helper()
	host, port, _ := strings.Cut(strings.TrimPrefix(c.Endpoint, "https://"), ":")
	o.hub.ApplyText(o.t, fmt.Sprintf(`apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: %[1]s, namespace: %[4]s, labels: {site: north}}
spec:
  controlPlaneEndpoint: {host: %[2]s, port: %[3]s}
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: %[5]s, name: %[1]s}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: ToyCluster, name: %[1]s}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: %[5]s
metadata: {name: %[1]s, namespace: %[4]s}
spec: {version: v1.36.3}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: ToyCluster
metadata: {name: %[1]s, namespace: %[4]s}
spec: {controlPlaneEndpoint: {host: %[2]s, port: %[3]s}}
`, name, host, port, o.where(), o.planes()))
	for _, kind := range []string{"toycluster", strings.ToLower(o.planes())} {
		o.hub.Run(o.t, "", "-n", o.where(), "patch", kind, name, "--subresource=status", "--type=merge", "-p",
			`{"status":{"initialization":{"provisioned":true,"controlPlaneInitialized":true},"externalManagedControlPlane":true}}`)
	}
}

// write writes a cluster's secret, as its control plane's provider does.
func (o *onboarded) write(name, kubeconfig string) {
	o.t.Helper()
	uid := o.hub.Run(o.t, "", "-n", o.where(), "get", strings.ToLower(o.planes()), name, "-o", "jsonpath={.metadata.uid}")
	o.hub.ApplyText(o.t, object(o.t, map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
		"metadata": map[string]any{
			"name": name + "-kubeconfig", "namespace": o.where(), "labels": map[string]string{"cluster.x-k8s.io/cluster-name": name},
			"ownerReferences": []any{map[string]any{
				"apiVersion": "controlplane.cluster.x-k8s.io/v1beta2", "kind": o.planes(), "name": name, "uid": uid, "controller": true,
			}},
		},
		"stringData": map[string]string{"value": kubeconfig},
	}))
}

func object(t *testing.T, o any) string {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// await waits until a cluster is so, and returns it.
func (o *onboarded) await(name, what string, so func(v1.WorkloadCluster) bool) v1.WorkloadCluster {
	o.t.Helper()
	var last v1.WorkloadCluster
	if !real.Poll(o.t, 5*time.Minute, func() bool {
		found, err := o.Clusters(context.WithoutCancel(o.t.Context()), client.ClusterQuery{Name: name})
		if err != nil || len(found.Items) == 0 {
			return false
		}
		for _, c := range found.Items {
			if last = c; so(c) {
				return true
			}
		}
		return false
	}) {
		hubs, _ := o.ManagementClusters(context.WithoutCancel(o.t.Context()))
		o.t.Fatalf("the cluster is not %s: it is %s (%s: %s), of %+v", what, last.State, last.Reason, last.Message, hubs.Items)
	}
	return last
}

// rotated is a new kubeconfig of c, which trusts a next authority besides.
func rotated(t *testing.T, c *real.Cluster) string {
	t.Helper()
	next, err := pki.NewCA("the next authority")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.Load([]byte(c.NewKubeconfig(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, cluster := range config.Clusters {
		cluster.CertificateAuthorityData = append(cluster.CertificateAuthorityData, next.PEM...)
	}
	text, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func in(state, reason string) func(v1.WorkloadCluster) bool {
	return func(c v1.WorkloadCluster) bool { return c.State == state && c.Reason == reason }
}

// generation is that of a cluster's VIM, which must lead to c.
func (o *onboarded) generation(w v1.WorkloadCluster, c *real.Cluster) int64 {
	o.t.Helper()
	v, err := o.VIM(o.t.Context(), w.VIM)
	if err != nil {
		o.t.Fatal(err)
	}
	if v.Endpoint != c.Endpoint || v.Name != "tenant."+w.Name {
		o.t.Errorf("the VIM of %s is %s at %s, want %s", w.Name, v.Name, v.Endpoint, c.Endpoint)
	}
	return v.Generation
}

// TestClusterAPI: clusters that the real Cluster API brings up become VIMs, each follows
// what its provider does, and is let go of when it is gone, whatever becomes of the others.
func TestClusterAPI(t *testing.T) {
	t.Parallel()
	o := startOnboarding(t)
	edge := real.OwnKubernetes(t)
	ctx := t.Context()
	o.create("edge", edge)
	o.await("edge", "waiting for its secret", in("waiting", "secretMissing"))
	began := time.Now()
	first := edge.NewKubeconfig(t)
	o.write("edge", first)
	c := o.await("edge", "registered", in("registered", ""))
	t.Logf("registered %s after its secret was written", time.Since(began).Round(time.Millisecond))
	v, err := o.VIM(ctx, c.VIM)
	if err != nil {
		t.Fatal(err)
	}
	if v.Name != "tenant.edge" || v.Labels["cluster/site"] != "north" || v.CreatedBy != "system:onboard" || v.Credential.Kind != "bearerToken" || v.Discovered.Profile != "engine" || !v.CanMint {
		t.Errorf("the VIM is %s, %v, by %s, with a %s, can mint: %t", v.Name, v.Labels, v.CreatedBy, v.Credential.Kind, v.CanMint)
	}
	lease := o.lease(c.VIM, edge)

	// Two more become VIMs beside it.
	core, far := real.OwnKubernetes(t), real.OwnKubernetes(t)
	began = time.Now()
	for name, own := range map[string]*real.Cluster{"core": core, "far": far} {
		o.create(name, own)
		o.write(name, own.NewKubeconfig(t))
	}
	ofCore, ofFar := o.await("core", "registered", in("registered", "")), o.await("far", "registered", in("registered", ""))
	t.Logf("two more are registered %s after they were created", time.Since(began).Round(time.Millisecond))
	o.lease(ofCore.VIM, core)
	onFar := o.lease(ofFar.VIM, far)

	// The account is deleted on the cluster: it is made anew from the secret.
	user := strings.Split(v.Discovered.User, ":") // system:serviceaccount:NAMESPACE:NAME
	edge.Run(t, "", "-n", user[2], "delete", "serviceaccount", user[3])
	if !real.Poll(t, patience, func() bool { // the API server goes on taking its token for a while
		v, err = o.CheckVIM(ctx, c.VIM)
		return err == nil && v.Status != "reachable"
	}) {
		t.Fatal("the VIM goes on working without its account")
	}
	o.await("edge", "working as its account again", func(v1.WorkloadCluster) bool {
		v, err = o.VIM(ctx, c.VIM)
		return err == nil && v.Generation == 2 && v.Status == "reachable" && v.Discovered.Profile == "engine"
	})
	o.lease(c.VIM, edge)

	// The provider rotates certificate and authority.
	began = time.Now()
	o.write("edge", rotated(t, edge))
	o.await("edge", "rotated", func(v1.WorkloadCluster) bool {
		v, err := o.VIM(ctx, c.VIM)
		return err == nil && v.Generation == 3
	})
	t.Logf("rotated %s after its secret was written", time.Since(began).Round(time.Millisecond))
	o.lease(c.VIM, edge)

	if a, b := o.generation(ofCore, core), o.generation(ofFar, far); a != 1 || b != 1 {
		t.Errorf("the others' VIMs are of generation %d and %d, want 1", a, b)
	}

	// Somebody writes another cluster's credential: the hub's own, and a neighbour's.
	for _, other := range []*real.Cluster{o.hub, core} {
		before := o.await("edge", "there", func(v1.WorkloadCluster) bool { return true }).UpdatedAt
		o.write("edge", other.NewKubeconfig(t))
		o.await("edge", "quarantined for it", func(w v1.WorkloadCluster) bool {
			return in("quarantined", "otherSystem")(w) && w.UpdatedAt.After(before)
		})
		o.generation(c, edge)
	}
	o.write("edge", edge.NewKubeconfig(t))
	o.await("edge", "registered again", in("registered", ""))

	// Paused: no new leases.
	o.hub.Run(t, "", "-n", "tenant", "patch", "cluster", "edge", "--type=merge", "-p", `{"spec":{"paused":true}}`)
	o.await("edge", "paused", in("registered", "paused"))
	if _, err := o.IssueLease(ctx, v1.LeaseRequest{VIM: c.VIM, Role: "view", Namespaces: []string{"default"}}, ""); err == nil {
		t.Error("a lease was issued on a paused cluster")
	}
	if _, err := o.RenewLease(ctx, lease, v1.Renewal{}); err != nil {
		t.Errorf("a lease on a paused cluster is not renewed: %v", err)
	}
	o.hub.Run(t, "", "-n", "tenant", "patch", "cluster", "edge", "--type=merge", "-p", `{"spec":{"paused":false}}`)
	o.await("edge", "not paused", in("registered", ""))

	// A server that is killed leaves no lease on the hub to the next one, and neither do other settings.
	o.broker.Kill()
	o.start()
	o.shell().Must(t, "vimbroker management-cluster enable hub --namespaces tenant")
	if v, err = o.VIM(ctx, c.VIM); err != nil {
		t.Fatal(err)
	}
	before := v.Generation
	o.write("edge", rotated(t, edge))
	o.await("edge", "followed by the next server", func(v1.WorkloadCluster) bool {
		v, err := o.VIM(ctx, c.VIM)
		return err == nil && v.Generation > before
	})
	var watching v1.List[v1.Lease]
	if !real.Poll(t, patience, func() bool { // the one of the old settings ends first
		watching, err = o.Leases(ctx, client.LeaseQuery{VIM: "hub", State: "active"})
		return err == nil && len(watching.Items) == 1
	}) {
		t.Errorf("%d leases on the hub are active, %v, want 1", len(watching.Items), err)
	}
	for _, l := range watching.Items {
		for _, r := range l.Rules {
			for _, verb := range r.Verbs {
				if !slices.Contains([]string{"get", "list", "watch"}, verb) {
					t.Errorf("the watch may %s %v", verb, r.Resources)
				}
			}
		}
	}

	// One is rotated, and one deleted, beside the others.
	onEdge := o.generation(c, edge)
	o.write("core", rotated(t, core))
	o.hub.Run(t, "", "-n", "tenant", "delete", "cluster", "far", "--wait=true", "--timeout=300s")
	o.await("core", "rotated", func(w v1.WorkloadCluster) bool { return o.generation(w, core) == 2 })
	o.await("far", "retired", in("retired", ""))
	if _, err := o.VIM(ctx, ofFar.VIM); err == nil {
		t.Error("the VIM of a cluster that is gone is there still")
	}
	if ended, err := o.Lease(ctx, onFar); err != nil || ended.State != "revoked" {
		t.Errorf("a lease on a cluster that is gone is %s, %v", ended.State, err)
	}
	if now := o.generation(c, edge); now != onEdge {
		t.Errorf("the VIM of a cluster that stays as it is went from generation %d to %d", onEdge, now)
	}
	o.await("edge", "well", in("registered", ""))
	o.lease(c.VIM, edge)

	// It is deleted.
	o.hub.Run(t, "", "-n", "tenant", "delete", "cluster", "edge", "--wait=true", "--timeout=300s")
	o.await("edge", "retired", in("retired", ""))
	if _, err := o.VIM(ctx, c.VIM); err == nil {
		t.Error("the VIM of a cluster that is gone is there still")
	}
	ended, err := o.Lease(ctx, lease)
	if err != nil || ended.State != "revoked" {
		t.Errorf("a lease on a cluster that is gone is %s, %v", ended.State, err)
	}
	if got := o.await("core", "well", in("registered", "")); got.VIM != ofCore.VIM {
		t.Errorf("the cluster that is left is VIM %s, was %s", got.VIM, ofCore.VIM)
	}
	o.lease(ofCore.VIM, core)
	o.noSecret(first)
}

// lease takes a lease on a cluster, uses it there, and returns its id.
func (o *onboarded) lease(vim string, c *real.Cluster) string {
	o.t.Helper()
	l, err := o.IssueLease(o.t.Context(), v1.LeaseRequest{VIM: vim, Role: "view", Namespaces: []string{"default"}, Format: "kubeconfig"}, "")
	if err != nil {
		o.t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(l.ClientConfig.Text.Reveal()))
	if err != nil {
		o.t.Fatal(err)
	}
	use, err := clientset.NewForConfig(config)
	if err != nil {
		o.t.Fatal(err)
	}
	if _, err := use.CoreV1().Pods("default").List(o.t.Context(), metav1.ListOptions{}); err != nil {
		o.t.Errorf("the lease does not work on %s: %v", c.Endpoint, err)
	}
	return l.ID
}

// noSecret holds that no private key of a kubeconfig is in the log or the database.
func (o *onboarded) noSecret(kubeconfig string) {
	o.t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(kubeconfig))
	if err != nil {
		o.t.Fatal(err)
	}
	key := strings.Split(strings.TrimSpace(string(config.KeyData)), "\n")[1]
	found := 0
	if err := filepath.WalkDir(o.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if found++; strings.Contains(string(text), key) || strings.Contains(string(text), strings.TrimSpace(kubeconfig)) {
			o.t.Errorf("%s holds a credential of a cluster", path)
		}
		return err
	}); err != nil || found == 0 {
		o.t.Errorf("%d files, %v", found, err)
	}
	if strings.Contains(o.broker.Log.String(), key) {
		o.t.Error("the log holds a credential of a cluster")
	}
}
