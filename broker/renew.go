package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// RenewLease mints one more credential of an active lease, for ttl from now
// (zero: the default), within the lease's MaxExpiresAt. The credential before
// stays good until its own expiry. Where the upstream object is gone the lease
// has ended, and the answer is [ErrConflict]. A process that crashes leaves a
// credential that nobody holds, which dies with the lease at its old expiry.
//
// The new password of a lease that is a user ends the previous one. Its renewals go
// one after the other: a second one is [ErrConflict] while the first is under way.
// After one that crashed or failed nobody may hold a password that works, until
// the next renewal.
//
// The renewal of a standing lease by its holder mints a token under it, as [Leaser.MintUnder] does; ttl must be zero.
//
// It is decided anew, on the VIM as it is now: with what the holder can become there now. The lease in the
// answer has that grade; the row keeps the one of its issue.
func (b *Leaser) RenewLease(ctx context.Context, p policy.Principal, id string, ttl time.Duration) (Lease, clientconfig.Config, error) {
	fail := func(err error) (Lease, clientconfig.Config, error) { return Lease{}, clientconfig.Config{}, err }
	l, err := b.findLease(ctx, p, policy.LeaseRenew, id)
	if err == nil {
		l, err = b.current(ctx, l.ID)
	}
	if err != nil {
		return fail(err)
	}
	if l.Standing() && l.Principal == p.Name && l.Project == p.Project && p.Actor == "" && ttl == 0 {
		return b.renewStanding(ctx, p, l)
	}
	if ttl == 0 {
		ttl = b.terms.DefaultTTL
	}
	d, grant, impossible := b.renewable(p, l, ttl)
	if l.Standing() {
		impossible = &Error{
			Kind: ErrUnsupported, Detail: "a standing lease is renewed by its use: each token that is minted under it, at the token " +
				"endpoint or by a renewal of its holder without ttl, moves its end",
		}
	}
	act, err := b.enter(ctx, p, policy.LeaseRenew, leaseResource(l), narrowest(d, l.wish(grant.TTL)))
	if err != nil {
		return fail(err)
	}
	if impossible != nil {
		return fail(b.refuse(ctx, act, impossible))
	}
	session := b.newSession(l.VIM)
	defer session.close()
	v, graded, weighed, err := b.weighAnew(ctx, p, policy.LeaseRenew, session, l, grant.TTL, act)
	if err != nil {
		return fail(b.refuse(ctx, act, err))
	}
	act = weighed
	if l, err = b.beginRenewal(ctx, l, act.With(audit.DetailTTL, grant.TTL.String())); err != nil {
		return fail(b.refuse(ctx, act, err))
	}
	failpoint.At("renew.intent")

	minted, g, err := b.mintNewest(ctx, session, d, l, grant, act)
	if err != nil {
		return fail(err)
	}
	failpoint.At("renew.minted")
	l.HolderRoles = p.Roles
	stored, err := b.recordRenewal(ctx, session, l, minted, grant.TTL, act)
	if err != nil {
		return fail(err)
	}
	failpoint.At("renew.done")
	stored.Grade, stored.GradeReasons = graded.Grade, graded.GradeReasons
	config := b.config(v, g, stored, minted.Credential)
	config.ExpiresAt = earliest(minted.ExpiresAt, stored.ExpiresAt)
	return stored, config, nil
}

// renewable says what may be granted, as far as the row tells. The grant says what was
// asked for, capped, also where it is refused.
func (b *Leaser) renewable(p policy.Principal, l Lease, ttl time.Duration) (Driver, Grant, error) {
	now := b.now()
	left := l.MaxExpiresAt.Sub(now).Truncate(time.Second)
	wish := l.grant(min(ttl, left))
	d, err := b.driver(l.VIMType)
	if err != nil {
		return nil, wish, err
	}
	switch {
	case ttl < 0:
		return nil, wish, Invalid("ttl", "must not be negative")
	case l.State != LeaseActive, !now.Before(l.ExpiresAt):
		return nil, wish, &Error{Kind: ErrConflict, Detail: "the lease has ended", Remedy: "issue another"}
	case l.Planned && p.Actor == "":
		return nil, wish, &Error{
			Kind: ErrDenied, Detail: "the lease is a life-cycle operation's, which alone has its credential", Remedy: "issue another lease",
		}
	case !l.Derived:
		return nil, wish, &Error{
			Kind: ErrUnsupported, Detail: "a credential that was passed through cannot be renewed", Remedy: "issue another lease",
		}
	}
	grant, err := d.Prepare(wish)
	if err != nil && left < ttl {
		return nil, wish, &Error{
			Kind: ErrConflict,
			Detail: fmt.Sprintf("the lease may live until %s and no longer, which is too short for another renewal",
				l.MaxExpiresAt.Format(time.RFC3339)),
			Remedy: "issue another", Cause: err,
		}
	}
	if err != nil {
		return nil, wish, err
	}
	return d, grant, nil
}

// mintNewest mints one more credential of a lease, and returns the generation of the VIM that did it. Where
// the lease's object is gone the lease has ended. It records its refusals.
func (b *Leaser) mintNewest(
	ctx context.Context, session *session, d Driver, l Lease, grant Grant, act *audit.Act,
) (minted Minted, g Generation, err error) {
	minting, cancel := context.WithTimeout(ctx, 2*b.terms.CallTimeout) // less than a renewal's claim
	defer cancel()
	g, err = session.each(minting, l.VIMGeneration, func(ctx context.Context, o *opened) (err error) {
		minted, err = b.mint(ctx, d.Renew, o.Access, grant)
		return err
	})
	if errors.Is(err, ErrNotFound) {
		b.abort(ctx, l, ReasonGoneUpstream, act.Failed(class(err)))
		return minted, g, &Error{Kind: ErrConflict, Detail: "the lease was taken away on the VIM itself", Remedy: "issue another", Cause: err}
	}
	if err != nil {
		err = b.refuse(ctx, act, err)
	}
	return minted, g, err
}

// beginRenewal stores the intent: from here on a revocation looks for more than the
// credential that the row holds. A lease that is a user is this renewal's alone until
// NextAttemptAt: the VIM has the password that came last.
func (b *Leaser) beginRenewal(ctx context.Context, l Lease, act *audit.Act) (Lease, error) {
	return b.leases.UpdateLease(ctx, l.ID, func(now *Lease) error {
		if now.State != LeaseActive {
			return &Error{Kind: ErrConflict, Detail: "the lease has ended", Remedy: "issue another"}
		}
		now.RenewalBegun = true
		return now.kind().beginRenewal(b, now)
	}, act.Intent())
}

func (b *Leaser) recordRenewal(
	ctx context.Context, session *session, l Lease, m Minted, granted time.Duration, act *audit.Act,
) (Lease, error) {
	expires := earliest(m.ExpiresAt.UTC().Truncate(time.Second), b.now().Add(granted), l.MaxExpiresAt)
	done := act.Done(audit.DetailExpiresAt, expires.Format(time.RFC3339), audit.DetailCredentialID, m.CredentialID)
	return b.recordNewest(ctx, session, l, m, "it was being renewed", done, func(now *Lease) {
		if expires.After(now.ExpiresAt) {
			now.ExpiresAt = expires
		}
	})
}

// recordNewest seals the newest credential with its lease, and has extend move the lease's end:
// once more with the present key where the VIM was sealed anew meanwhile. meanwhile completes
// "the lease was revoked while".
func (b *Leaser) recordNewest(
	ctx context.Context, session *session, l Lease, m Minted, meanwhile string, done audit.Entry, extend func(now *Lease),
) (Lease, error) {
	stored, err := b.sealNewest(ctx, session, l, m, meanwhile, done, extend)
	if errors.Is(err, ErrConflict) {
		again := b.newSession(l.VIM)
		defer again.close()
		stored, err = b.sealNewest(ctx, again, l, m, meanwhile, done, extend)
	}
	return stored, err
}

func (b *Leaser) sealNewest(
	ctx context.Context, session *session, l Lease, m Minted, meanwhile string, done audit.Entry, extend func(now *Lease),
) (Lease, error) {
	// Sealed with its key also where a later credential of the same VIM did the minting.
	o, err := session.pinned(ctx, l)
	if err != nil {
		return Lease{}, err
	}
	sealed, err := o.seal(l, m.Credential)
	if err != nil {
		return Lease{}, err
	}
	ends := m.ExpiresAt.UTC().Truncate(time.Second)
	return b.leases.UpdateLease(ctx, l.ID, func(now *Lease) error {
		if now.State != LeaseActive {
			return &Error{Kind: ErrConflict, Detail: "the lease was revoked while " + meanwhile, Remedy: "issue another"}
		}
		if err := now.kind().endRenewal(l, now); err != nil {
			return err
		}
		now.RenewedAt, now.CredentialKind, now.Sealed, now.SealedKey = b.now(), m.Credential.Kind, sealed, o.ref
		extend(now)
		if ends.After(now.CredentialEndsAt) {
			now.CredentialEndsAt = ends
		}
		now.MaxRevocationLag = max(now.MaxRevocationLag, m.MaxRevocationLag)
		now.CredentialID, now.HolderRoles = m.CredentialID, l.HolderRoles
		return nil
	}, done)
}
