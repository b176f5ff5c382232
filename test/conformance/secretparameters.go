package conformance

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
)

func sampleSecretParameters(instance string) lifecycle.SecretParameters {
	return lifecycle.SecretParameters{ID: uuid.NewString(), Instance: instance, VIM: "v", SealedRow: keyring.SealedRow{State: keyring.Making, Since: epoch, Owner: secret.Owner{Generation: 1}}}
}

// seal stores secret parameters that an operation can name.
func (s lifecycleTest) seal(instance string) lifecycle.SecretParameters {
	s.t.Helper()
	h := sampleSecretParameters(instance)
	if err := s.CreateSecretParameters(s.t.Context(), h); err != nil {
		s.t.Fatalf("CreateSecretParameters = %v", err)
	}
	return s.mustUpdate(h.ID, func(h *lifecycle.SecretParameters) {
		h.Sealed = keyring.Sealed{Text: "token", KeyStore: "keydir", Ref: "ref"}
	})
}

func (s lifecycleTest) mustUpdate(id string, change func(*lifecycle.SecretParameters)) lifecycle.SecretParameters {
	s.t.Helper()
	h, err := s.UpdateSecretParameters(s.t.Context(), id, func(h *lifecycle.SecretParameters) error { change(h); return nil })
	if err != nil {
		s.t.Fatalf("UpdateSecretParameters = %v", err)
	}
	return h
}

func (s lifecycleTest) wantSecretParameters(what, id string, want keyring.State) {
	s.t.Helper()
	h, err := s.SecretParameters(s.t.Context(), id)
	if err != nil || h.State != want || (h.Text == "") != (want == keyring.Abandoned) {
		s.t.Errorf("%s: %+v, %v, want %s", what, h, err, want)
	}
}

func secretParametersRows(t *testing.T, s lifecycleTest) {
	ctx := t.Context()
	want := sampleSecretParameters("i")
	if err := s.CreateSecretParameters(ctx, want); err != nil {
		t.Fatal(err)
	}
	if used, err := s.KeysInUse(ctx, want.ID); err != nil || len(used) != 1 || used[0].Owner.ID != want.ID {
		t.Errorf("keys of those that are being made = %+v, %v", used, err)
	}
	if all, err := s.KeysInUse(ctx, ""); err != nil || !slices.ContainsFunc(all, func(k broker.RetiredKey) bool { return k.Owner.ID == want.ID }) {
		t.Errorf("of all keys = %+v, %v", all, err)
	}
	refusal := fmt.Errorf("no")
	if _, err := s.UpdateSecretParameters(ctx, want.ID, func(*lifecycle.SecretParameters) error { return refusal }); err != refusal { //nolint:errorlint // as it is
		t.Errorf("UpdateSecretParameters = %v, want the change's own error", err)
	}
	want.State, want.Since, want.Owner.Generation, want.Sealed = keyring.Active, epoch.Add(time.Minute), 2, keyring.Sealed{Text: "token", KeyStore: "keydir", Ref: "ref"}
	got := s.mustUpdate(want.ID, func(h *lifecycle.SecretParameters) {
		*h = lifecycle.SecretParameters{ID: "x", Instance: "x", VIM: "x", SealedRow: want.SealedRow}
	})
	read, err := s.SecretParameters(ctx, want.ID)
	if err != nil || !cmp.Equal(want, got) || !cmp.Equal(want, read) {
		t.Errorf("answered %+v, read %+v, %v, want %+v", got, read, err, want)
	}
	for from, tos := range map[keyring.State][]keyring.State{
		keyring.Making:    {keyring.Active, keyring.Abandoned},
		keyring.Active:    {keyring.Rekeying, keyring.Abandoned},
		keyring.Rekeying:  {keyring.Active, keyring.Abandoned},
		keyring.Abandoned: nil,
	} {
		for _, to := range []keyring.State{keyring.Making, keyring.Active, keyring.Rekeying, keyring.Abandoned} {
			h := sampleSecretParameters("i")
			h.State = from
			if err := s.CreateSecretParameters(ctx, h); err != nil {
				t.Fatal(err)
			}
			_, err := s.UpdateSecretParameters(ctx, h.ID, func(h *lifecycle.SecretParameters) error { h.State = to; return nil })
			if from == to || slices.Contains(tos, to) {
				if err != nil {
					t.Errorf("from %s to %s = %v", from, to, err)
				}
			} else {
				s.wantError(fmt.Sprintf("from %s to %s", from, to), err, broker.ErrConflict)
			}
		}
	}
	for range 2 {
		if err := s.DeleteSecretParameters(ctx, want.ID); err != nil {
			t.Error(err)
		}
	}
	s.wantSecretParameters("those that are needed and deleted", want.ID, keyring.Active)
	s.mustUpdate(want.ID, func(h *lifecycle.SecretParameters) {
		h.State, h.Sealed = keyring.Abandoned, keyring.Sealed{}
	})
	for range 2 {
		if err := s.DeleteSecretParameters(ctx, want.ID); err != nil {
			t.Error(err)
		}
	}
	_, err = s.SecretParameters(ctx, want.ID)
	s.wantError("those that are gone", err, broker.ErrNotFound)
	_, err = s.UpdateSecretParameters(ctx, want.ID, func(*lifecycle.SecretParameters) error { return nil })
	s.wantError("changing those that are gone", err, broker.ErrNotFound)
}

// secretParametersNeeded: secret parameters are kept as long as an instance, or a live operation on it, names them.
func secretParametersNeeded(t *testing.T, s lifecycleTest) {
	ctx := t.Context()
	i := s.create(sampleInstance("north"))
	begin := func(t lifecycle.OperationType, target string) (lifecycle.Operation, error) {
		now, err := s.Instance(ctx, i.ID)
		if err != nil {
			s.t.Fatal(err)
		}
		o := sampleOperation(now)
		o.Type, o.Before = t, now.Shape
		o.Target.Concealed.ID = target
		return o, s.BeginOperation(ctx, o, now.Revision, nil, entry("begin"))
	}
	_, err := begin(lifecycle.Instantiate, uuid.NewString())
	s.wantError("an operation that names what is not there", err, broker.ErrConflict)
	unsealed := sampleSecretParameters(i.ID)
	unsealed.Since = time.Unix(1, 0).UTC()
	if err := s.CreateSecretParameters(ctx, unsealed); err != nil {
		t.Fatal(err)
	}
	_, err = begin(lifecycle.Instantiate, unsealed.ID)
	s.wantError("an operation that names what is not sealed", err, broker.ErrConflict)

	first := s.seal(i.ID)
	o, err := begin(lifecycle.Instantiate, first.ID)
	if err != nil {
		t.Fatal(err)
	}
	s.wantSecretParameters("named by an operation", first.ID, keyring.Active)
	end := func(o lifecycle.Operation, id string, states ...lifecycle.OperationState) {
		t.Helper()
		for _, to := range states {
			if _, err := s.UpdateOperation(ctx, o.ID, func(o *lifecycle.Operation, i *lifecycle.Instance) error {
				if o.State = to; !to.Live() {
					i.State, i.Shape.Concealed.ID = lifecycle.Instantiated, id
				}
				return nil
			}, entry("moves")); err != nil {
				t.Fatal(err)
			}
		}
	}
	end(o, first.ID, lifecycle.Processing, lifecycle.Completed)
	s.wantSecretParameters("named by the instance", first.ID, keyring.Active)

	second := s.seal(i.ID)
	if o, err = begin(lifecycle.ChangePackage, second.ID); err != nil {
		t.Fatal(err)
	}
	end(o, "", lifecycle.Processing, lifecycle.FailedTemp, lifecycle.RollingBack)
	s.wantSecretParameters("on the way back, of before", first.ID, keyring.Active)
	s.wantSecretParameters("on the way back", second.ID, keyring.Active)
	end(o, first.ID, lifecycle.RolledBack)
	s.wantSecretParameters("after the rollback, of before", first.ID, keyring.Active)
	s.wantSecretParameters("after the rollback", second.ID, keyring.Abandoned)

	s.mustUpdate(first.ID, func(h *lifecycle.SecretParameters) { h.State = keyring.Rekeying })
	third := s.seal(i.ID)
	if o, err = begin(lifecycle.ChangePackage, third.ID); err != nil {
		t.Fatal(err)
	}
	end(o, third.ID, lifecycle.Processing, lifecycle.Completed)
	s.wantSecretParameters("replaced while it is sealed anew", first.ID, keyring.Abandoned)
	_, err = begin(lifecycle.Heal, first.ID)
	s.wantError("an operation that names what is abandoned", err, broker.ErrConflict)

	ids := func(f lifecycle.SecretParametersFilter) (ids []string) {
		t.Helper()
		f.Limit = max(f.Limit, 1)
		for {
			all, err := s.ListSecretParameters(ctx, f)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range all {
				ids = append(ids, h.ID)
			}
			if len(all) == 0 || f.VIM == "" {
				return ids
			}
			f.After = ids[len(ids)-1]
		}
	}
	fourth := s.seal(i.ID)
	s.mustUpdate(fourth.ID, func(h *lifecycle.SecretParameters) { h.State = keyring.Active })
	want := []string{third.ID, fourth.ID}
	slices.Sort(want)
	if got := ids(lifecycle.SecretParametersFilter{VIM: "v"}); !slices.Equal(got, want) {
		t.Errorf("needed on the VIM are %v, want %v", got, want)
	}
	if got := ids(lifecycle.SecretParametersFilter{VIM: "other"}); len(got) != 0 {
		t.Errorf("needed on another VIM are %v", got)
	}
	if got := ids(lifecycle.SecretParametersFilter{Limit: 10}); len(got) != 3 || got[0] != unsealed.ID || slices.Contains(got, third.ID) {
		t.Errorf("to settle are %v, want the one that is not sealed, and two that were dropped", got)
	}
	// With the instance everything goes that it may have left.
	if _, err := s.UpdateOperation(ctx, o.ID, func(*lifecycle.Operation, *lifecycle.Instance) error { return nil }, entry("same")); err != nil {
		t.Fatal(err)
	}
	if o, err = begin(lifecycle.Terminate, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.UpdateOperation(ctx, o.ID, func(o *lifecycle.Operation, _ *lifecycle.Instance) error { o.State = lifecycle.Processing; return nil }, entry("moves")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.UpdateOperation(ctx, o.ID, func(o *lifecycle.Operation, i *lifecycle.Instance) error {
		o.State, i.State, i.Shape = lifecycle.Completed, lifecycle.NotInstantiated, lifecycle.Shape{Package: "p"}
		return nil
	}, entry("ends")); err != nil {
		t.Fatal(err)
	}
	s.wantSecretParameters("terminated", third.ID, keyring.Abandoned)
	if err := s.DeleteInstance(ctx, i.ID, entry("delete")); err != nil {
		t.Fatal(err)
	}
	s.wantSecretParameters("of an instance that is deleted", fourth.ID, keyring.Abandoned)
}
