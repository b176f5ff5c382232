package broker

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// CheckVIM checks a VIM now, records what was found as its health, and returns
// it. That the VIM is not well is no error.
func (b *Registry) CheckVIM(ctx context.Context, p policy.Principal, ref string) (VIM, error) {
	v, err := b.findVIM(ctx, p, policy.VIMCheck, ref)
	if err != nil {
		return VIM{}, err
	}
	if err := b.read(ctx, p, policy.VIMCheck, vimResource(v)); err != nil {
		return VIM{}, err
	}
	v.Health, err = b.check(ctx, v)
	return v, err
}

// CheckDue is the pass that checks every VIM whose time has come, also if that is during
// the pass. A VIM that does not answer keeps a place for as long as its check takes; its
// project has at most checkOfProject of the checkVIMs places, so others go on beside it.
func (b *Registry) CheckDue(ctx context.Context) error {
	return b.inTurn(ctx, newFairQueue(checkVIMs, checkOfProject), func() (due []turn, err error) {
		err = b.eachVIM(ctx, VIMFilter{State: VIMRegistered, CheckDue: b.now()}, func(v VIM) {
			due = append(due, turn{vim: v.ID, project: v.Project, since: v.Health.Next})
		})
		return due, err
	}, func(ctx context.Context, vim string) (again bool, err error) {
		v, err := b.vims.VIM(ctx, vim)
		if err != nil || v.State != VIMRegistered {
			return false, ignore(err, ErrNotFound)
		}
		h, err := b.check(ctx, v)
		if err != nil || h.Status != HealthReachable {
			return false, err
		}
		err = b.keepAccount(ctx, v)
		return err == nil, err
	})
}

// ignore is for work on what somebody may have removed, or ended, since it was listed.
func ignore(err, known error) error {
	if errors.Is(err, known) {
		return nil
	}
	return err
}

// check asks the VIM, and records the answer. It fails only if the broker's own parts
// do: that says nothing of the VIM.
func (b *Registry) check(ctx context.Context, v VIM) (Health, error) {
	d, err := b.driver(v.Type)
	if err != nil {
		return Health{}, err
	}
	h, err := b.examine(ctx, d, v)
	if err != nil {
		return Health{}, err
	}
	if v.State == VIMDraining { // the periodic check leaves it alone: this is when its drain is due
		if h.Next = h.CheckedAt; h.Status != HealthReachable {
			h.Next = b.nextDrain(v.Health)
		}
	}
	if h.Status != v.Health.Status {
		b.log.InfoContext(ctx, "VIM health changed", "vim", v.ID, "name", v.Name, "from", v.Health.Status, "to", h.Status)
		if h.Status == HealthReachable { // before that is stored: a check after this one would see no change
			if err := b.leaser.retryIrrevocable(ctx, v); err != nil {
				return Health{}, err
			}
		}
	}
	if err := b.vims.SetHealth(ctx, v.ID, v.Current.Number, h); err != nil && !errors.Is(err, ErrNotFound) {
		return Health{}, err
	}
	return h, nil
}

func (b *Registry) examine(ctx context.Context, d Driver, v VIM) (Health, error) {
	// The VIM's last answer is still the best that is known of its abilities.
	h := Health{
		CheckedAt: b.now(), Next: b.nextCheck(), Version: v.Health.Version,
		CanMint: v.Health.CanMint, MintMessage: v.Health.MintMessage, ExternalIPs: v.Health.ExternalIPs,
	}
	o, err := b.open(ctx, v, v.Current)
	switch {
	case errors.Is(err, ErrUnopenable):
		h.Status, h.Message = HealthUnopenable, message(err)
		return h, nil
	case err != nil:
		return Health{}, err
	}
	defer o.close()
	ctx, cancel := b.call(ctx)
	defer cancel()
	report, err := d.Check(ctx, o.Access)
	if err == nil {
		err = echoes(o.Access.Credential, report.texts()...)
	}
	switch {
	case errors.Is(err, ErrUnavailable):
		return Health{}, err
	case errors.Is(err, ErrUnauthorized), errors.Is(err, ErrForbidden):
		h.Status, h.Message = HealthUnauthorized, message(err)
	case identityChanged(err):
		h.Status, h.Message = HealthIdentityChanged, message(err)
	case err != nil:
		h.Status, h.Message = HealthUnreachable, message(err)
	case report.Identity != v.Current.Identity:
		h.Status = HealthIdentityChanged
		h.Message = "another system answers at the endpoint than the one that was registered; if that is meant, delete the VIM and " +
			"register it anew"
	default:
		return b.health(report), nil
	}
	return h, nil
}

// identityChanged reports whether a check says that the VIM is not what was registered.
func identityChanged(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Another
}

// probe is a driver's check of something not yet stored.
func (b *Registry) probe(ctx context.Context, d Driver, a Access) (Report, error) {
	ctx, cancel := b.call(ctx)
	defer cancel()
	report, err := d.Check(ctx, a)
	if err == nil && report.Identity == "" {
		err = noIdentity()
	}
	if err == nil {
		err = echoes(a.Credential, report.texts()...)
	}
	return report, err
}

func noIdentity() error {
	return &Error{Kind: ErrUnreachable, Detail: "the VIM does not say which system it is"}
}

// health is what a check that found all well says.
func (b *Registry) health(r Report) Health {
	return Health{
		Status: HealthReachable, CheckedAt: b.now(), Next: b.nextCheck(),
		Version: r.Version, CanMint: r.CanMint, MintMessage: r.MintMessage, ExternalIPs: r.ExternalIPs,
	}
}

// nextCheck spreads the checks, so that VIMs registered together are not for
// ever checked together.
func (b *Registry) nextCheck() time.Time {
	every := b.terms.CheckEvery
	return b.now().Add(every - time.Duration(rand.Int64N(int64(every)/10+1))) //nolint:gosec // no secret hangs on this jitter
}

// message is what of an error may be shown and kept.
func message(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Error()
	}
	return class(err)
}
