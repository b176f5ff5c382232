package lifecycle

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

var unreached = &broker.Error{Kind: broker.ErrUnreachable, Detail: "nobody answers"}

// Work ends with the error of the store or the broker that kept it from going on, and says so in the row only where the
// operation itself has failed.
func TestWorkEndsWithWhatKeepsItFromGoingOn(t *testing.T) {
	fenced := func(int) error { return job.ErrFenced }
	for name, c := range map[string]struct {
		of    OperationType
		vims  []string
		given func(*bench, *yielding)
		want  error
		state OperationState
		says  string
	}{
		"nothing": {Heal, []string{"edge"}, func(*bench, *yielding) {}, nil, Completed, ""},
		"leases of before that do not end": {Heal, []string{"edge"}, func(b *bench, _ *yielding) {
			b.keys.fails["EndOperation o"] = errAway
		}, errAway, Starting, ""},
		"leases of its own that do not end": {Heal, []string{"edge"}, func(b *bench, d *yielding) {
			d.run = func(context.Context, func(Observation)) error {
				b.keys.fails["EndOperation o"] = errAway
				return unreached
			}
		}, errAway, Processing, ""},
		"leases of the plan that do not end": {Heal, []string{"edge"}, func(b *bench, _ *yielding) {
			b.keys.issuing = func(r broker.LeaseRequest) error {
				if r.Purpose == "work" {
					b.keys.fails["EndOperation o"] = errAway
				}
				return nil
			}
		}, errAway, Processing, ""},
		"a VIM that is away for a plan": {Heal, []string{"edge"}, func(_ *bench, d *yielding) {
			d.plan = func(context.Context, Connection, PlanInput) (Plan, error) { return Plan{}, unreached }
		}, broker.ErrUnreachable, Starting, ""},
		"a canceled one, with the store away": {Heal, []string{"edge"}, func(b *bench, _ *yielding) {
			b.rows.o.Cancel = Graceful
			b.rows.reading = func(n int) error {
				if n == 1 {
					return &broker.Error{Kind: broker.ErrUnavailable, Detail: "the store is away"}
				}
				return nil
			}
		}, nil, RolledBack, "the store is away"},
		"a replacement that cannot be ended": {ModifyInfo, []string{"edge"}, func(b *bench, _ *yielding) {
			b.rows.updating = func(int) error { return errAway }
		}, errAway, Starting, ""},
		"a replacement without its instance": {ModifyInfo, []string{"edge"}, func(b *bench, _ *yielding) {
			b.rows.fails["Instance"] = errAway
		}, errAway, Starting, ""},
		"an instance that cannot be read": {Heal, []string{"edge"}, func(b *bench, _ *yielding) {
			b.rows.fails["Instance"] = errAway
		}, errAway, Starting, ""},
		"a package that is gone": {Heal, []string{"edge"}, func(b *bench, _ *yielding) {
			b.Packages = shelved{fails: &broker.Error{Kind: broker.ErrNotFound, Detail: "the package is gone"}}
		}, nil, RolledBack, "the package is gone"},
		"a VIM that is gone": {Heal, []string{"edge"}, func(b *bench, _ *yielding) { delete(b.keys.vims, "edge") }, nil, RolledBack, "no such VIM"},
		"a namespace that is gone": {Heal, []string{"edge"}, func(_ *bench, d *yielding) {
			tries := 0
			d.run = func(context.Context, func(Observation)) error {
				if tries++; tries > 1 {
					return nil // one that tries again passes
				}
				return &broker.Error{Kind: broker.ErrInvalid, Detail: "there is no namespace n", Cause: &broker.MissingNamespace{Name: "n"}}
			}
		}, nil, FailedTemp, "there is no namespace n"},
		"leases that do not end after the work": {Heal, []string{"edge"}, func(b *bench, d *yielding) {
			d.run = func(context.Context, func(Observation)) error {
				b.keys.fails["EndOperation o"] = errAway
				return nil
			}
		}, errAway, Processing, ""},
		"a row that cannot be moved on": {Heal, []string{"edge"}, func(b *bench, _ *yielding) {
			b.rows.updating = fenced
		}, job.ErrFenced, Starting, ""},
		"one of nothing to do": {Heal, []string{"edge"}, func(b *bench, d *yielding) {
			d.plan = func(context.Context, Connection, PlanInput) (Plan, error) { return Plan{}, nil }
			b.rows.updating = fenced
		}, job.ErrFenced, Starting, ""},
		"a worker that is fenced while it looks": {Heal, []string{"edge"}, func(b *bench, d *yielding) {
			b.Terms.LookEvery, b.rows.fails["SaveProgress"] = time.Millisecond, job.ErrFenced
			d.run = func(ctx context.Context, progress func(Observation)) error {
				progress(Observation{Resource: thing("x")})
				<-ctx.Done()
				return ctx.Err()
			}
		}, job.ErrFenced, Processing, ""},
		"both VIMs away at the end": {Terminate, []string{"edge", "cloud"}, func(b *bench, _ *yielding) {
			for n := range b.Drivers {
				b.Drivers[n].(*yielding).plan = func(context.Context, Connection, PlanInput) (Plan, error) { return Plan{}, unreached }
			}
			b.at = b.at.Add(b.Terms.Patience)
		}, nil, RolledBack, "part key-edge on VIM edge: nobody answers"},
		"looks of a terminated one that do not end": {Terminate, []string{"edge"}, func(b *bench, _ *yielding) {
			b.keys.fails["EndOperation "+driftName(b.rows.i.ID)] = errAway
		}, errAway, Processing, ""},
		"inspections of a terminated one that do not end": {Terminate, []string{"edge"}, func(b *bench, _ *yielding) {
			b.keys.fails["EndOperation "+inspectName(b.rows.i.ID)] = errAway
		}, errAway, Processing, ""},
	} {
		d := applies("kubernetes", "x")
		b := newBench(t, d, applies("openstack", "y"))
		b.doing(c.of, c.vims...)
		c.given(b, d)
		err := b.Work(t.Context(), "o")
		if !errors.Is(err, c.want) || b.rows.o.State != c.state {
			t.Errorf("%s: Work = %v and the operation is %s, want %v and %s", name, err, b.rows.o.State, c.want, c.state)
		}
		if b.rows.o.Stage != 0 {
			t.Errorf("%s: the row says that stage %d is next", name, b.rows.o.Stage)
		}
		if f := b.rows.o.Failure; (f != nil) != (c.says != "") || f != nil && f.Detail != c.says {
			t.Errorf("%s: the failure is %+v, want %q", name, f, c.says)
		}
	}
}

// What ends a part for all of them is not noted: a namespace that is gone, a cancel, a lease that was revoked, another worker.
// The rest is, on the way back and to the end.
func TestFaultsOfAPartAreNotedOnTheWayBack(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		o     Operation
		alone bool
		noted bool
	}{
		"on the way to the end":     {errAway, Operation{Type: Terminate}, false, true},
		"on the way back":           {errAway, Operation{Type: Heal, State: RollingBack}, false, true},
		"on the way forth":          {errAway, Operation{Type: Heal, State: Processing}, false, false},
		"of the only part":          {errAway, Operation{Type: Terminate}, true, false},
		"a namespace that is gone":  {&broker.Error{Kind: broker.ErrInvalid, Cause: &broker.MissingNamespace{Name: "n"}}, Operation{Type: Terminate}, false, false},
		"a cancel":                  {canceledBy(), Operation{Type: Terminate}, false, false},
		"a lease that was revoked":  {errLeaseEnded, Operation{Type: Terminate}, false, false},
		"work that another goes on": {job.ErrFenced, Operation{Type: Terminate}, false, false},
	} {
		a := &attempt{o: c.o, failed: map[string]error{}}
		p := &post{Part: Part{Name: "p"}, hybrid: !c.alone}
		err := a.noted(p, c.err)
		if (err == nil) != c.noted || !c.noted && !errors.Is(err, c.err) || errors.Is(a.failed["p"], c.err) != c.noted {
			t.Errorf("%s: %v, noted %v", name, err, a.failed)
		}
		if _, gone := errors.AsType[*broker.MissingNamespace](c.err); gone && p.lost != "n" {
			t.Errorf("%s: the part has lost %q", name, p.lost)
		}
	}
}

// What became of the other parts is said where the fault is one for the caller's eyes and another part has gone its way.
func TestPartlyDone(t *testing.T) {
	posts := []*post{{Part: Part{Name: "", VIMName: "edge", Connection: "a"}}, {Part: Part{Name: "p", VIMName: "far", Connection: "b"}}}
	for name, c := range map[string]struct {
		failed map[string]error
		state  OperationState
		want   string
	}{
		"one":                 {map[string]error{"p": unreached}, Processing, "nobody answers; part a on VIM edge is removed"},
		"one on the way back": {map[string]error{"": unreached}, RollingBack, "nobody answers; part b on VIM far is rolled back"},
		"both":                {map[string]error{"": unreached, "p": errAway}, Processing, "nobody answers"},
		"one of our own":      {map[string]error{"p": errAway}, Processing, "away"},
	} {
		a := &attempt{posts: posts, failed: c.failed, o: Operation{State: c.state}}
		if err := a.partly(); err.Error() != c.want {
			t.Errorf("%s: %q, want %q", name, err, c.want)
		}
	}
	if unreached.Detail != "nobody answers" {
		t.Errorf("the part's own error has become %q", unreached.Detail)
	}
}

// A quota is met by giving back what the plan was made under, and by nothing that works.
func TestAQuotaEndsNoLeaseThatWorks(t *testing.T) {
	full := &broker.Error{Kind: broker.ErrQuota, Detail: "as many as there may be"}
	for begun, ends := range map[bool]int{false: 1, true: 0} {
		b := newBench(t, applies("kubernetes", "x"))
		b.keys.issuing = func(broker.LeaseRequest) error { return full }
		l := &lane{attempt: &attempt{Lifecycle: b.Lifecycle, begun: begun, leases: map[string]string{"": "l"}, o: Operation{ID: "o"}}, post: &post{vim: b.keys.vims["edge"]}, stages: []Stage{{}}}
		if err := l.lease(t.Context()); !errors.Is(err, broker.ErrQuota) || len(b.keys.ended) != ends {
			t.Errorf("where work has begun (%t): %v, and the leases of %q ended, want %d", begun, err, b.keys.ended, ends)
		}
	}
}

// A stage that is not ready goes on under another lease while the operation has time and nobody ended it; the next begins under
// one of its own.
func TestALaneGoesOnWhileThereIsTime(t *testing.T) {
	for name, c := range map[string]struct {
		stages int
		// passes is the time that passes in the first wave, which then says what.
		passes time.Duration
		says   error
		ends   error // of leases
		stop   bool
		want   error
		asked  int
	}{
		"two stages":                      {2, 0, nil, nil, false, nil, 1},
		"two, with leases that stay":      {2, 0, nil, errAway, false, errAway, 0},
		"not ready":                       {1, 0, &broker.Error{Kind: ErrNotReady}, nil, false, ErrNotReady, 0},
		"not ready, with the lease's end": {1, 10 * time.Minute, &broker.Error{Kind: ErrNotReady}, nil, false, nil, 1},
		"without another lease":           {1, 10 * time.Minute, &broker.Error{Kind: ErrNotReady}, errAway, false, errAway, 0},
		"with the operation's end":        {1, 30 * time.Minute, &broker.Error{Kind: ErrNotReady}, nil, false, ErrNotReady, 0},
		"with the process's end":          {1, 10 * time.Minute, &broker.Error{Kind: ErrNotReady}, nil, true, ErrNotReady, 0},
		"another fault":                   {1, 10 * time.Minute, errAway, nil, false, errAway, 0},
	} {
		d := applies("kubernetes")
		b := newBench(t, d)
		b.doing(Heal, "edge")
		b.keys.fails["EndOperation o"], b.keys.fails["RenewLease"] = c.ends, errAway
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		runs := 0
		d.run = func(context.Context, func(Observation)) error {
			if runs++; runs > 1 {
				return nil
			}
			b.at = b.at.Add(c.passes)
			if c.stop {
				cancel()
			}
			return c.says
		}
		stage := Stage{Waves: []Wave{{Deed: Apply}}}
		l := &lane{
			attempt: &attempt{Lifecycle: b.Lifecycle, o: b.rows.o, i: b.rows.i, steps: map[string]Observation{}, leases: map[string]string{}, begun: true},
			post:    &post{vim: b.keys.vims["edge"], driver: d}, stages: slices.Repeat([]Stage{stage}, c.stages), wave: new(int),
			h: held{until: b.at.Add(5 * time.Minute)},
		}
		err := l.work(ctx)
		if !errors.Is(err, c.want) || len(b.keys.asked) != c.asked {
			t.Errorf("%s: %v with %d leases more, want %v with %d", name, err, len(b.keys.asked), c.want, c.asked)
		}
	}
}

// A refusal of a plan names the policies that deny it and what the plan reaches; another error stays as it is.
func TestARefusalNamesWhatDenies(t *testing.T) {
	b := newBench(t)
	var err error
	if b.Guard.Policy, err = policy.Load(map[string][]byte{"site.cedar": []byte(`@id("no-heal")
forbid (principal, action == Action::"vnf:heal", resource);`)}); err != nil {
		t.Fatal(err)
	}
	denied := func() error { return &broker.Error{Kind: broker.ErrDenied, Detail: "as it was"} }
	plan := &policy.OperationPlan{Reaches: []string{"hostNetwork", "hostPath"}}
	for name, c := range map[string]struct {
		err    error
		action policy.Action
		plan   *policy.OperationPlan
		want   string
	}{
		"a plan":          {denied(), policy.VNFHeal, plan, "policy does not allow alice to vnf:heal with this plan (policy site.no-heal; it reaches: hostNetwork, hostPath)"},
		"one in bounds":   {denied(), policy.VNFHeal, &policy.OperationPlan{}, "policy does not allow alice to vnf:heal with this plan (policy site.no-heal)"},
		"no plan":         {denied(), policy.VNFHeal, nil, "policy does not allow alice to vnf:heal with this plan (policy site.no-heal)"},
		"no policy":       {denied(), policy.VNFForget, nil, "as it was"},
		"another error":   {errAway, policy.VNFHeal, plan, "away"},
		"no refusal":      {&broker.Error{Kind: broker.ErrConflict, Detail: "as it was"}, policy.VNFHeal, plan, "as it was"},
		"one of no error": {broker.ErrDenied, policy.VNFHeal, plan, broker.ErrDenied.Error()},
	} {
		if got := b.named(c.err, member, c.action, Instance{ID: "i", Project: "core"}.resource(), policy.Wish{Plan: c.plan}); got == nil || got.Error() != c.want {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
}

// One whose cancel was asked for is ended before anything is made, and not once it is at work.
func TestACancelEndsWhatHasNotBegun(t *testing.T) {
	for state, want := range map[OperationState]error{Starting: ErrCanceled, Processing: nil} {
		b := newBench(t)
		b.doing(Heal, "edge")
		b.rows.o.State, b.rows.o.Cancel = state, Graceful
		a := &attempt{Lifecycle: b.Lifecycle, o: b.rows.o, i: b.rows.i, plan: Plan{Resources: []Resource{thing("new")}}}
		a.act = b.Guard.Record(t.Context(), member, policy.VNFHeal, b.rows.i.resource())
		if err := a.started(t.Context()); !errors.Is(err, want) || len(b.rows.i.Shape.Resources) != map[bool]int{true: 1}[want == nil] {
			t.Errorf("%s: %v with %v", state, err, b.rows.i.Shape.Resources)
		}
	}
}

// An attempt knows from then on that its operation was canceled.
func TestACancelIsKnown(t *testing.T) {
	b := newBench(t)
	b.doing(Heal, "edge")
	a := &attempt{Lifecycle: b.Lifecycle, o: b.rows.o}
	for _, mode := range []CancelMode{"", Graceful, Forceful} {
		b.rows.o.Cancel = mode
		if err := a.canceled(t.Context()); errors.Is(err, ErrCanceled) != (mode != "") || a.o.Cancel != mode {
			t.Errorf("canceled as %q: %v, known as %q", mode, err, a.o.Cancel)
		}
	}
}

// Plans that differ in what they ask of VIMs, or in how they divide it, are told apart.
func TestPlansHaveDigests(t *testing.T) {
	of := func(change func(*Stage)) string {
		s := Stage{Grant: StageRules{Namespaces: []string{"a"}}, Waves: []Wave{{Deed: Apply, Objects: []Object{{Resource: thing("one"), Replicas: 1}, {Resource: thing("two")}}}}}
		change(&s)
		return Plan{Stages: []Stage{s}}.digest()
	}
	seen := map[string]string{of(func(*Stage) {}): "the plan"}
	for name, change := range map[string]func(*Stage){
		"the grant":    func(s *Stage) { s.Grant.Namespaces = []string{"b"} },
		"the deed":     func(s *Stage) { s.Waves[0].Deed = Delete },
		"the replicas": func(s *Stage) { s.Waves[0].Objects[0].Replicas = 2 },
		"the resource": func(s *Stage) { s.Waves[0].Objects[0].Resource.Name = "three" },
		"the waves": func(s *Stage) {
			s.Waves = []Wave{{Deed: Apply, Objects: s.Waves[0].Objects[:1]}, {Deed: Apply, Objects: s.Waves[0].Objects[1:]}}
		},
	} {
		sum := of(change)
		if other := seen[sum]; other != "" {
			t.Errorf("%s and %s are not told apart", name, other)
		}
		seen[sum] = name
	}
	if same := of(func(s *Stage) { s.Waves[0].Objects[0].Manifest = secret.NewText("x") }); seen[same] != "the plan" {
		t.Error("a plan with another manifest is another")
	}
}

// A lease that nobody can tell the end of has not ended.
func TestALeaseHasEndedWhereTheBrokerSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		over bool
		err  error
		want error
	}{"alive": {false, nil, nil}, "ended": {true, nil, errLeaseEnded}, "unknown": {true, errAway, nil}} {
		b := newBench(t)
		b.keys.over, b.keys.fails["Ended"] = c.over, c.err
		a := &attempt{Lifecycle: b.Lifecycle}
		if err := a.leaseEnded(t.Context(), held{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// Ports of each link that spans go, with those of changes that were given up; of the operation's own links a cloud that is away
// is waited for, unless the link is gone.
func TestPortsOfEachLinkGo(t *testing.T) {
	gone := &broker.Error{Kind: broker.ErrNotFound}
	for name, c := range map[string]struct {
		fails map[string]error
		want  error
	}{
		"all there": {}, "one gone": {map[string]error{"own": gone}, nil}, "one away": {map[string]error{"own": errAway}, errAway},
		"the last of its own away": {map[string]error{"two": errAway}, errAway}, "one given up away": {map[string]error{"old": errAway}, nil},
	} {
		b := newBench(t)
		b.doing(Terminate, "edge")
		links := &pool{portsFail: c.fails}
		b.Links = links
		b.rows.fails["Operations"] = c.fails[""]
		b.rows.o.Before.Links = []Link{{ID: "own", Spans: true}, {ID: "flat"}, {ID: "own", Spans: true}}
		b.rows.o.Target.Links = []Link{{ID: "two", Spans: true}}
		b.rows.all = []Operation{
			{State: Failed, Target: Shape{Links: []Link{{ID: "old", Spans: true}, {ID: "own", Spans: true}}}}, {State: Completed, Target: Shape{Links: []Link{{ID: "other", Spans: true}}}},
		}
		a := &attempt{Lifecycle: b.Lifecycle, o: b.rows.o, i: b.rows.i, plan: Plan{Ports: map[string][]string{"own": {"p"}}}}
		err := a.dropPorts(t.Context())
		if !errors.Is(err, c.want) || c.want == nil && strings.Join(links.ported, " ") != "own[p] true two[] true old[] true" {
			t.Errorf("%s: %v, asked for %q", name, err, links.ported)
		}
	}
}

// Ports are made of links that span where pods have any, and anew to heal; what fails of it is said, and nothing is kept.
func TestPortsAreMadeWherePodsHaveAny(t *testing.T) {
	link := Link{ID: "k", Spans: true}
	had := Link{ID: "k", Spans: true, Ports: []asset.Port{{Name: "p"}}}
	for name, c := range map[string]struct {
		of     OperationType
		link   Link
		names  []string
		given  func(*bench)
		others bool
		asked  int
		want   error
	}{
		"new ones":            {Instantiate, link, []string{"p"}, nil, true, 1, nil},
		"none":                {Instantiate, link, nil, nil, false, 0, nil},
		"healed":              {Heal, had, []string{"p"}, nil, true, 1, nil},
		"healed, without any": {Heal, link, nil, nil, false, 0, nil},
		"as they are":         {ChangePackage, had, []string{"p"}, nil, false, 0, nil},
		"of no span":          {Instantiate, Link{ID: "k"}, []string{"p"}, nil, false, 0, nil},
		"not begun":           {Instantiate, link, []string{"p"}, func(b *bench) { b.rows.updating = func(int) error { return errAway } }, false, 0, errAway},
		"not saved":           {Instantiate, link, []string{"p"}, func(b *bench) { b.rows.fails["SaveProgress"] = errAway }, false, 1, errAway},
		"no cloud":            {Instantiate, link, []string{"p"}, func(b *bench) { b.Links = &pool{portsFail: map[string]error{"k": errAway}} }, false, 0, errAway},
		"no package":          {Instantiate, link, []string{"p"}, func(b *bench) { b.Packages = shelved{fails: errAway} }, true, 1, errAway},
	} {
		d := applies("kubernetes")
		b := newBench(t, d)
		b.doing(c.of, "edge")
		b.rows.o.Target.Links = []Link{c.link}
		links := &pool{}
		b.Links = links
		if c.given != nil {
			c.given(b)
		}
		a := &attempt{
			Lifecycle: b.Lifecycle, o: b.rows.o, i: b.rows.i, steps: map[string]Observation{}, posts: []*post{{Part: b.rows.i.Shape.Part, driver: d}},
			plan: Plan{Ports: map[string][]string{"k": c.names}}, act: b.Guard.Record(t.Context(), member, policy.VNFHeal, b.rows.i.resource()),
		}
		others, err := a.port(t.Context())
		if others != c.others || !errors.Is(err, c.want) || len(links.ported) != c.asked {
			t.Errorf("%s: others %t, %v, asked for %q", name, others, err, links.ported)
		}
		if ports := a.o.Target.Links[0].Ports; c.others && (len(ports) != 1 || ports[0].Name != "p" || err == nil && len(a.posts[0].in.Links[0].Ports) != 1) {
			t.Errorf("%s: the ports are %+v, and the plan's %+v", name, ports, a.posts[0].in.Links)
		}
	}
}
