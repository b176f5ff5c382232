package lifecycle

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// JobKind is the kind of the jobs that work operations; the subject is the operation's id.
const JobKind = "lifecycle"

// Store keeps instances and operations. Implementations stand under drivers/ and pass
// test/conformance.Lifecycle. The rules of [broker.Store] on writes, entries, times and claims apply here
// too.
type Store interface {
	audit.Sink
	SecretParametersStore

	// CreateInstance stores a new instance with Revision 1; ErrConflict if its package is gone. A package
	// that is deleted at the same moment is gone, or stays. It is [broker.ErrQuota] if the project has most
	// instances already (0 is no bound).
	CreateInstance(ctx context.Context, i Instance, most int, e audit.Entry) error
	// Instance returns one by its id; ErrNotFound.
	Instance(ctx context.Context, id string) (Instance, error)
	// Instances returns those that match, the newest first, and the next page's token.
	Instances(ctx context.Context, f InstanceFilter) ([]Instance, string, error)
	// InstancesToObserve returns those that are Instantiated, have no operation that is Live, and whose
	// Drift.TriedAt is before a time: those that have waited longest first, at most limit.
	InstancesToObserve(ctx context.Context, before time.Time, limit int) ([]Instance, error)
	// SaveDrift stores an instance's Drift and nothing else, if its revision is still the one given: ErrConflict
	// otherwise, and ErrNotFound. There is no audit entry, and the revision stays: no caller acts.
	SaveDrift(ctx context.Context, id string, revision int64, d Drift) error
	// CountInstances counts.
	CountInstances(ctx context.Context) (InstanceCount, error)
	// DeleteInstance removes an instance with all its operations: ErrConflict unless it is
	// NotInstantiated and no operation is Live. One that is gone is success, and writes nothing.
	DeleteInstance(ctx context.Context, id string, e audit.Entry) error

	// BeginOperation stores a new operation with Revision 1, if the instance's revision is still the one given and
	// no other operation is Live: ErrConflict otherwise, and if the package that the instance changes to is gone. An
	// operation that is not Live changes the instance at once: change alters it. An operation that is done ByRequest
	// is stored with its job, due at its Deadline: until the job has begun, the claim on it with fence 0 holds.
	BeginOperation(ctx context.Context, o Operation, revision int64, change func(*Instance), e audit.Entry) error
	// Operation returns one by its id; ErrNotFound.
	Operation(ctx context.Context, id string) (Operation, error)
	// Operations returns those that match, the newest first, and the next page's token.
	Operations(ctx context.Context, f OperationFilter) ([]Operation, string, error)
	// UpdateOperation reads an operation and its instance, lets change alter both, and stores both with
	// Revision one up, atomically. If change fails nothing is written and its error is returned unchanged. A move
	// that operationMoves does not list is ErrConflict. Changes to ids, projects and Revision are ignored.
	UpdateOperation(ctx context.Context, id string, change func(*Operation, *Instance) error, e audit.Entry) (Operation, error)
	// SaveProgress stores Plan, Stage, Wave, Steps and Links of an operation, and nothing else of it, without an audit
	// entry: progress is no caller's act. Its Revision goes up.
	SaveProgress(ctx context.Context, o Operation) error
	// LiveOperations counts the operations that are Live.
	LiveOperations(ctx context.Context) ([]OperationCount, error)

	// Places returns the places of all operations that are Working, those first that were queued first.
	Places(ctx context.Context) ([]Place, error)
	// GiveTurns has choose say, by their ids, which of the operations that wait have their turn now, lets begin
	// alter each of them, and stores them with their Revision one up and a job of [JobKind] for each, atomically and
	// without an audit entry. Calls of all processes follow one another: each sees the rows of the previous one. An
	// operation that does not wait any more is skipped. GiveTurns does nothing if choose names none.
	GiveTurns(ctx context.Context, choose func([]Place) []string, begin func(*Operation)) error
}

// InstanceCount counts instances.
type InstanceCount struct {
	// States are those in each state.
	States map[InstanceState]int
	// Drifted are those of which a resource was missing or changed when they were looked at last, Unseen
	// those that could not be looked at the last time.
	Drifted, Unseen int
}

// InstanceFilter selects instances in the store.
type InstanceFilter struct {
	// Project selects those of one project; empty selects all.
	Project string
	Name    string
	broker.Page
}

// OperationFilter selects operations in the store.
type OperationFilter struct {
	// Project selects those of one project; empty selects all.
	Project  string
	Instance string
	// Failed selects those that are FailedTemp.
	Failed bool
	broker.Page
}

// Job is the one that works an operation.
func (o Operation) Job() job.Job { return job.Job{Kind: JobKind, Subject: o.ID} }
