package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// visit is one of a person who may read all, or little.
func visit(t *testing.T, query string, all bool) *Visit {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/ui/?"+query, nil)
	v := &Visit{Call: &api.Call{Request: r, Query: r.URL.Query(), Principal: policy.Principal{Name: "alice", Project: "demo"}}, Now: noon}
	v.may = func(*Visit, policy.Action, string) bool { return all }
	return v
}

func TestDurationsAndTimesAreTold(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "now", time.Second - 1: "now", 1 - time.Second: "now", time.Second: "in 1s", -time.Second: "1s ago",
		89 * time.Second: "in 89s", 90 * time.Second: "in 2m", 89 * time.Minute: "in 89m", -90 * time.Minute: "2h ago",
		35 * time.Hour: "in 35h", 36 * time.Hour: "in 2d", -40 * 24 * time.Hour: "40d ago",
	} {
		if got := when(noon.Add(d), noon); got != want {
			t.Errorf("when(%v) = %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "up to an hour", time.Hour: "up to an hour", time.Hour + 1: "up to twelve hours", 12 * time.Hour: "up to twelve hours",
		12*time.Hour + 1: "up to a week", 7 * 24 * time.Hour: "up to a week", 7*24*time.Hour + 1: "older than a week",
	} {
		if got := ageOf(d); got != want {
			t.Errorf("ageOf(%v) = %q, want %q", d, got, want)
		}
	}
}

// A time of the address is a duration before now, days, or a time in UTC; nothing else.
func TestTimesOfTheAddress(t *testing.T) {
	for text, want := range map[string]time.Time{
		"": {}, "24h": noon.Add(-24 * time.Hour), "7d": noon.Add(-7 * 24 * time.Hour), "0s": noon, " 1m ": noon.Add(-time.Minute),
		"2026-01-31T13:00:00+01:00": noon, "2026-01-31 12:00:00": noon, "2026-01-31 12:00": noon, "2026-01-31": noon.Add(-12 * time.Hour),
	} {
		got, err := moment(visit(t, url.Values{"since": {text}}.Encode(), true), "since")
		if err != nil || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"-1ns", "-1h", "-1d", "70000d", "d", "tomorrow", "2026-13-01", "1"} {
		got, err := moment(visit(t, url.Values{"since": {text}}.Encode(), true), "since")
		var e *broker.Error
		if !errors.As(err, &e) || !errors.Is(err, broker.ErrInvalid) || e.Field != "since" || !got.IsZero() {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

// After a login a person goes on to an address of ours, and to no other.
func TestALoginLeadsToNoOtherSite(t *testing.T) {
	for back, want := range map[string]string{
		"/ui": "/ui", "/ui/leases?state=active": "/ui/leases?state=active", "": "/ui/", "/": "/ui/", "/uix": "/ui/", "/ui/../v1": "/ui/",
		"https://mallet.example/ui/": "/ui/", "//mallet.example/ui/": "/ui/", "//ui/": "/ui/", "https:/ui/": "/ui/", "https:///ui/": "/ui/",
		"//root@/ui/": "/ui/", `/ui/\mallet`: "/ui/", "/ui/a\r\nb": "/ui/", "/ui/%zz": "/ui/", "///ui/": "/ui/", "https:/ui/leases": "/ui/",
	} {
		if got := local(back); got != want {
			t.Errorf("local(%q) = %q, want %q", back, got, want)
		}
	}
}

// A cookie is bound to the host where the browser speaks TLS; on loopback alone it may not.
func TestCookiesAreSecureButOnLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": false, "localhost:8420": false, "127.0.0.1:8420": false, "[::1]:8420": false, "[::1]": false, "broker.example": true, "10.0.0.1:80": true,
		"localhost.example": true,
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/ui/", nil)
		r.Host = host
		if got := secure(r); got != want {
			t.Errorf("at %s secure is %v", host, got)
		}
		if r.TLS = (&tls.ConnectionState{}); !secure(r) {
			t.Errorf("at %s TLS is not secure", host)
		}
	}
}

func TestWordsOfThePage(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{slug("Live leases, by VIM"), "is-live-leases--by-vim"},
		{slug("az AZ 09 {`/:"), "is-az-az-09"},
		{Count(1, 0, "lease", "leases"), "1 lease"},
		{Count(2, 0, "lease", "leases"), "2 leases"},
		{Count(0, 5, "lease", "leases"), "0 leases"},
		{Count(4, 5, "lease", "leases"), "4 leases"},
		{Count(5, 5, "lease", "leases"), "5 leases or more"},
		{Count(1, 1, "lease", "leases"), "1 leases or more"},
		{seen("a\n\tb\u202ec\x00"), "a\n\tb\\u202ec\\u0000"},
		{plain(strings.Repeat("ä", longest)), strings.Repeat("ä", longest)},
		{plain(strings.Repeat("ä", longest) + "x"), strings.Repeat("ä", longest) + "…"},
		{plain("\x00" + strings.Repeat("ä", longest)), "\\u0000" + strings.Repeat("ä", longest-1) + "…"},
		{listed(slices.Repeat([]string{"a"}, 40)), strings.Repeat("a, ", 39) + "a"},
		{listed(slices.Repeat([]string{"a"}, 42)), strings.Repeat("a, ", 39) + "a and 2 more"},
		{strings.Join(wordsOf("a,b c,, d"), "|"), "a|b|c|d"},
		{rules([]broker.Rule{{Verbs: []string{"get", "list"}, Resources: []string{"pods"}}, {Verbs: []string{"get"}, APIGroups: []string{"apps"}, Resources: []string{"deployments"}, ResourceNames: []string{"a", "b"}}}), "get,list:pods; get:deployments.apps/a,b"},
		{fmt.Sprint(len(facts("t", "a", 1, "b").Rows)), fmt.Sprint(len(facts("t", "a", 1).Rows))},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// book is an audit log of some entries. Each of its methods may fail.
type book struct {
	AuditLog
	found []audit.Entry
	fails map[string]error
	asked audit.Query
	size  int64
}

func (b *book) Entries(_ context.Context, _ policy.Principal, q audit.Query) ([]audit.Entry, error) {
	b.asked = q
	if q.Limit == 1 && len(b.found) > 0 {
		at := slices.IndexFunc(b.found, func(e audit.Entry) bool { return e.Seq < q.Before })
		if at < 0 {
			return nil, b.fails["entries"]
		}
		return b.found[at : at+1], b.fails["entries"]
	}
	return b.found, b.fails["entries"]
}

func (b *book) EntriesAfter(_ context.Context, _ policy.Principal, seq int64, _ int) ([]audit.Entry, error) {
	var all []audit.Entry
	for _, e := range slices.Backward(b.found) {
		if e.Seq > seq && len(all) < 2 {
			all = append(all, e)
		}
	}
	return all, b.fails["after"]
}

func (b *book) ProveEntry(_ context.Context, _ policy.Principal, seq int64) (tree.Head, audit.Entry, []tree.Hash, error) {
	e := b.found[slices.IndexFunc(b.found, func(e audit.Entry) bool { return e.Seq == seq })]
	line, err := audit.Line(e)
	if err != nil {
		return tree.Head{}, e, nil, err
	}
	return tree.Head{Size: 1, Root: tree.Leaf(line)}, e, nil, b.fails["prove"]
}

func (b *book) Checkpoint(context.Context, policy.Principal) (notary.Checkpoint, error) {
	return notary.Checkpoint{Head: tree.Head{Size: b.size}}, b.fails["checkpoint"]
}

func (b *book) AuditAnchors(context.Context, policy.Principal) ([]notary.AnchorStatus, error) {
	return make([]notary.AnchorStatus, 1), b.fails["anchors"]
}

func (b *book) AuditSinks(context.Context, policy.Principal) ([]delivery.Status, error) {
	return make([]delivery.Status, 1), b.fails["sinks"]
}

func entries(from, to int64) (all []audit.Entry) {
	for seq := from; seq >= to; seq-- {
		all = append(all, audit.Entry{Seq: seq, Time: noon, Principal: "alice", Project: "demo", Action: "lease:issue", Outcome: audit.Done})
	}
	return all
}

var errAway = &broker.Error{Kind: broker.ErrUnavailable, Detail: "away"}

// The search asks the log for what the address says, and offers the next page where there may be one.
func TestTheLogIsSearched(t *testing.T) {
	id := "11111111-2222-3333-4444-555555555555"
	for query, want := range map[string]audit.Query{
		"principal=a&action=b&lease=c&resource=d&request=e&project=f": {Principal: "a", Action: "b", Lease: "c", Resource: "d", Request: "e", Project: "f"},
		"vim=edge":      {VIMName: "edge"},
		"vim=a-b-c-d-e": {VIMName: "a-b-c-d-e"},
		"vim=" + id:     {VIM: id},
		"vim=" + strings.ReplaceAll(id, "-", "_"): {VIMName: strings.ReplaceAll(id, "-", "_")},
		"outcome=failed":            {Outcomes: []audit.Outcome{"failed"}},
		"since=1h&until=2026-01-31": {Since: noon.Add(-time.Hour), Until: noon.Add(-12 * time.Hour)},
		"page=1":                    {Before: 1},
	} {
		b := &book{}
		if _, err := (&server{Options: Options{AuditLog: b}}).searchLog(visit(t, query, false)); err != nil {
			t.Errorf("%s: %v", query, err)
		}
		if want.Limit = pageSize; fmt.Sprintf("%+v", b.asked) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s asks %+v, want %+v", query, b.asked, want)
		}
	}
	for query, field := range map[string]string{"page=0": "page", "page=x": "page", "page=99999999999999999999": "page", "since=x": "since", "until=x": "until"} {
		var e *broker.Error
		if _, err := (&server{Options: Options{AuditLog: &book{}}}).searchLog(visit(t, query, false)); !errors.As(err, &e) || e.Field != field {
			t.Errorf("%s: %v", query, err)
		}
	}
	for _, c := range []struct {
		from, to int64
		next     string
	}{{60, 11, "11"}, {51, 2, "2"}, {50, 1, ""}, {60, 12, ""}} {
		s := &server{Options: Options{AuditLog: &book{found: entries(c.from, c.to)}}}
		list, err := s.entries(visit(t, "", true), audit.Query{Limit: pageSize})
		if err != nil || list.Next != c.next {
			t.Errorf("entries %d to %d: next %q, %v; want %q", c.from, c.to, list.Next, err, c.next)
		}
	}
}

// Whoever reads the whole log sees how far it is signed, anchored and delivered; a step that fails is told.
func TestWhatIsOutsideOfTheLog(t *testing.T) {
	for step, wants := range map[string]bool{"entries": true, "checkpoint": true, "anchors": true, "sinks": true} {
		s := &server{Options: Options{AuditLog: &book{fails: map[string]error{step: errAway}}}}
		if _, err := s.searchLog(visit(t, "", true)); errors.Is(err, errAway) != wants {
			t.Errorf("%s fails: %v", step, err)
		}
		if _, err := s.searchLog(visit(t, "", false)); errors.Is(err, errAway) != (step == "entries") {
			t.Errorf("%s fails for one who reads little: %v", step, err)
		}
	}
	s := &server{Options: Options{AuditLog: &book{size: 7, fails: map[string]error{"checkpoint": &broker.Error{Kind: broker.ErrNotFound}}}}}
	if o, err := s.signed(visit(t, "", true)); err != nil || o.Point != nil || len(o.Anchors) != 1 || len(o.Sinks) != 1 {
		t.Errorf("a log that nobody has signed: %+v, %v", o, err)
	}
	s.AuditLog = &book{size: 7}
	if o, err := s.signed(visit(t, "", true)); err != nil || o.Point == nil || o.Point.Size != 7 {
		t.Errorf("a signed log: %+v, %v", o, err)
	}
}

// An entry is shown by its number, with the proof for those who read all; none is shown in another's place.
func TestAnEntryIsShown(t *testing.T) {
	show := func(seq string, all bool, b *book) (Screen, error) {
		v := visit(t, "", all)
		v.SetPathValue("seq", seq)
		return (&server{Options: Options{AuditLog: b}}).showEntry(v)
	}
	proof := func(view Screen) map[string]any {
		p, _ := view.Of.(map[string]any)["Proof"].(map[string]any)
		return p
	}
	view, err := show("1", true, &book{found: entries(3, 1)})
	if p := proof(view); err != nil || p["Holds"] != true || p["Size"] != int64(1) || !strings.Contains(p["Line"].(string), `"seq":1`) {
		t.Errorf("entry 1: %+v, %v", view.Of, err)
	}
	if view, err = show("3", true, &book{found: entries(3, 1)}); err != nil || proof(view)["Holds"] != false {
		t.Errorf("a proof of another entry holds: %+v, %v", view.Of, err)
	}
	if view, err = show("3", false, &book{found: entries(3, 1)}); err != nil || proof(view) != nil || view.Of.(map[string]any)["Entry"].(audit.Entry).Seq != 3 {
		t.Errorf("one who reads little: %+v, %v", view.Of, err)
	}
	for _, seq := range []string{"0", "-1", "x", "4"} {
		if _, err := show(seq, true, &book{found: entries(3, 1)}); !errors.Is(err, broker.ErrNotFound) {
			t.Errorf("entry %s: %v", seq, err)
		}
	}
	if _, err := show("1", true, &book{}); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("an entry of an empty log: %v", err)
	}
	for _, step := range []string{"entries", "prove"} {
		if _, err := show("1", true, &book{found: entries(1, 1), fails: map[string]error{step: errAway}}); !errors.Is(err, errAway) {
			t.Errorf("%s fails: %v", step, err)
		}
	}
	torn := entries(1, 1)
	torn[0].Damaged = true
	if _, err := show("1", true, &book{found: torn}); !errors.Is(err, tree.ErrTorn) {
		t.Errorf("a damaged entry: %v", err)
	}
}

// The lines that a checkpoint covers go out, those after an entry and none after the last; where one is missing, the browser sees that.
func TestTheLogGoesOut(t *testing.T) {
	export := func(query string, b *book) (said string, a api.Answer, err error) {
		a, err = (&server{Options: Options{AuditLog: b}}).export().Handle(visit(t, query, true).Call)
		if err != nil {
			return "", a, err
		}
		w := httptest.NewRecorder()
		defer func() {
			if recover() != nil {
				err = errAway
			}
			said = w.Body.String()
		}()
		a.Serve.ServeHTTP(w, nil)
		return w.Body.String(), a, nil
	}
	for _, c := range []struct {
		query    string
		size     int64
		name     string
		from, to int
	}{{"", 5, "audit-1-to-5", 1, 5}, {"after=3", 5, "audit-4-to-5", 4, 5}, {"after=0", 2, "audit-1-to-2", 1, 2}, {"", 1, "audit-1-to-1", 1, 1}, {"after=5", 5, "audit-6-to-5", 0, -1}, {"after=6", 6, "audit-7-to-6", 0, -1}} {
		said, a, err := export(c.query, &book{found: entries(6, 1), size: c.size})
		var want bytes.Buffer
		for seq := c.from; seq <= c.to; seq++ {
			line, _ := audit.Line(entries(int64(seq), int64(seq))[0])
			want.Write(append(line, '\n'))
		}
		if err != nil || said != want.String() || !strings.Contains(a.Header.Get("Content-Disposition"), `"`+c.name+`.jsonl"`) {
			t.Errorf("%q of %d: %v %v\n%s", c.query, c.size, a.Header, err, said)
		}
	}
	for query, b := range map[string]*book{
		"":        {found: slices.Concat(entries(6, 5), entries(3, 1)), size: 6}, // 4 is missing
		"after=0": {found: entries(3, 1), size: 6},                               // the rest is missing
	} {
		if said, _, err := export(query, b); !errors.Is(err, errAway) || strings.Count(said, "\n") != 3 {
			t.Errorf("lines are missing, and the answer ends well: %v\n%s", err, said)
		}
	}
	for _, query := range []string{"after=-1", "after=x"} {
		var e *broker.Error
		if _, _, err := export(query, &book{}); !errors.As(err, &e) || e.Field != "after" {
			t.Errorf("%s: %v", query, err)
		}
	}
	for _, step := range []string{"checkpoint", "after"} {
		if _, _, err := export("", &book{found: entries(1, 1), size: 1, fails: map[string]error{step: errAway}}); !errors.Is(err, errAway) {
			t.Errorf("%s fails: %v", step, err)
		}
	}
}
