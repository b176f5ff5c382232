package kubernetes_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// enforce labels a namespace with a level of Pod Security; "" takes the label away.
func (l *lab) enforce(namespace, level string) {
	l.t.Helper()
	if !l.Update("namespaces", "", namespace, func(o metav1.Object) {
		labels := map[string]string{"pod-security.kubernetes.io/warn": "restricted", "pod-security.kubernetes.io/audit": "restricted"}
		if level != "" {
			labels["pod-security.kubernetes.io/enforce"] = level
		}
		o.SetLabels(labels)
	}) {
		l.t.Fatalf("there is no namespace %s", namespace)
	}
}

// makesPods is a lease that makes pods in a namespace.
func (l *lab) makesPods(namespace string) broker.Grant {
	g := l.grant("", namespace)
	g.Role, g.Rules = "", []broker.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create"}}}
	return g
}

// TestPodsAreOfTheirNamespaceWhereItHoldsThem: by the label enforce alone, or by the word of the VIM's owner, and for a
// lease that makes the objects of a plan in any case.
func TestPodsAreOfTheirNamespaceWhereItHoldsThem(t *testing.T) {
	for name, c := range map[string]struct {
		level string
		make  func(*lab, *broker.Grant)
		grade broker.Grade
		says  string
	}{
		"restricted":           {level: "restricted", grade: broker.GradeNamespaces},
		"baseline":             {level: "baseline", grade: broker.GradeNamespaces},
		"privileged":           {level: "privileged", grade: broker.GradeUnbounded, says: "which enforces no level of Pod Security"},
		"only warns":           {grade: broker.GradeUnbounded, says: "which enforces no level of Pod Security"},
		"a level of the wrong": {level: "Baseline", grade: broker.GradeUnbounded, says: "which enforces no level of Pod Security"},
		"a held lease":         {make: func(_ *lab, g *broker.Grant) { g.Held = true }, grade: broker.GradeUnbounded, says: "enforces no level"},
		"a held one that is held": {
			level: "baseline", make: func(_ *lab, g *broker.Grant) { g.Held = true }, grade: broker.GradeNamespaces,
		},
		"a held lease of a namespace that is gone": {
			make: func(_ *lab, g *broker.Grant) { g.Held, g.Namespaces = true, []string{"gone"} }, grade: broker.GradeNamespaces,
		},
		"a namespace that it may not read": {
			level: "baseline", make: func(l *lab, g *broker.Grant) {
				g.Held = true
				l.Deny(fakekube.Denial{Verb: "get", Resource: "namespaces"})
			}, grade: broker.GradeUnbounded, says: "may not read",
		},
		"a plan's": {make: func(_ *lab, g *broker.Grant) { g.Planned = true }, grade: broker.GradeNamespaces},
		"the owner's word": {
			make: func(l *lab, _ *broker.Grant) { l.access.Target.Vouched.PodsHeldBy = "kyverno" }, grade: broker.GradeNamespaces,
			says: "where kyverno holds pods, as the VIM's owner says",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.makeNamespaces("team")
			l.enforce("team", c.level)
			g := l.makesPods("team")
			if c.make != nil {
				c.make(l, &g)
			}
			got := l.grade(g)
			if said := strings.Join(got.Reasons, "\n"); got.Grade != c.grade || !strings.Contains(said, c.says) || (got.Remedy != "") != (c.grade == broker.GradeUnbounded) {
				t.Errorf("the lease is %s because %q, remedy %q; want %s because %q", got.Grade, got.Reasons, got.Remedy, c.grade, c.says)
			}
		})
	}
}

// TestEachNamespaceOfALeaseHasALevelOfItsOwn, whichever of them is named first.
func TestEachNamespaceOfALeaseHasALevelOfItsOwn(t *testing.T) {
	l := newLab(t)
	l.makeNamespaces("held", "open", "strict")
	l.enforce("held", "baseline")
	l.enforce("strict", "restricted")
	for _, namespaces := range [][]string{{"held", "open", "strict"}, {"open", "held", "strict"}, {"strict", "held", "open"}} {
		g := l.makesPods("held")
		g.Namespaces = namespaces
		got := l.grade(g)
		var free []string
		for _, reason := range got.Reasons {
			if strings.Contains(reason, "which enforces no level") {
				free = append(free, reason)
			}
		}
		if got.Grade != broker.GradeUnbounded || len(free) != 1 || !strings.Contains(free[0], "namespace open,") || len(got.Reasons) != 3 {
			t.Errorf("in %q the lease is %s because %q", namespaces, got.Grade, got.Reasons)
		}
	}
	g := l.makesPods("held")
	if g.Namespaces = []string{"held", "strict"}; l.grade(g).Grade != broker.GradeNamespaces {
		t.Errorf("in two that are held: %+v", l.grade(g))
	}
}

// TestALabelCountsAtOnceWhereItWasMissing: a label that is taken away counts two minutes later at the latest.
func TestALabelCountsAtOnceWhereItWasMissing(t *testing.T) {
	l := newLab(t)
	l.drive(kubernetes.Options{})
	l.makeNamespaces("team")
	wantGrade := func(when string, want broker.Grade) {
		t.Helper()
		if got := l.grade(l.makesPods("team")); got.Grade != want {
			t.Errorf("%s the lease is %s because %q, want %s", when, got.Grade, got.Reasons, want)
		}
	}
	wantGrade("without a label", broker.GradeUnbounded)
	l.enforce("team", "baseline")
	wantGrade("with one", broker.GradeNamespaces)
	l.enforce("team", "")
	l.clock.Add(2 * time.Minute)
	wantGrade("two minutes after it was taken away", broker.GradeUnbounded)
	for _, before := range []string{"privileged", "", "other"} {
		l.enforce("team", before)
		l.clock.Add(2 * time.Minute)
		wantGrade("with level "+before, broker.GradeUnbounded)
		l.enforce("team", "restricted")
		wantGrade("with one after "+before, broker.GradeNamespaces)
	}
	l.clock.Add(2 * time.Minute)
	l.Deny(fakekube.Denial{Verb: "get", Resource: "namespaces"})
	held := l.makesPods("team")
	held.Held = true
	if got := l.grade(held); got.Grade != broker.GradeUnbounded {
		t.Errorf("where the level may not be read the lease is %s", got.Grade)
	}
	l.Deny()
	if got := l.grade(held); got.Grade != broker.GradeNamespaces {
		t.Errorf("where the level may be read again the lease is %s because %q", got.Grade, got.Reasons)
	}
}

// TestAccountsThatMakePodsElsewhereEscalate: a namespace whose account makes pods where nothing holds them is no bound,
// but for the objects of a plan.
func TestAccountsThatMakePodsElsewhereEscalate(t *testing.T) {
	l := newLab(t)
	l.makeNamespaces("team", "open")
	l.enforce("team", "baseline")
	l.makeRole("open", "maker", policyRule("pods", "create"))
	l.bindRole("open", "b", rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "maker"},
		rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "team", Name: "ci"})
	g := l.makesPods("team")
	if got := l.grade(g); got.Grade != broker.GradeUnbounded || !strings.Contains(strings.Join(got.Reasons, "\n"), "rolebinding open/b lets") || got.Remedy != "" {
		t.Errorf("the lease is %s because %q, remedy %q", got.Grade, got.Reasons, got.Remedy)
	}
	g.Planned = true
	if got := l.grade(g); got.Grade != broker.GradeNamespaces {
		t.Errorf("a plan's lease is %s because %q", got.Grade, got.Reasons)
	}
	l.access.Target.Vouched.PodsHeldBy = "kyverno"
	if got := l.grade(l.makesPods("team")); got.Grade != broker.GradeNamespaces {
		t.Errorf("by the word of the VIM's owner the lease is %s because %q", got.Grade, got.Reasons)
	}
}

// TestNetworksAreUnboundedWhereTheyAreServed: unless the VIM's owner shares the kind with all its types.
func TestNetworksAreUnboundedWhereTheyAreServed(t *testing.T) {
	const kind = "network-attachment-definitions.k8s.cni.cncf.io"
	served, none := newLabOn(t, fakekube.Options{Networks: true}), newLab(t)
	for name, c := range map[string]struct {
		lab     *lab
		shared  string
		planned bool
		want    broker.Grade
	}{
		"served":               {lab: served, want: broker.GradeUnbounded},
		"some types shared":    {lab: served, shared: kind + "=bridge", want: broker.GradeUnbounded},
		"shared":               {lab: served, shared: kind, want: broker.GradeBounded},
		"another kind shared":  {lab: served, shared: "a." + kind, want: broker.GradeUnbounded},
		"of a plan":            {lab: served, planned: true, want: broker.GradeBounded},
		"that nobody installs": {lab: none, want: broker.GradeBounded},
	} {
		l := *c.lab
		l.access.Target.Vouched.SharedKinds = c.shared
		g := l.grant("", "default")
		g.Role, g.Planned = "", c.planned
		g.Rules = []broker.Rule{{APIGroups: []string{"k8s.cni.cncf.io"}, Resources: []string{"network-attachment-definitions"}, Verbs: []string{"patch"}}}
		got := l.grade(g)
		if got.Grade != c.want || (got.Remedy != "") != (c.want == broker.GradeUnbounded) ||
			slices.Contains(got.Reasons, "the holder can give pods interfaces of their nodes in namespace default") != (c.want == broker.GradeUnbounded) {
			t.Errorf("%s: %s because %q, remedy %q; want %s", name, got.Grade, got.Reasons, got.Remedy, c.want)
		}
	}
}

// TestACheckTriesAddressesOfOthers: by dry runs, which leave nothing. A refusal counts only where the same Service
// without them is taken, and whatever comes of it, the check is well.
func TestACheckTriesAddressesOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		fault *fake.Fault
		want  string
	}{
		"taken":             {nil, broker.ExternalIPsTaken},
		"refused":           {&fake.Fault{Kind: fake.Refuse, Status: 403, Times: 1}, broker.ExternalIPsRefused},
		"refused otherwise": {&fake.Fault{Kind: fake.Refuse, Status: 400, Times: 1}, broker.ExternalIPsRefused},
		"no Service is":     {&fake.Fault{Kind: fake.Refuse, Status: 403, Times: 2}, ""},
		"no answer":         {&fake.Fault{Kind: fake.Drop, Times: -1}, ""},
	} {
		l := newLab(t)
		if c.fault != nil {
			c.fault.Method, c.fault.Path = "POST", "/namespaces/default/services$"
			l.Fail(*c.fault)
		}
		r, err := l.driver.Check(t.Context(), l.access)
		if err != nil || r.ExternalIPs != c.want || len(l.Names("services", "")) != 0 {
			t.Errorf("%s: %q, %v, services %q; want %q and none", name, r.ExternalIPs, err, l.Names("services", ""), c.want)
		}
	}
}
