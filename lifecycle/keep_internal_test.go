package lifecycle

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
)

// What is missing or changed is kept up to a bound and counted beyond it; what the VIM removes by itself is not missed, if it is
// not changed. What is another's by now is no error.
func TestDriftIsKept(t *testing.T) {
	changed := []string{"kubectl"}
	many := slices.Repeat([]Observation{{}}, maxDrift+1)
	for name, c := range map[string]struct {
		seen  []Observation
		kept  int
		count int
		fails error
		want  error
	}{
		"what stands":           {[]Observation{{Standing: true}}, 0, 0, nil, nil},
		"what is missing":       {[]Observation{{VNFCs: []VNFC{{}}, Resource: Resource{Storages: []Storage{{}}}}}, 1, 1, nil, nil},
		"what has passed":       {[]Observation{{Resource: Resource{Passes: true}}}, 0, 0, nil, nil},
		"what is changed":       {[]Observation{{Standing: true, ChangedBy: changed}, {Resource: Resource{Passes: true}, ChangedBy: changed}}, 2, 2, nil, nil},
		"as many as are kept":   {many[1:], maxDrift, maxDrift, nil, nil},
		"more than are kept":    {many, maxDrift, maxDrift + 1, nil, nil},
		"one that moved on":     {nil, 0, 0, broker.ErrConflict, nil},
		"one that is gone":      {nil, 0, 0, broker.ErrNotFound, nil},
		"a store that is away":  {nil, 0, 0, errAway, errAway},
		"more than before, new": {[]Observation{{}, {}}, 2, 2, nil, nil},
	} {
		b := newBench(t)
		b.rows.fails["SaveDrift"] = c.fails
		err := b.keepDrift(t.Context(), Instance{Drift: Drift{Count: 1}}, c.seen, nil)
		if got := b.rows.drift; !errors.Is(err, c.want) || len(got.Resources) != c.kept || got.Count != c.count || !got.SeenAt.Equal(b.at) {
			t.Errorf("%s: %v, kept %d of %d", name, err, len(got.Resources), got.Count)
		}
		for _, o := range b.rows.drift.Resources {
			if o.VNFCs != nil || o.Storages != nil {
				t.Errorf("%s: kept with %v and %v", name, o.VNFCs, o.Storages)
			}
		}
		if logs := strings.Contains(b.log.String(), "missing or were changed"); logs != (c.count > 1) {
			t.Errorf("%s: the log says %q", name, b.log)
		}
	}
}

// A look fails with what it needs, and of several parts says which; a VIM that is too slow for all its instances says so, and a
// process that ends writes nothing.
func TestALookFailsWithWhatItNeeds(t *testing.T) {
	d := applies("kubernetes")
	b := newBench(t, d, applies("openstack"))
	b.doing(Heal, "edge", "cloud")
	delete(b.keys.vims, "cloud")
	if _, err := b.look(t.Context(), "l", b.rows.i); !errors.Is(err, broker.ErrNotFound) || len(b.keys.ended) != 0 {
		t.Errorf("without its VIM: %v", err)
	}
	b.keys.vims["cloud"] = broker.VIM{ID: "cloud"}
	d.plan = func(context.Context, Connection, PlanInput) (Plan, error) { return Plan{}, unreached }
	if _, err := b.look(t.Context(), "l", b.rows.i); err == nil || err.Error() != "part key-edge on VIM edge: nobody answers" || !slices.Equal(b.keys.ended, []string{"l"}) {
		t.Errorf("without a plan: %v, ended %q", err, b.keys.ended)
	}

	// Of instances on one VIM alone the next waits; one with parts on others says nothing of it.
	b.rows.drift = Drift{}
	several := b.rows.i
	alone := several
	alone.Shape = on("edge")
	for name, c := range map[string]struct {
		all  []Instance
		says *broker.Error
		want int
	}{
		"alone": {[]Instance{alone, alone}, unreached, 1}, "parts": {[]Instance{several, several}, unreached, 2},
		"a fault of the instance": {[]Instance{alone, alone}, &broker.Error{Kind: broker.ErrInvalid, Detail: "its files are none"}, 2},
	} {
		tries := 0
		d.plan = func(context.Context, Connection, PlanInput) (Plan, error) { tries++; return Plan{}, c.says }
		if err := b.observeVIM(t.Context(), c.all); err != nil || tries != c.want || !strings.HasSuffix(b.rows.drift.Unseen, c.says.Detail) {
			t.Errorf("%s: %v, tried %d times, want %d; seen %+v", name, err, tries, c.want, b.rows.drift)
		}
	}
	b.rows.fails["InstancesToObserve"] = errAway
	if err := b.Observe(t.Context()); !errors.Is(err, errAway) {
		t.Errorf("without knowing which are due: %v", err)
	}
	b.rows.fails["SaveDrift"] = errAway
	if err := b.observeVIM(t.Context(), []Instance{alone}); !errors.Is(err, errAway) {
		t.Errorf("what was seen cannot be kept: %v", err)
	}
	delete(b.rows.fails, "InstancesToObserve")
	if err := b.Observe(t.Context()); !errors.Is(err, errAway) {
		t.Errorf("what was seen of those that are due cannot be kept: %v", err)
	}
	delete(b.rows.fails, "SaveDrift")
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	b.rows.drift = Drift{}
	if err := b.observeVIM(late, []Instance{alone}); !errors.Is(err, context.DeadlineExceeded) || !b.rows.drift.TriedAt.IsZero() {
		t.Errorf("at the end of the process: %v, wrote %+v", err, b.rows.drift)
	}
}

// Turns that cannot be given now are left to the pass, and the log says so; else it says nothing.
func TestTurnsThatAreLeftToThePass(t *testing.T) {
	b := newBench(t)
	b.nextTurns(t.Context())
	if said := b.log.String(); said != "" {
		t.Errorf("of turns that were given the log says %s", said)
	}
	b.rows.fails["GiveTurns"] = errAway
	b.nextTurns(t.Context())
	if said := b.log.String(); strings.Count(said, "the next pass does it") != 1 {
		t.Errorf("of turns that were not given the log says %s", said)
	}
}

// The pass over secret parameters says what the store says.
func TestThePassOverSecretParametersFails(t *testing.T) {
	b := newBench(t)
	b.rows.fails["ListSecretParameters"] = errAway
	for _, p := range b.Passes() {
		if p.Name == "secret-parameters" {
			if err := p.Run(t.Context()); !errors.Is(err, errAway) {
				t.Errorf("the pass ends with %v", err)
			}
		}
	}
	if err := b.SettleSecretParameters(t.Context(), b.at); !errors.Is(err, errAway) {
		t.Errorf("settling ends with %v", err)
	}
	if _, err := b.SecretParametersElsewhere(t.Context(), "edge", "one"); !errors.Is(err, errAway) {
		t.Errorf("counting ends with %v", err)
	}
}

// chest is a key store in memory. down is what it fails with.
type chest struct {
	secret.KeyStore
	name string
	keys map[secret.Ref]*secret.Key
	down error
}

func (c *chest) Name() string { return c.name }

func (c *chest) Put(_ context.Context, o secret.Owner, k *secret.Key) (secret.Ref, error) {
	ref := secret.Ref(fmt.Sprint(o.ID, o.Generation))
	kept, err := secret.ParseKey(k.Encode()) // whoever puts it clears it
	c.keys[ref] = kept
	return ref, cmp.Or(c.down, err)
}

func (c *chest) Get(_ context.Context, ref secret.Ref) (*secret.Key, error) {
	return secret.ParseKey(c.keys[ref].Encode())
}

func (c *chest) List(context.Context, string) ([]secret.Held, error) { return nil, c.down }

// Parameters that are sealed are text of a size.
func TestSealedParametersAreBounded(t *testing.T) {
	fits := content{Variables: map[string]string{"a": strings.Repeat("x", secret.MaxPlaintext-len(`{"variables":{"a":""}}`+"\n"))}}
	if text, err := fits.text(); err != nil || len(text.Reveal()) != secret.MaxPlaintext {
		t.Errorf("the most: %v", err)
	}
	fits.Variables["a"] += "x"
	_, err := fits.text()
	wantInvalid(t, "more", err, "additionalParams", fmt.Sprintf("its secret values have more than %d bytes", secret.MaxPlaintext))
	b := newBench(t)
	if _, err := b.seal(t.Context(), "i", "edge", fits); !errors.Is(err, broker.ErrInvalid) || len(b.rows.secrets) != 0 {
		t.Errorf("sealed: %v", err)
	}
	torn := content{Parameters: json.RawMessage(`{"token":"canary`)}
	if _, err := torn.text(); err == nil || err.Error() != "writing secret parameters" {
		t.Errorf("what is no JSON: %v", err)
	}
}

// Parameters are sealed where the driver or the descriptor calls them secret, and the package is asked only where there are any.
func TestWhatIsSealed(t *testing.T) {
	given := map[string]string{"a": "1", "b": "2"}
	nothing := func(*Shape) {}
	for name, c := range map[string]struct {
		of     OperationType
		basis  Basis
		shape  func(*Shape)
		given  content
		fails  error // of packages
		says   error // of the driver
		want   string
		wanted error
	}{
		"nothing":                           {Instantiate, Basis{}, nothing, content{}, errAway, nil, "", nil},
		"no parameters in place of none":    {Instantiate, Basis{}, nothing, content{Variables: map[string]string{}}, errAway, nil, "", nil},
		"sealed ones that stay":             {ChangePackage, Basis{}, func(s *Shape) { s.Concealed.ID = "old" }, content{}, errAway, nil, "old", nil},
		"a package that is gone":            {ChangePackage, Basis{}, func(s *Shape) { s.Concealed.ID = "old" }, content{Variables: given}, errAway, nil, "old", errAway},
		"files that the driver refuses":     {Instantiate, Basis{}, func(s *Shape) { s.Variables = given }, content{Variables: given}, nil, errAway, "", errAway},
		"none of them secret":               {Instantiate, Basis{}, func(s *Shape) { s.Variables = given }, content{Variables: given}, nil, nil, "", nil},
		"one of them":                       {Instantiate, Basis{Secret: []string{"a"}}, func(s *Shape) { s.Variables = given }, content{Variables: given}, nil, nil, "[a] false", nil},
		"what has become secret":            {ChangePackage, Basis{Secret: []string{"a"}}, func(s *Shape) { s.Variables = given }, content{}, nil, nil, "[a] false", nil},
		"parameters that have become so":    {ChangePackage, Basis{SecretParameters: true}, func(s *Shape) { s.Parameters = json.RawMessage(`{"a":1}`) }, content{}, nil, nil, "[] true", nil},
		"both":                              {Instantiate, Basis{Secret: []string{"b"}, SecretParameters: true}, func(s *Shape) { s.Variables, s.Parameters = given, json.RawMessage(`{"a":1}`) }, content{given, json.RawMessage(`{"a":1}`)}, nil, nil, "[b] true", nil},
		"what a scaling reads stays sealed": {ScaleVNF, Basis{Secret: []string{"a"}}, func(s *Shape) { s.Variables = given }, content{}, errAway, nil, "", nil},
	} {
		b := newBench(t, &yielding{plain: plain{on: "kubernetes", says: c.says}, basis: c.basis})
		b.Keys = keyring.Ring{&chest{name: "c", keys: map[secret.Ref]*secret.Key{}}}
		b.Packages = shelved{webs(), c.fails}
		o := Operation{Type: c.of, Instance: "i", Target: on("edge")}
		c.shape(&o.Target)
		err := b.sealSecrets(t.Context(), &o, c.given)
		got := o.Target.Concealed.ID
		if len(b.rows.secrets) > 0 {
			got = fmt.Sprint(o.Target.Concealed.Variables, o.Target.Concealed.Parameters)
		}
		if !errors.Is(err, c.wanted) || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
		for _, hidden := range o.Target.Concealed.Variables {
			if _, shown := o.Target.Variables[hidden]; shown || given[hidden] == "" {
				t.Errorf("%s: %s is shown as %v", name, hidden, o.Target.Variables)
			}
		}
	}
}

// Sealed parameters that are lost, or are another instance's, do not open, and a store that is away is not the loss of them.
func TestSealedParametersThatDoNotOpen(t *testing.T) {
	b := newBench(t)
	row := SecretParameters{ID: "s", Instance: "i"}
	s := Shape{Concealed: Concealed{ID: "s"}}
	for name, c := range map[string]struct {
		rows  []SecretParameters
		fails error
		want  error
	}{
		"gone": {nil, nil, broker.ErrUnopenable}, "empty": {[]SecretParameters{row}, nil, broker.ErrUnopenable},
		"another's": {[]SecretParameters{{ID: "s", Instance: "j"}}, nil, broker.ErrUnopenable}, "away": {[]SecretParameters{row}, errAway, errAway},
	} {
		b.rows.secrets, b.rows.fails["SecretParameters"] = c.rows, c.fails
		if _, err := b.openSecretParameters(t.Context(), "i", s); !errors.Is(err, c.want) || errors.Is(err, broker.ErrUnopenable) != (c.want == broker.ErrUnopenable) { //nolint:errorlint // the row's
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// What nobody needs is dropped with its keys, and a failure is left for the pass: the log says so, unless it is gone already.
func TestAbandonedParametersAreDropped(t *testing.T) {
	for name, c := range map[string]struct {
		down  error
		fails string
		says  error
		logs  bool
	}{
		"dropped": {nil, "", nil, false}, "a key store that is down": {errAway, "", nil, true},
		"a row that stays": {nil, "DeleteSecretParameters", errAway, true}, "one that is gone": {nil, "SecretParameters", broker.ErrNotFound, false},
		"one that is needed": {nil, "SecretParameters", broker.ErrConflict, false}, "a store that is away": {nil, "SecretParameters", errAway, true},
	} {
		b := newBench(t)
		b.Keys = keyring.Ring{&chest{name: "c", down: c.down}}
		row := SecretParameters{ID: "s", Instance: "i"}
		row.State, row.Since = keyring.Abandoned, b.at.Add(-time.Hour)
		b.rows.secrets, b.rows.fails[c.fails] = []SecretParameters{row}, c.says
		b.abandonSecrets(t.Context(), "", "s")
		if logs := strings.Contains(b.log.String(), "left for the pass"); logs != c.logs {
			t.Errorf("%s: the log says %q", name, b.log)
		}
		if c.fails == "SecretParameters" {
			continue
		}
		err := b.SettleSecretParameters(t.Context(), b.at)
		if (err != nil) != c.logs {
			t.Errorf("%s: the pass ends with %v", name, err)
		}
		if want := map[bool]int{true: 0, false: 2}[c.down != nil]; len(b.rows.deleted) != want {
			t.Errorf("%s: %q were deleted", name, b.rows.deleted)
		}
	}
}

// Keys elsewhere are those in other stores: parameters without a key have none. Resealing stops with the process.
func TestSealedParametersElsewhereAreCounted(t *testing.T) {
	b := newBench(t)
	b.Keys = keyring.Ring{&chest{name: "one"}}
	for n, store := range []string{"one", "two", ""} {
		h := SecretParameters{ID: fmt.Sprint(n)}
		h.KeyStore = store
		b.rows.secrets = append(b.rows.secrets, h)
	}
	if n, err := b.SecretParametersElsewhere(t.Context(), "edge", "one"); err != nil || n != 1 {
		t.Errorf("%d, %v; want 1", n, err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.RekeySecretParameters(over, "edge", "one"); !errors.Is(err, context.Canceled) {
		t.Errorf("resealing at the end of the process: %v", err)
	}
}

// Operations that wait say how they stand; of those whose turn came since they were read the next is said, and of the rest nothing.
func TestOperationsSayHowTheyWait(t *testing.T) {
	b := newBench(t)
	b.Terms.PerProject, b.Terms.PerVIM = 1, 9
	b.rows.places = []Place{{Operation: "w", Project: "core", VIM: "edge"}, {Operation: "a", Project: "core", VIM: "edge", Waits: true, QueuedAt: b.at}}
	all := []Operation{
		{ID: "w", State: Processing, TurnAt: b.at}, {ID: "a", State: Starting}, {ID: "b", State: Starting, QueuedAt: b.at}, {ID: "c", State: Completed},
	}
	if err := b.showWaiting(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if all[0].Waiting != nil || all[3].Waiting != nil || all[1].Waiting.Position != 1 || !strings.Contains(all[1].Waiting.Reason, "vnf.operationsPerProject") ||
		*all[2].Waiting != (Waiting{b.at, 1, soon}) {
		t.Errorf("they wait as %+v, %+v, %+v, %+v", all[0].Waiting, all[1].Waiting, all[2].Waiting, all[3].Waiting)
	}
	b.rows.fails["Places"] = errAway
	if err := b.showWaiting(t.Context(), all); !errors.Is(err, errAway) {
		t.Errorf("without places: %v", err)
	}
	if err := b.showWaiting(t.Context(), all[3:]); err != nil {
		t.Errorf("where none waits: %v", err)
	}
}

// What is not to be seen is not listed, and who may see all projects lists all.
func TestListsAreForThoseWhoMay(t *testing.T) {
	b := newBench(t)
	b.doing(Heal, "edge")
	nobody := policy.Principal{Name: "nobody", Project: "core"}
	project := "core"
	if err := b.list(t.Context(), nobody, &project); err == nil || project != "core" {
		t.Errorf("for nobody: %v, of project %q", err, project)
	}
	if _, _, err := b.Operations(t.Context(), nobody, OperationQuery{}); err == nil {
		t.Error("nobody lists operations")
	}
	if _, err := b.CreateInstance(t.Context(), nobody, NewInstance{}); err == nil {
		t.Error("nobody makes an instance")
	}
	if err := b.list(t.Context(), member, &project); err != nil || project != "core" {
		t.Errorf("for a member: %v, of project %q", err, project)
	}
	if err := b.list(t.Context(), policy.Principal{Name: "root", Project: "core", Roles: []string{policy.RoleAdmin}}, &project); err != nil || project != "" {
		t.Errorf("for the operator: %v, of project %q", err, project)
	}
	b.rows.all, b.rows.fails["Places"] = []Operation{b.rows.o}, errAway
	b.rows.all[0].TurnAt = time.Time{}
	if _, _, err := b.Operations(t.Context(), member, OperationQuery{}); !errors.Is(err, errAway) {
		t.Errorf("operations without places: %v", err)
	}
	b.Packages = shelved{fails: errAway}
	if _, err := b.CreateInstance(t.Context(), member, NewInstance{}); !errors.Is(err, errAway) {
		t.Errorf("an instance without its package: %v", err)
	}
	b.rows.o.ID, b.rows.o.TurnAt = uuid.NewString(), time.Time{}
	if _, err := b.Operation(t.Context(), member, b.rows.o.ID); !errors.Is(err, errAway) {
		t.Errorf("an operation without places: %v", err)
	}
	if _, err := b.Operation(t.Context(), nobody, b.rows.o.ID); err == nil {
		t.Error("nobody sees an operation")
	}
}

// An instance moves to a registered VIM of its own system, and what is sealed goes with the first part alone.
func TestMovesToTheSameSystem(t *testing.T) {
	same := func(v broker.VIM) broker.VIM { v.Current.Identity = "kube"; return v }
	for name, c := range map[string]struct {
		vim   broker.VIM
		given func(*Instance)
		to    string // the connection
		fails error
		kind  error
		says  string
	}{
		"moved":                   {same(broker.VIM{ID: "new", Name: "new", Type: "kubernetes"}), func(*Instance) {}, "key-edge", nil, nil, ""},
		"a part with a name":      {same(broker.VIM{ID: "new", Name: "new", Type: "kubernetes"}), func(i *Instance) { i.Shape.Concealed.ID = "sealed" }, "key-far", nil, nil, ""},
		"not instantiated":        {same(broker.VIM{ID: "new"}), func(i *Instance) { i.State = NotInstantiated }, "key-edge", nil, broker.ErrInvalid, "is changed of an instance that is instantiated"},
		"one that came along":     {same(broker.VIM{ID: "new"}), func(i *Instance) { i.Shape.Inline = true }, "key-edge", nil, broker.ErrInvalid, "on a registered VIM"},
		"no such VIM":             {broker.VIM{}, func(*Instance) {}, "key-edge", errAway, errAway, ""},
		"one of another request":  {same(broker.VIM{ID: "new", Type: "kubernetes", Labels: map[string]string{broker.LabelInline: "true"}}), func(*Instance) {}, "key-edge", nil, broker.ErrInvalid, "came with a request; register it"},
		"a system nobody knows":   {broker.VIM{ID: "new", Type: "kubernetes"}, func(i *Instance) { i.Shape.Identity = "" }, "key-edge", nil, broker.ErrConflict, "is not the system"},
		"another type":            {same(broker.VIM{ID: "new", Type: "openstack"}), func(*Instance) {}, "key-edge", nil, broker.ErrConflict, "is not the system"},
		"another system":          {broker.VIM{ID: "new", Type: "kubernetes"}, func(*Instance) {}, "key-edge", nil, broker.ErrConflict, "is not the system"},
		"no connection of theirs": {same(broker.VIM{ID: "new", Type: "kubernetes"}), func(*Instance) {}, "key-moon", nil, broker.ErrInvalid, "names no VIM connection"},
	} {
		b := newBench(t)
		b.doing(Heal, "edge", "far")
		i := b.rows.i
		i.Shape.Identity, i.Shape.More[0].Identity = "kube", "kube"
		c.given(&i)
		if b.keys.vims["new"] = c.vim; c.vim.ID == "" {
			delete(b.keys.vims, "new")
		}
		b.keys.fails["VIM"] = c.fails
		if c.fails != nil {
			b.keys.vims["new"] = same(broker.VIM{ID: "new"})
		}
		s := i.Shape
		err := b.move(t.Context(), member, i, Modification{VIM: "new", Connection: c.to}, &s)
		if !errors.Is(err, c.kind) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v that says %q", name, err, c.kind, c.says)
		}
		if on := s.VIMs(); slices.Contains(on, "new") != (c.kind == nil) || s.Concealed.ID != i.Shape.Concealed.ID || slices.Contains(i.Shape.VIMs(), "new") {
			t.Errorf("%s: it is on %q with %q sealed; before on %q", name, on, s.Concealed.ID, i.Shape.VIMs())
		}
	}
}

// An operation that has ended, or an instance that has gone, while it is given up.
func TestGivingUpWhatHasChanged(t *testing.T) {
	for name, c := range map[string]struct {
		given func(*bench)
		kind  error
		says  string
	}{
		"failed":       {func(*bench) {}, nil, ""},
		"retried":      {func(b *bench) { b.rows.o.State = Processing }, broker.ErrConflict, "the operation is PROCESSING"},
		"gone":         {func(b *bench) { b.rows.fails["Instance"] = broker.ErrNotFound }, broker.ErrNotFound, "no such VNF instance"},
		"a store away": {func(b *bench) { b.rows.fails["Operations"] = errAway }, errAway, "away"},
	} {
		b := newBench(t)
		b.doing(Heal, "edge")
		b.rows.o.State = FailedTemp
		b.rows.all = []Operation{b.rows.o}
		c.given(b)
		_, err := b.giveUp(t.Context(), b.rows.i, b.Guard.Record(t.Context(), member, policy.VNFForget, b.rows.i.resource()))
		if !errors.Is(err, c.kind) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v that says %q", name, err, c.kind, c.says)
		}
		if c.kind == nil && b.rows.o.State != Failed {
			t.Errorf("%s: the operation is %s", name, b.rows.o.State)
		}
	}
}

// The VNFCs of an instance are those that workloads of VDUs were seen to have, and those of before of the rest.
func TestVNFCsAreThoseOfVDUs(t *testing.T) {
	of := func(vdu, name string) VNFC { return VNFC{VDU: vdu, Name: name} }
	front, plain, unseen := thing("front"), thing("plain"), thing("unseen")
	front.VDU, unseen.VDU = "front", "back"
	a := &attempt{plan: Plan{Resources: []Resource{front, plain, unseen}}, steps: map[string]Observation{}}
	a.steps[front.key()] = Observation{VNFCs: []VNFC{of("front", "f2"), of("side", "s2")}}
	a.steps[plain.key()] = Observation{VNFCs: []VNFC{of("", "p")}}
	var got []string
	for _, v := range a.vnfcs([]VNFC{of("front", "f1"), of("side", "s1"), of("back", "b1")}) {
		got = append(got, v.Name)
	}
	if strings.Join(got, " ") != "f2 s2 b1" {
		t.Errorf("they are %q, want f2 s2 b1", got)
	}
}

// The connections that an operation has left are events' only of a change of them.
func TestEventsSayConnectionsThatHaveChanged(t *testing.T) {
	for of, want := range map[OperationType]int{ChangeConn: 1, ChangePackage: 0} {
		_, e := Moved(Operation{Type: of, State: Completed, Target: Shape{Links: []Link{{ID: "k"}}}}, Instance{})
		if len(e.Links) != want || (e.NewProduct != nil) != (of == ChangePackage) {
			t.Errorf("%s: the event has links %v, and the product %v", of, e.Links, e.NewProduct)
		}
	}
}

// Figures that were shown stay as they were.
func TestFiguresThatWereShownStay(t *testing.T) {
	var took took
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	o := Operation{Type: Heal, State: Completed, StartedAt: at, StateEnteredAt: at.Add(time.Second)}
	took.add(o)
	shown := took.all()[Ended{Heal, Completed}]
	before := slices.Clone(shown.Buckets)
	took.add(o)
	if !slices.Equal(shown.Buckets, before) || slices.Equal(took.all()[Ended{Heal, Completed}].Buckets, before) {
		t.Errorf("the buckets were %v, and are %v", before, shown.Buckets)
	}
}

// A VDU of which the descriptor says how many there are in the beginning has so many, without any aspect.
func TestTheInitialNumberCounts(t *testing.T) {
	var s Shape
	f := vnfpkg.Flavour{ID: "f", VDUs: map[string]vnfpkg.VDU{"a": {ID: "a", Name: "a", Initial: 2}, "b": {ID: "b", Name: "b"}}}
	if err := s.level(f, ""); err != nil || len(s.Replicas) != 1 || s.Replicas["a"] != 2 {
		t.Errorf("there are %v, %v", s.Replicas, err)
	}
}

// fleet are the VIMs that came with requests, and what was deleted of them.
type fleet struct {
	Registrar
	fails   map[string]error
	deleted []string
}

func (f *fleet) VIMs(context.Context, policy.Principal, broker.VIMQuery) ([]broker.VIM, string, error) {
	return nil, "", f.fails["VIMs"]
}

func (f *fleet) UpdateVIM(context.Context, policy.Principal, string, broker.Change) (broker.VIM, error) {
	return broker.VIM{}, f.fails["UpdateVIM"]
}

func (f *fleet) DeleteVIM(_ context.Context, _ policy.Principal, id string, _ broker.Deletion) (broker.VIM, bool, error) {
	f.deleted = append(f.deleted, id)
	return broker.VIM{}, true, f.fails["DeleteVIM"]
}

// The VIM that came with a request is changed under its key, if it is of that type, and lets go of with the instance.
func TestVIMsThatCameWithRequests(t *testing.T) {
	b := newBench(t, applies("kubernetes"))
	b.doing(ModifyInfo, "edge")
	f := &fleet{fails: map[string]error{}}
	b.Registrar = f
	i := b.rows.i
	i.Shape.Inline = true
	ask := func(of broker.VIMType, connection string) error {
		_, err := b.replaceable(t.Context(), member, i, Modification{Connection: connection, Inline: &InlineVIM{Type: of}})
		return err
	}
	for _, of := range []broker.VIMType{"", "kubernetes"} {
		if err := ask(of, "key-edge"); err != nil {
			t.Errorf("of type %q: %v", of, err)
		}
	}
	wantInvalid(t, "another type", ask("openstack", "key-edge"), "vimConnectionInfo", "the VIM is of another type")
	wantInvalid(t, "another key", ask("", "key-far"), "vimConnectionInfo", "only the VIM that came with the instance's request is changed here")
	b.rows.fails["Operations"] = errAway
	if err := ask("", "key-edge"); !errors.Is(err, errAway) {
		t.Errorf("where it is not known whether an operation works: %v", err)
	}
	b.rows.fails["Operations"] = nil

	// The row of the replacement is written in steps, each of which can fail.
	for n := range 2 {
		b.rows.updates, b.rows.updating = 0, func(at int) error { return map[bool]error{true: errAway}[at == n] }
		b.rows.o.State = Starting
		act := b.Guard.Record(t.Context(), member, policy.VNFModify, i.resource())
		m := Modification{Connection: "key-edge", Inline: &InlineVIM{}}
		if _, err := b.replace(t.Context(), member, act, i, b.rows.o, m, func(*Instance) {}); !errors.Is(err, errAway) {
			t.Errorf("write %d of a replacement fails with %v", n, err)
		}
	}
	f.fails["VIMs"] = errAway
	if err := b.LetGo(t.Context()); !errors.Is(err, errAway) {
		t.Errorf("the pass ends with %v", err)
	}
	o := Operation{Before: on("edge", "far", "cloud")}
	o.Before.Inline, o.Before.More[0].Inline, o.Before.More[1].Inline = true, true, true
	delete(b.keys.vims, "edge")
	b.rows.fails["Instance"] = broker.ErrNotFound
	if b.letGoOf(t.Context(), o); !slices.Equal(f.deleted, []string{"far", "cloud"}) || b.log.String() != "" {
		t.Errorf("deleted are %q, and the log says %q", f.deleted, b.log)
	}
	f.fails["DeleteVIM"] = errAway
	if b.letGoOf(t.Context(), o); !strings.Contains(b.log.String(), "removed by a later pass") {
		t.Errorf("of VIMs that stay the log says %q", b.log)
	}
}

// What is asked about an instance fails with what the answer needs, and with the entry that says who was answered.
func TestQuestionsFailWithWhatTheyNeed(t *testing.T) {
	for name, given := range map[string]func(*bench, *yielding){
		"nothing": func(*bench, *yielding) {},
		"its VIM": func(b *bench, _ *yielding) { b.keys.fails["VIM"] = errAway },
		"its plan": func(_ *bench, d *yielding) {
			d.plan = func(context.Context, Connection, PlanInput) (Plan, error) { return Plan{}, errAway }
		},
		"its row": func(b *bench, _ *yielding) { b.rows.fails["Instance"] = errAway },
		"its log": func(b *bench, _ *yielding) { b.rows.fails["Append"] = errAway },
	} {
		d := applies("kubernetes")
		b := newBench(t, d)
		b.doing(Heal, "edge")
		id := b.rows.i.ID
		given(b, d)
		_, err := b.Preview(t.Context(), member, id, Healing{})
		if want := map[bool]error{true: nil, false: errAway}[name == "nothing"]; !errors.Is(err, want) {
			t.Errorf("without %s a preview is %v", name, err)
		}
		if _, err := b.Inspect(t.Context(), member, id); (name == "its row" || name == "its log") && !errors.Is(err, errAway) {
			t.Errorf("without %s an inspection is %v", name, err)
		}
		// A check says what it did not see, and fails with the rest.
		if _, err := b.Check(t.Context(), member, id); (name == "its row" || name == "its log") != errors.Is(err, errAway) {
			t.Errorf("without %s a check is %v", name, err)
		}
	}
}

// showing is a driver that shows objects.
type showing struct {
	*yielding
	wanted error
	lists  []string
	fails  map[string]error
}

func (s *showing) Wanted(apiVersion, kind string) (Resource, error) {
	return Resource{Version: apiVersion, Kind: kind, Plural: strings.ToLower(kind) + "s"}, s.wanted
}

func (s *showing) Read(_ context.Context, _ Connection, all []Resource) (seen []Showing, err error) {
	for _, r := range all {
		seen = append(seen, Showing{Resource: r, Object: json.RawMessage(`{}`)})
	}
	return seen, s.fails["Read"]
}

func (s *showing) List(_ context.Context, _ Connection, of Resource, selector string, cached bool) ([]Showing, error) {
	s.lists = append(s.lists, fmt.Sprint(of.Plural, " ", of.Namespace, "/", of.Name, " ", selector, " ", cached))
	return []Showing{{Resource: of}}, s.fails["List"]
}

func newShowing() *showing {
	return &showing{yielding: applies("kubernetes"), fails: map[string]error{}}
}

// A query takes a lease of the caller's for exactly the kind that it shows, and gives it back. Secrets are shown to nobody.
func TestAQueryShowsOneKind(t *testing.T) {
	for name, c := range map[string]struct {
		vim   string
		w     Wanted
		given func(*bench, *showing)
		lists string
		grant string
		kind  error
	}{
		"in a namespace":  {"edge", Wanted{"v1", "Pod", "shop", "a", "x=y"}, nil, "pods shop/a x=y false", "[shop] false", nil},
		"in all":          {"edge", Wanted{"v1", "Pod", "", "", ""}, nil, "pods /  false", "[] true", nil},
		"a Secret":        {"edge", Wanted{"v1", "Secret", "shop", "", ""}, nil, "", "", broker.ErrDenied},
		"no VIM":          {"moon", Wanted{}, nil, "", "", broker.ErrNotFound},
		"no driver":       {"cloud", Wanted{}, nil, "", "", broker.ErrUnsupported},
		"no kind":         {"edge", Wanted{}, func(_ *bench, s *showing) { s.wanted = errAway }, "", "", errAway},
		"no lease":        {"edge", Wanted{"v1", "Pod", "", "", ""}, func(b *bench, _ *showing) { b.keys.issuing = func(broker.LeaseRequest) error { return errAway } }, "", "", errAway},
		"no list":         {"edge", Wanted{"v1", "Pod", "", "", ""}, func(_ *bench, s *showing) { s.fails["List"] = errAway }, "pods /  false", "[] true", errAway},
		"none that shows": {"edge", Wanted{}, func(b *bench, _ *showing) { b.byType["kubernetes"] = []Driver{applies("kubernetes")} }, "", "", broker.ErrUnsupported},
	} {
		d := newShowing()
		b := newBench(t, d)
		if c.given != nil {
			c.given(b, d)
		}
		seen, err := b.Query(t.Context(), member, c.vim, c.w)
		if !errors.Is(err, c.kind) || err == nil && len(seen) != 1 || strings.Join(d.lists, " ") != c.lists {
			t.Errorf("%s: %v, %v, listed %q", name, seen, err, d.lists)
		}
		if c.grant == "" {
			continue
		}
		r := b.keys.asked[0]
		if got := fmt.Sprint(r.Namespaces, r.ClusterWide); got != c.grant || len(r.Rules) != 1 || !slices.Equal(r.Rules[0].Resources, []string{"pods"}) ||
			!slices.Equal(r.Rules[0].Verbs, []string{"list"}) || r.Planned || !slices.Equal(b.keys.ended, []string{r.Operation}) {
			t.Errorf("%s: the lease is %+v, ended %q", name, r, b.keys.ended)
		}
	}
}

// An inspection reads what stands, with the pods of the instance's namespace, once; Secrets are named, and what passes is left out.
func TestAnInspectionReadsWhatStands(t *testing.T) {
	of := func(kind, name string) Resource {
		return Resource{Version: "v1", Kind: kind, Plural: strings.ToLower(kind) + "s", Namespace: "shop", Name: name}
	}
	foreign := of("Secret", "custom")
	foreign.Group = "mist.io"
	job := of("Job", "passes")
	job.Passes = true
	for name, c := range map[string]struct {
		vims  []string
		given func(*bench, *showing)
		want  string
		kind  error
	}{
		"one part":            {[]string{"edge"}, func(*bench, *showing) {}, "Secret/key ConfigMap/a Secret/custom Pod/", nil},
		"not instantiated":    {[]string{"edge"}, func(b *bench, _ *showing) { b.rows.i.State = NotInstantiated }, "", broker.ErrConflict},
		"not readable":        {[]string{"edge"}, func(b *bench, d *showing) { b.byType["kubernetes"] = []Driver{d.yielding} }, "", broker.ErrUnsupported},
		"a part not readable": {[]string{"edge", "cloud"}, func(b *bench, _ *showing) {}, "Secret/key ConfigMap/a Secret/custom Pod/", nil},
		"nothing read":        {[]string{"edge"}, func(_ *bench, d *showing) { d.fails["Read"] = errAway }, "", errAway},
		"no pods":             {[]string{"edge"}, func(_ *bench, d *showing) { d.fails["List"] = errAway }, "", errAway},
		"elsewhere":           {[]string{"edge"}, func(b *bench, _ *showing) { b.rows.i.Shape.Namespace = "other" }, "Secret/key ConfigMap/a Secret/custom", nil},
	} {
		d := newShowing()
		looks := func(_ context.Context, _ Connection, in PlanInput) (p Plan, err error) {
			for _, r := range in.Standing {
				w := Wave{Deed: Look, Objects: []Object{{Resource: r}}}
				p.Stages = append(p.Stages, Stage{Grant: StageRules{Namespaces: []string{"shop"}}, Waves: []Wave{w}})
			}
			return p, nil
		}
		d.plan = looks
		cloud := applies("openstack")
		cloud.plan = looks
		b := newBench(t, d, cloud)
		b.doing(Heal, c.vims...)
		b.rows.i.Shape.Namespace, b.rows.i.Shape.Resources = "shop", []Resource{of("ConfigMap", "a"), of("Secret", "key"), foreign, job}
		if len(c.vims) > 1 {
			machine := of("Server", "vm")
			machine.Part = b.rows.i.Shape.More[0].Name
			b.rows.i.Shape.Resources = append(b.rows.i.Shape.Resources, machine)
		}
		c.given(b, d)
		all, err := b.Inspect(t.Context(), member, b.rows.i.ID)
		var got []string
		for _, s := range all {
			got = append(got, s.Kind+"/"+s.Name)
			if s.Kind == "Secret" && ((len(s.Object) > 0) != (s.Group != "") || s.Group == "" && !s.Ready) {
				t.Errorf("%s: a Secret is %+v", name, s)
			}
		}
		slices.Sort(got)
		want := strings.Fields(c.want)
		slices.Sort(want)
		if !errors.Is(err, c.kind) || err == nil && !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
		for _, l := range d.lists {
			if l != "pods shop/ "+InstanceLabel+"="+b.rows.i.ID+" true" {
				t.Errorf("%s: listed %q", name, l)
			}
		}
		if len(b.keys.ended) > 0 {
			t.Errorf("%s: leases for the next inspection are ended: %q", name, b.keys.ended)
		}
	}
}

// Whether a VIM that came with a request is needed is not known without the operations and the instance: then it stays.
func TestAVIMStaysWhereItsInstanceIsNotKnown(t *testing.T) {
	b := newBench(t)
	b.doing(Heal, "edge")
	v := broker.VIM{ID: "edge", Labels: map[string]string{broker.LabelInstance: b.rows.i.ID}}
	b.rows.o.State = Completed
	for _, c := range []struct {
		fails string
		says  error
		vim   string
		needs bool
		want  error
	}{
		{"", nil, "edge", true, nil},
		{"", nil, "far", false, nil},
		{"Operations", errAway, "far", true, errAway},
		{"Instance", errAway, "edge", false, errAway},
		{"Instance", broker.ErrNotFound, "edge", false, nil},
	} {
		b.rows.fails, v.ID = map[string]error{c.fails: c.says}, c.vim
		if needs, err := b.needs(t.Context(), v); needs != c.needs && c.want == nil || !errors.Is(err, c.want) {
			t.Errorf("without %s: %s is needed %t, %v, want %t, %v", c.fails, c.vim, needs, err, c.needs, c.want)
		}
	}
	f := &fleet{fails: map[string]error{}}
	b.Registrar, b.rows.fails, v.ID = f, map[string]error{"Instance": errAway}, "far"
	if err := b.letGo(t.Context(), v); !errors.Is(err, errAway) || len(f.deleted) != 0 {
		t.Errorf("where that is not known %q are deleted, %v", f.deleted, err)
	}
	b.rows.fails = map[string]error{}
	if err := b.letGo(t.Context(), v); err != nil || !slices.Equal(f.deleted, []string{"far"}) {
		t.Errorf("what nobody needs: %q are deleted, %v", f.deleted, err)
	}
	if ids := (Shape{Volumes: []Volume{{ID: "v"}, {ID: "w"}}, Links: []Link{{}, {ID: "k"}}}).AssetIDs(); !slices.Equal(ids, []string{"v", "w", "k"}) {
		t.Errorf("the assets are %q", ids)
	}
	_, err := b.target(t.Context(), member, b.rows.i, Site{Inline: &InlineVIM{Type: "none"}}, func(broker.VIMType) Source { return Source{} })
	if !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("a VIM of no driver: %v", err)
	}
}

// A lease is shared by what has a key for it alone, and a check looks at nothing while it is not known whether somebody works.
func TestLeasesThatAreShared(t *testing.T) {
	b := newBench(t, applies("kubernetes"))
	b.doing(Heal, "edge")
	for key, want := range map[string][]string{"": nil, "k": {"k"}} {
		b.keys.shared = nil
		if _, err := b.take(t.Context(), member, b.keys.vims["edge"], broker.LeaseRequest{VIM: "edge", IdempotencyKey: key}); err != nil || !slices.Equal(b.keys.shared, want) {
			t.Errorf("by the key %q %q are shared, %v", key, b.keys.shared, err)
		}
	}
	b.rows.o.State = Processing
	b.rows.all, b.rows.fails["Operations"] = []Operation{b.rows.o}, errAway
	if _, err := b.Check(t.Context(), member, b.rows.i.ID); !errors.Is(err, errAway) {
		t.Errorf("a check without the operations: %v", err)
	}
	var to Shape
	to.Concealed.ID = "gone"
	lost := Instance{ID: "i", Shape: to}
	if err := b.revealed(t.Context(), lost, content{Variables: map[string]string{}}, &to); !errors.Is(err, broker.ErrUnopenable) || to.Concealed.ID != "gone" {
		t.Errorf("a preview of what does not open: %v", err)
	}
	alone := on("edge")
	err := b.move(t.Context(), member, Instance{State: NotInstantiated}, Modification{Connection: "another"}, &alone)
	wantInvalid(t, "the one part, by another key", err, "vimConnectionInfo", "is changed of an instance that is instantiated")
}

// No secret of a request is shown, in whatever cases a caller wrote the names on its path, and nothing else is changed.
func TestASecretIsCensoredInAnyCase(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":{"b":"canary"}}`:              `{"a":{"b":"***"}}`,
		`{"A":{"B":"canary"}}`:              `{"A":{"B":"***"}}`,
		`{"a":{"b":"canary","B":"canary"}}`: `{"a":{"B":"***","b":"***"}}`,
		`{"A":{"b":1},"a":{"B":{"c":2}}}`:   `{"A":{"b":"***"},"a":{"B":"***"}}`,
		`{"a":{"c":"x"}, "b":"y"}`:          `{"a":{"c":"x"},"b":"y"}`,
		`{"c":{"b":"x"}, "d":1}`:            `{"c":{"b":"x"}, "d":1}`,
		`{"a":["b"]}`:                       `{"a":["b"]}`,
		`no object`:                         `no object`,
	} {
		if got := string(censored(json.RawMessage(in), "a", "b")); got != strings.ReplaceAll(want, `"***"`, `"\u003chidden\u003e"`) {
			t.Errorf("%s is shown as %s, want %s", in, got, want)
		}
	}
}
