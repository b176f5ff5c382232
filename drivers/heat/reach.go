package heat

import (
	"net/netip"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// piece is a resource of a template, or the member of a group.
type piece struct {
	name, kind string
	body       *yaml.Node
	// top: it is of the template whose parameters are known.
	top bool
}

// finding is one way out of the project's own part of a cloud. It holds words of this program alone: a value of a
// template may be a secret.
type finding struct{ what, field, why string }

// row is one line of the table of what reaches. A kind that ends with "::" is every kind that begins so.
type row struct {
	kind string
	look func(p properties) []finding
}

// table holds the types whose resources may reach others. Every row has its test.
var table = []row{
	{"OS::Neutron::Port", func(p properties) []finding {
		return slices.Concat(p.security(), p.pairs(), p.given(lifecycle.ReachNode, "binding:profile", "devices of nodes"))
	}},
	{"OS::Neutron::Net", func(p properties) []finding {
		return slices.Concat(p.security(), p.provider(), p.set("shared", true, lifecycle.ReachCluster, "a network that every project has"))
	}},
	{"OS::Neutron::ProviderNet", always(lifecycle.ReachNetwork, "a network of the cloud's own")},
	{"OS::Neutron::RouterInterface", func(p properties) []finding { return p.foreign("subnet", "subnet_id", "port", "port_id") }},
	{"OS::Neutron::RBACPolicy", always(lifecycle.ReachCluster, "what other projects see")},
	{"OS::Neutron::Quota", always(lifecycle.ReachCluster, "quotas")},
	{"OS::Nova::Server", properties.host},
	{"OS::Nova::Flavor", always(lifecycle.ReachCluster, "flavours of the cloud")},
	{"OS::Nova::HostAggregate", always(lifecycle.ReachNode, "hosts of the cloud")},
	{"OS::Nova::Quota", always(lifecycle.ReachCluster, "quotas")},
	{"OS::Cinder::Quota", always(lifecycle.ReachCluster, "quotas")},
	{"OS::Keystone::", always(lifecycle.ReachRBAC, "users, projects and roles")},
	{"AWS::IAM::", always(lifecycle.ReachRBAC, "a user with a key")},
	{"OS::Mistral::", always(lifecycle.ReachRBAC, "acts for the user, whenever it runs")},
	{"OS::Heat::SoftwareDeployment", properties.signals},
	{"OS::Heat::SoftwareDeploymentGroup", properties.signals},
	{"OS::Heat::SoftwareDeployments", properties.signals},
	{"OS::Heat::StructuredDeployment", properties.signals},
	{"OS::Heat::StructuredDeploymentGroup", properties.signals},
	{"OS::Heat::StructuredDeployments", properties.signals},
}

// judge finds by which ways the resources of all templates reach others, and whether something of them stays.
func (h *hot) judge(parameters map[string]any, f *lifecycle.Facts) {
	for _, p := range h.pieces {
		if policy := at(p.body, "deletion_policy"); policy != nil && !strings.EqualFold(policy.Value, "delete") {
			f.Outlives = true
		}
		for _, found := range p.reaches(h, parameters) {
			f.Reaches = append(f.Reaches, lifecycle.Reach{
				What: found.what, Kind: p.kind, Name: p.name, Field: found.field, Why: found.why, Resource: p.kind,
				Shareable: found.field == "type" && found.what == lifecycle.ReachUnknown,
			})
			f.Privileged = f.Privileged || found.what == lifecycle.ReachNode
			f.BringsRBAC = f.BringsRBAC || found.what == lifecycle.ReachRBAC
		}
	}
	f.Reaches = lifecycle.SortReaches(f.Reaches)
}

func (p piece) reaches(h *hot, parameters map[string]any) (finds []finding) {
	of := properties{h: h, of: p, parameters: parameters, all: at(p.body, "properties")}
	for _, r := range table {
		if p.kind == r.kind || strings.HasSuffix(r.kind, "::") && strings.HasPrefix(p.kind, r.kind) {
			finds = append(finds, r.look(of)...)
		}
	}
	if !isTemplate(p.kind) && !strings.HasPrefix(p.kind, "OS::") && !strings.HasPrefix(p.kind, "AWS::") {
		finds = append(finds, finding{lifecycle.ReachUnknown, "type", "a type of others: what is made of it is not known"})
	}
	return finds
}

func always(what, why string) func(properties) []finding {
	return func(properties) []finding { return []finding{{what, "type", why}} }
}

// properties are those of a resource, with the parameters that the top template gets.
type properties struct {
	h          *hot
	of         piece
	parameters map[string]any
	all        *yaml.Node
}

// workedOut stands for a value that only Heat knows.
type workedOut struct{}

// get is the value of a property, also of one that value_specs gives, or nil.
func (p properties) get(name string) any {
	if n := at(p.all, name); n != nil {
		return p.value(n)
	}
	if specs := at(p.all, "value_specs"); specs != nil {
		switch v := p.value(specs).(type) {
		case map[string]any:
			return v[name]
		case workedOut:
			return v
		}
	}
	return nil
}

// value is the value of a node. A parameter of the top template gives its value; all other values that Heat works out
// are workedOut.
func (p properties) value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		if len(n.Content) == 2 && isFunction(n.Content[0].Value) {
			return p.parameter(n)
		}
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = p.value(n.Content[i+1])
		}
		return m
	case yaml.SequenceNode:
		var l []any
		for _, c := range n.Content {
			l = append(l, p.value(c))
		}
		return l
	}
	return n.Value
}

// isFunction reports whether a key alone in a mapping has Heat work out a value.
func isFunction(key string) bool {
	return slices.Contains([]string{
		"get_param", "get_attr", "get_resource", "get_file", "list_join", "str_replace", "str_replace_strict", "str_replace_vstrict",
		"str_split", "map_merge", "map_replace", "repeat", "yaql", "if", "digest", "resource_facade", "list_concat", "list_concat_unique",
		"contains", "equals", "not", "and", "or", "filter", "make_url",
	}, key)
}

// parameter is the value of {get_param: NAME} or {get_param: [NAME, ...]} in the top template.
func (p properties) parameter(n *yaml.Node) any {
	if n.Content[0].Value != "get_param" || !p.of.top {
		return workedOut{}
	}
	path := []string{n.Content[1].Value}
	if n.Content[1].Kind == yaml.SequenceNode {
		path = nil
		for _, c := range n.Content[1].Content {
			path = append(path, c.Value)
		}
	}
	if len(path) == 0 || slices.Contains(path, "") {
		return workedOut{}
	}
	if given, is := p.parameters[path[0]]; is {
		return look(given, path[1:])
	}
	if preset := p.h.defaults[path[0]]; preset != nil {
		return look(properties{h: p.h}.value(preset), path[1:])
	}
	return workedOut{}
}

// unknownIn finds a value that only Heat knows.
func unknownIn(field string) []finding {
	return []finding{{lifecycle.ReachUnknown, field, "Heat works out the value"}}
}

// says reads a boolean as Heat does.
func says(v any) (yes, known bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case float64:
		return v != 0, true
	case string:
		return !slices.Contains([]string{"false", "f", "no", "n", "off", "0"}, strings.ToLower(v)), true
	}
	return false, false
}

// security finds ports whose packets are not checked.
func (p properties) security() []finding {
	return p.set("port_security_enabled", false, lifecycle.ReachNetwork, "sends as any address")
}

// widest is the least prefix length of the addresses that a port may send as; a wider range counts as every address,
// because two halves make a whole.
const widest = 8

// pairs finds ports that may send as every address.
func (p properties) pairs() []finding {
	v := p.get("allowed_address_pairs")
	if v == nil {
		return nil
	}
	list, is := v.([]any)
	if !is {
		return unknownIn("allowed_address_pairs")
	}
	var unknown []finding
	for _, pair := range list {
		m, _ := pair.(map[string]any)
		text, is := m["ip_address"].(string)
		if !is {
			unknown = unknownIn("allowed_address_pairs")
			continue
		}
		_, err := netip.ParseAddr(text)
		if prefix, wrong := netip.ParsePrefix(text); err != nil && (wrong != nil || prefix.Bits() < widest) {
			return []finding{{lifecycle.ReachNetwork, "allowed_address_pairs", "sends as any address"}}
		}
	}
	return unknown
}

// given finds a property that says anything.
func (p properties) given(what, name, why string) []finding {
	switch v := p.get(name).(type) {
	case nil:
		return nil
	case workedOut:
		return unknownIn(name)
	case string:
		if v == "" {
			return nil
		}
	}
	return []finding{{what, name, why}}
}

// set finds a property that has a value of the two.
func (p properties) set(name string, value bool, what, why string) []finding {
	v := p.get(name)
	switch on, known := says(v); {
	case v == nil || known && on != value:
		return nil
	case known:
		return []finding{{what, name, why}}
	}
	return unknownIn(name)
}

// provider finds a network that names one of the cloud's own.
func (p properties) provider() []finding {
	for _, name := range []string{"provider:network_type", "provider:physical_network", "provider:segmentation_id", "segments"} {
		if found := p.given(lifecycle.ReachNetwork, name, "a network of the cloud's own"); found != nil {
			return found
		}
	}
	return nil
}

// foreign finds a network that is not the stack's: one that is named by anything but a resource of the template.
func (p properties) foreign(names ...string) []finding {
	for _, name := range names {
		n := at(p.all, name)
		if n != nil && (n.Kind != yaml.MappingNode || len(n.Content) != 2 || n.Content[0].Value != "get_resource") {
			return []finding{{lifecycle.ReachNetwork, name, "a network that is not the stack's"}}
		}
	}
	return nil
}

// host finds a server that names its host.
func (p properties) host() []finding {
	zone, is := p.get("availability_zone").(string)
	if is && strings.Contains(zone, ":") {
		return []finding{{lifecycle.ReachNode, "availability_zone", "a host of its choice"}}
	}
	return nil
}

// signals finds deployments for whose signals Heat makes a user.
func (p properties) signals() []finding {
	switch v := p.get("signal_transport").(type) {
	case string:
		if v == "NO_SIGNAL" || v == "TEMP_URL_SIGNAL" {
			return nil
		}
	case workedOut:
		return unknownIn("signal_transport")
	}
	return []finding{{lifecycle.ReachRBAC, "signal_transport", "Heat makes a user"}}
}
