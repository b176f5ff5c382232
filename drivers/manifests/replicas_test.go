package manifests_test

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// The number of a workload that an autoscaler of the package sets stays as it is: at first as the manifest has it, then
// as the autoscaler has set it. It is no drift, unless there is no autoscaler.
func TestAutoscalersAreLeftAlone(t *testing.T) {
	t.Run("at once", func(t *testing.T) { leftAlone(t, true) })
	t.Run("after a while", func(t *testing.T) { leftAlone(t, false) })
}

// leftAlone has the autoscaler set the number before the first healing, or after it.
func leftAlone(t *testing.T, atOnce bool) {
	s := fakeobjects.New(t)
	s.Serve(fakeobjects.Kind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Plural: "horizontalpodautoscalers", Namespaced: true})
	in := input(strings.Replace(webDeployment, "spec:\n", "spec:\n  replicas: 2\n", 1),
		"apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: scaler}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n")
	in.Replicas = map[string]int32{"web": 5}
	d := manifests.New()
	var web lifecycle.Resource
	heal := func(when string, want float64) {
		t.Helper()
		standing, err := do(t, s, in)
		if err != nil {
			t.Fatal(err)
		}
		in.Operation, in.Standing = lifecycle.Heal, standing
		for _, r := range standing {
			if r.Kind == "Deployment" {
				web = r
			}
		}
		if got := s.Get(fakeobjects.Path(web))["spec"].(map[string]any)["replicas"]; got != want {
			t.Errorf("%s there are %v replicas, want %v", when, got, want)
		}
	}
	drifted := func(when string, resources []lifecycle.Resource, want bool) {
		t.Helper()
		looking := in
		looking.Observing, looking.Standing = true, resources
		all, err := d.Observe(t.Context(), s.Connection(mustPlan(t, s, looking).Stages[0].Grant), instance, resources)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			if got := len(o.ChangedBy) > 0; got != (want && o.Kind == "Deployment") {
				t.Errorf("%s %s is changed by %q", when, o.Kind, o.ChangedBy)
			}
		}
	}
	heal("made", 2)
	if !atOnce {
		heal("healed before the autoscaler has said anything", 2)
	}
	s.Autoscale(fakeobjects.Path(web), 3)
	drifted("scaled by it, the", in.Standing, false)
	heal("healed after it", 3)
	drifted("healed, the", in.Standing, false)
	in.Operation = lifecycle.ChangePackage
	heal("changed after it", 3)

	in.Manifests, in.Operation = in.Manifests[:1], lifecycle.ChangePackage
	heal("changed to a package without it", 5)
	s.Autoscale(fakeobjects.Path(web), 3)
	drifted("scaled by nobody of the package, the", []lifecycle.Resource{web}, true)

	// An autoscaler that somebody else has made for it is left alone as well, and one for another workload is none.
	s.Put(others("theirs"), scaling("theirs", "other"))
	drifted("beside an autoscaler of another, the", []lifecycle.Resource{web}, true)
	s.Put(others("ours"), scaling("ours", "web"))
	drifted("scaled by an autoscaler that somebody made, the", []lifecycle.Resource{web}, false)
	in.Operation = lifecycle.Heal
	heal("healed beside that", 3)
	drifted("healed beside that, the", []lifecycle.Resource{web}, false)
	s.Autoscale(fakeobjects.Path(web), 4)
	in.Operation = lifecycle.ChangePackage
	heal("changed beside that", 4)
	s.Remove(others("ours"))
	heal("healed without any", 5)
}

func others(name string) string {
	return "/apis/autoscaling/v2/namespaces/cnf/horizontalpodautoscalers/" + name
}

func scaling(name, target string) map[string]any {
	return map[string]any{
		"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": map[string]any{"name": name, "namespace": "cnf"},
		"spec": map[string]any{"scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": target}},
	}
}
