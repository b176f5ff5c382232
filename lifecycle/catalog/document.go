package catalog

import (
	"encoding/json"
	"fmt"

	"github.com/vimbroker/vimbroker/broker"
)

// Document is the stored form of a package: everything except the fields that have
// columns of their own: State, TouchedAt, Revision and InUse.
func (p Package) Document() string {
	text, _ := json.Marshal(p) // cannot fail for texts, numbers and times
	return string(text)
}

// OfDocument reads what [Package.Document] made.
func OfDocument(text string) (Package, error) {
	var p Package
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return p, &broker.Error{
			Kind: broker.ErrUnavailable, Detail: "what is stored of a VNF package cannot be read",
			Remedy: "restore the table vnf_packages from a backup", Cause: fmt.Errorf("reading a package: %w", err),
		}
	}
	return p, nil
}

// Moved is the package that an update stores in place of the previous one: fields that an
// update may not change keep their values. A move that the table of states does not list
// is [broker.ErrConflict].
func (p Package) Moved(next Package) (Package, error) {
	if p.State != next.State && !p.State.CanMove(next.State) {
		return p, &broker.Error{
			Kind: broker.ErrConflict, Detail: fmt.Sprintf("the package is %s, and cannot become %s", p.State, next.State),
		}
	}
	next.ID, next.Project, next.CreatedBy, next.CreatedAt = p.ID, p.Project, p.CreatedBy, p.CreatedAt
	next.Revision, next.InUse = p.Revision+1, p.InUse
	return next, nil
}
