package rows

import (
	"time"

	"github.com/vimbroker/vimbroker/lifecycle/catalog"
)

// Package is the part of a package's row that both stores read: the document, and the columns
// that are newer than it.
type Package struct {
	Document  string
	State     catalog.State
	TouchedAt time.Time
	Revision  int64
	InUse     bool
}

// Package is the package. A document that cannot be read is ErrUnavailable.
func (r Package) Package() (catalog.Package, error) {
	p, err := catalog.OfDocument(r.Document)
	p.State, p.TouchedAt, p.Revision, p.InUse = r.State, r.TouchedAt, r.Revision, r.InUse
	return p, err
}

// WherePackages are the conditions of a filter.
func WherePackages(f catalog.Filter) *Conditions {
	where := new(Conditions)
	where.AddIf(f.Project != "", `project = ?`, f.Project)
	where.AddIf(f.VNFD != "", `vnfd = ?`, f.VNFD)
	where.AddIf(f.Onboarded, `state IN ('enabled', 'disabled')`)
	where.AddIf(!f.SilentSince.IsZero(), `state IN ('uploading', 'processing') AND touched_at <= ?`, f.SilentSince)
	return where
}

// PackageOrder is the order of a list of packages.
var PackageOrder = OrderOf[catalog.Package]("packages", "created_at id", false)
