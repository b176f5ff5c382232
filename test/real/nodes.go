package real

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
)

const (
	nodeName      = "simulated"
	nodeHeartbeat = 10 * time.Second
	// atOnce bounds how many objects a simulated node sees to at a time.
	atOnce = 16
	// MissingImage is an image that a simulated node cannot pull.
	MissingImage = "registry.invalid/missing:1"
	// FailingImage is an image whose program fails.
	FailingImage = "registry.invalid/failing:1"
)

// Nodes plays scheduler, kubelets and provisioner of volumes for a cluster without nodes:
// pods are bound to simulated nodes and are ready at once, those of jobs
// succeed, and claims get a volume. Nothing runs. A pod with the image [MissingImage] never
// becomes ready.
type Nodes struct {
	core  *coreclient.CoreV1Client
	lease *coordinationclient.CoordinationV1Client
	stop  context.CancelFunc
	done  sync.WaitGroup
	busy  chan struct{}

	mu    sync.Mutex
	names []string // the first is the one that a cluster begins with
	next  int
}

// StartNodes gives a cluster a node. The caller stops it.
func StartNodes(ctx context.Context, c *Cluster) (*Nodes, error) {
	core, err := coreclient.NewForConfig(c.Config())
	if err != nil {
		return nil, err
	}
	lease, err := coordinationclient.NewForConfig(c.Config())
	if err != nil {
		return nil, err
	}
	n := &Nodes{core: core, lease: lease, busy: make(chan struct{}, atOnce)}
	if err := n.Join(ctx, nodeName, ""); err != nil {
		return nil, err
	}
	ctx, n.stop = context.WithCancel(context.WithoutCancel(ctx))
	n.done.Go(func() { n.beat(ctx) })
	n.done.Go(func() {
		n.follow(ctx, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return core.Pods("").List(ctx, o)
		}, core.Pods("").Watch, n.pod)
	})
	n.done.Go(func() {
		n.follow(ctx, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return core.PersistentVolumeClaims("").List(ctx, o)
		}, core.PersistentVolumeClaims("").Watch, n.claim)
	})
	return n, nil
}

// WithNode gives the cluster a simulated node, if it has none, until it stops. Pods become ready from now on.
func (c *Cluster) WithNode(t testing.TB) {
	t.Helper()
	c.simulate.Lock()
	defer c.simulate.Unlock()
	if c.nodes != nil {
		return
	}
	var err error
	if c.nodes, err = StartNodes(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// WithBalancers has every Service of type LoadBalancer on the cluster get an address, until the test ends.
func (c *Cluster) WithBalancers(t testing.TB) {
	t.Helper()
	c.WithNode(t)
	n, ctx := c.nodes, t.Context()
	n.done.Go(func() {
		n.follow(ctx, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return n.core.Services("").List(ctx, o)
		}, n.core.Services("").Watch, n.balance)
	})
}

// balance gives a Service an address.
func (n *Nodes) balance(ctx context.Context, o runtime.Object) {
	s := o.(*corev1.Service)
	if s.Spec.Type == corev1.ServiceTypeLoadBalancer && len(s.Status.LoadBalancer.Ingress) == 0 {
		_, _ = n.core.Services(s.Namespace).Patch(ctx, s.Name, types.MergePatchType,
			[]byte(`{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}`), metav1.PatchOptions{}, "status")
	}
}

// Stop ends the simulation. The node stays, and is taken for dead after a while. It may be
// called twice.
func (n *Nodes) Stop() {
	n.stop()
	n.done.Wait()
}

// Join adds a node, by the id that its provider has for it. Pods are put on nodes that have joined rather
// than on the first one.
func (n *Nodes) Join(ctx context.Context, name, providerID string) error {
	room := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1000"), corev1.ResourceMemory: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("10000"),
	}
	_, err := n.core.Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name}}, Spec: corev1.NodeSpec{ProviderID: providerID},
	}, metav1.CreateOptions{})
	if err == nil || apierrors.IsAlreadyExists(err) {
		var status []byte
		if status, err = json.Marshal(map[string]any{"status": corev1.NodeStatus{Capacity: room, Allocatable: room, Conditions: healthy()}}); err == nil {
			_, err = n.core.Nodes().PatchStatus(ctx, name, status)
		}
	}
	if err != nil {
		return fmt.Errorf("registering node %s: %w", name, err)
	}
	n.mu.Lock()
	if !slices.Contains(n.names, name) {
		n.names = append(n.names, name)
	}
	n.mu.Unlock()
	n.renew(ctx, name)
	return nil
}

// Leave has a node that joined answer no more. Its object is for others to delete.
func (n *Nodes) Leave(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.names = slices.DeleteFunc(n.names, func(s string) bool { return s == name })
}

func (n *Nodes) has(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Contains(n.names, name)
}

// pick is the node for the next pod.
func (n *Nodes) pick() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.names) == 1 {
		return n.names[0]
	}
	n.next++
	return n.names[1+n.next%(len(n.names)-1)]
}

// healthy are the conditions of a node that lacks nothing.
func healthy() []corev1.NodeCondition {
	now := metav1.Now()
	var all []corev1.NodeCondition
	for t, status := range map[corev1.NodeConditionType]corev1.ConditionStatus{
		corev1.NodeReady: corev1.ConditionTrue, corev1.NodeMemoryPressure: corev1.ConditionFalse,
		corev1.NodeDiskPressure: corev1.ConditionFalse, corev1.NodePIDPressure: corev1.ConditionFalse,
	} {
		all = append(all, corev1.NodeCondition{Type: t, Status: status, Reason: "Simulated", LastHeartbeatTime: now, LastTransitionTime: now})
	}
	return all
}

// beat renews the nodes' leases, as kubelets do.
func (n *Nodes) beat(ctx context.Context) {
	ticker := time.NewTicker(nodeHeartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		n.mu.Lock()
		names := slices.Clone(n.names)
		n.mu.Unlock()
		for _, name := range names {
			n.renew(ctx, name)
		}
	}
}

// renew renews one node's lease. What fails is tried again with the next beat.
func (n *Nodes) renew(ctx context.Context, name string) {
	leases := n.lease.Leases(corev1.NamespaceNodeLease)
	seconds, now := int32(40), metav1.NowMicro()
	l := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &name, LeaseDurationSeconds: &seconds, RenewTime: &now},
	}
	if _, err := leases.Create(ctx, l, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
		patch := fmt.Sprintf(`{"spec":{"renewTime":%q}}`, now.UTC().Format(metav1.RFC3339Micro))
		_, _ = leases.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	}
}

// follow calls see for every object that there is, comes or changes.
func (n *Nodes) follow(ctx context.Context, list func(context.Context, metav1.ListOptions) (runtime.Object, error),
	watcher func(context.Context, metav1.ListOptions) (watch.Interface, error), see func(context.Context, runtime.Object),
) {
	for ctx.Err() == nil {
		if err := n.followOnce(ctx, list, watcher, see); err != nil {
			select {
			case <-time.After(time.Second): // the API server is away
			case <-ctx.Done():
			}
		}
	}
}

func (n *Nodes) followOnce(ctx context.Context, list func(context.Context, metav1.ListOptions) (runtime.Object, error),
	watcher func(context.Context, metav1.ListOptions) (watch.Interface, error), see func(context.Context, runtime.Object),
) error {
	var work sync.WaitGroup
	defer work.Wait()
	do := func(o runtime.Object) {
		n.busy <- struct{}{}
		work.Go(func() {
			defer func() { <-n.busy }()
			see(ctx, o)
		})
	}
	all, err := list(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	version := ""
	switch l := all.(type) {
	case *corev1.PodList:
		version = l.ResourceVersion
		for i := range l.Items {
			do(&l.Items[i])
		}
	case *corev1.ServiceList:
		version = l.ResourceVersion
		for i := range l.Items {
			do(&l.Items[i])
		}
	case *corev1.PersistentVolumeClaimList:
		version = l.ResourceVersion
		for i := range l.Items {
			do(&l.Items[i])
		}
	}
	w, err := watcher(ctx, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return err
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if e.Type == watch.Error {
			return errors.New("the watch ended")
		}
		if e.Type != watch.Deleted {
			do(e.Object)
		}
	}
	return nil
}

// pod takes a pod one step further. What fails is tried again at its next change.
func (n *Nodes) pod(ctx context.Context, o runtime.Object) {
	p := o.(*corev1.Pod)
	pods := n.core.Pods(p.Namespace)
	switch {
	case p.DeletionTimestamp != nil && (p.Spec.NodeName == "" || n.has(p.Spec.NodeName)):
		now := int64(0)
		_ = pods.Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(p.UID))})
	case p.Spec.NodeName == "":
		_ = pods.Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace, UID: p.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: n.pick()},
		}, metav1.CreateOptions{})
	case n.has(p.Spec.NodeName) && p.Status.Phase == corev1.PodPending && len(p.Status.ContainerStatuses) == 0:
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": p.UID}, "status": started(p)})
		if err == nil {
			_, _ = pods.Patch(ctx, p.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		}
	}
}

// started is the status of a pod that a kubelet has started.
func started(p *corev1.Pod) corev1.PodStatus {
	now := metav1.Now()
	status := corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &now, PodIP: "10.0.0.1", PodIPs: []corev1.PodIP{{IP: "10.0.0.1"}}}
	ready, reason := corev1.ConditionTrue, ""
	for _, c := range p.Spec.Containers {
		s := corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}}
		switch {
		case c.Image == MissingImage:
			s.Ready, ready, reason = false, corev1.ConditionFalse, "ContainersNotReady"
			s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}
			status.Phase = corev1.PodPending
		case c.Image == FailingImage:
			s.Ready, ready, reason = false, corev1.ConditionFalse, "PodFailed"
			s.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1, StartedAt: now, FinishedAt: now}}
			status.Phase = corev1.PodFailed
		case p.Spec.RestartPolicy != corev1.RestartPolicyAlways:
			s.Ready, ready, reason = false, corev1.ConditionFalse, "PodCompleted"
			s.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}}
			status.Phase = corev1.PodSucceeded
		}
		status.ContainerStatuses = append(status.ContainerStatuses, s)
	}
	for _, t := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	for _, t := range []corev1.PodConditionType{corev1.ContainersReady, corev1.PodReady} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: t, Status: ready, Reason: reason, LastTransitionTime: now})
	}
	return status
}

// MissingClass is a storage class whose claims get no volume.
const MissingClass = "missing"

// claim gives a claim a volume, and takes it away with the claim.
func (n *Nodes) claim(ctx context.Context, o runtime.Object) {
	c := o.(*corev1.PersistentVolumeClaim)
	if c.Spec.StorageClassName != nil && *c.Spec.StorageClassName == MissingClass {
		return
	}
	name := "simulated-" + string(c.UID)
	if c.DeletionTimestamp != nil {
		_ = n.core.PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{})
		return
	}
	if c.Spec.VolumeName != "" {
		return
	}
	class := ""
	if c.Spec.StorageClassName != nil {
		class = *c.Spec.StorageClassName
	}
	_, _ = n.core.PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: c.Spec.Resources.Requests, AccessModes: c.Spec.AccessModes, StorageClassName: class, VolumeMode: c.Spec.VolumeMode,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/simulated/" + name}},
			ClaimRef:                      &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: c.Namespace, Name: c.Name, UID: c.UID},
		},
	}, metav1.CreateOptions{})
}
