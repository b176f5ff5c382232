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
// A standing lease hands out no credential. The configuration holds the lease's secret in the
// credential's place (LeaseSecret), under which [Broker.MintUnder] mints short tokens until the lease is
// revoked, was not used for Terms.StandingIdle, or is as old as Terms.StandingMax. The request's TTL is
// that of each token, Terms.StandingTTL at most. The broker tries the account on the VIM with a token
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

// sharedPause is the wait for a lease that is being issued to another.
const sharedPause = 100 * time.Millisecond

// IssueShared is IssueLease for a holder that asks again and again, under a key of what it asks for: it gets the same lease
// for half of its lifetime. One that has ended before is followed by another, one that is being issued is waited for.
func (b *Leaser) IssueShared(ctx context.Context, p policy.Principal, r LeaseRequest) (l Lease, config clientconfig.Config, err error) {
	key, turn := r.IdempotencyKey, b.now().UnixNano()/int64(r.TTL/2)
	for try := 0; try < 3; {
		r.IdempotencyKey = fmt.Sprintf("%s-%d-%d", key, turn, try)
		l, config, err = b.IssueLease(ctx, p, r)
		known, is := errors.AsType[*Error](err)
		switch {
		case !is || !errors.Is(known.Kind, ErrConflict):
			return l, config, err
		case known.RetryAfter == 0:
			try++
			continue
		}
		select {
		case <-time.After(sharedPause):
		case <-ctx.Done():
			return l, config, err
		}
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

// issuing is one request for a lease on its way to the answer.
type issuing struct {
	*Leaser
	kind    kind
	caller  policy.Principal
	request LeaseRequest
	vim     VIM
	driver  Driver
	grant   Grant
	lease   Lease
	// old is the lease whose place the new one takes; empty where it takes none.
	old Lease
	act *audit.Act
}

// issue is the protocol that all kinds of leases share. It is repeated ([decided]) where the VIM has changed
// since it was decided on.
func (b *Leaser) issue(ctx context.Context, p policy.Principal, r LeaseRequest) (Lease, clientconfig.Config, error) {
	fail := func(err error) (Lease, clientconfig.Config, error) { return Lease{}, clientconfig.Config{}, err }
	i, err := b.newIssuing(ctx, p, r)
	if err != nil {
		return fail(err)
	}
	least := narrowest(i.driver, i.lease.wish(i.grant.TTL))
	if i.act, err = b.enter(ctx, p, policy.LeaseIssue, vimResource(i.vim), least); err != nil {
		return fail(b.explainRefusal(err, p, i.vim, least, nil))
	}
	if old, config, err := i.repeated(ctx); err != nil || old.ID != "" {
		return old, config, err
	}
	if err := i.chooseKind(); err != nil {
		return fail(b.refuse(ctx, i.act, err))
	}
	if err := i.kind.admit(ctx, i); err != nil {
		return fail(err)
	}
	o, err := b.open(ctx, i.vim, i.vim.Current)
	if errors.Is(err, ErrConflict) { // another credential took its place meanwhile
		return fail(errMoved)
	}
	if err != nil {
		return fail(b.refuse(ctx, i.act, err))
	}
	defer o.close()
	if err := i.kind.decide(ctx, i, o); err != nil {
		return fail(err)
	}
	err = i.succeed(ctx)
	var created Lease
	if err == nil {
		created, err = i.create(ctx)
	}
	switch {
	case errors.Is(err, errMoved):
		return fail(err)
	case errors.Is(err, ErrExists): // the same key, or in the same place, at the same moment
		if old, config, err := i.repeated(ctx); err != nil || old.ID != "" {
			return old, config, err
		}
	}
	if err != nil {
		return fail(b.refuse(ctx, i.act, err))
	}
	i.lease = created
	failpoint.At("issue.intent")
	minted, err := i.kind.mint(ctx, i, o)
	if err != nil {
		return fail(err)
	}
	stored, err := i.kind.record(ctx, i, o, minted)
	if err != nil {
		return fail(err)
	}
	failpoint.At("issue.active")
	return stored, b.config(i.vim, i.vim.Current, stored, i.kind.handOut(minted.Credential)), nil
}

// newIssuing checks a request as far as that needs nobody's answer.
func (b *Leaser) newIssuing(ctx context.Context, p policy.Principal, r LeaseRequest) (*issuing, error) {
	v, err := b.findVIM(ctx, p, policy.LeaseIssue, r.VIM)
	if err != nil {
		return nil, err
	}
	i := &issuing{Leaser: b, caller: p, request: r, vim: v}
	if err := i.prepare(); err != nil {
		if !b.guard.Allows(p, policy.VIMShow, vimResource(v)) {
			err = b.refuseInvisible(ctx, p, policy.LeaseIssue, v)
		}
		return nil, err
	}
	i.lease = i.newLease()
	i.lease.Door = audit.DoorOf(ctx)
	return i, nil
}

// chooseKind settles the kind on the VIM as it is now, or says why none is issued there.
func (i *issuing) chooseKind() (err error) {
	if i.vim.Suspended != "" {
		return &Error{Kind: ErrConflict, Field: "vim", Detail: "no new lease is issued on the VIM: " + i.vim.Suspended}
	}
	if err := cmp.Or(issuable(i.vim), i.request.verifiable(i.vim.Current.Target)); err != nil {
		return err
	}
	i.kind, err = i.kind.on(i.vim)
	return err
}

// takeBackUnissued takes back what was minted for a lease that is not handed out because of err.
func (i *issuing) takeBackUnissued(ctx context.Context, o *opened, m Minted, why Reason, err error) {
	minted, _ := o.withMinted(i.lease, m) // what does not seal has its handle
	i.abort(ctx, minted, why, i.act.Failed(class(err)))
}

// create stores the intent to issue a lease, if the VIM is still the one that was decided on, and so is the
// lease whose place it takes; errMoved if either has changed.
func (i *issuing) create(ctx context.Context) (Lease, error) {
	q := i.terms.Quota
	q.VIMRevision, q.OldRevision = i.vim.Revision, i.old.Revision
	created, err := i.leases.CreateLease(ctx, i.lease, q, i.act.Intent())
	if errors.Is(err, ErrConflict) {
		if now, readErr := i.vims.VIM(ctx, i.vim.ID); readErr == nil && now.Revision != i.vim.Revision {
			return Lease{}, errMoved
		}
	}
	if known, ok := errors.AsType[*Error](err); ok && known.Field == "login" {
		return Lease{}, errMoved
	}
	return created, err
}

// prepare checks the request, fills in its defaults, and settles the grant.
func (i *issuing) prepare() (err error) {
	r := &i.request
	if i.driver, err = i.core.driver(i.vim.Type); err != nil {
		return err
	}
	if err := CheckIdempotencyKey(r.IdempotencyKey); err != nil {
		return err
	}
	for field, s := range map[string]string{"purpose": r.Purpose, "operation": r.Operation, "instance": r.Instance, "for": r.For} {
		if !shortText(s) {
			return Invalid(field, "must be at most 255 printable characters")
		}
	}
	if err := i.driver.Type().chooseFormat(&r.Format); err != nil {
		return err
	}
	if err := checkRules(i.driver, r); err != nil {
		return err
	}
	if i.kind, err = r.kind(); err != nil {
		return err
	}
	if err := i.kind.check(i.Leaser, i.caller, i.driver.Type(), *r); err != nil {
		return err
	}
	if r.TTL < 0 {
		return Invalid("ttl", "must not be negative")
	}
	usual, most := i.kind.lifetime(i.Leaser, i.caller)
	r.TTL = cmp.Or(r.TTL, usual)
	id := uuid.NewString()
	i.grant, err = i.driver.Prepare(Grant{
		Lease: id, Handle: "lease-" + id, TTL: min(r.TTL, most),
		Role: r.Role, Namespaces: slices.Clone(r.Namespaces), Purpose: r.Purpose,
		Rules: r.Rules, ClusterWide: r.ClusterWide, User: r.Credential == LeaseUser, Planned: r.Planned,
	})
	return err
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

func (i *issuing) newLease() Lease {
	now, v, p, r, g := i.now(), i.vim, i.caller, i.request, i.grant
	l := Lease{
		ID: g.Lease, VIM: v.ID, VIMName: v.Name, VIMType: v.Type, VIMProject: v.Project, VIMGeneration: v.Current.Number,
		Project: p.Project, Principal: p.Name, HolderRoles: p.Roles, Operation: r.Operation, Instance: r.Instance, For: r.For,
		Planned: r.Planned, State: LeasePending,
		Role: g.Role, Namespaces: g.Namespaces, Rules: g.Rules, ClusterWide: g.ClusterWide, Format: r.Format, Purpose: r.Purpose,
		CreatedAt: now, ExpiresAt: now.Add(g.TTL), MaxExpiresAt: now.Add(i.terms.MaxTTL),
		Derived: true, Revocable: true, Handle: g.Handle,
		IdempotencyKey: r.IdempotencyKey,
	}
	if r.IdempotencyKey != "" {
		l.RequestDigest = leaseDigest(v.ID, r, g)
	}
	i.kind.complete(i.Leaser, p, &l, g)
	return l
}

func issuable(v VIM) error {
	switch {
	case v.State != VIMRegistered:
		return &Error{Kind: ErrConflict, Field: "vim", Detail: "the VIM is being deleted"}
	case v.Health.Status == HealthIdentityChanged:
		return &Error{Kind: ErrConflict, Field: "vim", Detail: v.Health.Message}
	}
	return nil
}

// repeated answers a repeat of an earlier request; it is empty when this is none.
func (i *issuing) repeated(ctx context.Context) (Lease, clientconfig.Config, error) {
	fail := func(err error) (Lease, clientconfig.Config, error) { return Lease{}, clientconfig.Config{}, err }
	refuse := func(err error) (Lease, clientconfig.Config, error) { return fail(i.refuse(ctx, i.act, err)) }
	old, err := i.before(ctx)
	switch {
	case errors.Is(err, ErrNotFound), err == nil && i.follow(old):
		return fail(nil)
	case err != nil:
		return refuse(err)
	case old.State == LeasePending:
		return refuse(i.notEnded(old.CreatedAt))
	}
	g, ok := i.vim.generation(old.VIMGeneration)
	if !ok || old.State != LeaseActive || !i.now().Before(old.ExpiresAt) {
		return refuse(&Error{
			Kind: ErrConflict, Field: "Idempotency-Key", Detail: "the lease that was issued for it has ended", Remedy: "use a new key",
		})
	}
	if err := i.request.verifiable(g.Target); err != nil {
		return refuse(err)
	}
	o, err := i.open(ctx, i.vim, g)
	if err != nil {
		return refuse(err)
	}
	defer o.close()
	kind := old.kind()
	credential, err := kind.again(ctx, i, o, old)
	if err != nil {
		return fail(err)
	}
	if err := i.entries.Append(ctx, i.act.With(audit.DetailLease, old.ID).Done(audit.DetailReason, sameRequest)); err != nil {
		return fail(err)
	}
	return old, i.config(i.vim, g, old, kind.handOut(credential)), nil
}

// mint calls a driver's Issue or Renew, and accepts no answer that cannot be kept to.
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
	minted, err := o.withMinted(l, m)
	if err != nil {
		return Lease{}, err
	}
	expires := l.kind().ends(b, l, minted.CredentialEndsAt)
	stored, err := b.leases.UpdateLease(ctx, l.ID, func(now *Lease) error {
		now.takeMinted(minted)
		now.ExpiresAt, now.Stood, now.LeftBehind = expires, m.Stood, notCompared(m.Unseen)
		return b.activate(now)
	}, act.Done(audit.DetailExpiresAt, expires.Format(time.RFC3339), audit.DetailCredentialID, m.CredentialID))
	if err != nil {
		asking, cancel := b.cleanup(ctx)
		defer cancel()
		if now, lost := b.leases.Lease(asking, l.ID); lost == nil && now.State == LeaseActive && now.Sealed == minted.Sealed {
			return now, nil
		}
	}
	return stored, err
}

func (b *Leaser) activate(now *Lease) error {
	if now.State != LeasePending {
		return &Error{Kind: ErrConflict, Detail: "the lease was revoked while it was being issued"}
	}
	now.State, now.Reason, now.IssuedAt = LeaseActive, "", b.now()
	return nil
}

// withMinted is a lease with what was minted for it, so that it can be taken back.
func (o *opened) withMinted(l Lease, m Minted) (Lease, error) {
	if m.Credential.Empty() {
		return l, nil
	}
	sealed, err := o.seal(l, m.Credential)
	if err != nil {
		return l, err
	}
	l.takeMinted(Lease{
		CredentialKind: m.Credential.Kind, Unlisted: m.Unlisted, MaxRevocationLag: m.MaxRevocationLag, Sealed: sealed, SealedKey: o.ref,
		UID: m.UID, CredentialID: m.CredentialID, CredentialEndsAt: m.ExpiresAt.UTC().Truncate(time.Second),
	})
	return l, nil
}

// takeMinted takes over what another copy of the lease says of its newest credential.
func (l *Lease) takeMinted(of Lease) {
	l.CredentialKind, l.Unlisted, l.MaxRevocationLag, l.Sealed, l.SealedKey = of.CredentialKind, of.Unlisted,
		of.MaxRevocationLag, of.Sealed, of.SealedKey
	l.UID, l.CredentialID, l.CredentialEndsAt = of.UID, of.CredentialID, of.CredentialEndsAt
}

// abort takes back what may have been minted for a lease that is not handed out; l
// holds it, as far as it is known: a project token can be revoked by nothing else.
// The reaper finishes it: the row says so, and if even that could
// not be written the row is still pending, which the settle pass picks up.
func (b *Leaser) abort(ctx context.Context, l Lease, why Reason, e audit.Entry) {
	ctx, cancel := b.cleanup(ctx)
	defer cancel()
	stored, err := b.leases.UpdateLease(ctx, l.ID, func(now *Lease) error {
		if now.State == LeasePending || now.State == LeaseActive {
			now.State, now.Reason = LeaseRevoking, cmp.Or(now.Reason, why)
			now.freeKey()
		}
		if now.State.Live() && now.Sealed == "" {
			now.takeMinted(l)
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
		stored.takeMinted(l)
	}
	act, err := b.enter(ctx, system("reaper"), policy.LeaseRevoke, leaseResource(stored), policy.Wish{})
	if err != nil {
		b.log.ErrorContext(ctx, "an unfinished lease is left for the reaper", "lease", l.ID, "error", err)
		return
	}
	session := b.newSession(l.VIM)
	defer session.close()
	if _, err := b.takeBack(ctx, session, stored, act); err != nil {
		b.log.WarnContext(ctx, "an unfinished lease is left for the reaper", "lease", l.ID, "error", err)
	}
}

// freeKey lets a repeat of a request work for which nothing was handed out. The key of a lease that follows another is that
// one's, whose holder has it.
func (l *Lease) freeKey() {
	if !l.Follows() {
		l.IdempotencyKey = ""
	}
}

// mayPassThrough decides whether p may have the stored credential itself.
func (b *Leaser) mayPassThrough(ctx context.Context, p policy.Principal, v VIM, wish policy.Wish) error {
	err := b.enterExtra(ctx, p, policy.LeasePassThrough, vimResource(v), wish)
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

func (b *Leaser) config(v VIM, g Generation, l Lease, leased Credential) clientconfig.Config {
	stored := Credential{Kind: g.CredentialKind}
	return clientconfig.Config{
		VIM: v.Name, VIMID: v.ID, Lease: l.ID, Endpoint: g.Target.Endpoint, CACert: g.Target.CACert,
		InsecureSkipVerify: g.Target.InsecureSkipVerify, ServerName: g.Target.ServerName,
		Credential: leased, ExpiresAt: l.ExpiresAt,
		Client: b.drivers[v.Type].Client(b.access(v, g, stored), l.Namespaces, leased.Kind),
	}
}

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
