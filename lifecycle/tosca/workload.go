package tosca

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

const (
	virtualCP = "tosca.nodes.nfv.VirtualCp"
	extCP     = "tosca.nodes.nfv.VnfExtCp"
)

var labelForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
})

// get is a member of an object, or nothing.
func get[T any](from object, key string) T {
	v, _ := from[key].(T)
	return v
}

// translate writes what a node template is on the cluster. One that others lead to is nothing by itself.
func (t *translation) translate(n *node) {
	of, data := types().Types[n.kind], get[[]any](n.props, "virtual_link_service_data")
	for _, more := range get[[]any](n.props, "additional_service_data") {
		data = append(data, get[[]any](more.(object), "port_data")...)
	}
	switch {
	case t.flavour.VDUs[n.name].Name != "":
		t.workload(n)
	case n.kind == extCP || n.kind == virtualCP:
		if len(data) == 0 {
			t.fault(n.at, "%s: it names no port, so that no Service can be made of it; give it virtual_link_service_data", n.name)
		}
		t.write(n, object{"name": t.names[n.name], "service_type": n.props["service_type"], "mark": t.mark(n), "ports": data})
	case of.VDU != "" && (len(n.needs[of.VDU]) != 1 || len(n.needs[of.Link]) > 1):
		t.fault(n.at, "%s: it must be bound to one VDU, and be linked to at most one virtual link", n.name)
	}
}

// mark is the label of the pods behind a service.
func (t *translation) mark(service *node) string { return "service/" + t.names[service.name] }

// workload writes a VDU: it tells the template all that is not among the properties.
func (t *translation) workload(n *node) {
	vdu, all := t.flavour.VDUs[n.name], maps.Clone(n.props) // which is not nil
	if !labelForm().MatchString(vdu.Name) {
		t.fault(n.at, "%s: the VDU's name can be no label; take letters, digits, dots, dashes, at most 63", vnfpkg.Printable(n.name))
	}
	maps.Copy(all, t.rules[n.name])
	all["name"], all["vdu"] = t.names[vdu.Name], vdu.Name
	all["kind"] = cmp.Or(get[string](get[object](n.props, "mcio_identification_data"), "type"), "Deployment")
	count, said := t.flavour.Number(n.name, t.flavour.Levels[cmp.Or(t.with.Level, t.flavour.DefaultLevel)])
	if scaling := get[object](all, "scaling"); scaling != nil {
		all["replicas"] = cmp.Or(scaling["default_instances"], scaling["min_instances"])
	} else if said || count > 0 {
		all["replicas"] = count
	}
	if all["ports"] = n.props["mapping_ports"]; all["ports"] == nil && n.props["service_type"] != nil {
		t.fault(n.at, "%s: service_type is of no service, since there are no mapping_ports", n.name)
	}
	t.connect(n, all)
	t.store(n, all)
	t.contain(n, all)
	t.write(n, all)
}

// connect tells the networks of a VDU's pods, in the order of its connection points, and the services that they are behind.
func (t *translation) connect(n *node, to object) {
	var networks []object
	var shown []string
	cps := slices.Clone(t.bound[n.name])
	slices.SortStableFunc(cps, func(a, b *node) int { return cmp.Compare(get[int64](a.props, "order"), get[int64](b.props, "order")) })
	for _, at := range cps {
		if get[string](at.props, "management") == "true" {
			to["managed"] = true
		}
		if at.kind == virtualCP {
			shown = append(shown, t.mark(at))
			continue
		}
		for _, name := range at.needs[types().Types[at.kind].Link] {
			link := t.nodes[name]
			if !slices.Contains([]string{"tosca.nodes.nfv.VL", "tosca.nodes.nfv.VnfVirtualLink"}, link.kind) {
				t.fault(at.at, "%s: it is linked to %s, which is no virtual link", at.name, name)
			}
			networks = append(networks, object{"name": cmp.Or(get[string](link.props, "network_name"), t.names[name])})
			for _, out := range t.links[name] {
				if out.kind == extCP {
					shown = append(shown, t.mark(out))
				}
			}
		}
	}
	if to["shown"] = shown; networks != nil {
		text, _ := json.Marshal(networks) // cannot fail for texts
		to["networks"] = string(text)
	}
}

// store tells the volumes of a VDU: each pod has its own, or all have one.
func (t *translation) store(n *node, to object) {
	var claims, templates, mounts []object
	var volumes []string
	for _, need := range n.needs["virtual_storage"] {
		of, name, mode := t.nodes[need].props, t.names[need], "ReadWriteOnce"
		data := get[object](of, "virtual_block_storage_data")
		if data == nil {
			data, mode = get[object](of, "virtual_file_storage_data"), "ReadWriteMany"
		}
		if data == nil {
			t.fault(n.at, "%s: the requirement virtual_storage names %s, which is no storage with a size", n.name, need)
		}
		claim := object{"name": name, "mode": mode, "size": data["size_of_storage"]}
		mounts = append(mounts, object{"name": name, "mountPath": cmp.Or(get[string](of, "mount_path"), "/mnt/"+name)})
		if of["per_vnfc_instance"] != "false" {
			templates, to["kind"] = append(templates, claim), "StatefulSet"
			continue
		}
		if volumes = append(volumes, name); !t.made["PersistentVolumeClaim "+name] { // several VDUs may share it
			claims = append(claims, claim)
		}
	}
	to["claims"], to["templates"], to["volumes"], to["mounts"] = claims, templates, volumes, mounts
}

// contain tells the containers of a VDU, and what they are configured with.
func (t *translation) contain(n *node, to object) {
	var containers, configs []object
	add := func(of *node, name string, c object) {
		made := object{}
		if maps.Copy(made, c); made["config"] != nil {
			config := t.config(of, made["config"].(*yaml.Node), to["name"].(string)+"-"+name)
			made["env"], configs = config["env"], append(configs, config)
		}
		made["name"], containers = name, append(containers, made)
	}
	vnfcs := get[object](n.props, "vnfcs")
	named := labels(slices.Collect(maps.Keys(vnfcs)))
	for key := range pairs(child(child(n.whole, "properties"), "vnfcs")) {
		add(n, named[key.Value], get[object](vnfcs, key.Value))
	}
	for _, need := range n.needs["container"] {
		of := t.nodes[need]
		image := cmp.Or(get[string](get[object](of.artifacts, "sw_image"), "file"), get[string](of.props, "image"))
		switch {
		case of.kind != "tosca.nodes.nfv.Vdu.OsContainer":
			t.fault(n.at, "%s: the requirement container names %s, which is none", n.name, need)
		case image == "" && !t.with.Loose:
			t.fault(of.at, "%s: it has no artifact sw_image", need)
		case t.top.Packed(image):
			t.fault(of.at, "%s: the file of its sw_image is in the package, and nothing puts it into a registry; write the image's reference", need)
		}
		if add(of, t.names[need], of.props); image != "" {
			containers[len(containers)-1]["image"] = image
		}
	}
	if to["containers"], to["configs"] = containers, configs; len(containers) == 0 {
		t.fault(n.at, "%s: it has no container", n.name)
	}
}

var keyForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][-._A-Za-z0-9]{0,252}$`) })

// config is a ConfigMap of lines "key: value", or a Secret where the template or the input is marked as hidden, and a
// variable of the environment for each key.
func (t *translation) config(of *node, lines *yaml.Node, name string) object {
	kind, ref, data, input := "ConfigMap", "configMapKeyRef", object{}, t.from[lines]
	hidden := scalar(child(of.whole, "metadata"), "hidden") == "true" || scalar(child(child(t.inputs, input), "metadata"), "hidden") == "true"
	if hidden {
		kind, ref = "Secret", "secretKeyRef"
	} else {
		t.warnings = append(t.warnings, t.top.Warning(lines.Line, "the config of %s becomes a ConfigMap, which is no place for a secret: "+
			"metadata: {hidden: true} of the node template, or of the input, makes it a Secret", vnfpkg.Printable(of.name)))
	}
	var env []object
	for line := range strings.SplitSeq(lines.Value, "\n") {
		key, value, ok := strings.Cut(line, ":")
		if key, value = strings.TrimSpace(key), strings.TrimSpace(value); key == "" && !ok {
			continue
		}
		if _, twice := data[key]; !ok || twice || !keyForm().MatchString(key) {
			t.fault(lines, "%s: each line of config must be a key of its own, a colon and a value", of.name)
			break
		}
		if data[key] = value; hidden {
			data[key] = base64.StdEncoding.EncodeToString([]byte(value))
		}
		env = append(env, object{"name": key, "valueFrom": object{ref: object{"name": name, "key": key}}})
	}
	made := object{"name": name, "kind": kind, "data": data, "env": env}
	if hidden && input != "" {
		made["input"] = input
	}
	return made
}

// domains are the topologies of nodes that the scopes of affinity are.
var domains = map[string]string{"nfvi_node": "kubernetes.io/hostname", "zone": "topology.kubernetes.io/zone"}

// policies reads a list of {NAME: POLICY}, or one mapping, and the groups that they may target.
func (t *translation) policies(policies, groups *yaml.Node) {
	each, members := []*yaml.Node{policies}, map[string][]any{}
	if policies != nil && policies.Kind == yaml.SequenceNode {
		each = policies.Content
	}
	for key, value := range pairs(groups) {
		g, _ := t.whole("tosca.groups.", key, value)
		members[key.Value] = get[[]any](g, "members")
	}
	for _, item := range each {
		for key, value := range pairs(item) {
			p, kind := t.whole("tosca.policies.", key, value)
			var vdus []string
			for _, target := range get[[]any](p, "targets") {
				for _, vdu := range append(slices.Clone(members[target.(string)]), target)[:max(len(members[target.(string)]), 1)] {
					vdus = append(vdus, vdu.(string))
				}
			}
			if props := get[object](p, "properties"); props != nil {
				t.policy(key, types().Types[kind].Rule, props, vdus)
			}
		}
	}
}

// policy takes a policy of affinity, or one of scaling where rule is empty.
func (t *translation) policy(at *yaml.Node, rule string, props object, vdus []string) {
	least, most := get[int64](props, "min_instances"), get[int64](props, "max_instances")
	if first := cmp.Or(get[int64](props, "default_instances"), least); rule == "" && !t.with.Loose && (first < least || first > most) {
		t.fault(at, "%s: min_instances, default_instances and max_instances must rise", at.Value)
	}
	var names []string
	for _, vdu := range vdus {
		if names = append(names, t.names[t.flavour.VDUs[vdu].Name]); t.flavour.VDUs[vdu].Name == "" {
			t.fault(at, "%s: the target %s is no VDU", at.Value, vnfpkg.Printable(vdu))
		}
		if t.rules[vdu] == nil {
			t.rules[vdu] = object{}
		}
	}
	for _, vdu := range vdus {
		switch of := t.rules[vdu]; {
		case rule != "":
			of[rule] = append(get[[]object](of, rule), object{"domain": domains[get[string](props, "scope")], "vdus": names})
		case of["scaling"] != nil:
			t.fault(at, "%s: %s has a scaling policy already, and can have one", at.Value, vdu)
		default:
			of["scaling"] = props
		}
	}
}
