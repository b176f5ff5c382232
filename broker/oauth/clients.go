package oauth

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Options wire [Clients]. Every field without a stated default is required.
type Options struct {
	Store Store
	// Leases ends what was issued to a client.
	Leases Leases
	// Guard is the server's, whose sink is the store.
	Guard *audit.Guard
	Log   *slog.Logger
	// PerProject bounds the clients of a project; zero means no bound.
	PerProject int
	// Authorities signed the certificates that clients log in with. It is asked at each login; its
	// answer may be nil, and so may it be: then no client logs in by a certificate.
	Authorities func() *x509.CertPool
	// Now defaults to time.Now.
	Now func() time.Time
}

// Leases is [broker.Leaser] as this package uses it.
type Leases interface {
	RevokeLeases(ctx context.Context, p policy.Principal, s broker.LeaseSelector) ([]broker.Lease, error)
	WeighLease(ctx context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, error)
}

const (
	// DefaultPerProject bounds the clients of a project where an operator sets nothing.
	DefaultPerProject = 100
	// DefaultOverlap is how long a secret is taken after it was replaced, unless a caller
	// says otherwise; MaxOverlap bounds what he may say.
	DefaultOverlap = 24 * time.Hour
	MaxOverlap     = 30 * 24 * time.Hour
	maxRoles       = 16
)

// Clients keeps clients. Its methods are safe for concurrent use, by any number of processes
// on one store. Each decides and records for the principal that it is given.
type Clients struct {
	Options
	desk broker.Desk
}

var _ policy.Directory = (*Clients)(nil)

// New returns Clients; it starts nothing.
func New(o Options) *Clients {
	if o.Authorities == nil {
		o.Authorities = func() *x509.CertPool { return nil }
	}
	o.Now = broker.Clock(o.Now)
	return &Clients{o, broker.Desk{Guard: o.Guard, Log: o.Log, Missing: gone}}
}

// NewClient holds the values of a new client.
type NewClient struct {
	Name string
	// Project is the one it acts in; empty means the caller's.
	Project    string
	Roles      []string
	Placements []Placement
	// Certificate is the certificate for its logins; without one it gets a secret.
	Certificate Certificate
}

func (r NewClient) check() error {
	if !policy.ValidName(r.Name) {
		return broker.Invalid("name", `must be 1 to 128 letters, digits and "._@-"`)
	}
	if !policy.ValidName(r.Project) {
		return broker.Invalid("project", `must be 1 to 128 letters, digits and "._@-"`)
	}
	if len(r.Roles) == 0 || len(r.Roles) > maxRoles {
		return broker.Invalid("roles", "must be one to %d roles", maxRoles)
	}
	for _, role := range r.Roles {
		if role == policy.RoleSystem || !policy.ValidName(role) {
			return broker.Invalid("roles", `each must be 1 to 128 letters, digits and "._@-", and not %q`, policy.RoleSystem)
		}
	}
	return nil
}

// Create registers a client and makes its secret, which is shown once; a client that logs in by
// a certificate has none. Giving it more than a project's administrator has needs an
// administrator, by the built-in policies.
func (c *Clients) Create(ctx context.Context, p policy.Principal, r NewClient) (Client, secret.Text, error) {
	fail := func(err error) (Client, secret.Text, error) { return Client{}, secret.Text{}, err }
	if r.Project == "" {
		r.Project = p.Project
	}
	now := c.Now()
	made := Client{
		ID: uuid.NewString(), Name: r.Name, Project: r.Project, State: Active, Roles: slices.Compact(slices.Sorted(slices.Values(r.Roles))),
		Placements: r.Placements, Certificate: r.Certificate,
		CreatedBy: p.Name, CreatedAt: now, UpdatedAt: now, RotatedAt: now, Revision: 1,
	}
	act, err := c.desk.Enter(ctx, p, policy.ClientCreate, broker.InProject(made.Project))
	if err != nil {
		return fail(err)
	}
	if err = r.check(); err == nil {
		err = c.takable(r.Certificate)
	}
	if err != nil {
		return fail(c.desk.Refuse(ctx, act, err))
	}
	if act, err = c.desk.Enter(ctx, p, policy.ClientCreate, made.Resource()); err != nil {
		return fail(err)
	}
	if err := c.placeable(ctx, made); err != nil {
		return fail(c.desk.Refuse(ctx, act, err))
	}
	var plain secret.Text
	if made.Certificate.None() {
		plain, made.SHA256 = newSecret()
	}
	if err := c.Store.CreateClient(ctx, made, c.PerProject, act.Done(about(made)...)); err != nil {
		return fail(c.desk.Refuse(ctx, act, err))
	}
	return made, plain, nil
}

// Client returns one by its id.
func (c *Clients) Client(ctx context.Context, p policy.Principal, id string) (Client, error) {
	found, err := c.find(ctx, p, policy.ClientShow, id)
	if err != nil {
		return Client{}, err
	}
	return found, c.desk.Read(ctx, p, policy.ClientShow, found.Resource())
}

// Query selects clients. Empty fields select all.
type Query struct {
	Name string
	broker.Page
}

// Clients returns a page of the clients that p may see, by project and name, and the next
// page's token. A page may hold fewer than was asked for, and even none, while there is a
// next one.
func (c *Clients) Clients(ctx context.Context, p policy.Principal, q Query) ([]Client, string, error) {
	page, err := q.Page.Valid()
	if err != nil {
		return nil, "", err
	}
	if err := c.desk.Read(ctx, p, policy.ClientShow, broker.InProject(p.Project)); err != nil {
		return nil, "", err
	}
	f := Filter{Project: p.Project, Name: q.Name, Page: page}
	if c.Guard.Allows(p, policy.ClientShow, broker.InProject("*")) {
		f.Project = ""
	}
	found, next, err := c.Store.Clients(ctx, f)
	if err != nil {
		return nil, "", err
	}
	return slices.DeleteFunc(found, func(one Client) bool { return !c.Guard.Allows(p, policy.ClientShow, one.Resource()) }), next, nil
}

// Rotation says how a secret is replaced.
type Rotation struct {
	// Overlap is the time for which the previous secret is still accepted; nil means
	// [DefaultOverlap], and zero ends it at once.
	Overlap *time.Duration
	// RevokeLeases: somebody else may have the secret. The secret ends at once, and so
	// does every lease of the client.
	RevokeLeases bool
	// Certificate is the client's new certificate for logins, in place of its secret or of
	// another certificate, which ends at once. None makes a secret, for a client that has one.
	Certificate Certificate
}

func (r Rotation) overlap() (time.Duration, error) {
	switch {
	case r.Overlap == nil && r.RevokeLeases:
		return 0, nil
	case r.Overlap == nil:
		return DefaultOverlap, nil
	case *r.Overlap < 0 || *r.Overlap > MaxOverlap:
		return 0, broker.Invalid("overlap", "must be from 0 to %s", MaxOverlap)
	case *r.Overlap > 0 && r.RevokeLeases:
		return 0, broker.Invalid("overlap", "must be 0 or left out where leases are revoked: whoever has the secret before would take others")
	}
	return *r.Overlap, nil
}

// Rotate makes another secret for a client, which is shown once. Only the previous secret that
// was used last is still accepted, and only as long as r says: so a repeat whose first answer was
// lost leaves the client its own. If r names a certificate no secret is made.
//
// If r revokes leases, those that a VIM does not give up now are left to the reaper, and
// the pass finishes the work of a process that died.
func (c *Clients) Rotate(ctx context.Context, p policy.Principal, id string, r Rotation) (Client, secret.Text, error) {
	fail := func(err error) (Client, secret.Text, error) { return Client{}, secret.Text{}, err }
	found, err := c.find(ctx, p, policy.ClientRotate, id)
	if err != nil {
		return fail(err)
	}
	act, err := c.desk.Enter(ctx, p, policy.ClientRotate, found.Resource())
	if err != nil {
		return fail(err)
	}
	overlap, err := r.overlap()
	if err == nil {
		err = c.takable(r.Certificate)
	}
	if err != nil {
		return fail(c.desk.Refuse(ctx, act, err))
	}
	var plain secret.Text
	var sum string
	replaced := []string{audit.DetailNew + "certificate", r.Certificate.String()}
	if r.Certificate.None() {
		plain, sum = newSecret()
		replaced = []string{audit.DetailNew + "secret", "replaced"}
	}
	stored, err := c.Store.UpdateClient(ctx, found.ID, func(now *Client) error {
		if now.State != Active {
			return gone()
		}
		if r.Certificate.None() && !now.Certificate.None() {
			return broker.Invalid("certificate", "must be named: the client logs in by a certificate, and has no secret")
		}
		at := c.Now()
		if !now.overlaps(at) || now.used() {
			now.PreviousSHA256 = now.SHA256
		} // else the last secret was never used, and its answer may have been lost: the previous one stays valid
		now.PreviousUntil = at.Add(overlap)
		if overlap == 0 || now.PreviousSHA256 == "" {
			now.PreviousSHA256, now.PreviousUntil = "", time.Time{}
		}
		now.SHA256, now.Certificate, now.RotatedAt, now.UpdatedAt = sum, r.Certificate, at, at
		now.Ending = now.Ending || r.RevokeLeases
		return nil
	}, act.Done(append(about(found), replaced...)...))
	if err != nil {
		return fail(c.desk.Refuse(ctx, act, err))
	}
	failpoint.At("client.rotated")
	if stored.Ending {
		if err := c.end(ctx, stored); err != nil {
			c.Log.WarnContext(ctx, "leases of a client are left for the next pass", "client", stored.ID, "error", err)
		} else {
			stored.Ending = false
		}
	}
	return stored, plain, nil
}

// Delete ends a client: it cannot log in any more, its leases are revoked, and its row goes.
// Leases that a VIM does not give up now are left to the reaper. Deleting one that is being
// deleted resumes the deletion.
func (c *Clients) Delete(ctx context.Context, p policy.Principal, id string) error {
	found, err := c.find(ctx, p, policy.ClientDelete, id)
	if err != nil {
		return err
	}
	act, err := c.desk.Enter(ctx, p, policy.ClientDelete, found.Resource())
	if err != nil {
		return err
	}
	stored, err := c.Store.UpdateClient(ctx, found.ID, func(now *Client) error {
		now.State, now.Ending, now.UpdatedAt = Deleting, true, c.Now()
		now.SHA256, now.PreviousSHA256, now.PreviousUntil, now.Certificate = "", "", time.Time{}, Certificate{}
		return nil
	}, act.With(audit.DetailClientName, found.Name).Intent())
	if errors.Is(err, broker.ErrNotFound) {
		return nil // another was quicker
	}
	if err != nil {
		return c.desk.Refuse(ctx, act, err)
	}
	failpoint.At("client.deleting")
	if err := c.end(ctx, stored); err != nil {
		return c.desk.Refuse(ctx, act, err)
	}
	return nil
}

func self(project string) policy.Principal { return broker.System("clients", project) }

// end revokes the leases of a client whose leases are ending, and removes one that is being
// deleted.
func (c *Clients) end(ctx context.Context, one Client) error {
	by := self(one.Project)
	if _, err := c.Leases.RevokeLeases(ctx, by, broker.LeaseSelector{
		Principal: principalName(one.ID), NewSecret: true, HolderGone: one.State == Deleting,
	}); err != nil {
		return err
	}
	failpoint.At("client.leases-ending")
	action := policy.ClientRotate
	if one.State == Deleting {
		action = policy.ClientDelete
	}
	act, err := c.desk.Enter(ctx, by, action, one.Resource())
	if err != nil {
		return err
	}
	act.With(audit.DetailClientName, one.Name)
	if one.State == Deleting {
		return c.Store.DeleteClient(ctx, one.ID, act.Done())
	}
	_, err = c.Store.UpdateClient(ctx, one.ID, func(now *Client) error {
		if now.State != Active || now.RotatedAt != one.RotatedAt {
			return broker.ErrConflict // another is at it, and revokes what came meanwhile
		}
		now.Ending = false
		return nil
	}, act.Done(audit.DetailReason, "the leases taken with its secrets before are ending"))
	if errors.Is(err, broker.ErrConflict) || errors.Is(err, broker.ErrNotFound) {
		return nil
	}
	return err
}

// Settle is the pass that finishes clients whose leases are ending.
func (c *Clients) Settle(ctx context.Context) error {
	var failed []error
	f := Filter{Ending: true}
	for one, err := range broker.Pages(&f.Page, func() ([]Client, string, error) { return c.Store.Clients(ctx, f) }) {
		if err == nil {
			err = c.end(ctx, one)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// Passes are the periodic work, for a job queue to run.
func (c *Clients) Passes() []broker.Pass {
	return []broker.Pass{{Name: "settle-clients", Every: time.Minute, Run: c.Settle}}
}

// Lookup implements [policy.Directory]: the present state of the client.
func (c *Clients) Lookup(ctx context.Context, name, project string) (policy.Principal, error) {
	id, ok := idOf(name)
	if !ok {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	found, err := c.active(ctx, id)
	if err != nil {
		return policy.Principal{}, err
	}
	if found.Project != project {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	return found.Principal(), nil
}

// Authenticate returns the client that has an id and a secret, or, without a secret, the
// certificate that the sender of the request shows; [policy.ErrUnauthenticated], which tells
// nothing more, if there is none. Any other error means that the client cannot be looked up
// now.
func (c *Clients) Authenticate(ctx context.Context, id, plain string) (Client, error) {
	found, err := c.active(ctx, id)
	if err != nil {
		return Client{}, err
	}
	if plain == "" && !found.Certificate.None() {
		if err := c.byCertificate(ctx, found); err != nil {
			return found, err
		}
		c.noteUse(ctx, found)
		return found, nil
	}
	if !found.knows(plain, c.Now()) {
		return Client{}, policy.ErrUnauthenticated
	}
	if policy.Digest(plain) == found.SHA256 {
		c.noteUse(ctx, found)
	}
	return found, nil
}

var errNoted = errors.New("that the secret is used is noted, or it is another by now")

// noteUse notes once that a client has changed over to its newest secret, while the previous one
// is still accepted. A failure to note this stops no login: the next login retries.
func (c *Clients) noteUse(ctx context.Context, found Client) {
	if !found.overlaps(c.Now()) || found.used() {
		return
	}
	act, err := c.desk.Enter(ctx, self(found.Project), policy.ClientRotate, found.Resource())
	if err == nil {
		_, err = c.Store.UpdateClient(ctx, found.ID, func(now *Client) error {
			if now.State != Active || now.RotatedAt != found.RotatedAt || now.used() {
				return errNoted
			}
			now.UpdatedAt = c.Now()
			if !now.used() { // within the same microsecond, or by a clock that is behind
				now.UpdatedAt = now.RotatedAt.Add(time.Microsecond)
			}
			return nil
		}, act.Done(append(about(found), audit.DetailReason, "the client uses what it was given last")...))
	}
	if err != nil && !errors.Is(err, errNoted) {
		c.Log.WarnContext(ctx, "that a client has changed over to its new secret could not be noted", "client", found.ID, "error", err)
	}
}

// active returns a client that may act; [policy.ErrUnauthenticated] if there is none.
func (c *Clients) active(ctx context.Context, id string) (Client, error) {
	if uuid.Validate(id) != nil {
		return Client{}, policy.ErrUnauthenticated
	}
	found, err := c.Store.Client(ctx, strings.ToLower(id))
	switch {
	case errors.Is(err, broker.ErrNotFound) || err == nil && found.State != Active:
		return Client{}, policy.ErrUnauthenticated
	case err != nil:
		return Client{}, err
	}
	return found, nil
}
