package client_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// TestLogin: a registered client fetches a token before its first request, again before that ends, and says nothing of its
// secret where it is refused.
func TestLogin(t *testing.T) {
	const canary = "vbc_canary"
	logins, life, status := 0, 300, http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/oauth2/token" {
			if got := r.Header.Get("Authorization"); got != fmt.Sprintf("Bearer token-%d", logins) {
				t.Errorf("%s is asked with %q", r.URL.Path, got)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, "{}")
			return
		}
		if r.FormValue("grant_type") != "client_credentials" || r.FormValue("client_id") != "c" || r.FormValue("client_secret") != canary {
			t.Errorf("the form is %v", r.Form)
		}
		logins++
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"access_token":"token-%d","expires_in":%d,"error_description":%q}`, logins, life, canary)
	}))
	defer s.Close()
	c, err := client.New(client.Options{Addr: s.URL, Login: &client.Login{ID: "c", Secret: secret.NewText(canary)}})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []int{1, 1, 2} {
		if n == 2 {
			life = 29 // the next is too short to be kept
			if c, err = client.New(client.Options{Addr: s.URL, Login: &client.Login{ID: "c", Secret: secret.NewText(canary)}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Lease(t.Context(), "l"); err != nil || logins != want {
			t.Errorf("request %d: %v after %d logins, want %d", n, err, logins, want)
		}
	}
	if _, err := c.Lease(t.Context(), "l"); err != nil || logins != 3 {
		t.Errorf("a token that ends: %v after %d logins", err, logins)
	}
	status = http.StatusUnauthorized
	if _, err := c.Lease(t.Context(), "l"); client.Status(err) != http.StatusUnauthorized || strings.Contains(err.Error(), canary) {
		t.Errorf("a login that is refused: %v", err)
	}
}
