package openstack_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// liar stands before a fake Keystone and lies where its script says so. It keeps
// every secret that passes by.
type liar struct {
	fake.Script
	driver *openstack.Driver

	mu      sync.Mutex
	secrets map[string]bool
}

// secretive are the fields whose values are nobody's business.
var secretive = regexp.MustCompile(`"(?:password|secret)": ?"([^"]+)"`)

// lying puts a liar between the lab's driver and its cloud.
func lying(l *lab) *liar {
	l.t.Helper()
	to, err := url.Parse(l.Endpoint)
	if err != nil {
		l.t.Fatal(err)
	}
	x := &liar{driver: l.driver, secrets: map[string]bool{}}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ModifyResponse: func(r *http.Response) (err error) {
			r.Body, err = x.note(r.Header, r.Body)
			return err
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := x.note(r.Header, r.Body)
		if err != nil {
			return
		}
		r.Body = body
		x.Serve(w, r, proxy.ServeHTTP)
	}))
	l.t.Cleanup(server.Close)
	l.access = l.to(server.URL)
	return x
}

// tell has the driver log in anew, and lies from then on about every request that the
// fault selects, and about no other.
func (x *liar) tell(about fake.Fault) {
	x.honest()
	about.Times = -1
	x.Fail(about)
}

// honest ends the lies, and the sessions that came of them.
func (x *liar) honest() {
	x.driver.Logout()
	x.Heal()
}

// note reads a body for its secrets, and returns it again.
func (x *liar) note(h http.Header, from io.Reader) (io.ReadCloser, error) {
	body, err := io.ReadAll(from)
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, name := range []string{"X-Auth-Token", "X-Subject-Token"} {
		if v := h.Get(name); v != "" {
			x.secrets[v] = true
		}
	}
	for _, found := range secretive.FindAllSubmatch(body, -1) {
		x.secrets[string(found[1])] = true
	}
	return io.NopCloser(bytes.NewReader(body)), err
}

// seen are the secrets that passed by.
func (x *liar) seen() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Collect(maps.Keys(x.secrets))
}

// changed is an answer whose JSON is changed.
func changed(method, path string, change func(header http.Header, body map[string]any)) fake.Fault {
	return fake.Fault{Kind: fake.Edit, Method: method, Path: path, Edit: func(header http.Header, body []byte) []byte {
		var document map[string]any
		if json.Unmarshal(body, &document) != nil {
			return []byte("the test cannot read what it is to change")
		}
		change(header, document)
		body, err := json.Marshal(document)
		if err != nil {
			panic(err)
		}
		return body
	}}
}

// stages are the requests that the driver's methods are made of.
var stages = map[string]fake.Fault{
	"the version":               {Method: "GET", Path: `^/v3/$`},
	"a login":                   {Method: "POST", Path: `/auth/tokens$`},
	"trusts":                    {Method: "POST", Path: `/OS-TRUST/trusts$`},
	"application credentials":   {Method: "GET", Path: `/application_credentials$`},
	"a new one":                 {Method: "POST", Path: `/application_credentials$`},
	"the end of one":            {Method: "DELETE", Path: `/application_credentials/`},
	"everything":                {},
	"the user's projects (401)": {Method: "GET", Path: `/auth/projects$`},
}

// wantHonestFault wants no error, or one in our own words without any secret.
func wantHonestFault(t *testing.T, what string, err error, x *liar, l *lab) {
	t.Helper()
	var e *broker.Error
	if err != nil && !errors.As(err, &e) {
		t.Errorf("%s = %v (%T), want a *broker.Error", what, err, err)
	}
	secrets := append(x.seen(), canary, l.user.Password)
	wantQuiet(t, what, err, secrets...)
	for _, s := range secrets {
		if strings.Contains(l.log.String(), s) {
			t.Errorf("%s: the log holds a secret", what)
		}
	}
}

// A Keystone that repeats what it was sent, password and token, gets none of it into
// an error or a log.
func TestSecretsThatAreEchoed(t *testing.T) {
	l := newLab(t)
	x := lying(l)
	l.register()
	g := l.grant("member")
	m := l.issue(g)
	for _, status := range []int{400, 401, 403, 404, 409, 413, 429, 500, 503} {
		for stage, about := range stages {
			about.Kind, about.Answer = fake.Custom, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body) // is in memory
				said := fmt.Sprint(r.Header, string(body))
				w.Header().Set("X-Echo", strings.ReplaceAll(said, "\n", ""))
				w.WriteHeader(status)
				_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": status, "title": said, "message": said}})
			}
			l.each(g, m, func(method string, call call) {
				if method == "Revoke" || method == "Forget" || method == "Dead" {
					return // 404 in Keystone's words is its word
				}
				x.tell(about)
				err := call(t.Context())
				x.honest()
				wantHonestFault(t, fmt.Sprintf("%s with %d for %s", method, status, stage), err, x, l)
				if stage == "everything" && err == nil {
					t.Errorf("%s with %d for everything is success", method, status)
				}
			})
		}
	}
	if len(x.seen()) < 10 {
		t.Errorf("only %d secrets passed by: nothing is proven", len(x.seen()))
	}
}

// Answers that are about someone or something else than was asked for.
func TestAnswersOfAnother(t *testing.T) {
	const uuid = "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"
	token := func(change func(header http.Header, token map[string]any)) fake.Fault {
		return changed("POST", `/auth/tokens$`, func(h http.Header, body map[string]any) {
			if t, ok := body["token"].(map[string]any); ok {
				change(h, t)
			}
		})
	}
	in := func(fields map[string]any, name string) map[string]any {
		m, _ := fields[name].(map[string]any)
		return m
	}
	set := func(name, field string, value any) fake.Fault {
		return token(func(_ http.Header, t map[string]any) {
			if name == "" {
				t[field] = value
			} else {
				in(t, name)[field] = value
			}
		})
	}
	made := func(field string, value any) fake.Fault {
		return changed("POST", `/application_credentials$`, func(_ http.Header, body map[string]any) {
			in(body, "application_credential")[field] = value
		})
	}
	role := map[string]any{"id": "r", "name": "member"}
	const notKeystone, another, somebody = "does not answer as Keystone", "another cloud answers", "somebody else"
	for name, c := range map[string]struct {
		lie fake.Fault
		// registering and issuing say what is wrong with a registration, and with an
		// issue on a VIM that is registered; nil is success.
		registering, issuing error
		words                string
	}{
		"another user":              {set("user", "name", "mallory"), broker.ErrUnreachable, nil, somebody},
		"another user's id":         {set("user", "id", uuid), nil, broker.ErrConflict, another},
		"a user of another domain":  {set("user", "domain", map[string]any{"id": "evil", "name": "evil"}), broker.ErrUnreachable, nil, somebody},
		"another project":           {set("project", "name", "theirs"), broker.ErrInvalid, nil, "project"},
		"another project's id":      {set("project", "id", uuid), nil, broker.ErrConflict, another},
		"a project of elsewhere":    {set("project", "domain", map[string]any{"id": "evil", "name": "evil"}), broker.ErrInvalid, broker.ErrConflict, ""},
		"no project":                {set("", "project", nil), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"no user":                   {set("", "user", nil), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"an id that leads away":     {set("user", "id", "../../v2"), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"a project that leads away": {set("project", "id", "a/b?c"), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"a name with a line end":    {set("project", "name", "a\nb"), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"a name for the terminal":   {set("user", "name", "\x1b]0;x\x07"), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"a long name":               {set("project", "name", strings.Repeat("x", 1<<19)), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"many roles":                {set("", "roles", slices.Repeat([]any{role}, 1000)), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"a role for the terminal":   {set("", "roles", []any{map[string]any{"id": "r", "name": "\x1b[2J"}}), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"no roles":                  {set("", "roles", []any{}), broker.ErrInvalid, broker.ErrInvalid, "role"},
		"no end":                    {set("", "expires_at", ""), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"an end that is none":       {set("", "expires_at", "tomorrow"), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"an end that is a number":   {set("", "expires_at", 4711), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"no token":                  {token(func(h http.Header, _ map[string]any) { h.Del("X-Subject-Token") }), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"a token with a space":      {token(func(h http.Header, _ map[string]any) { h.Set("X-Subject-Token", canary+" x") }), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"a token that is long":      {token(func(h http.Header, _ map[string]any) { h.Set("X-Subject-Token", canary+strings.Repeat("x", 20<<10)) }), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},

		"another's credential":       {made("name", "another's"), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"one without an end":         {made("expires_at", nil), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"one that ends late":         {made("expires_at", "2999-01-01T00:00:00.000000"), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"one whose end is none":      {made("expires_at", "soon"), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"one that may do everything": {made("unrestricted", true), nil, broker.ErrForbidden, "unrestricted"},
		"one of another project":     {made("project_id", uuid), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"one with rules":             {made("access_rules", []any{map[string]any{"service": "x", "method": "GET", "path": "/"}}), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"one with admin":             {made("roles", []any{map[string]any{"id": "a", "name": "admin"}}), nil, broker.ErrForbidden, "admin"},
		"one without a secret":       {made("secret", ""), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"a secret with a line end":   {made("secret", canary+"\n"), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
		"one that leads away":        {made("id", "../../../v2"), broker.ErrUnreachable, broker.ErrUnreachable, notKeystone},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			x := lying(l)
			anew := l.access
			l.register()
			x.tell(c.lie)
			outcome := func(what string, err, want error) {
				t.Helper()
				if want != nil {
					wantFault(t, what, err, want, c.words)
				} else if err != nil {
					t.Errorf("%s = %v, want nil", what, err)
				}
				wantHonestFault(t, what, err, x, l)
			}
			if c.registering != nil || c.issuing == nil {
				_, err := l.driver.Check(t.Context(), anew)
				outcome("Check", err, c.registering)
			}
			g := l.grant("member")
			_, err := l.driver.Issue(t.Context(), l.access, g)
			outcome("Issue", err, c.issuing)
			x.honest()
			if err != nil {
				if err := l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle}); err != nil {
					t.Errorf("Revoke = %v", err)
				}
				for _, left := range l.AppCreds() {
					if strings.HasPrefix(left.Name, "lease-") {
						t.Errorf("%s is left", left.Name)
					}
				}
			}
		})
	}
}

// A list of application credentials that is none of Keystone's.
func TestListsOfAnother(t *testing.T) {
	const uuid = "6f1d2c7e-3f5a-4b8e-9d5b-0a1b2c3d4e5f"
	for name, c := range map[string]struct {
		change func(b map[string]any)
		kind   error
		words  string
	}{
		"one that leads away": {func(b map[string]any) {
			b["application_credentials"] = []any{map[string]any{"id": "../x", "name": "y", "description": "vimbroker vim=" + uuid}}
		}, broker.ErrUnreachable, "does not answer as Keystone"},
		"one that goes on": {func(b map[string]any) { b["links"] = map[string]any{"next": "http://169.254.169.254/"} }, broker.ErrUnsupported, "list_limit"},
		"half a list":      {func(b map[string]any) { b["truncated"] = true }, broker.ErrUnsupported, "list_limit"},
		"no list":          {func(b map[string]any) { delete(b, "application_credentials") }, broker.ErrUnreachable, "does not answer as Keystone"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			x := lying(l)
			l.register()
			g := l.grant("member")
			l.issue(g)
			x.tell(changed("GET", `/application_credentials$`, func(_ http.Header, body map[string]any) { c.change(body) }))
			for what, call := range map[string]func() error{
				"Inventory": func() error { _, err := l.driver.Inventory(t.Context(), l.access); return err },
				"Renew":     func() error { _, err := l.driver.Renew(t.Context(), l.access, g); return err },
				"Revoke":    func() error { return l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle}) },
				"Forget":    func() error { return l.driver.Forget(t.Context(), l.access) },
			} {
				err := call()
				wantFault(t, what, err, c.kind, c.words)
				wantHonestFault(t, what, err, x, l)
			}
		})
	}
}

// lyingTo is a lab whose registered credential is an application credential.
func lyingTo(t *testing.T) (*lab, *liar, fakekeystone.AppCred) {
	t.Helper()
	l := newLab(t)
	x := lying(l)
	c := l.AppCred(fakekeystone.AppCred{Name: "mine", UserID: l.user.ID, ProjectID: l.project.ID, Roles: []string{"member"}, Unrestricted: true})
	l.access.Target.Scope = broker.Scope{}
	l.access.Credential = broker.Credential{
		Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: c.ID, ApplicationCredentialSecret: secret.NewText(c.Secret),
	}
	return l, x, c
}

// A login with an application credential that is answered with another's token.
func TestTokenOfAnotherApplicationCredential(t *testing.T) {
	l, x, c := lyingTo(t)
	for id, want := range map[string]error{c.ID: nil, "another": broker.ErrUnreachable} {
		x.tell(changed("POST", `/auth/tokens$`, func(_ http.Header, body map[string]any) {
			token, _ := body["token"].(map[string]any)
			token["application_credential"] = map[string]any{"id": id, "restricted": false}
		}))
		_, err := l.driver.Inventory(t.Context(), l.access)
		if want != nil {
			wantFault(t, id, err, want, "somebody else")
		} else if err != nil {
			t.Errorf("its own token: %v", err)
		}
	}
}

// The answer about the registered application credential is about another.
func TestAnotherApplicationCredentialIsShown(t *testing.T) {
	l, x, c := lyingTo(t)
	for id, want := range map[string]error{c.ID: nil, "another": broker.ErrUnreachable} {
		x.tell(changed("GET", `/application_credentials/`, func(_ http.Header, body map[string]any) {
			shown, _ := body["application_credential"].(map[string]any)
			shown["id"] = id
		}))
		_, err := l.driver.Check(t.Context(), l.access)
		if want != nil {
			wantFault(t, id, err, want, "does not answer as Keystone does")
		} else if err != nil {
			t.Errorf("its own: %v", err)
		}
	}
}

// No redirect is followed, wherever it leads: the credential would go there.
func TestRedirectsAreNotFollowed(t *testing.T) {
	var asked atomic.Int64
	count := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusCreated)
	})
	plain, secure := httptest.NewServer(count), httptest.NewTLSServer(count)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	l := newLab(t)
	x := lying(l)
	l.register()
	g := l.grant("member")
	m := l.issue(g)
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{plain.URL + "/v3/auth/tokens", secure.URL + "/v3/", "/elsewhere", "//" + strings.TrimPrefix(plain.URL, "http://"), "http://169.254.169.254/", "", canary + "://x"} {
			l.each(g, m, func(method string, call call) {
				x.tell(fake.Fault{Kind: fake.Custom, Answer: func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/elsewhere" {
						asked.Add(1)
					}
					w.Header().Set("Location", to)
					w.WriteHeader(status)
					fmt.Fprintf(w, `{"error":{"code":%d,"title":"Moved"}}`, status)
				}})
				err := call(t.Context())
				x.honest()
				wantFault(t, fmt.Sprintf("%s with %d to %q", method, status, to), err, broker.ErrUnreachable, "does not answer as Keystone does (3")
			})
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// raw serves connections by hand; ok is the status line that the request hopes for.
func raw(t *testing.T, serve func(c net.Conn, ok string)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	t.Cleanup(func() { listener.Close(); open.Wait() })
	open.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer c.Close()
				r, err := http.ReadRequest(bufio.NewReader(c))
				switch {
				case err != nil:
				case r.Method == http.MethodPost:
					serve(c, "HTTP/1.1 201 Created\r\n")
				default:
					serve(c, "HTTP/1.1 200 OK\r\n")
				}
			})
		}
	})
	return "http://" + listener.Addr().String()
}

// Answers without an end are given up after a bounded part of them.
func TestEndlessAnswers(t *testing.T) {
	const most = 32 << 20 // what a connection's buffers hold, and the bound
	endless := func(head, line string) func(t *testing.T) (string, *atomic.Int64) {
		return func(t *testing.T) (string, *atomic.Int64) {
			var sent atomic.Int64
			chunk := []byte(strings.Repeat(line, 1+(16<<10)/len(line)))
			return raw(t, func(c net.Conn, ok string) {
				_, err := io.WriteString(c, strings.Replace(head, "OK\r\n", ok, 1))
				for n := 0; err == nil && sent.Load() <= 2*most; sent.Add(int64(n)) {
					n, err = c.Write(chunk)
				}
			}), &sent
		}
	}
	for name, c := range map[string]struct {
		start func(t *testing.T) (string, *atomic.Int64)
		words string
	}{
		"a body":        {endless("OK\r\nX-Subject-Token: x\r\nContent-Type: application/json\r\n\r\n[", `{"a":"`+canary+`"},`), "longer than"},
		"spaces":        {endless("OK\r\nX-Subject-Token: x\r\n\r\n", "          "), "longer than"},
		"an error":      {endless("HTTP/1.1 401 Unauthorized\r\n\r\n", canary), "does not answer as Keystone"},
		"headers":       {endless("OK\r\n", "X-Header: "+canary+"\r\n"), ""},
		"one header":    {endless("OK\r\nX-Header: ", canary), ""},
		"a status line": {endless("HTTP/1.1 200 ", canary), ""},
		"hints":         {endless("", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"), ""},
		"chunks":        {endless("OK\r\nX-Subject-Token: x\r\nTransfer-Encoding: chunked\r\n\r\n", "4\r\n    \r\n"), "longer than"},
		"overhead":      {endless("OK\r\nX-Subject-Token: x\r\nTransfer-Encoding: chunked\r\n\r\n", "1;"+strings.Repeat(canary, 100)+"\r\n \r\n"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.register()
			g := l.grant("member")
			m := l.issue(g)
			at, sent := c.start(t)
			l.access.Target.Endpoint = at
			l.each(g, m, func(method string, call call) {
				sent.Store(0)
				wantFault(t, method, call(t.Context()), broker.ErrUnreachable, c.words)
				if n := sent.Load(); n > most {
					t.Errorf("%s took %d bytes of an endless answer", method, n)
				}
			})
		})
	}
}

// A little that unpacks to much is given up like much.
func TestAnswersThatUnpack(t *testing.T) {
	l := newLab(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("X-Subject-Token", "x")
		w.WriteHeader(http.StatusCreated)
		z := gzip.NewWriter(w)
		zeros := bytes.Repeat([]byte(" "), 1<<20)
		for range 256 {
			if _, err := z.Write(zeros); err != nil {
				return
			}
		}
		_ = z.Close()
	}))
	t.Cleanup(s.Close)
	_, err := l.driver.Inventory(t.Context(), l.to(s.URL))
	wantFault(t, "Inventory", err, broker.ErrUnreachable, "compressed")
}

// An answer that comes by drops ends with the caller's patience.
func TestSlowAnswers(t *testing.T) {
	for name, drop := range map[string]string{
		"nothing":       "",
		"a status line": "HTTP/1.1 20",
		"headers":       "OK\r\nX-Header: x\r\n",
		"a body":        "OK\r\nX-Subject-Token: x\r\nContent-Length: 1000\r\n\r\n{\"token\":",
		"chunks":        "OK\r\nX-Subject-Token: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.register()
			g := l.grant("member")
			m := l.issue(g)
			l.access.Target.Endpoint = raw(t, func(c net.Conn, ok string) {
				_, _ = io.WriteString(c, strings.Replace(drop, "OK\r\n", ok, 1))
				_, _ = io.Copy(io.Discard, c) // until the other side has enough
			})
			l.each(g, m, func(method string, call call) {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				wantFault(t, method, call(ctx), broker.ErrUnreachable, "does not answer in time")
			})
		})
	}
}
