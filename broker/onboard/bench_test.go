package onboard_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/testlog"
)

var (
	root  = policy.Principal{Name: "root", Project: "default", Roles: []string{policy.RoleAdmin}}
	alice = policy.Principal{Name: "alice", Project: "north", Roles: []string{policy.RoleMember}}
	bob   = policy.Principal{Name: "bob", Project: "south", Roles: []string{policy.RoleMember}}
)

// bench is a broker whose clusters are fakes at the network; what the management cluster
// shows is told.
type bench struct {
	*broker.Broker
	*onboard.Onboarding
	t      *testing.T
	clock  *clock.Clock
	store  *sqlite.Store
	source *source
	hub    broker.VIM
	m      onboard.Management
	w      onboard.Watched
	log    *fake.Buffer
	dir    string
	kubes  map[string]*fakekube.Server
	closed string // the project that may connect to nothing here
	// drivers are those beside the one of Kubernetes.
	drivers []broker.Driver
}

func newBench(t *testing.T, change ...func(*onboard.Settings)) *bench {
	t.Helper()
	b := &bench{
		t: t, clock: clock.New(time.Now().UTC().Truncate(time.Second)), log: &fake.Buffer{}, dir: t.TempDir(),
		source: &source{clusters: map[string]onboard.Seen{}, secrets: map[string]onboard.ClusterSecret{}, planes: map[string]string{}},
		kubes:  map[string]*fakekube.Server{},
	}
	log := testlog.To(t, slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var err error
	if b.store, err = quickstore.Open(t.Context(), sqlite.Options{Path: filepath.Join(b.dir, "data", "vimbroker.db"), Now: b.clock.Now, Log: log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.store.Close() })
	b.serve(func(*broker.Terms) {})
	if b.hub, err = b.RegisterVIM(t.Context(), root, broker.Registration{Name: "hub", Kubeconfig: secret.NewText(b.kube("hub").Kubeconfig())}); err != nil {
		t.Fatal(err)
	}
	m := onboard.Settings{Namespaces: []string{"a", "b"}, Projects: map[string]string{"": "north", "b": "south"}}
	for _, c := range change {
		c(&m)
	}
	if b.m, err = b.Enable(t.Context(), root, "hub", m); err != nil {
		t.Fatal(err)
	}
	b.watch()
	return b
}

// serve makes the broker and its onboarding, as a process that starts with these terms.
func (b *bench) serve(change func(*broker.Terms)) {
	b.t.Helper()
	log := testlog.To(b.t, slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	keys, err := keydir.Open(filepath.Join(b.dir, "keys"))
	if err != nil {
		b.t.Fatal(err)
	}
	policies, err := policy.Load(nil)
	if err != nil {
		b.t.Fatal(err)
	}
	open, shut := egress.Default(), egress.Default()
	open.AllowLoopback = true
	rules := func(project string) *egress.Rules {
		if project == b.closed {
			return shut
		}
		return open
	}
	terms := broker.DefaultTerms()
	terms.CallTimeout = 5 * time.Second
	change(&terms)
	if b.Broker, err = broker.New(broker.Options{
		Store: b.store, Keys: []secret.KeyStore{keys}, Policy: policies, Terms: terms, Log: log, Now: b.clock.Now,
		Drivers: append([]broker.Driver{kubernetes.New(kubernetes.Options{Now: b.clock.Now, Log: log})}, b.drivers...),
		Egress:  rules,
	}); err != nil {
		b.t.Fatal(err)
	}
	b.Onboarding = onboard.New(onboard.Options{
		Store: b.store, Broker: b.Broker, Source: b.source, Guard: b.Broker.Guard(),
		Egress: rules, Log: log, Now: b.clock.Now,
	})
}

// watch begins to watch, as a process does that has just started.
func (b *bench) watch() {
	b.t.Helper()
	m, err := b.store.Management(b.t.Context(), b.hub.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	if b.w, err = b.Onboarding.Watch(b.t.Context(), m, b.hub); err != nil {
		b.t.Fatal(err)
	}
	b.show()
}

// show lists what there is.
func (b *bench) show() {
	watched := []string{"a", "b"}
	if b.m.Namespaces[0] == onboard.AllNamespaces {
		watched = b.m.Namespaces
	}
	for _, namespace := range watched {
		s := b.w.Sight(namespace)
		s.Clusters(b.source.all(namespace))
		s.Secrets(b.source.versions(namespace))
	}
}

// kube is the API server that a cluster is.
func (b *bench) kube(name string) *fakekube.Server {
	b.t.Helper()
	if b.kubes[name] == nil {
		b.kubes[name] = fakekube.New(b.t, fakekube.Options{Now: b.clock.Now})
	}
	return b.kubes[name]
}

// cluster shows a Cluster that is ready, with its secret.
func (b *bench) cluster(namespace, name string) onboard.Seen {
	b.t.Helper()
	s := onboard.Seen{Namespace: namespace, Name: name, UID: "uid-" + namespace + "-" + name, Ready: true}
	b.source.put(s)
	b.secret(s, b.kube(namespace+"/"+name).Kubeconfig())
	return s
}

// secret writes a cluster's secret as the core manager does.
func (b *bench) secret(s onboard.Seen, kubeconfig string) { b.secretAs(s, kubeconfig, nil) }

func (b *bench) secretAs(s onboard.Seen, kubeconfig string, change func(*onboard.ClusterSecret)) {
	got := onboard.ClusterSecret{
		SecretVersion: onboard.SecretVersion{Name: s.Name + "-kubeconfig", Cluster: s.Name},
		Owners:        []onboard.OwnerReference{{Group: "cluster.x-k8s.io", Kind: "Cluster", Name: s.Name, UID: s.UID}},
		Value:         secret.NewText(kubeconfig),
	}
	if change != nil {
		change(&got)
	}
	b.source.putSecret(s.Namespace, s.Name+"-kubeconfig", got)
	b.show()
}

// look shows what there is, and looks at a cluster until nothing is to be done at once.
func (b *bench) look(namespace, name string) time.Duration {
	b.t.Helper()
	b.show()
	switch err := b.w.Refresh(b.t.Context()); {
	case errors.Is(err, onboard.ErrChanged):
		b.watch()
	case err != nil:
		b.t.Fatalf("Refresh() = %v", err)
	}
	again, err := b.w.Step(b.t.Context(), namespace, name)
	if err != nil {
		b.t.Fatalf("Step(%s/%s) = %v", namespace, name, err)
	}
	return again
}

// gone waits until a cluster that vanished is looked for, and looks.
func (b *bench) gone(namespace, name string) {
	b.t.Helper()
	b.look(namespace, name)
	b.clock.Add(onboard.Settled)
	b.look(namespace, name)
}

// rows are those of one name.
func (b *bench) rows(namespace, name string) []onboard.Cluster {
	b.t.Helper()
	found, _, err := b.store.Clusters(b.t.Context(), onboard.ClusterFilter{Namespace: namespace, Name: name})
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

// row is the only one of its name.
func (b *bench) row(namespace, name string) onboard.Cluster {
	b.t.Helper()
	found := b.rows(namespace, name)
	if len(found) != 1 {
		b.t.Fatalf("%s/%s has %d rows, want 1", namespace, name, len(found))
	}
	return found[0]
}

func (b *bench) want(namespace, name string, state onboard.State, why onboard.ClusterReason) onboard.Cluster {
	b.t.Helper()
	c := b.row(namespace, name)
	if c.State != state || c.Reason != why {
		b.t.Fatalf("%s/%s is %s (%s: %s), want %s (%s)", namespace, name, c.State, c.Reason, c.Message, state, why)
	}
	return c
}

func (b *bench) vim(id string) broker.VIM {
	b.t.Helper()
	v, err := b.VIM(b.t.Context(), root, id)
	if err != nil {
		b.t.Fatalf("VIM(%s) = %v", id, err)
	}
	return v
}

// vims are all VIMs but the hub.
func (b *bench) vims() []broker.VIM {
	b.t.Helper()
	all, _, err := b.VIMs(b.t.Context(), root, broker.VIMQuery{})
	if err != nil {
		b.t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(v broker.VIM) bool { return v.ID == b.hub.ID })
}

func (b *bench) lease(p policy.Principal, vim string) broker.Lease {
	b.t.Helper()
	l, _, err := b.IssueLease(b.t.Context(), p, broker.LeaseRequest{VIM: vim, Role: "view", Namespaces: []string{"default"}})
	if err != nil {
		b.t.Fatalf("IssueLease(%s) = %v", vim, err)
	}
	return l
}

func (b *bench) leaseRow(id string) broker.Lease {
	b.t.Helper()
	l, err := b.store.Lease(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

// source is what a test says that the management cluster shows.
type source struct {
	mu         sync.Mutex
	clusters   map[string]onboard.Seen
	secrets    map[string]onboard.ClusterSecret
	planes     map[string]string
	namespaces map[string]map[string]string
	fail       error // of Cluster
	silent     error // of Ping
	version    int
	reads      int    // of secrets
	entry      string // of a secret, as it was last asked for
	shows      bool   // in Watch
}

var errNone = &broker.Error{Kind: broker.ErrNotFound, Detail: "not found"}

func (s *source) put(c onboard.Seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clusters[c.Namespace+"/"+c.Name] = c
}

func (s *source) drop(namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clusters, namespace+"/"+name)
	delete(s.secrets, namespace+"/"+name+"-kubeconfig")
}

func (s *source) putSecret(namespace, name string, got onboard.ClusterSecret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	got.Namespace, got.Name, got.Version = namespace, name, fmt.Sprintf("uid/%d", s.version)
	s.secrets[namespace+"/"+name] = got
}

func (s *source) all(namespace string) (all []onboard.Seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.clusters {
		if c.Namespace == namespace || namespace == onboard.AllNamespaces {
			all = append(all, c)
		}
	}
	return all
}

func (s *source) versions(namespace string) (all []onboard.SecretVersion) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, got := range s.secrets {
		if (strings.HasPrefix(at, namespace+"/") || namespace == onboard.AllNamespaces) && got.Cluster != "" {
			all = append(all, got.SecretVersion)
		}
	}
	return all
}

// Watch implements [onboard.Source].
func (s *source) Watch(ctx context.Context, _ func() onboard.ManagementAccess, namespace string, sight onboard.Sight) error {
	if s.shows {
		sight.Clusters(s.all(namespace))
		sight.Secrets(s.versions(namespace))
	}
	<-ctx.Done()
	return ctx.Err()
}

// Namespaces implements [onboard.Source].
func (s *source) Namespaces(context.Context, onboard.ManagementAccess) (map[string]map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.namespaces), s.silent
}

// label makes a namespace with labels; nil removes it.
func (s *source) label(namespace string, labels map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.namespaces == nil {
		s.namespaces = map[string]map[string]string{}
	}
	if s.namespaces[namespace] = labels; labels == nil {
		delete(s.namespaces, namespace)
	}
}

// Ping implements [onboard.Source].
func (s *source) Ping(context.Context, onboard.ManagementAccess) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.silent
}

// Cluster implements [onboard.Source].
func (s *source) Cluster(_ context.Context, _ onboard.ManagementAccess, namespace, name string) (onboard.Seen, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return onboard.Seen{}, s.fail
	}
	c, ok := s.clusters[namespace+"/"+name]
	if !ok {
		return onboard.Seen{}, errNone
	}
	return c, nil
}

// Secret implements [onboard.Source].
func (s *source) Secret(_ context.Context, _ onboard.ManagementAccess, namespace, name, entry string) (onboard.ClusterSecret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entry = entry
	s.reads++
	got, ok := s.secrets[namespace+"/"+name]
	if !ok {
		return onboard.ClusterSecret{}, errNone
	}
	return got, nil
}

// ControlPlane implements [onboard.Source].
func (s *source) ControlPlane(_ context.Context, _ onboard.ManagementAccess, namespace, group, plural, name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	uid, ok := s.planes[namespace+"/"+plural+"."+group+"/"+name]
	if !ok {
		return "", errNone
	}
	return uid, nil
}

func wantKind(t *testing.T, what string, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s = %v, want %v", what, err, kind)
	}
}
