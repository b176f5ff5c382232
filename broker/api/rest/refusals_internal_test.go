package rest

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/doors"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// serveDomain answers for a domain whose every part is the same one, with an audit log of its own.
func serveDomain(t *testing.T, d *domain, log AuditLog) *doors.Client {
	t.Helper()
	return doors.Serve(t, testlog.Silent(t), Door(Options{
		Registry: allRegistry{d}, Leaser: allLeaser{d}, AuditLog: log, Overseer: allOverseer{d}, Clusters: allClusters{d},
		Clients: allOAuthClients{d}, TokenKeys: allTokenKeys{d}, Grants: allGrants{d}, Links: allLinks{d}, Trust: allTrust{d},
		Log: testlog.Silent(t), Version: "v1", Now: func() time.Time { return started },
	}))
}

// A member or a parameter that cannot be read is told by its name, and no part is asked.
func TestWhatCannotBeReadAsksNoPart(t *testing.T) {
	d := &domain{}
	c := serveDomain(t, d, allAuditLog{d})
	const span, spanOrNone, short = "must be a duration such as 90m or 1h30m", "must be a duration such as 90m or 0s", "must be a duration such as 15m"
	for _, x := range []struct{ ask, body, field, message string }{
		{"POST /v1/clients", `{"name":"n","placements":[{"vim":"a","ttl":"15m"},{"vim":"a","ttl":"soon"}]}`, "placements[1].ttl", short},
		{"POST /v1/clients", `{"name":"n","certificate":{"sanDNS":"a","sanURI":"b"}}`, "certificate", ""},
		{"PUT /v1/clients/c/placements", `{"placements":[{"vim":"a","ttl":"soon"}]}`, "placements[0].ttl", short},
		{"POST /v1/clients/c/rotate", `{"overlap":"soon"}`, "overlap", spanOrNone},
		{"POST /v1/clients/c/rotate", `{"overlap":"0s","certificate":{"sanDNS":"a","sanURI":"b"}}`, "certificate", ""},
		{"POST /v1/clusters/c/push-token", `{"ttl":"0s"}`, "ttl", span},
		{"POST /v1/leases", `{"vim":"a","ttl":"soon"}`, "ttl", span},
		{"POST /v1/leases/l/renew", `{"ttl":"-1h"}`, "ttl", span},
		{"POST /v1/virtual-links", `{"name":"n","vim":"a"}`, "spec", "or existing is needed, and not both"},
		{"POST /v1/virtual-links", `{"name":"n","vim":"a","existing":{}}`, "existing.networkId", "is missing"},
		{"POST /v1/volumes", `{"name":"n","vim":"a","existing":{}}`, "existing.claimName", "is missing"},
		{"POST /v1/policy:explain", `{"action":"vim:show","wish":{"ttl":"soon"}}`, "wish.ttl", span},
		{"POST /v1/trust", `{"name":"corp","maxLife":"soon"}`, "maxLife", span},
		{"PUT /v1/trust/corp", `{"name":"corp","maxLife":"soon"}`, "maxLife", span},
		{"PUT /v1/trust/corp", `{"name":"corp","hold":"0s"}`, "hold", span},
		{"PUT /v1/trust/corp", `{"name":"other"}`, "name", "must be the one in the path: an entry keeps its name"},
		{"GET /v1/audit?since=yesterday", "", "since", "must be a time such as 2026-01-31T12:00:00Z"},
		{"GET /v1/audit/proofs/x", "", "seq", "must be the number of an entry"},
		{"GET /v1/audit/lines?limit=0", "", "limit", "must be a whole number from 1 to 10000"},
		{"GET /v1/audit/lines?limit=10001", "", "limit", "must be a whole number from 1 to 10000"},
		{"GET /v1/audit/lines?after=x", "", "after", ""},
		{"GET /v1/audit/tree?size=x", "", "size", ""},
		{"GET /v1/audit/growth?size=1&later=x", "", "later", ""},
		{"GET /v1/audit?pageToken=x", "", "pageToken", "must be the nextPageToken of the page before"},
		{"GET /v1/audit?pageToken=0", "", "pageToken", "must be the nextPageToken of the page before"},
		{"GET /v1/audit?pageToken=9223372036854775808", "", "pageToken", "must be the nextPageToken of the page before"},
		{"GET /v1/vims?pageSize=0", "", "pageSize", ""},
	} {
		method, path, _ := strings.Cut(x.ask, " ")
		answer, said := c.Ask(method, path, x.body)
		var p v1.Problem
		if err := json.Unmarshal([]byte(said), &p); err != nil || answer.StatusCode != 422 && answer.StatusCode != 400 || len(p.Errors) != 1 ||
			p.Errors[0].Field != x.field || x.message != "" && p.Errors[0].Message != x.message {
			t.Errorf("%s %s = %d %s, want %s: %s", x.ask, x.body, answer.StatusCode, said, x.field, x.message)
		}
		if len(d.calls) > 0 {
			t.Errorf("%s %s asked %q", x.ask, x.body, d.calls)
			d.calls = nil
		}
	}
}

// A body that is no JSON, or has a member that nobody knows, is refused by each operation that takes one, before a part is asked.
func TestBodiesThatAreNone(t *testing.T) {
	d := &domain{}
	c := serveDomain(t, d, allAuditLog{d})
	taken := 0
	for _, rt := range routesFor(nil) {
		if rt.in == nil || rt.pushes {
			continue
		}
		taken++
		path := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(rt.path, "x1")
		for body, want := range map[string]int{"{": 400, `{"noSuchMember":1}`: 422, "[]": 422} {
			if answer, said := c.Ask(rt.method, path, body); answer.StatusCode != want || len(d.calls) > 0 {
				t.Errorf("%s with %s = %d %s, want %d; it asked %q", rt.id, body, answer.StatusCode, said, want, d.calls)
				d.calls = nil
			}
		}
	}
	if taken < 15 {
		t.Errorf("%d operations take a body", taken)
	}
}

// records are an audit log of two entries, of which the first is as long as a page may be, or longer by some bytes.
type records struct {
	allAuditLog
	longer int
}

func (r records) EntriesAfter(context.Context, policy.Principal, int64, int) ([]audit.Entry, error) {
	first := audit.Entry{Seq: 1, Detail: map[string]string{"k": ""}}
	line, err := audit.Line(first)
	if err != nil {
		return nil, err
	}
	first.Detail["k"] = strings.Repeat("x", maxLinesSize-len(line)-1+r.longer)
	return []audit.Entry{first, {Seq: 2}}, nil
}

// damaged is an entry that cannot be read.
type damaged struct{ allAuditLog }

func (damaged) EntriesAfter(context.Context, policy.Principal, int64, int) ([]audit.Entry, error) {
	return []audit.Entry{{Seq: 1, Damaged: true}}, nil
}

// A page of lines ends with the line that fills it, and holds no entry that cannot be read.
func TestLinesFillAPage(t *testing.T) {
	d := &domain{}
	for longer, want := range map[int]int{0: 2, 1: 1} {
		answer, said := serveDomain(t, d, records{allAuditLog{d}, longer}).Ask("GET", "/v1/audit/lines", "")
		if got := strings.Count(said, "\n"); answer.StatusCode != 200 || got != want {
			t.Errorf("%d bytes more than fit: %d, %d lines, want %d", longer, answer.StatusCode, got, want)
		}
	}
	if answer, said := serveDomain(t, d, damaged{allAuditLog{d}}).Ask("GET", "/v1/audit/lines", ""); answer.StatusCode != 500 {
		t.Errorf("an entry that cannot be read = %d %s", answer.StatusCode, said)
	}
}

// A checkpoint is told as the note that it is to who takes text, and a failure is told as any other.
func TestACheckpointAsANote(t *testing.T) {
	for accept, want := range map[string][2]string{
		"text/plain":                {"text/plain", "Note"},
		"text/plain; charset=utf-8": {"text/plain", "Note"},
		"application/json":          {"application/json", "{"},
		"":                          {"application/json", "{"},
	} {
		d := &domain{}
		answer, said := serveDomain(t, d, allAuditLog{d}).Ask("GET", "/v1/audit/checkpoint", "", "Accept", accept)
		kind := answer.Header.Get("Content-Type")
		if answer.StatusCode != 200 || kind != want[0] || said != want[1] && !strings.HasPrefix(said, want[1]+`"`) {
			t.Errorf("Accept: %s = %d %s %s, want %q", accept, answer.StatusCode, kind, said, want)
		}
		d = &domain{fails: 1, err: &broker.Error{Kind: broker.ErrUnavailable, Detail: "no key signs now"}}
		answer, said = serveDomain(t, d, allAuditLog{d}).Ask("GET", "/v1/audit/checkpoint", "", "Accept", accept)
		if answer.StatusCode != 503 || !strings.Contains(said, "no key signs now") {
			t.Errorf("Accept: %s of a failure = %d %s", accept, answer.StatusCode, said)
		}
	}
}

// An ETag is one in quotes, as it was given; a page has as many items as it may, and no more.
func TestETagsAndPages(t *testing.T) {
	for given, want := range map[string]int64{
		"": 0, "*": 0, ` "7" `: 7, `"9223372036854775807"`: 1<<63 - 1, `7`: -1, `"7`: -1, `7"`: -1, `"0"`: -1, `"x"`: -1, `"9223372036854775808"`: -1, `W/"7"`: -1,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("If-Match", given)
		got, err := (&call{Call: &api.Call{Request: r}}).ifMatch()
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("If-Match: %s is %d, %v", given, got, err)
		}
	}
	d := &domain{}
	c := serveDomain(t, d, allAuditLog{d})
	if answer, said := c.Ask("POST", "/v1/vims/x/rotate", `{"credential":{"token":"t"}}`, "If-Match", "7"); answer.StatusCode != 422 || len(d.calls) > 0 {
		t.Errorf("a rotation of no ETag = %d %s; it asked %q", answer.StatusCode, said, d.calls)
	}
	for size, good := range map[string]bool{"1": true, strconv.Itoa(broker.MaxPage): true, strconv.Itoa(broker.MaxPage + 1): false, "0": false, "x": false, "": true} {
		if _, err := pageOf(url.Values{"pageSize": {size}}); (err == nil) != good {
			t.Errorf("a page of %s: %v", size, err)
		}
	}
	if q, err := vimsAsked(&call{query: url.Values{"status": {"draining"}}}); err != nil || q.State != broker.VIMDraining || q.Status != "" {
		t.Errorf("VIMs that are draining are asked for by %+v, %v", q, err)
	}
	for seq, want := range map[int64]string{1: "", 2: "2"} {
		for _, page := range []string{"", "&pageToken=9"} {
			_, said := serveDomain(t, d, newest{allAuditLog{d}, seq}).Ask("GET", "/v1/audit?pageSize=1"+page, "")
			if !strings.Contains(said, `"nextPageToken":"`+want+`"`) {
				t.Errorf("behind the entry %d, of a page %q: %s, want %q", seq, page, said, want)
			}
		}
	}
}

// newest is an audit log with one entry on a page.
type newest struct {
	allAuditLog
	seq int64
}

func (n newest) Entries(context.Context, policy.Principal, audit.Query) ([]audit.Entry, error) {
	return []audit.Entry{{Seq: n.seq}}, nil
}

// halfReady is a server of which one part is not.
type halfReady struct{ allOverseer }

func (halfReady) Ready() ([]broker.PartStatus, error) {
	return []broker.PartStatus{{Part: broker.PartDatabase}, {Part: broker.PartTrust, Fault: "away"}}, nil
}

// Parts that are at fault are always shown; logins are those of the table, where there is one.
func TestWhatAnybodyIsShown(t *testing.T) {
	s := &server{Options: Options{Overseer: halfReady{}}}
	down := v1.Part{Name: string(broker.PartTrust), Detail: "away"}
	for query, want := range map[string][]v1.Part{"": {down}, "verbose": {{Name: string(broker.PartDatabase), Usable: true}, down}} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.ready(&call{query: values})
		if diff := cmp.Diff(want, a.body.Parts); diff != "" || err != nil {
			t.Errorf("parts, asked for %q: %v (-want +got)\n%s", query, err, diff)
		}
	}
	if a, err := s.listLogins(nil); err != nil || a.body.Items == nil || len(a.body.Items) != 0 {
		t.Errorf("logins without a table: %+v, %v", a.body, err)
	}
	s.Trust = allTrust{&domain{}}
	a, err := s.listLogins(nil)
	want := v1.LoginMethod{Name: "Name", Issuer: "Issuer", ClientID: "ClientID", Scopes: []string{"Scopes", "Scopes'"}, Audience: "Audience"}
	second := want
	second.Scopes = want.Scopes[:1]
	if diff := cmp.Diff([]v1.LoginMethod{want, second}, a.body.Items); diff != "" || err != nil {
		t.Errorf("logins of a table: %v (-want +got)\n%s", err, diff)
	}
	for what, c := range map[string]struct {
		of   onboard.Cluster
		want time.Time
	}{
		"no token": {onboard.Cluster{PushExpiresAt: started}, time.Time{}}, "a token": {onboard.Cluster{PushToken: "t", PushExpiresAt: started}, started},
		"a token that was used": {onboard.Cluster{PushToken: "t", PushExpiresAt: started, PushedAt: started}, time.Time{}},
	} {
		if got := pushExpiry(c.of); !got.Equal(c.want) {
			t.Errorf("%s: a kubeconfig can be pushed until %v", what, got)
		}
	}
	var v broker.VIM
	v.Current.Discovered.Cluster, v.Current.CredentialExpiresAt = &broker.Cluster{}, started.Add(soon+time.Hour)
	if w := warnings(v, started); len(w) != 0 {
		t.Errorf("a token that nobody renews, and that lasts: %q", w)
	}
}

// The VIM of a query for audit entries is an id or a name.
func TestTheVIMOfAuditEntries(t *testing.T) {
	const id = "0b8a8b0e-5a3c-4b64-9f1d-2f5f3c5d7e11"
	for vim, want := range map[string]string{id: `AuditLog.Entries {VIM:"` + id + `"`, "edge-1": `AuditLog.Entries {VIMName:"edge-1"`} {
		d := &domain{}
		serveDomain(t, d, allAuditLog{d}).Ask("GET", "/v1/audit?vim="+vim, "")
		if len(d.calls) != 1 || !strings.HasPrefix(d.calls[0], want) {
			t.Errorf("of %s the log is asked %q, want %s", vim, d.calls, want)
		}
	}
}

// What deserves attention of where a VIM is reached; a key that still signs has no end.
func TestWhatDeservesAttention(t *testing.T) {
	for endpoint, c := range map[string]struct {
		insecure bool
		want     []string
	}{
		"https://a": {false, nil}, "http://a": {false, []string{v1.WarnPlainHTTP}}, "https://b": {true, []string{v1.WarnInsecure}},
		"http://b": {true, []string{v1.WarnInsecure, v1.WarnPlainHTTP}},
	} {
		var v broker.VIM
		v.Current.Target = broker.Target{Endpoint: endpoint, InsecureSkipVerify: c.insecure}
		if w := warnings(v, started); !slices.Equal(w, c.want) {
			t.Errorf("%s: %q, want %q", endpoint, w, c.want)
		}
	}
	for state, want := range map[keyring.State]int64{notary.Signing: 0, notary.Retired: 7, notary.Revoked: 7} {
		if got := auditKey(notary.SigningKey{State: state, Until: 7}); got.Until != want || got.State != string(state) {
			t.Errorf("a key that is %s: %s", state, cmp.Diff(want, got.Until))
		}
	}
}
