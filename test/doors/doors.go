// Package doors serves doors of the API to a test, and asks at them.
package doors

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// callers are known by their names: that is their token. alice's project is core, bob's ran.
type callers struct{}

// Authenticate implements [api.Authenticator].
func (callers) Authenticate(_ context.Context, token string) (policy.Principal, error) {
	project, known := map[string]string{"alice": "core", "bob": "ran"}[token]
	if !known {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	return policy.Principal{Name: token, Project: project, Roles: []string{policy.RoleMember}}, nil
}

// vitals are never asked for.
type vitals interface{ api.Vitals }

type nothing struct{ vitals }

// Client asks at doors as alice.
type Client struct {
	T testing.TB
	// URL is what the paths of requests follow.
	URL string
	// Version is the header Version of requests; empty sends none.
	Version string
}

// Serve answers at doors until the test ends. A nil log discards.
func Serve(t testing.TB, log *slog.Logger, all ...api.Door) *Client {
	t.Helper()
	if log == nil {
		log = testlog.Silent(t)
	}
	s := httptest.NewServer(api.New(api.Options{Doors: all, Authenticator: callers{}, Vitals: nothing{}, Log: log}))
	t.Cleanup(s.Close)
	return &Client{T: t, URL: s.URL}
}

// Ask sends a request; headers alternate names and values, and an empty value leaves a header out.
func (c *Client) Ask(method, path, body string, headers ...string) (*http.Response, string) {
	c.T.Helper()
	r, err := http.NewRequestWithContext(c.T.Context(), method, c.URL+path, strings.NewReader(body))
	if err != nil {
		c.T.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer alice")
	if c.Version != "" {
		r.Header.Set("Version", c.Version)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 1; i < len(headers); i += 2 {
		if !slices.Contains(headers[:i-1], headers[i-1]) { // one that is named twice is sent twice
			r.Header.Del(headers[i-1])
		}
		if headers[i] != "" {
			r.Header.Add(headers[i-1], headers[i])
		}
	}
	answer, err := asIs.Do(r)
	if err != nil {
		c.T.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		c.T.Fatal(err)
	}
	return answer, string(text)
}

// asIs shows each answer as it is, also one that leads elsewhere.
var asIs = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
