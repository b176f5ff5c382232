package login_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/limit"
	"github.com/vimbroker/vimbroker/broker/api/login"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/testlog"
)

const issuer = "https://broker.example:8443"

// bench is the door with real clients and tokens behind it.
type bench struct {
	clients *oauth.Clients
	t       *testing.T
	open    func(login.Tokens) http.Handler
	handler http.Handler
	tokens  *oauth.Tokens
	leases  holder
	log     bytes.Buffer
	id      string
	plain   string
}

type none struct{}

func (none) RevokeLeases(context.Context, policy.Principal, broker.LeaseSelector) ([]broker.Lease, error) {
	return nil, nil
}

func (none) WeighLease(context.Context, policy.Principal, broker.LeaseRequest) (broker.Lease, error) {
	return broker.Lease{}, nil
}

func (none) RetireKeys(context.Context) {}

func newBench(t *testing.T, limits api.Limits) *bench {
	t.Helper()
	// The door's clock stands still: how many tokens a lease has left depends on no machine's speed.
	now := time.Now()
	b := &bench{t: t, leases: holder{now: now}}
	log := testlog.To(t, slog.NewTextHandler(&b.log, nil))
	store, err := quickstore.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "broker.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	keys, err := keydir.Open(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keys.Close() })
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	guard := &audit.Guard{Policy: policies, Sink: store, Now: store.Now}
	clients := oauth.New(oauth.Options{Store: store, Leases: none{}, Guard: guard, Log: log, Now: store.Now})
	b.tokens = oauth.NewTokens(oauth.TokensOptions{
		Store: store, Clients: clients, Keys: []secret.KeyStore{keys}, Ledger: none{}, Guard: guard, Log: log, Issuer: issuer, Once: store, Now: store.Now,
	})
	admin := policy.Principal{Name: "root", Project: "core", Roles: []string{"admin"}}
	c, plain, err := clients.Create(t.Context(), admin, oauth.NewClient{Name: "tacker", Roles: []string{"vnfm"}})
	if err != nil {
		t.Fatal(err)
	}
	b.id, b.plain, b.clients = c.ID, plain.Reveal(), clients
	b.open = func(tokens login.Tokens) http.Handler {
		return api.New(api.Options{
			Doors: []api.Door{login.Door(login.Options{
				Tokens: tokens, Clients: clients, Callers: issuers{}, Leases: &b.leases, Now: func() time.Time { return now },
			})},
			Authenticator: b.tokens, Vitals: none{}, Log: log, Limits: limits, Registry: prometheus.NewRegistry(),
		})
	}
	b.handler = b.open(b.tokens)
	t.Cleanup(func() {
		if strings.Contains(b.log.String(), b.plain) || strings.Contains(b.log.String(), basic(b.id, b.plain)) {
			t.Errorf("the log holds a secret:\n%s", &b.log)
		}
	})
	return b
}

// Vitals is that of a server of which there is nothing to measure.
func (none) Vitals(context.Context) broker.Vitals { return broker.Vitals{} }

func basic(id, plain string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+plain))
}

// ask sends a token request from an address; headers are pairs of name and value.
func (b *bench) ask(from, form string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	return b.post("/oauth2/token", from, form, headers...)
}

func (b *bench) post(path, from, form string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodPost, path, strings.NewReader(form))
	r.RemoteAddr = from
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w
}

const here = "192.0.2.1:4711"

// wantToken checks that an answer has a token that counts.
func (b *bench) wantToken(what string, w *httptest.ResponseRecorder) {
	b.t.Helper()
	var got struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int    `json:"expires_in"`
	}
	err := json.Unmarshal(w.Body.Bytes(), &got)
	if err != nil || w.Code != http.StatusOK || got.TokenType != "Bearer" || got.ExpiresIn != 300 {
		b.t.Errorf("%s: %d %s", what, w.Code, w.Body)
		return
	}
	// Tacker compares it literally.
	if is := w.Result().Header["Content-Type"]; !slices.Equal(is, []string{"application/json"}) {
		b.t.Errorf("%s: Content-Type %q", what, is)
	}
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Pragma") != "no-cache" {
		b.t.Errorf("%s: the answer may be kept: %v", what, w.Header())
	}
	if p, err := b.tokens.Authenticate(b.t.Context(), got.AccessToken); err != nil || p.Name != "client:"+b.id {
		b.t.Errorf("%s: the token is %q's, %v", what, p.Name, err)
	}
}

func TestClientsLogIn(t *testing.T) {
	b := newBench(t, api.Limits{})
	const grant = "grant_type=client_credentials"
	// As Tacker sends it with use_client_secret_basic: 11.0.0 asks for a form and reads JSON.
	b.wantToken("Tacker 11.0.0", b.ask(here, grant, "Authorization", basic(b.id, b.plain),
		"Accept", "application/x-www-form-urlencoded", "Content-Type", "application/x-www-form-urlencoded;charset=UTF-8"))
	b.wantToken("Tacker after 34ca6563", b.ask(here, grant, "Authorization", basic(b.id, b.plain), "Accept", "application/json"))
	b.wantToken("the form", b.ask(here, grant+"&client_id="+b.id+"&client_secret="+b.plain))
	b.wantToken("both name the client", b.ask(here, grant+"&client_id="+b.id, "Authorization", basic(b.id, b.plain)))
	b.wantToken("an escaped id", b.ask(here, grant, "Authorization", basic(strings.ReplaceAll(b.id, "-", "%2D"), b.plain)))
	b.wantToken("a further parameter", b.ask(here, grant+"&resource=x", "Authorization", basic(b.id, b.plain)))
	b.wantToken("a scope that there is not", b.ask(here, grant+"&scope=all", "Authorization", basic(b.id, b.plain)))
	if w := b.ask(here, grant+"&scope=all", "Authorization", basic(b.id, b.plain)); !strings.Contains(w.Body.String(), `"scope":"vimbroker"`) {
		t.Errorf("the scope that is granted is not said: %s", w.Body)
	}
	b.wantToken("a token that is not used", b.ask(here, grant+"&client_id="+b.id+"&client_secret="+b.plain, "X-Auth-Token", "notused"))
}

func TestRefusalsAreOAuths(t *testing.T) {
	b := newBench(t, api.Limits{})
	const grant = "grant_type=client_credentials"
	good := basic(b.id, b.plain)
	for what, c := range map[string]struct {
		form    string
		headers []string
		status  int
		want    string
	}{
		"a wrong secret":             {grant, []string{"Authorization", basic(b.id, b.plain+"x")}, 401, "invalid_client"},
		"another scheme, and a form": {grant + "&client_id=" + b.id + "&client_secret=" + b.plain, []string{"Authorization", "Bearer " + b.plain}, 401, "invalid_client"},
		"a wrong id":                 {grant, []string{"Authorization", basic("../x", b.plain)}, 401, "invalid_client"},
		"no credentials":             {grant, nil, 401, "invalid_client"},
		"another scheme":             {grant, []string{"Authorization", "Bearer " + b.plain}, 401, "invalid_client"},
		"a broken header":            {grant, []string{"Authorization", "Basic %%%"}, 401, "invalid_client"},
		"a wrong secret in a form":   {grant + "&client_id=" + b.id + "&client_secret=x", nil, 401, "invalid_client"},
		"two ways":                   {grant + "&client_id=" + b.id + "&client_secret=" + b.plain, []string{"Authorization", good}, 400, "invalid_request"},
		"two clients":                {grant + "&client_id=other", []string{"Authorization", good}, 400, "invalid_request"},
		"no grant":                   {"", []string{"Authorization", good}, 400, "invalid_request"},
		"another grant":              {"grant_type=password&username=a&password=b", []string{"Authorization", good}, 400, "unsupported_grant_type"},
		"twice":                      {grant + "&" + grant, []string{"Authorization", good}, 400, "invalid_request"},
		"JSON":                       {`{"grant_type":"client_credentials"}`, []string{"Authorization", good, "Content-Type", "application/json"}, 400, "invalid_request"},
		"no form":                    {"%zz", []string{"Authorization", good}, 400, "invalid_request"},
		"too much":                   {grant + "&x=" + strings.Repeat("x", 9000), []string{"Authorization", good}, 413, "invalid_request"},
	} {
		w := b.ask(here, c.form, c.headers...)
		var got map[string]string
		err := json.Unmarshal(w.Body.Bytes(), &got)
		if err != nil || w.Code != c.status || got["error"] != c.want || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s, want %d %s", what, w.Code, w.Body, c.status, c.want)
		}
		if is := w.Header().Get("WWW-Authenticate"); (c.status == 401) != (is == `Basic realm="vimbroker"`) {
			t.Errorf("%s: WWW-Authenticate %q", what, is)
		}
		if strings.ContainsAny(got["error_description"], "\"\\\n") || strings.Contains(w.Body.String(), b.plain) {
			t.Errorf("%s: described as %q", what, got["error_description"])
		}
	}
}

// A flood of failures is slowed down where it comes from, and locks nobody else out: neither
// other addresses, nor the right secret from the same one.
func TestAFloodOfFailuresLocksNobodyOut(t *testing.T) {
	b := newBench(t, api.Limits{FailedLogins: limit.Bound{PerSecond: 1, Burst: 5}})
	const grant = "grant_type=client_credentials"
	limited := 0
	for range 20 {
		w := b.ask(here, grant, "Authorization", basic(b.id, "vbc_guess"))
		switch {
		case w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") != "" && strings.Contains(w.Body.String(), "temporarily_unavailable"):
			limited++
		case w.Code != http.StatusUnauthorized:
			t.Errorf("a guess = %d %s", w.Code, w.Body)
		}
	}
	if limited < 10 {
		t.Errorf("%d of 20 guesses were limited", limited)
	}
	b.wantToken("the right secret from there", b.ask(here, grant, "Authorization", basic(b.id, b.plain)))
	b.wantToken("another address", b.ask("198.51.100.7:1", grant, "Authorization", basic(b.id, b.plain)))
	if w := b.ask("198.51.100.7:1", grant, "Authorization", basic(b.id, "vbc_guess")); w.Code != http.StatusUnauthorized {
		t.Errorf("a guess from another address = %d", w.Code)
	}
}

// What is published is what is served.
func TestMetadataSayWhatIsServed(t *testing.T) {
	b := newBench(t, api.Limits{})
	b.wantToken("a token", b.ask(here, "grant_type=client_credentials", "Authorization", basic(b.id, b.plain)))
	get := func(path string) (body map[string]any) {
		t.Helper()
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		text, _ := io.ReadAll(w.Body)
		if err := json.Unmarshal(text, &body); err != nil || w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("GET %s = %d %s", path, w.Code, text)
		}
		return body
	}
	for path, endpoint := range map[string]string{"/.well-known/oauth-authorization-server": "/oauth2/token", "/.well-known/openid-configuration": "/oidc/token"} {
		said := get(path)
		if said["issuer"] != issuer || said["token_endpoint"] != issuer+endpoint {
			t.Errorf("GET %s says %v", path, said)
		}
		for _, absent := range []string{"authorization_endpoint", "userinfo_endpoint", "id_token_signing_alg_values_supported", "registration_endpoint"} {
			if said[absent] != nil {
				t.Errorf("GET %s says %s, which is not served", path, absent)
			}
		}
		if endpoint == "/oidc/token" { // the VIMs sign, and publish their keys themselves
			if said["jwks_uri"] != nil {
				t.Errorf("GET %s says where keys are: %v", path, said["jwks_uri"])
			}
			continue
		}
		at, err := url.Parse(said["jwks_uri"].(string))
		if err != nil {
			t.Fatal(err)
		}
		if keys, _ := get(at.Path)["keys"].([]any); len(keys) != 1 {
			t.Errorf("%s has %v", at.Path, keys)
		}
	}
	for _, ask := range [][2]string{{"GET", "/oauth2/token"}, {"POST", "/oauth2/authorize"}, {"POST", "/oauth2/jwks"}} {
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), ask[0], ask[1], nil))
		if w.Code != http.StatusNotFound && w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s %s = %d", ask[0], ask[1], w.Code)
		}
	}
}
