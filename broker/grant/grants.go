package grant

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Options wire [Grants]. Fields without a stated default are required.
type Options struct {
	Store   Store
	Leases  Leases
	Clients Clients
	VNFM    VNFM
	// Lend is that of [asset.Assets].
	Lend func(ctx context.Context, p policy.Principal, kind policy.Kind, ref string, on ...broker.VIM) (asset.Asset, error)
	// Guard is the server's, whose sink is the store.
	Guard *audit.Guard
	// Egress gives the addresses of VNFMs that may be asked for a project.
	Egress func(project string) *egress.Rules
	Log    *slog.Logger
	// Later: a request is answered before it is decided on, and the request that reads the grant
	// has it decided.
	Later bool
	// Standing: the server mints tokens under standing leases. Otherwise none is lent.
	Standing bool
	// IssuerCA gives the authorities (PEM) by which VNFMs verify the token endpoint; empty: none is
	// known, and no standing lease is lent. Nil: the endpoint is plain HTTP, on loopback.
	IssuerCA func() string
	// PerClient bounds the grants that are kept of one client; 0 is no bound.
	PerClient int
	// Patience is how long a repeat waits for the answer to the first request; it defaults to 20 s.
	Patience time.Duration
	// Now defaults to time.Now.
	Now func() time.Time
}

// Leases is [broker.Leaser] as this package uses it.
type Leases interface {
	IssueLease(ctx context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error)
	// EndLeases has leases end without waiting for any VIM.
	EndLeases(ctx context.Context, p policy.Principal, s broker.LeaseSelector) error
	Ended(ctx context.Context, lease string) (bool, broker.Reason, error)
	// Replaceable reports whether another lease can take the place of one that has ended.
	Replaceable(ctx context.Context, lease string) (bool, error)
}

// Clients knows the client that a principal is; [oauth.Clients] does.
type Clients interface {
	Acting(ctx context.Context, p policy.Principal) (oauth.Client, error)
}

// VNFM queries a VNFM about its operations.
type VNFM interface {
	// OperationState returns the operationState of the operation occurrence at a URL, where the
	// rules let it be asked. An error says that the state cannot be learnt now.
	OperationState(ctx context.Context, url string, rules *egress.Rules) (string, error)
}

var (
	_ Leases  = (*broker.Leaser)(nil)
	_ Clients = (*oauth.Clients)(nil)
)

// Grants decides on grants. Its methods are safe for concurrent use, by any number of processes on
// one store. Each decides and records for the principal that it is given.
type Grants struct {
	Options
	desk broker.Desk
	// turns has a channel for each grant that is being decided on here, which is closed when that ends.
	turns map[string]chan struct{}
	mu    sync.Mutex // of turns
}

// New returns Grants; it starts nothing.
func New(o Options) *Grants {
	o.Now, o.Patience = broker.Clock(o.Now), cmp.Or(o.Patience, defaultPatience)
	return &Grants{Options: o, desk: broker.Desk{Guard: o.Guard, Log: o.Log, Missing: gone}, turns: map[string]chan struct{}{}}
}

// DefaultPerClient is the bound of an operator who sets none.
const DefaultPerClient = 10_000

// defaultPatience is less than VNFMs wait for an answer.
const defaultPatience = 20 * time.Second

// decideTime is how long a grant may be decided on. An older one belongs to a process that died, or
// to a VNFM that has given up.
const decideTime = 10 * time.Minute

// Request grants a client an operation, or says why not: [broker.ErrDenied]. A repeat is answered with
// the same grant and, while its lease lives, the same connection; with another body it is
// [broker.ErrConflict]. One that meets the first waits for it; if that takes too long, or if another
// process decides, it is [broker.ErrUnavailable]. If another system cannot be queried now the grant stays
// Deciding, and a repeat resumes the decision. If grants are decided on later, a grant that is Deciding is
// answered at once.
func (g *Grants) Request(ctx context.Context, p policy.Principal, r GrantRequest) (Grant, Loan, error) {
	fail := func(err error) (Grant, Loan, error) { return Grant{}, Loan{}, err }
	id, err := uuid.NewV7()
	if err != nil {
		return fail(err)
	}
	made := Grant{ID: id.String(), Project: p.Project, Request: r, State: Deciding, CreatedAt: g.Now(), Revision: 1}
	made.Maker = made.ID
	res := made.Resource()
	res.Owner = p.Name
	act, err := g.desk.Enter(ctx, p, policy.GrantRequest, res)
	if err != nil {
		return fail(err)
	}
	act.With(audit.DetailOperation, r.ID).With(audit.DetailInstance, r.Instance).With(audit.DetailVNFD, r.VNFD)
	if err := r.check(); err != nil {
		return fail(g.desk.Refuse(ctx, act, err))
	}
	client, err := g.Clients.Acting(ctx, p)
	if err != nil {
		return fail(g.desk.Refuse(ctx, act, err))
	}
	made.Client = client.ID
	if old, err := g.Store.VNFGrantOf(ctx, client.ID, r.ID); !errors.Is(err, broker.ErrNotFound) {
		return g.repeat(ctx, p, old, err, r, act)
	}
	err = g.place(ctx, p, client, &made, act)
	if err == nil {
		_, err = g.usable(made)
	}
	if err != nil {
		return fail(g.desk.Refuse(ctx, act, err))
	}
	if made.Digest, err = r.digest(made.ID); err != nil {
		return fail(g.desk.Refuse(ctx, act, err))
	}
	made.Followed, made.LookAt = true, made.CreatedAt.Add(decideTime)
	if err := g.create(ctx, made, act); errors.Is(err, broker.ErrExists) { // at the same moment
		old, err := g.Store.VNFGrantOf(ctx, client.ID, r.ID)
		return g.repeat(ctx, p, old, err, r, act)
	} else if err != nil {
		return fail(g.desk.Refuse(ctx, act, err))
	}
	failpoint.At("grant.intent")
	if g.Later {
		return made, Loan{}, nil
	}
	return g.decide(ctx, p, made, act)
}

// create stores a grant. If its client has reached its limit, grants that lend nothing any more make
// room.
func (g *Grants) create(ctx context.Context, made Grant, act *audit.Act) error {
	err := g.Store.CreateVNFGrant(ctx, made, g.PerClient, act.Intent())
	if !errors.Is(err, broker.ErrQuota) {
		return err
	}
	if n, forgetting := g.Store.ForgetVNFGrants(ctx, made.Client, made.CreatedAt, forgetAtOnce); forgetting != nil {
		return forgetting
	} else if n == 0 {
		return err
	}
	return g.Store.CreateVNFGrant(ctx, made, g.PerClient, act.Intent())
}

func (g *Grants) repeat(
	ctx context.Context, p policy.Principal, old Grant, err error, r GrantRequest, act *audit.Act,
) (Grant, Loan, error) {
	var digest string
	if err == nil {
		digest, err = r.digest(old.ID)
	}
	if err == nil && old.Digest != digest {
		err = &broker.Error{
			Kind: broker.ErrConflict, Field: "vnfLcmOpOccId", Detail: "a grant was asked for this operation with another request",
			Remedy: "ask under the operation's own id",
		}
	}
	if err != nil {
		return Grant{}, Loan{}, g.desk.Refuse(ctx, act, err)
	}
	if old.State == Deciding && g.Later {
		return old, Loan{}, nil
	}
	return g.decide(ctx, p, old, act)
}

// Grant returns one by its id, with its connection while its lease lives. One that is Deciding is
// decided on.
func (g *Grants) Grant(ctx context.Context, p policy.Principal, id string) (Grant, Loan, error) {
	fail := func(err error) (Grant, Loan, error) { return Grant{}, Loan{}, err }
	found, err := broker.Find(ctx, g.desk, p, policy.GrantShow, policy.KindGrant, id, g.Store.VNFGrant)
	if err != nil {
		return fail(err)
	}
	act, err := g.desk.Enter(ctx, p, policy.GrantShow, found.Resource())
	if err != nil {
		return fail(err)
	}
	if p.Name != holder(found.Client) { // others see that it is there, and have no use for it
		return fail(g.desk.Refuse(ctx, act, &broker.Error{
			Kind: broker.ErrDenied, Detail: "a grant is shown only to the client that it was given to",
		}))
	}
	return g.decide(ctx, p, found, act)
}

// place says what the grant lends: what the instance has, or the like where that has ended, or what the
// client's placements say of one that is not known.
func (g *Grants) place(ctx context.Context, p policy.Principal, client oauth.Client, made *Grant, act *audit.Act) error {
	if made.Request.Type != Instantiate {
		held, err := g.Store.HoldingVNFGrant(ctx, client.ID, made.Request.Instance)
		switch {
		case errors.Is(err, broker.ErrNotFound):
		case err != nil:
			return err
		default:
			var goesOn bool
			if goesOn, made.Resumes, err = g.goesOn(ctx, p, held); err != nil {
				return err
			}
			made.Placement = held.Placement
			if goesOn {
				made.Maker = held.ID
				return nil
			}
			// The VIM itself: by now another may have its name, or be the default.
			made.Placement.VIM, made.Holds = held.VIM, made.stands()
			return nil
		}
	}
	found, ok := client.Place(oauth.Ask{VNFD: made.Request.VNFD, Instance: made.Request.Instance, Parameters: made.Request.Parameters})
	if !ok {
		act.With(audit.DetailReason, "no placement of the client matches")
		return &broker.Error{
			Kind:   broker.ErrDenied,
			Detail: "no placement of the client " + client.Name + " matches the request: it is not known which VIM it is for",
			Remedy: "have a placement for its VNFD, instance or parameters added to the client",
		}
	}
	made.Placement = found
	made.Holds = made.stands()
	return nil
}

// usable refuses to lend a lease under which no tokens can be fetched, or whose secret a VNFM would send
// to a token endpoint that it cannot verify. It returns the authorities of an https endpoint.
func (g *Grants) usable(one Grant) (issuerCA string, err error) {
	switch {
	case !one.Placement.Profile.Fetches():
		return "", nil
	case !g.Standing:
		return "", &broker.Error{
			Kind: broker.ErrUnsupported, Detail: "the server gives no tokens under leases: it has no issuer",
			Remedy: "have the operator set oauth.issuer, or the client's placement lend a token",
		}
	case g.IssuerCA == nil:
		return "", nil
	}
	if issuerCA = g.IssuerCA(); issuerCA == "" {
		return "", &broker.Error{
			Kind: broker.ErrUnsupported,
			Detail: "the server does not know the authority of its own certificate, by which the VNFM has to verify " +
				"the token endpoint",
			Remedy: "have the operator set oauth.caFile, or the client's placement lend a token",
		}
	}
	return issuerCA, nil
}

// goesOn reports whether the lease of an instance lives, or another takes its place. A revoked lease cuts the instance
// off: then another needs a right of its own, and resumes it.
func (g *Grants) goesOn(ctx context.Context, p policy.Principal, held Grant) (goesOn, resumes bool, err error) {
	if held.Lease == "" {
		return held.State == Deciding, false, nil
	}
	ended, reason, err := g.Leases.Ended(ctx, held.Lease)
	switch {
	case errors.Is(err, broker.ErrNotFound):
		return false, false, nil
	case err != nil || !ended:
		return err == nil, false, err
	}
	if resumes = reason == broker.ReasonRequested; resumes && !g.Guard.Allows(p, policy.GrantResume, held.Resource()) {
		return false, false, &broker.Error{
			Kind: broker.ErrDenied, Detail: "the lease " + held.Lease + " of the instance was revoked",
			Remedy: "have a policy of the site permit " + string(policy.GrantResume) + " to the client, or instantiate the instance anew",
		}
	}
	goesOn, err = g.Leases.Replaceable(ctx, held.Lease)
	return goesOn, resumes, err
}

// decide decides on a grant, after whoever does so now in this process.
func (g *Grants) decide(ctx context.Context, p policy.Principal, one Grant, act *audit.Act) (Grant, Loan, error) {
	if one.State != Deciding {
		return g.conclude(ctx, p, one, act)
	}
	waited, leave, err := g.turn(ctx, one.ID)
	if err == nil {
		defer leave()
		if waited {
			one, err = g.Store.VNFGrant(ctx, one.ID)
		}
	}
	if err != nil {
		return Grant{}, Loan{}, g.desk.Refuse(ctx, act, err)
	}
	return g.conclude(ctx, p, one, act)
}

// turn waits until nobody else in this process decides on a grant, and reports whether somebody did.
// Whoever calls leave has the next one decide.
func (g *Grants) turn(ctx context.Context, id string) (waited bool, leave func(), err error) {
	patience := time.NewTimer(g.Patience)
	defer patience.Stop()
	for {
		g.mu.Lock()
		busy, taken := g.turns[id]
		if !taken {
			mine := make(chan struct{})
			g.turns[id] = mine
			g.mu.Unlock()
			return waited, func() {
				g.mu.Lock()
				delete(g.turns, id)
				g.mu.Unlock()
				close(mine)
			}, nil
		}
		g.mu.Unlock()
		waited = true
		select {
		case <-busy:
		case <-patience.C:
			return true, nil, underWay(time.Second, nil)
		case <-ctx.Done():
			return true, nil, ctx.Err()
		}
	}
}

func underWay(again time.Duration, cause error) error {
	return &broker.Error{
		Kind: broker.ErrUnavailable, Detail: "the first request for a grant for this operation is not answered yet",
		Remedy: "repeat the request later", RetryAfter: again, Cause: cause,
	}
}

// conclude issues the lease of a grant, or the same again, and records what became of it.
func (g *Grants) conclude(ctx context.Context, p policy.Principal, one Grant, act *audit.Act) (Grant, Loan, error) {
	fail := func(err error) (Grant, Loan, error) { return Grant{}, Loan{}, err }
	connection, err := g.lend(ctx, p, one, act)
	if err != nil {
		return fail(err)
	}
	failpoint.At("grant.leased")
	links, err := g.links(ctx, p, one, connection.Lease.VIM, one.Placement.Links)
	managed, wrong := g.links(ctx, p, one, connection.Lease.VIM, one.Placement.ManagedLinks)
	if err = cmp.Or(err, wrong); err != nil {
		return fail(g.failed(ctx, one, act, err))
	}
	if one.State != Deciding {
		if err := act.Read(ctx); err != nil {
			return fail(broker.Unrecorded(err))
		}
		return one, connection, nil
	}
	stored, err := g.Store.UpdateVNFGrant(ctx, one.ID, func(now *Grant) error {
		switch now.State {
		case Granted: // by another answer to the same request
			return errDecided
		case Refused:
			return errRefused
		}
		now.State, now.DecidedAt = Granted, g.Now()
		now.Lease, now.VIM, now.VIMName = connection.Lease.ID, connection.Lease.VIM, connection.Lease.VIMName
		now.Links, now.ManagedLinks = links, managed
		now.Followed, now.LookAt = true, now.DecidedAt.Add(firstLook)
		if !now.Request.askable() {
			now.LookAt = now.DecidedAt.Add(followFor)
		}
		return nil
	}, act.Done(audit.DetailLease, connection.Lease.ID, audit.DetailVIM, connection.Lease.VIM, audit.DetailVIMName, connection.Lease.VIMName))
	switch {
	case errors.Is(err, errDecided):
		stored, err = g.Store.VNFGrant(ctx, one.ID)
	case errors.Is(err, errRefused):
		err = g.tooLate(ctx, one)
	}
	if err != nil {
		return fail(g.desk.Refuse(ctx, act, err))
	}
	failpoint.At("grant.granted")
	return stored, connection, nil
}

// connects are the operations whose grants name networks.
var connects = []GrantedOperation{Instantiate, "CHANGE_FLAVOUR", "CHANGE_EXT_CONN", "CHANGE_VNFPKG"}

// links finds the virtual links that the placement of a grant in the making names, which the client must be allowed to use.
func (g *Grants) links(
	ctx context.Context, p policy.Principal, one Grant, vim string, named map[string]string,
) (map[string]asset.Asset, error) {
	if one.State != Deciding || !slices.Contains(connects, one.Request.Type) {
		return nil, nil
	}
	all := map[string]asset.Asset{}
	for name, ref := range named {
		l, err := g.Lend(ctx, p, policy.KindLink, ref, broker.VIM{ID: vim})
		if errors.Is(err, broker.ErrNotFound) || err == nil && l.Made.Network == "" {
			err = &broker.Error{
				Kind: broker.ErrDenied, Detail: "the placement names " + ref + ", which is no virtual link on a cloud that the client sees",
				Remedy: "name one of the client's project, or one that is shared with it",
			}
		}
		if err != nil {
			return nil, err
		}
		all[name] = l
	}
	return all, nil
}

// lend issues the lease of a grant, or the same again.
func (g *Grants) lend(ctx context.Context, p policy.Principal, one Grant, act *audit.Act) (Loan, error) {
	if one.State == Refused {
		return Loan{}, g.desk.Refuse(ctx, act, denied(one))
	}
	issuerCA, err := g.usable(one)
	maker := one
	if err == nil && one.Maker != one.ID {
		maker, err = g.Store.VNFGrant(ctx, one.Maker)
	}
	if err != nil {
		return Loan{}, g.desk.Refuse(ctx, act, err)
	}
	connection := Loan{Client: one.Client}
	if err = g.stillThere(ctx, one, maker); err == nil {
		wish := maker.lease()
		wish.Resumed = one.Resumes && one.State == Deciding
		wish.Verified = issuerCA != ""
		connection.Lease, connection.Config, err = g.Leases.IssueLease(ctx, p, wish)
	}
	if err != nil {
		return Loan{}, g.failed(ctx, one, act, err)
	}
	if issuerCA != "" { // a VNFM has one bundle, for the VIM and for the token endpoint
		connection.Config.CACert = remote.Certificates(connection.Config.CACert, issuerCA)
	}
	return connection, nil
}

// stillThere refuses a lease that has ended, unless the grant is to have another take its place: what was granted is not
// issued again. An empty id is that of a lease that is yet to be issued.
func (g *Grants) stillThere(ctx context.Context, one, maker Grant) error {
	lease := cmp.Or(one.Lease, maker.Lease)
	if lease == "" {
		return nil
	}
	ended, _, err := g.Leases.Ended(ctx, lease)
	if ended && err == nil && one.State == Deciding {
		if follows, err := g.Leases.Replaceable(ctx, lease); follows || err != nil {
			return err
		}
	}
	if ended || errors.Is(err, broker.ErrNotFound) {
		return &broker.Error{Kind: broker.ErrConflict, Detail: "the lease " + lease + " of the instance has ended"}
	}
	return err
}

var errDecided, errRefused = errors.New("decided already"), errors.New("refused meanwhile")

// tooLate revokes the lease that was issued for a grant that was refused meanwhile, and returns the
// reason of the refusal. The next look at the grant retries a revocation that fails now.
func (g *Grants) tooLate(ctx context.Context, one Grant) error {
	now, err := g.Store.VNFGrant(ctx, one.ID)
	if err != nil {
		return err
	}
	if err := g.takeBack(context.WithoutCancel(ctx), now); err != nil {
		g.Log.WarnContext(ctx, "the lease of a grant that was refused meanwhile waits for the next look at it", "grant", one.ID, "error", err)
	}
	return denied(now)
}

// failed settles a grant whose lease could not be issued. A cause that may pass leaves the grant
// unchanged.
func (g *Grants) failed(ctx context.Context, one Grant, act *audit.Act, why error) error {
	known, ok := errors.AsType[*broker.Error](why)
	if ok && known.RetryAfter > 0 && errors.Is(known.Kind, broker.ErrConflict) { // the key of the lease is in use
		return g.desk.Refuse(ctx, act, underWay(known.RetryAfter, why))
	}
	if !ok || one.State != Deciding || known.RetryAfter > 0 {
		return g.desk.Refuse(ctx, act, g.lost(one, why))
	}
	for _, final := range []error{broker.ErrDenied, broker.ErrNotFound, broker.ErrInvalid, broker.ErrUnsupported, broker.ErrConflict} {
		if !errors.Is(why, final) {
			continue
		}
		stored, err := g.Store.UpdateVNFGrant(ctx, one.ID, func(now *Grant) error {
			if now.State != Deciding { // by another answer to the same request
				return errDecided
			}
			now.refuse(known.Error(), g.Now())
			return nil
		}, act.Failed(known.Kind.Error()))
		switch {
		case errors.Is(err, errDecided):
			return g.desk.Refuse(ctx, act, underWay(time.Second, why))
		case err != nil:
			return g.desk.Refuse(ctx, act, err)
		}
		return denied(stored)
	}
	return g.desk.Refuse(ctx, act, why)
}

// lost explains that the lease of a grant that was given is not to be had again.
func (g *Grants) lost(one Grant, why error) error {
	if one.State == Deciding || !errors.Is(why, broker.ErrConflict) {
		return why
	}
	return &broker.Error{
		Kind: broker.ErrDenied, Detail: "the lease " + one.Lease + " of the grant has ended",
		Remedy: "ask for a grant for another operation", Cause: why,
	}
}

func denied(one Grant) error { return &broker.Error{Kind: broker.ErrDenied, Detail: one.Refusal} }

func gone() error { return &broker.Error{Kind: broker.ErrNotFound, Detail: "no such grant"} }
