package heat_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/heat"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeheat"
)

// Where Heat has a stack of the name after all, the instance's is gone on with; one that is somebody else's, or that
// nobody is shown, is a conflict.
func TestSomebodyWasFaster(t *testing.T) {
	const list = "/heat/v1/project/stacks$"
	for _, c := range []struct {
		name  string
		stand func(*testing.T, *fakeheat.Server, lifecycle.PlanInput, lifecycle.Plan)
		want  error
	}{
		{"the worker before", func(t *testing.T, s *fakeheat.Server, in lifecycle.PlanInput, p lifecycle.Plan) {
			if _, err := do(t.Context(), s, in, p); err != nil {
				t.Fatal(err)
			}
		}, nil},
		{"somebody else", func(_ *testing.T, s *fakeheat.Server, in lifecycle.PlanInput, _ lifecycle.Plan) {
			s.Plant("vnf-"+in.Instance, "somebody's")
		}, broker.ErrConflict},
		{"nobody is shown", func(_ *testing.T, s *fakeheat.Server, _ lifecycle.PlanInput, _ lifecycle.Plan) {
			s.Fail(fake.Fault{Kind: fake.Refuse, Method: "POST", Path: list, Status: http.StatusConflict, Times: -1})
		}, broker.ErrConflict},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fakeheat.New(t)
			in := input(lifecycle.Instantiate, "x")
			p := mustPlan(t, s, in)
			c.stand(t, s, in, p)
			made := s.Count("POST", "/heat/v1/project/stacks")
			// The first look is from before the other has made it.
			s.Fail(fake.Fault{Kind: fake.JSON, Method: "GET", Path: list, Status: http.StatusOK, Body: `{"stacks": []}`})
			_, err := do(t.Context(), s, in, p)
			if !errors.Is(err, c.want) {
				t.Errorf("making the stack = %v, want %v", err, c.want)
			}
			if got := s.Count("POST", "/heat/v1/project/stacks") - made; got != 1 {
				t.Errorf("a stack was asked for %d times, want once: the test proves nothing", got)
			}
			if _, _, updated, _ := s.Stack("vnf-" + in.Instance); updated != (c.want == nil) {
				t.Errorf("the stack that stands was updated: %t", updated)
			}
		})
	}
}

// A stack of somebody else's that has the instance's name is seen before anything is asked of Heat.
func TestASeenStackOfOthersIsLeftAlone(t *testing.T) {
	s := fakeheat.New(t)
	in := input(lifecycle.Instantiate, "x")
	p := mustPlan(t, s, in)
	s.Plant("vnf-"+in.Instance, "somebody's")
	if _, err := do(t.Context(), s, in, p); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("making the stack = %v, want %v", err, broker.ErrConflict)
	}
	if n := s.Count("POST", "/heat/v1/project/stacks"); n != 0 {
		t.Errorf("a stack was asked for %d times, where its name is taken", n)
	}
}

// A token goes to no endpoint of a catalog that is plain HTTP where the VIM's own is not, nor to one with a password.
func TestCatalogEndpointIsRefused(t *testing.T) {
	for name, other := range map[string]string{"http": "http://", "a password": "https://user:" + fake.Canary + "@", "no host": "https:///", "no URL": "://"} {
		t.Run(name, func(t *testing.T) {
			s := fakeheat.New(t)
			s.Fail(fake.Fault{Kind: fake.Edit, Method: "GET", Path: "/v3/auth/tokens$", Times: -1, Edit: func(_ http.Header, body []byte) []byte {
				return []byte(strings.ReplaceAll(string(body), "https://", other))
			}})
			_, err := heat.New().Plan(t.Context(), connect(s, lifecycle.StageRules{}), input(lifecycle.Instantiate, "x"))
			if !errors.Is(err, broker.ErrUnsupported) || !strings.Contains(err.Error(), "https URL for the service orchestration") || strings.Contains(err.Error(), fake.Canary) {
				t.Errorf("a plan = %v, want %v with what to do", err, broker.ErrUnsupported)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests were sent, want the catalog's alone", n)
			}
		})
	}
}

// What a gateway says is neither Heat's word nor Keystone's: it refuses nothing for good, so that a retry goes on. The
// same status in the service's own form does.
func TestGatewayRefusesNothing(t *testing.T) {
	const (
		login, validate = "/v3/auth/tokens$", "/heat/v1/project/validate$"
		page            = fake.HTML
	)
	for _, c := range []struct {
		path   string
		kind   fake.Kind
		status int
		want   error
	}{
		{login, page, 401, broker.ErrUnreachable},
		{login, page, 404, broker.ErrUnreachable},
		{login, page, 403, broker.ErrUnreachable},
		{login, fake.Refuse, 401, broker.ErrUnauthorized},
		{login, fake.Refuse, 404, broker.ErrUnauthorized},
		{validate, page, 400, broker.ErrUnreachable},
		{validate, page, 401, broker.ErrUnreachable},
		{validate, page, 403, broker.ErrUnreachable},
		{validate, page, 404, broker.ErrUnreachable},
		{validate, page, 409, broker.ErrUnreachable},
		{validate, fake.Refuse, 400, broker.ErrInvalid},
		{validate, fake.Refuse, 401, broker.ErrUnauthorized},
		{validate, fake.Refuse, 403, broker.ErrForbidden},
		{validate, fake.Refuse, 404, broker.ErrNotFound},
	} {
		s := fakeheat.New(t)
		s.Fail(fake.Fault{Kind: c.kind, Path: c.path, Status: c.status, Times: -1})
		_, err := heat.New().Plan(t.Context(), connect(s, lifecycle.StageRules{}), input(lifecycle.Instantiate, "x"))
		// What Heat finds invalid it says why.
		if !errors.Is(err, c.want) || c.want != broker.ErrInvalid && strings.Contains(err.Error(), fake.Canary) {
			t.Errorf("%s answered %d (%s) = %v, want %v", c.path, c.status, c.kind, err, c.want)
		}
	}
}

// A stack that Heat is busy with is waited for, and nothing is asked of it meanwhile: neither by an operation that
// makes it what it is to be, nor by HEAL, which finds replaced what a worker before it had replaced.
func TestBusyStackIsWaitedFor(t *testing.T) {
	for _, operation := range []lifecycle.OperationType{lifecycle.ScaleVNF, lifecycle.Heal} {
		t.Run(string(operation), func(t *testing.T) {
			s := fakeheat.New(t)
			in := input(lifecycle.Instantiate, "x")
			seen, err := do(t.Context(), s, in, mustPlan(t, s, in))
			if err != nil {
				t.Fatal(err)
			}
			was := seen["VDU1_group"].VNFCs
			in.Operation = operation
			if operation == lifecycle.Heal {
				in.VNFCs = was[:1]
			}
			p := mustPlan(t, s, in)
			// The worker before is killed once its update is under way.
			s.Hold(true)
			asked, first := make(chan string, 9), make(chan error, 1)
			s.Fail(fake.Fault{Kind: fake.Pass, Method: "PUT", Times: -1, Late: true, Reached: func() { asked <- "an update" }})
			s.Fail(fake.Fault{Kind: fake.Pass, Path: "/actions$", Times: -1, Reached: func() { asked <- "a check" }})
			ctx, kill := context.WithCancel(t.Context())
			go func() {
				_, err := do(ctx, s, in, p)
				first <- err
			}()
			<-asked
			kill()
			if <-first == nil {
				t.Fatal("a worker that was killed succeeds")
			}
			healed := members(t, s, in.Instance, p)

			looks, second := make(chan struct{}, 3), make(chan error, 1)
			s.Fail(fake.Fault{Kind: fake.Pass, Method: "GET", Path: "/heat/v1/project/stacks$", Times: 3, Reached: func() { looks <- struct{}{} }})
			go func() {
				_, err := do(t.Context(), s, in, p)
				second <- err
			}()
			for range 3 {
				select {
				case <-looks:
				case what := <-asked:
					t.Fatalf("Heat is busy, and is asked for %s", what)
				case err := <-second:
					t.Fatalf("the next worker does not wait: %v", err)
				}
			}
			s.Hold(false)
			if err := <-second; err != nil {
				t.Fatal(err)
			}
			if now := members(t, s, in.Instance, p); operation == lifecycle.Heal && (!slices.Equal(now, healed) || slices.Contains(now, was[0].UID)) {
				t.Errorf("the VNFCs are %q, want %q, which the worker before had put in the place of %+v", now, healed, was)
			}
		})
	}
}

// members are the ids of an instance's VNFCs.
func members(t *testing.T, s *fakeheat.Server, instance string, p lifecycle.Plan) (ids []string) {
	t.Helper()
	all, err := heat.New().Observe(t.Context(), connect(s, lifecycle.StageRules{}), instance, p.Resources)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		for _, v := range o.VNFCs {
			ids = append(ids, v.UID)
		}
	}
	return ids
}
