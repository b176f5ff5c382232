package manifests

import (
	"slices"

	"github.com/vimbroker/vimbroker/lifecycle"
)

const (
	rbacGroup       = "rbac.authorization.k8s.io"
	admissionGroup  = "admissionregistration.k8s.io"
	definitionGroup = "apiextensions.k8s.io"
	definitionKind  = "CustomResourceDefinition"
	apiServiceGroup = "apiregistration.k8s.io"
)

// facts gathers what policies weigh.
type facts struct{ lifecycle.Facts }

// add takes in a resource that is made, changed or removed.
func (f *facts) add(r lifecycle.Resource) {
	f.Kinds = append(f.Kinds, qualified(r))
	if r.Namespace == "" {
		f.ClusterScoped = true
	} else {
		f.Namespaces = append(f.Namespaces, r.Namespace)
	}
	f.BringsRBAC = f.BringsRBAC || r.Group == rbacGroup
	f.BringsDefinitions = f.BringsDefinitions || r.Group == definitionGroup || r.Group == apiServiceGroup
	f.BringsWebhooks = f.BringsWebhooks || r.Group == admissionGroup
	f.Outlives = f.Outlives || r.Outlives
}

// qualified is a kind as rules write it: "deployments.apps".
func qualified(r lifecycle.Resource) string {
	if r.Group == "" {
		return r.Plural
	}
	return r.Plural + "." + r.Group
}

// judge takes in the content of an applied object, in the form that is sent.
func (f *facts) judge(o *object) {
	if spec := mapAt(o.content, "spec"); o.Group == apps && o.Kind == statefulSet && isList(spec["volumeClaimTemplates"]) {
		f.Outlives = f.Outlives || outlasts(spec)
	}
	if !isWorkload(o.Resource) && o.Group != "" && o.Group != definitionGroup {
		f.Images = append(f.Images, images(o.content)...)
	}
	for _, found := range append(f.judgePods(o), reaches(o)...) {
		f.Privileged = f.Privileged || found.what == lifecycle.ReachNode
		r := lifecycle.Reach{
			What: found.what, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Field: found.field, Why: found.why,
			Resource: qualified(o.Resource),
		}
		if found.what == lifecycle.ReachNetwork && o.Group == networkGroup {
			r.Types = networkTypes(o)
			r.Shareable = len(r.Types) > 0
		}
		if found == chosenAddress {
			r.Types, r.Shareable = []string{found.field}, true
		}
		r.Shareable = r.Shareable || found == unknownKind
		f.Reaches = append(f.Reaches, r)
	}
}

// done returns the facts, each once and sorted.
func (f *facts) done() lifecycle.Facts {
	for _, list := range []*[]string{&f.Kinds, &f.Namespaces, &f.Images} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	f.PodSecurity = lower(f.PodSecurity, "")
	f.Privileged = f.Privileged || f.PodSecurity == lifecycle.PodsPrivileged
	f.Reaches = lifecycle.SortReaches(f.Reaches)
	return f.Facts
}

// images are the texts of all keys "image" of a custom resource: what runs them is not known.
func images(v any) (all []string) {
	for m := range mappingsIn(v) {
		if image := text(m, "image"); image != "" {
			all = append(all, image)
		}
	}
	return all
}
