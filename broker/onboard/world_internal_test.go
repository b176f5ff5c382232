package onboard

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/came"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// errDown is the error of a call that a test has fail.
var errDown = &broker.Error{Kind: broker.ErrUnavailable, Detail: "it is down"}

// world is a store, a broker and a management cluster in memory. A kubeconfig is the identity of the system that it leads to.
type world struct {
	t        *testing.T
	now      time.Time
	m        Management
	rows     map[string]Cluster
	vims     map[string]broker.VIM
	clusters map[key]Seen
	secrets  map[key]ClusterSecret
	planes   map[string]string // the UIDs of control planes, by name
	labels   map[string]map[string]string
	entries  []audit.Entry
	leases   []broker.LeaseRequest
	log      bytes.Buffer

	mu     sync.Mutex
	calls  []string
	said   []string         // each call with what it was given, and what it changed
	failAt int              // which of the calls fails, from 1 on
	fails  map[string]error // those of a name that fail
	// hook is asked at each call whether it fails, deny whether policy refuses.
	hook func(call string) error
	deny func(policy.Request) bool
	// delete answers a deletion.
	delete func(broker.Deletion) (bool, error)
	// change and admission are what was last asked of a VIM, deletion of its end.
	change    broker.Change
	admission broker.Admission
	deletion  broker.Deletion
	raced     bool // an earlier attempt's VIM is found by the registry alone
}

// newWorld has a hub that watches a and b, and one cluster a/edge, which is ready and has a secret.
func newWorld(t *testing.T) *world {
	x := &world{
		t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), rows: map[string]Cluster{}, clusters: map[key]Seen{},
		secrets: map[key]ClusterSecret{}, planes: map[string]string{}, fails: map[string]error{},
		vims: map[string]broker.VIM{"hub": {ID: "hub", Name: "hub", Project: "default", State: broker.VIMRegistered, Type: vimType, Current: broker.Generation{Identity: "hub-system"}}},
	}
	s := Settings{Namespaces: []string{"a", "b"}, Projects: map[string]string{"": "north", "b": "south"}, Account: AccountEngine}
	if err := s.Complete(); err != nil {
		t.Fatal(err)
	}
	x.m = Management{VIM: "hub", Settings: s, Revision: 1, CreatedAt: x.now, UpdatedAt: x.now}
	x.put("a", "edge")
	return x
}

// put shows a cluster with a secret that leads to a system of its name.
func (x *world) put(namespace, name string) Seen {
	s := Seen{Namespace: namespace, Name: name, UID: "uid-" + name, Ready: true}
	x.clusters[key{namespace, name}] = s
	x.secretOf(s, "system-"+name, "1")
	return s
}

func (x *world) secretOf(s Seen, system, version string) {
	x.secrets[key{s.Namespace, s.Name}] = ClusterSecret{
		SecretVersion: SecretVersion{Namespace: s.Namespace, Name: s.Name + "-kubeconfig", Cluster: s.Name, Version: version},
		Owners:        []OwnerReference{{capiGroup, "Cluster", s.Name, s.UID}}, Value: secret.NewText(system),
	}
}

// drop has a cluster be gone, for longer than it takes to be missed.
func (x *world) drop(w *watcher, namespace, name string) {
	k := key{namespace, name}
	delete(x.clusters, k)
	delete(x.secrets, k)
	x.show(w)
	for id, c := range w.rows[k] {
		if c.State != StateRetiring {
			w.missing[id] = x.now.Add(-settled)
		}
	}
}

// row stores a cluster, which is a/edge but for what change says.
func (x *world) row(id string, change func(*Cluster)) Cluster {
	c := Cluster{
		ID: id, Management: "hub", Namespace: "a", Name: "edge", UID: "uid-edge", Project: "north", State: StateRegistered, VIM: "v", System: "system-edge",
		Secret: "1", CreatedAt: x.now, UpdatedAt: x.now, Revision: 1,
	}
	if change != nil {
		change(&c)
	}
	x.rows[id] = c
	return c
}

// vim stores the VIM of a/edge, but for what change says.
func (x *world) vim(id string, change func(*broker.VIM)) broker.VIM {
	v := broker.VIM{
		ID: id, Name: "a.edge", Project: "north", State: broker.VIMRegistered, Type: vimType, CreatedBy: self("").Name, Revision: 1,
		Labels: map[string]string{
			broker.LabelCluster: "uid-edge", broker.LabelManagement: "hub", broker.LabelClusterNamespace: "a", broker.LabelClusterName: "edge",
		},
		Current: broker.Generation{Number: 1, Identity: "system-edge", Discovered: broker.Discovered{Cluster: &broker.Cluster{Profile: AccountEngine}}},
		Health:  broker.Health{Status: broker.HealthReachable, CanMint: true},
	}
	if change != nil {
		change(&v)
	}
	x.vims[id] = v
	return v
}

// registered has a/edge be VIM v.
func (x *world) registered() Cluster {
	x.vim("v", nil)
	return x.row("c", nil)
}

func (x *world) onboarding() *Onboarding {
	guard := &audit.Guard{Policy: deciding{x}, Sink: sinking{x}, Now: x.clock}
	return New(Options{
		Store: &storing{x: x}, Broker: &brokering{x: x}, Source: &sourcing{x: x}, Guard: guard, Log: testlog.To(x.t, slog.NewTextHandler(&x.log, nil)),
		Now: x.clock, Egress: func(string) *egress.Rules { return nil },
	})
}

// watcher is one that has read and seen what there is.
func (x *world) watcher() *watcher {
	x.t.Helper()
	w := x.onboarding().newWatcher(x.m, x.vims["hub"])
	if err := w.load(x.t.Context()); err != nil {
		x.t.Fatal(err)
	}
	x.show(w)
	x.calls, x.said = nil, nil
	return w
}

// changed notes what a call made of a row.
func (x *world) changed(was, is any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.said = append(x.said, came.Changes(was, is)...)
}

// came keeps what came of a case: its answer, the calls from one on, what is remembered, and the log.
func (x *world) came(w *watcher, what string, from int, again time.Duration, err error) {
	next := again.String()
	if again%time.Second != 0 { // by chance, so that not all come at once
		next = "in a while"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rows[key{"a", "edge"}]) > 1 { // which of the rows comes first is chance
		return
	}
	lines := append(slices.Clone(x.said[from:]), came.Call("remembered", w.troubles, len(w.seen), len(w.rows), len(w.vims), len(w.missing), w.reread, w.wanted))
	due := []string{}
	for k, at := range w.queue.due {
		due = append(due, came.Call("due", k.namespace, k.name, at))
	}
	slices.Sort(due)
	lines = append(lines, due...)
	came.Of(x.t, nil).Add(what, fmt.Sprint(next, " ", err), append(lines, came.Logged(x.log.String())...))
}

func (x *world) show(w *watcher) {
	for _, n := range x.m.Namespaces {
		var all []Seen
		var versions []SecretVersion
		for k, s := range x.clusters {
			if w.scope(k.namespace) == n {
				all = append(all, s)
			}
		}
		for k, s := range x.secrets {
			if w.scope(k.namespace) == n {
				versions = append(versions, s.SecretVersion)
			}
		}
		w.sight(n).Clusters(all)
		w.sight(n).Secrets(versions)
	}
}

// called notes a call with what it is given, and is its failure.
func (x *world) called(name string, given ...any) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.calls = append(x.calls, name)
	x.said = append(x.said, came.Call(name, given...))
	if len(x.calls) == x.failAt {
		return errDown
	}
	if x.hook != nil {
		if err := x.hook(name); err != nil {
			return err
		}
	}
	return x.fails[name]
}

func (x *world) clock() time.Time { return x.now }

type deciding struct{ x *world }

func (d deciding) Decide(r policy.Request) policy.Decision {
	return policy.Decision{Allowed: d.x.called("decide "+string(r.Action), r.Principal, r.Resource) == nil && (d.x.deny == nil || !d.x.deny(r))}
}

type sinking struct{ x *world }

func (s sinking) Append(_ context.Context, e audit.Entry) error {
	if err := s.x.called("append", e); err != nil {
		return err
	}
	s.x.entries = append(s.x.entries, e)
	return nil
}

func (sinking) Entries(context.Context, audit.Query) ([]audit.Entry, error) { return nil, nil }

type storing struct{ x *world }

func (s *storing) EnableManagement(_ context.Context, m Management, e audit.Entry) error {
	if err := s.x.called("EnableManagement", m, e); err != nil {
		return err
	}
	if s.x.m.VIM != "" {
		return broker.ErrExists
	}
	s.x.m, s.x.entries = m, append(s.x.entries, e)
	return nil
}

func (s *storing) Management(_ context.Context, vim string) (Management, error) {
	if err := s.x.called("Management", vim); err != nil {
		return Management{}, err
	}
	if s.x.m.VIM != vim {
		return Management{}, errNone
	}
	return s.x.m, nil
}

func (s *storing) Managements(context.Context) ([]Management, error) {
	if err := s.x.called("Managements"); err != nil {
		return nil, err
	}
	return []Management{{VIM: "gone"}, s.x.m}, nil
}

func (s *storing) UpdateManagement(_ context.Context, vim string, change func(*Management) error, e audit.Entry) (Management, error) {
	if err := s.x.called("UpdateManagement", vim); err != nil {
		return Management{}, err
	}
	if s.x.m.VIM != vim {
		return Management{}, errNone
	}
	before := s.x.m
	if err := change(&s.x.m); err != nil {
		return Management{}, err
	}
	s.x.changed(before, s.x.m)
	s.x.changed(audit.Entry{}, e)
	s.x.m.Revision++
	s.x.entries = append(s.x.entries, e)
	return s.x.m, nil
}

func (s *storing) NoteManagement(_ context.Context, m Management) error {
	if err := s.x.called("NoteManagement", m.Trouble, m.WatchedAt); err != nil {
		return err
	}
	s.x.m.Trouble, s.x.m.WatchedAt = m.Trouble, m.WatchedAt
	return nil
}

func (s *storing) DisableManagement(_ context.Context, vim string, e audit.Entry) error {
	if err := s.x.called("DisableManagement", vim, e); err != nil {
		return err
	}
	s.x.m, s.x.entries = Management{}, append(s.x.entries, e)
	return nil
}

func (s *storing) AddCluster(_ context.Context, c Cluster, e audit.Entry) error {
	if err := s.x.called("AddCluster", c, e); err != nil {
		return err
	}
	for _, other := range s.x.rows {
		if other.Management == c.Management && other.Namespace == c.Namespace && other.Name == c.Name && other.UID == c.UID {
			return broker.ErrExists
		}
	}
	s.x.rows[c.ID], s.x.entries = c, append(s.x.entries, e)
	return nil
}

func (s *storing) Cluster(_ context.Context, id string) (Cluster, error) {
	if err := s.x.called("Cluster", id); err != nil {
		return Cluster{}, err
	}
	if c, ok := s.x.rows[id]; ok {
		return c, nil
	}
	return Cluster{}, errNone
}

func (s *storing) Clusters(_ context.Context, f ClusterFilter) (found []Cluster, next string, err error) {
	if err := s.x.called("Clusters", f); err != nil {
		return nil, "", err
	}
	for _, id := range slices.Sorted(maps.Keys(s.x.rows)) {
		c := s.x.rows[id]
		is := func(asked, has string) bool { return asked == "" || asked == has }
		if is(f.Management, c.Management) && is(f.Project, c.Project) && is(f.Namespace, c.Namespace) && is(f.Name, c.Name) &&
			is(string(f.State), string(c.State)) && is(f.System, c.System) && (f.System == "" || c.State != StateRetired) {
			found = append(found, c)
		}
	}
	return found, "", nil
}

func (s *storing) UpdateCluster(_ context.Context, id string, change func(*Cluster) error, e audit.Entry) (Cluster, error) {
	if err := s.x.called("UpdateCluster", id); err != nil {
		return Cluster{}, err
	}
	c, ok := s.x.rows[id]
	if !ok {
		return Cluster{}, errNone
	}
	was := c
	if err := change(&c); err != nil {
		return Cluster{}, err
	}
	if was.State != c.State && !was.State.CanMove(c.State) {
		return Cluster{}, broker.ErrConflict
	}
	s.x.changed(was, c)
	s.x.changed(audit.Entry{}, e)
	c.Revision++
	s.x.rows[id], s.x.entries = c, append(s.x.entries, e)
	return c, nil
}

func (s *storing) DeferCluster(_ context.Context, c Cluster) error {
	if err := s.x.called("DeferCluster", c); err != nil {
		return err
	}
	now, ok := s.x.rows[c.ID]
	if !ok {
		return errNone
	}
	now.Reason, now.Message, now.Attempts, now.Secret = c.Reason, c.Message, c.Attempts, c.Secret
	s.x.rows[c.ID] = now
	return nil
}

func (s *storing) ForgetCluster(_ context.Context, id string) error {
	if err := s.x.called("ForgetCluster", id); err != nil {
		return err
	}
	delete(s.x.rows, id)
	return nil
}

func (s *storing) CountClusters(context.Context) (Count, error) {
	return Count{States: map[State]int{StateWaiting: 1}}, s.x.called("CountClusters")
}

type brokering struct{ x *world }

func (b *brokering) VIM(_ context.Context, _ policy.Principal, ref string) (broker.VIM, error) {
	err := b.x.called("VIM", ref) // the registry answers with the VIM where the read cannot be recorded
	for _, v := range b.x.vims {
		if v.ID == ref || v.Name == ref || ref == "" && v.Default {
			return v, err
		}
	}
	return broker.VIM{}, cmp.Or[error](err, errNone)
}

func (b *brokering) VIMs(_ context.Context, _ policy.Principal, q broker.VIMQuery) (found []broker.VIM, next string, err error) {
	if err := b.x.called("VIMs", q); err != nil {
		return nil, "", err
	}
	for _, id := range slices.Sorted(maps.Keys(b.x.vims)) {
		v := b.x.vims[id]
		if (q.Name == "" || q.Name == v.Name) && (q.State == "" || q.State == v.State) && hasAll(v.Labels, q.Labels) {
			found = append(found, v)
		}
	}
	return found, "", nil
}

func (b *brokering) RegisterVIM(_ context.Context, p policy.Principal, r broker.Registration) (broker.VIM, error) {
	if err := b.x.called("RegisterVIM", p.Name, p.Project, r); err != nil {
		return broker.VIM{}, err
	}
	a := b.x.admission
	a.Identity = r.Kubeconfig.Reveal()
	if err := r.Admit(a); err != nil {
		return broker.VIM{}, err
	}
	for _, v := range b.x.vims {
		if v.Name == r.Name && v.Project == r.Project {
			if b.x.raced {
				return broker.VIM{}, broker.ErrConflict
			}
			return broker.VIM{}, &broker.Error{Kind: broker.ErrExists, Field: "name"}
		}
	}
	return b.x.vim(cmp.Or(r.ID, "new"), func(v *broker.VIM) {
		v.Name, v.Project, v.Labels, v.CreatedBy, v.Current.Identity = r.Name, r.Project, r.Labels, p.Name, a.Identity
	}), nil
}

func (b *brokering) UpdateVIM(_ context.Context, _ policy.Principal, id string, c broker.Change) (broker.VIM, error) {
	if err := b.x.called("UpdateVIM", id, c); err != nil {
		return broker.VIM{}, err
	}
	b.x.change = c
	v := b.x.vims[id]
	if !c.Kubeconfig.Empty() {
		if c.Kubeconfig.Reveal() != v.Current.Identity {
			return broker.VIM{}, &broker.Error{Kind: broker.ErrConflict, Field: "endpoint"}
		}
		v.Current.Number++
	}
	if c.Suspended != nil {
		v.Suspended = *c.Suspended
	}
	v.Labels = maps.Clone(v.Labels)
	for name, value := range c.Labels {
		if v.Labels[name] = ""; value != nil {
			v.Labels[name] = *value
		}
	}
	v.Revision++
	b.x.vims[id] = v
	return v, nil
}

func (b *brokering) SameTarget(_ context.Context, _ policy.Principal, id string, kubeconfig secret.Text) (bool, error) {
	return kubeconfig.Reveal() == b.x.vims[id].Current.Identity, b.x.called("SameTarget", id, kubeconfig)
}

func (b *brokering) CheckVIM(_ context.Context, _ policy.Principal, id string) (broker.VIM, error) {
	if err := b.x.called("CheckVIM", id); err != nil {
		return broker.VIM{}, err
	}
	return b.x.vims[id], nil
}

func (b *brokering) DeleteVIM(_ context.Context, _ policy.Principal, id string, d broker.Deletion) (broker.VIM, bool, error) {
	if err := b.x.called("DeleteVIM", id, d); err != nil {
		return broker.VIM{}, false, err
	}
	b.x.deletion = d
	if b.x.delete != nil {
		gone, err := b.x.delete(d)
		return b.x.vims[id], gone, err
	}
	delete(b.x.vims, id)
	return broker.VIM{}, true, nil
}

func (b *brokering) WeighLease(_ context.Context, _ policy.Principal, r broker.LeaseRequest) (broker.Lease, error) {
	return broker.Lease{}, b.x.called("WeighLease", r)
}

func (b *brokering) IssueLease(_ context.Context, _ policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	b.x.leases = append(b.x.leases, r)
	return broker.Lease{ID: "l", Operation: r.Operation}, clientconfig.Config{}, b.x.called("IssueLease", r)
}

func (b *brokering) RenewLease(_ context.Context, _ policy.Principal, id string, ttl time.Duration) (broker.Lease, clientconfig.Config, error) {
	return broker.Lease{ID: "l"}, clientconfig.Config{}, b.x.called("RenewLease", id, ttl)
}

func (b *brokering) RevokeLeases(_ context.Context, p policy.Principal, s broker.LeaseSelector) ([]broker.Lease, error) {
	return nil, b.x.called("RevokeLeases", p.Project, s)
}

type sourcing struct{ x *world }

func (s *sourcing) Watch(ctx context.Context, _ func() ManagementAccess, namespace string, _ Sight) error {
	if err := s.x.called("Watch", namespace); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

func (s *sourcing) Ping(context.Context, ManagementAccess) error { return s.x.called("Ping") }

func (s *sourcing) Namespaces(context.Context, ManagementAccess) (map[string]map[string]string, error) {
	return s.x.labels, s.x.called("Namespaces")
}

func (s *sourcing) Cluster(_ context.Context, _ ManagementAccess, namespace, name string) (Seen, error) {
	if err := s.x.called("source.Cluster", namespace, name); err != nil {
		return Seen{}, err
	}
	if c, ok := s.x.clusters[key{namespace, name}]; ok {
		return c, nil
	}
	return Seen{}, errNone
}

func (s *sourcing) Secret(_ context.Context, _ ManagementAccess, namespace, name, entry string) (ClusterSecret, error) {
	if err := s.x.called("Secret", namespace, name, entry); err != nil {
		return ClusterSecret{}, err
	}
	for k, got := range s.x.secrets {
		if k.namespace == namespace && got.Name == name {
			return got, nil
		}
	}
	return ClusterSecret{}, errNone
}

func (s *sourcing) ControlPlane(_ context.Context, _ ManagementAccess, namespace, group, plural, name string) (string, error) {
	if err := s.x.called("ControlPlane", namespace, group, plural, name); err != nil {
		return "", err
	}
	if uid, ok := s.x.planes[name]; ok {
		return uid, nil
	}
	return "", errNone
}

var errNone = &broker.Error{Kind: broker.ErrNotFound, Detail: "not found"}
