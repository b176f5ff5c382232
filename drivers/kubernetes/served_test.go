package kubernetes_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
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

	err := b.d.CheckRules(t.Context(), b.a, append(rule("shop.example", "carts", "baskets"), rule("", "pod", "pods")...))
	missing, is := errors.AsType[*broker.MissingKinds](err)
	if !is || !slices.Equal(missing.Resources, []string{"pod.", "carts.shop.example", "baskets.shop.example"}) {
		t.Errorf("what is missing is %+v", missing)
	}
	b.s.Requests() // until now
	_ = b.d.CheckRules(t.Context(), b.a, rule("shop.example", "carts"))
	if len(b.s.Requests()) == 0 {
		t.Error("what was not served a moment ago is not asked for again")
	}

	// Of a group that is served, what is not served alone is missing.
	b = newBench(t)
	b.fail(fake.Fault{Path: "/apis/shop.example$", Kind: fake.JSON, Status: http.StatusOK, Times: -1, Body: `{"versions": [{"groupVersion": "shop.example/v1"}]}`})
	b.fail(fake.Fault{Path: "/apis/shop.example/v1$", Kind: fake.JSON, Status: http.StatusOK, Times: -1, Body: `{"resources": [{"name": "carts"}]}`})
	if err := b.d.CheckRules(t.Context(), b.a, rule("shop.example", "carts")); err != nil {
		t.Errorf("CheckRules of what is served = %v", err)
	}
	err = b.d.CheckRules(t.Context(), b.a, rule("shop.example", "carts", "cart"))
	if missing, is := errors.AsType[*broker.MissingKinds](err); !is || !slices.Equal(missing.Resources, []string{"cart.shop.example"}) {
		t.Errorf("CheckRules of what is served, and of what is not, = %v", err)
	}

	b = newBench(t)
	b.fail(fake.Fault{Path: "/api/v1$", Kind: fake.Refuse, Status: http.StatusForbidden})
	if err := b.d.CheckRules(t.Context(), b.a, rule("", "pod")); err != nil {
		t.Errorf("CheckRules of a cluster that does not say = %v", err)
	}
}

// Rights that the credential may not hand out are foreseen, where each of the lease's places is asked for, and where it may
// not escalate. Of Kubernetes' own kinds, and of single objects, nothing is asked.
func TestRulesThatTheCredentialMayNotHandOutAreForeseen(t *testing.T) {
	cannot := []fakekube.Denial{{Verb: "get", Resource: "carts", Namespace: "b"}, {Verb: "list", Resource: "pods"}, {Verb: "escalate"}}
	rule := func(group string, resource, verb, name string) broker.Rule {
		r := broker.Rule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}}
		if name != "" {
			r.ResourceNames = []string{name}
		}
		return r
	}
	carts := rule("shop.example", "carts", "get", "")
	for name, c := range map[string]struct {
		grant   broker.Grant
		denials []fakekube.Denial
		silent  bool
		missing []string
	}{
		"denied in one namespace": {
			broker.Grant{Namespaces: []string{"a", "b"}, Rules: []broker.Rule{carts, rule("shop.example", "baskets", "get", "")}},
			cannot, false,
			[]string{"carts.shop.example"},
		},
		"in another namespace":       {broker.Grant{Namespaces: []string{"a"}, Rules: []broker.Rule{carts}}, cannot, false, nil},
		"the credential escalates":   {broker.Grant{Namespaces: []string{"b"}, Rules: []broker.Rule{carts}}, cannot[:2], false, nil},
		"of one object":              {broker.Grant{Namespaces: []string{"b"}, Rules: []broker.Rule{rule("shop.example", "carts", "get", "a")}}, cannot, false, nil},
		"of Kubernetes' own":         {broker.Grant{Namespaces: []string{"b"}, Rules: []broker.Rule{rule("", "pods", "list", "")}}, cannot, false, nil},
		"the cluster does not say":   {broker.Grant{Namespaces: []string{"b"}, Rules: []broker.Rule{carts}}, cannot, true, nil},
		"everywhere, and not denied": {broker.Grant{ClusterWide: true, Rules: []broker.Rule{carts}}, cannot, false, nil},
		"everywhere, and denied": {
			broker.Grant{ClusterWide: true, Rules: []broker.Rule{carts}},
			[]fakekube.Denial{{Verb: "get", Resource: "carts"}, {Verb: "escalate", Resource: "clusterroles"}},
			false,
			[]string{"carts.shop.example"},
		},
	} {
		b := newBench(t)
		b.s.Deny(c.denials...)
		if c.silent {
			b.fail(fake.Fault{Path: "/selfsubjectaccessreviews$", Kind: fake.Refuse, Status: http.StatusForbidden})
		}
		err := b.d.Foresee(t.Context(), b.a, c.grant)
		missing, is := errors.AsType[*broker.MissingKinds](err)
		if is != (c.missing != nil) || is && (!errors.Is(err, broker.ErrForbidden) || !slices.Equal(missing.Resources, c.missing)) || !is && err != nil {
			t.Errorf("%s: Foresee() = %v, want %v", name, err, c.missing)
		}
	}
}
