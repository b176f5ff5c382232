package rows

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// The rules of uniqueness of life-cycle management.
var (
	InstanceID    = Unique{"id", "a VNF instance with this id is there already"}
	OperationID   = Unique{"id", "an operation with this id is there already"}
	OperationLive = Unique{"vnfInstanceId", "another operation of the instance has not ended"}
)

// Busy says that another operation is live on the instance.
func Busy() error {
	return &broker.Error{
		Kind: broker.ErrConflict, Detail: "another operation of the instance has not ended",
		Remedy: "wait for it; one that has failed is retried, rolled back or given up first",
	}
}

// Instance is a row of the table vnf_instances: a document, and what is looked for.
type Instance struct {
	ID, Project, Name, State string
	CreatedAt                time.Time
	Revision                 int64
	Document                 string
	// ObservedAt, Drifted, Unseen and Drift are the instance's Drift: no part of the document, so that
	// looking at an instance is no change of it.
	ObservedAt time.Time
	Drifted    int64
	Unseen     bool
	Drift      string

	// Packages are the VNF packages that the instance holds: its own, and while an operation
	// on it is live those that it leads from and to. No column: a table of their own keeps them.
	Packages []string
	// VIMs are those that it stands on, in the same way: each is a [broker.Use]. Links are the virtual links that it uses.
	VIMs, Links []string
}

// Use is the instance's use of its VIMs.
func (r Instance) Use() broker.Use {
	return broker.Use{Kind: broker.UseVNFInstance, Subject: r.ID, Project: r.Project, Name: r.Name}
}

// Occupies is the VIM that an operation that begins takes for its instance; empty if the instance stands on it already.
func Occupies(o lifecycle.Operation) string {
	if o.Target.VIM == o.Before.VIM {
		return ""
	}
	return o.Target.VIM
}

// InstanceColumns are the columns of the table vnf_instances.
var InstanceColumns = Columns[Instance]{
	{Name: "id", field: func(i *Instance) any { return &i.ID }, fixed: true},
	{Name: "project", field: func(i *Instance) any { return &i.Project }, fixed: true},
	{Name: "created_at", field: func(i *Instance) any { return &i.CreatedAt }, fixed: true},
	{Name: "name", field: func(i *Instance) any { return &i.Name }},
	{Name: "state", field: func(i *Instance) any { return &i.State }},
	{Name: "revision", field: func(i *Instance) any { return &i.Revision }},
	{Name: "document", field: func(i *Instance) any { return &i.Document }},
	{Name: "observed_at", field: func(i *Instance) any { return &i.ObservedAt }},
	{Name: "drifted", field: func(i *Instance) any { return &i.Drifted }},
	{Name: "unseen", field: func(i *Instance) any { return &i.Unseen }},
	{Name: "drift", field: func(i *Instance) any { return &i.Drift }},
}

// DriftColumns are those of them that say what was seen of an instance.
var DriftColumns = InstanceColumns[len(InstanceColumns)-4:]

// InstanceRow is an instance as a store keeps it.
func InstanceRow(i lifecycle.Instance) (Instance, error) {
	text, err := json.Marshal(i)
	row := Instance{
		ID: i.ID, Project: i.Project, Name: i.Name, State: string(i.State), CreatedAt: i.CreatedAt, Revision: i.Revision, Document: string(text),
		Packages: []string{i.Shape.Package}, VIMs: []string{i.Shape.VIM}, Links: i.Shape.LinkIDs(),
	}
	if err == nil {
		err = row.SetDrift(i.Drift)
	}
	return row, err
}

// SetDrift puts into the row what was seen of the instance.
func (r *Instance) SetDrift(d lifecycle.Drift) error {
	text, err := json.Marshal(d)
	r.ObservedAt, r.Drifted, r.Unseen, r.Drift = d.TriedAt, int64(d.Count), d.Unseen != "", string(text)
	return err
}

// Changed says that an instance is not what it was any more.
func Changed() error { return Conflict("the instance was changed in the meantime") }

// holding returns the row with the packages and VIMs that an operation on the instance needs as well.
func (r Instance) holding(o lifecycle.Operation) Instance {
	if o.State.Live() {
		r.Packages = append(r.Packages, o.Before.Package, o.Target.Package)
		r.VIMs = append(r.VIMs, o.Before.VIM, o.Target.VIM)
		r.Links = slices.Concat(r.Links, o.Before.LinkIDs(), o.Target.LinkIDs())
	}
	return r
}

// Instance reads the document.
func (r Instance) Instance() (i lifecycle.Instance, err error) {
	if err := json.Unmarshal([]byte(r.Document), &i); err != nil {
		return lifecycle.Instance{}, unreadable("vnf_instances", r.ID, err)
	}
	if err := json.Unmarshal([]byte(r.Drift), &i.Drift); err != nil {
		return lifecycle.Instance{}, unreadable("vnf_instances", r.ID, err)
	}
	i.Revision, i.Drift.TriedAt = r.Revision, r.ObservedAt
	return i, nil
}

// Operation is a row of the table vnf_operations: a document, and what is looked for.
type Operation struct {
	ID, Instance, Project, State string
	StartedAt                    time.Time
	Revision                     int64
	Document                     string
	// VIM, QueuedAt and TurnAt say which operations wait for their turn, and why.
	VIM              string
	QueuedAt, TurnAt time.Time
}

// OperationColumns are the columns of the table vnf_operations.
var OperationColumns = Columns[Operation]{
	{Name: "id", field: func(o *Operation) any { return &o.ID }, fixed: true},
	{Name: "instance", field: func(o *Operation) any { return &o.Instance }, fixed: true},
	{Name: "project", field: func(o *Operation) any { return &o.Project }, fixed: true},
	{Name: "started_at", field: func(o *Operation) any { return &o.StartedAt }, fixed: true},
	{Name: "state", field: func(o *Operation) any { return &o.State }},
	{Name: "revision", field: func(o *Operation) any { return &o.Revision }},
	{Name: "document", field: func(o *Operation) any { return &o.Document }},
	{Name: "vim", field: func(o *Operation) any { return &o.VIM }},
	{Name: "queued_at", field: func(o *Operation) any { return &o.QueuedAt }},
	{Name: "turn_at", field: func(o *Operation) any { return &o.TurnAt }},
}

// OperationRow is an operation as a store keeps it.
func OperationRow(o lifecycle.Operation) (Operation, error) {
	text, err := json.Marshal(o)
	return Operation{
		ID: o.ID, Instance: o.Instance, Project: o.Project, State: string(o.State), StartedAt: o.StartedAt,
		Revision: o.Revision, Document: string(text),
		VIM: o.VIM(), QueuedAt: o.QueuedAt, TurnAt: o.TurnAt,
	}, err
}

// Operation reads the document.
func (r Operation) Operation() (o lifecycle.Operation, err error) {
	if err := json.Unmarshal([]byte(r.Document), &o); err != nil {
		return lifecycle.Operation{}, unreadable("vnf_operations", r.ID, err)
	}
	o.Revision, o.QueuedAt, o.TurnAt = r.Revision, r.QueuedAt, r.TurnAt
	return o, nil
}

// PlaceColumns are the columns of a [Place], in order.
const PlaceColumns = `id, project, vim, queued_at, turn_at`

// Place holds the fields that are read of an operation that is worked or waits for its turn.
type Place struct {
	ID, Project, VIM string
	QueuedAt, TurnAt time.Time
}

// Fields are the destinations for PlaceColumns.
func (p *Place) Fields() []any { return []any{&p.ID, &p.Project, &p.VIM, &p.QueuedAt, &p.TurnAt} }

// Places are the places of operations.
func Places(all []Place) []lifecycle.Place {
	out := make([]lifecycle.Place, len(all))
	for n, p := range all {
		out[n] = lifecycle.Place{Operation: p.ID, Project: p.Project, VIM: p.VIM, QueuedAt: p.QueuedAt, Waits: p.TurnAt.IsZero()}
	}
	return out
}

// GiveTurn lets begin alter an operation; ok is false if it does not wait any more.
func GiveTurn(row Operation, begin func(*lifecycle.Operation)) (given Operation, ok bool, err error) {
	o, err := row.Operation()
	if err != nil || !o.Waits() {
		return Operation{}, false, err
	}
	begin(&o)
	o.Revision++
	given, err = OperationRow(o)
	return given, err == nil, err
}

func unreadable(table, id string, cause error) error {
	return &broker.Error{
		Kind: broker.ErrUnavailable, Detail: "what is stored cannot be read",
		Remedy: "restore the row " + id + " of the table " + table + " from a backup", Cause: cause,
	}
}

// Altered is the result of a change of an operation and its instance.
type Altered struct {
	Operation Operation
	Instance  Instance
	// Stored is the operation.
	Stored lifecycle.Operation
	// Events are what subscribers are told of it.
	Events    []lifecycle.Event
	Concealed SecretParametersChange
}

// ChangeOperation lets change alter an operation and its instance, and returns their rows. Its changes to ids,
// projects, times of creation, revisions and the count of events are undone. If change fails its error is returned
// unchanged.
func ChangeOperation(o Operation, i Instance, change func(*lifecycle.Operation, *lifecycle.Instance) error) (Altered, error) {
	fail := func(err error) (Altered, error) { return Altered{}, err }
	oldO, err := o.Operation()
	if err != nil {
		return fail(err)
	}
	oldI, err := i.Instance()
	if err != nil {
		return fail(err)
	}
	newO, newI := oldO, oldI
	if err := change(&newO, &newI); err != nil {
		return fail(err)
	}
	if oldO.State != newO.State && !oldO.State.CanMove(newO.State) {
		return fail(Conflict(fmt.Sprintf("an operation that is %s cannot become %s", oldO.State, newO.State)))
	}
	newO.ID, newO.Instance, newO.Project, newO.StartedAt, newO.Revision = oldO.ID, oldO.Instance, oldO.Project, oldO.StartedAt, oldO.Revision+1
	newO.Events = oldO.Events
	newI.ID, newI.Project, newI.CreatedAt, newI.Revision = oldI.ID, oldI.Project, oldI.CreatedAt, oldI.Revision+1
	var to Altered
	if oldO.State != newO.State {
		var e lifecycle.Event
		newO, e = lifecycle.Moved(newO, newI)
		to.Events = append(to.Events, e)
	}
	to.Concealed = concealed(needs(oldI, oldO), needs(newI, newO))
	forget(&newO)
	if to.Operation, err = OperationRow(newO); err != nil {
		return fail(err)
	}
	if to.Instance, err = InstanceRow(newI); err != nil {
		return fail(err)
	}
	to.Instance, to.Stored = to.Instance.holding(newO), newO
	return to, nil
}

// forget drops the parameters of an operation that has ended: it is not planned again.
func forget(o *lifecycle.Operation) {
	if !o.State.Live() {
		o.Before.Parameters, o.Target.Parameters = nil, nil
	}
}

// Progress puts Plan, Stage, Wave and Steps of an operation into its row.
func Progress(row Operation, of lifecycle.Operation) (Operation, error) {
	o, err := row.Operation()
	if err != nil {
		return Operation{}, err
	}
	o.Plan, o.Stage, o.Wave, o.Steps = of.Plan, of.Stage, of.Wave, of.Steps
	o.Revision++
	return OperationRow(o)
}

// LifecyclePosition is the place of an instance or operation in its list.
type LifecyclePosition struct {
	At int64  `json:"vnfAt"` // see Micro
	ID string `json:"vnfId"`
}

// CutInstances cuts a list that is longer than a page, and returns the next page's token.
func CutInstances(all []Instance, size int) ([]Instance, string) {
	return Cut(all, size, func(i Instance) string { return Token(LifecyclePosition{Micro(i.CreatedAt), i.ID}) })
}

// CutOperations cuts a list that is longer than a page, and returns the next page's token.
func CutOperations(all []Operation, size int) ([]Operation, string) {
	return Cut(all, size, func(o Operation) string { return Token(LifecyclePosition{Micro(o.StartedAt), o.ID}) })
}

// Read reads the documents of rows.
func Read[R, T any](all []R, read func(R) (T, error)) ([]T, error) {
	var out []T
	for _, row := range all {
		v, err := read(row)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// Deletable refuses to remove an instance that has resources, or an operation that has not ended.
func Deletable(i Instance, live bool) error {
	if live {
		return Busy()
	}
	if i.State != string(lifecycle.NotInstantiated) {
		return Conflict("the instance is " + i.State)
	}
	return nil
}

// Begun holds the rows that begin an operation.
type Begun struct {
	Operation Operation
	Instance  Instance
	// Events are what subscribers are told of it.
	Events    []lifecycle.Event
	Concealed SecretParametersChange
}

// BeginOperation says what to store of an operation that begins on an instance: live says whether it has
// one already.
func BeginOperation(row Instance, o lifecycle.Operation, revision int64, live bool, change func(*lifecycle.Instance)) (Begun, error) {
	if live {
		return Begun{}, Busy()
	}
	i, err := row.Instance()
	if err != nil {
		return Begun{}, err
	}
	if i.Revision != revision {
		return Begun{}, Changed()
	}
	needed := needs(i, lifecycle.Operation{})
	if change != nil {
		change(&i)
	}
	i.Revision++
	o.Revision = 1
	b := Begun{Concealed: concealed(needed, needs(i, o))}
	forget(&o)
	if b.Instance, err = InstanceRow(i); err != nil {
		return Begun{}, err
	}
	b.Instance = b.Instance.holding(o)
	o, b.Events = lifecycle.Begun(o, i)
	b.Operation, err = OperationRow(o)
	return b, err
}

// InstanceCount counts instances in a state, and of those which have drifted, and which could not
// be looked at.
type InstanceCount struct {
	State              lifecycle.InstanceState
	N, Drifted, Unseen int
}

// CountInstances adds counts up.
func CountInstances(counts []InstanceCount) lifecycle.InstanceCount {
	sum := lifecycle.InstanceCount{States: map[lifecycle.InstanceState]int{}}
	for _, c := range counts {
		sum.States[c.State] = c.N
		sum.Drifted, sum.Unseen = sum.Drifted+c.Drifted, sum.Unseen+c.Unseen
	}
	return sum
}
