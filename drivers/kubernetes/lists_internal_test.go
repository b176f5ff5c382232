package kubernetes

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// TestEveryVerbOfKubernetesIsKnown, and of a misspelt one the error says which is meant; a kind of others may have any.
func TestEveryVerbOfKubernetesIsKnown(t *testing.T) {
	for verb := range strings.FieldsSeq(`* get list watch create update patch delete deletecollection approve attest bind escalate impersonate
		proxy request-serviceaccounts-token-audience sign use impersonate-on:user-info:get`) {
		rule := broker.Rule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", verb}}
		if err := checkRules([]broker.Rule{rule}); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
		rule.Verbs[1] = verb + "s"
		if strings.Contains(verb, ":") {
			continue
		}
		if e, is := errors.AsType[*broker.Error](checkRules([]broker.Rule{{APIGroups: []string{""}, Resources: []string{"a"}, Verbs: []string{"get"}}, rule})); !is || e.Field != "rules.1.verbs" {
			t.Errorf("%ss: %v", verb, e)
		}
		if rule.APIGroups = []string{"", "x.example"}; checkRules([]broker.Rule{rule}) != nil {
			t.Errorf("%ss of a kind of others is refused", verb)
		}
	}
}

// TestWhatOnlyReadsIsHarmless: each verb that reads, of a kind, its status and its scale; no other verb, and no other subresource.
func TestWhatOnlyReadsIsHarmless(t *testing.T) {
	for _, resource := range []string{"widgets", "widgets/status", "widgets/scale"} {
		for _, verb := range []string{"get", "list", "watch", ""} {
			if !onlyReads(resource, []string{verb}) || !onlyReads(resource, []string{"get", verb, "list"}) {
				t.Errorf("%s of %s does more than read", verb, resource)
			}
			if onlyReads("widgets/exec", []string{verb}) || onlyReads("widgets/", []string{verb}) != onlyReads("widgets", []string{verb}) {
				t.Errorf("%s of another subresource only reads", verb)
			}
		}
		for _, verb := range []string{"*", "create", "update", "patch", "delete", "deletecollection", "use"} {
			if onlyReads(resource, []string{"get", verb}) {
				t.Errorf("%s of %s only reads", verb, resource)
			}
		}
	}
}

// TestEqualRulesAreOneHome, in whatever order they and their lists stand, and however often; rules that differ in one member
// are another's.
func TestEqualRulesAreOneHome(t *testing.T) {
	rule := func() broker.Rule {
		return broker.Rule{APIGroups: []string{"a", "b"}, Resources: []string{"c", "d"}, ResourceNames: []string{"e", "f"}, Verbs: []string{"g", "h"}}
	}
	other := broker.Rule{APIGroups: []string{"z"}, Resources: []string{"c"}, Verbs: []string{"g"}}
	of := func(rules ...broker.Rule) string {
		return homeOf("v", broker.Grant{Rules: rules, Namespaces: []string{"n"}, Epoch: 1}).id
	}
	want := of(rule(), other)
	for name, list := range map[string]func(*broker.Rule) *[]string{
		"groups": func(r *broker.Rule) *[]string { return &r.APIGroups }, "resources": func(r *broker.Rule) *[]string { return &r.Resources },
		"names": func(r *broker.Rule) *[]string { return &r.ResourceNames }, "verbs": func(r *broker.Rule) *[]string { return &r.Verbs },
	} {
		turned, twice, fewer := rule(), rule(), rule()
		slices.Reverse(*list(&turned))
		*list(&twice) = append(*list(&twice), (*list(&twice))[0])
		*list(&fewer) = (*list(&fewer))[:1]
		before := fmt.Sprint(turned)
		if of(turned, other) != want || of(other, twice) != want || of(other, rule(), turned, other) != want {
			t.Errorf("%s in another order, or twice, make another home", name)
		}
		if of(fewer, other) == want {
			t.Errorf("of fewer %s it is the same home", name)
		}
		if fmt.Sprint(turned) != before {
			t.Errorf("the %s of the rule are sorted under who gave it: %v", name, turned)
		}
	}
}

// TestAReasonLeavesARuleAsItIs, although it names a part of its objects.
func TestAReasonLeavesARuleAsItIs(t *testing.T) {
	names := []string{"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"}
	r := broker.Rule{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: slices.Clone(names), Verbs: []string{"get"}}
	if _, reasons := assess([]broker.Rule{r}, scope{clusterWide: true}); len(reasons) == 0 || !strings.Contains(reasons[0], "n4, and others") {
		t.Errorf("the reasons are %q", reasons)
	}
	if !slices.Equal(r.ResourceNames, names) {
		t.Errorf("the rule names %q now", r.ResourceNames)
	}
}

// TestAnItemKeepsEachLabelThatIsRead, and no other.
func TestAnItemKeepsEachLabelThatIsRead(t *testing.T) {
	known := []string{
		"vimbroker.io/account", "vimbroker.io/deed", "vimbroker.io/grant", "vimbroker.io/lease", "vimbroker.io/vim",
		"pod-security.kubernetes.io/enforce",
	}
	var i item
	i.Metadata.Labels, i.Metadata.Annotations = map[string]string{"other": "x"}, map[string]string{"other": "x"}
	for _, key := range known {
		i.Metadata.Labels[key], i.Metadata.Annotations[key] = "l-"+key, "a-"+key
	}
	i.trim()
	slices.Sort(known)
	for kind, kept := range map[string]map[string]string{"l-": i.Metadata.Labels, "a-": i.Metadata.Annotations} {
		if got := slices.Sorted(maps.Keys(kept)); !slices.Equal(got, known) {
			t.Errorf("%s keeps %q, want %q", kind, got, known)
		}
		for key, value := range kept {
			if value != kind+key {
				t.Errorf("%s has %q of %s", key, value, kind)
			}
		}
	}
}

// TestEscalationLeadsFromNamespaceToNamespace, over as many steps as there are, whatever order bindings are listed in, and
// for each subject of a binding.
func TestEscalationLeadsFromNamespaceToNamespace(t *testing.T) {
	maker := map[roleKey][]broker.Rule{{name: "maker"}: {{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create"}}}}
	of := func(namespace string, from ...string) *binding {
		b := &binding{meta: metav1.ObjectMeta{Namespace: namespace, Name: "in-" + namespace}, role: rbacv1.RoleRef{Kind: "ClusterRole", Name: "maker"}}
		for _, n := range from {
			b.subjects = append(b.subjects, rbacv1.Subject{Kind: "ServiceAccount", Namespace: n, Name: "a"})
		}
		return b
	}
	bound := []*binding{of("kube-system", "one"), of("one", "two", "two-b"), of("two", "three"), of("three", "one"), of("apart", "four")}
	for range len(bound) {
		bound = append(bound[1:], bound[0])
		found, err := escalating(t.Context(), maker, nil, bound, func(n string) string {
			return map[string]string{"kube-system": "the cluster's own controllers live"}[n]
		}, func(n string) scope { return scope{namespaces: []string{n}} })
		want := map[string]string{"one": "kube-system", "two": "one", "two-b": "one", "three": "two"}
		got := map[string]string{}
		for n, why := range found {
			_, to, _ := strings.Cut(why, " leads to namespace ")
			got[n], _, _ = strings.Cut(to, ",")
		}
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("from %v, first %s: %v, want %v", err, bound[0].path(), found, want)
		}
	}
}

// TestARoleOfANamespaceIsNotTheClustersOfItsName: what a binding gives is the role of its kind, where the binding stands.
func TestARoleOfANamespaceIsNotTheClustersOfItsName(t *testing.T) {
	all := []broker.Rule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}
	few := []broker.Rule{{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"get"}}}
	for _, c := range []struct {
		kind  string
		roles map[roleKey][]broker.Rule
		want  bool
	}{
		{"Role", map[roleKey][]broker.Rule{{"n", "r"}: all, {"", "r"}: few}, true},
		{"Role", map[roleKey][]broker.Rule{{"n", "r"}: few, {"", "r"}: all}, false},
		{"Role", map[roleKey][]broker.Rule{{"", "r"}: all}, false},
		{"Role", map[roleKey][]broker.Rule{{"other", "r"}: all}, false},
		{"ClusterRole", map[roleKey][]broker.Rule{{"n", "r"}: few, {"", "r"}: all}, true},
		{"ClusterRole", map[roleKey][]broker.Rule{{"n", "r"}: all}, false},
	} {
		b := &binding{
			meta: metav1.ObjectMeta{Namespace: "n", Name: "b"}, role: rbacv1.RoleRef{Kind: c.kind, Name: "r"},
			subjects: []rbacv1.Subject{{Kind: "User", Name: "someone"}, {Kind: "ServiceAccount", Namespace: "from", Name: "a"}},
		}
		found, err := escalating(t.Context(), c.roles, nil, []*binding{b}, func(string) string { return "" }, func(string) scope { return scope{clusterWide: true} })
		if got := found["from"] != ""; err != nil || got != c.want || len(found) > 1 {
			t.Errorf("%s of %v: %v, %v", c.kind, c.roles, found, err)
		}
	}
}

// TestAConnectionIsSharedByEqualsAlone: whatever the trust in it rests on tells two apart; a token, which it does not hold, does not.
func TestAConnectionIsSharedByEqualsAlone(t *testing.T) {
	access := func(change func(*broker.Access)) connectionKey {
		a := broker.Access{VIM: "v", Generation: 1, Target: broker.Target{Endpoint: "https://a", CACert: "c", ServerName: "s"}}
		a.Credential = broker.Credential{Kind: broker.CredentialClientCertificate, ClientCertificate: "cert", ClientKey: secret.NewText("key")}
		change(&a)
		return keyOf(a)
	}
	keys := map[connectionKey]string{access(func(*broker.Access) {}): "itself"}
	for name, change := range map[string]func(*broker.Access){
		"VIM": func(a *broker.Access) { a.VIM = "w" }, "generation": func(a *broker.Access) { a.Generation = 2 },
		"endpoint": func(a *broker.Access) { a.Target.Endpoint = "https://b" }, "authorities": func(a *broker.Access) { a.Target.CACert = "d" },
		"name": func(a *broker.Access) { a.Target.ServerName = "t" }, "no check": func(a *broker.Access) { a.Target.InsecureSkipVerify = true },
		"rules": func(a *broker.Access) { a.Egress = egress.Default() }, "certificate": func(a *broker.Access) { a.Credential.ClientCertificate = "other" },
		"a token": func(a *broker.Access) {
			a.Credential = broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText("one")}
		},
	} {
		k := access(change)
		if other, there := keys[k]; there {
			t.Errorf("another %s shares the connection of %s", name, other)
		}
		keys[k] = name
	}
	for name, change := range map[string]func(*broker.Access){
		"key of the same certificate": func(a *broker.Access) { a.Credential.ClientKey = secret.NewText("other") },
		"token": func(a *broker.Access) {
			a.Credential = broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText("two")}
		},
	} {
		if _, there := keys[access(change)]; !there {
			t.Errorf("another %s has a connection of its own", name)
		}
	}
}

// TestANamespaceOfAKubeconfigIsALabel, also where the registration names another.
func TestANamespaceOfAKubeconfigIsALabel(t *testing.T) {
	for namespace, good := range map[string]bool{"cnf": true, "C": false, "a b": false} {
		for _, given := range []string{"", "other"} {
			r := broker.Registration{Namespace: given, Kubeconfig: secret.NewText("apiVersion: v1\nkind: Config\ncurrent-context: c\n" +
				"clusters: [{name: l, cluster: {server: https://10.0.0.1:6443}}]\nusers: [{name: u, user: {token: t}}]\n" +
				"contexts: [{name: c, context: {cluster: l, user: u, namespace: '" + namespace + "'}}]\n")}
			target, _, err := normalize(r)
			want := given
			if want == "" {
				want = namespace
			}
			if good != (err == nil) || good && target.Namespace != want || !good && !strings.Contains(fieldOf(err), "namespace") {
				t.Errorf("%q beside %q: %q, %v", namespace, given, target.Namespace, err)
			}
		}
	}
}
