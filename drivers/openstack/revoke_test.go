package openstack_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
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
	for name, known := range map[string]bool{"credential known": true, "credential lost": false} {
		t.Run(name, func(t *testing.T) {
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
				Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: mighty.ID, ApplicationCredentialSecret: secret.NewText(mighty.Secret),
			}
			id := uuid.NewString()
			g := broker.Grant{Lease: id, Handle: "lease-" + id, TTL: time.Hour, Role: "member"}
			m, err := l.driver.Issue(t.Context(), l.access, g)
			if err != nil {
				t.Fatal(err)
			}
			i := broker.Issued{Handle: g.Handle}
			if known {
				i.Credential = m.Credential
			}
			if err := l.driver.Revoke(t.Context(), l.access, i); !errors.Is(err, broker.ErrUnauthorized) {
				t.Errorf("Revoke() = %v, want %v", err, broker.ErrUnauthorized)
			}
			if dead, err := l.driver.Dead(t.Context(), l.access, m.Credential); dead || err != nil {
				t.Errorf("Dead() = %v, %v: the lease was not deleted", dead, err)
			}
		})
	}
}

// What a lease has upstream is looked for only where it is not known.
func TestRevokeLooksForWhatIsNotKnown(t *testing.T) {
	for name, c := range map[string]struct {
		renewed, known bool
		asked          []string // the first is the login
	}{
		"known, and the only one":    {known: true, asked: []string{http.MethodPost, http.MethodDelete}},
		"lost":                       {asked: []string{http.MethodPost, http.MethodGet, http.MethodDelete}},
		"known, and another is lost": {known: true, renewed: true, asked: []string{http.MethodPost, http.MethodGet, http.MethodDelete, http.MethodDelete}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.register()
			g := l.grant("member")
			i := broker.Issued{Handle: g.Handle, Renewed: c.renewed}
			if m := l.issue(g); c.known {
				i.Credential = m.Credential
			}
			if c.renewed {
				if _, err := l.driver.Renew(t.Context(), l.access, g); err != nil {
					t.Fatal(err)
				}
			}
			to, err := url.Parse(l.Endpoint)
			if err != nil {
				t.Fatal(err)
			}
			var asked []string
			proxy := httputil.NewSingleHostReverseProxy(to)
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.Method)
				proxy.ServeHTTP(w, r)
			}))
			t.Cleanup(front.Close)
			a := l.access
			a.Target = l.to(front.URL).Target
			if err := l.driver.Revoke(t.Context(), a, i); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(asked, c.asked) {
				t.Errorf("Keystone was asked %q, want %q", asked, c.asked)
			}
			for _, left := range l.AppCreds() {
				if strings.HasPrefix(left.Name, g.Handle) {
					t.Errorf("%s is left", left.Name)
				}
			}
		})
	}
}
