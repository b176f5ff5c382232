package kubernetes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// unscoped is a lease without a scope.
func (l *lab) unscoped(role string) broker.Grant {
	g := l.grant(role)
	g.ClusterWide = false
	return g
}

func (l *lab) grade(g broker.Grant) broker.Graded {
	l.t.Helper()
	graded, err := l.driver.Grade(l.t.Context(), l.access, g)
	if err != nil {
		l.t.Fatalf("Grade: %v", err)
	}
	return graded
}

// makeNamespaces makes namespaces of the cluster's own.
func (l *lab) makeNamespaces(names ...string) {
	l.t.Helper()
	for _, n := range names {
		if _, err := l.client().CoreV1().Namespaces().Create(l.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n}}, metav1.CreateOptions{}); err != nil {
			l.t.Fatal(err)
		}
	}
}

func TestGradeFillsInTheScope(t *testing.T) {
	l := newLab(t)
	exact := l.unscoped("view")
	exact.Role, exact.Rules = "", []broker.Rule{reads("pods")}
	l.access.Target.Namespace = "kube-public"
	for name, c := range map[string]struct {
		grant broker.Grant
		want  []string // none: the whole cluster
		grade broker.Grade
	}{
		"view":                  {l.unscoped("view"), nil, broker.GradeBounded},
		"edit":                  {l.unscoped("edit"), []string{"kube-public"}, broker.GradeNamespaces},
		"rules":                 {exact, []string{"kube-public"}, broker.GradeBounded},
		"view in namespaces":    {l.grant("view", "default"), []string{"default"}, broker.GradeBounded},
		"edit on the cluster":   {l.grant("edit"), nil, broker.GradeUnbounded},
		"cluster-admin, in one": {l.unscoped("cluster-admin"), []string{"kube-public"}, broker.GradeUnbounded},
	} {
		got := l.grade(c.grant)
		if got.Grade != c.grade || !slices.Equal(got.Grant.Namespaces, c.want) || got.Grant.ClusterWide != (c.want == nil) || (len(got.Reasons) > 0) != (c.grade != broker.GradeBounded) {
			t.Errorf("%s: %s in %q, cluster-wide %v, because %q; want %s in %q", name, got.Grade, got.Grant.Namespaces, got.Grant.ClusterWide, got.Reasons, c.grade, c.want)
		}
		if got.Grant.Lease != c.grant.Lease || got.Grant.Handle != c.grant.Handle || got.Grant.TTL != c.grant.TTL {
			t.Errorf("%s: the grant has become %+v", name, got.Grant)
		}
	}
	l.access.Target.Namespace = ""
	if got := l.grade(l.unscoped("edit")); !slices.Equal(got.Grant.Namespaces, []string{"default"}) {
		t.Errorf("on a VIM without a namespace edit is for %q, want default", got.Grant.Namespaces)
	}
	// A view that somebody gave more is not for the whole cluster.
	l.drive(kubernetes.Options{})
	l.setRules("view", policyRule("secrets", "get"))
	if got := l.grade(l.unscoped("view")); got.Grant.ClusterWide || !slices.Equal(got.Grant.Namespaces, []string{"default"}) || got.Grade != broker.GradeNamespaces {
		t.Errorf("a view that reads secrets is %s in %q, cluster-wide %v; want it in default", got.Grade, got.Grant.Namespaces, got.Grant.ClusterWide)
	}
}

func TestGradeRefusesWhatTheClusterDoesNotHave(t *testing.T) {
	l := newLab(t)
	l.issue(l.grant("view"))
	own := l.access
	own.Target.Namespace = l.home()
	for name, c := range map[string]struct {
		access broker.Access
		grant  broker.Grant
		field  string
	}{
		"role":              {l.access, l.grant("nobodys"), "role"},
		"namespace":         {l.access, l.grant("view", "nowhere"), "namespaces"},
		"ours by default":   {own, l.unscoped("edit"), "namespaces"},
		"one of several":    {l.access, l.grant("edit", "default", "nowhere"), "namespaces"},
		"where to be bound": {l.access, l.grant("cluster-admin", "nowhere"), "namespaces"},
	} {
		_, err := l.driver.Grade(t.Context(), c.access, c.grant)
		want(t, name, err, broker.ErrInvalid)
		if err != nil && !strings.HasPrefix(err.Error(), c.field+": ") {
			t.Errorf("%s: %v, want it to name %s", name, err, c.field)
		}
	}
	l.Deny(fakekube.Denial{Verb: "get", Resource: "clusterroles"})
	_, err := l.driver.Grade(t.Context(), l.access, l.grant("admin"))
	want(t, "Grade by a role that cannot be read", err, broker.ErrForbidden)
}

// Of a lease that is there a namespace that is gone gives nothing, and the others count.
func TestALeaseIsGradedByWhatIsLeftOfItsScope(t *testing.T) {
	l := newLab(t)
	l.drive(kubernetes.Options{})
	l.makeNamespaces("team")
	held := func(role string, namespaces ...string) broker.Grant {
		g := l.grant(role, namespaces...)
		g.Held = true
		return g
	}
	if got := l.grade(held("edit", "gone", "team")); got.Grade != broker.GradeNamespaces || !slices.Equal(got.Grant.Namespaces, []string{"gone", "team"}) {
		t.Errorf("edit in a namespace that is gone and one that is there = %s in %q", got.Grade, got.Grant.Namespaces)
	}
	if got := l.grade(held("edit", "gone", "kube-system")); got.Grade != broker.GradeUnbounded {
		t.Errorf("edit in a namespace that is gone and kube-system = %s, want unbounded", got.Grade)
	}
	if got := l.grade(held("gone", "team")); got.Grade != broker.GradeBounded || len(got.Reasons) > 0 {
		t.Errorf("a role that is gone = %s %q, want bounded", got.Grade, got.Reasons)
	}
	_, err := l.driver.Grade(t.Context(), l.access, l.grant("gone", "team"))
	want(t, "Grade of a new lease of that role", err, broker.ErrInvalid)
	l.Deny(fakekube.Denial{Verb: "get", Resource: "clusterroles"})
	_, err = l.driver.Grade(t.Context(), l.access, held("admin", "team"))
	want(t, "Grade of a lease by a role that cannot be read", err, broker.ErrForbidden)
}

// In some namespaces there are identities that can do more than the namespace holds.
func TestGradeFindsNamespacesWhoseIdentitiesEscalate(t *testing.T) {
	const team = "team"
	account := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: team, Name: "deployer"}
	user := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "system:serviceaccount:team:deployer"}
	for name, c := range map[string]struct {
		make func(*lab)
		want string // what the reasons say; empty: it is not one of them
	}{
		"a plain one":                 {func(*lab) {}, ""},
		"by the configuration":        {func(l *lab) { l.drive(kubernetes.Options{Escalating: []string{"other", team}}) }, "as the broker's configuration says"},
		"not by the configuration":    {func(l *lab) { l.drive(kubernetes.Options{Escalating: []string{"other"}}) }, ""},
		"an account":                  {func(l *lab) { l.bindTo("b", "cluster-admin", account) }, "clusterrolebinding b lets a service account escalate"},
		"an account by its user name": {func(l *lab) { l.bindTo("b", "cluster-admin", user) }, "clusterrolebinding b lets"},
		"its accounts":                {func(l *lab) { l.bindTo("b", "edit", groupOf("system:serviceaccounts:"+team)) }, "clusterrolebinding b lets"},
		"all accounts":                {func(l *lab) { l.bindTo("b", "edit", groupOf("system:serviceaccounts")) }, "clusterrolebinding b lets"},
		"everybody":                   {func(l *lab) { l.bindTo("b", "edit", groupOf("system:authenticated")) }, "clusterrolebinding b lets"},
		"one of several":              {func(l *lab) { l.bindTo("b", "edit", groupOf("people"), account) }, "clusterrolebinding b lets"},
		"an account that only reads":  {func(l *lab) { l.bindTo("b", "view", account) }, ""},
		"people":                      {func(l *lab) { l.bindTo("b", "cluster-admin", groupOf("people")) }, ""},
		"another namespace's":         {func(l *lab) { l.bindTo("b", "cluster-admin", groupOf("system:serviceaccounts:teams")) }, ""},
		"bindings that cannot be listed": {func(l *lab) {
			l.bindTo("b", "cluster-admin", account)
			l.Deny(fakekube.Denial{Verb: "list", Resource: "clusterrolebindings"})
		}, ""},
		"roles that cannot be listed": {func(l *lab) {
			l.bindTo("b", "cluster-admin", account)
			l.Deny(fakekube.Denial{Verb: "list", Resource: "clusterroles"})
		}, ""},
		"one step away": {func(l *lab) { l.bindIn("kube-system", "b", "edit", account) }, "rolebinding kube-system/b lets a service account escalate"},
		"by a role of the namespace": {func(l *lab) {
			l.makeRole("kube-system", "executor", policyRule("pods/exec", "create"))
			l.bindRole("kube-system", "b", rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "executor"}, account)
		}, "rolebinding kube-system/b leads to namespace kube-system"},
		"two steps away": {func(l *lab) { // the farther step is listed last
			l.makeNamespaces("a")
			l.bindIn("a", "first", "edit", account)
			l.makeRole("kube-system", "executor", policyRule("pods/exec", "create"))
			l.bindRole("kube-system", "b", rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "executor"}, groupOf("system:serviceaccounts:a"))
		}, "rolebinding a/first leads to namespace a"},
		"in a circle": {func(l *lab) {
			l.makeNamespaces("shop")
			l.bindIn("shop", "first", "edit", account)
			l.bindIn(team, "second", "edit", groupOf("system:serviceaccounts:shop"))
		}, ""},
		"to one where accounts escalate": {func(l *lab) {
			l.makeNamespaces("shop")
			l.bindIn("shop", "first", "edit", account)
			l.bindTo("b", "cluster-admin", groupOf("system:serviceaccounts:shop"))
		}, "rolebinding shop/first leads to namespace shop"},
		"to one of the configuration": {func(l *lab) {
			l.makeNamespaces("shop")
			l.drive(kubernetes.Options{Escalating: []string{"shop"}})
			l.bindIn("shop", "first", "edit", account)
		}, "rolebinding shop/first leads to namespace shop"},
		"by a role that escalates from one namespace": {func(l *lab) {
			l.makeNamespaces("shop")
			l.makeRole("shop", "binder", rbacv1.PolicyRule{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"roles"}, Verbs: []string{"bind"}})
			l.bindRole("shop", "b", rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "binder"}, account)
		}, "rolebinding shop/b lets a service account escalate"},
		"one step away, to read":    {func(l *lab) { l.bindIn("kube-system", "b", "view", account) }, ""},
		"one step away, for others": {func(l *lab) { l.bindIn("kube-system", "b", "edit", groupOf("people")) }, ""},
		"one step away, to a plain one": {func(l *lab) {
			l.makeNamespaces("shop")
			l.bindIn("shop", "b", "edit", account)
		}, ""},
		"a step that cannot be listed": {func(l *lab) {
			l.bindIn("kube-system", "b", "edit", account)
			l.Deny(fakekube.Denial{Verb: "list", Resource: "rolebindings"})
		}, ""},
		"a role of a namespace that cannot be listed": {func(l *lab) {
			l.bindIn("kube-system", "b", "edit", account)
			l.Deny(fakekube.Denial{Verb: "list", Resource: "roles"})
		}, "rolebinding kube-system/b lets a service account escalate"},
		"one whose name a user's begins with": {func(l *lab) {
			l.Fail(fake.Fault{Path: "/selfsubjectreviews$", Kind: fake.JSON, Status: 201, Times: -1, Body: `{"status":{"userInfo":{"username":"team:registrar"}}}`})
		}, ""},
		"the registered account's": {func(l *lab) { l.registerAs(team, "registrar") }, "the account lives that the VIM is registered with"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.makeNamespaces(team)
			c.make(l)
			got := l.grade(l.grant("edit", team))
			grade := broker.GradeNamespaces
			if c.want != "" {
				grade = broker.GradeUnbounded
			}
			if said := strings.Join(got.Reasons, "\n"); got.Grade != grade || !strings.Contains(said, c.want) || strings.Contains(said, "where") != (c.want != "") {
				t.Errorf("edit in the namespace = %s because %q, want %s because %q", got.Grade, got.Reasons, grade, c.want)
			}
			if got := l.grade(l.grant("view", team)); got.Grade != broker.GradeBounded {
				t.Errorf("view in the namespace = %s, want bounded", got.Grade)
			}
		})
	}
	l := newLab(t)
	g := l.grant("", "kube-system")
	g.Role, g.Rules = "", []broker.Rule{reads("secrets")}
	if got := l.grade(g); got.Grade != broker.GradeUnbounded || !strings.Contains(strings.Join(got.Reasons, "\n"), "the cluster's own controllers live") {
		t.Errorf("reading secrets of kube-system = %s because %q, want unbounded", got.Grade, got.Reasons)
	}
}

// registerAs makes the lab's credential that of a service account that may see all that a
// grade rests on.
func (l *lab) registerAs(namespace, name string) {
	l.t.Helper()
	client := l.client()
	if _, err := client.CoreV1().ServiceAccounts(namespace).Create(l.t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		l.t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
		policyRule("namespaces", "get"),
		{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"clusterroles", "clusterrolebindings"}, Verbs: []string{"get", "list"}},
	}}
	if _, err := client.RbacV1().ClusterRoles().Create(l.t.Context(), role, metav1.CreateOptions{}); err != nil {
		l.t.Fatal(err)
	}
	l.bindTo(name, name, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name})
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(l.t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	l.access = l.as(broker.Credential{Token: secret.NewText(token.Status.Token)})
}

// What a grade rests on is read again after two minutes, and for another generation.
func TestAGradeRestsOnWhatWasReadLately(t *testing.T) {
	l := newLab(t)
	l.drive(kubernetes.Options{})
	wantAsked := func(when string, want int) {
		t.Helper()
		l.Requests()
		l.grade(l.grant("edit", "default"))
		requests := l.Requests()
		for _, path := range []string{"/clusterroles/edit", "/namespaces/default", "/clusterroles", "/clusterrolebindings", "/selfsubjectreviews"} {
			n := 0
			for _, r := range requests {
				if strings.HasSuffix(r.Path, path) {
					n++
				}
			}
			if n != want {
				t.Errorf("%s %s is read %d times, want %d", when, path, n, want)
			}
		}
	}
	wantAsked("at first", 1)
	l.clock.Add(2*time.Minute - time.Second)
	wantAsked("before two minutes are over", 0)
	l.clock.Add(time.Second)
	wantAsked("after two minutes", 1)
	l.access.Generation++
	wantAsked("for another generation", 1)
	l.access.VIM = "another"
	wantAsked("for another VIM", 1)

	// A role that changed is graded as it was for two minutes, and no longer.
	l.setRules("edit", policyRule("pods", "get"))
	if got := l.grade(l.grant("edit", "default")); got.Grade != broker.GradeNamespaces {
		t.Errorf("within two minutes edit is %s, want what was read", got.Grade)
	}
	l.clock.Add(2 * time.Minute)
	if got := l.grade(l.grant("edit", "default")); got.Grade != broker.GradeBounded {
		t.Errorf("after two minutes edit is %s, want bounded, as it is now", got.Grade)
	}

	// What was not there is not remembered as missing.
	_, err := l.driver.Grade(t.Context(), l.access, l.grant("view", "late"))
	want(t, "Grade in a namespace that is not there", err, broker.ErrInvalid)
	l.makeNamespaces("late")
	l.grade(l.grant("view", "late"))
}

// A lease in many namespaces has more reasons than anyone reads. The farthest come first.
func TestReasonsAreBounded(t *testing.T) {
	l := newLab(t)
	l.drive(kubernetes.Options{Escalating: []string{"team"}})
	namespaces := []string{"team"}
	for i := range 20 {
		namespaces = append(namespaces, fmt.Sprintf("a%d", i))
	}
	l.makeNamespaces(namespaces...)
	got := l.grade(l.grant("admin", namespaces...))
	if got.Grade != broker.GradeUnbounded || len(got.Reasons) != 40 || !strings.Contains(got.Reasons[0], "namespace team,") {
		t.Errorf("admin in 21 namespaces = %s with %d reasons, the first %q; want unbounded, 40, and those of team first", got.Grade, len(got.Reasons), got.Reasons[:1])
	}
}
