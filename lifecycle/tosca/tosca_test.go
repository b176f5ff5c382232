package tosca_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/lifecycle/tosca"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/test/golden"
)

// samples are descriptors, and their flavours.
var samples = map[string]string{"shop": "simple", "units": "small"}

func sample(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// translated is what a bare descriptor becomes.
func translated(text, flavour string, with tosca.Options) (tosca.Translation, error) {
	c, err := vnfpkg.Open(strings.NewReader(text), int64(len(text)), vnfpkg.ArchiveLimits{})
	if err != nil {
		return tosca.Translation{}, err
	}
	d, err := c.Descriptor()
	if err != nil {
		return tosca.Translation{}, err
	}
	top, err := c.Topology(flavour)
	if err != nil {
		return tosca.Translation{}, err
	}
	return tosca.Translate(top, d.Flavours[flavour], with)
}

// objects are those of manifests, by kind and name.
func objects(t *testing.T, manifests []byte) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for in := yaml.NewDecoder(bytes.NewReader(manifests)); ; {
		var o map[string]any
		if in.Decode(&o) != nil {
			return all
		}
		all[fmt.Sprint(o["kind"], " ", at(o, "metadata.name"))] = o
	}
}

// at is the value at a path of names and places in lists.
func at(v any, path string) any {
	for part := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[strings.ReplaceAll(part, "|", ".")]
		case []any:
			i := int(part[0] - '0')
			if i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

func TestTranslate(t *testing.T) {
	const container, pod = "spec.template.spec.containers.", "spec.template."
	for _, c := range []struct{ sample, object, path, want string }{
		{"shop", "ConfigMap vdu-front-web-server", "data", "map[depth:3 greeting:hello: world]"},
		{"shop", "Secret vdu-front-sidecar", "data.apiToken", "ZXhhbXBsZQ=="},
		{"shop", "Secret vdu-front-sidecar", "metadata.annotations.vimbroker|io/secret-variables", "tokens"},
		{"shop", "Deployment vdu-front", "metadata.annotations.vimbroker|io/vdu", "VDU_front"},
		{"shop", "Deployment vdu-front", "metadata.namespace", "<nil>"},
		{"shop", "Deployment vdu-front", "spec.replicas", "2"},
		{"shop", "Deployment vdu-front", pod + "metadata.labels", "map[app.kubernetes.io/name:vdu-front tier:front]"},
		{"shop", "Deployment vdu-front", pod + "metadata.annotations.k8s|v1|cni|cncf|io/networks", `[{"name":"infra/radio"},{"name":"pods-net"}]`},
		{"shop", "Deployment vdu-front", container + "0.name", "web-server"},
		{"shop", "Deployment vdu-front", container + "0.resources", "map[limits:map[cpu:0.25 memory:128M] requests:map[cpu:0.25 memory:128M]]"},
		{"shop", "Deployment vdu-front", container + "0.command", "[/bin/serve]"},
		{"shop", "Deployment vdu-front", container + "0.args", "[--port 8080]"},
		{"shop", "Deployment vdu-front", container + "0.ports", "[map[containerPort:8080]]"},
		{"shop", "Deployment vdu-front", container + "0.env.1.valueFrom.configMapKeyRef", "map[key:depth name:vdu-front-web-server]"},
		{"shop", "Deployment vdu-front", container + "1.env.0.valueFrom.secretKeyRef", "map[key:apiToken name:vdu-front-sidecar]"},
		{"shop", "Deployment vdu-front", container + "1.resources.limits", "map[cpu:1 memory:1Gi]"},
		{"shop", "Deployment vdu-store", container + "0.image", "registry.example/store:3"},
		{"shop", "Deployment vdu-store", "metadata.namespace", "warehouse"},
		{"shop", "HorizontalPodAutoscaler vdu-front", "apiVersion", "autoscaling/v2"},
		{"shop", "HorizontalPodAutoscaler vdu-front", "spec.minReplicas", "1"},
		{"shop", "HorizontalPodAutoscaler vdu-front", "spec.maxReplicas", "4"},
		{"shop", "HorizontalPodAutoscaler vdu-front", "spec.metrics.0.resource.target.averageUtilization", "60"},
		{"shop", "HorizontalPodAutoscaler vdu-front", "spec.scaleTargetRef", "map[apiVersion:apps/v1 kind:Deployment name:vdu-front]"},
		{"shop", "Service vdu-front", "spec.type", "NodePort"},
		{"shop", "Service vdu-front", "spec.selector", "map[app.kubernetes.io/name:vdu-front]"},
		{"shop", "Service vdu-front", "spec.ports.0", "map[name:port-80 port:80 protocol:TCP targetPort:8080]"},
		{"shop", "Service vdu-front", "spec.ports.1.targetPort", "443"},
		{"shop", "Service vdu-front", "metadata.labels.management_connection", "True"},
		{"units", "Deployment web", "spec.replicas", "3"},
		{"units", "Deployment web", container + "0.name", "web-main"},
		{"units", "Deployment web", container + "0.command", "[/serve]"},
		{"units", "Deployment web", container + "0.resources.requests", "map[cpu:250m ephemeral-storage:1G memory:64Mi]"},
		{"units", "Deployment web", container + "0.resources.limits", "map[cpu:1000m memory:128Mi]"},
		{"units", "Deployment web", container + "0.volumeMounts.0", "map[mountPath:/mnt/shared name:shared]"},
		{"units", "Deployment web", pod + "spec.volumes.0.persistentVolumeClaim.claimName", "shared"},
		{"units", "Deployment web", pod + "metadata.labels.service/outside", "true"},
		{"units", "Deployment web", pod + "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.0.topologyKey", "kubernetes.io/hostname"},
		{"units", "Deployment web", pod + "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.0.topologyKey", "topology.kubernetes.io/zone"},
		{"units", "StatefulSet db", pod + "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.0.labelSelector.matchExpressions.0.values", "[web db]"},
		{"units", "StatefulSet db", pod + "spec.affinity.podAntiAffinity", "<nil>"},
		{"units", "StatefulSet db", "spec.serviceName", "db"},
		{"units", "StatefulSet db", "spec.volumeClaimTemplates.0.spec.resources.requests.storage", "10G"},
		{"units", "StatefulSet db", container + "0.volumeMounts.0.mountPath", "/var/lib/rows"},
		{"units", "StatefulSet db", container + "0.resources.requests.cpu", "1000m"},
		{"units", "StatefulSet db", container + "0.image", "registry.example/worker:1"},
		{"units", "StatefulSet db", pod + "metadata.annotations.k8s|v1|cni|cncf|io/networks", `[{"name":"inner"}]`},
		{"units", "Service db", "spec.clusterIP", "None"},
		{"units", "PersistentVolumeClaim shared", "spec.accessModes", "[ReadWriteMany]"},
		{"units", "PersistentVolumeClaim shared", "spec.resources.requests.storage", "5Gi"},
		{"units", "Service outside", "spec.type", "LoadBalancer"},
		{"units", "Service outside", "spec.ports.0", "map[name:http port:80 protocol:TCP targetPort:8080]"},
		{"units", "Service queries", "spec.type", "ClusterIP"},
		{"units", "Service queries", "spec.ports.1", "map[name:port-9000 port:9000 protocol:UDP targetPort:9000]"},
		{"units", "Service queries", "spec.selector", "map[service/queries:true]"},
	} {
		made, err := translated(sample(t, c.sample), samples[c.sample], tosca.Options{Level: map[string]string{"units": "high"}[c.sample]})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(at(objects(t, made.Manifests)[c.object], c.path)); got != c.want {
			t.Errorf("%s of %s is %s, and should be %s", c.path, c.object, got, c.want)
		}
	}
}

// What a sample becomes is known word for word, and what is told besides.
func TestTranslatedText(t *testing.T) {
	for name, flavour := range samples {
		for _, level := range map[string][]string{"shop": {""}, "units": {"", "high"}}[name] {
			made, err := translated(sample(t, name), flavour, tosca.Options{Level: level})
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, strings.TrimSuffix("testdata/made/"+name+"-"+level, "-")+".yaml", string(made.Manifests)+"# "+strings.Join(made.Warnings, "\n# ")+"\n")
		}
	}
}

// The objects are those that are looked at above and no others; the default level is the descriptor's.
func TestTranslateMakesNothingElse(t *testing.T) {
	for name, want := range map[string]string{
		"shop": "ConfigMap vdu-front-web-server,Deployment vdu-front,Deployment vdu-store,HorizontalPodAutoscaler vdu-front," +
			"Secret vdu-front-sidecar,Service vdu-front",
		"units": "Deployment web,PersistentVolumeClaim shared,Service db,Service outside,Service queries,StatefulSet db",
	} {
		made, err := translated(sample(t, name), samples[name], tosca.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all := objects(t, made.Manifests)
		if got := strings.Join(slices.Sorted(maps.Keys(all)), ","); got != want {
			t.Errorf("%s becomes %s, and should become %s", name, got, want)
		}
		for object, o := range all {
			if at(o, "metadata.annotations.vimbroker|io/variables") != "off" {
				t.Errorf("variables are substituted in %s", object)
			}
		}
		if name == "units" && at(all["Deployment web"], "spec.replicas") != 1 {
			t.Errorf("at the default level web has %v pods", at(all["Deployment web"], "spec.replicas"))
		}
		if got := strings.Count(strings.Join(made.Warnings, "\n"), "no place for a secret"); got != map[string]int{"shop": 1}[name] {
			t.Errorf("%d warnings of ConfigMaps: %v", got, made.Warnings)
		}
	}
}

// edited is a sample with one place changed.
func edited(t *testing.T, name, old, now string) string {
	t.Helper()
	text := sample(t, name)
	if !strings.Contains(text, old) {
		t.Fatalf("%s holds no %q", name, old)
	}
	return strings.Replace(text, old, now, 1)
}

func TestTranslateRefuses(t *testing.T) {
	const canary = "s3cr3t-canary"
	said := ""
	for _, c := range []struct{ sample, old, now, want string }{
		{"shop", "service_type: NodePort", "service_type: NodePort\n        flavor: m1.tiny", "line 20: VDU_front: properties: flavor is not translated"},
		{"shop", "service_type: NodePort", "service_type: Global", "service_type can only be ClusterIP, NodePort, LoadBalancer"},
		{"shop", "mem_size: 128MB", "mem_size: lots", "line 23: VDU_front: properties: vnfcs: web_server: mem_size must be a number and a unit"},
		{"shop", "mem_size: 128MB", "mem_size: 0 MB", "mem_size must be a number and a unit"},
		{"shop", "num_cpus: 0.25", "num_cpus: 0", "num_cpus must be a number above 0"},
		{"shop", "num_cpus: 0.25", "num_cpus: -1", "num_cpus must be a number above 0"},
		{"shop", `"80:8080"`, `"80:80800"`, "mapping_ports must be ports"},
		{"shop", `ports: ["8080"]`, "ports: [99999]", "ports must be a whole number from 1 to 65535"},
		{"shop", `"tier: front"`, "tier", "must be a label"},
		{"shop", "namespace: default", "namespace: ../x", "namespace must be a name of a namespace"},
		{"shop", "greeting: hello: world", canary, "each line of config must be a key of its own"},
		{"shop", "depth: 3", "greeting: " + canary, "each line of config must be a key of its own"},
		{"shop", "image: registry.example/web:1", "image: x\n            x: y", "x is not translated"},
		{"shop", "            image: registry.example/web:1\n", "", "image is missing"},
		{"shop", "{get_input: tokens}", "{get_attribute: [VDU_store, x]}", "the function get_attribute is not evaluated"},
		{"shop", "{get_input: tokens}", "{concat: [a, b]}", "the function concat is not evaluated"},
		{"shop", "{get_input: tokens}", "{get_input: other}", "an input that is not declared"},
		{"shop", "{get_input: tokens}", "{get_property: [VDU_store, other]}", "names no property"},
		{"shop", "{get_input: tokens}", "[a]", "config has a value of another form"},
		{"shop", `default: "apiToken: example"`, "description: none", "the input tokens has no value; give it as a variable"},
		{"shop", "default: registry.example/store:3", "default: {get_input: store_image}", "without end"},
		{"shop", "default: registry.example/store:3", "default: {get_property: [VDU_store, vnfcs, store, image]}", "without end"},
		{"shop", "default: registry.example/store:3", "default: [{get_input: store_image}, {get_input: store_image}]", "without end, or to too many"},
		{"shop", "{get_input: tokens}", "{get_property: {VDU_store: namespace}}", "names no property"},
		{"shop", "{get_input: tokens}", "{get_property: [none, x]}", "names no property"},
		{"shop", "    VDU_front:\n", "    VDU_front:\n      requirements: [{\"\": VL1}]\n", "the requirement  is not translated"},
		{"shop", "type: tosca.nodes.nfv.VL\n      properties: {network_name: infra/radio}", "type: tosca.policies.tacker.Scaling", "VL2 is of type tosca.policies.tacker.Scaling, which is not translated"},
		{"shop", "  policies:", "  groups: [a]\n  policies:", "groups has a value of another form"},
		{"shop", "image: registry.example/web:1", "image: {a: b}", "image has a value of another form"},
		{"shop", "num_cpus: 0.25", "num_cpus: [0.25]", "num_cpus has a value of another form"},
		{"shop", `ports: ["8080"]`, "ports: 8080", "ports has a value of another form"},
		{"shop", "VDU_store:", `"../x":`, "the VDU's name must be letters, digits"},
		{"shop", "    CP2:", "    CP1:", "not a TOSCA definition in YAML, at or near line 48"},
		{"shop", "network_name: pods-net", "network_name: 'pods-net,other'", "the name of one NetworkAttachmentDefinition"},
		{"shop", "network_name: pods-net, ", "", "VL1: properties: network_name is missing"},
		{"shop", "- virtualLink: VL2", "- virtualLink: VL2\n      - virtualLink: VL1", "linked to at most one virtual link"},
		{"shop", "virtualLink: VL2", "virtualLink: CP1", "which is no virtual link"},
		{"shop", "virtualLink: VL2", "virtualLink: VL9", "names no node template"},
		{"shop", "virtualBinding: VDU_front\n    VL1", "virtualBinding: VL1\n    VL1", "or one of another kind"},
		{"shop", "- virtualLink: VL2", "- virtualLink: VL2\n      - host: VL1", "the requirement host is not translated"},
		{"shop", "  policies:", "  outputs: {a: {value: b}}\n  policies:", "outputs is not translated"},
		{"shop", "  policies:", "  policies:\n  - SP2: {type: tosca.policies.tacker.Scaling, targets: [VDU_front], properties: {min_instances: 1, max_instances: 2}}", "VDU_front has a scaling policy already"},
		{"shop", "targets: [VDU_front]", "targets: [VL1]", "the target VL1 is no VDU"},
		{"shop", "max_instances: 4", "max_instances: 1", "that rise"},
		{"shop", "tosca.policies.tacker.Scaling", "tosca.policies.tacker.Alarming", "SP1 is of type tosca.policies.tacker.Alarming, which is not translated"},
		{"shop", "type: tosca.nodes.nfv.VL\n      properties: {network_name: infra/radio}", "type: tosca.nodes.BlockStorage", "which is not translated"},
		{"shop", "description: Two VDUs", "x: &a [1]\ny: *a\ndescription: Two VDUs", "anchor or alias"},
		{"shop", "    VDU_store:", "    VDU-front:\n      type: tosca.nodes.nfv.VDU.Tacker\n      interfaces: {}\n    VDU_store:", "interfaces is not translated"},
		{"units", "connectivity_type: {layer_protocols: [ipv4]}", "forwarding: fast", "forwarding is not translated"},
		{"units", "vnic_type: normal", "vnic_type: direct-physical", "vnic_type can only be normal"},
		{"units", "is_num_of_instances_cluster_based: false", "is_num_of_instances_cluster_based: true", "can only be false"},
		{"units", "type: Deployment}", "type: DaemonSet}", "type can only be Deployment, StatefulSet"},
		{"units", "scope: zone", "scope: nfvi_pop", "scope can only be nfvi_node, zone"},
		{"units", `file: "registry.example/web:1"`, "file: vnfd.yaml", "nothing puts it into a registry"},
		{"units", `      artifacts:
        sw_image: {type: tosca.artifacts.nfv.SwImage, file: "registry.example/web:1"}
`, "", "no artifact sw_image"},
		{"units", "container: web_main", "container: rows", "which is none"},
		{"units", "      - container: web_main\n", "", "it has no container"},
		{"units", "virtual_storage: rows", "virtual_storage: db_main", "no storage with a size"},
		{"units", "size_of_storage: 10 GB", "size_of_storage: 10", "size_of_storage must be a number and a unit"},
		{"units", "- internal_virtual_link: inner", "- internal_virtual_link: inner\n      artifacts: {a: b}", "artifacts: a is not translated"},
		{"units", "port: 80, ", "", "port is missing"},
		{"units", "        additional_service_data:\n        - port_data: [{name: sql, protocol: tcp, port: 5432}, {protocol: udp, port: 9000}]\n", "        role: leaf\n", "names no port"},
		{"units", "  groups:", "  workflows: {}\n  groups:", "workflows is not translated"},
		{"shop", "labels: [\"tier: front\"]", "labels: [\"tier: front\", \"tier: back\"]", "is a label there twice?"},
		{"shop", "mapping_ports: [\"80:8080\", \"443\"]\n        ", "", "service_type is of no service"},
		{"shop", "- virtualLink: {node: VL1}", "- virtualLink: {other: VL1}", "names no node template"},
		{"shop", "- virtualLink: {node: VL1}", "- \"\": VL1", "the requirement  is not translated"},
		{"shop", "      - virtualBinding: VDU_front\n    VL1", "      - virtualBinding: VDU_front\n      - virtualBinding: VDU_store\n    VL1", "it must be bound to one VDU"},
		{"shop", "order: 0}", "order: -1}", "order must be a whole number from 0 to 1000"},
		{"shop", "order: 0}", "order: 1001}", "order must be a whole number from 0 to 1000"},
		{"shop", "order: 0}", "order: first}", "order must be a whole number from 0 to 1000"},
		{"shop", "depth: 3", "de pth: 3", "each line of config must be a key of its own"},
		{"shop", "targets: [VDU_front]", "targets: []", "it needs targets"},
		{"shop", "default_instances: 2", "default_instances: 0", "default_instances must be a whole number from 1"},
		{"shop", "min_instances: 1, max_instances: 4, default_instances: 2", "min_instances: 3, max_instances: 4, default_instances: 2", "that rise"},
		{"shop", "{get_input: tokens}", "{get_input: [tokens]}", "an input that is not declared"},
		{"shop", "{get_input: tokens}", "{get_property: VDU_store}", "names no property"},
		{"shop", "{get_input: tokens}", "{get_property: [VDU_store]}", "names no property"},
		{"units", `file: "registry.example/web:1"`, `file: "./vnfd.yaml"`, "nothing puts it into a registry"},
	} {
		made, err := translated(edited(t, c.sample, c.old, c.now), samples[c.sample], tosca.Options{})
		var fault *vnfpkg.PackageError
		if err == nil || !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) || fault.Path != "vnfd.yaml" {
			t.Errorf("%q: %v, %d bytes, and should be refused by: %s", c.now, err, len(made.Manifests), c.want)
			continue
		}
		if !regexp.MustCompile(`line \d+`).MatchString(err.Error()) || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: the refusal names no line, or a value: %v", c.now, err)
		}
		said += fmt.Sprintf("%q: %v\n", c.now, err)
	}
	golden.Compare(t, "testdata/refusals.txt", said)
}

// At the bounds of what a descriptor says it is translated; a level that the flavour has not is refused, and so is one of nothing.
func TestTranslateAtTheBounds(t *testing.T) {
	for _, c := range [][2]string{
		{"order: 0}", "order: 1000}"},
		{"default_instances: 2", "default_instances: 4"},
		{"default_instances: 2", "default_instances: 1"},
		{"default_instances: 2, ", ""},
		{"  policies:\n  - SP1:\n      type", "  policies:\n    SP1:\n      type"},
	} {
		text := edited(t, "shop", c[0], c[1])
		if made, err := translated(text, "simple", tosca.Options{}); err != nil || !bytes.Contains(made.Manifests, []byte("HorizontalPodAutoscaler")) {
			t.Errorf("%q: %d bytes, %v", c[1], len(made.Manifests), err)
		}
	}
	_, err := translated(sample(t, "units"), "small", tosca.Options{Level: "none"})
	if err == nil || !strings.Contains(err.Error(), "the flavour has no level none") {
		t.Errorf("a level of none: %v", err)
	}
	const empty = "tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0\ntopology_template:\n  node_templates:\n    VL: {type: tosca.nodes.nfv.VL, properties: {network_name: net}}\n"
	if _, err := translated(empty, "simple", tosca.Options{}); err == nil || !strings.Contains(err.Error(), "it describes no container") {
		t.Errorf("a descriptor of nothing: %v", err)
	}
	// Of two faults the one that stands first is told, whichever is found first.
	two := strings.Replace(edited(t, "shop", "num_cpus: 0.25", "num_cpus: 0"), "network_name: pods-net", "network_name: 'a b'", 1)
	if _, err := translated(two, "simple", tosca.Options{}); err == nil || !strings.Contains(err.Error(), "num_cpus must be") {
		t.Errorf("of two faults it is told %v", err)
	}
}

// Inputs: given, by default, loosely, and such as nobody declares. What is given is never read as YAML or as a function.
func TestInputs(t *testing.T) {
	image := func(text string, with tosca.Options) string {
		made, err := translated(text, "simple", with)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(at(objects(t, made.Manifests)["Deployment vdu-store"], "spec.template.spec.containers.0.image"))
	}
	given := func(image string) tosca.Options {
		return tosca.Options{Inputs: map[string]string{"store_image": image}}
	}
	for want, got := range map[string]string{
		"mine:4":                      image(sample(t, "shop"), given("mine:4")),
		"null":                        image(sample(t, "shop"), given("null")),
		"{get_input: tokens}":         image(sample(t, "shop"), given("{get_input: tokens}")),
		"a\"}\n---\nkind: Pod ${X}":   image(sample(t, "shop"), given("a\"}\n---\nkind: Pod ${X}")),
		"<nil>":                       image(edited(t, "shop", "default: registry.example/store:3", "description: x"), tosca.Options{Loose: true}),
		"there is no input imaginary": image(sample(t, "shop"), tosca.Options{Inputs: map[string]string{"imaginary": "x"}}),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the image is %q, and should be %q", got, want)
		}
	}
}

// Names are labels, follow from the VDU alone, and never clash: neither after cleaning nor by order.
func TestNames(t *testing.T) {
	one := func(names ...string) string {
		text := "tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0\ntopology_template:\n  node_templates:\n"
		for _, name := range names {
			text += "    " + name + ": {type: tosca.nodes.nfv.VDU.Tacker, properties: {mapping_ports: [80], vnfcs: {a_b: {image: x}, a-b: {image: x}}}}\n"
		}
		made, err := translated(text, "simple", tosca.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all := objects(t, made.Manifests)
		if len(all) != 2*len(names) {
			t.Errorf("%d objects of %v", len(all), names)
		}
		for name := range all {
			if _, name, _ := strings.Cut(name, " "); !regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`).MatchString(name) {
				t.Errorf("%s is no DNS label", name)
			}
		}
		return strings.Join(slices.Sorted(maps.Keys(all)), " ")
	}
	if a, b := one("VDU_1", "vdu-1", "VDU.1"), one("VDU.1", "vdu-1", "VDU_1"); a != b || !strings.Contains(a, "Deployment vdu-1 ") {
		t.Errorf("the order of templates changes names:\n%s\n%s", a, b)
	}
	one("VDU_1", "vdu-1")
	one("token", "join")
	if got := one("VDU_1"); got != "Deployment vdu-1 Service vdu-1" {
		t.Errorf("VDU_1 becomes %s", got)
	}
	two := "tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0\ntopology_template:\n  node_templates:\n" +
		"    a: {type: tosca.nodes.nfv.VDU.Tacker, properties: {vnfcs: {b-c: {image: x, config: 'k: v'}}}}\n" +
		"    a-b: {type: tosca.nodes.nfv.VDU.Tacker, properties: {vnfcs: {c: {image: x, config: 'k: v'}}}}\n"
	if _, err := translated(two, "simple", tosca.Options{}); err == nil || !strings.Contains(err.Error(), "ConfigMap a-b-c is another's too") {
		t.Errorf("two ConfigMaps of one name: %v", err)
	}
	one("5gc", "V"+strings.Repeat("x", 60), "V"+strings.Repeat("x", 61))
}

// The same descriptor is always the same bytes, whatever else the process did.
func TestTranslatedTwice(t *testing.T) {
	for name, flavour := range samples {
		first, err := translated(sample(t, name), flavour, tosca.Options{})
		for range 20 {
			again, _ := translated(sample(t, name), flavour, tosca.Options{})
			if err != nil || !bytes.Equal(first.Manifests, again.Manifests) || !slices.Equal(first.Warnings, again.Warnings) {
				t.Fatalf("%s differs the second time, %v", name, err)
			}
		}
	}
}

// many is a simple profile of so many VDUs, each with a CP, one link, and a policy.
func many(n int) string {
	var text strings.Builder
	text.WriteString("tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0\ntopology_template:\n  node_templates:\n" +
		"    VL: {type: tosca.nodes.nfv.VL, properties: {network_name: net}}\n")
	for i := range n {
		fmt.Fprintf(&text, "    VDU%[1]d:\n      type: tosca.nodes.nfv.VDU.Tacker\n      properties:\n        mapping_ports: [\"80:8080\"]\n"+
			"        vnfcs: {web: {num_cpus: 0.5, mem_size: 512 MB, image: nginx, ports: [8080], config: \"a: b\"}}\n"+
			"    CP%[1]d: {type: tosca.nodes.nfv.CP.Tacker, requirements: [{virtualLink: VL}, {virtualBinding: VDU%[1]d}]}\n", i)
	}
	return text.String()
}

// Ten thousand node templates are translated in time that grows with their number.
func TestTenThousandNodes(t *testing.T) {
	begun := time.Now()
	made, err := translated(many(5000), "simple", tosca.Options{})
	if took := time.Since(begun); err != nil || bytes.Count(made.Manifests, []byte("kind: Deployment\nmetadata")) != 5000 || took > time.Minute {
		t.Errorf("%d bytes in %v, %v", len(made.Manifests), took, err)
	}
}

// Inputs that stand for lists of inputs end, however many values they would be.
func TestInputsThatGrowWithoutEnd(t *testing.T) {
	text := "tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0\ntopology_template:\n  inputs:\n"
	for i := range 20 {
		text += fmt.Sprintf("    i%d: {default: [%s]}\n", i, strings.Repeat(fmt.Sprintf("{get_input: i%d},", i+1), 10))
	}
	text += "    i20: {default: x}\n  node_templates:\n    V: {type: tosca.nodes.nfv.VDU.Tacker, properties: {vnfcs: {a: {image: x, args: {get_input: i0}}}}}\n"
	if _, err := translated(text, "simple", tosca.Options{}); err == nil || !strings.Contains(err.Error(), "too many values") {
		t.Errorf("%v", err)
	}
}

// Of what leads on without end the first use is told, and nothing is looked at after it.
func TestTheFirstUseWithoutEndIsTold(t *testing.T) {
	text := `tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0
topology_template:
  inputs:
    low: {default: [{get_input: low}]}
    high: {default: [{get_input: high}]}
  node_templates:
    V: {type: tosca.nodes.nfv.VDU.Tacker, properties: {vnfcs: {a: {image: {get_input: high}, args: {get_input: low}}}}}
`
	if _, err := translated(text, "simple", tosca.Options{}); err == nil || !strings.Contains(err.Error(), "line 5: get_input and get_property lead from one to the next") {
		t.Errorf("%v", err)
	}
	text = strings.Replace(text, "low: {default: [{get_input: low}]}", `"": {default: x}`, 1)
	text = strings.NewReplacer("{get_input: high}, args: {get_input: low}", "{get_input: [a]}", "high: {default: [{get_input: high}]}", "high: {}").Replace(text)
	if _, err := translated(text, "simple", tosca.Options{}); err == nil || !strings.Contains(err.Error(), "get_input names an input that is not declared") {
		t.Errorf("a list as the name of an input: %v", err)
	}
}

func BenchmarkTranslate200VDUs(b *testing.B) {
	text := many(200)
	for b.Loop() {
		if _, err := translated(text, "simple", tosca.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzTranslate: any text is refused, or becomes the same objects twice.
func FuzzTranslate(f *testing.F) {
	for name := range samples {
		f.Add(sample(f, name))
	}
	f.Add("tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0\ntopology_template: {node_templates: {V: {type: tosca.policies.tacker.Scaling}}}")
	f.Fuzz(func(t *testing.T, text string) {
		for _, flavour := range samples {
			a, err := translated(text, flavour, tosca.Options{})
			b, again := translated(text, flavour, tosca.Options{})
			if (err == nil) != (again == nil) || !bytes.Equal(a.Manifests, b.Manifests) {
				t.Errorf("%v and %v", err, again)
			}
			if err == nil && len(objects(t, a.Manifests)) == 0 {
				t.Error("no objects and no fault")
			}
		}
	})
}

// simple is a descriptor of node templates, with what stands before its topology.
func simple(before, templates string) string {
	return "tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0\n" + before + "topology_template:\n  node_templates:\n" + templates
}

// What a derived type says by default is read where a template says nothing, also by get_property.
func TestDefaultsOfDerivedTypes(t *testing.T) {
	const types = `node_types:
  acme.VDU:
    derived_from: tosca.nodes.nfv.VDU.Tacker
    properties: {service_type: {type: string, default: NodePort}, name: {type: string, default: "k: v"}}
  acme.Whole:
    derived_from: tosca.nodes.nfv.VDU.Tacker
    properties: {vnfcs: {default: {a: {image: brought}}}}
`
	text := simple(types, `    own: {type: acme.VDU, properties: {name: "x: y", service_type: ClusterIP, mapping_ports: ["80"], vnfcs: {a: {image: x}}}}
    bare: {type: acme.Whole}
    other: {type: acme.VDU, properties: {mapping_ports: ["80"], vnfcs: {a: {image: x, config: {get_property: [own, name]}}}}}
    usual: {type: acme.VDU, properties: {mapping_ports: ["80"], vnfcs: {a: {image: x, config: {get_property: [SELF, name]}}}}}
`)
	made, err := translated(text, "simple", tosca.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := objects(t, made.Manifests)
	if got := fmt.Sprint(at(all["Deployment bare"], "spec.template.spec.containers.0.image")); got != "brought" {
		t.Errorf("the image of what says nothing is %s", got)
	}
	for what, want := range map[[2]string]string{
		{"Service own", "spec.type"}: "ClusterIP", {"Service usual", "spec.type"}: "NodePort", {"ConfigMap usual-a", "data"}: "map[k:v]", {"ConfigMap other-a", "data"}: "map[x:y]",
	} {
		if got := fmt.Sprint(at(all[what[0]], what[1])); got != want {
			t.Errorf("%s of %s is %s, want %s", what[1], what[0], got, want)
		}
	}
}

// SELF is the node template in which it stands, also where a property of another leads there.
func TestPropertiesOfOthers(t *testing.T) {
	text := simple("", `    a: {type: tosca.nodes.nfv.VDU.Tacker, properties: {namespace: "of-a", vnfcs: {a: {image: {get_property: [b, vnfcs, b, image]}}}}}
    b: {type: tosca.nodes.nfv.VDU.Tacker, properties: {namespace: "of-b", vnfcs: {b: {image: {get_property: [SELF, namespace]}}}}}
    c: {type: tosca.nodes.nfv.VDU.Tacker, properties: {namespace: "of-c", vnfcs: {c: {image: {get_property: [SELF, vnfcs, d, image]}}, d: {image: {get_property: [SELF, namespace]}}, token: {image: x}}}}
`)
	made, err := translated(text, "simple", tosca.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "of-b", "b": "of-b", "c": "of-c"} {
		if got := fmt.Sprint(at(objects(t, made.Manifests)["Deployment "+name], "spec.template.spec.containers.0.image")); got != want {
			t.Errorf("the image of %s is %s, want %s", name, got, want)
		}
	}
}

// The file of an image is in the package by its path there, or by that from the descriptor.
func TestImagesInThePackage(t *testing.T) {
	text := sample(t, "units")
	c, err := vnfpkg.Open(strings.NewReader(text), int64(len(text)), vnfpkg.ArchiveLimits{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.Descriptor()
	if err != nil {
		t.Fatal(err)
	}
	top, err := c.Topology("small")
	if err != nil {
		t.Fatal(err)
	}
	top.File = "Definitions/vnfd.yaml"
	for file, refused := range map[string]bool{"registry.example/web:1": true, "Definitions/registry.example/web:1": true, "web:1": false} {
		top.Has = func(name string) bool { return name == file }
		if _, err := tosca.Translate(top, d.Flavours["small"], tosca.Options{}); (err != nil) != refused {
			t.Errorf("with the file %s: %v", file, err)
		}
	}
}

// Names of containers are labels of their own: of at most 40 signs as they are, and none begins with a digit.
func TestNamesOfContainers(t *testing.T) {
	for name, want := range map[string]string{
		strings.Repeat("a", 40): "^a{40}$", strings.Repeat("a", 41): "^a{31}-[0-9a-f]{8}$", "9a": "^n-9a-[0-9a-f]{8}$", "0a": "^n-0a-[0-9a-f]{8}$", "_": "^n-[0-9a-f]{8}$", "a_b": "^a-b$",
	} {
		made, err := translated(simple("", `    v: {type: tosca.nodes.nfv.VDU.Tacker, properties: {vnfcs: {"`+name+`": {image: x}}}}`+"\n"), "simple", tosca.Options{})
		got := fmt.Sprint(at(objects(t, made.Manifests)["Deployment v"], "spec.template.spec.containers.0.name"))
		if err != nil || !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s is called %s, %v, want %s", name, got, err, want)
		}
	}
}

// What is edited in a sample shows in one place of one object, or in one refusal.
func TestTranslateEdited(t *testing.T) {
	const pod = "spec.template."
	for name, c := range map[string]struct {
		sample, old, now string
		with             tosca.Options
		object, path     string // empty: it is refused
		want             string
	}{
		"a list for an object":               {"units", "{name: web, type: Deployment}", "[a]", tosca.Options{}, "", "", "mcio_identification_data has a value of another form"},
		"a text for an object":               {"units", "{name: web, type: Deployment}", "a", tosca.Options{}, "", "", "mcio_identification_data has a value of another form"},
		"a template that is hidden":          {"shop", "    VDU_front:\n", "    VDU_front:\n      metadata: {hidden: true}\n", tosca.Options{}, "Secret vdu-front-web-server", "data.depth", "Mw=="},
		"one that says it is not":            {"shop", "    VDU_front:\n", "    VDU_front:\n      metadata: {hidden: false}\n", tosca.Options{}, "ConfigMap vdu-front-web-server", "data.depth", "3"},
		"a line without colon":               {"shop", "depth: 3", "depth", tosca.Options{}, "", "", "each line of config must be a key of its own"},
		"a line without key":                 {"shop", "depth: 3", ": 3", tosca.Options{}, "", "", "each line of config must be a key of its own"},
		"a number of none":                   {"units", "{min_number_of_instances: 1, max_number_of_instances: 3}", "{min_number_of_instances: 0, max_number_of_instances: 3}", tosca.Options{}, "StatefulSet db", "spec.replicas", "<nil>"},
		"an image that may be missing":       {"units", "      artifacts:\n        sw_image: {type: tosca.artifacts.nfv.SwImage, file: \"registry.example/web:1\"}\n", "", tosca.Options{Loose: true}, "Deployment web", pod + "spec.containers.0.image", "<nil>"},
		"a service of one VDU":               {"units", "      - target: db", "      - target: db\n      - virtual_link: inner", tosca.Options{}, "Deployment web", pod + "metadata.labels.service/queries", "<nil>"},
		"the service's own VDU":              {"units", "      - target: db", "      - target: db\n      - virtual_link: inner", tosca.Options{}, "StatefulSet db", pod + "metadata.labels.service/queries", "true"},
		"a list that begins like a function": {"shop", `["--port", "8080"]`, "[get_input, tokens]", tosca.Options{}, "Deployment vdu-front", pod + "spec.containers.0.args", "[get_input tokens]"},
		"a function at the begin of a list":  {"shop", `["--port", "8080"]`, "[{get_input: store_image}, x]", tosca.Options{}, "Deployment vdu-front", pod + "spec.containers.0.args", "[registry.example/store:3 x]"},
		"a network that manages nothing":     {"shop", "management: true, order: 1", "management: false, order: 1", tosca.Options{}, "Service vdu-front", "metadata.labels.management_connection", "<nil>"},
		"a policy that is not known yet":     {"shop", "max_instances: 4", "max_instances: null", tosca.Options{Loose: true}, "HorizontalPodAutoscaler vdu-front", "spec.maxReplicas", "<nil>"},
		"a level of none":                    {"units", "{number_of_instances: 1}}}\n  - aspects", "{number_of_instances: 0}}}\n  - aspects", tosca.Options{}, "Deployment web", "spec.replicas", "0"},
		"a fault found later that is first":  {"shop", "virtualLink: {node: VL1}", "virtualLink: {node: VL9}", tosca.Options{Inputs: map[string]string{}}, "", "", "names no node template"},
	} {
		text := edited(t, c.sample, c.old, c.now)
		if strings.HasPrefix(name, "a fault") {
			text = strings.Replace(text, "network_name: infra/radio", "network_name: 'a b'", 1)
		}
		made, err := translated(text, samples[c.sample], c.with)
		if c.object == "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
			continue
		}
		if o, is := objects(t, made.Manifests)[c.object]; err != nil || !is || fmt.Sprint(at(o, c.path)) != c.want {
			t.Errorf("%s: %s of %s is %v, %v, want %s", name, c.path, c.object, at(o, c.path), err, c.want)
		}
	}
}
