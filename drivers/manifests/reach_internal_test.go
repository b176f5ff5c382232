package manifests

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"k8s.io/pod-security-admission/api"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/pods"
)

// judged are the facts of manifests, as a cluster of a release would have them.
func judged(t testing.TB, at api.Version, vars map[string]string, texts ...string) lifecycle.Facts {
	t.Helper()
	in := lifecycle.PlanInput{Namespace: "cnf", Variables: vars}
	for _, text := range texts {
		in.Manifests = append(in.Manifests, lifecycle.Manifest{Path: "a.yaml", Text: secret.NewText(text)})
	}
	all, err := objects(in, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, texts)
	}
	var f facts
	for _, o := range all {
		o.Plural, o.Namespace, o.release = strings.ToLower(o.Kind)+"s", "cnf", at
		f.add(o.Resource)
		f.judge(o)
	}
	return f.done()
}

func latest(t testing.TB, texts ...string) lifecycle.Facts {
	return judged(t, api.LatestVersion(), nil, texts...)
}

func wordsOf(f lifecycle.Facts) (all []string) {
	for _, r := range f.Reaches {
		all = append(all, r.What)
	}
	return slices.Compact(all)
}

// manifest is an object in a form of YAML that JSON is.
func manifest(t testing.TB, o map[string]any) string {
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPodsAreJudgedByPodSecurity: by the rules of the cluster's release, in every kind that has pods, and in a custom
// resource that looks as if it had one.
func TestPodsAreJudgedByPodSecurity(t *testing.T) {
	wrap := func(apiVersion, kind, path string, pod map[string]any) map[string]any {
		o := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "a"}}
		return pods.Set(o, path, map[string]any{"metadata": pod["metadata"], "spec": pod["spec"]})
	}
	for _, c := range pods.Cases() {
		for minor, want := range map[int]string{36: c.Level, 33: c.Level} {
			if minor < c.Since {
				want = lifecycle.PodsRestricted
			}
			for _, o := range []map[string]any{
				c.Pod, wrap("apps/v1", "Deployment", "spec.template", c.Pod), wrap("apps/v1", "StatefulSet", "spec.template", c.Pod),
				wrap("apps/v1", "DaemonSet", "spec.template", c.Pod), wrap("apps/v1", "ReplicaSet", "spec.template", c.Pod),
				wrap("v1", "ReplicationController", "spec.template", c.Pod), wrap("v1", "PodTemplate", "template", c.Pod),
				wrap("batch/v1", "Job", "spec.template", c.Pod), wrap("batch/v1", "CronJob", "spec.jobTemplate.spec.template", c.Pod),
				wrap("apps/v1", "ControllerRevision", "data.spec.template", c.Pod), wrap("example.com/v1", "Engine", "spec.pod", c.Pod),
			} {
				f := judged(t, api.MajorMinorVersion(1, minor), nil, manifest(t, o))
				node := slices.Contains(wordsOf(f), lifecycle.ReachNode)
				if f.PodSecurity != want || want == lifecycle.PodsPrivileged && (!f.Privileged || !node) {
					t.Errorf("%s in a %s on 1.%d: %s, want %s; privileged %t, %v", c.Name, o["kind"], minor, f.PodSecurity, want, f.Privileged, f.Reaches)
				}
			}
		}
	}
}

// TestFormsOfAManifestAreOne: the same answer for a List, for JSON, for keys in another order and for values that
// variables stand for.
func TestFormsOfAManifestAreOne(t *testing.T) {
	reordered := func(o map[string]any) string {
		var n yaml.Node
		if err := n.Encode(o); err != nil {
			t.Fatal(err)
		}
		var turn func(*yaml.Node)
		turn = func(n *yaml.Node) {
			if n.Kind == yaml.MappingNode {
				var turned []*yaml.Node
				for i := len(n.Content) - 2; i >= 0; i -= 2 {
					turned = append(turned, n.Content[i], n.Content[i+1])
				}
				n.Content = turned
			}
			for _, c := range n.Content {
				turn(c)
			}
		}
		turn(&n)
		text, err := yaml.Marshal(&n)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	all := pods.Cases()
	for _, o := range []string{service, networkOf("host-device"), claim} {
		var content map[string]any
		if err := yaml.Unmarshal([]byte(o), &content); err != nil {
			t.Fatal(err)
		}
		all = append(all, pods.Case{Name: o, Pod: content})
	}
	chance := rand.New(rand.NewPCG(7, 7))
	for n := range 200 {
		all = append(all, pods.Case{Name: fmt.Sprintf("random pod %d", n), Pod: pods.Random(chance, "a")})
	}
	for _, c := range all {
		text := manifest(t, c.Pod)
		want := fmt.Sprint(latest(t, text))
		vars := map[string]string{"UNCONFINED": "Unconfined", "SPC": "spc_t", "YES": "true", "HOST": "169.254.169.254"}
		varied := reordered(c.Pod)
		for name, value := range vars {
			varied = strings.ReplaceAll(varied, ": "+value+"\n", ": ${"+name+"}\n")
		}
		for form, got := range map[string]lifecycle.Facts{
			"list":      latest(t, `{"apiVersion": "v1", "kind": "List", "items": [`+text+`]}`),
			"reordered": latest(t, reordered(c.Pod)), "variables": judged(t, api.LatestVersion(), vars, varied),
		} {
			if fmt.Sprint(got) != want {
				t.Errorf("%s as %s: %v, want %s", c.Name, form, got, want)
			}
		}
	}
}

const (
	service = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {externalIPs: [8.8.8.8, secret-text]}\n"
	claim   = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a}\nspec: {volumeName: v}\n"
)

func networkOf(kind string) string {
	return "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: a}\nspec: {config: '{\"type\": \"" + kind + "\", \"device\": \"eth0\"}'}\n"
}

// reachCases have, for each row of the table, an object that reaches and one of the kind that does not ("" where every one does).
var reachCases = map[string]struct{ reaches, harmless, want string }{
	"/Service": {
		"spec: {externalIPs: [8.8.8.8], loadBalancerIP: 8.8.4.4}\nstatus: {loadBalancer: {ingress: [{ip: 8.8.8.8}]}}",
		"spec: {externalIPs: [], type: LoadBalancer}\nstatus: {}", "network loadBalancerIP, cluster externalIPs 8.8.8.8",
	},
	"/Endpoints":                            {"subsets: [{addresses: [{ip: 10.0.0.1}]}]", "subsets: []", "network addresses"},
	"discovery.k8s.io/EndpointSlice":        {"endpoints: [{addresses: [10.0.0.1]}]", "endpoints: []", "network addresses"},
	"/PersistentVolume":                     {"spec: {local: {path: /}}", "spec: {csi: {driver: d}}", "node local"},
	"/PersistentVolumeClaim":                {"spec: {dataSourceRef: {namespace: other}}", "spec: {dataSourceRef: {namespace: cnf}}", "cluster dataSourceRef.namespace"},
	"apps/StatefulSet":                      {"spec: {volumeClaimTemplates: [{spec: {volumeName: v}}]}", "spec: {volumeClaimTemplates: [{spec: {}}]}", "cluster volumeName"},
	"/Secret":                               {"type: kubernetes.io/service-account-token", "type: Opaque", "rbac type"},
	"networking.k8s.io/Ingress":             {"spec: {rules: [{host: mine.example.com}]}", "", "cluster annotations (snippet)"},
	"gateway.networking.k8s.io/":            {"spec: {}", "", "cluster annotations (snippet)"},
	"gateway.nginx.org/SnippetsFilter":      {"spec: {}", "", "cluster kind"},
	"gateway.nginx.org/SnippetsPolicy":      {"spec: {}", "", "cluster kind"},
	"resource.k8s.io/ResourceClaim":         {"spec: {devices: {requests: [{exactly: {adminAccess: true}}]}}", "spec: {devices: {requests: [{exactly: {adminAccess: false}}]}}", "node adminAccess"},
	"resource.k8s.io/ResourceClaimTemplate": {"spec: {spec: {devices: {requests: [{adminAccess: true}]}}}", "spec: {}", "node adminAccess"},
	"snapshot.storage.k8s.io/VolumeSnapshot": {
		"spec: {source: {volumeSnapshotContentName: v}}", "spec: {source: {persistentVolumeClaimName: v}}", "cluster volumeSnapshotContentName",
	},
	"k8s.cni.cncf.io/NetworkAttachmentDefinition": {`spec: {config: '{"type": "bridge"}'}`, "spec: {config: ''}", "network spec.config (bridge)"},
	"policy.networking.k8s.io/":                   {"spec: {}", "", "network kind"},
	"whereabouts.cni.cncf.io/":                    {"spec: {}", "", "network kind"},
	"crd.projectcalico.org/IPPool":                {"spec: {}", "", "network kind"},
	"projectcalico.org/IPPool":                    {"spec: {}", "", "network kind"},
	"metallb.io/":                                 {"spec: {}", "", "network kind"},
	"cilium.io/CiliumLoadBalancerIPPool":          {"spec: {}", "", "network kind"},
	"cilium.io/CiliumPodIPPool":                   {"spec: {}", "", "network kind"},
	"sriovnetwork.openshift.io/":                  {"spec: {}", "", "node kind"},
	"kubevirt.io/": {
		"spec: {template: {spec: {domain: {devices: {gpus: [{name: g}]}}, volumes: [{hostDisk: {path: /}}], networks: [{multus: {networkName: other/n}}]}}}",
		"spec: {template: {spec: {domain: {devices: {gpus: []}}, networks: [{multus: {networkName: n}}, {multus: {networkName: cnf/n}}]}}}",
		"node gpus, node hostDisk, network multus.networkName",
	},
	"pool.kubevirt.io/":                {"spec: {a: {hostDevices: [{name: d}]}}", "spec: {}", "node hostDevices"},
	"infrastructure.cluster.x-k8s.io/": {"spec: {template: {spec: {extraMounts: [{hostPath: /}]}}}", "spec: {}", "node extraMounts"},
	"bootstrap.cluster.x-k8s.io/": {
		`spec: {files: [{path: a, content: "volumes: [{hostPath: {path: /}}]"}]}`, "spec: {files: [{path: a, content: b}]}", "node files (hostPath)",
	},
	"controlplane.cluster.x-k8s.io/": {
		`spec: {kubeadmConfigSpec: {files: [{content: "hostPath: {path: /}"}]}}`, "spec: {replicas: 3}", "node files (hostPath)",
	},
	"rbac.authorization.k8s.io/":    {"rules: []", "", "rbac kind"},
	"apiextensions.k8s.io/":         {"spec: {}", "", "definitions kind"},
	"apiregistration.k8s.io/":       {"spec: {}", "", "definitions kind"},
	"admissionregistration.k8s.io/": {"webhooks: []", "", "webhooks kind"},
}

func findings(f lifecycle.Facts) string {
	var all []string
	for _, r := range f.Reaches {
		all = append(all, r.What+" "+r.Field)
	}
	return strings.Join(all, ", ")
}

// TestEveryRowOfTheTableReaches: each finds what it is for in whatever version of its kind, and nothing in an object
// that does not reach.
func TestEveryRowOfTheTableReaches(t *testing.T) {
	for _, r := range table {
		c, has := reachCases[r.group+"/"+r.kind]
		if !has {
			t.Errorf("%s/%s has no case", r.group, r.kind)
		}
		kind := r.kind
		if kind == "" {
			kind = "Thing"
		}
		meta := "metadata: {name: a, annotations: {nginx.ingress.kubernetes.io/Server-Snippet: x}}\n"
		version := "v1"
		if r.group != "" {
			version = r.group + "/v7beta3"
		}
		head := "apiVersion: " + version + "\nkind: " + kind + "\n" + meta
		if got := findings(latest(t, head+c.reaches)); got != c.want {
			t.Errorf("%s/%s: %s, want %s", r.group, kind, got, c.want)
		}
		if strings.Contains(c.want, "snippet") {
			c.harmless, head = c.reaches, strings.Replace(head, "Server-Snippet", "rewrite-target", 1)
		}
		if c.harmless != "" {
			if got := findings(latest(t, head+c.harmless)); got != "" {
				t.Errorf("%s/%s reaches nothing, and was found: %s", r.group, kind, got)
			}
		}
	}
}

// TestNetworksAreReadAsTheirPluginsReadThem: in a chain, in capitals, twice, and where they are no JSON.
func TestNetworksAreReadAsTheirPluginsReadThem(t *testing.T) {
	for config, want := range map[string]string{
		`{"type": "macvlan", "master": "eth0"}`:                            "network spec.config (macvlan): an interface of nodes [macvlan]",
		`{"TYPE": "host-device", "Device": "eth0"}`:                        "network spec.config (host-device): an interface of nodes [host-device]",
		`{"type": "bridge", "type": "host-device"}`:                        "network spec.config (bridge, host-device): a network of nodes [bridge host-device]",
		`{"plugins": [{"type": "tuning"}, {"type": "ipvlan"}]}`:            "network spec.config (ipvlan, tuning): a network of nodes [tuning ipvlan]",
		`{"Plugins": [{"type": "sriov", "a": {"type": "x"}}], "name":"n"}`: "network spec.config (sriov): a network of nodes [sriov]",
		`{"type": "multus", "delegates": [{"type": "host-device"}]}`:       "network spec.config (another type, host-device): a network of nodes [multus host-device]",
		`{"type": "bridge", "args": "{\"type\": \"host-device\"}"}`:        "network spec.config (bridge): a network of nodes [bridge]",
		`{"type": "bridge", "ipam": {"type": "host-local"}}`:               "network spec.config (bridge): a network of nodes [bridge]",
		`{"type": "bridge", "plugins": ["a", "type", "host-device"]}`:      "network spec.config (bridge): a network of nodes [bridge]",
		`{"type": "s3cret-type"}`:                                          "network spec.config (another type): a network of nodes [s3cret-type]",
		`{"cniVersion": "1.0.0"}`:                                          "network spec.config (): a network of nodes []",
		`type: bridge`:                                                     "network spec.config: a network of nodes [] unknown spec.config: is no JSON []",
		`{"type": "bridge"} {}`:                                            "network spec.config: a network of nodes [] unknown spec.config: is no JSON []",
		"{\"a\": \"" + strings.Repeat("x", 1<<20) + "\"}":                  "network spec.config (): a network of nodes []",
	} {
		text, _ := json.Marshal(config)
		f := latest(t, "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: a}\nspec: {config: "+string(text)+"}\n")
		var got []string
		for _, r := range f.Reaches {
			got = append(got, fmt.Sprintf("%s %s: %s %v", r.What, r.Field, r.Why, r.Types))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%.60s: %s, want %s", config, strings.Join(got, " "), want)
		}
	}
	if got := findings(latest(t, "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: a}\nspec: {config: {type: bridge}}\n")); got != "network spec.config, unknown spec.config" {
		t.Errorf("a config that is no text: %s", got)
	}
	for _, none := range []string{"", "spec: {}\n", "spec: {config: ' '}\n"} { // a file of the node's, by the network's name
		if got := findings(latest(t, "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: a}\n"+none)); got != "" {
			t.Errorf("a network with %q: %s", none, got)
		}
	}
}

// TestOddPodsAreUnknown: what does not decode strictly is never taken for a pod that asks nothing.
func TestOddPodsAreUnknown(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: "
	for text, want := range map[string]string{
		pod + "{containers: [{name: c, image: i}], hostNetwork: yes}":           "unknown pod", // a text, in YAML 1.2
		pod + "{containers: [{name: c, image: i}], hostNetwork: 1}":             "unknown pod",
		pod + "{containers: [{name: c, image: i}], hostPid: true}":              "unknown pod",
		pod + "{containers: [{name: c, image: i}], hostPID: true, newField: 1}": "node host namespaces, unknown pod",
		pod + "{containers: {a: {image: i}}, hostPID: true}":                    "unknown pod",
		pod + "[]": "unknown pod",
		pod + "{containers: [{name: c, image: i}], priorityClassName: system-node-critical}":                                              "cluster priorityClassName",
		pod + "{containers: [{name: c, image: i}], nodeName: n, tolerations: [{operator: Exists}]}":                                       "node nodeName",
		pod + "{containers: [{name: c, image: i}], tolerations: [{operator: Exists}]}":                                                    "",
		pod + "{containers: [{name: c, image: i}], nodeName: n, tolerations: [{key: a, operator: Exists}]}":                               "",
		pod + "{containers: [{name: c, image: i}], volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {volumeName: v}}}}]}":      "cluster volumeName",
		"apiVersion: example.com/v1\nkind: A\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i}], replicas: 3}":                "unknown kind",
		"apiVersion: example.com/v1\nkind: A\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i}], replicas: 3, hostPID: true}": "node host namespaces, unknown kind",
		"apiVersion: example.com/v1\nkind: A\nmetadata: {name: a}\nspec: {containers: [a, b]}":                                            "unknown kind, unknown pod",
	} {
		f := latest(t, text)
		if got := findings(f); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if strings.Contains(want, "unknown pod") && (f.PodSecurity != lifecycle.PodsPrivileged || !f.Privileged) {
			t.Errorf("%s: level %s, privileged %t", text, f.PodSecurity, f.Privileged)
		}
	}
}

// TestFindingsHoldNoValue: a variable may be a secret.
func TestFindingsHoldNoValue(t *testing.T) {
	f := judged(t, api.LatestVersion(), map[string]string{"S": "s3cret"},
		strings.Replace(service, "secret-text", "'${S}'", 1), networkOf("${S}"),
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {securityContext: {sysctls: [{name: '${S}'}], seLinuxOptions: {type: '${S}'}}, "+
			"volumes: [{name: '${S}', hostPath: {path: '${S}'}}], containers: [{name: '${S}', image: i, livenessProbe: {httpGet: {host: '${S}'}}}]}\n")
	for _, r := range f.Reaches {
		if strings.Contains(r.Field+r.Why, "s3cret") {
			t.Errorf("%+v", r)
		}
	}
	if len(f.Reaches) < 6 {
		t.Errorf("%+v", f.Reaches)
	}
}

// TestAFindingIsToldOnce: however many pods of one object say it.
func TestAFindingIsToldOnce(t *testing.T) {
	o := &object{content: map[string]any{"a": pods.Cases()[13].Pod, "b": pods.Cases()[13].Pod}}
	o.Group, o.Kind, o.release = "example.com", "Engine", api.LatestVersion()
	var f facts
	f.judge(o)
	if got := findings(f.done()); strings.Count(got, "node ") != 1 {
		t.Error(got)
	}
}

// TestTheAddressOfALoadBalancerCanBeShared: with the rest of the kind held.
func TestTheAddressOfALoadBalancerCanBeShared(t *testing.T) {
	f := latest(t, "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {externalIPs: [8.8.8.8], loadBalancerIP: 8.8.4.4}\n")
	said := broker.Vouched{SharedKinds: "services=loadBalancerIP"}
	if len(f.Reaches) != 2 {
		t.Errorf("found %+v", f.Reaches)
	}
	for _, r := range f.Reaches {
		if shared := r.Shareable && said.Shares(r.Resource, r.Types); shared != (r.Field == "loadBalancerIP") {
			t.Errorf("%+v is shared: %t", r, shared)
		}
	}
}

// TestTenThousandPodsAreJudged: each of them, wherever they stand in an object.
func TestTenThousandPodsAreJudged(t *testing.T) {
	var all []any
	for range 9999 {
		all = append(all, pods.Good("a"))
	}
	o := &object{content: map[string]any{"items": append(all, pods.Cases()[13].Pod)}}
	o.Group, o.Kind, o.release = "example.com", "Engine", api.LatestVersion()
	var f facts
	f.judge(o)
	if got := f.done(); got.PodSecurity != lifecycle.PodsPrivileged || len(got.Images) == 0 {
		t.Errorf("the last of them was not judged: %+v", got)
	}
}

func BenchmarkJudge10000Pods(b *testing.B) {
	var all []any
	for range 10_000 {
		all = append(all, pods.Good("a"))
	}
	o := &object{content: map[string]any{"items": all}}
	o.Group, o.Kind, o.release = "example.com", "Engine", api.LatestVersion()
	for b.Loop() {
		var f facts
		f.judge(o)
		f.done()
	}
}

func BenchmarkJudge1000Deployments(b *testing.B) {
	o := &object{content: map[string]any{"spec": map[string]any{"template": pods.Good("a")}}}
	o.Group, o.Kind, o.Namespace, o.release = apps, "Deployment", "cnf", api.LatestVersion()
	for b.Loop() {
		var f facts
		for range 1000 {
			f.judge(o)
		}
		f.done()
	}
}
