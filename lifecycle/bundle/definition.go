package bundle

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
)

// Definition is a resource bundle: a chart, and what is said of it.
type Definition struct {
	Name        string            `json:"rb-name"`
	Version     string            `json:"rb-version"`
	Chart       string            `json:"chart-name"`
	Description string            `json:"description"`
	Labels      map[string]string `json:"labels"`
}

// definition is one with the id of its package, which has the chart; empty before there was a content.
type definition struct {
	Definition

	Package string `json:"package,omitempty"`
}

const (
	provider  = "ONAP"       // of packages that are made from definitions
	chartFile = "Chart.yaml" // makes a folder a chart
	// A chart has at most maxChartFiles files of maxChart bytes in all.
	maxChart, maxChartFiles = 32 << 20, 2000
)

// vnfdID is that of the package of a definition, by its NAME/VERSION.
func vnfdID(project, of string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("urn:vimbroker:onap:"+project+"\x00"+of)).String()
}

// CreateDefinition makes a definition without content, and its profile "default".
func (b *Bundles) CreateDefinition(ctx context.Context, p policy.Principal, d Definition) error {
	act, err := b.enter(ctx, p, policy.PackageCreate, projectOf(p), OfDefinition)
	if err != nil {
		return err
	}
	of := d.Name + "/" + d.Version
	usual := Profile{Definition: d.Name, Version: d.Version, Name: usualName, Release: usualName, Namespace: usualName}
	all := []Row{b.newRow(p, OfDefinition, of, definition{Definition: d}), b.newRow(p, OfProfile, of+"/"+usualName, usual)}
	if err = d.valid(); err == nil {
		err = b.Store.CreateBundles(ctx, all, perProject, act.About(all[0].resource()).Done())
	}
	return b.refuse(ctx, act, err)
}

func (d Definition) valid() error {
	return cmp.Or(validName("rb-name", d.Name), validName("rb-version", d.Version), validText("description", d.Description),
		validName("chart-name", cmp.Or(d.Chart, usualName)), validLabels(d.Labels))
}

// Definition returns one, by its NAME/VERSION.
func (b *Bundles) Definition(ctx context.Context, p policy.Principal, of string) (Definition, error) {
	return read[Definition](ctx, b, p, OfDefinition, of)
}

// Definitions returns all of a name, or with an empty name all.
func (b *Bundles) Definitions(ctx context.Context, p policy.Principal, name string) ([]Definition, error) {
	return list[Definition](ctx, b, p, OfDefinition, name)
}

// UpdateDefinition changes what is said of a definition. A chart's name that its content contradicts is ErrConflict.
func (b *Bundles) UpdateDefinition(ctx context.Context, p policy.Principal, d Definition) error {
	r, act, err := b.open(ctx, p, policy.PackageModify, OfDefinition, d.Name+"/"+d.Version)
	if err != nil {
		return err
	}
	return b.change(ctx, act, r, d.valid(), func(now *Row) error {
		was, err := documentOf[definition](*now)
		if d.Chart = cmp.Or(d.Chart, was.Chart); err == nil && was.Package != "" && was.Chart != d.Chart {
			err = conflict("the content's chart is "+was.Chart, "leave chart-name out, or upload another content")
		}
		now.Document = written(definition{Definition: d, Package: was.Package})
		return err
	})
}

// DeleteDefinition removes a definition with its profiles and its package. One that an instance uses is ErrConflict.
func (b *Bundles) DeleteDefinition(ctx context.Context, p policy.Principal, of string) error {
	r, act, err := b.open(ctx, p, policy.PackageDelete, OfDefinition, of)
	if err != nil {
		return err
	}
	d, err := documentOf[definition](r)
	if err == nil {
		err = b.unused(ctx, p, func(m made) bool { return m.Request.of() == of })
	}
	if err == nil {
		err = b.dropPackage(ctx, p, d.Package)
	}
	var below []Row
	if err == nil {
		below, err = b.all(ctx, p.Project, OfProfile, of)
	}
	if err != nil {
		return b.refuse(ctx, act, err)
	}
	return b.remove(ctx, act, append(below, r)...)
}

// dropPackage removes the package of a definition, if there is one.
func (b *Bundles) dropPackage(ctx context.Context, p policy.Principal, id string) error {
	ref, disabled := catalog.PackageRef{ID: id}, false
	if id == "" {
		return nil
	}
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

// UploadDefinition gives a definition its content, a tar.gz with one chart in a folder, as a VNF package. Another content
// takes the place of one that no instance uses.
func (b *Bundles) UploadDefinition(ctx context.Context, p policy.Principal, of string, content []byte) error {
	r, act, err := b.open(ctx, p, policy.PackageModify, OfDefinition, of)
	if err != nil {
		return err
	}
	d, err := documentOf[definition](r)
	if err != nil {
		return b.refuse(ctx, act, err)
	}
	files, chart, err := b.chartOf(content, d.Chart)
	var packed bytes.Buffer
	if err == nil {
		err = vnfpkg.Pack(&packed, vnfpkg.Assembly{
			VNFDID: vnfdID(p.Project, of), Provider: provider, ProductName: d.Name, SoftwareVersion: d.Version, Version: d.Version, Manifests: files,
		})
	}
	if err == nil {
		err = b.dropPackage(ctx, p, d.Package)
	}
	if err != nil {
		return b.refuse(ctx, act, unpackable(err))
	}
	d.Package = uuid.NewString()
	with := func(chart string) func(*Row) error {
		return func(now *Row) error {
			was, err := documentOf[definition](*now)
			was.Package, was.Chart = d.Package, cmp.Or(was.Chart, chart)
			now.Document = written(was)
			return err
		}
	}
	if _, err = b.Store.UpdateBundle(ctx, r.ID, with(""), new(act.Intent())); err != nil { // names the package before it exists
		return b.refuse(ctx, act, err)
	}
	failpoint.At("bundle.package-named")
	if _, err = b.Packages.CreateAs(ctx, p, d.Package, ""); err == nil {
		failpoint.At("bundle.package-made")
		_, err = b.Packages.Upload(ctx, p, catalog.PackageRef{ID: d.Package}, &packed)
	}
	if err != nil {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
		defer cancel()
		b.leftover(ctx, r, b.dropPackage(ending, p, d.Package))
	}
	return b.change(ctx, act, r, err, with(chart))
}

// chartOf are the files of the one chart of an archive, and its name: the folder's.
func (b *Bundles) chartOf(content []byte, want string) (files []vnfpkg.ManifestFile, name string, err error) {
	limits := b.Limits
	limits.Unpacked = min(cmp.Or(limits.Unpacked, maxChart), maxChart)
	limits.Entries = min(cmp.Or(limits.Entries, maxChartFiles), maxChartFiles)
	all, err := vnfpkg.UnpackTarGz(content, limits)
	if err != nil {
		return nil, "", err
	}
	var charts []string
	for _, f := range all {
		if folder, file := path.Split(f.Path); file == chartFile && strings.Count(folder, "/") == 1 {
			charts = append(charts, strings.TrimSuffix(folder, "/"))
		}
	}
	switch {
	case len(charts) != 1:
		return nil, "", broker.Invalid("content", "holds %d charts, and has to hold one: a folder with a %s", len(charts), chartFile)
	case want != "" && want != charts[0]:
		return nil, "", broker.Invalid("content", "holds a chart of another name than the definition's chart-name")
	}
	files = slices.DeleteFunc(all, func(f vnfpkg.ManifestFile) bool { return !strings.HasPrefix(f.Path, charts[0]+"/") })
	return files, charts[0], validName("content", charts[0])
}

// unpackable words a fault of an archive.
func unpackable(err error) error {
	if fault, is := errors.AsType[*vnfpkg.PackageError](err); is {
		return &broker.Error{Kind: broker.ErrInvalid, Field: "content", Detail: fault.Error()}
	}
	return err
}
