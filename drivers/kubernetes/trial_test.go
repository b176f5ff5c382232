package kubernetes_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// drive puts a driver with these options in the place of the lab's.
func (l *lab) drive(o kubernetes.Options) {
	l.t.Helper()
	o.Now = l.clock.Now
	l.driver = kubernetes.New(o)
	l.t.Cleanup(l.driver.Close)
}

// bindTo binds a ClusterRole on the whole cluster, as an administrator of it may.
func (l *lab) bindTo(name, role string, to ...rbacv1.Subject) {
	l.t.Helper()
	_, err := l.client().RbacV1().ClusterRoleBindings().Create(l.t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: to,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}, metav1.CreateOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
}

// bindIn binds a ClusterRole in a namespace.
func (l *lab) bindIn(namespace, name, role string, to ...rbacv1.Subject) {
	l.t.Helper()
	l.bindRole(namespace, name, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}, to...)
}

func (l *lab) bindRole(namespace, name string, role rbacv1.RoleRef, to ...rbacv1.Subject) {
	l.t.Helper()
	b := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: to, RoleRef: role}
	if _, err := l.client().RbacV1().RoleBindings(namespace).Create(l.t.Context(), b, metav1.CreateOptions{}); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) makeRole(namespace, name string, rules ...rbacv1.PolicyRule) {
	l.t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	if _, err := l.client().RbacV1().Roles(namespace).Create(l.t.Context(), role, metav1.CreateOptions{}); err != nil {
		l.t.Fatal(err)
	}
}

func groupOf(name string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: name}
}

// setRules changes what a ClusterRole holds.
func (l *lab) setRules(role string, rules ...rbacv1.PolicyRule) {
	l.t.Helper()
	if !l.Update("clusterroles", "", role, func(o metav1.Object) { o.(*rbacv1.ClusterRole).Rules = rules }) {
		l.t.Fatalf("no cluster role %s", role)
	}
}

func policyRule(resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{resource}, Verbs: verbs}
}

// tried reports whether, since the last look, the cluster was asked what somebody may do.
func (l *lab) tried() bool {
	return slices.ContainsFunc(l.Requests(), func(r fake.Request) bool { return strings.HasSuffix(r.Path, "/selfsubjectaccessreviews") })
}

func TestWhichLeasesAreTried(t *testing.T) {
	for _, c := range []struct {
		trial  kubernetes.Trial
		leases int
		want   []int
	}{
		{"", 66, []int{1, 65}},
		{kubernetes.TrialSampled, 3, []int{1}},
		{kubernetes.TrialAlways, 3, []int{1, 2, 3}},
		{kubernetes.TrialNever, 3, nil},
	} {
		l := newLab(t)
		l.drive(kubernetes.Options{Trial: c.trial})
		var got []int
		for n := 1; n <= c.leases; n++ {
			l.issue(l.grant("view"))
			if l.tried() {
				got = append(got, n)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("trial %q: of %d leases those are tried: %d, want %d", c.trial, c.leases, got, c.want)
		}
		l.issue(l.grant("edit", "default"))
		if first := l.tried(); first != (c.trial != kubernetes.TrialNever) {
			t.Errorf("trial %q: the first lease of another grant is tried: %v", c.trial, first)
		}
	}
}

// Leases of exact rules have a home each: of the fresh ones one is tried as of one grant. A home that was there before
// could be named by somebody, so its first lease is tried.
func TestWhichLeasesOfExactRulesAreTried(t *testing.T) {
	l := newLab(t)
	rules := func(n int) broker.Grant {
		g := l.grant("", "default")
		g.Rules = []broker.Rule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{fmt.Sprint("c", n)}, Verbs: []string{"get"}}}
		return g
	}
	for _, c := range []struct {
		trial kubernetes.Trial
		homes int
		want  []int
	}{
		{kubernetes.TrialSampled, 66, []int{1, 65}},
		{kubernetes.TrialAlways, 2, []int{1, 2}},
		{kubernetes.TrialNever, 2, nil},
	} {
		l = newLab(t)
		l.drive(kubernetes.Options{Trial: c.trial})
		var got []int
		for n := 1; n <= c.homes; n++ {
			l.issue(rules(n))
			if l.tried() {
				got = append(got, n)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("trial %q: of %d homes the leases of those are tried: %d, want %d", c.trial, c.homes, got, c.want)
		}
	}
	l = newLab(t)
	l.issue(rules(1))
	l.issue(rules(2))
	l.drive(kubernetes.Options{}) // another replica
	for n := 1; n <= 2; n++ {
		l.tried()
		if l.issue(rules(n)); !l.tried() {
			t.Errorf("the first lease in home %d, which another replica has made, is not tried", n)
		}
	}

	// A namespace of a pool was there before.
	l = newLab(t)
	l.prepare(2)
	l.issue(rules(1))
	l.tried()
	if l.issue(rules(2)); !l.tried() {
		t.Error("the first lease in a home whose namespace is one of a pool is not tried")
	}

	// Of a namespace that somebody deleted the bindings are there, and its name was to be seen.
	l = newLab(t)
	l.issue(rules(1))
	if gone := l.home(); !l.Delete("namespaces", "", gone) {
		t.Fatalf("no namespace %s", gone)
	}
	l.drive(kubernetes.Options{})
	l.issue(rules(2))
	l.tried()
	if l.issue(rules(1)); !l.tried() {
		t.Error("the first lease in a home whose namespace was deleted by hand is not tried")
	}
}

// A trial that came to nothing is none: the next lease is tried.
func TestATrialThatIsNotAnsweredIsMadeWithTheNextLease(t *testing.T) {
	for what, next := range map[string]func(l *lab, n int) broker.Grant{
		"of a role": func(l *lab, _ int) broker.Grant { return l.grant("view") },
		"of exact rules": func(l *lab, n int) broker.Grant {
			g := l.grant("", "default")
			g.Rules = []broker.Rule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{fmt.Sprint("c", n)}, Verbs: []string{"get"}}}
			return g
		},
	} {
		l := newLab(t)
		l.drive(kubernetes.Options{})
		l.fail(fake.Fault{Path: "/selfsubjectaccessreviews$", Kind: fake.Refuse, Status: 401})
		if _, err := l.driver.Issue(t.Context(), l.access, next(l, 1)); err == nil {
			t.Fatalf("%s: a lease is issued whose trial is not answered", what)
		}
		l.Heal()
		l.tried()
		if l.issue(next(l, 2)); !l.tried() {
			t.Errorf("%s: the lease after it is not tried", what)
		}
		if l.issue(next(l, 3)); l.tried() {
			t.Errorf("%s: the lease after that is tried, too", what)
		}
	}
}

// Somebody bound more to the accounts of a grant than the grant says.
func TestALeaseThatCanDoMoreIsRevokedAndReported(t *testing.T) {
	var log bytes.Buffer
	l := newLab(t)
	before := l.grant("view")
	l.issue(before)
	l.bindTo("more", "edit", groupOf("system:serviceaccounts:"+l.home()))
	l.drive(kubernetes.Options{Log: testlog.To(t, slog.NewTextHandler(&log, nil))}) // a replica that has just started
	for n := range 2 {                                                              // and that is not taken for the one sample
		log.Reset()
		g := l.grant("view")
		m, err := l.driver.Issue(t.Context(), l.access, g)
		want(t, "Issue of a lease that can do more than was granted", err, broker.ErrConflict)
		var e *broker.Error
		if !errors.As(err, &e) || !strings.Contains(e.Detail, "create serviceaccounts/token") || !strings.Contains(e.Remedy, "system:serviceaccounts:"+l.home()) {
			t.Errorf("issue %d: %v, want it to say what the lease can do, and where that comes from", n, err)
		}
		if !m.Credential.Empty() {
			t.Error("the credential is handed out")
		}
		if got := accountsIn(l.Server); !slices.Equal(got, []string{l.home() + "/" + before.Handle}) {
			t.Errorf("accounts: %q, want that of the lease from before", got)
		}
		if said := log.String(); !strings.Contains(said, "level=ERROR") || !strings.Contains(said, "is revoked") || !strings.Contains(said, g.Lease) || strings.Contains(said, "eyJ") {
			t.Errorf("logged %q, want an error with the lease, and no token", said)
		}
	}
	l.Delete("clusterrolebindings", "", "more")
	l.issue(l.grant("view"))
}

// What the cluster gives to every service account is not the lease's fault.
func TestWhatEverybodyMayIsNoExcess(t *testing.T) {
	for _, group := range []string{"system:serviceaccounts", "system:authenticated"} {
		l := newLab(t)
		l.bindTo("everybody", "edit", groupOf(group))
		l.issue(l.grant("view"))
		// Where nobody says what everybody may, it counts as excess.
		l.Deny(fakekube.Denial{Resource: "subjectaccessreviews"})
		l.drive(kubernetes.Options{})
		m, err := l.driver.Issue(t.Context(), l.access, l.grant("view"))
		want(t, "Issue where the credential may not ask", err, broker.ErrForbidden)
		if !strings.Contains(err.Error(), "create on subjectaccessreviews") || !m.Credential.Empty() {
			t.Errorf("Issue = %v, want the missing right, and no credential", err)
		}
	}
}

// A role may be widened between the grading of a lease and its trial.
func TestATrialGoesByTheRoleAsItIs(t *testing.T) {
	l := newLab(t)
	g := l.grant("view")
	if _, err := l.driver.Grade(t.Context(), l.access, g); err != nil {
		t.Fatal(err)
	}
	l.setRules("view", policyRule("secrets", "get", "list", "watch", "update", "patch", "delete", "deletecollection"))
	l.issue(g)
	// The next lease is graded by what the trial has read, also within two minutes.
	if graded, err := l.driver.Grade(t.Context(), l.access, l.grant("view")); err != nil || graded.Grade != broker.GradeUnbounded {
		t.Errorf("Grade after the trial = %s, %v, want unbounded", graded.Grade, err)
	}
}

func TestATrialThatCannotBeHeldFails(t *testing.T) {
	for status, kind := range map[int]error{401: broker.ErrUnreachable, 403: broker.ErrForbidden, 500: broker.ErrUnreachable} {
		l := newLab(t)
		l.fail(fake.Fault{Path: "/selfsubjectaccessreviews$", Kind: fake.Refuse, Status: status})
		m, err := l.driver.Issue(t.Context(), l.access, l.grant("view"))
		want(t, "Issue whose trial is refused", err, kind)
		if !m.Credential.Empty() {
			t.Errorf("a credential that could not be tried (%d) is handed out", status)
		}
	}
}
