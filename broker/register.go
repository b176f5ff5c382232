package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// RegisterVIM checks a VIM at its real endpoint, seals its credential and stores
// it in p's project. Nothing of it is left if it fails.
//
// A repeat under the same Registration.IdempotencyKey answers with the VIM that
// the first call made; with another request under that key it is [ErrConflict].
func (b *Registry) RegisterVIM(ctx context.Context, p policy.Principal, r Registration) (VIM, error) {
	v, d, cred, invalid := b.newVIM(p, r)
	weighed := draft(VIM{}, v, b.keys.Name())
	weighed.Inline = r.Inline != nil
	wish := policy.Wish{VIM: weighed}
	act, err := b.enter(ctx, p, policy.VIMRegister, resourceOfNew(v), wish)
	if err != nil {
		return VIM{}, err
	}
	if invalid != nil {
		return VIM{}, b.refuse(ctx, act, invalid)
	}
	if err := b.enterExtraRights(ctx, p, v, wish); err != nil {
		return VIM{}, b.refuse(ctx, act, err)
	}
	intent := act.Intent()
	addChanges(intent, VIM{}, v)
	if err := b.vims.CreateVIM(ctx, v, b.terms.VIMs.PerProject, intent); err != nil {
		old, replay := b.registered(ctx, p, v, err)
		switch {
		case replay != nil:
			return VIM{}, b.refuse(ctx, act, replay)
		case old.ID == "":
			return VIM{}, b.refuse(ctx, act, err)
		}
		return old, Unrecorded(b.entries.Append(ctx, act.About(vimResource(old)).Done(audit.DetailReason, sameRequest)))
	}
	failpoint.At("register.intent")

	stored, err := b.completeRegistration(ctx, d, v, cred, r, act)
	if err != nil {
		b.undoRegistration(ctx, v, act.Failed(class(err)))
		return VIM{}, err
	}
	failpoint.At("register.done")
	b.warnUnverified(ctx, stored)
	return stored, nil
}

// sameRequest is the reason of an entry about a request that was made before, under the same
// Idempotency-Key.
const sameRequest = "repeat of the same request"

func resourceOfNew(v VIM) policy.Resource {
	res := InProject(v.Project)
	res.VIM, res.VIMName, res.EndpointHost = v.ID, v.Name, endpointHost(v.Current.Target)
	return res
}

// newVIM builds the row of a registration and the credential to seal for it. Where it
// refuses the registration, the row says as much of it as can be told.
func (b *Registry) newVIM(p policy.Principal, r Registration) (VIM, Driver, Credential, error) {
	fail := func(err error) (VIM, Driver, Credential, error) {
		return VIM{
			Project: cmp.Or(r.Project, p.Project), Name: r.Name, Type: r.Type, Labels: r.Labels, Shared: r.Shared,
			SharedWith: r.SharedWith, Default: r.Default,
			Current: Generation{Target: Target{Endpoint: r.Endpoint, InsecureSkipVerify: r.InsecureSkipVerify}},
		}, nil, Credential{}, err
	}
	if r.Inline != nil {
		r.Labels = r.Inline.labels()
	}
	err := cmp.Or(validName(r.Name), ValidLabels(r.Labels))
	if err == nil {
		r.SharedWith, err = sharedWith(r.SharedWith, cmp.Or(r.Project, p.Project))
	}
	err = cmp.Or(err, validNotes(r.Description, r.Extra))
	if err == nil && r.Project != "" {
		err = validProject(r.Project)
	}
	if err := cmp.Or(err, CheckIdempotencyKey(r.IdempotencyKey)); err != nil {
		return fail(err)
	}
	d, err := b.chooseType(&r)
	if err != nil {
		return fail(err)
	}
	if err := d.Type().chooseKind(&r.Credential); err != nil {
		return fail(err)
	}
	target, cred, err := b.normalize(d, r)
	if err != nil {
		return fail(err)
	}
	size, err := sealedSize(cred)
	if err != nil {
		return fail(err)
	}
	now := b.now()
	v := VIM{
		ID: cmp.Or(r.ID, uuid.NewString()), Project: cmp.Or(r.Project, p.Project), Name: r.Name, Type: r.Type, State: VIMRegistering,
		Labels: r.Labels, Description: r.Description, Extra: r.Extra, Shared: r.Shared, SharedWith: r.SharedWith, Default: r.Default,
		CreatedBy: p.Name, CreatedAt: now, UpdatedAt: now,
		Current:        Generation{Target: target},
		Pending:        &Pending{Generation: 1, Since: now},
		Health:         Health{Status: HealthUnchecked, Next: now.Add(b.terms.CheckEvery)},
		IdempotencyKey: r.IdempotencyKey,
		RequestDigest:  registrationDigest(r, target, cred),
	}
	if err := b.terms.VIMs.fits(VIM{}, 0, v, size); err != nil {
		return fail(err)
	}
	return v, d, cred, nil
}

// registrationDigest tells requests apart. A field that came later counts only where
// it is set, so that a request that is repeated across an upgrade is the same.
func registrationDigest(r Registration, target Target, cred Credential) string {
	parts := []any{r.Name, r.Type, target, r.Labels, r.Shared, r.Default, cred.Kind, cred.Username, r.Description, r.Extra}
	if len(r.SharedWith) > 0 {
		parts = append(parts, r.SharedWith)
	}
	return digest(parts...)
}

// registered answers a repeat of an earlier registration; it is empty when this
// is none.
func (b *Registry) registered(ctx context.Context, p policy.Principal, v VIM, createErr error) (VIM, error) {
	var e *Error
	if v.IdempotencyKey == "" || !errors.As(createErr, &e) || !errors.Is(e, ErrExists) {
		return VIM{}, nil
	}
	old, err := b.vims.VIMByKey(ctx, p.Name, v.IdempotencyKey)
	switch {
	case errors.Is(err, ErrNotFound):
		return VIM{}, nil // the name is taken by another registration
	case err != nil:
		return VIM{}, err
	case old.RequestDigest != v.RequestDigest || old.Project != v.Project:
		return VIM{}, otherRequest()
	case old.State == VIMRegistering:
		return VIM{}, b.notEnded(old.CreatedAt)
	}
	return old, nil
}

func (b *Registry) completeRegistration(
	ctx context.Context, d Driver, v VIM, cred Credential, r Registration, act *audit.Act,
) (VIM, error) {
	g := Generation{Number: 1, Target: v.Current.Target}
	a := b.access(v, g, cred)
	cred, report, err := b.prove(ctx, d, a, r.Account, b.admitting(ctx, d, a, r.Admit))
	if err != nil {
		return VIM{}, err
	}
	failpoint.At("register.checked")
	g.Identity, g.Discovered, g.CredentialExpiresAt = report.Identity, report.Discovered, report.CredentialExpiresAt
	key, err := b.sealGeneration(ctx, b.keys, v, &g, SealedCurrent, cred)
	if err != nil {
		return VIM{}, err
	}
	key.Clear()
	done := act.Done(audit.DetailGeneration, "1")
	stored, err := b.vims.UpdateVIM(ctx, v.ID, func(now *VIM) error {
		if !now.pendingIs(v.Pending) {
			return overtaken()
		}
		now.State, now.Pending, now.Current = VIMRegistered, nil, g
		addChanges(done, VIM{}, *now)
		now.UpdatedAt = b.now()
		now.Health = b.health(report)
		return nil
	}, done)
	if errors.Is(err, ErrNotFound) {
		err = overtaken()
	}
	b.discard(ctx, err, g)
	return stored, err
}

// undoRegistration removes what a failed registration left. Whatever it cannot
// remove now, the settle pass does.
func (b *Registry) undoRegistration(ctx context.Context, v VIM, e audit.Entry) {
	ctx, cancel := b.cleanup(ctx)
	defer cancel()
	err := b.sweepKeys(ctx, v.ID, v.Pending)
	failpoint.At("register.undo-keys")
	if err == nil {
		err = b.vims.DeleteVIM(ctx, v.ID, false, e)
	}
	if err != nil {
		b.log.WarnContext(ctx, "a failed registration is left for the settle pass", "vim", v.ID, "error", err)
	}
}

func (v *VIM) pendingIs(mine *Pending) bool {
	return v.Pending != nil && v.Pending.Generation == mine.Generation && v.Pending.Since.Equal(mine.Since)
}

// errOvertaken: another pass or process has taken over a write that seemed to be nobody's.
var errOvertaken = errors.New("the write was taken over")

func overtaken() error {
	return &Error{Kind: ErrConflict, Detail: "the operation timed out and was rolled back", Remedy: "try again", Cause: errOvertaken}
}

func otherRequest() error {
	return &Error{
		Kind: ErrConflict, Field: "Idempotency-Key", Detail: "was used for another request", Remedy: "use a new key for a new request",
	}
}

// notEnded is the answer to a repeat of a request that began at since: it is still
// running, or its process died and the settle pass is to clear away what it left.
func (b *core) notEnded(since time.Time) error {
	now := b.now()
	if now.Before(since.Add(3 * b.terms.CallTimeout)) {
		return &Error{
			Kind: ErrConflict, Field: "Idempotency-Key", Detail: "the first request with it is still running",
			Remedy: "try again in a moment", RetryAfter: time.Second,
		}
	}
	wait := max(since.Add(b.terms.AbandonedAfter+b.terms.SettleEvery).Sub(now), time.Second)
	return &Error{
		Kind: ErrConflict, Field: "Idempotency-Key", Detail: "the first request with it did not finish; its server may have crashed",
		Remedy: fmt.Sprintf("try again in %s, when what it left is cleared away, or use a new key", wait.Round(time.Second)), RetryAfter: wait,
	}
}

// denied gives a refusal a field, where an act needs a second permission.
func denied(err error, field, detail string) error {
	if errors.Is(err, ErrUnavailable) {
		return err
	}
	return &Error{Kind: ErrDenied, Field: field, Detail: detail, Remedy: "leave it out, or ask an administrator", Cause: err}
}

// labelKey is a Kubernetes label key; so is the limit of its value.
var (
	labelKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	})
	labelValue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`) })
)

const maxLabels = 64

// ValidLabels refuses what are no labels of Kubernetes, or too many.
func ValidLabels(labels map[string]string) error {
	if len(labels) > maxLabels {
		return Invalid("labels", "more than %d labels", maxLabels)
	}
	for k, val := range labels {
		if !labelKey().MatchString(k) {
			return Invalid("labels", "a key must be a Kubernetes label key, like site or example.com/site")
		}
		if !labelValue().MatchString(val) {
			return Invalid("labels."+k, "is not a Kubernetes label value")
		}
	}
	return nil
}

func validName(name string) error {
	switch {
	case name == "":
		return Invalid("name", "is required")
	case name == "." || name == "..":
		return Invalid("name", "is %q, which URLs and paths read as a directory; choose another", name)
	case len(name) > 255:
		return Invalid("name", "is longer than 255 bytes")
	case strings.TrimSpace(name) != name:
		return Invalid("name", "begins or ends with a space")
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }):
		return Invalid("name", "holds a character that cannot be printed")
	}
	if _, err := uuid.Parse(name); err == nil {
		return Invalid("name", "looks like an id")
	}
	return nil
}
