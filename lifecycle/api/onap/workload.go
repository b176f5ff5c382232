package onap

import (
	"cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
)

// workloadRequest asks for an instance in the form of a stack of Heat.
type workloadRequest struct {
	VNF           string     `json:"generic-vnf-id"`
	Module        string     `json:"vf-module-id"`
	Invariant     string     `json:"vf-module-model-invariant-id"`
	Version       string     `json:"vf-module-model-version-id"`
	Customization string     `json:"vf-module-model-customization-id"`
	OOF           directives `json:"oof_directives"`
	SDNC          directives `json:"sdnc_directives"`
	User          directives `json:"user_directives"`
	Template      struct {
		Stack string `json:"stack_name"`
	} `json:"template_data"`
}

type directives struct {
	Attributes []struct {
		Name  string `json:"attribute_name"`
		Value string `json:"attribute_value"`
	} `json:"attributes"`
}

// workload is an answer about one.
type workload struct {
	Type     string            `json:"template_type"`
	ID       string            `json:"workload_id"`
	Response []bundle.Resource `json:"template_response,omitempty"`
	Status   string            `json:"workload_status"`
	Reason   map[string]any    `json:"workload_status_reason"`
}

const (
	complete = "CREATE_COMPLETE"
	// stackLabel names the stack that a request has asked for.
	stackLabel = "stack-name"
	// profileDirective and releaseDirective are directives that are read here; like all, they are values of the chart too.
	profileDirective, releaseDirective = "k8s-rb-profile-name", "k8s-rb-instance-release-name"
)

func (s *server) createWorkload(c *api.Call, in workloadRequest) (any, error) {
	values := map[string]string{}
	for _, part := range []directives{in.SDNC, in.OOF, in.User} { // a later one counts more
		for _, a := range part.Attributes {
			values[a.Name] = a.Value
		}
	}
	for _, f := range [][2]string{
		{"vf-module-model-customization-id", in.Customization},
		{"vf-module-model-invariant-id", in.Invariant},
		{"vf-module-model-version-id", in.Version},
		{"generic-vnf-id", in.VNF},
		{"vf-module-id", in.Module},
		{"stack_name", in.Template.Stack},
		{profileDirective, values[profileDirective]},
	} {
		if f[1] == "" {
			return nil, api.Refuse(api.ErrMalformed, "body", f[0], "is missing")
		}
	}
	i, err := s.Bundles.CreateInstance(c.Context(), c.Principal, bundle.Request{
		Definition: in.Invariant, Version: in.Customization, Profile: values[profileDirective],
		Release: cmp.Or(values[releaseDirective], in.Module), Region: c.PathValue("region"),
		Labels: map[string]string{stackLabel: in.Template.Stack}, Overrides: values,
	})
	return workload{Type: "heat", ID: i.ID, Response: i.Resources, Status: complete}, err
}

// workload shows the instance of a path; one of another region is not found.
func (s *server) workload(c *api.Call) (any, error) {
	i, err := s.Bundles.Instance(c.Context(), c.Principal, c.PathValue("id"))
	if err == nil && i.Request.Region != c.PathValue("region") {
		err = &broker.Error{Kind: broker.ErrNotFound, Detail: "no such instance"}
	}
	return workload{Type: "heat", ID: i.ID, Status: complete}, err
}

func (s *server) findWorkload(c *api.Call) (any, error) {
	name := c.Query.Get("name")
	if name == "" {
		return nil, api.Refuse(api.ErrMalformed, "query", "name", "is required")
	}
	found, err := s.Bundles.Instances(c.Context(), c.Principal, bundle.Request{
		Region: c.PathValue("region"), Labels: map[string]string{stackLabel: name},
	})
	w := workload{Type: "heat", Status: "GET_COMPLETE", Reason: map[string]any{"stacks": []any{}}}
	if len(found) > 0 {
		w.ID, w.Status = found[0].ID, complete
		w.Reason["stacks"] = []any{map[string]any{"stack_status": complete, "id": w.ID}}
	}
	return w, err
}

func (s *server) deleteWorkload(c *api.Call) (any, error) {
	if _, err := s.workload(c); err != nil {
		return nil, err
	}
	return workload{Type: "heat", ID: c.PathValue("id"), Status: "DELETE_COMPLETE"},
		s.Bundles.DeleteInstance(c.Context(), c.Principal, c.PathValue("id"))
}
