package sol013_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/lifecycle/api/sol013"
	"github.com/vimbroker/vimbroker/policy"
)

type callers struct{}

func (callers) Authenticate(_ context.Context, token string) (policy.Principal, error) {
	if token != "alice" {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	return policy.Principal{Name: token, Project: "core"}, nil
}

// uncounted is never asked.
type uncounted interface{ api.Vitals }

type nothing struct{ uncounted }

// serve answers for a door of an API with two major versions.
func serve(t *testing.T) string {
	t.Helper()
	door := sol013.Door(
		sol013.API{Name: "toy", Majors: []sol013.Major{
			{Path: "/toy/v2", Versions: []string{"2.0.0", "2.1.0"}},
			{Path: "/toy/v1", Versions: []string{"1.0.0"}, Lenient: true},
		}},
		api.Operation{
			Method: "GET", Path: "/things", Timeout: time.Minute,
			Handle: func(c *api.Call) (api.Answer, error) {
				return sol013.List(c, sol013.Shape{}, []map[string]string{{"id": c.Principal.Name}}, "next one")
			},
		},
		api.Operation{
			Method: "GET", Path: "/fault", Timeout: time.Minute,
			Handle: func(*api.Call) (api.Answer, error) { return api.Answer{}, broker.Invalid("size", "is too big") },
		},
		api.Operation{
			Method: "POST", Path: "/things", Timeout: time.Minute,
			Handle: func(*api.Call) (api.Answer, error) {
				return api.Answer{}, sol013.NotImplemented("nothing is made here")
			},
		},
	)
	s := httptest.NewServer(api.New(api.Options{
		Doors: []api.Door{door}, Authenticator: callers{}, Vitals: nothing{}, Log: slog.New(slog.DiscardHandler),
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestVersions(t *testing.T) {
	url := serve(t)
	for _, c := range []struct {
		method, path, version string
		status                int
		answered, body        string
	}{
		{"GET", "/toy/v2/things", "2.0.0", 200, "2.0.0", `[{"id":"alice"}]`},
		{"GET", "/toy/v2/things", "2.1.0", 200, "2.1.0", `[{"id":"alice"}]`},
		{"GET", "/toy/v2/things", "2.1.0-impl:example.com:toys:1", 200, "2.1.0", `[{"id":"alice"}]`},
		{"GET", "/toy/v2/things", "", 400, "2.1.0", "Version is required"},
		{"GET", "/toy/v2/things", "1.0.0", 406, "2.1.0", "must be 2.0.0 or 2.1.0"},
		{"GET", "/toy/v1/things", "", 200, "1.0.0", `[{"id":"alice"}]`},
		{"GET", "/toy/v1/things", "9.9.9", 200, "1.0.0", `[{"id":"alice"}]`},
		{"GET", "/toy/v2/fault", "2.1.0", 422, "2.1.0", "size is too big"},
		{"POST", "/toy/v2/things", "2.1.0", 501, "2.1.0", "nothing is made here"},
		{"PUT", "/toy/v2/things", "2.1.0", 405, "2.1.0", "method not allowed"},
		{"GET", "/toy/v2/nothing", "2.1.0", 404, "2.1.0", "nothing is served"},
		{"GET", "/toy/api_versions", "", 200, "2.1.0", `{"uriPrefix":"/toy","apiVersions":[{"version":"2.0.0","isDeprecated":false},{"version":"2.1.0","isDeprecated":false},{"version":"1.0.0","isDeprecated":false}]}`},
		{"GET", "/toy/v1/api_versions", "", 200, "1.0.0", `{"uriPrefix":"/toy/v1","apiVersions":[{"version":"1.0.0","isDeprecated":false}]}`},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, url+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer alice")
		if c.version != "" {
			r.Header.Set("Version", c.version)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != c.status || answer.Header.Get("Version") != c.answered || !strings.Contains(string(body), c.body) {
			t.Errorf("%s %s, version %q = %d, version %q: %s; want %d, version %q: %s", c.method, c.path, c.version,
				answer.StatusCode, answer.Header.Get("Version"), body, c.status, c.answered, c.body)
		}
		if c.status < 400 {
			continue
		}
		var problem struct {
			Status int
			Detail string
		}
		if err := json.Unmarshal(body, &problem); err != nil || problem.Status != c.status || problem.Detail == "" ||
			answer.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s is no problem of RFC 9457 with a detail: %s", c.method, c.path, body)
		}
	}
}

func TestNextPage(t *testing.T) {
	url := serve(t)
	r, err := http.NewRequestWithContext(t.Context(), "GET", url+"/toy/v2/things?filter=(eq,id,alice)&nextpage_opaque_marker=old", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer alice")
	r.Header.Set("Version", "2.0.0")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	want := "<" + url + `/toy/v2/things?filter=%28eq%2Cid%2Calice%29&nextpage_opaque_marker=next+one>; rel="next"`
	if got := answer.Header.Get("Link"); got != want {
		t.Errorf("Link = %s, want %s", got, want)
	}
}

// TestEveryNextStepHasWords: the domain's next steps lead somewhere for callers of these doors.
func TestEveryNextStepHasWords(t *testing.T) {
	d := sol013.Door(sol013.API{Name: "toy", Majors: []sol013.Major{{Path: "/toy/v1", Versions: []string{"1.0.0"}}}})
	for _, n := range broker.NextSteps() {
		if d.Next[n] == "" {
			t.Errorf("next step %d has no words", n)
		}
	}
}
