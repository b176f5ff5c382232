package manifests_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

const webDeployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "example.com/web:1"}]}
`

// do plans and runs, and returns what the instance consists of.
func do(t *testing.T, s *fakeobjects.Server, in lifecycle.PlanInput) ([]lifecycle.Resource, error) {
	t.Helper()
	p := mustPlan(t, s, in)
	seen := map[string]lifecycle.Resource{}
	for _, stage := range p.Stages {
		for _, w := range stage.Waves {
			err := manifests.New().Run(t.Context(), s.Connection(stage.Grant), instance, w, func(o lifecycle.Observation) { seen[o.Name] = o.Resource })
			if err != nil {
				return nil, err
			}
		}
	}
	for n, r := range p.Resources {
		if made, ok := seen[r.Name]; ok {
			p.Resources[n] = made
		}
	}
	return p.Resources, nil
}

// oneWeb makes the web deployment with one replica.
func oneWeb(t *testing.T, s *fakeobjects.Server) (in lifecycle.PlanInput, standing []lifecycle.Resource) {
	t.Helper()
	in = input(webDeployment)
	in.Replicas = map[string]int32{"web": 1}
	standing, err := do(t, s, in)
	if err != nil {
		t.Fatal(err)
	}
	return in, standing
}

// What answers 200 and is no API server has made and deleted nothing.
func TestAnswersOfNoAPIServer(t *testing.T) {
	s := fakeobjects.New(t)
	in := input(configMap("a"))
	s.Fail(fake.Fault{Method: "PATCH", Kind: fake.JSON, Status: 200, Body: `{"kind":"ConfigMap","metadata":{"name":"other","uid":"u"}}`})
	if _, err := do(t, s, in); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("an apply that was answered with another object = %v", err)
	}
	standing, err := do(t, s, in)
	if err != nil {
		t.Fatal(err)
	}
	in.Operation, in.Standing = lifecycle.Terminate, standing
	s.Fail(fake.Fault{Method: "DELETE", Kind: fake.JSON, Status: 200, Body: `{}`})
	if _, err := do(t, s, in); !errors.Is(err, broker.ErrUnreachable) || len(s.Paths()) != 1 {
		t.Errorf("a deletion that was answered with nothing = %v, there is %v", err, s.Paths())
	}
}

// What has failed is not waited for.
func TestFailedJobEndsItsWave(t *testing.T) {
	const path = "/apis/batch/v1/namespaces/cnf/jobs/schema"
	s := fakeobjects.New(t)
	s.Unready(true)
	s.Fail(fake.Fault{Method: "GET", Path: path, Kind: fake.Pass, Reached: func() {
		s.Change(path, "job-controller", func(o map[string]any) {
			o["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}}}
		})
	}})
	_, err := do(t, s, input("apiVersion: batch/v1\nkind: Job\nmetadata: {name: schema}\nspec: {}\n"))
	if !errors.Is(err, lifecycle.ErrNotReady) || !strings.Contains(err.Error(), "BackoffLimitExceeded") {
		t.Errorf("a job that has failed = %v", err)
	}
}

// A pod that has taken the name of a VNFC, and one that is another's, are not removed with it; a workload of another
// is not scaled.
func TestVNFCsOfOthers(t *testing.T) {
	s := fakeobjects.New(t)
	in, standing := oneWeb(t, s)
	pod := func(name, owner, uid string) string {
		path := "/api/v1/namespaces/cnf/pods/" + name
		meta := map[string]any{"name": name, "namespace": "cnf", "uid": uid}
		if owner != "" {
			meta["labels"] = map[string]any{"vimbroker.io/instance": owner}
		}
		s.Put(path, map[string]any{"kind": "Pod", "apiVersion": "v1", "metadata": meta})
		return path
	}
	follower, theirs := pod("follower", instance, "new"), pod("theirs", "", "their-uid")
	in.Operation, in.Standing = lifecycle.Heal, standing
	in.VNFCs = []lifecycle.VNFC{
		{VDU: "web", Kind: "Pod", Namespace: "cnf", Name: "follower", UID: "old"},
		{VDU: "web", Kind: "Pod", Namespace: "cnf", Name: "theirs", UID: "their-uid"},
	}
	if _, err := do(t, s, in); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{follower, theirs} {
		if s.Get(path) == nil {
			t.Errorf("%s was removed", path)
		}
	}
	path := fakeobjects.Path(standing[0])
	s.Remove(path)
	s.Put(path, map[string]any{"kind": "Deployment", "metadata": map[string]any{"name": "web", "namespace": "cnf"}, "spec": map[string]any{"replicas": 1.0}})
	in.Operation, in.VNFCs, in.Replicas, in.Scaled = lifecycle.ScaleVNF, nil, map[string]int32{"web": 3}, []string{"web"}
	if _, err := do(t, s, in); !errors.Is(err, broker.ErrConflict) || s.Get(path)["spec"].(map[string]any)["replicas"] != 1.0 {
		t.Errorf("scaling another's workload = %v, and it is %v", err, s.Get(path))
	}
}

// A role that says more than one lease can hold is refused with what to do.
func TestRoleThatIsTooLargeForALease(t *testing.T) {
	var b strings.Builder
	b.WriteString("apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: large}\nrules:\n")
	for i := range 70 {
		fmt.Fprintf(&b, "- {apiGroups: [\"\"], resources: [configmaps], resourceNames: [c%d], verbs: [get]}\n", i)
	}
	if _, err := plan(t, fakeobjects.New(t), input(b.String())); !errors.Is(err, broker.ErrUnsupported) || !strings.Contains(err.Error(), "large") {
		t.Errorf("Plan = %v", err)
	}
}

// A binding to a role of the cluster, and a role that says more than a lease's rules can, need
// the permission for exactly that role.
func TestRolesThatAreNotBrought(t *testing.T) {
	const rbac = "apiVersion: rbac.authorization.k8s.io/v1\n"
	s := fakeobjects.New(t)
	for what, c := range map[string]struct{ manifest, rule string }{
		"a binding to view": {
			rbac + "kind: RoleBinding\nmetadata: {name: b}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\n",
			"bind:clusterroles.rbac.authorization.k8s.io/view",
		},
		"a role that aggregates": {
			rbac + "kind: ClusterRole\nmetadata: {name: all}\naggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}\n",
			"escalate:clusterroles.rbac.authorization.k8s.io/all",
		},
		"a role of paths": {
			rbac + "kind: ClusterRole\nmetadata: {name: paths}\nrules: [{nonResourceURLs: [/metrics], verbs: [get]}]\n",
			"escalate:clusterroles.rbac.authorization.k8s.io/paths",
		},
	} {
		found := false
		for _, stage := range mustPlan(t, s, input(c.manifest)).Stages {
			for _, r := range stage.Grant.Rules {
				verb, rest, _ := strings.Cut(c.rule, ":")
				found = found || slices.Contains(r.Verbs, verb) &&
					strings.Join(r.Resources, ",")+"."+strings.Join(r.APIGroups, ",")+"/"+strings.Join(r.ResourceNames, ",") == rest
			}
		}
		if !found {
			t.Errorf("the plan of %s does not ask for %s:\n%s", what, c.rule, shown(mustPlan(t, s, input(c.manifest))))
		}
	}
}
