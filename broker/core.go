package broker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// core is what the registry, the leaser and the oversight share.
type core struct {
	vims        VIMStore
	leases      LeaseStore
	entries     audit.Log
	ledger      KeyLedger
	keys        keyring.Ring
	drivers     map[VIMType]Driver
	types       []Type // by name
	guard       *audit.Guard
	policy      policy.Decider
	egress      func(string) *egress.Rules
	terms       Terms
	pushTargets map[string]PushTarget

	directories map[string]policy.Directory
	trusts      func(name string) bool
	log         *slog.Logger
	now         func() time.Time

	counters      counters
	discrepancies discrepancies
	keyProbes     []*probe // one for each of keys
	// refusedMints folds what those are refused who poll standing leases.
	refusedMints *audit.Folds
}

// Guard decides and records. The other parts of one server go through it as well, so that what
// holds back or counts what is done reaches all of it.
func (b *core) Guard() *audit.Guard { return b.guard }

// reasonOf is what a key store's error lets anyone read, after a colon; empty where it has
// nothing.
func reasonOf(err error) string {
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
func (b *core) enter(
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
	detail := fmt.Sprintf("policy does not allow %s to %s", p.Name, action)
	if refused, ok := errors.AsType[*policy.Refused](err); ok {
		detail += Because(refused.Reasons)
	}
	return &Error{
		Kind:   ErrDenied,
		Detail: detail,
		Next:   NextExplain,
		Cause:  err,
	}
}

// Because ends a refusal with the reasons that policies give; empty where they give none.
func Because(reasons []string) string {
	if len(reasons) == 0 {
		return ""
	}
	return ": " + strings.Join(reasons, "; ")
}

// enterExtra is enter for a further right that an act needs: an entry of its own records it.
func (b *core) enterExtra(ctx context.Context, p policy.Principal, action policy.Action, res policy.Resource, wish policy.Wish) error {
	act, err := b.enter(ctx, p, action, res, wish)
	if err != nil {
		return err
	}
	return Unrecorded(b.entries.Append(ctx, act.Intent()))
}

// Unrecorded is the ErrUnavailable of an act that cannot be recorded; nil if err is. It says why where the store takes no
// writes.
func Unrecorded(err error) error {
	if err == nil {
		return nil
	}
	if full, ok := errors.AsType[*Error](err); ok && errors.Is(full, ErrNoWrites) {
		return full
	}
	return &Error{
		Kind: ErrUnavailable, Detail: "the audit log cannot be written",
		Remedy: "try again; if that goes on, have the broker's operator see why", Cause: err,
	}
}

// refuseMissing records that p asked for something that does not exist, and answers so.
func (b *core) refuseMissing(ctx context.Context, p policy.Principal, action policy.Action, kind policy.Kind) error {
	if err := b.guard.Missing(ctx, p, action, kind); err != nil {
		return Unrecorded(err)
	}
	return notFound(kind)
}

// refuseInvisible records that p asked for a VIM that it may not see, and answers that there is none.
func (b *core) refuseInvisible(ctx context.Context, p policy.Principal, action policy.Action, v VIM) error {
	if err := b.guard.Hide(ctx, p, action, vimResource(v)); !errors.Is(err, audit.ErrHidden) {
		return Unrecorded(err)
	}
	return vimNotFound()
}

// read is enter for what only reads: one entry records it.
func (b *core) read(ctx context.Context, p policy.Principal, action policy.Action, res policy.Resource) error {
	act, err := b.enter(ctx, p, action, res, policy.Wish{})
	if err != nil {
		return err
	}
	return Unrecorded(act.Read(ctx))
}

// refuse records that an allowed act ended before it had any effect, and returns why.
func (b *core) refuse(ctx context.Context, act *audit.Act, why error) error {
	if err := audit.AppendRefusal(ctx, b.entries, act.Failed(class(why))); err != nil {
		b.log.ErrorContext(ctx, "recording a failed act", "error", err)
	}
	return why
}

// RecordFailed records in sink that an allowed act ended before it had its effect, and returns why.
func RecordFailed(ctx context.Context, sink audit.Sink, log *slog.Logger, act *audit.Act, why error) error {
	if err := sink.Append(ctx, Failed(act, why)); err != nil {
		log.ErrorContext(ctx, "recording a failed act", "error", err)
	}
	return why
}

// Failed is the entry of that: of why it has the kind alone, and never another system's words.
func Failed(act *audit.Act, why error) audit.Entry {
	if known, ok := errors.AsType[*Error](why); ok {
		return act.Failed(known.Kind.Error())
	}
	return act.Failed("failed")
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
func (b *core) call(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, b.terms.CallTimeout)
}

// cleanup is a context for undoing what a request began: it outlives the request.
func (b *core) cleanup(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 2*b.terms.CallTimeout)
}

// findVIM returns the VIM that ref names to p for an action: by id, or by name in its
// project and then among the shared ones. That there is none is recorded. Whether p may
// see it is for enter to say.
func (b *core) findVIM(ctx context.Context, p policy.Principal, action policy.Action, ref string) (VIM, error) {
	v, err := b.lookUpVIM(ctx, p, ref)
	if errors.Is(err, ErrNotFound) {
		return VIM{}, b.refuseMissing(ctx, p, action, policy.KindVIM)
	}
	return v, err
}

func (b *core) lookUpVIM(ctx context.Context, p policy.Principal, ref string) (VIM, error) {
	if _, err := uuid.Parse(ref); err == nil {
		v, err := b.vims.VIM(ctx, ref)
		if errors.Is(err, ErrNotFound) || v.State == VIMRegistering {
			return VIM{}, vimNotFound()
		}
		return v, err
	}
	if ref == "" {
		return b.defaultVIM(ctx, p)
	}
	found, _, err := b.vims.VIMs(ctx, VIMFilter{Project: p.Project, Name: ref, Page: Page{Size: 10}})
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
func (b *core) visibleVIM(ctx context.Context, p policy.Principal, action policy.Action, ref string) (VIM, error) {
	v, err := b.findVIM(ctx, p, action, ref)
	if err != nil {
		return VIM{}, err
	}
	if !b.guard.Allows(p, policy.VIMShow, vimResource(v)) {
		return VIM{}, b.refuseInvisible(ctx, p, action, v)
	}
	return v, nil
}

func (b *core) defaultVIM(ctx context.Context, p policy.Principal) (VIM, error) {
	found, _, err := b.vims.VIMs(ctx, VIMFilter{Project: p.Project, Default: true, Page: Page{Size: 100}})
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
func (b *core) findLease(ctx context.Context, p policy.Principal, action policy.Action, id string) (Lease, error) {
	if _, err := uuid.Parse(id); err != nil {
		return Lease{}, b.refuseMissing(ctx, p, action, policy.KindLease)
	}
	l, err := b.leases.Lease(ctx, id)
	if errors.Is(err, ErrNotFound) { // a successor outlives the row of the first lease, whose id is its login
		l, err = b.leases.LeaseByLogin(ctx, strings.ToLower(id))
	}
	if errors.Is(err, ErrNotFound) {
		return Lease{}, b.refuseMissing(ctx, p, action, policy.KindLease)
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

// Resource is the VIM as policies see it.
func (v VIM) Resource() policy.Resource {
	return policy.Resource{
		Kind: policy.KindVIM, ID: v.ID, Project: v.Project,
		VIMType: string(v.Type), VIMName: v.Name, Shared: v.Shared, SharedWith: v.SharedWith, Labels: v.Labels,
		EndpointHost: endpointHost(v.Current.Target),
	}
}

// Resource is the lease as policies see it.
func (l Lease) Resource() policy.Resource {
	return policy.Resource{
		Kind: policy.KindLease, ID: l.ID, Project: l.Project, Owner: l.Principal,
		VIMProject: l.VIMProject, VIMType: string(l.VIMType), VIMName: l.VIMName, VIM: l.VIM,
	}
}

var vimResource, leaseResource = VIM.Resource, Lease.Resource

// leased is leaseResource of a lease on the VIM, with what that says.
func (v VIM) leased(l Lease) policy.Resource {
	res := leaseResource(l)
	if g, ok := v.generation(l.VIMGeneration); ok {
		res.EndpointHost = endpointHost(g.Target)
	}
	return res
}

func system(pass string) policy.Principal { return System(pass, "") }

func (b *core) eachVIM(ctx context.Context, f VIMFilter, do func(VIM)) error {
	f.Size = 500
	for v, err := range Pages(&f.Page, func() ([]VIM, string, error) { return b.vims.VIMs(ctx, f) }) {
		switch {
		case err != nil:
			return err
		case v.Damaged:
			b.log.ErrorContext(ctx, "what is stored of a VIM cannot be read, so no pass goes over it", "vim", v.ID)
		default:
			do(v)
		}
	}
	return nil
}

func (b *core) eachLease(ctx context.Context, f LeaseFilter, do func(Lease) error) error {
	for l, err := range Pages(&f.Page, func() ([]Lease, string, error) { return b.leases.Leases(ctx, f) }) {
		if err == nil {
			err = do(l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachToEnd is eachLease for a pass that ends leases, with the act of each.
func (b *core) eachToEnd(
	ctx context.Context, pass string, f LeaseFilter, about func(Lease) policy.Resource, do func(Lease, *audit.Act) error,
) error {
	p := system(pass)
	return b.eachLease(ctx, f, func(l Lease) error {
		act, err := b.enter(ctx, p, policy.LeaseRevoke, about(l), policy.Wish{})
		if err != nil {
			return err
		}
		return do(l, act)
	})
}

// anyProject stands for every project where a list asks whether it may cross them.
const anyProject = "*"

func (b *core) seesAll(p policy.Principal, action policy.Action) bool {
	return b.guard.Allows(p, action, InProject(anyProject))
}

// endpointHost is the host of an endpoint, without a port; empty where there is none.
func endpointHost(t Target) string {
	u, err := url.Parse(t.Endpoint)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// digest tells two requests under one idempotency key apart. No credential goes
// in: a digest of a weak password would give it away.
func digest(parts ...any) string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode(parts) // plain data always encodes
	return hex.EncodeToString(h.Sum(nil))
}

// MaxIdempotencyKey bounds an idempotency key, in bytes.
const MaxIdempotencyKey = 128

// CheckIdempotencyKey returns the [ErrInvalid] of a key that cannot be one.
func CheckIdempotencyKey(key string) error {
	if len(key) > MaxIdempotencyKey {
		return Invalid("Idempotency-Key", "is longer than %d characters", MaxIdempotencyKey)
	}
	for _, r := range key {
		if r < 0x21 || r > 0x7e {
			return Invalid("Idempotency-Key", "holds a character other than visible ASCII")
		}
	}
	return nil
}

func generationText(n int64) string { return strconv.FormatInt(n, 10) }
