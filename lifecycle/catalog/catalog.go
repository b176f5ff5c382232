package catalog

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Options wire a [Catalog]. Every field without a stated default is required.
type Options struct {
	Store Store
	// Guard is the server's, whose sink is the store.
	Guard *audit.Guard
	Log   *slog.Logger
	Terms Terms
	// Warn says what seems wrong in a package that is being onboarded. Nil has no warnings.
	Warn func(Opened) ([]string, error)
	// Egress are the addresses that packages of a project are fetched from, and Authorities those of their servers'
	// certificates.
	Egress      func(project string) *egress.Rules
	Authorities remote.Authorities
	// Now defaults to time.Now.
	Now func() time.Time
}

// Terms are the numbers an operator may set; [DefaultTerms] are those of one who sets none.
type Terms struct {
	// MaxSize bounds the content of one package, in bytes.
	MaxSize int64
	// PerProject bounds the packages of a project, BytesPerProject their content. Zero
	// means no bound.
	PerProject      int
	BytesPerProject int64
	// Limits bound what one package may hold.
	Limits vnfpkg.ArchiveLimits
	// Roots are the authorities whose signers of packages are trusted. With them a signature that is not
	// good is refused; without them, nil, signatures are not looked at, and no package counts as signed.
	Roots *x509.CertPool
}

// DefaultTerms are the terms of an operator who sets none.
func DefaultTerms() Terms {
	return Terms{MaxSize: 2 << 30, PerProject: 1000, BytesPerProject: 20 << 30}
}

// Catalog keeps packages. Its methods are safe for concurrent use, by any number of
// processes on one store.
type Catalog struct {
	Options
	desk broker.Desk
}

// New returns a Catalog; it starts nothing.
func New(o Options) *Catalog {
	o.Now = broker.Clock(o.Now)
	return &Catalog{o, broker.Desk{Guard: o.Guard, Log: o.Log, Missing: notFound}}
}

// MaxSize bounds the content of one package, in bytes.
func (c *Catalog) MaxSize() int64 { return c.Terms.MaxSize }

func notFound() error {
	return &broker.Error{Kind: broker.ErrNotFound, Detail: "no such VNF package"}
}

// PackageRef names a package: by its id, or by the id of its descriptor in the caller's project.
type PackageRef struct{ ID, VNFD string }

// find returns the package that ref names to p for an action. A missing package is
// recorded. enter decides whether p may see the package.
func (c *Catalog) find(ctx context.Context, p policy.Principal, action policy.Action, ref PackageRef) (Package, error) {
	get := c.Store.Package
	if ref.VNFD != "" {
		get = func(ctx context.Context, _ string) (Package, error) {
			return c.Store.PackageOfVNFD(ctx, p.Project, ref.VNFD)
		}
		ref.ID = uuid.Nil.String()
	}
	return broker.Find(ctx, c.desk, p, action, policy.KindPackage, ref.ID, get)
}

// Package returns one package.
func (c *Catalog) Package(ctx context.Context, p policy.Principal, ref PackageRef) (Package, error) {
	pkg, err := c.find(ctx, p, policy.PackageShow, ref)
	if err != nil {
		return Package{}, err
	}
	return pkg, c.desk.Read(ctx, p, policy.PackageShow, pkg.Resource())
}

// Query selects packages. Empty fields select all.
type Query struct {
	VNFD      string
	Onboarded bool
	broker.Page
}

// anyProject stands for every project if a list asks whether it may cross them.
const anyProject = "*"

// Packages returns a page of the packages that p may see, oldest first, and the next
// page's token. A page may hold fewer than was asked for, and even none, while there is a
// next one.
func (c *Catalog) Packages(ctx context.Context, p policy.Principal, q Query) ([]Package, string, error) {
	page, err := q.Page.Valid()
	if err != nil {
		return nil, "", err
	}
	if err := c.desk.Read(ctx, p, policy.PackageShow, broker.InProject(p.Project)); err != nil {
		return nil, "", err
	}
	f := Filter{Project: p.Project, VNFD: q.VNFD, Onboarded: q.Onboarded, Page: page}
	if c.Guard.Allows(p, policy.PackageShow, broker.InProject(anyProject)) {
		f.Project = ""
	}
	found, next, err := c.Store.Packages(ctx, f)
	if err != nil {
		return nil, "", err
	}
	visible := found[:0]
	for _, pkg := range found {
		if c.Guard.Allows(p, policy.PackageShow, pkg.Resource()) {
			visible = append(visible, pkg)
		}
	}
	return visible, next, nil
}

// Create makes a package without content in p's project. userData is a JSON object, or empty.
func (c *Catalog) Create(ctx context.Context, p policy.Principal, userData string) (Package, error) {
	return c.CreateAs(ctx, p, uuid.NewString(), userData)
}

// CreateAs is Create for a part of the broker that has noted the id before.
func (c *Catalog) CreateAs(ctx context.Context, p policy.Principal, id, userData string) (Package, error) {
	act, err := c.desk.Enter(ctx, p, policy.PackageCreate, broker.InProject(p.Project))
	if err != nil {
		return Package{}, err
	}
	now := c.Now()
	pkg := Package{
		ID: id, Project: p.Project, State: Created, UserData: userData,
		CreatedBy: p.Name, CreatedAt: now, UpdatedAt: now, Revision: 1,
	}
	if err := validUserData(userData); err != nil {
		return Package{}, c.desk.Refuse(ctx, act, err)
	}
	if err := c.Store.CreatePackage(ctx, pkg, c.Terms.PerProject, act.Done(audit.DetailPackage, pkg.ID)); err != nil {
		return Package{}, c.desk.Refuse(ctx, act, err)
	}
	return pkg, nil
}

// maxUserData bounds userDefinedData, in bytes of JSON.
const maxUserData = 16 << 10

func validUserData(text string) error {
	if len(text) > maxUserData {
		return broker.Invalid("userDefinedData", "is longer than %d bytes", maxUserData)
	}
	return nil
}

// PackageUpdate holds the changes for Modify; a nil field stays unchanged.
type PackageUpdate struct {
	// Enabled: VNF instances can be made from the package.
	Enabled *bool
	// UserData makes the new JSON object from the stored one.
	UserData func(before string) (string, error)
}

// Modify changes a package: enables or disables it, or replaces its user-defined data.
func (c *Catalog) Modify(ctx context.Context, p policy.Principal, ref PackageRef, change PackageUpdate) (Package, error) {
	pkg, err := c.find(ctx, p, policy.PackageModify, ref)
	if err != nil {
		return Package{}, err
	}
	act, err := c.desk.Enter(ctx, p, policy.PackageModify, pkg.Resource())
	if err != nil {
		return Package{}, err
	}
	done := act.Done()
	stored, err := c.Store.UpdatePackage(ctx, pkg.ID, func(now *Package) error {
		if now.Revision != pkg.Revision && !c.Guard.Still(p, policy.PackageModify, now.Resource(), policy.Wish{}) {
			return broker.ErrConflict // the subject of the decision has changed
		}
		if change.Enabled != nil {
			next := Disabled
			if *change.Enabled {
				next = Enabled
			}
			if err := now.operate(next); err != nil {
				return err
			}
			done.Detail[audit.DetailOld+"operationalState"] = string(now.State)
			done.Detail[audit.DetailNew+"operationalState"] = string(next)
			now.State = next
		}
		if change.UserData != nil {
			text, err := change.UserData(now.UserData)
			if err == nil {
				err = validUserData(text)
			}
			if err != nil {
				return err
			}
			if text != now.UserData {
				done.Detail[audit.DetailNew+"userDefinedData"] = "changed"
			}
			now.UserData = text
		}
		now.UpdatedAt = c.Now()
		return nil
	}, done)
	if err != nil {
		return Package{}, c.desk.Refuse(ctx, act, err)
	}
	return stored, nil
}

// operate returns why the operational state cannot become next.
func (p *Package) operate(next State) error {
	switch {
	case !p.State.Onboarded():
		return &broker.Error{
			Kind: broker.ErrConflict, Field: "operationalState", Detail: "the package is not onboarded",
			Remedy: "upload its content first",
		}
	case p.State == next: // as SOL005 clause 9.4.3.3.4 has it
		return &broker.Error{Kind: broker.ErrConflict, Field: "operationalState", Detail: "the package is " + string(next) + " already"}
	}
	return nil
}

// Delete removes a package and its content. One that is enabled or in use is
// [broker.ErrConflict].
func (c *Catalog) Delete(ctx context.Context, p policy.Principal, ref PackageRef) error {
	pkg, err := c.find(ctx, p, policy.PackageDelete, ref)
	if err != nil {
		return err
	}
	act, err := c.desk.Enter(ctx, p, policy.PackageDelete, pkg.Resource())
	if err != nil {
		return err
	}
	if err := c.Store.DeletePackage(ctx, pkg.ID, act.Done(audit.DetailVNFD, pkg.VNFDID)); err != nil {
		return c.desk.Refuse(ctx, act, err)
	}
	c.sweep(ctx)
	return nil
}

// Undeletable is the [broker.ErrConflict] of a package that cannot be deleted now; nil for others.
func (p Package) Undeletable() error {
	switch {
	case p.InUse:
		return &broker.Error{
			Kind: broker.ErrConflict, Detail: "VNF instances were made from the package",
			Remedy: "delete them first",
		}
	case p.State == Enabled:
		return &broker.Error{Kind: broker.ErrConflict, Detail: "the package is enabled", Remedy: "disable it first"}
	}
	return nil
}

// cleanupTime bounds undoing the work of a request.
const cleanupTime = 30 * time.Second

// cleanup is a context for that: it outlives the request.
func cleanup(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
}

// sweptAtOnce bounds the chunks that one write removes.
const sweptAtOnce = 16

// sweep removes content that no package names any more. The pass retries what sweep cannot remove.
func (c *Catalog) sweep(ctx context.Context) {
	ctx, cancel := cleanup(ctx)
	defer cancel()
	if err := c.sweepAll(ctx); err != nil {
		c.Log.WarnContext(ctx, "content of packages that are gone is left for the next pass", "error", err)
	}
}

func (c *Catalog) sweepAll(ctx context.Context) error {
	for {
		more, err := c.Store.SweepChunks(ctx, sweptAtOnce)
		if err != nil || !more {
			return err
		}
	}
}

// Settle is the pass that undoes uploads that have been silent since before a time, and
// removes bytes that no package names.
func (c *Catalog) Settle(ctx context.Context, before time.Time) error {
	var failed []error
	f := Filter{SilentSince: before}
	for pkg, err := range broker.Pages(&f.Page, func() ([]Package, string, error) { return c.Store.Packages(ctx, f) }) {
		if err == nil {
			err = c.settle(ctx, pkg)
		}
		failed = append(failed, err)
	}
	return errors.Join(append(failed, c.sweepAll(ctx))...)
}

func (c *Catalog) settle(ctx context.Context, pkg Package) error {
	act, err := c.desk.Enter(ctx, broker.System("settle", ""), policy.PackageUpload, pkg.Resource())
	if err != nil {
		return err
	}
	err = c.undo(ctx, pkg, act.Failed("abandoned by a process that ended"))
	if errors.Is(err, errOvertaken) || errors.Is(err, broker.ErrNotFound) {
		return nil // somebody else is at it
	}
	return err
}

// Abandoned is the silence after which an upload counts as one of a process that ended.
const Abandoned = time.Minute

// Passes are the catalogue's periodic work, for a job queue to run.
func (c *Catalog) Passes() []broker.Pass {
	return []broker.Pass{{Name: "settle-packages", Every: time.Minute, Run: func(ctx context.Context) error {
		return c.Settle(ctx, c.Now().Add(-Abandoned))
	}}}
}

var errOvertaken = errors.New("another upload has taken over")

func overtaken() error {
	return &broker.Error{
		Kind: broker.ErrConflict, Detail: "another upload has taken over, or the package was deleted",
		Remedy: "look at the package, and upload again if it is still without content", Cause: errOvertaken,
	}
}

// Count counts the packages of all projects by state, for an operator.
func (c *Catalog) Count(ctx context.Context) (map[State]int, error) {
	return c.Store.CountPackages(ctx)
}
