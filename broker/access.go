package broker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// accessEvery is how often the pass of access comes that looks at leases of months alone, and that of grades.
const accessEvery = 10 * time.Minute

// EndWithoutAccess is the pass that ends leases whose holders would not be issued them
// any more: the principal, its role, a share, a label or a policy is gone. Unless
// Terms.EndWithAccess is set it ends only those that are users or the stored credential: a
// password is good for months, and nobody decides on it when it is used. It writes the
// intents; the reaper takes the leases back.
//
// The roles are those that the holder's directory gives now. Where there is no such
// directory, they are those of the issue or the last renewal, and what let the holder in must still be there.
func (b *Leaser) EndWithoutAccess(ctx context.Context) error {
	return b.endWithoutAccess(ctx, LeaseFilter{}, nil)
}

// LoggedIn ends the leases that p, with the roles that it has now, would not be issued
// any more. It does nothing unless Terms.EndWithAccess is set.
func (b *Leaser) LoggedIn(ctx context.Context, p policy.Principal) error {
	return b.endWithoutAccess(ctx, LeaseFilter{Principal: p.Name}, &p)
}

// endWithoutAccess is EndWithoutAccess for the leases that f selects. Those of seen, if
// that is not nil, are decided with its roles, and others are left alone.
func (b *Leaser) endWithoutAccess(ctx context.Context, f LeaseFilter, seen *policy.Principal) error {
	if !b.terms.EndWithAccess && seen != nil {
		return nil
	}
	var failed []error
	vims := map[string]*VIM{} // nil: it cannot be read, or is gone
	ending := b.newBatch(ctx)
	f.States = []LeaseState{LeaseActive}
	err := b.eachLease(ctx, f, func(l Lease) error {
		if !b.endsWithAccess(l) {
			return nil
		}
		v, known := vims[l.VIM]
		if !known {
			if found, err := b.vims.VIM(ctx, l.VIM); err == nil {
				v = &found
			} else if !errors.Is(err, ErrNotFound) {
				failed = append(failed, err)
			}
			vims[l.VIM] = v
		}
		if v == nil || seen != nil && l.Project != seen.Project {
			return nil
		}
		holds, err := b.stillHolds(ctx, l, *v, seen)
		if err != nil {
			failed = append(failed, err) // and goes on: of others it can be told
		}
		if holds {
			return nil
		}
		if err := b.endWithAccess(ctx, ending, l); err != nil {
			failed = append(failed, err)
		}
		return nil
	})
	return errors.Join(append(failed, err, ending.beginFresh(b, 0))...)
}

// endsWithAccess reports whether a lease ends once its holder would not be issued it any more.
func (b *Leaser) endsWithAccess(l Lease) bool { return b.terms.EndWithAccess || l.Asked() != "" }

// endWithAccess queues a lease whose holder would not be issued it any more.
func (b *Leaser) endWithAccess(ctx context.Context, ending *batch, l Lease) error {
	act, err := b.enter(ctx, system("access"), policy.LeaseRevoke, leaseResource(l), policy.Wish{})
	if err != nil {
		return err
	}
	if len(l.GradeReasons) > 0 {
		act.With(audit.DetailGrade, string(l.Grade)).With(audit.DetailGradeReasons, firstReasons(l.GradeReasons))
	}
	ending.begin(l, ReasonAccessLost, act)
	return nil
}

// GradeAnew is the pass that computes again what the holders of leases can become on their VIMs now. Among the leases
// that EndWithoutAccess looks at, it ends those that their holders would not be issued with that any more. On a VIM
// that cannot be asked it ends nothing.
func (b *Leaser) GradeAnew(ctx context.Context) error {
	vims := map[string]turn{}
	err := b.eachLease(ctx, LeaseFilter{States: []LeaseState{LeaseActive}}, func(l Lease) error {
		if b.endsWithAccess(l) && b.grader(l) != nil {
			vims[l.VIM] = turn{vim: l.VIM, project: l.VIMProject}
		}
		return nil
	})
	list := func() ([]turn, error) { return slices.Collect(maps.Values(vims)), nil }
	return errors.Join(err, b.inTurn(ctx, newFairQueue(checkVIMs, checkOfProject), list, func(ctx context.Context, vim string) (bool, error) {
		return false, b.gradeAnewOn(ctx, vim)
	}))
}

func (b *Leaser) gradeAnewOn(ctx context.Context, vim string) error {
	session := b.newSession(vim)
	defer session.close()
	v, err := session.vim(ctx)
	if err != nil || v.Health.Status == HealthUnreachable { // which the check pass sees to
		return ignore(err, ErrNotFound)
	}
	var failed []error
	ending := b.newBatch(ctx)
	err = b.eachLease(ctx, LeaseFilter{VIM: vim, States: []LeaseState{LeaseActive}}, func(l Lease) error {
		if !b.endsWithAccess(l) || b.grader(l) == nil {
			return nil
		}
		holds := true
		l, err := b.regrade(ctx, session, l)
		if err == nil {
			holds, err = b.stillHolds(ctx, l, v, nil)
		}
		if !holds {
			err = b.endWithAccess(ctx, ending, l)
		}
		if errors.Is(err, ErrUnreachable) || errors.Is(err, ErrUnavailable) {
			return err // the same for each
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("lease %s: %w", l.ID, err))
		}
		return nil
	})
	return errors.Join(append(failed, err, ending.beginFresh(b, 0))...)
}

// stillHolds reports whether the holder of a lease would be issued it now, for the time
// that is left. A policy that cannot be evaluated ends nothing, and neither does a
// directory that cannot be asked.
func (b *Leaser) stillHolds(ctx context.Context, l Lease, v VIM, seen *policy.Principal) (bool, error) {
	holder := policy.Principal{Name: l.Principal, Project: l.Project, Roles: l.HolderRoles}
	if len(holder.Roles) == 0 { // from before they were kept
		return true, nil
	}
	if seen != nil {
		holder = *seen
	} else if directory, ok := b.directories[holder.Authenticator()]; ok {
		now, err := directory.Lookup(ctx, holder.Name, holder.Project)
		if errors.Is(err, policy.ErrUnauthenticated) {
			return false, nil
		}
		if err != nil {
			return true, err
		}
		holder = now
	} else if b.trusts != nil && !b.trusts(holder.Name) {
		return false, nil
	}
	d, err := b.driver(l.VIMType)
	if err != nil {
		return true, err
	}
	left := l.ExpiresAt.Sub(b.now())
	if l.Standing() {
		left = l.TokenTTL
	}
	r := policy.Request{Principal: holder, Action: policy.LeaseIssue, Resource: vimResource(v), Wish: l.wish(left)}
	if l.Grade == "" || !l.Derived { // as it was issued
		r.Wish = narrowest(d, r.Wish)
	}
	decision := b.policy.Decide(r)
	if decision.Allowed && !l.Derived {
		r.Action = policy.LeasePassThrough
		decision = b.policy.Decide(r)
	}
	return decision.Allowed || len(decision.Errors) > 0, nil
}

// endChanged ends leases on a VIM that rested on what a write has changed. The write has
// happened, so a failure is left for the pass.
func (b *Leaser) endChanged(ctx context.Context, before, after VIM) {
	if reflect.DeepEqual(vimResource(before), vimResource(after)) {
		return
	}
	ctx, cancel := b.cleanup(ctx)
	defer cancel()
	if err := b.endWithoutAccess(ctx, LeaseFilter{VIM: after.ID}, nil); err != nil {
		b.log.WarnContext(ctx, "leases whose holders have lost access are left for the next pass", "vim", after.ID, "error", err)
	}
}
