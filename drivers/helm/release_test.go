package helm_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

const named = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-a}\ndata: {}\n"

// TestAReleaseHasTheNameThatTheRequestGives: in its record, its objects and for the chart.
func TestAReleaseHasTheNameThatTheRequestGives(t *testing.T) {
	s := fakeobjects.New(t)
	in := inputOf(chartOf(map[string]string{"templates/a.yaml": named}))
	in.Release = "shop"
	runs(t, s, &in)
	for _, path := range []string{"/secrets/sh.helm.release.v1.shop.v1", "/configmaps/shop-a"} {
		if s.Get("/api/v1/namespaces/cnf"+path) == nil {
			t.Errorf("there is no %s", path)
		}
	}
	in.Operation, in.Mark = lifecycle.ScaleVNF, in.Mark+"x"
	runs(t, s, &in)
	in.Operation, in.Mark = lifecycle.Terminate, in.Mark+"y"
	runs(t, s, &in)
	if left := strings.Join(s.Paths(), " "); strings.Contains(left, "shop") {
		t.Errorf("after TERMINATE there is %s", left)
	}
}

// TestNamesOfReleases: those that Helm takes, and none for what is no chart's.
func TestNamesOfReleases(t *testing.T) {
	for name, good := range map[string]bool{
		"shop": true, "shop.eu-1": true, strings.Repeat("a", 53): true,
		strings.Repeat("a", 54): false, "Shop": false, "shop_1": false, "-shop": false, "a/b": false,
	} {
		_, err := driver().Basis(lifecycle.Source{Paths: []string{"a/Chart.yaml"}, Release: name})
		if good != (err == nil) || !good && (!errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), "helm_release_name")) {
			t.Errorf("%q: %v", name, err)
		}
	}
	_, err := driver().Basis(lifecycle.Source{Paths: []string{"a/Chart.yaml"}, Ordered: true})
	if !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), "additionalParams.order") {
		t.Errorf("a chart in waves: %v", err)
	}
}

// TestReleasesOfOthersOfTheSameName: neither their records nor their objects become the instance's, also where the
// instance did not come to be.
func TestReleasesOfOthersOfTheSameName(t *testing.T) {
	theirs := func(kind, name string) map[string]any {
		return map[string]any{"kind": kind, "apiVersion": "v1", "metadata": map[string]any{
			"name": name, "namespace": "cnf", "uid": uuid.NewString(),
			"annotations": map[string]any{"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "cnf"},
		}}
	}
	s := fakeobjects.New(t)
	const object = "/api/v1/namespaces/cnf/configmaps/shop-a"
	s.Put(object, theirs("ConfigMap", "shop-a"))
	in := inputOf(chartOf(map[string]string{"templates/a.yaml": named}))
	in.Release = "shop"
	p, err := plan(t, s, in)
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range p.Stages {
		for _, w := range stage.Waves {
			if err = driver().Run(t.Context(), s.Connection(stage.Grant), in.Instance, w, func(lifecycle.Observation) {}); err != nil {
				break
			}
		}
	}
	if !errors.Is(err, broker.ErrConflict) {
		t.Errorf("an object of their release: %v, want a conflict", err)
	}
	in.Operation, in.Mark, in.Standing = lifecycle.Terminate, in.Mark+"-back", p.Resources
	runs(t, s, &in)
	if s.Get(object) == nil {
		t.Error("taking back what did not come to be removes another's object")
	}

	// Once it is the instance's, what Helm makes of it is, too.
	s.Remove(object)
	in.Operation, in.Mark, in.Standing = lifecycle.Instantiate, uuid.NewString(), nil
	runs(t, s, &in)
	s.Put(object, theirs("ConfigMap", "shop-a"))
	seen, err := driver().Observe(t.Context(), s.Connection(mustObserve(t, s, in)), in.Instance, in.Standing)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range seen {
		if !o.Standing {
			t.Errorf("%s %s %s", o.Kind, o.Name, o.Message)
		}
	}
	in.Operation, in.Mark = lifecycle.Terminate, in.Mark+"x"
	runs(t, s, &in)
	if s.Get(object) != nil {
		t.Error("what Helm has made of the release stays")
	}

	// Another namespace has releases of its own.
	other := theirs("ConfigMap", "shop-a")
	in.Operation, in.Mark, in.Standing = lifecycle.Instantiate, uuid.NewString(), nil
	runs(t, s, &in)
	other["metadata"].(map[string]any)["annotations"].(map[string]any)["meta.helm.sh/release-namespace"] = "elsewhere"
	s.Put(object, other)
	in.Operation, in.Mark = lifecycle.Terminate, in.Mark+"x"
	runs(t, s, &in)
	if s.Get(object) == nil {
		t.Error("an object of a release in another namespace is removed")
	}
}

// mustObserve is the grant of a look.
func mustObserve(t *testing.T, s *fakeobjects.Server, in lifecycle.PlanInput) lifecycle.StageRules {
	t.Helper()
	in.Observing = true
	p, err := plan(t, s, in)
	if err != nil || len(p.Stages) != 1 {
		t.Fatal(p.Stages, err)
	}
	return p.Stages[0].Grant
}
