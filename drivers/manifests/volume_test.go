package manifests_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

const claiming = `apiVersion: apps/v1
kind: Deployment
metadata: {name: db}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: i}], volumes: [{name: d, persistentVolumeClaim: {claimName: CLAIM}}]}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, annotations: {vimbroker.io/outlives: "true"}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

// A claim is made once, under rights to it alone, and goes; one of that name which is not the volume's stays, and so does one that
// stood already.
func TestAVolumeIsMadeOnceAndGoes(t *testing.T) {
	s, d := fakeobjects.New(t), manifests.Volumes{}
	l := asset.Asset{Kind: policy.KindVolume, ID: "1", Volume: spec.VolumeSpec{Namespace: "ns", Size: "1Gi", Class: "fast"}}
	reach := func(l asset.Asset) asset.Connection {
		r, err := d.Lease(l)
		if err != nil || r.Purpose == "" || r.ClusterWide || len(r.Namespaces) != 1 {
			t.Fatalf("Lease = %+v, %v", r, err)
		}
		c := s.Connection(lifecycle.StageRules{Rules: r.Rules, Namespaces: r.Namespaces})
		return asset.Connection{Config: c.Config, Egress: c.Egress}
	}
	const at = "/api/v1/namespaces/ns/persistentvolumeclaims/"
	for range 2 {
		if _, err := d.Make(t.Context(), reach(l), l); err != nil || s.Get(at+"vimbroker-1") == nil {
			t.Fatalf("Make = %v, and there is %q", err, s.Paths())
		}
	}
	old := asset.Asset{Kind: policy.KindVolume, ID: "2", Existing: "data", Made: asset.Made{Network: "ns/data"}, Volume: spec.VolumeSpec{Namespace: "ns"}}
	if _, err := d.Make(t.Context(), reach(old), old); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a claim that is not there is taken: %v", err)
	}
	foreign := map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "data", "namespace": "ns"}}
	s.Put(at+"data", foreign)
	if m, err := d.Make(t.Context(), reach(old), old); err != nil || m != old.Made {
		t.Errorf("a claim that stands is not taken: %+v, %v", m, err)
	}
	s.Put(at+"vimbroker-3", map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "vimbroker-3", "namespace": "ns"}})
	other := l
	other.ID = "3"
	if _, err := d.Make(t.Context(), reach(other), other); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("another's claim is taken over: %v", err)
	}
	for _, one := range []asset.Asset{l, l, old, other} {
		if err := d.Remove(t.Context(), reach(one), one); err != nil {
			t.Errorf("Remove = %v", err)
		}
	}
	if left := strings.Join(s.Paths(), " "); strings.Contains(left, "vimbroker-1") || !strings.Contains(left, at+"data") || !strings.Contains(left, "vimbroker-3") {
		t.Errorf("after Remove there is %s", left)
	}
	for _, wrong := range []spec.VolumeSpec{
		{Size: "1Gi"},
		{Namespace: "ns"},
		{Namespace: "ns", Size: "much"},
		{Namespace: "ns", Size: "-1Gi"},
		{Namespace: "n/s", Size: "1Gi"},
		{Namespace: "ns", Size: "1Gi", Class: "a b"},
		{Namespace: "ns", Size: "1Gi", Modes: []string{"Any"}},
	} {
		if _, err := d.Lease(asset.Asset{ID: "4", Volume: wrong}); !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("%+v = %v", wrong, err)
		}
	}
}

// Pods mount a volume in the place of the claim that they name, which is then not made. A volume that no pod mounts, and a pod
// that names the claim of a volume by itself, are refused.
func TestPodsMountAVolume(t *testing.T) {
	plan := func(claim string, volumes ...lifecycle.Volume) (lifecycle.Plan, error) {
		s, d, in := fakeobjects.New(t), manifests.New(), input(strings.ReplaceAll(claiming, "CLAIM", claim))
		in.Volumes = volumes
		return d.Plan(t.Context(), s.Connection(d.Survey(in)), in)
	}
	words := func(p lifecycle.Plan) (text string) {
		for _, s := range p.Stages {
			for _, w := range s.Waves {
				for _, o := range w.Objects {
					text += o.Kind + " " + o.Manifest.Reveal() + "\n"
				}
			}
		}
		return text
	}
	own, err := plan("data")
	if text := words(own); err != nil || !strings.Contains(text, "PersistentVolumeClaim {") || !strings.Contains(text, `"claimName":"data"`) {
		t.Errorf("without a volume the plan is %v\n%s", err, text)
	}
	lent, err := plan("data", lifecycle.Volume{ID: "1", Storage: "data", Claim: "vimbroker-1"})
	if text := words(lent); err != nil || strings.Contains(text, "PersistentVolumeClaim {") || !strings.Contains(text, `"claimName":"vimbroker-1"`) || len(lent.Resources) != 1 {
		t.Errorf("with a volume the plan is %v\n%s", err, text)
	}
	if _, err := plan("data", lifecycle.Volume{ID: "1", Storage: "other", Claim: "vimbroker-1"}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a volume that no pod mounts = %v", err)
	}
	if _, err := plan("vimbroker-1"); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a pod that names the claim of a volume = %v", err)
	}
}
