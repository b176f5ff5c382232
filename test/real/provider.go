package real

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Groups of Cluster API's contract, and the version of the toy kinds in them.
const (
	infrastructure = "infrastructure.cluster.x-k8s.io"
	controlPlane   = "controlplane.cluster.x-k8s.io"
	toyVersion     = "v1beta2"
	clusterLabel   = "cluster.x-k8s.io/cluster-name"
)

// toyKinds are those of the provider that tests play, by kind.
var toyKinds = map[string]string{
	"ToyCluster": infrastructure, "ToyMachine": infrastructure, "ToyMachineTemplate": infrastructure, "ToyControlPlane": controlPlane,
}

// lookAgain is how often a provider looks at its objects.
const lookAgain = 200 * time.Millisecond

// Provider plays the provider of infrastructure and control planes of Cluster API on a
// management cluster (its contracts for InfraCluster, InfraMachine and ControlPlane, v1beta2). Each
// ToyControlPlane that a Cluster owns becomes an API server of its own, whose credential is in
// the cluster's secret; each ToyMachine becomes a simulated node of it. What it started runs until Stop:
// the API server of a cluster that was deleted still answers.
type Provider struct {
	hub     *Cluster
	dir     string
	objects dynamic.Interface
	core    *coreclient.CoreV1Client
	stop    context.CancelFunc
	done    sync.WaitGroup

	mu       sync.Mutex
	clusters map[types.NamespacedName]*workload
	made     []*workload
	trouble  error
}

// workload is one cluster that the provider made.
type workload struct {
	plane    types.UID
	starting bool
	cluster  *Cluster
	nodes    *Nodes
	machines map[string]bool
}

// StartProvider defines the kinds on the hub, and plays their controllers. What it starts lies in dir. The
// caller stops it.
func StartProvider(ctx context.Context, hub *Cluster, dir string) (*Provider, error) {
	var definitions strings.Builder
	for kind, group := range toyKinds {
		definitions.WriteString("---\n" + toyDefinition(kind, group))
	}
	if _, err := hub.kubectl(ctx, definitions.String(), "apply", "-f", "-"); err != nil {
		return nil, err
	}
	if _, err := hub.kubectl(ctx, "", "wait", "crd", "--all", "--for=condition=Established", "--timeout=60s"); err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfig(hub.Config())
	if err != nil {
		return nil, err
	}
	core, err := coreclient.NewForConfig(hub.Config())
	if err != nil {
		return nil, err
	}
	p := &Provider{hub: hub, dir: dir, objects: objects, core: core, clusters: map[types.NamespacedName]*workload{}}
	ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	p.done.Go(func() { p.play(ctx) })
	return p, nil
}

// Stop ends everything that the provider made. It may be called twice.
func (p *Provider) Stop() {
	p.stop()
	p.done.Wait()
	for _, w := range p.made {
		w.nodes.Stop()
		w.cluster.Stop()
	}
}

// Err is what last kept it from its work, if anything still does.
func (p *Provider) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trouble
}

// Workload is the API server of a Cluster of that name, nil before it was started.
func (p *Provider) Workload(namespace, name string) *Cluster {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.clusters[types.NamespacedName{Namespace: namespace, Name: name}]; w != nil {
		return w.cluster
	}
	return nil
}

func (p *Provider) play(ctx context.Context) {
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		err := p.look(ctx)
		if ctx.Err() != nil {
			return
		}
		p.mu.Lock()
		p.trouble = err
		p.mu.Unlock()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func resourceOf(kind string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: toyKinds[kind], Version: toyVersion, Resource: strings.ToLower(kind) + "s"}
}

// look does what there is to do now. What fails is tried again at the next look.
func (p *Provider) look(ctx context.Context) error {
	planes, err := p.objects.Resource(resourceOf("ToyControlPlane")).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range planes.Items {
		if err := p.plane(ctx, &planes.Items[i]); err != nil {
			return err
		}
	}
	machines, err := p.objects.Resource(resourceOf("ToyMachine")).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range machines.Items {
		if err := p.machine(ctx, &machines.Items[i]); err != nil {
			return err
		}
	}
	p.leave(machines.Items)
	return nil
}

// ownedBy is the name of the owner of a kind; empty where there is none yet.
func ownedBy(o *unstructured.Unstructured, kind string) string {
	for _, owner := range o.GetOwnerReferences() {
		if owner.Kind == kind {
			return owner.Name
		}
	}
	return ""
}

// plane takes a control plane one step further: it is started once a Cluster owns it, and is
// initialised when its API server answers.
func (p *Provider) plane(ctx context.Context, o *unstructured.Unstructured) error {
	name := types.NamespacedName{Namespace: o.GetNamespace(), Name: ownedBy(o, "Cluster")}
	if name.Name == "" || o.GetDeletionTimestamp() != nil {
		return nil
	}
	p.mu.Lock()
	w := p.clusters[name]
	if w == nil || w.plane != o.GetUID() && !w.starting {
		w = &workload{plane: o.GetUID(), starting: true, machines: map[string]bool{}}
		p.clusters[name] = w
		p.done.Go(func() { p.start(ctx, w) })
	}
	ready := !w.starting
	p.mu.Unlock()
	if !ready || flag(o, "controlPlaneInitialized") {
		return nil
	}
	host, port, _ := strings.Cut(strings.TrimPrefix(w.cluster.Endpoint, "https://"), ":")
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	if err := p.secret(ctx, o, name, w); err != nil {
		return err
	}
	if err := p.patch(ctx, "ToyCluster", name, map[string]any{
		"spec": map[string]any{"controlPlaneEndpoint": map[string]any{"host": host, "port": number}},
	}, map[string]any{"initialization": map[string]any{"provisioned": true}}); err != nil {
		return err
	}
	replicas, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	version, _, _ := unstructured.NestedString(o.Object, "spec", "version")
	status := map[string]any{
		"initialization": map[string]any{"controlPlaneInitialized": true}, "externalManagedControlPlane": true, "version": version,
	}
	for _, counter := range []string{"replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"} {
		status[counter] = replicas
	}
	return p.patch(ctx, "ToyControlPlane", types.NamespacedName{Namespace: name.Namespace, Name: o.GetName()}, nil, status)
}

// start starts the API server of a cluster. One that does not start is tried again.
func (p *Provider) start(ctx context.Context, w *workload) {
	cluster, nodes, err := p.startCluster(ctx, filepath.Join(p.dir, string(w.plane)))
	p.mu.Lock()
	defer p.mu.Unlock()
	w.cluster, w.nodes, w.starting = cluster, nodes, false
	if err == nil {
		p.made = append(p.made, w)
	} else {
		p.trouble = err
		maps.DeleteFunc(p.clusters, func(_ types.NamespacedName, other *workload) bool { return other == w })
	}
}

func (p *Provider) startCluster(ctx context.Context, dir string) (*Cluster, *Nodes, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	attempt, err := os.MkdirTemp(dir, "")
	if err != nil {
		return nil, nil, err
	}
	c, err := StartKubernetes(ctx, attempt)
	if err != nil {
		return nil, nil, err
	}
	nodes, err := StartNodes(ctx, c)
	if err != nil {
		c.Stop()
		return nil, nil, err
	}
	return c, nodes, nil
}

// secret writes the cluster's credential, as its control plane's own.
func (p *Provider) secret(ctx context.Context, plane *unstructured.Unstructured, name types.NamespacedName, w *workload) error {
	kubeconfig, err := w.cluster.adminKubeconfig()
	if err != nil {
		return err
	}
	yes := true
	_, err = p.core.Secrets(name.Namespace).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: name.Name + "-kubeconfig", Labels: map[string]string{clusterLabel: name.Name},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: plane.GetAPIVersion(), Kind: plane.GetKind(), Name: plane.GetName(), UID: plane.GetUID(), Controller: &yes,
			}},
		},
		Type: "cluster.x-k8s.io/secret", StringData: map[string]string{"value": kubeconfig},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// machine takes a machine one step further: it has joined its cluster when a Machine owns it.
func (p *Provider) machine(ctx context.Context, o *unstructured.Unstructured) error {
	name := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetLabels()[clusterLabel]}
	p.mu.Lock()
	w := p.clusters[name]
	ready := w != nil && !w.starting
	p.mu.Unlock()
	if !ready || o.GetDeletionTimestamp() != nil || ownedBy(o, "Machine") == "" || flag(o, "provisioned") {
		return nil
	}
	id := "toy://" + o.GetNamespace() + "/" + o.GetName()
	if err := w.nodes.Join(ctx, o.GetName(), id); err != nil {
		return err
	}
	w.machines[o.GetName()] = true
	return p.patch(ctx, "ToyMachine", types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()},
		map[string]any{"spec": map[string]any{"providerID": id}}, map[string]any{"initialization": map[string]any{"provisioned": true}})
}

// leave takes away the nodes of machines that are gone.
func (p *Provider) leave(machines []unstructured.Unstructured) {
	there := map[string]bool{}
	for _, m := range machines {
		there[m.GetNamespace()+"/"+m.GetName()] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, w := range p.clusters {
		for machine := range w.machines {
			if !there[name.Namespace+"/"+machine] {
				w.nodes.Leave(machine)
				delete(w.machines, machine)
			}
		}
	}
}

// flag reports whether status.initialization says that something was done.
func flag(o *unstructured.Unstructured, key string) bool {
	done, _, _ := unstructured.NestedBool(o.Object, "status", "initialization", key)
	return done
}

// patch merges into an object, and into its status.
func (p *Provider) patch(ctx context.Context, kind string, name types.NamespacedName, object, status map[string]any) error {
	to := p.objects.Resource(resourceOf(kind)).Namespace(name.Namespace)
	for _, part := range []struct {
		change map[string]any
		sub    []string
	}{{object, nil}, {map[string]any{"status": status}, []string{"status"}}} {
		if part.change == nil {
			continue
		}
		text, err := json.Marshal(part.change)
		if err != nil {
			return err
		}
		if _, err := to.Patch(ctx, name.Name, types.MergePatchType, text, metav1.PatchOptions{}, part.sub...); err != nil {
			return fmt.Errorf("patching %s %s: %w", kind, name.Name, err)
		}
	}
	return nil
}

// toyDefinition is the definition of a kind of the provider's, under Cluster API's contract.
func toyDefinition(kind, group string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[1]ss.%[2]s
  labels: {cluster.x-k8s.io/%[4]s: %[4]s}
spec:
  group: %[2]s
  names: {kind: %[3]s, listKind: %[3]sList, plural: %[1]ss, singular: %[1]s}
  scope: Namespaced
  versions:
  - name: %[4]s
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`, strings.ToLower(kind), group, kind, toyVersion)
}
