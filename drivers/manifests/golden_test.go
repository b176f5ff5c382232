package manifests_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
	"github.com/vimbroker/vimbroker/test/golden"
)

// served are the kinds of the cluster that the corpus is planned on, beside those of the fake.
var served = []fakeobjects.Kind{
	{Group: "", Version: "v1", Kind: "PodTemplate", Plural: "podtemplates", Namespaced: true},
	{Group: "", Version: "v1", Kind: "ReplicationController", Plural: "replicationcontrollers", Namespaced: true, Scales: true},
	{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespaced: true, Scales: true},
	{Group: "apps", Version: "v1", Kind: "DaemonSet", Plural: "daemonsets", Namespaced: true},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Plural: "horizontalpodautoscalers", Namespaced: true},
	{Group: "batch", Version: "v1", Kind: "CronJob", Plural: "cronjobs", Namespaced: true},
	{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass", Plural: "priorityclasses"},
	{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService", Plural: "apiservices"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding", Plural: "clusterrolebindings"},
	{Group: "k8s.cni.cncf.io", Version: "v1", Kind: "NetworkAttachmentDefinition", Plural: "network-attachment-definitions", Namespaced: true},
	{Group: "ran.example.com", Version: "v1", Kind: "Slice", Plural: "slices", Namespaced: true, Scales: true},
	{Group: "ran.example.com", Version: "v1", Kind: "Namespace", Plural: "spaces"},
	{Group: "ran.example.com", Version: "v1", Kind: "Plain", Plural: "plains", Namespaced: true},
	{Group: "ran.example.com", Version: "v1", Kind: "CustomResourceDefinition", Plural: "crds"},
	{Group: "ran.example.com", Version: "v1", Kind: "Role", Plural: "roles", Namespaced: true},
	{Group: "ran.example.com", Version: "v1", Kind: "Pod", Plural: "pods", Namespaced: true, Scales: true},
	{Group: "ran.example.com", Version: "v1", Kind: "StatefulSet", Plural: "sets", Namespaced: true},
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "Other", Plural: "others"},
	{Group: "k8s.cni.cncf.io", Version: "v1", Kind: "Other", Plural: "others", Namespaced: true},
}

// unsaid leaves out of facts what they do not say.
var unsaid = regexp.MustCompile(`,?"[A-Z][A-Za-z]*":(false|null|"")`)

// planned is everything of a plan, or of why there is none.
func planned(p lifecycle.Plan, err error) string {
	var b strings.Builder
	if e, is := errors.AsType[*broker.Error](err); is {
		fmt.Fprintf(&b, "%v\n  field %q\n  %s\n  %s\n", e.Kind, e.Field, e.Detail, e.Remedy)
		return b.String()
	} else if err != nil {
		return "other: " + err.Error() + "\n"
	}
	asJSON := func(v any) string {
		text, _ := json.Marshal(v)
		return string(text)
	}
	for _, s := range p.Stages {
		fmt.Fprintf(&b, "stage wide %t in %q purpose %q\n", s.Grant.ClusterWide, s.Grant.Namespaces, s.Grant.Purpose)
		for _, r := range s.Grant.Rules {
			fmt.Fprintf(&b, "  may %s %s %s %q\n", strings.Join(r.Verbs, ","), strings.Join(r.APIGroups, ","), strings.Join(r.Resources, ","), r.ResourceNames)
		}
		for _, w := range s.Waves {
			fmt.Fprintf(&b, "  %s\n", w.Deed)
			for _, v := range w.VNFCs {
				fmt.Fprintf(&b, "    of %s\n", asJSON(v))
			}
			for _, o := range w.Objects {
				fmt.Fprintf(&b, "    %s release %q replicas %d\n", asJSON(o.Resource), o.Release, o.Replicas)
				if !o.Manifest.Empty() {
					fmt.Fprintf(&b, "      %s\n", o.Manifest.Reveal())
				}
			}
		}
	}
	for _, r := range p.Resources {
		fmt.Fprintf(&b, "has %s\n", asJSON(r))
	}
	if len(p.Ports) > 0 {
		fmt.Fprintf(&b, "ports %s\n", asJSON(p.Ports))
	}
	fmt.Fprintf(&b, "facts %s\n", unsaid.ReplaceAllString(asJSON(p.Facts), ""))
	return strings.ReplaceAll(b.String(), instance, "INSTANCE")
}

const (
	crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.example.com}\n" +
		"spec: {group: example.com, scope: SCOPE, names: {kind: A, plural: as}, versions: [{name: v1, served: true, subresources: {scale: {}}}, {name: v2, served: false}, {name: v3, served: true}]}\n"
	rbacOf  = "apiVersion: rbac.authorization.k8s.io/v1\nkind: "
	claimer = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  replicas: 3\n  volumeClaimTemplates: [{metadata: {name: data}}]\n  template: {spec: {containers: [{name: a, image: db:1}]}}\n"
)

func workload(kind, name, spec string) string {
	version := map[string]string{"Pod": "v1", "Service": "v1", "ReplicationController": "v1", "Job": "batch/v1", "CronJob": "batch/v1", "Slice": "ran.example.com/v1", "Plain": "ran.example.com/v1"}[kind]
	if version == "" {
		version = "apps/v1"
	}
	return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: " + name + "}\nspec: " + spec + "\n"
}

func scalerOf(kind, name, spec string) string {
	return "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h-" + name + "}\nspec: {scaleTargetRef: {kind: " + kind + ", name: " + name + "}" + spec + "}\n"
}

func roleWith(n int) string {
	text := rbacOf + "Role\nmetadata: {name: r}\nrules:\n"
	for i := range n {
		text += fmt.Sprintf("- {apiGroups: [''], resources: [r%d], verbs: [get]}\n", i)
	}
	return text
}

func nothing(*lifecycle.PlanInput) {}

func of(op lifecycle.OperationType, standing ...lifecycle.Resource) func(*lifecycle.PlanInput) {
	return func(in *lifecycle.PlanInput) { in.Operation, in.Standing = op, standing }
}

func scaled(vdu string, to int32, standing ...lifecycle.Resource) func(*lifecycle.PlanInput) {
	return func(in *lifecycle.PlanInput) {
		in.Operation, in.Standing, in.Scaled, in.Replicas, in.Manifests = lifecycle.ScaleVNF, standing, []string{vdu}, map[string]int32{vdu: to}, nil
	}
}

func vdus(of map[string]int32) func(*lifecycle.PlanInput) {
	return func(in *lifecycle.PlanInput) { in.Replicas = of }
}

func standingOf(group, kind, plural, name string) lifecycle.Resource {
	return lifecycle.Resource{Group: group, Version: "v1", Kind: kind, Plural: plural, Namespace: "cnf", Name: name, UID: "uid-" + name, Applied: "mark-" + name}
}

func standingVDU(vdu string, r lifecycle.Resource) lifecycle.Resource {
	r.VDU = vdu
	return r
}

func inWave(wave int, r lifecycle.Resource) lifecycle.Resource {
	r.Wave = wave
	return r
}

func healing(vnfcs ...lifecycle.VNFC) func(*lifecycle.PlanInput) {
	return func(in *lifecycle.PlanInput) {
		in.Operation, in.VNFCs, in.Replicas = lifecycle.Heal, vnfcs, map[string]int32{"web": 2, "solo": 1}
	}
}

func podOf(vdu, namespace, name string) lifecycle.VNFC {
	return lifecycle.VNFC{VDU: vdu, Kind: "Pod", Namespace: namespace, Name: name, UID: "uid-" + name}
}

func onLink(nad *spec.PodNetwork, more func(*lifecycle.Link)) func(*lifecycle.PlanInput) {
	return func(in *lifecycle.PlanInput) {
		k := lifecycle.Link{ID: "link-1", CPs: []sol003.ExtCP{{CPDID: "net"}}, Spec: spec.LinkSpec{NAD: nad}}
		if more != nil {
			more(&k)
		}
		in.Links = []lifecycle.Link{k}
	}
}

// networked is a workload whose pods are on networks.
func networked(kind, networks, more string) string {
	template := "metadata: {annotations: {k8s.v1.cni.cncf.io/networks: '" + networks + "'}}"
	if kind == "Pod" {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: w, annotations: {k8s.v1.cni.cncf.io/networks: '" + networks + "'}}\nspec: {containers: [{name: a}]}\n"
	}
	return workload(kind, "w", "{template: {"+template+", spec: {containers: [{name: a}]}}"+more+"}")
}

func spans(pools bool) func(*lifecycle.Link) {
	return func(k *lifecycle.Link) {
		k.Spans, k.Pools, k.Spec.MTU = true, pools, 1400
		k.Ports = []asset.Port{{Name: "net/pod/w", MAC: "fa:16:3e:00:00:01", IPs: []string{"192.0.2.7/24"}}, {Name: "net/pool/3/0", IPs: []string{"192.0.2.10/24"}}, {Name: "net/pool/3/1", IPs: []string{"192.0.2.11/24"}}, {Name: "other/pool/3/2", IPs: []string{"192.0.2.12/24"}}, {Name: "net/pool/3/2", IPs: []string{"none"}}}
	}
}

func mounting(volumes ...lifecycle.Volume) func(*lifecycle.PlanInput) {
	return func(in *lifecycle.PlanInput) { in.Volumes = volumes }
}

func claimIn(namespace, name string) string {
	return "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " + name + ", namespace: " + namespace + "}\nspec: {}\n"
}

func mounter(namespace, claim string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: " + namespace + "}\nspec: {containers: [{name: a}], volumes: [{name: v, persistentVolumeClaim: {claimName: " + claim + "}}, {name: w, emptyDir: {}}]}\n"
}

func annotated(key, value string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {" + key + ": " + value + "}}\n"
}

func networkWith(name, config string) string {
	return "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: " + name + "}\nspec: {config: '" + config + "'}\n"
}

func named(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"" + name + "\"}\n"
}

// corpus are small packages and requests. Each differs from another in what only a whole plan shows.
var corpus = []struct {
	name  string
	in    func(*lifecycle.PlanInput)
	texts []string
}{
	// Reading.
	{"documents, blank lines and nothing", nothing, []string{"\n\n---\n# nothing\n---\n\n" + configMap("a") + "---\n~\n--- \n" + configMap("b"), ""}},
	{"documents that begin at once", nothing, []string{"---\n" + configMap("a") + "---\r\n" + configMap("b") + "---"}},
	{"a mark that is none", nothing, []string{configMap("a") + "data:\n  x: |\n    ---\n    ----\n----: 1\n"}},
	{"a line of a later document", nothing, []string{configMap("a") + "---\n" + configMap("b") + "x: &a 1\n"}},
	{"a second document without a mark", nothing, []string{configMap("a") + "...\n" + configMap("b")}},
	{"values of all kinds", func(in *lifecycle.PlanInput) {
		in.Variables = map[string]string{"N": "7", "B": "true", "T": "text", "F": "1.5", "E": ""}
	}, []string{configMap("a") + "data:\n  n: \"${N}\"\n  t: ${N}\nspec:\n  n: ${N}\n  q: \"${N}\"\n  b: ${B}\n  t: ${T}\n  f: ${F}\n  e: ${E}\n  d: ${D:=dflt}\n  lit: $${N}\n" +
		"  env: [{name: X, value: \"${N}\"}]\n  value: ${N}\n  yes: true\n  no: False\n  nil: ~\n  nu: null\n  int: -3\n  hex: 0x1F\n  float: 2.5\n  day: 2031-01-02\n"}},
	{"a number that is too large", nothing, []string{configMap("a") + "spec: {n: 18446744073709551615}\n"}},
	{"a number that is none", nothing, []string{configMap("a") + "spec: {n: .nan}\n"}},
	{"a number without end", nothing, []string{configMap("a") + "spec: {n: .inf}\n"}},
	{"variables that are off", func(in *lifecycle.PlanInput) { in.Variables = map[string]string{"N": "7"} }, []string{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {vimbroker.io/variables: \"off\"}}\ndata: {a: \"${N}\"}\n"}},
	{"variables that are neither", nothing, []string{annotated("vimbroker.io/variables", "\"on\"")}},
	{"a list", nothing, []string{"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- {apiVersion: v1, kind: Secret, metadata: {name: b}}\n"}},
	{"a list of others", nothing, []string{"apiVersion: ran.example.com/v1\nkind: List\nmetadata: {name: a}\nitems: []\n"}},
	{"a list without items", nothing, []string{"apiVersion: v1\nkind: List\n"}},
	{"a list of one", nothing, []string{"apiVersion: v1\nkind: List\nitems: {a: b}\n"}},
	{"a list of no objects", nothing, []string{"apiVersion: v1\nkind: List\nitems:\n- a\n"}},
	{"a list with a fault", nothing, []string{"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap}\n"}},
	{"a kind that is a list", nothing, []string{"apiVersion: v1\nkind: [List]\nmetadata: {name: a}\n"}},
	// An object.
	{"what only the server sets", func(in *lifecycle.PlanInput) { in.Labels = map[string]string{"app": "x"} }, []string{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, uid: u, resourceVersion: '1', generation: 1, creationTimestamp: ~, managedFields: [], selfLink: s, deletionTimestamp: d, deletionGracePeriodSeconds: 1, labels: {}, annotations: {}}\nstatus: {a: b}\n"}},
	{"labels of pods", func(in *lifecycle.PlanInput) {
		in.Labels, in.Replicas = map[string]string{"app": "x"}, map[string]int32{"w": 2}
	}, []string{workload("Deployment", "w", "{template: {spec: {containers: []}}}"), workload("CronJob", "c", "{jobTemplate: {spec: {template: {metadata: {labels: {a: b}}}}}}"), workload("Plain", "p", "{template: {metadata: {}}}")}},
	{"metadata that is none", nothing, []string{"apiVersion: v1\nkind: ConfigMap\nmetadata: a\n"}},
	{"a group that is none", nothing, []string{"apiVersion: a_b/v1\nkind: ConfigMap\nmetadata: {name: a}\n"}},
	{"a version that is none", nothing, []string{"apiVersion: apps/V1\nkind: ConfigMap\nmetadata: {name: a}\n"}},
	{"a name of 253", nothing, []string{named(strings.Repeat("n", 253))}},
	{"a name of 254", nothing, []string{named(strings.Repeat("n", 254))}},
	{"a name of signs", nothing, []string{named("a!~")}},
	{"a name with a sign beyond", nothing, []string{named("a\\x7f")}},
	{"a name with a blank", nothing, []string{named("a b")}},
	{"a namespace that cannot be", nothing, []string{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: A}\n"}},
	{"labels that are none", nothing, []string{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: x}\n"}},
	{"owners", nothing, []string{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, ownerReferences: []}\n"}},
	{"what outlives", nothing, []string{annotated("vimbroker.io/outlives", "\"true\""), strings.Replace(strings.Replace(crd, "name: a.example.com", "name: a.example.com, annotations: {vimbroker.io/outlives: \"false\"}", 1), "SCOPE", "Cluster", 1)}},
	{"what outlives, beside what has its namespace's name", nothing, []string{annotated("vimbroker.io/outlives", "\"true\""), configMap("cnf")}},
	{"what outlives its namespace", nothing, []string{annotated("vimbroker.io/outlives", "\"true\""), "apiVersion: v1\nkind: Namespace\nmetadata: {name: cnf}\n"}},
	{"what perhaps outlives", nothing, []string{annotated("vimbroker.io/outlives", "maybe")}},
	{"the first wave", nothing, []string{annotated("vimbroker.io/wave", "\"-32768\"")}},
	{"a wave too far", nothing, []string{annotated("vimbroker.io/wave", "\"32768\"")}},
	{"a VDU without a name", nothing, []string{annotated("vimbroker.io/vdu", "\"\"")}},
	{"a VDU of 63", vdus(map[string]int32{strings.Repeat("v", 63): 2}), []string{strings.Replace(workload("Deployment", "w", "{}"), "name: w", "name: w, annotations: {vimbroker.io/vdu: "+strings.Repeat("v", 63)+"}", 1)}},
	{"a VDU of 64", nothing, []string{annotated("vimbroker.io/vdu", strings.Repeat("v", 64))}},
	{"variables that are secret", nothing, []string{annotated("vimbroker.io/secret-variables", "\"a, b\"")}},
	{"a secret without a name", nothing, []string{annotated("vimbroker.io/secret-variables", "\"a, ,b\"")}},
	{"as large as may be", nothing, []string{configMap("a") + "data: {a: " + strings.Repeat("x", 1_500_000-len(`{"apiVersion":"v1","data":{"a":""},"kind":"ConfigMap","metadata":{"name":"a"}}`)) + "}\n"}},
	{"a byte too large", nothing, []string{configMap("a") + "data: {a: " + strings.Repeat("x", 1_500_001-len(`{"apiVersion":"v1","data":{"a":""},"kind":"ConfigMap","metadata":{"name":"a"}}`)) + "}\n"}},
	// Parts.
	{"a part of two", func(in *lifecycle.PlanInput) {
		in.Part, in.Parts = "p2", map[string]string{"two": "p2", "": ""}
	}, []string{configMap("a"), annotated("vimbroker.io/part", "two")}},
	{"the first part of two", func(in *lifecycle.PlanInput) { in.Parts = map[string]string{"two": "p2", "": ""} }, []string{configMap("a"), strings.Replace(annotated("vimbroker.io/part", "two"), "name: a", "name: b", 1)}},
	{"a part of nobody", nothing, []string{annotated("vimbroker.io/part", "two")}},
	// Order.
	{"all bands", nothing, []string{
		"apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: hook}\n",
		"apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.a}\n",
		"apiVersion: ran.example.com/v1\nkind: Namespace\nmetadata: {name: custom}\n", workload("Slice", "s", "{replicas: 2}"), configMap("c"),
		"apiVersion: v1\nkind: PodTemplate\nmetadata: {name: t}\ntemplate: {spec: {containers: [{name: a, image: i:1}]}}\n", claimIn("cnf", "data"),
		"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high, annotations: {vimbroker.io/wave: \"1\"}}\nvalue: 1\n",
		rbacOf + "ClusterRole\nmetadata: {name: cr}\nrules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n",
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: ns, annotations: {vimbroker.io/wave: \"9\"}}\n", strings.Replace(crd, "SCOPE", "Namespaced", 1),
		"apiVersion: example.com/v1\nkind: A\nmetadata: {name: one}\nspec: {replicas: 1}\n", "apiVersion: example.com/v3\nkind: A\nmetadata: {name: three, namespace: ns}\n",
	}},
	{"what comes late behind what is of the cluster alone", nothing, []string{
		"apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: hook}\n",
		rbacOf + "ClusterRole\nmetadata: {name: cr}\nrules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n",
	}},
	{"an order of the package", func(in *lifecycle.PlanInput) {
		in.Waves = []lifecycle.WaveRule{{Wave: 3, Kind: "ConfigMap", Name: "a"}}
		in.Manifests[0].Path = "x/order.yaml"
	}, []string{"waves:\n- {wave: 1, kind: ConfigMap}\n- {wave: 2, labels: {tier: db}}\n- {wave: 4, name: c}\n", configMap("a"), configMap("b"), "apiVersion: v1\nkind: Secret\nmetadata: {name: c, labels: {tier: db}}\n"}},
	{"an order that is a manifest", func(in *lifecycle.PlanInput) { in.Manifests[0].Path = "order.yaml" }, []string{configMap("a") + "waves: []\n"}},
	{"an order without waves", func(in *lifecycle.PlanInput) { in.Manifests[0].Path = "order.yaml" }, []string{"order: []\n"}},
	{"waves in another file", nothing, []string{"waves: []\n"}},
	{"an order that is none", func(in *lifecycle.PlanInput) { in.Manifests[0].Path = "order.yaml" }, []string{"waves: [{wave: x}]\n"}},
	{"an order with a number that is none", func(in *lifecycle.PlanInput) { in.Manifests[0].Path = "order.yaml" }, []string{"waves: [{wave: .nan}]\n"}},
	{"an order by an empty label", func(in *lifecycle.PlanInput) { in.Manifests[0].Path = "order.yaml" }, []string{"waves: [{wave: 1, labels: {tier: ''}}]\n", configMap("a")}},
	{"a rule of the request about nothing", func(in *lifecycle.PlanInput) {
		in.Waves = []lifecycle.WaveRule{{Wave: 1, Name: "a"}, {Wave: 2, Name: "none"}}
	}, []string{configMap("a")}},
	// Definitions.
	{"a definition of the cluster's scope", nothing, []string{strings.Replace(crd, "SCOPE", "Cluster", 1), "apiVersion: example.com/v1\nkind: A\nmetadata: {name: one, namespace: x}\n"}},
	{"a definition of no scope", nothing, []string{strings.Replace(crd, "SCOPE", "Other", 1)}},
	{"a definition of no group", nothing, []string{strings.Replace(strings.Replace(crd, "SCOPE", "Cluster", 1), "group: example.com", "group: _", 1)}},
	{"a definition of no kind", nothing, []string{strings.Replace(strings.Replace(crd, "SCOPE", "Cluster", 1), "kind: A,", "kind: a,", 1)}},
	{"a definition of no plural", nothing, []string{strings.Replace(strings.Replace(crd, "SCOPE", "Cluster", 1), "plural: as", "plural: _", 1)}},
	{"a version that is not served", nothing, []string{strings.Replace(crd, "SCOPE", "Cluster", 1), "apiVersion: example.com/v2\nkind: A\nmetadata: {name: one}\n"}},
	{"a definition of what is there", nothing, []string{strings.NewReplacer("SCOPE", "Cluster", "example.com", "ran.example.com", "kind: A", "kind: Slice", "plural: as", "plural: others").Replace(crd), workload("Slice", "s", "{}")}},
	{"a definition of another version", nothing, []string{strings.NewReplacer("SCOPE", "Cluster", "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1").Replace(crd)}},
	{"another kind of that name", nothing, []string{"apiVersion: apps/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\n"}},
	// Namespaces.
	{"the namespace default", nothing, []string{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n"}},
	{"another namespace", nothing, []string{configMap("a"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ns}\n", configMap("b")}},
	{"a namespace that outlives", nothing, []string{"apiVersion: v1\nkind: Namespace\nmetadata: {name: cnf, annotations: {vimbroker.io/outlives: \"true\"}}\n", annotated("vimbroker.io/outlives", "\"true\"")}},
	{"a name of 52 for a set", nothing, []string{workload("StatefulSet", strings.Repeat("s", 52), "{}")}},
	{"a name of 53 for a set", nothing, []string{workload("StatefulSet", strings.Repeat("s", 53), "{}")}},
	{"a name of 53 for a deployment", nothing, []string{workload("Deployment", strings.Repeat("s", 53), "{}")}},
	// Roles.
	{"roles and what binds them", nothing, []string{
		rbacOf + "Role\nmetadata: {name: r}\nrules:\n- {apiGroups: [''], resources: [pods, 7], resourceNames: [p], verbs: [get, list]}\n- {apiGroups: [''], resources: [pods], resourceNames: [p], verbs: [get, list]}\n- {apiGroups: [''], resources: [pods], verbs: [get, list]}\n- {apiGroups: [apps], resources: [pods], verbs: [get, list]}\n- {apiGroups: [apps], resources: [jobs], verbs: [get, list]}\n- {apiGroups: [apps], resources: [jobs], verbs: [get]}\n",
		rbacOf + "RoleBinding\nmetadata: {name: own}\nroleRef: {kind: Role, name: r}\nsubjects: [{kind: ServiceAccount, name: s, namespace: cnf}, {kind: User, name: u, namespace: default}]\n",
		rbacOf + "RoleBinding\nmetadata: {name: others}\nroleRef: {kind: Role, name: x}\n",
		rbacOf + "RoleBinding\nmetadata: {name: wide}\nroleRef: {kind: ClusterRole, name: r}\n",
		rbacOf + "RoleBinding\nmetadata: {name: elsewhere, namespace: ns}\nroleRef: {kind: Role, name: r}\n",
	}},
	{"roles that say more", nothing, []string{
		rbacOf + "ClusterRole\nmetadata: {name: sum}\naggregationRule: {}\nrules: []\n", rbacOf + "ClusterRole\nmetadata: {name: urls}\nrules: [{nonResourceURLs: [/x], verbs: [get]}, {apiGroups: [''], resources: [pods], verbs: [get]}]\n",
		rbacOf + "ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {kind: ClusterRole, name: sum}\n", rbacOf + "ClusterRoleBinding\nmetadata: {name: c}\nroleRef: {kind: ClusterRole, name: urls}\n",
	}},
	{"a role as large as may be", nothing, []string{roleWith(63)}},
	{"a lease as full as may be", nothing, []string{roleWith(62), configMap("a")}},
	{"a lease that is full", nothing, []string{roleWith(63), configMap("a")}},
	{"a role too large", nothing, []string{roleWith(64)}},
	{"a rule without groups", nothing, []string{rbacOf + "Role\nmetadata: {name: r}\nrules: [{resources: [pods], verbs: [get]}]\n"}},
	{"a rule without resources", nothing, []string{rbacOf + "Role\nmetadata: {name: r}\nrules: [{apiGroups: [''], verbs: [get]}]\n"}},
	{"a rule without verbs", nothing, []string{rbacOf + "Role\nmetadata: {name: r}\nrules: [{apiGroups: [''], resources: [pods]}]\n"}},
	{"a binding to a role without a name", nothing, []string{rbacOf + "RoleBinding\nmetadata: {name: b}\nroleRef: {kind: Role}\n"}},
	{"a binding to no role", nothing, []string{rbacOf + "RoleBinding\nmetadata: {name: b}\nroleRef: {kind: User, name: a}\n"}},
	{"a binding to a bad role of the package", nothing, []string{rbacOf + "RoleBinding\nmetadata: {name: b, annotations: {vimbroker.io/wave: \"-1\"}}\nroleRef: {kind: Role, name: r}\n", rbacOf + "Role\nmetadata: {name: r}\nrules: [{}]\n"}},
	{"an account in default", nothing, []string{rbacOf + "RoleBinding\nmetadata: {name: b}\nroleRef: {kind: Role, name: r}\nsubjects:\n- {kind: ServiceAccount, name: s, namespace: default}\n"}},
	{"subjects of another group", nothing, []string{"apiVersion: ran.example.com/v1\nkind: Plain\nmetadata: {name: a}\nsubjects: [{kind: ServiceAccount, name: s, namespace: default}]\n"}},
	{"an account in default that is meant", func(in *lifecycle.PlanInput) { in.Namespace = "default" }, []string{rbacOf + "RoleBinding\nmetadata: {name: b}\nroleRef: {kind: Role, name: r}\nsubjects: [{kind: ServiceAccount, name: s, namespace: default}]\n"}},
	// VDUs and their number.
	{"VDUs", vdus(map[string]int32{"a": 2, "b": 3, "c": 4, "d": 5, "e": 6, "f": 7, "g": 8, "h": 9}), []string{
		workload("Deployment", "a", "{replicas: 9}"), workload("ReplicationController", "b", "{}"), workload("DaemonSet", "c", "{}"), workload("Slice", "d", "{replicas: 9}"), workload("Slice", "e", "{}"),
		workload("Plain", "f", "{replicas: 9}"), "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: g}\n", workload("Job", "h", "{ttlSecondsAfterFinished: 1}"),
	}},
	{"a VDU twice", vdus(map[string]int32{"a": 2}), []string{workload("Deployment", "a", "{}"), workload("StatefulSet", "a", "{}")}},
	{"a VDU that is no label", vdus(map[string]int32{strings.Repeat("a", 64): 2}), []string{workload("Deployment", strings.Repeat("a", 64), "{}")}},
	{"an autoscaler", vdus(map[string]int32{"a": 2, "b": 3}), []string{workload("Deployment", "a", "{replicas: 9}"), workload("Deployment", "b", "{replicas: 9}"), scalerOf("Deployment", "a", ", maxReplicas: 5")}},
	{"an autoscaler of what stands", func(in *lifecycle.PlanInput) {
		in.Operation, in.Replicas = lifecycle.ChangePackage, map[string]int32{"a": 2}
		unmade := standingOf("apps", "Deployment", "deployments", "b")
		unmade.UID = ""
		in.Standing = []lifecycle.Resource{standingOf("apps", "Deployment", "deployments", "a"), unmade}
	}, []string{workload("Deployment", "a", "{replicas: 9}"), workload("Deployment", "b", "{replicas: 9}"), scalerOf("Deployment", "a", ""), strings.Replace(scalerOf("Deployment", "b", ""), "h-b", "h-b, namespace: cnf", 1)}},
	{"a claim, a set and its number", vdus(map[string]int32{"db": 2}), []string{claimer, claimIn("cnf", "own")}},
	// What stands.
	{"a change of what stands", of(lifecycle.ChangePackage, func() []lifecycle.Resource {
		kept := standingOf("", "Secret", "secrets", "kept")
		kept.Outlives = true
		gone, going := standingOf("old.example.com", "Old", "olds", "o"), standingOf("", "ConfigMap", "configmaps", "b")
		a := standingOf("", "ConfigMap", "configmaps", "a")
		a.Storages = []lifecycle.Storage{{Desc: "d", Name: "n"}}
		return []lifecycle.Resource{a, kept, gone, inWave(2, going), inWave(3, standingOf("apps", "Deployment", "deployments", "w")), inWave(2, standingOf("", "Service", "services", "s"))}
	}()...), []string{configMap("a")}},
	{"TERMINATE", func(in *lifecycle.PlanInput) {
		of(lifecycle.Terminate, standingOf("", "ConfigMap", "configmaps", "a"), inWave(1, standingOf("", "Secret", "secrets", "b")), inWave(1, standingOf("apps", "Deployment", "deployments", "c")), lifecycle.Resource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespace: "gone", Name: "a"},
			lifecycle.Resource{Version: "v1", Kind: "Namespace", Plural: "namespaces", Name: "ns"})(in)
		in.Gone, in.Manifests = []string{"gone"}, nil
	}, nil},
	{"an operation that is none", of(lifecycle.ModifyInfo), []string{configMap("a")}},
	{"looking", func(in *lifecycle.PlanInput) {
		in.Observing, in.Standing = true, []lifecycle.Resource{standingOf("", "ConfigMap", "configmaps", "a"), standingVDU("web", standingOf("apps", "Deployment", "deployments", "web")), {Version: "v1", Kind: "Namespace", Plural: "namespaces", Name: "ns"}, standingVDU("s", standingOf("ran.example.com", "Slice", "slices", "s"))}
	}, nil},
	// SCALE.
	{"a VDU scaled", scaled("web", 3, standingOf("", "ConfigMap", "configmaps", "web"), standingVDU("web", standingOf("apps", "Deployment", "deployments", "w")), standingVDU("other", standingOf("apps", "Deployment", "deployments", "o"))), nil},
	{"a set scaled", scaled("db", 3, standingVDU("db", standingOf("apps", "StatefulSet", "statefulsets", "db"))), nil},
	{"nothing scaled", scaled("web", 3, standingVDU("other", standingOf("apps", "Deployment", "deployments", "o"))), nil},
	{"what has an address scaled", func(in *lifecycle.PlanInput) {
		scaled("web", 2, standingVDU("web", standingOf("apps", "StatefulSet", "statefulsets", "w")))(in)
		in.Links = []lifecycle.Link{{Ports: []asset.Port{{Name: "net/statefulset/w"}}}}
	}, nil},
	{"what has an address scaled to one", func(in *lifecycle.PlanInput) {
		scaled("web", 1, standingVDU("web", standingOf("apps", "StatefulSet", "statefulsets", "w")))(in)
		in.Links = []lifecycle.Link{{Ports: []asset.Port{{Name: "net/statefulset/w"}}}}
	}, nil},
	// HEAL.
	{"pods replaced", healing(podOf("web", "cnf", "web-1"), podOf("solo", "cnf", "solo"), podOf("web", "cnf", "web-2")), []string{workload("Pod", "solo", "{containers: [{name: a}]}"), workload("Deployment", "web", "{}"), configMap("c")}},
	{"a pod of no VDU replaced", healing(podOf("", "cnf", "web-1")), []string{workload("Deployment", "web", "{}"), configMap("c")}},
	{"a pod of another VDU replaced", healing(podOf("db", "cnf", "db-1")), []string{workload("Deployment", "web", "{}")}},
	{"a pod elsewhere replaced", healing(podOf("web", "ns", "web-1")), []string{workload("Deployment", "web", "{}")}},
	{"nothing replaced", healing(), []string{workload("Deployment", "web", "{}")}},
	// Links.
	{"a link of a PCI device", onLink(&spec.PodNetwork{Type: "host-device", Device: "0000:00:1f.6"}, nil), []string{configMap("a")}},
	{"a PCI device of a bridge", onLink(&spec.PodNetwork{Type: "bridge", Device: "0000:00:1f.6"}, nil), []string{configMap("a")}},
	{"a device where there is none", onLink(&spec.PodNetwork{Type: "sriov", Device: "eth0", Resource: "x/y"}, nil), []string{configMap("a")}},
	{"a resource of devices", onLink(&spec.PodNetwork{Type: "sriov", VLAN: 4094, Resource: "x.example.com/y"}, nil), []string{configMap("a")}},
	{"a VLAN too many", onLink(&spec.PodNetwork{Type: "sriov", VLAN: 4095, Resource: "x.example.com/y"}, nil), []string{configMap("a")}},
	{"a VLAN below", onLink(&spec.PodNetwork{Type: "sriov", VLAN: -1, Resource: "x.example.com/y"}, nil), []string{configMap("a")}},
	{"a VLAN that does not span", onLink(&spec.PodNetwork{Type: "vlan", Device: "eth0", VLAN: 5}, nil), []string{configMap("a")}},
	{"a VLAN of none", onLink(&spec.PodNetwork{Type: "vlan", Device: "eth0"}, nil), []string{configMap("a")}},
	{"a link of no network", onLink(nil, nil), []string{configMap("a")}},
	{"a link of another type", onLink(&spec.PodNetwork{Type: "other"}, nil), []string{configMap("a")}},
	{"a link of a name that cannot be", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, func(k *lifecycle.Link) { k.CPs[0].CPDID = strings.Repeat("n", 64) }), []string{configMap("a")}},
	{"addresses by DHCP", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, func(k *lifecycle.Link) { yes := true; k.Spec.DHCP, k.Spec.CIDR = &yes, "10.0.0.0/24" }), []string{configMap("a")}},
	{"addresses without DHCP", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, func(k *lifecycle.Link) {
		no := false
		k.Spec.DHCP, k.Spec.CIDR, k.Spec.Gateway, k.Spec.DNS = &no, "10.0.0.0/24", "none", []string{"10.0.0.53"}
		k.Spec.Pools = []spec.AddressRange{{Start: "10.0.0.5", End: "10.0.0.6"}, {Start: "10.0.0.8", End: "10.0.0.9"}}
	}), []string{networked("Deployment", "net@eth5, x/net ,cnf/net", "")}},
	{"a part's link", func(in *lifecycle.PlanInput) {
		onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, nil)(in)
		in.Part, in.Parts = "p2", map[string]string{"two": "p2", "": ""}
	}, []string{annotated("vimbroker.io/part", "two")}},
	{"the first part's link", func(in *lifecycle.PlanInput) {
		onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, nil)(in)
		in.Parts = map[string]string{"two": "p2"}
	}, []string{configMap("a")}},
	{"a pod's port", onLink(&spec.PodNetwork{Type: "vlan", Device: "eth0", VLAN: 5}, spans(false)), []string{networked("Pod", "net@eth5, cnf/other", "")}},
	{"a pod's port, twice", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, spans(false)), []string{networked("Pod", "net,net", "")}},
	{"a pod's own address", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, spans(false)), []string{networked("Pod", `[{"name":"net","Ips":["1"]}]`, "")}},
	{"a pod elsewhere on it", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, spans(false)), []string{strings.Replace(networked("Pod", `[{"name":"net","namespace":"ns"}]`, ""), "name: w", "name: w, namespace: ns", 1)}},
	{"a network of that name", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, spans(false)), []string{"apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: net, namespace: ns}\nspec: {config: '{\"type\":\"bridge\"}'}\n", "apiVersion: ran.example.com/v1\nkind: Plain\nmetadata: {name: net}\n"}},
	{"several pods on one address", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, spans(false)), []string{networked("Deployment", "net", "")}},
	{"a set of one", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, spans(false)), []string{networked("StatefulSet", "net", "")}},
	{"a set of two", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, spans(false)), []string{networked("StatefulSet", "net", ", replicas: 2")}},
	{"a pool", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, spans(true)), []string{networked("Deployment", "net", ", replicas: 2"), strings.Replace(networked("Pod", "net", ""), "name: w", "name: solo", 1)}},
	{"a pool as large as may be", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, spans(true)), []string{networked("Deployment", "net", ", replicas: 99")}},
	{"a pool too large", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, spans(true)), []string{networked("Deployment", "net", ", replicas: 100")}},
	{"a pool of what scales", func(in *lifecycle.PlanInput) {
		onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, spans(true))(in)
		in.Replicas = map[string]int32{"w": 1}
		in.Flavour = vnfpkg.Flavour{VDUs: map[string]vnfpkg.VDU{"W": {Name: "w", Initial: 1, Max: 2}, "X": {Name: "x", Max: 50}}, Aspects: map[string]vnfpkg.Aspect{"s": {MaxLevel: 3, Deltas: map[string]int{"W": 2, "X": 1}}}}
	}, []string{networked("Deployment", "net", "")}},
	{"a pool of a daemon", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, spans(true)), []string{networked("DaemonSet", "net", "")}},
	{"a pool of a job", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, spans(true)), []string{networked("Job", "net", "")}},
	{"no PCI device", onLink(&spec.PodNetwork{Type: "host-device", Device: "0000:00:1f.9"}, nil), []string{configMap("a")}},
	{"several pods on one address of old", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, spans(false)), []string{networked("ReplicationController", "net", "")}},
	{"another kind on it", onLink(&spec.PodNetwork{Type: "bridge", Device: "br0"}, spans(false)), []string{"apiVersion: k8s.cni.cncf.io/v1\nkind: Other\nmetadata: {name: net}\nspec: {config: '{\"type\":\"bridge\"}'}\n"}},
	// Volumes.
	{"a volume mounted", mounting(lifecycle.Volume{ID: "1", Storage: "data", Claim: "vimbroker-1"}), []string{mounter("cnf", "data"), claimIn("cnf", "data"), strings.Replace(mounter("ns", "data"), "name: p", "name: q", 1), claimIn("ns", "data"), claimIn("cnf", "other")}},
	{"a volume, and what has its name", mounting(lifecycle.Volume{ID: "1", Storage: "data", Claim: "vimbroker-1"}), []string{mounter("cnf", "data"), configMap("data")}},
	{"a volume that nobody mounts", mounting(lifecycle.Volume{ID: "1", Storage: "data", Claim: "vimbroker-1"}), []string{mounter("ns", "data")}},
	{"the claim of a volume", nothing, []string{mounter("cnf", "vimbroker-1")}},
	{"claims of what makes none", nothing, []string{workload("Deployment", "a", "{volumeClaimTemplates: [{metadata: {name: d}}]}"), "apiVersion: ran.example.com/v1\nkind: StatefulSet\nmetadata: {name: b}\nspec: {volumeClaimTemplates: [{metadata: {name: d}}]}\n"}},
	{"sets whose claims stay, or go", nothing, []string{workload("StatefulSet", "a", "{volumeClaimTemplates: [{metadata: {name: d}}]}"), workload("StatefulSet", "b", "{volumeClaimTemplates: [{metadata: {name: d}}], persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}}")}},
	// Of other groups.
	{"a role of another group", nothing, []string{"apiVersion: ran.example.com/v1\nkind: Role\nmetadata: {name: r}\n", rbacOf + "RoleBinding\nmetadata: {name: b}\nroleRef: {kind: Role, name: r}\n"}},
	{"definitions of another group", nothing, []string{"apiVersion: ran.example.com/v1\nkind: CustomResourceDefinition\nmetadata: {name: d}\n", configMap("a")}},
	{"a schedule of jobs that pass", nothing, []string{workload("CronJob", "c", "{ttlSecondsAfterFinished: 1}")}},
	{"a binding of a role's name", nothing, []string{rbacOf + "ClusterRoleBinding\nmetadata: {name: x}\nroleRef: {kind: ClusterRole, name: x}\n"}},
	{"another kind of definitions", nothing, []string{"apiVersion: apiextensions.k8s.io/v1\nkind: Other\nmetadata: {name: o, annotations: {vimbroker.io/wave: \"1\"}}\n", configMap("a")}},
	{"a pod of another group replaced", healing(podOf("web", "cnf", "web-1")), []string{"apiVersion: ran.example.com/v1\nkind: Pod\nmetadata: {name: web}\nspec: {}\n"}},
	{"too many pods replaced", func(in *lifecycle.PlanInput) {
		var all []lifecycle.VNFC
		for i := range 64 * 64 {
			all = append(all, podOf("web", "cnf", fmt.Sprint("p", i)))
		}
		healing(all...)(in)
	}, []string{workload("Deployment", "web", "{}")}},
	{"a text", nothing, []string{"text\n"}},
	{"as much as may be", nothing, []string{"#" + strings.Repeat("x", 32<<20-1)}},
	{"as many signs as may be", nothing, []string{"#" + strings.Repeat(",", 400_000)}},
	{"a sign too many", nothing, []string{"#" + strings.Repeat(",", 400_001)}},
	{"a byte too much", nothing, []string{"#" + strings.Repeat("x", 32<<20-1), "#"}},
	// What is judged.
	{"an ingress", nothing, []string{"apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i}\nspec: {rules: [{host: A.example.com}, {host: taken.example.com}, {}]}\n", workload("Slice", "s", "{}")}},
	{"an ingress without a host", nothing, []string{"apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i}\nspec: {rules: [{}]}\n"}},
	{"a set that names a claim of a volume", nothing, []string{strings.Replace(claimer, "{metadata: {name: data}}", "{metadata: {name: vimbroker-1}}", 1)}},
	{"networks that say nothing, or are none", nothing, []string{
		networkWith("a", "{}"), networkWith("b", `{"type":""}`), networkWith("c", `{"type":"bridge","other":[{"type":"x","master":"eth0"}]}`), networkWith("d", `{"Plugins":[{"Type":"vlan","MASTER":"eth0"}],"args":{"type":"ovs"}}`),
		networkWith("e", `{"type":"macvlan","master":""}`), networkWith("f", `[{"type":"ptp"}]`), networkWith("g", `{"delegates":{"type":"vrf"}}`), networkWith("h", `{"plugins":[[{"type":"tap"}],{"x":[{"type":"tuning"}]}]}`),
		networkWith("i", `{"type":7,"device":true}`), networkWith("j", "none"), networkWith("k", "  "), networkWith("l", `{"plugins":[{"type":"bridge"},{"type":"bridge"},{"type":"mine"},{"type":"theirs"}]}`),
	}},
	{"values that are odd", nothing, []string{
		workload("Service", "a", "{externalIPs: 7}"), workload("Service", "b", "{externalIPs: false, loadBalancerIP: 0.5}"), workload("Service", "c", "{externalIPs: {}, loadBalancerIP: []}"), workload("Service", "d", "{externalIPs: '', loadBalancerIP: true}"),
		"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a}\nspec: {volumeName: 0, dataSourceRef: {namespace: cnf}}\n", "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: b}\nspec: {volumeName: ~, dataSourceRef: {namespace: other}}\n",
	}},
	{"pods that reach", nothing, []string{
		workload("Pod", "toleration", "{nodeName: n, tolerations: [{operator: Exists}], containers: [{name: a}]}"), workload("Pod", "keyed", "{nodeName: n, tolerations: [{key: k, operator: Exists}], containers: [{name: a}]}"),
		workload("Pod", "equal", "{nodeName: n, tolerations: [{operator: Equal}], containers: [{name: a}]}"), workload("Pod", "anywhere", "{tolerations: [{operator: Exists}], containers: [{name: a}]}"),
		workload("Pod", "taken", "{containers: [{name: a}], volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {volumeName: x}}}}, {name: w, ephemeral: {volumeClaimTemplate: {spec: {}}}}, {name: x, ephemeral: {}}]}"),
		workload("Pod", "untaken", "{containers: [{name: a}], volumes: [{name: w, ephemeral: {volumeClaimTemplate: {spec: {}}}}]}"),
		workload("Pod", "capable", "{containers: [{name: a, securityContext: {capabilities: {add: [CHOWN]}}}]}"),
		workload("Pod", "fleeting", "{ephemeralContainers: [{name: e, securityContext: {capabilities: {add: [CHOWN]}}}], containers: [{name: a}]}"),
		workload("Pod", "initial", "{initContainers: [{name: e, securityContext: {capabilities: {add: [CHOWN]}}}], containers: [{name: a}]}"),
		workload("Pod", "first", "{priorityClassName: system-node-critical, containers: [{name: a}]}"), workload("Pod", "restricted", "{securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}, containers: [{name: a, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}"),
		workload("Pod", "odd", "{containers: x}"), workload("Pod", "unheard", "{containers: [{name: a}], unheard: 1}"), workload("Plain", "custom", "{containers: [{name: a, image: x:1}], unheard: 1, image: y:1}"),
	}},
}

// TestPlansOfACorpus: what comes out of each package and request, whole: stages, rules, waves, objects, what the instance
// consists of, facts, and errors with field and remedy.
func TestPlansOfACorpus(t *testing.T) {
	s := fakeobjects.New(t)
	for _, k := range served {
		s.Serve(k)
	}
	ingress := func(name, namespace, owner, host string) {
		s.Put("/apis/networking.k8s.io/v1/namespaces/"+namespace+"/ingresses/"+name, map[string]any{
			"kind": "Ingress", "metadata": map[string]any{"name": name, "namespace": namespace, "labels": map[string]any{"vimbroker.io/instance": owner}},
			"spec": map[string]any{"rules": []any{map[string]any{"host": host}}},
		})
	}
	ingress("others", "ns", "", "Taken.example.com")
	ingress("own", "ns2", instance, "a.example.com")
	ingress("beside", "cnf", "", "a.example.com")
	var got []string
	for _, c := range corpus {
		in := input(c.texts...)
		c.in(&in)
		p, err := plan(t, s, in)
		text := planned(p, err)
		if len(text) > 20_000 {
			text = fmt.Sprintf("%d bytes: %s...\n", len(text), text[:200])
		}
		got = append(got, "== "+c.name+"\n"+text)
	}
	if golden.Updating() {
		if err := os.WriteFile("testdata/plans.txt", []byte(strings.Join(got, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("testdata/plans.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.SplitAfter(string(text), "\n\n")
	for i := range want {
		want[i] = strings.TrimSuffix(want[i], "\n")
	}
	want[len(want)-1] += "\n"
	if len(want) != len(got) {
		t.Fatalf("the corpus has %d plans, and testdata/plans.txt %d; write it with -update, and look at what changes", len(got), len(want))
	}
	for i := range got {
		if strings.TrimSpace(got[i]) != strings.TrimSpace(want[i]) {
			t.Errorf("%s\nwant\n%s", got[i], want[i])
		}
	}
	if names := slices.Sorted(func(yield func(string) bool) {
		for _, c := range corpus {
			if !yield(c.name) {
				return
			}
		}
	}); len(slices.Compact(names)) != len(corpus) {
		t.Error("two plans of the corpus have one name")
	}
}
