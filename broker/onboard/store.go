package onboard

import (
	"context"
	"slices"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// JobKind is the kind of the job that watches one management cluster. Its subject is the
// id of the VIM.
const JobKind = "onboard"

// Store keeps management clusters and clusters. Implementations pass
// test/conformance.OnboardStore. As in [broker.Store], a write with an entry is durable
// with it or not at all, times are kept in microseconds, and where the context carries the
// claim of a job that another worker has taken over, nothing is written (job.ErrFenced).
type Store interface {
	// EnableManagement stores a management cluster with Revision 1 and the job that watches
	// it. [broker.ErrExists] if it is enabled already, [broker.ErrNotFound] without the VIM.
	EnableManagement(ctx context.Context, m Management, e audit.Entry) error
	// Management returns one by the id of its VIM; [broker.ErrNotFound].
	Management(ctx context.Context, vim string) (Management, error)
	// Managements returns all, ordered by the id of the VIM.
	Managements(ctx context.Context) ([]Management, error)
	// UpdateManagement reads it, lets change alter it, and stores it with Revision one up and
	// a job that watches it, atomically. Changes to VIM, CreatedAt and Revision are ignored.
	// If change fails nothing is written, and its error is returned unchanged.
	UpdateManagement(ctx context.Context, vim string, change func(*Management) error, e audit.Entry) (Management, error)
	// NoteManagement stores WatchedAt and Trouble, without an entry or a new Revision;
	// [broker.ErrNotFound].
	NoteManagement(ctx context.Context, m Management) error
	// DisableManagement removes it with all its clusters. Their VIMs stay. So does deleting
	// the VIM that it is. One that is gone is success, and writes nothing.
	DisableManagement(ctx context.Context, vim string, e audit.Entry) error

	// AddCluster stores one with Revision 1. [broker.ErrExists] if the management cluster
	// has one of that namespace, name and UID.
	AddCluster(ctx context.Context, c Cluster, e audit.Entry) error
	// Cluster returns one by its id; [broker.ErrNotFound].
	Cluster(ctx context.Context, id string) (Cluster, error)
	// Clusters returns those that match, ordered by management cluster, namespace, name and
	// UID, and the next page's token.
	Clusters(ctx context.Context, f ClusterFilter) ([]Cluster, string, error)
	// UpdateCluster is as UpdateManagement; a move that moves does not list is
	// [broker.ErrConflict]. A System that another cluster of the project has which is not Retired, in any
	// management cluster, is [broker.ErrExists] with Field "system". Changes to ID,
	// Management, Namespace, Name, UID, CreatedAt and Revision are ignored.
	UpdateCluster(ctx context.Context, id string, change func(*Cluster) error, e audit.Entry) (Cluster, error)
	// DeferCluster stores Reason, Message, Attempts and Secret, without an entry or a new Revision;
	// [broker.ErrNotFound].
	DeferCluster(ctx context.Context, c Cluster) error
	// ForgetCluster removes the row of a Retired cluster, and no other. Idempotent.
	ForgetCluster(ctx context.Context, id string) error
	// CountClusters counts them by state, and those with a reason by that.
	CountClusters(ctx context.Context) (Count, error)
}

type ClusterFilter struct {
	Management string
	// Project selects those that become this project's VIMs; empty selects all.
	Project   string
	Namespace string
	Name      string
	State     State
	// System selects those that lead to this system and are not Retired.
	System string
	broker.Page
}

// Count is how many clusters there are.
type Count struct {
	States  map[State]int
	Reasons map[ClusterReason]int
	// Managements counts management clusters: those that cannot be watched, and those that
	// hold clusters because too many were gone, in Troubled and Held as well.
	Managements, Troubled, Held int
	Each                        []ManagementCount
}

// ManagementCount is how a management cluster stands.
type ManagementCount struct {
	// VIM is the name of its VIM, Project the VIM's.
	VIM, Project string
	// Age is how long ago it was last seen to be watched whole; since it was enabled, before that.
	Age time.Duration
	// Queue is how many clusters are to be looked at now, if this server watches it; Adoptions is how many credentials VIMs
	// have got from it here.
	Queue, Adoptions int
}

// Count counts all clusters and management clusters.
func (o *Onboarding) Count(ctx context.Context) (Count, error) {
	c, err := o.Store.CountClusters(ctx)
	if err != nil {
		return c, err
	}
	all, err := o.Store.Managements(ctx)
	for _, m := range all {
		c.Managements++
		if m.Trouble != "" {
			c.Troubled++
		}
		if !m.HeldAt.IsZero() {
			c.Held++
		}
		v, err := o.Broker.VIM(ctx, self(""), m.VIM)
		if err != nil {
			continue // it is being deleted
		}
		since := slices.MaxFunc([]time.Time{m.WatchedAt, m.CreatedAt}, time.Time.Compare)
		one := ManagementCount{VIM: v.Name, Project: v.Project, Age: max(0, o.Now().Sub(since))}
		one.Queue, one.Adoptions = o.depth(m.VIM)
		c.Each = append(c.Each, one)
	}
	return c, err
}

// follows notes that this server watches a management cluster, until the function that it returns is called.
func (o *Onboarding) follows(vim string, w *watcher) (end func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.live[vim] = w
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.live[vim] == w {
			delete(o.live, vim)
		}
	}
}

func (o *Onboarding) adopted(vim string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.adoptions[vim]++
}

// depth is what this server knows of a management cluster that it watches.
func (o *Onboarding) depth(vim string) (queue, adoptions int) {
	o.mu.Lock()
	w, adoptions := o.live[vim], o.adoptions[vim]
	o.mu.Unlock()
	if w != nil {
		queue = w.queue.overdue()
	}
	return queue, adoptions
}
