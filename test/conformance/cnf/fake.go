package cnf

import (
	"testing"

	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// OnFake runs the suite on a driver and a fake API server, with a CNF of manifests.
func OnFake(t *testing.T, driver func() lifecycle.Driver, manifests func(text string) []lifecycle.Manifest) {
	s := fakeobjects.New(t)
	conformance.LifecycleDriver(t, conformance.LifecycleEnv{
		New:       driver,
		Connect:   func(_ *testing.T, g lifecycle.StageRules) lifecycle.Connection { return s.Connection(g) },
		Namespace: func(*testing.T) string { return "cnf" },
		Manifests: manifests, VDU: VDU,
		Remove: func(_ *testing.T, r lifecycle.Resource) { s.Remove(fakeobjects.Path(r)) },
		Unlabel: func(_ *testing.T, r lifecycle.Resource) {
			s.Change(fakeobjects.Path(r), "kubectl", func(o map[string]any) { delete(o["metadata"].(map[string]any), "labels") })
		},
		Plant: func(t *testing.T, r lifecycle.Resource) func() bool {
			path := fakeobjects.Path(r)
			s.Put(path, map[string]any{"kind": r.Kind, "metadata": map[string]any{"name": r.Name, "namespace": r.Namespace}})
			t.Cleanup(func() { s.Remove(path) })
			return func() bool { o := s.Get(path); return o != nil && o["metadata"].(map[string]any)["labels"] == nil }
		},
	})
}
