package broker

import (
	"context"
	"maps"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// UpdateVIM changes what c names and nothing else.
//
// A change of endpoint, CA, credential or namespace writes a new generation,
// checked at the real endpoint first; leases alive stay pinned to the one they
// were issued from. Changing where the credential is sent needs the credential
// again ([ErrInvalid]). Another system answering there is [ErrConflict]: that
// is another VIM. The VIM still opens as before after any error.
func (b *Broker) UpdateVIM(ctx context.Context, p policy.Principal, ref string, c Change) (VIM, error) {
	v, act, err := b.enterUpdate(ctx, p, ref, policy.VIMUpdate)
	if err != nil {
		return VIM{}, err
	}
	if err := b.validChange(ctx, p, v, c); err != nil {
		return VIM{}, b.refuse(ctx, act, err)
	}
	if c.makesGeneration() {
		return b.writeGeneration(ctx, v, c, act)
	}
	v, err = b.store.UpdateVIM(ctx, v.ID, func(now *VIM) error {
		if err := now.open(c.IfRevision); err != nil {
			return err
		}
		c.apply(now)
		now.UpdatedAt = b.now()
		return now.validNotes()
	}, act.Done())
	if err != nil {
		return VIM{}, b.refuse(ctx, act, err)
	}
	return v, nil
}

// RotateVIM puts a credential in the place of the VIM's, after a check, as a new
// generation.
func (b *Broker) RotateVIM(ctx context.Context, p policy.Principal, ref string, cred Credential, ifRevision int64) (VIM, error) {
	v, act, err := b.enterUpdate(ctx, p, ref, policy.VIMRotate)
	if err != nil {
		return VIM{}, err
	}
	if cred.Empty() {
		return VIM{}, b.refuse(ctx, act, Invalid("credential", "is required"))
	}
	return b.writeGeneration(ctx, v, Change{Credential: cred, IfRevision: ifRevision}, act)
}

func (b *Broker) enterUpdate(ctx context.Context, p policy.Principal, ref string, action policy.Action) (VIM, *audit.Act, error) {
	v, err := b.findVIM(ctx, p, ref)
	if err != nil {
		return VIM{}, nil, err
	}
	act, err := b.enter(ctx, p, action, vimResource(v), policy.Wish{})
	return v, act, err
}

// validChange refuses what needs no store to refuse.
func (b *Broker) validChange(ctx context.Context, p policy.Principal, v VIM, c Change) error {
	if c.Name != nil {
		if err := validName(*c.Name); err != nil {
			return err
		}
	}
	if err := validNotes("", c.Extra); err != nil {
		return err
	}
	if c.Cloud != "" && c.CloudsYAML.Empty() {
		return Invalid("cloud", "selects from a clouds.yaml, and there is none")
	}
	if c.Context != "" && c.Kubeconfig.Empty() {
		return Invalid("context", "selects from a kubeconfig, and there is none")
	}
	if c.Shared != nil && *c.Shared != v.Shared {
		if _, err := b.enter(ctx, p, policy.VIMShare, vimResource(v), policy.Wish{}); err != nil {
			return denied(err, "shared", "policy does not let you share VIMs")
		}
	}
	return nil
}

func (c Change) makesGeneration() bool {
	return c.Endpoint != nil || c.CACert != nil || c.InsecureSkipVerify != nil || c.ServerName != nil || c.Namespace != nil ||
		c.Scope != nil || c.given()
}

// given reports whether the change brings a credential.
func (c Change) given() bool {
	return !c.Credential.Empty() || !c.Kubeconfig.Empty() || !c.CloudsYAML.Empty()
}

// apply makes the changes that no generation holds.
func (c Change) apply(v *VIM) {
	if c.Name != nil {
		v.Name = *c.Name
	}
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
	if c.Description != nil {
		v.Description = *c.Description
	}
	v.Extra = mergeExtra(v.Extra, c.Extra)
	if c.Shared != nil {
		v.Shared = *c.Shared
	}
	if c.Default != nil {
		v.Default = *c.Default
	}
}

// open reports whether the VIM can be written now, by someone who read revision.
func (v *VIM) open(revision int64) error {
	switch {
	case revision != 0 && revision != v.Revision:
		return &Error{Kind: ErrPrecondition, Field: "If-Match", Detail: "the VIM has changed since it was read", Remedy: "read it again and repeat the change"}
	case v.State == Draining:
		return &Error{Kind: ErrConflict, Detail: "the VIM is being deleted"}
	case v.Pending != nil:
		return &Error{Kind: ErrConflict, Detail: "another write of the VIM's credential is under way", Remedy: "try again in a moment"}
	}
	return nil
}

// writeGeneration writes the next generation: intent, check, key, switch.
func (b *Broker) writeGeneration(ctx context.Context, v VIM, c Change, act *audit.Act) (VIM, error) {
	d, err := b.driver(v.Type)
	if err != nil {
		return VIM{}, b.refuse(ctx, act, err)
	}
	if err := d.Type().chooseKind(&c.Credential); err != nil {
		return VIM{}, b.refuse(ctx, act, err)
	}
	target, cred, err := b.nextGeneration(ctx, d, v, c)
	if err != nil {
		return VIM{}, b.refuse(ctx, act, err)
	}
	mine := &Pending{Generation: v.Current.Number + 1, Since: b.now()}
	act.With(audit.DetailGeneration, generationText(mine.Generation))
	v, err = b.store.UpdateVIM(ctx, v.ID, func(now *VIM) error {
		if err := now.open(c.IfRevision); err != nil {
			return err
		}
		if now.Current.Number+1 != mine.Generation {
			return changedMeanwhile()
		}
		now.Pending = mine
		return nil
	}, act.Intent())
	if err != nil {
		return VIM{}, b.refuse(ctx, act, err)
	}
	failpoint.At("update.intent")

	stored, err := b.switchGeneration(ctx, d, v, mine, target, cred, c, act)
	if err != nil {
		b.undoUpdate(ctx, v, mine, act.Failed(class(err)))
		return VIM{}, err
	}
	failpoint.At("update.switched")
	if err := b.retryIrrevocable(ctx, stored); err != nil {
		b.log.WarnContext(ctx, "leases that were given up are not taken up again", "vim", v.ID, "error", err)
	}
	b.retire(ctx)
	b.warnUnverified(ctx, stored)
	return stored, nil
}

// nextGeneration works out target and credential of the generation to come.
func (b *Broker) nextGeneration(ctx context.Context, d Driver, v VIM, c Change) (Target, Credential, error) {
	now := v.Current.Target
	if !c.given() {
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
				return Target{}, Credential{}, &Error{
					Kind: ErrInvalid, Field: "credential",
					Detail: "changing " + f.field + " changes where the credential is sent, so it must be given again",
					Remedy: "repeat the change with the credential",
				}
			}
		}
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
	if c.Scope != nil {
		r.Scope = *c.Scope
	}
	if c.Endpoint != nil {
		r.Endpoint = *c.Endpoint
	}
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
	if c.ServerName != nil {
		r.ServerName = *c.ServerName
	}
	if c.Namespace != nil {
		r.Namespace = *c.Namespace
	}
	if c.given() {
		return b.normalize(d, r)
	}
	o, err := b.open(ctx, v, v.Current)
	if err != nil {
		return Target{}, Credential{}, err
	}
	defer o.close()
	r.Credential = o.Credential
	return d.Normalize(r)
}

func (b *Broker) switchGeneration(ctx context.Context, d Driver, v VIM, mine *Pending, target Target, cred Credential, c Change, act *audit.Act) (VIM, error) {
	g := Generation{Number: mine.Generation, Target: target}
	report, err := b.probe(ctx, d, b.access(v, g, cred))
	if err != nil {
		return VIM{}, err
	}
	if report.Identity != v.Current.Identity {
		return VIM{}, &Error{
			Kind: ErrConflict, Field: "endpoint",
			Detail: "another system answers there than the one that was registered",
			Remedy: "register it as a VIM of its own",
		}
	}
	failpoint.At("update.checked")
	g.Identity, g.Discovered, g.CredentialExpiresAt = report.Identity, report.Discovered, report.CredentialExpiresAt
	key, err := b.sealGeneration(ctx, b.keys[0], v.ID, &g, cred)
	if err != nil {
		return VIM{}, err
	}
	key.Clear()
	stored, err := b.store.UpdateVIM(ctx, v.ID, func(now *VIM) error {
		if !now.holds(mine) {
			return overtaken()
		}
		c.apply(now)
		now.Pending, now.Current = nil, g
		now.UpdatedAt = b.now()
		now.Health = b.health(report)
		return now.validNotes()
	}, act.Done())
	b.discard(ctx, err, g)
	return stored, err
}

// undoUpdate removes what a failed write of a generation left; the VIM is as it was.
func (b *Broker) undoUpdate(ctx context.Context, v VIM, mine *Pending, e audit.Entry) {
	ctx, cancel := b.cleanup(ctx)
	defer cancel()
	if err := b.clearPending(ctx, v.ID, mine, e); err != nil {
		b.log.WarnContext(ctx, "a failed update is left for the settle pass", "vim", v.ID, "error", err)
	}
}

// clearPending destroys the keys an unfinished write left, and then forgets the write.
func (b *Broker) clearPending(ctx context.Context, id string, mine *Pending, e audit.Entry) error {
	if err := b.sweepKeys(ctx, id, mine); err != nil {
		return err
	}
	failpoint.At("update.undo-keys")
	_, err := b.store.UpdateVIM(ctx, id, func(now *VIM) error {
		if !now.holds(mine) {
			return overtaken()
		}
		now.Pending = nil
		return nil
	}, e)
	return err
}
