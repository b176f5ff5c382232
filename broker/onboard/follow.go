package onboard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/policy"
)

const (
	// leaseTTL is that of the lease on the management cluster, renewed at a third of it.
	leaseTTL = time.Hour
	// resyncEvery is how often settings are read again, VIMs looked at, and the management cluster asked whether it
	// answers, within pingLimit.
	resyncEvery = 10 * time.Second
	pingLimit   = 15 * time.Second
	// absentEvery is how often a namespace is looked for that the management cluster does not have.
	absentEvery = 5 * time.Minute
	// atOnce is how many clusters are looked at at the same time.
	atOnce = 32
	// stepLimit bounds one look at one cluster.
	stepLimit = 45 * time.Second
	// purpose is that of the leases; a policy asks for it.
	purpose = "onboarding"
)

var errChanged = errors.New("the settings have changed")

// follow watches one management cluster until ctx ends, or it is none any more.
func (o *Onboarding) follow(ctx context.Context, vim string) error {
	for {
		m, err := o.Store.Management(ctx, vim)
		if errors.Is(err, broker.ErrNotFound) { // perhaps since a process died that watched it
			return o.endLeases(ctx, vim)
		}
		if err != nil {
			return err
		}
		if err = o.watch(ctx, m); errors.Is(err, errChanged) {
			continue
		}
		if ctx.Err() == nil {
			m.Trouble = broker.Message(err)
			if noted := o.Store.NoteManagement(ctx, m); noted != nil {
				err = errors.Join(err, noted)
			}
		}
		return err
	}
}

func (o *Onboarding) watch(ctx context.Context, m Management) error {
	v, err := o.Broker.VIM(ctx, self(""), m.VIM)
	if err != nil {
		return fmt.Errorf("looking up the management cluster: %w", err)
	}
	leave, err := o.watched.Enter(v.Project)
	if err != nil {
		return &broker.Error{
			Kind:   broker.ErrUnavailable,
			Detail: fmt.Sprintf("this server watches %d management clusters of the project, as many as it does at a time", watchedOfProject),
			Remedy: "disable those that are no longer needed, or ask the broker's operator for another replica", Cause: err,
		}
	}
	defer leave()
	w := o.newWatcher(m, v)
	if err := o.endLeases(ctx, m.VIM); err != nil {
		return err
	}
	lease, err := w.lease(ctx)
	if err != nil {
		return fmt.Errorf("taking a lease on the management cluster: %w", err)
	}
	failpoint.At("onboard.leased")
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepLimit)
		defer cancel()
		if err := o.endLeases(end, m.VIM); err != nil {
			o.Log.WarnContext(ctx, "the lease on a management cluster is left to expire", "vim", m.VIM, "error", err)
		}
	}()
	if err := w.load(ctx); err != nil {
		return err
	}
	if err := w.selectNamespaces(ctx); err != nil {
		return fmt.Errorf("reading the namespaces of the management cluster: %w", err)
	}
	if err := w.leaveRows(ctx); err != nil {
		return err
	}
	defer o.follows(m.VIM, w)()
	group, ctx := errgroup.WithContext(ctx)
	for _, n := range w.namespaces() {
		group.Go(func() error { return w.watchNamespace(ctx, n) })
	}
	group.Go(func() error { return w.keepLease(ctx, lease) })
	group.Go(func() error { return w.resync(ctx) })
	group.Go(func() error {
		w.queue.run(ctx, atOnce, o.After, func(k key) time.Duration { return w.look(ctx, k) })
		return ctx.Err()
	})
	began := o.Now()
	err = group.Wait()
	if o.Now().Sub(began) > watchAgain {
		err = job.Progressed(err)
	}
	return err
}

// endLeases ends the leases on a management cluster. A process that had the job before and
// died, or is stopped, left one: no process may use that lease any more.
func (o *Onboarding) endLeases(ctx context.Context, vim string) error {
	v, err := o.Broker.VIM(ctx, self(""), vim)
	if err == nil {
		_, err = o.Broker.RevokeLeases(ctx, self(v.Project), broker.LeaseSelector{VIM: vim, Operation: operation(vim)})
	}
	if err != nil && !errors.Is(err, broker.ErrNotFound) {
		return fmt.Errorf("ending leases on the management cluster: %w", err)
	}
	return nil
}

func operation(vim string) string { return "onboard:" + vim }

// watcher follows the clusters of one management cluster.
type watcher struct {
	*Onboarding
	self  policy.Principal
	vim   broker.VIM
	queue *queue

	mu     sync.Mutex
	m      Management
	access ManagementAccess
	// troubles are what keeps namespaces from being watched; that of the management cluster itself has no namespace. absent
	// are namespaces that the management cluster does not have, noticed since when one was.
	troubles map[string]string
	absent   map[string]bool
	noticed  time.Time
	// planes are the control planes that the lease can read, withheld those that the credential may not; they were asked for
	// at planesAt, and wanted says that a cluster's is another.
	planes, withheld []string
	planesAt         time.Time
	wanted           bool
	// selected says of each namespace whether it has the labels that are asked for.
	selected map[string]bool
	// seen are the Cluster objects and versions the secrets, as they were last shown; listed
	// are the watches that showed all clusters, told those that showed all secrets.
	seen     map[key]Seen
	versions map[key]string // by the cluster's key
	listed   map[string]bool
	told     map[string]bool
	rows     map[key]map[string]Cluster // by the cluster's key, then by id
	vims     map[string]broker.VIM
	former   map[string]broker.VIM // those of rows that are gone, as they were last read
	missing  map[string]time.Time  // since when a row's cluster is not shown, by id
	reread   map[string]time.Time  // the check for which a row's secret was read again, by id
}

func (o *Onboarding) newWatcher(m Management, v broker.VIM) *watcher {
	return &watcher{
		Onboarding: o, self: self(v.Project), vim: v, m: m, queue: newQueue(o.Now),
		troubles: map[string]string{}, absent: map[string]bool{},
		planes: m.planes(),
		seen:   map[key]Seen{}, versions: map[key]string{}, listed: map[string]bool{}, told: map[string]bool{},
		rows: map[key]map[string]Cluster{},
		vims: map[string]broker.VIM{}, former: map[string]broker.VIM{}, missing: map[string]time.Time{}, reread: map[string]time.Time{},
	}
}

// lease takes a lease that reads what is watched, and nothing else. A namespace that the management cluster does not have is
// left out, and so is a control plane that no lease can read.
func (w *watcher) lease(ctx context.Context) (broker.Lease, error) {
	for {
		l, config, err := w.leaseOf(ctx)
		if err == nil {
			w.use(config)
			return l, nil
		}
		missing, is := errors.AsType[*broker.MissingNamespace](err)
		if !is || !w.leaveOut(missing.Name) {
			return l, err
		}
	}
}

func (w *watcher) leaseOf(ctx context.Context) (broker.Lease, clientconfig.Config, error) {
	planes, err := w.lendable(ctx)
	if err != nil {
		return broker.Lease{}, clientconfig.Config{}, err
	}
	w.mu.Lock()
	w.planes = planes
	w.mu.Unlock()
	return w.Broker.IssueLease(ctx, w.self, broker.LeaseRequest{
		VIM: w.m.VIM, TTL: leaseTTL, Rules: w.m.rules(planes), Namespaces: w.leased(), ClusterWide: w.m.all(),
		Format: clientconfig.JSON, Purpose: purpose, Operation: operation(w.m.VIM),
	})
}

// leaveOut has a namespace not watched; false if it is the last one.
func (w *watcher) leaveOut(namespace string) bool {
	w.trouble(namespace, "the management cluster does not have it; its clusters are not followed")
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.absent[namespace] || len(w.absent)+1 >= len(w.m.Namespaces) {
		return false
	}
	w.absent[namespace], w.noticed = true, w.Now()
	return true
}

// namespaces are those that are watched, each by a watch of its own; [AllNamespaces] by one.
func (w *watcher) namespaces() []string {
	if w.m.all() {
		return w.m.Namespaces
	}
	return w.leased()
}

// leased are the namespaces of the lease; none for one that holds in all.
func (w *watcher) leased() []string {
	if w.m.all() {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.m.Namespaces), func(n string) bool { return w.absent[n] })
}

// leaveRows says of clusters whose namespaces are not watched that they are not followed, and has those looked at whose VIMs
// are to go all the same.
func (w *watcher) leaveRows(ctx context.Context) error {
	for k, rows := range maps.Clone(w.rows) {
		for _, c := range rows {
			if c.State == StateRetiring {
				w.queue.add(k, 0)
			}
			w.mu.Lock()
			follows := w.follows(c.Namespace, true)
			w.mu.Unlock()
			if follows {
				continue
			}
			if err := w.leave(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *watcher) use(c clientconfig.Config) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.access = Access(w.m.VIM, c, w.Egress(w.vim.Project))
}

func (w *watcher) present() ManagementAccess {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.access
}

func (w *watcher) keepLease(ctx context.Context, l broker.Lease) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.After(leaseTTL / 3):
		}
		renewed, config, err := w.Broker.RenewLease(ctx, w.self, l.ID, leaseTTL)
		if err == nil {
			w.use(config)
			l = renewed
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.Log.InfoContext(ctx, "the lease on a management cluster is not renewed; taking another", "vim", w.m.VIM, "error", err)
		if l, err = w.lease(ctx); err != nil {
			return fmt.Errorf("taking a lease on the management cluster: %w", err)
		}
	}
}

// resync notices new settings, and has every cluster looked at now and then.
func (w *watcher) resync(ctx context.Context) error {
	for {
		if err := w.refresh(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.After(resyncEvery):
		}
	}
}

// refresh reads settings and VIMs again. It is [errChanged] if the settings are others.
func (w *watcher) refresh(ctx context.Context) error {
	m, err := w.Store.Management(ctx, w.m.VIM)
	if errors.Is(err, broker.ErrNotFound) || err == nil && m.Revision != w.m.Revision {
		return errChanged
	}
	if err != nil {
		return err
	}
	vims, err := w.Onboarding.vims(ctx, m.VIM)
	if err != nil {
		return err
	}
	if err := w.ping(ctx); err != nil {
		return err
	}
	w.trouble(troubleSelecting, broker.Message(w.selectNamespaces(ctx)))
	if w.planesDiffer(ctx) {
		return errChanged
	}
	w.mu.Lock()
	before := w.vims
	w.vims = vims
	if len(w.absent) > 0 && w.Now().Sub(w.noticed) >= absentEvery {
		w.mu.Unlock()
		return errChanged // perhaps the namespace is there now
	}
	all := len(w.listed) == len(w.m.Namespaces)-len(w.absent)
	var look []key
	var blocked []Cluster
	for k, rows := range w.rows {
		for _, c := range rows {
			if c.Rival != "" {
				blocked = append(blocked, c)
			}
			was, is := before[c.VIM], vims[c.VIM]
			if was.ID != "" && is.ID == "" {
				w.former[c.VIM] = was
			}
			if was.Revision != is.Revision || was.Health.Status != is.Health.Status ||
				was.Health.CanMint != is.Health.CanMint {
				look = append(look, k)
			}
		}
	}
	m.Trouble = w.troubled()
	if all && len(w.troubles) == len(w.absent) {
		m.WatchedAt = w.Now()
	}
	w.mu.Unlock()
	for _, c := range blocked {
		free, err := w.freed(ctx, c)
		if err != nil {
			return err
		}
		if free {
			look = append(look, key{c.Namespace, c.Name})
		}
	}
	w.lookAt(look)
	return w.Store.NoteManagement(ctx, m)
}

// watchAgain bounds the wait after a watch failed; a watch that lasted longer resets the wait.
const watchAgain = 30 * time.Second

// watchNamespace watches one namespace until ctx ends. A failure affects no other
// namespace's watch.
func (w *watcher) watchNamespace(ctx context.Context, namespace string) error {
	for failures := 0; ; failures++ {
		began := w.Now()
		err := w.Source.Watch(ctx, w.present, namespace, w.sight(namespace))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if w.Now().Sub(began) > watchAgain {
			failures = 0
		}
		w.trouble(namespace, broker.Message(err))
		w.Log.WarnContext(ctx, "a namespace of a management cluster cannot be watched", "vim", w.m.VIM, "namespace", namespace, "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.After(job.Spread(job.Backoff(failures+1, watchAgain))):
		}
	}
}

func (w *watcher) trouble(namespace, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if text == "" {
		delete(w.troubles, namespace)
	} else {
		w.troubles[namespace] = text
	}
}

// troubleSelecting is the place of the trouble with reading the labels of namespaces.
const troubleSelecting = AllNamespaces + " by label"

const maxTroubles = 3

// troubled says what keeps namespaces from being watched. w.mu is held.
func (w *watcher) troubled() string {
	var all []string
	for _, namespace := range slices.Sorted(maps.Keys(w.troubles)) {
		text := w.troubles[namespace]
		if namespace != "" && !strings.HasPrefix(namespace, AllNamespaces) {
			text = "namespace " + namespace + ": " + text
		}
		all = append(all, text)
	}
	if more := len(all) - maxTroubles; more > 0 {
		all = append(all[:maxTroubles], fmt.Sprintf("%d more namespaces", more))
	}
	return strings.Join(all, "; ")
}

// ping asks the management cluster whether it answers: a watch can be silent for minutes. A lease that it refuses is replaced.
func (w *watcher) ping(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, pingLimit)
	defer cancel()
	err := w.Source.Ping(bounded, w.present())
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, broker.ErrUnauthorized):
		return err // the watch begins anew, with another lease
	}
	w.trouble("", broker.Message(err))
	return nil
}

func (w *watcher) sight(namespace string) Sight {
	return Sight{
		Labels:   w.m.counts,
		Clusters: func(all []Seen) { w.sawClusters(namespace, all) },
		Cluster: func(s Seen) {
			k := key{s.Namespace, s.Name}
			if !w.saw(k, func() bool { return w.know(k, s) }) {
				w.trouble(namespace, tooMany)
			}
		},
		Gone: func(namespace, name string) {
			k := key{namespace, name}
			w.saw(k, func() bool {
				defer delete(w.seen, k)
				return w.knows(k)
			})
		},
		Secrets: func(all []SecretVersion) { w.sawSecrets(namespace, all) },
		Secret: func(s SecretVersion) {
			if s.Name != w.m.secretName(s.Cluster) {
				return // another secret of the cluster, or one that only looks like its
			}
			k := key{s.Namespace, s.Cluster}
			w.saw(k, func() bool {
				if s.Version == "" {
					delete(w.versions, k)
				} else if w.hasRoom(k) {
					w.versions[k] = s.Version
				}
				return w.knows(k)
			})
		},
	}
}

// saw has a cluster looked at if what f keeps in mind of it says so, and reports that. f runs while w.mu is held.
func (w *watcher) saw(k key, f func() bool) bool {
	w.mu.Lock()
	look := f()
	w.mu.Unlock()
	if look {
		w.queue.add(k, 0)
	}
	return look
}

func (w *watcher) lookAt(all []key) {
	for _, k := range all {
		w.queue.add(k, 0)
	}
}

func (w *watcher) sawClusters(namespace string, all []Seen) {
	w.trouble(namespace, "")
	shown := map[key]Seen{}
	for _, s := range all {
		shown[key{s.Namespace, s.Name}] = s
	}
	w.mu.Lock()
	w.listed[namespace] = true
	var look []key
	for k := range w.seen {
		if _, still := shown[k]; !still && w.scope(k.namespace) == namespace {
			delete(w.seen, k)
		}
	}
	over := false
	for k, s := range shown {
		if w.know(k, s) {
			look = append(look, k)
		} else {
			over = true
		}
	}
	for k := range w.rows {
		if _, still := shown[k]; !still && w.scope(k.namespace) == namespace {
			look = append(look, k)
		}
	}
	w.mu.Unlock()
	if over {
		w.trouble(namespace, tooMany)
	}
	w.lookAt(look)
}

func (w *watcher) sawSecrets(namespace string, all []SecretVersion) {
	w.mu.Lock()
	first := !w.told[namespace]
	w.told[namespace] = true
	before := map[key]string{}
	for k, version := range w.versions {
		if w.scope(k.namespace) == namespace {
			before[k] = version
			delete(w.versions, k)
		}
	}
	for _, s := range all {
		if k := (key{s.Namespace, s.Cluster}); s.Name == w.m.secretName(s.Cluster) && w.hasRoom(k) {
			w.versions[k] = s.Version
		}
	}
	var look []key
	for k, version := range w.versions {
		if w.scope(k.namespace) == namespace && before[k] != version {
			look = append(look, k)
		}
		delete(before, k)
	}
	look = slices.AppendSeq(look, maps.Keys(before))
	for k := range w.seen {
		if first && w.scope(k.namespace) == namespace && w.versions[k] == "" {
			look = append(look, k)
		}
	}
	w.mu.Unlock()
	w.lookAt(look)
}

// maxSeen bounds the clusters of one management cluster that are kept in mind, and twice that the
// secrets: a watch may show new ones for ever.
const maxSeen = 2 * maxClusters

const tooMany = "the management cluster has more clusters than are watched"

// know keeps in mind how a cluster is shown; false if there are too many already. Those with a
// row have a place. w.mu is held.
func (w *watcher) know(k key, s Seen) bool {
	if !w.knows(k) && len(w.seen) >= maxSeen {
		return false
	}
	w.seen[k] = s
	return true
}

// hasRoom reports whether the version of a cluster's secret is kept in mind. Half of the room is kept
// for clusters that are known. w.mu is held.
func (w *watcher) hasRoom(k key) bool {
	n := len(w.versions)
	return w.versions[k] != "" || n < maxSeen || n < 2*maxSeen && w.knows(k)
}

// knows reports whether there is something to do under a name: a name that is neither shown nor
// has a row is ignored. w.mu is held.
func (w *watcher) knows(k key) bool {
	_, shown := w.seen[k]
	return shown || len(w.rows[k]) > 0
}

func (w *watcher) load(ctx context.Context) error {
	f := ClusterFilter{Management: w.m.VIM}
	for c, err := range broker.Pages(&f.Page, func() ([]Cluster, string, error) { return w.Store.Clusters(ctx, f) }) {
		if err != nil {
			return err
		}
		w.keep(c)
	}
	var err error
	w.vims, err = w.Onboarding.vims(ctx, w.m.VIM)
	return err
}

func (w *watcher) keep(c Cluster) {
	k := key{c.Namespace, c.Name}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rows[k] == nil {
		w.rows[k] = map[string]Cluster{}
	}
	w.rows[k][c.ID] = c
}
