package lifecycle

import (
	"context"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
)

// Packages are the VNF packages that instances are made from.
type Packages interface {
	// Use finds the onboarded, enabled package of p's project for a VNFD, if p may use it.
	// ErrNotFound: there is none; ErrConflict: it is disabled.
	Use(ctx context.Context, p policy.Principal, vnfdID string) (Package, error)
	// Held returns a package that an instance uses, by its id. Nothing is decided.
	Held(ctx context.Context, id string) (Package, error)
	// Manifests reads files of a package in the order of the paths; no paths are all manifests
	// of the package. A path that the package does not declare is ErrInvalid.
	Manifests(ctx context.Context, id string, paths []string) ([]Manifest, error)
}

// Package is a VNF package as operations need it.
type Package struct {
	ID      string
	Product Product
	VNFD    vnfpkg.VNFD
}
