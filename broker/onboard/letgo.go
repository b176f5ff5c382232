package onboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// settled is how long a cluster is not shown before anybody asks whether it is gone:
	// those that vanish together are counted together.
	settled = 5 * time.Second
	// drainEvery is how often a VIM that drains is looked at.
	drainEvery = 5 * time.Second
	// silentFor is how long ago a cluster was gone whose API server does not answer: then
	// nothing is left on it that its leases could be revoked at.
	silentFor = time.Minute
	// breakerWindow is the time within which the settings bound how many VIMs are let go of.
	breakerWindow = 10 * time.Minute
)

// letGo lets go of a cluster that is not shown any more, if it is gone.
func (w *watcher) letGo(ctx context.Context, c Cluster) (time.Duration, error) {
	if c.State == StateRetiring {
		return w.retire(ctx, c)
	}
	if wait := w.missingFor(c); wait < settled {
		return settled - wait, nil
	}
	c, err := w.Store.Cluster(ctx, c.ID) // another management cluster's worker may have taken its VIM over
	if err != nil {
		return 0, err
	}
	if w.keep(c); c.State == StateRetired {
		return time.Second, nil
	}
	fresh, err := w.Source.Cluster(ctx, w.present(), c.Namespace, c.Name)
	switch {
	case err == nil && fresh.UID == c.UID: // the list was behind
		w.sight(w.scope(c.Namespace)).Cluster(fresh)
		return 0, nil
	case err != nil && !errors.Is(err, broker.ErrNotFound):
		return w.fail(ctx, c, ReasonDoubtful, "it is not listed, and not known to be gone: "+broker.Message(err))
	}
	if c.VIM == "" && c.State != StateWaiting { // an attempt that died may have made one
		v, found, err := w.find(ctx, c)
		if err != nil {
			return w.fail(ctx, c, ReasonUnavailable, broker.Message(err))
		}
		if found {
			w.remember(v)
			c.VIM = v.ID
		}
	}
	if c.VIM == "" {
		_, err := w.move(ctx, c, func(c *Cluster) { c.State, c.Reason, c.Message, c.GoneAt = StateRetired, "", "", w.Now() })
		w.forgetMissing(c.ID)
		return 0, err
	}
	if left, err := w.moves(ctx, &c); err != nil || left > 0 || c.State == StateRetired {
		return left, err
	}
	if may, err := w.mayGo(ctx); !may {
		return waitEvery, errors.Join(err, w.note(ctx, c, ReasonHeld, held))
	}
	c, err = w.move(ctx, c, func(now *Cluster) {
		now.State, now.VIM, now.GoneAt = StateRetiring, c.VIM, w.Now()
		now.Reason, now.Message, now.Attempts = ReasonDraining, draining, 0
	})
	if err != nil {
		return 0, err
	}
	w.forgetMissing(c.ID)
	failpoint.At("onboard.retiring")
	return w.retire(ctx, c)
}

const (
	draining = "its VIM is being deleted; leases on it have not ended"
	held     = "it is gone with too many others at once; its VIM stays until a person releases them"
)

func (w *watcher) missingFor(c Cluster) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.missing[c.ID].IsZero() {
		w.missing[c.ID] = w.Now()
	}
	return w.Now().Sub(w.missing[c.ID])
}

func (w *watcher) forgetMissing(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.missing, id)
}

// mayGo reports whether one more VIM may be let go of. If too many would go, it holds all
// of them, raises an alarm, and leaves the decision to a person.
func (w *watcher) mayGo(ctx context.Context) (bool, error) {
	m, err := w.Store.Management(ctx, w.m.VIM)
	if err != nil {
		return false, err
	}
	now := w.Now()
	if now.Before(m.ReleasedUntil) {
		return true, nil
	}
	if !m.HeldAt.IsZero() {
		return false, nil
	}
	all, going := 0, 0
	w.mu.Lock()
	for k, rows := range w.rows {
		for _, c := range rows {
			seen, shown := w.seen[k]
			switch {
			case c.VIM == "":
				continue
			case c.State == StateRetired && now.Sub(c.UpdatedAt) > breakerWindow:
				continue
			case c.State == StateRetired, c.State == StateRetiring, w.follows(k.namespace, true) && (!shown || seen.UID != c.UID):
				going++
			}
			all++
		}
	}
	w.mu.Unlock()
	most := max(w.m.MaxGone, all*w.m.MaxGoneShare/100)
	if going <= most {
		return true, nil
	}
	w.Log.ErrorContext(ctx, "too many clusters of a management cluster are gone at once: none is let go of until a person releases them",
		"vim", m.VIM, "gone", going, "of", all)
	act, err := w.act(ctx, Cluster{})
	if err != nil {
		return false, err
	}
	act.With(detailEvent, string(EventHeld)).With(audit.DetailReason, fmt.Sprintf("%d of %d", going, all))
	_, err = w.Store.UpdateManagement(ctx, m.VIM, func(m *Management) error {
		if m.HeldAt.IsZero() {
			m.HeldAt = now
		}
		return nil
	}, act.Failed("too many clusters are gone at once"))
	return false, err
}

// retire drains a cluster's VIM and deletes it. Once it drains, its own drain goes on, and rests where it must: here it is
// only awaited. Leases are revoked where they were issued; where the API server has not answered since the cluster was
// gone, the system that they were for no longer exists.
func (w *watcher) retire(ctx context.Context, c Cluster) (time.Duration, error) {
	v, err := w.Broker.VIM(ctx, w.self, c.VIM)
	waits := v.State == broker.VIMDraining
	silent := err == nil && w.Now().Sub(c.GoneAt) >= silentFor
	if silent {
		v, err = w.Broker.CheckVIM(ctx, w.self, c.VIM)
	}
	gone := silent && v.Health.Status == broker.HealthUnreachable
	switch {
	case err != nil:
	case waits && silent && !gone:
		return w.fail(ctx, c, ReasonDraining, draining)
	case waits && !silent:
		return drainEvery, w.note(ctx, c, ReasonDraining, draining)
	default:
		var deleted bool
		if _, deleted, err = w.Broker.DeleteVIM(ctx, w.self, c.VIM, broker.Deletion{Drain: !gone, Gone: gone}); err == nil && !deleted {
			return drainEvery, w.note(ctx, c, ReasonDraining, draining)
		}
		if known, is := errors.AsType[*broker.Error](err); gone && is && known.Next == broker.NextEndUses {
			err = cmp.Or(w.tell(ctx, v), err)
		}
	}
	if err != nil && !errors.Is(err, broker.ErrNotFound) {
		return w.fail(ctx, c, ReasonDraining, "its VIM is not deleted yet: "+broker.Message(err))
	}
	failpoint.At("onboard.vim-deleted")
	_, err = w.move(ctx, c, func(c *Cluster) { c.State, c.Reason, c.Message, c.Attempts = StateRetired, "", "", 0 })
	return 0, err
}

// tell has a VIM say that its cluster is gone: each look and each operation of what stands on it ends with that, and
// termination asks nobody.
func (w *watcher) tell(ctx context.Context, v broker.VIM) error {
	if v.Labels[broker.LabelGone] != "" {
		return nil
	}
	why, yes := suspendedGone, "true"
	_, err := w.Broker.UpdateVIM(ctx, w.self, v.ID, broker.Change{Suspended: &why, Labels: map[string]*string{broker.LabelGone: &yes}})
	return err
}

// detailNamespaces says in an entry which namespaces are watched, for whom.
func detailNamespaces(m Settings) []string {
	named := m.Namespaces
	if m.all() {
		named = append(named[:1:1], slices.Sorted(maps.Keys(m.Projects))[1:]...)
	}
	var text []string
	for _, n := range named {
		text = append(text, n+"="+m.project(n))
	}
	return []string{audit.DetailNamespaces, strings.Join(text, ",")}
}
