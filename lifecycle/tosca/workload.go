package tosca

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// get is a member of an object, or nothing.
func get[T any](from object, key string) T {
	v, _ := from[key].(T)
	return v
}

// translate writes what a node template is on the cluster. One that others lead to is nothing by itself.
func (t *translation) translate(n *node) {
	of, all := types().Types[n.kind], maps.Clone(n.props)
	switch {
	case t.flavour.VDUs[n.name].Name != "":
		t.workload(n, all)
	case of.Shows:
		if len(get[[]any](all, "virtual_link_service_data"))+len(get[[]any](all, "additional_service_data")) == 0 {
			t.fault(n.at, "%s: it names no port, so that no Service can be made of it; give it virtual_link_service_data", n.name)
		}
		all["name"], all["mark"] = t.names[n.name], t.mark(n)
		t.write(n, all)
	case of.VDU != "" && (len(n.needs[of.VDU]) != 1 || len(n.needs[of.Link]) > 1):
		t.fault(n.at, "%s: it must be bound to one VDU, and be linked to at most one virtual link", n.name)
	}
}

func (t *translation) mark(service *node) string { return "service/" + t.names[service.name] }

// workload writes a VDU: it tells the template all that is not among the properties.
func (t *translation) workload(n *node, all object) {
	vdu := t.flavour.VDUs[n.name]
	t.plain(vnfpkg.Printable(n.name)+": the VDU's name", &yaml.Node{Value: vdu.Name, Line: n.at.Line}, "vdu")
	maps.Copy(all, t.rules[n.name])
	all["name"], all["vdu"] = t.names[vdu.Name], vdu.Name
	all["kind"] = cmp.Or(get[string](get[object](n.props, "mcio_identification_data"), "type"), "Deployment")
	count, said := t.flavour.Number(n.name, t.flavour.Levels[cmp.Or(t.with.Level, t.flavour.DefaultLevel)])
	if said || count > 0 {
		all["replicas"] = count
	}
	if n.props["mapping_ports"] == nil && n.props["service_type"] != nil {
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
		if types().Types[at.kind].Shows {
			shown = append(shown, t.mark(at))
			continue
		}
		for _, name := range at.needs[types().Types[at.kind].Link] {
			if !types().Types[t.nodes[name].kind].IsLink {
				t.fault(at.at, "%s: it is linked to %s, which is no virtual link", at.name, name)
			}
			networks = append(networks, object{"name": cmp.Or(get[string](t.nodes[name].props, "network_name"), t.names[name])})
			for _, out := range t.links[name] {
				if of := types().Types[out.kind]; of.Shows && of.VDU == "" {
					shown = append(shown, t.mark(out))
				}
			}
		}
	}
	to["shown"], to["networks"] = shown, networks
}

// store tells the volumes of a VDU: each pod has its own, or all of the VDUs that need it share one.
func (t *translation) store(n *node, to object) {
	var all []object
	for _, need := range n.needs["virtual_storage"] {
		of, name := maps.Clone(t.nodes[need].props), t.names[need]
		if of["virtual_block_storage_data"] == nil && of["virtual_file_storage_data"] == nil {
			t.fault(n.at, "%s: the requirement virtual_storage names %s, which is no storage with a size", n.name, need)
		}
		shared := of["per_vnfc_instance"] == "false"
		of["name"], of["shared"], of["first"] = name, shared, shared && !t.made["PersistentVolumeClaim "+name]
		if all = append(all, of); !shared {
			to["kind"] = "StatefulSet"
		}
	}
	to["storages"] = all
}

// contain tells the containers of a VDU, and what they are configured with.
func (t *translation) contain(n *node, to object) {
	var containers, configs []object
	add := func(of *node, name string, c object, whole *yaml.Node) {
		made := object{"artifacts": of.artifacts}
		if maps.Copy(made, c); made["config"] != nil {
			config := t.config(of, child(whole, "config"), to["name"].(string)+"-"+name)
			made["configured"], configs = config, append(configs, config)
		}
		made["name"], containers = name, append(containers, made)
	}
	vnfcs := get[object](n.props, "vnfcs")
	named := labels(slices.Collect(maps.Keys(vnfcs)))
	for key, value := range pairs(child(child(n.whole, "properties"), "vnfcs")) {
		add(n, named[key.Value], get[object](vnfcs, key.Value), value)
	}
	for _, need := range n.needs["container"] {
		of := t.nodes[need]
		image := cmp.Or(get[string](get[object](of.artifacts, "sw_image"), "file"), get[string](of.props, "image"))
		switch {
		case of.kind != "tosca.nodes.nfv.Vdu.OsContainer":
			t.fault(n.at, "%s: the requirement container names %s, which is none", n.name, need)
		case image == "" && !t.with.Loose:
			t.fault(of.at, "%s: it has no artifact sw_image", need)
		case t.top.Has(image) || t.top.Has(path.Join(path.Dir(t.top.File), image)):
			t.fault(of.at, "%s: the file of its sw_image is in the package, and nothing puts it into a registry; write the image's reference", need)
		}
		add(of, t.names[need], of.props, child(of.whole, "properties"))
	}
	if to["containers"], to["configs"] = containers, configs; len(containers) == 0 {
		t.fault(n.at, "%s: it has no container", n.name)
	}
}

// config is a ConfigMap of lines "key: value", or a Secret where the template or the input is marked as hidden.
func (t *translation) config(of *node, lines *yaml.Node, name string) object {
	var keys []string
	data, input := object{}, t.from[lines]
	hidden := scalar(child(of.whole, "metadata"), "hidden") == "true" || scalar(child(child(t.inputs, input), "metadata"), "hidden") == "true"
	for line := range strings.SplitSeq(lines.Value, "\n") {
		key, value, ok := strings.Cut(line, ":")
		if key, value = strings.TrimSpace(key), strings.TrimSpace(value); key == "" && !ok {
			continue
		}
		if _, twice := data[key]; !ok || twice || !types().Forms["key"].Matches.MatchString(key) {
			t.fault(lines, "%s: each line of config must be a key of its own, a colon and a value", of.name)
		}
		if keys, data[key] = append(keys, key), value; hidden {
			data[key] = base64.StdEncoding.EncodeToString([]byte(value))
		}
	}
	if !hidden {
		t.warnings = append(t.warnings, fmt.Sprintf("%s:%d: the config of %s becomes a ConfigMap, which is no place for a secret: "+
			"metadata: {hidden: true} of the node template, or of the input, makes it a Secret", t.top.File, lines.Line, vnfpkg.Printable(of.name)))
	}
	return object{"name": name, "hidden": hidden, "data": data, "keys": keys, "input": input}
}

// policies reads a list of {NAME: POLICY}, or one mapping, and the groups that they may target.
func (t *translation) policies(policies, groups *yaml.Node) {
	each, members := []*yaml.Node{policies}, map[string][]any{}
	if policies != nil && policies.Kind == yaml.SequenceNode {
		each = policies.Content
	}
	t.read("groups", groups, object{"*": "any"})
	for key, value := range pairs(groups) {
		g, _ := t.whole("tosca.groups.", key, value)
		members[key.Value] = get[[]any](g, "members")
	}
	for _, item := range each {
		t.read("policies", item, object{"*": "any"})
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
	least, most, names := get[int64](props, "min_instances"), get[int64](props, "max_instances"), []string(nil)
	first := cmp.Or(get[int64](props, "default_instances"), least)
	if len(vdus) == 0 || rule == "" && !t.with.Loose && (first < least || first > most) {
		t.fault(at, "%s: it needs targets, and for scaling min_instances, default_instances and max_instances that rise", at.Value)
	}
	for _, vdu := range vdus {
		names = append(names, t.names[t.flavour.VDUs[vdu].Name])
	}
	for _, vdu := range vdus {
		switch of := t.rules[vdu]; {
		case of == nil:
			t.fault(at, "%s: the target %s is no VDU", at.Value, vnfpkg.Printable(vdu))
		case rule != "":
			of[rule] = append(get[[]object](of, rule), object{"scope": props["scope"], "vdus": names})
		case of["scaling"] != nil:
			t.fault(at, "%s: %s has a scaling policy already, and can have one", at.Value, vdu)
		default:
			of["scaling"] = props
		}
	}
}
