package manifests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// Annotations of Helm that mean something here.
const (
	hookAnnotation   = "helm.sh/hook"
	policyAnnotation = "helm.sh/resource-policy"
	// releaseAnnotation and spaceAnnotation name the release of an object, and its namespace.
	releaseAnnotation, spaceAnnotation = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"
)

// ReleaseOf is a release of Helm as resources name it.
func ReleaseOf(namespace, name string) string { return namespace + "/" + name }

// hooksOf begins the name of a release whose objects are hooks.
const hooksOf = "hooks of "

// HooksOf are the hooks of a release as resources name them. Helm puts no annotation of the release onto a hook, and it
// replaces what has its name.
func HooksOf(release string) string { return hooksOf + release }

// IsRelease reports whether Helm takes a name for a release.
func IsRelease(name string) bool {
	return len(name) <= 53 && len(validation.IsDNS1123Subdomain(name)) == 0
}

// ReleaseAnnotations are those that Helm puts onto the objects of a release.
func ReleaseAnnotations(namespace, name string) map[string]string {
	return map[string]string{releaseAnnotation: name, spaceAnnotation: namespace}
}

// Marks are the labels and annotations that every object of a set gets in addition to the instance's label. Labels
// that objects bring, and that begin with vimbroker.io/, are taken away: no chart says whose an object is.
type Marks struct {
	Labels, Annotations map[string]string
	// Release is a name that VDUs' names may stand before or behind, as in "web-RELEASE".
	Release string
}

// read reads an object with the marks on it.
func (m *Marks) read(o *object) error {
	unlabel(o.content)
	if meta, ok := o.content["metadata"].(map[string]any); ok {
		m.annotate(meta)
	}
	if err := o.read(); err != nil {
		return err
	}
	for name, value := range m.Labels {
		setText(mapAt(o.content, "metadata"), "labels", name, value)
	}
	return nil
}

func (m *Marks) annotate(meta map[string]any) {
	for name, value := range m.Annotations {
		setText(meta, "annotations", name, value)
	}
	if text(mapAt(meta, "annotations"), policyAnnotation) == "keep" {
		setText(meta, "annotations", outlivesAnnotation, "true")
	}
	if m.Release == "" || text(mapAt(meta, "annotations"), vduAnnotation) != "" {
		return
	}
	name := text(meta, "name")
	for _, vdu := range []string{strings.TrimSuffix(name, "-"+m.Release), strings.TrimPrefix(name, m.Release+"-")} {
		if vdu != name && len(validation.IsValidLabelValue(vdu)) == 0 { // which a workload's name is, if it runs a VDU
			setText(meta, "annotations", vduAnnotation, vdu)
			return
		}
	}
}

// unlabel takes labels of our prefix out of an object, templates included.
func unlabel(v any) {
	for m := range mappingsIn(v) {
		labels, _ := m["labels"].(map[string]any)
		maps.DeleteFunc(labels, func(key string, _ any) bool { return strings.HasPrefix(key, prefix) })
	}
}

// Draft is a plan in the making, whose objects do not come from manifests of a package. The plan does its steps in
// the order of the calls. It belongs to one goroutine.
type Draft struct {
	plan   draft
	server *server
	in     lifecycle.PlanInput
	// defined are the kinds of definitions that were read.
	defined kinds
}

// Draft begins a plan; it connects to nothing yet. The manifests of the input are not looked at.
func (d *Driver) Draft(c lifecycle.Connection, in lifecycle.PlanInput) (*Draft, error) {
	s, err := d.connect(c)
	if err != nil {
		return nil, err
	}
	return &Draft{server: s, in: in, defined: kinds{}}, nil
}

// Release has the objects of a release of Helm, as [ReleaseOf] or [HooksOf] has it, be the instance's as well in what is
// planned next, whoever made them: the caller knows that the release is.
func (d *Draft) Release(of string) { d.plan.release = of }

// StoredSecret is a Secret on the cluster.
type StoredSecret struct {
	Labels map[string]string
	Data   map[string][]byte
	// Owner is the instance whose label it has; empty without one.
	Owner string
}

// Secret reads a Secret of the input's namespace; nil without an error is one that is not there.
func (d *Draft) Secret(ctx context.Context, name string) (*StoredSecret, error) {
	r := SecretNamed(d.in.Namespace, name)
	var o struct {
		Metadata struct {
			Name   string            `json:"name"`
			UID    string            `json:"uid"`
			Labels map[string]string `json:"labels"`
		} `json:"metadata"`
		Data map[string][]byte `json:"data"`
	}
	err := d.server.call(ctx, request{method: http.MethodGet, path: pathOf(r)}, &o)
	switch {
	case err == nil && (o.Metadata.Name != name || o.Metadata.UID == ""):
		return nil, notKubernetes("read "+title(r), 0)
	case err == nil:
		return &StoredSecret{Labels: o.Metadata.Labels, Data: o.Data, Owner: o.Metadata.Labels[instanceLabel]}, nil
	case isGone(err, r):
		return nil, nil
	}
	return nil, fault(err, "read "+title(r))
}

// Standing reads the instance's objects, whole, from the cluster; nil without an error stands for an object that is
// missing, or is not the instance's.
func (d *Draft) Standing(ctx context.Context, r lifecycle.Resource) (json.RawMessage, error) {
	var whole json.RawMessage
	err := d.server.call(ctx, request{method: http.MethodGet, path: pathOf(r)}, &whole)
	if isGone(err, r) {
		return nil, nil
	}
	if err != nil {
		return nil, fault(err, "read "+title(r))
	}
	var o found
	if err := json.Unmarshal(whole, &o); err != nil || o.Metadata.Name != r.Name {
		return nil, notKubernetes("read "+title(r), 0)
	}
	if r.Release = d.plan.release; !o.is(d.in.Instance, r) {
		return nil, nil
	}
	return whole, nil
}

// SecretNamed is a Secret as instances consist of it.
func SecretNamed(namespace, name string) lifecycle.Resource {
	return lifecycle.Resource{Version: "v1", Kind: "Secret", Plural: "secrets", Namespace: namespace, Name: name}
}

// Serves says which version of Kubernetes the cluster is, and which versions ("apps/v1") and kinds
// ("apps/v1/Deployment") it serves, sorted. A group whose own server is away is left out: the API
// server answers 503 for it. Any other failure is an error: what is rendered without a group that
// the cluster serves could remove objects.
func (d *Draft) Serves(ctx context.Context) (version string, names []string, err error) {
	var is struct {
		Version string `json:"gitVersion"`
	}
	if err := d.server.call(ctx, request{method: http.MethodGet, path: "/version"}, &is); err != nil {
		return "", nil, fault(err, askKinds)
	}
	groups, err := d.server.groups(ctx)
	if err != nil {
		return "", nil, err
	}
	versions := []string{"v1"}
	for _, g := range groups {
		for _, v := range g.Versions {
			if group, name := groupVersion(v.GroupVersion); pluralName().MatchString(group) && versionName().MatchString(name) {
				versions = append(versions, v.GroupVersion)
			}
		}
	}
	var mu sync.Mutex
	err = each(ctx, versions, func(ctx context.Context, v string) error {
		group, name := groupVersion(v)
		list, err := d.server.served(ctx, group, name)
		if said, ok := errors.AsType[*refusal](err); ok && said.code == http.StatusServiceUnavailable && v != "v1" {
			return nil // one of others' servers, behind this one
		}
		if err != nil {
			return fault(err, askKinds)
		}
		mu.Lock()
		defer mu.Unlock()
		names = append(names, v)
		for _, r := range list {
			if kindName().MatchString(r.Kind) && pluralName().MatchString(r.Name) {
				names = append(names, v+"/"+r.Kind)
			}
		}
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	slices.Sort(names)
	return is.Version, slices.Compact(names), nil
}

// Objects are objects as a draft can apply them.
type Objects struct{ all []*object }

// Read reads objects, as the cluster and the instance want them. None in files is none.
func (d *Draft) Read(ctx context.Context, files []lifecycle.Manifest, marks Marks) (Objects, error) {
	if len(files) == 0 {
		return Objects{}, nil
	}
	in := d.in
	in.Manifests = files
	all, err := d.server.settled(ctx, in, &marks, d.defined)
	return Objects{all}, err
}

// Resources are the resources of the objects on the cluster.
func (o Objects) Resources() []lifecycle.Resource {
	var all []lifecycle.Resource
	for _, one := range o.all {
		all = append(all, one.Resource)
	}
	return all
}

// YAML writes each object in the form that is applied, with the name of its file.
func (o Objects) YAML() (string, error) {
	var out strings.Builder
	for _, one := range o.all {
		text, err := yaml.Marshal(one.content)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "---\n# Source: %s\n%s", one.file, text)
	}
	return out.String(), nil
}

// Apply plans to make objects, or to change them to their new state, each wave ready before the next.
func (d *Draft) Apply(ctx context.Context, o Objects) error {
	return d.plan.applyEach(ctx, d.server, d.in, o.all)
}

// ApplyPassing is Apply of objects that the instance does not consist of once the plan is done: something later in
// it removes them.
func (d *Draft) ApplyPassing(ctx context.Context, o Objects) error {
	lasting, has := d.plan.resources, d.plan.has
	d.plan.resources, d.plan.has = nil, nil
	err := d.Apply(ctx, o)
	d.plan.resources, d.plan.has = lasting, has
	return err
}

// Remove plans to remove resources, but for those that outlive the instance; the last made goes first.
func (d *Draft) Remove(ctx context.Context, all []lifecycle.Resource) error {
	return d.plan.remove(ctx, d.server, d.in, all)
}

// Keep has the instance still consist of resources that the plan does not touch.
func (d *Draft) Keep(all ...lifecycle.Resource) {
	for _, r := range all {
		d.plan.keep(r)
	}
}

// Left are those of the standing resources that nothing in the plan is about.
func (d *Draft) Left() []lifecycle.Resource {
	var left []lifecycle.Resource
	for _, r := range d.in.Standing {
		if !d.plan.has[identityOf(r)] {
			left = append(left, r)
		}
	}
	return left
}

// Replace plans to remove the pods that the input names, and to wait for those that follow them.
func (d *Draft) Replace() error { return d.plan.replace(d.in) }

// Plan is the plan of the calls so far.
func (d *Draft) Plan() lifecycle.Plan { return d.plan.done() }
