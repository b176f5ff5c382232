package kubernetes_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/fake"
)

// A rule with a resource that the cluster does not serve is refused, with the one that is meant. Kubernetes' own are not
// asked for, and where the cluster does not say nothing is refused.
func TestRulesNameWhatTheClusterServes(t *testing.T) {
	b := newBench(t)
	rule := func(group string, resources ...string) []broker.Rule {
		return []broker.Rule{{APIGroups: []string{group}, Resources: resources, Verbs: []string{"get"}}}
	}
	before := len(b.s.Requests())
	for _, fine := range [][]broker.Rule{rule("", "pods", "pods/log"), rule("apps", "deployments"), rule("*", "anything"), rule("shop.example", "*")} {
		if err := b.d.CheckRules(t.Context(), b.a, fine); err != nil {
			t.Errorf("CheckRules(%v) = %v", fine, err)
		}
	}
	if n := len(b.s.Requests()) - before; n != 0 {
		t.Errorf("what is known took %d requests", n)
	}
	for says, wrong := range map[string][]broker.Rule{
		"serves no resource pod in the core group; did you mean pods?": rule("", "pods", "pod"),
		"serves no resource carts in group shop.example":               rule("shop.example", "carts"),
		"serves no resource carts in group ..":                         rule("..", "carts"),
	} {
		err := b.d.CheckRules(t.Context(), b.a, wrong)
		want(t, "CheckRules", err, broker.ErrInvalid)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("CheckRules(%v) = %v, want %q", wrong, err, says)
		}
	}

	b = newBench(t)
	b.fail(fake.Fault{Path: "/api/v1$", Kind: fake.Refuse, Status: http.StatusForbidden})
	if err := b.d.CheckRules(t.Context(), b.a, rule("", "pod")); err != nil {
		t.Errorf("CheckRules of a cluster that does not say = %v", err)
	}
}
