package grant

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// followEvery is how often the pass looks for grants that are due.
	followEvery = 5 * time.Second
	// followFor is how long a VNFM is asked about an operation, counted from the grant.
	followFor = 24 * time.Hour
	// askTime bounds one question.
	askTime = 5 * time.Second
	// perPass is how many grants one pass looks at, all at the same time, and perClient how many of them
	// one client's: a VNFM that does not answer keeps a pass no longer than one question, and takes no
	// other's place.
	perPass, perClient = 256, 32
	// firstLook and lastLook are the shortest and the longest time between two looks at an operation.
	firstLook, lastLook = 10 * time.Second, 5 * time.Minute
	// lateTime is longer than any request lasts that was deciding on a grant when it was refused.
	lateTime = 5 * time.Minute
	// keepFor is how long a grant is kept that lends nothing any more.
	keepFor = 30 * 24 * time.Hour
	// forgetAtOnce is how many one write removes.
	forgetAtOnce = 1000
)

// lookAfter is when an operation is looked at again whose grant is so old: each time twice as late.
func lookAfter(age time.Duration) time.Duration { return min(max(age, firstLook), lastLook) }

// finals are the states that an operation does not leave.
var finals = []string{"COMPLETED", "FAILED", "ROLLED_BACK"}

// Passes are the periodic work, for a job queue to run.
func (g *Grants) Passes() []broker.Pass {
	return []broker.Pass{
		{Name: "follow-grants", Every: followEvery, Run: g.Follow},
		{Name: "forget-grants", Every: time.Hour, Run: g.Forget},
	}
}

// Follow is the pass that asks VNFMs whether the operations have ended that grants were given for,
// and ends what a process that died left undecided.
func (g *Grants) Follow(ctx context.Context) error {
	due, err := g.Store.DueVNFGrants(ctx, g.Now(), perClient, perPass)
	if err != nil {
		return err
	}
	var looks sync.WaitGroup
	failed := make([]error, len(due))
	for n, one := range due {
		looks.Go(func() { failed[n] = g.look(ctx, one) })
	}
	looks.Wait()
	return errors.Join(failed...)
}

// look checks one grant. It stores the time of the next look first, so that no other replica looks as
// well, and a VNFM that takes a process down is not queried again at once.
func (g *Grants) look(ctx context.Context, one Grant) error {
	switch one.State {
	case Deciding:
		return g.abandon(ctx, one)
	case Refused:
		return g.clear(ctx, one)
	}
	now := g.Now()
	err := g.Store.NoteVNFGrant(ctx, one, now.Add(lookAfter(now.Sub(one.DecidedAt))))
	if errors.Is(err, broker.ErrConflict) {
		return nil // another is at it
	}
	if err != nil {
		return err
	}
	if one.Request.askable() {
		asking, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		state, err := g.VNFM.OperationState(asking, one.Request.OperationURL, g.Egress(one.Project))
		if err == nil && slices.Contains(finals, state) {
			return g.end(ctx, self(one.Project), one, state)
		}
		if err != nil {
			g.Log.DebugContext(ctx, "a VNFM does not say how an operation stands", "grant", one.ID, "error", err)
		}
	}
	if g.Now().Sub(one.DecidedAt) < followFor {
		return nil
	}
	return g.end(ctx, self(one.Project), one, "")
}

func self(project string) policy.Principal { return broker.System("grants", project) }

// abandon refuses a grant that was not decided on in time, and revokes what was issued for it: in this
// order, so that a decision that is under way is either recorded before, and stands, or finds the grant
// refused, and takes back what it has issued.
func (g *Grants) abandon(ctx context.Context, one Grant) error {
	act, err := g.desk.Enter(ctx, self(one.Project), policy.GrantEnd, one.Resource())
	if err != nil {
		return err
	}
	stored, err := g.Store.UpdateVNFGrant(ctx, one.ID, func(now *Grant) error {
		if now.State != Deciding {
			return errDecided
		}
		now.refuse("it was not decided on in time", g.Now())
		return nil
	}, act.Failed("not decided on in time"))
	if errors.Is(err, errDecided) {
		return nil
	}
	if err != nil {
		return err
	}
	return g.takeBack(ctx, stored)
}

// refuse refuses a grant. Its lease may have been issued, or may be at this moment: refuse schedules
// another look for the time when no request can be deciding any longer.
func (g *Grant) refuse(why string, now time.Time) {
	g.State, g.Refusal, g.DecidedAt, g.Holds = Refused, why, now, false
	g.Followed, g.LookAt = g.Maker == g.ID, now.Add(lateTime)
}

// takeBack revokes what was issued for a grant that was refused, if anything was.
func (g *Grants) takeBack(ctx context.Context, one Grant) error {
	if one.Maker != one.ID {
		return nil
	}
	return g.revoke(ctx, one, broker.LeaseSelector{Operation: one.Request.ID})
}

// clear takes back what a decision that came too late has issued, and follows the grant no longer.
func (g *Grants) clear(ctx context.Context, one Grant) error {
	if err := g.takeBack(ctx, one); err != nil {
		return err
	}
	err := g.Store.NoteVNFGrant(ctx, one, time.Time{})
	if errors.Is(err, broker.ErrConflict) {
		return nil // another has done so
	}
	return err
}

// Notify takes a client's word that an operation has come to a state. It ignores an operation
// without a grant.
func (g *Grants) Notify(ctx context.Context, p policy.Principal, operation, state string) error {
	client, err := g.Clients.Acting(ctx, p)
	if err != nil {
		return err
	}
	one, err := g.Store.VNFGrantOf(ctx, client.ID, operation)
	if errors.Is(err, broker.ErrNotFound) || err == nil && (one.State != Granted || !slices.Contains(finals, state)) {
		return nil
	}
	if err != nil {
		return err
	}
	return g.end(ctx, p, one, state)
}

// end ends a grant whose operation has ended, and its lease if that is of no more use: a token of
// its own, or the lease of an instance that was terminated, or never came to be. A lease that is
// revoked already counts as success, so that a retry finishes the work of a process that died in
// between.
func (g *Grants) end(ctx context.Context, by policy.Principal, one Grant, state string) error {
	act, err := g.desk.Enter(ctx, by, policy.GrantEnd, one.Resource())
	if err != nil {
		return err
	}
	holds := one.Holds
	var over broker.LeaseSelector
	switch {
	case state == "" && one.stands():
	case !one.stands():
		over = broker.LeaseSelector{Operation: one.Request.ID}
	case one.Request.Type == Terminate && state == "COMPLETED":
		if over, err = g.terminated(ctx, one); err != nil {
			return g.desk.Refuse(ctx, act, err)
		}
	case one.Request.Type == Instantiate && (state == "ROLLED_BACK" || state == "FAILED"): // no TERMINATE follows
		over, holds = broker.LeaseSelector{Operation: one.Request.ID}, false
	}
	if over != (broker.LeaseSelector{}) {
		if err := g.revoke(ctx, one, over); err != nil {
			return g.desk.Refuse(ctx, act, err)
		}
		failpoint.At("grant.ended")
	}
	_, err = g.Store.UpdateVNFGrant(ctx, one.ID, func(now *Grant) error {
		if now.State != Granted {
			return errDecided
		}
		now.State, now.Outcome, now.Holds, now.Followed = Ended, state, holds, false
		return nil
	}, act.With(audit.DetailOperation, one.Request.ID).With(audit.DetailInstance, one.Request.Instance).Done(audit.DetailReason, state))
	if errors.Is(err, errDecided) {
		return nil
	}
	return err
}

// terminated selects the leases of an instance that was terminated: all of them, unless the
// instance was instantiated again before the broker learnt of it. Then it is the lease that
// was lent for TERMINATE.
func (g *Grants) terminated(ctx context.Context, one Grant) (broker.LeaseSelector, error) {
	newest, err := g.Store.HoldingVNFGrant(ctx, one.Client, one.Request.Instance)
	if errors.Is(err, broker.ErrNotFound) || err == nil && !newest.CreatedAt.After(one.CreatedAt) {
		return broker.LeaseSelector{Instance: one.Request.Instance}, nil
	}
	if err != nil {
		return broker.LeaseSelector{}, err
	}
	maker, err := g.Store.VNFGrant(ctx, one.Maker)
	if errors.Is(err, broker.ErrNotFound) {
		return broker.LeaseSelector{}, nil // its lease has ended long since
	}
	return broker.LeaseSelector{Operation: maker.Request.ID}, err
}

// revoke ends leases of the grant's client. It waits for no VIM: one that does not answer would keep
// the pass from all others.
func (g *Grants) revoke(ctx context.Context, one Grant, s broker.LeaseSelector) error {
	s.Principal = holder(one.Client)
	return g.Leases.EndLeases(ctx, self(one.Project), s)
}

// Forget is the pass that removes grants that lend nothing any more.
func (g *Grants) Forget(ctx context.Context) error {
	for {
		n, err := g.Store.ForgetVNFGrants(ctx, "", g.Now().Add(-keepFor), forgetAtOnce)
		if err != nil || n < forgetAtOnce {
			return err
		}
	}
}
