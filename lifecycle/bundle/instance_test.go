package bundle_test

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
)

// TestLifeOfAnInstance makes, finds, changes and removes one.
func TestLifeOfAnInstance(t *testing.T) {
	b := newBench(t)
	edge := b.region("edge")
	b.define("front")
	r := asked
	r.Labels = map[string]string{"stage": "prod"}
	r.Overrides = map[string]string{"a.b": "c", "k8s-rb-instance-pre-install-timeout": "60"}
	i := b.made(r)
	want := bundle.Request{
		Definition: "rb", Version: "1", Profile: "p", Release: "rel", Region: "edge", Labels: r.Labels,
		Overrides: map[string]string{"a.b": "<hidden>", "k8s-rb-instance-pre-install-timeout": "<hidden>"},
	}
	same(t, "the instance", i, bundle.Instance{
		ID: i.ID, Request: want, Namespace: "default", Release: "rel", State: "DONE",
		Resources: []bundle.Resource{{GVK: bundle.GVK{Version: "v1", Kind: "ConfigMap"}, Name: "front"}},
	})
	in := b.yard.planned()
	if got := string(in.Parameters); got != `{"overlay":{"sets":[{"name":"a.b","value":"c"},{"name":"k8s-rb-instance-id","value":"`+i.ID+`"}]}}` {
		t.Errorf("the overlay is %s", got)
	}
	if in.Labels["k8splugin.io/rb-instance-id"] != i.ID || in.Release != "rel" || in.Namespace != "default" || in.Name != i.ID {
		t.Errorf("planned as %+v", in)
	}
	row := b.row(bundle.OfInstance, i.ID)
	if row.Busy || row.Claim != edge.ID+"/rel/rb/1/p" {
		t.Errorf("the row is busy %v, of claim %q", row.Busy, row.Claim)
	}
	if again := b.made(r); again.ID != i.ID {
		t.Errorf("asked again, another is made: %s", again.ID)
	}
	b.ok(b.DeleteInstance(t.Context(), alice, i.ID))
	b.gone(bundle.OfInstance, i.ID)
	_, err := b.Instance(t.Context(), alice, i.ID)
	wants(t, err, broker.ErrNotFound, "", "no such instance")
	if strings.Contains(b.log.String(), "left to be undone") {
		t.Error(b.log)
	}
}
