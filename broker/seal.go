package broker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// leaseField is the envelope's field for a lease's credential: whose it is, and whether its grade leaves out what the
// objects of a plan are judged by. A row in which that was changed does not open.
func leaseField(l Lease) string {
	if l.Planned {
		return "lease/" + l.ID + "/planned"
	}
	return "lease/" + l.ID
}

// notConfigured says that a key store is not; kind is what that is to the caller.
func notConfigured(kind, err error) error {
	return &Error{Kind: kind, Field: "keyStore", Detail: err.Error(), Remedy: "configure it, if only to migrate from it", Cause: err}
}

// sealGeneration puts a new key for (v, g.Number) into a key store and fills in
// what g keeps of the credential; all else of g must be there. It answers with the
// key, which the caller clears. If it fails a key may be left: the caller sweeps.
func (b *core) sealGeneration(
	ctx context.Context, keys keyring.Ring, v VIM, g *Generation, as SealedAs, c Credential,
) (*secret.Key, error) {
	plain, err := c.Pack()
	if err != nil {
		return nil, err
	}
	g.Username, g.CredentialKind, g.SealedAs = c.Username, c.Kind, as
	sealed, key, err := keys.SealWithKey(ctx, secret.Owner{ID: v.ID, Generation: g.Number}, boundField(v.Type, *g, as), plain)
	if err != nil {
		return nil, credentialFault(err)
	}
	failpoint.At("seal.key-stored")
	g.Sealed, g.Key, g.KeyStore = sealed.Text, sealed.Ref, sealed.KeyStore
	return key, nil
}

// key fetches the key of one generation. The caller clears it.
func (b *core) key(ctx context.Context, g Generation) (*secret.Key, error) {
	key, err := b.keys.Key(ctx, keyring.Sealed{KeyStore: g.KeyStore, Ref: g.Key})
	if unknown, is := errors.AsType[*keyring.UnknownError](err); is { // the VIM's leases can be ended without
		return nil, notConfigured(ErrUnopenable, unknown)
	}
	return key, credentialFault(err)
}

// opened is an opened generation: access to the VIM, and the key that seals what
// is leased from it. It is made for one flow and closed at its end.
type opened struct {
	Access
	key *secret.Key
	ref secret.Ref
}

func (o *opened) close() { o.key.Clear() }

func (o *opened) seal(l Lease, c Credential) (string, error) {
	plain, err := c.Pack()
	if err != nil {
		return "", err
	}
	sealed, err := secret.Seal(o.key, secret.Owner{ID: o.VIM, Generation: o.Generation}, leaseField(l), plain)
	if err != nil {
		return "", fmt.Errorf("sealing the credential of lease %s: %w", l.ID, err)
	}
	return sealed, nil
}

func (o *opened) unseal(l Lease) (Credential, error) {
	plain, err := secret.Open(o.key, secret.Owner{ID: o.VIM, Generation: o.Generation}, leaseField(l), l.Sealed)
	if err == nil {
		var c Credential
		if c, err = secret.Unpack(plain); err == nil {
			return c, nil
		}
	}
	return Credential{}, &Error{
		Kind: ErrUnopenable, Detail: "the lease's credential does not open", Remedy: "issue another",
		Cause: fmt.Errorf("opening the credential of lease %s: %w", l.ID, err),
	}
}

// open opens the credential of one generation. Where that was sealed anew since
// it was read, it opens what it is now; where it is gone since, that is [ErrConflict].
func (b *core) open(ctx context.Context, v VIM, g Generation) (*opened, error) {
	for {
		o, err := b.openAs(ctx, v, g)
		if !errors.Is(err, ErrUnopenable) {
			return o, err
		}
		now, readErr := b.vims.VIM(ctx, v.ID)
		if readErr != nil {
			return nil, err
		}
		again, there := now.generation(g.Number)
		switch {
		case !there:
			return nil, changedMeanwhile()
		case again.Key == g.Key:
			return nil, err
		}
		v, g = now, again
	}
}

// openAs opens a generation exactly as it was read.
func (b *core) openAs(ctx context.Context, v VIM, g Generation) (*opened, error) {
	key, err := b.key(ctx, g)
	if err != nil {
		return nil, err
	}
	text, err := unsealGeneration(key, v, g)
	if err == nil {
		var c Credential
		if c, err = secret.Unpack(text); err == nil {
			return &opened{Access: b.access(v, g, c), key: key, ref: g.Key}, nil
		}
	}
	key.Clear()
	return nil, &Error{
		Kind:   ErrUnopenable,
		Detail: "the stored credential does not open with its key, or the VIM's row is not as it was sealed",
		Next:   NextReplaceCredential,
		Cause:  fmt.Errorf("opening the credential of %s: %w", v.ID, err),
	}
}

func (b *core) access(v VIM, g Generation, c Credential) Access {
	return Access{
		VIM: v.ID, Generation: g.Number, Target: g.Target, Credential: c,
		Discovered: g.Discovered, Identity: g.Identity, Egress: b.egress(v.Project),
	}
}

// sweepKeys destroys the keys of a VIM that none of its rows name: what a write
// that did not end has left. mine is the Pending that the caller holds; it is
// [errOvertaken], and destroys nothing, where another has taken that over.
func (b *core) sweepKeys(ctx context.Context, id string, mine *Pending) error {
	return credentialFault(b.keys.Sweep(ctx, id, func() ([]keyring.Sealed, error) {
		// While the VIM is held no other write of it can begin, so every key that was
		// listed and is not in a row is one that nobody is going to name.
		v, err := b.vims.VIM(ctx, id)
		switch {
		case errors.Is(err, ErrNotFound): // who uses the id again stores a row before a key
		case err != nil:
			return nil, err
		case !v.pendingIs(mine):
			return nil, overtaken()
		}
		var named []keyring.Sealed
		inUse, err := b.ledger.KeysInUse(ctx, id)
		for _, k := range inUse {
			named = append(named, keyring.Sealed{KeyStore: k.KeyStore, Ref: k.Ref})
		}
		return named, err
	}))
}

// discard destroys the keys of generations that could not be written because the
// write had been taken over: nobody else knows them, and no sweep may come this
// way again. After any other error the caller still holds the VIM, and sweeps.
func (b *core) discard(ctx context.Context, why error, written ...Generation) {
	if !errors.Is(why, errOvertaken) {
		return
	}
	ctx, cancel := b.cleanup(ctx)
	defer cancel()
	for _, g := range written {
		if err := b.keys.Destroy(ctx, keyring.Sealed{KeyStore: g.KeyStore, Ref: g.Key}); err != nil {
			b.log.ErrorContext(ctx, "a key that no row names could not be destroyed", "key", g.Key, "keyStore", g.KeyStore, "error", err)
		}
	}
}

// destroyRetired destroys every key on the ledger. A key that cannot be
// destroyed now stays there, for the settle pass.
func (b *core) destroyRetired(ctx context.Context) error {
	retired, err := b.ledger.RetiredKeys(ctx, 1000)
	if err != nil {
		return err
	}
	var errs []error
	for _, k := range retired {
		if err := b.keys.Destroy(ctx, keyring.Sealed{KeyStore: k.KeyStore, Ref: k.Ref}); err != nil {
			errs = append(errs, credentialFault(fmt.Errorf("destroying a key of %s: %w", k.Owner.ID, err)))
			continue
		}
		failpoint.At("keys.destroyed")
		if err := b.ledger.ForgetKey(ctx, k); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// RetireKeys destroys retired keys after a write, outside the request's own time; what
// fails is the settle pass's.
func (b *core) RetireKeys(ctx context.Context) {
	ctx, cancel := b.cleanup(ctx)
	defer cancel()
	if err := b.destroyRetired(ctx); err != nil {
		b.log.WarnContext(ctx, "retired keys are left for the settle pass", "error", err)
	}
}

func credentialFault(err error) error {
	return KeyFault(err, Error{Detail: "the key of the stored credential is lost", Next: NextReplaceCredential})
}

// RekeyRow is the row of a T in a store, whose sealed part is held, for resealing.
func RekeyRow[T any](
	field string, now func() time.Time, held func(*T) *keyring.SealedRow,
	update func(context.Context, func(*T) error) (T, error),
) keyring.Row {
	return keyring.Row{Field: field, Now: now, Update: func(
		ctx context.Context, change func(*keyring.SealedRow) error,
	) (keyring.SealedRow, error) {
		now, err := update(ctx, func(now *T) error { return change(held(now)) })
		if errors.Is(err, ErrConflict) || errors.Is(err, ErrNotFound) {
			err = fmt.Errorf("%w: %w", keyring.ErrOvertaken, err)
		}
		return *held(&now), err
	}}
}

// KeyFault translates an error of a key ring for callers. They are told lost, which is an
// [ErrUnopenable], where the sealed text does not open. Any other error stays as it is.
func KeyFault(err error, lost Error) error {
	unknown, elsewhere := errors.AsType[*keyring.UnknownError](err)
	switch {
	case elsewhere:
		return notConfigured(ErrUnavailable, unknown)
	case errors.Is(err, keyring.ErrUnusable):
		e := &Error{Kind: ErrUnavailable, Detail: keyring.ErrUnusable.Error() + reasonOf(err), Remedy: "try again later", Cause: err}
		if errors.Is(err, secret.ErrForbidden) {
			e.Remedy = "the broker's operator must give it the right back: the log says which"
		}
		return e
	case errors.Is(err, keyring.ErrLost):
		lost.Kind, lost.Cause = ErrUnopenable, err
		return &lost
	}
	return err
}

// boundField is the envelope's field for a VIM's credential: what the generation is to
// the VIM, and a digest of all that decides where the credential is sent and what
// answers are believed. A row in which any of that was changed does not open.
func boundField(t VIMType, g Generation, as SealedAs) string {
	return "credential/" + string(as) + "/" + boundDigest(t, g)
}

// boundDigest covers every field of a generation but what it is sealed with. An empty value
// counts too: of a cloud's openings it says that one stands open.
func boundDigest(t VIMType, g Generation) string {
	text, _ := json.Marshal(struct { // plain data always encodes
		Type           VIMType
		Number         int64
		Target         Target
		Identity       string
		Discovered     Discovered
		CredentialKind CredentialKind
		Username       string
		ExpiresAt      int64 // in microseconds, as stores keep it
	}{t, g.Number, g.Target, g.Identity, g.Discovered, g.CredentialKind, g.Username, micro(g.CredentialExpiresAt)})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func micro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// sealsAs is what a generation is to a VIM whose current one has this number.
func sealsAs(number, current int64) SealedAs {
	if number == current {
		return SealedCurrent
	}
	return SealedPast
}

// opensAs are the forms in which a generation may be sealed. Only what was sealed as
// the current generation opens as that. An earlier one was sealed so, too, until it
// is sealed anew.
func opensAs(v VIM, g Generation) []SealedAs {
	if g.Number == v.Current.Number {
		return []SealedAs{SealedCurrent}
	}
	return []SealedAs{SealedPast, SealedCurrent}
}

func unsealGeneration(key *secret.Key, v VIM, g Generation) (plain secret.Text, err error) {
	for _, as := range opensAs(v, g) {
		plain, err = secret.Open(key, secret.Owner{ID: v.ID, Generation: g.Number}, boundField(v.Type, g, as), g.Sealed)
		if err == nil {
			break
		}
	}
	return plain, err
}

const (
	// minEcho is how long a secret must be, in bytes, to be looked for: what is shorter a
	// text may contain by chance, a password "demo" for example.
	minEcho = 16
	// maxEcho is how much of a secret is looked for: texts are kept only in part.
	maxEcho = 48
)

// echoes is an error where a VIM's answer holds a secret of a credential that it was
// sent: what is kept of answers is shown to people who may not have that.
func echoes(c Credential, texts ...string) error {
	p := c.Reveal()
	for _, s := range []string{p.Token, p.Password, p.ClientKey, p.AppCredSecret} {
		if len(s) < minEcho {
			continue
		}
		for _, text := range texts {
			if strings.Contains(text, s[:min(len(s), maxEcho)]) {
				return &Error{
					Kind: ErrUnreachable, Detail: "the VIM answers with a credential that it was sent",
					Remedy: "look for what stands in front of it; take the credential for stolen",
				}
			}
		}
	}
	return nil
}

func (r Report) texts() []string {
	discovered, _ := json.Marshal(r.Discovered) // always can
	return []string{r.Identity, r.Version, r.MintMessage, string(discovered)}
}
