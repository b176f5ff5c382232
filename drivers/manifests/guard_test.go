package manifests_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// says is an answer of an API server, once.
func says(method, path, body string) fake.Fault {
	return fake.Fault{Method: method, Path: path, Kind: fake.JSON, Status: http.StatusOK, Body: body}
}

// Discovery that no API server gives is no answer: a kind is neither taken as served nor as missing.
func TestDiscoveryOfNoAPIServer(t *testing.T) {
	const unheard = "apiVersion: example.com/v1\nkind: Unheard\nmetadata: {name: a}\n"
	kinds := func(list, plural, verbs string) string {
		return `{"kind":"` + list + `","resources":[{"name":"` + plural + `","kind":"ConfigMap","namespaced":true,"verbs":[` + verbs + `]}]}`
	}
	const all = `"get","create","patch","delete"`
	for name, c := range map[string]struct {
		manifest string
		answer   fake.Fault
		want     error
	}{
		"groups by nobody":     {unheard, says("GET", "^/apis$", `{"groups":[]}`), broker.ErrUnreachable},
		"groups without it":    {unheard, says("GET", "^/apis$", `{"kind":"APIGroupList","groups":[]}`), broker.ErrUnsupported},
		"groups with it":       {unheard, says("GET", "^/apis$", `{"kind":"APIGroupList","groups":[{"name":"example.com","versions":[{"version":"v1"}]}]}`), broker.ErrUnreachable},
		"kinds by nobody":      {configMap("a"), says("GET", "^/api/v1$", kinds("List", "configmaps", all)), broker.ErrUnreachable},
		"a plural that climbs": {configMap("a"), says("GET", "^/api/v1$", kinds("APIResourceList", "..", all)), broker.ErrUnsupported},
		"without patch":        {configMap("a"), says("GET", "^/api/v1$", kinds("APIResourceList", "configmaps", `"create","delete"`)), broker.ErrInvalid},
		"without delete":       {configMap("a"), says("GET", "^/api/v1$", kinds("APIResourceList", "configmaps", `"create","patch"`)), broker.ErrInvalid},
		"as it should be":      {configMap("a"), says("GET", "^/api/v1$", kinds("APIResourceList", "configmaps", all)), nil},
	} {
		s := fakeobjects.New(t)
		s.Fail(c.answer)
		if _, err := plan(t, s, input(c.manifest)); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// What is answered for one object and is not it, or is nobody's, says nothing of how it stands.
func TestAnswersAboutAnotherObject(t *testing.T) {
	const owned = `"labels":{"vimbroker.io/instance":"` + instance + `"}`
	r := lifecycle.Resource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespace: "cnf", Name: "a", Applied: "0"}
	for name, c := range map[string]struct{ body, want string }{
		"another's name":     {`{"kind":"ConfigMap","metadata":{"name":"b","uid":"u",` + owned + `}}`, broker.ErrUnreachable.Error()},
		"no identity":        {`{"kind":"ConfigMap","metadata":{"name":"a",` + owned + `}}`, broker.ErrUnreachable.Error()},
		"one that is to go":  {`{"kind":"ConfigMap","metadata":{"name":"a","uid":"u","deletionTimestamp":"x","finalizers":["f/x"],` + owned + `}}`, "true false is being deleted and waits for f/x (its controller takes that away; see whether that one runs) [unknown]"},
		"a status' hand":     {`{"kind":"ConfigMap","metadata":{"name":"a","uid":"u",` + owned + `,"managedFields":[{"manager":"kubelet","subresource":"status","time":"2"},{"manager":"hand","time":"2"}]}}`, "true true  [hand]"},
		"a hand from before": {`{"kind":"ConfigMap","metadata":{"name":"a","uid":"u",` + owned + `,"managedFields":[{"manager":"vimbroker","operation":"Apply","time":"2"},{"manager":"old","time":"1"}]}}`, "true true  [unknown]"},
	} {
		s := fakeobjects.New(t)
		s.Fail(says("GET", "/configmaps/a$", c.body))
		got := ""
		all, err := manifests.New().Observe(t.Context(), s.Connection(everything), instance, []lifecycle.Resource{r})
		if err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(all[0].Standing, all[0].Ready, " "+all[0].Message, " ", all[0].ChangedBy)
			got = strings.Join(strings.Split(got, "  "), " ")
		}
		if want := strings.ReplaceAll(c.want, "  ", " "); err == nil && strings.ReplaceAll(got, "  ", " ") != want || err != nil && !errors.Is(err, broker.ErrUnreachable) {
			t.Errorf("%s is seen as %q, want %q", name, got, c.want)
		}
		if err == nil && c.want == broker.ErrUnreachable.Error() {
			t.Errorf("%s is seen as %q, want an error", name, got)
		}
	}
}

// everything may be seen.
var everything = lifecycle.StageRules{ClusterWide: true, Rules: []broker.Rule{
	{APIGroups: []string{"", "apps"}, Resources: []string{"configmaps", "deployments", "pods"}, Verbs: []string{"get", "list"}},
}}

// Of the pods that are listed only those of the instance that are to stay count, under names that can be repeated.
func TestPodsThatCount(t *testing.T) {
	const own = `"vimbroker.io/vdu":"web","vimbroker.io/instance":"`
	s := fakeobjects.New(t)
	_, standing := oneWeb(t, s)
	pods := func(kind string) string {
		return `{"kind":"` + kind + `","items":[
			{"metadata":{"name":"mine","uid":"1","labels":{` + own + instance + `"}}},
			{"metadata":{"name":"going","uid":"2","deletionTimestamp":"x","labels":{` + own + instance + `"}}},
			{"metadata":{"name":"theirs","uid":"3","labels":{` + own + `another"}}},
			{"metadata":{"name":"not a name","uid":"4","labels":{` + own + instance + `"}}}]}`
	}
	s.Fail(says("GET", "/pods$", pods("PodList")))
	all, err := manifests.New().Observe(t.Context(), s.Connection(everything), instance, standing)
	if err != nil || len(all[0].VNFCs) != 1 || all[0].VNFCs[0].Name != "mine" {
		t.Errorf("the VNFCs are %+v, %v, want the one pod that is the instance's", all, err)
	}
	s.Fail(says("GET", "/pods$", pods("List")))
	if _, err := manifests.New().Observe(t.Context(), s.Connection(everything), instance, standing); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("a list that is none of pods = %v", err)
	}
}

// What takes the place of an object that is waited for is not it, however ready it is.
func TestWaitingForOnesOwn(t *testing.T) {
	const path = "/apis/batch/v1/namespaces/cnf/jobs/schema"
	s := fakeobjects.New(t)
	s.Unready(true)
	looks := 0
	s.Fail(says("GET", path, `{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"schema","uid":"u"},"status":{"conditions":[{"type":"Complete","status":"True"}]}}`))
	s.Fail(fake.Fault{Method: "GET", Path: path, Kind: fake.Pass, Times: -1, Reached: func() {
		if looks++; looks == 3 {
			s.Change(path, "job-controller", func(o map[string]any) {
				o["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Complete", "status": "True"}}}
			})
		}
	}})
	if _, err := do(t, s, input("apiVersion: batch/v1\nkind: Job\nmetadata: {name: schema}\nspec: {}\n")); err != nil || looks < 3 {
		t.Errorf("after %d looks the wave has ended with %v", looks, err)
	}
}

// An answer to an apply that is the instance's object by name, and not by its label, is none.
func TestAppliedForAnother(t *testing.T) {
	s := fakeobjects.New(t)
	s.Fail(says("PATCH", "", `{"kind":"ConfigMap","metadata":{"name":"a","uid":"u","labels":{"vimbroker.io/instance":"another"}}}`))
	if _, err := do(t, s, input(configMap("a"))); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("an apply that was answered with another's object = %v", err)
	}
}

// A workload that takes the place of the instance's own is not scaled, and neither is one by an answer of nobody's.
func TestScalingOnesOwn(t *testing.T) {
	const path = "/apis/apps/v1/namespaces/cnf/deployments/web"
	s := fakeobjects.New(t)
	in, standing := oneWeb(t, s)
	in.Operation, in.Standing, in.Replicas, in.Scaled = lifecycle.ScaleVNF, standing, map[string]int32{"web": 3}, []string{"web"}
	s.Fail(says("PATCH", "/scale$", `{"kind":"Page"}`))
	if _, err := do(t, s, in); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("an answer of nobody's = %v", err)
	}
	s.Fail(fake.Fault{Method: "PATCH", Path: "/scale$", Kind: fake.Pass, Reached: func() {
		s.Remove(path)
		s.Put(path, map[string]any{"kind": "Deployment", "apiVersion": "apps/v1", "metadata": map[string]any{"name": "web"}, "spec": map[string]any{"replicas": 1.0}})
	}})
	if _, err := do(t, s, in); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("scaling what came in its place = %v", err)
	}
	if n := s.Get(path)["spec"].(map[string]any)["replicas"]; n != 1.0 {
		t.Errorf("what came in its place has %v replicas", n)
	}
}

// A 404 whose body speaks of another code is a gateway's: nothing is known of the object.
func TestMissingByAGateway(t *testing.T) {
	s := fakeobjects.New(t)
	s.Fail(fake.Fault{Method: "GET", Path: "/configmaps/a$", Kind: fake.JSON, Status: http.StatusNotFound, Body: `{"kind":"Status","code":410,"reason":"NotFound","details":{"kind":"configmaps","name":"a"}}`})
	r := lifecycle.Resource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespace: "cnf", Name: "a"}
	if all, err := manifests.New().Observe(t.Context(), s.Connection(everything), instance, []lifecycle.Resource{r}); err == nil {
		t.Errorf("it is seen as %+v", all)
	}
}

// A list that does not end is refused: a part of it would say that the rest is not there.
func TestEndlessLists(t *testing.T) {
	s := fakeobjects.New(t)
	_, standing := oneWeb(t, s)
	endless := func(plural, kind string) {
		fault := says("GET", "/"+plural+"$", `{"kind":"`+kind+`List","metadata":{"continue":"more"},"items":[]}`)
		fault.Times = -1
		s.Fail(fault)
	}
	endless("pods", "Pod")
	if _, err := manifests.New().Observe(t.Context(), s.Connection(everything), instance, standing); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("pods without end = %v", err)
	}
	endless("ingresses", "Ingress")
	if p, err := plan(t, s, input(webHost)); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("hosts of others without end = %+v, %v", p.Facts, err)
	}
	endless("horizontalpodautoscalers", "HorizontalPodAutoscaler")
	in := input(strings.Replace(webDeployment, "spec:\n", "spec:\n  replicas: 2\n", 1))
	in.Operation, in.Standing = lifecycle.Heal, standing
	if _, err := do(t, s, in); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("autoscalers without end = %v", err)
	}
}

// A pod that is to be replaced and is still listed is waited for.
func TestReplacedPodsAreGone(t *testing.T) {
	s := fakeobjects.New(t)
	in, standing := oneWeb(t, s)
	in.Operation, in.Standing = lifecycle.Heal, standing
	in.VNFCs = []lifecycle.VNFC{{VDU: "web", Kind: "Pod", Namespace: "cnf", Name: "old", UID: "old"}}
	listed := 0
	s.Fail(fake.Fault{Method: "GET", Path: "/pods$", Kind: fake.Custom, Times: -1, Answer: func(w http.ResponseWriter, _ *http.Request) {
		uid := "old"
		if listed++; listed > 3 {
			uid = "new"
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"PodList","items":[{"metadata":{"name":"old","uid":%q,"labels":{"vimbroker.io/vdu":"web","vimbroker.io/instance":%q}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}]}`, uid, instance)
	}})
	if _, err := do(t, s, in); err != nil || listed < 5 {
		t.Errorf("it has ended after the pods were listed %d times, with %v", listed, err)
	}
}

// What only the API server sets is not applied.
func TestStatusIsNotApplied(t *testing.T) {
	s := fakeobjects.New(t)
	if _, err := do(t, s, input(configMap("a")+"status: {phase: Done}\n")); err != nil {
		t.Fatal(err)
	}
	if o := s.Get("/api/v1/namespaces/cnf/configmaps/a"); o["status"] != nil {
		t.Errorf("the object is %v", o)
	}
}

// What policies weigh is found wherever it stands. A definition that is another's is used, and is not the instance's.
func TestFactsOfRareKinds(t *testing.T) {
	s := fakeobjects.New(t)
	s.Serve(fakeobjects.Kind{Version: "v1", Kind: "PersistentVolume", Plural: "persistentvolumes"})
	s.Serve(fakeobjects.Kind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService", Plural: "apiservices"})
	s.Serve(fakeobjects.Kind{Group: "ran.example.com", Version: "v1", Kind: "Slice", Plural: "slices", Namespaced: true})
	volume := func(of string) string {
		return "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: a}\nspec: {" + of + ": {path: /x}}\n"
	}
	slice := func(containers string) string {
		return "apiVersion: ran.example.com/v1\nkind: Slice\nmetadata: {name: a}\nspec: {pod: {" + containers + ": [{name: a, securityContext: {privileged: true}}]}}\n"
	}
	for text, privileged := range map[string]bool{
		volume("csi"): false, volume("hostPath"): true, volume("local"): true,
		slice("containers"): true, slice("initContainers"): true, slice("ephemeralContainers"): true, slice("others"): false,
	} {
		if p := mustPlan(t, s, input(text)); p.Facts.Privileged != privileged {
			t.Errorf("%s: privileged %t, want %t", text, p.Facts.Privileged, privileged)
		}
	}
	if p := mustPlan(t, s, input("apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.a}\n")); !p.Facts.BringsDefinitions {
		t.Errorf("an API service: %+v", p.Facts)
	}
	s.Put("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a.example.com", map[string]any{"kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "a.example.com"}})
	const definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.example.com}\n" +
		"spec: {group: example.com, scope: Namespaced, names: {kind: A, plural: a}, versions: [{name: v1, served: true}]}\n"
	if p := mustPlan(t, s, input(configMap("a"), definition)); len(p.Resources) != 1 || p.Facts.BringsDefinitions {
		t.Errorf("a definition that is another's: %+v", p.Resources)
	}
}
