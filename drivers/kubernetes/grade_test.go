package kubernetes

import (
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
)

func rule(groups, resources, verbs string, names ...string) broker.Rule {
	split := func(s string) []string { return strings.Split(s, " ") }
	return broker.Rule{APIGroups: split(groups), Resources: split(resources), Verbs: split(verbs), ResourceNames: names}
}

func TestGradeOfRules(t *testing.T) {
	const none = broker.Grade("")
	cases := []struct {
		name                 string
		rule                 broker.Rule
		inNamespace, cluster broker.Grade
	}{
		{"read pods", rule("", "pods", "get list watch"), broker.GradeBounded, broker.GradeBounded},
		{"write config maps", rule("", "configmaps", "*"), broker.GradeBounded, broker.GradeUnbounded},
		{"delete pods", rule("", "pods", "delete"), broker.GradeBounded, broker.GradeBounded},
		{"scale deployments", rule("apps", "deployments/scale", "update patch"), broker.GradeBounded, broker.GradeBounded},
		{"create pods", rule("", "pods", "create"), broker.GradeNamespaces, broker.GradeUnbounded},
		{"create pods of one name", rule("", "pods", "create", "web"), broker.GradeBounded, broker.GradeBounded},
		{"create pods of the empty name", rule("", "pods", "create", ""), broker.GradeNamespaces, broker.GradeUnbounded},
		{"patch one pod", rule("", "pods", "patch", "web"), broker.GradeNamespaces, broker.GradeUnbounded},
		{"patch deployments of another group", rule("extensions.example", "deployments", "patch"), broker.GradeBounded, broker.GradeBounded},
		{"patch deployments of any group", rule("*", "deployments", "patch"), broker.GradeNamespaces, broker.GradeUnbounded},
		{"enter pods by GET", rule("", "pods/exec", "get"), broker.GradeNamespaces, broker.GradeUnbounded},
		{"enter one pod", rule("", "pods/exec", "create", "web"), broker.GradeNamespaces, broker.GradeUnbounded},
		{"any exec", rule("*", "*/exec", "create"), broker.GradeNamespaces, broker.GradeUnbounded},
		{"any subresource of pods is not a pattern", rule("", "pods/*", "create"), broker.GradeBounded, broker.GradeBounded},
		{"watch secrets", rule("", "secrets", "watch"), broker.GradeNamespaces, broker.GradeUnbounded},
		{"create secrets", rule("", "secrets", "create"), broker.GradeBounded, broker.GradeUnbounded},
		{"patch one secret", rule("", "secrets", "patch", "tls"), broker.GradeNamespaces, broker.GradeUnbounded},
		{"tokens of one account", rule("", "serviceaccounts/token", "create", "builder"), broker.GradeNamespaces, broker.GradeUnbounded},
		{"impersonate accounts", rule("", "serviceaccounts", "impersonate"), broker.GradeNamespaces, broker.GradeUnbounded},
		{"impersonate users", rule("", "users", "impersonate"), broker.GradeBounded, broker.GradeUnbounded},
		{"impersonate accounts, constrained", rule("authentication.k8s.io", "serviceaccounts", "impersonate:serviceaccount"), broker.GradeNamespaces, broker.GradeUnbounded},
		{"impersonate users, constrained", rule("authentication.k8s.io", "users", "impersonate:user-info"), broker.GradeBounded, broker.GradeUnbounded},
		{"impersonate nodes, constrained", rule("authentication.k8s.io", "nodes", "impersonate:associated-node"), broker.GradeBounded, broker.GradeUnbounded},
		{"act as others whom it may not impersonate", rule("", "secrets", "impersonate-on:serviceaccount:get"), broker.GradeBounded, broker.GradeBounded},
		{"change roles", rule("rbac.authorization.k8s.io", "roles", "patch"), broker.GradeNamespaces, broker.GradeUnbounded},
		{"create roles", rule("rbac.authorization.k8s.io", "roles", "create"), broker.GradeBounded, broker.GradeBounded},
		{"create cluster roles", rule("rbac.authorization.k8s.io", "clusterroles", "create"), broker.GradeBounded, broker.GradeUnbounded},
		{"certificates of nodes", rule("certificates.k8s.io", "certificatesigningrequests/nodeclient", "create"), broker.GradeBounded, broker.GradeUnbounded},
		{"bind a cluster role", rule("rbac.authorization.k8s.io", "clusterroles", "bind", "view"), broker.GradeUnbounded, broker.GradeUnbounded},
		{"escalate roles", rule("rbac.authorization.k8s.io", "roles", "escalate"), broker.GradeUnbounded, broker.GradeUnbounded},
		{"write role bindings", rule("rbac.authorization.k8s.io", "rolebindings", "create"), broker.GradeNamespaces, broker.GradeUnbounded},
		{"kubelet", rule("", "nodes/proxy", "get"), broker.GradeBounded, broker.GradeUnbounded},
		{"approve certificates", rule("certificates.k8s.io", "certificatesigningrequests/approval", "update"), broker.GradeBounded, broker.GradeUnbounded},
		{"lift Pod Security", rule("", "namespaces", "patch"), broker.GradeUnbounded, broker.GradeUnbounded},
		{"lift Pod Security of one", rule("", "namespaces", "update", "team"), broker.GradeUnbounded, broker.GradeUnbounded},
		{"lift Pod Security by the status", rule("", "namespaces/status", "patch"), broker.GradeUnbounded, broker.GradeUnbounded},
		{"lift Pod Security by the finalizers", rule("", "namespaces/finalize", "update"), broker.GradeUnbounded, broker.GradeUnbounded},
		{"any status", rule("*", "*/status", "patch"), broker.GradeUnbounded, broker.GradeUnbounded},
		{"create namespaces", rule("", "namespaces", "create"), broker.GradeBounded, broker.GradeUnbounded},
		{"delete namespaces", rule("", "namespaces", "get delete"), broker.GradeBounded, broker.GradeBounded},
		{"write revisions", rule("apps", "controllerrevisions", "get list create delete"), broker.GradeNamespaces, broker.GradeUnbounded},
		{"delete revisions", rule("apps", "controllerrevisions", "get list delete"), broker.GradeBounded, broker.GradeBounded},
		{"certificates of pods", rule("certificates.k8s.io", "podcertificaterequests", "create"), broker.GradeNamespaces, broker.GradeUnbounded},
		{"change rules of admission", rule("admissionregistration.k8s.io", "validatingadmissionpolicies", "patch", "mine"), broker.GradeBounded, broker.GradeUnbounded},
		{"delete rules of admission", rule("admissionregistration.k8s.io", "validatingwebhookconfigurations", "delete"), broker.GradeBounded, broker.GradeUnbounded},
		{"delete its own rules of admission", rule("admissionregistration.k8s.io", "validatingwebhookconfigurations", "delete", "mine"), broker.GradeBounded, broker.GradeBounded},
		{"a kind of Kubernetes' own that nobody knows", rule("apps", "pets", "create"), broker.GradeUnbounded, broker.GradeUnbounded},
		{"a subresource that nobody knows", rule("", "pods/teleport", "get"), broker.GradeUnbounded, broker.GradeUnbounded},
		{"such a kind of any group", rule("*", "pets", "delete"), broker.GradeUnbounded, broker.GradeUnbounded},
		{"read such a kind", rule("apps", "pets pets/status pets/scale", "get list watch"), broker.GradeBounded, broker.GradeBounded},
		{"a kind of others", rule("example.com", "pets", "*"), broker.GradeBounded, broker.GradeBounded},
		{"webhooks", rule("admissionregistration.k8s.io", "validatingwebhookconfigurations", "patch"), broker.GradeBounded, broker.GradeUnbounded},
		{"APIServices", rule("apiregistration.k8s.io", "apiservices", "create"), broker.GradeBounded, broker.GradeUnbounded},
		{"read everything", rule("*", "*", "get list watch"), broker.GradeNamespaces, broker.GradeUnbounded},
		{"everything", rule("*", "*", "*"), broker.GradeUnbounded, broker.GradeUnbounded},
		{"nothing", broker.Rule{}, broker.GradeBounded, broker.GradeBounded},
		{"no verb", rule("", "pods", ""), broker.GradeBounded, broker.GradeBounded},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, at := range []struct {
				scope scope
				want  broker.Grade
			}{
				{scope{namespaces: []string{"team"}}, c.inNamespace},
				{scope{clusterWide: true}, c.cluster},
			} {
				got, why := assess([]broker.Rule{c.rule}, at.scope)
				if got != at.want || got == none {
					t.Errorf("assess(%v, cluster-wide %v) = %s %q, want %s", c.rule, at.scope.clusterWide, got, why, at.want)
				}
				if (len(why) > 0) != (got != broker.GradeBounded) {
					t.Errorf("assess(%v) = %s with the reasons %q", c.rule, got, why)
				}
			}
		})
	}
}

func TestGradeKnowsNamespacesWhoseIdentitiesEscalate(t *testing.T) {
	s := scope{namespaces: []string{"kube-system", "team"}, escalating: func(n string) string {
		if n == "kube-system" {
			return "the cluster's own controllers live"
		}
		return ""
	}}
	got, why := assess([]broker.Rule{rule("", "pods", "create")}, s)
	want := []string{
		"the holder can run pods as any service account of the namespace in namespace kube-system, where the cluster's own controllers live",
		"the holder can run pods as any service account of the namespace in namespace team",
	}
	if got != broker.GradeUnbounded || !slices.Equal(why, want) {
		t.Errorf("assess = %s %q, want unbounded %q", got, why, want)
	}
	if got, _ := assess([]broker.Rule{rule("", "pods", "get")}, s); got != broker.GradeBounded {
		t.Errorf("reading pods of kube-system = %s, want bounded", got)
	}
	if got, _ := assess([]broker.Rule{rule("", "configmaps", "patch")}, s); got != broker.GradeUnbounded {
		t.Errorf("changing config maps of kube-system = %s, want unbounded", got)
	}
}

// Pods are an escalation of their namespace alone where something holds them there; networks where they are served.
func TestGradeKnowsWhatHoldsPods(t *testing.T) {
	s := scope{namespaces: []string{"open", "held", "vouched"}, pods: func(n string) (string, bool) {
		return map[string]string{"open": "which is open", "vouched": "where kyverno holds pods"}[n], n == "open"
	}}
	for resource, open := range map[string]bool{
		"pods": true, "deployments": true, "controllerrevisions": true, "cronjobs": true, "pods/ephemeralcontainers": true, "pods/exec": false, "secrets": false,
	} {
		got, why := assess([]broker.Rule{rule("*", resource, "get create update")}, s)
		says := len(why) == 3 && strings.HasSuffix(why[0], "in namespace open, which is open") && slices.ContainsFunc(why[1:], func(reason string) bool {
			return strings.HasSuffix(reason, "in namespace vouched, where kyverno holds pods")
		})
		if (got == broker.GradeUnbounded) != open || says != open {
			t.Errorf("%s: %s %q", resource, got, why)
		}
		only := s
		only.namespaces = []string{"held", "vouched"}
		if got, why := assess([]broker.Rule{rule("*", resource, "get create update")}, only); got != broker.GradeNamespaces {
			t.Errorf("%s where pods are held: %s %q", resource, got, why)
		}
	}
	networks := []broker.Rule{rule("k8s.cni.cncf.io", "network-attachment-definitions", "create")}
	for served, want := range map[bool]broker.Grade{true: broker.GradeUnbounded, false: broker.GradeBounded} {
		if got, why := assess(networks, scope{namespaces: []string{"held"}, networks: served}); got != want {
			t.Errorf("networks that are served (%t): %s %q, want %s", served, got, why, want)
		}
	}
}

// Each escalation is found by the narrowest rule that allows it, and the rule that
// misses it by one field is not.
func TestEveryEscalationHasItsEffect(t *testing.T) {
	for _, e := range escalations {
		for _, verb := range e.verbs {
			if verb == "*" {
				verb = "get"
			}
			wide := scope{clusterWide: true, networks: true}
			exact := broker.Rule{APIGroups: []string{e.group}, Resources: []string{e.resource}, Verbs: []string{verb}}
			if got, _ := assess([]broker.Rule{exact}, wide); got != broker.GradeUnbounded {
				t.Errorf("%s %s.%s on the whole cluster = %s, want unbounded", verb, e.resource, e.group, got)
			}
			for field, near := range map[string]broker.Rule{
				"group":    {APIGroups: []string{e.group + "x"}, Resources: exact.Resources, Verbs: exact.Verbs},
				"resource": {APIGroups: exact.APIGroups, Resources: []string{e.resource + "x"}, Verbs: exact.Verbs},
				"verb":     {APIGroups: exact.APIGroups, Resources: exact.Resources, Verbs: []string{"no" + verb}},
			} {
				if slices.Equal(e.verbs, every) && field == "verb" {
					continue
				}
				got, why := assess([]broker.Rule{near}, wide)
				if field == "resource" && len(why) == 1 && strings.HasSuffix(why[0], "that this version of the broker does not know") {
					got = broker.GradeBounded // but for that
				}
				if got != broker.GradeBounded {
					t.Errorf("a rule that misses %s %s.%s by its %s = %s %q, want bounded", verb, e.resource, e.group, field, got, why)
				}
			}
		}
	}
}

// TestReasonsNameWhatARuleNames: a refusal says by which objects the holder would reach the whole cluster.
func TestReasonsNameWhatARuleNames(t *testing.T) {
	many := []string{"a", "b", "c", "d", "e", "f"}
	for want, r := range map[string]broker.Rule{
		"the holder can route custom resources through a webhook by customresourcedefinitions slices.example.com, anywhere in the cluster":             rule("apiextensions.k8s.io", "customresourcedefinitions", "get create patch", "slices.example.com"),
		"the holder can route custom resources through a webhook, anywhere in the cluster":                                                             rule("apiextensions.k8s.io", "customresourcedefinitions", "patch"),
		"the holder can lift the Pod Security level that keeps pods from their nodes by namespaces a, b, c, d, e, and others, anywhere in the cluster": rule("", "namespaces", "patch", many...),
	} {
		if grade, reasons := assess([]broker.Rule{r}, scope{clusterWide: true}); grade != broker.GradeUnbounded || !slices.Equal(reasons, []string{want}) {
			t.Errorf("%+v is %s because %q, want %q", r, grade, reasons, want)
		}
	}
}
