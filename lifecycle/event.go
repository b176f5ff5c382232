package lifecycle

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// EventKind is the kind of an event, in the words of SOL003 (clauses 5.5.2.17 to 5.5.2.19).
type EventKind string

// Every kind of event.
const (
	OperationMoved  EventKind = "VnfLcmOperationOccurrenceNotification"
	InstanceCreated EventKind = "VnfIdentifierCreationNotification"
	InstanceDeleted EventKind = "VnfIdentifierDeletionNotification"
)

// Event is a change of an instance, or of the state of an operation, as subscribers are told of it. It contains no
// secret. A store makes it in the transaction of the change.
type Event struct {
	// ID is a UUID: the same for all who are told.
	ID   string    `json:"id"`
	Kind EventKind `json:"kind"`
	// At is when it happened.
	At      time.Time `json:"at"`
	Project string    `json:"project"`
	// Instance is the instance's id; Name and Product are those that it had then.
	Instance string  `json:"instance"`
	Name     string  `json:"name,omitempty"`
	Product  Product `json:"product"`

	// Operation is the operation's id; this and what follows is of one that has moved.
	Operation string `json:"operation,omitempty"`
	// Number counts the events of the operation, from 1, without gap.
	Number int64          `json:"number,omitempty"`
	Type   OperationType  `json:"type,omitempty"`
	State  OperationState `json:"state,omitempty"`
	// Failure is the reason why it failed, if it did.
	Failure *Failure `json:"failure,omitempty"`
	// Asked is the request of a completed MODIFY_INFO, NewProduct the new product of a completed CHANGE_VNFPKG. No store
	// keeps Asked with an event, which is stored for each subscriber: it stands in the operation's row, for as long as that
	// is there.
	Asked      json.RawMessage `json:"asked,omitempty"`
	NewProduct *Product        `json:"newProduct,omitempty"`
	// Part and More are where it was.
	Part

	More []Part `json:"parts,omitempty"`
	// Affected are the VNFCs that a completed operation has changed.
	Affected []Affected `json:"affected,omitempty"`
	// Storages are the storages that it has changed.
	Storages []AffectedStorage `json:"storages,omitempty"`
	// Affecting are the virtual links of the descriptor that it has changed, Links those that CHANGE_EXT_CONN has left.
	Affecting []AffectedLink `json:"affecting,omitempty"`
	Links     []Link         `json:"links,omitempty"`
}

// Result reports whether the operation has come to an end, if only for now (SOL003, notificationStatus).
func (e Event) Result() bool {
	return e.State != Starting && e.State != Processing && e.State != RollingBack
}

// Created is the event that an instance was made.
func Created(i Instance) Event { return i.event(InstanceCreated, i.CreatedAt) }

// Deleted is the event that an instance was removed.
func Deleted(i Instance, at time.Time) Event { return i.event(InstanceDeleted, at) }

func (i Instance) event(kind EventKind, at time.Time) Event {
	return Event{
		ID: uuid.NewString(), Kind: kind, At: at.UTC(), Project: i.Project, Instance: i.ID, Name: i.Name, Product: i.Shape.Product,
	}
}

// Moved is the event that an operation on i has come into its state, and o with the event counted.
func Moved(o Operation, i Instance) (Operation, Event) {
	o.Events++
	e := i.event(OperationMoved, o.StateEnteredAt)
	e.Operation, e.Number, e.Type, e.State = o.ID, o.Events, o.Type, o.State
	if e.Result() {
		e.Failure = o.Failure
	}
	if o.State == Completed {
		e.Affected, e.Storages, e.Affecting = o.Affected(), o.AffectedStorages(), o.AffectedLinks()
		if o.Type == ChangeConn {
			e.Links = o.Target.Links
		}
		on := o.On()
		e.Part, e.More = on.Part, on.More
		if o.Type == ChangePackage {
			e.NewProduct = &o.Target.Product
		}
	}
	return o, e
}

// Begun are the events of an operation that has begun on i, and o with them counted. An operation that is completed
// at once has an event for Processing first (SOL003 clause 5.6.2).
func Begun(o Operation, i Instance) (Operation, []Event) {
	o.Events = 0
	if o.State != Completed {
		counted, e := Moved(o, i)
		return counted, []Event{e}
	}
	o.State = Processing
	o, first := Moved(o, i)
	o.State = Completed
	o, last := Moved(o, i)
	return o, []Event{first, last}
}

// Affected is a VNFC that an operation has changed.
type Affected struct {
	VNFC
	Change ChangeType `json:"change"`
}

// ChangeType is the kind of change of a VNFC (SOL003, AffectedVnfc).
type ChangeType string

// Every change.
const (
	Added    ChangeType = "ADDED"
	Removed  ChangeType = "REMOVED"
	Modified ChangeType = "MODIFIED" // replaced under the same name
)

// On is the instance as far as it says which VIM the operation is on.
func (o Operation) On() Shape {
	if o.Type == Terminate {
		return o.Before
	}
	return o.Target
}

// Affected are the VNFCs that a completed operation has changed: the pods seen last in the workloads that it worked
// on, compared with the previous ones.
func (o Operation) Affected() (all []Affected) {
	before, worked := map[string]VNFC{}, map[string]bool{}
	for _, v := range o.Before.VNFCs {
		before[v.ID()] = v
	}
	for _, s := range o.Steps {
		worked[s.VDU] = true
		for _, v := range s.VNFCs {
			switch was, known := before[v.ID()]; {
			case !known:
				all = append(all, Affected{v, Added})
			case was.UID != v.UID:
				all = append(all, Affected{v, Modified})
			}
			delete(before, v.ID())
		}
	}
	for _, v := range o.Before.VNFCs {
		if _, left := before[v.ID()]; left && worked[v.VDU] {
			all = append(all, Affected{v, Removed})
		}
	}
	return all
}

// AffectedStorage is a storage that an operation has changed.
type AffectedStorage struct {
	Storage
	Change ChangeType `json:"change"`
}

// AffectedStorages are the storages that a completed operation has made, removed, or replaced under the same name.
func (o Operation) AffectedStorages() (all []AffectedStorage) {
	before, worked := map[string]Storage{}, map[string]Observation{}
	for _, r := range o.Before.Resources {
		for _, s := range r.Storages {
			before[s.id()] = s
		}
	}
	for _, step := range o.Steps {
		worked[step.key()] = step
		if !step.Standing {
			continue
		}
		for _, s := range step.Storages {
			switch was, known := before[s.id()]; {
			case !known:
				all = append(all, AffectedStorage{s, Added})
			case was.UID != s.UID:
				all = append(all, AffectedStorage{s, Modified})
			}
			delete(before, s.id())
		}
	}
	for _, r := range o.Before.Resources {
		step, looked := worked[r.key()]
		for _, s := range r.Storages {
			if _, left := before[s.id()]; left && looked && (step.Standing || !s.Outlives) {
				all = append(all, AffectedStorage{s, Removed})
			}
		}
	}
	return all
}

func (s Storage) id() string { return s.Kind + " " + s.Namespace + "/" + s.Name }
