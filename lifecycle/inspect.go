package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
)

// Showing is an object as a VIM has it. Object is its whole text, or empty for one that is not read: a Secret, or one that is
// missing.
type Showing struct {
	Resource

	Ready  bool
	Object json.RawMessage
}

// Reader is what a [Driver] is besides that can show objects.
type Reader interface {
	// Wanted is the kind of an API version, by the name that its objects have in paths, as far as that can be guessed.
	Wanted(apiVersion, kind string) (Resource, error)
	// Read reads resources, in their order; List those of a kind in its namespace (empty: in all) that a label selector
	// selects, and that have the resource's name if it has one. A list that is cached may be a moment old, and waits for nothing.
	Read(ctx context.Context, c Connection, resources []Resource) ([]Showing, error)
	List(ctx context.Context, c Connection, of Resource, selector string, cached bool) ([]Showing, error)
}

// Wanted selects objects on a VIM.
type Wanted struct{ APIVersion, Kind, Namespace, Name, Selector string }

// Inspect shows what an instance consists of on its VIM, with its pods, under leases that may read exactly that, and that
// serve all inspections for half of their time. A Secret is named, and not read.
func (l *Lifecycle) Inspect(ctx context.Context, p policy.Principal, id string) (all []Showing, err error) {
	i, err := l.Instance(ctx, p, id)
	if err == nil && i.State != Instantiated {
		err = stateConflict(i)
	}
	var open []Resource
	for _, r := range i.Shape.Resources {
		if r.Kind == "Secret" && r.Group == "" {
			all = append(all, Showing{Resource: r, Ready: true})
		} else if !r.Passes {
			open = append(open, r)
		}
	}
	if err != nil {
		return nil, err
	}
	more := []broker.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}}
	listed := map[string]bool{}
	err = l.lookUnder(ctx, inspectName(i.ID), i, open, more, func(h held, at *post, g StageRules, resources []Resource) error {
		reader, is := at.driver.(Reader)
		switch {
		case !is && at.hybrid:
			return nil // the other parts are shown
		case !is:
			return unreadable()
		}
		seen, err := reader.Read(ctx, h.Connection, resources)
		if err == nil && !listed[at.Name] && slices.Equal(g.Namespaces, []string{at.Namespace}) {
			pods := Resource{Version: "v1", Kind: "Pod", Plural: "pods", Namespace: at.Namespace}
			var run []Showing
			run, err = reader.List(ctx, h.Connection, pods, InstanceLabel+"="+i.ID, true)
			seen, listed[at.Name] = append(seen, run...), err == nil
		}
		if err == nil {
			all = append(all, seen...)
		}
		return err
	})
	return all, err
}

// InstanceLabel is the label of objects and pods that names their instance.
const InstanceLabel = "vimbroker.io/instance"

// Query shows objects of a kind on a VIM, under a lease of the caller's that may read that kind. Secrets are not shown.
func (l *Lifecycle) Query(ctx context.Context, p policy.Principal, vim string, w Wanted) (seen []Showing, err error) {
	v, err := l.Leaser.VIM(ctx, p, vim)
	if err != nil {
		return nil, err
	}
	d, err := l.driver(Shape{Part: Part{VIMType: string(v.Type)}}) // of those of a type the first can show objects, or none
	if err != nil {
		return nil, err
	}
	reader, is := d.(Reader)
	if !is {
		return nil, unreadable()
	}
	of, err := reader.Wanted(w.APIVersion, w.Kind)
	if err != nil {
		return nil, err
	}
	if of.Plural == "secrets" {
		return nil, &broker.Error{Kind: broker.ErrDenied, Field: "Kind", Detail: "Secrets are shown to nobody"}
	}
	of.Namespace, of.Name = w.Namespace, w.Name
	grant := StageRules{ClusterWide: w.Namespace == "", Rules: []broker.Rule{{
		APIGroups: []string{of.Group}, Resources: []string{of.Plural}, Verbs: []string{"list"},
	}}}
	if w.Namespace != "" {
		grant.Namespaces = []string{w.Namespace}
	}
	name := "query-" + uuid.NewString()
	h, err := l.take(ctx, p, v, broker.LeaseRequest{ // the caller's, and weighed as such
		VIM: v.ID, TTL: driftLease, Rules: grant.Rules, Namespaces: grant.Namespaces, ClusterWide: grant.ClusterWide,
		Operation: name, Purpose: "query",
	})
	if err != nil {
		return nil, err
	}
	err = l.learnt(ctx, h, func() (err error) {
		seen, err = reader.List(ctx, h.Connection, of, w.Selector, false)
		return err
	})
	return seen, errors.Join(err, l.endLook(ctx, name))
}

func unreadable() error {
	return &broker.Error{Kind: broker.ErrUnsupported, Detail: "objects on VIMs of this type cannot be shown"}
}
