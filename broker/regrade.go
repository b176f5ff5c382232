package broker

import (
	"context"
	"errors"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// suspendedWait is when a holder is to ask again whose VIM is suspended: how long that lasts is not known.
const suspendedWait = time.Minute

// weighAnew decides whether p would be issued a lease now, and may do action with it, with the grade that it has on the
// VIM now. It returns the VIM, the lease with that grade, and the act in place of the first. A VIM that cannot be
// asked, or that no lease may be issued on, is its error.
func (b *Leaser) weighAnew(
	ctx context.Context, p policy.Principal, action policy.Action, session *session, l Lease, ttl time.Duration, first *audit.Act,
) (VIM, Lease, *audit.Act, error) {
	fail := func(err error) (VIM, Lease, *audit.Act, error) { return VIM{}, Lease{}, nil, err }
	v, err := session.vim(ctx)
	if err != nil {
		return fail(err)
	}
	if err := issuable(v); err != nil {
		return fail(err)
	}
	if action == policy.LeaseMint && v.Suspended != "" {
		return fail(suspended(v))
	}
	first.About(v.leased(l))
	d, err := b.driver(l.VIMType)
	if err != nil {
		return fail(err)
	}
	wish := narrowest(d, l.wish(ttl)) // who may not even have that is refused before the VIM is asked
	if _, err := b.enter(ctx, p, policy.LeaseIssue, vimResource(v), wish); err != nil {
		return fail(b.noLonger(err, p, v, l, wish))
	}
	if l, err = b.regrade(ctx, session, l); err != nil {
		return fail(err)
	}
	if l.Grade != "" {
		wish = l.wish(ttl)
	}
	act, err := b.enter(ctx, p, action, v.leased(l), wish)
	if err != nil {
		return fail(err)
	}
	if _, err := b.enter(ctx, p, policy.LeaseIssue, vimResource(v), wish); err != nil {
		return fail(b.noLonger(err, p, v, l, wish))
	}
	if l.Grade != "" {
		act.With(audit.DetailGrade, string(l.Grade))
	}
	return v, l, act, nil
}

// grader is who grades a lease; nil for one without a grade, and for one that is the stored credential.
func (b *Leaser) grader(l Lease) Grader {
	if l.Grade == "" || !l.Derived {
		return nil
	}
	grader, _ := b.drivers[l.VIMType].(Grader)
	return grader
}

// regrade returns a lease with the grade that it has on the VIM now. One that nobody grades comes back as it is.
func (b *Leaser) regrade(ctx context.Context, session *session, l Lease) (Lease, error) {
	grader := b.grader(l)
	if grader == nil {
		return l, nil
	}
	g := l.grant(l.granted())
	g.Held = true
	said, err := session.vouched(ctx)
	if err != nil {
		return l, err
	}
	_, err = session.each(ctx, l.VIMGeneration, func(ctx context.Context, o *opened) error {
		now := *o
		now.Target.Vouched = said
		graded, err := b.grade(ctx, grader, &now, g)
		l.Grade, l.GradeReasons = graded.Grade, graded.Reasons
		return err
	})
	return l, err
}

// noLonger is the refusal of one more credential of a lease whose holder could not be issued it any more. It says why
// to whom may see the VIM.
func (b *Leaser) noLonger(err error, p policy.Principal, v VIM, l Lease, w policy.Wish) error {
	if errors.Is(err, ErrUnavailable) {
		return err
	}
	refusal := &Error{
		Kind: ErrDenied, Detail: "policy would not issue you this lease on the VIM any more, so it is not renewed", Next: NextExplain, Cause: err,
	}
	why, explained := errors.AsType[*Error](b.explainRefusal(err, p, v, w, l.GradeReasons))
	if explained && errors.Is(why.Kind, ErrDenied) {
		refusal.Detail += ": " + why.Detail
	}
	return refusal
}

// suspended says that no token is minted on a VIM now.
func suspended(v VIM) error {
	return &Error{
		Kind: ErrUnavailable, Detail: "the VIM is suspended, and no token is minted there: " + v.Suspended,
		Remedy: "ask again when it is resumed", RetryAfter: suspendedWait,
	}
}
