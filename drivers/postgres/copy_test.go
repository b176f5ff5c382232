package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/real"
)

// trial is an SQLite store with some of everything, more than a page of leases
// and entries among it.
func trial(t *testing.T) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "vimbroker.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		v := registered(fmt.Sprint("vim-", i), fmt.Sprint("name-", i))
		v.Labels = map[string]string{"site": fmt.Sprint(i), "quote": `"'\ é`}
		v.Default, v.Shared = i == 0, i == 1
		v.Health = broker.Health{Status: broker.HealthReachable, CheckedAt: time.Unix(5, 123456000).UTC(), Version: "v1", CanMint: i > 0, Next: time.Unix(9, 0)}
		v.IdempotencyKey, v.RequestDigest, v.UpdatedAt = fmt.Sprint("key-", i), "digest", time.Unix(3, 0)
		v.Current.Target = broker.Target{Endpoint: "https://vim", CACert: "pem", InsecureSkipVerify: true, Scope: broker.Scope{Region: "one"}}
		v.Current.CredentialExpiresAt, v.Current.Discovered = time.Unix(4_000_000_000, 0), broker.Discovered{Regions: []string{"a"}}
		must(s.CreateVIM(ctx, v, 0, entry))
	}
	must(s.CreateVIM(ctx, broker.VIM{
		ID: "unfinished", Project: "south", Name: "x", State: broker.VIMRegistering,
		Health: broker.Health{Status: broker.HealthUnchecked}, Pending: &broker.Pending{Generation: 1, Since: time.Unix(7, 0)},
	}, 0,

		entry))
	for i := range 1100 {
		l := leaseOn(fmt.Sprint("vim-", i%5))
		l.ID, l.CreatedAt, l.Namespaces = fmt.Sprintf("lease-%04d", i), time.Unix(int64(i/3), 1000).UTC(), []string{"a", "b"}
		l.IdempotencyKey, l.MaxRevocationLag = fmt.Sprint("key-", i), 10*time.Second
		l.Grade, l.GrantDigest = broker.GradeBounded, fmt.Sprint("grant-", i%3)
		_, err := s.CreateLease(ctx, l, broker.Quota{}, entry)
		must(err)
		if i%10 == 0 {
			_, err := s.UpdateLease(ctx, l.ID, activate, entry)
			must(err)
		}
		if i%50 == 0 {
			for _, to := range []broker.LeaseState{broker.LeaseRevoking, broker.LeaseRevoked} {
				_, err := s.UpdateLease(ctx, l.ID, func(l *broker.Lease) error { l.State, l.RevokedAt = to, time.Unix(8, 0); return nil }, entry)
				must(err)
			}
		}
	}
	for _, id := range []string{"vim-0", "vim-1"} { // a past generation
		_, err := s.UpdateVIM(ctx, id, func(v *broker.VIM) error {
			v.Current.Number, v.Current.Key = 2, "second"
			return nil
		}, entry)
		must(err)
	}
	for _, id := range []string{"spare-2", "spare-1"} { // keys to destroy, in this order
		must(s.CreateVIM(ctx, registered(id, id), 0, entry))
		must(s.DeleteVIM(ctx, id, false, entry))
	}
	key := notary.SigningKey{
		ID: "signs", State: notary.Signing, Origin: "log", Verifier: "public", Since: 1, Endorsement: "by", CreatedAt: time.Unix(9, 1000).UTC(),
		Sealed: keyring.Sealed{Text: "token", KeyStore: "keydir", Ref: "ref"},
	}
	must(s.ChangeSigningKeys(ctx, func([]notary.SigningKey) ([]notary.SigningKey, error) { return []notary.SigningKey{key}, nil }, nil, entry))
	for size := range int64(2) {
		must(s.AddCheckpoint(ctx, notary.Checkpoint{
			Head: tree.Head{Size: size + 1, Root: tree.Leaf([]byte{byte(size)})}, Time: time.Unix(10+size, 0).UTC(), Key: key.ID, Note: "note",
		}))
	}
	must(s.SetAnchoring(ctx, notary.Anchoring{Anchor: "outside", Size: 2, Time: time.Unix(12, 0).UTC()}))
	for i, states := range [][]catalog.State{{}, {catalog.Uploading}, {catalog.Uploading, catalog.Processing, catalog.Enabled}} {
		p := catalog.Package{ID: fmt.Sprint("package-", i), Project: "north", State: catalog.Created, UserData: `{"a":"b"}`, CreatedAt: time.Unix(int64(i), 0).UTC()}
		must(s.CreatePackage(ctx, p, 0, entry))
		for _, state := range states {
			_, err := s.UpdatePackage(ctx, p.ID, func(p *catalog.Package) error {
				p.State, p.Content, p.VNFDID, p.Size = state, "content-"+p.ID, "vnfd-"+p.ID, 7
				return nil
			}, entry)
			must(err)
			if state == catalog.Uploading {
				must(s.AddChunk(ctx, p.ID, "content-"+p.ID, 0, []byte("some"), 0))
				must(s.AddChunk(ctx, p.ID, "content-"+p.ID, 1, []byte("end"), 0))
			}
		}
	}
	must(s.CreateClient(ctx, oauth.Client{
		ID: "client", Name: "tacker", Project: "north", Roles: []string{"vnfm"}, State: oauth.Active, SHA256: "ab", CreatedAt: time.Unix(1, 0).UTC(),
	}, 0, entry))
	must(s.CreateVNFGrant(ctx, grant.Grant{
		ID: "grant", Client: "client", Project: "north", State: grant.Deciding, Request: grant.GrantRequest{ID: "op", Instance: "i"}, CreatedAt: time.Unix(1, 0).UTC(),
	}, 0, entry))
	tokenKey := oauth.TokenKey{ID: "signs-tokens", State: oauth.KeySigning, Public: "{}", Sealed: keyring.Sealed{Text: "token", KeyStore: "keydir", Ref: "ref-2"}, CreatedAt: time.Unix(1, 0).UTC()}
	must(s.ChangeTokenKeys(ctx, func([]oauth.TokenKey) ([]oauth.TokenKey, error) { return []oauth.TokenKey{tokenKey}, nil }, entry))
	must(s.CreateSubscription(ctx, subscription.Subscription{
		ID: "subscription", Project: "north", SealedRow: keyring.SealedRow{State: subscription.Active}, Callback: "https://nfvo.example.org", Base: "https://broker", Verbosity: subscription.Full,
		Filter: subscription.Filter{Kinds: []lifecycle.EventKind{lifecycle.OperationMoved}}, Auth: []string{"TLS_CERT"}, Digest: "d", CreatedBy: "alice", CreatedAt: time.Unix(1, 0).UTC(),
	}, 0, entry))
	for _, id := range []string{"instance-1", "instance-2"} {
		i := lifecycle.Instance{ID: id, Project: "north", Name: id, State: lifecycle.NotInstantiated, CreatedAt: time.Unix(1, 0).UTC(), Revision: 1}
		i.Shape.Package = "package-0"
		must(s.CreateInstance(ctx, i, 0, entry))
		o := lifecycle.Operation{ID: "operation-of-" + id, Instance: id, Project: "north", Type: lifecycle.Instantiate, State: lifecycle.Starting, StartedAt: i.CreatedAt, Revision: 1, Before: i.Shape, Target: i.Shape}
		must(s.BeginOperation(ctx, o, 1, nil, entry))
	}
	must(s.CreateSecretParameters(ctx, lifecycle.SecretParameters{ID: "hidden", Instance: "instance-1", VIM: "v", SealedRow: keyring.SealedRow{
		State: keyring.Active, Since: time.Unix(2, 0).UTC(), Owner: secret.Owner{Generation: 3}, Sealed: keyring.Sealed{Text: "token", KeyStore: "keydir", Ref: "ref"},
	}}))
	must(s.GiveTurns(ctx, func(places []lifecycle.Place) []string { return []string{places[0].Operation} }, func(o *lifecycle.Operation) { o.TurnAt = o.StartedAt }))
	return s
}

// content is all that can be read from a store.
type content struct {
	VIMs    []broker.VIM
	Leases  []broker.Lease
	Keys    []broker.RetiredKey
	Entries []audit.Entry
	Census  broker.Census
	Signing []notary.SigningKey
	Signed  notary.Checkpoint
	Anchors []notary.Anchoring

	Packages []catalog.Package

	Instances  []lifecycle.Instance
	Operations []lifecycle.Operation

	Subscriptions []subscription.Subscription
	Told          []lifecycle.Event

	Bytes []string // of the package that is onboarded
}

func contentOf(t *testing.T, s interface {
	broker.Store
	catalog.Store
	lifecycle.Store
	subscription.Store
},
) content {
	t.Helper()
	var c content
	var err error
	vims := broker.VIMFilter{Page: broker.Page{Size: 1000}}
	if c.VIMs, _, err = s.VIMs(t.Context(), vims); err != nil {
		t.Fatal(err)
	}
	f := broker.LeaseFilter{Page: broker.Page{Size: 1000}}
	for {
		page, next, err := s.Leases(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		c.Leases = append(c.Leases, page...)
		if f.Token = next; next == "" {
			break
		}
	}
	if c.Keys, err = s.RetiredKeys(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}
	if c.Entries, err = s.Entries(t.Context(), audit.Query{Limit: 1_000_000}); err != nil {
		t.Fatal(err)
	}
	if c.Census, err = s.Census(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.Signing, err = s.SigningKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.Signed, err = s.LastCheckpoint(t.Context()); err != nil && !errors.Is(err, notary.ErrNone) {
		t.Fatal(err)
	}
	if c.Anchors, err = s.Anchorings(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.Packages, _, err = s.Packages(t.Context(), catalog.Filter{Page: broker.Page{Size: 1000}}); err != nil {
		t.Fatal(err)
	}
	if c.Instances, _, err = s.Instances(t.Context(), lifecycle.InstanceFilter{}); err != nil {
		t.Fatal(err)
	}
	if c.Subscriptions, _, err = s.Subscriptions(t.Context(), subscription.Query{}); err != nil {
		t.Fatal(err)
	}
	for _, one := range c.Subscriptions {
		all, err := s.Notifications(t.Context(), one.ID, 100)
		if err != nil || len(all) == 0 {
			t.Fatalf("%d notifications wait, %v", len(all), err)
		}
		for _, n := range all {
			c.Told = append(c.Told, n.Event)
		}
	}
	if c.Operations, _, err = s.Operations(t.Context(), lifecycle.OperationFilter{}); err != nil {
		t.Fatal(err)
	}
	for n := 0; len(c.Packages) > 0; n++ {
		b, err := s.Chunk(t.Context(), "content-package-2", n)
		if errors.Is(err, broker.ErrNotFound) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		c.Bytes = append(c.Bytes, string(b))
	}
	return c
}

func TestCopy(t *testing.T) {
	source := trial(t)
	o := postgres.Options{DSN: secret.NewText(real.Postgres(t).DSN(t))}
	copied, err := postgres.Copy(t.Context(), o, source)
	if err != nil {
		t.Fatalf("Copy = %v", err)
	}
	want := contentOf(t, source)
	maps.DeleteFunc(copied, func(_ string, n int64) bool { return n == 0 })
	if diff := cmp.Diff(postgres.Copied{
		"vims": 6, "vim_generations": 7, "vim_labels": 10, "grants": 15, "leases": 1100, "retired_keys": 2, "audit_entries": int64(len(want.Entries)),
		"audit_keys": 1, "audit_checkpoints": 2, "audit_anchors": 1, "vnf_packages": 3, "vnf_package_chunks": 4, "vnf_package_uses": 2,
		"vnf_instances": 2, "vnf_operations": 2, "oauth_clients": 1, "oauth_keys": 1, "vnf_grants": 1, "vnf_subscriptions": 1, "vnf_notifications": 2,
		"vnf_secret_parameters": 1, "jobs": 2, "audit_tiles": copied["audit_tiles"],
	}, copied); diff != "" {
		t.Errorf("Copied (-want +got):\n%s", diff)
	}
	s := mustOpen(t, o.DSN.Reveal())
	got := contentOf(t, s)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the copy differs (-source +copy):\n%.3000s", diff)
	}

	// Life goes on: the log, the quotas, the counts.
	if _, err := s.CreateLease(t.Context(), leaseOn("vim-3"), broker.Quota{PerVIM: 221}, entry); err != nil { // 220 are live on it
		t.Errorf("CreateLease on the copy = %v", err)
	}
	if _, err := s.CreateLease(t.Context(), leaseOn("vim-3"), broker.Quota{PerVIM: 221}, entry); !errors.Is(err, broker.ErrQuota) {
		t.Errorf("CreateLease beyond the copied leases = %v, want ErrQuota", err)
	}
	asked := []string{lifecycle.JobKind, onboard.JobKind, subscription.JobKind}
	if due, err := s.DueKinds(t.Context(), asked); !slices.Equal(slices.Sorted(slices.Values(due)), []string{lifecycle.JobKind, subscription.JobKind}) || err != nil {
		t.Errorf("DueKinds on the copy = %v, %v; want those of the operation that has its turn, and of the subscription", due, err)
	}
	after := contentOf(t, s)
	if len(after.Entries) != len(want.Entries)+1 {
		t.Errorf("%d entries after one more", len(after.Entries))
	}
	conformance.VerifyLog(t, s)
	if after.Census.Leases[broker.LeasePending] != want.Census.Leases[broker.LeasePending]+1 {
		t.Errorf("census after one more = %v", after.Census.Leases)
	}

	if _, err := postgres.Copy(t.Context(), o, source); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("Copy into a database in use = %v, want ErrConflict", err)
	}
	if diff := cmp.Diff(after.Census, contentOf(t, s).Census); diff != "" {
		t.Errorf("a refused copy changed something:\n%s", diff)
	}
}

// altered is a source that lies: alter sees each row of a table, with its number.
type altered struct {
	postgres.Origin
	table string
	alter func(n int, row []any) ([]any, error)
}

func (a altered) Dump(ctx context.Context, table string, columns []string, order string) iter.Seq2[[]any, error] {
	from := a.Origin.Dump(ctx, table, columns, order)
	if table != a.table {
		return from
	}
	return func(yield func([]any, error) bool) {
		n := 0
		for row, err := range from {
			if n++; err == nil {
				row, err = a.alter(n, row)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// failing is a source one of whose methods fails.
type failing struct {
	postgres.Origin
	method string
	err    error
}

func (f failing) Grow(ctx context.Context) error {
	if f.method == "Grow" {
		return f.err
	}
	return f.Origin.Grow(ctx)
}

func (f failing) Horizon(ctx context.Context) (int64, error) {
	if f.method == "Horizon" {
		return 0, f.err
	}
	return f.Origin.Horizon(ctx)
}

func (f failing) Tree(ctx context.Context) (tree.Head, error) {
	if f.method == "Tree" {
		return tree.Head{}, f.err
	}
	return f.Origin.Tree(ctx)
}

func (f failing) Tiles(ctx context.Context, wanted []tree.Tile) ([]tree.Tile, error) {
	if f.method == "Tiles" {
		return nil, f.err
	}
	return f.Origin.Tiles(ctx, wanted)
}

func TestCopyIsWholeOrNothing(t *testing.T) {
	source := trial(t)
	o := postgres.Options{DSN: secret.NewText(real.Postgres(t).DSN(t))}
	lost := errors.New("source lost")
	for what, c := range map[string]struct {
		from postgres.Origin
		want string
	}{
		"an altered entry": {altered{source, "audit_entries", func(n int, row []any) ([]any, error) {
			if n == 500 {
				row[slices.Index(row, any("alice"))] = "mallory"
			}
			return row, nil
		}}, "the audit log was changed between entries 1 and 1000: they are not those of the log that is copied"},
		"an entry twice": {altered{source, "audit_entries", func(n int, row []any) ([]any, error) {
			if n == 3 {
				row[0] = int64(2)
			}
			return row, nil
		}}, "audit_entries_pkey"},
		"a source that goes away": {altered{source, "leases", func(n int, row []any) ([]any, error) {
			if n > 1000 {
				return nil, lost
			}
			return row, nil
		}}, lost.Error()},
		"a source without its tree's head": {altered{source, "audit_tree", func(int, []any) ([]any, error) { return nil, lost }}, lost.Error()},
		"a list that is torn": {altered{source, "leases", func(_ int, row []any) ([]any, error) {
			for i, v := range row {
				if v == `["a","b"]` {
					row[i] = `["a"`
				}
			}
			return row, nil
		}}, "unexpected end of JSON"},
		"a source that does not grow": {failing{source, "Grow", lost}, lost.Error()},
		"a source without a tree":     {failing{source, "Tree", lost}, lost.Error()},
		"a source without a horizon":  {failing{source, "Horizon", lost}, lost.Error()},
		"a source without tiles":      {failing{source, "Tiles", lost}, lost.Error()},
		"a horizon behind the log":    {altered{source, "audit_horizon", func(_ int, row []any) ([]any, error) { row[len(row)-1] = int64(9999); return row, nil }}, "audit_horizon_only_grows"},
	} {
		if _, err := postgres.Copy(t.Context(), o, c.from); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Copy of %s = %v, want %q", what, err, c.want)
		}
		got := contentOf(t, mustOpen(t, o.DSN.Reveal()))
		if len(got.VIMs)+len(got.Leases)+len(got.Keys)+len(got.Entries)+len(got.Packages)+len(got.Census.VIMs)+len(got.Census.Leases) > 0 {
			t.Errorf("a failed copy of %s left %d VIMs, %d leases, %d entries", what, len(got.VIMs), len(got.Leases), len(got.Entries))
		}
	}
	// Where nothing refuses the horizon, a log that does not reach it is refused all the same.
	unguarded := mustOpen(t, o.DSN.Reveal())
	guard := func(how string) {
		t.Helper()
		if err := unguarded.Execute(t.Context(), `ALTER TABLE audit_horizon `+how+` TRIGGER audit_horizon_only_grows`); err != nil {
			t.Fatal(err)
		}
	}
	guard("DISABLE")
	far := altered{source, "audit_horizon", func(_ int, row []any) ([]any, error) { row[len(row)-1] = int64(9999); return row, nil }}
	if _, err := postgres.Copy(t.Context(), o, far); err == nil || !strings.Contains(err.Error(), "does not end where its head says") {
		t.Errorf("Copy of a horizon behind the log, which nothing refuses = %v", err)
	}
	guard("ENABLE")
	if _, err := postgres.Copy(t.Context(), o, source); err != nil {
		t.Errorf("Copy after failed ones = %v", err)
	}
	// What the copy switched off for its own sake is on again.
	s := mustOpen(t, o.DSN.Reveal())
	v := registered(uuid.NewString(), "later")
	if err := s.CreateVIM(t.Context(), v, 0, entry); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Census(t.Context()); err != nil || c.VIMs[broker.VIMRegistered] != 6 {
		t.Errorf("Census = %v, %v; want the VIM that came later in it", c.VIMs, err)
	}
}
