package heat

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
)

var _ lifecycle.Driver = (*Driver)(nil)

const (
	// purpose is the purpose of leases for Heat, which makes a trust with them.
	purpose = "heat"
	// tag begins the tag that holds the instance's id. Brokers that come after this one rely upon it, and upon
	// the names of stacks: never change them.
	tag = "vimbroker.io/instance="
	// folder is the folder of a package's base HOTs, one folder for each flavour.
	folder = "BaseHOT/"
)

// stackName is the name of an instance's stack.
func stackName(instance string) string { return "vnf-" + instance }

// Driver implements [lifecycle.Driver] for OpenStack.
type Driver struct {
	pause time.Duration // between two looks at what is waited for, at first
}

// New returns a driver.
func New() *Driver { return &Driver{pause: 150 * time.Millisecond} }

// Name implements [lifecycle.Driver].
func (*Driver) Name() string { return "heat" }

// VIMType implements [lifecycle.Driver].
func (*Driver) VIMType() broker.VIMType { return "openstack" }

// Survey implements [lifecycle.Driver]: any member of the project may have a template validated.
func (*Driver) Survey(lifecycle.PlanInput) lifecycle.StageRules { return lifecycle.StageRules{} }

// Basis implements [lifecycle.Driver]: everything under BaseHOT/FLAVOUR. Secret are the parameters that the
// template hides.
func (*Driver) Basis(s lifecycle.Source) (lifecycle.Basis, error) {
	var b lifecycle.Basis
	switch {
	case s.Namespace != "":
		return b, broker.Invalid("additionalParams.namespace", "is Kubernetes'; an OpenStack VIM has no namespaces")
	case len(s.Named) > 0:
		return b, broker.Invalid("additionalParams.lcm-kubernetes-def-files",
			"is Kubernetes'; on an OpenStack VIM an instance is made from the base HOT of its flavour")
	}
	base := folder + s.Flavour
	for _, p := range s.Paths {
		if strings.HasPrefix(p, base+"/") {
			b.Files = append(b.Files, p)
		}
	}
	if len(b.Files) == 0 {
		return b, broker.Invalid("flavourId", "the package holds no base HOT for flavour %s: there is nothing under %s",
			s.Flavour, path.Clean(base))
	}
	if s.Release != "" {
		return b, broker.Invalid("additionalParams.helm_release_name", "names the release of a chart, and the instance is made from a base HOT")
	}
	if s.Ordered {
		return b, broker.Invalid("additionalParams.order", "is of manifests; Heat knows the order of a template's resources")
	}
	if len(s.Given) == 0 && !s.Parameters {
		return b, nil
	}
	h, err := readFrom(s, b)
	if err != nil {
		return b, err
	}
	for _, name := range s.Given {
		if h.hidden[name] {
			b.Secret = append(b.Secret, name)
		}
	}
	b.SecretParameters = h.hidden[nfv]
	return b, nil
}

func readFrom(s lifecycle.Source, b lifecycle.Basis) (*hot, error) {
	templates, err := s.Read(b.Files)
	if err != nil {
		return nil, err
	}
	return read(templates, s.Flavour)
}

// Networks implements [lifecycle.Networker]: templates of Tacker call a descriptor's networks and ports by its names, and take
// the networks of others from the parameter nfv.
func (d *Driver) Networks(s lifecycle.Source) (made, taken map[string]bool, err error) {
	b, err := d.Basis(s)
	if err != nil {
		return nil, nil, err
	}
	h, err := readFrom(s, b)
	if err != nil {
		return nil, nil, err
	}
	made, taken = map[string]bool{}, map[string]bool{}
	for _, asked := range h.asked {
		if len(asked) == 3 && (asked[0] == "CP" || asked[0] == "VL") && asked[2] == "network" {
			taken[asked[1]] = true
		}
	}
	for _, p := range h.pieces {
		if strings.HasPrefix(p.kind, "OS::Neutron::") {
			made[p.name] = true
		}
	}
	return made, taken, nil
}

// Observe implements [lifecycle.Driver].
func (d *Driver) Observe(
	ctx context.Context, c lifecycle.Connection, instance string, resources []lifecycle.Resource,
) ([]lifecycle.Observation, error) {
	s, err := connect(ctx, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	out := make([]lifecycle.Observation, len(resources))
	for i, r := range resources {
		out[i] = lifecycle.Observation{Resource: r, Message: "is missing"}
	}
	k, err := s.find(ctx, instance)
	if err != nil {
		return nil, err
	}
	if k == nil || !k.of(instance) {
		for i := range out {
			if k != nil {
				out[i].Message = "is missing: the stack of that name is not the instance's"
			}
		}
		return out, nil
	}
	parts, err := s.parts(ctx, k)
	if err != nil {
		return nil, err
	}
	for i, r := range resources {
		out[i] = observed(k, parts, r, called(resources, parts))
	}
	return out, nil
}

// observed is the state of a stack, or of a resource in it.
func observed(k *stack, parts []part, r lifecycle.Resource, v vdus) lifecycle.Observation {
	o := lifecycle.Observation{Resource: r}
	if r.Plural == stacks {
		o.Standing, o.Ready = true, k.Status.complete()
		if !o.Ready {
			o.Message = "is " + k.Status.text()
		}
		if r.Applied != "" && r.Applied != k.mark() && k.Status.action() != "CHECK" {
			o.ChangedBy = []string{"an update of the stack by somebody else"}
		}
		o.Storages = volumes(parts)
		return o
	}
	for _, p := range parts {
		if p.Parent != "" || p.Name != r.Name {
			continue
		}
		switch {
		case p.Status == "CHECK_FAILED":
			o.Message = "is missing or broken: Heat finds it so, or somebody has marked it unhealthy"
		case p.Status.action() == "DELETE" || p.Status == "INIT_COMPLETE":
			o.Message = "is missing"
		default:
			o.Standing, o.Ready = true, p.Status.complete()
			if !o.Ready {
				o.Message = "is " + p.Status.text()
			}
		}
		if r.VDU != "" {
			o.VNFCs = v.components(parts, p)
		}
		return o
	}
	o.Message = "is missing"
	return o
}

// volumes are those of a stack and of all nested ones. Members of a group have its name: their own is Heat's.
func volumes(parts []part) (all []lifecycle.Storage) {
	groups := map[string]string{}
	for _, p := range parts {
		if members[p.Type] != "" {
			groups[p.nested] = p.Name
		}
	}
	for _, p := range parts {
		if p.Type == volumeType && p.Physical != "" && printable(p.Physical) == p.Physical && p.Status.action() != "DELETE" {
			desc := printable(cmp.Or(groups[p.in], p.Name))
			all = append(all, lifecycle.Storage{Desc: desc, Kind: p.Type, Name: p.Physical, UID: p.Physical})
		}
	}
	slices.SortFunc(all, func(a, b lifecycle.Storage) int { return strings.Compare(a.Desc+a.Name, b.Desc+b.Name) })
	return all
}

// called are the VDUs of resources by the names of their resources on the cloud, as far as that can be told without the
// descriptor: by the VDU's name, or else by the resource's.
func called(resources []lifecycle.Resource, parts []part) vdus {
	v := vdus{}
	for _, r := range resources {
		if r.VDU == "" {
			continue
		}
		name := r.Name
		if slices.ContainsFunc(parts, func(p part) bool { return p.Name == r.VDU }) {
			name = r.VDU
		}
		v[name] = r.VDU
	}
	return v
}
