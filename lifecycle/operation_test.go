package lifecycle_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/outcome"
)

func TestWholeLife(t *testing.T) {
	p := newPlant(t)
	i := p.running()
	if i.State != lifecycle.Instantiated || i.Shape.Namespace != "default" || i.Shape.Scale["front"] != 0 || len(i.Shape.Resources) != 2 || i.Shape.Resources[0].Applied != "mark" || len(i.Shape.VNFCs) != 1 {
		t.Fatalf("after INSTANTIATE the instance is %+v", i)
	}
	if got, want := p.yard.standing(), (map[string]int32{"front": 1, "old": 0}); !maps.Equal(got, want) {
		t.Fatalf("stands: %v, want %v", got, want)
	}
	p.completes(p.Scale(t.Context(), alice, i.ID, lifecycle.Scaling{Aspect: "front", Steps: 2}))
	if i = p.instance(i.ID); i.Shape.Scale["front"] != 2 || i.Shape.Replicas["front"] != 3 || len(i.Shape.VNFCs) != 3 || len(i.Shape.Resources) != 2 {
		t.Fatalf("after SCALE the instance is %+v", i.Shape)
	}
	_, err := p.Scale(t.Context(), alice, i.ID, lifecycle.Scaling{Aspect: "front", Steps: 1})
	wantKind(t, err, broker.ErrInvalid)
	p.completes(p.Scale(t.Context(), alice, i.ID, lifecycle.Scaling{Aspect: "front", Steps: -1}))

	delete(p.yard.objects, "old") // somebody has removed it
	p.completes(p.Heal(t.Context(), alice, i.ID, lifecycle.Healing{VNFCs: []string{"front-front-1"}}))
	_, err = p.Heal(t.Context(), alice, i.ID, lifecycle.Healing{VNFCs: []string{"front-9"}})
	wantKind(t, err, broker.ErrInvalid)

	p.completes(p.ChangePackage(t.Context(), alice, i.ID, lifecycle.PackageChange{VNFDID: "web-2"}))
	if got, want := p.yard.standing(), (map[string]int32{"front": 2, "new": 0}); !maps.Equal(got, want) {
		t.Fatalf("after CHANGE_VNFPKG stands: %v, want %v", got, want)
	}
	if i = p.instance(i.ID); i.Shape.Package != "web-2" || i.Shape.Scale["front"] != 1 {
		t.Errorf("after CHANGE_VNFPKG the instance is %+v", i.Shape)
	}
	wantKind(t, p.DeleteInstance(t.Context(), alice, i.ID, 0), broker.ErrConflict)

	p.lends.live["a killed look's"] = broker.LeaseRequest{Operation: "drift-" + i.ID} // which no lease outlives
	p.completes(p.Terminate(t.Context(), alice, i.ID, nil))
	if got := p.yard.standing(); len(got) > 0 {
		t.Errorf("after TERMINATE stands: %v", got)
	}
	if i = p.instance(i.ID); i.State != lifecycle.NotInstantiated || i.Shape.VIM != "" || len(i.Shape.Resources)+len(i.Shape.VNFCs) > 0 {
		t.Errorf("after TERMINATE the instance is %+v", i)
	}
	if err := p.DeleteInstance(t.Context(), alice, i.ID, 0); err != nil {
		t.Error(err)
	}
	_, err = p.Instance(t.Context(), alice, i.ID)
	wantKind(t, err, broker.ErrNotFound)
}

// TestLeasesAreCutToThePlan: each stage has a lease that allows what it does, in the name of the
// operation, and nothing else; none outlives its stage.
func TestLeasesAreCutToThePlan(t *testing.T) {
	p := newPlant(t)
	p.yard.before = func(context.Context, int) error {
		if n := p.lends.count(); n != 1 {
			t.Errorf("%d leases are live in a wave, want 1", n)
		}
		return nil
	}
	i := p.running()
	p.completes(p.Terminate(t.Context(), alice, i.ID, nil))
	var verbs []string
	for _, r := range p.lends.asked {
		verbs = append(verbs, r.Rules[0].Verbs...)
		if r.Operation == "" || r.ClusterWide || !slices.Equal(r.Namespaces, []string{"default"}) {
			t.Errorf("a lease was asked for as %+v", r)
		}
	}
	if got, want := strings.Join(verbs, " "), "survey apply apply survey delete delete"; got != want {
		t.Errorf("leases: %s, want %s", got, want)
	}
}

func TestRefusedBeforeAnythingIsMade(t *testing.T) {
	for name, refuse := range outcome.Sorted(map[string]func(*plant){
		"by policy, with the plan": func(p *plant) { p.yard.facts.Privileged = true },
		"the lease":                func(p *plant) { p.lends.refusal = &broker.Error{Kind: broker.ErrDenied, Detail: "policy says no"} },
	}) {
		t.Run(name, func(t *testing.T) {
			p := newPlant(t)
			refuse(p)
			i := p.made()
			begun, err := p.Instantiate(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"})
			o := p.ends(lifecycle.RolledBack, begun, err)
			if o.Failure == nil || o.Failure.Status != 403 {
				t.Errorf("the failure is %+v", o.Failure)
			}
			if name == "by policy, with the plan" && !strings.Contains(o.Failure.Detail, "default.wide-plans-need-admin") {
				t.Errorf("the failure does not name the policy: %s", o.Failure.Detail)
			}
			if i = p.instance(i.ID); i.State != lifecycle.NotInstantiated || len(i.Shape.Resources) > 0 || len(p.yard.standing()) > 0 {
				t.Errorf("something was made: %+v", i)
			}
			// and the next may begin
			_, err = p.Instantiate(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

var errBroken = &broker.Error{Kind: broker.ErrConflict, Detail: "the object front is not the instance's"}

// failsAt fails the nth wave from now.
func (y *yard) failsAt(n int, err error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	at := y.waves + n
	y.before = func(_ context.Context, wave int) error {
		if wave == at {
			return err
		}
		return nil
	}
}

func TestFailedOperation(t *testing.T) {
	p := newPlant(t)
	i := p.made()
	p.yard.failsAt(1, errBroken)
	begun, err := p.Instantiate(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"})
	o := p.ends(lifecycle.FailedTemp, begun, err)
	if o.Failure == nil || o.Failure.Status != 409 || o.Failure.Detail != errBroken.Detail {
		t.Errorf("the failure is %+v", o.Failure)
	}
	_, err = p.Terminate(t.Context(), alice, i.ID, nil)
	wantKind(t, err, broker.ErrConflict)
	_, err = p.Instantiate(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"})
	wantKind(t, err, broker.ErrConflict)
	wantKind(t, p.DeleteInstance(t.Context(), alice, i.ID, 0), broker.ErrConflict)

	o = p.completes(p.Retry(t.Context(), alice, o.ID))
	if o.Failure != nil || len(p.yard.standing()) != 2 {
		t.Errorf("after the retry: %+v, stands %v", o.Failure, p.yard.standing())
	}
	_, err = p.Retry(t.Context(), alice, o.ID)
	wantKind(t, err, broker.ErrConflict)
}

// What an operation that failed has made is known to the next one by the VIM's id, and so is what one that is over made.
func TestObjectsAreKnownByTheirIDs(t *testing.T) {
	p := newPlant(t)
	i := p.made()
	p.yard.failsAt(1, errBroken)
	begun, err := p.Instantiate(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"})
	o := p.ends(lifecycle.FailedTemp, begun, err)
	var known []string
	for _, r := range p.instance(i.ID).Shape.Resources {
		if r.UID != "" {
			known = append(known, r.UID)
		}
	}
	if want := []string{"uid-of-front"}; !slices.Equal(known, want) {
		t.Errorf("after an instantiation that failed the ids of %q are known, want %q", known, want)
	}
	begun, err = p.Retry(t.Context(), alice, o.ID)
	p.completes(begun, err)
	for _, r := range p.instance(i.ID).Shape.Resources {
		if r.UID != "uid-of-"+r.Name {
			t.Errorf("the id of %s is %q", r.Name, r.UID)
		}
	}
}

func TestRollback(t *testing.T) {
	t.Run("INSTANTIATE", func(t *testing.T) {
		p := newPlant(t)
		i := p.made()
		p.yard.failsAt(1, errBroken)
		begun, err := p.Instantiate(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"})
		o := p.ends(lifecycle.FailedTemp, begun, err)
		begun, err = p.Rollback(t.Context(), alice, o.ID)
		p.ends(lifecycle.RolledBack, begun, err)
		if i = p.instance(i.ID); i.State != lifecycle.NotInstantiated || len(i.Shape.Resources) > 0 || len(p.yard.standing()) > 0 {
			t.Errorf("the instance is %+v, stands %v", i, p.yard.standing())
		}
	})
	t.Run("SCALE", func(t *testing.T) {
		p := newPlant(t)
		i := p.running()
		p.yard.failsAt(0, errBroken)
		begun, err := p.Scale(t.Context(), alice, i.ID, lifecycle.Scaling{Aspect: "front", Steps: 1})
		o := p.ends(lifecycle.FailedTemp, begun, err)
		begun, err = p.Rollback(t.Context(), alice, o.ID)
		p.ends(lifecycle.RolledBack, begun, err)
		if i = p.instance(i.ID); i.Shape.Replicas["front"] != 1 || p.yard.standing()["front"] != 1 || i.Shape.Scale["front"] != 0 {
			t.Errorf("the instance is %+v, stands %v", i.Shape, p.yard.standing())
		}
	})
	t.Run("CHANGE_VNFPKG", func(t *testing.T) {
		p := newPlant(t)
		i := p.running()
		p.yard.failsAt(2, errBroken) // while old is pruned
		begun, err := p.ChangePackage(t.Context(), alice, i.ID, lifecycle.PackageChange{VNFDID: "web-2"})
		o := p.ends(lifecycle.FailedTemp, begun, err)
		begun, err = p.Rollback(t.Context(), alice, o.ID)
		p.ends(lifecycle.RolledBack, begun, err)
		want := map[string]int32{"front": 1, "old": 0}
		if i = p.instance(i.ID); i.Shape.Package != "web-1" || !maps.Equal(p.yard.standing(), want) || len(i.Shape.Resources) != 2 {
			t.Errorf("the instance is %+v, stands %v", i.Shape, p.yard.standing())
		}
	})
	t.Run("HEAL has no way back", func(t *testing.T) {
		p := newPlant(t)
		i := p.running()
		p.yard.failsAt(0, errBroken)
		begun, err := p.Heal(t.Context(), alice, i.ID, lifecycle.Healing{})
		o := p.ends(lifecycle.FailedTemp, begun, err)
		_, err = p.Rollback(t.Context(), alice, o.ID)
		wantKind(t, err, broker.ErrConflict)
	})
}

// TestGivenUp: what may stand of an instance can be terminated.
// What an operator watches: what stands, since when, and how long it took to come there.
func TestVitals(t *testing.T) {
	p := newPlant(t)
	if v := p.Vitals(t.Context()); v.Live == nil || len(v.Live) != 0 || len(v.Took) != 0 {
		t.Errorf("Vitals = %+v before there is an operation", v)
	}
	i := p.running()
	p.yard.before = func(context.Context, int) error { return errBroken }
	begun, err := p.Heal(t.Context(), alice, i.ID, lifecycle.Healing{})
	began := p.clock.Now()
	p.clock.Add(40 * time.Second)
	o := p.ends(lifecycle.FailedTemp, begun, err)
	v := p.Vitals(t.Context())
	want := []lifecycle.OperationCount{{Type: lifecycle.Heal, State: lifecycle.FailedTemp, Count: 1, Oldest: began.Add(40 * time.Second)}}
	if diff := cmp.Diff(want, v.Live); diff != "" {
		t.Errorf("live operations (-want +got):\n%s", diff)
	}
	for end, sum := range map[lifecycle.Ended]time.Duration{
		{Type: lifecycle.Instantiate, State: lifecycle.Completed}: 0, {Type: lifecycle.Heal, State: lifecycle.FailedTemp}: 40 * time.Second,
	} {
		if took := v.Took[end]; took.Count != 1 || took.Sum != sum {
			t.Errorf("%v took %+v, want one of %v", end, took, sum)
		}
	}
	if _, err := p.Fail(t.Context(), alice, o.ID); err != nil {
		t.Fatal(err)
	}
	if v := p.Vitals(t.Context()); len(v.Live) != 0 {
		t.Errorf("live operations are %+v after the only one was given up", v.Live)
	}
}

func TestGivenUp(t *testing.T) {
	p := newPlant(t)
	i := p.made()
	p.yard.failsAt(1, errBroken)
	begun, err := p.Instantiate(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"})
	o := p.ends(lifecycle.FailedTemp, begun, err)
	if o, err = p.Fail(t.Context(), alice, o.ID); err != nil || o.State != lifecycle.Failed {
		t.Fatalf("Fail() = %s, %v", o.State, err)
	}
	p.completes(p.Terminate(t.Context(), alice, i.ID, nil))
	if n := len(p.yard.standing()); n > 0 {
		t.Errorf("%d objects stand", n)
	}
}

func TestCancel(t *testing.T) {
	for _, mode := range []lifecycle.CancelMode{lifecycle.Graceful, lifecycle.Forceful} {
		t.Run(string(mode), func(t *testing.T) {
			p := newPlant(t)
			i := p.made()
			begun, err := p.Instantiate(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"})
			if err != nil {
				t.Fatal(err)
			}
			p.yard.before = func(ctx context.Context, _ int) error {
				if _, err := p.Lifecycle.Cancel(ctx, alice, begun.ID, mode); err != nil {
					t.Error(err)
				}
				if mode == lifecycle.Forceful {
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			}
			o := p.ends(lifecycle.FailedTemp, begun, nil)
			want := 1 // the wave that ran has ended well
			if mode == lifecycle.Forceful {
				want = 0
			}
			if o.Failure.Title != "canceled" || len(p.yard.standing()) != want {
				t.Errorf("failure %+v, stands %v", o.Failure, p.yard.standing())
			}
			_, err = p.Lifecycle.Cancel(t.Context(), alice, o.ID, mode)
			wantKind(t, err, broker.ErrConflict)
		})
	}
	t.Run("STARTING", func(t *testing.T) {
		p := newPlant(t)
		i := p.made()
		begun, err := p.Instantiate(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Lifecycle.Cancel(t.Context(), alice, begun.ID, lifecycle.Graceful); err != nil {
			t.Fatal(err)
		}
		p.ends(lifecycle.RolledBack, begun, nil)
	})
}

// TestUnreachableVIMIsWaitedFor: until the operation's deadline the job is tried again.
func TestUnreachableVIMIsWaitedFor(t *testing.T) {
	p := newPlant(t)
	i := p.made()
	down := &broker.Error{Kind: broker.ErrUnreachable, Detail: "no answer"}
	p.yard.failsAt(1, down)
	o, err := p.work(p.Instantiate(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"}))
	wantKind(t, err, broker.ErrUnreachable)
	if o.State != lifecycle.Processing || o.Stage != 1 {
		t.Fatalf("the operation is %s at stage %d", o.State, o.Stage)
	}
	p.yard.before = func(context.Context, int) error { return down }
	p.clock.Add(16 * time.Minute)
	o = p.ends(lifecycle.FailedTemp, o, nil)
	p.yard.before = nil
	waves := p.yard.waves
	p.completes(p.Retry(t.Context(), alice, o.ID))
	if did := p.yard.waves - waves; did != 2 {
		t.Errorf("the retry did %d waves, want 2: a retry begins anew", did)
	}
}

// TestGoesOnWhereItCameTo: an attempt that dies is followed by one that does the rest, after the lease
// of the first was taken back.
func TestGoesOnWhereItCameTo(t *testing.T) {
	p := newPlant(t)
	i := p.made()
	begun, err := p.Instantiate(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, die := context.WithCancel(t.Context())
	p.yard.before = func(_ context.Context, wave int) error {
		if wave == 1 {
			die()
			return context.Canceled
		}
		return nil
	}
	if err := p.Work(ctx, begun.ID); err == nil {
		t.Fatal("the attempt did not die")
	}
	if n := p.lends.count(); n != 0 {
		t.Errorf("the attempt that was told to end has left %d leases", n)
	}
	stale := broker.LeaseRequest{Operation: begun.ID, Rules: grant("apply").Rules}
	p.lends.live["of the dead"] = stale
	p.yard.before = func(context.Context, int) error {
		if p.lends.allows("of the dead", "apply") {
			t.Error("the lease of the attempt before is live")
		}
		return nil
	}
	waves := p.yard.waves
	p.completes(begun, nil)
	if did := p.yard.waves - waves; did != 1 {
		t.Errorf("the successor did %d waves, want 1", did)
	}
}

// TestRightsAreThoseOfNow: the caller has lost the role between request and work.
func TestRightsAreThoseOfNow(t *testing.T) {
	p := newPlant(t)
	i := p.made()
	begun, err := p.Instantiate(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"})
	if err != nil {
		t.Fatal(err)
	}
	p.clock.Add(2 * time.Hour) // longer than recorded roles hold
	o := p.ends(lifecycle.RolledBack, begun, nil)
	if o.Failure.Status != 403 {
		t.Errorf("failure %+v", o.Failure)
	}
}

func TestTenancy(t *testing.T) {
	p := newPlant(t)
	i := p.running()
	ctx := t.Context()
	for who, caller := range outcome.Sorted(map[string]policy.Principal{"another project": carol, "a reader": rita}) {
		want := broker.ErrNotFound
		if who == "a reader" {
			want = broker.ErrDenied
		}
		_, err := p.Scale(ctx, caller, i.ID, lifecycle.Scaling{Aspect: "front", Steps: 1})
		wantKind(t, err, want)
		_, err = p.Modify(ctx, caller, i.ID, lifecycle.Modification{})
		wantKind(t, err, want)
		_, err = p.Terminate(ctx, caller, i.ID, nil)
		wantKind(t, err, want)
		wantKind(t, p.DeleteInstance(ctx, caller, i.ID, 0), want)
	}
	_, err := p.Instance(ctx, carol, i.ID)
	wantKind(t, err, broker.ErrNotFound)
	if all, _, err := p.Instances(ctx, carol, lifecycle.InstanceQuery{}); len(all) > 0 || err != nil {
		t.Errorf("another project lists %d instances, error %v", len(all), err)
	}
	if all, _, err := p.Operations(ctx, carol, lifecycle.OperationQuery{}); len(all) > 0 || err != nil {
		t.Errorf("another project lists %d operations, error %v", len(all), err)
	}
	if all, _, err := p.Instances(ctx, rita, lifecycle.InstanceQuery{}); len(all) != 1 || err != nil {
		t.Errorf("a reader lists %d instances, error %v", len(all), err)
	}
}

// TestEverythingIsRecorded: the audit log names caller and engine.
func TestEverythingIsRecorded(t *testing.T) {
	p := newPlant(t)
	i := p.running()
	var outcomes []string
	for _, e := range slices.Backward(p.entries()) {
		if e.Action == policy.VNFInstantiate {
			outcomes = append(outcomes, string(e.Outcome)+"/"+e.Detail[audit.DetailActor])
			if e.Principal != "alice" || e.Resource != i.ID || e.Detail[audit.DetailOperation] == "" {
				t.Errorf("an entry is %+v", e)
			}
		}
	}
	if got, want := strings.Join(outcomes, " "), "intent/ intent/system:lifecycle done/system:lifecycle"; got != want {
		t.Errorf("entries: %s, want %s", got, want)
	}
}

func TestModify(t *testing.T) {
	p := newPlant(t)
	i := p.made()
	name := "shop"
	o, err := p.Modify(t.Context(), alice, i.ID, lifecycle.Modification{Name: &name, Metadata: []byte(`{"a":{"b":1,"c":2}}`), IfRevision: i.Revision})
	if err != nil || o.State != lifecycle.Completed {
		t.Fatalf("Modify() = %+v, %v", o, err)
	}
	_, err = p.Modify(t.Context(), alice, i.ID, lifecycle.Modification{Name: &name, IfRevision: i.Revision})
	wantKind(t, err, broker.ErrPrecondition)
	if _, err = p.Modify(t.Context(), alice, i.ID, lifecycle.Modification{Metadata: []byte(`{"a":{"b":null}}`)}); err != nil {
		t.Fatal(err)
	}
	if i = p.instance(i.ID); i.Name != "shop" || string(i.Metadata) != `{"a":{"c":2}}` {
		t.Errorf("the instance is %s with %s", i.Name, i.Metadata)
	}
}

// TestPreview says what would be done, and does nothing.
func TestPreview(t *testing.T) {
	p := newPlant(t)
	i := p.made()
	got, err := p.Preview(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"})
	if err != nil || got.Refusal != nil || len(got.Leases) != 2 || got.Leases[0].Grade != broker.GradeNamespaces || len(got.Effects) != 2 || got.Effects[0].Stands {
		t.Errorf("Preview() = %+v, %v", got, err)
	}
	p.yard.facts.BringsRBAC = true
	p.lends.refusal = &broker.Error{Kind: broker.ErrDenied, Detail: "policy says no"}
	got, err = p.Preview(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"})
	if err != nil || got.Refusal == nil || !strings.Contains(got.Refusal.Detail, "wide-plans-need-admin") || got.Leases[1].Refusal == nil {
		t.Errorf("Preview() = %+v, %v", got, err)
	}
	_, err = p.Preview(t.Context(), carol, i.ID, lifecycle.Instantiation{VIM: "edge"})
	wantKind(t, err, broker.ErrNotFound)
	if n := p.lends.count(); n != 0 || len(p.yard.standing()) > 0 {
		t.Errorf("%d leases live, stands %v", n, p.yard.standing())
	}
	if all, _, err := p.Operations(t.Context(), alice, lifecycle.OperationQuery{}); len(all) > 0 || err != nil {
		t.Errorf("%d operations, %v", len(all), err)
	}
}

// TestPreviewOfEachOperation: what scales, heals and changes an instance can be tried without an effect, and is refused as
// the operation itself would be.
func TestPreviewOfEachOperation(t *testing.T) {
	p := newPlant(t)
	i := p.on("edge")
	before := len(p.yard.standing())
	asked, _, err := p.Operations(t.Context(), alice, lifecycle.OperationQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range outcome.Sorted(map[string]lifecycle.Asked{
		"heal": lifecycle.Healing{}, "scale": lifecycle.Scaling{Aspect: "front", Steps: 1},
		"update": lifecycle.PackageChange{VNFDID: i.Shape.Product.VNFDID},
	}) {
		got, err := p.Preview(t.Context(), alice, i.ID, r)
		if err != nil || got.Refusal != nil || len(got.Leases) == 0 {
			t.Errorf("Preview() of %s = %+v, %v", name, got, err)
		}
		if len(got.Effects) == 0 {
			t.Errorf("%s has no effect", name)
		}
		for _, e := range got.Effects {
			if !e.Stands {
				t.Errorf("%s: %s is said to be new", name, e.Name)
			}
		}
		_, err = p.Preview(t.Context(), carol, i.ID, r)
		wantKind(t, err, broker.ErrNotFound)
	}
	_, err = p.Preview(t.Context(), alice, i.ID, lifecycle.Scaling{Aspect: "none", Steps: 1})
	wantKind(t, err, broker.ErrInvalid)
	_, err = p.Preview(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"})
	wantKind(t, err, broker.ErrConflict)
	now, _, err := p.Operations(t.Context(), alice, lifecycle.OperationQuery{})
	if n := p.lends.count(); err != nil || n != 0 || len(p.yard.standing()) != before || len(now) != len(asked) {
		t.Errorf("%d leases live, %d stand, %d operations, %v", n, len(p.yard.standing()), len(now), err)
	}
}
