package heat

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// status is that of a stack or a resource, as Heat writes it: an action and how it went, "CREATE_FAILED".
type status string

func (s status) action() string { a, _, _ := strings.Cut(string(s), "_"); return a }
func (s status) complete() bool { return strings.HasSuffix(string(s), "_COMPLETE") }
func (s status) failed() bool   { return strings.HasSuffix(string(s), "_FAILED") }
func (s status) busy() bool     { return strings.HasSuffix(string(s), "_IN_PROGRESS") }

// text is the status for people; Heat's statuses are words of capitals.
func (s status) text() string {
	if len(s) > 64 || strings.Trim(string(s), "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
		return "in a state that is not known"
	}
	return string(s)
}

// stack holds the fields of a stack that are used.
type stack struct {
	ID      string   `json:"id"`
	Name    string   `json:"stack_name"`
	Status  status   `json:"stack_status"`
	Reason  string   `json:"stack_status_reason"`
	Tags    []string `json:"tags"`
	Created string   `json:"creation_time"`
	Updated string   `json:"updated_time"`
	// Deleted is set last of all, once Heat has deleted the trust of a stack that is DELETE_COMPLETE.
	Deleted string `json:"deletion_time"`
}

// of reports whether the stack is an instance's.
func (k *stack) of(instance string) bool { return slices.Contains(k.Tags, tag+instance) }

// mark tells the last update of the stack from later ones.
func (k *stack) mark() string {
	if t := moment(k.Updated); t != "" {
		return t
	}
	return moment(k.Created)
}

func (k *stack) path() string { return "stacks/" + k.Name + "/" + k.ID }

// IsID reports whether a text can be part of a path. Ids of clouds are UUIDs.
func IsID(text string) bool {
	return text != "" && len(text) <= 255 &&
		strings.Trim(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.") == "" && strings.Trim(text, ".") != ""
}

// find returns the stack with an instance's name, whoever owns it, or nil.
func (s *server) find(ctx context.Context, instance string) (*stack, error) {
	var body struct {
		Stacks []stack `json:"stacks"`
	}
	name := stackName(instance)
	if err := s.Call(ctx, http.MethodGet, "stacks?name="+name, nil, &body, "look for stack "+name); err != nil {
		return nil, err
	}
	if body.Stacks == nil {
		return nil, foreign("look for stack "+name, orchestrator, 0)
	}
	for _, k := range body.Stacks {
		switch {
		case k.Name != name:
		case !IsID(k.ID):
			return nil, foreign("look for stack "+name, orchestrator, 0)
		default:
			return &k, nil
		}
	}
	return nil, nil
}

// get reads a stack again; nil if it is gone. By its id Heat shows a deleted one as DELETE_COMPLETE; without a time of
// deletion Heat still works on one, with the token of the request.
func (s *server) get(ctx context.Context, k *stack) (*stack, error) {
	var body struct {
		Stack stack `json:"stack"`
	}
	err := s.Call(ctx, http.MethodGet, k.path(), nil, &body, "look at stack "+k.Name)
	switch {
	case is(err, http.StatusNotFound), err == nil && body.Stack.Status == "DELETE_COMPLETE" && body.Stack.Deleted != "":
		return nil, nil
	case err != nil:
		return nil, err
	case body.Stack.ID != k.ID || body.Stack.Name != k.Name:
		return nil, foreign("look at stack "+k.Name, orchestrator, 0)
	}
	return &body.Stack, nil
}

// part is a resource of a stack, or of a nested one.
type part struct {
	Name     string `json:"resource_name"`
	Type     string `json:"resource_type"`
	Status   status `json:"resource_status"`
	Reason   string `json:"resource_status_reason"`
	Physical string `json:"physical_resource_id"`
	// Parent is the resource whose nested stack this one is in; empty at the top.
	Parent string `json:"parent_resource"`
	Links  []struct {
		Href string `json:"href"`
		Rel  string `json:"rel"`
	} `json:"links"`

	// in is the path of the stack that it is in, nested of the one that it is; the latter may be empty.
	in, nested string
}

// parts lists the resources of a stack and of all nested ones.
func (s *server) parts(ctx context.Context, k *stack) ([]part, error) {
	var body struct {
		Resources []part `json:"resources"`
	}
	if err := s.Call(ctx, http.MethodGet, k.path()+"/resources?nested_depth=10", nil, &body,
		"list the resources of stack "+k.Name); err != nil {
		return nil, err
	}
	if body.Resources == nil {
		return nil, foreign("list the resources of stack "+k.Name, orchestrator, 0)
	}
	for i := range body.Resources {
		p := &body.Resources[i]
		for _, l := range p.Links {
			switch l.Rel {
			case "stack":
				p.in = stackPath(l.Href)
			case "nested":
				p.nested = stackPath(l.Href)
			}
		}
		if p.in == k.path() {
			p.Parent = ""
		}
	}
	rooted(body.Resources)
	return body.Resources, nil
}

// rooted makes a tree of parts, whatever the server says: a nested stack that is another resource's already, that
// leads back to itself, or that is deeper than any is none.
func rooted(all []part) {
	within, nests := map[string][]*part{}, map[string]bool{}
	for i := range all {
		p := &all[i]
		within[p.in] = append(within[p.in], p)
		nests[p.nested] = p.nested != ""
	}
	var level []string
	for in := range within {
		if !nests[in] {
			level = append(level, in)
		}
	}
	reached := map[string]bool{}
	for depth := 0; len(level) > 0; depth++ {
		var next []string
		for _, in := range level {
			reached[in] = true
			for _, p := range within[in] {
				if nests[p.nested] && depth < maxNesting {
					nests[p.nested] = false // it is this one's
					next = append(next, p.nested)
				} else {
					p.nested = ""
				}
			}
		}
		level = next
	}
	for in, parts := range within {
		for _, p := range parts {
			if !reached[in] {
				p.nested = ""
			}
		}
	}
}

// stackPath is the end of a link to a stack, as a path under the driver's endpoint: no link is followed. Empty for
// any other text.
func stackPath(href string) string {
	_, rest, ok := strings.Cut(href, "/stacks/")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) < 2 || !IsID(parts[0]) || !IsID(parts[1]) {
		return ""
	}
	return "stacks/" + parts[0] + "/" + parts[1]
}

// leaves are the parts at and below one that are no nested stacks.
func leaves(all []part, p part) []part {
	if p.nested == "" {
		return []part{p}
	}
	var found []part
	for _, c := range all {
		if c.in == p.nested && c.in != p.in {
			found = append(found, leaves(all, c)...)
		}
	}
	return found
}

// below are a part and all parts under it.
func below(all []part, p part) []part {
	found := []part{p}
	for _, c := range all {
		if p.nested != "" && c.in == p.nested && c.in != p.in {
			found = append(found, below(all, c)...)
		}
	}
	return found
}

// vdus names the VDUs by the names of their resources.
type vdus map[string]string

// components are the VNFCs at and below a resource: the resources of a VDU's name that are no nested stacks, or the
// members of such a one.
func (v vdus) components(all []part, top part) []lifecycle.VNFC {
	var out []lifecycle.VNFC
	for _, p := range below(all, top) {
		vdu, is := v[p.Name]
		if !is {
			continue
		}
		members := leaves(all, p)
		if p.nested != "" && slices.ContainsFunc(below(all, p)[1:], func(c part) bool { return c.Name == p.Name }) {
			continue // one below it has the name, too
		}
		for _, m := range members {
			if m.Physical == "" || printable(m.Physical) != m.Physical || m.Status.action() == "DELETE" {
				continue
			}
			out = append(out, lifecycle.VNFC{VDU: vdu, Kind: printable(m.Type), Name: m.Physical, UID: m.Physical, Ready: m.Status.complete()})
		}
	}
	slices.SortFunc(out, func(a, b lifecycle.VNFC) int { return strings.Compare(a.VDU+a.Name, b.VDU+b.Name) })
	return out
}

// body is a stack in the form in which Heat takes it.
func (w wish) body(instance string) map[string]any {
	return map[string]any{
		"stack_name": stackName(instance), "template": w.Template, "files": w.Files, "parameters": w.Parameters,
		"tags": tag + instance, "disable_rollback": true,
	}
}

// validate has Heat look at a template with its parameters.
func (s *server) validate(ctx context.Context, w wish) error {
	body := map[string]any{"template": w.Template, "files": w.Files, "environment": map[string]any{"parameters": w.Parameters}}
	return w.explained(s.Call(ctx, http.MethodPost, "validate", body, nil, "validate the base HOT"))
}

// explained adds to Heat's finding that something is invalid what Heat says of it.
func (w wish) explained(err error) error {
	a, ok := errors.AsType[*answerError](err)
	if !ok || a.code != http.StatusBadRequest || a.said.Empty() {
		return err
	}
	return &broker.Error{Kind: broker.ErrInvalid, Detail: a.fault.Detail + ": " + w.reason(a.said.Reveal()), Remedy: a.fault.Remedy}
}

// act has Heat do something with a whole stack.
func (s *server) act(ctx context.Context, k *stack, action string) error {
	return s.Call(ctx, http.MethodPost, k.path()+"/actions", map[string]any{action: nil}, nil, action+" stack "+k.Name)
}

// condemn marks a resource unhealthy: the next update replaces it.
func (s *server) condemn(ctx context.Context, p part) error {
	body := map[string]any{"mark_unhealthy": true, "resource_status_reason": "to be replaced"}
	return s.Call(ctx, http.MethodPatch, p.in+"/resources/"+url.PathEscape(p.Name), body, nil, "mark resource "+printable(p.Name)+" unhealthy")
}
