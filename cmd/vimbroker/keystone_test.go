package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/policy"
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
	i := serveConfig(t, fmt.Sprintf("callers: {keystone: {authURL: %q, roles: {tenant-admin: admin}, auth: {applicationCredential: {id: x, secretFile: %q}}}}\n",
		k.URL, write(t, "secret", "s\n", 0o600)))
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
	if _, text := whoami("X-Auth-Token", "alices"); !strings.Contains(text, `"a1@default"`) {
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

func TestCallersReportEveryFaultAtOnce(t *testing.T) {
	loose := write(t, "loose", "canary", 0o644)
	_, err := loadConfig(write(t, "c.yaml", "callers: {keystone: {authURL: http://k.example, roles: {cloud: system}, auth: {password: {username: u, project: p, passwordFile: "+loose+"}}}}\n", 0o600),
		environment{"HOME=/h"}, keep)
	for _, want := range []string{
		"callers.keystone: address of Keystone: must be https", `callers.keystone: role "cloud": cannot be worth "system"`, "callers.keystone.auth.password.passwordFile: " + loose + " can be read",
		"callers.keystone: login: give an application credential, the user's id", "callers.keystone: login: give the project's id",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("loadConfig = %v\nwant it to say %q", err, want)
		}
	}
	if strings.Contains(fmt.Sprint(err), "tokensFile") || strings.Contains(fmt.Sprint(err), "canary") {
		t.Errorf("loadConfig = %v, want no word of tokensFile, nor what a file holds", err)
	}
	_, err = loadConfig(write(t, "d.yaml", "callers: {keystone: {authURL: https://k.example}}\n", 0o600), environment{"HOME=/h"}, keep)
	if want := "callers.keystone.auth: must be exactly one of"; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("loadConfig = %v, want it to say %q", err, want)
	}
}

// A live configuration without static tokens knows no holder of one.
func TestOwnTokensAreNeverKeystones(t *testing.T) {
	plain, _ := policy.NewToken()
	l := newLive(config{})
	l.keystone = neverAsked{t}
	if p, err := l.Authenticate(t.Context(), plain); err == nil {
		t.Errorf("Authenticate = %+v, want an error", p)
	}
}

// neverAsked fails the test if a token of ours is sent to Keystone.
type neverAsked struct{ t *testing.T }

func (n neverAsked) Authenticate(context.Context, string) (policy.Principal, error) {
	n.t.Error("a token of ours was sent to Keystone")
	return policy.Principal{}, nil
}
