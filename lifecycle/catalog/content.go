package catalog

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle/tosca"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
)

// content reads the bytes of a package from its chunks. It keeps the last few, because an
// archive is read in small steps at a few places. It belongs to one goroutine.
type content struct {
	ctx   context.Context
	store Store
	name  string
	size  int64
	kept  []chunk // the last used first
}

type chunk struct {
	number int
	bytes  []byte
}

// maxKept bounds the chunks that a reader keeps.
const maxKept = 4

// ReadAt implements [io.ReaderAt].
func (c *content) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 || off >= c.size {
		return 0, io.EOF
	}
	for n < len(p) && off < c.size {
		b, err := c.chunk(int(off / chunkSize))
		if err != nil {
			return n, err
		}
		at := int(off % chunkSize)
		if at >= len(b) {
			return n, io.ErrUnexpectedEOF // a chunk is shorter than it was
		}
		copied := copy(p[n:], b[at:])
		n, off = n+copied, off+int64(copied)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (c *content) chunk(number int) ([]byte, error) {
	for i, k := range c.kept {
		if k.number == number {
			copy(c.kept[1:i+1], c.kept[:i])
			c.kept[0] = k
			return k.bytes, nil
		}
	}
	b, err := c.store.Chunk(c.ctx, c.name, number)
	if errors.Is(err, broker.ErrNotFound) {
		err = &broker.Error{Kind: broker.ErrConflict, Detail: "the package was deleted meanwhile", Cause: err}
	}
	if err != nil {
		return nil, err
	}
	c.kept = append([]chunk{{number, b}}, c.kept[:min(len(c.kept), maxKept-1)]...)
	return b, nil
}

func (c *Catalog) bytes(ctx context.Context, pkg Package) *content {
	return &content{ctx: ctx, store: c.Store, name: pkg.Content, size: pkg.Size}
}

// csar opens the content of a package. Its files can be read while ctx lives.
func (c *Catalog) csar(ctx context.Context, pkg Package) (*vnfpkg.CSAR, error) {
	return vnfpkg.Open(c.bytes(ctx, pkg), pkg.Size, c.Terms.Limits)
}

// Read opens a package for reading, until ctx ends: its whole content, and the files in it.
// One that is not onboarded is [broker.ErrConflict].
func (c *Catalog) Read(ctx context.Context, p policy.Principal, ref PackageRef) (PackageReader, error) {
	pkg, err := c.Package(ctx, p, ref)
	if err != nil {
		return PackageReader{}, err
	}
	if !pkg.State.Onboarded() {
		return PackageReader{}, &broker.Error{
			Kind: broker.ErrConflict, Detail: "the package is not onboarded", Remedy: "upload its content first",
		}
	}
	b := c.bytes(ctx, pkg)
	return PackageReader{Package: pkg, Content: io.NewSectionReader(b, 0, pkg.Size), Files: func() (*vnfpkg.CSAR, error) {
		return vnfpkg.Reopen(b, pkg.Size, c.Terms.Limits)
	}}, nil
}

// PackageReader reads an onboarded package.
type PackageReader struct {
	Package
	// Content is the whole archive.
	Content io.ReadSeeker
	// Files opens the archive.
	Files func() (*vnfpkg.CSAR, error)
}

// Opened is a package that an operation works from. It belongs to one goroutine, and is read
// while the context lives that it was opened with.
type Opened struct {
	Package
	VNFD vnfpkg.VNFD

	csar *vnfpkg.CSAR
}

// Use opens the onboarded package of p's project with that descriptor, for making or
// changing a VNF instance: policy decides on package:use. One that is disabled is
// [broker.ErrConflict], one that brings scripts to be run [broker.ErrUnsupported].
func (c *Catalog) Use(ctx context.Context, p policy.Principal, vnfd string) (Opened, error) {
	pkg, err := c.find(ctx, p, policy.PackageUse, PackageRef{VNFD: vnfd})
	if errors.Is(err, broker.ErrNotFound) {
		return Opened{}, &broker.Error{Kind: broker.ErrNotFound, Field: "vnfdId", Detail: "names no VNF package that you may use"}
	}
	if err != nil {
		return Opened{}, err
	}
	if err := c.desk.Read(ctx, p, policy.PackageUse, pkg.Resource()); err != nil {
		return Opened{}, err
	}
	if err := pkg.unusable(); err != nil {
		return Opened{}, err
	}
	opened, err := c.open(ctx, pkg)
	if err == nil && len(opened.VNFD.Scripts) > 0 {
		err = &broker.Error{
			Kind: broker.ErrUnsupported, Field: "vnfdId",
			Detail: "names a VNF package that runs scripts of its own in " + strings.Join(opened.VNFD.Scripts, ", ") +
				" of the interface Vnflcm, and no code of packages is run here",
			Remedy: "use a package whose descriptor names no implementation there",
		}
	}
	return opened, err
}

// unusable is the [broker.ErrConflict] of a package that no VNF instance can be made from
// now; nil for others.
func (p Package) unusable() error {
	switch p.State {
	case Enabled:
		return nil
	case Disabled:
		return &broker.Error{Kind: broker.ErrConflict, Field: "vnfdId", Detail: "names a VNF package that is disabled", Remedy: "enable it first"}
	}
	return &broker.Error{Kind: broker.ErrConflict, Field: "vnfdId", Detail: "names a VNF package that is not onboarded"}
}

// Held opens a package that a VNF instance holds, by its id. Nothing is decided: that was
// when the instance took it.
func (c *Catalog) Held(ctx context.Context, id string) (Opened, error) {
	if uuid.Validate(id) != nil {
		return Opened{}, notFound()
	}
	pkg, err := c.Store.Package(ctx, id)
	if err != nil {
		return Opened{}, err
	}
	return c.open(ctx, pkg)
}

func (c *Catalog) open(ctx context.Context, pkg Package) (Opened, error) {
	csar, err := vnfpkg.Reopen(c.bytes(ctx, pkg), pkg.Size, c.Terms.Limits)
	if err != nil {
		return Opened{}, unreadable(err)
	}
	vnfd, err := csar.Descriptor()
	if err != nil {
		return Opened{}, unreadable(err)
	}
	return Opened{pkg, vnfd, csar}, nil
}

// unreadable is an error about a content that was looked through when it was uploaded.
func unreadable(err error) error {
	var fault *vnfpkg.PackageError
	if errors.As(err, &fault) {
		return &broker.Error{
			Kind: broker.ErrUnavailable, Detail: "the stored VNF package cannot be read",
			Remedy: "restore the database from a backup, or upload the package again", Cause: err,
		}
	}
	return err
}

// Translate makes manifests of the package's descriptor, for a flavour. A fault of it is [broker.ErrInvalid].
func (o Opened) Translate(flavour string, with tosca.Options) (tosca.Translation, error) {
	top, err := o.csar.Topology(flavour)
	if err != nil {
		return tosca.Translation{}, unreadable(err)
	}
	made, err := tosca.Translate(top, o.VNFD.Flavours[flavour], with)
	if err != nil {
		err = &broker.Error{Kind: broker.ErrInvalid, Detail: err.Error()}
	}
	return made, err
}

// File is a file of a package.
type File struct {
	Path string
	Text []byte
}

// maxRead bounds one read of a package, in bytes.
const maxRead = 64 << 20

// Paths are the files that the package holds, sorted.
func (o Opened) Paths() []string { return o.csar.Paths("") }

// Files reads files of the package, in the order of the paths. A path that is not in it, and more than 64 MiB
// together, are [broker.ErrInvalid].
func (o Opened) Files(paths []string) ([]File, error) {
	var files []File
	total := 0
	for _, name := range paths {
		if !o.csar.Has(name) {
			return nil, broker.Invalid("additionalParams", "name a file that is not in the package: %s",
				cmp.Or(vnfpkg.Printable(name), "it has no name"))
		}
		text, err := o.csar.Read(name)
		if err != nil {
			return nil, unreadable(err)
		}
		if total += len(text); total > maxRead {
			return nil, broker.Invalid("additionalParams", "name files of more than %d bytes", maxRead)
		}
		files = append(files, File{name, text})
	}
	return files, nil
}
