package audit

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
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
	// Log receives the alarm that a policy could not be evaluated, with the
	// evaluation errors, which no caller sees. Nil logs nothing.
	Log *slog.Logger
}

// Enter decides whether p may do action to res, and records a refusal. What is
// allowed is not recorded yet: that is what the entries of the [Act] are for.
//
// A refusal unwraps to [policy.ErrDenied]; where a policy could not be evaluated
// it unwraps to [policy.ErrEvaluation] too. A refusal is recorded even when the
// caller has gone away meanwhile; if it cannot be recorded, Enter returns why
// not, and refuses all the same.
func (g *Guard) Enter(ctx context.Context, p policy.Principal, action policy.Action, res policy.Resource, wish policy.Wish) (*Act, error) {
	d := g.Policy.Decide(policy.Request{Principal: p, Action: action, Resource: res, Wish: wish})
	act := &Act{guard: g, entry: Entry{
		Request:   RequestID(ctx),
		Principal: p.Name,
		Project:   p.Project,
		Action:    action,
		Kind:      res.Kind,
		Resource:  res.ID,
	}}
	if p.Actor != "" {
		act.With(DetailActor, p.Actor)
	}
	if slices.Contains(p.Roles, policy.RoleSystem) {
		act.entry.Project = res.Project
	} else if res.Project != p.Project {
		act.With(DetailResourceProject, res.Project)
	}
	if len(d.Policies) > 0 {
		act.With(DetailPolicy, strings.Join(d.Policies, ","))
	}
	if d.Allowed && len(d.Errors) == 0 {
		return act, nil
	}

	err := fmt.Errorf("%s on %s %s: %w", action, res.Kind, res.ID, policy.ErrDenied)
	if len(d.Errors) > 0 {
		act.With(DetailError, "policy evaluation")
		err = fmt.Errorf("%w: %w", err, policy.ErrEvaluation)
		if g.Log != nil {
			g.Log.ErrorContext(ctx, "policy could not be evaluated, so it denied",
				"principal", p.Name, "actor", p.Actor, "action", action, "resource", res.ID, "errors", d.Errors)
		}
	}
	// A caller that hangs up must not be able to probe unrecorded.
	record, cancel := context.WithTimeout(context.WithoutCancel(ctx), denialDeadline)
	defer cancel()
	if appendErr := g.Sink.Append(record, act.as(Denied)); appendErr != nil {
		return nil, fmt.Errorf("recording that %s on %s %s was denied: %w", action, res.Kind, res.ID, appendErr)
	}
	return nil, err
}

// Allows decides without recording. It is for filtering lists, and for telling a
// caller who may not even see a thing ("not found") from one who may only not do
// this ("denied"). It never stands before an effect or an answer of its own:
// that is what [Guard.Enter] is for.
func (g *Guard) Allows(p policy.Principal, action policy.Action, res policy.Resource) bool {
	return g.Still(p, action, res, policy.Wish{})
}

// Still decides without recording once more what [Guard.Enter] has allowed, because
// what the decision rested on may have changed.
func (g *Guard) Still(p policy.Principal, action policy.Action, res policy.Resource, wish policy.Wish) bool {
	d := g.Policy.Decide(policy.Request{Principal: p, Action: action, Resource: res, Wish: wish})
	return d.Allowed && len(d.Errors) == 0
}
