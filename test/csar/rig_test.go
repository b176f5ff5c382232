package csar_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/callback"
	"github.com/vimbroker/vimbroker/drivers/heat"
	"github.com/vimbroker/vimbroker/drivers/helm"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/api/vnflcm"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/fakeheat"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
	"github.com/vimbroker/vimbroker/test/quickstore"
)

var alice = policy.Principal{Name: "alice", Project: "core", Roles: []string{policy.RoleMember}}

// rig is the engine between a catalogue and a fake cluster: everything is real but the
// broker, in whose place tokens are made that may do what a lease's rules say.
type rig struct {
	*lifecycle.Lifecycle
	// hasty has the same instances, and waits for objects no longer than a moment.
	hasty   *lifecycle.Lifecycle
	t       *testing.T
	catalog *catalog.Catalog
	// subscriptions tell others of the instances.
	subscriptions *subscription.Subscriptions
	// cluster is the VIM edge, heat the VIM cloud.
	cluster *fakeobjects.Server
	heat    *fakeheat.Server
	log     *bytes.Buffer
	// dir is where the database is.
	dir string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, cluster: fakeobjects.New(t), heat: fakeheat.New(t), log: &bytes.Buffer{}, dir: t.TempDir()}
	var mu sync.Mutex
	log := slog.New(slog.NewTextHandler(writer(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return r.log.Write(p)
	}), nil))
	store, err := quickstore.Open(t.Context(), sqlite.Options{Path: filepath.Join(r.dir, "vimbroker.db"), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	guard := &audit.Guard{Policy: policies, Sink: store, Now: time.Now, Reads: audit.NewReads(), Log: log}
	r.catalog = catalog.New(catalog.Options{Store: store, Guard: guard, Log: log, Terms: catalog.DefaultTerms()})
	keys, err := keydir.Open(filepath.Join(r.dir, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	for id, kind := range map[string]broker.VIMType{"edge": "kubernetes", "cloud": "openstack"} { // for instances to stand on
		v := broker.VIM{ID: id, Name: id, Type: kind, Project: "core", State: broker.VIMRegistered}
		v.Current.SealedAs = broker.SealedCurrent
		if err := store.CreateVIM(t.Context(), v, 0, audit.Entry{Time: time.Now(), Action: policy.VIMRegister, Outcome: audit.Done}); err != nil {
			t.Fatal(err)
		}
	}
	engine := func(patience time.Duration) *lifecycle.Lifecycle {
		terms := lifecycle.DefaultTerms()
		terms.Patience, terms.LookEvery = patience, 250*time.Millisecond
		return lifecycle.New(lifecycle.Options{
			Store: store, Leaser: lends{r.cluster, r.heat}, Packages: packages{r.catalog}, Keys: []secret.KeyStore{keys}, Guard: guard,
			Drivers:   []lifecycle.Driver{manifests.New(), helm.New(helm.Options{Program: []string{os.Args[0], renders}}), heat.New()},
			Delegates: &policy.Delegates{Now: time.Now}, Terms: terms, Log: log, Now: time.Now,
			Egress: func(string) *egress.Rules {
				rules := egress.Default()
				rules.AllowLoopback = true
				return rules
			},
		})
	}
	r.subscriptions = subscription.New(subscription.Options{
		Store: store, Keys: []secret.KeyStore{keys}, Ledger: ledger{}, Endpoint: callback.New(callback.Options{}), Render: vnflcm.Notification,
		Guard: guard, Terms: subscription.DefaultTerms(), Log: log, Now: time.Now,
		Egress: func(string) *egress.Rules {
			rules := egress.Default()
			rules.AllowLoopback = true
			return rules
		},
	})
	r.Lifecycle, r.hasty = engine(10*time.Minute), engine(time.Second)
	return r
}

// ledger destroys no keys.
type ledger struct{}

func (ledger) RetireKeys(context.Context) {}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// packages are the catalogue's, as the engine asks for them.
type packages struct{ *catalog.Catalog }

func (p packages) Use(ctx context.Context, who policy.Principal, vnfd string) (lifecycle.PackageView, error) {
	return packageOf(p.Catalog.Use(ctx, who, vnfd))
}

func (p packages) Held(ctx context.Context, id string) (lifecycle.PackageView, error) {
	return packageOf(p.Catalog.Held(ctx, id))
}

func packageOf(o catalog.Opened, err error) (lifecycle.PackageView, error) {
	if err != nil {
		return lifecycle.PackageView{}, err
	}
	return lifecycle.PackageView{
		ID: o.ID, VNFD: o.VNFD, Product: lifecycle.Product{VNFDID: o.VNFDID, Name: o.ProductName}, Paths: o.Paths(),
		Read: func(paths []string) ([]lifecycle.Manifest, error) {
			files, err := o.Files(paths)
			var all []lifecycle.Manifest
			for _, f := range files {
				all = append(all, lifecycle.Manifest{Path: f.Path, Text: secret.NewText(string(f.Text))})
			}
			return all, err
		},
	}, nil
}

// lends makes a token for each lease.
type lends struct {
	cluster *fakeobjects.Server
	heat    *fakeheat.Server
}

func (l lends) VIM(_ context.Context, _ policy.Principal, ref string) (broker.VIM, error) {
	kind, known := map[string]broker.VIMType{"edge": "kubernetes", "cloud": "openstack"}[ref]
	if !known {
		return broker.VIM{}, &broker.Error{Kind: broker.ErrNotFound, Detail: "no such VIM"}
	}
	return broker.VIM{ID: ref, Name: ref, Type: kind, Project: "core"}, nil
}

func (l lends) IssueShared(ctx context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	return l.IssueLease(ctx, p, r)
}

func (l lends) IssueLease(_ context.Context, _ policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	id := uuid.NewString()
	if r.VIM == "cloud" {
		return broker.Lease{ID: id, Derived: true, ExpiresAt: time.Now().Add(r.TTL)}, clientconfig.Config{
			Lease: id, Endpoint: l.heat.URL, CACert: l.heat.CA,
			Credential: secret.Credential{Kind: broker.CredentialProjectToken, Token: secret.NewText(l.heat.Allow(lifecycle.StageRules{Purpose: r.Purpose}))},
		}, nil
	}
	token := l.cluster.Allow(lifecycle.StageRules{Rules: r.Rules, Namespaces: r.Namespaces, ClusterWide: r.ClusterWide})
	return broker.Lease{ID: id, Derived: true, ExpiresAt: time.Now().Add(r.TTL)}, clientconfig.Config{
		Lease: id, Endpoint: l.cluster.URL, CACert: l.cluster.CA,
		Credential: secret.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(token)},
	}, nil
}

func (lends) RenewLease(context.Context, policy.Principal, string, time.Duration) (broker.Lease, clientconfig.Config, error) {
	return broker.Lease{}, clientconfig.Config{}, &broker.Error{Kind: broker.ErrUnsupported, Detail: "no lease of the rig is renewed"}
}

func (lends) WeighLease(context.Context, policy.Principal, broker.LeaseRequest) (broker.Lease, error) {
	return broker.Lease{Grade: broker.GradeNamespaces}, nil
}

func (lends) Ended(context.Context, string) (bool, broker.Reason, error) { return false, "", nil }

func (lends) EndOperation(context.Context, string, ...string) error { return nil }

// upload puts a package into the catalogue.
func (r *rig) upload(f csar.Files) {
	r.t.Helper()
	if err := r.tryUpload(f); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) tryUpload(f csar.Files) error {
	r.t.Helper()
	p, err := r.catalog.Create(r.t.Context(), alice, "")
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = r.catalog.Upload(r.t.Context(), alice, catalog.PackageRef{ID: p.ID}, bytes.NewReader(f.Zip(r.t)))
	return err
}

// made makes an instance of a package.
func (r *rig) made(vnfd string) string {
	r.t.Helper()
	i, err := r.CreateInstance(r.t.Context(), alice, lifecycle.NewInstance{VNFDID: vnfd, Name: "edge"})
	if err != nil {
		r.t.Fatal(err)
	}
	return i.ID
}

// ends works an operation until it has come to an end, and fails unless that is the one
// that is wanted.
func (r *rig) ends(want lifecycle.OperationState, o lifecycle.Operation, err error) lifecycle.Operation {
	r.t.Helper()
	return r.endsBy(r.Lifecycle, want, o, err)
}

func (r *rig) endsBy(l *lifecycle.Lifecycle, want lifecycle.OperationState, o lifecycle.Operation, err error) lifecycle.Operation {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	for o.State.Working() {
		did := l.Work(r.t.Context(), o.ID)
		if o, err = l.Operation(r.t.Context(), alice, o.ID); err != nil {
			r.t.Fatal(err)
		}
		if did != nil && r.t.Context().Err() != nil {
			r.t.Fatal(did)
		}
	}
	if o.State != want {
		r.t.Fatalf("%s ended %s (%+v), want %s", o.Type, o.State, o.Failure, want)
	}
	return o
}

// names are the objects of a namespace that are not pods of a Deployment, as PLURAL/NAME.
func (r *rig) names(namespace string) string {
	var all []string
	for _, p := range r.cluster.Paths() {
		if _, rest, ok := strings.Cut(p, "/namespaces/"+namespace+"/"); ok && !strings.HasPrefix(rest, "pods/edge-web-") {
			all = append(all, rest)
		}
	}
	return strings.Join(all, " ")
}

// pods counts those of a Deployment.
func (r *rig) pods(namespace, of string) (n int) {
	for _, p := range r.cluster.Paths() {
		if strings.HasPrefix(p, "/api/v1/namespaces/"+namespace+"/pods/"+of+"-") {
			n++
		}
	}
	return n
}
