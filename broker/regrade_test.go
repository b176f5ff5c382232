package broker_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
)

// edits is a lease that becomes any account of namespace default.
func edits(standing bool) broker.LeaseRequest {
	return broker.LeaseRequest{VIM: "edge1", Role: "edit", Namespaces: []string{"default"}, Standing: standing}
}

// makeAdmin binds account default of namespace default to cluster-admin, and lets two minutes pass.
func (b *bench) makeAdmin() (undo func()) {
	b.t.Helper()
	clients, err := kubernetes.NewForConfig(&rest.Config{
		Host: b.kube.Endpoint, BearerToken: b.kube.AdminToken, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(b.kube.CA)},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	bindings := clients.RbacV1().ClusterRoleBindings()
	if _, err := bindings.Create(b.t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "operator"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "default"}},
	}, metav1.CreateOptions{}); err != nil {
		b.t.Fatal(err)
	}
	b.clock.Add(2 * time.Minute)
	return func() {
		if err := bindings.Delete(b.t.Context(), "operator", metav1.DeleteOptions{}); err != nil {
			b.t.Fatal(err)
		}
		b.clock.Add(2 * time.Minute)
	}
}

// wantWider wants a refusal that names the grade of now, the policy and the reason.
func wantWider(t *testing.T, what string, err error) {
	t.Helper()
	wantKind(t, what, err, broker.ErrDenied)
	for _, said := range []string{"not renewed", "a lease that is unbounded", "unbounded-leases-need-admin", "clusterrolebinding operator lets a service account escalate"} {
		if err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%s = %v, want it to say %q", what, err, said)
		}
	}
}

// A lease of a namespace becomes unbounded when an account of the namespace becomes an administrator: no
// token is minted and nothing renewed from then on, until that is over, and its holder is told why.
func TestALeaseIsGradedAnewAtEachCredential(t *testing.T) {
	b := newStandingBench(t, benchOptions{})
	standing, config, err := b.IssueLease(t.Context(), vnfm, edits(true))
	if err != nil || standing.Grade != broker.GradeNamespaces {
		t.Fatalf("IssueLease() = %s, %v", standing.Grade, err)
	}
	plain := config.Credential.LeaseSecret
	usual, _, err := b.IssueLease(t.Context(), alice, edits(false))
	if err != nil {
		t.Fatal(err)
	}
	boss := root
	boss.Project = alice.Project
	bosses, _, err := b.IssueLease(t.Context(), boss, edits(false))
	if err != nil {
		t.Fatal(err)
	}
	b.mustMint(standing, plain)

	undo := b.makeAdmin()
	before := len(b.kube.Tokens())
	_, cred, _, err := b.MintUnder(t.Context(), standing.ID, plain.Reveal(), "")
	wantWider(t, "MintUnder()", err)
	_, renewed, err := b.RenewLease(t.Context(), alice, usual.ID, 0)
	wantWider(t, "RenewLease()", err)
	if !cred.Empty() || !renewed.Credential.Empty() || len(b.kube.Tokens()) != before {
		t.Error("a credential was minted of a lease that is wider than policy allows")
	}
	if row := b.row(usual.ID); row.RenewalBegun {
		t.Error("the intent to renew was stored")
	}
	got, _, err := b.RenewLease(t.Context(), boss, bosses.ID, 0)
	if err != nil || got.Grade != broker.GradeUnbounded || len(got.GradeReasons) == 0 {
		t.Errorf("RenewLease() of an administrator's = %s %q, %v, want it unbounded", got.Grade, got.GradeReasons, err)
	}
	entries, err := b.store.Entries(t.Context(), audit.Query{Action: policy.LeaseRenew, Limit: 1})
	if err != nil || len(entries) != 1 || entries[0].Detail[audit.DetailGrade] != string(broker.GradeUnbounded) {
		t.Errorf("the renewal is recorded as %+v, %v, want it with the grade of now", entries, err)
	}

	undo()
	b.mustMint(standing, plain)
	if got, _, err := b.RenewLease(t.Context(), alice, usual.ID, 0); err != nil || got.Grade != broker.GradeNamespaces {
		t.Errorf("RenewLease() once that is over = %s, %v", got.Grade, err)
	}
}

// A lease that was unbounded when it was issued, and is not any more, is renewed for whom is no administrator any more.
func TestALeaseThatBecameNarrowerIsRenewed(t *testing.T) {
	b, g := newGradingBench(t)
	g.grade = unboundedEdit
	boss := alice
	boss.Roles = []string{policy.RoleAdmin}
	l, _, err := b.IssueLease(t.Context(), boss, broker.LeaseRequest{VIM: "edge1", Role: "edit"})
	if err != nil || l.Grade != broker.GradeUnbounded {
		t.Fatalf("IssueLease() = %s, %v", l.Grade, err)
	}
	g.grade = func(r broker.Grant) (broker.Graded, error) {
		if !r.Held || r.Lease != l.ID || !slices.Equal(r.Namespaces, l.Namespaces) {
			t.Errorf("what is graded anew is %+v, want the lease, held", r)
		}
		return broker.Graded{Grant: r, Grade: broker.GradeBounded}, nil
	}
	if got, _, err := b.RenewLease(t.Context(), alice, l.ID, 0); err != nil || got.Grade != broker.GradeBounded || got.GradeReasons != nil {
		t.Errorf("RenewLease() = %s %q, %v, want it bounded", got.Grade, got.GradeReasons, err)
	}
	if row := b.row(l.ID); row.Grade != broker.GradeUnbounded {
		t.Errorf("the row says %s, want what the lease was issued as", row.Grade)
	}
}

// A policy on renewals sees the grade of now, whatever the lease was issued as.
func TestAPolicyOnRenewalsSeesTheGradeOfNow(t *testing.T) {
	b, g := newGradingBench(t)
	policies, err := policy.Load(site(`@id("no-wide-renewals") forbid (principal, action == Action::"lease:renew", resource) when { context.grade == "unbounded" };`))
	if err != nil {
		t.Fatal(err)
	}
	b.options.Policy = policies
	b.Broker = mustNew(t, b.options)
	g.grade = unboundedEdit
	boss := alice
	boss.Roles = []string{policy.RoleAdmin}
	l, _, err := b.IssueLease(t.Context(), boss, broker.LeaseRequest{VIM: "edge1", Role: "edit"})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = b.RenewLease(t.Context(), boss, l.ID, 0)
	wantKind(t, "RenewLease() of an unbounded lease", err, broker.ErrDenied)
	g.grade = nil
	if got, _, err := b.RenewLease(t.Context(), boss, l.ID, 0); err != nil || got.Grade != broker.GradeNamespaces {
		t.Errorf("RenewLease() once it is narrower = %s, %v", got.Grade, err)
	}
}

// Of a VIM that cannot be asked nobody knows what a lease is: nothing is minted, and nothing ended.
func TestALeaseThatCannotBeGradedIsNotRenewed(t *testing.T) {
	b := newStandingBench(t, benchOptions{terms: func(terms *broker.Terms) { terms.EndWithAccess = true }})
	l, config, err := b.IssueLease(t.Context(), vnfm, edits(true))
	if err != nil {
		t.Fatal(err)
	}
	b.clock.Add(2 * time.Minute)
	before := len(b.kube.Tokens())
	b.kube.Fail(fake.Fault{Path: "/clusterroles/edit$", Times: -1, Kind: fake.Drop})
	_, _, _, err = b.MintUnder(t.Context(), l.ID, config.Credential.LeaseSecret.Reveal(), "")
	wantKind(t, "MintUnder()", err, broker.ErrUnreachable)
	if err := b.GradeAnew(t.Context()); err == nil {
		t.Error("GradeAnew() says nothing of a VIM that cannot be asked")
	}
	if row := b.row(l.ID); row.State != broker.LeaseActive || len(b.kube.Tokens()) != before {
		t.Errorf("the lease is %s, and %d tokens were minted", row.State, len(b.kube.Tokens())-before)
	}
}

// The pass ends what is wider than policy allows by now, where leases end with their holders' access, and says why.
func TestThePassEndsWhatHasBecomeTooWide(t *testing.T) {
	for _, end := range []bool{false, true} {
		b := newStandingBench(t, benchOptions{terms: func(terms *broker.Terms) { terms.EndWithAccess = end }})
		boss := policy.Principal{Name: "boss", Project: alice.Project, Roles: []string{policy.RoleAdmin}}
		b.options.Directories[policy.ByStaticToken] = directory{alice.Name: alice, boss.Name: boss}
		issue := func(p policy.Principal, r broker.LeaseRequest) string {
			t.Helper()
			l, _, err := b.IssueLease(t.Context(), p, r)
			if err != nil {
				t.Fatal(err)
			}
			return l.ID
		}
		views := broker.LeaseRequest{VIM: "edge1", Role: "view", Namespaces: []string{"default"}}
		wide := []string{issue(vnfm, edits(true)), issue(alice, edits(false))}
		others := []string{issue(alice, views), issue(boss, edits(false))}
		undo := b.makeAdmin()
		if err := b.EndWithoutAccess(t.Context()); err != nil { // which asks no VIM
			t.Fatal(err)
		}
		for _, id := range wide {
			if row := b.row(id); row.State != broker.LeaseActive {
				t.Errorf("before it was graded anew the lease is %s", row.State)
			}
		}
		if err := b.GradeAnew(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, id := range wide {
			if row := b.row(id); (row.State == broker.LeaseRevoking && row.Reason == broker.ReasonAccessLost) != end {
				t.Errorf("with endWithAccess %t a lease that has become unbounded is %s (%s)", end, row.State, row.Reason)
			}
		}
		for _, id := range others {
			if row := b.row(id); row.State != broker.LeaseActive {
				t.Errorf("with endWithAccess %t another lease is %s (%s)", end, row.State, row.Reason)
			}
		}
		entries, err := b.store.Entries(t.Context(), audit.Query{Principal: "system:access", Limit: 10})
		if err != nil || len(entries) != map[bool]int{true: 2}[end] {
			t.Errorf("with endWithAccess %t there are %d entries, %v", end, len(entries), err)
		}
		for _, e := range entries {
			if e.Detail[audit.DetailGrade] != "unbounded" || !strings.Contains(e.Detail[audit.DetailGradeReasons], "clusterrolebinding operator") {
				t.Errorf("an end is recorded with %v, want the grade and its reasons", e.Detail)
			}
		}
		undo()
		b.mustReap()
		for _, id := range wide {
			if row := b.row(id); (row.State == broker.LeaseRevoked) != end {
				t.Errorf("after the reaper the lease is %s", row.State)
			}
		}
	}
}

// One lease that cannot be graded keeps no other from ending.
func TestOneGradeThatFailsKeepsNoOtherLeaseFromEnding(t *testing.T) {
	b, g := newGradingBench(t)
	b.options.Terms.EndWithAccess = true
	b.options.Directories = map[string]policy.Directory{policy.ByStaticToken: directory{alice.Name: alice}}
	b.Broker = mustNew(t, b.options)
	first, _ := b.mustIssue(alice, "edge1")
	second, _ := b.mustIssue(alice, "edge1")
	g.grade = func(r broker.Grant) (broker.Graded, error) {
		if r.Lease == first.ID {
			return broker.Graded{}, broker.Invalid("namespaces", "cannot be read")
		}
		return broker.Graded{Grant: r, Grade: broker.GradeUnbounded, Reasons: []string{"the holder can do more"}}, nil
	}
	if err := b.GradeAnew(t.Context()); err == nil || !strings.Contains(err.Error(), first.ID) {
		t.Errorf("GradeAnew() = %v, want it to name the lease that cannot be graded", err)
	}
	if a, z := b.row(first.ID).State, b.row(second.ID).State; a != broker.LeaseActive || z != broker.LeaseRevoking {
		t.Errorf("the leases are %s and %s, want the first active and the second revoking", a, z)
	}
}

// Where leases do not end with their holders' access, those that are users do, and no other on their VIM.
func TestOnlyUsersEndWhereLeasesOutliveAccess(t *testing.T) {
	b, g := newGradingBench(t)
	b.options.Directories = map[string]policy.Directory{policy.ByStaticToken: directory{alice.Name: alice}}
	b.Broker = mustNew(t, b.options)
	usual, _ := b.mustIssue(alice, "edge1")
	user, _ := b.mustIssue(alice, "edge1")
	if _, err := b.store.UpdateLease(t.Context(), user.ID, func(l *broker.Lease) error {
		l.CredentialKind = broker.CredentialUser
		return nil
	}, audit.Entry{Time: b.clock.Now(), Outcome: audit.Done}); err != nil {
		t.Fatal(err)
	}
	g.grade = func(r broker.Grant) (broker.Graded, error) {
		return broker.Graded{Grant: r, Grade: broker.GradeUnbounded, Reasons: []string{"the holder can do more"}}, nil
	}
	if err := b.GradeAnew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a, z := b.row(usual.ID).State, b.row(user.ID).State; a != broker.LeaseActive || z != broker.LeaseRevoking {
		t.Errorf("the usual lease is %s and the user %s, want the first active and the second revoking", a, z)
	}
}
