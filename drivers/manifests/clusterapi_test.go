package manifests_test

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// A cluster is ready when it says that it is available, and its machines when all are: kstatus
// takes both for ready as soon as they are there.
func TestReadinessOfClusters(t *testing.T) {
	s := fakeobjects.New(t)
	kinds := map[string]string{"Cluster": "clusters", "MachineDeployment": "machinedeployments"}
	for kind, plural := range kinds {
		s.Serve(fakeobjects.Kind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: kind, Plural: plural, Namespaced: true, Scales: true})
	}
	condition := func(kind, status, reason string) any {
		return map[string]any{"type": kind, "status": status, "reason": reason, "message": "of others"}
	}
	type m = map[string]any
	for _, c := range []struct {
		kind   string
		status m
		want   string // empty: ready
	}{
		{"Cluster", nil, "is not available"},
		{"Cluster", m{"conditions": []any{
			condition("Available", "False", "NotAvailable"), condition("Deleting", "False", "NotDeleting"),
			condition("RemoteConnectionProbe", "Unknown", "ProbeFailed"), condition("InfrastructureReady", "True", "Ready"),
		}}, "is not available: RemoteConnectionProbe is Unknown (ProbeFailed)"},
		{"Cluster", m{"conditions": []any{condition("WorkersAvailable", "False", "NotAvailable"), condition("Available", "True", "Available")}}, ""},
		{"Cluster", m{"observedGeneration": 1, "conditions": []any{condition("Available", "True", "Available")}}, "generation"},
		{"MachineDeployment", nil, "is not ready: 0 of 3 machines are up to date"},
		{"MachineDeployment", m{"replicas": 3, "availableReplicas": 2, "upToDateReplicas": 3}, "is not ready: 2 of 3 machines are available"},
		{"MachineDeployment", m{"replicas": 4, "availableReplicas": 3, "upToDateReplicas": 3}, "is not ready: 4 of 3 machines are there"},
		{"MachineDeployment", m{"replicas": 3, "availableReplicas": 3, "upToDateReplicas": 3}, ""},
	} {
		r := lifecycle.Resource{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: c.kind, Plural: kinds[c.kind], Namespace: "cnf", Name: "edge"}
		s.Put(fakeobjects.Path(r), m{
			"kind": c.kind, "apiVersion": "cluster.x-k8s.io/v1beta2", "spec": m{"replicas": 3}, "status": c.status,
			"metadata": m{"name": "edge", "namespace": "cnf", "generation": 2, "labels": m{"vimbroker.io/instance": instance}},
		})
		g := lifecycle.StageRules{Namespaces: []string{"cnf"}, Rules: rulesFor(r, "get")}
		seen, err := manifests.New().Observe(t.Context(), s.Connection(g), instance, []lifecycle.Resource{r})
		if err != nil {
			t.Fatal(err)
		}
		if o := seen[0]; o.Ready != (c.want == "") || !strings.Contains(o.Message, c.want) || strings.Contains(o.Message, "others") {
			t.Errorf("%s with %v: ready %t, %q, want %q", c.kind, c.status, o.Ready, o.Message, c.want)
		}
	}
}

// What a controller still has to end with a custom resource is not deleted before it, and what owns nothing goes at once.
func TestPropagation(t *testing.T) {
	s := fakeobjects.New(t)
	s.Serve(fakeobjects.Kind{Group: "a.example", Version: "v1", Kind: "Thing", Plural: "things", Namespaced: true})
	thing := lifecycle.Resource{Group: "a.example", Version: "v1", Kind: "Thing", Plural: "things", Namespace: "cnf", Name: "a"}
	web := lifecycle.Resource{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespace: "cnf", Name: "a"}
	secret := lifecycle.Resource{Version: "v1", Kind: "Secret", Plural: "secrets", Namespace: "cnf", Name: "a"}
	theirs := lifecycle.Resource{Group: "a.example", Version: "v1", Kind: "Secret", Plural: "secrets", Namespace: "cnf", Name: "a"}
	s.Serve(fakeobjects.Kind{Group: "a.example", Version: "v1", Kind: "Secret", Plural: "secrets", Namespaced: true})
	for _, c := range []struct {
		r         lifecycle.Resource
		finalizer bool
		want      string
	}{{secret, false, "Background"}, {theirs, false, "Foreground"}, {thing, true, "Background"}, {thing, false, "Foreground"}, {web, true, "Foreground"}} {
		meta := map[string]any{"name": "a", "namespace": "cnf", "labels": map[string]any{"vimbroker.io/instance": instance}}
		if c.finalizer {
			meta["finalizers"] = []any{"a.example/end"}
		}
		s.Put(fakeobjects.Path(c.r), map[string]any{"kind": c.r.Kind, "apiVersion": strings.TrimPrefix(c.r.Group+"/v1", "/"), "metadata": meta})
		g := lifecycle.StageRules{Namespaces: []string{"cnf"}, Rules: rulesFor(c.r, "get", "delete")}
		w := lifecycle.Wave{Deed: lifecycle.Delete, Objects: []lifecycle.Object{{Resource: c.r}}}
		err := manifests.New().Run(t.Context(), s.Connection(g), instance, w, func(lifecycle.Observation) { s.Remove(fakeobjects.Path(c.r)) })
		if err != nil {
			t.Fatal(err)
		}
		calls := s.Calls()
		if got := calls[len(calls)-1]; got != "DELETE "+fakeobjects.Path(c.r)+" "+c.want {
			t.Errorf("%s, finalizer %t: %s, want %s", c.r.Kind, c.finalizer, got, c.want)
		}
	}
}

func rulesFor(r lifecycle.Resource, verbs ...string) []broker.Rule {
	return []broker.Rule{{APIGroups: []string{r.Group}, Resources: []string{r.Plural}, ResourceNames: []string{r.Name}, Verbs: verbs}}
}
