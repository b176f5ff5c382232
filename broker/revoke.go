package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// RevokeLease revokes a lease, or the one that has taken its place. If the VIM does not answer, the lease stays in state
// revoking and the reaper retries. Revoking a lease that has ended succeeds. The
// credential may work for MaxRevocationLag longer; ConfirmedDeadAt is set when the VIM
// has refused it. It returns ErrNotFound for a lease that p may not see, ErrDenied, and
// ErrUnavailable, with nothing done, where the store takes no writes.
func (b *Leaser) RevokeLease(ctx context.Context, p policy.Principal, id string) (Lease, error) {
	l, err := b.findLease(ctx, p, policy.LeaseRevoke, id)
	if err == nil {
		l, err = b.current(ctx, l.ID)
	}
	if err != nil {
		return Lease{}, err
	}
	act, err := b.enter(ctx, p, policy.LeaseRevoke, leaseResource(l), policy.Wish{})
	if err != nil {
		return Lease{}, err
	}
	if l.State == LeaseRevoked && l.replaceable() {
		after, err := b.cutOff(ctx, l, ReasonRequested, act)
		if errors.Is(err, errFollowed) { // another took its place at this moment
			return b.RevokeLease(ctx, p, l.ID)
		}
		return after, err
	}
	session := b.newSession(l.VIM)
	defer session.close()
	session.place(ctx, l, act)
	l, mine, err := b.beginRevocation(ctx, l, ReasonRequested, act, b.claim())
	if errors.Is(err, errEnded) {
		return l, b.entries.Append(ctx, act.Done(audit.DetailReason, "had ended before"))
	}
	if err != nil {
		return Lease{}, b.refuse(ctx, act, err)
	}
	if !mine {
		return l, nil
	}
	after, err := b.takeBack(ctx, session, l, act)
	if err != nil {
		b.log.WarnContext(ctx, "a lease waits for the reaper", "lease", l.ID, "error", err)
	}
	b.RetireKeys(ctx)
	return after, nil
}

// RevokeLeases revokes every live lease that s selects and p may revoke, and returns
// them as they are afterwards. It is no error if there is none.
func (b *Leaser) RevokeLeases(ctx context.Context, p policy.Principal, s LeaseSelector) ([]Lease, error) {
	f, err := b.selection(ctx, p, s)
	if err != nil {
		return nil, err
	}
	batch := b.newBatch(ctx)
	seen, taken, err := b.gather(ctx, p, s, f, ReasonRequested, batch)
	revoked, begun := batch.run(b)
	if err = errors.Join(err, begun); err == nil && seen > 0 {
		err = b.notAllRevoked(ctx, p, s, f.VIM, seen, taken)
	}
	return append(revoked, batch.cut...), err
}

// EndLeases begins to revoke every live lease that s selects and p may revoke, because what they were
// lent for has ended. It writes the intents and asks no VIM: no token is minted under such a lease any
// more, and the reaper takes it back, VIM by VIM. It is no error if there is none.
func (b *Leaser) EndLeases(ctx context.Context, p policy.Principal, s LeaseSelector) error {
	f, err := b.selection(ctx, p, s)
	if err != nil {
		return err
	}
	ending := b.newBatch(ctx)
	seen, taken, err := b.gather(ctx, p, s, f, ReasonOperationEnded, ending)
	if err = errors.Join(err, ending.beginFresh(b, 0)); err == nil && seen > 0 {
		err = b.notAllRevoked(ctx, p, s, f.VIM, seen, taken)
	}
	return err
}

// selection is what a selector selects for p.
func (b *Leaser) selection(ctx context.Context, p policy.Principal, s LeaseSelector) (LeaseFilter, error) {
	f := LeaseFilter{Principal: s.Principal, Operation: s.Operation, Instance: s.Instance, For: s.For, States: liveStates}
	if s.VIM+s.Principal+s.Operation+s.Instance+s.For == "" {
		return f, Invalid("", "name a vim, a principal, a person (for), an operation or a VNF instance")
	}
	var err error
	f.VIM, f.Project, err = b.leasesAmong(ctx, p, policy.LeaseRevoke, s.VIM)
	return f, err
}

// gather puts the leases that p may revoke into a batch: taken. seen are those that p may only see. It cuts off
// those that have ended, and whose place another might take.
func (b *Leaser) gather(
	ctx context.Context, p policy.Principal, s LeaseSelector, f LeaseFilter, why Reason, batch *batch,
) (seen, taken int, err error) {
	each := func(l Lease) error {
		ended := l.State == LeaseRevoked
		if ended && (!l.replaceable() || l.Reason == why && !s.NewSecret && !s.HolderGone) {
			return nil
		}
		if !b.guard.Allows(p, policy.LeaseRevoke, leaseResource(l)) {
			if b.guard.Allows(p, policy.LeaseShow, leaseResource(l)) {
				seen++
			}
			return nil
		}
		taken++
		act, err := b.enter(ctx, p, policy.LeaseRevoke, leaseResource(l), policy.Wish{})
		if err == nil && l.Standing() && (s.NewSecret || s.HolderGone) {
			l, err = b.endSecrets(ctx, l, s.HolderGone, act)
		}
		switch {
		case err != nil:
			return err
		case ended:
			after, err := b.cutOff(ctx, l, why, act)
			switch {
			case errors.Is(err, errFollowed): // by one that is live
				return nil
			case err == nil:
				batch.cut = append(batch.cut, after)
			}
			return err
		}
		batch.begin(l, why, act)
		return nil
	}
	if f.Instance != "" || f.Principal != "" && f.Operation == "" { // first: what takes a place meanwhile is live then
		ended := f
		ended.States = []LeaseState{LeaseRevoked}
		err = b.eachLease(ctx, ended, each)
	}
	return seen, taken, errors.Join(err, b.eachLease(ctx, f, each))
}

// cutOff has a lease that has ended be one that was ended for another reason: what that keeps from taking its
// place does not.
func (b *Leaser) cutOff(ctx context.Context, l Lease, why Reason, act *audit.Act) (Lease, error) {
	return b.leases.UpdateLease(ctx, l.ID, func(now *Lease) error {
		if !now.replaceable() {
			return errFollowed
		}
		now.Reason = why
		return nil
	}, act.With(audit.DetailReason, string(why)).Done())
}

var errFollowed = errors.New("another lease has taken its place")

// endSecrets has no secret of a lease be taken any more. gone: nobody comes that could ask for another.
func (b *Leaser) endSecrets(ctx context.Context, l Lease, gone bool, act *audit.Act) (Lease, error) {
	stored, err := b.leases.UpdateLease(ctx, l.ID, func(now *Lease) error {
		switch {
		case gone:
			now.SecretSHA256 = ""
		case now.SecretSHA256 != "": // otherwise another row has them
			now.SecretSHA256 = noSecret
		}
		return nil
	}, act.Done(audit.DetailReason, "its secret has ended"))
	failpoint.At("revoke.secret-ended")
	return stored, err
}

// notAllRevoked records that p selected leases that it may see but not revoke. It
// returns ErrDenied if p may revoke none of them.
func (b *Leaser) notAllRevoked(ctx context.Context, p policy.Principal, s LeaseSelector, vim string, refused, taken int) error {
	about := policy.Resource{Kind: policy.KindProject, ID: p.Project, VIM: vim}
	err := b.guard.Refuse(ctx, p, policy.LeaseRevoke, about,
		audit.DetailReason, fmt.Sprintf("%d of %d leases that were named", refused, refused+taken),
		audit.DetailOfPrincipal, s.Principal, audit.DetailOperation, s.Operation, audit.DetailInstance, s.Instance, audit.DetailFor, s.For)
	switch {
	case err != nil:
		return Unrecorded(err)
	case taken > 0:
		return nil
	}
	return &Error{
		Kind: ErrDenied, Detail: fmt.Sprintf("policy does not allow %s to revoke any of the %d leases that this names", p.Name, refused),
		Next: NextExplain, Cause: policy.ErrDenied,
	}
}

var errEnded = errors.New("the lease has ended")

// beginRevocation moves a lease to revoking. For that long, if not 0, it is the caller's
// to take back: mine. Otherwise it is the reaper's: another process may be at it, or the
// lease may still be being issued. It is then not tried before that call has timed out,
// because its object could be made after it was found missing. It returns errEnded for a
// revoked lease.
func (b *Leaser) beginRevocation(
	ctx context.Context, l Lease, why Reason, act *audit.Act, claim time.Duration,
) (begun Lease, mine bool, err error) {
	stored, err := b.leases.UpdateLease(ctx, l.ID, func(now *Lease) error {
		mine = claim > 0
		switch now.State {
		case LeaseRevoked:
			l = *now
			return errEnded
		case LeaseRevoking:
			if now.claimed(b.now()) {
				mine = false
				return nil
			}
		case LeasePending, LeaseActive:
			now.Reason = cmp.Or(now.Reason, why)
			if why == ReasonAbandoned {
				now.freeKey()
			}
		case LeaseIrrevocable:
			now.Attempts, now.LastError = 0, ""
		}
		now.State, now.NextAttemptAt = LeaseRevoking, b.now().Add(claim)
		if settled := now.CreatedAt.Add(3 * b.terms.CallTimeout); now.IssuedAt.IsZero() && why != ReasonAbandoned && settled.After(b.now()) {
			mine, now.NextAttemptAt = false, settled
		}
		return nil
	}, act.With(audit.DetailReason, string(why)).Intent())
	if errors.Is(err, errEnded) {
		return l, false, errEnded
	}
	if err == nil {
		failpoint.At("revoke.intent")
	}
	return stored, mine, err
}

// claim is how long a process that begins to revoke a lease has it to itself. It has to
// begin takeBack, which lasts 2*CallTimeout at most, that long before the end.
func (b *Leaser) claim() time.Duration { return 3 * b.terms.CallTimeout }

// claimed reports whether a revoking lease is some process's own, or may still be being issued.
// The wait after a failed try is none of these.
func (l Lease) claimed(now time.Time) bool { return l.Attempts == 0 && l.NextAttemptAt.After(now) }

// release leaves to the next pass a lease that is not tried, or whose end is not recorded.
func (b *Leaser) release(ctx context.Context, l Lease) error {
	ctx, cancel := b.cleanup(ctx)
	defer cancel()
	return b.leases.DeferLease(ctx, l.ID, l.Attempts, b.now(), l.LastError)
}

// takeBack revokes a lease in state revoking at its VIM, and records the result. It
// returns the lease as it is afterwards. If the store fails, the lease is unchanged and
// the reaper retries. Where another call of this process is at it, it does nothing.
func (b *Leaser) takeBack(ctx context.Context, session *session, l Lease, act *audit.Act) (Lease, error) {
	if _, working := b.takingBack.LoadOrStore(l.ID, true); working {
		return l, nil
	}
	defer b.takingBack.Delete(l.ID)
	ctx, cancel := b.cleanup(ctx)
	defer cancel()
	session.place(ctx, l, act)
	err := b.revokeUpstream(ctx, session, l)
	var left []string
	if err == nil {
		failpoint.At("revoke.gone")
		left, err = b.leftBehind(ctx, session, l)
	}
	switch {
	case err == nil:
		after, err := b.finishRevocation(ctx, l, left, act)
		if err != nil {
			return l, errors.Join(err, b.release(ctx, l))
		}
		return after, nil
	case errors.Is(err, errPassedThrough):
		return l, b.giveUp(ctx, l, "it was passed through: change it on the VIM itself, and replace the VIM's credential", act)
	case errors.Is(err, errStillTaken):
		return l, b.giveUp(ctx, l, "it was passed through, and the VIM still takes it: change it on the VIM itself", act)
	case errors.Is(err, errVIMGone):
		return l, b.giveUp(ctx, l, "its VIM was deleted by force", act)
	}
	why := message(err)
	if errors.Is(err, ErrConflict) && l.LastError != why {
		b.alarm(ctx, AlarmConflict, l, why, act)
	}
	l.LastError, l.NextAttemptAt = why, b.now()
	if !errors.Is(err, ErrUnavailable) { // store or key store failed: the VIM was not asked
		l.Attempts++
		if l.Attempts >= b.terms.GiveUpAfter {
			return l, errors.Join(err, b.giveUp(ctx, l, l.LastError, act))
		}
		l.NextAttemptAt = l.NextAttemptAt.Add(job.Spread(job.Backoff(l.Attempts, maxBackoff)))
	}
	return l, errors.Join(err, b.leases.DeferLease(ctx, l.ID, l.Attempts, l.NextAttemptAt, l.LastError))
}

var (
	errPassedThrough = errors.New("the credential was passed through and cannot be revoked")
	errStillTaken    = errors.New("the credential was passed through and works on the VIM, although it was replaced here")
	errVIMGone       = errors.New("the lease's VIM is gone")
)

func (b *Leaser) revokeUpstream(ctx context.Context, session *session, l Lease) error {
	v, err := session.vim(ctx)
	if errors.Is(err, ErrNotFound) {
		return errVIMGone
	}
	if err != nil {
		return err
	}
	d, err := b.driver(l.VIMType)
	if err != nil {
		return err
	}
	if !l.Derived {
		return b.replaced(ctx, session, d, v, l)
	}
	issued := l.issued()
	if g, ok := v.generation(l.VIMGeneration); ok && l.Sealed != "" {
		if o, err := session.opened(ctx, g); err == nil {
			// If it does not open, the driver revokes by the handle alone.
			issued.Credential, _ = o.unseal(l)
		}
	}
	_, err = session.each(ctx, l.VIMGeneration, func(ctx context.Context, o *opened) error { return d.Revoke(ctx, o.Access, issued) })
	return err
}

// replaced is nil where the credential that was passed through has been replaced, and the VIM
// refuses it, as far as its kind can be tried.
func (b *Leaser) replaced(ctx context.Context, session *session, d Driver, v VIM, l Lease) error {
	g, kept := v.generation(l.VIMGeneration)
	if v.Current.Number == l.VIMGeneration {
		return errPassedThrough
	}
	if !kept {
		return nil
	}
	o, err := session.opened(ctx, g)
	if errors.Is(err, ErrUnopenable) {
		return nil
	}
	if err != nil {
		return err
	}
	dead, err := session.dead(g.Number, func() (bool, error) {
		ctx, cancel := b.call(ctx)
		defer cancel()
		return d.Dead(ctx, b.access(v, g, Credential{}), o.Credential)
	})
	switch {
	case errors.Is(err, ErrInvalid):
		return nil
	case err == nil && !dead:
		return errStillTaken
	}
	return err
}

// finishRevocation records that a lease's upstream object was seen to be gone.
func (b *Leaser) finishRevocation(ctx context.Context, l Lease, left []string, act *audit.Act) (Lease, error) {
	if len(left) > 0 {
		act = act.With(audit.DetailLeft, strings.Join(left, "; "))
	}
	stored, err := b.leases.UpdateLease(ctx, l.ID, func(now *Lease) error {
		if now.State == LeaseRevoked {
			l = *now
			return errEnded
		}
		at := b.now()
		now.State, now.RevokedAt, now.Attempts, now.LastError = LeaseRevoked, at, 0, ""
		now.NextAttemptAt = at.Add(confirmEvery)
		now.LeftBehind, now.Stood = append(now.LeftBehind, left...), ""
		return nil
	}, act.Done())
	if errors.Is(err, errEnded) {
		return l, nil
	}
	if err == nil {
		failpoint.At("revoke.done")
		b.counters.ended(stored)
	}
	return stored, err
}

// giveUp moves a lease to irrevocable and raises an alarm.
func (b *Leaser) giveUp(ctx context.Context, l Lease, why string, act *audit.Act) error {
	b.raise(ctx, AlarmGivenUp, l, why)
	_, err := b.leases.UpdateLease(ctx, l.ID, func(now *Lease) error {
		if now.State != LeaseRevoking {
			return errEnded
		}
		now.State, now.LastError = LeaseIrrevocable, why
		return nil
	}, act.Failed("irrevocable"))
	return ignore(err, errEnded)
}

// maxBackoff is the longest wait before a retry, without jitter.
const maxBackoff = 5 * time.Minute

func (b *Leaser) hasLive(ctx context.Context, vim string) (bool, error) {
	live, _, err := b.leases.Leases(ctx, LeaseFilter{VIM: vim, States: liveStates, Page: Page{Size: 1}})
	return len(live) > 0, err
}

// liveStates are the states of a lease that still needs its VIM.
var liveStates = []LeaseState{LeasePending, LeaseActive, LeaseRevoking, LeaseIrrevocable}

// revokeAll moves every live lease of a draining VIM to its end. Leases that are
// still alive afterwards are ErrConflict; with force they become irrevocable.
func (b *Leaser) revokeAll(ctx context.Context, v VIM, force bool) error {
	batch := b.newBatch(ctx)
	f := LeaseFilter{VIM: v.ID, States: []LeaseState{LeasePending, LeaseActive, LeaseRevoking}}
	err := b.eachToEnd(ctx, "drain", f, v.leased, func(l Lease, act *audit.Act) error {
		if l.State == LeaseRevoking {
			batch.add(l, act)
		} else {
			batch.begin(l, ReasonVIMDeleted, act)
		}
		return nil
	})
	_, begun := batch.run(b)
	if err := errors.Join(err, begun); err != nil {
		return err
	}
	if force {
		f.States = []LeaseState{LeaseRevoking}
		return b.eachToEnd(ctx, "drain", f, v.leased, func(l Lease, act *audit.Act) error {
			return b.giveUp(ctx, l, "its VIM was deleted by force", act)
		})
	}
	if live, err := b.hasLive(ctx, v.ID); err != nil || live {
		return errors.Join(err, LeasesLive())
	}
	return nil
}

// endWithSystem ends a lease on a system that no longer exists. One that was being
// revoked, or was given up, ends so too.
func (b *Leaser) endWithSystem(ctx context.Context, l Lease, act *audit.Act) error {
	act.With(audit.DetailReason, string(ReasonSystemGone))
	_, err := b.leases.UpdateLease(ctx, l.ID, func(now *Lease) error {
		if now.State == LeaseRevoked {
			return errEnded
		}
		now.State, now.Reason, now.NextAttemptAt = LeaseRevoking, ReasonSystemGone, b.now().Add(maxBackoff)
		return nil
	}, act.Intent())
	if err == nil {
		_, err = b.finishRevocation(ctx, l, nil, act)
	}
	return ignore(err, errEnded)
}
