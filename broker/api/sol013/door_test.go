package sol013_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/sol013"
	"github.com/vimbroker/vimbroker/test/doors"
)

// serve answers for a door of an API with two major versions.
func serve(t *testing.T) *doors.Client {
	t.Helper()
	door := sol013.Door(
		sol013.API{Name: "toy", Majors: []sol013.Major{
			{Path: "/toy/v2", Versions: []string{"2.0.0", "2.1.0"}},
			{Path: "/toy/v1", Versions: []string{"1.0.0"}, Lenient: true},
		}},
		api.Route{
			Method: "GET", Path: "/things", Timeout: time.Minute,
			Handle: func(c *api.Call) (api.Answer, error) {
				return sol013.List(c, sol013.Selectable{}, []map[string]string{{"id": c.Principal.Name}}, "next one")
			},
		},
		api.Route{
			Method: "GET", Path: "/fault", Timeout: time.Minute,
			Handle: func(*api.Call) (api.Answer, error) { return api.Answer{}, broker.Invalid("size", "is too big") },
		},
		api.Route{
			Method: "GET", Path: "/paged", Timeout: time.Minute,
			Handle: func(c *api.Call) (api.Answer, error) {
				if sol013.Marker(c) != "x" {
					return api.Answer{}, broker.Invalid("marker", "is %s to the list", sol013.Marker(c))
				}
				return api.Answer{}, broker.Invalid("pageToken", "canary")
			},
		},
		api.Route{
			Method: "POST", Path: "/things", Timeout: time.Minute,
			Handle: func(*api.Call) (api.Answer, error) {
				return api.Answer{}, sol013.NotImplemented("nothing is made here")
			},
		},
	)
	return doors.Serve(t, nil, door)
}

func TestVersions(t *testing.T) {
	asker := serve(t)
	for _, c := range []struct {
		method, path, version string
		status                int
		answered, body        string
	}{
		{"GET", "/toy/v2/things", "2.0.0", 200, "2.0.0", `[{"id":"alice"}]`},
		{"GET", "/toy/v2/things", "2.1.0", 200, "2.1.0", `[{"id":"alice"}]`},
		{"GET", "/toy/v2/things", "2.1.0-impl:example.com:toys:1", 200, "2.1.0", `[{"id":"alice"}]`},
		{"GET", "/toy/v2/things", "", 400, "2.1.0", "Version: is required"},
		{"GET", "/toy/v2/things", "1.0.0", 406, "2.1.0", "must be 2.0.0 or 2.1.0"},
		{"GET", "/toy/v1/things", "", 200, "1.0.0", `[{"id":"alice"}]`},
		{"GET", "/toy/v1/things", "9.9.9", 200, "1.0.0", `[{"id":"alice"}]`},
		{"GET", "/toy/v2/fault", "2.1.0", 422, "2.1.0", "size: is too big"},
		{"POST", "/toy/v2/things", "2.1.0", 501, "2.1.0", "nothing is made here"},
		{"PUT", "/toy/v2/things", "2.1.0", 405, "2.1.0", "method not allowed"},
		{"GET", "/toy/v2/nothing", "2.1.0", 404, "2.1.0", "nothing is served"},
		{"GET", "/toy/api_versions", "", 200, "2.1.0", `{"uriPrefix":"/toy","apiVersions":[{"version":"2.0.0","isDeprecated":false},{"version":"2.1.0","isDeprecated":false},{"version":"1.0.0","isDeprecated":false}]}`},
		{"GET", "/toy/v1/api_versions", "", 200, "1.0.0", `{"uriPrefix":"/toy/v1","apiVersions":[{"version":"1.0.0","isDeprecated":false}]}`},
	} {
		answer, body := asker.Ask(c.method, c.path, "", "Version", c.version)
		if answer.StatusCode != c.status || answer.Header.Get("Version") != c.answered || !strings.Contains(body, c.body) {
			t.Errorf("%s %s, version %q = %d, version %q: %s; want %d, version %q: %s", c.method, c.path, c.version,
				answer.StatusCode, answer.Header.Get("Version"), body, c.status, c.answered, c.body)
		}
		if c.status < 400 {
			continue
		}
		var problem struct {
			Type   string
			Status int
			Detail string
		}
		if err := json.Unmarshal([]byte(body), &problem); err != nil || problem.Status != c.status || problem.Detail == "" ||
			answer.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s is no problem of RFC 9457 with a detail: %s", c.method, c.path, body)
		}
		if name := strings.TrimPrefix(problem.Type, "urn:vimbroker:problem:"); answer.Header.Get("Link") != "</errors#"+name+`>; rel="help"` {
			t.Errorf("%s %s leads to %q for help with %s", c.method, c.path, answer.Header.Get("Link"), name)
		}
	}
}

// What the headers ask for and cannot be had is refused before anything is done; a version that is not there leads to one
// that is.
func TestHeadersThatCannotBeKept(t *testing.T) {
	c := serve(t)
	for accept, want := range map[string]int{
		"application/json": 200, "*/*": 200, "application/*;q=0.5": 200, "text/plain, application/json": 200,
		"application/xml": 406, "application/json;q=0": 406,
	} {
		if answer, body := c.Ask("GET", "/toy/v2/things", "", "Version", "2.0.0", "Accept", accept); answer.StatusCode != want {
			t.Errorf("Accept: %s = %d %s, want %d", accept, answer.StatusCode, body, want)
		}
	}
	if answer, body := c.Ask("GET", "/toy/v3/things", ""); answer.StatusCode != 404 || !strings.Contains(body, "ask for /toy/v2, with the header Version: 2.1.0") {
		t.Errorf("of another major version: %d %s", answer.StatusCode, body)
	}
}

func TestNextPage(t *testing.T) {
	c := serve(t)
	answer, _ := c.Ask("GET", "/toy/v2/things?filter=(eq,id,alice)&nextpage_opaque_marker=things.old", "", "Version", "2.0.0")
	want := "<" + c.URL + `/toy/v2/things?filter=%28eq%2Cid%2Calice%29&nextpage_opaque_marker=things.next+one>; rel="next"`
	if got := answer.Header.Get("Link"); got != want {
		t.Errorf("Link = %s, want %s", got, want)
	}
	for what, path := range map[string]string{"another list": "things?nextpage_opaque_marker=others.old", "nobody": "paged?nextpage_opaque_marker=paged.x"} {
		answer, body := c.Ask("GET", "/toy/v2/"+path, "", "Version", "2.0.0")
		if answer.StatusCode != 400 || !strings.Contains(body, "nextpage_opaque_marker: is not one that this list gave out") || strings.Contains(body, "canary") {
			t.Errorf("a marker of %s = %d %s", what, answer.StatusCode, body)
		}
	}
}

// TestEveryNextStepHasWords: the domain's next steps lead somewhere for callers of these doors.
func TestEveryNextStepHasWords(t *testing.T) {
	d := sol013.Door(sol013.API{Name: "toy", Majors: []sol013.Major{{Path: "/toy/v1", Versions: []string{"1.0.0"}}}})
	for n := broker.NextNothing + 1; n < broker.NextEnd; n++ {
		if d.Next[n] == "" {
			t.Errorf("next step %d has no words", n)
		}
	}
}
