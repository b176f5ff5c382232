package heat

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// The plurals of an instance's resources.
const (
	stacks = "stacks"
	pieces = "resources"
)

// volumeType is the type of volumes that a template makes.
const volumeType = "OS::Cinder::Volume"

// wish is the desired stack: the body of the request that makes it.
type wish struct {
	Template   string            `json:"template"`
	Files      map[string]string `json:"files"`
	Parameters map[string]any    `json:"parameters"`
	// VDUs are the names of VDUs by the name of their resources.
	VDUs map[string]string `json:"vdus"`
	// Unspoken are texts of the templates that no message may hold, the longest first.
	Unspoken []string `json:"unspoken"`
}

// Plan implements [lifecycle.Driver]. Heat validates the template with its parameters.
func (d *Driver) Plan(ctx context.Context, c lifecycle.Connection, in lifecycle.PlanInput) (lifecycle.Plan, error) {
	if in.Observing {
		return observing(in.Standing), nil
	}
	if in.Operation == lifecycle.Terminate {
		// The same wave as long as something may stand; the last one there is is the stack.
		p := lifecycle.Plan{Facts: lifecycle.Facts{Kinds: kindsOf(in.Standing)}}
		if len(in.Standing) > 0 {
			p.Stages = one(lifecycle.Wave{Deed: lifecycle.Delete, Objects: objects(in.Standing, secret.Text{})})
		}
		return p, nil
	}
	h, err := read(in.Manifests, in.Flavour.ID)
	if err != nil {
		return lifecycle.Plan{}, err
	}
	parameters, err := h.parametersOf(in)
	if err != nil {
		return lifecycle.Plan{}, err
	}
	w := wish{Template: h.texts[h.top], Files: h.files, Parameters: parameters, VDUs: map[string]string{}}
	for id, v := range in.Flavour.VDUs {
		w.VDUs[id] = v.Name
		if slices.Contains(in.Scaled, v.Name) && !h.scales(id) {
			return lifecycle.Plan{}, broker.Invalid("aspectId", "VDU %s cannot be scaled: %s takes no {get_param: [nfv, VDU, %s, %s]}",
				id, h.top, id, capacity)
		}
	}
	w.Unspoken = h.unspoken(in)
	s, err := connect(ctx, c)
	if err != nil {
		return lifecycle.Plan{}, err
	}
	defer s.Close()
	if err := s.validate(ctx, w); err != nil {
		return lifecycle.Plan{}, err
	}
	manifest, err := json.Marshal(w)
	if err != nil {
		return lifecycle.Plan{}, err
	}
	resources := h.consistsOf(in)
	wave := lifecycle.Wave{Deed: lifecycle.Apply, Objects: objects(resources, secret.NewText(string(manifest)))}
	switch in.Operation {
	case lifecycle.Instantiate, lifecycle.ChangePackage, lifecycle.ChangeConn, lifecycle.ScaleVNF:
	case lifecycle.Heal:
		wave.Deed, wave.VNFCs = lifecycle.Replace, in.VNFCs
	default:
		return lifecycle.Plan{}, &broker.Error{
			Kind: broker.ErrUnsupported, Detail: fmt.Sprintf("operation %s is not one of VNFs on OpenStack", in.Operation),
		}
	}
	facts := lifecycle.Facts{Kinds: slices.Sorted(maps.Keys(h.kinds)), Images: h.imagesOf(in)}
	h.judge(parameters, &facts)
	return lifecycle.Plan{Stages: one(wave), Resources: resources, Facts: facts}, nil
}

// one is a plan of one stage: a stack is made under one lease.
func one(w lifecycle.Wave) []lifecycle.Stage {
	return []lifecycle.Stage{{Grant: lifecycle.StageRules{Purpose: purpose}, Waves: []lifecycle.Wave{w}}}
}

func objects(all []lifecycle.Resource, manifest secret.Text) []lifecycle.Object {
	out := make([]lifecycle.Object, len(all))
	for i, r := range all {
		out[i].Resource = r
		if r.Plural == stacks {
			out[i].Manifest = manifest
		}
	}
	return out
}

func observing(standing []lifecycle.Resource) lifecycle.Plan {
	p := lifecycle.Plan{Resources: standing}
	if len(standing) > 0 {
		p.Stages = []lifecycle.Stage{{Waves: []lifecycle.Wave{{Deed: lifecycle.Look, Objects: objects(standing, secret.Text{})}}}}
	}
	return p
}

// consistsOf is the stack, and the resources of its template that are made in any case.
func (h *hot) consistsOf(in lifecycle.PlanInput) []lifecycle.Resource {
	all := []lifecycle.Resource{{Group: purpose, Version: "v1", Kind: "Stack", Plural: stacks, Name: stackName(in.Instance)}}
	for _, d := range h.resources {
		if d.conditional {
			continue
		}
		r := lifecycle.Resource{Group: purpose, Version: "v1", Kind: d.kind, Plural: pieces, Name: d.name}
		for _, id := range slices.Sorted(maps.Keys(in.Flavour.VDUs)) {
			if d.within[id] {
				r.VDU = in.Flavour.VDUs[id].Name
				break
			}
		}
		all = append(all, r)
	}
	for i := range all {
		if h.wave != nil {
			all[i].Declared = *h.wave
		}
		for _, was := range in.Standing {
			if was.Plural == all[i].Plural && was.Name == all[i].Name {
				all[i].Applied, all[i].Storages = was.Applied, was.Storages
			}
		}
	}
	return all
}

func (h *hot) imagesOf(in lifecycle.PlanInput) []string {
	all := maps.Clone(h.images)
	for _, image := range in.Flavour.Images {
		all[image] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// shortest is the least length of a text that is hidden: shorter ones are in every sentence.
const shortest = 5

// unspoken are the texts that the templates' resources hold, but for those that are shown anyway, and all that
// secret parameters default to or are given.
func (h *hot) unspoken(in lifecycle.PlanInput) []string {
	shown := map[string]bool{}
	for name, v := range in.Variables {
		if h.hidden[name] {
			h.hush(v)
		} else {
			shown[v] = true
		}
	}
	if h.hidden[nfv] {
		h.hushAll(in.Parameters)
	}
	for name := range h.files {
		shown[name] = true
	}
	for _, r := range h.resources {
		for name := range r.within {
			shown[name] = true
		}
	}
	maps.Copy(shown, h.kinds)
	maps.Copy(shown, h.images)
	all := slices.Collect(maps.Keys(h.secrets))
	for v := range h.values {
		if len(v) >= shortest && !shown[v] && !h.secrets[v] {
			all = append(all, v)
		}
	}
	// The longest first: one may hold another.
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return all
}

// hush keeps the value of a secret parameter out of messages: whole, as messages quote it, and each line of it.
func (h *hot) hush(value string) {
	quoted := strconv.Quote(value)
	for _, text := range append(strings.Split(value, "\n"), value, quoted[1:len(quoted)-1]) {
		if text = strings.TrimSpace(text); text != "" {
			h.secrets[text] = true
		}
	}
}

// hushAll is hush for all texts in a JSON value, and for all numbers that are long enough to tell anything.
func (h *hot) hushAll(value []byte) {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return
		}
		if n, is := token.(json.Number); is && len(n) >= shortest {
			token = n.String()
		}
		if text, is := token.(string); is {
			h.hush(text)
		}
	}
}

func kindsOf(all []lifecycle.Resource) []string {
	kinds := map[string]bool{}
	for _, r := range all {
		if r.Plural == pieces {
			kinds[r.Kind] = true
		}
	}
	return slices.Sorted(maps.Keys(kinds))
}
