package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/policy"
)

// problemOf reads a problem, and fails unless it is well formed.
func problemOf(t *testing.T, what string, answer *http.Response, body string) v1.Problem {
	t.Helper()
	var p v1.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatalf("%s: not a problem: %s", what, body)
	}
	if kind := answer.Header.Get("Content-Type"); kind != v1.ProblemType {
		t.Errorf("%s: content type %q", what, kind)
	}
	if p.Status != answer.StatusCode || p.Title == "" || !strings.HasPrefix(p.Type, "urn:vimbroker:problem:") ||
		p.RequestID == "" || p.RequestID != answer.Header.Get("X-Request-Id") {
		t.Errorf("%s: %+v", what, p)
	}
	name := strings.TrimPrefix(p.Type, "urn:vimbroker:problem:")
	if link := answer.Header.Get("Link"); link != "</errors#"+name+`>; rel="help"` || !strings.Contains(helpPage(t), `<h2 id="`+name+`">`) {
		t.Errorf("%s: the header Link is %q, which leads to no place of the page /errors", what, link)
	}
	return p
}

var helpPageText string

// helpPage is the page of all kinds of problems, as anybody sees it.
func helpPage(t *testing.T) string {
	t.Helper()
	if helpPageText == "" {
		b := newBench(t)
		answer, text := b.raw("", "GET", "/errors", "")
		if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/html; charset=utf-8" ||
			answer.Header.Get("Content-Security-Policy") != "default-src 'none'" {
			t.Fatalf("GET /errors = %d, %v, %s", answer.StatusCode, answer.Header, text)
		}
		helpPageText = text
	}
	return helpPageText
}

// Each kind of problem says what it means and what to do, each once.
func TestEveryProblemHasHelp(t *testing.T) {
	page := helpPage(t)
	for _, k := range api.Kinds() {
		if k.Help == "" || !strings.HasSuffix(k.Help, ".") || strings.Count(page, `<h2 id="`+k.Name+`">`) != 1 {
			t.Errorf("%s is not explained at /errors", k.Name)
		}
	}
}

func TestEverySentinelHasItsAnswer(t *testing.T) {
	b := newBench(t)
	v := b.mustRegister("core-1")
	for err, status := range map[error]int{
		broker.ErrNotFound:       http.StatusNotFound,
		broker.ErrInvalid:        http.StatusUnprocessableEntity,
		broker.ErrExists:         http.StatusConflict,
		broker.ErrConflict:       http.StatusConflict,
		broker.ErrPrecondition:   http.StatusPreconditionFailed,
		broker.ErrDenied:         http.StatusForbidden,
		broker.ErrQuota:          http.StatusTooManyRequests,
		broker.ErrUnsupported:    http.StatusUnprocessableEntity,
		broker.ErrUnauthorized:   http.StatusUnprocessableEntity,
		broker.ErrForbidden:      http.StatusUnprocessableEntity,
		broker.ErrUnreachable:    http.StatusBadGateway,
		broker.ErrUnavailable:    http.StatusServiceUnavailable,
		broker.ErrUnopenable:     http.StatusInternalServerError,
		policy.ErrDenied:         http.StatusForbidden,
		context.DeadlineExceeded: http.StatusGatewayTimeout,
		context.Canceled:         http.StatusServiceUnavailable,
		errors.New("unheard of"): http.StatusInternalServerError,
	} {
		// Bare and wrapped: the text around it is for the log only.
		b.broker.check = func(context.Context) error { return fmt.Errorf("dialling a-private-host: %w", err) }
		answer, body := b.raw("alice", "POST", "/v1/vims/"+v.ID+"/check", "")
		if p := problemOf(t, err.Error(), answer, body); p.Status != status || p.Detail != "" || strings.Contains(body, "private") {
			t.Errorf("%v = %d, want %d: %s", err, p.Status, status, body)
		}
		// As the domain tells it: kind, field, words and remedy are the caller's, the cause is not.
		b.broker.check = func(context.Context) error {
			return &broker.Error{Kind: err, Field: "endpoint", Detail: "what is wrong", Remedy: "what to do", RetryAfter: 1500 * time.Millisecond, Cause: fmt.Errorf("a-private-cause: %w", broker.ErrNotFound)}
		}
		answer, body = b.raw("alice", "POST", "/v1/vims/"+v.ID+"/check", "")
		p := problemOf(t, err.Error(), answer, body)
		if p.Status != status || p.Remedy != "what to do" || len(p.Errors) != 1 || p.Errors[0].Field != "endpoint" || strings.Contains(body, "private") {
			t.Errorf("%v as broker.Error = %d: %s", err, p.Status, body)
		}
		if after := answer.Header.Get("Retry-After"); after != "2" {
			t.Errorf("%v that may pass in 1.5 s: Retry-After is %q, want 2", err, after)
		}
	}
	if log := b.log.String(); !strings.Contains(log, "unheard of") || !strings.Contains(log, "a-private-cause") {
		t.Error("the log does not hold what callers are not told")
	}
}

func TestPanicIsAnInternalError(t *testing.T) {
	b := newBench(t)
	b.broker.check = func(context.Context) error { panic(canary) }
	answer, body := b.raw("alice", "POST", "/v1/vims/core-1/check", "", "X-Request-Id", "panicking-1")
	if p := problemOf(t, "panic", answer, body); p.Status != http.StatusInternalServerError || p.RequestID != "panicking-1" || p.Detail != "" {
		t.Errorf("panic = %s", body)
	}
	if log := b.log.String(); !strings.Contains(log, `"request":"panicking-1"`) || strings.Contains(log, canary) {
		t.Error("the log lacks the request's id, or holds what the panic was about")
	}
}

func TestRequestsThatNoRouteTakes(t *testing.T) {
	b := newBench(t)
	long := `{"name":"` + strings.Repeat("x", 1<<20) + `"}`
	for _, c := range []struct {
		what                       string
		caller, method, path, body string
		headers                    []string
		status                     int
		field                      string
	}{
		{what: "no token", method: "GET", path: "/v1/vims", status: 401},
		{what: "no token, no such route", method: "GET", path: "/v1/nothing", status: 401},
		{what: "no token, no such method", method: "PUT", path: "/v1/vims", status: 401},
		{what: "unknown token", method: "GET", path: "/v1/vims", headers: []string{"Authorization", "Bearer nobody"}, status: 401},
		{what: "basic authentication", method: "GET", path: "/v1/vims", headers: []string{"Authorization", "Basic YTpi"}, status: 401},
		{what: "unknown Keystone token", method: "GET", path: "/v1/vims", headers: []string{"X-Auth-Token", "nobody"}, status: 401},
		{what: "a token in each header", caller: "alice", method: "GET", path: "/v1/vims", headers: []string{"X-Auth-Token", "nobody"}, status: 401},
		{what: "two tokens in one", method: "GET", path: "/v1/vims", headers: []string{"Authorization", "Bearer a b"}, status: 401},
		{what: "no such route", caller: "alice", method: "GET", path: "/v1/nothing", status: 404},
		{what: "no such route outside", method: "GET", path: "/", status: 404},
		{what: "path that walks", caller: "alice", method: "GET", path: "/v1/vims/../audit", status: 404},
		{what: "path with an empty segment", caller: "alice", method: "GET", path: "/v1//vims", status: 404},
		{what: "no such method", caller: "alice", method: "PUT", path: "/v1/vims", body: "{}", status: 405},
		{what: "made-up method", caller: "alice", method: "BREW", path: "/v1/vims", status: 405},
		{what: "not JSON by name", caller: "alice", method: "POST", path: "/v1/vims", body: "name=x", headers: []string{"Content-Type", "application/x-www-form-urlencoded"}, status: 415},
		{what: "no content type", caller: "alice", method: "POST", path: "/v1/vims", body: "{}", headers: []string{"Content-Type", ""}, status: 415},
		{what: "another charset", caller: "alice", method: "POST", path: "/v1/vims", body: "{}", headers: []string{"Content-Type", "application/json; charset=latin1"}, status: 415},
		{what: "merge patch where none is", caller: "alice", method: "POST", path: "/v1/vims", body: "{}", headers: []string{"Content-Type", "application/merge-patch+json"}, status: 415},
		{what: "too large", caller: "alice", method: "POST", path: "/v1/vims", body: long, status: 413},
		{what: "no body", caller: "alice", method: "POST", path: "/v1/vims", status: 400},
		{what: "a body where none is", caller: "alice", method: "GET", path: "/v1/vims", body: "{}", status: 400},
		{what: "not JSON", caller: "alice", method: "POST", path: "/v1/vims", body: `{"name":`, status: 400, field: "name"},
		{what: "trailing data", caller: "alice", method: "POST", path: "/v1/vims", body: `{"name":"x"} {}`, status: 400},
		{what: "a list", caller: "alice", method: "POST", path: "/v1/vims", body: `[]`, status: 422},
		{what: "null", caller: "alice", method: "POST", path: "/v1/vims", body: `null`, status: 422},
		{what: "unknown field", caller: "alice", method: "POST", path: "/v1/vims", body: `{"name":"x","credential":{"tokn":"t"}}`, status: 422, field: "credential.tokn"},
		{what: "lease of a plan", caller: "alice", method: "POST", path: "/v1/leases", body: `{"vim":"x","planned":true}`, status: 422, field: "planned"},
		{what: "field twice", caller: "alice", method: "POST", path: "/v1/vims", body: `{"name":"x","name":"y"}`, status: 422, field: "name"},
		{what: "field in another case", caller: "alice", method: "POST", path: "/v1/vims", body: `{"Name":"x"}`, status: 422, field: "Name"},
		{what: "wrong type", caller: "alice", method: "POST", path: "/v1/vims", body: `{"credential":{"token":17}}`, status: 422, field: "credential.token"},
		{what: "null in a change", caller: "alice", method: "PATCH", path: "/v1/vims/x", body: `{"name":null}`, status: 422, field: "name"},
		{what: "placeholder for a secret", caller: "alice", method: "POST", path: "/v1/vims", body: `{"credential":{"token":"[secret]"}}`, status: 422, field: "credential.token"},
		{what: "unknown parameter", caller: "alice", method: "GET", path: "/v1/vims?colour=red", status: 422},
		{what: "parameter twice", caller: "alice", method: "GET", path: "/v1/vims?name=a&name=b", status: 422, field: "name"},
		{what: "parameter out of its list", caller: "alice", method: "GET", path: "/v1/vims?status=happy", status: 422, field: "status"},
		{what: "lease state out of its list", caller: "alice", method: "GET", path: "/v1/leases?state=gone", status: 422, field: "state"},
		{what: "label without a value", caller: "alice", method: "GET", path: "/v1/vims?label=site", status: 422, field: "label"},
		{what: "malformed query", caller: "alice", method: "GET", path: "/v1/vims?name=%zz", status: 400},
		{what: "page of none", caller: "alice", method: "GET", path: "/v1/leases?pageSize=0", status: 422, field: "pageSize"},
		{what: "page too large", caller: "alice", method: "GET", path: "/v1/leases?pageSize=1001", status: 422, field: "pageSize"},
		{what: "page of nowhere", caller: "alice", method: "GET", path: "/v1/vims?pageToken=!!", status: 422},
		{what: "audit page of nowhere", caller: "root", method: "GET", path: "/v1/audit?pageToken=-1", status: 422, field: "pageToken"},
		{what: "audit since when", caller: "root", method: "GET", path: "/v1/audit?since=yesterday", status: 422, field: "since"},
		{what: "ETag without quotes", caller: "alice", method: "PATCH", path: "/v1/vims/x", body: "{}", headers: []string{"If-Match", "7"}, status: 422, field: "If-Match"},
		{what: "weak ETag", caller: "alice", method: "DELETE", path: "/v1/vims/x", headers: []string{"If-Match", `W/"7"`}, status: 422, field: "If-Match"},
		{what: "key with a space", caller: "alice", method: "POST", path: "/v1/leases", body: "{}", headers: []string{"Idempotency-Key", "a b"}, status: 422, field: "Idempotency-Key"},
		{what: "key too long", caller: "alice", method: "POST", path: "/v1/vims", body: `{"name":"x"}`, headers: []string{"Idempotency-Key", strings.Repeat("k", 129)}, status: 422, field: "Idempotency-Key"},
		{what: "name missing", caller: "alice", method: "POST", path: "/v1/vims", body: `{"type":"kubernetes"}`, status: 422, field: "name"},
	} {
		answer, body := b.raw(c.caller, c.method, c.path, c.body, c.headers...)
		p := problemOf(t, c.what, answer, body)
		if p.Status != c.status {
			t.Errorf("%s = %d, want %d: %s", c.what, p.Status, c.status, body)
		}
		if c.field != "" && (len(p.Errors) == 0 || p.Errors[0].Field != c.field) {
			t.Errorf("%s: field %+v, want %q", c.what, p.Errors, c.field)
		}
		if c.status == http.StatusUnauthorized && !strings.HasPrefix(answer.Header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s: WWW-Authenticate = %q", c.what, answer.Header.Get("WWW-Authenticate"))
		}
		if c.status == http.StatusMethodNotAllowed && !strings.Contains(answer.Header.Get("Allow"), "POST") {
			t.Errorf("%s: Allow = %q", c.what, answer.Header.Get("Allow"))
		}
	}
}

// Another project's things answer exactly as those that do not exist, on every verb.
func TestForeignIsNotFoundOnEveryVerb(t *testing.T) {
	b := newBench(t)
	v := b.mustRegister("core-1")
	l := b.mustIssue("core-1", "")
	const nobodys = "00000000-0000-4000-8000-000000000000"
	for _, c := range [][3]string{
		{"GET", "/v1/vims/ID", ""},
		{"PATCH", "/v1/vims/ID", "{}"},
		{"DELETE", "/v1/vims/ID", ""},
		{"DELETE", "/v1/vims/ID?drain=true&force=true", ""},
		{"POST", "/v1/vims/ID/check", ""},
		{"POST", "/v1/vims/ID/rotate", "{}"},
		{"POST", "/v1/vims/ID/inventory", `{"settle":true}`},
		{"GET", "/v1/leases/LEASE", ""},
		{"DELETE", "/v1/leases/LEASE", ""},
		{"POST", "/v1/leases/LEASE/renew", ""},
		{"POST", "/v1/leases", `{"vim":"ID"}`},
		{"GET", "/v1/leases?vim=ID", ""},
		{"POST", "/v1/leases:revoke", `{"vim":"ID"}`},
	} {
		ask := func(vim, lease string) (int, string) {
			fill := strings.NewReplacer("ID", vim, "LEASE", lease)
			answer, body := b.raw("mallet", c[0], fill.Replace(c[1]), fill.Replace(c[2]), "X-Request-Id", "the-same-id")
			return answer.StatusCode, body
		}
		status, foreign := ask(v.ID, l.ID)
		_, missing := ask(nobodys, nobodys)
		if status != http.StatusNotFound || foreign != missing {
			t.Errorf("%s %s = %d: %s\nand of one that does not exist: %s", c[0], c[1], status, foreign, missing)
		}
	}
	if v, err := b.as("alice").VIM(t.Context(), v.ID); err != nil || v.State != "registered" {
		t.Errorf("after all that the VIM is %q, %v", v.State, err)
	}
	if l, err := b.as("alice").Lease(t.Context(), l.ID); err != nil || l.State != "active" {
		t.Errorf("after all that the lease is %q, %v", l.State, err)
	}
}

func TestReadersAreDeniedAndTold(t *testing.T) {
	b := newBench(t)
	b.mustRegister("core-1")
	_, err := b.as("rita").IssueLease(t.Context(), v1.LeaseRequest{VIM: "core-1"}, "")
	if p := wantProblem(t, "IssueLease() by a reader", err, http.StatusForbidden); p.Detail == "" || p.Remedy == "" {
		t.Errorf("the denial does not say what to do: %+v", p)
	}
}
