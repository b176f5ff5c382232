package catalog

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Store keeps packages and their bytes. Every write of a package takes the audit entry
// that records it, and both are durable together or not at all.
//
// All methods are safe for concurrent use. Errors are broker's sentinels; a store that
// cannot be asked now answers [broker.ErrUnavailable]. A change function may be called
// again with the package stored then. It must not call the store.
type Store interface {
	audit.Sink
	// CreatePackage stores a new package with Revision 1; [broker.ErrQuota] if the project
	// has limit packages already. A limit of zero bounds nothing.
	CreatePackage(ctx context.Context, p Package, limit int, e audit.Entry) error
	// Package returns one by its id; [broker.ErrNotFound].
	Package(ctx context.Context, id string) (Package, error)
	// PackageOfVNFD returns the package of a project with that descriptor; [broker.ErrNotFound].
	PackageOfVNFD(ctx context.Context, project, vnfd string) (Package, error)
	// Packages returns those that match, oldest first, and the next page's token;
	// [broker.ErrInvalid] for a page token it did not make.
	Packages(ctx context.Context, f Filter) ([]Package, string, error)
	// UpdatePackage reads the package, lets change alter it, and stores it with Revision one
	// up, atomically. If change fails nothing is written and its error is returned
	// unchanged. A move that the table of states does not list is [broker.ErrConflict]; a
	// VNFDID that another package of the project has is [broker.ErrExists] with Field
	// "vnfdId". Changes to ID, Project, CreatedBy, CreatedAt, Revision and InUse are
	// ignored.
	UpdatePackage(ctx context.Context, id string, change func(*Package) error, e audit.Entry) (Package, error)
	// DeletePackage removes a package; one that is in use or Enabled is [broker.ErrConflict].
	// One that is gone is success, and writes nothing. Its chunks are left to be swept.
	DeletePackage(ctx context.Context, id string, e audit.Entry) error

	// AddChunk stores the bytes number n of an upload, from 0; [broker.ErrConflict] if the
	// package is not in state Uploading for that upload, and [broker.ErrQuota] if the
	// project then has more than limit bytes; zero bounds nothing.
	AddChunk(ctx context.Context, id, content string, n int, b []byte, limit int64) error
	// Chunk returns bytes of a content; [broker.ErrNotFound].
	Chunk(ctx context.Context, content string, n int) ([]byte, error)
	// TouchPackage sets TouchedAt of a package whose upload is under way, without an audit
	// entry and without a new Revision; [broker.ErrConflict] if it is another upload by now.
	TouchPackage(ctx context.Context, id, content string, at time.Time) error
	// SweepChunks removes at most limit chunks that no package names any more, and reports
	// whether there may be more of them.
	SweepChunks(ctx context.Context, limit int) (more bool, err error)
	// CountPackages counts the packages of all projects by state.
	CountPackages(ctx context.Context) (map[State]int, error)
}

// Filter selects packages in the store.
type Filter struct {
	// Project selects those of one project; empty selects all.
	Project string
	// VNFD selects by the id of the descriptor.
	VNFD string
	// Onboarded selects packages whose content is there.
	Onboarded bool
	// SilentSince selects packages whose upload is under way and has said nothing since.
	SilentSince time.Time
	broker.Page
}
