package lifecycle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
)

const (
	// secretParametersEvery is the interval of the pass over secret parameters that are not needed any more, or were never
	// finished.
	secretParametersEvery = time.Minute
	// abandonedFor bounds the time for sealing parameters; an older attempt is a dead process's.
	abandonedFor = 5 * time.Minute
	// secretParametersAtOnce is the size of one list.
	secretParametersAtOnce = 500
	// shownSecret replaces secret values in a request that is shown.
	shownSecret = "<hidden>"
)

// SecretParameters holds the parameters of requests that no answer shows: sealed, under a key of their own in a key store.
// Instances and operations name it ([Shape]).
type SecretParameters struct {
	// ID is a UUID, and the owner of the key.
	ID string
	// Instance is the instance of the parameters, VIM the VIM that it is on: they are resealed together
	// with that VIM.
	Instance, VIM string
	// SealedRow: those that are making are named by no operation yet; an instance, or an operation that is live, needs
	// those that are active. Of the owners the generation is kept.
	keyring.SealedRow
}

// held is the sealed part of the row, with the owners of its keys.
func (h *SecretParameters) held() *keyring.SealedRow { return h.OwnedBy(h.ID) }

// field binds the sealed text to the instance that names it.
func (h SecretParameters) field() string { return "parameters of VNF instance " + h.Instance }

// SecretParametersFilter selects secret parameters in the store.
type SecretParametersFilter struct {
	// VIM selects those that are needed on one VIM, by their ids, after one; empty selects those that are
	// not Active, the oldest first.
	VIM, After string
	// Limit is the greatest number of results.
	Limit int
}

// SecretParametersStore keeps secret parameters. It is a part of [Store], whose other methods move them: with a write that has an
// instance, or a live operation on it, name secret parameters that are Making, these become Active (ErrConflict if they
// are not Making); with one after which neither names them any more, they become Abandoned. There are no audit entries
// of their own: an operation's entries record them.
type SecretParametersStore interface {
	// CreateSecretParameters stores new ones.
	CreateSecretParameters(ctx context.Context, h SecretParameters) error
	// SecretParameters returns those of an id; ErrNotFound.
	SecretParameters(ctx context.Context, id string) (SecretParameters, error)
	// ListSecretParameters returns those that match.
	ListSecretParameters(ctx context.Context, f SecretParametersFilter) ([]SecretParameters, error)
	// UpdateSecretParameters changes the state and the sealed text by a function; if that fails nothing is written and its
	// error is returned unchanged. A move that the table of states does not list is ErrConflict.
	UpdateSecretParameters(ctx context.Context, id string, change func(*SecretParameters) error) (SecretParameters, error)
	// DeleteSecretParameters removes those that are Abandoned. Removing one that is gone succeeds.
	DeleteSecretParameters(ctx context.Context, id string) error
}

// content is the value that is sealed.
type content struct {
	Variables  map[string]string `json:"variables,omitempty"`
	Parameters json.RawMessage   `json:"parameters,omitempty"`
}

// text is content in sealed form.
func (c content) text() (secret.Text, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(c); err != nil {
		return secret.Text{}, errors.New("writing secret parameters") // never with their content
	}
	defer func() { clear(b.Bytes()) }()
	if b.Len() > secret.MaxPlaintext {
		return secret.Text{}, broker.Invalid("additionalParams", "its secret values have more than %d bytes", secret.MaxPlaintext)
	}
	return secret.NewText(b.String()), nil
}

// sealSecrets seals the parameters of a new operation that no answer may show, and leaves the name of the sealed record in
// their place; the request is shown without them. given are the parameters of the request: they replace earlier ones of the
// same kind, and the others stay. The caller then begins the operation, or calls abandonSecrets.
func (l *Lifecycle) sealSecrets(ctx context.Context, o *Operation, given content) error {
	s, gives := &o.Target, given.Variables != nil || given.Parameters != nil
	if o.Type == ScaleVNF || o.Type == Heal { // which read the parameters that are sealed already
		return nil
	}
	if len(s.Variables) == 0 && len(s.Parameters) == 0 && (s.Concealed.ID == "" || !gives) {
		return nil
	}
	pkg, err := l.Packages.Held(ctx, s.Package)
	if err != nil {
		return err
	}
	b, err := l.bases(*s, pkg)
	if err != nil {
		return err
	}
	secrets := append(slices.Clone(b.Secret), pkg.VNFD.SecretParameters()...)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Variables)), func(name string) bool { return !slices.Contains(secrets, name) })
	parameters := b.SecretParameters && len(s.Parameters) > 0
	if !gives && len(names) == 0 && !parameters {
		return nil // as it was
	}
	var c content
	if len(s.Concealed.Variables) > 0 && given.Variables == nil || s.Concealed.Parameters && given.Parameters == nil {
		if c, err = l.openSecretParameters(ctx, o.Instance, *s); err != nil {
			return err
		}
	}
	if given.Variables != nil || c.Variables == nil {
		c.Variables = map[string]string{}
	}
	if given.Parameters != nil {
		c.Parameters = nil
	}
	shown := maps.Clone(s.Variables)
	for _, name := range names {
		c.Variables[name] = s.Variables[name]
		delete(shown, name)
		o.Params = censored(o.Params, "additionalParams", "variables", name)
	}
	if parameters {
		c.Parameters, s.Parameters = s.Parameters, nil
		o.Params = censored(o.Params, "additionalParams", "nfv")
	}
	s.Variables, s.Concealed = shown, Concealed{}
	if len(c.Variables) == 0 && len(c.Parameters) == 0 {
		return nil
	}
	s.Concealed = Concealed{Variables: slices.Sorted(maps.Keys(c.Variables)), Parameters: len(c.Parameters) > 0}
	s.Concealed.ID, err = l.seal(ctx, o.Instance, s.VIM, c)
	return err
}

// seal seals parameters under a key of their own: intent, key, sealed text. They are Making until an operation begins
// that names them.
func (l *Lifecycle) seal(ctx context.Context, instance, vim string, c content) (id string, err error) {
	text, err := c.text()
	if err != nil {
		return "", err
	}
	h := SecretParameters{ID: uuid.NewString(), Instance: instance, VIM: vim}
	h.State, h.Since, h.Owner.Generation = keyring.Making, l.Now(), 1
	if err := l.Store.CreateSecretParameters(ctx, h); err != nil {
		return "", err
	}
	failpoint.At("secret-parameters.intent")
	sealed, err := l.Keys.Seal(ctx, h.held().Owner, h.field(), text)
	if err = secretParametersFault(err); err == nil {
		failpoint.At("secret-parameters.key-stored")
		_, err = l.Store.UpdateSecretParameters(ctx, h.ID, func(now *SecretParameters) error {
			if now.State != keyring.Making {
				return overtakenSecretParameters()
			}
			now.Sealed = sealed
			return nil
		})
	}
	if err != nil {
		l.abandonSecrets(ctx, h.ID)
		return "", err
	}
	failpoint.At("secret-parameters.sealed")
	return h.ID, nil
}

// openSecretParameters opens the secret parameters of a shape; empty if it has none.
func (l *Lifecycle) openSecretParameters(ctx context.Context, instance string, s Shape) (c content, err error) {
	last, lost := secret.Ref(""), error(nil)
	for s.Concealed.ID != "" {
		h, err := l.Store.SecretParameters(ctx, s.Concealed.ID)
		if err != nil && !errors.Is(err, broker.ErrNotFound) {
			return c, err
		}
		if err != nil || h.Instance != instance || h.Text == "" || h.Ref == last {
			return c, secretParametersFault(errors.Join(keyring.ErrLost, err, lost))
		}
		text, err := l.Keys.Open(ctx, h.held().Owner, h.field(), h.Sealed)
		if err == nil && json.Unmarshal([]byte(text.Reveal()), &c) != nil {
			err = keyring.ErrLost
		}
		if err = secretParametersFault(err); !errors.Is(err, broker.ErrUnopenable) {
			return c, err
		}
		last, lost = h.Ref, err // it may have been resealed since it was read
	}
	return c, nil
}

// secretParametersFault is an error of a key ring as callers are told it.
func secretParametersFault(err error) error {
	return broker.KeyFault(err, broker.Error{
		Field: "additionalParams", Detail: "the secret parameters of the instance do not open: their row or their key is lost or was changed",
		Remedy: "restore both, or give all parameters again with a change of package",
	})
}

func overtakenSecretParameters() error {
	return &broker.Error{Kind: broker.ErrConflict, Detail: "the secret parameters were changed at the same time", Remedy: "try again"}
}

// abandonSecrets abandons secret parameters that no operation has begun with, and destroys the keys of those that nothing
// needs any more. The pass retries what fails.
func (l *Lifecycle) abandonSecrets(ctx context.Context, ids ...string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	for _, id := range ids {
		if id == "" {
			continue
		}
		before := l.Now().Add(-abandonedFor)
		h, err := l.Store.SecretParameters(ctx, id)
		if err == nil && h.State == keyring.Making {
			before = l.Now()
			h, err = l.Store.UpdateSecretParameters(ctx, id, func(now *SecretParameters) error {
				if now.State != keyring.Making {
					return overtakenSecretParameters() // they are needed
				}
				now.State, now.Since, now.Sealed = keyring.Abandoned, before, keyring.Sealed{}
				return nil
			})
		}
		if err == nil && h.State == keyring.Abandoned {
			err = l.dropSecretParameters(ctx, h, before)
		}
		if err != nil && !errors.Is(err, broker.ErrConflict) && !errors.Is(err, broker.ErrNotFound) {
			l.Log.WarnContext(ctx, "secret parameters that nobody needs are left for the pass", "parameters", id, "error", err)
		}
	}
}

// dropSecretParameters destroys the keys of abandoned parameters, and removes their row if they were abandoned before a time: a
// process that died since may have left a key that no list has shown yet.
func (l *Lifecycle) dropSecretParameters(ctx context.Context, h SecretParameters, before time.Time) error {
	if err := l.Keys.Drop(ctx, h.ID); err != nil {
		return secretParametersFault(err)
	}
	failpoint.At("secret-parameters.swept")
	if h.Since.After(before) {
		return nil
	}
	return l.Store.DeleteSecretParameters(ctx, h.ID)
}

// SettleSecretParameters is the pass that destroys the keys of sealed parameters that nothing needs any more, and settles what
// processes that died before a time have left.
func (l *Lifecycle) SettleSecretParameters(ctx context.Context, before time.Time) error {
	found, err := l.Store.ListSecretParameters(ctx, SecretParametersFilter{Limit: secretParametersAtOnce})
	failed := []error{err}
	for _, h := range found {
		err := error(nil)
		switch {
		case h.State == keyring.Abandoned:
			err = l.dropSecretParameters(ctx, h, before)
		case !h.Since.Before(before):
		case h.State == keyring.Making:
			l.abandonSecrets(ctx, h.ID)
		case h.State == keyring.Rekeying:
			err = secretParametersFault(l.Keys.EndRekey(ctx, l.sealedRow(h), h.Since))
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// RekeySecretParameters reseals the secret parameters of the instances on a VIM under new keys in the key store of that name
// (empty: the one for new keys), and destroys the old keys. It is for [broker.Registry.RekeyVIM], which has decided and
// recorded it. Parameters that are sealed meanwhile have a new key anyway.
func (l *Lifecycle) RekeySecretParameters(ctx context.Context, vim, keyStore string) error {
	to, err := l.Keys.Only(keyStore)
	if err != nil {
		return broker.Invalid("keyStore", "is not configured here")
	}
	var failed []error
	err = l.eachSecretParameters(ctx, vim, func(h SecretParameters) error {
		err := l.Keys.Rekey(ctx, to, l.sealedRow(h))
		switch {
		case errors.Is(err, broker.ErrNotFound): // nothing needs them
		case errors.Is(err, keyring.ErrOvertaken):
			failed = append(failed, errors.Join(overtakenSecretParameters(), err))
		default:
			failed = append(failed, secretParametersFault(err)) // and continues: others may open
		}
		return ctx.Err()
	})
	return errors.Join(append(failed, err)...)
}

// SecretParametersElsewhere counts the secret parameters of the instances on a VIM whose keys are in other key stores than the
// one of that name.
func (l *Lifecycle) SecretParametersElsewhere(ctx context.Context, vim, keyStore string) (n int, err error) {
	err = l.eachSecretParameters(ctx, vim, func(h SecretParameters) error {
		if h.KeyStore != "" && h.KeyStore != keyStore {
			n++
		}
		return nil
	})
	return n, err
}

// eachSecretParameters calls do for the secret parameters of the instances on a VIM.
func (l *Lifecycle) eachSecretParameters(ctx context.Context, vim string, do func(SecretParameters) error) error {
	for f := (SecretParametersFilter{VIM: vim, Limit: secretParametersAtOnce}); ; {
		found, err := l.Store.ListSecretParameters(ctx, f)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, h := range found {
			if err := do(h); err != nil {
				return err
			}
		}
		f.After = found[len(found)-1].ID
	}
}

// sealedRow is the row of secret parameters, for resealing.
func (l *Lifecycle) sealedRow(h SecretParameters) keyring.Row {
	return broker.RekeyRow(h.field(), l.Now, (*SecretParameters).held,
		func(ctx context.Context, change func(*SecretParameters) error) (SecretParameters, error) {
			return l.Store.UpdateSecretParameters(ctx, h.ID, change)
		})
}

// censored is a request with a placeholder for the member that a path leads to, whatever the case of its names; everything
// else stays unchanged.
func censored(in json.RawMessage, member string, below ...string) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(in, &all) != nil {
		return in
	}
	changed := false
	for name, value := range all {
		if !strings.EqualFold(name, member) {
			continue
		}
		if len(below) > 0 {
			all[name] = censored(value, below[0], below[1:]...)
		} else {
			all[name], _ = json.Marshal(shownSecret)
		}
		changed = true
	}
	if changed {
		in, _ = json.Marshal(all) // what was read is written
	}
	return in
}
