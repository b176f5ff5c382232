package lifecycle_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/outcome"
	"github.com/vimbroker/vimbroker/test/quickstore"
)

// discreetYard hides the variables of that name, and all parameters.
type discreetYard struct {
	*yard
	secret string
	open   bool // parameters are not hidden
	mu     sync.Mutex
	plans  []lifecycle.PlanInput
}

func (y *discreetYard) Basis(s lifecycle.Source) (lifecycle.Basis, error) {
	b, err := y.yard.Basis(s)
	b.SecretParameters = !y.open
	if slices.Contains(s.Given, y.secret) {
		b.Secret = []string{y.secret}
	}
	return b, err
}

func (y *discreetYard) Plan(ctx context.Context, c lifecycle.Connection, in lifecycle.PlanInput) (lifecycle.Plan, error) {
	y.mu.Lock()
	y.plans = append(y.plans, in)
	y.mu.Unlock()
	return y.yard.Plan(ctx, c, in)
}

// brittle is a key store that can be told to fail, under a name of its own.
type brittle struct {
	secret.KeyStore
	name string
	down error
}

func (b *brittle) Name() string { return b.name }

func (b *brittle) Get(ctx context.Context, ref secret.Ref) (*secret.Key, error) {
	if b.down != nil {
		return nil, b.down
	}
	return b.KeyStore.Get(ctx, ref)
}

func (b *brittle) Put(ctx context.Context, o secret.Owner, k *secret.Key) (secret.Ref, error) {
	if b.down != nil {
		return "", b.down
	}
	return b.KeyStore.Put(ctx, o, k)
}

func (b *brittle) count(t *testing.T) int {
	t.Helper()
	held, err := b.KeyStore.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return len(held)
}

// vault is a plant whose driver hides, with two key stores.
type vault struct {
	*plant
	discreet   *discreetYard
	first, two *brittle
}

func newVault(t *testing.T, change ...func(*lifecycle.Options)) *vault {
	t.Helper()
	v, dir := &vault{}, t.TempDir()
	open := func(name string) *brittle {
		keys, err := keydir.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return &brittle{KeyStore: keys, name: name}
	}
	v.first, v.two = open("first"), open("second")
	v.plant = newPlantWith(t, func(o *lifecycle.Options, y *yard) {
		v.discreet = &discreetYard{yard: y, secret: "password"}
		o.Drivers, o.Keys = []lifecycle.Driver{v.discreet}, []secret.KeyStore{v.first, v.two}
		for _, c := range change {
			c(o)
		}
	})
	return v
}

const (
	canaryVariable  = "canary-variable-4711"
	canaryParameter = "canary-parameter-4712"
)

func secretive() lifecycle.Instantiation {
	return lifecycle.Instantiation{
		Flavour: "simple", VIM: "edge", Variables: map[string]string{"password": canaryVariable, "color": "red"}, Parameters: []byte(`{"helm_values":{"token":"` + canaryParameter + `"}}`),
		Params: []byte(`{"flavourId":"simple","additionalParams":{"variables":{"password":"` + canaryVariable + `","color":"red"},"nfv":{"token":"` + canaryParameter + `"}}}`),
	}
}

func (v *vault) withSecrets(r lifecycle.Instantiation) lifecycle.Instance {
	v.t.Helper()
	i := v.made()
	v.completes(v.Instantiate(v.t.Context(), alice, i.ID, r))
	return v.instance(i.ID)
}

// wantNowhere fails where a text is in a file of the database.
func (v *vault) wantNowhere(texts ...string) {
	v.t.Helper()
	seen := false // what is written of an instance: that the scan looks where it stands
	err := filepath.WalkDir(v.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		seen = seen || bytes.Contains(text, []byte("vnf:create"))
		for _, canary := range texts {
			if bytes.Contains(text, []byte(canary)) {
				v.t.Errorf("%s holds %s", filepath.Base(p), canary)
			}
		}
		return err
	})
	if err != nil || !seen {
		v.t.Fatalf("%v; what the audit log says is found: %v", err, seen)
	}
}

// wantPlanned fails unless the last plan was made from what was given.
func (v *vault) wantPlanned(variables map[string]string, parameters string) {
	v.t.Helper()
	last := v.discreet.plans[len(v.discreet.plans)-1]
	if !maps.Equal(last.Variables, variables) || string(last.Parameters) != parameters {
		v.t.Errorf("planned from %v and %s, want %v and %s", last.Variables, last.Parameters, variables, parameters)
	}
}

func (v *vault) settles() {
	v.t.Helper()
	if err := v.SettleSecretParameters(v.t.Context(), v.clock.Now().Add(time.Second)); err != nil {
		v.t.Fatal(err)
	}
}

func TestSecretParametersRestSealed(t *testing.T) {
	v := newVault(t)
	i := v.withSecrets(secretive())
	whole := map[string]string{"password": canaryVariable, "color": "red"}
	helm := string(secretive().Parameters)
	v.wantPlanned(whole, helm)
	v.wantNowhere(canaryVariable, canaryParameter)
	shown, _, err := v.Operations(t.Context(), alice, lifecycle.OperationQuery{})
	if err != nil || len(shown) != 1 {
		t.Fatal(shown, err)
	}
	if text := string(shown[0].Params); strings.Contains(text, "canary") || strings.Count(text, `\u003chidden\u003e`)+strings.Count(text, "<hidden>") != 2 || !strings.Contains(text, `"color":"red"`) {
		t.Errorf("the request is shown as %s", text)
	}
	if text, err := json.Marshal(i); err != nil || strings.Contains(string(text), "canary") || i.Shape.Variables["color"] != "red" {
		t.Errorf("the instance is shown as %s, %v", text, err)
	}

	v.completes(v.Scale(t.Context(), alice, i.ID, lifecycle.Scaling{Aspect: "front", Steps: 1}))
	v.wantPlanned(whole, helm)
	v.completes(v.Heal(t.Context(), alice, i.ID, lifecycle.Healing{}))
	v.wantPlanned(whole, helm)
	if n := v.first.count(t); n != 1 {
		t.Errorf("%d keys, want 1", n)
	}

	// A change of package keeps what it does not give.
	v.completes(v.ChangePackage(t.Context(), alice, i.ID, lifecycle.PackageChange{VNFDID: "web-2"}))
	v.wantPlanned(whole, helm)
	v.completes(v.ChangePackage(t.Context(), alice, i.ID, lifecycle.PackageChange{VNFDID: "web-1", Variables: map[string]string{"password": "canary-second-4713"}}))
	v.wantPlanned(map[string]string{"password": "canary-second-4713"}, helm)

	// What failed is rolled back to what was, and what was given is then nobody's.
	v.yard.before = func(context.Context, int) error { return &broker.Error{Kind: broker.ErrConflict, Detail: "no"} }
	o := v.ends(lifecycle.FailedTemp, must(v.ChangePackage(t.Context(), alice, i.ID, lifecycle.PackageChange{VNFDID: "web-2", Parameters: []byte(`{"token":"canary-third-4714"}`)})), nil)
	v.wantPlanned(map[string]string{"password": "canary-second-4713"}, `{"token":"canary-third-4714"}`)
	v.yard.before = nil
	v.settles()
	if n := v.first.count(t); n != 2 {
		t.Errorf("%d keys while an operation may be rolled back, want 2", n)
	}
	v.ends(lifecycle.RolledBack, must(v.Rollback(t.Context(), alice, o.ID)), nil)
	v.wantPlanned(map[string]string{"password": "canary-second-4713"}, helm)
	v.settles()
	if n := v.first.count(t); n != 1 {
		t.Errorf("%d keys after the rollback, want 1", n)
	}

	// What is not hidden any more is nobody's.
	v.completes(v.ChangePackage(t.Context(), alice, i.ID, lifecycle.PackageChange{VNFDID: "web-1", Variables: map[string]string{"color": "blue"}, Parameters: []byte(`{}`)}))
	v.completes(v.Terminate(t.Context(), alice, i.ID, nil))
	v.settles()
	if n := v.first.count(t) + v.two.count(t); n != 0 {
		t.Errorf("%d keys after the end, want none", n)
	}
	if left, err := v.store.ListSecretParameters(t.Context(), lifecycle.SecretParametersFilter{Limit: 10}); err != nil || len(left) != 0 {
		t.Errorf("left are %+v, %v", left, err)
	}
	if err := v.DeleteInstance(t.Context(), alice, i.ID, 0); err != nil {
		t.Fatal(err)
	}
	v.wantNowhere(canaryVariable, canaryParameter, "canary-second-4713", "canary-third-4714")
}

// must passes an operation on that was begun; a test that cannot begin it panics.
func must(o lifecycle.Operation, err error) lifecycle.Operation {
	if err != nil {
		panic(err)
	}
	return o
}

func TestSecretParametersAreSealedAnew(t *testing.T) {
	v := newVault(t)
	i := v.withSecrets(secretive())
	row := func() lifecycle.SecretParameters {
		t.Helper()
		h, err := v.store.SecretParameters(t.Context(), i.Shape.Concealed.ID)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	before := row()
	for _, c := range []struct {
		to         string
		one, other int
	}{{"", 1, 0}, {"second", 0, 1}, {"first", 1, 0}} {
		old := row()
		if err := v.RekeySecretParameters(t.Context(), "edge", c.to); err != nil {
			t.Fatal(err)
		}
		now := row()
		if now.Ref == old.Ref || now.Text == old.Text || now.Owner.Generation != old.Owner.Generation+1 || now.State != keyring.Active || v.first.count(t) != c.one || v.two.count(t) != c.other {
			t.Errorf("to %q: from %+v to %+v, %d and %d keys", c.to, old, now, v.first.count(t), v.two.count(t))
		}
		v.completes(v.Heal(t.Context(), alice, i.ID, lifecycle.Healing{}))
		v.wantPlanned(secretive().Variables, string(secretive().Parameters))
	}
	// The row of before opens nothing: its key is gone, and its generation is another.
	if _, err := v.store.UpdateSecretParameters(t.Context(), before.ID, func(h *lifecycle.SecretParameters) error { h.Sealed = before.Sealed; return nil }); err != nil {
		t.Fatal(err)
	}
	o := v.ends(lifecycle.RolledBack, must(v.Heal(t.Context(), alice, i.ID, lifecycle.Healing{})), nil)
	if o.Failure == nil || !strings.Contains(o.Failure.Detail, "do not open") {
		t.Errorf("a row that was put back: %+v", o.Failure)
	}
	if err := v.RekeySecretParameters(t.Context(), "edge", "nowhere"); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("an unknown key store = %v", err)
	}
	if err := v.RekeySecretParameters(t.Context(), "far", ""); err != nil {
		t.Errorf("a VIM with no instance = %v", err)
	}
}

// What does not open keeps nothing else from being sealed anew, and what is left in another key store is counted.
func TestOneThatDoesNotOpenKeepsNoOtherFromBeingSealedAnew(t *testing.T) {
	v := newVault(t)
	ids := []string{v.withSecrets(secretive()).Shape.Concealed.ID, v.withSecrets(secretive()).Shape.Concealed.ID}
	slices.Sort(ids) // the order in which they are sealed anew
	elsewhere := func(store string, want int) {
		t.Helper()
		if n, err := v.SecretParametersElsewhere(t.Context(), "edge", store); err != nil || n != want {
			t.Errorf("%d are elsewhere than in %q, %v; want %d", n, store, err, want)
		}
	}
	elsewhere("first", 0)
	elsewhere("second", 2)
	lost, err := v.store.SecretParameters(t.Context(), ids[0])
	if err == nil {
		_, err = v.first.Delete(t.Context(), lost.Ref)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := v.RekeySecretParameters(t.Context(), "edge", "second"); err == nil {
		t.Error("it says nothing of the one that does not open")
	}
	elsewhere("second", 1)
	if moved, err := v.store.SecretParameters(t.Context(), ids[1]); err != nil || moved.KeyStore != "second" || moved.State != keyring.Active {
		t.Errorf("the other is %+v, %v; want it sealed anew", moved, err)
	}
	if n, err := v.SecretParametersElsewhere(t.Context(), "far", "second"); err != nil || n != 0 {
		t.Errorf("%d, %v of a VIM with no instance", n, err)
	}
}

// Whoever begins to seal anew has it alone; what a process that died has left, the pass settles.
func TestSealingAnewThatDied(t *testing.T) {
	v := newVault(t)
	i := v.withSecrets(secretive())
	id := i.Shape.Concealed.ID
	putKey := func() {
		t.Helper()
		key, err := secret.NewKey()
		if err == nil {
			_, err = v.two.Put(t.Context(), secret.Owner{ID: id, Generation: 2}, key)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	intent := func() {
		t.Helper()
		if _, err := v.store.UpdateSecretParameters(t.Context(), id, func(h *lifecycle.SecretParameters) error {
			h.State, h.Since = keyring.Rekeying, v.clock.Now()
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		putKey()
	}
	intent()
	if err := v.RekeySecretParameters(t.Context(), "edge", ""); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("beside another = %v, want ErrConflict", err)
	}
	v.completes(v.Heal(t.Context(), alice, i.ID, lifecycle.Healing{})) // meanwhile
	v.wantPlanned(secretive().Variables, string(secretive().Parameters))
	if err := v.SettleSecretParameters(t.Context(), v.clock.Now()); err != nil || v.two.count(t) != 1 {
		t.Errorf("one that may be at work is settled: %v, %d keys", err, v.two.count(t))
	}
	v.settles()
	if h, err := v.store.SecretParameters(t.Context(), id); err != nil || h.State != keyring.Active || v.first.count(t) != 1 || v.two.count(t) != 0 {
		t.Errorf("settled: %+v, %v, %d and %d keys", h, err, v.first.count(t), v.two.count(t))
	}
	// Dropped meanwhile, all its keys go, with one that comes after that.
	intent()
	v.completes(v.Terminate(t.Context(), alice, i.ID, nil))
	putKey()
	v.settles()
	if n := v.first.count(t) + v.two.count(t); n != 0 {
		t.Errorf("%d keys after the end, want none", n)
	}
}

// overtaking is a store on which another takes a sealing over once its key is stored.
type overtaking struct {
	lifecycle.Store
	after int
	then  func(*lifecycle.SecretParameters)
}

func (s *overtaking) UpdateSecretParameters(ctx context.Context, id string, change func(*lifecycle.SecretParameters) error) (lifecycle.SecretParameters, error) {
	if s.after--; s.after == 0 {
		if _, err := s.Store.UpdateSecretParameters(ctx, id, func(h *lifecycle.SecretParameters) error { s.then(h); return nil }); err != nil {
			return lifecycle.SecretParameters{}, err
		}
	}
	return s.Store.UpdateSecretParameters(ctx, id, change)
}

func TestSealingThatIsTakenOver(t *testing.T) {
	var between *overtaking
	v := newVault(t, func(o *lifecycle.Options) {
		between = &overtaking{Store: o.Store}
		o.Store = between
	})
	// A request that took too long: it is refused, and leaves neither key nor row.
	between.after, between.then = 1, func(h *lifecycle.SecretParameters) { h.State = keyring.Abandoned }
	_, err := v.Instantiate(t.Context(), alice, v.made().ID, secretive())
	wantKind(t, err, broker.ErrConflict)
	v.settles()
	if n := v.first.count(t); n != 0 {
		t.Errorf("%d keys after a request that was refused", n)
	}
	i := v.withSecrets(secretive())
	between.after, between.then = 2, func(h *lifecycle.SecretParameters) { h.Since = h.Since.Add(time.Minute) }
	if err := v.RekeySecretParameters(t.Context(), "edge", "second"); !errors.Is(err, broker.ErrConflict) || v.two.count(t) != 0 {
		t.Errorf("a sealing anew that was taken over = %v, %d keys of its own", err, v.two.count(t))
	}
	v.completes(v.Heal(t.Context(), alice, i.ID, lifecycle.Healing{}))

	// An operation begins with them just as the pass takes them for left: they are needed.
	late := lifecycle.SecretParameters{ID: uuid.NewString(), Instance: i.ID, VIM: "edge"}
	late.State, late.Since, late.Owner.Generation = keyring.Making, v.clock.Now(), 1
	if err := v.store.CreateSecretParameters(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	between.after, between.then = 1, func(h *lifecycle.SecretParameters) { h.State = keyring.Active }
	v.settles()
	if h, err := v.store.SecretParameters(t.Context(), late.ID); err != nil || h.State != keyring.Active {
		t.Errorf("what an operation needs is %+v, %v", h, err)
	}
}

// Without the key store an operation waits; what need not open anything goes on. A key that is lost costs the
// operations that need it, not the way out.
func TestSecretParametersWithoutTheirKeyStore(t *testing.T) {
	v := newVault(t)
	i := v.withSecrets(secretive())
	v.first.down = secret.ErrUnavailable
	o, err := v.Heal(t.Context(), alice, i.ID, lifecycle.Healing{})
	if err != nil {
		t.Fatal(err)
	}
	did := v.Work(t.Context(), o.ID)
	if !errors.Is(did, broker.ErrUnavailable) || !strings.Contains(did.Error(), "key store") {
		t.Errorf("Work = %v, want that it waits for the key store", did)
	}
	if _, _, err := v.Operations(t.Context(), alice, lifecycle.OperationQuery{}); err != nil {
		t.Error(err)
	}
	if _, _, err := v.Instances(t.Context(), alice, lifecycle.InstanceQuery{}); err != nil {
		t.Error(err)
	}
	if _, err := v.Cancel(t.Context(), alice, o.ID, lifecycle.Graceful); err != nil {
		t.Error(err)
	}
	v.ends(lifecycle.RolledBack, o, nil)
	other := v.made()
	if _, err := v.Instantiate(t.Context(), alice, other.ID, secretive()); !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("Instantiate = %v, want ErrUnavailable", err)
	}
	v.completes(v.Instantiate(t.Context(), alice, other.ID, lifecycle.Instantiation{Flavour: "simple", VIM: "edge", Variables: map[string]string{"color": "red"}}))

	v.first.down = secret.ErrNotFound
	o = v.ends(lifecycle.RolledBack, must(v.Heal(t.Context(), alice, i.ID, lifecycle.Healing{})), nil)
	if o.Failure == nil || o.Failure.Status != 500 || !strings.Contains(o.Failure.Detail, "change of package") {
		t.Errorf("with a lost key: %+v", o.Failure)
	}
	v.first.down = nil
	held, err := v.first.List(t.Context(), i.Shape.Concealed.ID)
	if err != nil || len(held) != 1 {
		t.Fatal(held, err)
	}
	if _, err := v.first.Delete(t.Context(), held[0].Ref); err != nil {
		t.Fatal(err)
	}
	v.completes(v.ChangePackage(t.Context(), alice, i.ID, lifecycle.PackageChange{VNFDID: "web-2", Variables: map[string]string{"password": "p"}, Parameters: []byte(`{"a":1}`)}))
	v.wantPlanned(map[string]string{"password": "p"}, `{"a":1}`)
	v.first.down = secret.ErrUnavailable
	v.completes(v.Terminate(t.Context(), alice, i.ID, nil))
}

// What is sealed for one instance does not open for another, whoever has changed the database.
func TestSecretParametersOfAnother(t *testing.T) {
	v := newVault(t)
	i, other := v.withSecrets(secretive()), v.withSecrets(secretive())
	o := must(v.Heal(t.Context(), alice, i.ID, lifecycle.Healing{}))
	if _, err := v.store.UpdateOperation(t.Context(), o.ID, func(o *lifecycle.Operation, _ *lifecycle.Instance) error {
		o.Target.Concealed.ID = other.Shape.Concealed.ID
		return nil
	}, audit.Entry{Time: v.clock.Now()}); err == nil {
		t.Error("an operation comes to name secret parameters that are not made for it")
	}
	db, err := quickstore.Raw(filepath.Join(v.dir, "vimbroker.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, c := range []struct{ what, statement string }{
		{"the operation names those of another", `UPDATE vnf_operations SET document = replace(document, ?1, ?2) WHERE id = ?3`},
		{"so does its row say", `UPDATE vnf_secret_parameters SET instance = ?4 WHERE id = ?2`},
	} {
		if _, err := db.ExecContext(t.Context(), c.statement, i.Shape.Concealed.ID, other.Shape.Concealed.ID, o.ID, i.ID); err != nil {
			t.Fatal(err)
		}
		did := v.Work(t.Context(), o.ID)
		ended, err := v.Operation(t.Context(), alice, o.ID)
		if did != nil || err != nil || ended.State != lifecycle.RolledBack || !strings.Contains(ended.Failure.Detail, "do not open") {
			t.Errorf("%s: %v, %+v, %v", c.what, did, ended, err)
		}
		o = must(v.Heal(t.Context(), alice, i.ID, lifecycle.Healing{}))
		if _, err := db.ExecContext(t.Context(), `UPDATE vnf_operations SET document = replace(document, ?1, ?2) WHERE id = ?3`, i.Shape.Concealed.ID, other.Shape.Concealed.ID, o.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// A request for an operation that reads no parameters may repeat all that the instance was given: of that nothing rests,
// and nothing is shown.
// TestAPreviewReadsWhatStaysSealed: it plans with what the request gives, and with what is sealed of the rest.
func TestAPreviewReadsWhatStaysSealed(t *testing.T) {
	v := newVault(t)
	all, hidden := secretive(), secretive()
	hidden.Variables, hidden.Parameters = map[string]string{"password": canaryVariable}, nil
	given, fresh := []byte(`{"a":1}`), map[string]string{"password": "fresh"}
	old := string(all.Parameters)
	both, only := v.withSecrets(all).ID, v.withSecrets(hidden).ID
	v.discreet.open = true
	clear := v.withSecrets(all).ID
	for name, c := range outcome.Sorted(map[string]struct {
		id         string
		open       bool
		asks       lifecycle.PackageChange
		variables  map[string]string
		parameters string
	}{
		"nothing given":      {both, false, lifecycle.PackageChange{}, all.Variables, old},
		"parameters given":   {both, false, lifecycle.PackageChange{Parameters: given}, all.Variables, string(given)},
		"variables given":    {both, false, lifecycle.PackageChange{Variables: fresh}, fresh, old},
		"both given":         {both, false, lifecycle.PackageChange{Variables: fresh, Parameters: given}, fresh, string(given)},
		"no other variable":  {only, false, lifecycle.PackageChange{Parameters: given}, hidden.Variables, string(given)},
		"clear ones stay so": {clear, true, lifecycle.PackageChange{Variables: fresh}, fresh, old},
	}) {
		v.discreet.open = c.open
		c.asks.VNFDID = "web-2"
		if _, err := v.Preview(t.Context(), alice, c.id, c.asks); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Log(name)
		v.wantPlanned(c.variables, c.parameters)
	}
}

// TestSealedTextThatIsNone: a text that opens, and is not what was sealed, is lost.
func TestSealedTextThatIsNone(t *testing.T) {
	v := newVault(t)
	ctx := t.Context()
	i := v.withSecrets(secretive())
	h, err := v.store.SecretParameters(ctx, i.Shape.Concealed.ID)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := v.Keys.Seal(ctx, h.OwnedBy(h.ID).Owner, "parameters of VNF instance "+i.ID, secret.NewText("no JSON"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.store.UpdateSecretParameters(ctx, h.ID, func(now *lifecycle.SecretParameters) error {
		now.Sealed = sealed
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	o := v.ends(lifecycle.RolledBack, must(v.Heal(ctx, alice, i.ID, lifecycle.Healing{})), nil)
	if !strings.Contains(o.Failure.Detail, "the secret parameters of the instance do not open") {
		t.Errorf("the failure is %+v", o.Failure)
	}
}

func TestParametersThatAnOperationDoesNotRead(t *testing.T) {
	v := newVault(t)
	i := v.withSecrets(secretive())
	again := json.RawMessage(strings.Replace(string(secretive().Params), `"flavourId":"simple"`, `"cause":"seen"`, 1))
	for _, begin := range []func() (lifecycle.Operation, error){
		func() (lifecycle.Operation, error) {
			return v.Scale(t.Context(), alice, i.ID, lifecycle.Scaling{Aspect: "front", Steps: 1, Params: again})
		},
		func() (lifecycle.Operation, error) {
			return v.Heal(t.Context(), alice, i.ID, lifecycle.Healing{Params: again})
		},
		func() (lifecycle.Operation, error) { return v.Terminate(t.Context(), alice, i.ID, again) },
	} {
		o := must(begin())
		v.completes(o, nil)
		shown, err := v.Operation(t.Context(), alice, o.ID)
		text := string(shown.Params)
		if err != nil || strings.Contains(text, "canary") || !strings.Contains(text, `"cause":"seen"`) || !strings.Contains(text, "hidden") {
			t.Errorf("%s shows %s, %v", o.Type, text, err)
		}
	}
	v.wantNowhere(canaryVariable, canaryParameter)
}
