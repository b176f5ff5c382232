package openstack_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// rulesOf are the access rules of the application credential that a lease is.
func (l *lab) rulesOf(m broker.Minted) []fakekeystone.Rule {
	l.t.Helper()
	for _, c := range l.AppCreds() {
		if c.ID == m.Credential.ApplicationCredentialID {
			return c.Rules
		}
	}
	l.t.Fatal("the lease's application credential is not there")
	return nil
}

// A lease to read is held to reading, on every service of the catalog once; a renewed
// one, too; one for anything else is held to its roles.
func TestReadingIsHeldTo(t *testing.T) {
	l := newLab(t)
	at := func(service, side, region string) fakekeystone.Endpoint {
		return fakekeystone.Endpoint{Service: service, Interface: side, Region: region, URL: l.Endpoint}
	}
	l.SetCatalog(at("identity", "public", "one"), at("identity", "internal", "one"), at("key-manager", "public", "one"), at("key-manager", "public", "two"))
	l.register()
	want := []fakekeystone.Rule{
		{Service: "identity", Method: "GET", Path: "/**"},
		{Service: "identity", Method: "HEAD", Path: "/**"},
		{Service: "key-manager", Method: "GET", Path: "/**"},
		{Service: "key-manager", Method: "HEAD", Path: "/**"},
	}
	g := l.grant("member")
	g.Purpose = openstack.Read
	if diff := cmp.Diff(want, l.rulesOf(l.issue(g))); diff != "" {
		t.Errorf("rules of a lease to read (-want +got):\n%s", diff)
	}
	m, err := l.driver.Renew(t.Context(), l.access, g)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, l.rulesOf(m)); diff != "" {
		t.Errorf("rules of a renewed lease (-want +got):\n%s", diff)
	}
	for _, purpose := range []string{"", "Read", "reading", "a story"} {
		g := l.grant("member")
		g.Purpose = purpose
		if rules := l.rulesOf(l.issue(g)); rules != nil {
			t.Errorf("a lease for %q is held to %v", purpose, rules)
		}
	}
}

// Where reading cannot be held to, nothing is made.
func TestReadingIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		prepare     func(l *lab)
		role        string
		kind        error
		field, says string
	}{
		"a Keystone before Train": {func(l *lab) {
			l.IgnoreAccessRules()
		}, "", broker.ErrUnsupported, "purpose", "knows no access rules"},
		"a restricted credential": {func(l *lab) {
			c := l.AppCred(fakekeystone.AppCred{Name: "restricted", UserID: l.user.ID, ProjectID: l.project.ID, Roles: []string{"member", "reader"}})
			l.access.Target.Scope = broker.Scope{}
			l.access.Credential = broker.Credential{
				Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: c.ID, ApplicationCredentialSecret: secret.NewText(c.Secret),
			}
		}, "member", broker.ErrUnsupported, "purpose", "is a project token"},
		"admin": {func(l *lab) {
			l.user = l.User("boss", l.project, "admin")
			l.access = l.to(l.Endpoint)
		}, "admin", broker.ErrInvalid, "role", "may write at Keystone"},
		"manager, unasked": {func(l *lab) {
			l.user = l.User("boss", l.project, "manager")
			l.access = l.to(l.Endpoint)
		}, "", broker.ErrInvalid, "role", "may write at Keystone"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			c.prepare(l)
			l.register()
			before := len(l.AppCreds())
			g := l.grant(c.role)
			g.Purpose = openstack.Read
			_, err := l.driver.Issue(t.Context(), l.access, g)
			wantFault(t, "Issue", err, c.kind, c.field+": ")
			wantFault(t, "Issue", err, c.kind, c.says)
			if after := len(l.AppCreds()); after != before {
				t.Errorf("there are %d application credentials, there were %d", after, before)
			}
		})
	}
}

// A Keystone that makes other rules than it was asked for gets its work undone.
func TestRulesOfAnother(t *testing.T) {
	for name, rules := range map[string]any{
		"one of several": []any{map[string]any{"service": "identity", "method": "GET", "path": "/**"}},
		"others": []any{
			map[string]any{"service": "identity", "method": "POST", "path": "/**"},
			map[string]any{"service": "identity", "method": "GET", "path": "/**"},
			map[string]any{"service": "orchestration", "method": "GET", "path": "/**"},
			map[string]any{"service": "orchestration", "method": "HEAD", "path": "/**"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			x := lying(l)
			l.register()
			x.tell(changed("POST", `/application_credentials$`, func(_ http.Header, body map[string]any) {
				made, _ := body["application_credential"].(map[string]any)
				made["access_rules"] = rules
			}))
			g := l.grant("member")
			g.Purpose = openstack.Read
			_, err := l.driver.Issue(t.Context(), l.access, g)
			wantFault(t, "Issue", err, broker.ErrUnreachable, "does not answer as Keystone")
			if left := l.AppCreds(); len(left) > 0 {
				t.Errorf("%d application credentials are left", len(left))
			}
		})
	}
}
