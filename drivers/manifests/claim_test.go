package manifests_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// The claims that a StatefulSet makes are its storages, those of pods that it has no more, too; claims of others, of
// whatever name, are not. They stay when it goes, unless it says otherwise.
func TestClaimsOfAStatefulSet(t *testing.T) {
	const set = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  selector: {matchLabels: {app: db}}\n" +
		"  volumeClaimTemplates: [{metadata: {name: data}, spec: {}}, {metadata: {name: log}, spec: {}}]\n" +
		"  template: {metadata: {labels: {app: db}}, spec: {containers: []}}\n"
	for manifest, outlives := range map[string]bool{
		set: true, set + "  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}\n": false,
	} {
		s := fakeobjects.New(t)
		s.Serve(fakeobjects.Kind{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespaced: true, Scales: true})
		s.Serve(fakeobjects.Kind{Version: "v1", Kind: "PersistentVolumeClaim", Plural: "persistentvolumeclaims", Namespaced: true})
		s.Serve(fakeobjects.Kind{Version: "v1", Kind: "Event", Plural: "events", Namespaced: true})
		for _, name := range []string{"data-db-0", "data-db-12", "log-db-0", "data-db-x", "data-db--1", "data-dbx-0", "other-db-0", "data-db-0-1"} {
			s.Put("/api/v1/namespaces/cnf/persistentvolumeclaims/"+name, map[string]any{
				"kind": "PersistentVolumeClaim", "metadata": map[string]any{
					"name": name, "namespace": "cnf", "labels": map[string]any{"vimbroker.io/instance": instance},
				}, "status": map[string]any{"phase": "Bound"},
			})
		}
		stage := mustPlan(t, s, input(manifest)).Stages[0]
		var got []lifecycle.Storage
		var once sync.Once
		err := manifests.New().Run(t.Context(), s.Connection(stage.Grant), instance, stage.Waves[0], func(o lifecycle.Observation) {
			got = o.Storages
			once.Do(func() {
				go s.Change("/apis/apps/v1/namespaces/cnf/statefulsets/db", "controller", func(o map[string]any) {
					o["status"] = map[string]any{"replicas": 1, "readyReplicas": 1, "currentReplicas": 1, "updatedReplicas": 1}
				})
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, g := range got {
			names = append(names, g.Desc+"="+g.Name)
			if g.Outlives != outlives || g.UID == "" || g.Kind != "PersistentVolumeClaim" || g.Namespace != "cnf" {
				t.Errorf("%+v, want one in cnf that outlives: %t", g, outlives)
			}
		}
		if want := "[data=data-db-0 data=data-db-12 log=log-db-0]"; fmt.Sprint(names) != want {
			t.Errorf("the storages are %v, want %s", names, want)
		}
	}
}

// A StatefulSet takes no claim of others that stands, when it is made and when it is scaled: the operation is refused, and names
// the claim, until the request names it as a volume. Claims that it makes have the instance's label, and are its own.
func TestAStatefulSetTakesNoClaimOfOthers(t *testing.T) {
	const keeps = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  selector: {matchLabels: {app: db}}\n" +
		"  volumeClaimTemplates: [{metadata: {name: data}, spec: {}}, {spec: {}}]\n  template: {metadata: {labels: {app: db}}, spec: {containers: []}}\n"
	const drops = keeps + "  persistentVolumeClaimRetentionPolicy: {whenScaled: Delete}\n"
	kept, made := lifecycle.Volume{ID: "1", Storage: "data-db-3", Claim: "data-db-3"}, lifecycle.Volume{ID: "2", Storage: "data-db-3", Claim: "vimbroker-2"}
	for name, c := range map[string]struct {
		manifest, claim, owner string
		volumes                []lifecycle.Volume
		refused                bool
	}{
		"kept":                  {keeps, "data-db-3", "another", nil, true},
		"without a label":       {keeps, "data-db-3", "", nil, true},
		"its own":               {keeps, "data-db-3", instance, nil, false},
		"another set's":         {keeps, "data-dbx-3", "another", nil, false},
		"named":                 {keeps, "data-db-3", "another", []lifecycle.Volume{kept}, false},
		"named, and removed":    {drops, "data-db-3", "another", []lifecycle.Volume{kept}, true},
		"another volume":        {keeps, "data-db-3", "another", []lifecycle.Volume{made}, true},
		"named, and not there":  {keeps, "data-db-0", instance, []lifecycle.Volume{kept}, true},
		"named in another room": {strings.Replace(keeps, "{name: db}", "{name: db, namespace: ns}", 1), "data-db-3", "another", []lifecycle.Volume{kept}, true},
	} {
		s := fakeobjects.New(t)
		s.Serve(fakeobjects.Kind{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespaced: true, Scales: true})
		s.Serve(fakeobjects.Kind{Version: "v1", Kind: "PersistentVolumeClaim", Plural: "persistentvolumeclaims", Namespaced: true})
		for _, namespace := range []string{"cnf", "ns"} {
			s.Put("/api/v1/namespaces/"+namespace+"/persistentvolumeclaims/"+c.claim, map[string]any{"kind": "PersistentVolumeClaim", "metadata": map[string]any{
				"name": c.claim, "namespace": namespace, "labels": map[string]any{"vimbroker.io/instance": c.owner},
			}})
		}
		for _, op := range []lifecycle.OperationType{lifecycle.Instantiate, lifecycle.ChangePackage, lifecycle.Heal, lifecycle.ScaleVNF} {
			in := input(c.manifest)
			in.Operation, in.Volumes, in.Replicas = op, c.volumes, map[string]int32{"db": 1}
			refused := c.refused
			if op == lifecycle.ScaleVNF {
				in.Scaled = []string{"db"}
				in.Standing = []lifecycle.Resource{{
					Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespace: "cnf", Name: "db", VDU: "db",
					Storages: []lifecycle.Storage{{Desc: "data", Name: "data-db-0"}},
				}}
				refused = c.refused && len(c.volumes) == 0 || name == "another volume" // the rest is of what it is made with
			}
			p, err := plan(t, s, in)
			if errors.Is(err, broker.ErrInvalid) != refused || err == nil == refused || refused && !strings.Contains(err.Error(), "data-db-3") {
				t.Errorf("%s: %s = %v, want it refused: %t", name, op, err, refused)
			}
			if op == lifecycle.Instantiate && err == nil {
				if made := p.Stages[0].Waves[0].Objects[0].Manifest.Reveal(); !strings.Contains(made, `[{"metadata":{"labels":{"vimbroker.io/instance":"`+instance+`"},"name":"data"}`) {
					t.Errorf("its claims get no label of the instance: %s", made)
				}
			}
		}
	}
	s := fakeobjects.New(t)
	s.Serve(fakeobjects.Kind{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespaced: true, Scales: true})
	d, in := manifests.New(), input(keeps)
	for answer, want := range map[error]bool{&broker.Error{Kind: broker.ErrInvalid, Cause: &broker.MissingNamespace{Name: "cnf"}}: true, &broker.Error{Kind: broker.ErrDenied}: false} {
		c := s.Connection(d.Survey(in))
		c.Further = func(context.Context, lifecycle.StageRules, func(lifecycle.Connection) error) error { return answer }
		if _, err := d.Plan(t.Context(), c, in); err == nil != want {
			t.Errorf("where the lease is %v the plan is %v", answer, err)
		}
	}
}

// Whatever an operation does to a StatefulSet, its lease may list the claims that it looks at in the end.
func TestLeasesListClaims(t *testing.T) {
	s := fakeobjects.New(t)
	s.Serve(fakeobjects.Kind{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespaced: true, Scales: true})
	set := strings.ReplaceAll(strings.ReplaceAll(webDeployment, "Deployment", "StatefulSet"), "name: web}", "name: db}")
	in := input(set)
	in.Replicas = map[string]int32{"db": 2}
	in.Standing = mustPlan(t, s, in).Resources
	in.Scaled, in.VNFCs = []string{"db"}, []lifecycle.VNFC{{VDU: "db", Kind: "Pod", Namespace: "cnf", Name: "db-0", UID: "1"}}
	for _, in.Operation = range []lifecycle.OperationType{lifecycle.ScaleVNF, lifecycle.Heal} {
		if got := shown(mustPlan(t, s, in)); !strings.Contains(got, "list:persistentvolumeclaims./") {
			t.Errorf("%s: the lease does not list claims:\n%s", in.Operation, got)
		}
	}
}

// Workloads of one wave that get ready one after the other are all told with their pods at its end.
func TestPodsOfAllWorkloadsAreTold(t *testing.T) {
	s := fakeobjects.New(t)
	s.Unready(true)
	in := input(strings.ReplaceAll(webDeployment, "name: web}", "name: a}"), strings.ReplaceAll(webDeployment, "name: web}", "name: b}"))
	in.Replicas = map[string]int32{"a": 1, "b": 1}
	stage := mustPlan(t, s, in).Stages[0]
	ready := func(name string) {
		s.Put("/api/v1/namespaces/cnf/pods/"+name, map[string]any{"kind": "Pod", "metadata": map[string]any{
			"name": name, "namespace": "cnf", "labels": map[string]any{"vimbroker.io/instance": instance, "vimbroker.io/vdu": name},
		}})
		s.Change("/apis/apps/v1/namespaces/cnf/deployments/"+name, "controller", func(o map[string]any) {
			o["metadata"].(map[string]any)["generation"], o["status"] = 1, map[string]any{
				"observedGeneration": 1, "replicas": 1, "readyReplicas": 1, "availableReplicas": 1, "updatedReplicas": 1,
				"conditions": []any{map[string]any{"type": "Available", "status": "True"}},
			}
		})
	}
	told := map[string]int{}
	var first, second sync.Once
	err := manifests.New().Run(t.Context(), s.Connection(stage.Grant), instance, stage.Waves[0], func(o lifecycle.Observation) {
		told[o.Name] = len(o.VNFCs)
		if o.Name == "a" { // it is there
			first.Do(func() { go ready("a") })
		}
		if o.Name == "a" && o.Ready {
			second.Do(func() { go ready("b") })
		}
	})
	if err != nil || told["a"] != 1 || told["b"] != 1 {
		t.Errorf("told are %v, %v, want one pod of each workload", told, err)
	}
}
