package catalog

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// chunkSize is the number of bytes of a content that one row stores.
	chunkSize = 1 << 20
	// sayAlive is the interval at which an upload reports that it is alive, so that no other
	// process takes it over.
	sayAlive = Abandoned / 6
	// processTime bounds looking through a content.
	processTime = 10 * time.Minute
)

// Upload takes the content of a package, looks through it and onboards it, enabled. If
// anything fails the package stays without content, and the upload can be repeated; a
// fault of the content is [broker.ErrInvalid]. While another upload is under way it is
// [broker.ErrConflict]. A vnfdId that another package of the project has is
// [broker.ErrExists].
//
// Policy decides twice: before the first byte, and once the descriptor is known.
func (c *Catalog) Upload(ctx context.Context, p policy.Principal, ref PackageRef, content io.Reader) (Package, error) {
	return c.upload(ctx, p, ref, func(Package) io.Reader { return content })
}

func (c *Catalog) upload(ctx context.Context, p policy.Principal, ref PackageRef, contentOf func(Package) io.Reader) (Package, error) {
	pkg, err := c.find(ctx, p, policy.PackageUpload, ref)
	if err != nil {
		return Package{}, err
	}
	act, err := c.desk.Enter(ctx, p, policy.PackageUpload, pkg.Resource())
	if err != nil {
		return Package{}, err
	}
	pkg, err = c.Store.UpdatePackage(ctx, pkg.ID, c.begin(uuid.NewString()), act.Intent())
	if err != nil {
		return Package{}, c.desk.Refuse(ctx, act, err)
	}
	failpoint.At("package.intent")
	stored, err := c.onboard(ctx, p, pkg, contentOf(pkg), act)
	if err != nil {
		ending, cancel := cleanup(ctx)
		defer cancel()
		if undone := c.undo(ending, pkg, broker.Failed(act, err)); undone != nil {
			c.Log.WarnContext(ctx, "a failed upload is left for the next pass", "package", pkg.ID, "error", undone)
		}
		return Package{}, err
	}
	failpoint.At("package.onboarded")
	return stored, nil
}

// begin makes an upload the one that a package waits for.
func (c *Catalog) begin(content string) func(*Package) error {
	return func(now *Package) error {
		switch {
		case now.State.Onboarded():
			return &broker.Error{
				Kind: broker.ErrConflict, Detail: "the package has its content already",
				Remedy: "create another package for another content",
			}
		case now.State.underWay() && c.Now().Before(now.TouchedAt.Add(Abandoned)):
			return &broker.Error{
				Kind: broker.ErrConflict, Detail: "another upload of the package is under way",
				Remedy: "wait until it has ended", RetryAfter: Abandoned,
			}
		}
		now.State, now.Content = Uploading, content
		now.UpdatedAt, now.TouchedAt = c.Now(), c.Now()
		return nil
	}
}

// onboard stores the content and looks through it. If it fails, undo removes what it left.
func (c *Catalog) onboard(ctx context.Context, p policy.Principal, pkg Package, content io.Reader, act *audit.Act) (Package, error) {
	ctx, end := c.keep(ctx, pkg)
	defer end()
	if err := c.receive(ctx, &pkg, content); err != nil {
		return Package{}, err
	}
	failpoint.At("package.received")
	mine := func(next State) func(*Package) error {
		return func(now *Package) error {
			if now.Content != pkg.Content {
				return overtaken()
			}
			was := *now
			*now = pkg
			now.UserData, now.InUse = was.UserData, was.InUse
			now.State, now.UpdatedAt, now.TouchedAt = next, c.Now(), c.Now()
			return nil
		}
	}
	if _, err := c.Store.UpdatePackage(ctx, pkg.ID, mine(Processing), act.Intent()); err != nil {
		return Package{}, err
	}
	failpoint.At("package.processing")
	process, cancel := context.WithTimeout(ctx, processTime)
	defer cancel()
	if err := c.process(process, &pkg); err != nil {
		return Package{}, err
	}
	// The product is known now.
	if _, err := c.desk.Enter(ctx, p, policy.PackageUpload, pkg.Resource()); err != nil {
		return Package{}, err
	}
	pkg.OnboardedAt = c.Now()
	return c.Store.UpdatePackage(ctx, pkg.ID, mine(Enabled), act.Done(audit.DetailVNFD, pkg.VNFDID))
}

// receive stores the content, and notes its size and digests.
func (c *Catalog) receive(ctx context.Context, pkg *Package, content io.Reader) error {
	short, long := sha256.New(), sha512.New()
	both := io.MultiWriter(short, long)
	buffer := make([]byte, chunkSize)
	for n := 0; ; n++ {
		got, err := io.ReadFull(content, buffer)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if got > 0 {
			if pkg.Size += int64(got); pkg.Size > c.Terms.MaxSize {
				return broker.Invalid("", "the package has more than %d bytes", c.Terms.MaxSize)
			}
			_, _ = both.Write(buffer[:got]) // digests never fail
			if err := c.Store.AddChunk(ctx, pkg.ID, pkg.Content, n, buffer[:got], c.Terms.BytesPerProject); err != nil {
				return err
			}
			failpoint.At("package.chunk")
		}
		if err != nil {
			break
		}
	}
	pkg.SHA256, pkg.SHA512 = hex.EncodeToString(short.Sum(nil)), hex.EncodeToString(long.Sum(nil))
	return nil
}

// process looks through a content, and notes its product.
func (c *Catalog) process(ctx context.Context, pkg *Package) error {
	csar, err := c.csar(ctx, *pkg)
	if err != nil {
		return faulty(err)
	}
	if c.Terms.Roots != nil {
		if pkg.Signer, err = csar.Verify(vnfpkg.Signers{Roots: c.Terms.Roots, Now: c.Now()}); err != nil {
			return faulty(err)
		}
	}
	vnfd, err := csar.Descriptor()
	if err != nil {
		return faulty(err)
	}
	if pkg.Artifacts, err = csar.Hashed(); err != nil {
		return faulty(err)
	}
	pkg.VNFDID, pkg.Provider, pkg.ProductName = vnfd.ID, vnfd.Provider, vnfd.ProductName
	pkg.SoftwareVersion, pkg.VNFDVersion, pkg.VNFMInfo = vnfd.SoftwareVersion, vnfd.Version, vnfd.VNFMInfo
	pkg.Entry, pkg.Manifest, pkg.Wrapped = csar.Entry, csar.Manifest, csar.Wrapped()
	if c.Warn != nil {
		pkg.Warnings, err = c.Warn(Opened{*pkg, vnfd, csar})
	}
	return err
}

// faulty makes of a fault of the content an error that its sender can act on.
func faulty(err error) error {
	var fault *vnfpkg.PackageError
	if errors.As(err, &fault) {
		return &broker.Error{Kind: broker.ErrInvalid, Detail: fault.Error(), Remedy: "mend the package and upload it again"}
	}
	return err
}

// undo restores a package's state before an upload, and removes the bytes. It fails as
// overtaken if another upload is under way by now.
func (c *Catalog) undo(ctx context.Context, pkg Package, e audit.Entry) error {
	_, err := c.Store.UpdatePackage(ctx, pkg.ID, func(now *Package) error {
		if now.Content != pkg.Content || !now.State.underWay() {
			return overtaken()
		}
		*now = Package{UserData: now.UserData, State: Created, UpdatedAt: c.Now()}
		return nil
	}, e)
	failpoint.At("package.undone")
	return errors.Join(err, c.sweepAll(ctx))
}

// keep says that an upload is alive until end is called. The context that it returns ends
// once another has taken over.
func (c *Catalog) keep(ctx context.Context, pkg Package) (kept context.Context, end func()) {
	kept, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticks := time.NewTicker(sayAlive)
		defer ticks.Stop()
		for {
			select {
			case <-kept.Done():
				return
			case <-ticks.C:
			}
			if err := c.Store.TouchPackage(kept, pkg.ID, pkg.Content, c.Now()); errors.Is(err, broker.ErrConflict) {
				cancel(overtaken())
			}
		}
	}()
	return kept, func() {
		cancel(nil)
		<-done
	}
}
