package rows

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
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
	lifecycle.Instance
	Document string
	// ObservedAt, Drifted, Unseen and DriftText are the instance's Drift: no part of the document, so that
	// looking at an instance is no change of it.
	ObservedAt time.Time
	Drifted    int64
	Unseen     bool
	DriftText  string
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

// Occupies are the VIMs that an operation that begins takes for its instance, and that it does not stand on already.
func Occupies(o lifecycle.Operation) []string {
	return slices.DeleteFunc(o.Target.VIMs(), func(vim string) bool { return slices.Contains(o.Before.VIMs(), vim) })
}

// InstanceColumns are the columns of the table vnf_instances.
var InstanceColumns = ColumnsOf[Instance](`
	id! project! created_at! name state revision document observed_at drifted unseen drift=DriftText`)

// DriftColumns are those of them that say what was seen of an instance.
var DriftColumns = InstanceColumns[len(InstanceColumns)-4:]

// InstanceRow is an instance as a store keeps it.
func InstanceRow(i lifecycle.Instance) (Instance, error) {
	text, err := json.Marshal(i)
	row := Instance{
		Instance: i, Document: string(text),
		Packages: []string{i.Shape.Package}, VIMs: i.Shape.VIMs(), Links: i.Shape.AssetIDs(),
	}
	if err == nil {
		err = row.SetDrift(i.Drift)
	}
	return row, err
}

// SetDrift puts into the row what was seen of the instance.
func (r *Instance) SetDrift(d lifecycle.Drift) error {
	text, err := json.Marshal(d)
	r.ObservedAt, r.Drifted, r.Unseen, r.DriftText = d.TriedAt, int64(d.Count), d.Unseen != "", string(text)
	return err
}

// Changed says that an instance is not what it was any more.
func Changed() error { return Conflict("the instance was changed in the meantime") }

// holding returns the row with the packages and VIMs that an operation on the instance needs as well.
func (r Instance) holding(o lifecycle.Operation) Instance {
	if o.State.Live() {
		r.Packages = append(r.Packages, o.Before.Package, o.Target.Package)
		r.VIMs = append(append(r.VIMs, o.Before.VIMs()...), o.Target.VIMs()...)
		r.Links = slices.Concat(r.Links, o.Before.AssetIDs(), o.Target.AssetIDs())
	}
	return r
}

// Read reads the document, and what was seen of the instance.
func (r Instance) Read() (lifecycle.Instance, error) {
	i, err := document[lifecycle.Instance]("vnf_instances", r.ID, r.Document)
	if err == nil {
		i.Drift, err = document[lifecycle.Drift]("vnf_instances", r.ID, r.DriftText)
	}
	i.Revision, i.Drift.TriedAt = r.Revision, r.ObservedAt
	return i, err
}

// Operation is a row of the table vnf_operations: a document, and what is looked for.
type Operation struct {
	lifecycle.Operation
	Document string
	// VIM is the one that it is worked on.
	VIM string
}

// OperationColumns are the columns of the table vnf_operations.
var OperationColumns = ColumnsOf[Operation](`
	id! instance! project! started_at! state revision document vim queued_at turn_at`)

// OperationRow is an operation as a store keeps it.
func OperationRow(o lifecycle.Operation) (Operation, error) {
	text, err := json.Marshal(o)
	return Operation{o, string(text), o.VIM()}, err
}

// Read reads the document, and what says whether the operation waits for its turn.
func (r Operation) Read() (lifecycle.Operation, error) {
	o, err := document[lifecycle.Operation]("vnf_operations", r.ID, r.Document)
	o.Revision, o.QueuedAt, o.TurnAt = r.Revision, r.QueuedAt, r.TurnAt
	return o, err
}

// GiveTurn lets begin alter an operation; ok is false if it does not wait any more.
func GiveTurn(row Operation, begin func(*lifecycle.Operation)) (given Operation, ok bool, err error) {
	o, err := row.Read()
	if err != nil || !o.Waits() {
		return Operation{}, false, err
	}
	begin(&o)
	o.Revision++
	given, err = OperationRow(o)
	return given, err == nil, err
}

// document reads one that a row of a table keeps.
func document[T any](table, id, text string) (T, error) {
	var v, none T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return none, unreadable(table, id, err)
	}
	return v, nil
}

func unreadable(table, id string, cause error) error {
	return &broker.Error{
		Kind: broker.ErrUnavailable, Detail: "what is stored cannot be read",
		Remedy: "restore the row " + id + " of the table " + table + " from a backup", Cause: cause,
	}
}

// Altered is the result of a change of an operation and its instance, or of its beginning.
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
	oldO, err := o.Read()
	if err != nil {
		return fail(err)
	}
	oldI, err := i.Read()
	if err != nil {
		return fail(err)
	}
	newO, newI := oldO, oldI
	if err := change(&newO, &newI); err != nil {
		return fail(err)
	}
	if err := Move("an operation", oldO.State, newO.State); err != nil {
		return fail(err)
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

// Progress puts Plan, Stage, Wave, Steps and Links of an operation into its row.
func Progress(row Operation, of lifecycle.Operation) (Operation, error) {
	o, err := row.Read()
	if err != nil {
		return Operation{}, err
	}
	o.Plan, o.Stage, o.Wave, o.Steps = of.Plan, of.Stage, of.Wave, of.Steps
	o.Before.Links, o.Target.Links = of.Before.Links, of.Target.Links
	o.Revision++
	return OperationRow(o)
}

// InstanceOrder is the order of a list of instances.
var InstanceOrder = OrderOf[Instance]("instances", "created_at id", true)

// OperationOrder is the order of a list of operations.
var OperationOrder = OrderOf[Operation]("operations", "started_at id", true)

// Deletable refuses to remove an instance that has resources, or an operation that has not ended.
func Deletable(i Instance, live bool) error {
	if live {
		return Busy()
	}
	if i.State != lifecycle.NotInstantiated {
		return Conflict("the instance is " + string(i.State))
	}
	return nil
}

// BeginOperation says what to store of an operation that begins on an instance: live says whether it has
// one already.
func BeginOperation(row Instance, o lifecycle.Operation, revision int64, live bool, change func(*lifecycle.Instance)) (Altered, error) {
	if live {
		return Altered{}, Busy()
	}
	i, err := row.Read()
	if err != nil {
		return Altered{}, err
	}
	if i.Revision != revision {
		return Altered{}, Changed()
	}
	needed := needs(i, lifecycle.Operation{})
	if change != nil {
		change(&i)
	}
	i.Revision++
	o.Revision = 1
	b := Altered{Concealed: concealed(needed, needs(i, o))}
	forget(&o)
	if b.Instance, err = InstanceRow(i); err != nil {
		return Altered{}, err
	}
	b.Instance = b.Instance.holding(o)
	o, b.Events = lifecycle.Begun(o, i)
	b.Operation, err = OperationRow(o)
	b.Stored = o
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
