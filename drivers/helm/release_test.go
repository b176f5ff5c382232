package helm_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fake"
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

// upgraded is the release after somebody's helm upgrade: another revision, whose record changes from the last.
func upgraded(t *testing.T, s *fakeobjects.Server, from, to string, change func(release map[string]any)) {
	t.Helper()
	const secrets = "/api/v1/namespaces/cnf/secrets/"
	o := s.Get(secrets + from)
	if o == nil {
		t.Fatal("there is no " + from)
	}
	outer, err := base64.StdEncoding.DecodeString(o["data"].(map[string]any)["release"].(string))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := base64.StdEncoding.DecodeString(string(outer))
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var release map[string]any
	if err := json.NewDecoder(r).Decode(&release); err != nil {
		t.Fatal(err)
	}
	put := func(name string) {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		if err := errors.Join(json.NewEncoder(w).Encode(release), w.Close()); err != nil {
			t.Fatal(err)
		}
		meta := maps.Clone(o["metadata"].(map[string]any))
		meta["name"] = name
		s.Put(secrets+name, map[string]any{"kind": "Secret", "apiVersion": "v1", "metadata": meta, "data": map[string]any{
			"release": base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(out.Bytes()))),
		}})
	}
	info := release["info"].(map[string]any)
	info["status"] = "superseded"
	put(from)
	info["status"], release["version"] = "deployed", release["version"].(float64)+1
	change(release)
	put(to)
}

// TestValuesThatHelmSetStay: what helm upgrade made of a release is where the next operation begins, unless it gives
// values of its own.
func TestValuesThatHelmSetStay(t *testing.T) {
	s := fakeobjects.New(t)
	in := inputOf(chartOf(map[string]string{"templates/a.yaml": configMap + "{colour: \"{{ .Values.colour }}\", size: \"{{ .Values.size }}\"}"}))
	in.Release, in.Parameters = "shop", json.RawMessage(`{"helm_values":{"colour":"blue"},"helm_parameters":{"size":"1"}}`)
	const object = "/api/v1/namespaces/cnf/configmaps/a"
	does := func(operation lifecycle.OperationType, kept bool, want string) {
		t.Helper()
		in.Operation, in.Kept, in.Mark = operation, kept, uuid.NewString()
		runs(t, s, &in)
		data := s.Get(object)["data"].(map[string]any)
		if got := data["colour"].(string) + " " + data["size"].(string); got != want {
			t.Errorf("after %s it is %q, want %q", operation, got, want)
		}
	}
	does(lifecycle.Instantiate, false, "blue 1")
	upgraded(t, s, "sh.helm.release.v1.shop.v1", "sh.helm.release.v1.shop.v2", func(r map[string]any) {
		r["config"] = map[string]any{"colour": "red", "size": "2"}
	})
	does(lifecycle.ScaleVNF, true, "red 2")
	does(lifecycle.ChangePackage, true, "red 2")
	does(lifecycle.ChangePackage, false, "blue 1")
	upgraded(t, s, "sh.helm.release.v1.shop.v5", "sh.helm.release.v1.shop.v6", func(r map[string]any) { r["config"] = nil })
	does(lifecycle.ScaleVNF, true, " ")

	// An upgrade to another chart is not taken back by scaling, and is by a change of package.
	upgraded(t, s, "sh.helm.release.v1.shop.v7", "sh.helm.release.v1.shop.v8", func(r map[string]any) {
		r["chart"].(map[string]any)["metadata"].(map[string]any)["version"] = "2.0.0"
	})
	in.Operation, in.Kept, in.Mark = lifecycle.ScaleVNF, true, uuid.NewString()
	if _, err := plan(t, s, in); !errors.Is(err, broker.ErrConflict) || !strings.Contains(err.Error(), "runs chart web 2.0.0 by Helm, and the package has web 1.0.0") {
		t.Errorf("scaled to an older chart: %v", err)
	}
	does(lifecycle.Heal, true, " ")
	does(lifecycle.ChangePackage, true, " ")
}

// TestALastRevisionThatCannotBeReadIsNotForgotten: a TERMINATE is planned again once the cluster says of what kinds the
// objects of the last revision are.
func TestALastRevisionThatCannotBeReadIsNotForgotten(t *testing.T) {
	s := fakeobjects.New(t)
	const account = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: shop-a}\nrules: []\n"
	in := inputOf(chartOf(map[string]string{"templates/a.yaml": account}))
	in.Release = "shop"
	runs(t, s, &in)
	in.Operation, in.Mark, in.Standing = lifecycle.Terminate, in.Mark+"x", nil
	s.Fail(fake.Fault{Method: http.MethodGet, Path: "^/apis/rbac.authorization.k8s.io/v1$", Kind: fake.Refuse, Status: http.StatusServiceUnavailable})
	if _, err := plan(t, s, in); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("while the cluster does not say what it serves: %v, want that it is tried again", err)
	}
	if _, err := plan(t, s, in); err != nil {
		t.Errorf("once it does: %v", err)
	}
}
