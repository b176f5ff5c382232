package lifecycle

import (
	"context"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
)

// Packages are the VNF packages that instances are made from.
type Packages interface {
	// Use finds the onboarded, enabled package of p's project for a VNFD, if p may use it.
	// ErrNotFound: no such package; ErrConflict: the package is disabled.
	Use(ctx context.Context, p policy.Principal, vnfdID string) (PackageView, error)
	// Held returns a package that an instance uses, by its id. Nothing is decided.
	Held(ctx context.Context, id string) (PackageView, error)
}

// PackageView is a VNF package as operations need it. It belongs to one goroutine.
type PackageView struct {
	ID      string
	Product Product
	VNFD    vnfpkg.VNFD
	// Paths are the files that it holds, sorted.
	Paths []string
	// Read reads files of it, in the order of the paths, while the context lives that it was opened with.
	// A path that it does not hold, and more text than may be read at a time, are ErrInvalid.
	Read func(paths []string) ([]Manifest, error)
	// Translate makes manifests of the descriptor, for a flavour and values of its inputs; loose lets inputs lack values. It may
	// be nil.
	Translate func(flavour string, inputs map[string]string, loose bool) (secret.Text, error)
}
