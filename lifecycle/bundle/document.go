package bundle

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Document is something that callers make, change and remove: a definition, or a part of one.
type Document interface {
	kind() Kind
	// name is the row's: NAME/VERSION of the definition, with the part's own name for a part.
	name() string
	valid() error
}

// Members of the documents of what a chart was uploaded for.
const chartKey, contentKey = "chart-name", "has-content"

// Create keeps a document, without content. With a definition comes its profile "default".
func (b *Bundles) Create(ctx context.Context, p policy.Principal, d Document) error {
	if err := d.valid(); err != nil {
		return err
	}
	all := []Row{b.newRow(p, d.kind(), d.name(), d)}
	var act *audit.Act
	var err error
	if d.kind() == OfDefinition {
		usual := Profile{Definition: path.Dir(d.name()), Version: path.Base(d.name()), Name: usualName, Release: usualName, Namespace: usualName}
		all = append(all, b.newRow(p, OfProfile, usual.name(), usual))
		act, err = b.desk(OfDefinition).Enter(ctx, p, policy.PackageCreate, broker.InProject(p.Project))
	} else {
		_, act, err = b.open(ctx, p, policy.PackageModify, OfDefinition, path.Dir(d.name()))
	}
	if err != nil {
		return err
	}
	return b.refuse(ctx, act, b.Store.CreateBundles(ctx, all, perProject, act.About(all[0].resource()).Done()))
}

// Update changes what is said of a document. A chart's name that its content contradicts is ErrConflict. Instances keep what
// they were made with.
func (b *Bundles) Update(ctx context.Context, p policy.Principal, d Document) error {
	if err := d.valid(); err != nil {
		return err
	}
	r, act, err := b.open(ctx, p, policy.PackageModify, d.kind(), d.name())
	if err != nil {
		return err
	}
	_, err = b.Store.UpdateBundle(ctx, r.ID, func(now *Row) error {
		was, err := documentOf[map[string]any](*now)
		is, wrong := documentOf[map[string]any](Row{Document: written(d)})
		if was[contentKey] == true {
			if is[chartKey] != "" && is[chartKey] != was[chartKey] {
				return conflict("the content is of another chart", "leave chart-name out, or upload another content")
			}
			is[chartKey], is[contentKey] = was[chartKey], true
		}
		now.Document = written(is)
		return cmp.Or(err, wrong)
	}, new(act.Done()))
	return b.refuse(ctx, act, err)
}

// Show returns one, by the name of its row.
func Show[T Document](ctx context.Context, b *Bundles, p policy.Principal, name string) (d T, err error) {
	return show[T](ctx, b, p, d.kind(), name)
}

func show[T any](ctx context.Context, b *Bundles, p policy.Principal, k Kind, name string) (d T, err error) {
	r, _, err := b.open(ctx, p, policy.PackageShow, k, name)
	_, d, err = read[T](r, err)
	return d, err
}

// List returns those below a name that p may see: the versions of a definition, or the parts of one of its versions.
func List[T Document](ctx context.Context, b *Bundles, p policy.Principal, under string) ([]T, error) {
	var kind T
	if kind.kind() != OfDefinition {
		if _, err := Show[Definition](ctx, b, p, under); err != nil {
			return nil, err
		}
	}
	return listed(ctx, b, p, policy.PackageShow, kind.kind(), under, func(r Row, d T) (T, policy.Resource) { return d, r.resource() })
}

// listed are the documents of a kind below a name, as far as p may do something with the resource that each is.
func listed[D, T any](
	ctx context.Context, b *Bundles, p policy.Principal, action policy.Action, k Kind, under string, as func(Row, D) (T, policy.Resource),
) ([]T, error) {
	if err := b.desk(k).Read(ctx, p, action, broker.InProject(p.Project)); err != nil {
		return nil, err
	}
	return gathered(ctx, b, Filter{Project: p.Project, Kind: k, Under: under}, func(r Row, d D) (T, bool) {
		shown, is := as(r, d)
		return shown, b.Guard.Allows(p, action, is)
	})
}

// Delete removes a document, with the parts of a definition and their packages. One that an instance uses is ErrConflict.
func (b *Bundles) Delete(ctx context.Context, p policy.Principal, k Kind, name string) error {
	r, act, err := b.open(ctx, p, map[bool]policy.Action{true: policy.PackageDelete, false: policy.PackageModify}[k == OfDefinition], k, name)
	if err != nil {
		return err
	}
	all, err := b.rowsBelow(ctx, r, OfProfile, OfTemplate)
	if all = append(all, r); err == nil {
		err = b.unused(ctx, p, k, name)
	}
	for _, one := range all {
		if err == nil && one.Kind != OfProfile {
			err = b.dropPackage(ctx, p, one.Name)
		}
	}
	if err != nil {
		return b.refuse(ctx, act, err)
	}
	return b.remove(ctx, act, all...)
}

// dropPackage removes the package of a definition or template, if there is one.
func (b *Bundles) dropPackage(ctx context.Context, p policy.Principal, name string) error {
	ref, disabled := catalog.PackageRef{ID: packageID(p.Project, name)}, false
	had, err := b.Packages.Package(ctx, p, ref)
	switch {
	case errors.Is(err, broker.ErrNotFound):
		return nil
	case err == nil && had.InUse:
		return conflict("VNF instances use the definition", "delete them first")
	case err == nil && had.State == catalog.Enabled:
		_, err = b.Packages.Modify(ctx, p, ref, catalog.PackageUpdate{Enabled: &disabled})
	}
	if err == nil {
		err = b.Packages.Delete(ctx, p, ref)
	}
	return err
}

// packageID is that of the package of a definition or template, and of the descriptor in it.
func packageID(project, name string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("urn:vimbroker:onap:"+project+"\x00"+name)).String()
}

// Upload gives a document its content, a tar.gz: a definition or template a chart in a folder, which becomes a VNF package, in the place
// of one that no instance uses; a profile a manifest.yaml that names values and overlays, which are sealed.
func (b *Bundles) Upload(ctx context.Context, p policy.Principal, k Kind, name string, content []byte) error {
	r, act, err := b.open(ctx, p, policy.PackageModify, k, name)
	if err != nil {
		return err
	}
	if k == OfProfile {
		over, err := overlayOf(content)
		if err != nil {
			return b.refuse(ctx, act, unpackable(err))
		}
		return b.seal(ctx, act, r, over)
	}
	d, err := documentOf[Definition](r)
	var files []vnfpkg.ManifestFile
	if err == nil {
		files, d.Chart, err = b.chartOf(content, d.Chart)
	}
	var packed bytes.Buffer
	if err == nil {
		err = vnfpkg.Pack(&packed, vnfpkg.Assembly{
			VNFDID: packageID(p.Project, name), Provider: provider, ProductName: r.resource().Product, SoftwareVersion: r.resource().Version,
			Version: r.resource().Version, Manifests: files,
		})
	}
	if err == nil {
		err = b.dropPackage(ctx, p, name)
	}
	if err == nil {
		err = b.onboard(ctx, p, r, packageID(p.Project, name), &packed)
	}
	if err == nil {
		_, err = b.Store.UpdateBundle(ctx, r.ID, func(now *Row) error {
			is, err := documentOf[map[string]any](*now)
			if err == nil {
				is[chartKey], is[contentKey] = d.Chart, true
				now.Document = written(is)
			}
			return err
		}, new(act.Done()))
	}
	return b.refuse(ctx, act, unpackable(err))
}

// onboard makes a package, or leaves none.
func (b *Bundles) onboard(ctx context.Context, p policy.Principal, r Row, id string, content *bytes.Buffer) error {
	if _, err := b.Packages.CreateAs(ctx, p, id, ""); err != nil {
		return err
	}
	failpoint.At("bundle.package-made")
	_, err := b.Packages.Upload(ctx, p, catalog.PackageRef{ID: id}, content)
	if err != nil {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
		defer cancel()
		b.leftover(ctx, r, b.dropPackage(ending, p, r.Name))
	}
	return err
}

// unpackable words a fault of an archive.
func unpackable(err error) error {
	if fault, is := errors.AsType[*vnfpkg.PackageError](err); is {
		return &broker.Error{Kind: broker.ErrInvalid, Field: "content", Detail: fault.Error()}
	}
	return err
}
