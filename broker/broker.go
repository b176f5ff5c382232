package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Options wires a [Broker]. Every field without a stated default is required.
type Options struct {
	Store Store
	// Keys are the key stores. The first takes new keys; the others are read, and
	// emptied by RekeyVIM.
	Keys []secret.KeyStore
	// Drivers are one for each type of VIM that is served.
	Drivers []Driver
	Policy  policy.Decider
	// Egress gives the addresses that may be dialled for a project's VIMs. The
	// same project must get the same pointer until its rules change.
	Egress func(project string) *egress.Rules
	Terms  Terms
	Log    *slog.Logger
	// ReservedLabels are prefixes of label keys that only those may set, change or remove
	// whom policy permits vim:label-reserved, besides the broker's own (vimbroker.io/).
	ReservedLabels []string
	// Directories know callers without their tokens, by authenticator. Of others the roles
	// that they last showed count.
	Directories map[string]policy.Directory
	// Holders lists callers' static tokens; nil: there are none.
	Holders TokenHolders
	// Anchors keep checkpoints of the audit log; [Broker.Close] closes them.
	Anchors []notary.Anchor
	// Courier brings the audit log to its sinks; nil: there are none.
	Courier *delivery.Courier
	// Now defaults to time.Now.
	Now func() time.Time
}

// ownLabels is the prefix of labels that mean something to the broker: always reserved.
const ownLabels = "vimbroker.io/"

// Terms are the numbers an operator may set. All of them are given: start from
// [DefaultTerms]. [New] refuses one that is zero or less, except in Quota and VIMs, where
// zero means no bound.
type Terms struct {
	// DefaultTTL is granted to a lease that asks for none; MaxTTL caps what is
	// granted, and bounds a lease's life over all its renewals.
	DefaultTTL, MaxTTL time.Duration
	// StandingTTL is the most that a token under a standing lease lives. Such a lease ends when
	// it was not used for StandingIdle, and after StandingMax at the latest.
	StandingTTL, StandingIdle, StandingMax time.Duration
	Quota                                  Quota
	// VIMs bounds VIMs, as Quota does leases.
	VIMs VIMQuota
	// CheckEvery is how often each VIM is checked.
	CheckEvery time.Duration
	// CheckpointEvery is how often the audit log is signed, if it has grown.
	CheckpointEvery time.Duration
	// ReapEvery, SettleEvery and InventoryEvery are how often those passes run.
	ReapEvery, SettleEvery, InventoryEvery time.Duration
	// CallTimeout bounds one call of a driver, which may be a few requests to the VIM.
	CallTimeout time.Duration
	// AbandonedAfter is when unfinished work is assumed to be a crashed process's. It is
	// far longer than any request can take.
	AbandonedAfter time.Duration
	// GiveUpAfter is how many failed revocations make a lease irrevocable. On a VIM
	// that is down, where not every lease is tried, five minutes count as one.
	GiveUpAfter int
	// TidyAfter is how long a grant is without a live lease before what drivers keep for
	// it on the VIM is removed.
	TidyAfter time.Duration
	// EndWithAccess: a lease ends once its holder would not be issued it any more.
	// Otherwise it is not renewed, and ends only if it is a user or the stored credential.
	EndWithAccess bool
	// Keep says how long the past is kept.
	Keep Keep
	// RemoveLeft: what the holder of a lease has left behind is removed when the lease
	// is revoked, where the driver can tell it from what others need. Otherwise it is
	// reported.
	RemoveLeft bool
}

// DefaultTerms are the terms of an operator who sets none.
func DefaultTerms() Terms {
	return Terms{
		Keep:            Keep{Audit: 5 * 365 * 24 * time.Hour, Leases: 365 * 24 * time.Hour, Jobs: 7 * 24 * time.Hour},
		DefaultTTL:      time.Hour,
		MaxTTL:          12 * time.Hour,
		StandingTTL:     15 * time.Minute,
		StandingIdle:    7 * 24 * time.Hour,
		StandingMax:     180 * 24 * time.Hour,
		Quota:           Quota{PerPrincipal: 1000, PerClient: 10000, PerVIM: 10000, PerProject: 10000},
		VIMs:            VIMQuota{PerProject: 5000, Bytes: 256 << 10},
		CheckEvery:      5 * time.Minute,
		CheckpointEvery: time.Minute,
		ReapEvery:       5 * time.Second,
		SettleEvery:     time.Minute,
		InventoryEvery:  10 * time.Minute,
		CallTimeout:     15 * time.Second,
		AbandonedAfter:  5 * time.Minute,
		GiveUpAfter:     30,
		TidyAfter:       10 * time.Minute,
	}
}

// Broker is the registry and the leases. Its methods are safe for concurrent
// use, by any number of processes on one store.
type Broker struct {
	store   Store
	keys    keyring.Ring
	keepers []Keeper
	drivers map[VIMType]Driver
	types   []Type // by name
	guard   *audit.Guard
	logins  *audit.Logins
	notary  *notary.Notary
	courier *delivery.Courier
	policy  policy.Decider
	egress  func(string) *egress.Rules
	terms   Terms
	// reserved are prefixes of label keys.
	reserved    []string
	directories map[string]policy.Directory
	holders     TokenHolders
	tokenUses   tokenUses
	log         *slog.Logger
	now         func() time.Time

	counters   counters
	storeProbe *probe
	keyProbes  []*probe // one for each of keys
	// takingBack holds the ids of leases that a call to their VIM is under way for.
	takingBack sync.Map
	// refusedMints folds what those are refused who poll standing leases.
	refusedMints *audit.Folds

	mu            sync.Mutex
	discrepancies map[string]Discrepancy // by VIM id, from the last inventory pass
	unexplained   int                    // VIMs that keys name and no row does
}

// New returns a Broker; it starts nothing. Options that are missing or cannot be
// served are an error that names all of them.
func New(o Options) (*Broker, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	now := func() time.Time { return o.Now().UTC().Truncate(time.Microsecond) }
	if o.Courier == nil {
		o.Courier = delivery.New(o.Store, nil, now, o.Log)
	}
	b := &Broker{
		store:         o.Store,
		keys:          o.Keys,
		drivers:       map[VIMType]Driver{},
		refusedMints:  audit.NewFolds(),
		guard:         &audit.Guard{Policy: o.Policy, Sink: o.Store, Now: now, Reads: audit.NewReads(), Held: o.Courier.Late, Log: o.Log},
		logins:        audit.NewLogins(o.Store, now, o.Log),
		notary:        notary.New(o.Store, o.Keys, o.Anchors, now),
		courier:       o.Courier,
		policy:        o.Policy,
		egress:        o.Egress,
		terms:         o.Terms,
		reserved:      append([]string{ownLabels}, o.ReservedLabels...),
		directories:   o.Directories,
		holders:       o.Holders,
		tokenUses:     tokenUses{noted: map[string]time.Time{}},
		log:           o.Log,
		now:           now,
		discrepancies: map[string]Discrepancy{},
		counters:      counters{alarms: map[Alarm]int{}, passes: map[string]PassRecord{}},
	}
	b.guard.Tally = &b.counters.tally
	if err := errors.Join(o.check(), b.addDrivers(o.Drivers)); err != nil {
		return nil, fmt.Errorf("making a broker: %w", err)
	}
	b.addProbes()
	return b, nil
}

// Guard decides and records. The other parts of one server go through it as well, so that what
// holds back or counts what is done reaches all of it.
func (b *Broker) Guard() *audit.Guard { return b.guard }

// check returns what is missing.
func (o Options) check() error {
	var faults []error
	for _, part := range []struct {
		name    string
		missing bool
	}{
		{"Store", o.Store == nil},
		{"Keys", len(o.Keys) == 0},
		{"Policy", o.Policy == nil},
		{"Egress", o.Egress == nil},
		{"Log", o.Log == nil},
	} {
		if part.missing {
			faults = append(faults, fmt.Errorf("option %s is missing", part.name))
		}
	}
	names := map[string]bool{}
	for i, keys := range o.Keys {
		switch {
		case keys == nil:
			faults = append(faults, fmt.Errorf("key store %d is nil", i+1))
		case names[keys.Name()]:
			faults = append(faults, fmt.Errorf("two key stores are named %q", keys.Name()))
		default:
			names[keys.Name()] = true
		}
	}
	return errors.Join(append(faults, o.Terms.check())...)
}

// check returns which terms no broker can keep.
func (t Terms) check() error {
	var faults []error
	for _, term := range []struct {
		name  string
		wrong bool
	}{
		{"DefaultTTL", t.DefaultTTL <= 0},
		{"MaxTTL", t.MaxTTL <= 0},
		{"StandingTTL", t.StandingTTL <= 0},
		{"StandingIdle", t.StandingIdle <= 0},
		{"StandingMax", t.StandingMax <= 0},
		{"CheckEvery", t.CheckEvery <= 0},
		{"CheckpointEvery", t.CheckpointEvery <= 0},
		{"ReapEvery", t.ReapEvery <= 0},
		{"SettleEvery", t.SettleEvery <= 0},
		{"InventoryEvery", t.InventoryEvery <= 0},
		{"CallTimeout", t.CallTimeout <= 0},
		{"AbandonedAfter", t.AbandonedAfter <= 0},
		{"GiveUpAfter", t.GiveUpAfter <= 0},
		{"TidyAfter", t.TidyAfter <= 0},
	} {
		if term.wrong {
			faults = append(faults, fmt.Errorf("term %s must be more than zero", term.name))
		}
	}
	return errors.Join(faults...)
}

// ReasonOf is what a key store's error lets anyone read, after a colon; empty where it has
// nothing.
func ReasonOf(err error) string {
	var why interface {
		error
		Reason() string
	}
	if errors.As(err, &why) {
		return ": " + why.Reason()
	}
	return ""
}

// enter decides, and turns a refusal into what the caller may know: what it may
// not see does not exist.
func (b *Broker) enter(
	ctx context.Context, p policy.Principal, action policy.Action, res policy.Resource, wish policy.Wish,
) (*audit.Act, error) {
	act, err := b.guard.Enter(ctx, p, action, res, wish)
	if err != nil {
		return nil, Refusal(err, p, action, notFound(res.Kind))
	}
	return act, nil
}

// Refusal is what p is told of an error of [audit.Guard.Enter]: hidden, if p may not see the
// resource; otherwise an ErrDenied, or an ErrUnavailable if nothing can be recorded now, or a
// required sink of the audit log is late.
func Refusal(err error, p policy.Principal, action policy.Action, hidden error) error {
	late, held := errors.AsType[*delivery.LateError](err)
	switch {
	case held:
		return &Error{
			Kind: ErrUnavailable, Detail: late.Error() + ": until it has caught up, only revoking, cancelling and reading are allowed",
			Remedy: "have the broker's operator get the sink going, or make it one of best effort", Cause: err,
		}
	case !errors.Is(err, policy.ErrDenied):
		return Unrecorded(err)
	case errors.Is(err, audit.ErrHidden):
		return hidden
	}
	return &Error{
		Kind:   ErrDenied,
		Detail: fmt.Sprintf("policy does not allow %s to %s", p.Name, action),
		Next:   NextExplain,
		Cause:  err,
	}
}

// enterToo is enter for a further right that an act needs: an entry of its own records it.
func (b *Broker) enterToo(ctx context.Context, p policy.Principal, action policy.Action, res policy.Resource, wish policy.Wish) error {
	act, err := b.enter(ctx, p, action, res, wish)
	if err != nil {
		return err
	}
	if err := b.store.Append(ctx, act.Intent()); err != nil {
		return Unrecorded(err)
	}
	return nil
}

// Unrecorded is the ErrUnavailable of an act that cannot be recorded. It says why where the store
// takes no writes.
func Unrecorded(err error) error {
	if full, ok := errors.AsType[*Error](err); ok && errors.Is(full, ErrNoWrites) {
		return full
	}
	return &Error{
		Kind: ErrUnavailable, Detail: "the audit log cannot be written",
		Remedy: "try again; if that goes on, have the broker's operator see why", Cause: err,
	}
}

// missing records that there is nothing of a kind that p asked for, and says so.
func (b *Broker) missing(ctx context.Context, p policy.Principal, action policy.Action, kind policy.Kind) error {
	if err := b.guard.Missing(ctx, p, action, kind); err != nil {
		return Unrecorded(err)
	}
	return notFound(kind)
}

// hidden records that p asked for a VIM that it may not see, and says that there is none.
func (b *Broker) hidden(ctx context.Context, p policy.Principal, action policy.Action, v VIM) error {
	if err := b.guard.Hide(ctx, p, action, vimResource(v)); !errors.Is(err, audit.ErrHidden) {
		return Unrecorded(err)
	}
	return vimNotFound()
}

// read is enter for what only reads: one entry records it.
func (b *Broker) read(ctx context.Context, p policy.Principal, action policy.Action, res policy.Resource) error {
	act, err := b.enter(ctx, p, action, res, policy.Wish{})
	if err != nil {
		return err
	}
	if err := act.Read(ctx); err != nil {
		return Unrecorded(err)
	}
	return nil
}

// refuse records that an allowed act ended before it had any effect, and returns why.
func (b *Broker) refuse(ctx context.Context, act *audit.Act, why error) error {
	if err := audit.AppendRefusal(ctx, b.store, act.Failed(class(why))); err != nil {
		b.log.ErrorContext(ctx, "recording a failed act", "error", err)
	}
	return why
}

// RecordFailed records in sink that an allowed act ended before it had its effect, and returns why.
func RecordFailed(ctx context.Context, sink audit.Sink, log *slog.Logger, act *audit.Act, why error) error {
	class := "failed"
	if known, ok := errors.AsType[*Error](why); ok {
		class = known.Kind.Error()
	}
	if err := sink.Append(ctx, act.Failed(class)); err != nil {
		log.ErrorContext(ctx, "recording a failed act", "error", err)
	}
	return why
}

// class is an error's kind in one word or two, fit for the audit log and for a
// lease's LastError: never another system's words.
func class(err error) string {
	for _, kind := range []error{
		ErrNotFound, ErrInvalid, ErrExists, ErrConflict, ErrPrecondition, ErrDenied, ErrQuota, ErrUnsupported,
		ErrUnauthorized, ErrForbidden, ErrUnreachable, ErrUnavailable, ErrUnopenable, job.ErrFenced,
		context.DeadlineExceeded, context.Canceled,
	} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return "internal error"
}

// call bounds one call of a driver.
func (b *Broker) call(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, b.terms.CallTimeout)
}

// cleanup is a context for undoing what a request began: it outlives the request.
func (b *Broker) cleanup(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 2*b.terms.CallTimeout)
}

// findVIM returns the VIM that ref names to p for an action: by id, or by name in its
// project and then among the shared ones. That there is none is recorded. Whether p may
// see it is for enter to say.
func (b *Broker) findVIM(ctx context.Context, p policy.Principal, action policy.Action, ref string) (VIM, error) {
	v, err := b.lookUpVIM(ctx, p, ref)
	if errors.Is(err, ErrNotFound) {
		return VIM{}, b.missing(ctx, p, action, policy.KindVIM)
	}
	return v, err
}

func (b *Broker) lookUpVIM(ctx context.Context, p policy.Principal, ref string) (VIM, error) {
	if _, err := uuid.Parse(ref); err == nil {
		v, err := b.store.VIM(ctx, ref)
		if errors.Is(err, ErrNotFound) || err == nil && v.State == VIMRegistering {
			return VIM{}, vimNotFound()
		}
		return v, err
	}
	if ref == "" {
		return b.defaultVIM(ctx, p)
	}
	found, _, err := b.store.VIMs(ctx, VIMFilter{Project: p.Project, Name: ref, Page: Page{Size: 10}})
	if err != nil {
		return VIM{}, err
	}
	var shared []VIM
	for _, v := range found {
		switch {
		case v.State == VIMRegistering:
		case v.Project == p.Project && v.Damaged:
			return VIM{}, Damaged(v)
		case v.Damaged:
		case v.Project == p.Project:
			return v, nil
		default:
			shared = append(shared, v)
		}
	}
	switch len(shared) {
	case 0:
		return VIM{}, vimNotFound()
	case 1:
		return shared[0], nil
	}
	return VIM{}, &Error{Kind: ErrConflict, Field: "vim", Detail: "several projects share a VIM of that name", Remedy: "name it by its id"}
}

// visibleVIM is findVIM where nothing is done to the VIM but to select by it: one
// that p may not see is not found.
func (b *Broker) visibleVIM(ctx context.Context, p policy.Principal, action policy.Action, ref string) (VIM, error) {
	v, err := b.findVIM(ctx, p, action, ref)
	if err != nil {
		return VIM{}, err
	}
	if !b.guard.Allows(p, policy.VIMShow, vimResource(v)) {
		return VIM{}, b.hidden(ctx, p, action, v)
	}
	return v, nil
}

// defaultVIM returns the default of p's project.
func (b *Broker) defaultVIM(ctx context.Context, p policy.Principal) (VIM, error) {
	found, _, err := b.store.VIMs(ctx, VIMFilter{Project: p.Project, Default: true, Page: Page{Size: 100}})
	if err != nil {
		return VIM{}, err
	}
	for _, v := range found {
		if v.Project == p.Project && v.State != VIMRegistering && !v.Damaged {
			return v, nil
		}
	}
	return VIM{}, &Error{Kind: ErrInvalid, Field: "vim", Detail: "no VIM named, and the project has no default", Next: NextSetDefault}
}

// findLease returns a lease by its id for an action. That there is none is recorded.
func (b *Broker) findLease(ctx context.Context, p policy.Principal, action policy.Action, id string) (Lease, error) {
	if _, err := uuid.Parse(id); err != nil {
		return Lease{}, b.missing(ctx, p, action, policy.KindLease)
	}
	l, err := b.store.Lease(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return Lease{}, b.missing(ctx, p, action, policy.KindLease)
	}
	return l, err
}

// notFound is the answer about something of a kind that is not there, or not for the caller.
func notFound(kind policy.Kind) error {
	if kind == policy.KindLease {
		return &Error{Kind: ErrNotFound, Detail: "no such lease", Next: NextListLeases}
	}
	return vimNotFound()
}

func vimNotFound() error {
	return &Error{Kind: ErrNotFound, Detail: "no such VIM", Next: NextListVIMs}
}

func vimResource(v VIM) policy.Resource {
	return policy.Resource{
		Kind: policy.KindVIM, ID: v.ID, Project: v.Project,
		VIMType: string(v.Type), VIMName: v.Name, Shared: v.Shared, SharedWith: v.SharedWith, Labels: v.Labels,
		EndpointHost: endpointHost(v.Current.Target),
	}
}

func leaseResource(l Lease) policy.Resource {
	return policy.Resource{
		Kind: policy.KindLease, ID: l.ID, Project: l.Project, Owner: l.Principal,
		VIMProject: l.VIMProject, VIMType: string(l.VIMType), VIMName: l.VIMName, VIM: l.VIM,
	}
}

// leaseOn is leaseResource with what the lease's VIM says.
func leaseOn(l Lease, v VIM) policy.Resource {
	res := leaseResource(l)
	if g, ok := v.generation(l.VIMGeneration); ok {
		res.EndpointHost = endpointHost(g.Target)
	}
	return res
}

func projectResource(project string) policy.Resource {
	return policy.Resource{Kind: policy.KindProject, ID: project, Project: project}
}

// system is the principal of one of the broker's own passes.
func system(pass string) policy.Principal {
	return policy.Principal{Name: "system:" + pass, Roles: []string{policy.RoleSystem}}
}
