package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
)

// turning gives the turn to one operation.
type turning struct {
	*rows
	of *Operation
}

func (s turning) GiveTurns(_ context.Context, _ func([]Place) []string, begin func(*Operation)) error {
	begin(s.of)
	return nil
}

// Whatever an operation has waited for, its turn begins now, and with it the time that it has: also where it was begun before.
func TestATurnBeginsAnew(t *testing.T) {
	for _, state := range []OperationState{Starting, Processing, RollingBack} {
		b := newBench(t)
		o := Operation{State: state, QueuedAt: b.at.Add(-time.Hour), Deadline: b.at.Add(-time.Minute)}
		b.Store = turning{b.rows, &o}
		if err := b.GiveTurns(t.Context()); err != nil || !o.TurnAt.Equal(b.at) || !o.Deadline.Equal(b.at.Add(b.Terms.Patience)) || o.Waits() {
			t.Errorf("the turn of one that is %s begins at %v and ends at %v, %v", state, o.TurnAt, o.Deadline, err)
		}
	}
}

// A look stops what runs only where that is asked for: at once, or because its lease is gone. A graceful cancel waits for the
// wave's end.
func TestALookStopsWhatIsToStop(t *testing.T) {
	for name, c := range map[string]struct {
		cancel CancelMode
		over   bool
		want   error
	}{
		"nobody": {"", false, nil}, "graceful": {Graceful, false, nil}, "forceful": {Forceful, false, ErrCanceled}, "revoked": {"", true, errLeaseEnded},
		"graceful and revoked": {Graceful, true, errLeaseEnded},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			b.doing(Heal, "edge")
			b.rows.o.Cancel, b.keys.over = c.cancel, c.over
			a := &attempt{Lifecycle: b.Lifecycle, o: b.rows.o, steps: map[string]Observation{}}
			ctx, end := context.WithCancel(t.Context())
			var why error
			looked := make(chan struct{})
			go func() {
				defer close(looked)
				a.look(ctx, held{}, func(err error) { why = err })
			}()
			time.Sleep(3 * b.Terms.LookEvery)
			end()
			if <-looked; !errors.Is(why, c.want) || (why == nil) != (c.want == nil) {
				t.Errorf("%s: stopped because of %v, want %v", name, why, c.want)
			}
		})
	}
}

// The ports that pods have are kept in the shape that the operation leads to: on the way back in the one before.
func TestPortsAreOfWhereTheWayLeads(t *testing.T) {
	for state, back := range map[OperationState]bool{Processing: false, RollingBack: true} {
		d := applies("kubernetes")
		b := newBench(t, d)
		b.doing(ChangePackage, "edge")
		b.rows.o.State = state
		b.rows.o.Before.Links, b.rows.o.Target.Links = []Link{{ID: "k", Spans: true}}, []Link{{ID: "k", Spans: true}}
		b.Links = &pool{}
		a := &attempt{
			Lifecycle: b.Lifecycle, o: b.rows.o, i: b.rows.i, steps: map[string]Observation{}, posts: []*post{{Part: b.rows.i.Shape.Part, driver: d}},
			plan: Plan{Ports: map[string][]string{"k": {"p"}}}, act: b.Guard.Record(t.Context(), member, policy.VNFUpdate, b.rows.i.resource()),
		}
		others, err := a.port(t.Context())
		has := func(s Shape) bool { return len(s.Links) == 1 && len(s.Links[0].Ports) == 1 }
		if err != nil || !others || has(b.rows.o.Before) != back || has(b.rows.o.Target) == back {
			t.Errorf("of one that is %s: %t, %v; the ports before are %v, and of the target %v", state, others, err, b.rows.o.Before.Links, b.rows.o.Target.Links)
		}
	}
}

// A quota that the plan's leases use up is met alike by an instance of one part and of several.
func TestAQuotaIsMetByEachPart(t *testing.T) {
	full := &broker.Error{Kind: broker.ErrQuota, Detail: "as many as there may be"}
	for _, hybrid := range []bool{false, true} {
		b := newBench(t, applies("kubernetes", "x"))
		refused := 0
		b.keys.issuing = func(broker.LeaseRequest) error {
			if refused++; refused == 1 {
				return full
			}
			return nil
		}
		l := &lane{
			attempt: &attempt{Lifecycle: b.Lifecycle, leases: map[string]string{"": "l"}, o: Operation{ID: "o"}},
			post:    &post{vim: b.keys.vims["edge"], hybrid: hybrid}, stages: []Stage{{}},
		}
		if err := l.lease(t.Context()); err != nil || l.h.Config.Lease != "l" || !slices.Equal(b.keys.ended, []string{"o"}) {
			t.Errorf("of several parts (%t): %v, and the leases of %q ended", hybrid, err, b.keys.ended)
		}
	}
}

// A lease that is renewed for less than a stage needs is replaced.
func TestARenewalOfNoUseIsReplaced(t *testing.T) {
	for renewed, asked := range map[time.Duration]int{time.Hour: 0, leaseMargin + time.Second: 0, leaseMargin: 1, time.Second: 1} {
		b := newBench(t, applies("kubernetes"))
		b.doing(Heal, "edge")
		b.keys.renewed = renewed
		l := &lane{
			attempt: &attempt{Lifecycle: b.Lifecycle, o: b.rows.o, leases: map[string]string{}}, post: &post{vim: b.keys.vims["edge"]}, h: held{until: b.at},
		}
		h, err := l.goOn(t.Context(), StageRules{})
		if err != nil || len(b.keys.asked) != asked || !b.at.Before(h.until) {
			t.Errorf("renewed for %v: %v, %d leases more, the one used until %v", renewed, err, len(b.keys.asked), h.until)
		}
	}
}

// What a part on another kind of VIM is told is its own: no files, waves, labels, release or volumes of the containers'.
func TestAPartIsToldItsOwn(t *testing.T) {
	s := on("edge", "cloud")
	s.More[0].VIMType = "openstack"
	s.Files, s.Waves, s.Labels, s.Release = []string{"f"}, []WaveRule{{}}, map[string]string{"l": "m"}, "r"
	s.Parameters, s.Volumes = []byte(`{}`), []Volume{{ID: "v"}, {ID: "w", Part: s.More[0].Name}}
	s.Links = []Link{{ID: "1"}, {ID: "2", Part: s.More[0].Name}, {ID: "3", Own: true, Part: s.More[0].Name}, {ID: "4", Own: true}}
	first, second := s.at(""), s.at(s.More[0].Name)
	told := func(s Shape) string {
		return fmt.Sprintf("%v %d %v %q %q %v", s.Files, len(s.Waves), s.Labels, s.Release, s.Parameters, s.AssetIDs())
	}
	for name, c := range map[string]struct{ got, want string }{
		"first":  {told(first), `[f] 1 map[l:m] "r" "" [v 1 4]`},
		"second": {told(second), `[] 0 map[] "" "{}" [2 3]`},
	} {
		if c.got != c.want {
			t.Errorf("the %s part is told %s, want %s", name, c.got, c.want)
		}
	}
}

// An operation of each type that is given up leaves no drift of before, and an instantiation what may stand.
func TestWhatIsGivenUpLeaves(t *testing.T) {
	for _, of := range []OperationType{Instantiate, ScaleVNF, Heal, ChangePackage, ChangeConn, Terminate} {
		i := Instance{State: Instantiated, Drift: Drift{Count: 2, Unseen: "x"}}
		i.Shape.Resources, i.Shape.Flavour = []Resource{thing("noted")}, "before"
		o := Operation{Type: of, State: FailedTemp, Target: Shape{Flavour: "target"}}
		if o.abandon(&i, time.Unix(9, 0)); o.State != Failed || !o.StateEnteredAt.Equal(time.Unix(9, 0)) || i.Drift.Count != 0 || i.Drift.Unseen != "" {
			t.Errorf("%s is %s, and of the instance it was seen %+v", of, o.State, i.Drift)
		}
		if want := map[bool]string{true: "target", false: "before"}[of == Instantiate]; i.State != Instantiated || i.Shape.Flavour != want || len(i.Shape.Resources) != 1 {
			t.Errorf("after %s the instance is %s with %+v", of, i.State, i.Shape)
		}
	}
}

// A modification does all that it says: a move to another VIM keeps no name from being changed, and no name a move.
func TestAModificationDoesAllThatItSays(t *testing.T) {
	name, none := "new name", ""
	for what, m := range map[string]Modification{
		"name": {Name: &name}, "description": {Description: &name}, "no description": {Description: &none}, "metadata": {Metadata: []byte(`{"a":1}`)},
		"extensions": {Extensions: []byte(`{"b":2}`)}, "configurable": {Configurable: []byte(`{"c":3}`)},
		"all": {Name: &name, Description: &name, Metadata: []byte(`{"a":1}`), Extensions: []byte(`{"b":2}`), Configurable: []byte(`{"c":3}`)},
	} {
		for _, vim := range []string{"", "new"} {
			b := newBench(t, applies("kubernetes"))
			b.doing(Heal, "edge")
			v := broker.VIM{ID: "new", Name: "new", Type: "kubernetes", Project: "core"}
			v.Current.Identity = "kube"
			b.keys.vims["new"], b.rows.i.Shape.Identity, b.rows.i.Drift = v, "kube", Drift{Count: 1}
			b.rows.i.Name, b.rows.i.Description, b.rows.i.Metadata = "old name", "old", []byte(`{"z":0}`)
			want := b.rows.i
			if m.Name != nil {
				want.Name = *m.Name
			}
			if m.Description != nil {
				want.Description = *m.Description
			}
			if m.Metadata != nil {
				want.Metadata = []byte(`{"a":1,"z":0}`)
			}
			want.Extensions, want.Configurable = m.Extensions, m.Configurable
			if m.VIM, m.Connection = vim, "key-edge"; vim != "" {
				want.Shape.VIM, want.Shape.VIMName, want.Drift = "new", "new", Drift{}
			}
			_, err := b.Modify(t.Context(), member, b.rows.i.ID, m)
			got := b.rows.i
			show := func(i Instance) string {
				return fmt.Sprintf("%q %q %s %s %s on %s (%s), drifted %d", i.Name, i.Description, i.Metadata, i.Extensions, i.Configurable, i.Shape.VIM, i.Shape.VIMName, i.Drift.Count)
			}
			if err != nil || show(got) != show(want) {
				t.Errorf("a change of its %s, and to VIM %q: %v\n%s, want\n%s", what, vim, err, show(got), show(want))
			}
		}
	}
}

// A check is refused while an operation works, and not while one waits for somebody.
func TestACheckBesideAnOperation(t *testing.T) {
	for _, state := range []OperationState{Starting, Processing, Completed, FailedTemp, Failed, RollingBack, RolledBack} {
		b := newBench(t, applies("kubernetes"))
		b.doing(Heal, "edge")
		b.rows.all = []Operation{{State: Completed}, {State: state}}
		_, err := b.Check(t.Context(), member, b.rows.i.ID)
		if errors.Is(err, broker.ErrConflict) != state.Working() || !state.Working() && err != nil {
			t.Errorf("beside one that is %s: %v", state, err)
		}
	}
}

// A VIM that came with a request stays while its instance is on it, and while an operation that is live leads to it, or back.
func TestAVIMStaysWhereAWayLeads(t *testing.T) {
	for state, live := range map[OperationState]bool{Starting: true, Processing: true, FailedTemp: true, RollingBack: true, Completed: false, RolledBack: false, Failed: false} {
		for name, c := range map[string]struct{ stands, before, target Shape }{
			"stands": {stands: on("edge")}, "before": {before: on("edge")}, "second before": {before: on("far", "edge")}, "target": {target: on("edge")},
			"second of the target": {target: on("far", "edge")}, "nowhere": {on("far"), on("far"), on("far")},
		} {
			b := newBench(t)
			b.rows.i = Instance{ID: "i", Shape: c.stands}
			b.rows.all = []Operation{{ID: "o", State: state, Before: c.before, Target: c.target}}
			want := name == "stands" || live && name != "nowhere"
			needs, err := b.needs(t.Context(), broker.VIM{ID: "edge", Labels: map[string]string{broker.LabelInstance: "i"}})
			if err != nil || needs != want {
				t.Errorf("%s, beside an operation that is %s: it is needed %t, %v", name, state, needs, err)
			}
		}
	}
}

// paged is a fleet of three VIMs that came with requests, each on a page of its own.
type paged struct{ *fleet }

func (f paged) VIMs(_ context.Context, _ policy.Principal, q broker.VIMQuery) ([]broker.VIM, string, error) {
	at := map[string]int{"": 0, "1": 1, "2": 2}[q.Token]
	return []broker.VIM{{ID: fmt.Sprint("vim-", at)}}, []string{"1", "2", ""}[at], nil
}

// A pass goes through all pages.
func TestPassesGoThroughAllPages(t *testing.T) {
	b := newBench(t)
	f := &fleet{}
	b.Registrar, b.rows.fails["Instance"] = paged{f}, broker.ErrNotFound
	if err := b.LetGo(t.Context()); err != nil || !slices.Equal(f.deleted, []string{"vim-0", "vim-1", "vim-2"}) {
		t.Errorf("of three pages %q are let go of, %v", f.deleted, err)
	}
	b.rows.page = 2
	for n := range 5 {
		b.rows.secrets = append(b.rows.secrets, SecretParameters{ID: fmt.Sprint(n)})
	}
	var seen []string
	err := b.eachSecretParameters(t.Context(), "edge", func(h SecretParameters) error { seen = append(seen, h.ID); return nil })
	if err != nil || !slices.Equal(seen, []string{"0", "1", "2", "3", "4"}) {
		t.Errorf("of five sets of secret parameters, two on a page, %q are gone through, %v", seen, err)
	}
}

// A scale that a new package cannot have stays at the new default, aspect by aspect.
func TestAScaleIsKeptAsFarAsItCanBe(t *testing.T) {
	f := vnfpkg.Flavour{ID: "f", VDUs: map[string]vnfpkg.VDU{"v": {ID: "v", Name: "v", Max: 9}}, Aspects: map[string]vnfpkg.Aspect{
		"a": {ID: "a", MaxLevel: 3, Deltas: map[string]int{"v": 1}}, "b": {ID: "b", MaxLevel: 1, Deltas: map[string]int{"v": 2}},
	}}
	for _, c := range []struct {
		before   map[string]int
		a, b     int
		replicas int32
	}{
		{nil, 0, 0, 1},
		{map[string]int{"a": 3, "b": 1}, 3, 1, 6},
		{map[string]int{"a": 3, "b": 2}, 3, 0, 4},
		{map[string]int{"a": 4, "b": 1}, 0, 1, 3},
		{map[string]int{"a": 4, "b": 2, "gone": 1}, 0, 0, 1},
		{map[string]int{"a": 0, "b": 0, "gone": 0}, 0, 0, 1},
	} {
		s := Shape{Scale: map[string]int{"a": 0, "b": 0}, Replicas: map[string]int32{"v": 1}}
		if s.keep(Shape{Scale: c.before}, f); s.Scale["a"] != c.a || s.Scale["b"] != c.b || len(s.Scale) != 2 || s.Replicas["v"] != c.replicas {
			t.Errorf("of %v stays %v with %v", c.before, s.Scale, s.Replicas)
		}
	}
}
