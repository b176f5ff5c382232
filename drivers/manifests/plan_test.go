package manifests_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

const instance = "11111111-2222-4333-8444-555555555555"

func input(texts ...string) lifecycle.PlanInput {
	in := lifecycle.PlanInput{Operation: lifecycle.Instantiate, Instance: instance, Name: "n", Namespace: "cnf"}
	for i, t := range texts {
		in.Manifests = append(in.Manifests, lifecycle.Manifest{Path: string(rune('a'+i)) + ".yaml", Text: secret.NewText(t)})
	}
	return in
}

func plan(t testing.TB, s *fakeobjects.Server, in lifecycle.PlanInput) (lifecycle.Plan, error) {
	t.Helper()
	d := manifests.New()
	return d.Plan(t.Context(), s.Connection(d.Survey(in)), in)
}

func mustPlan(t testing.TB, s *fakeobjects.Server, in lifecycle.PlanInput) lifecycle.Plan {
	t.Helper()
	p, err := plan(t, s, in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// shown is a plan on a few lines: stages, rules, waves.
func shown(p lifecycle.Plan) string {
	var b strings.Builder
	for _, s := range p.Stages {
		fmt.Fprintf(&b, "stage in %v\n", s.Grant.Namespaces)
		for _, r := range s.Grant.Rules {
			fmt.Fprintf(&b, "  %s:%s.%s/%s\n", strings.Join(r.Verbs, ","), strings.Join(r.Resources, ","), strings.Join(r.APIGroups, ","), strings.Join(r.ResourceNames, ","))
		}
		for _, w := range s.Waves {
			var names []string
			for _, o := range w.Objects {
				names = append(names, o.Kind+"/"+o.Name)
			}
			fmt.Fprintf(&b, "  %s %s\n", w.Deed, strings.Join(names, " "))
		}
	}
	return b.String()
}

func sample(t *testing.T, name string) lifecycle.PlanInput {
	t.Helper()
	files, _ := filepath.Glob("../../docs/samples/" + name + "/*.yaml")
	var texts []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return input(texts...)
}

// A plan asks for exactly what its objects need, by their names, and puts them in order.
func TestPlansOfSamples(t *testing.T) {
	s := fakeobjects.New(t)
	s.Serve(fakeobjects.Kind{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespaced: true, Scales: true})
	for kind, group := range map[string]string{
		"ToyCluster": "infrastructure.", "ToyMachineTemplate": "infrastructure.", "ToyControlPlane": "controlplane.", "Cluster": "", "MachineDeployment": "",
	} {
		s.Serve(fakeobjects.Kind{
			Group: group + "cluster.x-k8s.io", Version: "v1beta2", Kind: kind, Plural: strings.ToLower(kind) + "s", Namespaced: true, Scales: kind == "MachineDeployment",
		})
	}
	for name, want := range map[string]string{
		"web": `stage in [cnf]
  get,create,patch:configmaps./web-pages
  list:pods./
  get,create,patch:secrets./web-login
  get,create,patch:services./web
  get,create,patch:deployments.apps/web
  list:horizontalpodautoscalers.autoscaling/
  apply Secret/web-login ConfigMap/web-pages Service/web Deployment/web
`,
		"custom": `stage in []
  get,create,patch:customresourcedefinitions.apiextensions.k8s.io/slicepolicies.ran.example.com
  apply CustomResourceDefinition/slicepolicies.ran.example.com
stage in [cnf]
  get,create,patch:deployments.apps/slicer
  list:horizontalpodautoscalers.autoscaling/
  get,create,patch:slicepolicies.ran.example.com/gold
  apply Deployment/slicer SlicePolicy/gold
`,
		"ordered": `stage in [cnf]
  list:events./
  get,create,patch:persistentvolumeclaims./subscribers
  get,create,patch:services./db
  get,create,patch:deployments.apps/app
  get,create,patch:statefulsets.apps/db
  list:horizontalpodautoscalers.autoscaling/
  get,create,patch:jobs.batch/schema
  apply PersistentVolumeClaim/subscribers Service/db StatefulSet/db
  apply Job/schema
  apply Deployment/app
`,
		"workload-cluster": `stage in [cnf]
  list:pods./
  get,create,patch:secrets./edge-bootstrap
  list:horizontalpodautoscalers.autoscaling/
  get,create,patch:clusters.cluster.x-k8s.io/edge
  get,create,patch:machinedeployments.cluster.x-k8s.io/edge-workers
  get,create,patch:toycontrolplanes.controlplane.cluster.x-k8s.io/edge
  get,create,patch:toyclusters.infrastructure.cluster.x-k8s.io/edge
  get,create,patch:toymachinetemplates.infrastructure.cluster.x-k8s.io/edge-worker
  apply Secret/edge-bootstrap ToyCluster/edge ToyControlPlane/edge ToyMachineTemplate/edge-worker
  apply Cluster/edge MachineDeployment/edge-workers
`,
	} {
		in := sample(t, name)
		if name == "workload-cluster" {
			in.Variables, in.Replicas = map[string]string{"CLUSTER": "edge"}, map[string]int32{"workers": 3}
		}
		if name == "web" {
			in.Replicas = map[string]int32{"web": 3}
		}
		p := mustPlan(t, s, in)
		if got := shown(p); got != want {
			t.Errorf("%s:\n%swant\n%s", name, got, want)
		}
		if p.Facts.Privileged || p.Facts.BringsRBAC || p.Facts.BringsWebhooks || p.Facts.BringsDefinitions != (name == "custom") || p.Facts.Outlives != (name == "ordered") {
			t.Errorf("%s: %+v", name, p.Facts)
		}
	}
}

// Terminating goes the other way, and leaves what outlives.
func TestTerminatingGoesBackwards(t *testing.T) {
	s := fakeobjects.New(t)
	s.Serve(fakeobjects.Kind{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespaced: true, Scales: true})
	in := sample(t, "ordered")
	in.Standing = mustPlan(t, s, in).Resources
	in.Operation, in.Manifests = lifecycle.Terminate, nil
	const want = `stage in [cnf]
  get,delete:services./db
  get,delete:deployments.apps/app
  get,delete:statefulsets.apps/db
  get,delete:jobs.batch/schema
  delete Deployment/app
  delete Job/schema
  delete StatefulSet/db Service/db
`
	if got := shown(mustPlan(t, s, in)); got != want {
		t.Errorf("%swant\n%s", got, want)
	}
	// What is of a kind that the cluster does not serve any more is gone.
	in.Standing = []lifecycle.Resource{{Group: "gone.example.com", Version: "v1", Kind: "Gone", Plural: "gones", Namespace: "cnf", Name: "a"}}
	if p := mustPlan(t, s, in); len(p.Stages) != 0 {
		t.Errorf("%+v", p)
	}
}

// A package that has an object less loses that one object, and no other of its name.
func TestChangingPrunes(t *testing.T) {
	s := fakeobjects.New(t)
	in := input(configMap("a"), configMap("b"), strings.Replace(configMap("c"), "}", `, annotations: {vimbroker.io/outlives: "true"}}`, 1))
	in.Standing = mustPlan(t, s, in).Resources
	in.Operation, in.Manifests = lifecycle.ChangePackage, in.Manifests[:1]
	p := mustPlan(t, s, in)
	if got, want := shown(p), `stage in [cnf]
  get,create,patch:configmaps./a
  get,delete:configmaps./b
  apply ConfigMap/a
  delete ConfigMap/b
`; got != want {
		t.Errorf("%swant\n%s", got, want)
	}
	if len(p.Resources) != 2 || p.Resources[1].Name != "c" {
		t.Errorf("the instance consists of %+v, want a, and c, which outlives it", p.Resources)
	}
}

func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
}

// Whatever a package declares, and in whatever order its files stand: definitions come before all, namespaces
// before what is in them, a wave before the next, and the order of kinds holds within one. Every
// object is in the plan once, and every stage may do what its waves do.
func TestOrderHolds(t *testing.T) {
	s := fakeobjects.New(t)
	kinds := []string{"ConfigMap", "Secret", "Service", "Namespace", "ClusterRole", "Role", "ValidatingWebhookConfiguration", "Job"}
	versions := map[string]string{
		"ClusterRole": "rbac.authorization.k8s.io/v1", "Role": "rbac.authorization.k8s.io/v1",
		"ValidatingWebhookConfiguration": "admissionregistration.k8s.io/v1", "Job": "batch/v1",
	}
	late := map[string]int{"Namespace": 0, "ClusterRole": 1, "ValidatingWebhookConfiguration": 3}
	for round := range 200 {
		r := rand.New(rand.NewPCG(1, uint64(round)))
		waves := map[string]int{}
		var texts []string
		for i := range r.IntN(120) + 1 {
			kind, name := kinds[r.IntN(len(kinds))], fmt.Sprintf("o-%d", i)
			waves[name] = r.IntN(5) - 2
			version := versions[kind]
			if version == "" {
				version = "v1"
			}
			texts = append(texts, fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, annotations: {vimbroker.io/wave: \"%d\"}}\n", version, kind, name, waves[name]))
		}
		p := mustPlan(t, s, input(strings.Join(texts, "---\n")))
		type place struct{ wave, part int }
		last := place{wave: -1000}
		seen := map[string]bool{}
		for _, stage := range p.Stages {
			for _, w := range stage.Waves {
				for _, o := range w.Objects {
					at := place{waves[o.Name], 2}
					if part, ok := late[o.Kind]; ok {
						at.part = part
					}
					if o.Kind == "Namespace" {
						at.wave = -100
					}
					if at.wave < last.wave || at.wave == last.wave && at.part < last.part {
						t.Fatalf("round %d: %s %s of wave %d comes too late", round, o.Kind, o.Name, at.wave)
					}
					last = at
					if seen[o.Name] || !slices.ContainsFunc(stage.Grant.Rules, func(r broker.Rule) bool {
						return slices.Contains(r.Resources, o.Plural) && slices.Contains(r.ResourceNames, o.Name) && len(r.Verbs) == 3
					}) {
						t.Fatalf("round %d: %s %s is twice, or without a rule", round, o.Kind, o.Name)
					}
					seen[o.Name] = true
					if stage.Grant.ClusterWide != (o.Namespace == "") || len(stage.Grant.Rules) > 64 {
						t.Fatalf("round %d: %s %s in a stage in %v of %d rules", round, o.Kind, o.Name, stage.Grant.Namespaces, len(stage.Grant.Rules))
					}
				}
			}
		}
		if len(seen) != len(texts) || len(p.Resources) != len(texts) {
			t.Fatalf("round %d: %d of %d objects", round, len(seen), len(texts))
		}
	}
}

// A lease has room for 64 rules of 64 names: more objects are more stages.
func TestManyObjectsAreSeveralStages(t *testing.T) {
	s := fakeobjects.New(t)
	var b strings.Builder
	for i := range 9000 {
		b.WriteString("---\n" + configMap(fmt.Sprintf("c-%d", i)))
	}
	p := mustPlan(t, s, input(b.String()))
	total := 0
	for _, stage := range p.Stages {
		if n := len(stage.Grant.Rules); n > 64 {
			t.Errorf("a stage has %d rules", n)
		}
		for _, w := range stage.Waves {
			total += len(w.Objects)
		}
	}
	if len(p.Stages) != 3 || total != 9000 {
		t.Errorf("%d stages with %d objects, want 3 with 9000", len(p.Stages), total)
	}
}

// What a package holds that is hostile, or cannot be, is refused before anything is made.
func TestWhatIsRefused(t *testing.T) {
	s := fakeobjects.New(t)
	const canary = "c4n4ry"
	long := strings.Repeat("x", 1_600_000)
	for says, text := range map[string]string{
		"a.yaml:1: is not YAML":                            "a: [" + canary,
		"a.yaml:3: holds an anchor":                        "apiVersion: v1\nkind: ConfigMap\nmetadata: &x {name: a}\n",
		"a.yaml:4: holds an explicit tag":                  configMap("a") + "data: !!binary " + canary + "\n",
		"a.yaml:5: holds a key twice":                      configMap("a") + "x: " + canary + "\nx: 1\n",
		"a.yaml:4: holds a key that is no string":          configMap("a") + "<<: {a: b}\n",
		"nests more than":                                  configMap("a") + "x: " + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "\n",
		"a.yaml:7: kind is missing":                        configMap("a") + "---\n# nothing\n---\napiVersion: v1\nmetadata: {name: a}\n",
		"apiVersion is missing":                            "kind: ConfigMap\nmetadata: {name: a}\n",
		"has no name":                                      "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n",
		"one that cannot be":                               "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ../../secrets/a}\n",
		"ConfigMap has no name, or one":                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"a b\"}\n",
		"hold more than 32 MiB":                            "# " + strings.Repeat("x", 33<<20),
		"generateName":                                     "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a}\n",
		"serves no kind Unheard of example.com/v1":         "apiVersion: example.com/v1\nkind: Unheard\nmetadata: {name: a}\n",
		"variable NOT_SET is not set":                      configMap("a") + "data: {a: \"" + canary + " ${NOT_SET}\"}\n",
		"variable FIRST_UNSET is not set":                  configMap("a") + "data: {a: \"${FIRST_UNSET} ${SECOND_UNSET}\"}\n",
		"is in a.yaml:1 too":                               configMap("a") + "---\n" + configMap("a"),
		"are no texts":                                     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {a: 7}}\n",
		"has 1600":                                         configMap("a") + "data: {a: " + long + "}\n",
		"is too large for one object":                      configMap("a") + "data: [" + strings.Repeat("a,", 500_000) + "]\n",
		"hold more than 10000 objects":                     strings.Repeat("kind: A\napiVersion: v1\nmetadata: {name: a}\n---\n", 10_001),
		"hold no object":                                   "# nothing\n",
		"must be a mapping":                                "- a\n",
		"annotation vimbroker.io/wave must be":             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {vimbroker.io/wave: first}}\n",
		"an annotation that begins with vimbroker.io/":     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {vimbroker.io/mine: a}}\n",
		"a label that begins with vimbroker.io/":           "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {vimbroker.io/instance: another}}\n",
		"Deployment a: a label that begins":                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {metadata: {labels: {vimbroker.io/vdu: b}}}}\n",
		"needs spec.group":                                 "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\nspec: {}\n",
		"outlives the instance, and its namespace":         "apiVersion: v1\nkind: Namespace\nmetadata: {name: cnf}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: a, annotations: {vimbroker.io/outlives: \"true\"}}\n",
		"needs a roleRef":                                  "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: a}\n",
		"has a rule without apiGroups, resources or verbs": "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\nrules: [{verbs: [get]}]\n",
	} {
		_, err := plan(t, s, input(text))
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), canary) ||
			!errors.Is(err, broker.ErrInvalid) && !errors.Is(err, broker.ErrUnsupported) {
			t.Errorf("%.200q: %v, want an error that says %q", text, err, says)
		}
	}
	if calls := s.Calls(); len(calls) != 0 {
		t.Errorf("the API server was called: %q", calls)
	}
}

// An object that names another namespace is made there, under a lease of that namespace, and policies see that it
// leaves the instance's.
func TestObjectsOfAnotherNamespace(t *testing.T) {
	s := fakeobjects.New(t)
	in := input("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: kube-system}\n---\n" + configMap("a"))
	p, err := plan(t, s, in)
	if err != nil {
		t.Fatal(err)
	}
	var scopes []string
	for _, stage := range p.Stages {
		if stage.Grant.ClusterWide || len(stage.Grant.Namespaces) != 1 || len(stage.Waves) != 1 || len(stage.Waves[0].Objects) != 1 {
			t.Fatalf("a stage is %+v, want one object of one namespace", stage)
		}
		scopes = append(scopes, stage.Grant.Namespaces[0]+" "+stage.Waves[0].Objects[0].Namespace)
	}
	if slices.Sort(scopes); !slices.Equal(scopes, []string{"cnf cnf", "kube-system kube-system"}) {
		t.Errorf("leases and their objects are in %q", scopes)
	}
	if !slices.Equal(p.Facts.Namespaces, []string{"cnf", "kube-system"}) || len(p.Facts.Reaches) != 1 ||
		p.Facts.Reaches[0].What != lifecycle.ReachCluster || p.Facts.Reaches[0].Namespace != "kube-system" {
		t.Errorf("policies see namespaces %q and reaches %+v", p.Facts.Namespaces, p.Facts.Reaches)
	}
}

// An object that outlives the instance stays in a namespace that the package does not bring, whatever else the package
// brings by that name.
func TestAnObjectOutlivesWhereItsNamespaceDoes(t *testing.T) {
	s := fakeobjects.New(t)
	const outlives = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: a, annotations: {vimbroker.io/outlives: \"true\"}}\n"
	for what, text := range map[string]string{
		"a map of that name":               configMap("cnf"),
		"another namespace":                "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n",
		"its namespace, which outlives it": "apiVersion: v1\nkind: Namespace\nmetadata: {name: cnf, annotations: {vimbroker.io/outlives: \"true\"}}\n",
	} {
		if _, err := plan(t, s, input(text+outlives)); err != nil {
			t.Errorf("beside %s: %v", what, err)
		}
	}
}

// What stands for a variable is a value, never YAML.
func TestVariables(t *testing.T) {
	s := fakeobjects.New(t)
	in := input(`apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  plain: ${A}
  number: ${N}
  twice: "${A}-${A}"
  kept: "$${A} $A $(A) ${}"
  other: "${D:=none}"
  mine: ${VNF_INSTANCE_ID}/${VNF_INSTANCE_NAME}/${VNF_NAMESPACE}
spec: {count: "${N}", real: "x${N}", bare: 5}
more:
  count: ${N}
  flag: ${F}
  text: ${A}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, annotations: {vimbroker.io/variables: "off"}}
data: {script: "echo ${HOME}"}
`)
	in.Variables = map[string]string{"A": "x: {y: ${N}}\n---\n", "N": "7", "F": "true", "VNF_INSTANCE_ID": "forged"}
	p := mustPlan(t, s, in)
	text := p.Stages[0].Waves[0].Objects[0].Manifest.Reveal()
	for _, want := range []string{
		`"plain":"x: {y: ${N}}\n---\n"`, `"number":"7"`, `"kept":"${A} $A $(A) ${}"`, `"other":"none"`, `"mine":"` + instance + `/n/cnf"`,
		`"spec":{"bare":5,"count":"7","real":"x7"}`, `"more":{"count":7,"flag":true,"text":"x: {y: ${N}}\n---\n"}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nhas no %s", text, want)
		}
	}
	if text := p.Stages[0].Waves[0].Objects[1].Manifest.Reveal(); !strings.Contains(text, `echo ${HOME}`) {
		t.Error(text)
	}
}

// Policies see what a pod asks of its node in whatever kind it is hidden.
func TestFacts(t *testing.T) {
	s := fakeobjects.New(t)
	s.Serve(fakeobjects.Kind{Group: "example.com", Version: "v1", Kind: "Engine", Plural: "engines", Namespaced: true})
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: "
	for text, want := range map[string]bool{
		deployment + "{containers: [{image: i, securityContext: {runAsUser: 0}}]}}}":                                                        false,
		deployment + "{containers: [{image: i, ports: [{containerPort: 80}]}]}}}":                                                           false,
		deployment + "{containers: [{image: i, securityContext: {privileged: true}}]}}}":                                                    true,
		deployment + "{containers: [{image: i}], initContainers: [{securityContext: {privileged: true}}]}}}":                                true,
		deployment + "{containers: [{image: i, securityContext: {capabilities: {add: [NET_ADMIN]}}}]}}}":                                    true,
		deployment + "{containers: [{image: i, securityContext: {procMount: Unmasked}}]}}}":                                                 true,
		deployment + "{containers: [{image: i, ports: [{hostPort: 80}]}]}}}":                                                                true,
		deployment + "{hostNetwork: true, containers: [{image: i}]}}}":                                                                      true,
		deployment + "{hostPID: true, containers: [{image: i}]}}}":                                                                          true,
		deployment + "{hostIPC: true, containers: [{image: i}]}}}":                                                                          true,
		deployment + "{containers: [{image: i}], volumes: [{name: v, hostPath: {path: /}}]}}}":                                              true,
		deployment + "{containers: [{image: i, securityContext: {windowsOptions: {hostProcess: true}}}]}}}":                                 true,
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {hostNetwork: true, containers: [{image: i}]}":                               true,
		"apiVersion: example.com/v1\nkind: Engine\nmetadata: {name: a}\nspec: {worker: [{pod: {hostPID: true, containers: [{image: i}]}}]}": true,
		"apiVersion: example.com/v1\nkind: Engine\nmetadata: {name: a}\nspec: {image: i}":                                                   false,
	} {
		f := mustPlan(t, s, input(text)).Facts
		if f.Privileged != want || !slices.Equal(f.Images, []string{"i"}) || !slices.Equal(f.Namespaces, []string{"cnf"}) {
			t.Errorf("%s: %+v, want privileged %v", text, f, want)
		}
	}
}

// The number of a VDU is the request's, unless an autoscaler of the package sets it.
func TestReplicas(t *testing.T) {
	s := fakeobjects.New(t)
	s.Serve(fakeobjects.Kind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Plural: "horizontalpodautoscalers", Namespaced: true})
	const text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 9, template: {spec: {containers: []}}}\n"
	const scaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec: {scaleTargetRef: {kind: Deployment, name: web}}\n"
	for _, c := range []struct {
		texts []string
		want  string
	}{{[]string{text}, `"replicas":3`}, {[]string{text, scaler}, `"replicas":9`}} {
		in := input(c.texts...)
		in.Replicas = map[string]int32{"web": 3}
		p := mustPlan(t, s, in)
		o := p.Stages[0].Waves[0].Objects[0]
		if m := o.Manifest.Reveal(); o.VDU != "web" || !strings.Contains(m, c.want) || !strings.Contains(m, `"vimbroker.io/vdu":"web"`) {
			t.Errorf("VDU %q: %s, want %s", o.VDU, m, c.want)
		}
	}
	// Once it stands, its number is the autoscaler's.
	scaled := input(text, scaler)
	scaled.Operation, scaled.Replicas = lifecycle.Heal, map[string]int32{"web": 3}
	scaled.Standing = []lifecycle.Resource{{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespace: "cnf", Name: "web", Applied: "m", UID: "u"}}
	if m := mustPlan(t, s, scaled).Stages[0].Waves[0].Objects[0].Manifest.Reveal(); strings.Contains(m, "replicas") {
		t.Errorf("healing a workload that is scaled by the cluster sets its number: %s", m)
	}
	scaled.Manifests[1].Text = secret.NewText(strings.Replace(scaler, "name: web}\nspec", "name: web, namespace: cnf}\nspec", 1) + "---\n" + strings.Replace(text, "name: web", "name: other", 1))
	var numbers int
	for _, o := range mustPlan(t, s, scaled).Stages[0].Waves[0].Objects {
		numbers += strings.Count(o.Manifest.Reveal(), `"replicas":9`)
	}
	if numbers != 1 {
		t.Errorf("%d workloads have the number of their manifest, want the one that no autoscaler is for", numbers)
	}
	in := input(strings.NewReplacer("metadata: {", `metadata: {annotations: {vimbroker.io/vdu: front}, `, "name: web", `name: "${NAME}"`).Replace(text))
	in.Replicas, in.Variables = map[string]int32{"front": 2, "shop": 7}, map[string]string{"NAME": "shop"}
	o := mustPlan(t, s, in).Stages[0].Waves[0].Objects[0]
	if m := o.Manifest.Reveal(); o.VDU != "front" || !strings.Contains(m, `"replicas":2`) || !strings.Contains(m, `"vimbroker.io/vdu":"front"`) {
		t.Errorf("a workload that names its VDU runs %q: %s", o.VDU, m)
	}
	in = input(text, strings.Replace(text, "kind: Deployment", "kind: Job", 1))
	in.Manifests[1].Text = secret.NewText(strings.Replace(in.Manifests[1].Text.Reveal(), "apps/v1", "batch/v1", 1))
	in.Replicas = map[string]int32{"web": 3}
	if _, err := plan(t, s, in); err == nil || !strings.Contains(err.Error(), "only one can run it") {
		t.Errorf("two workloads of one VDU: %v", err)
	}
	in = lifecycle.PlanInput{Operation: lifecycle.ScaleVNF, Instance: instance, Namespace: "cnf", Replicas: map[string]int32{"other": 2}, Scaled: []string{"other"}}
	if _, err := plan(t, s, in); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("scaling what is not there: %v", err)
	}
}
