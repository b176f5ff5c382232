package broker

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// RekeyVIM seals everything of a VIM under new keys, in the key store of that
// name (empty: the one for new keys), and destroys the old ones. Credential and
// leases stay what they are, and the VIM is in use all the while. The new keys
// are read back, and what is sealed with them is opened, before an old one goes.
//
// Where a lease is issued or renewed, or the VIM is written, at the same moment,
// one of the two is [ErrConflict].
//
// Keepers follow once the VIM is sealed anew. Where one fails, the same call again goes on with it.
func (b *Registry) RekeyVIM(ctx context.Context, p policy.Principal, ref, keyStore string, ifRevision int64) (VIM, error) {
	v, err := decided(func() (VIM, error) { return b.rekeyVIM(ctx, p, ref, keyStore, ifRevision) })
	if err != nil {
		return v, err
	}
	for _, k := range b.keepers {
		if err := k.RekeySecretParameters(ctx, v.ID, keyStore); err != nil {
			return v, &Error{
				Kind: ErrUnavailable, Detail: "the VIM is sealed anew, and some secret parameters of the VNF instances on it are not",
				Remedy: "rotate the VIM's key once more in a few minutes", Cause: err,
			}
		}
	}
	return v, nil
}

// Keeper has more that is sealed for VIMs, each under a key of its own: secret parameters of the
// VNF instances on them.
type Keeper interface {
	// RekeySecretParameters seals what is a VIM's anew, in the key store of that name (empty: the one for new keys).
	RekeySecretParameters(ctx context.Context, vim, keyStore string) error
	// SecretParametersElsewhere counts what is a VIM's under keys in other key stores than the one of that name.
	SecretParametersElsewhere(ctx context.Context, vim, keyStore string) (int, error)
}

// AddKeeper adds a keeper, before the broker is used.
func (b *Registry) AddKeeper(k Keeper) { b.keepers = append(b.keepers, k) }

func (b *Registry) rekeyVIM(ctx context.Context, p policy.Principal, ref, keyStore string, ifRevision int64) (VIM, error) {
	v, err := b.findVIM(ctx, p, policy.VIMRotate, ref)
	if err != nil {
		return VIM{}, err
	}
	u := &edit{
		caller: p, action: policy.VIMRotate, vim: v, change: Change{IfRevision: ifRevision},
		target: v.Current.Target, keyStore: keyStore,
	}
	keys, unknown := b.keys.Only(keyStore)
	if unknown == nil {
		u.keyStore = keys.Name()
	}
	act, err := b.enter(ctx, p, u.action, vimResource(v), u.wish(v))
	if err != nil {
		return VIM{}, err
	}
	if unknown != nil {
		return VIM{}, b.refuse(ctx, act, notConfigured(ErrInvalid, unknown))
	}
	return b.sealAnew(ctx, keys, v, func(now *VIM) error { return b.writableFor(now, u) },
		act.With(audit.DetailReason, "sealed anew in "+keys.Name()))
}

// sealAnew seals everything of a VIM under new keys in a key store, if that may be
// done to the VIM as it is now.
func (b *Registry) sealAnew(ctx context.Context, keys keyring.Ring, v VIM, may func(now *VIM) error, act *audit.Act) (VIM, error) {
	mine := &Pending{Generation: v.Current.Number, Since: b.now()}
	v, err := b.vims.UpdateVIM(ctx, v.ID, func(now *VIM) error {
		if err := may(now); err != nil {
			return err
		}
		if now.Current.Number != mine.Generation {
			return changedMeanwhile()
		}
		now.Pending = mine
		return nil
	}, act.Intent())
	if err != nil {
		return VIM{}, b.refuseUpdate(ctx, act, err)
	}
	failpoint.At("rekey.intent")
	stored, err := b.rekey(ctx, keys, v, mine, act)
	if err != nil {
		b.undoUpdate(ctx, v, mine, act.Failed(class(err)))
		return VIM{}, err
	}
	failpoint.At("rekey.switched")
	b.RetireKeys(ctx)
	return stored, nil
}

func changedMeanwhile() error {
	return &Error{Kind: ErrConflict, Detail: "the VIM was changed at the same time", Remedy: "read it again and repeat the change"}
}

// rekeyed is one generation under its old and its new key.
type rekeyed struct {
	old, now   *secret.Key
	before     secret.Ref
	generation Generation
}

func (b *Registry) rekey(ctx context.Context, keys keyring.Ring, v VIM, mine *Pending, act *audit.Act) (VIM, error) {
	fresh := map[int64]*rekeyed{}
	var written []Generation
	defer func() {
		for _, r := range fresh {
			r.old.Clear()
			r.now.Clear()
		}
	}()
	for _, g := range append(v.Past, v.Current) {
		r, err := b.rekeyGeneration(ctx, keys, v, g)
		if err != nil {
			return VIM{}, err
		}
		fresh[g.Number] = r
		written = append(written, r.generation)
	}
	failpoint.At("rekey.sealed")
	done := act.Done()
	stored, err := b.vims.Rekey(ctx, v.ID, func(now *VIM, leases []Lease) error {
		if !now.pendingIs(mine) {
			return overtaken()
		}
		before := *now
		all := generations(now)
		if len(all) != len(fresh) {
			return changedMeanwhile() // a past one was dropped: its new key must be swept
		}
		for _, g := range all {
			r := fresh[g.Number]
			if r == nil || r.before != g.Key {
				return changedMeanwhile()
			}
			g.Sealed, g.SealedAs, g.Key, g.KeyStore = r.generation.Sealed, r.generation.SealedAs, r.generation.Key, r.generation.KeyStore
		}
		for i := range leases {
			if err := reseal(&leases[i], fresh[leases[i].VIMGeneration]); err != nil {
				return err
			}
		}
		addChanges(done, before, *now)
		now.Pending, now.UpdatedAt = nil, b.now()
		return nil
	}, done)
	b.discard(ctx, err, written...)
	return stored, err
}

// rekeyGeneration seals one generation under a new key, and reads it back.
func (b *Registry) rekeyGeneration(ctx context.Context, keys keyring.Ring, v VIM, g Generation) (*rekeyed, error) {
	o, err := b.open(ctx, v, g)
	if err != nil {
		return nil, err
	}
	r := &rekeyed{old: o.key, before: g.Key, generation: g}
	if r.now, err = b.sealGeneration(ctx, keys, v, &r.generation, sealsAs(g.Number, v.Current.Number), o.Credential); err != nil {
		o.close()
		return nil, err
	}
	back, err := b.openAs(ctx, v, r.generation)
	if err != nil {
		r.now.Clear()
		o.close()
		return nil, &Error{Kind: ErrUnavailable, Detail: "the new key does not open what was sealed with it; the old one stays", Cause: err}
	}
	back.close()
	return r, nil
}

// reseal seals a lease's credential with the new key of its generation. One that
// does not open any more is dropped: it cannot be tried, and dies by itself.
func reseal(l *Lease, r *rekeyed) error {
	if r == nil {
		return changedMeanwhile()
	}
	owner := secret.Owner{ID: l.VIM, Generation: l.VIMGeneration}
	plain, err := secret.Open(r.old, owner, leaseField(*l), l.Sealed)
	if err != nil {
		l.Sealed, l.SealedKey = "", ""
		return nil
	}
	if l.Sealed, err = secret.Seal(r.now, owner, leaseField(*l), plain); err != nil {
		return err
	}
	l.SealedKey = r.generation.Key
	return nil
}

func generations(v *VIM) []*Generation {
	all := []*Generation{&v.Current}
	for i := range v.Past {
		all = append(all, &v.Past[i])
	}
	return all
}

// KeyStatus says how a VIM's credential is sealed.
type KeyStatus struct {
	VIM        string
	VIMName    string
	Project    string
	Generation int64
	KeyStore   string
	// SealedAt is when the key was made: the token's own clear timestamp, in seconds.
	SealedAt time.Time
	// Past is how many earlier generations, each with a key, leases still need.
	Past int
	// Elsewhere is how many secret parameters of VNF instances on the VIM have their key in another key
	// store than KeyStore.
	Elsewhere int
	// Pending: a write of the credential or its key is under way, or was abandoned.
	Pending bool
	// Opens is nil where it was not tried, or could not be.
	Opens *bool
	// Message says why it does not open.
	Message string
}

// KeyStatuses is VIMs, seen from their keys. With try each credential is opened, and
// dropped at once.
func (b *Registry) KeyStatuses(ctx context.Context, p policy.Principal, q VIMQuery, try bool) ([]KeyStatus, string, error) {
	vims, next, err := b.VIMs(ctx, p, q)
	if err != nil {
		return nil, "", err
	}
	statuses := make([]KeyStatus, 0, len(vims))
	for _, v := range vims {
		s := KeyStatus{
			VIM: v.ID, VIMName: v.Name, Project: v.Project, Generation: v.Current.Number,
			KeyStore: v.Current.KeyStore, Past: len(v.Past), Pending: v.Pending != nil,
		}
		if at, err := secret.SealedAt(v.Current.Sealed); err == nil {
			s.SealedAt = at.UTC()
		}
		for _, k := range b.keepers {
			n, err := k.SecretParametersElsewhere(ctx, v.ID, s.KeyStore)
			if err != nil {
				return nil, "", err
			}
			s.Elsewhere += n
		}
		if try {
			o, err := b.open(ctx, v, v.Current)
			if err == nil {
				o.close()
			}
			if ctx.Err() != nil {
				return nil, "", ctx.Err()
			}
			if err != nil {
				s.Message = message(err)
			}
			if err == nil || errors.Is(err, ErrUnopenable) { // otherwise nobody can say now
				s.Opens = new(err == nil)
			}
		}
		statuses = append(statuses, s)
	}
	return statuses, next, nil
}

// Sealer keeps sealed texts that belong to no VIM: secrets of subscriptions, the key that signs tokens.
type Sealer interface {
	// Reseal seals each due text under a new key. A text that fails does not stop the others.
	Reseal(ctx context.Context, due Due) error
}

// AddSealer adds a sealer, before the broker is used.
func (b *Registry) AddSealer(s Sealer) { b.sealers = append(b.sealers, s) }

// Due selects the texts to seal again: those whose key is in another key store than that of To, and those that were sealed
// before a time.
type Due struct {
	To     keyring.Ring
	Before time.Time
}

// Selects reports whether a text is due.
func (d Due) Selects(s keyring.Sealed) bool {
	at, err := secret.SealedAt(s.Text)
	return s.Text != "" && (s.KeyStore != d.To.Name() || err != nil || at.Before(d.Before))
}

// RekeyRest seals anew what belongs to no VIM, and has its key in another key store than the one of that name (empty: the
// one for new keys), or was sealed before a time: secrets of subscriptions. Keys that sign tokens and checkpoints are
// replaced. Where something fails the rest is done, and the same call again goes on with it.
func (b *Registry) RekeyRest(ctx context.Context, p policy.Principal, keyStore string, before time.Time) error {
	act, err := b.enter(ctx, p, policy.VIMRotate, InProject(anyProject), policy.Wish{})
	if err != nil {
		return err
	}
	to, err := b.keys.Only(keyStore)
	if err != nil {
		return b.refuse(ctx, act, notConfigured(ErrInvalid, err))
	}
	act.With(audit.DetailReason, "all that belongs to no VIM is sealed anew in "+to.Name())
	if err := b.entries.Append(ctx, act.Intent()); err != nil {
		return Unrecorded(err)
	}
	due := Due{To: to, Before: before}
	var failed []error
	for _, s := range b.sealers {
		failed = append(failed, s.Reseal(ctx, due))
	}
	if err := errors.Join(failed...); err != nil {
		return b.refuse(ctx, act, &Error{
			Kind: ErrUnavailable, Detail: "some secrets that belong to no VIM are not sealed anew: " + strings.ReplaceAll(err.Error(), "\n", "; "),
			Remedy: "repeat it in a few minutes", Cause: err,
		})
	}
	return b.entries.Append(ctx, act.Done())
}

// Reseal implements [Sealer] for the key that signs checkpoints.
func (b *Oversight) Reseal(ctx context.Context, due Due) error {
	keys, err := b.signatures.SigningKeys(ctx)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k.State != notary.Signing {
			continue
		}
		if due.Selects(k.Sealed) {
			_, err = b.rotateAuditKey(ctx, system("notary"), due.To)
		}
		return err
	}
	return nil
}
