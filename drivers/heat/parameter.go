package heat

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// nfv is the parameter that has everything of the VNF in it.
const nfv = "nfv"

// capacity is the member of a VDU that says how many VNFCs it has.
const capacity = "desired_capacity"

// needed are the members that Heat requires; other members are null if they are not given.
var needed = map[string]bool{"computeFlavourId": true, "vcImageId": true, capacity: true, "network": true}

// parametersOf returns the parameters of the stack.
func (h *hot) parametersOf(in lifecycle.PlanInput) (map[string]any, error) {
	all := map[string]any{}
	for name, value := range in.Variables {
		_, known := h.parameters[name]
		if !known && in.Hybrid {
			continue // it is the manifests'
		}
		if !known || name == nfv {
			return nil, broker.Invalid("additionalParams.variables."+name, "is no parameter of the base HOT")
		}
		all[name] = value
	}
	if _, declared := h.parameters[nfv]; declared {
		value, err := h.nfv(in)
		if err != nil {
			return nil, err
		}
		all[nfv] = value
	} else if len(in.Parameters) > 0 {
		return nil, broker.Invalid("additionalParams.nfv", "is given, and the base HOT declares no parameter nfv")
	}
	for _, name := range slices.Sorted(maps.Keys(h.parameters)) {
		if _, given := all[name]; !given && !h.parameters[name] {
			return nil, broker.Invalid("additionalParams.variables",
				"do not give %s, a parameter of the base HOT that has no default", printable(name))
		}
	}
	return all, nil
}

// nfv is the parameter of that name: what the template asks for from the descriptor, and the request's merged
// over it, as RFC 7396 merges.
func (h *hot) nfv(in lifecycle.PlanInput) (any, error) {
	given := map[string]any{}
	if len(in.Parameters) > 0 {
		if err := json.Unmarshal(in.Parameters, &given); err != nil {
			return nil, broker.Invalid("additionalParams.nfv", "is not a JSON object")
		}
	}
	var value any = map[string]any{}
	for _, asked := range h.asked {
		value = grow(value, asked, described(in, asked))
	}
	value = merge(value, given)
	for _, asked := range h.asked {
		if got := look(value, asked); got == nil && needed[asked[len(asked)-1]] {
			where := nfv + "." + strings.Join(asked, ".")
			return nil, broker.Invalid("additionalParams."+where, "is asked for by %s, and neither the descriptor nor the request gives it", h.top)
		}
	}
	return value, nil
}

// described is the descriptor's value for a member that a template asks for, or nil.
func described(in lifecycle.PlanInput, asked []string) any {
	if len(asked) > 2 && (asked[0] == "CP" || asked[0] == "VL") {
		return linked(in.Links, asked)
	}
	if len(asked) != 3 || asked[0] != "VDU" {
		return nil
	}
	vdu, is := in.Flavour.VDUs[asked[1]]
	switch {
	case asked[2] == "vcImageId" && in.Flavour.Images[asked[1]] != "":
		return in.Flavour.Images[asked[1]]
	case asked[2] == "computeFlavourId" && vdu.Compute != "":
		return vdu.Compute
	case asked[2] == capacity && is:
		if n, said := in.Replicas[vdu.Name]; said {
			return n
		}
	}
	return nil
}

// linked is what a template asks for of a virtual link: [CP, NAME, network], [CP, NAME, fixed_ips, 0, ip_address or subnet],
// [CP, NAME, security_group] and [VL, NAME, network or subnet].
func linked(all []lifecycle.Link, asked []string) any {
	said := func(id string) any {
		if id == "" {
			return nil
		}
		return id
	}
	for _, k := range all {
		at := slices.IndexFunc(k.CPs, func(p sol003.ExtCP) bool { return p.CPDID == asked[1] })
		if asked[0] == "VL" && k.VL != asked[1] || asked[0] == "CP" && at < 0 {
			continue
		}
		switch asked[2] {
		case "network":
			return said(cmp.Or(k.Made.Network, yetToMake))
		case "subnet":
			return said(k.Made.Subnet)
		case "security_group":
			return said(k.Made.Group)
		case "fixed_ips":
			if n, err := strconv.Atoi(strings.Join(asked[3:min(4, len(asked))], "")); asked[0] == "CP" && len(asked) == 5 && err == nil && n >= 0 &&
				n < len(k.CPs[at].Fixed()) {
				one := k.CPs[at].Fixed()[n]
				return said(map[string]string{"ip_address": strings.Join(one.Fixed, ""), "subnet": cmp.Or(one.SubnetID, k.Made.Subnet)}[asked[4]])
			}
		}
	}
	return nil
}

// yetToMake stands for a network in the plan of a dry run.
const yetToMake = "made-with-the-operation"

// grow puts a value at a path, through a list if a step is a number.
func grow(to any, at []string, value any) any {
	if len(at) == 0 {
		if to != nil {
			return to
		}
		return value
	}
	if n, err := strconv.Atoi(at[0]); err == nil && n >= 0 && n < 64 {
		list, _ := to.([]any)
		for len(list) <= n {
			list = append(list, nil)
		}
		list[n] = grow(list[n], at[1:], value)
		return list
	}
	members, _ := to.(map[string]any)
	if members == nil {
		members = map[string]any{}
	}
	members[at[0]] = grow(members[at[0]], at[1:], value)
	return members
}

// look is the value at a path.
func look(in any, at []string) any {
	for _, step := range at {
		switch v := in.(type) {
		case map[string]any:
			in = v[step]
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(v) {
				return nil
			}
			in = v[n]
		default:
			return nil
		}
	}
	return in
}

// merge merges a patch over a value (RFC 7396).
func merge(to, patch any) any {
	change, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	members, ok := to.(map[string]any)
	if !ok {
		members = map[string]any{}
	}
	for name, value := range change {
		if value == nil {
			delete(members, name)
		} else {
			members[name] = merge(members[name], value)
		}
	}
	return members
}

// scales reports whether the template takes the number of VNFCs of a VDU.
func (h *hot) scales(vdu string) bool {
	return slices.ContainsFunc(h.asked, func(a []string) bool { return slices.Equal(a, []string{"VDU", vdu, capacity}) })
}
