package audit

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// denialDeadline bounds how long a denial may take to be recorded once its
// caller has gone away.
const denialDeadline = 5 * time.Second

// Guard stands before every effect: it decides and records in one call. A Guard
// is safe for concurrent use and must not be changed once used.
type Guard struct {
	Policy policy.Decider
	Sink   Sink
	Now    func() time.Time
	// Reads says which reads are recorded; nil: all.
	Reads *Reads
	// Missed folds refusals of looks at what the principal does not find; nil folds none.
	Missed *Folds
	// Held says why nothing is done now that does not end leases, stop an operation or only
	// read; nil holds nothing back.
	Held func(ctx context.Context) error
	// Tally counts how acts ended; nil counts nothing.
	Tally *Tally
	// Log receives the alarm that a policy could not be evaluated, with the
	// evaluation errors, which no caller sees. Nil logs nothing.
	Log *slog.Logger
}

// ErrHidden is the refusal of an object that the principal may not even see: for the
// caller it does not exist. It is a [policy.ErrDenied].
var ErrHidden = fmt.Errorf("%w: hidden", policy.ErrDenied)

// held asks Held about an allowed act of a caller. An act that ends leases, stops an operation
// or only reads is never held back, and neither is an act of the broker itself.
func (g *Guard) held(ctx context.Context, p policy.Principal, action policy.Action) error {
	if g.Held == nil || slices.Contains(p.Roles, policy.RoleSystem) || slices.Contains(neverHeld, action) {
		return nil
	}
	return g.Held(ctx)
}

// neverHeld are the actions that end leases, stop an operation, or read.
var neverHeld = []policy.Action{
	policy.LeaseRevoke, policy.VIMDelete, policy.VIMForceDelete, policy.VIMRetire, policy.VIMSettle, policy.VNFCancel,
	policy.VIMShow, policy.VIMCheck, policy.VIMInventory, policy.LeaseShow, policy.ClusterShow, policy.VNFShow, policy.LinkShow,
	policy.VolumeShow, policy.PackageShow, policy.SubscriptionShow, policy.ClientShow, policy.ClientDelete, policy.GrantShow, policy.GrantEnd,
	policy.AuditRead, policy.TokenList, policy.PolicyExplain, policy.TrustShow, policy.TrustDelete,
}

// Enter decides whether p may do action to res, and records a refusal. It does not record
// a permission yet: the entries of the [Act] do.
//
// A refusal unwraps to [policy.ErrDenied], and to [ErrHidden] if p may not see the
// resource; if a policy could not be evaluated it unwraps to [policy.ErrEvaluation] too.
// A refusal is recorded even when the caller has gone away meanwhile; if it cannot be
// recorded, Enter returns why not, and refuses all the same.
func (g *Guard) Enter(ctx context.Context, p policy.Principal, action policy.Action, res policy.Resource, wish policy.Wish) (*Act, error) {
	d := g.Policy.Decide(policy.Request{Principal: p, Action: action, Resource: res, Wish: wish})
	act := g.Record(ctx, p, action, res).withGiven(DetailPolicy, strings.Join(d.Policies, ","))
	if slices.Contains(p.Roles, policy.RoleSystem) {
		act.entry.Project = res.Project
	}
	if d.Allowed && len(d.Errors) == 0 {
		if err := g.held(ctx, p, action); err != nil {
			return nil, err
		}
		return act, nil
	}

	g.denied(ctx, action)
	act.wished(wish)
	err := fmt.Errorf("%s on %s %s: %w", action, res.Kind, res.ID, &policy.Refused{Reasons: d.Reasons})
	if len(d.Errors) > 0 {
		act.With(DetailError, "policy evaluation")
		err = fmt.Errorf("%w: %w", err, policy.ErrEvaluation)
		if g.Log != nil {
			g.Log.ErrorContext(ctx, "policy could not be evaluated, so it denied",
				"principal", p.Name, "actor", p.Actor, "action", action, "resource", res.ID, "errors", d.Errors)
		}
	}
	if g.sees(p, res) {
		return nil, cmp.Or(g.refuse(ctx, act.as(Denied)), err)
	}
	return nil, cmp.Or(g.hide(ctx, act, p, res), fmt.Errorf("%w: %w", ErrHidden, err))
}

// Hide records that p asked for action on an object that it may not see, as [Guard.Enter]
// does, and returns an [ErrHidden].
func (g *Guard) Hide(ctx context.Context, p policy.Principal, action policy.Action, res policy.Resource) error {
	g.denied(ctx, action)
	return cmp.Or(g.hide(ctx, g.Record(ctx, p, action, res), p, res), ErrHidden)
}

// Missing records that p asked for action on something of a kind that does not exist.
// The entry is the one that p's project gets where it exists and p may not see it.
func (g *Guard) Missing(ctx context.Context, p policy.Principal, action policy.Action, kind policy.Kind) error {
	g.denied(ctx, action)
	return g.miss(ctx, g.unfound(ctx, p, action, kind))
}

// looks are the actions that only look at one object.
var looks = []policy.Action{
	policy.VIMShow, policy.LeaseShow, policy.ClusterShow, policy.VNFShow, policy.PackageShow, policy.SubscriptionShow, policy.ClientShow,
	policy.GrantShow, policy.LinkShow, policy.VolumeShow,
}

// miss records that something is not found. Looks are folded: whoever tries ids fills no log.
func (g *Guard) miss(ctx context.Context, unfound Entry) error {
	if g.Missed != nil && slices.Contains(looks, unfound.Action) {
		ctx = g.Missed.Under(ctx, string(unfound.Kind))
	}
	return g.refuse(ctx, unfound)
}

// Refuse records that p was denied part of what it asked for. Keys and values alternate
// in detail; a value that is empty is left out.
func (g *Guard) Refuse(ctx context.Context, p policy.Principal, action policy.Action, res policy.Resource, detail ...string) error {
	g.denied(ctx, action)
	return g.refuse(ctx, g.Record(ctx, p, action, res).withGiven(detail...).as(Denied))
}

func (g *Guard) denied(ctx context.Context, action policy.Action) {
	if !asQuestion.of(ctx) {
		g.Tally.add(Result{Action: action, Outcome: Denied})
	}
}

// hide records a refusal twice: for the principal's project without a word about the
// resource, and for the project that owns it in full. If that is the principal's own
// project, the second is for readers of every project's log.
func (g *Guard) hide(ctx context.Context, act *Act, p policy.Principal, res policy.Resource) error {
	full := act.With(DetailCallerProject, p.Project).as(Denied)
	full.Project = res.Project
	if p.Project == res.Project || p.Project == res.VIMProject {
		full.Project = ""
		delete(full.Detail, DetailVIMProject)
	}
	return cmp.Or(g.miss(ctx, g.unfound(ctx, p, act.entry.Action, res.Kind)), g.refuse(ctx, full))
}

// unfound is the entry of an object that is not found.
func (g *Guard) unfound(ctx context.Context, p policy.Principal, action policy.Action, kind policy.Kind) Entry {
	return g.act(ctx, p, action, kind).With(DetailError, "not found").as(Denied)
}

// refuse records refusals, also once the caller has hung up: he must not be able to
// probe unrecorded.
func (g *Guard) refuse(ctx context.Context, denied ...Entry) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), denialDeadline)
	defer cancel()
	for _, e := range denied {
		if err := AppendRefusal(ctx, g.Sink, e); err != nil {
			return fmt.Errorf("recording that %s on %s %s was denied: %w", e.Action, e.Kind, e.Resource, err)
		}
	}
	return nil
}

// act begins an act with the facts of its request.
func (g *Guard) act(ctx context.Context, p policy.Principal, action policy.Action, kind policy.Kind) *Act {
	act := &Act{guard: g, entry: Entry{
		Request: byRequest.of(ctx), Door: DoorOf(ctx), Principal: p.Name, Project: p.Project, Action: action, Kind: kind,
	}}
	if !slices.Contains(p.Roles, policy.RoleSystem) {
		act.With(detailAuthenticator, p.Authenticator())
	}
	if asQuestion.of(ctx) {
		act.With(DetailQuestion, "true")
	}
	return act.withGiven(DetailActor, p.Actor, DetailWarrant, p.Warrant, DetailSource, SourceOf(ctx))
}

// shows are the actions that show an object of each kind.
var shows = map[policy.Kind]policy.Action{
	policy.KindVIM: policy.VIMShow, policy.KindLease: policy.LeaseShow, policy.KindVNFInstance: policy.VNFShow,
	policy.KindLink: policy.LinkShow, policy.KindVolume: policy.VolumeShow, policy.KindPackage: policy.PackageShow,
	policy.KindGrant:        policy.GrantShow,
	policy.KindSubscription: policy.SubscriptionShow, policy.KindClient: policy.ClientShow,
}

// sees reports whether p may see the resource; what is no object of its own has no secret.
func (g *Guard) sees(p policy.Principal, res policy.Resource) bool {
	show, object := shows[res.Kind]
	return !object || g.Allows(p, show, res)
}

// Allows decides without recording. It is for filtering lists, and for telling a
// caller who may not even see a thing ("not found") from one who may only not do
// this ("denied"). It never guards an effect or an answer of its own: use [Guard.Enter]
// for that.
func (g *Guard) Allows(p policy.Principal, action policy.Action, res policy.Resource) bool {
	return g.Still(p, action, res, policy.Wish{})
}

// Still decides again, without recording, on an act that [Guard.Enter] has allowed,
// because the facts of the decision may have changed.
func (g *Guard) Still(p policy.Principal, action policy.Action, res policy.Resource, wish policy.Wish) bool {
	d := g.Policy.Decide(policy.Request{Principal: p, Action: action, Resource: res, Wish: wish})
	return d.Allowed && len(d.Errors) == 0
}

// Record begins an act of which nothing is decided: how something ended that was allowed
// when it began.
func (g *Guard) Record(ctx context.Context, p policy.Principal, action policy.Action, res policy.Resource) *Act {
	act := g.act(ctx, p, action, res.Kind).About(res)
	act.entry.Resource = res.ID
	return act
}

// Result is the end of an act: an action, its outcome ([Done], [Failed] or [Denied]), and
// of a failure its class.
type Result struct {
	Action  policy.Action
	Outcome Outcome
	Class   string
}

// Tally counts results since the process started, when their entries are made: if the store
// then refuses the entry, the act is counted again, as failed. The zero Tally is ready, and
// safe for concurrent use.
type Tally struct {
	mu      sync.Mutex
	results map[Result]int
}

// Results returns the counts so far.
func (t *Tally) Results() map[Result]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.results)
}

// add counts one; a nil Tally counts nothing.
func (t *Tally) add(r Result) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.results == nil {
		t.results = map[Result]int{}
	}
	t.results[r]++
}
