package server

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/policy"
)

// A client's token opens every door, with the roles of the client, until the client is gone.
func TestClientsTokensOpenEveryDoor(t *testing.T) {
	s, _ := tryOut(t, func(c *config) { c.Issuer = "http://127.0.0.1:8420" })
	admin := policy.Principal{Name: "admin", Project: "default", Roles: []string{policy.RoleAdmin}}
	c, plain, err := s.clients.Create(t.Context(), admin, oauth.NewClient{Name: "tacker", Roles: []string{policy.RoleVNFM}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, token, body string) *httptest.ResponseRecorder {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Version", "2.0.0")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		if method == "POST" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		return w
	}
	w := ask("POST", "/oauth2/token", "", "grant_type=client_credentials&client_id="+c.ID+"&client_secret="+plain.Reveal())
	var got struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 {
		t.Fatalf("POST /oauth2/token = %d %s", w.Code, w.Body)
	}
	if w := ask("GET", "/v1/whoami", got.AccessToken, ""); w.Code != 200 || !strings.Contains(w.Body.String(), "client:"+c.ID) {
		t.Errorf("GET /v1/whoami = %d %s", w.Code, w.Body)
	}
	for _, path := range []string{"/v1/vims", "/v1/leases", "/v1.0/vims", "/vnfpkgm/v2/vnf_packages"} {
		if w := ask("GET", path, got.AccessToken, ""); w.Code != 200 {
			t.Errorf("GET %s = %d %s", path, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/v1/clients", "/v1/token-keys", "/v1/tokens", "/v1/audit"} {
		if w := ask("GET", path, got.AccessToken, ""); w.Code != 403 {
			t.Errorf("GET %s = %d %s, want 403 for role vnfm", path, w.Code, w.Body)
		}
	}
	if err := s.clients.Delete(t.Context(), admin, c.ID); err != nil {
		t.Fatal(err)
	}
	if w := ask("GET", "/v1/whoami", got.AccessToken, ""); w.Code != 401 {
		t.Errorf("GET /v1/whoami of a client that is gone = %d %s", w.Code, w.Body)
	}
	if _, err := s.directories()[policy.ByClient].Lookup(t.Context(), "client:"+c.ID, "default"); err == nil {
		t.Error("a client that is gone is looked up")
	}
}

func TestWithoutAnIssuerNobodyLogsIn(t *testing.T) {
	s, _ := tryOut(t, func(c *config) { c.Issuer = "" })
	for _, path := range []string{"/oauth2/token", "/oauth2/jwks", "/.well-known/openid-configuration"} {
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		if w.Code != 404 {
			t.Errorf("GET %s = %d, want 404", path, w.Code)
		}
	}
}

func TestIssuersAreURLsWithoutAPath(t *testing.T) {
	for text, want := range map[string]bool{
		"https://vimbroker.example": true, "https://vimbroker.example:8443": true, "http://127.0.0.1:8420": true, "http://[::1]:8420": true,
		"http://vimbroker.example": false, "https://vimbroker.example/": false, "https://vimbroker.example/a": false, "https://a?b": false,
		"https://a#b": false, "https://u:p@a": false, "vimbroker.example": false, "https://": false, "urn:a": false, "https://a?": false,
	} {
		if issuerForm(text) != want {
			t.Errorf("%q can be an issuer: %t, want %t", text, !want, want)
		}
	}
}
