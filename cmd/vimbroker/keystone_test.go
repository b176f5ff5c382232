package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/story"
)

// keystoneDoor is as much of a Keystone as it takes to let the token "alices" of
// the project "p1" in.
func keystoneDoor(t *testing.T) *httptest.Server {
	t.Helper()
	const document = `{"token": {"user": {"id": "%s", "name": "n", "domain": {"id": "default", "name": "Default"}}, "expires_at": "2999-01-01T00:00:00.000000Z",
		"project": {"id": "p1", "name": "p", "domain": {"id": "default", "name": "Default"}}, "roles": [{"id": "r1", "name": "tenant-admin"}]}}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodPost:
			w.Header().Set("X-Subject-Token", "brokers")
			w.WriteHeader(http.StatusCreated)
			fmt.Fprintf(w, document, "b1")
		case r.Header.Get("X-Auth-Token") == "brokers" && r.Header.Get("X-Subject-Token") == "alices":
			fmt.Fprintf(w, document, "a1")
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error": {"code": 404, "title": "Not Found"}}`)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestCallersFromKeystone(t *testing.T) {
	k := keystoneDoor(t)
	i := serveConfig(t, fmt.Sprintf("trust: [{name: k, keystone: {authURL: %q, roles: {tenant-admin: admin}, auth: {applicationCredential: {id: x, secretFile: %q}}}}]\n",
		k.URL, story.WriteFile(t, "secret", "s\n", 0o600)))
	whoami := func(header, token string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+i.addr+"/v1/audit", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(header, token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		var text strings.Builder
		if err := answer.Write(&text); err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, text.String()
	}
	for _, c := range []struct {
		header, token string
		status        int
	}{
		{"X-Auth-Token", "alices", http.StatusOK},
		{"Authorization", "Bearer alices", http.StatusOK},
		{"X-Auth-Token", i.token, http.StatusOK}, // one of ours
		{"Authorization", "Bearer " + i.token, http.StatusOK},
		{"X-Auth-Token", "bobs", http.StatusUnauthorized},
	} {
		if status, text := whoami(c.header, c.token); status != c.status {
			t.Errorf("GET /v1/audit with %s = %d, want %d:\n%s", c.header, status, c.status, text)
		}
	}
	if _, text := whoami("X-Auth-Token", "alices"); !strings.Contains(text, `"keystone:a1@default"`) {
		t.Errorf("the audit log does not name the Keystone caller: %s", text)
	}
	// Keystone away is not a wrong token; static tokens go on.
	k.Close()
	if status, _ := whoami("X-Auth-Token", "carols"); status != http.StatusServiceUnavailable {
		t.Errorf("a Keystone token without Keystone = %d, want 503", status)
	}
	if status, _ := whoami("X-Auth-Token", i.token); status != http.StatusOK {
		t.Errorf("a static token without Keystone = %d, want 200", status)
	}
}
