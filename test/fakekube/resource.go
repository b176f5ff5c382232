package fakekube

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resource is one kind of object that the fake keeps.
type resource struct {
	schema.GroupVersionResource
	kind       string
	namespaced bool
}

// resources is everything that is kept. The fake answers 404 for others, as an
// API server does for kinds it does not serve.
var resources = []resource{
	core("namespaces", "Namespace", false),
	core("secrets", "Secret", true),
	core("configmaps", "ConfigMap", true),
	core("pods", "Pod", true),
	core("persistentvolumeclaims", "PersistentVolumeClaim", true),
	core("services", "Service", true),
	core("serviceaccounts", "ServiceAccount", true),
	rbac("clusterroles", "ClusterRole", false),
	rbac("clusterrolebindings", "ClusterRoleBinding", false),
	rbac("roles", "Role", true),
	rbac("rolebindings", "RoleBinding", true),
	capi("v1beta2"),
	capi("v1beta1"),
}

func core(plural, kind string, namespaced bool) resource {
	return resource{schema.GroupVersionResource{Version: "v1", Resource: plural}, kind, namespaced}
}

func rbac(plural, kind string, namespaced bool) resource {
	return resource{schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: plural}, kind, namespaced}
}

func capi(version string) resource {
	return resource{schema.GroupVersionResource{Group: clusterGroup, Version: version, Resource: "clusters"}, "Cluster", true}
}

func (r resource) gvk() schema.GroupVersionKind { return r.GroupVersion().WithKind(r.kind) }

// reviews are the kinds that can be created and are kept nowhere.
var reviews = []schema.GroupVersionResource{
	{Group: "authentication.k8s.io", Version: "v1", Resource: "selfsubjectreviews"},
	{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"},
	subjectReviews,
}

// subjectReviews are about others, and so need a right.
var subjectReviews = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "subjectaccessreviews"}

// call is a request as authorization sees it: either a verb on a resource, or a
// verb on a path.
type call struct {
	verb, namespace, name, subresource string
	schema.GroupVersionResource
	path string
}

func (c call) isResource() bool { return c.Resource != "" }

// what is the resource with its subresource, as RBAC rules spell it.
func (c call) what() string {
	if c.subresource == "" {
		return c.Resource
	}
	return c.Resource + "/" + c.subresource
}

// String says what was asked, as an API server says it when it refuses.
func (c call) String() string {
	switch {
	case !c.isResource():
		return fmt.Sprintf("%s path %q", c.verb, c.path)
	case c.namespace != "":
		return fmt.Sprintf("%s resource %q in API group %q in the namespace %q", c.verb, c.what(), c.Group, c.namespace)
	}
	return fmt.Sprintf("%s resource %q in API group %q at the cluster scope", c.verb, c.what(), c.Group)
}

// parseCall reads method and path. A path that names no known resource stays a
// path.
func parseCall(r *http.Request) call {
	c := call{path: r.URL.Path, verb: strings.ToLower(r.Method)}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	gv := schema.GroupVersion{}
	switch {
	case len(parts) > 2 && parts[0] == "api":
		gv, parts = schema.GroupVersion{Version: parts[1]}, parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		gv, parts = schema.GroupVersion{Group: parts[1], Version: parts[2]}, parts[3:]
	default:
		return c
	}
	namespace := ""
	if len(parts) > 2 && parts[0] == "namespaces" {
		namespace, parts = parts[1], parts[2:]
	}
	gvr := gv.WithResource(parts[0])
	if res, ok := find(gvr); len(parts) > 3 || !ok && !slices.Contains(reviews, gvr) || ok && namespace != "" && !res.namespaced {
		return c
	}
	c.GroupVersionResource, c.namespace = gvr, namespace
	if len(parts) > 1 {
		c.name = parts[1]
	}
	if len(parts) > 2 {
		c.subresource = parts[2]
	}
	if gvr == resources[0].GroupVersionResource {
		c.namespace = c.name // RBAC sees a namespace as being in itself
	}
	if c.verb = verbOf(r.Method, c.name); c.verb == "list" && r.URL.Query().Get("watch") == "true" {
		c.verb = "watch"
	}
	return c
}

func verbOf(method, name string) string {
	switch {
	case method == http.MethodGet && name == "":
		return "list"
	case method == http.MethodGet:
		return "get"
	case method == http.MethodPost:
		return "create"
	case method == http.MethodPut:
		return "update"
	case method == http.MethodPatch:
		return "patch"
	case method == http.MethodDelete && name == "":
		return "deletecollection"
	case method == http.MethodDelete:
		return "delete"
	}
	return strings.ToLower(method)
}

// find looks a kind up by its place in the API.
func find(gvr schema.GroupVersionResource) (resource, bool) {
	i := slices.IndexFunc(resources, func(r resource) bool { return r.GroupVersionResource == gvr })
	if i < 0 {
		return resource{}, false
	}
	return resources[i], true
}

func forbidden(u user, c call) error {
	err := fmt.Errorf("User %q cannot %s", u.name, c) //nolint:staticcheck // the API server's own words
	return apierrors.NewForbidden(c.GroupResource(), c.name, err)
}
