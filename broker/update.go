package broker

import (
	"context"
	"errors"
	"maps"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// UpdateVIM changes what c names and nothing else.
//
// A change of endpoint, CA, credential or namespace writes a new generation,
// checked at the real endpoint first; leases alive stay pinned to the one they
// were issued from. Changing where the credential is sent needs the credential
// again ([ErrInvalid]). Another system answering there is [ErrConflict]: that
// is another VIM. A VIM that is being deleted takes nothing but another credential.
// The VIM still opens as before after any error.
func (b *Registry) UpdateVIM(ctx context.Context, p policy.Principal, ref string, c Change) (VIM, error) {
	return decided(func() (VIM, error) { return b.updateVIM(ctx, p, ref, c) })
}

func (b *Registry) updateVIM(ctx context.Context, p policy.Principal, ref string, c Change) (VIM, error) {
	u, act, err := b.enterUpdate(ctx, p, ref, policy.VIMUpdate, c)
	if err != nil {
		return VIM{}, err
	}
	c = u.change
	if err := c.valid(); err != nil {
		return VIM{}, b.refuse(ctx, act, err)
	}
	if err := b.enterExtraRights(ctx, p, u.vim, u.wish(u.vim)); err != nil {
		return VIM{}, b.refuse(ctx, act, err)
	}
	if c.makesGeneration() {
		v, err := b.writeGeneration(ctx, u, act)
		if err == nil {
			b.leaser.endChanged(ctx, u.vim, v)
		}
		return v, err
	}
	done := act.Done()
	v, err := b.vims.UpdateVIM(ctx, u.vim.ID, func(now *VIM) error {
		if err := b.writableFor(now, u); err != nil {
			return err
		}
		before := *now
		c.apply(now)
		addChanges(done, before, *now)
		now.UpdatedAt = b.now()
		if err := now.validNotes(); err != nil {
			return err
		}
		size := len(now.Current.Sealed)
		return b.terms.VIMs.fits(before, size, *now, size)
	}, done)
	if err != nil {
		return VIM{}, b.refuseUpdate(ctx, act, err)
	}
	b.leaser.endChanged(ctx, u.vim, v)
	return v, nil
}

// RotateVIM puts a credential in the place of the VIM's, after a check, as a new
// generation. Also of a VIM that is being deleted, which then goes on.
func (b *Registry) RotateVIM(ctx context.Context, p policy.Principal, ref string, cred Credential, ifRevision int64) (VIM, error) {
	return decided(func() (VIM, error) {
		u, act, err := b.enterUpdate(ctx, p, ref, policy.VIMRotate, Change{Credential: cred, IfRevision: ifRevision})
		if err != nil {
			return VIM{}, err
		}
		if cred.Empty() {
			return VIM{}, b.refuse(ctx, act, Invalid("credential", "is required"))
		}
		return b.writeGeneration(ctx, u, act)
	})
}

// enterUpdate decides on what the change would come to.
func (b *Registry) enterUpdate(
	ctx context.Context, p policy.Principal, ref string, action policy.Action, c Change,
) (*edit, *audit.Act, error) {
	v, err := b.findVIM(ctx, p, action, ref)
	if err != nil {
		return nil, nil, err
	}
	invalid := c.tied(p)
	if c.SharedWith != nil && invalid == nil {
		var projects []string
		projects, invalid = sharedWith(*c.SharedWith, v.Project)
		c.SharedWith = &projects
	}
	u := &edit{caller: p, action: action, vim: v, change: c, target: v.Current.Target, keyStore: v.Current.KeyStore}
	if invalid == nil && c.makesGeneration() {
		u.keyStore = b.keys.Name()
		invalid = b.plan(u)
		if now := v.Current.Target; invalid == nil && c.SameServer && (!u.target.sameServer(now) || now.InsecureSkipVerify) {
			invalid = &Error{
				Kind: ErrConflict, Field: "endpoint", Detail: "the credential leads to another server than the VIM's, or to one that is not verified",
			}
		}
	}
	act, err := b.enter(ctx, p, action, vimResource(v), u.wish(v))
	if err != nil {
		return nil, nil, err
	}
	if invalid != nil {
		return nil, nil, b.refuse(ctx, act, invalid)
	}
	return u, act, nil
}

func (c Change) valid() error {
	if c.Name != nil {
		if err := validName(*c.Name); err != nil {
			return err
		}
	}
	if err := validNotes("", c.Extra); err != nil {
		return err
	}
	if c.Suspended != nil && !shortText(*c.Suspended) {
		return Invalid("suspended", "must be at most 255 printable characters")
	}
	if c.Cloud != "" && c.CloudsYAML.Empty() {
		return Invalid("cloud", "selects from a clouds.yaml, and there is none")
	}
	if c.Context != "" && c.Kubeconfig.Empty() {
		return Invalid("context", "selects from a kubeconfig, and there is none")
	}
	return nil
}

func (c Change) makesGeneration() bool {
	return c.Endpoint != nil || c.CACert != nil || c.InsecureSkipVerify != nil || c.ServerName != nil || c.Namespace != nil ||
		c.Scope != nil || c.SharedKinds != nil || c.PodsHeldBy != nil || c.given()
}

func (c Change) given() bool {
	return !c.Credential.Empty() || !c.Kubeconfig.Empty() || !c.CloudsYAML.Empty()
}

// apply makes the changes that no generation holds.
func (c Change) apply(v *VIM) {
	set(&v.Name, c.Name)
	if len(c.Labels) > 0 {
		labels := maps.Clone(v.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		for k, val := range c.Labels {
			if val == nil {
				delete(labels, k)
			} else {
				labels[k] = *val
			}
		}
		v.Labels = labels
	}
	set(&v.Description, c.Description)
	v.Extra = mergeExtra(v.Extra, c.Extra)
	set(&v.Shared, c.Shared)
	set(&v.SharedWith, c.SharedWith)
	set(&v.Default, c.Default)
	set(&v.Suspended, c.Suspended)
}

// set changes what a change names; nil names nothing.
func set[T any](to, given *T) {
	if given != nil {
		*to = *given
	}
}

// writable reports whether the VIM can be written now, by someone who read revision.
func (v *VIM) writable(revision int64) error {
	if v.State == VIMDraining {
		return &Error{Kind: ErrConflict, Detail: "the VIM is being deleted"}
	}
	return v.writableAny(revision)
}

// writableAny is writable, also for a VIM that is being deleted.
func (v *VIM) writableAny(revision int64) error {
	switch {
	case revision != 0 && revision != v.Revision:
		return &Error{
			Kind: ErrPrecondition, Field: "If-Match", Detail: "the VIM has changed since it was read", Remedy: "read it again and repeat the change",
		}
	case v.Pending != nil:
		return &Error{Kind: ErrConflict, Detail: "another write of the VIM's credential is under way", Remedy: "try again in a moment"}
	}
	return nil
}

// writeGeneration writes the next generation: intent, check, key, switch.
func (b *Registry) writeGeneration(ctx context.Context, u *edit, act *audit.Act) (VIM, error) {
	if err := b.keepCredential(ctx, u); err != nil {
		return VIM{}, b.refuse(ctx, act, err)
	}
	mine := &Pending{Generation: u.vim.Current.Number + 1, Since: b.now()}
	act.With(audit.DetailGeneration, generationText(mine.Generation))
	if u.change.given() || u.renews {
		act.With(newCredential, notShown)
	}
	size, err := sealedSize(u.credential)
	if err != nil {
		return VIM{}, b.refuse(ctx, act, err)
	}
	intent := act.Intent()
	v, err := b.vims.UpdateVIM(ctx, u.vim.ID, func(now *VIM) error {
		if err := b.writableFor(now, u); err != nil {
			return err
		}
		if now.Current.Number+1 != mine.Generation {
			return changedMeanwhile()
		}
		after := *now
		u.change.apply(&after)
		after.Current.Target = u.target
		addChanges(intent, *now, after)
		if err := b.terms.VIMs.fits(*now, len(now.Current.Sealed), after, size); err != nil {
			return err
		}
		now.Pending = mine
		return nil
	}, intent)
	if err != nil {
		return VIM{}, b.refuseUpdate(ctx, act, err)
	}
	failpoint.At("update.intent")

	stored, err := b.switchGeneration(ctx, v, mine, u, act)
	if err != nil {
		b.undoUpdate(ctx, v, mine, act.Failed(class(err)))
		return VIM{}, err
	}
	failpoint.At("update.switched")
	if err := b.leaser.retryIrrevocable(ctx, stored); err != nil {
		b.log.WarnContext(ctx, "leases that were given up are not taken up again", "vim", v.ID, "error", err)
	}
	b.RetireKeys(ctx)
	b.warnUnverified(ctx, stored)
	return stored, nil
}

// plan works out target and credential of the generation to come, as far as that
// needs nobody's answer.
func (b *Registry) plan(u *edit) error {
	v, c, now := u.vim, &u.change, u.vim.Current.Target
	var err error
	if u.driver, err = b.driver(v.Type); err != nil {
		return err
	}
	if err := u.driver.Type().chooseKind(&c.Credential); err != nil {
		return err
	}
	if err := c.leavesDestination(now); err != nil {
		return err
	}
	said, err := c.vouched(u.driver.Type(), now.Vouched)
	if err != nil {
		return err
	}
	r := Registration{
		Name: v.Name, Type: v.Type, Endpoint: now.Endpoint, CACert: now.CACert,
		InsecureSkipVerify: now.InsecureSkipVerify, ServerName: now.ServerName, Namespace: now.Namespace, Scope: now.Scope,
		Credential: c.Credential, Kubeconfig: c.Kubeconfig, Context: c.Context, CloudsYAML: c.CloudsYAML, Cloud: c.Cloud,
	}
	if !c.Kubeconfig.Empty() || !c.CloudsYAML.Empty() {
		// Such a file says where it leads itself; only the namespace may be kept.
		r.Endpoint, r.CACert, r.InsecureSkipVerify, r.ServerName, r.Scope = "", "", false, "", Scope{}
	}
	set(&r.Scope, c.Scope)
	set(&r.Endpoint, c.Endpoint)
	if c.CACert != nil {
		r.CACert = *c.CACert
		r.InsecureSkipVerify = r.InsecureSkipVerify && *c.CACert == "" // a CA given ends the insecure state
	}
	if c.InsecureSkipVerify != nil {
		r.InsecureSkipVerify = *c.InsecureSkipVerify
		if r.InsecureSkipVerify && c.CACert == nil {
			r.CACert = ""
		}
	}
	set(&r.ServerName, c.ServerName)
	set(&r.Namespace, c.Namespace)
	if !c.given() {
		u.target.Namespace, u.target.Vouched = r.Namespace, said // all that can be another
		return nil
	}
	if u.target, u.credential, err = b.normalize(u.driver, r); err != nil {
		u.target = now
		return err
	}
	u.target.Vouched = said
	return nil
}

// SameTarget reports whether a kubeconfig leads where a VIM that p may see leads, by the same authority. It asks nobody.
// It is [ErrInvalid] for a kubeconfig that the VIM could not be changed to.
func (b *Registry) SameTarget(ctx context.Context, p policy.Principal, ref string, kubeconfig secret.Text) (bool, error) {
	v, err := b.VIM(ctx, p, ref)
	if err != nil {
		return false, err
	}
	u := &edit{vim: v, change: Change{Kubeconfig: kubeconfig}}
	err = b.plan(u)
	return err == nil && u.target == v.Current.Target, err
}

// leavesDestination refuses a change of where the credential is sent that does not bring the credential.
func (c Change) leavesDestination(now Target) error {
	if c.given() {
		return nil
	}
	for _, f := range []struct {
		field   string
		changed bool
	}{
		{"endpoint", c.Endpoint != nil && *c.Endpoint != now.Endpoint},
		{"caCert", c.CACert != nil && *c.CACert != now.CACert},
		{"scope", c.Scope != nil && *c.Scope != now.Scope},
		{"insecureSkipVerify", c.InsecureSkipVerify != nil && *c.InsecureSkipVerify != now.InsecureSkipVerify},
		{"serverName", c.ServerName != nil && *c.ServerName != now.ServerName},
	} {
		if f.changed {
			return &Error{
				Kind: ErrInvalid, Field: "credential",
				Detail: "changing " + f.field + " changes where the credential is sent, so it must be given again",
				Remedy: "repeat the change with the credential",
			}
		}
	}
	return nil
}

// keepCredential takes the VIM's own credential over into the generation to come, where
// the change brings none.
func (b *Registry) keepCredential(ctx context.Context, u *edit) error {
	if u.change.given() || u.renews {
		return nil
	}
	o, err := b.open(ctx, u.vim, u.vim.Current)
	if err != nil {
		return err
	}
	defer o.close()
	target := u.target
	u.target, u.credential, err = u.driver.Normalize(Registration{
		Name: u.vim.Name, Type: u.vim.Type, Endpoint: target.Endpoint, CACert: target.CACert,
		InsecureSkipVerify: target.InsecureSkipVerify, ServerName: target.ServerName, Namespace: target.Namespace,
		Scope: target.Scope, Credential: o.Credential,
	})
	u.target.Vouched = target.Vouched
	return err
}

func (b *Registry) switchGeneration(ctx context.Context, v VIM, mine *Pending, u *edit, act *audit.Act) (VIM, error) {
	g := Generation{Number: mine.Generation, Target: u.target}
	same := func(r Report) error {
		if r.Identity == v.Current.Identity {
			return nil
		}
		return &Error{
			Kind: ErrConflict, Field: "endpoint",
			Detail: "another system answers there than the one that was registered",
			Remedy: "register it as a VIM of its own",
		}
	}
	prove := func() (Credential, Report, error) {
		wish := u.change.Account
		if wish != nil && v.Current.Discovered.Cluster != nil {
			wish = &Account{Name: wish.Name, Profile: wish.Profile, Before: v.Current.Discovered.User}
		}
		return b.prove(ctx, u.driver, b.access(v, g, u.credential), wish, same)
	}
	if u.renews {
		prove = func() (Credential, Report, error) { return b.renewAccount(ctx, v, same) }
	}
	cred, report, err := prove()
	if err != nil {
		return VIM{}, err
	}
	failpoint.At("update.checked")
	g.Identity, g.Discovered, g.CredentialExpiresAt = report.Identity, report.Discovered, report.CredentialExpiresAt
	key, err := b.sealGeneration(ctx, b.keys, v, &g, SealedCurrent, cred)
	if err != nil {
		return VIM{}, err
	}
	key.Clear()
	done := act.Done()
	stored, err := b.vims.UpdateVIM(ctx, v.ID, func(now *VIM) error {
		if !now.pendingIs(mine) {
			return overtaken()
		}
		before := *now
		u.change.apply(now)
		now.Pending, now.Current = nil, g
		addChanges(done, before, *now)
		now.UpdatedAt = b.now()
		if now.Health = b.health(report); now.State == VIMDraining {
			now.Health.Next = now.Health.CheckedAt // its drain goes on at once
		}
		return now.validNotes()
	}, done)
	b.discard(ctx, err, g)
	return stored, err
}

// undoUpdate removes what a failed write of a generation left; the VIM is as it was.
func (b *Registry) undoUpdate(ctx context.Context, v VIM, mine *Pending, e audit.Entry) {
	ctx, cancel := b.cleanup(ctx)
	defer cancel()
	err := b.clearPending(ctx, v.ID, mine, e)
	if err == nil {
		return
	}
	b.log.WarnContext(ctx, "a failed update is left for the settle pass", "vim", v.ID, "error", err)
	if errors.Is(err, errOvertaken) {
		return
	}
	// Nobody is at it any more: the pass need not wait as it does for a process that may have died.
	_, err = b.vims.UpdateVIM(ctx, v.ID, func(now *VIM) error {
		if !now.pendingIs(mine) {
			return overtaken()
		}
		now.Pending = &Pending{Generation: mine.Generation, Since: mine.Since.Add(-b.terms.AbandonedAfter)}
		return nil
	}, e)
	if err != nil {
		b.log.WarnContext(ctx, "that an update failed cannot be stored", "vim", v.ID, "error", err)
	}
}

// clearPending destroys the keys an unfinished write left, and then forgets the write.
func (b *Registry) clearPending(ctx context.Context, id string, mine *Pending, e audit.Entry) error {
	if err := b.sweepKeys(ctx, id, mine); err != nil {
		return err
	}
	failpoint.At("update.undo-keys")
	_, err := b.vims.UpdateVIM(ctx, id, func(now *VIM) error {
		if !now.pendingIs(mine) {
			return overtaken()
		}
		now.Pending = nil
		return nil
	}, e)
	return err
}
