package helm_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// runs does a plan whole.
func runs(t *testing.T, s *fakeobjects.Server, in *lifecycle.PlanInput) lifecycle.Plan {
	t.Helper()
	p, err := plan(t, s, *in)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]lifecycle.Resource{}
	for _, stage := range p.Stages {
		for _, w := range stage.Waves {
			if err := driver().Run(t.Context(), s.Connection(stage.Grant), in.Instance, w, func(o lifecycle.Observation) { seen[o.Name] = o.Resource }); err != nil {
				t.Fatal(err)
			}
		}
	}
	in.Standing = p.Resources
	for n, r := range in.Standing {
		if made, is := seen[r.Name]; is {
			in.Standing[n] = made
		}
	}
	return p
}

// dataOf is a Secret's value as a plan applies it.
func dataOf(t *testing.T, p lifecycle.Plan, name, key string) string {
	t.Helper()
	var o struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal([]byte(applied(p, name)), &o); err != nil {
		t.Fatalf("Secret %s: %v", name, err)
	}
	return o.Data[key]
}

// TestLookup: a chart finds again what it made, also where it would stop by itself without; what is another's, or of
// another kind, it does not find. The plan's lease reads those objects by name and no others.
func TestLookup(t *testing.T) {
	s := fakeobjects.New(t)
	s.Put("/api/v1/namespaces/cnf/secrets/theirs", map[string]any{
		"kind": "Secret", "apiVersion": "v1", "metadata": map[string]any{"name": "theirs", "namespace": "cnf"}, "data": map[string]any{"a": "Y2FuYXJ5"},
	})
	const kept = `{{- $old := lookup "v1" "Secret" .Release.Namespace "login" }}
{{- if and .Release.IsUpgrade (not $old) }}{{ fail "the password is lost" }}{{ end }}
{{- $theirs := lookup "v1" "Secret" .Release.Namespace "theirs" }}
apiVersion: v1
kind: Secret
metadata: {name: login}
data: {password: {{ if $old }}{{ $old.data.password }}{{ else }}{{ randAlphaNum 16 | b64enc }}{{ end }}, theirs: "{{ if $theirs }}{{ $theirs.data.a }}{{ end }}"}
`
	in := inputOf(chartOf(map[string]string{"templates/a.yaml": kept, "templates/b.yaml": configMap + "{}"}))
	first := dataOf(t, runs(t, s, &in), "login", "password")
	for _, op := range []lifecycle.OperationType{lifecycle.ScaleVNF, lifecycle.ChangePackage} {
		in.Operation, in.Mark = op, in.Mark+"x"
		p := runs(t, s, &in)
		if got := dataOf(t, p, "login", "password"); got != first || first == "" {
			t.Errorf("after %s the password is %q, was %q", op, got, first)
		}
		if got := dataOf(t, p, "login", "theirs"); got != "" {
			t.Errorf("%s shows another's Secret: %q", op, got)
		}
	}
	for _, r := range driver().Survey(in).Rules {
		if len(r.ResourceNames) == 0 || strings.Join(r.Verbs, ",") != "get" {
			t.Errorf("the lease of the plan allows %v", r)
		}
	}
}

// TestSecretsThatAChartMakesUp: a revision that would replace one is refused, unless it is asked for; certificates are
// made anew.
func TestSecretsThatAChartMakesUp(t *testing.T) {
	s := fakeobjects.New(t)
	const made = "apiVersion: v1\nkind: Secret\nmetadata: {name: login}\ndata: {KEY: {{ randAlphaNum 16 | b64enc }}}\n"
	for key, refused := range map[string]bool{"password": true, "tls.key": false} {
		in := inputOf(chartOf(map[string]string{"templates/a.yaml": strings.ReplaceAll(made, "KEY", key)}))
		runs(t, s, &in)
		in.Operation, in.Mark = lifecycle.ScaleVNF, in.Mark+"x"
		_, err := plan(t, s, in)
		if errors.Is(err, broker.ErrConflict) != refused || refused && !strings.Contains(err.Error(), "Secret cnf/login would change") || !refused && err != nil {
			t.Errorf("with %s: %v, want a conflict: %t", key, err, refused)
		}
		in.Parameters = json.RawMessage(`{"helm_new_secrets":true}`)
		if _, err := plan(t, s, in); err != nil {
			t.Errorf("with %s, as asked for: %v", key, err)
		}
		for _, r := range in.Standing {
			s.Remove(fakeobjects.Path(r))
		}
	}
}

// TestChartsAsPeopleWriteThem: definitions that a chart brings and uses, names with colons and long ones, files that
// .helmignore leaves out, roles of paths.
func TestChartsAsPeopleWriteThem(t *testing.T) {
	s := fakeobjects.New(t)
	s.Serve(fakeobjects.Kind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole", Plural: "clusterroles"})
	s.Serve(fakeobjects.Kind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding", Plural: "clusterrolebindings"})
	const rbac = "---\napiVersion: rbac.authorization.k8s.io/v1\n"
	in := inputOf(chartOf(map[string]string{
		".helmignore":        "# tests\n*.orig\nscratch/\n",
		"templates/bad.orig": "{{ fail \"left out\" }}", "templates/scratch/bad.yaml": "{{ fail \"left out\" }}",
		"crds/a.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n" +
			"spec: {group: example.com, scope: Namespaced, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, storage: true}]}\n",
		"templates/a.yaml": "{{ if .Capabilities.APIVersions.Has \"example.com/v1/Thing\" }}\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: one}\nspec: {}\n{{ end }}\n",
		"templates/b.yaml": rbac + "kind: ClusterRole\nmetadata: {name: \"{{ .Release.Name }}-system:aggregated\"}\nrules: [{nonResourceURLs: [/metrics], verbs: [get]}]\n" +
			rbac + "kind: ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: \"{{ .Release.Name }}-system:aggregated\"}\n",
	}))
	p := runs(t, s, &in)
	if applied(p, "one") == "" {
		t.Errorf("the custom resource is not made: %v", p.Resources)
	}
	verbs := map[string]bool{}
	for _, stage := range p.Stages {
		for _, r := range stage.Grant.Rules {
			if r.Resources[0] == "clusterroles" {
				verbs[strings.Join(r.Verbs, ",")] = true
			}
		}
	}
	if !verbs["bind"] || !verbs["escalate"] {
		t.Errorf("of the role the leases allow %v, want bind and escalate", verbs)
	}
	long := inputOf(chartOf(map[string]string{"templates/a.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: " + strings.Repeat("a", 64) + "}\n"}))
	if _, err := plan(t, s, long); !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), "shorten it") {
		t.Errorf("a name that is too long: %v", err)
	}
}
