package render

import (
	"context"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/vimbroker/vimbroker/drivers/helm/chart"
)

// maxLookups bounds how many objects a chart looks up.
const maxLookups = 1000

// lookups answers the function lookup of templates from the request's objects, and notes the lookups. It has no
// connection.
type lookups struct {
	found []chart.LookedUp
	asked []chart.Lookup
}

// GetClientFor implements [engine.ClientProvider].
func (l *lookups) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	return &looked{all: l, of: chart.Lookup{APIVersion: apiVersion, Kind: kind}}, true, nil
}

// looked is a kind that is looked up. Only what lookup calls is there.
type looked struct {
	dynamic.NamespaceableResourceInterface

	all *lookups
	of  chart.Lookup
}

// Namespace implements [dynamic.NamespaceableResourceInterface].
func (l *looked) Namespace(namespace string) dynamic.ResourceInterface {
	in := *l
	in.of.Namespace = namespace
	return &in
}

// Get implements [dynamic.ResourceInterface].
func (l *looked) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	of := l.of
	of.Name = name
	if !slices.Contains(l.all.asked, of) && len(l.all.asked) < maxLookups {
		l.all.asked = append(l.all.asked, of)
	}
	for _, f := range l.all.found {
		if f.Lookup != of {
			continue
		}
		o := &unstructured.Unstructured{}
		if err := json.Unmarshal(f.Object, &o.Object); err == nil {
			return o, nil
		}
	}
	return nil, errors.NewNotFound(schema.GroupResource{Resource: of.Kind}, name)
}

// List implements [dynamic.ResourceInterface]: objects that are not looked up by name are not
// shown.
func (l *looked) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	return nil, errors.NewNotFound(schema.GroupResource{Resource: l.of.Kind}, "")
}
