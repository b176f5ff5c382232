package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/policy"
)

// accessLines are the log's lines about requests.
func (b *bench) accessLines(t *testing.T) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for scan := bufio.NewScanner(strings.NewReader(b.log.String())); scan.Scan(); {
		var line map[string]any
		if err := json.Unmarshal(scan.Bytes(), &line); err != nil {
			t.Fatalf("log line %q: %v", scan.Text(), err)
		}
		if line["msg"] == "request" {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestRequestIDsLeadFromTheCallerToTheLogs(t *testing.T) {
	b := newBench(t)
	b.mustRegister("core-1")
	answer, _ := b.raw("alice", "GET", "/v1/vims/core-1?", "", "X-Request-Id", "ticket-4711")
	if got := answer.Header.Get("X-Request-Id"); got != "ticket-4711" {
		t.Errorf("a well-formed request id became %q", got)
	}
	lines := b.accessLines(t)
	last := lines[len(lines)-1]
	if last["request"] != "ticket-4711" || last["route"] != "GET /v1/vims/{id}" || last["principal"] != "alice" || last["status"] != 200.0 || last["method"] != "GET" {
		t.Errorf("access line %v", last)
	}
	if _, body := b.raw("root", "GET", "/v1/audit?pageSize=5", ""); !strings.Contains(body, "ticket-4711") {
		t.Error("the audit log does not hold the request's id")
	}
	for _, e := range b.auditOf(t, client.AuditQuery{VIM: "core-1", Principal: "alice"}) {
		if e.Detail["source"] != "127.0.0.1" || e.Detail["authenticator"] != "static" || e.Detail["vimName"] != "core-1" {
			t.Errorf("an entry does not say where from and by whom: %v", e.Detail)
		}
	}
	for _, id := range []string{"", "two words", strings.Repeat("x", 65), "-x", "a\tb"} {
		answer, _ := b.raw("alice", "GET", "/v1/vims/core-1", "", "X-Request-Id", id)
		if got := answer.Header.Get("X-Request-Id"); got == id || len(got) != 36 {
			t.Errorf("request id %q became %q", id, got)
		}
	}
}

// auditOf are the entries of a query that root reads.
func (b *bench) auditOf(t *testing.T, q client.AuditQuery) []v1.AuditEntry {
	t.Helper()
	page, err := b.as("root").Audit(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

func TestLoginsAreInTheAuditLog(t *testing.T) {
	b := newBench(t)
	b.raw("", "GET", "/v1/whoami", "") // shows nothing, and is no login
	if told := b.auditOf(t, client.AuditQuery{Action: "server:login", Outcomes: []string{"denied"}}); len(told) != 0 {
		t.Errorf("who shows no token is told as %+v", told)
	}
	for range 3 {
		b.raw("alice", "GET", "/v1/whoami", "")
		b.raw("", "GET", "/v1/whoami", "", "Authorization", "Bearer canary-of-a-wrong-token")
	}
	in := b.auditOf(t, client.AuditQuery{Action: "server:login", Principal: "alice", Outcomes: []string{"done"}})
	if len(in) != 1 || in[0].Project != "demo" || in[0].Detail["source"] != "127.0.0.1" {
		t.Errorf("alice's logins are %+v, want one", in)
	}
	refused := b.auditOf(t, client.AuditQuery{Action: "server:login", Outcomes: []string{"denied"}})
	if len(refused) != 1 || refused[0].Principal != "" || refused[0].Detail["source"] != "127.0.0.1" {
		t.Errorf("the refused logins are %+v, want one", refused)
	}
	for _, e := range b.auditOf(t, client.AuditQuery{}) {
		if strings.Contains(fmt.Sprint(e), "canary-of-a-wrong-token") {
			t.Errorf("a refused token stands in %+v", e)
		}
	}
}

func TestEveryAnswerIsPrivate(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{"/v1/vims", "/v1/nothing", "/nothing", "/healthz", "/readyz", "/metrics", "/openapi.json"} {
		answer, _ := b.raw("alice", "GET", path, "")
		if answer.Header.Get("Cache-Control") != "no-store" || answer.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("GET %s: headers %v", path, answer.Header)
		}
	}
}

func TestETagAndLocation(t *testing.T) {
	b := newBench(t)
	v := b.mustRegister("core-1")
	answer, _ := b.raw("alice", "GET", "/v1/vims/core-1", "")
	etag := answer.Header.Get("ETag")
	if !regexp.MustCompile(`^"\d+"$`).MatchString(etag) {
		t.Fatalf("ETag = %q", etag)
	}
	answer, body := b.raw("alice", "PATCH", "/v1/vims/core-1", `{"labels":{"a":"b"}}`, "If-Match", etag, "Content-Type", "application/merge-patch+json")
	if answer.StatusCode != http.StatusOK || answer.Header.Get("ETag") == etag {
		t.Errorf("PATCH = %d, ETag %q: %s", answer.StatusCode, answer.Header.Get("ETag"), body)
	}
	if answer, _ = b.raw("alice", "PATCH", "/v1/vims/core-1", `{"labels":{"a":null}}`, "If-Match", etag); answer.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("PATCH with the ETag before = %d, want 412", answer.StatusCode)
	}
	if answer, _ = b.raw("alice", "PATCH", "/v1/vims/core-1", `{"labels":{"a":null}}`, "If-Match", "*"); answer.StatusCode != http.StatusOK {
		t.Errorf("PATCH with * = %d, want 200", answer.StatusCode)
	}
	answer, _ = b.raw("alice", "POST", "/v1/leases", `{"vim":"`+v.ID+`"}`)
	location := answer.Header.Get("Location")
	if answer.StatusCode != http.StatusCreated || !strings.HasPrefix(location, "/v1/leases/") {
		t.Fatalf("POST = %d, Location %q", answer.StatusCode, location)
	}
	if answer, _ = b.raw("alice", "GET", location, ""); answer.StatusCode != http.StatusOK {
		t.Errorf("GET %s = %d", location, answer.StatusCode)
	}
	if answer, body = b.raw("alice", "DELETE", "/v1/vims/"+v.ID+"?drain=true", ""); answer.StatusCode != http.StatusNoContent || body != "" {
		t.Errorf("DELETE = %d %q, want 204", answer.StatusCode, body)
	}
}

func TestProbesAskForNoCaller(t *testing.T) {
	b := newBench(t)
	b.mustRegister("core-1")
	b.mustIssue("core-1", "")
	if answer, body := b.raw("", "GET", "/healthz", ""); answer.StatusCode != http.StatusOK || !strings.Contains(body, "v0.0.0-test") {
		t.Errorf("/healthz = %d %s", answer.StatusCode, body)
	}
	if answer, body := b.raw("", "GET", "/readyz", ""); answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "starting") {
		t.Errorf("/readyz before anything was looked at = %d %s", answer.StatusCode, body)
	}
	b.broker.Probe(t.Context())
	if err := b.as("alice").Ready(t.Context()); err != nil {
		t.Errorf("Ready() = %v", err)
	}
	if answer, body := b.raw("", "GET", "/readyz", ""); answer.StatusCode != http.StatusOK || strings.Contains(body, "parts") {
		t.Errorf("/readyz = %d %s, want no part that cannot be used", answer.StatusCode, body)
	}
	if _, body := b.raw("", "GET", "/readyz?verbose", ""); strings.Count(body, `"usable":true`) != 3 {
		t.Errorf("/readyz?verbose = %s, want all parts", body)
	}
	if _, err := b.as("root").AuditTree(t.Context(), 0); err != nil { // which makes the tree whole
		t.Fatal(err)
	}
	_, metrics := b.raw("", "GET", "/metrics", "")
	for _, line := range []string{
		`vimbroker_vim_health{status="reachable",type="kubernetes"} 1`,
		`vimbroker_leases{state="active"} 1`,
		`vimbroker_leases{state="irrevocable"} 0`,
		`vimbroker_audit_behind_seconds 0`,
		`vimbroker_inventory_orphans 0`,
		`vimbroker_inventory_ghosts 0`,
		`vimbroker_actions_total{action="vim:register",outcome="done",reason=""} 1`,
		`vimbroker_actions_total{action="lease:issue",outcome="done",reason=""} 1`,
		`vimbroker_key_store_up{key_store="keydir"} 1`,
		`vimbroker_part_up{part="issuing"} 1`,
		`vimbroker_vim_credentials_expiring{days="0"} 0`,
		`vimbroker_jobs_due 0`,
		`vimbroker_leases_ending 0`,
		`vimbroker_lease_expiry_lag_seconds_count 0`,
		`vimbroker_build_info{go="` + runtime.Version() + `",version="v0.0.0-test"} 1`,
		`vimbroker_http_request_duration_seconds_count{code="201",method="POST",route="POST /v1/vims"} 1`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("/metrics lacks %s", line)
		}
	}
	for _, name := range []string{"core-1", "alice", "demo"} {
		if strings.Contains(metrics, name) {
			t.Errorf("/metrics names %q", name)
		}
	}
	for _, line := range b.accessLines(t) {
		if line["route"] == "GET /healthz" && line["level"] != "DEBUG" {
			t.Errorf("a probe is logged at %v", line["level"])
		}
	}
}

// unready is a broker whose parts cannot be used.
type unready struct{ counted }

func (unready) Ready() ([]broker.PartStatus, error) {
	return nil, &broker.Error{Kind: broker.ErrUnavailable, Detail: "the store cannot be used", Cause: errors.New("disk sda1 is full")}
}

func (unready) Vitals(context.Context) broker.Vitals { return broker.Vitals{} }

// silent authenticates nobody, because it cannot.
type silent struct{}

func (silent) Authenticate(context.Context, string) (policy.Principal, error) {
	return policy.Principal{}, errors.New("no connection to ldap.internal")
}

func TestUnreadySaysWhichPart(t *testing.T) {
	b := newBench(t)
	b.rewire(unready{b.broker}, silent{})
	answer, body := b.raw("", "GET", "/readyz", "")
	if p := problemOf(t, "/readyz", answer, body); p.Status != http.StatusServiceUnavailable || p.Detail != "the store cannot be used" || answer.Header.Get("Retry-After") == "" {
		t.Errorf("/readyz = %s", body)
	}
	answer, metrics := b.raw("", "GET", "/metrics", "")
	if answer.StatusCode != http.StatusOK || strings.Contains(metrics, "vimbroker_leases{") {
		t.Errorf("/metrics without a store = %d:\n%s", answer.StatusCode, metrics)
	}
	answer, body = b.raw("alice", "GET", "/v1/vims", "")
	if p := problemOf(t, "no authenticator", answer, body); p.Status != http.StatusServiceUnavailable {
		t.Errorf("GET /v1/vims without an authenticator = %s", body)
	}
	if all := b.wire.String(); strings.Contains(all, "sda1") || strings.Contains(all, "ldap") {
		t.Error("an answer tells what is for the log only")
	}
	if log := b.log.String(); !strings.Contains(log, "sda1") || !strings.Contains(log, "ldap") {
		t.Error("the log does not tell why")
	}
}

// OpenStack's clients send their token in a header of their own.
func TestTokenInOpenStacksHeader(t *testing.T) {
	b := newBench(t)
	for as, want := range map[string]int{b.tokens["alice"]: http.StatusOK, b.tokens["alice"] + "x": http.StatusUnauthorized} {
		if answer, body := b.raw("", "GET", "/v1/vims", "", "X-Auth-Token", as); answer.StatusCode != want {
			t.Errorf("GET /v1/vims = %d %s, want %d", answer.StatusCode, body, want)
		}
	}
}

func (unready) Alarms() map[broker.Alarm]int { return nil }
