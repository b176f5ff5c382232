package kubernetes_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
)

// Exactly 3607 seconds is what API servers may stretch to a year.
func TestIssueNeverAsksFor3607(t *testing.T) {
	l := newLab(t)
	g := l.grant("view")
	g.TTL = 3607*time.Second + 500*time.Millisecond
	began := l.clock.Now()
	m := l.issue(g)
	if left := m.ExpiresAt.Sub(began); left < 3605*time.Second || left > 3606*time.Second {
		t.Errorf("the token lives for %v, want 3606 s", left)
	}
}

// What others deleted by hand is found missing by the next lease.
func TestIssueMakesRemovedBindingAgain(t *testing.T) {
	l := newLab(t)
	l.issue(l.grant("view"))
	name := l.Names("clusterrolebindings", "")
	i := slices.IndexFunc(name, func(n string) bool { return strings.HasPrefix(n, "vimbroker-") })
	if i < 0 {
		t.Fatalf("no binding of ours in %q", name)
	}
	binding := strings.TrimPrefix(name[i], "/")
	if !l.Delete("clusterrolebindings", "", binding) {
		t.Fatalf("%s is not there to be deleted", binding)
	}
	l.issue(l.grant("view"))
	if !slices.Equal(l.Names("clusterrolebindings", ""), name) {
		t.Errorf("cluster role bindings are %q, want %q", l.Names("clusterrolebindings", ""), name)
	}
}

func TestIssueAfterItsNamespaceWasDeleted(t *testing.T) {
	l := newLab(t)
	l.issue(l.grant("view"))
	// Its accounts go with it, as a real cluster empties a namespace.
	for _, name := range accountsIn(l.Server) {
		l.Delete("serviceaccounts", l.home(), name[strings.LastIndex(name, "/")+1:])
	}
	l.Delete("namespaces", "", l.home())
	m := l.issue(l.grant("view"))
	if dead, err := l.driver.Dead(t.Context(), l.access, m.Credential); dead || err != nil {
		t.Errorf("Dead = %v, %v, want a token that lives", dead, err)
	}
}

func TestDeadOfNothing(t *testing.T) {
	l := newLab(t)
	_, err := l.driver.Dead(t.Context(), l.access, broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.Text{}})
	want(t, "Dead of nothing", err, broker.ErrInvalid)
}

func TestPrepareRefusesRolesAndNamespaces(t *testing.T) {
	d := kubernetes.New(kubernetes.Options{})
	for _, g := range []struct {
		field string
		grant broker.Grant
	}{
		{"ttl", broker.Grant{TTL: 10*time.Minute - 1}},
		{"ttl", broker.Grant{TTL: 1 << 62}},
		{"role", broker.Grant{TTL: time.Hour, Role: "../nodes"}},
		{"role", broker.Grant{TTL: time.Hour, Role: "a/b"}},
		{"role", broker.Grant{TTL: time.Hour, Role: "a%2fb"}},
		{"role", broker.Grant{TTL: time.Hour, Role: "a\nb"}},
		{"role", broker.Grant{TTL: time.Hour, Role: strings.Repeat("a", 254)}},
		{"namespaces", broker.Grant{TTL: time.Hour, Namespaces: []string{"a", "../b"}}},
		{"namespaces", broker.Grant{TTL: time.Hour, Namespaces: []string{""}}},
		{"namespaces", broker.Grant{TTL: time.Hour, Namespaces: []string{"a", "vimbroker"}}},
		{"namespaces", broker.Grant{TTL: time.Hour, Namespaces: []string{"vimbroker-12345678-1"}}},
		{"clusterWide", broker.Grant{TTL: time.Hour, ClusterWide: true, Namespaces: []string{"a"}}},
		{"rules", broker.Grant{TTL: time.Hour, Rules: make([]broker.Rule, 65)}},
		{"rules.0.verbs", broker.Grant{TTL: time.Hour, Rules: []broker.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}}}}},
		{"rules.0.verbs", broker.Grant{TTL: time.Hour, Rules: []broker.Rule{does("", "pods", "get", "gte")}}},
		{"rules.0.verbs", broker.Grant{TTL: time.Hour, Rules: []broker.Rule{does("apps", "deployments", "Get")}}},
		{"rules.1.resources", broker.Grant{TTL: time.Hour, Rules: []broker.Rule{reads("pods"), reads("po ds")}}},
		{"rules.0.resources", broker.Grant{TTL: time.Hour, Rules: []broker.Rule{reads("")}}},
		{"namespaces", broker.Grant{TTL: time.Hour, Namespaces: names(33)}},
	} {
		_, err := d.Prepare(g.grant)
		want(t, "Prepare", err, broker.ErrInvalid)
		if err != nil && !strings.HasPrefix(err.Error(), g.field+": ") {
			t.Errorf("Prepare(%+v): %v, want it to name %s", g.grant, err, g.field)
		}
	}
	for _, r := range []broker.Rule{
		does("virt.example", "machines", "migrate"), does("", "pods", "impersonate-on:user-info:list"), does("", "pods", "*"),
		does("certificates.k8s.io", "signers", "approve", "sign"), does("", "pods~", "get"),
	} {
		if _, err := d.Prepare(broker.Grant{TTL: time.Hour, Rules: []broker.Rule{r}}); err != nil {
			t.Errorf("Prepare of %+v: %v", r, err)
		}
	}
	in := []string{"b", "a", "b"}
	g, err := d.Prepare(broker.Grant{TTL: 10 * time.Minute, Role: "system:node-reader.v1", Namespaces: in})
	if err != nil || g.Role != "system:node-reader.v1" || !slices.Equal(g.Namespaces, []string{"a", "b"}) {
		t.Errorf("Prepare = %+v, %v", g, err)
	}
	if !slices.Equal(in, []string{"b", "a", "b"}) {
		t.Error("Prepare sorts the caller's own namespaces")
	}
	if g, err := d.Prepare(broker.Grant{TTL: time.Hour, Namespaces: names(32)}); err != nil || g.Role != "view" || len(g.Namespaces) != 32 {
		t.Errorf("Prepare = role %q, %d namespaces, %v, want view in 32", g.Role, len(g.Namespaces), err)
	}
}

// does is the rule to do the verbs on one kind of object.
func does(group, resource string, verbs ...string) broker.Rule {
	return broker.Rule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// reads is the rule to read one kind of object of the core group.
func reads(resource string) broker.Rule {
	return broker.Rule{APIGroups: []string{""}, Resources: []string{resource}, Verbs: []string{"get", "list"}}
}

func names(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.Repeat("n", i+1)
	}
	return all
}
