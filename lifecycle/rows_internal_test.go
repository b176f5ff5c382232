package lifecycle

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// rows is a store of one row of each kind, in memory. A method whose name is in fails does nothing but fail.
type rows struct {
	Store
	i       Instance
	o       Operation
	all     []Operation
	secrets []SecretParameters
	places  []Place
	drift   Drift
	entries []audit.Entry
	deleted []string
	saves   int
	page    int // of secret parameters, if it is not 0
	fails   map[string]error
	// updating is asked before each update of an operation, with the number of those before.
	updating func(n int) error
	updates  int
	// reading is asked likewise before each reading of an operation.
	reading func(n int) error
	reads   int
}

func (r *rows) Append(_ context.Context, e audit.Entry) error {
	r.entries = append(r.entries, e)
	return r.fails["Append"]
}

func (r *rows) Instance(context.Context, string) (Instance, error) {
	if err := r.fails["Instance"]; err != nil {
		return Instance{}, err
	}
	return r.i, nil
}

func (r *rows) Operation(context.Context, string) (Operation, error) {
	r.reads++
	if r.reading != nil {
		if err := r.reading(r.reads - 1); err != nil {
			return Operation{}, err
		}
	}
	return r.o, r.fails["Operation"]
}

func (r *rows) Operations(context.Context, OperationFilter) ([]Operation, string, error) {
	return slices.Clone(r.all), "", r.fails["Operations"]
}

func (r *rows) Places(context.Context) ([]Place, error) { return r.places, r.fails["Places"] }

func (r *rows) UpdateOperation(_ context.Context, _ string, change func(*Operation, *Instance) error, e audit.Entry) (Operation, error) {
	r.updates++
	if r.updating != nil {
		if err := r.updating(r.updates - 1); err != nil {
			return Operation{}, err
		}
	}
	o, i := r.o, r.i
	if err := change(&o, &i); err != nil {
		return Operation{}, err
	}
	r.o, r.i, r.entries = o, i, append(r.entries, e)
	return o, nil
}

func (r *rows) SaveProgress(_ context.Context, o Operation) error {
	r.saves++
	if r.fails["SaveProgress"] == nil {
		r.o = o
	}
	return r.fails["SaveProgress"]
}

func (r *rows) SaveDrift(_ context.Context, _ string, _ int64, d Drift) error {
	r.drift = d
	return r.fails["SaveDrift"]
}

func (r *rows) SecretParameters(_ context.Context, id string) (SecretParameters, error) {
	at := slices.IndexFunc(r.secrets, func(h SecretParameters) bool { return h.ID == id })
	if at < 0 {
		return SecretParameters{}, broker.ErrNotFound
	}
	return r.secrets[at], r.fails["SecretParameters"]
}

func (r *rows) ListSecretParameters(_ context.Context, f SecretParametersFilter) (found []SecretParameters, err error) {
	for _, h := range r.secrets {
		if h.ID > f.After && (r.page == 0 || len(found) < r.page) {
			found = append(found, h)
		}
	}
	return found, r.fails["ListSecretParameters"]
}

func (r *rows) CreateSecretParameters(_ context.Context, h SecretParameters) error {
	if r.fails["CreateSecretParameters"] == nil {
		r.secrets = append(r.secrets, h)
	}
	return r.fails["CreateSecretParameters"]
}

func (r *rows) UpdateSecretParameters(_ context.Context, id string, change func(*SecretParameters) error) (SecretParameters, error) {
	for n := range r.secrets {
		if r.secrets[n].ID == id {
			return r.secrets[n], change(&r.secrets[n])
		}
	}
	return SecretParameters{}, broker.ErrNotFound
}

func (r *rows) DeleteSecretParameters(_ context.Context, id string) error {
	r.deleted = append(r.deleted, id)
	return r.fails["DeleteSecretParameters"]
}

// keys hands out leases of VIMs, which live for an hour. A method whose name is in fails does nothing but fail.
type keys struct {
	Leaser
	now   func() time.Time
	vims  map[string]broker.VIM
	asked []broker.LeaseRequest
	// shared are the keys of those that are shared.
	shared []string
	// ended are whom the leases served that were ended.
	ended []string
	fails map[string]error
	// issuing is asked before each lease is issued.
	issuing func(broker.LeaseRequest) error
	over    bool
	// renewed is for how long a lease is renewed, if it is not for an hour.
	renewed time.Duration
}

func (k *keys) VIM(_ context.Context, _ policy.Principal, id string) (broker.VIM, error) {
	v, known := k.vims[id]
	if !known {
		return v, &broker.Error{Kind: broker.ErrNotFound, Detail: "no such VIM"}
	}
	return v, k.fails["VIM"]
}

func (k *keys) IssueLease(_ context.Context, _ policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	if k.issuing != nil {
		if err := k.issuing(r); err != nil {
			return broker.Lease{}, clientconfig.Config{}, err
		}
	}
	k.asked = append(k.asked, r)
	return broker.Lease{ID: "l", Derived: true, ExpiresAt: k.now().Add(time.Hour)}, clientconfig.Config{Lease: "l"}, k.fails["IssueLease"]
}

func (k *keys) IssueShared(ctx context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	k.shared = append(k.shared, r.IdempotencyKey)
	return k.IssueLease(ctx, p, r)
}

func (k *keys) RenewLease(context.Context, policy.Principal, string, time.Duration) (broker.Lease, clientconfig.Config, error) {
	return broker.Lease{ID: "l", ExpiresAt: k.now().Add(cmp.Or(k.renewed, time.Hour))}, clientconfig.Config{Lease: "l"}, k.fails["RenewLease"]
}

func (k *keys) Ended(context.Context, string) (bool, broker.Reason, error) {
	return k.over, broker.ReasonRequested, k.fails["Ended"]
}

func (k *keys) EndOperation(ctx context.Context, operation string, _ ...string) error {
	k.ended = append(k.ended, operation)
	return k.fails["EndOperation "+operation]
}

// shelved are packages of which each is the same, or cannot be had.
type shelved struct {
	PackageView
	fails error
}

func (s shelved) Use(context.Context, policy.Principal, string) (PackageView, error) {
	return s.PackageView, s.fails
}

func (s shelved) Held(context.Context, string) (PackageView, error) { return s.PackageView, s.fails }

// yielding is a driver of one type of VIM that does what it is told to.
type yielding struct {
	plain
	basis Basis
	plan  func(ctx context.Context, c Connection, in PlanInput) (Plan, error)
	run   func(ctx context.Context, progress func(Observation)) error
}

func (y *yielding) Basis(Source) (Basis, error) { return y.basis, y.says }

func (y *yielding) Survey(PlanInput) StageRules { return StageRules{Purpose: "survey"} }

func (y *yielding) Plan(ctx context.Context, c Connection, in PlanInput) (Plan, error) {
	return y.plan(ctx, c, in)
}

func (y *yielding) Run(ctx context.Context, _ Connection, _ string, _ Wave, progress func(Observation)) error {
	return y.run(ctx, progress)
}

// member asks for all that is done here.
var member = policy.Principal{Name: "alice", Project: "core", Roles: []string{policy.RoleMember}}

// doing has the engine work an operation of a type on an instance on VIMs, of which each driver applies one object.
func (b *bench) doing(of OperationType, vims ...string) {
	p := webs()
	p.Read = func([]string) ([]Manifest, error) { return nil, nil }
	b.Packages = shelved{PackageView: p}
	b.rows.i = Instance{ID: uuid.NewString(), Project: "core", State: Instantiated, CreatedBy: "alice", Revision: 3, Shape: on(vims...)}
	b.rows.o = Operation{
		ID: "o", Instance: b.rows.i.ID, Project: "core", Type: of, State: Starting, Asker: policy.Delegate(member, b.at), StartedAt: b.at,
		StateEnteredAt: b.at, TurnAt: b.at, Deadline: b.at.Add(b.Terms.Patience), Before: b.rows.i.Shape, Target: b.rows.i.Shape,
	}
}

// thing is an object that a driver applies.
func thing(name string) Resource {
	return Resource{Version: "v1", Kind: "Thing", Plural: "things", Name: name}
}

// applies is a driver that applies objects, each in a wave of its own.
func applies(on broker.VIMType, names ...string) *yielding {
	var plan Plan
	stage := Stage{Grant: StageRules{Purpose: "work"}}
	for _, name := range names {
		plan.Resources = append(plan.Resources, thing(name))
		stage.Waves = append(stage.Waves, Wave{Deed: Apply, Objects: []Object{{Resource: thing(name)}}})
	}
	if len(names) > 0 {
		plan.Stages = []Stage{stage}
	}
	return &yielding{
		plain: plain{name: string(on), on: on}, plan: func(context.Context, Connection, PlanInput) (Plan, error) { return plan, nil },
		run: func(context.Context, func(Observation)) error { return nil },
	}
}

// bench is an engine in memory.
type bench struct {
	*Lifecycle
	rows *rows
	keys *keys
	log  *fake.Buffer
	at   time.Time
}

func newBench(t *testing.T, drivers ...Driver) *bench {
	t.Helper()
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{rows: &rows{fails: map[string]error{}}, log: &fake.Buffer{}, at: time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)}
	now := func() time.Time { return b.at }
	b.keys = &keys{now: now, fails: map[string]error{}, vims: map[string]broker.VIM{}}
	for _, id := range []string{"edge", "far"} {
		b.keys.vims[id] = broker.VIM{ID: id, Name: id, Type: "kubernetes", Project: "core"}
	}
	b.keys.vims["cloud"] = broker.VIM{ID: "cloud", Name: "cloud", Type: "openstack", Project: "core"}
	terms := DefaultTerms()
	terms.Learning, terms.LookEvery = 0, time.Hour
	b.Lifecycle = New(Options{
		Store: b.rows, Leaser: b.keys, Packages: shelved{PackageView: webs()}, Drivers: drivers, Links: &pool{},
		Guard:     &audit.Guard{Policy: policies, Sink: b.rows, Now: now, Reads: audit.NewReads()},
		Delegates: &policy.Delegates{Now: now}, Egress: func(string) *egress.Rules { return nil },
		Terms: terms, Log: testlog.To(t, slog.NewTextHandler(b.log, nil)), Now: now,
	})
	return b
}

func (r *rows) GiveTurns(context.Context, func([]Place) []string, func(*Operation)) error {
	return r.fails["GiveTurns"]
}

func (r *rows) BeginOperation(_ context.Context, o Operation, _ int64, change func(*Instance), e audit.Entry) error {
	if r.o, r.entries = o, append(r.entries, e); change != nil {
		change(&r.i)
	}
	return r.fails["BeginOperation"]
}

func (r *rows) InstancesToObserve(context.Context, time.Time, int) ([]Instance, error) {
	return []Instance{r.i}, r.fails["InstancesToObserve"]
}
