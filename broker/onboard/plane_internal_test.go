package onboard

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// choosy weighs leases on a management cluster that does not serve some kinds, and whose credential may not read others.
type choosy struct {
	quiet
	unserved, withheld []string
	asked              int
}

func (c *choosy) WeighLease(_ context.Context, _ policy.Principal, r broker.LeaseRequest) (broker.Lease, error) {
	c.asked++
	for kind, cannot := range map[error][]string{broker.ErrInvalid: c.unserved, broker.ErrForbidden: c.withheld} {
		var missing []string
		for _, rule := range r.Rules {
			if plane := rule.Resources[0] + "." + rule.APIGroups[0]; slices.Contains(cannot, plane) {
				missing = append(missing, plane)
			}
		}
		if len(missing) > 0 {
			return broker.Lease{}, &broker.Error{Kind: kind, Cause: &broker.MissingKinds{Resources: missing}}
		}
	}
	return broker.Lease{}, nil
}

// TestControlPlanesThatCannotBeReadAreLeftOut: each once it can be, it is asked for again where a cluster needs it, at most
// once a minute; and what the credential may not read is told once.
func TestControlPlanesThatCannotBeReadAreLeftOut(t *testing.T) {
	const k3s, rke2, kubeadm = "kthreescontrolplanes.controlplane.cluster.x-k8s.io", "rke2controlplanes.controlplane.cluster.x-k8s.io",
		"kubeadmcontrolplanes.controlplane.cluster.x-k8s.io"
	var log bytes.Buffer
	now := time.Now()
	c := &choosy{withheld: []string{rke2}, unserved: slices.DeleteFunc(slices.Clone(KnownControlPlanes), func(p string) bool { return p == rke2 || p == kubeadm })}
	o := New(Options{
		Broker: c, Log: testlog.To(t, slog.NewTextHandler(&log, nil)), Now: func() time.Time { return now },
		Egress: func(string) *egress.Rules { return nil },
	})
	w := o.newWatcher(Management{VIM: "hub", Settings: Settings{Namespaces: []string{"a"}}}, broker.VIM{})
	for range 2 {
		if _, err := w.lease(t.Context()); err != nil || !slices.Equal(w.planes, []string{kubeadm}) {
			t.Fatalf("the lease reads %v, %v", w.planes, err)
		}
	}
	if n := strings.Count(log.String(), rke2); n != 1 || strings.Contains(log.String(), k3s) {
		t.Errorf("%d times it is told what the credential may not read: %s", n, log.String())
	}
	if err := w.readable(kubeadm); err != nil || w.wanted {
		t.Errorf("a control plane that the lease reads: %v", err)
	}
	if err := w.readable(rke2); !errors.Is(err, broker.ErrForbidden) {
		t.Errorf("one that the credential may not read: %v", err)
	}
	if err := w.readable(k3s); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("one that is not served: %v", err)
	}
	asked := c.asked
	if w.planesDiffer(t.Context()) || c.asked != asked {
		t.Error("it is asked for again at once")
	}
	now = now.Add(waitEvery)
	if w.planesDiffer(t.Context()) || c.asked == asked {
		t.Error("it is not asked for again, or has changed by itself")
	}
	c.unserved = slices.DeleteFunc(c.unserved, func(p string) bool { return p == k3s })
	now = now.Add(waitEvery)
	if w.planesDiffer(t.Context()) {
		t.Error("it is asked for though no cluster needs it")
	}
	_ = w.readable(k3s)
	if !w.planesDiffer(t.Context()) {
		t.Error("a control plane that is served now is not noticed")
	}
	c.unserved = KnownControlPlanes
	if _, err := w.lease(t.Context()); err != nil || len(w.planes) > 0 {
		t.Errorf("where none is served the lease reads %v, %v", w.planes, err)
	}
	broken := &broken{}
	w.Broker = broken
	if _, err := w.lease(t.Context()); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("a management cluster that does not answer: %v", err)
	}
}

type broken struct{ quiet }

func (*broken) WeighLease(context.Context, policy.Principal, broker.LeaseRequest) (broker.Lease, error) {
	return broker.Lease{}, &broker.Error{Kind: broker.ErrUnreachable}
}

// TestKnownControlPlanes: each is the plural of a kind that names it, in a group of Cluster API.
func TestKnownControlPlanes(t *testing.T) {
	m := Settings{Namespaces: []string{"a"}, Projects: map[string]string{"": "north"}}
	if err := m.Complete(); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{
		"KubeadmControlPlane", "KThreesControlPlane", "RKE2ControlPlane", "MicroK8sControlPlane", "TalosControlPlane", "KamajiControlPlane",
		"K0sControlPlane", "K0smotronControlPlane", "CK8sControlPlane", "NestedControlPlane", "AWSManagedControlPlane", "ROSAControlPlane",
		"AROControlPlane", "AzureManagedControlPlane", "AzureASOManagedControlPlane", "GCPManagedControlPlane", "OCIManagedControlPlane",
	} {
		group := "controlplane.cluster.x-k8s.io"
		if strings.HasPrefix(kind, "Azure") || strings.HasPrefix(kind, "GCP") || strings.HasPrefix(kind, "OCI") {
			group = "infrastructure.cluster.x-k8s.io"
		}
		if _, known := m.controlPlane(ObjectReference{group, kind, "a"}); !known {
			t.Errorf("%s of %s is not known", kind, group)
		}
	}
	if _, known := m.controlPlane(ObjectReference{"controlplane.cluster.x-k8s.io", "ToyControlPlane", "a"}); known {
		t.Error("a kind of nobody is known")
	}
}
