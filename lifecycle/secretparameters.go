package lifecycle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// SecretParametersState is where secret parameters stand.
type SecretParametersState = keyring.State

// Every state. Those that are making are named by no operation yet; an instance, or an operation that is live, needs
// those that are active.
const (
	SecretParametersMaking    = keyring.Making
	SecretParametersActive    = keyring.Active
	SecretParametersRekeying  = keyring.Rekeying
	SecretParametersAbandoned = keyring.Abandoned
)

// SecretParameters holds the parameters of requests that no answer shows: sealed, under a key of their own in a key store.
// Instances and operations name it ([Shape]).
type SecretParameters struct {
	// ID is a UUID, and the owner of the key.
	ID string
	// Instance is the instance of the parameters, VIM the VIM that it is on: they are resealed together
	// with that VIM.
	Instance, VIM string
	State         SecretParametersState
	// Since is when it entered the state, or was taken over in it.
	Since time.Time
	// Generation counts the keys, from 1 on.
	Generation int64
	// Sealed is the Fernet token, under Ref in KeyStore. They are empty before it is made and once it is abandoned.
	Sealed   string
	KeyStore string
	Ref      secret.Ref
}

// owner is whom its key belongs to.
func (h SecretParameters) owner() secret.Owner {
	return secret.Owner{ID: h.ID, Generation: h.Generation}
}

// place is the sealed text, and where its key is.
func (h SecretParameters) place() keyring.Sealed {
	return keyring.Sealed{KeyStore: h.KeyStore, Ref: h.Ref, Text: h.Sealed}
}

func (h SecretParameters) held() keyring.SealedRow {
	next := h.owner()
	next.Generation++
	return keyring.SealedRow{State: h.State, Since: h.Since, Owner: h.owner(), Next: next, Sealed: h.place()}
}

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

func (c content) empty() bool { return len(c.Variables) == 0 && len(c.Parameters) == 0 }

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
// their place. given are the parameters of the request. The caller then begins the operation, or calls abandonSecrets.
func (l *Lifecycle) sealSecrets(ctx context.Context, o *Operation, given content) error {
	if o.Type == ScaleVNF || o.Type == Heal { // which read the parameters that are sealed already
		return nil
	}
	return l.sealSecretsIn(ctx, o.Instance, &o.Target, given, &o.Params)
}

// sealSecretsIn is sealSecrets for the shape that the operation is to reach; the request is shown without its secret values.
// Values in given replace earlier ones of the same kind, and the others stay.
func (l *Lifecycle) sealSecretsIn(ctx context.Context, instance string, s *Shape, given content, request *json.RawMessage) error {
	gives := given.Variables != nil || given.Parameters != nil
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
	names := slices.DeleteFunc(append(slices.Clone(b.Secret), pkg.VNFD.SecretParameters()...),
		func(name string) bool { _, given := s.Variables[name]; return !given })
	slices.Sort(names)
	names = slices.Compact(names)
	parameters := b.SecretParameters && len(s.Parameters) > 0
	if !gives && len(names) == 0 && !parameters {
		return nil // as it was
	}
	was := s.Concealed
	if given.Variables != nil {
		was.Variables = nil
	}
	if given.Parameters != nil {
		was.Parameters = false
	}
	var c content
	if len(was.Variables) > 0 || was.Parameters {
		old, err := l.openSecretParameters(ctx, instance, *s)
		if err != nil {
			return err
		}
		if len(was.Variables) > 0 {
			c.Variables = old.Variables
		}
		if was.Parameters {
			c.Parameters = old.Parameters
		}
	}
	shown := maps.Clone(s.Variables)
	for _, name := range names {
		if c.Variables == nil {
			c.Variables = map[string]string{}
		}
		c.Variables[name] = s.Variables[name]
		delete(shown, name)
	}
	if parameters {
		c.Parameters = s.Parameters
	}
	if c.empty() {
		s.Concealed = Concealed{}
		return nil
	}
	id, err := l.seal(ctx, instance, s.VIM, c)
	if err != nil {
		return err
	}
	s.Concealed = Concealed{ID: id, Variables: slices.Sorted(maps.Keys(c.Variables)), Parameters: len(c.Parameters) > 0}
	s.Variables = shown
	if parameters {
		s.Parameters = nil
	}
	if *request, err = censored(*request, names, parameters); err != nil {
		l.abandonSecrets(ctx, id)
	}
	return err
}

// seal seals parameters under a key of their own: intent, key, sealed text. They are Making until an operation begins
// that names them.
func (l *Lifecycle) seal(ctx context.Context, instance, vim string, c content) (id string, err error) {
	h := SecretParameters{ID: uuid.NewString(), Instance: instance, VIM: vim, State: SecretParametersMaking, Since: l.Now(), Generation: 1}
	text, err := c.text()
	if err != nil {
		return "", err
	}
	if err := l.Store.CreateSecretParameters(ctx, h); err != nil {
		return "", err
	}
	failpoint.At("secret-parameters.intent")
	sealed, err := sealedIn(ctx, l.Keys, h, text)
	if err == nil {
		failpoint.At("secret-parameters.key-stored")
		_, err = l.Store.UpdateSecretParameters(ctx, h.ID, func(now *SecretParameters) error {
			if now.State != SecretParametersMaking {
				return overtakenSecretParameters()
			}
			now.Sealed, now.KeyStore, now.Ref = sealed.Sealed, sealed.KeyStore, sealed.Ref
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

// sealedIn is h with text sealed under a new key.
func sealedIn(ctx context.Context, keys keyring.Ring, h SecretParameters, text secret.Text) (SecretParameters, error) {
	sealed, err := keys.Seal(ctx, h.owner(), h.field(), text)
	h.Sealed, h.KeyStore, h.Ref = sealed.Text, sealed.KeyStore, sealed.Ref
	return h, secretParametersFault(err)
}

// openSecretParameters opens the secret parameters of a shape; empty if it has none.
func (l *Lifecycle) openSecretParameters(ctx context.Context, instance string, s Shape) (content, error) {
	if s.Concealed.ID == "" {
		return content{}, nil
	}
	last, lost := secret.Ref(""), error(nil)
	for {
		h, err := l.Store.SecretParameters(ctx, s.Concealed.ID)
		if err != nil && !errors.Is(err, broker.ErrNotFound) {
			return content{}, err
		}
		if err != nil || h.Instance != instance || h.Sealed == "" || h.Ref == last {
			return content{}, secretParametersLost(errors.Join(err, lost))
		}
		text, err := l.opened(ctx, h)
		if errors.Is(err, broker.ErrUnopenable) { // it may have been resealed since it was read
			last, lost = h.Ref, err
			continue
		}
		if err != nil {
			return content{}, err
		}
		var c content
		if json.Unmarshal([]byte(text.Reveal()), &c) != nil {
			return content{}, secretParametersLost(nil)
		}
		return c, nil
	}
}

// opened opens secret parameters exactly as they were read.
func (l *Lifecycle) opened(ctx context.Context, h SecretParameters) (secret.Text, error) {
	text, err := l.Keys.Open(ctx, h.owner(), h.field(), h.place())
	return text, secretParametersFault(err)
}

// secretParametersFault is an error of a key ring as callers are told it.
func secretParametersFault(err error) error {
	return broker.KeyFault(err, broker.Error{
		Field: "additionalParams", Detail: "the secret parameters of the instance do not open: their row or their key is lost or was changed",
		Remedy: "restore both, or give all parameters again with a change of package",
	})
}

func secretParametersLost(cause error) error {
	return secretParametersFault(errors.Join(keyring.ErrLost, cause))
}

func overtakenSecretParameters() error {
	return &broker.Error{Kind: broker.ErrConflict, Detail: "the secret parameters were changed at the same time", Remedy: "try again"}
}

// abandonSecrets abandons secret parameters that no operation has begun with. The pass retries what fails.
func (l *Lifecycle) abandonSecrets(ctx context.Context, ids ...string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	for _, id := range ids {
		if id == "" {
			continue
		}
		h, err := l.Store.UpdateSecretParameters(ctx, id, func(h *SecretParameters) error {
			if h.State != SecretParametersMaking {
				return overtakenSecretParameters() // they are needed
			}
			h.abandon(l.Now())
			return nil
		})
		if err == nil {
			err = l.dropSecretParameters(ctx, h, l.Now())
		}
		if err != nil && !errors.Is(err, broker.ErrConflict) && !errors.Is(err, broker.ErrNotFound) {
			l.Log.WarnContext(ctx, "secret parameters that nobody needs are left for the pass", "parameters", id, "error", err)
		}
	}
}

func (h *SecretParameters) abandon(at time.Time) {
	h.State, h.Since = SecretParametersAbandoned, at
	h.Sealed, h.KeyStore, h.Ref = "", "", ""
}

// forget destroys the keys of secret parameters that an ended operation named and nothing needs any more. The pass
// retries what fails.
func (l *Lifecycle) forget(ctx context.Context, o Operation) {
	for _, id := range []string{o.Before.Concealed.ID, o.Target.Concealed.ID} {
		if id == "" || o.State.Live() {
			continue
		}
		h, err := l.Store.SecretParameters(ctx, id)
		if err == nil && h.State == SecretParametersAbandoned {
			err = l.dropSecretParameters(ctx, h, l.Now().Add(-abandonedFor))
		}
		if err != nil && !errors.Is(err, broker.ErrNotFound) {
			l.Log.WarnContext(ctx, "secret parameters that nobody needs are left for the pass", "parameters", id, "error", err)
		}
	}
}

// dropSecretParameters destroys the keys of abandoned parameters, and removes their row if they were abandoned before a time: a
// process that died since may have left a key that no list has shown yet.
func (l *Lifecycle) dropSecretParameters(ctx context.Context, h SecretParameters, before time.Time) error {
	if err := l.sweepSecretParameters(ctx, h); err != nil {
		return err
	}
	failpoint.At("secret-parameters.swept")
	if h.Since.After(before) {
		return nil
	}
	return l.Store.DeleteSecretParameters(ctx, h.ID)
}

// sweepSecretParameters destroys all keys of secret parameters but the one that they are sealed under.
func (l *Lifecycle) sweepSecretParameters(ctx context.Context, h SecretParameters) error {
	return secretParametersFault(l.Keys.Sweep(ctx, h.ID, func() ([]keyring.Sealed, error) { return []keyring.Sealed{h.place()}, nil }))
}

// SettleSecretParameters is the pass that destroys the keys of sealed parameters that nothing needs any more, and settles what
// processes that died before a time have left.
func (l *Lifecycle) SettleSecretParameters(ctx context.Context, before time.Time) error {
	found, err := l.Store.ListSecretParameters(ctx, SecretParametersFilter{Limit: secretParametersAtOnce})
	failed := []error{err}
	for _, h := range found {
		err := error(nil)
		switch {
		case h.State == SecretParametersAbandoned:
			err = l.dropSecretParameters(ctx, h, before)
		case !h.Since.Before(before):
		case h.State == SecretParametersMaking:
			l.abandonSecrets(ctx, h.ID)
		case h.State == SecretParametersRekeying:
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
	update := func(ctx context.Context, change func(*keyring.SealedRow) error) (keyring.SealedRow, error) {
		now, err := l.Store.UpdateSecretParameters(ctx, h.ID, func(h *SecretParameters) error {
			held := h.held()
			err := change(&held)
			h.State, h.Since, h.Generation = held.State, held.Since, held.Owner.Generation
			h.KeyStore, h.Ref, h.Sealed = held.KeyStore, held.Ref, held.Text
			return err
		})
		if errors.Is(err, broker.ErrConflict) || errors.Is(err, broker.ErrNotFound) {
			err = fmt.Errorf("%w: %w", keyring.ErrOvertaken, err)
		}
		return now.held(), err
	}
	return keyring.Row{Field: h.field(), Now: l.Now, Update: update}
}

// censored is a request without its secret parameters.
func censored(request json.RawMessage, names []string, parameters bool) (json.RawMessage, error) {
	if len(request) == 0 || len(names) == 0 && !parameters {
		return request, nil
	}
	return within(request, "additionalParams", func(given json.RawMessage) (json.RawMessage, error) {
		given, err := within(given, "variables", func(of json.RawMessage) (_ json.RawMessage, err error) {
			for _, name := range names {
				if of, err = within(of, name, placeholder); err != nil {
					return nil, err
				}
			}
			return of, nil
		})
		if err != nil || !parameters {
			return given, err
		}
		return within(given, "nfv", placeholder)
	})
}

// unread is a request for an operation that reads no parameters, with a placeholder for those that it gives all the
// same: the broker does not know which of them are secret.
func unread(request json.RawMessage) (json.RawMessage, error) {
	return within(request, "additionalParams", func(given json.RawMessage) (json.RawMessage, error) {
		given, err := within(given, "variables", placeholder)
		if err != nil {
			return nil, err
		}
		return within(given, "nfv", placeholder)
	})
}

// within is an object with a member changed, whatever the case of its name; everything else stays
// unchanged.
func within(in json.RawMessage, member string, change func(json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
	var all map[string]json.RawMessage
	if len(in) == 0 || json.Unmarshal(in, &all) != nil {
		return in, nil
	}
	changed := false
	for name, value := range all {
		if !strings.EqualFold(name, member) {
			continue
		}
		to, err := change(value)
		if err != nil {
			return nil, err
		}
		all[name], changed = to, true
	}
	if !changed {
		return in, nil
	}
	return json.Marshal(all)
}

// placeholder stands for a secret value.
func placeholder(json.RawMessage) (json.RawMessage, error) { return json.Marshal(shownSecret) }
