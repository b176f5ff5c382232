package openstack_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// To a token whose application credential was deleted Keystone answers 404, whatever
// it is asked: that is no word on the lease.
func TestRevokeWithAnEndedSession(t *testing.T) {
	l := newLab(t)
	mighty := l.AppCred(fakekeystone.AppCred{Name: "mighty", UserID: l.user.ID, ProjectID: l.project.ID, Unrestricted: true})
	to, err := url.Parse(l.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			l.Delete(mighty.Name)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	l.access = l.to(front.URL)
	l.access.Credential = broker.Credential{
		Kind: broker.ApplicationCredential, ApplicationCredentialID: mighty.ID, ApplicationCredentialSecret: secret.NewText(mighty.Secret),
	}
	id := uuid.NewString()
	g := broker.Grant{Lease: id, Handle: "lease-" + id, TTL: time.Hour, Role: "member"}
	m, err := l.driver.Issue(t.Context(), l.access, g)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle}); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("Revoke() = %v, want %v", err, broker.ErrUnreachable)
	}
	if dead, err := l.driver.Dead(t.Context(), l.access, m.Credential); dead || err != nil {
		t.Errorf("Dead() = %v, %v: the lease was not deleted", dead, err)
	}
}
