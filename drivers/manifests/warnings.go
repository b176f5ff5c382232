package manifests

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
)

// MaxWarnings is how many [Driver.Warnings] there are at most; the last then counts those left out.
const MaxWarnings = 20

// Warnings are faults of a package's manifests that can be seen without a cluster: what is not YAML, kinds that a group of
// Kubernetes' own does not have, fields that a kind does not have. They hold names of files, kinds and fields, and no value.
// A package that is not made of manifests has none. A newer Kubernetes may know what is not known here.
func (d *Driver) Warnings(s lifecycle.Source) (all []string, err error) {
	b, err := d.Basis(s)
	if err != nil {
		return nil, nil //nolint:nilerr // another driver's package, or one that is told which files at its instantiation
	}
	files, err := s.Read(b.Files)
	if err != nil {
		return nil, err
	}
	warn := func(text string) { all = append(all, text) }
	err = documents(files, func(d document) error {
		return d.objects(nil, func(o *object) error {
			o.warn(warn)
			return nil
		})
	})
	if fault := (*broker.Error)(nil); errors.As(err, &fault) {
		warn(fault.Detail)
	}
	if more := len(all) - MaxWarnings; more > 0 {
		all = append(all[:MaxWarnings-1], fmt.Sprintf("and %d more", more+1))
	}
	return all, nil
}

// builtIn are the kinds of those groups of Kubernetes that most objects of packages are of.
var builtIn = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, rbacv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err) // two of its own types have one name
		}
	}
	return s
})

// warn tells of the faults of one object.
func (o *object) warn(tell func(string)) {
	for _, in := range []map[string]any{o.content, mapAt(o.content, "metadata")} {
		for key, v := range in {
			if unsettled(v) {
				in[key] = reference().ReplaceAllString(v.(string), "x")
			}
		}
	}
	if err := o.read(); err != nil {
		var fault *broker.Error
		if errors.As(err, &fault) {
			tell(fault.Detail)
		}
		return
	}
	version := schema.GroupVersion{Group: o.Group, Version: o.Version}
	if !builtIn().IsVersionRegistered(version) {
		return
	}
	typed, err := builtIn().New(version.WithKind(o.Kind))
	if err != nil {
		known := slices.Collect(maps.Keys(builtIn().KnownTypes(version)))
		tell(fmt.Sprintf("%s:%d: %s has no kind %s%s", o.file, o.line, version, o.Kind, policy.Suggest(o.Kind, known)))
		return
	}
	content, _ := settled(o.content).(map[string]any)
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content, typed, true)
	strict, is := runtime.AsStrictDecodingError(err)
	switch {
	case is:
		for _, one := range strict.Errors() {
			tell(fmt.Sprintf("%s:%d: %s: %s", o.file, o.line, o.titleIn(), vnfpkg.Printable(one.Error())))
		}
	case err != nil:
		// The converter's words may hold a value.
		tell(fmt.Sprintf("%s:%d: %s: a field has a value of the wrong type", o.file, o.line, o.titleIn()))
	}
}

// settled is a value without what a variable will fill in, whose type is not known yet.
func settled(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, inner := range v {
			if !unsettled(inner) {
				out[key] = settled(inner)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, inner := range v {
			if !unsettled(inner) {
				out = append(out, settled(inner))
			}
		}
		return out
	}
	return v
}

func unsettled(v any) bool {
	text, is := v.(string)
	return is && strings.Contains(text, "${")
}
