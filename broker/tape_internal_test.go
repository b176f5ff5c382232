package broker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/came"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// errStep is what a step answers that fails. It is of no kind, so that nothing takes it for an answer of a VIM.
var errStep = errors.New("the step fails")

// steps are calls of the store and of a driver: they are noted, and those that are named fail.
type steps struct {
	mu     sync.Mutex
	taken  []string
	fails  map[string]error  // the error, by the name of a step, and by name and number of its call ("VIM 2")
	during map[string]func() // what happens meanwhile, by the same names
	said   []string          // each step with what it was given, and what came of it
}

func (s *steps) step(name string, given ...any) error {
	s.note(came.Call(name, given...))
	s.mu.Lock()
	err := fake.Step(&s.taken, s.fails, name)
	s.mu.Unlock()
	for _, at := range []string{name, fmt.Sprint(name, " ", s.count(name))} {
		if happens := s.during[at]; happens != nil {
			happens()
		}
	}
	return err
}

func (s *steps) count(name string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, was := range s.taken {
		if was == name {
			n++
		}
	}
	return n
}

// tape is a store in memory: as much of one as tests of a single function need.
type tape struct {
	Store
	*steps
	vims       map[string]VIM
	leases     map[string]Lease
	entries    []audit.Entry
	due        []DueVIM
	grants     []GrantEpoch
	retired    []RetiredKey
	signing    []notary.SigningKey
	found      []audit.Entry
	oldest     time.Time // entry that no checkpoint covers
	signed     int64     // entries that the last checkpoint covers
	anchored   time.Time // entry that no anchor has the checkpoint of
	tree       tree.Head
	cursors    []delivery.Cursor
	anchorings []notary.Anchoring
	replicas   []Replica
	meantime   func(*Lease)  // happens to a lease before it is written
	behind     time.Duration // of entries that wait for their place
}

func (t *tape) VIM(_ context.Context, id string) (VIM, error) {
	if err := t.step("VIM", id); err != nil {
		return VIM{}, err
	}
	if v, there := t.vims[id]; there {
		return v, nil
	}
	return VIM{}, vimNotFound()
}

func (t *tape) CreateVIM(_ context.Context, v VIM, most int, e audit.Entry) error {
	if err := t.step("CreateVIM", v, most, e); err != nil {
		return err
	}
	t.vims[v.ID] = v
	return nil
}

func (t *tape) VIMByKey(_ context.Context, principal, key string) (VIM, error) {
	if err := t.step("VIMByKey", principal, key); err != nil {
		return VIM{}, err
	}
	for _, v := range t.vims {
		if v.IdempotencyKey == key {
			return v, nil
		}
	}
	return VIM{}, vimNotFound()
}

func (t *tape) VIMs(_ context.Context, f VIMFilter) (all []VIM, _ string, _ error) {
	for _, id := range slices.Sorted(maps.Keys(t.vims)) {
		if v := t.vims[id]; f.State == "" || f.State == v.State {
			all = append(all, v)
		}
	}
	return all, "", t.step("VIMs", f)
}

func (t *tape) UpdateVIM(_ context.Context, id string, change func(*VIM) error, e audit.Entry) (VIM, error) {
	if err := t.step("UpdateVIM", id); err != nil {
		return VIM{}, err
	}
	v, there := t.vims[id]
	if !there {
		return VIM{}, vimNotFound()
	}
	was := v
	if err := change(&v); err != nil {
		t.note(fmt.Sprintf("  not changed: %v", err))
		return VIM{}, err
	}
	t.note(came.Changes(was, v)...)
	t.note(came.Call("  entry", e))
	v.Revision++
	t.vims[id] = v
	t.entries = append(t.entries, e)
	return v, nil
}

func (t *tape) UpdateIdleVIM(ctx context.Context, id string, leased bool, change func(*VIM) error, e audit.Entry) (VIM, error) {
	if err := t.step(fmt.Sprint("UpdateIdleVIM ", leased), id); err != nil {
		return VIM{}, err
	}
	return t.UpdateVIM(ctx, id, change, e)
}

func (t *tape) DeleteVIM(_ context.Context, id string, forced bool, e audit.Entry) error {
	if err := t.step("DeleteVIM", id, forced, e); err != nil {
		return err
	}
	delete(t.vims, id)
	t.entries = append(t.entries, e)
	return nil
}

func (t *tape) SetHealth(_ context.Context, id string, generation int64, h Health) error {
	v := t.vims[id]
	v.Health = h
	t.vims[id] = v
	return t.step("SetHealth", id, generation, h)
}

func (t *tape) Lease(_ context.Context, id string) (Lease, error) {
	if err := t.step("Lease", id); err != nil {
		return Lease{}, err
	}
	if l, there := t.leases[id]; there {
		return l, nil
	}
	return Lease{}, notFound(policy.KindLease)
}

func (t *tape) LeaseByLogin(_ context.Context, login string) (Lease, error) {
	if err := t.step("LeaseByLogin", login); err != nil {
		return Lease{}, err
	}
	for _, l := range t.leases {
		if l.Login == login {
			return l, nil
		}
	}
	return Lease{}, notFound(policy.KindLease)
}

func (t *tape) Leases(_ context.Context, f LeaseFilter) (all []Lease, _ string, _ error) {
	for _, id := range slices.Sorted(maps.Keys(t.leases)) {
		if l := t.leases[id]; len(f.States) == 0 || slices.Contains(f.States, l.State) {
			all = append(all, l)
		}
	}
	return all, "", t.step("Leases", f)
}

func (t *tape) UpdateLease(_ context.Context, id string, change func(*Lease) error, e audit.Entry) (Lease, error) {
	l, there := t.leases[id]
	if err := t.step("UpdateLease", id); err != nil {
		return Lease{}, err
	}
	if !there {
		return Lease{}, notFound(policy.KindLease)
	}
	if t.meantime != nil {
		t.meantime(&l)
	}
	was := l
	if err := change(&l); err != nil {
		t.note(fmt.Sprintf("  not changed: %v", err))
		return Lease{}, err
	}
	t.note(came.Changes(was, l)...)
	t.note(came.Call("  entry", e))
	if err := t.fails["UpdateLease, at its end"]; err != nil {
		return Lease{}, err
	}
	t.leases[id] = l
	t.entries = append(t.entries, e)
	return l, nil
}

func (t *tape) DeferLease(_ context.Context, id string, attempts int, next time.Time, class string) error {
	l := t.leases[id]
	l.Attempts, l.NextAttemptAt, l.LastError = attempts, next, class
	t.leases[id] = l
	return t.step("DeferLease", id, attempts, next, class)
}

func (t *tape) DueVIMs(_ context.Context, now time.Time) ([]DueVIM, error) {
	return t.due, t.step("DueVIMs", now)
}

func (t *tape) CloseIdleGrants(_ context.Context, now time.Time, idle time.Duration) ([]GrantEpoch, error) {
	return t.grants, t.step("CloseIdleGrants", now, idle)
}

func (t *tape) ForgetGrant(_ context.Context, g GrantEpoch) error { return t.step("ForgetGrant", g) }

func (t *tape) RetiredKeys(_ context.Context, n int) ([]RetiredKey, error) {
	return t.retired, t.step("RetiredKeys", n)
}

func (t *tape) ForgetKey(_ context.Context, k RetiredKey) error { return t.step("ForgetKey", k) }

func (t *tape) KeysInUse(_ context.Context, store string) (all []RetiredKey, _ error) {
	for _, id := range slices.Sorted(maps.Keys(t.vims)) {
		v := t.vims[id]
		for _, g := range generations(&v) {
			all = append(all, RetiredKey{KeyStore: g.KeyStore, Ref: g.Key, Owner: secret.Owner{ID: v.ID, Generation: g.Number}})
		}
	}
	return all, t.step("KeysInUse", store)
}

func (t *tape) Append(_ context.Context, e audit.Entry) error {
	if err := t.step("Append", e); err != nil {
		return err
	}
	t.entries = append(t.entries, e)
	return nil
}

func (t *tape) Entries(_ context.Context, q audit.Query) ([]audit.Entry, error) {
	return slices.Clone(t.found), t.step("Entries", q)
}

func (t *tape) EntriesAfter(_ context.Context, seq int64, n int) ([]audit.Entry, error) {
	err, oldest := t.step("EntriesAfter", seq, n), t.oldest
	if seq < t.signed {
		oldest = t.anchored
	}
	if oldest.IsZero() {
		return nil, err
	}
	return []audit.Entry{{Time: oldest}}, err
}

func (t *tape) Cursors(context.Context) ([]delivery.Cursor, error) {
	return t.cursors, t.step("Cursors")
}

func (t *tape) Behind(context.Context) (time.Duration, error) { return t.behind, t.step("Behind") }

func (t *tape) Unguarded(context.Context) ([]string, error) { return nil, t.step("Unguarded") }

func (t *tape) Tree(context.Context) (tree.Head, error) {
	return cmp.Or(t.tree, tree.Empty()), t.step("Tree")
}

func (t *tape) Grow(context.Context) error { return t.step("Grow") }

func (t *tape) SigningKeys(context.Context) ([]notary.SigningKey, error) {
	return t.signing, t.step("SigningKeys")
}

func (t *tape) LastCheckpoint(context.Context) (notary.Checkpoint, error) {
	if err := t.step("LastCheckpoint"); err != nil || t.signed > 0 {
		return notary.Checkpoint{Head: tree.Head{Size: t.signed}}, err
	}
	return notary.Checkpoint{}, notary.ErrNone
}

func (t *tape) ChangeSigningKeys(
	_ context.Context, _ func([]notary.SigningKey) ([]notary.SigningKey, error), _ *notary.Checkpoint, e audit.Entry,
) error {
	return t.step("ChangeSigningKeys", e)
}

func (t *tape) Anchorings(context.Context) ([]notary.Anchoring, error) {
	return t.anchorings, t.step("Anchorings")
}

func (t *tape) Census(context.Context) (Census, error) { return Census{}, t.step("Census") }

func (t *tape) Load(_ context.Context, now time.Time) (Load, error) {
	return Load{}, t.step("Load", now)
}

func (t *tape) CredentialsExpiring(_ context.Context, ends ...time.Time) ([]int, error) {
	return make([]int, len(ends)), t.step("CredentialsExpiring", ends)
}

func (t *tape) TokenUses(context.Context) (map[string]time.Time, error) {
	return map[string]time.Time{}, t.step("TokenUses")
}

func (t *tape) RecordTokenUses(_ context.Context, uses map[string]time.Time) error {
	return t.step("RecordTokenUses", uses)
}

func (t *tape) Horizon(context.Context) (int64, error) { return 0, t.step("Horizon") }

func (t *tape) PruneLeases(_ context.Context, before time.Time, n int, e audit.Entry) (int, error) {
	return 0, t.step("PruneLeases", before, n, e)
}

func (t *tape) PruneJobs(_ context.Context, before time.Time, n int) (int, error) {
	return 0, t.step("PruneJobs", before, n)
}

func (t *tape) LiveOn(_ context.Context, vims []string, n int) (map[string]int, error) {
	return map[string]int{vimID: 2}, t.step("LiveOn", vims, n)
}

func (t *tape) CreateLease(_ context.Context, l Lease, q Quota, e audit.Entry) (Lease, error) {
	if err := t.step("CreateLease", l, q, e); err != nil {
		return Lease{}, err
	}
	t.leases[l.ID] = l
	t.entries = append(t.entries, e)
	return l, nil
}

func (t *tape) LeaseByKey(_ context.Context, principal, key string) (Lease, error) {
	if err := t.step("LeaseByKey", principal, key); err != nil {
		return Lease{}, err
	}
	for _, l := range t.leases {
		if l.IdempotencyKey == key {
			return l, nil
		}
	}
	return Lease{}, notFound(policy.KindLease)
}

func (t *tape) Rekey(_ context.Context, id string, change func(*VIM, []Lease) error, e audit.Entry) (VIM, error) {
	v, leases := t.vims[id], []Lease{}
	for _, id := range slices.Sorted(maps.Keys(t.leases)) {
		leases = append(leases, t.leases[id])
	}
	if err := t.step("Rekey", id); err != nil {
		return VIM{}, err
	}
	was := v
	if err := change(&v, leases); err != nil {
		t.note(fmt.Sprintf("  not changed: %v", err))
		return VIM{}, err
	}
	t.note(came.Changes(was, v)...)
	t.note(came.Call("  entry", e))
	t.vims[id], t.entries = v, append(t.entries, e)
	for _, l := range leases {
		t.note(came.Changes(t.leases[l.ID], l)...)
		t.leases[l.ID] = l
	}
	return v, nil
}

func (t *tape) PruneEntries(_ context.Context, before time.Time, upTo int64, n int, e audit.Entry) (int, error) {
	return 0, t.step("PruneEntries", before, upTo, n, e)
}

func (t *tape) CountPrunable(_ context.Context, o Outdated, most int) (Prunable, error) {
	return Prunable{}, t.step("CountPrunable", o, most)
}

func (t *tape) Tiles(context.Context, []tree.Tile) ([]tree.Tile, error) { return nil, t.step("Tiles") }

func (t *tape) Replicas(context.Context) ([]Replica, error) { return t.replicas, t.step("Replicas") }

func (t *tape) RemoveReplica(_ context.Context, id string) error { return t.step("RemoveReplica", id) }

func (t *tape) Refusal() error { return nil }

// actor is a driver that can all, and does nothing.
type actor struct {
	Driver
	*steps
	is       Type
	report   Report
	minted   Minted
	listed   []Upstream
	left     []string
	shelved  []Shelved
	dead     bool
	grade    Grade // of all leases, with reasons; empty is bounded
	reasons  []string
	comparer Comparison
	asked    Registration // that was normalized last
	wished   Account
	access   Access // of the last inventory
	client   clientconfig.Client
	prepare  func(Grant) Grant // what it makes of a grant; nil: nothing
	others   []string          // VIMs that things are said to be of, which are foreign where there are none
}

func (a *actor) Type() Type { return a.is }

func (a *actor) Normalize(r Registration) (Target, Credential, error) {
	a.asked = r
	t := Target{Endpoint: r.Endpoint, Namespace: r.Namespace, ServerName: r.ServerName, InsecureSkipVerify: r.InsecureSkipVerify}
	return t, r.Credential, a.step("Normalize", r)
}

func (a *actor) Check(_ context.Context, by Access) (Report, error) {
	return a.report, a.step("Check", by)
}

func (a *actor) Prepare(g Grant) (Grant, error) {
	err := a.step("Prepare", g)
	if a.prepare != nil {
		g = a.prepare(g)
	}
	return g, err
}

func (a *actor) Issue(_ context.Context, by Access, g Grant) (Minted, error) {
	return a.minted, a.step("Issue", by, g)
}

func (a *actor) Renew(_ context.Context, by Access, g Grant) (Minted, error) {
	return a.minted, a.step("Renew", by, g)
}

func (a *actor) Revoke(_ context.Context, by Access, i Issued) error { return a.step("Revoke", by, i) }

func (a *actor) Dead(_ context.Context, by Access, minted Credential) (bool, error) {
	return a.dead, a.step("Dead", by, minted)
}

func (a *actor) Inventory(_ context.Context, by Access) ([]Upstream, error) {
	a.access = by
	return a.listed, a.step("Inventory", by)
}

func (a *actor) Forget(_ context.Context, by Access) error { return a.step("Forget", by) }

func (a *actor) Client(Access, []string, CredentialKind) clientconfig.Client {
	if a.client != nil {
		return a.client
	}
	return clientconfig.KubernetesClient{}
}

func (a *actor) Grade(_ context.Context, by Access, g Grant) (Graded, error) {
	return Graded{Grade: cmp.Or(a.grade, GradeBounded), Reasons: a.reasons}, a.step("Grade", by, g)
}

func (a *actor) Foresee(_ context.Context, by Access, g Grant) error { return a.step("Foresee", by, g) }

func (a *actor) CheckRules(_ context.Context, by Access, rules []Rule) error {
	return a.step("CheckRules", by, rules)
}

func (a *actor) Tidy(_ context.Context, by Access, g Grant) error { return a.step("Tidy", by, g) }

func (a *actor) Left(_ context.Context, by Access, c Comparison) ([]string, error) {
	a.comparer = c
	return a.left, a.step("Left", by, c)
}

func (a *actor) Foreign(_ context.Context, by Access, ours func(string) bool) ([]string, error) {
	err := a.step("Foreign", by)
	return slices.DeleteFunc(slices.Clone(a.others), ours), err
}

func (a *actor) Shelve(_ context.Context, by Access, one Shelved) error {
	return a.step("Shelve", by, one)
}

func (a *actor) Unshelve(_ context.Context, by Access, one Shelved) error {
	return a.step("Unshelve", by, one)
}

func (a *actor) Shelved(_ context.Context, by Access, namespace, mark string) ([]Shelved, error) {
	return a.shelved, a.step("Shelved", by, namespace, mark)
}

func (a *actor) Identify(_ context.Context, by Access) (Report, error) {
	return a.report, a.step("Identify", by)
}

func (a *actor) Shows(_ context.Context, by Access, handle string) (bool, error) {
	return false, a.step("Shows", by, handle)
}

func (a *actor) Appoint(_ context.Context, by Access, w Account) (Credential, Report, error) {
	a.wished = w
	return a.minted.Credential, a.report, a.step("Appoint", by, w)
}

func (a *actor) Reappoint(_ context.Context, by Access) (Credential, Report, error) {
	return a.minted.Credential, a.report, a.step("Reappoint", by)
}

// keysInMemory is a key store.
type keysInMemory struct {
	*steps
	name  string // empty is memory
	held  map[secret.Ref]held
	fails error // of a key that is asked for
	out   []*secret.Key
}

// left is how many keys are still in memory of those that it was given or handed out.
func (k *keysInMemory) left() (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range k.out {
		if key.Encode() != nil {
			n++
		}
	}
	return n
}

func (k *keysInMemory) notes(key *secret.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.out = append(k.out, key)
}

type held struct {
	secret.Held
	key []byte
}

func (k *keysInMemory) Name() string { return cmp.Or(k.name, "memory") }

func (k *keysInMemory) Put(_ context.Context, owner secret.Owner, key *secret.Key) (secret.Ref, error) {
	ref := secret.Ref(fmt.Sprint("key ", len(k.held)))
	k.held[ref] = held{secret.Held{Owner: owner, Ref: ref}, key.Encode()}
	k.notes(key)
	k.note("put " + came.Show(owner) + " as " + string(ref))
	return ref, nil
}

func (k *keysInMemory) Get(_ context.Context, ref secret.Ref) (*secret.Key, error) {
	one := k.held[ref]
	if k.fails != nil {
		return nil, k.fails
	}
	if one.key == nil {
		return nil, secret.ErrNotFound
	}
	key, err := secret.ParseKey(one.key)
	k.notes(key)
	return key, err
}

func (k *keysInMemory) Delete(_ context.Context, ref secret.Ref) (secret.Erasure, error) {
	k.held[ref] = held{}
	k.note("destroy " + string(ref))
	return secret.Shredded, nil
}

func (k *keysInMemory) List(_ context.Context, id string) (all []secret.Held, _ error) {
	for _, ref := range slices.Sorted(maps.Keys(k.held)) {
		if one := k.held[ref]; one.key != nil && (id == "" || id == one.Owner.ID) {
			all = append(all, one.Held)
		}
	}
	return all, nil
}

func (k *keysInMemory) Check(context.Context) error { return nil }

// stage is a broker on a tape and an actor, with one VIM and one lease on it.
type stage struct {
	*Broker
	*steps
	tape   *tape
	actor  *actor
	clock  *clock.Clock
	log    *bytes.Buffer
	denies map[policy.Action]bool
	asked  []policy.Request
	stored *keysInMemory
	v      VIM
	l      Lease
}

const leaseID = "1c0a7f9e-3c0e-4a54-9a0c-0d6a2c9f7b22"

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &steps{fails: map[string]error{}, during: map[string]func(){}}
	keys := &keysInMemory{steps: s, held: map[secret.Ref]held{}}
	var err error
	now := clock.New(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	st := &stage{
		steps: s, clock: now, log: &bytes.Buffer{}, denies: map[policy.Action]bool{}, stored: keys,
		tape: &tape{steps: s, vims: map[string]VIM{}, leases: map[string]Lease{}},
		actor: &actor{steps: s, is: fit("a", ""), report: Report{Identity: "uid", CanMint: true}, minted: Minted{
			Credential: Credential{Kind: CredentialBearerToken, Token: secret.NewText(fresh)}, ExpiresAt: now.Now().Add(time.Hour),
		}},
	}
	st.Broker, err = New(Options{
		Store: st.tape, Keys: []secret.KeyStore{keys}, Drivers: []Driver{st.actor}, Now: now.Now, Terms: DefaultTerms(),
		Policy: deciding(func(r policy.Request) policy.Decision {
			s.note(came.Call("ask", r))
			s.mu.Lock()
			defer s.mu.Unlock()
			st.asked = append(st.asked, r)
			return policy.Decision{Allowed: !st.denies[r.Action]}
		}),
		Egress: func(string) *egress.Rules { return nil }, Log: testlog.To(t, slog.NewTextHandler(st.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	st.v = VIM{
		ID: vimID, Project: "p", Name: "edge", Type: "a", State: VIMRegistered, Revision: 1, Health: Health{Status: HealthReachable, CanMint: true},
		Current: Generation{Number: 1, Identity: "uid"},
	}
	st.l = Lease{
		ID: leaseID, VIM: vimID, VIMType: "a", VIMGeneration: 1, VIMProject: "p", Project: "p", Principal: "alice", HolderRoles: []string{policy.RoleMember},
		Derived: true, State: LeaseActive, Handle: "lease-" + leaseID, CreatedAt: now.Now(), IssuedAt: now.Now(),
		ExpiresAt: now.Now().Add(time.Hour), MaxExpiresAt: now.Now().Add(9 * time.Hour),
	}
	st.put()
	return st
}

// seal seals a generation of a VIM, and keeps no key.
func (s *stage) seal(ctx context.Context, v VIM, g *Generation, as SealedAs) error {
	key, err := s.core.sealGeneration(ctx, s.core.keys, v, g, as, Credential{Token: secret.NewText(sent)})
	key.Clear()
	return err
}

// put seals and stores the VIM and the lease as they are here, and forgets what was done.
func (s *stage) put() {
	ctx := context.Background()
	key, err := s.core.sealGeneration(ctx, s.core.keys, s.v, &s.v.Current, SealedCurrent, Credential{Token: secret.NewText(sent)})
	if err != nil {
		panic(err)
	}
	o := &opened{Access: s.access(s.v, s.v.Current, Credential{}), key: key, ref: s.v.Current.Key}
	defer o.close()
	s.l.SealedKey = s.v.Current.Key
	if s.l.Sealed, err = o.seal(s.l, Credential{Token: secret.NewText(fresh), LeaseSecret: secret.NewText("vbl_secret")}); err != nil {
		panic(err)
	}
	s.tape.vims, s.tape.leases = map[string]VIM{s.v.ID: s.v}, map[string]Lease{s.l.ID: s.l}
	s.tape.entries, s.taken, s.asked, s.said, s.fails = nil, nil, nil, nil, map[string]error{}
	s.log.Reset()
}
