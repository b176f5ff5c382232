package manifests

import (
	"context"
	"net/http"
	"net/url"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
)

var _ lifecycle.Reader = (*Driver)(nil)

// Wanted implements [lifecycle.Reader].
func (*Driver) Wanted(apiVersion, kind string) (lifecycle.Resource, error) {
	group, version := groupVersion(apiVersion)
	if group != "" && !pluralName().MatchString(group) || !versionName().MatchString(version) {
		return lifecycle.Resource{}, broker.Invalid("ApiVersion", "must be like v1 or apps/v1")
	}
	if !kindName().MatchString(kind) {
		return lifecycle.Resource{}, broker.Invalid("Kind", "must be like Deployment")
	}
	plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
	return lifecycle.Resource{Group: group, Version: version, Kind: kind, Plural: plural.Resource}, nil
}

func (o *found) seen(r lifecycle.Resource) lifecycle.Showing {
	return lifecycle.Showing{Resource: r, Ready: o.state().ready, Object: o.text}
}

// Read implements [lifecycle.Reader].
func (d *Driver) Read(ctx context.Context, c lifecycle.Connection, resources []lifecycle.Resource) ([]lifecycle.Showing, error) {
	s, err := d.connect(c)
	if err != nil {
		return nil, err
	}
	all := make([]lifecycle.Showing, len(resources))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(sideBySide)
	for i, r := range resources {
		group.Go(func() error {
			o, err := s.get(within, r)
			if all[i] = (lifecycle.Showing{Resource: r}); o != nil {
				all[i] = o.seen(r)
			}
			return err
		})
	}
	return all, group.Wait()
}

// List implements [lifecycle.Reader].
func (d *Driver) List(
	ctx context.Context, c lifecycle.Connection, of lifecycle.Resource, selector string, cached bool,
) (all []lifecycle.Showing, err error) {
	if of.Namespace != "" && len(validation.IsDNS1123Label(of.Namespace)) > 0 {
		return nil, broker.Invalid("Namespace", "is no name of a namespace")
	}
	s, err := d.connect(c)
	if err != nil {
		return nil, err
	}
	name := of.Name
	of.Name = ""
	see := func(o found) {
		if o.Kind == "" { // a list leaves it out
			o.Kind, o.whole["kind"], o.whole["apiVersion"] = of.Kind, of.Kind, (schema.GroupVersion{Group: of.Group, Version: of.Version}).String()
		}
		r := of
		r.Name, r.Namespace = o.Metadata.Name, text(mapAt(o.whole, "metadata"), "namespace")
		if name == "" || name == r.Name {
			all = append(all, o.seen(r))
		}
	}
	query := url.Values{"labelSelector": {selector}}
	if cached {
		query.Set("resourceVersion", "0") // the API server ignores the size of a page, and may answer with too much
		err = pages(ctx, s, of, query, see)
		query.Del("resourceVersion")
	}
	if !cached || err != nil {
		all = nil
		err = pages(ctx, s, of, query, see)
	}
	if said, is := err.(*refusal); is && said.is(http.StatusNotFound) { //nolint:errorlint // call wraps nothing
		return nil, &broker.Error{Kind: broker.ErrUnsupported, Field: "Kind", Detail: "the cluster serves no such kind under that name"}
	}
	if err != nil {
		return nil, fault(err, "list "+of.Plural)
	}
	return all, nil
}
