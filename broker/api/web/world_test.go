package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/net/html"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/session"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// world is all that the page reaches. It notes each question, answers with what it has, and fails the question number
// fail with err.
type world struct {
	asked []string
	fail  int
	err   error
	// may says what the person may; nil: all.
	may func(policy.Action, string) bool

	vims        []broker.VIM
	leases      []broker.Lease
	entries     []audit.Entry
	anchors     []notary.AnchorStatus
	sinks       []delivery.Status
	replicas    []broker.Replica
	parts       []broker.PartStatus
	clusters    []onboard.View
	managements []onboard.ManagementView
	clients     []oauth.Client
	grants      []grant.Record
	sessions    []session.Session
	inventory   broker.Inventory
	needs       []Need
	logins      []string
	// next is where lists go on, and live how many leases are on each VIM.
	next string
	live map[string]int
	// leasePages, if there are any, are the answers to the questions for leases.
	leasePages [][]broker.Lease
	gone       bool
	who        policy.Principal
}

var _ interface {
	Registry
	Leaser
	AuditLog
	Overseer
	Clusters
	Clients
	Grants
	Sessions
} = (*world)(nil)

func (w *world) ask(method string, args ...any) error {
	said := []string{method}
	for _, a := range args {
		said = append(said, set(reflect.ValueOf(a)))
	}
	w.asked = append(w.asked, strings.Join(said, " "))
	if len(w.asked) == w.fail {
		return cmp.Or(w.err, error(errAway))
	}
	return nil
}

// set is a value with those of its fields that are set.
func set(v reflect.Value) string {
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[time.Time]() {
		return fmt.Sprintf("%+v", v)
	}
	var all []string
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() {
			all = append(all, v.Type().Field(i).Name+": "+set(f))
		}
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// one is the thing of an id, of what the world has.
func one[T any](all []T, id string, of func(T) string) (found T, err error) {
	at := slices.IndexFunc(all, func(t T) bool { return of(t) == id })
	if at < 0 {
		return found, &broker.Error{Kind: broker.ErrNotFound, Detail: "there is no such thing"}
	}
	return all[at], nil
}

func vimID(v broker.VIM) string { return v.ID }

func (w *world) VIM(_ context.Context, _ policy.Principal, id string) (broker.VIM, error) {
	v, err := one(w.vims, id, vimID)
	return v, errors.Join(w.ask("VIM", id), err)
}

func (w *world) VIMs(_ context.Context, _ policy.Principal, q broker.VIMQuery) ([]broker.VIM, string, error) {
	err := w.ask("VIMs", q)
	var found []broker.VIM
	for _, v := range w.vims {
		end := v.Current.CredentialExpiresAt
		if q.Status != "" && q.Status != v.Health.Status || !q.EndsBefore.IsZero() && (end.IsZero() || !end.Before(q.EndsBefore)) {
			continue
		}
		found = append(found, v)
	}
	return found, w.next, err
}

func (w *world) LiveOn(_ context.Context, _ policy.Principal, vims []broker.VIM) (map[string]int, error) {
	return w.live, w.ask("LiveOn", len(vims))
}

func (w *world) SameSystem(_ context.Context, _ policy.Principal, v broker.VIM) ([]broker.VIM, error) {
	return w.vims[1:2], w.ask("SameSystem", v.ID)
}

func (w *world) WaitsFor(_ context.Context, _ policy.Principal, v broker.VIM) ([]string, error) {
	return []string{"a hub"}, w.ask("WaitsFor", v.ID)
}

func (w *world) CheckVIM(_ context.Context, _ policy.Principal, id string) (broker.VIM, error) {
	v, err := one(w.vims, id, vimID)
	return v, errors.Join(w.ask("CheckVIM", id), err)
}

func (w *world) UpdateVIM(_ context.Context, _ policy.Principal, id string, c broker.Change) (broker.VIM, error) {
	why := *c.Suspended
	c.Suspended = nil
	v, err := one(w.vims, id, vimID)
	return v, errors.Join(w.ask("UpdateVIM", id, "suspended: "+why, c), err)
}

func (w *world) DeleteVIM(_ context.Context, _ policy.Principal, id string, d broker.Deletion) (broker.VIM, bool, error) {
	v, err := one(w.vims, id, vimID)
	return v, w.gone, errors.Join(w.ask("DeleteVIM", id, d), err)
}

func leaseID(l broker.Lease) string { return l.ID }

func (w *world) Lease(_ context.Context, _ policy.Principal, id string) (broker.Lease, error) {
	l, err := one(w.leases, id, leaseID)
	return l, errors.Join(w.ask("Lease", id), err)
}

func (w *world) Leases(_ context.Context, _ policy.Principal, q broker.LeaseQuery) ([]broker.Lease, string, error) {
	err := w.ask("Leases", q)
	if len(w.leasePages) > 0 {
		page := w.leasePages[0]
		if w.leasePages = w.leasePages[1:]; len(w.leasePages) == 0 {
			return page, w.next, err
		}
		return page, "more", err
	}
	var found []broker.Lease
	for _, l := range w.leases {
		if (q.State == "" || l.State == q.State) && (q.DueBefore.IsZero() || l.ExpiresAt.Before(q.DueBefore)) {
			found = append(found, l)
		}
	}
	if q.Token != "" && q.Token == w.next { // the second page is the last, and has nothing
		return nil, "", err
	}
	return found[:min(len(found), q.Size)], w.next, err
}

func (w *world) RevokeLease(_ context.Context, _ policy.Principal, id string) (broker.Lease, error) {
	l, err := one(w.leases, id, leaseID)
	return l, errors.Join(w.ask("RevokeLease", id), err)
}

func (w *world) RevokeLeases(_ context.Context, _ policy.Principal, s broker.LeaseSelector) ([]broker.Lease, error) {
	return nil, w.ask("RevokeLeases", s)
}

func (w *world) Inventory(_ context.Context, _ policy.Principal, id string, settle bool) (broker.Inventory, error) {
	return w.inventory, w.ask("Inventory", id, settle)
}

func (w *world) Entries(_ context.Context, _ policy.Principal, q audit.Query) ([]audit.Entry, error) {
	return w.entries[:min(len(w.entries), q.Limit)], w.ask("Entries", q)
}

func (w *world) EntriesAfter(_ context.Context, _ policy.Principal, seq int64, limit int) ([]audit.Entry, error) {
	all := entries(7, seq+1)
	slices.Reverse(all)
	return all, w.ask("EntriesAfter", seq, limit)
}

func (w *world) ProveEntry(_ context.Context, _ policy.Principal, seq int64) (tree.Head, audit.Entry, []tree.Hash, error) {
	line, _ := audit.Line(w.entries[0]) // the page finds by itself that there is none
	leaf := tree.Leaf(line)
	other := tree.Leaf([]byte("another"))
	return tree.Head{Size: 2, Root: tree.Leaf(append(leaf[:], other[:]...))}, w.entries[0], []tree.Hash{other}, w.ask("ProveEntry", seq)
}

func (w *world) Checkpoint(context.Context, policy.Principal) (notary.Checkpoint, error) {
	err := w.ask("Checkpoint")
	if len(w.entries) == 0 && err == nil {
		err = &broker.Error{Kind: broker.ErrNotFound, Detail: "none is signed"}
	}
	return notary.Checkpoint{Head: tree.Head{Size: 7}, Time: noon, Key: "key-1", Note: "vimbroker\n7\nAAAA\n"}, err
}

func (w *world) AuditAnchors(context.Context, policy.Principal) ([]notary.AnchorStatus, error) {
	return w.anchors, w.ask("AuditAnchors")
}

func (w *world) AuditSinks(context.Context, policy.Principal) ([]delivery.Status, error) {
	return w.sinks, w.ask("AuditSinks")
}

func (w *world) Explain(_ context.Context, _ policy.Principal, q policy.Request) (policy.Decision, error) {
	d := policy.Decision{Allowed: w.may == nil || w.may(q.Action, q.Resource.Project)}
	if q.Resource.ID != "" && q.Resource.ID == q.Resource.Project { // the page asks for itself
		return d, w.ask("may", q.Principal.Name, q.Action, q.Resource.Project)
	}
	if d.Allowed {
		d.Policies = []string{"mine", "other"}[:map[bool]int{true: 1, false: 2}[q.Action == policy.VIMShow]]
	}
	d.Reasons, d.Why = []string{"it is late"}, []string{"resource.shared"}
	return d, w.ask("Explain", q.Principal.Name, q.Principal.Project, q.Principal.Roles, q.Action, q.Resource.ID, q.Resource.Project, q.Wish)
}

func (w *world) PolicyTexts(_ context.Context, _ policy.Principal, ids []string) (map[string]string, error) {
	return map[string]string{"mine": "permit (principal, action, resource);"}, w.ask("PolicyTexts", ids)
}

func (w *world) Ready() ([]broker.PartStatus, error) { return w.parts, w.ask("Ready") }

func (w *world) Replicas(context.Context, policy.Principal) ([]broker.Replica, error) {
	return w.replicas, w.ask("Replicas")
}

func (w *world) Clusters(_ context.Context, _ policy.Principal, q onboard.ClusterQuery) ([]onboard.View, string, error) {
	return w.clusters, w.next, w.ask("Clusters", q)
}

func (w *world) Cluster(_ context.Context, _ policy.Principal, id string) (onboard.View, error) {
	c, err := one(w.clusters, id, func(v onboard.View) string { return v.ID })
	return c, errors.Join(w.ask("Cluster", id), err)
}

func (w *world) Managements(context.Context, policy.Principal) ([]onboard.ManagementView, error) {
	return w.managements, w.ask("Managements")
}

func (w *world) Management(_ context.Context, _ policy.Principal, vim string) (onboard.ManagementView, error) {
	m, err := one(w.managements, vim, func(m onboard.ManagementView) string { return m.VIM })
	return m, errors.Join(w.ask("Management", vim), err)
}

func (w *world) Release(_ context.Context, _ policy.Principal, vim string) (onboard.Management, error) {
	return onboard.Management{VIM: vim}, w.ask("Release", vim)
}

func (w *world) Client(_ context.Context, _ policy.Principal, id string) (oauth.Client, error) {
	c, err := one(w.clients, id, func(c oauth.Client) string { return c.ID })
	return c, errors.Join(w.ask("Client", id), err)
}

func (w *world) Clients(_ context.Context, _ policy.Principal, q oauth.Query) ([]oauth.Client, string, error) {
	return w.clients, w.next, w.ask("Clients", q)
}

func (w *world) Records(_ context.Context, _ policy.Principal, q grant.Query) ([]grant.Record, string, error) {
	return w.grants, w.next, w.ask("Records", q)
}

func (w *world) Names() []string { return w.logins }

func (w *world) BeginLogin(_ context.Context, name, callback, back string) (at, kept string, err error) {
	return "https://id.example/authorize", "kept-1", w.ask("BeginLogin", name, callback, back)
}

func (w *world) FinishLogin(_ context.Context, kept string, came url.Values) (string, session.Session, string, error) {
	return "secret-2", session.Session{}, "/ui/leases", w.ask("FinishLogin", kept, came)
}

func (w *world) EnterWithToken(_ context.Context, token string) (string, session.Session, error) {
	return "secret-3", session.Session{}, w.ask("EnterWithToken", token)
}

func (w *world) EnterByLink(_ context.Context, plain string) (string, session.Session, error) {
	return "secret-4", session.Session{}, w.ask("EnterByLink", plain)
}

func (w *world) Find(_ context.Context, secret string, used bool) (policy.Principal, session.Session, error) {
	return w.who, session.Session{ID: "session-1"}, w.ask("Find", secret, used)
}

func (w *world) List(context.Context, policy.Principal) ([]session.Session, error) {
	return w.sessions, w.ask("List")
}

func (w *world) End(_ context.Context, _ policy.Principal, id string) error { return w.ask("End", id) }

// none counts nothing.
type none struct{}

func (none) Vitals(context.Context) broker.Vitals { return broker.Vitals{} }

func (none) Alarms() map[broker.Alarm]int { return nil }

func (w *world) options() Options {
	room := func(name string, pages string) Room {
		return Room{
			Nav: name, Path: name, Pages: fstest.MapFS{name + ".html": {Data: []byte(pages)}},
			Addresses: []Address{{Path: "/" + name, Show: func(*Visit) (Screen, error) { return Screen{Page: name, Title: name}, nil }}},
			Needs:     func(*Visit) ([]Need, error) { return w.needs, w.ask("Needs", name) },
		}
	}
	return Options{
		Registry: w, Leaser: w, AuditLog: w, Overseer: w, Clusters: w, Clients: w, Grants: w, Sessions: w, Version: "1.2.3",
		Rooms: []Room{room("toys", `{{define "toys"}}{{template "block" facts "Toys" "One" "a ball"}}{{end}}`), room("games", `{{define "games"}}{{.Nothing}}{{end}}`)},
		Now:   func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler),
	}
}

// send sends a request of a person's browser to the page; form nil is GET.
func (w *world) send(t *testing.T, path string, form url.Values, change ...func(*http.Request)) *http.Response {
	t.Helper()
	return sendTo(t, w.options(), path, form, change...)
}

func sendTo(t *testing.T, o Options, path string, form url.Values, change ...func(*http.Request)) *http.Response {
	t.Helper()
	method, body := "GET", io.Reader(http.NoBody)
	if form != nil {
		method, body = "POST", strings.NewReader(form.Encode())
	}
	r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, body)
	r.Header.Set("X-Request-Id", "request-1")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.AddCookie(&http.Cookie{Name: sessionCookie, Value: "secret-1"})
	if form != nil {
		r.Header.Set("Content-Type", formType)
	}
	for _, c := range change {
		c(r)
	}
	got := httptest.NewRecorder()
	api.New(api.Options{Doors: []api.Door{Door(o)}, Vitals: none{}, Log: testlog.Silent(t)}).ServeHTTP(got, r)
	return got.Result()
}

// own is a form of a page of the session.
func own(pairs ...string) url.Values {
	form := url.Values{tokenField: {formToken("secret-1")}}
	for n := 1; n < len(pairs); n += 2 {
		form.Set(pairs[n-1], pairs[n])
	}
	return form
}

func whole(t *testing.T, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lines begin a line of what told says.
var lines = []string{"title", "h1", "h2", "p", "tr", "dt", "li", "section", "form", "label", "nav", "pre", "main", "footer", "header"}

// told is a page in words: links with where they lead, marks, forms with their fields.
func told(t *testing.T, page string) string {
	t.Helper()
	var b strings.Builder
	var open []string // what follows an element's content
	attr := func(token html.Token, name string) string {
		for _, a := range token.Attr {
			if a.Key == name {
				return a.Val
			}
		}
		return ""
	}
	hidden := false
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				t.Fatal(z.Err())
			}
			var all []string
			for line := range strings.Lines(b.String()) {
				if line = strings.Join(strings.Fields(line), " "); line != "" {
					all = append(all, line)
				}
			}
			return strings.Join(all, "\n") + "\n"
		case html.TextToken:
			if text := strings.TrimSpace(string(z.Text())); text != "" && !hidden {
				b.WriteString(html.UnescapeString(text) + " ")
			}
		case html.EndTagToken, html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			hidden = kind == html.StartTagToken && attr(token, "aria-hidden") != ""
			if slices.Contains(lines, token.Data) {
				b.WriteString("\n")
			}
			if kind == html.EndTagToken {
				if (token.Data == "a" || token.Data == "form") && len(open) > 0 {
					b.WriteString(open[len(open)-1])
					open = open[:len(open)-1]
				}
				continue
			}
			switch token.Data {
			case "a":
				current := ""
				if attr(token, "aria-current") != "" {
					current = " (here)"
				}
				open = append(open, "<"+attr(token, "href")+">"+current+" ")
			case "form":
				open = append(open, "<"+attr(token, "method")+" "+attr(token, "action")+">\n")
			case "input":
				b.WriteString("{" + strings.TrimSpace(strings.Join([]string{attr(token, "type"), attr(token, "name"), attr(token, "value"), attr(token, "placeholder")}, " ")) + "} ")
			case "option":
				b.WriteString("/ ")
				if slices.ContainsFunc(token.Attr, func(a html.Attribute) bool { return a.Key == "selected" }) {
					b.WriteString("* ")
				}
			case "button":
				b.WriteString("button: ")
			case "th", "td", "dd":
				b.WriteString("| ")
			case "meta":
				if attr(token, "http-equiv") != "" {
					b.WriteString("\n" + attr(token, "http-equiv") + " " + attr(token, "content") + "\n")
				}
			case "main":
				if live := attr(token, "data-live"); live != "" {
					b.WriteString("live " + live + "\n")
				}
			case "div":
				if attr(token, "role") == "region" {
					b.WriteString("\n" + attr(token, "aria-label") + "\n")
				}
			case "section":
				b.WriteString("-- " + attr(token, "class"))
			case "span":
				if mark, is := strings.CutPrefix(attr(token, "class"), "mark "); is {
					b.WriteString(mark + ": ")
				}
			}
		}
	}
}
