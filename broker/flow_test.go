package broker_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/testlog"
)

var (
	alice  = policy.Principal{Name: "alice", Project: "demo", Roles: []string{policy.RoleMember}}
	bob    = policy.Principal{Name: "bob", Project: "demo", Roles: []string{policy.RoleMember}}
	rita   = policy.Principal{Name: "rita", Project: "demo", Roles: []string{policy.RoleReader}}
	mallet = policy.Principal{Name: "mallet", Project: "other", Roles: []string{policy.RoleMember}}
	root   = policy.Principal{Name: "root", Project: "admin", Roles: []string{policy.RoleAdmin}}
)

// faultyStore is the SQLite store with queued errors: the next call of a method
// by that name fails, or takes effect and its answer is lost.
type faultyStore struct {
	broker.Store
	mu   sync.Mutex
	next map[string]int
}

var errQueued = &broker.Error{Kind: broker.ErrUnavailable, Detail: "queued failure"}

// fail makes the nth next call (1 is the next one) of a method fail.
func (s *faultyStore) fail(method string, nth int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next[method] = nth
}

func (s *faultyStore) due(method string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next[method] == 0 {
		return false
	}
	s.next[method]--
	return s.next[method] == 0
}

func (s *faultyStore) UpdateVIM(ctx context.Context, id string, change func(*broker.VIM) error, e audit.Entry) (broker.VIM, error) {
	if s.due("UpdateVIM") {
		return broker.VIM{}, errQueued
	}
	return s.Store.UpdateVIM(ctx, id, change, e)
}

func (s *faultyStore) DeleteVIM(ctx context.Context, id string, force bool, e audit.Entry) error {
	if s.due("DeleteVIM") {
		return errQueued
	}
	return s.Store.DeleteVIM(ctx, id, force, e)
}

func (s *faultyStore) UpdateLease(ctx context.Context, id string, change func(*broker.Lease) error, e audit.Entry) (broker.Lease, error) {
	if s.due("UpdateLease") {
		return broker.Lease{}, errQueued
	}
	l, err := s.Store.UpdateLease(ctx, id, change, e)
	if s.due("UpdateLease answer") {
		return broker.Lease{}, errQueued
	}
	return l, err
}

func (s *faultyStore) Lease(ctx context.Context, id string) (broker.Lease, error) {
	if s.due("Lease") {
		return broker.Lease{}, errQueued
	}
	return s.Store.Lease(ctx, id)
}

func (s *faultyStore) Rekey(ctx context.Context, id string, change func(*broker.VIM, []broker.Lease) error, e audit.Entry) (broker.VIM, error) {
	if s.due("Rekey") {
		return broker.VIM{}, errQueued
	}
	return s.Store.Rekey(ctx, id, change, e)
}

func (s *faultyStore) RecordTokenUses(ctx context.Context, uses map[string]time.Time) error {
	if s.due("RecordTokenUses") {
		return errQueued
	}
	return s.Store.RecordTokenUses(ctx, uses)
}

func (s *faultyStore) Append(ctx context.Context, e audit.Entry) error {
	if s.due("Append") {
		return errQueued
	}
	return s.Store.Append(ctx, e)
}

// bench is a broker on the embedded defaults, before a fake API server.
type bench struct {
	*broker.Broker
	options broker.Options
	t       testing.TB
	dir     string
	kube    *fakekube.Server
	store   *faultyStore
	keys    secret.KeyStore
	clock   *clock.Clock
	log     *bytes.Buffer
}

type benchOptions struct {
	terms    func(*broker.Terms)
	policies map[string][]byte
	holders  broker.TokenHolders
	lag      time.Duration
}

func newBench(t testing.TB, o benchOptions) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), clock: clock.New(time.Now().UTC().Truncate(time.Second)), log: &bytes.Buffer{}}
	b.kube = fakekube.New(t, fakekube.Options{Now: b.clock.Now, CacheLag: o.lag})
	b.reopen()
	log := b.logger()
	policies, err := policy.Load(o.policies)
	if err != nil {
		t.Fatal(err)
	}
	rules := egress.Default()
	rules.AllowLoopback = true
	terms := broker.DefaultTerms()
	terms.CallTimeout = 5 * time.Second
	if o.terms != nil {
		o.terms(&terms)
	}
	b.options = broker.Options{
		Store: b.store, Keys: []secret.KeyStore{b.keys}, Policy: policies, Terms: terms, Log: log, Now: b.clock.Now,
		Drivers: []broker.Driver{kubernetes.New(kubernetes.Options{Now: b.clock.Now, Log: log})},
		Egress:  func(string) *egress.Rules { return rules },
		Holders: o.holders,
	}
	b.Broker = mustNew(t, b.options)
	return b
}

func (b *bench) logger() *slog.Logger {
	return testlog.To(b.t, slog.NewTextHandler(&lockedWriter{w: b.log}, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// reopen opens the stores of the bench's directory.
func (b *bench) reopen() {
	b.t.Helper()
	path := filepath.Join(b.dir, "data", "vimbroker.db")
	store, err := quickstore.Open(b.t.Context(), sqlite.Options{Path: path, Now: b.clock.Now, Log: b.logger()})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { store.Close() })
	b.store = &faultyStore{Store: store, next: map[string]int{}}
	if b.keys, err = keydir.Open(filepath.Join(b.dir, "keys")); err != nil {
		b.t.Fatal(err)
	}
}

func mustNew(t testing.TB, o broker.Options) *broker.Broker {
	t.Helper()
	b, err := broker.New(o)
	if err != nil {
		t.Fatalf("New() = %v", err)
	}
	return b
}

// addKeyStore starts the broker anew with one more key store.
func (b *bench) addKeyStore(keys secret.KeyStore) {
	b.options.Keys = append(b.options.Keys, keys)
	b.Broker = mustNew(b.t, b.options)
}

type lockedWriter struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// registration is a VIM on the fake, by bearer token.
func (b *bench) registration(name string) broker.Registration {
	return broker.Registration{
		Name: name, Type: "kubernetes", Endpoint: b.kube.Endpoint, CACert: b.kube.CA, Namespace: "default",
		Credential: broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminToken)},
	}
}

func (b *bench) mustRegister(p policy.Principal, name string) broker.VIM {
	b.t.Helper()
	v, err := b.RegisterVIM(context.Background(), p, b.registration(name))
	if err != nil {
		b.t.Fatalf("RegisterVIM(%q) = %v", name, err)
	}
	return v
}

func (b *bench) mustIssue(p policy.Principal, vim string) (broker.Lease, secret.Text) {
	b.t.Helper()
	l, c, err := b.IssueLease(context.Background(), p, broker.LeaseRequest{VIM: vim, TTL: time.Hour})
	if err != nil {
		b.t.Fatalf("IssueLease(%q) = %v", vim, err)
	}
	return l, c.Token
}

func (b *bench) mustReap() {
	b.t.Helper()
	if err := b.Reap(context.Background()); err != nil {
		b.t.Fatalf("Reap() = %v", err)
	}
}

func (b *bench) row(id string) broker.Lease {
	b.t.Helper()
	l, err := b.store.Lease(context.Background(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

// leasesOn are the objects of leases on a fake, as NAMESPACE/NAME: the accounts in our
// namespaces.
func leasesOn(kube *fakekube.Server) []string {
	return slices.DeleteFunc(kube.Names("serviceaccounts", ""), func(name string) bool { return !strings.HasPrefix(name, "vimbroker-") })
}

// upstream counts the lease objects on the fake.
func (b *bench) upstream() int { return len(leasesOn(b.kube)) }

// ours is everything of ours on the fake, as NAMESPACE/NAME.
func (b *bench) ours() []string {
	var all []string
	for _, kind := range []string{"namespaces", "serviceaccounts", "clusterroles", "clusterrolebindings", "roles", "rolebindings", "secrets", "configmaps"} {
		all = append(all, b.kube.Names(kind, "")...)
	}
	return slices.DeleteFunc(all, func(name string) bool { return !strings.Contains(name, "vimbroker") })
}

// accountOf is where a lease's account stands.
func (b *bench) accountOf(handle string) (namespace string) {
	b.t.Helper()
	for _, there := range leasesOn(b.kube) {
		if namespace, name, _ := strings.Cut(there, "/"); name == handle {
			return namespace
		}
	}
	b.t.Fatalf("no account %s on the VIM", handle)
	return ""
}

// lose deletes a lease's account behind the broker's back.
func (b *bench) lose(handle string) {
	b.t.Helper()
	b.kube.Delete("serviceaccounts", b.accountOf(handle), handle)
}

// kubeDriver is what the Kubernetes driver can do besides, kept by those who wrap it.
type kubeDriver interface {
	broker.Driver
	broker.Grader
	broker.Tidier
}

func (b *bench) wantKeys(want int) {
	b.t.Helper()
	held, err := b.keys.List(context.Background(), "")
	if err != nil {
		b.t.Fatal(err)
	}
	if len(held) != want {
		b.t.Errorf("the key store holds %d keys, want %d", len(held), want)
	}
	inUse, err := b.store.KeysInUse(context.Background(), "")
	if err != nil {
		b.t.Fatal(err)
	}
	if len(inUse) != want {
		b.t.Errorf("the rows name %d keys, want %d", len(inUse), want)
	}
}

// wantNowhere fails if a secret stands in any file of the broker or in its log.
func (b *bench) wantNowhere(what, canary string) {
	b.t.Helper()
	if strings.Contains(b.log.String(), canary) {
		b.t.Errorf("%s stands in the log", what)
	}
	if seen := b.wherever("vim:register"); len(seen) == 0 {
		b.t.Errorf("%s: what the audit log says is in no file: the test proves nothing", what)
	}
	for _, path := range b.wherever(canary) {
		b.t.Errorf("%s stands in %s", what, path)
	}
}

// wherever returns the files of the broker that hold a text.
func (b *bench) wherever(text string) (paths []string) {
	b.t.Helper()
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Contains(raw, []byte(text)) {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return paths
}

// wantLog verifies the audit log, and returns the outcomes recorded for an action.
func (b *bench) wantLog(action policy.Action) []audit.Outcome {
	b.t.Helper()
	conformance.VerifyLog(b.t, b.store)
	entries, err := b.store.Entries(context.Background(), audit.Query{Limit: 1000})
	if err != nil {
		b.t.Fatal(err)
	}
	slices.Reverse(entries)
	var outcomes []audit.Outcome
	for _, e := range entries {
		if e.Action == action {
			outcomes = append(outcomes, e.Outcome)
		}
	}
	return outcomes
}

func wantKind(t testing.TB, what string, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s = %v, want %v", what, err, kind)
	}
}

func wantField(t testing.TB, what string, err error, field string) {
	t.Helper()
	var e *broker.Error
	if !errors.As(err, &e) || e.Field != field {
		t.Errorf("%s = %v, want an error about %s", what, err, field)
	}
}
