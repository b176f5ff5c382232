package heat_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/heat"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/conformance/vnf"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeheat"
)

func input(op lifecycle.OperationType, secret string) lifecycle.PlanInput {
	return lifecycle.PlanInput{
		Operation: op, Instance: uuid.NewString(), Name: "n", Manifests: vnf.Manifests(secret), Flavour: vnf.Flavour(),
		Replicas: map[string]int32{vnf.VDU: 2},
	}
}

func mustPlan(t *testing.T, s *fakeheat.Server, in lifecycle.PlanInput) lifecycle.Plan {
	t.Helper()
	p, err := heat.New().Plan(t.Context(), connect(s, lifecycle.StageRules{}), in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// do runs a plan's one wave.
func do(ctx context.Context, s *fakeheat.Server, in lifecycle.PlanInput, p lifecycle.Plan) (map[string]lifecycle.Observation, error) {
	seen := map[string]lifecycle.Observation{}
	err := heat.New().Run(ctx, connect(s, p.Stages[0].Grant), in.Instance, p.Stages[0].Waves[0], func(o lifecycle.Observation) { seen[o.Name] = o })
	return seen, err
}

// What failed is named, however deep, with Heat's reason, and without what the template holds. A retry goes on with
// the same stack.
func TestFailureNamesResourceAndReason(t *testing.T) {
	s := fakeheat.New(t)
	in := input(lifecycle.Instantiate, "s3cret-of-the-vnf")
	p := mustPlan(t, s, in)
	s.Break("VDU1", "No valid host was found for s3cret-of-the-vnf.\nSecond line "+strings.Repeat("x", 1000))
	seen, err := do(t.Context(), s, in, p)
	if !errors.Is(err, lifecycle.ErrNotReady) {
		t.Fatalf("a stack that fails = %v, want %v", err, lifecycle.ErrNotReady)
	}
	for _, want := range []string{"VDU1_group/0/VDU1 (OS::Heat::TestResource)", "CREATE_FAILED", "No valid host was found"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "\n") || len(err.Error()) > 2000 {
		t.Errorf("the error holds what it should not: %v", err)
	}
	if o := seen["pages"]; !o.Ready || !o.Standing {
		t.Errorf("what was made is told as %+v", o)
	}
	s.Break("VDU1", "")
	if seen, err = do(t.Context(), s, in, p); err != nil || len(seen["VDU1_group"].VNFCs) != 2 {
		t.Errorf("the retry = %v, with %+v", err, seen["VDU1_group"])
	}
	if n := s.Count("POST", "/heat/v1/project/stacks"); n != 1 {
		t.Errorf("%d stacks were made, want 1", n)
	}
}

// An operation that somebody cancels stops the stack; one whose worker goes does not, and the next worker waits for it.
func TestCancelStopsTheStack(t *testing.T) {
	s := fakeheat.New(t)
	for _, canceled := range []bool{false, true} {
		in := input(lifecycle.Instantiate, "x")
		p := mustPlan(t, s, in)
		s.Hold(true)
		ctx, stop := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := do(ctx, s, in, p)
			done <- err
		}()
		name := "vnf-" + in.Instance
		tick, deadline := time.NewTicker(10*time.Millisecond), time.After(time.Minute)
		for made := false; !made; _, _, _, made = s.Stack(name) {
			select {
			case <-tick.C:
			case <-deadline:
				t.Fatal("no stack was made")
			}
		}
		tick.Stop()
		cause, want := error(nil), "CREATE_IN_PROGRESS"
		if canceled {
			cause, want = &broker.Error{Kind: lifecycle.ErrCanceled}, "CREATE_FAILED"
		}
		stop(cause)
		if err := <-done; err == nil {
			t.Fatal("a canceled operation succeeds")
		}
		if got, _, _, _ := s.Stack(name); got != want {
			t.Errorf("canceled %t: the stack is %s, want %s", canceled, got, want)
		}
		s.Hold(false)
		if seen, err := do(t.Context(), s, in, p); err != nil || !seen[name].Ready {
			t.Errorf("the next worker: %v, %+v", err, seen[name])
		}
	}
	if n := s.Count("POST", "/heat/v1/project/stacks"); n != 2 {
		t.Errorf("%d stacks were made, want one for each instance", n)
	}
}

// A stack that somebody else has updated is told from one that is as it was.
func TestObserveTellsUpdatesOfOthers(t *testing.T) {
	s := fakeheat.New(t)
	in := input(lifecycle.Instantiate, "x")
	p := mustPlan(t, s, in)
	seen, err := do(t.Context(), s, in, p)
	if err != nil {
		t.Fatal(err)
	}
	k := seen["vnf-"+in.Instance].Resource
	look := func() lifecycle.Observation {
		all, err := heat.New().Observe(t.Context(), connect(s, lifecycle.StageRules{}), in.Instance, []lifecycle.Resource{k})
		if err != nil {
			t.Fatal(err)
		}
		return all[0]
	}
	if o := look(); len(o.ChangedBy) > 0 || !o.Ready || k.Applied == "" {
		t.Errorf("a stack as it was made is observed as %+v", o)
	}
	s.Touch(k.Name)
	if o := look(); len(o.ChangedBy) != 1 {
		t.Errorf("a stack that was updated is observed as %+v", o)
	}
}

// A stack whose deletion fails says so, and is not taken for gone.
func TestDeleteFails(t *testing.T) {
	s := fakeheat.New(t)
	in := input(lifecycle.Instantiate, "x")
	p := mustPlan(t, s, in)
	if _, err := do(t.Context(), s, in, p); err != nil {
		t.Fatal(err)
	}
	in.Operation, in.Standing, in.Manifests = lifecycle.Terminate, p.Resources, nil
	p = mustPlan(t, s, in)
	s.Break("pages", "still in use")
	if _, err := do(t.Context(), s, in, p); !errors.Is(err, lifecycle.ErrNotReady) || !strings.Contains(err.Error(), "pages") || !strings.Contains(err.Error(), "still in use") {
		t.Errorf("a deletion that fails = %v", err)
	}
	s.Break("pages", "")
	if _, err := do(t.Context(), s, in, p); err != nil {
		t.Errorf("the retry = %v", err)
	}
	if _, _, _, there := s.Stack("vnf-" + in.Instance); there {
		t.Error("the stack stands after TERMINATE")
	}
}

// HEAL replaces what somebody has marked unhealthy, though Heat's check forgets the mark, and nothing else.
func TestHealReplacesWhatWasMarked(t *testing.T) {
	s := fakeheat.New(t)
	in := input(lifecycle.Instantiate, "x")
	if _, err := do(t.Context(), s, in, mustPlan(t, s, in)); err != nil {
		t.Fatal(err)
	}
	pages, vdu := s.Physical("pages"), s.Physical("VDU1")
	s.Condemn("pages")
	in.Operation = lifecycle.Heal
	if _, err := do(t.Context(), s, in, mustPlan(t, s, in)); err != nil {
		t.Fatal(err)
	}
	if s.Physical("pages") == pages || s.Physical("VDU1") != vdu {
		t.Errorf("healed to %s and %s, from %s, which was marked, and %s", s.Physical("pages"), s.Physical("VDU1"), pages, vdu)
	}
}

// A server that says resources are nested in one another, or calls a stack something else, leads nowhere: neither
// round in a circle, nor into what is shown.
func TestHostileHeat(t *testing.T) {
	s := fakeheat.New(t)
	in := input(lifecycle.Instantiate, "x")
	p := mustPlan(t, s, in)
	if _, err := do(t.Context(), s, in, p); err != nil {
		t.Fatal(err)
	}
	part := func(name, within, nested string) string {
		return fmt.Sprintf(`{"resource_name":%q,"resource_type":"a\nb%s","resource_status":"CREATE_FAILED","physical_resource_id":"p","links":[`+
			`{"rel":"stack","href":"/stacks/%s"},{"rel":"nested","href":"/stacks/%s"}]}`, name, strings.Repeat("x", 1000), within, nested)
	}
	circle := `{"resources":[` + strings.Join([]string{
		part("VDU1_group", "top/top", "a/a"), part("VDU1", "a/a", "b/b"), part("VDU1", "b/b", "a/a"), part("VDU1", "b/b", "b/b"),
		part("VDU1", "c/c", "d/d"), part("VDU1", "d/d", "c/c"), // out of the top's reach
	}, ",") + `]}`
	s.Fail(fake.Fault{Kind: fake.JSON, Path: "/resources$", Status: 200, Body: circle, Times: -1})
	all, err := heat.New().Observe(t.Context(), connect(s, lifecycle.StageRules{}), in.Instance, p.Resources)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, o := range all {
		for _, v := range o.VNFCs {
			if found++; strings.Contains(v.Kind, "\n") || len(v.Kind) > 400 {
				t.Errorf("a VNFC of kind %q", v.Kind)
			}
		}
	}
	if found == 0 {
		t.Errorf("nothing was found: %+v", all)
	}
	s.Break("VDU1", "x")
	in.Replicas = map[string]int32{vnf.VDU: 3}
	if _, err := do(t.Context(), s, in, mustPlan(t, s, in)); !errors.Is(err, lifecycle.ErrNotReady) || strings.Contains(err.Error(), "\n") {
		t.Errorf("a stack that fails = %v", err)
	}
	s.Heal()
	s.Break("VDU1", "")
	s.Fail(fake.Fault{Kind: fake.Edit, Method: "GET", Path: "/stacks/vnf-[^/]+/[^/]+$", Times: -1, Edit: func(_ http.Header, body []byte) []byte {
		return bytes.ReplaceAll(body, []byte(`"vnf-`), []byte(`"../../`+fake.Canary+`\n`))
	}})
	if _, err := do(t.Context(), s, in, mustPlan(t, s, in)); !errors.Is(err, broker.ErrUnreachable) || strings.Contains(err.Error(), fake.Canary) {
		t.Errorf("a stack of another name = %v, want %v", err, broker.ErrUnreachable)
	}
}
