package broker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// grading is a driver whose grades and whose tidying a test may decide.
type grading struct {
	kubeDriver
	grade   func(broker.Grant) (broker.Graded, error)
	tidy    func(broker.Grant) error
	foreign []string
	minting func() // called before each Issue

	mu     sync.Mutex
	graded int
	minted broker.Minted // the last
	tidied []broker.Grant
	ended  []broker.Issued
}

func (g *grading) Grade(ctx context.Context, a broker.Access, r broker.Grant) (broker.Graded, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.graded++
	if g.grade == nil {
		return g.kubeDriver.Grade(ctx, a, r)
	}
	return g.grade(r)
}

func (g *grading) Tidy(ctx context.Context, a broker.Access, r broker.Grant) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tidied = append(g.tidied, r)
	if g.tidy == nil {
		return g.kubeDriver.Tidy(ctx, a, r)
	}
	return g.tidy(r)
}

func (g *grading) Foreign(context.Context, broker.Access, func(string) bool) ([]string, error) {
	return g.foreign, nil
}

func (g *grading) Issue(ctx context.Context, a broker.Access, r broker.Grant) (broker.Minted, error) {
	if g.minting != nil {
		g.minting()
	}
	m, err := g.kubeDriver.Issue(ctx, a, r)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.minted = m
	return m, err
}

func (g *grading) Revoke(ctx context.Context, a broker.Access, i broker.Issued) error {
	g.mu.Lock()
	g.ended = append(g.ended, i)
	g.mu.Unlock()
	return g.kubeDriver.Revoke(ctx, a, i)
}

func newGradingBench(t *testing.T) (*bench, *grading) {
	b := newBench(t, benchOptions{})
	g := &grading{kubeDriver: b.options.Drivers[0].(kubeDriver)}
	b.options.Drivers = []broker.Driver{g}
	b.Broker = mustNew(t, b.options)
	b.mustRegister(alice, "edge1")
	return b, g
}

func unboundedEdit(r broker.Grant) (broker.Graded, error) {
	if r.Role == "edit" {
		r.Namespaces = []string{"default"}
		return broker.Graded{Grant: r, Grade: broker.GradeUnbounded, Reasons: []string{"the holder can become the cluster's admin"}}, nil
	}
	return broker.Graded{Grant: r, Grade: broker.GradeBounded}, nil
}

func TestALeaseShowsItsGradeAndWhatTookEffect(t *testing.T) {
	b, g := newGradingBench(t)
	g.grade = func(r broker.Grant) (broker.Graded, error) {
		r.Namespaces = []string{"default"}
		return broker.Graded{Grant: r, Grade: broker.GradeNamespaces, Reasons: []string{"the holder can read secrets"}}, nil
	}
	l, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", Role: "edit"})
	if err != nil {
		t.Fatal(err)
	}
	if l.Grade != broker.GradeNamespaces || !slices.Equal(l.GradeReasons, []string{"the holder can read secrets"}) ||
		!slices.Equal(l.Namespaces, []string{"default"}) || l.Epoch < 1 || l.UID == "" || l.UID != g.minted.UID || l.CredentialID == "" || l.CredentialID != g.minted.CredentialID {
		t.Errorf("the lease = %+v, want what the driver said of it", l)
	}
	if row := b.row(l.ID); row.UID != l.UID || row.CredentialID != l.CredentialID {
		t.Errorf("the row says uid %q and credential %q, want those of the lease", row.UID, row.CredentialID)
	}
	b.mustRevoke(l.ID)
	if got := g.ended[len(g.ended)-1]; got.UID != l.UID || got.Grant.Epoch != l.Epoch || got.Grant.Role != "edit" || !slices.Equal(got.Grant.Namespaces, l.Namespaces) {
		t.Errorf("Revoke was told %+v, want the grant with its epoch and the uid", got)
	}
}

func TestAnUnboundedLeaseIsForAdministrators(t *testing.T) {
	b, g := newGradingBench(t)
	g.grade = unboundedEdit
	_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", Role: "edit"})
	wantKind(t, "an unbounded lease for a member", err, broker.ErrDenied)
	for _, said := range []string{"unbounded-leases-need-admin", "the holder can become the cluster's admin"} {
		if err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("the refusal = %v, want it to say %q", err, said)
		}
	}
	if b.upstream() != 0 {
		t.Errorf("%d objects upstream of a lease that was refused", b.upstream())
	}
	boss := root
	boss.Project = alice.Project
	l, _, err := b.IssueLease(t.Context(), boss, broker.LeaseRequest{VIM: "edge1", Role: "edit", IdempotencyKey: "k"})
	if err != nil || l.Grade != broker.GradeUnbounded {
		t.Fatalf("an unbounded lease for an administrator = %s, %v", l.Grade, err)
	}
	// The repeat hands the credential out again, so it is decided on the same grade.
	member := boss
	member.Roles = []string{policy.RoleMember}
	_, _, err = b.IssueLease(t.Context(), member, broker.LeaseRequest{VIM: "edge1", Role: "edit", IdempotencyKey: "k"})
	wantKind(t, "the repeat by someone who is no administrator any more", err, broker.ErrDenied)
}

// Who may not lease at all is refused before the VIM is asked.
func TestWhoMayNotLeaseCostsNoGrading(t *testing.T) {
	b, g := newGradingBench(t)
	edge1, err := b.VIM(t.Context(), alice, "edge1")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = b.IssueLease(t.Context(), rita, broker.LeaseRequest{VIM: "edge1"})
	wantKind(t, "IssueLease by a reader", err, broker.ErrDenied)
	_, _, err = b.IssueLease(t.Context(), mallet, broker.LeaseRequest{VIM: edge1.ID})
	wantKind(t, "IssueLease on a foreign VIM", err, broker.ErrNotFound)
	if g.graded != 0 {
		t.Errorf("the VIM was asked %d times for those who may not lease", g.graded)
	}
}

func TestRulesInPlaceOfARole(t *testing.T) {
	b, _ := newGradingBench(t)
	pods := broker.Rule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "get", "get"}}
	l, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", Rules: []broker.Rule{pods}, ClusterWide: true})
	if err != nil || l.Role != "" || len(l.Rules) != 1 || !slices.Equal(l.Rules[0].Verbs, []string{"get", "list"}) || !l.ClusterWide {
		t.Errorf("a lease with rules = %+v, %v", l, err)
	}
	many := make([]broker.Rule, 65)
	for i := range many {
		many[i] = pods
	}
	for name, c := range map[string]struct {
		r     broker.LeaseRequest
		field string
	}{
		"rules and role":             {broker.LeaseRequest{Role: "view", Rules: []broker.Rule{pods}}, "rules"},
		"cluster-wide in namespaces": {broker.LeaseRequest{ClusterWide: true, Namespaces: []string{"default"}}, "clusterWide"},
		"no verbs":                   {broker.LeaseRequest{Rules: []broker.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}}}}, "rules"},
		"too many":                   {broker.LeaseRequest{Rules: many}, "rules"},
		"odd text":                   {broker.LeaseRequest{Rules: []broker.Rule{{APIGroups: []string{""}, Resources: []string{"po ds"}, Verbs: []string{"get"}}}}, "rules"},
	} {
		c.r.VIM = "edge1"
		_, _, err := b.IssueLease(t.Context(), alice, c.r)
		wantKind(t, name, err, broker.ErrInvalid)
		wantField(t, name, err, c.field)
	}
}

// A driver that knows neither rules nor grades is not asked for them.
func TestRulesWhereTheDriverHasNone(t *testing.T) {
	b, g := newGradingBench(t)
	b.options.Drivers = []broker.Driver{struct{ broker.Driver }{g.kubeDriver}}
	b.Broker = mustNew(t, b.options)
	pods := []broker.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}
	_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", Rules: pods})
	wantKind(t, "rules", err, broker.ErrInvalid)
	wantField(t, "rules", err, "rules")
	_, _, err = b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", ClusterWide: true})
	wantKind(t, "clusterWide", err, broker.ErrInvalid)
	wantField(t, "clusterWide", err, "clusterWide")
}

// forbidding is a policy that forbids one action to everybody.
type forbidding struct {
	policy.Decider
	action policy.Action
}

func (f forbidding) Decide(r policy.Request) policy.Decision {
	if r.Action == f.action {
		return policy.Decision{}
	}
	return f.Decider.Decide(r)
}

// What policies do not let the broker tidy away is not forgotten either, and the pass says so.
func TestAGrantThatMayNotBeTidiedAwayIsKept(t *testing.T) {
	b, g := newGradingBench(t)
	l, _ := b.mustIssue(alice, "edge1")
	b.mustRevoke(l.ID)
	b.clock.Add(time.Hour)
	if err := b.Settle(t.Context(), b.clock.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	b.clock.Add(time.Hour)
	permits := b.options
	forbids := b.options
	forbids.Policy = forbidding{b.options.Policy, policy.VIMSettle}
	if err := mustNew(t, forbids).Settle(t.Context(), b.clock.Now().Add(-time.Hour)); err == nil || len(g.tidied) != 0 {
		t.Errorf("Settle() = %v, tidied %+v, want a refusal", err, g.tidied)
	}
	if err := mustNew(t, permits).Settle(t.Context(), b.clock.Now().Add(-time.Hour)); err != nil || len(g.tidied) != 1 {
		t.Errorf("once it may, Settle() = %v, tidied %+v", err, g.tidied)
	}
}

func TestAGrantIsTidiedAwayAndComesBackUnderTheNextEpoch(t *testing.T) {
	b, g := newGradingBench(t)
	settle := func() {
		t.Helper()
		if err := b.Settle(t.Context(), b.clock.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	first, _ := b.mustIssue(alice, "edge1")
	second, _ := b.mustIssue(alice, "edge1")
	b.mustRevoke(first.ID)
	for range 3 {
		settle()
		b.clock.Add(11 * time.Minute)
	}
	if len(g.tidied) != 0 {
		t.Fatalf("a grant with a live lease was tidied away: %+v", g.tidied)
	}
	b.mustRevoke(second.ID)
	settle()
	b.clock.Add(9 * time.Minute)
	settle()
	if len(g.tidied) != 0 {
		t.Fatalf("a grant was tidied away %s after its last lease", 9*time.Minute)
	}

	// In the window between the closing and the Tidy a lease is issued.
	var between broker.Lease
	g.tidy = func(broker.Grant) error {
		g.mu.Unlock()
		defer g.mu.Lock()
		between, _ = b.mustIssue(alice, "edge1")
		return broker.ErrUnreachable
	}
	b.clock.Add(2 * time.Minute)
	if err := b.Settle(t.Context(), b.clock.Now().Add(-time.Hour)); err == nil {
		t.Error("Settle() = nil, want the error of Tidy")
	}
	if between.Epoch <= first.Epoch {
		t.Errorf("the lease that came between has epoch %d, want one after %d", between.Epoch, first.Epoch)
	}
	g.tidy = nil
	settle() // finishes what the first left
	settle()
	if len(g.tidied) != 2 || g.tidied[0].Epoch != first.Epoch || g.tidied[1].Epoch != first.Epoch || g.tidied[1].Role != first.Role {
		t.Errorf("tidied = %+v, want epoch %d, tried again and then never more", g.tidied, first.Epoch)
	}
	if l, _ := b.mustIssue(alice, "edge1"); l.Epoch != between.Epoch {
		t.Errorf("the next lease has epoch %d, want %d", l.Epoch, between.Epoch)
	}
	kept := slices.DeleteFunc(b.ours(), func(name string) bool { return strings.Contains(name, "/lease-") })
	if len(kept) != 2 || b.upstream() != 2 {
		t.Errorf("the VIM holds %q for %d leases, want the namespace and the binding of the second epoch", kept, b.upstream())
	}
	if got := b.wantLog(policy.VIMSettle); !slices.Contains(got, audit.Done) || !slices.Contains(got, audit.Failed) {
		t.Errorf("recorded %v for the tidying", got)
	}
}

// A conflict at revocation is an alarm once, is shown on the lease, and is no success.
func TestAConflictAtRevocationIsAnAlarm(t *testing.T) {
	b, g := newGradingBench(t)
	l, _ := b.mustIssue(alice, "edge1")
	g.kubeDriver = conflicting{g.kubeDriver}
	for range 2 {
		after, err := b.RevokeLease(t.Context(), alice, l.ID)
		if err != nil || after.State != broker.LeaseRevoking || !strings.Contains(after.LastError, "relabelled") {
			t.Errorf("RevokeLease() = %s (%q), %v, want revoking with the reason", after.State, after.LastError, err)
		}
	}
	if n := b.Vitals(t.Context()).Alarms[broker.AlarmConflict]; n != 1 {
		t.Errorf("%d alarms, want 1", n)
	}
}

// A lease that can do more than it was granted is not handed out, and is an alarm.
func TestALeaseBeyondItsGrantIsAnAlarm(t *testing.T) {
	b, g := newGradingBench(t)
	g.kubeDriver = beyond{g.kubeDriver}
	_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1"})
	if !errors.Is(err, broker.ErrConflict) {
		t.Errorf("IssueLease() = %v, want a conflict", err)
	}
	if n := b.Vitals(t.Context()).Alarms[broker.AlarmBeyondGrant]; n != 1 {
		t.Errorf("%d alarms, want 1", n)
	}
}

type beyond struct{ kubeDriver }

func (beyond) Issue(context.Context, broker.Access, broker.Grant) (broker.Minted, error) {
	return broker.Minted{}, &broker.Error{Kind: broker.ErrConflict, Detail: "the cluster lets the lease do more", Cause: broker.ErrBeyondGrant}
}

type conflicting struct{ kubeDriver }

func (conflicting) Revoke(context.Context, broker.Access, broker.Issued) error {
	return &broker.Error{Kind: broker.ErrConflict, Detail: "the account was relabelled"}
}

// The grade that a request bounds is the one that the lease is issued with, not one that was weighed before.
func TestALeaseIsNoWiderThanItWasToBe(t *testing.T) {
	for name, c := range map[string]struct {
		grade, widest broker.Grade
		ok            bool
	}{
		"as wide":                   {broker.GradeNamespaces, broker.GradeNamespaces, true},
		"narrower":                  {broker.GradeBounded, broker.GradeNamespaces, true},
		"wider":                     {broker.GradeNamespaces, broker.GradeBounded, false},
		"without a bound":           {broker.GradeNamespaces, "", true},
		"with a bound that is none": {broker.GradeBounded, "narrow", false},
	} {
		t.Run(name, func(t *testing.T) {
			b, g := newGradingBench(t)
			g.grade = func(r broker.Grant) (broker.Graded, error) { return broker.Graded{Grant: r, Grade: c.grade}, nil }
			l, config, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", Role: "view", Namespaces: []string{"default"}, Widest: c.widest})
			if c.ok {
				if err != nil || l.Grade != c.grade {
					t.Errorf("IssueLease() = %s, %v", l.Grade, err)
				}
				return
			}
			wantKind(t, "IssueLease() of a lease that would be too wide", err, broker.ErrDenied)
			if !config.Credential.Empty() || len(b.kube.Tokens()) > 0 && !g.minted.Credential.Empty() {
				t.Error("a credential was minted")
			}
		})
	}
}
