package real

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
)

// Nodes plays scheduler, kubelet and provisioner of volumes for a cluster without nodes:
// pods are bound to one simulated node and are ready at once, those of jobs
// succeed, and claims get a volume. Nothing runs. A pod with the image [MissingImage] never
// becomes ready.
type Nodes struct {
	core  *coreclient.CoreV1Client
	lease *coordinationclient.CoordinationV1Client
	stop  context.CancelFunc
	done  sync.WaitGroup
	busy  chan struct{}
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
	if err := n.register(ctx); err != nil {
		return nil, fmt.Errorf("registering a node: %w", err)
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

// Stop ends the simulation. The node stays, and is taken for dead after a while. It may be
// called twice.
func (n *Nodes) Stop() {
	n.stop()
	n.done.Wait()
}

func (n *Nodes) register(ctx context.Context) error {
	room := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1000"), corev1.ResourceMemory: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("10000"),
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, Labels: map[string]string{"kubernetes.io/hostname": nodeName}}}
	node, err := n.core.Nodes().Create(ctx, node, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		return err
	}
	now := metav1.Now()
	node.Status = corev1.NodeStatus{Capacity: room, Allocatable: room, Conditions: []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Simulated", LastHeartbeatTime: now, LastTransitionTime: now,
	}}}
	_, err = n.core.Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

// beat renews the node's lease, as a kubelet does.
func (n *Nodes) beat(ctx context.Context) {
	leases := n.lease.Leases(corev1.NamespaceNodeLease)
	holder, seconds := nodeName, int32(40)
	for ticker := time.NewTicker(nodeHeartbeat); ; {
		now := metav1.NowMicro()
		l := &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: nodeName},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &now},
		}
		if _, err := leases.Create(ctx, l, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
			patch := fmt.Sprintf(`{"spec":{"renewTime":%q}}`, now.UTC().Format(metav1.RFC3339Micro))
			_, _ = leases.Patch(ctx, nodeName, types.MergePatchType, []byte(patch), metav1.PatchOptions{}) // the next beat tries again
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			ticker.Stop()
			return
		}
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
	case p.DeletionTimestamp != nil && (p.Spec.NodeName == nodeName || p.Spec.NodeName == ""):
		now := int64(0)
		_ = pods.Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(p.UID))})
	case p.Spec.NodeName == "":
		_ = pods.Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace, UID: p.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: nodeName},
		}, metav1.CreateOptions{})
	case p.Spec.NodeName == nodeName && p.Status.Phase == corev1.PodPending && len(p.Status.ContainerStatuses) == 0:
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

// claim gives a claim a volume, and takes it away with the claim.
func (n *Nodes) claim(ctx context.Context, o runtime.Object) {
	c := o.(*corev1.PersistentVolumeClaim)
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
