package bundle

import (
	"context"

	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Kind says what a row is about.
type Kind string

// Every kind of row. The name of a row is unique among its project's of the kind; parts of a name are joined by "/".
const (
	OfDefinition Kind = "definition"             // NAME/VERSION
	OfProfile    Kind = "profile"                // NAME/VERSION/PROFILE
	OfRegion     Kind = "cloud region"           // the id of a VIM: the records beside it
	OfTemplate   Kind = "configuration template" // NAME/VERSION/TEMPLATE
	OfConfig     Kind = "configuration"          // below an instance, as the next: ID/NAME
	OfWatch      Kind = "subscription"
	OfInstance   Kind = "instance" // the id that callers know a VNF instance by
)

// Row is one thing that this package keeps. Its document holds no secret; what is secret is sealed, under a key of its own.
type Row struct {
	// ID is a UUID, and that of the key's owner.
	ID, Project string
	Kind        Kind
	Name        string
	// Claim is unique in the project: of two that ask for the same instance, one makes it.
	Claim string
	// Document is JSON.
	Document string
	// Busy: work on it has not ended, and a pass goes on with it where the process died.
	Busy bool
	// SealedRow is what is secret, under a key of the row's own: of the owners the generation is kept. The texts are empty if
	// nothing is.
	keyring.SealedRow
}

// Filter selects rows in the store, in the order of their names, or of their ids where the project is empty.
type Filter struct {
	Project string
	Kind    Kind
	// Under selects the names that begin with it and a "/", Claim the one with it.
	Under, Claim string
	// Busy selects, of all projects, those that are, or are being resealed; Sealed those with a sealed text.
	Busy, Sealed bool
	// After is the name, or the id, that the page follows.
	After string
	// Limit is the greatest number of results.
	Limit int
}

// Store keeps rows. Implementations stand under drivers/ and pass test/conformance.Bundles.
type Store interface {
	audit.Sink

	// CreateBundles stores rows: ErrQuota if the project then had more than limit, ErrExists if a name or a claim is taken.
	CreateBundles(ctx context.Context, rows []Row, limit int, e audit.Entry) error
	// Bundle returns the row of a name; ErrNotFound.
	Bundle(ctx context.Context, project string, k Kind, name string) (Row, error)
	// Bundles returns the rows that match.
	Bundles(ctx context.Context, f Filter) ([]Row, error)
	// UpdateBundle changes a row by a function; if that fails nothing is written and its error is returned unchanged. A
	// key that another takes the place of stays in the key store. No entry is for what another one records.
	UpdateBundle(ctx context.Context, id string, change func(*Row) error, e *audit.Entry) (Row, error)
	// DeleteBundles removes rows; their keys go on the ledger of retired keys. Those that are gone are passed over.
	DeleteBundles(ctx context.Context, ids []string, e audit.Entry) error
}
