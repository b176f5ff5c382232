package onboard

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// Watched is a watcher that a test drives step by step.
type Watched struct{ w *watcher }

// Watch makes one, which has read the rows that there are.
func (o *Onboarding) Watch(ctx context.Context, m Management, v broker.VIM) (Watched, error) {
	w := o.newWatcher(m, v)
	if err := w.load(ctx); err != nil {
		return Watched{w}, err
	}
	return Watched{w}, w.selectNamespaces(ctx)
}

// Sight is what a namespace's watch shows.
func (w Watched) Sight(namespace string) Sight { return w.w.sight(namespace) }

// Reads has the lease read these control planes alone.
func (w Watched) Reads(planes ...string) { w.w.planes = planes }

// Step looks at one cluster.
func (w Watched) Step(ctx context.Context, namespace, name string) (time.Duration, error) {
	return w.w.step(ctx, key{namespace, name})
}

// Look looks at one cluster that is due, if there is one.
func (w Watched) Look(ctx context.Context) {
	if k, _, due := w.w.queue.take(); due {
		w.w.look(ctx, k)
		w.w.queue.done(k)
	}
}

// Refresh reads the VIMs again.
func (w Watched) Refresh(ctx context.Context) error { return w.w.refresh(ctx) }

// Moves is the state machine of clusters.
func Moves() map[State][]State { return moves }

// Settled and SilentFor are waits before a cluster is let go of.
const (
	Settled   = settled
	SilentFor = silentFor
)

// ErrChanged ends a watch whose settings have changed.
var ErrChanged = errChanged
