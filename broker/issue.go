package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// IssueLease mints a credential on a VIM and hands it out, once.
//
// The row that names the upstream object exists before the object; whatever
// fails later, nothing stays alive upstream that the row does not name, and a
// credential whose issue could not be recorded is taken back, not handed out.
//
// A repeat under the same IdempotencyKey answers with the same lease and
// credential while that lease is active; it is [ErrConflict] with another request,
// while the first is running or has died and is not settled (RetryAfter says when
// that will be over), and after the lease has ended. A request that failed leaves the
// key free: a repeat is tried anew.
//
// Of a lease that stands no credential is handed out. The configuration holds its secret in the
// credential's place (LeaseSecret), under which [Broker.MintUnder] mints short tokens until the lease is
// revoked, was not used for Terms.StandingIdle, or is as old as Terms.StandingMax. The request's TTL is
// that of each token, Terms.StandingTTL at most. What is made on the VIM is tried with a token
// that nobody gets. A repeat answers with the same secret. It is for holders whose roles can be
// looked up without their being there, which each mint does: registered clients and static
// tokens. Others are [ErrUnsupported], and so are VIMs of a type that has no standing leases.
func (b *Leaser) IssueLease(ctx context.Context, p policy.Principal, r LeaseRequest) (Lease, clientconfig.Config, error) {
	var config clientconfig.Config
	l, err := decided(func() (l Lease, err error) {
		l, config, err = b.issue(ctx, p, r)
		return l, err
	})
	if err == nil && r.Verified {
		config.CACert = authorities(config.CACert)
	}
	return l, config, err
}

// authorities are those that a VIM which has none of its own is verified by: the system's.
func authorities(caCert string) string {
	if caCert != "" {
		return caCert
	}
	return remote.SystemRoots()
}

// verifiable refuses a VIM that the lease's holder could not verify, where it has to.
func (r LeaseRequest) verifiable(at Target) error {
	switch {
	case !r.Verified:
		return nil
	case at.InsecureSkipVerify:
		return &Error{
			Kind: ErrUnsupported, Detail: "the VIM is registered with insecureSkipVerify, and what is lent must be used with a VIM that is verified",
			Remedy: "have the VIM registered with the authorities of its certificate (caCert) in place of that",
		}
	case authorities(at.CACert) == "":
		return &Error{
			Kind: ErrUnsupported, Detail: "the VIM is verified by the system's authorities, and the server finds none that it could give",
			Remedy: "have the VIM registered with the authorities of its certificate (caCert)",
		}
	}
	return nil
}

func (b *Leaser) issue(ctx context.Context, p policy.Principal, r LeaseRequest) (Lease, clientconfig.Config, error) {
	fail := func(err error) (Lease, clientconfig.Config, error) { return Lease{}, clientconfig.Config{}, err }
	v, err := b.findVIM(ctx, p, policy.LeaseIssue, r.VIM)
	if err != nil {
		return fail(err)
	}
	d, grant, err := b.prepare(p, v, &r)
	if err != nil {
		if !b.guard.Allows(p, policy.VIMShow, vimResource(v)) {
			err = b.hidden(ctx, p, policy.LeaseIssue, v)
		}
		return fail(err)
	}
	l := b.newLease(p, v, r, grant)
	var plain secret.Text
	if r.Standing {
		text, sum := policy.NewSecret(leaseSecretPrefix)
		plain, l.SecretSHA256 = secret.NewText(text), sum
	}
	wish := l.wish(grant.TTL)
	least := narrowest(d, wish)
	act, err := b.enter(ctx, p, policy.LeaseIssue, vimResource(v), least)
	if err != nil {
		return fail(b.explainRefusal(err, p, v, least, nil))
	}
	if old, config, err := b.issued(ctx, p, v, r, l, act); err != nil || old.ID != "" {
		return old, config, err
	}
	if err := cmp.Or(issuable(v), r.verifiable(v.Current.Target)); err != nil {
		return fail(b.refuse(ctx, act, err))
	}
	if v.Suspended != "" {
		return fail(b.refuse(ctx, act, &Error{Kind: ErrConflict, Field: "vim", Detail: "no new lease is issued on the VIM: " + v.Suspended}))
	}
	switch {
	case r.Credential == LeasePassThrough, !v.Health.CanMint && !r.Standing && r.Credential == "":
		if r.Widest != "" && r.Widest != GradeUnbounded {
			return fail(b.refuse(ctx, act, tooWide(GradeUnbounded, r.Widest)))
		}
		return b.passThrough(ctx, p, v, l, wish, act)
	case !v.Health.CanMint && r.Standing:
		return fail(b.refuse(ctx, act, &Error{
			Kind: ErrUnsupported, Field: "standing", Next: NextCheckVIM,
			Detail: "no lease can be derived from the VIM's credential: " + v.Health.MintMessage,
		}))
	}
	o, err := b.open(ctx, v, v.Current)
	if err != nil {
		return fail(b.refuse(ctx, act, err))
	}
	defer o.close()
	if act, err = b.weigh(ctx, p, d, o, v, &l, act); err != nil {
		return fail(err)
	}
	if r.Widest != "" && widerThan(l.Grade, r.Widest) {
		return fail(b.refuse(ctx, act, tooWide(l.Grade, r.Widest)))
	}
	created, err := b.createLease(ctx, l, v, act)
	if err != nil {
		if errors.Is(err, errMoved) {
			return fail(err)
		}
		if errors.Is(err, ErrExists) { // the same key, at the same moment
			if old, config, err := b.issued(ctx, p, v, r, l, act); err != nil || old.ID != "" {
				return old, config, err
			}
		}
		return fail(b.refuse(ctx, act, err))
	}
	l = created
	failpoint.At("issue.intent")

	minted, err := b.mint(ctx, d.Issue, o.Access, l.grant(grant.TTL))
	if err != nil {
		if errors.Is(err, ErrBeyondGrant) {
			b.raise(ctx, AlarmBeyondGrant, l, err.Error())
		}
		held, _ := o.holding(l, minted)
		b.abort(ctx, held, ReasonIssueFailed, act.Failed(class(err)))
		return fail(err)
	}
	failpoint.At("issue.minted")
	minted.Credential.LeaseSecret = plain
	stored, err := b.recordIssue(ctx, l, minted, o, act)
	if err != nil {
		held, _ := o.holding(l, minted) // what does not seal has its handle
		b.abort(ctx, held, ReasonAuditFailed, act.Failed(class(err)))
		return fail(err)
	}
	failpoint.At("issue.active")
	return stored, b.config(v, v.Current, stored, handedOut(stored, minted.Credential)), nil
}

// createLease stores the intent to issue a lease, if the VIM is still the one that was
// decided on; errMoved if it has changed.
func (b *Leaser) createLease(ctx context.Context, l Lease, v VIM, act *audit.Act) (Lease, error) {
	q := b.terms.Quota
	q.VIMRevision = v.Revision
	created, err := b.leases.CreateLease(ctx, l, q, act.Intent())
	if errors.Is(err, ErrConflict) {
		if now, readErr := b.vims.VIM(ctx, v.ID); readErr == nil && now.Revision != v.Revision {
			return Lease{}, errMoved
		}
	}
	return created, err
}

// prepare checks a request as far as that needs nobody's answer, and fills in defaults.
func (b *Leaser) prepare(p policy.Principal, v VIM, r *LeaseRequest) (Driver, Grant, error) {
	d, err := b.driver(v.Type)
	if err != nil {
		return nil, Grant{}, err
	}
	if err := CheckIdempotencyKey(r.IdempotencyKey); err != nil {
		return nil, Grant{}, err
	}
	for field, s := range map[string]string{"purpose": r.Purpose, "operation": r.Operation, "instance": r.Instance} {
		if !shortText(s) {
			return nil, Grant{}, Invalid(field, "must be at most 255 printable characters")
		}
	}
	if err := d.Type().chooseFormat(&r.Format); err != nil {
		return nil, Grant{}, err
	}
	if err := checkRules(d, r); err != nil {
		return nil, Grant{}, err
	}
	usual, most := b.terms.DefaultTTL, b.terms.MaxTTL
	switch {
	case r.Standing:
		usual, most = b.terms.StandingTTL, b.terms.StandingTTL
	case r.Credential != "":
		most = b.standingMax(p)
		usual = most
	}
	switch {
	case !slices.Contains(leaseCredentials, r.Credential):
		return nil, Grant{}, Invalid("credential", "must be %s or %s, or be left out", LeaseUser, LeasePassThrough)
	case r.Credential == LeaseUser && !d.Type().Users:
		return nil, Grant{}, &Error{
			Kind: ErrUnsupported, Field: "credential", Detail: fmt.Sprintf("on VIMs of type %s no lease is a user of its own", v.Type),
			Remedy: "ask for a standing lease, or for the usual credential",
		}
	case r.Credential == LeasePassThrough && (r.Role != "" || len(r.Namespaces)+len(r.Rules) > 0 || r.ClusterWide):
		return nil, Grant{}, Invalid("credential",
			"has every right of the VIM's own, and cannot be cut down: leave out role, rules, namespaces and clusterWide")
	case r.Standing && r.Credential != "":
		return nil, Grant{}, Invalid("credential", "cannot be chosen for a standing lease: what is handed out is its secret")
	case r.Standing && b.directories[p.Authenticator()] == nil:
		return nil, Grant{}, &Error{
			Kind: ErrUnsupported, Field: "standing",
			Detail: "a standing lease is for a registered client or a static token: of " + p.Name +
				" nobody here knows later on whether it may still have it",
			Remedy: "register a client, and take the lease as that",
		}
	case r.Standing && !d.Type().Standing:
		return nil, Grant{}, &Error{
			Kind: ErrUnsupported, Field: "standing",
			Detail: fmt.Sprintf("VIMs of type %s have no standing leases: nothing there mints short tokens for one holder and ends them "+
				"all at once", v.Type),
		}
	case r.TTL < 0:
		return nil, Grant{}, Invalid("ttl", "is negative")
	case r.TTL == 0:
		r.TTL = usual
	}
	id := uuid.NewString()
	grant, err := d.Prepare(Grant{
		Lease: id, Handle: "lease-" + id, TTL: min(r.TTL, most),
		Role: r.Role, Namespaces: slices.Clone(r.Namespaces), Purpose: r.Purpose,
		Rules: r.Rules, ClusterWide: r.ClusterWide, User: r.Credential == LeaseUser,
	})
	return d, grant, err
}

// shortText reports whether a text fits into one line that people read.
func shortText(s string) bool {
	return len(s) <= 255 && !strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) })
}

// standingMax bounds how long p has a password: for months only where somebody here knows later on
// whether p may still have it.
func (b *core) standingMax(p policy.Principal) time.Duration {
	if b.directories[p.Authenticator()] == nil {
		return min(b.terms.MaxTTL, b.terms.StandingMax)
	}
	return b.terms.StandingMax
}

func (b *Leaser) newLease(p policy.Principal, v VIM, r LeaseRequest, g Grant) Lease {
	now := b.now()
	l := Lease{
		ID: g.Lease, VIM: v.ID, VIMName: v.Name, VIMType: v.Type, VIMProject: v.Project, VIMGeneration: v.Current.Number,
		Project: p.Project, Principal: p.Name, HolderRoles: p.Roles, Operation: r.Operation, Instance: r.Instance, State: LeasePending,
		Role: g.Role, Namespaces: g.Namespaces, Rules: g.Rules, ClusterWide: g.ClusterWide, Format: r.Format, Purpose: r.Purpose,
		CreatedAt: now, ExpiresAt: now.Add(g.TTL), MaxExpiresAt: now.Add(b.terms.MaxTTL),
		Derived: true, Revocable: true, Handle: g.Handle,
		IdempotencyKey: r.IdempotencyKey,
	}
	if r.IdempotencyKey != "" {
		l.RequestDigest = leaseDigest(v.ID, r, g)
	}
	if r.Credential != "" {
		l.MaxExpiresAt = now.Add(b.standingMax(p))
	}
	if r.Credential == LeaseUser {
		l.CredentialKind = CredentialUser
	}
	if r.Standing {
		l.TokenTTL, l.MaxExpiresAt = g.TTL, now.Add(b.terms.StandingMax)
		l.ExpiresAt = b.unusedUntil(l)
		// Whoever takes it back looks for more tokens than the row holds.
		l.RenewalBegun = true
	}
	return l
}

// issuable refuses VIMs that no lease may be issued on.
func issuable(v VIM) error {
	switch {
	case v.State != VIMRegistered:
		return &Error{Kind: ErrConflict, Field: "vim", Detail: "the VIM is being deleted"}
	case v.Health.Status == HealthIdentityChanged:
		return &Error{Kind: ErrConflict, Field: "vim", Detail: v.Health.Message}
	}
	return nil
}

// issued answers a repeat of an earlier request; it is empty when this is none.
func (b *Leaser) issued(
	ctx context.Context, p policy.Principal, v VIM, r LeaseRequest, l Lease, act *audit.Act,
) (Lease, clientconfig.Config, error) {
	fail := func(err error) (Lease, clientconfig.Config, error) {
		return Lease{}, clientconfig.Config{}, b.refuse(ctx, act, err)
	}
	if l.IdempotencyKey == "" {
		return Lease{}, clientconfig.Config{}, nil
	}
	old, err := b.leases.LeaseByKey(ctx, p.Name, l.IdempotencyKey)
	switch {
	case errors.Is(err, ErrNotFound):
		return Lease{}, clientconfig.Config{}, nil
	case err != nil:
		return fail(err)
	case old.RequestDigest != l.RequestDigest || old.Project != l.Project:
		return fail(otherRequest())
	case old.State == LeasePending:
		return fail(b.notEnded(old.CreatedAt))
	case old.State != LeaseActive || !b.now().Before(old.ExpiresAt):
		return fail(&Error{
			Kind: ErrConflict, Field: "Idempotency-Key", Detail: "the lease that was issued for it has ended", Remedy: "use a new key",
		})
	}
	g, ok := v.generation(old.VIMGeneration)
	if !ok {
		return fail(&Error{Kind: ErrConflict, Detail: "the lease that was issued for it has ended", Remedy: "use a new key"})
	}
	if err := r.verifiable(g.Target); err != nil {
		return fail(err)
	}
	o, err := b.open(ctx, v, g)
	if err != nil {
		return fail(err)
	}
	defer o.close()
	if !old.Derived {
		if err := b.mayPassThrough(ctx, p, v, old.wish(old.granted())); err != nil {
			return fail(err)
		}
	} else if old.Grade != "" && old.Grade != GradeBounded { // act rests on the narrowest
		if act, err = b.enter(ctx, p, policy.LeaseIssue, vimResource(v), old.wish(old.granted())); err != nil {
			return Lease{}, clientconfig.Config{}, err
		}
	}
	cred := o.Credential
	if old.Derived {
		if cred, err = o.unseal(old); err != nil {
			return fail(err)
		}
	}
	if old.Standing() && cred.LeaseSecret.Empty() {
		return fail(&Error{
			Kind: ErrConflict, Field: "Idempotency-Key", Detail: "the secret of the lease that was issued for it is not kept any more",
			Remedy: "revoke that lease, and use a new key",
		})
	}
	if err := b.entries.Append(ctx, act.With(audit.DetailLease, old.ID).Done(audit.DetailReason, sameRequest)); err != nil {
		return Lease{}, clientconfig.Config{}, err
	}
	return old, b.config(v, g, old, handedOut(old, cred)), nil
}

// handedOut is what the holder of a lease gets of what was minted for it.
func handedOut(l Lease, minted Credential) Credential {
	if l.Standing() {
		return Credential{LeaseSecret: minted.LeaseSecret}
	}
	return minted
}

// mint calls a driver's Issue or Renew, and believes no answer that cannot be kept to.
func (b *Leaser) mint(ctx context.Context, ask func(context.Context, Access, Grant) (Minted, error), a Access, g Grant) (Minted, error) {
	ctx, cancel := b.call(ctx)
	defer cancel()
	m, err := ask(ctx, a, g)
	if err == nil && (m.Credential.Empty() || !m.ExpiresAt.After(b.now())) {
		err = &Error{
			Kind: ErrUnreachable, Detail: "the VIM issued a credential that is empty or has expired already",
			Remedy: "compare the VIM's clock with the broker's",
		}
	}
	for _, known := range []Credential{a.Credential, m.Credential} {
		if echo := echoes(known, m.UID, m.CredentialID, m.Unseen); echo != nil {
			m.UID, m.CredentialID, m.Unseen, err = "", "", "", echo
		}
	}
	return m, err
}

// recordIssue is record, once more with the present key where the VIM was sealed anew meanwhile.
func (b *Leaser) recordIssue(ctx context.Context, l Lease, m Minted, o *opened, act *audit.Act) (Lease, error) {
	stored, err := b.record(ctx, l, m, o, act)
	if !errors.Is(err, ErrConflict) {
		return stored, err
	}
	v, readErr := b.vims.VIM(ctx, l.VIM)
	g, there := v.generation(l.VIMGeneration)
	if readErr != nil || !there || g.Key == o.ref {
		return stored, err
	}
	again, openErr := b.open(ctx, v, g)
	if openErr != nil {
		return stored, err
	}
	defer again.close()
	return b.record(ctx, l, m, again, act)
}

// record makes a lease active, with its credential sealed and its true expiry. A
// write that took effect, and whose answer was lost, is seen by what it sealed.
func (b *Leaser) record(ctx context.Context, l Lease, m Minted, o *opened, act *audit.Act) (Lease, error) {
	held, err := o.holding(l, m)
	if err != nil {
		return Lease{}, err
	}
	expires := within(held.CredentialEndsAt, b.now().Add(l.ExpiresAt.Sub(l.CreatedAt)), l.MaxExpiresAt)
	if l.Standing() {
		expires = b.unusedUntil(l)
	}
	stored, err := b.leases.UpdateLease(ctx, l.ID, func(now *Lease) error {
		if now.State != LeasePending {
			return &Error{Kind: ErrConflict, Detail: "the lease was revoked while it was being issued"}
		}
		now.hold(held)
		now.State, now.IssuedAt, now.ExpiresAt = LeaseActive, b.now(), expires
		now.Stood, now.LeftBehind = m.Stood, notCompared(m.Unseen)
		return nil
	}, act.Done(audit.DetailExpiresAt, expires.Format(time.RFC3339), audit.DetailCredentialID, m.CredentialID))
	if err != nil {
		asking, cancel := b.cleanup(ctx)
		defer cancel()
		if now, lost := b.leases.Lease(asking, l.ID); lost == nil && now.State == LeaseActive && now.Sealed == held.Sealed {
			return now, nil
		}
	}
	return stored, err
}

// holding is a lease with what was minted for it, so that it can be taken back.
func (o *opened) holding(l Lease, m Minted) (Lease, error) {
	if m.Credential.Empty() {
		return l, nil
	}
	sealed, err := o.seal(l, m.Credential)
	if err != nil {
		return l, err
	}
	l.hold(Lease{
		CredentialKind: m.Credential.Kind, Unlisted: m.Unlisted, MaxRevocationLag: m.MaxRevocationLag, Sealed: sealed, SealedKey: o.ref,
		UID: m.UID, CredentialID: m.CredentialID, CredentialEndsAt: m.ExpiresAt.UTC().Truncate(time.Second),
	})
	return l, nil
}

func (l *Lease) hold(of Lease) {
	l.CredentialKind, l.Unlisted, l.MaxRevocationLag, l.Sealed, l.SealedKey = of.CredentialKind, of.Unlisted,
		of.MaxRevocationLag, of.Sealed, of.SealedKey
	l.UID, l.CredentialID, l.CredentialEndsAt = of.UID, of.CredentialID, of.CredentialEndsAt
}

// abort takes back what may have been minted for a lease that is not handed out; l
// holds it, as far as it is known: a project token can be revoked by nothing else.
// What it cannot do now, the reaper does: the row says so, and if even that could
// not be written the row is still pending, which the settle pass picks up.
func (b *Leaser) abort(ctx context.Context, l Lease, why Reason, e audit.Entry) {
	ctx, cancel := b.cleanup(ctx)
	defer cancel()
	stored, err := b.leases.UpdateLease(ctx, l.ID, func(now *Lease) error {
		if now.State == LeasePending || now.State == LeaseActive {
			now.State, now.Reason = LeaseRevoking, why
			now.IdempotencyKey = "" // nothing was handed out: a repeat may work
		}
		if now.State.Live() && now.Sealed == "" {
			now.hold(l)
		}
		now.NextAttemptAt = b.now()
		return nil
	}, e)
	if err != nil {
		b.log.ErrorContext(ctx, "an unfinished lease is left for the settle pass", "lease", l.ID, "error", err)
		// The write that makes the lease active may have taken effect, although its answer was lost.
		// A lease that is active stays usable: a repeat of the request is answered with it.
		if stored, err = b.leases.Lease(ctx, l.ID); err != nil || stored.State == LeaseActive {
			return
		}
	}
	failpoint.At("issue.aborting")
	if stored.Sealed == "" {
		stored.hold(l)
	}
	act, err := b.enter(ctx, system("reaper"), policy.LeaseRevoke, leaseResource(stored), policy.Wish{})
	if err != nil {
		b.log.ErrorContext(ctx, "an unfinished lease is left for the reaper", "lease", l.ID, "error", err)
		return
	}
	src := b.newSource(l.VIM)
	defer src.close()
	if _, err := b.takeBack(ctx, src, stored, act); err != nil {
		b.log.WarnContext(ctx, "an unfinished lease is left for the reaper", "lease", l.ID, "error", err)
	}
}

// mayPassThrough decides whether p may have the stored credential itself.
func (b *Leaser) mayPassThrough(ctx context.Context, p policy.Principal, v VIM, wish policy.Wish) error {
	err := b.enterToo(ctx, p, policy.LeasePassThrough, vimResource(v), wish)
	switch {
	case err == nil, errors.Is(err, ErrUnavailable):
		return err
	case v.Health.CanMint:
		return &Error{
			Kind: ErrDenied, Field: "credential", Detail: "policy does not let you have the VIM's stored credential itself",
			Remedy: "ask for a lease that is derived from it, or have a policy of the site permit " + string(policy.LeasePassThrough),
			Next:   NextExplain,
		}
	}
	return &Error{
		Kind: ErrUnsupported, Field: "vim",
		Detail: "no lease can be derived from the VIM's credential, and policy does not let you have it passed through: " + v.Health.MintMessage,
		Remedy: "give the credential the missing rights", Next: NextCheckVIM,
	}
}

// passThrough hands the stored credential itself out, where that was asked for or the VIM cannot
// mint, and policy says so.
func (b *Leaser) passThrough(
	ctx context.Context, p policy.Principal, v VIM, l Lease, wish policy.Wish, act *audit.Act,
) (Lease, clientconfig.Config, error) {
	fail := func(err error) (Lease, clientconfig.Config, error) {
		return Lease{}, clientconfig.Config{}, b.refuse(ctx, act, err)
	}
	if err := b.mayPassThrough(ctx, p, v, wish); err != nil {
		return fail(err)
	}
	o, err := b.open(ctx, v, v.Current)
	if err != nil {
		return fail(err)
	}
	defer o.close()
	b.passesThrough(&l)
	if end := v.Current.CredentialExpiresAt; !end.IsZero() && end.Before(l.ExpiresAt) {
		l.ExpiresAt = end
	}
	if !l.ExpiresAt.After(b.now()) {
		return fail(&Error{Kind: ErrUnauthorized, Field: "vim", Detail: "the VIM's credential has expired", Next: NextReplaceCredential})
	}
	act.With(audit.DetailLease, l.ID).With(audit.DetailReason, "passed through")
	if _, err := b.createLease(ctx, l, v, act); err != nil {
		if errors.Is(err, errMoved) {
			return Lease{}, clientconfig.Config{}, err
		}
		return fail(err)
	}
	stored, err := b.leases.UpdateLease(ctx, l.ID, func(now *Lease) error {
		if now.State != LeasePending {
			return &Error{Kind: ErrConflict, Detail: "the lease was revoked while it was being issued"}
		}
		now.State, now.IssuedAt, now.CredentialKind = LeaseActive, b.now(), o.Credential.Kind
		return nil
	}, act.Done(audit.DetailExpiresAt, l.ExpiresAt.Format(time.RFC3339)))
	if err != nil {
		return fail(err)
	}
	return stored, b.config(v, v.Current, stored, o.Credential), nil
}

// passesThrough says of a lease that it is the stored credential.
func (b *Leaser) passesThrough(l *Lease) {
	l.Derived, l.Revocable = false, false
	if _, grades := b.drivers[l.VIMType].(Grader); grades {
		l.Grade, l.GradeReasons = GradeUnbounded, []string{"the holder has the VIM's own credential, which works until it is replaced on the VIM"}
	}
}

// config is what the holder of a lease needs.
func (b *Leaser) config(v VIM, g Generation, l Lease, leased Credential) clientconfig.Config {
	stored := Credential{Kind: g.CredentialKind}
	return clientconfig.Config{
		VIM: v.Name, VIMID: v.ID, Lease: l.ID, Endpoint: g.Target.Endpoint, CACert: g.Target.CACert,
		InsecureSkipVerify: g.Target.InsecureSkipVerify, ServerName: g.Target.ServerName,
		Credential: leased, ExpiresAt: l.ExpiresAt,
		Client: b.drivers[v.Type].Client(b.access(v, g, stored), l.Namespaces, leased.Kind),
	}
}

// generation returns one of the VIM's generations by its number.
func (v VIM) generation(number int64) (Generation, bool) {
	if v.Current.Number == number {
		return v.Current, true
	}
	for _, g := range v.Past {
		if g.Number == number {
			return g, true
		}
	}
	return Generation{}, false
}
