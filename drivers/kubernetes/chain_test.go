package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
)

var execute = map[roleKey][]broker.Rule{{name: "executor"}: {{APIGroups: []string{""}, Resources: []string{"pods/exec"}, Verbs: []string{"create"}}}}

// link lets the accounts of namespace from execute in namespace to.
func link(from, to string) *binding {
	return &binding{meta: metav1.ObjectMeta{Namespace: to, Name: "b"}, role: rbacv1.RoleRef{Kind: "ClusterRole", Name: "executor"}, subjects: []rbacv1.Subject{group(from)}}
}

// alone is the scope of one namespace whose pods are held.
func alone(n string) scope { return scope{namespaces: []string{n}} }

func number(n int) string { return fmt.Sprintf("n%d", n) }

// Each step of the chain is known to escalate only when the next one is.
func TestALongChainOfNamespacesIsFollowed(t *testing.T) {
	const long = 40_000
	var bound []*binding
	for n := range long {
		bound = append(bound, link(number(n), number(n+1)))
	}
	bound = append(bound, link("aside", "elsewhere"), link("x", "y"), link("y", "x"))
	asked := 0
	found, err := escalating(t.Context(), execute, nil, bound, func(n string) string {
		if asked++; n == number(long) {
			return "it does"
		}
		return ""
	}, alone)
	if err != nil || len(found) != long || found["n0"] != "rolebinding n1/b leads to namespace n1, whose identities can escalate" {
		t.Errorf("found %d namespaces, %q for the first, %v; want %d, and the next one named", len(found), found["n0"], err, long)
	}
	if asked > len(bound) {
		t.Errorf("%d steps are looked at %d times", len(bound), asked)
	}
}

// A step from all namespaces leads from each.
func TestAStepFromAllNamespaces(t *testing.T) {
	all := link("", "kube-system")
	all.subjects[0].Name = "system:serviceaccounts"
	settled := func(n string) string {
		if n == "kube-system" {
			return "it does"
		}
		return ""
	}
	found, err := escalating(t.Context(), execute, nil, []*binding{link("a", "b"), all}, settled, alone)
	if err != nil || found[everywhere] == "" || found["a"] == "" {
		t.Errorf("found %q, %v; want all namespaces", found, err)
	}
	found, err = escalating(t.Context(), execute, []*binding{{
		role: rbacv1.RoleRef{Kind: "ClusterRole", Name: "executor"}, subjects: all.subjects,
	}}, []*binding{link("a", "b")}, func(string) string { return "" }, alone)
	if err != nil || found[everywhere] == "" || found["a"] == "" {
		t.Errorf("found %q, %v; want all namespaces", found, err)
	}
}

// The accounts of a namespace escalate where a binding lets them make pods in one that holds none.
func TestPodsThatAreNotHeldAreAStep(t *testing.T) {
	makers := map[roleKey][]broker.Rule{{name: "executor"}: {rule("", "pods", "create")}}
	open := func(n string) scope {
		return scope{namespaces: []string{n}, pods: func(string) (string, bool) { return "which is open", n == "open" }}
	}
	for to, want := range map[string]bool{"open": true, "held": false} {
		found, err := escalating(t.Context(), makers, nil, []*binding{link("ci", to)}, func(string) string { return "" }, open)
		if err != nil || (found["ci"] != "") != want {
			t.Errorf("with pods in namespace %s: found %q, %v", to, found, err)
		}
	}
}

// What is to be looked through ends with the call.
func TestAChainEndsWithItsCall(t *testing.T) {
	over, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct{ wide, narrow []*binding }{
		"cluster role bindings": {wide: []*binding{link("a", "")}},
		"role bindings":         {narrow: []*binding{link("a", "b")}},
	} {
		if _, err := escalating(over, execute, c.wide, c.narrow, func(string) string { return "" }, alone); !errors.Is(err, context.Canceled) {
			t.Errorf("%s are looked through after the call: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := escalating(ctx, execute, nil, []*binding{link("a", "b")}, func(string) string { cancel(); return "it does" }, alone); !errors.Is(err, context.Canceled) {
		t.Errorf("steps are followed after the call: %v", err)
	}
}

// A role of many rules has no more reasons than anyone reads, and is soon assessed.
func TestReasonsOfManyRulesAreBounded(t *testing.T) {
	var rules []broker.Rule
	for n := range 5000 {
		rules = append(rules, broker.Rule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}, ResourceNames: []string{number(n)}})
	}
	if grade, reasons := assess(rules, scope{clusterWide: true}); grade != broker.GradeUnbounded || len(reasons) != maxReasons {
		t.Errorf("assess = %s with %d reasons, want %d", grade, len(reasons), maxReasons)
	}
}
