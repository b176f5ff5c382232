package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// sealedText is as long as base64 has it, as sealed credentials are.
const sealedText = "c2VhbGVk"

// Store checks the contract of [broker.Store]. open returns an empty store, and
// sees to its end. A store that has a Close method is also asked what it
// answers afterwards.
func Store(t *testing.T, open func(t *testing.T) broker.Store) {
	check := func(name string, f func(*testing.T, storeTest)) {
		t.Run(name, func(t *testing.T) { f(t, storeTest{Store: open(t), ctx: t.Context(), open: open}) })
	}
	check("VIM", vimRows)
	check("VIMList", vimLists)
	check("CredentialsExpiring", credentialsExpiring)
	check("Generation", generations)
	check("Rekey", rekeys)
	check("Lease", leaseRows)
	check("LeaseSuccession", leaseSuccession)
	check("LeaseList", leaseLists)
	check("Resumption", resumptions)
	check("Quota", quotas)
	check("Moves", moves)
	check("Page", pages)
	check("Grant", grants)
	check("GrantRace", grantRaces)
	check("TokenUses", tokenUses)
	check("UsedTokens", usedTokens)
	check("TrustTable", trustTable)
	check("Sessions", sessions)
	check("Audit", auditLog)
	check("Replicas", replicas)
	check("AuditTree", auditTree)
	check("Checkpoint", checkpoints)
	check("Anchor", anchors)
	check("SigningKey", keyLives)
	check("AbandonedSigningKey", abandonedKeys)
	check("Notaries", manyNotaries)
	check("OvertakenNotary", overtakenNotary)
	check("OvertakenRotation", overtakenRotation)
	check("Cursor", cursors)
	check("Prune", prunes)
	check("Text", texts)
	check("Race", races)
	check("GenerationRace", generationRaces)
	check("Closed", closedStore)
}

// storeTest is a store, and the verbs that most checks begin with.
type storeTest struct {
	broker.Store
	ctx  context.Context
	open func(t *testing.T) broker.Store
}

// epoch is when the suite plays: microseconds, as stores keep them.
var epoch = time.Date(2031, 5, 6, 7, 8, 9, 123456000, time.UTC)

// entry is an audit entry that says what.
func entry(what string) audit.Entry {
	return audit.Entry{
		Time: epoch, Request: "req-" + what, Door: audit.DoorPage, Principal: "alice", Project: "north", Action: policy.VIMUpdate,
		Kind: policy.KindVIM, Resource: what, Outcome: audit.Done, Detail: map[string]string{"vim": what},
	}
}

// fullVIM has every field set, so that one that a store forgets shows.
func fullVIM(project, name string) broker.VIM {
	id := uuid.NewString()
	return broker.VIM{
		ID: id, Project: project, Name: name, Type: "kubernetes", State: broker.VIMRegistered,
		Labels: map[string]string{"site": "a", "quote": `"'\ é`}, Shared: true, SharedWith: []string{"east", "west"}, Default: true,
		Suspended: "its cluster is paused", Description: "core site, \"north\"\n", Extra: `{"area":"a@b","n":1.50,"deep":{"k":[1,"é"]}}`,
		CreatedBy: "alice", CreatedAt: epoch, UpdatedAt: epoch.Add(time.Second), Revision: 1,
		Current: fullGeneration(id, 1),
		Pending: &broker.Pending{Generation: 2, Since: epoch.Add(2 * time.Second)},
		Health: broker.Health{
			Status: broker.HealthReachable, CheckedAt: epoch.Add(3 * time.Second), Message: "message", Version: "v1.37.2",
			CanMint: true, MintMessage: "mint", ExternalIPs: broker.ExternalIPsTaken, Next: epoch.Add(time.Minute),
		},
		IdempotencyKey: "key-" + id, RequestDigest: "digest",
	}
}

func fullGeneration(vim string, number int64) broker.Generation {
	return broker.Generation{
		Number: number,
		Target: broker.Target{
			Endpoint: "https://cluster.example:6443", CACert: "-----BEGIN CERTIFICATE-----\n…\n", InsecureSkipVerify: true,
			ServerName: "kubernetes", Namespace: "cnf",
			Scope:   broker.Scope{Region: "RegionOne", ProjectID: "p", ProjectName: "cnf", ProjectDomainID: "default", UserDomainName: "Default"},
			Vouched: broker.Vouched{SharedKinds: "a.example.com b.example.com=x,y", PodsHeldBy: "kyverno"},
		},
		Identity: "uid", Discovered: broker.Discovered{Regions: []string{"a"}, Cloud: &broker.Cloud{ProjectID: "p", Catalog: []broker.CatalogEntry{{Service: "compute", Origin: "https://nova:8774"}}}}, CredentialKind: broker.CredentialBearerToken, Username: "user", CredentialExpiresAt: epoch.Add(time.Hour),
		Sealed: fmt.Sprintf("sealed-%s-%d", vim, number), Key: secret.Ref(fmt.Sprintf("ref-%s-%d", vim, number)), KeyStore: "keydir", SealedAs: broker.SealedCurrent,
	}
}

// plainVIM is what most checks need: registered, and in nobody's way.
func plainVIM(project, name string) broker.VIM {
	v := fullVIM(project, name)
	v.Shared, v.SharedWith, v.Default, v.Pending, v.Labels, v.IdempotencyKey, v.Suspended = false, nil, false, nil, nil, "", ""
	return v
}

// fullLease has every field set, as it is stored at first.
func fullLease(v broker.VIM) broker.Lease {
	id := uuid.NewString()
	return broker.Lease{
		ID: id, VIM: v.ID, VIMName: v.Name, VIMType: v.Type, VIMProject: v.Project, VIMGeneration: v.Current.Number,
		Project: "north", Principal: "alice", Operation: "op-1", Instance: "vnf-1", For: "dave", Door: audit.DoorGrants, Planned: true, State: broker.LeasePending, Reason: broker.ReasonIssueFailed,
		Role: "edit", Namespaces: []string{"a", "b"}, Format: clientconfig.Kubeconfig, Purpose: "upgrade",
		CreatedAt: epoch, IssuedAt: epoch.Add(time.Second), ExpiresAt: epoch.Add(time.Hour),
		MaxExpiresAt: epoch.Add(2 * time.Hour), RenewedAt: epoch.Add(2 * time.Second), RenewalBegun: true, CredentialKind: broker.CredentialBearerToken, Unlisted: true, Derived: true, Revocable: true,
		MaxRevocationLag: 10 * time.Second, RevokedAt: epoch.Add(3 * time.Second), ConfirmedDeadAt: epoch.Add(4 * time.Second),
		Handle: "handle-" + id, Sealed: "sealed-" + id, SealedKey: v.Current.Key, Attempts: 3, NextAttemptAt: epoch.Add(5 * time.Second),
		LastError: "unreachable", Revision: 1, IdempotencyKey: "key-" + id, RequestDigest: "digest",
		Rules:       []broker.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: []string{"a"}, Verbs: []string{"get"}}},
		ClusterWide: true, Grade: broker.GradeNamespaces, GradeReasons: []string{"the holder can \"exec\""},
		GrantDigest: "grant-" + id, Epoch: 1, UID: "uid-" + id, CredentialID: "JTI=" + id,
		CredentialEndsAt: epoch.Add(90 * time.Minute), Stood: "stood-" + id, LeftBehind: []string{"a \"trust\""}, HolderRoles: []string{"member", "site's"},
		TokenTTL: 15 * time.Minute, Login: id, SecretSHA256: "digest-" + id,
	}
}

// plainLease is one whose intent was just stored.
func plainLease(v broker.VIM) broker.Lease {
	l := fullLease(v)
	return broker.Lease{
		ID: l.ID, VIM: l.VIM, VIMName: l.VIMName, VIMType: l.VIMType, VIMProject: l.VIMProject,
		VIMGeneration: l.VIMGeneration, Project: l.Project, Principal: l.Principal, State: broker.LeasePending,
		Format: l.Format, CreatedAt: l.CreatedAt, Handle: l.Handle, Revision: 1,
	}
}

// mustBeFull fails when a field of a fixture is zero: a new field must be in it.
func mustBeFull(t *testing.T, fixture any, except ...string) {
	t.Helper()
	v := reflect.ValueOf(fixture)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if v.Field(i).IsZero() && !slices.Contains(except, name) {
			t.Fatalf("the fixture %T leaves %s zero: set it, so that stores are seen to keep it", fixture, name)
		}
	}
}

func (s storeTest) mustCreateVIM(t *testing.T, v broker.VIM) broker.VIM {
	t.Helper()
	if err := s.CreateVIM(s.ctx, v, 0, entry("create "+v.Name)); err != nil {
		t.Fatalf("CreateVIM(%s/%s) = %v", v.Project, v.Name, err)
	}
	return v
}

func (s storeTest) mustCreateLease(t *testing.T, l broker.Lease) broker.Lease {
	t.Helper()
	stored, err := s.CreateLease(s.ctx, l, broker.Quota{}, entry("lease "+l.ID))
	if err != nil {
		t.Fatalf("CreateLease = %v", err)
	}
	return stored
}

// createLease is CreateLease where only the error counts.
func (s storeTest) createLease(l broker.Lease, q broker.Quota, what string) error {
	_, err := s.CreateLease(s.ctx, l, q, entry(what))
	return err
}

// mustMove brings a lease to a state on a way that leaseMoves allows.
func (s storeTest) mustMove(t *testing.T, id string, way ...broker.LeaseState) broker.Lease {
	t.Helper()
	var l broker.Lease
	for _, to := range way {
		var err error
		l, err = s.UpdateLease(s.ctx, id, func(l *broker.Lease) error {
			moveLease(l, to)
			return nil
		}, entry("move to "+string(to)))
		if err != nil {
			t.Fatalf("UpdateLease(state %s) = %v", to, err)
		}
	}
	return l
}

// moveLease sets a state with the times that belong to it.
func moveLease(l *broker.Lease, to broker.LeaseState) {
	l.State = to
	switch to {
	case broker.LeaseActive:
		l.IssuedAt, l.ExpiresAt = epoch, epoch.Add(time.Hour)
	case broker.LeaseRevoked:
		l.RevokedAt = epoch.Add(time.Minute)
	}
}

func (s storeTest) mustVIM(t *testing.T, id string) broker.VIM {
	t.Helper()
	v, err := s.VIM(s.ctx, id)
	if err != nil {
		t.Fatalf("VIM(%s) = %v", id, err)
	}
	return v
}

func (s storeTest) mustLease(t *testing.T, id string) broker.Lease {
	t.Helper()
	l, err := s.Lease(s.ctx, id)
	if err != nil {
		t.Fatalf("Lease(%s) = %v", id, err)
	}
	return l
}

// entries are all entries, oldest first.
func (s storeTest) entries(t *testing.T) []audit.Entry {
	t.Helper()
	var all []audit.Entry
	for before := int64(0); ; {
		page, err := s.Entries(s.ctx, audit.Query{Before: before, Limit: 500})
		if err != nil {
			t.Fatalf("Entries(before %d) = %v", before, err)
		}
		if len(page) == 0 {
			slices.Reverse(all)
			return all
		}
		all = append(all, page...)
		before = page[len(page)-1].Seq
	}
}

// wantError checks a sentinel and the field that the error names.
func wantError(t *testing.T, what string, err, kind error, field string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s = %v, want %v", what, err, kind)
		return
	}
	var e *broker.Error
	if field != "" && (!errors.As(err, &e) || e.Field != field) {
		t.Errorf("%s = %v, want field %q", what, err, field)
	}
}

func wantSame(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

func closedStore(t *testing.T, s storeTest) {
	c, ok := s.Store.(io.Closer)
	if !ok {
		t.Skip("the store has no Close")
	}
	v := s.mustCreateVIM(t, plainVIM("north", "a"))
	for range 2 {
		if err := c.Close(); err != nil {
			t.Fatalf("Close() = %v", err)
		}
	}
	_, readErr := s.VIM(s.ctx, v.ID)
	_, _, listErr := s.Leases(s.ctx, broker.LeaseFilter{})
	_, censusErr := s.Census(s.ctx)
	for what, err := range map[string]error{
		"Check": s.Check(s.ctx, broker.Replica{}), "VIM": readErr, "Leases": listErr, "Census": censusErr,
		"CreateVIM": s.CreateVIM(s.ctx, plainVIM("north", "b"), 0, entry("b")),
		"Append":    s.Append(s.ctx, entry("c")),
	} {
		wantError(t, what+" after Close", err, broker.ErrUnavailable, "")
	}
}
