package lifecycle

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// OperationState is the state of an operation (SOL003, LcmOperationStateType).
type OperationState string

// The states of an operation.
const (
	// Starting: it is being planned and decided on; nothing was made.
	Starting   OperationState = "STARTING"
	Processing OperationState = "PROCESSING"
	Completed  OperationState = "COMPLETED"
	// FailedTemp: it has failed, and waits for somebody to retry it, roll it back or give it up.
	FailedTemp  OperationState = "FAILED_TEMP"
	Failed      OperationState = "FAILED"
	RollingBack OperationState = "ROLLING_BACK"
	RolledBack  OperationState = "ROLLED_BACK"
)

// operationMoves is the state machine of an operation (SOL003, clause 5.6.2).
var operationMoves = map[OperationState][]OperationState{
	Starting:    {Processing, RolledBack},
	Processing:  {Completed, FailedTemp},
	FailedTemp:  {Processing, RollingBack, Failed},
	RollingBack: {RolledBack, FailedTemp},
}

// CanMove reports whether an operation may go from one state to another. Staying is no move.
func (s OperationState) CanMove(to OperationState) bool {
	return slices.Contains(operationMoves[s], to)
}

// Live reports whether the operation keeps others from beginning on its instance.
func (s OperationState) Live() bool { return len(operationMoves[s]) > 0 }

// Working reports whether the engine has work to do.
func (s OperationState) Working() bool { return s.Live() && s != FailedTemp }

// CancelMode says how an operation is stopped.
type CancelMode string

// The modes (SOL003, CancelModeType).
const (
	// Graceful lets the wave end that is being worked.
	Graceful CancelMode = "GRACEFUL"
	// Forceful ends the operation at once.
	Forceful CancelMode = "FORCEFUL"
)

// Operation is a life-cycle operation occurrence. It contains no secret.
type Operation struct {
	// ID is a UUID that the engine assigns.
	ID       string         `json:"id"`
	Instance string         `json:"instance"`
	Project  string         `json:"project"`
	Type     OperationType  `json:"type"`
	State    OperationState `json:"state"`
	// Asker is the caller who asked for it, and on whose behalf the engine acts.
	Asker          policy.Delegation `json:"asker"`
	StartedAt      time.Time         `json:"startedAt"`
	StateEnteredAt time.Time         `json:"stateEnteredAt"`
	// Deadline is when waiting for the VIM ends: counted from each turn.
	Deadline time.Time `json:"deadline"`
	// QueuedAt is since when it has waited for its turn, by a start, retry or rollback; TurnAt is when the turn
	// came. It is zero while the operation waits.
	QueuedAt time.Time `json:"-"`
	TurnAt   time.Time `json:"-"`
	// Waiting is its place while it waits: shown by Operation and Operations of [Lifecycle], and not stored.
	Waiting *Waiting `json:"-"`
	// Warrant is what its steps rest on should the Asker be gone, and shown likewise; empty once it has ended.
	Warrant string `json:"-"`
	// Params is the request's body, unchanged.
	Params json.RawMessage `json:"params,omitempty"`
	// Before is the instance as the operation found it, Target as it makes it.
	Before Shape `json:"before"`
	Target Shape `json:"target"`
	// VNFCs are those that HEAL replaces.
	VNFCs []VNFC `json:"vnfcs,omitempty"`
	// Tests: HEAL runs tests, and does nothing else.
	Tests bool `json:"tests,omitempty"`
	// Cancel is set once somebody has asked to stop it.
	Cancel CancelMode `json:"cancel,omitempty"`
	// Failure says what went wrong last.
	Failure *Failure `json:"failure,omitempty"`
	// Plan is a digest of the plan, and Stage and Wave say how far it has been done.
	Plan  string `json:"plan,omitempty"`
	Stage int    `json:"stage"`
	Wave  int    `json:"wave"`
	// Steps holds the newest observation of each resource.
	Steps []Observation `json:"steps,omitempty"`
	// Events counts the events that were made of it; the store counts them.
	Events int64 `json:"events,omitempty"`
	// Revision counts the writes.
	Revision int64 `json:"-"`
}

// Waits reports whether the operation waits for its turn.
func (o Operation) Waits() bool { return o.State.Working() && o.TurnAt.IsZero() }

// ByRequest reports whether an operation that begins is done by the process that was asked for it: it waits for no turn,
// and its job ends at the Deadline what that process has left.
func (o Operation) ByRequest() bool { return o.State.Working() && !o.TurnAt.IsZero() }

// Cancelable reports whether work on the operation can be canceled. MODIFY_INFO ends with its request.
func (o Operation) Cancelable() bool { return o.State.Working() && o.Type != ModifyInfo }

// queue has the operation wait for its turn.
func (o *Operation) queue(at time.Time) { o.QueuedAt, o.TurnAt = at, time.Time{} }

// VIM is the id of the VIM that it is worked on.
func (o Operation) VIM() string { return cmp.Or(o.Target.VIM, o.Before.VIM) }

// Failure is why an operation failed: a problem detail (RFC 9457) in our own words.
type Failure struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

// Rollbackable reports whether the engine knows the way back.
func (t OperationType) Rollbackable() bool {
	return t == Instantiate || t == ScaleVNF || t == ChangePackage || t == ChangeConn
}

// fail ends the work on the operation, because of err. One of which nothing was made is over.
func (o *Operation) fail(err error, at time.Time) {
	to := FailedTemp
	if o.State == Starting {
		to = RolledBack
	}
	o.move(to, at)
	o.Failure, o.Cancel = failureOf(err), ""
}

// move puts the operation into another state.
func (o *Operation) move(to OperationState, at time.Time) {
	o.State, o.StateEnteredAt = to, at
	o.Plan, o.Stage, o.Wave = "", 0, 0
}
