package broker

import (
	"context"
	"crypto/subtle"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// leaseSecretPrefix lets people and secret scanners recognise the secret of a standing lease.
const leaseSecretPrefix = "vbl_"

// slideSteps is in how many steps the end of a standing lease moves by its whole idle limit: a
// use that would move it by less leaves it, so that most uses enter no index.
const slideSteps = 100

// knows reports whether a text is a secret of a standing lease. Only digests are compared, so
// how long it takes says nothing about any secret.
func (l Lease) knows(plain string) bool {
	if !l.Standing() || !strings.HasPrefix(plain, leaseSecretPrefix) {
		return false
	}
	sum, known := []byte(policy.Digest(plain)), 0
	for _, one := range strings.Fields(l.SecretSHA256) {
		known |= subtle.ConstantTimeCompare(sum, []byte(one))
	}
	return known == 1
}

// unusedUntil is when a standing lease that is used now ends, unless it is used again.
func (b *Leaser) unusedUntil(l Lease) time.Time {
	return earliest(b.now().Add(b.terms.StandingIdle), l.MaxExpiresAt)
}

// MintUnder mints a token under a standing lease, for whoever shows its secret, and returns the
// lease, the token and when that ends by itself. Each mint is decided anew, for the holder with
// the roles of now and on the VIM as it is now, with what he can become there now, and moves the end of the lease. holder is the
// principal that the caller says it is; empty where it says nothing. id is the lease's Login. If the lease
// has ended, and nobody has revoked it, another is issued in its place.
//
// It returns [policy.ErrUnauthenticated], which tells nothing more, where there is no such lease, or it is another's,
// or the secret is another, or its holder is gone; [ErrConflict] once the lease has ended;
// [ErrDenied]. A token whose mint could not be recorded is not handed out, and dies by itself.
// Refusals for the same reason are one entry an hour, with the count of the others: who polls an
// ended lease fills no log.
func (b *Leaser) MintUnder(ctx context.Context, id, plain, holder string) (Lease, Credential, time.Time, error) {
	fail := func(err error) (Lease, Credential, time.Time, error) { return Lease{}, Credential{}, time.Time{}, err }
	l, err := b.standing(ctx, id, plain, holder)
	if err != nil {
		return fail(err)
	}
	p, err := b.holderNow(b.refusedMints.Under(ctx, l.ID), l)
	if err != nil {
		return fail(err)
	}
	return b.mintAgain(ctx, p, l, plain)
}

// renewStanding mints a token under a standing lease for its holder, who has logged in and need not show the secret. It
// is as [Leaser.MintUnder] in all else.
func (b *Leaser) renewStanding(ctx context.Context, p policy.Principal, l Lease) (Lease, clientconfig.Config, error) {
	minted, c, ends, err := b.mintAgain(ctx, p, l, "")
	if err != nil {
		return Lease{}, clientconfig.Config{}, err
	}
	v, err := b.vims.VIM(ctx, minted.VIM)
	if err != nil {
		return Lease{}, clientconfig.Config{}, err
	}
	config := b.config(v, v.Current, minted, c)
	config.ExpiresAt = ends
	return minted, config, nil
}

// mintAgain mints a token for p, the holder of a lease: under that, or under one that is issued in its place. plain is the
// secret that was shown, if any was.
func (b *Leaser) mintAgain(
	ctx context.Context, p policy.Principal, l Lease, plain string,
) (Lease, Credential, time.Time, error) {
	fail := func(err error) (Lease, Credential, time.Time, error) { return Lease{}, Credential{}, time.Time{}, err }
	unfolded := ctx
	ctx = b.refusedMints.Under(ctx, l.ID)
	l, err := b.standsAgain(ctx, p, l, plain)
	if err != nil {
		return fail(err)
	}
	minted, c, ends, err := b.mintNow(ctx, unfolded, p, l, plain)
	if errors.Is(err, ErrConflict) {
		now, readErr := b.leases.Lease(unfolded, l.ID)
		if readErr != nil || now.Reason != ReasonGoneUpstream {
			return fail(err)
		}
		if now, err = b.standsAgain(ctx, p, now, plain); err != nil { // its account was deleted on the VIM
			return fail(err)
		}
		return b.mintNow(ctx, unfolded, p, now, plain)
	}
	return minted, c, ends, err
}

// mintNow mints a token for p, the holder of a lease. unfolded is the context of what is always recorded.
func (b *Leaser) mintNow(
	ctx, unfolded context.Context, p policy.Principal, l Lease, plain string,
) (Lease, Credential, time.Time, error) {
	fail := func(err error) (Lease, Credential, time.Time, error) { return Lease{}, Credential{}, time.Time{}, err }
	d, grant, impossible := b.renewable(p, l, l.TokenTTL)
	act, err := b.enter(ctx, p, policy.LeaseMint, leaseResource(l), narrowest(d, l.wish(grant.TTL)))
	if err != nil {
		return fail(err)
	}
	if impossible != nil {
		return fail(b.refuse(ctx, act, impossible))
	}
	session := b.newSession(l.VIM)
	defer session.close()
	_, graded, weighed, err := b.weighAnew(ctx, p, policy.LeaseMint, session, l, grant.TTL, act)
	if err != nil {
		return fail(b.refuse(ctx, act, err))
	}
	act = weighed
	minted, _, err := b.mintNewest(ctx, session, d, l, grant, act)
	if err != nil {
		return fail(err)
	}
	failpoint.At("mint.minted")
	if minted.Credential.LeaseSecret = secret.NewText(plain); plain == "" {
		if minted.Credential.LeaseSecret, err = b.secretOf(ctx, session, l); err != nil {
			return fail(b.refuse(unfolded, act.With(audit.DetailCredentialID, minted.CredentialID), err))
		}
	}
	l.HolderRoles = p.Roles
	done := act.Done(audit.DetailTTL, grant.TTL.String(), audit.DetailExpiresAt, minted.ExpiresAt.UTC().Format(time.RFC3339),
		audit.DetailCredentialID, minted.CredentialID)
	stored, err := b.recordMint(ctx, session, l, minted, done)
	if err != nil {
		// A token is there that nobody has: each is recorded.
		return fail(b.refuse(unfolded, act.With(audit.DetailCredentialID, minted.CredentialID), err))
	}
	failpoint.At("mint.done")
	stored.Grade, stored.GradeReasons = graded.Grade, graded.GradeReasons
	minted.Credential.LeaseSecret = secret.Text{}
	return stored, minted.Credential, earliest(minted.ExpiresAt, l.MaxExpiresAt), nil
}

// secretOf is the secret of a standing lease, as it lies sealed beside the newest token.
func (b *Leaser) secretOf(ctx context.Context, session *session, l Lease) (secret.Text, error) {
	o, err := session.pinned(ctx, l)
	if err != nil {
		return secret.Text{}, err
	}
	c, err := o.unseal(l)
	return c.LeaseSecret, err
}

// standing returns the standing lease of that login, if the secret is its own.
func (b *Leaser) standing(ctx context.Context, id, plain, holder string) (Lease, error) {
	if uuid.Validate(id) != nil {
		return Lease{}, policy.ErrUnauthenticated
	}
	l, err := b.leases.LeaseByLogin(ctx, strings.ToLower(id))
	if errors.Is(err, ErrNotFound) {
		return Lease{}, policy.ErrUnauthenticated
	}
	if err != nil {
		return Lease{}, err
	}
	if !l.knows(plain) || holder != "" && holder != l.Principal {
		return Lease{}, policy.ErrUnauthenticated
	}
	return l, nil
}

// holderNow is the holder of a lease with the roles that it has now. That it is gone is recorded.
func (b *Leaser) holderNow(ctx context.Context, l Lease) (policy.Principal, error) {
	holder := policy.Principal{Name: l.Principal, Project: l.Project}
	err := policy.ErrUnauthenticated
	if directory, known := b.directories[holder.Authenticator()]; known {
		var now policy.Principal
		if now, err = directory.Lookup(ctx, l.Principal, l.Project); err == nil {
			return now, nil
		}
	}
	if errors.Is(err, policy.ErrUnauthenticated) {
		if unrecorded := b.guard.Refuse(ctx, holder, policy.LeaseMint, leaseResource(l), audit.DetailReason,
			"the holder is gone"); unrecorded != nil {
			return policy.Principal{}, Unrecorded(unrecorded)
		}
	}
	return policy.Principal{}, err
}

// recordMint seals the newest token with the lease, and moves the lease's end.
func (b *Leaser) recordMint(ctx context.Context, session *session, l Lease, m Minted, done audit.Entry) (Lease, error) {
	return b.recordNewest(ctx, session, l, m, "a token was being minted", done, func(now *Lease) {
		if until := b.unusedUntil(*now); until.Sub(now.ExpiresAt) >= b.terms.StandingIdle/slideSteps {
			now.ExpiresAt = until
		}
	})
}
