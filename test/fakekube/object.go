package fakekube

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
)

// object is what the store keeps: every kind in resources is one.
type object interface {
	runtime.Object
	metav1.Object
}

// key is where an object is kept. Namespace is empty for cluster-wide kinds.
type key struct{ resource, namespace, name string }

func (k key) String() string { return k.namespace + "/" + k.name }

// The methods below read and change s.objects: the caller holds s.mu.

func (s *Server) get(r resource, namespace, name string) (object, error) {
	o, ok := s.objects[key{r.Resource, namespace, name}]
	if !ok {
		return nil, apierrors.NewNotFound(r.GroupResource(), name)
	}
	return o, nil
}

func (s *Server) create(r resource, namespace string, o object) (object, error) {
	if o.GetName() == "" && o.GetGenerateName() != "" {
		o.SetName(o.GetGenerateName() + uuid.NewString()[:5])
	}
	if r.namespaced {
		if o.GetNamespace() != "" && o.GetNamespace() != namespace {
			return nil, apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
		}
		o.SetNamespace(namespace)
	}
	if err := validate(r, o); err != nil {
		return nil, err
	}
	if r.namespaced {
		if _, err := s.get(resources[0], "", namespace); err != nil {
			return nil, err
		}
	}
	if _, err := s.get(r, namespace, o.GetName()); err == nil {
		return nil, apierrors.NewAlreadyExists(r.GroupResource(), o.GetName())
	}
	o.SetUID(types.UID(uuid.NewString()))
	o.SetCreationTimestamp(metav1.NewTime(s.now().UTC().Truncate(1e9)))
	o.SetDeletionTimestamp(nil)
	switch o := o.(type) {
	case *corev1.Namespace:
		o.Status.Phase = corev1.NamespaceActive
		o.Spec.Finalizers = []corev1.FinalizerName{corev1.FinalizerKubernetes}
	case *corev1.Secret:
		for k, v := range o.StringData {
			if o.Data == nil {
				o.Data = map[string][]byte{}
			}
			o.Data[k] = []byte(v)
		}
		o.StringData = nil
		if o.Type == "" {
			o.Type = corev1.SecretTypeOpaque
		}
	}
	return s.put(r, namespace, o), nil
}

func (s *Server) update(r resource, namespace, name string, o object) (object, error) {
	old, err := s.get(r, namespace, name)
	if err != nil {
		return nil, err
	}
	if o.GetName() != name {
		return nil, apierrors.NewBadRequest("the name of the object does not match the name on the URL")
	}
	if uid := o.GetUID(); uid != "" && uid != old.GetUID() {
		return nil, conflict(r, name, "Precondition failed: UID in precondition: %v, UID in object meta: %v", uid, old.GetUID())
	}
	if rv := o.GetResourceVersion(); rv != "" && rv != old.GetResourceVersion() {
		return nil, conflict(r, name, "the object has been modified; please apply your changes to the latest version and try again")
	}
	if was, ok := old.(*corev1.Secret); ok && was.Immutable != nil && *was.Immutable {
		is := o.(*corev1.Secret)
		if is.Immutable == nil || !*is.Immutable || len(is.StringData) > 0 || fmt.Sprint(is.Data) != fmt.Sprint(was.Data) {
			return nil, apierrors.NewInvalid(r.gvk().GroupKind(), name, field.ErrorList{
				field.Forbidden(field.NewPath("data"), "field is immutable when `immutable` is set"),
			})
		}
	}
	o.SetNamespace(old.GetNamespace())
	o.SetUID(old.GetUID())
	o.SetCreationTimestamp(old.GetCreationTimestamp())
	o.SetDeletionTimestamp(old.GetDeletionTimestamp())
	if err := validate(r, o); err != nil {
		return nil, err
	}
	if o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
		s.drop(key{r.Resource, namespace, name})
		return o, nil
	}
	return s.put(r, namespace, o), nil
}

// remove deletes an object, or marks it as being deleted while finalizers hold
// it. It returns the object as it was or as it is now, and whether it is gone.
func (s *Server) remove(r resource, namespace, name string, opts *metav1.DeleteOptions) (object, bool, error) {
	o, err := s.get(r, namespace, name)
	if err != nil {
		return nil, false, err
	}
	if p := opts.Preconditions; p != nil {
		if p.UID != nil && *p.UID != o.GetUID() {
			return nil, false, conflict(r, name, "Precondition failed: UID in precondition: %v, UID in object meta: %v", *p.UID, o.GetUID())
		}
		if p.ResourceVersion != nil && *p.ResourceVersion != o.GetResourceVersion() {
			return nil, false, conflict(r, name, "Precondition failed: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", *p.ResourceVersion, o.GetResourceVersion())
		}
	}
	if len(o.GetFinalizers()) > 0 {
		if o.GetDeletionTimestamp() == nil {
			o = o.DeepCopyObject().(object)
			at := metav1.NewTime(s.now().UTC().Truncate(1e9))
			o.SetDeletionTimestamp(&at)
			o = s.put(r, namespace, o)
		}
		return o, false, nil
	}
	s.drop(key{r.Resource, namespace, name})
	if r == resources[0] {
		// A real cluster empties a namespace, and removes what it owns, in its own time; the
		// fake at once.
		for k, dependent := range s.objects {
			owned := slices.ContainsFunc(dependent.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == o.GetUID() })
			if k.namespace == name || owned {
				s.drop(k)
			}
		}
	}
	return o, true, nil
}

// list returns one page of a kind in the order of namespace and name. An empty
// namespace lists all of them.
func (s *Server) list(r resource, namespace string, opts metav1.ListOptions) (runtime.Object, error) {
	selector, err := labels.Parse(opts.LabelSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest("unable to parse requirement: " + err.Error())
	}
	after, err := base64.RawURLEncoding.DecodeString(opts.Continue)
	if err != nil {
		return nil, apierrors.NewBadRequest("continue key is not valid: " + err.Error())
	}
	var found []key
	for k, o := range s.objects {
		if k.resource == r.Resource && (namespace == "" || k.namespace == namespace) &&
			k.String() > string(after) && selector.Matches(labels.Set(o.GetLabels())) {
			found = append(found, k)
		}
	}
	slices.SortFunc(found, func(a, b key) int { return strings.Compare(a.String(), b.String()) })
	page := found
	if opts.Limit > 0 && int64(len(found)) > opts.Limit {
		page = found[:opts.Limit]
	}
	list := runtime.Object(&unstructured.UnstructuredList{})
	if r.Group != clusterGroup {
		if list, err = scheme.Scheme.New(r.GroupVersion().WithKind(r.kind + "List")); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
	}
	items := make([]runtime.Object, 0, len(page))
	for _, k := range page {
		items = append(items, s.objects[k].DeepCopyObject())
	}
	if err := meta.SetList(list, items); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	m, err := meta.ListAccessor(list)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	m.SetResourceVersion(strconv.FormatInt(s.revision, 10))
	if rest := int64(len(found) - len(page)); rest > 0 {
		m.SetContinue(base64.RawURLEncoding.EncodeToString([]byte(page[len(page)-1].String())))
		if selector.Empty() {
			m.SetRemainingItemCount(&rest)
		}
	}
	return list, nil
}

func (s *Server) put(r resource, namespace string, o object) object {
	s.revision++
	o.SetResourceVersion(strconv.FormatInt(s.revision, 10))
	o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	k := key{r.Resource, namespace, o.GetName()}
	s.tell(k, s.objects[k], o)
	s.objects[k] = o
	return o
}

// drop removes an object, if it is there.
func (s *Server) drop(k key) {
	if o, ok := s.objects[k]; ok {
		delete(s.objects, k)
		s.revision++
		s.tell(k, o, nil)
	}
}

// validate checks names and labels as an API server does for every kind.
func validate(r resource, o object) error {
	var faults field.ErrorList
	path := field.NewPath("metadata")
	check := validation.IsDNS1123Subdomain
	switch {
	case r == resources[0]:
		check = validation.IsDNS1123Label
	case r.Group != "":
		check = func(name string) []string { // RBAC names are path segments
			if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/%") {
				return []string{"may not be empty, '.', '..' or contain '/' or '%'"}
			}
			return nil
		}
	}
	if o.GetName() == "" {
		faults = append(faults, field.Required(path.Child("name"), "name or generateName is required"))
	} else {
		for _, msg := range check(o.GetName()) {
			faults = append(faults, field.Invalid(path.Child("name"), o.GetName(), msg))
		}
	}
	for k, v := range o.GetLabels() {
		for _, msg := range slices.Concat(validation.IsQualifiedName(k), validation.IsValidLabelValue(v)) {
			faults = append(faults, field.Invalid(path.Child("labels"), k+"="+v, msg))
		}
	}
	for k := range o.GetAnnotations() {
		for _, msg := range validation.IsQualifiedName(strings.ToLower(k)) {
			faults = append(faults, field.Invalid(path.Child("annotations"), k, msg))
		}
	}
	if len(faults) > 0 {
		return apierrors.NewInvalid(r.gvk().GroupKind(), o.GetName(), faults)
	}
	return nil
}

func conflict(r resource, name, format string, args ...any) error {
	return apierrors.NewConflict(r.GroupResource(), name, fmt.Errorf(format, args...))
}
