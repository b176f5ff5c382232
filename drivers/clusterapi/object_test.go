package clusterapi

import (
	"encoding/json"
	"strings"
	"testing"
)

// Of an object no more is kept than what is used, however much there is.
func TestObjectsAreTrimmed(t *testing.T) {
	long := strings.Repeat("x", maxName+1)
	of := func(text string) (c cluster) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := of(`{"metadata":{"namespace":"a","name":"one","labels":{"team":"x","other":"y","long":"` + long + `"}},
		"spec":{"controlPlaneRef":{"kind":"` + long + `","name":"cp"}},
		"status":{"conditions":[{"type":"A","status":"True"},{"type":"ControlPlaneInitialized","status":"True"},{"type":"` + long + `"}]}}`)
	if !c.trim(func(label string) bool { return label != "other" }) {
		t.Error("a long reference to a control plane, which Kubernetes bounds in no way, hides the cluster")
	}
	if s := c.seen(); len(s.Labels) != 1 || s.Labels["team"] != "x" || s.ControlPlane.Kind != "" || s.ControlPlane.Name != "" || !s.Ready {
		t.Errorf("seen as %+v", s)
	}
	if n := len(c.Status.Conditions); n != 1 {
		t.Errorf("%d conditions are kept, want 1", n)
	}
	for text, want := range map[string]string{"true": "true", "false": "false", "": "", long: ""} {
		c := of(`{"metadata":{"namespace":"a","name":"one","uid":"u","annotations":{"vimbroker.io/onboard":"` + text + `"}}}`)
		if !c.trim(nil) || c.seen().Onboard != want {
			t.Errorf("of the annotation %q is kept", c.seen().Onboard)
		}
	}
	for _, part := range []string{"namespace", "name", "uid", "resourceVersion"} {
		c := of(`{"metadata":{"` + part + `":"` + long + `"}}`)
		if c.trim(nil) {
			t.Errorf("a %s of %d bytes is taken", part, len(long))
		}
	}
	var m metadata
	if err := json.Unmarshal([]byte(`{"metadata":{"name":"s","labels":{"a":"b","`+clusterLabel+`":"one"},"ownerReferences":[{"name":"x"}]}}`), &m); err != nil {
		t.Fatal(err)
	}
	if !m.trim() || len(m.Metadata.Labels) != 1 || m.version().Cluster != "one" || m.Metadata.OwnerReferences != nil {
		t.Errorf("trimmed to %+v", m)
	}
	m.Metadata.Labels[clusterLabel] = long
	if m.trim() {
		t.Errorf("the name of a cluster of %d bytes is taken", len(long))
	}
}
