package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// guestbook notes who came in and who did not.
type guestbook struct{ said []string }

func (g *guestbook) RecordLogin(_ context.Context, p policy.Principal) {
	g.said = append(g.said, "in: "+p.Name)
}

func (g *guestbook) RecordRefusedLogin(_ context.Context, why error) {
	g.said = append(g.said, "out: "+why.Error())
}

// askers are callers of whom one is unknown, and one cannot be asked about.
type askers struct{}

func (askers) Authenticate(_ context.Context, token string) (policy.Principal, error) {
	switch token {
	case "unknown":
		return policy.Principal{}, policy.ErrUnauthenticated
	case "away":
		return policy.Principal{}, errors.New("canary")
	}
	return policy.Principal{Name: token}, nil
}

// An answer is compared whole: status, headers, body, who is noted as come in, and the log.
func TestAnswersWhole(t *testing.T) {
	op := func(path string, err error) Route {
		return Route{Method: "GET", Path: path, Timeout: time.Minute, Status: http.StatusOK, Handle: func(*Call) (Answer, error) {
			if path == "/panics" {
				panic("canary")
			}
			return Answer{Body: "ok"}, err
		}}
	}
	login := func(path string, err error) Route {
		r := op(path, err)
		r.Login, r.Status = true, http.StatusAccepted
		return r
	}
	door := Door{
		Paths: []string{"/nothing", "/private/"}, Private: "/private/", Next: map[broker.Next]string{broker.NextListVIMs: "look"},
		Refuse: func(_ *http.Request, p Problem) Answer {
			return Answer{Body: strings.Join([]string{p.Name, p.Detail, p.Remedy, p.RequestID, fmt.Sprint(p.Faults)}, "|")}
		},
		Routes: []Route{
			op("/ok", nil), op("/panics", nil),
			op("/away", &broker.Error{Kind: broker.ErrUnavailable, Detail: "d", Remedy: "r", Next: broker.NextListVIMs, Cause: errors.New("cause")}),
			op("/later", &broker.Error{Kind: broker.ErrUnavailable, Detail: "d", RetryAfter: 1500 * time.Millisecond}),
			op("/limited", &Refusal{Kind: ErrLimited, Detail: "d", RetryAfter: 1, Header: http.Header{"X-More": {"m"}}}),
			op("/field", broker.Invalid("If-Match", "is odd")), op("/key", broker.Invalid("Idempotency-Key", "is odd")), op("/body", broker.Invalid("name", "is odd")),
			op("/unknown", errors.New("canary")),
			login("/login", nil), login("/login-refused", fmt.Errorf("%w: who", policy.ErrUnauthenticated)),
			login("/login-odd", broker.Invalid("name", "is odd")),
		},
	}
	for _, r := range door.Routes {
		door.Paths = append(door.Paths, r.Path)
	}
	for ask, want := range map[string]string{
		"GET /ok alice":            `200 Content-Type: application/json "ok" in: alice`,
		"GET /ok":                  `401 Www-Authenticate: Bearer realm="vimbroker" "unauthenticated|||r1|[]"`,
		"GET /ok a b":              `401 Www-Authenticate: Bearer realm="vimbroker", error="invalid_request" "unauthenticated|||r1|[]" out: not authenticated: malformed`,
		"GET /ok unknown":          `401 Www-Authenticate: Bearer realm="vimbroker", error="invalid_token" "unauthenticated|||r1|[]" out: not authenticated`,
		"GET /ok away":             `503 Retry-After: 5 "unavailable|callers cannot be authenticated now||r1|[]" WARN: request failed`,
		"PUT /ok alice":            `405 Allow: GET, HEAD "method|||r1|[]"`,
		"GET /nothing alice":       `404 "not-found|nothing is served at this path; compare the address||r1|[]"`,
		"GET /panics alice":        `500 "internal|||r1|[]" in: alice ERROR: panic while answering ERROR: request failed`,
		"GET /away alice":          `503 Retry-After: 5 "unavailable|d|r; look|r1|[]" in: alice WARN: request failed`,
		"GET /later alice":         `503 Retry-After: 2 "unavailable|d||r1|[]" in: alice WARN: request failed`,
		"GET /limited alice":       `429 Retry-After: 1 X-More: m "limited|d||r1|[]" in: alice`,
		"GET /field alice":         `422 "invalid|||r1|[{header If-Match is odd}]" in: alice`,
		"GET /key alice":           `422 "invalid|||r1|[{header Idempotency-Key is odd}]" in: alice`,
		"GET /body alice":          `422 "invalid|||r1|[{body name is odd}]" in: alice`,
		"GET /elsewhere alice":     `404 `,
		"GET /private/x":           `401 Www-Authenticate: Bearer realm="vimbroker" "unauthenticated|||r1|[]"`,
		"GET /private/x alice":     `404 "not-found|nothing is served at this path; compare the address||r1|[]" in: alice`,
		"GET /login alice":         `202 Content-Type: application/json "ok"`,
		"GET /login-refused alice": `401 "unauthenticated|||r1|[]" out: not authenticated: who`,
		"GET /login-odd alice":     `422 "invalid|||r1|[{body name is odd}]"`,
		"GET /unknown alice":       `500 "internal|||r1|[]" in: alice ERROR: request failed`,
	} {
		var log strings.Builder
		book := &guestbook{}
		h := New(Options{Doors: []Door{door}, Authenticator: askers{}, Logins: book, Log: testlog.To(t, slog.NewTextHandler(&log, nil))})
		part := strings.SplitN(ask, " ", 3)
		r := httptest.NewRequest(part[0], part[1], nil)
		r.Header.Set("X-Request-Id", "r1")
		if len(part) > 2 {
			r.Header.Set("Authorization", "Bearer "+part[2])
		}
		w := httptest.NewRecorder()
		shows := strings.HasPrefix(part[1], "/login")
		if shows {
			r.Header.Set(KeystoneHeader, "canary")
		}
		h.ServeHTTP(w, r)
		if shows && (r.Header.Get("Authorization") != "" || r.Header.Get(KeystoneHeader) != "") {
			t.Errorf("%s: after a login the headers are %v", ask, r.Header)
		}
		header := w.Header()
		for name, always := range map[string]string{"X-Request-Id": "r1", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
			if got := header.Get(name); got != always {
				t.Errorf("%s: the header %s is %q", ask, name, got)
			}
			header.Del(name)
		}
		if w.Code >= 400 && header.Get("Content-Type") == "application/json" {
			header.Del("Content-Type")
		}
		got := []string{fmt.Sprint(w.Code)}
		for _, name := range slices.Sorted(maps.Keys(header)) {
			got = append(got, name+": "+strings.Join(header[name], " & "))
		}
		got = append(append(got, w.Body.String()), book.said...)
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "panic while") && strings.Contains(line, "canary") {
				t.Errorf("%s: the log repeats what a panic held: %s", ask, line)
			}
			_, line, _ = strings.Cut(line, "level=")
			level, rest, _ := strings.Cut(line, " msg=")
			if level == "INFO" {
				continue
			}
			got = append(got, level+": "+strings.Split(rest, `"`)[1])
		}
		if said := strings.Join(got, " "); said != want {
			t.Errorf("%s:\n%s, want\n%s", ask, said, want)
		}
	}
}
