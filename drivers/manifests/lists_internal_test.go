package manifests

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
)

func second[T any](_ T, err error) error { return err }

func objectOf(t *testing.T, apiVersion, kind, rest string) *object {
	t.Helper()
	o := &object{}
	text := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a","namespace":"cnf"},%s}`, apiVersion, kind, rest)
	if err := json.Unmarshal([]byte(text), &o.content); err != nil {
		t.Fatal(err)
	}
	o.Group, o.Version = groupVersion(apiVersion)
	o.Kind, o.Name, o.Namespace = kind, "a", "cnf"
	return o
}

// TestEveryNameOfADeviceIsOne: whatever a plugin calls the interface or device of its node, in whatever letters, in the network
// itself and in each plugin of its chain; elsewhere such a name is none.
func TestEveryNameOfADeviceIsOne(t *testing.T) {
	whys := func(config string) (all []string) {
		text, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range networks(objectOf(t, "k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", `"spec":{"config":`+string(text)+`}`)) {
			all = append(all, f.why)
		}
		return all
	}
	for _, key := range []string{"device", "hostDevice", "kernelpath", "pciBusID", "deviceID", "master"} {
		for _, said := range []string{key, strings.ToLower(key), strings.ToUpper(key)} {
			for _, form := range []string{
				`{"type":"x",%q:"eth0"}`, `{"plugins":[{"type":"x"},{"type":"y",%q:"eth0"}]}`, `{"delegates":[{"type":"x",%q:"eth0"},{"type":"y"}]}`,
				`{"PLUGINS":[{"Delegates":[{%q:"eth0"}]}]}`, `[{"type":"x"},{%q:"eth0"}]`,
			} {
				if got := whys(fmt.Sprintf(form, said)); !slices.Equal(got, []string{"an interface of nodes"}) {
					t.Errorf(form+": %q", said, got)
				}
			}
			for _, form := range []string{`{"args":{%q:"eth0"}}`, `{"others":[{%q:"eth0"}]}`, `{%q:""}`, `{%q:["eth0"]}`, `{"name":%q}`} {
				if got := whys(fmt.Sprintf(form, said)); !slices.Equal(got, []string{"a network of nodes"}) {
					t.Errorf(form+": %q", said, got)
				}
			}
		}
	}
	if got := whys(`{"masters":"eth0","bridge":"br0"}`); !slices.Equal(got, []string{"a network of nodes"}) {
		t.Errorf("names of no device: %q", got)
	}
}

// TestEachDeviceOfAMachineIsItsNodes, at whatever depth; an empty one is none.
func TestEachDeviceOfAMachineIsItsNodes(t *testing.T) {
	for _, key := range []string{"hostDisk", "hostDevices", "gpus"} {
		o := objectOf(t, "kubevirt.io/v1", "VirtualMachine", fmt.Sprintf(`"spec":{"template":{"spec":{"domain":{"devices":{%q:[{"name":"a"}]}}}}}`, key))
		if got := machines(o); len(got) != 1 || got[0].field != key || got[0].what != lifecycle.ReachNode {
			t.Errorf("%s: %+v", key, got)
		}
		if got := machines(objectOf(t, "kubevirt.io/v1", "VirtualMachine", fmt.Sprintf(`"spec":{%q:[]}`, key))); got != nil {
			t.Errorf("%s of none: %+v", key, got)
		}
	}
}

// TestEachTemplateOfClaimsIsLookedAt, not the last alone.
func TestEachTemplateOfClaimsIsLookedAt(t *testing.T) {
	const free, taken, others = `{"spec":{"resources":{}}}`, `{"spec":{"volumeName":"pv"}}`, `{"spec":{"dataSourceRef":{"namespace":"other"}}}`
	for _, list := range [][]string{{taken, free, others}, {free, taken, others}, {others, taken, free}} {
		var said []string
		for _, f := range claims(objectOf(t, "apps/v1", "StatefulSet", `"spec":{"volumeClaimTemplates":[`+strings.Join(list, ",")+`]}`)) {
			said = append(said, f.field)
		}
		if slices.Sort(said); !slices.Equal(said, []string{"dataSourceRef.namespace", "volumeName"}) {
			t.Errorf("%s: %q", list, said)
		}
	}
}

// TestAVariableThatIsANumberIsATextWhereTextsStand: below each key whose values Kubernetes takes as texts alone, and nowhere else.
func TestAVariableThatIsANumberIsATextWhereTextsStand(t *testing.T) {
	for key, want := range map[string]any{
		"annotations": "7", "data": "7", "labels": "7", "matchLabels": "7", "nodeSelector": "7", "stringData": "7",
		"replicas": int64(7), "limits": int64(7), "spec": int64(7), "binaryData": int64(7),
	} {
		var root yaml.Node
		if err := yaml.Unmarshal([]byte(key+":\n  a:\n    b:\n    - ${N}\nenv:\n- name: a\n  value: ${N}\nports:\n- ${N}\n"), &root); err != nil {
			t.Fatal(err)
		}
		got, err := document{}.value(root.Content[0], variables{"N": "7"}, false)
		if err != nil {
			t.Fatal(err)
		}
		whole, _ := got.(map[string]any)
		if b, _ := mapAt(whole, key, "a")["b"].([]any); len(b) != 1 || b[0] != want {
			t.Errorf("below %s: %#v, want %#v", key, b, want)
		}
		if env := mappings(whole["env"]); len(env) != 1 || env[0]["value"] != "7" {
			t.Errorf("the value of an environment: %#v", env)
		}
		if ports, _ := whole["ports"].([]any); len(ports) != 1 || ports[0] != int64(7) {
			t.Errorf("a port: %#v", ports)
		}
	}
}

// TestFieldsOfTheServerAreLeftOut: each that only it sets, and none beside.
func TestFieldsOfTheServerAreLeftOut(t *testing.T) {
	o := objectOf(t, "v1", "ConfigMap", `"status":{"a":1},"data":{"uid":"kept"}`)
	meta := mapAt(o.content, "metadata")
	for _, key := range []string{
		"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid",
	} {
		meta[key] = "set"
	}
	meta["finalizers"] = []any{"x/y"}
	if err := o.read(); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(meta)); !slices.Equal(got, []string{"finalizers", "name", "namespace"}) {
		t.Errorf("the metadata keep %q", got)
	}
	if got := slices.Sorted(maps.Keys(o.content)); !slices.Equal(got, []string{"apiVersion", "data", "kind", "metadata"}) {
		t.Errorf("the object keeps %q", got)
	}
}

// TestKindsThatAnAutoscalerMayHave are those of Kubernetes that have a number of pods, and a VDU of another kind.
func TestKindsThatAnAutoscalerMayHave(t *testing.T) {
	for _, c := range []struct {
		group, kind, vdu string
		want             bool
	}{
		{"apps", "Deployment", "", true},
		{"apps", "StatefulSet", "", true},
		{"apps", "ReplicaSet", "", true},
		{"", "ReplicationController", "", true},
		{"apps", "DaemonSet", "", false},
		{"batch", "Job", "", false},
		{"", "Pod", "v", false},
		{"x.example", "Deployment", "", false},
		{"", "ReplicaSet", "", false},
		{"apps", "ReplicationController", "", false},
		{"x.example", "Machine", "v", true},
		{"batch", "CronJob", "v", false},
	} {
		r := lifecycle.Resource{Group: c.group, Kind: c.kind, VDU: c.vdu, Namespace: "cnf"}
		if got := isReplicated(r); got != c.want {
			t.Errorf("%s/%s of VDU %q: %t", c.group, c.kind, c.vdu, got)
		}
		if r.Namespace = ""; isReplicated(r) {
			t.Errorf("%s/%s without a namespace", c.group, c.kind)
		}
	}
}

// TestMessagesOfContainersThatAreTold: those that name images and objects alone, whichever container waits.
func TestMessagesOfContainersThatAreTold(t *testing.T) {
	for reason, told := range map[string]bool{
		"ErrImagePull": true, "ImagePullBackOff": true, "InvalidImageName": true, "ErrImageNeverPull": true, "CreateContainerConfigError": true,
		"CrashLoopBackOff": false, "CreateContainerError": false, "RunContainerError": false, "ContainerCreating": false,
	} {
		want := reason
		if told {
			want += " (so it says)"
		}
		for _, form := range []string{
			`{"status":{"containerStatuses":[{"state":{"running":{}}},{"state":{"waiting":{"reason":%q,"message":"so it says"}}}]}}`,
			`{"status":{"initContainerStatuses":[{"state":{"waiting":{"reason":%q,"message":"so it says"}}}],"containerStatuses":[{"state":{"waiting":{"reason":"PodInitializing"}}}]}}`,
		} {
			var p pod
			if err := json.Unmarshal([]byte(fmt.Sprintf(form, reason)), &p); err != nil {
				t.Fatal(err)
			}
			if got := p.why(); got != want {
				t.Errorf("%s: %q, want %q", reason, got, want)
			}
		}
	}
}

// TestAccessModesOfVolumes: each of Kubernetes, alone and beside others, and no other.
func TestAccessModesOfVolumes(t *testing.T) {
	modes := []string{"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"}
	for _, mode := range modes {
		for _, said := range [][]string{{mode}, {"ReadWriteOnce", mode}} {
			l := asset.Asset{ID: "1", Volume: spec.VolumeSpec{Namespace: "cnf", Size: "1Gi", Modes: said}}
			if _, err := (Volumes{}).Lease(l); err != nil {
				t.Errorf("%q: %v", said, err)
			}
			l.Volume.Modes = append(slices.Clone(said), mode+"s")
			if e, is := errors.AsType[*broker.Error](second(Volumes{}.Lease(l))); !is || e.Field != "spec.accessModes" {
				t.Errorf("%q: %v", l.Volume.Modes, e)
			}
		}
	}
}

// TestWhatGoesAtOnceOwnsNothing: a kind of Kubernetes that owns others is waited for with them.
func TestWhatGoesAtOnceOwnsNothing(t *testing.T) {
	for _, c := range []struct{ group, kinds, want string }{
		{"", "ServiceAccount Secret ConfigMap PersistentVolumeClaim ResourceQuota LimitRange", "Background"},
		{"", "Pod Service Namespace PersistentVolume ReplicationController", "Foreground"},
		{"apps", "Deployment StatefulSet DaemonSet ReplicaSet", "Foreground"},
		{"batch", "Job CronJob", "Foreground"},
		{"networking.k8s.io", "NetworkPolicy Ingress IngressClass", "Background"},
		{"policy", "PodDisruptionBudget", "Background"},
		{"scheduling.k8s.io", "PriorityClass", "Background"},
		{"storage.k8s.io", "StorageClass", "Background"},
		{"autoscaling", "HorizontalPodAutoscaler", "Background"},
		{"rbac.authorization.k8s.io", "Role RoleBinding ClusterRole ClusterRoleBinding", "Background"},
		{"admissionregistration.k8s.io", "MutatingWebhookConfiguration ValidatingWebhookConfiguration", "Background"},
		{"apiextensions.k8s.io", "CustomResourceDefinition", "Foreground"},
		{"apiregistration.k8s.io", "APIService", "Foreground"},
		{"x.example", "Secret Ingress Other", "Foreground"},
	} {
		for kind := range strings.FieldsSeq(c.kinds) {
			if got := (&found{}).propagation(lifecycle.Resource{Group: c.group, Kind: kind}); got != c.want {
				t.Errorf("%s of %q goes %s, want %s", kind, c.group, got, c.want)
			}
		}
	}
}

// TestVariablesOfASecretAreHidden: in each of its members that hold values, as an item of a List too; elsewhere a name has to say so.
func TestVariablesOfASecretAreHidden(t *testing.T) {
	given := []string{"A", "B", "C", "D", "E"}
	for form, want := range map[string]string{
		`{apiVersion: v1, kind: Secret, data: {x: "${A}"}, stringData: {y: "${B:=b}", z: "${C}${D}"}, metadata: {name: "${E}"}}`:                         "A B C D",
		`{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, data: {x: "${A}"}}, {apiVersion: v1, kind: Secret, data: {x: "${B}"}}]}`: "B",
		`{apiVersion: v2, kind: Secret, data: {x: "${A}"}}`:                                                                                                                          "",
		`{apiVersion: v1, kind: ConfigMap, data: {x: "${A}"}, metadata: {annotations: {vimbroker.io/secret-variables: "B , C"}}}`:                                                    "B C",
		"{apiVersion: v1, kind: Secret, data: {x: \"${A}\"}}\n---\n{apiVersion: v1, kind: ConfigMap, data: {x: \"${B}\"}}\n---\n{apiVersion: v1, kind: Secret, data: {x: \"${C}\"}}": "A C",
	} {
		got := concealed(given, []lifecycle.Manifest{{Path: "a.yaml", Text: secret.NewText(form)}})
		if strings.Join(got, " ") != want {
			t.Errorf("%s\nhides %q, want %q", form, got, want)
		}
	}
}

// TestMachinesAreCountedInEachWay: those that are up to date, available, and there at all.
func TestMachinesAreCountedInEachWay(t *testing.T) {
	for _, c := range []struct{ current, available, there int }{{2, 2, 2}, {1, 2, 2}, {2, 1, 2}, {2, 2, 1}, {2, 2, 3}, {3, 2, 2}, {0, 0, 0}} {
		o := read(t, fmt.Sprintf(`{"kind":"MachineDeployment","spec":{"replicas":2},"status":{"upToDateReplicas":%d,"availableReplicas":%d,"replicas":%d}}`,
			c.current, c.available, c.there))
		if got, want := o.machines().ready, c.current == 2 && c.available == 2 && c.there == 2; got != want {
			t.Errorf("%+v are ready: %t", c, got)
		}
	}
}

// TestPodsOfAPlanAreAsLaxAsTheLaxest, in whatever order; and claims that outlive it are told for the first of several.
func TestPodsOfAPlanAreAsLaxAsTheLaxest(t *testing.T) {
	const (
		strict = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"strict"},"spec":{"securityContext":{"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}},` +
			`"containers":[{"name":"c","image":"i1","securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]}}`
		lax     = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"lax"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i2"}]}}`
		keeps   = `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"keeps"},"spec":{"volumeClaimTemplates":[{"metadata":{"name":"d"}}]}}`
		removes = `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"removes"},"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"},` +
			`"volumeClaimTemplates":[{"metadata":{"name":"d"}}]}}`
	)
	for _, order := range [][]string{{lax, strict, keeps, removes}, {strict, lax, removes, keeps}, {keeps, lax, strict, removes}, {removes, keeps, strict, lax}} {
		f := latest(t, order...)
		if f.PodSecurity != lifecycle.PodsPrivileged || !f.Privileged || !f.Outlives || len(f.Images) != 2 {
			t.Errorf("%.60q first: %+v", order[0], f)
		}
	}
	if f := latest(t, strict, removes); f.Outlives || f.Privileged && f.PodSecurity == lifecycle.PodsPrivileged && len(f.Images) != 1 {
		t.Errorf("strict ones: %+v", f)
	}
}

// TestARuleOfALeaseHoldsEachName: of more than a rule can have, and of two roles that differ in one list alone.
func TestARuleOfALeaseHoldsEachName(t *testing.T) {
	for _, n := range []int{1, maxNames, maxNames + 1, 2*maxNames + 1} {
		var r rules
		for i := range n {
			r.allow("", "secrets", fmt.Sprintf("s%04d", i), "get")
		}
		var names []string
		all := r.done()
		for _, rule := range all {
			names = append(names, rule.ResourceNames...)
			if len(rule.ResourceNames) > maxNames {
				t.Errorf("of %d names a rule has %d", n, len(rule.ResourceNames))
			}
		}
		if len(names) != n || len(slices.Compact(names)) != n || r.size() != len(all) {
			t.Errorf("of %d names the rules have %d, and are %d, said to be %d", n, len(names), len(all), r.size())
		}
	}
	base := broker.Rule{APIGroups: []string{"a"}, Resources: []string{"b"}, ResourceNames: []string{"c"}, Verbs: []string{"d"}}
	for name, change := range map[string]func(*broker.Rule){
		"groups":    func(r *broker.Rule) { r.APIGroups = []string{"x"} },
		"resources": func(r *broker.Rule) { r.Resources = []string{"x"} },
		"names":     func(r *broker.Rule) { r.ResourceNames = []string{"x"} },
		"verbs":     func(r *broker.Rule) { r.Verbs = []string{"x"} },
		"no names":  func(r *broker.Rule) { r.ResourceNames = nil },
	} {
		other := base
		change(&other)
		if sameRule(base, other) || sameRule(other, base) || !sameRule(other, other) {
			t.Errorf("rules that differ in %s", name)
		}
	}
}

// TestEachEndOfAJobThatIsGone: whatever word of Kubernetes' the event has for its failure; another word is none.
func TestEachEndOfAJobThatIsGone(t *testing.T) {
	job := lifecycle.Resource{Group: "batch", Version: "v1", Kind: "Job", Plural: "jobs", Namespace: "n", Name: "j", Passes: true, UID: "u"}
	for _, reason := range []string{"BackoffLimitExceeded", "DeadlineExceeded", "PodFailurePolicy", "FailedIndexes", "FailedCreate"} {
		r, _ := doing(&script{answers: map[string][]string{events: {happened(), happened(reason, "so", "1")}}}, lifecycle.Wave{Deed: lifecycle.Apply})
		switch o, err := r.passed(t.Context(), job); {
		case err != nil:
			t.Errorf("%s: %v", reason, err)
		case reason == "FailedCreate":
			if o != nil {
				t.Errorf("%s is an end: %+v", reason, o.state())
			}
		case o == nil:
			t.Errorf("%s tells nothing", reason)
		default:
			if got := o.state(); !got.failed || got.message != "has failed ("+reason+": so)" {
				t.Errorf("%s: %+v", reason, got)
			}
		}
	}
}
