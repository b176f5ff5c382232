package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/net/html"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// browser shows pages as a person's does: with cookies, and with where requests come from.
type browser struct {
	t       *testing.T
	handler http.Handler
	host    string
	cookies map[string]string
	seen    []*http.Response
	all     strings.Builder // every answer, with its headers
}

func newBrowser(t *testing.T, s *server) *browser {
	return &browser{t: t, handler: s.handler, host: "127.0.0.1:8420", cookies: map[string]string{}}
}

// send sends a request; form nil is GET.
func (b *browser) send(path string, form url.Values, headers ...string) (int, string) {
	b.t.Helper()
	method, body := "GET", io.Reader(nil)
	if form != nil {
		method, body = "POST", strings.NewReader(form.Encode())
	}
	r := httptest.NewRequestWithContext(b.t.Context(), method, "http://"+b.host+path, body)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://"+b.host)
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for i := 1; i < len(headers); i += 2 {
		r.Header.Set(headers[i-1], headers[i])
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	got := w.Result()
	for _, c := range got.Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	b.seen = append(b.seen, got)
	fmt.Fprintln(&b.all, method, path, got.Header, w.Body)
	return w.Code, w.Body.String()
}

// last is the newest answer.
func (b *browser) last() *http.Response { return b.seen[len(b.seen)-1] }

func (b *browser) see(path string, parts ...string) string {
	b.t.Helper()
	status, text := b.send(path, nil)
	if status != http.StatusOK {
		b.t.Errorf("GET %s = %d %s", path, status, text)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			b.t.Errorf("GET %s does not say %q:\n%s", path, part, text)
		}
	}
	return text
}

func (b *browser) logIn(token string) {
	b.t.Helper()
	if status, text := b.send("/ui/login", url.Values{"token": {token}, "back": {"/ui/"}}); status != http.StatusSeeOther {
		b.t.Fatalf("logging in = %d %s", status, text)
	}
}

var formToken = regexp.MustCompile(`name="form-token" value="([0-9a-f]+)"`)

// do opens the question of an act and answers it.
func (b *browser) do(path string, fields url.Values) (int, string) {
	b.t.Helper()
	asked := b.see(path)
	if fields == nil {
		fields = url.Values{}
	}
	fields.Set("form-token", formToken.FindStringSubmatch(asked)[1])
	return b.send(strings.Split(path, "?")[0], fields)
}

// tenants gives a server two tenants and an administrator of all, and returns their tokens.
func tenants(t *testing.T, s *server) (admin, north, south string) {
	t.Helper()
	var all []policy.StaticToken
	var plain [3]string
	for i, name := range []string{"root", "nora", "sven"} {
		token, digest := policy.NewToken()
		plain[i] = token
		one := policy.StaticToken{Name: name, Project: "ops", Roles: []string{policy.RoleAdmin}, SHA256: digest}
		if i > 0 {
			one.Project, one.Roles = []string{"", "north", "south"}[i], []string{policy.RoleProjectAdmin, policy.RoleMember}
		}
		all = append(all, one)
	}
	tokens, err := policy.NewStaticTokens(all)
	if err != nil {
		t.Fatal(err)
	}
	c := *s.live.now.Load()
	c.tokens = tokens
	s.live.now.Store(&c)
	return plain[0], plain[1], plain[2]
}

// hostile is a text that is markup, turns what follows, and is long.
const hostile = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'`&amp;{{.}}"

// settled registers a VIM for a tenant and issues leases on it, and returns every secret of that.
func settled(t *testing.T, s *server, project, name string, cluster *fakekube.Server) (vim broker.VIM, secrets []string) {
	t.Helper()
	p := policy.Principal{Name: map[string]string{"north": "nora", "south": "sven"}[project], Project: project, Roles: []string{policy.RoleAdmin}}
	vim, err := s.broker.RegisterVIM(t.Context(), p, broker.Registration{
		Name: name, Type: "kubernetes", Kubeconfig: secret.NewText(cluster.Kubeconfig()), Labels: map[string]string{"of": project},
		Description: hostile + "\u202e" + strings.Repeat("x", 3900),
	})
	if err != nil {
		t.Fatal(err)
	}
	secrets = []string{cluster.AdminToken, cluster.Password}
	for i := range 2 {
		l, config, err := s.broker.IssueLease(audit.WithDoor(t.Context(), audit.DoorREST), p, broker.LeaseRequest{
			VIM: vim.ID, Role: "view", ClusterWide: true, Purpose: fmt.Sprint(hostile, i), For: "dave <b>",
		})
		if err != nil {
			t.Fatal(err)
		}
		stored, err := s.store.Lease(t.Context(), l.ID)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, config.Token.Reveal(), stored.Sealed)
	}
	return vim, append(secrets, vim.Current.Sealed)
}

// crawl follows every link of the pages from one, and returns the addresses that were seen.
func (b *browser) crawl(from string) (seen []string) {
	b.t.Helper()
	for next := []string{from}; len(next) > 0 && len(seen) < 400; next = next[1:] {
		path, _, _ := strings.Cut(next[0], "#")
		if slices.Contains(seen, path) {
			continue
		}
		seen = append(seen, path)
		status, text := b.send(path, nil)
		if status != http.StatusOK && status != http.StatusSeeOther {
			b.t.Errorf("GET %s = %d, of a link that a page has: %s", path, status, text[max(0, strings.Index(text, "<main")):])
		}
		if !strings.HasPrefix(b.last().Header.Get("Content-Type"), "text/html") {
			continue
		}
		root, err := html.Parse(strings.NewReader(text))
		if err != nil {
			b.t.Errorf("%s: %v", path, err)
			continue
		}
		for n := range root.Descendants() {
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
					b.t.Errorf("%s has the attribute %s=%q, which is script or style in markup", path, a.Key, a.Val)
				}
				if n.Data != "a" || a.Key != "href" || strings.HasPrefix(a.Val, "#") || strings.Contains(a.Val, "/audit/") {
					continue
				}
				if strings.HasPrefix(a.Val, "?") {
					a.Val = strings.Split(path, "?")[0] + a.Val
				}
				next = append(next, a.Val)
			}
			if n.Data == "img" || n.Data == "script" && n.FirstChild != nil {
				b.t.Errorf("%s has an element %s that nobody of us wrote", path, n.Data)
			}
		}
	}
	return seen
}

// Every page that links lead to can be seen. None of them has a secret, or markup of others'.
func TestEveryPageIsThereAndKeepsSecrets(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	s.ready.settled.Store(true)
	s.broker.Probe(t.Context())
	admin, north, south := tenants(t, s)
	one, secrets := settled(t, s, "north", "edge-north", fakekube.New(t, fakekube.Options{}))
	other, more := settled(t, s, "south", "edge-south", fakekube.New(t, fakekube.Options{}))
	secrets = append(append(secrets, more...), admin, north, south)
	for name, token := range map[string]string{"root": admin, "nora": north, "sven": south} {
		t.Run(name, func(t *testing.T) {
			b := newBrowser(t, s)
			b.logIn(token)
			b.all.Reset()
			seen := b.crawl("/ui/")
			if len(seen) < 25 {
				t.Errorf("only %d pages are seen: %v", len(seen), seen)
			}
			all := b.all.String()
			for i, text := range append(slices.Clone(secrets), b.cookies["vimbroker-session"], policy.Digest(token)) {
				if text != "" && strings.Contains(all, text) {
					t.Errorf("secret %d is in a page", i)
				}
			}
			if strings.Contains(all, "\u202e") || strings.Contains(all, "<script>alert") || strings.Contains(all, "<img src=x") {
				t.Error("a page has markup of others', or what turns its text")
			}
			for _, foreign := range map[string][]broker.VIM{"nora": {other}, "sven": {one}}[name] {
				if strings.Contains(all, foreign.ID) || strings.Contains(all, foreign.Name) {
					t.Errorf("%s sees %s of another tenant", name, foreign.Name)
				}
				for _, page := range []string{"", "/inventory", "/check", "/suspend", "/drain"} {
					if status, text := b.send("/ui/vims/"+foreign.ID+page, nil); status != http.StatusNotFound || strings.Contains(text, foreign.Name) {
						t.Errorf("%s of a foreign VIM = %d %s, want 404", page, status, text)
					}
				}
			}
		})
	}
}

// Each act is asked once, done by the same method as elsewhere, and in the log with its door.
func TestActsOfThePage(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	s.ready.settled.Store(true)
	s.broker.Probe(t.Context())
	admin, north, _ := tenants(t, s)
	vim, _ := settled(t, s, "north", "edge-north", fakekube.New(t, fakekube.Options{}))
	b := newBrowser(t, s)
	b.logIn(north)
	leases, _, err := s.broker.Leases(t.Context(), policy.Principal{Name: "root", Project: "ops", Roles: []string{policy.RoleAdmin}}, broker.LeaseQuery{VIM: vim.ID})
	if err != nil || len(leases) != 2 {
		t.Fatalf("leases %v, %v", leases, err)
	}
	here := "/ui/vims/" + vim.ID
	for _, c := range []struct {
		path   string
		fields url.Values
		then   string // on the page that follows
		action policy.Action
	}{
		{here + "/check", nil, "reachable", policy.VIMCheck},
		{here + "/suspend", url.Values{"why": {"maintenance"}}, "maintenance", policy.VIMUpdate},
		{here + "/resume", nil, "reachable", policy.VIMUpdate},
		{"/ui/leases/" + leases[0].ID + "/revoke", nil, "revoked", policy.LeaseRevoke},
		{"/ui/revocation?vim=" + vim.ID, url.Values{"vim": {vim.ID}}, leases[1].ID[:8], policy.LeaseRevoke},
		{here + "/drain", nil, "VIMs", policy.VIMDelete},
	} {
		if status, text := b.do(c.path, c.fields); status != http.StatusSeeOther {
			t.Errorf("%s = %d %s", c.path, status, text)
			continue
		}
		b.see(b.last().Header.Get("Location"), c.then)
		found, err := s.store.Entries(t.Context(), audit.Query{Principal: "nora", Action: c.action, Limit: 1})
		if err != nil || len(found) != 1 || found[0].Door != audit.DoorPage || found[0].Detail[audit.DetailVIM] != vim.ID {
			t.Errorf("%s: the log has %+v, %v", c.path, found, err)
		}
	}
	if _, err := s.store.VIM(t.Context(), vim.ID); err == nil {
		t.Error("the VIM was drained and is there")
	}
	root := newBrowser(t, s)
	root.logIn(admin)
	root.see("/ui/audit?action=vim:delete", "page", "nora")
	entries, err := s.store.Entries(t.Context(), audit.Query{Action: policy.VIMDelete, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	root.see(fmt.Sprintf("/ui/audit/%d", entries[0].Seq), "the tree holds this very line", `&#34;door&#34;:&#34;page&#34;`)
	root.see("/ui/policies?action=vim:register&principal=nora&roles=member", "Decided by")
	if text := root.see("/ui/policies?action=audit:read", "allowed", "permit"); !strings.Contains(text, "admins-do-all") {
		t.Errorf("the deciding policy is not named: %s", text)
	}
}

// A form counts only from a page of this session, sent from here.
func TestForeignFormsAreRefused(t *testing.T) {
	s, token := tryOut(t, func(*config) {})
	admin := policy.Principal{Name: "admin", Project: "default", Roles: []string{policy.RoleAdmin}}
	vim, err := s.broker.RegisterVIM(t.Context(), admin, broker.Registration{
		Name: "edge", Type: "kubernetes", Kubeconfig: secret.NewText(fakekube.New(t, fakekube.Options{}).Kubeconfig()),
	})
	if err != nil {
		t.Fatal(err)
	}
	b, other := newBrowser(t, s), newBrowser(t, s)
	b.logIn(token)
	other.logIn(token)
	path := "/ui/vims/" + vim.ID + "/suspend"
	own := formToken.FindStringSubmatch(b.see(path))[1]
	foreign := formToken.FindStringSubmatch(other.see(path))[1]
	for name, c := range map[string]struct {
		token   string
		headers []string
	}{
		"without its token":        {"", nil},
		"with another session's":   {foreign, nil},
		"from another site":        {own, []string{"Sec-Fetch-Site", "cross-site"}},
		"from a sister site":       {own, []string{"Sec-Fetch-Site", "same-site"}},
		"from another origin":      {own, []string{"Sec-Fetch-Site", "", "Origin", "https://evil.example"}},
		"from nowhere":             {own, []string{"Sec-Fetch-Site", "", "Origin", ""}},
		"from an opaque origin":    {own, []string{"Sec-Fetch-Site", "", "Origin", "null"}},
		"as another kind of body":  {own, []string{"Content-Type", "text/plain"}},
		"from an origin of a port": {own, []string{"Sec-Fetch-Site", "", "Origin", "http://127.0.0.1:1"}},
	} {
		status, _ := b.send(path, url.Values{"why": {"evil"}, "form-token": {c.token}}, c.headers...)
		if status != http.StatusForbidden && status != http.StatusUnsupportedMediaType {
			t.Errorf("a form %s = %d, want 403", name, status)
		}
	}
	if status, _ := b.send("/ui/login", url.Values{"token": {token}}, "Sec-Fetch-Site", "cross-site"); status != http.StatusForbidden {
		t.Errorf("a login that another site sends = %d, want 403", status)
	}
	if now, err := s.store.VIM(t.Context(), vim.ID); err != nil || now.Suspended != "" {
		t.Errorf("the VIM is suspended: %q, %v", now.Suspended, err)
	}
	if status, _ := b.send(path, url.Values{"why": {"mine"}, "form-token": {own}}); status != http.StatusSeeOther {
		t.Errorf("a form of the page = %d", status)
	}
}

// A session begins with a login, has a secret of its own, and ends for everybody who has its cookie.
func TestSessionsOfThePage(t *testing.T) {
	s, token := tryOut(t, func(*config) {})
	s.ready.settled.Store(true)
	s.broker.Probe(t.Context())
	b := newBrowser(t, s)
	b.cookies["vimbroker-session"] = "vbs_fixed-by-another" // fixation
	if status, text := b.send("/ui/vims", nil); status != http.StatusUnauthorized || !strings.Contains(text, `name="token"`) {
		t.Fatalf("a stranger sees %d %s", status, text)
	}
	if status, _ := b.send("/ui/login", url.Values{"token": {"vbt_" + strings.Repeat("x", 43)}}); status != http.StatusUnauthorized {
		t.Errorf("a wrong token = %d, want 401", status)
	}
	b.logIn(token)
	first := b.cookies["vimbroker-session"]
	for _, c := range b.last().Cookies() {
		if c.Name == "vimbroker-session" && (!c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure || c.Path != "/") {
			t.Errorf("the cookie is %+v", c)
		}
	}
	b.logIn(token)
	if b.cookies["vimbroker-session"] == first || first == "vbs_fixed-by-another" {
		t.Error("a login keeps the secret of before")
	}
	text := b.see("/ui/sessions", "(this one)")
	ids := regexp.MustCompile(`/ui/sessions/([0-9a-f-]+)/end`).FindAllStringSubmatch(text, -1)
	if len(ids) != 2 {
		t.Fatalf("sessions %v", ids)
	}
	thief := newBrowser(t, s)
	thief.cookies["vimbroker-session"] = b.cookies["vimbroker-session"]
	thief.see("/ui/vims")
	out := formToken.FindStringSubmatch(text)[1]
	if status, _ := b.send("/ui/logout", url.Values{"form-token": {out}}); status != http.StatusSeeOther {
		t.Errorf("logging out = %d", status)
	}
	if status, _ := thief.send("/ui/vims", nil); status != http.StatusUnauthorized {
		t.Errorf("a stolen cookie after logout = %d, want 401", status)
	}
	other := newBrowser(t, s)
	other.logIn(token)
	for _, id := range ids { // one of them is the one that was logged out
		if status, _ := other.send("/ui/sessions/"+id[1]+"/end", nil); status == http.StatusOK {
			other.do("/ui/sessions/"+id[1]+"/end", nil)
		}
	}
	b.cookies["vimbroker-session"] = first
	if status, _ := b.send("/ui/vims", nil); status != http.StatusUnauthorized {
		t.Errorf("a session that was ended from elsewhere = %d, want 401", status)
	}
	found, err := s.store.Entries(t.Context(), audit.Query{Action: audit.SessionEnd, Limit: 10})
	if err != nil || len(found) != 2 || found[0].Door != audit.DoorPage {
		t.Errorf("the log has %v, %v, want the ends of two sessions", found, err)
	}
}

// Nobody sees or ends a session of another, though its id is known.
func TestSessionsOfOthers(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	_, north, south := tenants(t, s)
	nora, sven := newBrowser(t, s), newBrowser(t, s)
	nora.logIn(north)
	sven.logIn(south)
	find := regexp.MustCompile(`/ui/sessions/([0-9a-f-]+)/end`)
	id := find.FindStringSubmatch(nora.see("/ui/sessions", "nora"))[1]
	text := sven.see("/ui/sessions", "sven")
	if strings.Contains(text, id) || strings.Contains(text, "nora") {
		t.Errorf("the sessions of sven have nora's: %s", text)
	}
	path := "/ui/sessions/" + id + "/end"
	if status, text := sven.send(path, nil); status != http.StatusNotFound {
		t.Errorf("the question whether to end another's session = %d %s, want 404", status, text)
	}
	form := url.Values{"form-token": {formToken.FindStringSubmatch(text)[1]}}
	if status, text := sven.send(path, form); status != http.StatusNotFound {
		t.Errorf("ending another's session = %d %s, want 404", status, text)
	}
	nora.see("/ui/sessions", id)
}

// A tenant sees how many leases live on a VIM of its own, and not how many on one that another shares with it.
func TestLeasesOfOthersAreNotCounted(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	s.ready.settled.Store(true)
	s.broker.Probe(t.Context())
	admin, north, south := tenants(t, s)
	vim, _ := settled(t, s, "north", "edge-north", fakekube.New(t, fakekube.Options{}))
	yes := true
	if _, err := s.broker.UpdateVIM(t.Context(), devAdmin(), vim.ID, broker.Change{Shared: &yes}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		token string
		sees  bool
	}{"root": {admin, true}, "nora": {north, true}, "sven": {south, false}} {
		b := newBrowser(t, s)
		b.logIn(c.token)
		if text := b.see("/ui/vims", "edge-north"); strings.Contains(text, "2 live") != c.sees {
			t.Errorf("%s sees how many leases live on the VIM: %v, want %v", name, !c.sees, c.sees)
		}
	}
}

// A page of leases is full though the newest that live are not those that are asked for.
func TestAPageOfLeasesIsFull(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	s.ready.settled.Store(true)
	s.broker.Probe(t.Context())
	_, north, _ := tenants(t, s)
	vim, _ := settled(t, s, "north", "edge-north", fakekube.New(t, fakekube.Options{}))
	leases, _, err := s.store.Leases(t.Context(), broker.LeaseFilter{VIM: vim.ID})
	if err != nil || len(leases) != 2 {
		t.Fatalf("leases %v, %v", leases, err)
	}
	var all sync.WaitGroup
	for range 13 {
		all.Go(func() {
			for range 100 {
				one := leases[0]
				one.ID, one.State, one.Handle, one.CreatedAt = uuid.NewString(), broker.LeasePending, "", time.Now().Add(time.Minute)
				if _, err := s.store.CreateLease(t.Context(), one, broker.Quota{}, audit.Entry{Time: time.Now(), Action: policy.LeaseIssue, Outcome: audit.Intent}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	b := newBrowser(t, s)
	b.logIn(north)
	b.see("/ui/leases?vim="+vim.ID, leases[0].ID[:8], leases[1].ID[:8])
	b.see("/ui/vims/"+vim.ID, "/ui/leases/"+leases[0].ID, "/ui/leases/"+leases[1].ID)
	if text := b.see("/ui/leases?state=pending&vim=" + vim.ID); strings.Count(text, "<th scope=\"row\"") != 50 || !strings.Contains(text, "Next page") {
		t.Errorf("a page has %d leases", strings.Count(text, "<th scope=\"row\""))
	}
	b.see("/ui/leases?state=&vim="+vim.ID, "&amp;state=&amp;vim="+vim.ID+`" rel="next"`) // the next page is of all states, too
}

// The overview says which credentials end soon and which leases are late, to their own project.
func TestWhatEndsSoonAndIsLate(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	s.ready.settled.Store(true)
	s.broker.Probe(t.Context())
	_, north, south := tenants(t, s)
	vim, _ := settled(t, s, "north", "edge-north", fakekube.New(t, fakekube.Options{}))
	now := time.Now()
	entry := audit.Entry{Time: now, Principal: "nora", Project: "north", Action: policy.VIMUpdate, Outcome: audit.Done}
	for name, end := range map[string]time.Time{
		"ended": now.Add(-time.Hour), "soon": now.Add(29 * 24 * time.Hour), "later": now.Add(31 * 24 * time.Hour), "endless": {},
	} {
		one := vim
		one.ID, one.Name, one.Labels = uuid.NewString(), name, nil
		one.Current.CredentialExpiresAt = end
		if err := s.store.CreateVIM(t.Context(), one, 0, entry); err != nil {
			t.Fatal(err)
		}
	}
	leases, _, err := s.store.Leases(t.Context(), broker.LeaseFilter{VIM: vim.ID})
	if err != nil || len(leases) != 2 {
		t.Fatalf("leases %v, %v", leases, err)
	}
	for i, over := range []time.Duration{6 * time.Minute, 4 * time.Minute} {
		_, err := s.store.UpdateLease(t.Context(), leases[i].ID, func(l *broker.Lease) error {
			l.IssuedAt, l.ExpiresAt = now.Add(-time.Hour), now.Add(-over)
			return nil
		}, entry)
		if err != nil {
			t.Fatal(err)
		}
	}
	nora, sven := newBrowser(t, s), newBrowser(t, s)
	nora.logIn(north)
	sven.logIn(south)
	text := nora.see("/ui/", "3 things need somebody", "vimbroker vim rotate soon", "its credential has ended: vimbroker vim rotate ended",
		"lease "+leases[0].ID[:8]+" on edge-north", "late: its end has come")
	for _, quiet := range []string{"rotate later", "rotate endless", "lease " + leases[1].ID[:8]} {
		if strings.Contains(text, quiet) {
			t.Errorf("the overview has %q, which needs nobody yet", quiet)
		}
	}
	sven.see("/ui/", "nothing needs you")
}

// A token that is taken away ends the sessions that it began.
func TestASessionEndsWithItsToken(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	_, north, _ := tenants(t, s)
	b := newBrowser(t, s)
	b.logIn(north)
	b.see("/ui/vims")
	tenants(t, s) // the same names, other tokens
	if status, _ := b.send("/ui/vims", nil); status != http.StatusUnauthorized {
		t.Errorf("a session whose token was replaced = %d, want 401", status)
	}
}

// Over TLS, or behind a proxy that ends it, no other site can set the cookie.
func TestCookiesBehindTLS(t *testing.T) {
	s, token := tryOut(t, func(*config) {})
	b := newBrowser(t, s)
	b.host = "broker.example"
	status, _ := b.send("/ui/login", url.Values{"token": {token}})
	if status != http.StatusSeeOther || b.cookies["__Host-vimbroker-session"] == "" {
		t.Fatalf("logging in = %d, cookies %v", status, b.cookies)
	}
	for _, c := range b.last().Cookies() {
		if strings.HasSuffix(c.Name, "session") && (!c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Domain != "" || c.Path != "/") {
			t.Errorf("the cookie is %+v", c)
		}
	}
	b.cookies["vimbroker-session"] = b.cookies["__Host-vimbroker-session"]
	delete(b.cookies, "__Host-vimbroker-session")
	if status, _ := b.send("/ui/vims", nil); status != http.StatusUnauthorized {
		t.Errorf("a cookie that any site of the domain can set = %d, want 401", status)
	}
}

// Every answer keeps others from framing it, from running in it, and from keeping it.
func TestHeadersOfThePage(t *testing.T) {
	s, token := tryOut(t, func(*config) {})
	s.ready.settled.Store(true)
	s.broker.Probe(t.Context())
	b := newBrowser(t, s)
	for _, path := range []string{"/ui/", "/ui", "/ui/vims", "/ui/nothing", "/ui/login/nobody", "/ui/callback?code=x&state=y", "/ui/link/x", "/ui/assets/x"} {
		b.send(path, nil)
	}
	b.logIn(token)
	b.crawl("/ui/")
	for _, got := range b.seen {
		policies := got.Header.Get("Content-Security-Policy")
		if !strings.Contains(policies, "frame-ancestors 'none'") || !strings.Contains(policies, "default-src 'none'") || strings.Contains(policies, "unsafe") ||
			got.Header.Get("X-Frame-Options") != "DENY" || got.Header.Get("Cache-Control") != "no-store" ||
			got.Header.Get("X-Content-Type-Options") != "nosniff" || got.Header.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("%v has the headers %v", got.StatusCode, got.Header)
		}
	}
}

// Who comes by a link of elsewhere sends no cookie: the page asks itself once from here before it shows the login.
func TestAColleaguesLink(t *testing.T) {
	s, token := tryOut(t, func(*config) {})
	b := newBrowser(t, s)
	if _, text := b.send("/ui/leases?vim=edge", nil, "Sec-Fetch-Site", "cross-site"); !strings.Contains(text, `http-equiv="refresh" content="0; url=/ui/leases?vim=edge"`) {
		t.Errorf("from elsewhere: %s", text)
	}
	_, text := b.send("/ui/leases?vim=edge", nil)
	if strings.Contains(text, "http-equiv") || !strings.Contains(text, `name="back" value="/ui/leases?vim=edge"`) {
		t.Errorf("from here: %s", text)
	}
	for _, evil := range []string{"//evil.example/ui/", "https://evil.example/ui/", `/\evil.example/ui/`, "/v1/vims", "/ui/../v1/vims", "javascript:alert(1)"} {
		b.send("/ui/login", url.Values{"token": {token}, "back": {evil}})
		if to := b.last().Header.Get("Location"); to != "/ui/" {
			t.Errorf("after the login one is led to %q for %q", to, evil)
		}
	}
}

func TestALinkLetsInOnce(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	s.ready.settled.Store(true)
	s.broker.Probe(t.Context())
	link := "/ui/link/" + s.sessions.Link(devAdmin(), devLinkWithin)
	b, late := newBrowser(t, s), newBrowser(t, s)
	if status, _ := b.send(link, nil, "Sec-Fetch-Site", "none"); status != http.StatusSeeOther {
		t.Errorf("the link = %d", status)
	}
	b.see("/ui/", "admin")
	if status, _ := late.send(link, nil); status != http.StatusUnauthorized || len(late.cookies) != 0 {
		t.Errorf("the link, again = %d, cookies %v, want 401", status, late.cookies)
	}
}

func TestThePageCanBeOff(t *testing.T) {
	s, _ := tryOut(t, func(c *config) { c.UI.Enabled = false })
	if status, _ := newBrowser(t, s).send("/ui/", nil); status != http.StatusNotFound {
		t.Errorf("a page that is off = %d, want 404", status)
	}
}

// Somebody who may read the whole log has it as a file, however long it is, and nobody else.
func TestTheLogIsExportedWhole(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	s.ready.settled.Store(true)
	s.broker.Probe(t.Context())
	admin, north, _ := tenants(t, s)
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for range 160 {
				entry := audit.Entry{Time: time.Now(), Principal: "nora", Project: "north", Action: policy.VIMShow, Outcome: audit.Read}
				if err := s.store.Append(t.Context(), entry); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := s.broker.SignAudit(t.Context()); err != nil {
		t.Fatal(err)
	}
	root, nora := newBrowser(t, s), newBrowser(t, s)
	root.logIn(admin)
	root.see("/ui/audit", "Export all its lines")
	lines := strings.Split(strings.TrimSpace(root.see("/ui/export")), "\n")
	if len(lines) < 64*160 {
		t.Errorf("%d lines, want all %d and more", len(lines), 64*160)
	}
	for n, line := range lines {
		if !strings.Contains(line, fmt.Sprintf(`"seq":%d,`, n+1)) {
			t.Fatalf("line %d is %s", n+1, line)
		}
	}
	name := root.last().Header.Get("Content-Disposition")
	if want := fmt.Sprintf(`attachment; filename="audit-1-to-%d.jsonl"`, len(lines)); name != want {
		t.Errorf("the file is %s, want %s", name, want)
	}
	if text := root.see("/ui/export?after=10000"); !strings.HasPrefix(text, `{"seq":10001,`) {
		t.Errorf("the lines after 10000 begin with %.80s", text)
	}
	nora.logIn(north)
	if status, text := nora.send("/ui/export", nil); status != http.StatusForbidden {
		t.Errorf("the log for a tenant = %d %.200s, want 403", status, text)
	}
}
