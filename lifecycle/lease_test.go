package lifecycle_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/outcome"
)

// begun asks for the instantiation of a new instance.
func (p *plant) begun() lifecycle.Operation {
	p.t.Helper()
	o, err := p.Instantiate(p.t.Context(), alice, p.made().ID, lifecycle.Instantiation{VIM: "edge"})
	if err != nil {
		p.t.Fatal(err)
	}
	return o
}

var unready = &broker.Error{Kind: lifecycle.ErrNotReady, Detail: "not ready in time"}

// TestStageOutlivesItsLease: the lease is renewed, or replaced where it cannot be, until the operation's own time is
// up.
func TestStageOutlivesItsLease(t *testing.T) {
	for name, c := range outcome.Sorted(map[string]struct {
		lives          time.Duration // of each lease
		final          bool
		asked, renewed int
	}{
		// one to plan, one for each of two stages
		"it is renewed, and again": {6 * time.Minute, false, 3, 2},
		"it cannot be renewed":     {6 * time.Minute, true, 5, 0},
	}) {
		t.Run(name, func(t *testing.T) {
			p := newPlant(t)
			p.lends.lives, p.lends.final = c.lives, c.final
			p.yard.before = func(_ context.Context, wave int) error {
				if wave > 1 {
					return nil
				}
				p.clock.Add(p.lends.lives - 10*time.Second) // while this wave waits
				if n := p.lends.count(); n != 1 {
					t.Errorf("%d leases are live, want 1", n)
				}
				return unready
			}
			o := p.begun()
			p.completes(o, nil)
			if len(p.lends.asked) != c.asked || p.lends.renewed != c.renewed {
				t.Errorf("%d leases were asked for and %d renewed, want %d and %d", len(p.lends.asked), p.lends.renewed, c.asked, c.renewed)
			}
		})
	}

	p := newPlant(t)
	p.yard.before = func(context.Context, int) error {
		p.clock.Add(16 * time.Minute)
		return unready
	}
	if o := p.ends(lifecycle.FailedTemp, p.begun(), nil); o.Failure.Status != 504 || len(p.lends.asked) != 2 {
		t.Errorf("after the operation's time the failure is %+v, and %d leases were asked for", o.Failure, len(p.lends.asked))
	}
}

// TestAnAttemptThatEndedAWaveBeginsTheBackoffAnew, and one that ended none does not.
func TestAnAttemptThatEndedAWaveBeginsTheBackoffAnew(t *testing.T) {
	p := newPlant(t)
	o := p.begun()
	for _, waves := range []int{1, 0} {
		p.yard.failsAt(waves, &broker.Error{Kind: broker.ErrUnreachable})
		if _, err := p.work(o, nil); !errors.Is(err, broker.ErrUnreachable) || job.HasProgressed(err) != (waves > 0) {
			t.Errorf("after %d waves Work = %v, which says that it came further: %t", waves, err, waves == 0)
		}
	}
	p.completes(o, nil)
}

// TestLeaseOfNoUse: a lease that ends at once, and one that is the stored credential, are not worked with.
func TestLeaseOfNoUse(t *testing.T) {
	for name, give := range outcome.Sorted(map[string]func(*lends){
		"too short":   func(l *lends) { l.lives = 20 * time.Second },
		"not derived": func(l *lends) { l.passes = true },
	}) {
		p := newPlant(t)
		give(p.lends)
		if o := p.ends(lifecycle.RolledBack, p.begun(), nil); o.Failure.Status != 422 || len(p.yard.standing()) > 0 {
			t.Errorf("%s: %+v, stands %v", name, o.Failure, p.yard.standing())
		}
	}
}

// The lease that a plan is made under keeps no operation from the last one that its quota allows.
func TestAnOperationNeedsOneLeaseOfItsQuota(t *testing.T) {
	p := newPlant(t)
	p.lends.most = 1
	o, err := p.Instantiate(t.Context(), alice, p.made().ID, lifecycle.Instantiation{Flavour: "simple", VIM: "edge"})
	p.completes(o, err)
	if n := p.lends.count(); n != 0 {
		t.Errorf("%d leases are left", n)
	}
}

// TestRevokedLeaseStopsItsOperation, whether the VIM refuses the credential first or it is still taken there. A
// retry asks for another.
func TestRevokedLeaseStopsItsOperation(t *testing.T) {
	for name, after := range outcome.Sorted(map[string]func(ctx context.Context) error{
		"the VIM still takes it": func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		},
		"the VIM refuses it": func(context.Context) error {
			return &broker.Error{Kind: broker.ErrUnauthorized, Detail: "the API server does not know the lease's credential"}
		},
	}) {
		t.Run(name, func(t *testing.T) {
			p := newPlant(t)
			p.yard.before = func(ctx context.Context, _ int) error {
				p.lends.mu.Lock()
				clear(p.lends.live) // an administrator has
				p.lends.mu.Unlock()
				return after(ctx)
			}
			o := p.ends(lifecycle.FailedTemp, p.begun(), nil)
			if o.Failure.Title != "lease revoked" || o.Failure.Status != 409 || !strings.Contains(o.Failure.Detail, string(broker.ReasonRequested)) {
				t.Errorf("the failure is %+v", o.Failure)
			}
			p.yard.before = nil
			asked := len(p.lends.asked)
			p.completes(p.Retry(t.Context(), alice, o.ID))
			if len(p.lends.asked) == asked {
				t.Error("the retry has asked for no lease")
			}
		})
	}
}

// TestRoleIsLearnt: what a VIM refuses a moment after a lease was issued is tried again, and nothing else is.
func TestRoleIsLearnt(t *testing.T) {
	forbidden := &broker.Error{Kind: broker.ErrForbidden, Detail: "the lease does not allow it"}
	for _, c := range []struct {
		name     string
		learning time.Duration
		err      error
		want     lifecycle.OperationState
		waves    int
	}{
		{"a fresh lease", time.Hour, forbidden, lifecycle.Completed, 4},
		{"one that is not fresh any more", 0, forbidden, lifecycle.FailedTemp, 1},
		{"another refusal", time.Hour, errBroken, lifecycle.FailedTemp, 1},
	} {
		p := newPlant(t, func(terms *lifecycle.Terms) { terms.Learning = c.learning })
		p.yard.before = func(_ context.Context, wave int) error {
			if wave < 2 {
				return c.err
			}
			return nil
		}
		p.ends(c.want, p.begun(), nil)
		if p.yard.waves != c.waves {
			t.Errorf("%s: %d waves were tried, want %d", c.name, p.yard.waves, c.waves)
		}
	}
}

// TestPreviewIsAQuestion: a refusal in a preview is recorded as one of a question, and not counted as a denial.
func TestPreviewIsAQuestion(t *testing.T) {
	p := newPlant(t)
	i := p.made()
	p.yard.facts.BringsRBAC = true
	if got, err := p.Preview(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"}); err != nil || got.Refusal == nil {
		t.Fatalf("Preview() = %+v, %v; want a refusal", got, err)
	}
	if _, err := p.Scale(t.Context(), rita, i.ID, lifecycle.Scaling{Aspect: "front", Steps: 1}); err == nil {
		t.Fatal("a reader scales")
	}
	asked := map[policy.Action]string{}
	for _, e := range p.entries() {
		if e.Outcome == audit.Denied {
			asked[e.Action] += e.Principal + e.Detail[audit.DetailQuestion]
		}
	}
	if got := asked[policy.VNFInstantiate]; got != "alicetrue" {
		t.Errorf("the refusal of the preview is recorded as %q, want alice's question", got)
	}
	if got := asked[policy.VNFScale]; got != "rita" {
		t.Errorf("another refusal is recorded as %q", got)
	}
}

// curious plans with what it asks for under another lease.
type curious struct {
	*yard

	asked atomic.Int32
}

func (c *curious) Plan(ctx context.Context, conn lifecycle.Connection, in lifecycle.PlanInput) (lifecycle.Plan, error) {
	if in.Observing {
		return c.yard.Plan(ctx, conn, in)
	}
	err := conn.Further(ctx, grant("ask"), func(more lifecycle.Connection) error {
		if c.asked.Add(1); c.asked.Load() < 3 || !c.lends.allows(more.Config.Lease, "ask") || c.lends.allows(conn.Config.Lease, "ask") {
			return &broker.Error{Kind: broker.ErrForbidden}
		}
		return nil
	})
	if err != nil {
		return lifecycle.Plan{}, err
	}
	return c.yard.Plan(ctx, conn, in)
}

// TestAPlanAsksUnderAnotherLease: it is one for all tries, is given time to be known, and ends with the operation.
func TestAPlanAsksUnderAnotherLease(t *testing.T) {
	var c *curious
	p := newPlantWith(t, func(o *lifecycle.Options, y *yard) {
		c = &curious{yard: y}
		o.Drivers, o.Terms.Learning = []lifecycle.Driver{c}, time.Hour
	})
	p.running()
	if got := len(slices.DeleteFunc(p.lends.asked, func(r broker.LeaseRequest) bool { return r.Rules[0].Verbs[0] != "ask" })); got != 1 || c.asked.Load() != 3 {
		t.Errorf("%d leases, asked %d times; want 1 and 3", got, c.asked.Load())
	}
}
