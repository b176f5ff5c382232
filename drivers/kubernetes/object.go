package kubernetes

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
)

// Names of the objects that the driver keeps in a cluster. Later brokers rely on them:
// never change them.
const (
	// ours is the name of the namespace reserved for the broker; homePrefix begins the name of
	// every other.
	ours       = "vimbroker"
	homePrefix = "vimbroker-"

	managedByLabel = "app.kubernetes.io/managed-by"
	managedBy      = "vimbroker"
	// vimLabel holds the VIM's id, leaseLabel the lease's, grantLabel that of a home.
	vimLabel   = "vimbroker.io/vim"
	leaseLabel = "vimbroker.io/lease"
	grantLabel = "vimbroker.io/grant"
	// accountLabel holds the name of the broker's own account (see Appoint), whose
	// namespace begins with accountHome.
	accountLabel = "vimbroker.io/account"
	accountHome  = homePrefix + "account-"

	// deedAnnotation holds the home's deed on its own namespace, deedKey in the claim of
	// a namespace of a pool.
	deedAnnotation = "vimbroker.io/deed"
	deedKey        = "deed"

	// accountsOf begins the name of the group of all service accounts of a namespace.
	accountsOf = "system:serviceaccounts:"
)

const (
	// listPage is the number of objects that are requested at a time.
	listPage = 500
	// maxRead bounds, in bytes, one list with all its pages together: 100 000 role bindings of 1.3 KB,
	// more than OpenShift makes in 10 000 projects. Each page is dropped once it is decoded, so that
	// only its items take memory.
	maxRead = 128 << 20
	// maxKept bounds, in bytes, what stays: that of some 65 000 role bindings, or 50 000 leases.
	// A page counts as leastPage at least: it may be empty.
	maxKept   = 64 << 20
	leastPage = 64 << 10
)

// foreign is the error of an object that has the name of one of the broker's and is not.
func foreign(what, name string) error {
	return &broker.Error{
		Kind: broker.ErrConflict, Detail: what + " " + name + " exists on the cluster and is not this VIM's",
		Remedy: "see whose it is, and delete or rename it",
	}
}

// beingDeleted is the error of an object of the broker's that is being deleted.
func beingDeleted(what, name string) error {
	return &broker.Error{
		Kind: broker.ErrConflict, Detail: what + " " + name + " on the cluster is being deleted",
		Remedy: "wait, or see which finalizer holds it",
	}
}

// remove deletes the one object with that UID. That it is gone already is
// success; that a finalizer holds it is ErrConflict.
func remove(ctx context.Context, client rest.Interface, resource string, o metav1.Object) error {
	name := o.GetName()
	if o.GetNamespace() != "" {
		name = o.GetNamespace() + "/" + name
	}
	what := strings.TrimSuffix(resource, "s")
	left, err := deleteByUID(ctx, client, resource, o.GetNamespace(), o.GetName(), string(o.GetUID()))
	switch {
	case notFound(err, resource, o.GetName()):
		return nil
	case err != nil:
		return fault(err, "delete", what+" "+name)
	case left != nil && len(left.GetFinalizers()) > 0:
		return beingDeleted(what, name)
	}
	return nil
}

// deleteByUID deletes the one object with that UID, and returns what the API server
// answers of it, if that is the object. The answer is read, unlike by the typed clients: a page of some
// gateway with status 200 has deleted nothing. Other errors are client-go's own.
func deleteByUID(ctx context.Context, client rest.Interface, resource, namespace, name, uid string) (metav1.Object, error) {
	answer, err := client.Delete().
		NamespaceIfScoped(namespace, namespace != "").
		Resource(resource).Name(name).
		Body(&metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(uid)}).
		Do(ctx).Get()
	if err != nil {
		return nil, err
	}
	switch left := answer.(type) {
	case *metav1.Status:
		return nil, nil
	case metav1.Object:
		if left.GetName() == name {
			return left, nil
		}
	}
	return nil, notKubernetes(0)
}

// read makes a request and decodes the answer into a structure of this package, which
// holds only the fields in use. Errors are client-go's own, except for an answer that is
// not such JSON.
func read(ctx context.Context, r *rest.Request, into any) error {
	_, err := readSized(ctx, r, into)
	return err
}

// readSized also returns how long the answer is, in bytes.
func readSized(ctx context.Context, r *rest.Request, into any) (int, error) {
	body, err := r.Stream(ctx) // the body itself: its share of memory is held until it is decoded
	if err != nil {
		return 0, err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return 0, unanswered(err)
	}
	return len(text), nil
}

// in names a resource of a namespace, or, without one, of the cluster.
func in(resource, namespace string) string {
	if namespace == "" {
		return resource
	}
	return resource + " in namespace " + namespace
}

// scoped is the kind or resource of a namespace, or, without one, its counterpart of the whole cluster.
func scoped(kind, namespace string) string {
	if namespace == "" {
		return "cluster" + kind
	}
	return kind
}

// find reads one object; nil if the API server says that there is none of that name.
func find(ctx context.Context, client rest.Interface, resource, namespace, name string) (*item, error) {
	found := new(item)
	err := read(ctx, client.Get().NamespaceIfScoped(namespace, namespace != "").Resource(resource).Name(name), found)
	switch {
	case notFound(err, resource, name):
		return nil, nil
	case err == nil && found.Metadata.Name != name:
		return nil, notKubernetes(0)
	}
	return found, fault(err, "get", in(resource, namespace))
}

// namespace reads one. Errors are client-go's own, but for an answer that makes no sense.
func (c *connection) namespace(ctx context.Context, name string) (n item, err error) {
	err = read(ctx, c.core.client.Get().Resource("namespaces").Name(name), &n)
	if err == nil && (n.Kind != "Namespace" || n.Metadata.Name != name) {
		err = notKubernetes(0)
	}
	return n, err
}

// item holds the fields of an object that are used: its metadata, the phase of a namespace,
// the rules of a role, and the role and subjects of a binding.
type item struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name        string            `json:"name"`
		Namespace   string            `json:"namespace"`
		UID         types.UID         `json:"uid"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
		Created     metav1.Time       `json:"creationTimestamp"`
		Deleted     *metav1.Time      `json:"deletionTimestamp"`
	} `json:"metadata"`
	Status struct {
		Phase corev1.NamespacePhase `json:"phase"`
	} `json:"status"`
	RoleRef  rbacv1.RoleRef      `json:"roleRef"`
	Subjects []rbacv1.Subject    `json:"subjects"`
	Rules    []rbacv1.PolicyRule `json:"rules"`
}

// meta is the item's metadata.
func (i *item) meta() metav1.ObjectMeta {
	m := &i.Metadata
	return metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, Labels: m.Labels, Annotations: m.Annotations,
		CreationTimestamp: m.Created, DeletionTimestamp: m.Deleted,
	}
}

// trim drops the labels and annotations that the driver does not read, and returns how much
// memory the item takes at most when it is kept, roughly: a rule of two bytes takes a hundred.
func (i *item) trim() (size int) {
	const object, mapped, rule, text = 512, 384, 192, 24
	texts := func(of ...string) {
		size += text * cap(of)
		for _, s := range of {
			size += len(s)
		}
	}
	// An emptied map keeps its memory.
	known := func(of map[string]string) (kept map[string]string) {
		for _, key := range []string{vimLabel, leaseLabel, grantLabel, accountLabel, deedAnnotation, enforceLabel} {
			if value, ok := of[key]; ok {
				if kept == nil {
					kept = map[string]string{}
					size += mapped
				}
				kept[key] = value
				texts(value)
			}
		}
		return kept
	}
	m := &i.Metadata
	m.Labels, m.Annotations = known(m.Labels), known(m.Annotations)
	texts(m.Name, m.Namespace, string(m.UID), i.RoleRef.APIGroup, i.RoleRef.Kind, i.RoleRef.Name)
	for _, s := range i.Subjects {
		texts(s.Kind, s.APIGroup, s.Name, s.Namespace)
	}
	for _, r := range i.Rules {
		texts(r.APIGroups...)
		texts(r.Resources...)
		texts(r.ResourceNames...)
		texts(r.Verbs...)
	}
	return size + object + rule*cap(i.Rules)
}

// list calls each with every object of a kind that matches the selector, in a namespace or, without one, in all.
// An answer that is not a list of that kind is an error, never an empty list.
func list(ctx context.Context, client rest.Interface, kind, namespace, selector string, each func(*item)) error {
	ctx = remote.Expect(ctx, remote.List)
	resource := strings.ToLower(kind) + "s"
	options := metav1.ListOptions{LabelSelector: selector, Limit: listPage}
	for bytes, kept := 0, 0; ; {
		var page struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
			Items []item `json:"items"`
		}
		length, err := readSized(ctx, client.Get().
			NamespaceIfScoped(namespace, namespace != "").
			Resource(resource).VersionedParams(&options, known().parameters), &page)
		if err != nil {
			return fault(err, "list", in(resource, namespace))
		}
		if page.Kind != kind+"List" {
			return notKubernetes(0)
		}
		stays := 0
		for n := range page.Items {
			stays += page.Items[n].trim()
		}
		bytes, kept = bytes+length, kept+max(leastPage, stays)
		if bytes > maxRead || kept > maxKept {
			return &broker.Error{
				Kind: broker.ErrUnsupported, Detail: fmt.Sprintf("the cluster lists more %s than are read: %d MiB, of which %d MiB are kept",
					resource, maxRead>>20, maxKept>>20),
				Remedy: "see what fills the cluster, and remove what nobody needs",
			}
		}
		for n := range page.Items {
			each(&page.Items[n])
		}
		if options.Continue = page.Metadata.Continue; options.Continue == "" {
			return nil
		}
	}
}

// sideBySide makes all calls in parallel, waits for all, and returns the error of the
// first in their order that failed.
func sideBySide(calls ...func() error) error {
	errs := make([]error, len(calls))
	var all sync.WaitGroup
	for i, call := range calls {
		all.Go(func() { errs[i] = call() })
	}
	all.Wait()
	return cmp.Or(errs...)
}

// atOnce is the number of requests of one kind that a call makes in parallel.
const atOnce = 8

// gather calls f with each of all, a few in parallel, and returns the results in their order.
func gather[T, R any](ctx context.Context, all []T, f func(context.Context, T) (R, error)) ([]R, error) {
	results := make([]R, len(all))
	calls, ctx := errgroup.WithContext(ctx)
	calls.SetLimit(atOnce)
	for i, one := range all {
		calls.Go(func() (err error) { results[i], err = f(ctx, one); return err })
	}
	return results, calls.Wait()
}

// binding is a RoleBinding, or, without a namespace, a ClusterRoleBinding.
type binding struct {
	meta     metav1.ObjectMeta
	role     rbacv1.RoleRef
	subjects []rbacv1.Subject
	// object is the cluster's answer; nil for a binding that has yet to be made.
	object metav1.Object
}

func listedBinding(i *item) *binding {
	b := &binding{meta: i.meta(), role: i.RoleRef, subjects: i.Subjects}
	b.object = &b.meta
	return b
}

func (b binding) kind() string { return scoped("rolebinding", b.meta.Namespace) }

// path is NAMESPACE/NAME, or NAME.
func (b binding) path() string { return strings.TrimPrefix(b.meta.Namespace+"/"+b.meta.Name, "/") }

// makeBinding makes a binding, and returns the one that has its name already, if any.
func (c *connection) makeBinding(ctx context.Context, b binding) (there *binding, err error) {
	what := in(b.kind()+"s to "+strings.ToLower(b.role.Kind)+" "+b.role.Name, b.meta.Namespace)
	if b.meta.Namespace == "" {
		_, err = c.rbac.ClusterRoleBindings().Create(ctx,
			&rbacv1.ClusterRoleBinding{ObjectMeta: b.meta, RoleRef: b.role, Subjects: b.subjects}, metav1.CreateOptions{})
	} else {
		_, err = c.rbac.RoleBindings(b.meta.Namespace).Create(ctx,
			&rbacv1.RoleBinding{ObjectMeta: b.meta, RoleRef: b.role, Subjects: b.subjects}, metav1.CreateOptions{})
	}
	if !alreadyExists(err) {
		return nil, fault(err, "create", what)
	}
	there, err = c.binding(ctx, b.meta.Namespace, b.meta.Name)
	if err == nil && there == nil {
		return nil, beingDeleted(b.kind(), b.path())
	}
	return there, err
}

// binding reads a binding; nil if the cluster has none of that name.
func (c *connection) binding(ctx context.Context, namespace, name string) (*binding, error) {
	found, err := find(ctx, c.rbac.client, scoped("rolebindings", namespace), namespace, name)
	if err != nil || found == nil {
		return nil, err
	}
	return listedBinding(found), nil
}

// bindings lists the ClusterRoleBindings or RoleBindings that match the selector in a namespace, or, without one, in all.
func (c *connection) bindings(ctx context.Context, kind, namespace, selector string) (found []*binding, err error) {
	err = list(ctx, c.rbac.client, kind, namespace, selector, func(i *item) { found = append(found, listedBinding(i)) })
	return found, err
}

// unbind deletes a binding.
func (c *connection) unbind(ctx context.Context, b *binding) error {
	return remove(ctx, c.rbac.client, b.kind()+"s", b.object)
}

// names reports whether the binding gives its role to exactly the one subject.
func (b binding) names(s rbacv1.Subject) bool { return slices.Equal(b.subjects, []rbacv1.Subject{s}) }
