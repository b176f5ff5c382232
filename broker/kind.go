package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// kind is a kind of lease. Issuing is one protocol, [Leaser.issue]; a kind says what is decided, minted and
// handed out. Its methods record what they refuse.
type kind interface {
	// lifetime is how long a credential lives where a request names no time, and how long at most.
	lifetime(b *Leaser, p policy.Principal) (usual, most time.Duration)
	// check refuses a request that VIMs of a type cannot serve, or its caller cannot have.
	check(b *Leaser, p policy.Principal, t Type, r LeaseRequest) error
	// on is the kind that the lease has on a VIM.
	on(v VIM) (kind, error)
	// complete fills in what a new row has of its kind.
	complete(b *Leaser, p policy.Principal, l *Lease, g Grant)
	// admit decides before the VIM's credential is opened.
	admit(ctx context.Context, i *issuing) error
	// decide decides on the lease as the VIM would give it.
	decide(ctx context.Context, i *issuing, o *opened) error
	// mint makes the credential, and record stores it and makes the lease active. Either takes back what it leaves.
	mint(ctx context.Context, i *issuing, o *opened) (Minted, error)
	record(ctx context.Context, i *issuing, o *opened, m Minted) (Lease, error)
	// again returns the credential of a lease whose request is repeated.
	again(ctx context.Context, i *issuing, o *opened, old Lease) (Credential, error)
	// handOut is what the holder gets of a credential.
	handOut(c Credential) Credential
	// ends is when a new lease ends whose credential ends then.
	ends(b *Leaser, l Lease, credential time.Time) time.Time
	// beginRenewal and endRenewal keep a renewal from meeting another; begun is the lease as the renewal left it.
	beginRenewal(b *Leaser, now *Lease) error
	endRenewal(begun Lease, now *Lease) error
}

func (r LeaseRequest) kind() (kind, error) {
	switch {
	case r.Credential == LeaseUser:
		return userLease{}, nil
	case r.Credential == LeasePassThrough:
		return passedThrough{}, nil
	case r.Credential != "":
		return nil, Invalid("credential", "must be %s or %s, or be left out", LeaseUser, LeasePassThrough)
	case r.Standing:
		return &standingLease{}, nil
	}
	return ordinaryLease{}, nil
}

func (l Lease) kind() kind {
	switch {
	case !l.Derived:
		return passedThrough{}
	case l.CredentialKind == CredentialUser:
		return userLease{}
	case l.Standing():
		return &standingLease{}
	}
	return ordinaryLease{}
}

// ordinaryLease has a credential of its own, derived from the VIM's. The other kinds that are derived are
// as it is but for what they say themselves.
type ordinaryLease struct{}

func (ordinaryLease) lifetime(b *Leaser, _ policy.Principal) (usual, most time.Duration) {
	return b.terms.DefaultTTL, b.terms.MaxTTL
}

func (ordinaryLease) check(*Leaser, policy.Principal, Type, LeaseRequest) error { return nil }

// on: a VIM that can mint nothing has its credential passed through.
func (k ordinaryLease) on(v VIM) (kind, error) {
	if !v.Health.CanMint {
		return passedThrough{}, nil
	}
	return k, nil
}

func (ordinaryLease) complete(*Leaser, policy.Principal, *Lease, Grant) {}

func (ordinaryLease) admit(context.Context, *issuing) error { return nil }

func (ordinaryLease) decide(ctx context.Context, i *issuing, o *opened) error {
	if err := i.weigh(ctx, o); err != nil {
		return err
	}
	if most := i.request.Widest; most != "" && widerThan(i.lease.Grade, most) {
		return i.refuse(ctx, i.act, tooWide(i.lease.Grade, most))
	}
	return nil
}

func (ordinaryLease) mint(ctx context.Context, i *issuing, o *opened) (Minted, error) {
	minted, err := i.mint(ctx, i.driver.Issue, o.Access, i.lease.grant(i.grant.TTL))
	if err != nil {
		if errors.Is(err, ErrBeyondGrant) {
			i.raise(ctx, AlarmBeyondGrant, i.lease, err.Error())
		}
		i.takeBackUnissued(ctx, o, minted, ReasonIssueFailed, err)
		return Minted{}, err
	}
	failpoint.At("issue.minted")
	return minted, nil
}

func (ordinaryLease) record(ctx context.Context, i *issuing, o *opened, m Minted) (Lease, error) {
	stored, err := i.recordIssue(ctx, i.lease, m, o, i.act)
	if err != nil {
		i.takeBackUnissued(ctx, o, m, ReasonAuditFailed, err)
	}
	return stored, err
}

// again: the act rests on the narrowest grade, so a wider lease is decided on once more.
func (ordinaryLease) again(ctx context.Context, i *issuing, o *opened, old Lease) (c Credential, err error) {
	if old.Grade != "" && old.Grade != GradeBounded {
		if i.act, err = i.enter(ctx, i.caller, policy.LeaseIssue, vimResource(i.vim), old.wish(old.granted())); err != nil {
			return Credential{}, err
		}
	}
	if c, err = o.unseal(old); err != nil {
		return Credential{}, i.refuse(ctx, i.act, err)
	}
	return c, nil
}

func (ordinaryLease) handOut(c Credential) Credential { return c }

func (ordinaryLease) ends(b *Leaser, l Lease, credential time.Time) time.Time {
	return earliest(credential, b.now().Add(l.granted()), l.MaxExpiresAt)
}

func (ordinaryLease) beginRenewal(*Leaser, *Lease) error { return nil }

func (ordinaryLease) endRenewal(Lease, *Lease) error { return nil }

// standingLease hands out a secret under which tokens are minted: see [Leaser.IssueLease].
type standingLease struct {
	ordinaryLease
	secret secret.Text
}

func (*standingLease) lifetime(b *Leaser, _ policy.Principal) (usual, most time.Duration) {
	return b.terms.StandingTTL, b.terms.StandingTTL
}

func (*standingLease) check(b *Leaser, p policy.Principal, t Type, _ LeaseRequest) error {
	if b.directories[p.Authenticator()] == nil {
		return &Error{
			Kind: ErrUnsupported, Field: "standing",
			Detail: "a standing lease is for a registered client or a static token: of " + p.Name +
				" nobody here knows later on whether it may still have it",
			Remedy: "register a client, and take the lease as that",
		}
	}
	if !t.Standing {
		return &Error{
			Kind: ErrUnsupported, Field: "standing",
			Detail: fmt.Sprintf("VIMs of type %s have no standing leases: nothing there mints short tokens for one holder and ends them "+
				"all at once", t.Name),
		}
	}
	return nil
}

func (k *standingLease) on(v VIM) (kind, error) {
	if !v.Health.CanMint {
		return nil, &Error{
			Kind: ErrUnsupported, Field: "standing", Next: NextCheckVIM,
			Detail: "no lease can be derived from the VIM's credential: " + v.Health.MintMessage,
		}
	}
	return k, nil
}

func (k *standingLease) complete(b *Leaser, _ policy.Principal, l *Lease, g Grant) {
	text, sum := policy.NewSecret(leaseSecretPrefix)
	k.secret, l.SecretSHA256, l.Login = secret.NewText(text), sum, l.ID
	l.TokenTTL, l.MaxExpiresAt = g.TTL, l.CreatedAt.Add(b.terms.StandingMax)
	l.ExpiresAt = b.unusedUntil(*l)
	l.RenewalBegun = true // a revocation looks for more tokens than the row holds
}

// mint makes a token that tries what stands on the VIM. Nobody gets it.
func (k *standingLease) mint(ctx context.Context, i *issuing, o *opened) (Minted, error) {
	m, err := k.ordinaryLease.mint(ctx, i, o)
	m.Credential.LeaseSecret = k.secret
	return m, err
}

func (k *standingLease) again(ctx context.Context, i *issuing, o *opened, old Lease) (Credential, error) {
	c, err := k.ordinaryLease.again(ctx, i, o, old)
	if err == nil && c.LeaseSecret.Empty() {
		err = i.refuse(ctx, i.act, &Error{
			Kind: ErrConflict, Field: "Idempotency-Key", Detail: "the secret of the lease that was issued for it is not kept any more",
			Remedy: "revoke that lease, and use a new key",
		})
	}
	return c, err
}

func (*standingLease) handOut(c Credential) Credential {
	return Credential{LeaseSecret: c.LeaseSecret}
}

func (*standingLease) ends(b *Leaser, l Lease, _ time.Time) time.Time { return b.unusedUntil(l) }

// userLease is a user of its own on the VIM: see [LeaseUser].
type userLease struct{ ordinaryLease }

func (userLease) lifetime(b *Leaser, p policy.Principal) (usual, most time.Duration) {
	most = b.standingMax(p)
	return most, most
}

func (userLease) check(_ *Leaser, _ policy.Principal, t Type, r LeaseRequest) error {
	if !t.Users {
		return &Error{
			Kind: ErrUnsupported, Field: "credential", Detail: fmt.Sprintf("on VIMs of type %s no lease is a user of its own", t.Name),
			Remedy: "ask for a standing lease, or for the usual credential",
		}
	}
	return notStanding(r)
}

// notStanding refuses a request for a standing lease that also names a credential.
func notStanding(r LeaseRequest) error {
	if r.Standing {
		return Invalid("credential", "cannot be chosen for a standing lease: what is handed out is its secret")
	}
	return nil
}

func (k userLease) on(VIM) (kind, error) { return k, nil }

func (userLease) complete(b *Leaser, p policy.Principal, l *Lease, _ Grant) {
	l.MaxExpiresAt, l.CredentialKind = l.CreatedAt.Add(b.standingMax(p)), CredentialUser
}

// beginRenewal: the VIM has the password that came last, so a renewal has the lease alone until NextAttemptAt.
func (userLease) beginRenewal(b *Leaser, now *Lease) error {
	if now.NextAttemptAt.After(b.now()) {
		return &Error{
			Kind: ErrConflict, Detail: "another renewal of the lease is under way, or has failed a moment ago",
			Remedy: "try again at " + now.NextAttemptAt.UTC().Format(time.RFC3339),
		}
	}
	now.NextAttemptAt = b.now().Add(b.claim())
	return nil
}

func (userLease) endRenewal(begun Lease, now *Lease) error {
	if !now.NextAttemptAt.Equal(begun.NextAttemptAt) {
		return &Error{Kind: ErrConflict, Detail: "the renewal took so long that another has begun", Remedy: "renew the lease again"}
	}
	now.NextAttemptAt = time.Time{}
	return nil
}

// passedThrough is the stored credential itself: see [LeasePassThrough]. Nothing is minted, so nothing is
// taken back.
type passedThrough struct{ ordinaryLease }

func (passedThrough) lifetime(b *Leaser, p policy.Principal) (usual, most time.Duration) {
	return userLease{}.lifetime(b, p)
}

func (passedThrough) check(_ *Leaser, _ policy.Principal, _ Type, r LeaseRequest) error {
	if r.Role != "" || len(r.Namespaces)+len(r.Rules) > 0 || r.ClusterWide {
		return Invalid("credential",
			"has every right of the VIM's own, and cannot be cut down: leave out role, rules, namespaces and clusterWide")
	}
	return notStanding(r)
}

func (k passedThrough) on(VIM) (kind, error) { return k, nil }

func (passedThrough) complete(b *Leaser, p policy.Principal, l *Lease, _ Grant) {
	l.MaxExpiresAt = l.CreatedAt.Add(b.standingMax(p))
}

func (passedThrough) admit(ctx context.Context, i *issuing) error {
	if most := i.request.Widest; most != "" && most != GradeUnbounded {
		return i.refuse(ctx, i.act, tooWide(GradeUnbounded, most))
	}
	if err := i.mayPassThrough(ctx, i.caller, i.vim, i.lease.wish(i.grant.TTL)); err != nil {
		return i.refuse(ctx, i.act, err)
	}
	l := &i.lease
	l.Derived, l.Revocable = false, false
	if _, grades := i.driver.(Grader); grades {
		l.Grade, l.GradeReasons = GradeUnbounded, []string{"the holder has the VIM's own credential, which works until it is replaced on the VIM"}
	}
	return nil
}

func (passedThrough) decide(ctx context.Context, i *issuing, _ *opened) error {
	if end := i.vim.Current.CredentialExpiresAt; !end.IsZero() && end.Before(i.lease.ExpiresAt) {
		i.lease.ExpiresAt = end
	}
	if !i.lease.ExpiresAt.After(i.now()) {
		return i.refuse(ctx, i.act, &Error{
			Kind: ErrUnauthorized, Field: "vim", Detail: "the VIM's credential has expired", Next: NextReplaceCredential,
		})
	}
	i.act.With(audit.DetailLease, i.lease.ID).With(audit.DetailReason, "passed through")
	return nil
}

func (passedThrough) mint(_ context.Context, _ *issuing, o *opened) (Minted, error) {
	return Minted{Credential: o.Credential}, nil
}

func (passedThrough) record(ctx context.Context, i *issuing, _ *opened, m Minted) (Lease, error) {
	stored, err := i.leases.UpdateLease(ctx, i.lease.ID, func(now *Lease) error {
		now.CredentialKind = m.Credential.Kind
		return i.activate(now)
	}, i.act.Done(audit.DetailExpiresAt, i.lease.ExpiresAt.Format(time.RFC3339)))
	if err != nil {
		return Lease{}, i.refuse(ctx, i.act, err)
	}
	return stored, nil
}

func (passedThrough) again(ctx context.Context, i *issuing, o *opened, old Lease) (Credential, error) {
	if err := i.mayPassThrough(ctx, i.caller, i.vim, old.wish(old.granted())); err != nil {
		return Credential{}, i.refuse(ctx, i.act, err)
	}
	return o.Credential, nil
}
