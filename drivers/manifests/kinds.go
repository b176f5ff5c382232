package manifests

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// kind is the cluster's description of a kind.
type kind struct {
	plural     string
	namespaced bool
	// scales: it has the subresource scale.
	scales bool
	// fleeting: the cluster answers to objects of the kind, and keeps none.
	fleeting bool
}

type groupKind struct{ group, version, kind string }

// kinds are those that a plan speaks of, as the cluster serves them now.
type kinds map[groupKind]kind

var pluralName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,252})$`) })

// kindsOf asks the cluster for every group and version that the resources name, and for
// no other. Kinds that it does not serve are not in the answer.
func (s *server) kindsOf(ctx context.Context, resources []lifecycle.Resource) (kinds, error) {
	var versions []string
	for _, r := range resources {
		versions = append(versions, r.Group+"/"+r.Version)
	}
	slices.Sort(versions)
	versions = slices.Compact(versions)
	var (
		mu    sync.Mutex
		known = kinds{}
	)
	return known, each(ctx, versions, func(ctx context.Context, v string) error {
		name, version, _ := strings.Cut(v, "/")
		list, err := s.served(ctx, name, version)
		if err != nil {
			return fault(err, askKinds)
		}
		mu.Lock()
		defer mu.Unlock()
		known.add(name, version, list)
		return nil
	})
}

func (k kinds) add(group, version string, list []metav1.APIResource) {
	for _, r := range list {
		if !pluralName().MatchString(r.Name) {
			continue // a subresource
		}
		k[groupKind{group, version, r.Kind}] = kind{
			plural: r.Name, namespaced: r.Namespaced,
			fleeting: !slices.Contains(r.Verbs, "patch") || !slices.Contains(r.Verbs, "delete"),
			scales:   slices.ContainsFunc(list, func(sub metav1.APIResource) bool { return sub.Name == r.Name+"/scale" }),
		}
	}
}

// askKinds says in errors what the kinds are asked for.
const askKinds = "ask which kinds the cluster serves"

// served lists the resources of a version of a group; none for one that is not served. Its errors
// are those of call, and [*broker.Error]s.
func (s *server) served(ctx context.Context, group, version string) ([]metav1.APIResource, error) {
	path := "/api/" + version
	if group != "" {
		path = "/apis/" + group + "/" + version
	}
	var list metav1.APIResourceList
	err := s.call(ctx, request{method: http.MethodGet, path: path}, &list)
	if err == nil {
		if list.Kind != "APIResourceList" {
			return nil, notKubernetes(askKinds, 0)
		}
		return list.APIResources, nil
	}
	if said, ok := errors.AsType[*refusal](err); !ok || said.code != http.StatusNotFound {
		return nil, err
	}
	// That 404 may come from any server on the way: only the list of all groups proves that the
	// group does not exist. The core group is in no list, and on every API server.
	if group == "" && version == "v1" {
		return nil, notKubernetes(askKinds, http.StatusNotFound)
	}
	groups, err := s.groups(ctx)
	if slices.ContainsFunc(groups, func(g metav1.APIGroup) bool {
		return g.Name == group && slices.ContainsFunc(g.Versions, func(v metav1.GroupVersionForDiscovery) bool { return v.Version == version })
	}) {
		err = notKubernetes(askKinds, http.StatusNotFound)
	}
	return nil, err
}

// groups lists those that the cluster serves, but for the core group.
func (s *server) groups(ctx context.Context) ([]metav1.APIGroup, error) {
	var list metav1.APIGroupList
	if err := s.call(ctx, request{method: http.MethodGet, path: "/apis"}, &list); err != nil {
		return nil, fault(err, askKinds)
	}
	if list.Kind != "APIGroupList" {
		return nil, notKubernetes(askKinds, 0)
	}
	return list.Groups, nil
}

// define adds the kinds that a definition of a package brings, unless the cluster has
// them already.
func (k kinds) define(o *object) error {
	spec := mapAt(o.content, "spec")
	group, names := text(spec, "group"), mapAt(spec, "names")
	plural, scope := text(names, "plural"), text(spec, "scope")
	if !pluralName().MatchString(plural) || !pluralName().MatchString(group) || !kindName().MatchString(text(names, "kind")) ||
		scope != "Namespaced" && scope != "Cluster" {
		return o.fault(nil, "%s needs spec.group, spec.scope (Namespaced or Cluster), spec.names.kind and spec.names.plural", o.titleIn())
	}
	for _, v := range mappings(spec["versions"]) {
		name := groupKind{group, text(v, "name"), text(names, "kind")}
		if _, there := k[name]; !there && v["served"] == true {
			k[name] = kind{plural: plural, namespaced: scope == "Namespaced", scales: mapAt(v, "subresources")["scale"] != nil}
		}
	}
	return nil
}

// share adds kinds that were defined before, and passes those that objects define to later
// callers.
func (k kinds) share(all []*object, defined kinds) {
	for name, of := range defined {
		if _, there := k[name]; !there {
			k[name] = of
		}
	}
	for _, o := range all {
		if bandOf(o.Resource) == definitions && defined != nil {
			_ = defined.define(o) // which has succeeded before
		}
	}
}

// defaultNamespace is the namespace that manifests name when they mean none: its objects
// go to the instance's namespace.
const defaultNamespace = "default"

// resolve looks up an object's kind, and sets its namespace. One that names another than the instance's stays there.
func (k kinds) resolve(o *object, namespace string) (kind, error) {
	found, ok := k[groupKind{o.Group, o.Version, o.Kind}]
	if !ok {
		version := strings.TrimPrefix(o.Group+"/"+o.Version, "/")
		return kind{}, &broker.Error{
			Kind:   broker.ErrUnsupported,
			Detail: fmt.Sprintf("%s:%d: the cluster serves no kind %s of %s", o.file, o.line, o.Kind, version),
			Remedy: "install its definition on the cluster, or bring it in the package",
		}
	}
	if found.fleeting {
		return kind{}, o.fault(o.root, "%s is of a kind that the cluster does not keep; leave it out", o.titleIn())
	}
	o.Plural = found.plural
	meta := o.content["metadata"].(map[string]any)
	switch {
	case !found.namespaced && meta["namespace"] != nil:
		o.Namespace = ""
		delete(meta, "namespace")
	case found.namespaced && o.Namespace == "":
		o.Namespace = namespace
		meta["namespace"] = namespace
	}
	o.elsewhere = found.namespaced && o.Namespace != namespace
	return found, nil
}
