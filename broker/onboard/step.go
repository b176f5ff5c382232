package onboard

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// maxClusters bounds the clusters of one management cluster.
	maxClusters = 10_000
	// maxRetry is the longest wait after a failure, doubtEvery that for a change that
	// only a person or a tenant can make.
	maxRetry   = 5 * time.Minute
	doubtEvery = 5 * time.Minute
	// waitEvery is how often a cluster is looked at that waits for something else than an answer.
	waitEvery = time.Minute
)

// look looks at one cluster, and returns when to look again.
func (w *watcher) look(ctx context.Context, k key) time.Duration {
	bounded, cancel := context.WithTimeout(ctx, stepLimit)
	defer cancel()
	again, err := w.step(bounded, k)
	if err != nil && ctx.Err() == nil && !errors.Is(err, job.ErrFenced) {
		w.Log.WarnContext(ctx, "a cluster cannot be followed now", "vim", w.m.VIM, "namespace", k.namespace, "cluster", k.name, "error", err)
		return job.Spread(job.Backoff(4, maxRetry))
	}
	return again
}

// step compares what the management cluster shows under one name with the rows, and does
// what there is to do now. Zero: nothing more until something changes. Its errors are the
// store's.
func (w *watcher) step(ctx context.Context, k key) (again time.Duration, err error) {
	w.mu.Lock()
	seen, shown := w.seen[k]
	listed := w.listed[w.scope(k.namespace)]
	follows, takes := w.follows(k.namespace, true), w.follows(k.namespace, false)
	rows := make([]Cluster, 0, len(w.rows[k]))
	total := 0
	for _, c := range w.rows[k] {
		rows = append(rows, c)
	}
	for _, others := range w.rows {
		total += len(others)
	}
	w.mu.Unlock()

	sooner := func(d time.Duration, failed error) {
		err = errors.Join(err, failed)
		if d > 0 {
			again = min(d, cmp.Or(again, d))
		}
	}
	var mine *Cluster
	for _, c := range rows {
		switch {
		case c.State == StateRetired && shown && c.UID == seen.UID: // its management cluster was restored from a backup
			sooner(0, w.drop(ctx, c))
		case c.State == StateRetired:
			sooner(w.forget(ctx, c))
		case !follows && c.State != StateRetiring:
			sooner(0, w.leave(ctx, c))
		case shown && c.UID == seen.UID && c.State != StateRetiring:
			mine = &c
		case listed || c.State == StateRetiring:
			sooner(w.letGo(ctx, c))
		}
	}
	switch {
	case !shown || err != nil:
		return again, err
	case mine != nil:
		w.forgetMissing(mine.ID)
	case !takes || !w.m.selects(seen) || seen.Deleting:
		return again, nil
	case total >= maxClusters:
		w.trouble(w.scope(k.namespace), "it has more clusters than are followed")
		return again, nil
	default:
		c, failed := w.add(ctx, seen)
		if failed != nil {
			return again, failed
		}
		mine = &c
	}
	sooner(w.follow1(ctx, *mine, seen))
	return again, err
}

// follow1 does what there is to do for a cluster that is there.
func (w *watcher) follow1(ctx context.Context, c Cluster, s Seen) (time.Duration, error) {
	if !w.m.selects(s) {
		return 0, w.note(ctx, c, ReasonNotSelected,
			"the cluster does not have the labels or the annotation that are asked for any more; its VIM stays, and is not followed")
	}
	if c.VIM == "" { // another server may have taken its pushed kubeconfig
		now, err := w.Store.Cluster(ctx, c.ID)
		if err != nil {
			return 0, err
		}
		w.keep(now)
		c = now
	}
	if c.VIM == "" {
		return w.register(ctx, c, s)
	}
	return w.upkeep(ctx, c, s)
}

func (w *watcher) add(ctx context.Context, s Seen) (Cluster, error) {
	now := w.Now()
	c := Cluster{
		ID: uuid.NewString(), Management: w.m.VIM, Namespace: s.Namespace, Name: s.Name, UID: s.UID, Project: w.m.project(s.Namespace),
		State: StateWaiting, Reason: ReasonNotReady, Message: notReady, CreatedAt: now, UpdatedAt: now, Revision: 1,
	}
	act, err := w.act(ctx, c)
	if err != nil {
		return c, err
	}
	err = w.Store.AddCluster(ctx, c, act.Done(audit.DetailNew+detailState, string(c.State)))
	if errors.Is(err, broker.ErrExists) { // a write took effect whose answer was lost
		c, err = w.stored(ctx, s, err)
	}
	if err != nil {
		return c, err
	}
	failpoint.At("onboard.added")
	w.keep(c)
	return c, nil
}

// stored is the row of a cluster as it is now; missing if there is none.
func (w *watcher) stored(ctx context.Context, s Seen, missing error) (Cluster, error) {
	found, _, err := w.Store.Clusters(ctx, ClusterFilter{Management: w.m.VIM, Namespace: s.Namespace, Name: s.Name})
	if at := slices.IndexFunc(found, func(c Cluster) bool { return c.UID == s.UID }); at >= 0 {
		return found[at], nil
	}
	return Cluster{}, errors.Join(err, missing)
}

const notReady = "its control plane is not up yet"

// act decides that the broker may change what is stored of a cluster.
func (w *watcher) act(ctx context.Context, c Cluster) (*audit.Act, error) {
	act, err := w.desk.Enter(ctx, w.self, policy.ClusterFollow, w.vim.Resource())
	if err != nil {
		return nil, err
	}
	return act.With(detailCluster, c.Namespace+"/"+c.Name).With(detailProject, c.Project), nil
}

// Details of audit entries about clusters.
const (
	detailCluster    = "cluster"
	detailClusterVIM = "clusterVIM"
	detailProject    = "clusterProject" // whose VIM it is or becomes
	detailState      = "state"          // behind old. and new.
	detailSecret     = "secret"         // behind new.: the version of the secret that was adopted or refused
	detailVIMName    = "clusterVIMName"
	detailLabel      = "label."       // before the key of a label that the VIM has from the Cluster
	detailEvent      = "clusterEvent" // the kind of an event of a management cluster
)

// move changes what is stored of a cluster, with an entry.
func (w *watcher) move(ctx context.Context, c Cluster, change func(*Cluster)) (Cluster, error) {
	act, err := w.act(ctx, c)
	if err != nil {
		return c, err
	}
	after := c
	change(&after)
	w.name(act, cmp.Or(after.VIM, c.VIM))
	detail := []string{audit.DetailReason, string(after.Reason)}
	if after.Reason != c.Reason {
		detail = append(detail, audit.DetailOld+audit.DetailReason, string(c.Reason))
	}
	if after.State != c.State {
		detail = append(detail, audit.DetailOld+detailState, string(c.State), audit.DetailNew+detailState, string(after.State))
	}
	if after.Secret != c.Secret && after.Secret != "" {
		detail = append(detail, audit.DetailNew+detailSecret, after.Secret)
	}
	stored, err := w.Store.UpdateCluster(ctx, c.ID, func(now *Cluster) error {
		change(now)
		now.UpdatedAt = w.Now()
		return nil
	}, act.Done(detail...))
	if err != nil {
		return c, err
	}
	w.keep(stored)
	return stored, nil
}

// name says in an entry which VIM it is about, as it was last read.
func (w *watcher) name(act *audit.Act, vim string) {
	if vim == "" {
		return
	}
	act.With(detailClusterVIM, vim)
	v, there := w.cached(vim)
	if !there {
		v = w.wasVIM(vim)
	}
	if v.Name != "" {
		act.With(detailVIMName, v.Name)
	}
	for key, value := range v.Labels {
		if strings.HasPrefix(key, copiedPrefix) {
			act.With(detailLabel+key, value)
		}
	}
}

// wasVIM is a VIM that is gone, as it was last read.
func (w *watcher) wasVIM(id string) broker.VIM {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.former[id]
	delete(w.former, id)
	return v
}

// announce is note with an entry where the cluster begins or ends to be suspended: that is told outside.
func (w *watcher) announce(ctx context.Context, c Cluster, why ClusterReason, text string) error {
	if suspends[why] == suspends[c.Reason] {
		return w.note(ctx, c, why, text)
	}
	_, err := w.move(ctx, c, func(c *Cluster) { c.Reason, c.Message, c.Attempts = why, text, 0 })
	return err
}

// note stores why a cluster is not well, without an entry: that is an observation.
func (w *watcher) note(ctx context.Context, c Cluster, why ClusterReason, text string) error {
	if c.Reason == why && c.Message == text && c.Attempts == 0 {
		return nil
	}
	c.Reason, c.Message, c.Attempts = why, text, 0
	return w.putOff(ctx, c)
}

// fail is note for what failed, and returns when to try again.
func (w *watcher) fail(ctx context.Context, c Cluster, why ClusterReason, text string) (time.Duration, error) {
	c.Reason, c.Message, c.Attempts = why, text, c.Attempts+1
	return job.Spread(job.Backoff(c.Attempts, maxRetry)), w.putOff(ctx, c)
}

func (w *watcher) putOff(ctx context.Context, c Cluster) error {
	if err := w.Store.DeferCluster(ctx, c); err != nil {
		return err
	}
	w.keep(c)
	return nil
}

// forget removes the row of a cluster that has been retired for long enough.
func (w *watcher) forget(ctx context.Context, c Cluster) (time.Duration, error) {
	if left := c.UpdatedAt.Add(KeepRetired).Sub(w.Now()); left > 0 {
		return left, nil
	}
	return 0, w.drop(ctx, c)
}

func (w *watcher) drop(ctx context.Context, c Cluster) error {
	if err := w.Store.ForgetCluster(ctx, c.ID); err != nil {
		return err
	}
	w.mu.Lock()
	delete(w.rows[key{c.Namespace, c.Name}], c.ID)
	w.mu.Unlock()
	return nil
}

// version is the last version shown of the cluster's secret; empty if there is none.
func (w *watcher) version(c Cluster) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.versions[key{c.Namespace, c.Name}]
}

// secretless reports whether the secrets of the cluster's namespace were all shown, and its is not
// among them.
func (w *watcher) secretless(c Cluster) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.told[w.scope(c.Namespace)] && w.versions[key{c.Namespace, c.Name}] == ""
}

func (w *watcher) cached(id string) (broker.VIM, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, ok := w.vims[id]
	return v, ok
}

func (w *watcher) remember(v broker.VIM) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.vims[v.ID] = v
}
