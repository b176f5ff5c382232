package manifests

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// TestARuleOfTheOrderMeansAllThatItSays: kind, name and each of its labels, a label without a value too.
func TestARuleOfTheOrderMeansAllThatItSays(t *testing.T) {
	o := objectOf(t, "v1", "ConfigMap", `"data":{}`)
	mapAt(o.content, "metadata")["labels"] = map[string]any{"tier": "back", "app": "web", "none": ""}
	for _, c := range []struct {
		rule lifecycle.WaveRule
		want bool
	}{
		{lifecycle.WaveRule{}, true},
		{lifecycle.WaveRule{Kind: "ConfigMap"}, true},
		{lifecycle.WaveRule{Kind: "Secret"}, false},
		{lifecycle.WaveRule{Name: "a"}, true},
		{lifecycle.WaveRule{Name: "b"}, false},
		{lifecycle.WaveRule{Kind: "ConfigMap", Name: "b"}, false},
		{lifecycle.WaveRule{Kind: "Secret", Name: "a"}, false},
		{lifecycle.WaveRule{Labels: map[string]string{"tier": "back"}}, true},
		{lifecycle.WaveRule{Labels: map[string]string{"tier": "front"}}, false},
		{lifecycle.WaveRule{Labels: map[string]string{"tier": "back", "app": "web"}}, true},
		{lifecycle.WaveRule{Labels: map[string]string{"tier": "back", "app": "db"}}, false},
		{lifecycle.WaveRule{Labels: map[string]string{"tier": "front", "app": "web"}}, false},
		{lifecycle.WaveRule{Labels: map[string]string{"none": ""}}, true},
		{lifecycle.WaveRule{Labels: map[string]string{"other": ""}}, false},
		{lifecycle.WaveRule{Name: "b", Labels: map[string]string{"tier": "back"}}, false},
	} {
		if got := orders(c.rule, o); got != c.want {
			t.Errorf("%+v is about it: %t", c.rule, got)
		}
	}
}

// TestARuleAboutNothingIsNamedWhereItStands: of the request's and the package's rules each, whichever others are used.
func TestARuleAboutNothingIsNamedWhereItStands(t *testing.T) {
	good, bad := lifecycle.WaveRule{Kind: "ConfigMap", Wave: 1}, lifecycle.WaveRule{Kind: "Secret"}
	for _, c := range []struct {
		request, packaged []lifecycle.WaveRule
		want              string
	}{
		{nil, nil, ""},
		{[]lifecycle.WaveRule{good}, []lifecycle.WaveRule{good, good}, ""},
		{[]lifecycle.WaveRule{good, bad}, []lifecycle.WaveRule{good}, "rule 2 is about no object of the package"},
		{[]lifecycle.WaveRule{bad, good}, nil, "rule 1 is about no object of the package"},
		{[]lifecycle.WaveRule{good}, []lifecycle.WaveRule{bad}, "order.yaml: rule 1 is about no object of the package"},
		{[]lifecycle.WaveRule{good, good}, []lifecycle.WaveRule{good, good, bad}, "order.yaml: rule 3 is about no object of the package"},
		{nil, []lifecycle.WaveRule{good, bad}, "order.yaml: rule 2 is about no object of the package"},
	} {
		if err := putIntoWaves([]*object{objectOf(t, "v1", "ConfigMap", `"data":{}`)}, c.request, c.packaged); detail(err) != c.want {
			t.Errorf("%v and %v: %v, want %q", c.request, c.packaged, err, c.want)
		}
	}
}

// TestEachSubjectOfABindingIsLookedAt, and no account of another kind or namespace is meant.
func TestEachSubjectOfABindingIsLookedAt(t *testing.T) {
	const ours, other, user = `{"kind":"ServiceAccount","namespace":"default","name":"a"}`, `{"kind":"ServiceAccount","namespace":"cnf","name":"a"}`, `{"kind":"User","namespace":"default","name":"u"}`
	for subjects, refused := range map[string]bool{ours: true, other + "," + ours: true, ours + "," + other: true, user + "," + ours: true, other + "," + user: false, "": false} {
		for _, kind := range []string{"RoleBinding", "ClusterRoleBinding"} {
			o := objectOf(t, "rbac.authorization.k8s.io/v1", kind, `"subjects":[`+subjects+`]`)
			if err := o.boundElsewhere("cnf"); (err != nil) != refused {
				t.Errorf("%s of %s: %v", kind, subjects, err)
			}
			if err := o.boundElsewhere("default"); err != nil {
				t.Errorf("%s of %s in default: %v", kind, subjects, err)
			}
		}
	}
}

// TestEachVersionOfADefinitionThatIsServedIsAKind; what the cluster says of a kind counts before what a definition says.
func TestEachVersionOfADefinitionThatIsServedIsAKind(t *testing.T) {
	o := objectOf(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", `"spec":{"group":"x.example","scope":"Namespaced","names":{"kind":"X","plural":"xs"},"versions":[`+
		`{"name":"v1","served":false},{"name":"v2","served":true},{"name":"v3","served":true,"subresources":{"scale":{}}},{"name":"v4","served":"true"}]}`)
	k := kinds{{"x.example", "v3", "X"}: {plural: "known"}}
	if err := k.define(o); err != nil {
		t.Fatal(err)
	}
	want := kinds{{"x.example", "v2", "X"}: {plural: "xs", namespaced: true}, {"x.example", "v3", "X"}: {plural: "known"}}
	if !maps.Equal(k, want) {
		t.Errorf("known are %v, want %v", k, want)
	}
	shared := kinds{{"x.example", "v2", "X"}: {plural: "of the cluster"}}
	defined := kinds{{"x.example", "v2", "X"}: {plural: "of before"}, {"y.example", "v1", "Y"}: {plural: "ys"}}
	shared.share([]*object{o}, defined)
	if shared[groupKind{"x.example", "v2", "X"}].plural != "of the cluster" || shared[groupKind{"y.example", "v1", "Y"}].plural != "ys" || len(shared) != 2 {
		t.Errorf("shared are %v", shared)
	}
	if defined[groupKind{"x.example", "v2", "X"}].plural != "of before" || defined[groupKind{"x.example", "v3", "X"}].plural != "xs" {
		t.Errorf("defined for what follows are %v", defined)
	}
}

// TestWhatIsMadeLastGoesFirst: by waves, and within a wave by kinds.
func TestWhatIsMadeLastGoesFirst(t *testing.T) {
	var all []lifecycle.Resource
	for _, r := range []lifecycle.Resource{
		{Kind: "ConfigMap", Plural: "configmaps", Wave: 1},
		{Kind: "Secret", Plural: "secrets", Wave: 2},
		{Kind: "Service", Plural: "services", Wave: 1},
		{Group: "apps", Kind: "Deployment", Plural: "deployments", Wave: 0},
		{Kind: "Namespace", Plural: "namespaces", Wave: 0},
		{Group: "x.example", Kind: "Service", Plural: "services", Wave: 1},
	} {
		r.Version, r.Name, r.Namespace = "v1", strings.ToLower(r.Kind)+r.Group, "cnf"
		all = append(all, r)
	}
	list := func(group string, kinds ...string) string {
		var of []string
		for _, kind := range kinds {
			of = append(of, `{"kind":"`+kind+`","name":"`+strings.ToLower(kind)+`s","namespaced":true,"verbs":["patch","delete"]}`)
		}
		return `{"kind":"APIResourceList","groupVersion":"` + group + `","resources":[` + strings.Join(of, ",") + `]}`
	}
	s := on(&script{answers: map[string][]string{
		"GET /api/v1":       {list("v1", "ConfigMap", "Secret", "Service", "Namespace")},
		"GET /apis/apps/v1": {list("apps/v1", "Deployment")}, "GET /apis/x.example/v1": {list("x.example/v1", "Service")},
	}})
	for range all {
		all = append(all[1:], all[0])
		var p draft
		if err := p.remove(t.Context(), s, lifecycle.PlanInput{Standing: all}, all); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, stage := range p.done().Stages {
			for _, w := range stage.Waves {
				got = append(got, "|")
				for _, o := range w.Objects {
					got = append(got, o.Name)
				}
			}
		}
		if want := "| secret | servicex.example service configmap | deploymentapps namespace"; strings.Join(got, " ") != want {
			t.Errorf("they go as %q, want %q", got, want)
		}
	}
}

// TestEachVolumeAndClaimOfAPodIsLookedAt, the first, the last and those between.
func TestEachVolumeAndClaimOfAPodIsLookedAt(t *testing.T) {
	const free = `{"name":"f","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}}`
	taken := strings.Replace(free, `"accessModes"`, `"volumeName":"pv","accessModes"`, 1)
	for _, list := range [][]string{{taken, free, free}, {free, taken, free}, {free, free, taken}} {
		f := latest(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[`+strings.Join(list, ",")+`]}}`)
		if !slices.ContainsFunc(f.Reaches, func(r lifecycle.Reach) bool { return r.Field == "volumeName" }) {
			t.Errorf("%.40q first: %+v", list, f.Reaches)
		}
	}
	const calm, wild = `{"containers":[{"name":"c","image":"i"}]}`, `{"priorityClassName":"system-node-critical","containers":[{"name":"c","image":"j"}]}`
	for _, pods := range []string{calm + "," + wild, wild + "," + calm} {
		f := latest(t, `{"apiVersion":"x.example/v1","kind":"X","metadata":{"name":"x"},"spec":{"pods":[`+pods+`]}}`)
		if !slices.ContainsFunc(f.Reaches, func(r lifecycle.Reach) bool { return r.Field == "priorityClassName" }) || len(f.Images) != 2 {
			t.Errorf("%s: %+v", pods, f)
		}
	}
}

// TestWhoTookFieldsIsNamedOnce, each of several, and nobody who had them before.
func TestWhoTookFieldsIsNamedOnce(t *testing.T) {
	of := func(manager, operation, time, fields string) string {
		return `{"manager":"` + manager + `","operation":"` + operation + `","time":"` + time + `","fieldsV1":` + fields + `}`
	}
	o := read(t, `{"kind":"X","metadata":{"name":"a","managedFields":[`+strings.Join([]string{
		of("us", "Apply", "2026-01-02T00:00:00Z", `{"f:spec":{}}`), of("kubectl", "Update", "2026-01-03T00:00:00Z", "{}"),
		of("kubectl", "Apply", "2026-01-04T00:00:00Z", "{}"), of("argo", "Apply", "2026-01-02T00:00:00Z", "{}"), of("old", "Update", "2026-01-01T23:59:59Z", "{}"),
	}, ",")+`]}}`)
	if got := o.changedBy("another mark", false); !slices.Equal(got, []string{"kubectl", "argo"}) {
		t.Errorf("changed by %q", got)
	}
	if got := o.changedBy(o.mark(), false); got != nil {
		t.Errorf("unchanged it is changed by %q", got)
	}
}

// TestEachVariableOfATextIsSet, or has a default of its own; the first that has neither is named.
func TestEachVariableOfATextIsSet(t *testing.T) {
	v := variables{"A": "1", "B": ""}
	for text, want := range map[string]string{
		"${A}${B}${C:=3}": "13", "${C:=3}-${D:=4}-${A:=5}": "3-4-1", "$${A}${A}": "${A}1", "${C:=}": "", "${C:=a:=b}": "a:=b",
	} {
		if got, err := v.fill(text); err != nil || got != want {
			t.Errorf("%s is %q, %v, want %q", text, got, err, want)
		}
	}
	for text, unset := range map[string]string{"${C:=3}${D}": "D", "${D}${C:=3}": "D", "${D}${E}": "D", "${A}${E}": "E", "$${C}${D}": "D"} {
		if got, err := v.fill(text); err == nil || !strings.HasPrefix(err.Error(), "variable "+unset+" is not set") || got != "" {
			t.Errorf("%s is %q, %v, want %s to be unset", text, got, err, unset)
		}
	}
}

// TestLabelsOfOurPrefixAreFoundAnywhere: on the object, on a template of pods at whatever depth, in a list.
func TestLabelsOfOurPrefixAreFoundAnywhere(t *testing.T) {
	const label = `"labels":{"vimbroker.io/instance":"x"}`
	for _, rest := range []string{
		`"spec":{"template":{"metadata":{` + label + `}}}`, `"spec":{"list":[{"a":1},{"metadata":{` + label + `}}]}`, `"spec":{"selector":{"a":{"b":{` + label + `}}}}`,
	} {
		o := objectOf(t, "x.example/v1", "X", rest)
		if err := o.read(); !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), "a label that begins with vimbroker.io/") {
			t.Errorf("%s: %v", rest, err)
		}
		if unlabel(o.content); labelled(o.content) {
			t.Errorf("%s: it still is there", rest)
		}
	}
	if labelled(objectOf(t, "x.example/v1", "X", `"spec":{"labels":{"vimbroker.iox/a":"x"},"annotations":{"vimbroker.io/a":"x"}}`).content) {
		t.Error("what is no such label is found")
	}
}

// TestKindsHaveTheirPlaceInTheirOwnGroups: a kind of others that has the name of one of Kubernetes' has none.
func TestKindsHaveTheirPlaceInTheirOwnGroups(t *testing.T) {
	for _, kind := range order {
		if r := (lifecycle.Resource{Group: "x.example", Kind: kind}); rank(r) != len(order) || !isCustom(r) {
			t.Errorf("%s of others has place %d", kind, rank(r))
		}
	}
	for group, kind := range map[string]string{"": "Service", "apps": "Deployment", "batch": "Job", "networking.k8s.io": "Ingress", "policy": "PodDisruptionBudget"} {
		if r := (lifecycle.Resource{Group: group, Kind: kind}); rank(r) == len(order) || isCustom(r) {
			t.Errorf("%s of %s has no place", kind, group)
		}
		if r := (lifecycle.Resource{Group: group, Kind: "Other"}); rank(r) != len(order) || isCustom(r) {
			t.Errorf("another kind of %s has place %d", group, rank(r))
		}
	}
}

// TestAnAutoscalerIsForAWorkloadBesideIt: by kind, name and namespace.
func TestAnAutoscalerIsForAWorkloadBesideIt(t *testing.T) {
	var scaler map[string]any
	if err := json.Unmarshal([]byte(`{"spec":{"scaleTargetRef":{"kind":"Deployment","name":"web"}}}`), &scaler); err != nil {
		t.Fatal(err)
	}
	targets := map[identity]bool{scaleTarget("cnf", scaler): true}
	for _, c := range []struct {
		kind, namespace, name string
		want                  bool
	}{
		{"Deployment", "cnf", "web", true},
		{"Deployment", "other", "web", false},
		{"StatefulSet", "cnf", "web", false},
		{"Deployment", "cnf", "db", false},
		{"Deployment", "", "web", false},
	} {
		if got := targets[scaledAs(lifecycle.Resource{Group: "apps", Kind: c.kind, Namespace: c.namespace, Name: c.name})]; got != c.want {
			t.Errorf("%+v is scaled: %t", c, got)
		}
	}
}

// TestClaimsOfEachTemplateAreSpared: those of others that any of a set's templates would take, and only where no volume is named
// in their place.
func TestClaimsOfEachTemplateAreSpared(t *testing.T) {
	const path = "/api/v1/namespaces/n/persistentvolumeclaims/"
	for claim, c := range map[string]struct {
		owner   string
		volumes []lifecycle.Volume
		refused bool
	}{
		"data-db-0": {"", nil, true}, "logs-db-0": {"j", nil, true}, "logs-db-12": {"", nil, true}, "data-db-1": {"i", nil, false},
		"other-db-0": {"", nil, false}, "data-db": {"", nil, false}, "data-db-x": {"", nil, false}, "data-db-0-1": {"", nil, false},
		"logs-db-1": {"", []lifecycle.Volume{{Storage: "logs-db-1", Claim: "logs-db-1"}}, false}, "data-db-2": {"", []lifecycle.Volume{{Storage: "x", Claim: "x"}}, true},
	} {
		cluster := fakeobjects.New(t)
		labels := map[string]any{}
		if c.owner != "" {
			labels[instanceLabel] = c.owner
		}
		cluster.Put(path+claim, map[string]any{"kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": claim, "namespace": "n", "labels": labels}})
		s := on(&script{})
		s.further = func(_ context.Context, g lifecycle.StageRules, do func(lifecycle.Connection) error) error {
			return do(cluster.Connection(g))
		}
		o := objectOf(t, "apps/v1", "StatefulSet", `"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"}},{"metadata":{"name":"logs"}}]}`)
		o.Name, o.Namespace = "db", "n"
		mounted := map[string]bool{}
		err := s.spared(t.Context(), lifecycle.PlanInput{Instance: "i", Namespace: "n", Volumes: c.volumes}, o, mounted)
		if c.refused != (err != nil) || c.refused && !strings.Contains(detail(err), "do not name claim "+claim+",") || mounted[claim] != (len(c.volumes) == 1 && !c.refused) {
			t.Errorf("%s: %v, mounted %v", claim, err, mounted)
		}
		for _, template := range mappings(mapAt(o.content, "spec")["volumeClaimTemplates"]) {
			if text(mapAt(template, "metadata", "labels"), instanceLabel) != "i" {
				t.Errorf("%s: a template is labelled %v", claim, template)
			}
		}
	}
}

// TestEachVolumeThatIsNamedIsMounted: each of several, in each pod that names its claim, and one that nothing mounts is told.
func TestEachVolumeThatIsNamedIsMounted(t *testing.T) {
	pod := func(claims ...string) *object {
		var all []string
		for _, name := range claims {
			all = append(all, `{"name":"v","persistentVolumeClaim":{"claimName":"`+name+`"}}`)
		}
		o := objectOf(t, "v1", "Pod", `"spec":{"containers":[{"name":"c"}],"volumes":[`+strings.Join(all, ",")+`]}`)
		return o
	}
	in := lifecycle.PlanInput{Instance: "i", Namespace: "cnf", Volumes: []lifecycle.Volume{{Storage: "a", Claim: "claim-a"}, {Storage: "b", Claim: "claim-b"}, {Storage: "c", Claim: "claim-c"}}}
	for _, c := range []struct {
		pods []*object
		want string
		says string
	}{
		{[]*object{pod("a", "b", "c")}, "claim-a claim-b claim-c", ""},
		{[]*object{pod("c"), pod("other", "b"), pod("a", "c")}, "claim-c other claim-b claim-a claim-c", ""},
		{[]*object{pod("a", "b")}, "", "names c, and no pod"},
		{[]*object{pod("a", "c")}, "", "names b, and no pod"},
		{[]*object{pod("b"), pod("c")}, "", "names a, and no pod"},
		{[]*object{pod("a", "b", "c"), pod("vimbroker-1")}, "", "names the claim of a volume"},
		{[]*object{pod("vimbroker-1", "a"), pod("b", "c")}, "", "names the claim of a volume"},
	} {
		all, err := on(&script{}).mount(t.Context(), in, c.pods, true)
		var got []string
		for _, o := range all {
			for _, v := range mappings(mapAt(o.content, "spec")["volumes"]) {
				got = append(got, text(mapAt(v, "persistentVolumeClaim"), "claimName"))
			}
		}
		if strings.Join(got, " ") != c.want || !strings.Contains(detail(err), c.says) || err == nil != (c.says == "") {
			t.Errorf("mounted are %q, %v, want %q, %q", got, err, c.want, c.says)
		}
	}
}
