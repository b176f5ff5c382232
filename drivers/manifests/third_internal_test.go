package manifests

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// TestEachVDUOfSeveralCanBeScaled, or is named, whether others can or not.
func TestEachVDUOfSeveralCanBeScaled(t *testing.T) {
	standing := []lifecycle.Resource{
		{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespace: "n", Name: "web", VDU: "web"},
		{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespace: "n", Name: "db", VDU: "db"},
		{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespace: "n", Name: "other"},
	}
	for _, c := range []struct {
		scaled []string
		want   string
	}{
		{[]string{"web", "db"}, ""},
		{[]string{"web", "other"}, "VDU other cannot be scaled: no workload of the instance has its name"},
		{[]string{"other", "web"}, "VDU other cannot be scaled: no workload of the instance has its name"},
		{[]string{"none"}, "VDU none cannot be scaled: no workload of the instance has its name"},
		{[]string{"web"}, ""},
	} {
		var p draft
		err := p.scale(t.Context(), on(&script{}), lifecycle.PlanInput{Standing: standing, Scaled: c.scaled, Replicas: map[string]int32{"web": 2, "db": 3}})
		if detail(err) != c.want {
			t.Errorf("%q: %v, want %q", c.scaled, err, c.want)
		}
		if c.want != "" {
			continue
		}
		var got []string
		for _, s := range p.done().Stages {
			for _, w := range s.Waves {
				for _, o := range w.Objects {
					got = append(got, fmt.Sprint(o.Name, o.Replicas))
				}
			}
		}
		if want := map[bool][]string{true: {"web2", "db3"}, false: {"web2"}}[len(c.scaled) == 2]; !slices.Equal(got, want) {
			t.Errorf("%q scales %q, want %q", c.scaled, got, want)
		}
	}
}

// TestWhatOutlivesStaysTheInstances, in a namespace or in none, however often its package changes.
func TestWhatOutlivesStaysTheInstances(t *testing.T) {
	all := []lifecycle.Resource{
		{Kind: "A", Name: "kept", Namespace: "n", Outlives: true},
		{Kind: "A", Name: "goes", Namespace: "n"},
		{Kind: "A", Name: "wide", Outlives: true},
		{Kind: "A", Name: "wider"},
		{Kind: "A", Name: "planned", Namespace: "n", Outlives: true},
	}
	p := draft{resources: []lifecycle.Resource{{Kind: "A", Name: "planned", Namespace: "n"}}}
	left := p.left(all)
	var has, gone []string
	for _, r := range p.resources {
		has = append(has, r.Name)
	}
	for _, r := range left {
		gone = append(gone, r.Name)
	}
	if strings.Join(has, " ") != "planned kept wide" || strings.Join(gone, " ") != "kept goes wide wider" {
		t.Errorf("it has %q, and left are %q", has, gone)
	}
}

// TestTwoWorkloadsOfOneVDUAreRefused, also where one of them, or both, stand already.
func TestTwoWorkloadsOfOneVDUAreRefused(t *testing.T) {
	known := kinds{{"apps", "v1", "Deployment"}: {plural: "deployments", namespaced: true, scales: true}, {"apps", "v1", "StatefulSet"}: {plural: "statefulsets", namespaced: true, scales: true}}
	for _, standing := range []string{"", "Deployment", "StatefulSet", "Deployment StatefulSet"} {
		in := lifecycle.PlanInput{Namespace: "cnf", Replicas: map[string]int32{"a": 1}}
		for kind := range strings.FieldsSeq(standing) {
			in.Standing = append(in.Standing, lifecycle.Resource{Group: "apps", Version: "v1", Kind: kind, Namespace: "cnf", Name: "a", UID: "u"})
		}
		all := []*object{objectOf(t, "apps/v1", "Deployment", `"spec":{}`), objectOf(t, "apps/v1", "StatefulSet", `"spec":{}`)}
		if err := settle(in, all, known, true); !errors.Is(err, broker.ErrInvalid) || !strings.Contains(detail(err), "are both named as VDU a") {
			t.Errorf("where %q stand: %v", standing, err)
		}
		if err := settle(in, all[:1], known, true); err != nil || all[0].VDU != "a" || mapAt(all[0].content, "spec")["replicas"] != int64(1) {
			t.Errorf("one alone, where %q stand: %v, %+v", standing, err, all[0].Resource)
		}
	}
}

// TestNetworksOfOtherNamespacesAreForeign, of names that begin as this one's, or that this one's begins as, too.
func TestNetworksOfOtherNamespacesAreForeign(t *testing.T) {
	for named, foreign := range map[string]bool{"cnf/a": false, "a": false, "cnf2/a": true, "cn/a": true, "cnf-b/a": true, "a, cnf2/b": true, "cnf2/b, a": true, "cnf/a, cnf/b": false} {
		for _, annotation := range []string{named, ""} {
			if annotation == "" {
				var items []string
				for one := range strings.SplitSeq(named, ", ") {
					space, name, is := strings.Cut(one, "/")
					if !is {
						space, name = "", one
					}
					items = append(items, fmt.Sprintf(`{\"name\":\"%s\",\"namespace\":\"%s\"}`, name, space))
				}
				annotation = "[" + strings.Join(items, ",") + "]"
			}
			o := objectOf(t, "apps/v1", "Deployment", `"spec":{"template":{"metadata":{"annotations":{"k8s.v1.cni.cncf.io/networks":"`+annotation+`"}},"spec":{"containers":[{"name":"c"}]}}}`)
			if got := len(foreignNetworks(o)) > 0; got != foreign {
				t.Errorf("%s is foreign: %t", annotation, got)
			}
		}
	}
}

// TestAPoolHoldsAllPodsThatMayBe: those of the manifest, of the descriptor and of its levels, of an autoscaler, and one that follows.
func TestAPoolHoldsAllPodsThatMayBe(t *testing.T) {
	for _, c := range []struct {
		kind                         string
		replicas, scaled             int64
		most, initial, levels, delta int
		pools                        bool
		want                         int64
	}{
		{"Deployment", 5, 0, 0, 0, 0, 0, true, 6},
		{"Deployment", 5, 0, 3, 1, 2, 1, true, 6},
		{"Deployment", 2, 0, 7, 1, 2, 1, true, 8},
		{"Deployment", 2, 0, 3, 1, 4, 2, true, 10},
		{"Deployment", 2, 9, 3, 1, 2, 1, true, 10},
		{"StatefulSet", 3, 0, 0, 0, 0, 0, true, 4},
		{"StatefulSet", 1, 0, 0, 0, 0, 0, false, 1},
		{"StatefulSet", 2, 0, 0, 0, 0, 0, false, 0},
		{"Deployment", 1, 0, 0, 0, 0, 0, false, 0},
		{"StatefulSet", 1, 3, 0, 0, 0, 0, false, 0},
		{"StatefulSet", 1, 3, 0, 0, 0, 0, true, 4},
		{"DaemonSet", 1, 0, 0, 0, 0, 0, true, 0},
	} {
		o := objectOf(t, "apps/v1", c.kind, `"spec":{}`)
		mapAt(o.content, "spec")["replicas"], o.VDU = c.replicas, "web"
		in := lifecycle.PlanInput{Flavour: vnfpkg.Flavour{
			VDUs:    map[string]vnfpkg.VDU{"V": {Name: "web", Max: c.most, Initial: c.initial}, "W": {Name: "other", Max: 99, Initial: 99}},
			Aspects: map[string]vnfpkg.Aspect{"x": {MaxLevel: c.levels, Deltas: map[string]int{"V": c.delta}}, "y": {MaxLevel: 99, Deltas: map[string]int{"W": 1}}},
		}}
		if got := o.pods(in, c.scaled, c.pools); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// TestAKindScalesByItsOwnSubresource, not by another's of its group.
func TestAKindScalesByItsOwnSubresource(t *testing.T) {
	k := kinds{}
	both := metav1.Verbs{"get", "patch", "delete"}
	k.add("x.example", "v1", []metav1.APIResource{
		{Name: "as", Kind: "A", Verbs: both},
		{Name: "bs", Kind: "B", Verbs: both},
		{Name: "bs/scale", Kind: "Scale"},
		{Name: "cs", Kind: "C", Verbs: metav1.Verbs{"patch"}},
		{Name: "ds", Kind: "D", Verbs: metav1.Verbs{"delete"}, Namespaced: true},
	})
	for name, want := range map[string]kind{
		"A": {plural: "as"}, "B": {plural: "bs", scales: true}, "C": {plural: "cs", fleeting: true}, "D": {plural: "ds", fleeting: true, namespaced: true}, "Scale": {},
	} {
		if got := k[groupKind{"x.example", "v1", name}]; got != want {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
}

// TestAllFilesTogetherAreBounded: none of them has to be too long.
func TestAllFilesTogetherAreBounded(t *testing.T) {
	files := []lifecycle.Manifest{{Path: "a.yaml", Text: secret.NewText(" ")}, {Path: "b.yaml", Text: secret.NewText(strings.Repeat(" ", maxText))}}
	if err := documents(files, func(document) error { return nil }); detail(err) != "the manifests hold more than 32 MiB" {
		t.Errorf("one byte more than may be: %v", err)
	}
}

// TestNoVersionOfBeforeIsSent with an object that is made or changed, whatever its manifest says; and the object that stands is the
// one that is meant.
func TestNoVersionOfBeforeIsSent(t *testing.T) {
	for name, c := range map[string]struct{ there, want string }{
		"one that is made":    {"", `"resourceVersion":"1"`},
		"one that is changed": {ourMap, `"uid":"u"`},
	} {
		s := &script{answers: map[string][]string{"PATCH " + mapPath: {ourMap}}}
		r, _ := doing(s, lifecycle.Wave{Deed: lifecycle.Apply})
		content, err := parse(lifecycle.Object{Resource: aMap, Manifest: secret.NewText(
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"of before","resourceVersion":"77"}}`)})
		if err != nil {
			t.Fatal(err)
		}
		var there *found
		if c.there != "" {
			there = read(t, c.there)
		}
		if _, err := r.patch(t.Context(), aMap, content, there); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if body := s.bodies[len(s.bodies)-1]; !strings.Contains(body, c.want) || strings.Contains(body, "77") || strings.Contains(body, "of before") || strings.Count(body, `"uid"`)+strings.Count(body, `"resourceVersion"`) != 1 {
			t.Errorf("%s: sent is %s", name, body)
		}
	}
}

// TestEachPartOfAClusterThatIsNotReadyIsTold, and no other condition.
func TestEachPartOfAClusterThatIsNotReadyIsTold(t *testing.T) {
	of := func(conditions ...string) *found {
		var all []string
		for _, c := range conditions {
			kind, status, _ := strings.Cut(c, "=")
			all = append(all, fmt.Sprintf(`{"type":%q,"status":%q,"reason":"Why"}`, kind, status))
		}
		return read(t, `{"kind":"Cluster","status":{"conditions":[`+strings.Join(all, ",")+`]}}`)
	}
	for _, c := range []struct {
		conditions []string
		want       state
	}{
		{[]string{"Available=True"}, state{ready: true}},
		{[]string{"InfrastructureReady=False", "Available=True"}, state{ready: true}},
		{nil, state{message: "is not available"}},
		{[]string{"Available=False", "Paused=False"}, state{message: "is not available"}},
		{
			[]string{"InfrastructureReady=False", "ControlPlaneAvailable=True", "RemoteConnectionProbe=Unknown", "WorkersAvailable=False", "Other=False"},
			state{message: "is not available: InfrastructureReady is False (Why), RemoteConnectionProbe is Unknown (Why), WorkersAvailable is False (Why)"},
		},
		{[]string{"ControlPlaneAvailable=False"}, state{message: "is not available: ControlPlaneAvailable is False (Why)"}},
	} {
		if got := of(c.conditions...).cluster(); got != c.want {
			t.Errorf("%q: %+v, want %+v", c.conditions, got, c.want)
		}
	}
}
