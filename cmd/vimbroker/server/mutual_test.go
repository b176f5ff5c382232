package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/real/pki"
	"github.com/vimbroker/vimbroker/test/story"
)

// mutual is a server that runs behind TLS and knows clients by certificates.
type mutual struct {
	*server
	t      *testing.T
	url    string
	caFile string
	roots  *x509.CertPool
}

// trustClients is a table of trust whose authorities sign the certificates of clients; none for no file.
func trustClients(file string) []trustConfig {
	if file == "" {
		return nil
	}
	var t trustConfig
	t.Name, t.ClientCAFile, t.Certificates = "clients", file, new(trust.Certificates)
	return []trustConfig{t}
}

func newPKI(t *testing.T) *pki.CA {
	t.Helper()
	ca, err := pki.NewCA("authority of clients")
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

// startMutual starts one whose clients' certificates ca signs; nil: it takes none.
func startMutual(t *testing.T, ca *pki.CA) *mutual {
	t.Helper()
	m := &mutual{t: t}
	if ca != nil {
		m.caFile = story.WriteFile(t, "clients.pem", string(ca.PEM), 0o600)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.url = "https://" + l.Addr().String()
	cert, key := story.ServerCertificate(t)
	m.server, _ = tryOut(t, func(c *config) {
		c.TLS.CertFile, c.TLS.KeyFile, c.Issuer, c.Trust = cert, key, m.url, trustClients(m.caFile)
	})
	text, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	m.roots = x509.NewCertPool()
	m.roots.AppendCertsFromPEM(text)
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- m.run(ctx, l, func() { close(ready) }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-ready
	return m
}

// as is an HTTP client with a certificate; nil has none. It keeps its connection.
func (m *mutual) as(pair *pki.Pair) *http.Client {
	m.t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: m.roots}, ForceAttemptHTTP2: true}
	if pair != nil {
		cert, err := pair.TLS()
		if err != nil {
			m.t.Fatal(err)
		}
		// Like one that sends what it has, whatever the server hopes for.
		transport.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }
	}
	m.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// ask sends a form, or GETs where there is none, with the headers of Tacker's client for mutual TLS.
func (m *mutual) ask(c *http.Client, path string, form url.Values, token string) (int, string, http.Header) {
	m.t.Helper()
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(m.t.Context(), method, m.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		m.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Accept", "application/x-www-form-urlencoded")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("X-Auth-Token", "notused")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := c.Do(r)
	if err != nil {
		m.t.Fatalf("%s %s = %v", method, path, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	return answer.StatusCode, string(body), answer.Header
}

func (m *mutual) wantRefused(what string, c *http.Client, path string, form url.Values) {
	m.t.Helper()
	status, body, h := m.ask(c, path, form, "")
	if status != http.StatusUnauthorized || !strings.Contains(body, `"error":"invalid_client"`) || h.Get("Content-Type") != "application/json" {
		m.t.Errorf("%s: POST %s = %d %s", what, path, status, body)
	}
}

func (m *mutual) token(c *http.Client, form url.Values) string {
	m.t.Helper()
	status, body, h := m.ask(c, "/oauth2/token", form, "")
	var got struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 || h.Get("Content-Type") != "application/json" {
		m.t.Fatalf("POST /oauth2/token = %d %s", status, body)
	}
	return got.AccessToken
}

func TestClientsLogInByCertificateOverTLS(t *testing.T) {
	ca, other := newPKI(t), newPKI(t)
	m := startMutual(t, ca)
	admin := policy.Principal{Name: "admin", Project: "default", Roles: []string{policy.RoleAdmin}}
	c, _, err := m.clients.Create(t.Context(), admin, oauth.NewClient{
		Name: "tacker", Roles: []string{policy.RoleVNFM}, Certificate: oauth.Certificate{Kind: oauth.SubjectDN, Name: "CN=tacker,O=Acme"},
	})
	if err != nil {
		t.Fatal(err)
	}
	issue := func(by *pki.CA, name string, until time.Time) *pki.Pair {
		t.Helper()
		pair, err := by.Client(name, []string{"Acme"}, until)
		if err != nil {
			t.Fatal(err)
		}
		return &pair
	}
	later := time.Now().Add(24 * time.Hour)
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.ID}}
	mine := m.as(issue(ca, "tacker", later))
	token := m.token(mine, form)
	for what, pair := range map[string]*pki.Pair{
		"no certificate": nil, "another subject's": issue(ca, "tacker2", later), "another authority's": issue(other, "tacker", later),
		"an expired one": issue(ca, "tacker", time.Now().Add(-time.Hour)),
	} {
		m.wantRefused(what, m.as(pair), "/oauth2/token", form)
	}
	m.wantRefused("a secret that nobody made", mine, "/oauth2/token", url.Values{"grant_type": form["grant_type"], "client_id": form["client_id"], "client_secret": {"vbc_x"}})

	// Each call with the token is made over a connection with the certificate.
	if status, body, _ := m.ask(mine, "/v1/whoami", nil, token); status != 200 || !strings.Contains(body, "client:"+c.ID) {
		t.Errorf("GET /v1/whoami = %d %s", status, body)
	}
	for what, pair := range map[string]*pki.Pair{"no certificate": nil, "a renewed one": issue(ca, "tacker", later), "another's": issue(other, "tacker", later)} {
		if status, body, _ := m.ask(m.as(pair), "/v1/whoami", nil, token); status != 401 {
			t.Errorf("%s: GET /v1/whoami = %d %s", what, status, body)
		}
	}

	// The token endpoint of leases takes a client without a certificate, and none with a wrong one.
	lease := url.Values{"grant_type": {"password"}, "scope": {"openid"}, "client_id": {c.ID}, "username": {"x"}, "password": {"y"}}
	for what, pair := range map[string]*pki.Pair{"the right one": issue(ca, "tacker", later), "none": nil} {
		if status, body, _ := m.ask(m.as(pair), "/oidc/token", lease, ""); status != 400 || !strings.Contains(body, "invalid_grant") {
			t.Errorf("%s: POST /oidc/token = %d %s", what, status, body)
		}
	}
	m.wantRefused("another subject's", m.as(issue(ca, "x", later)), "/oidc/token", lease)

	m.wantMethods(mine, true)
	// Another authority: who is connected has to log in by it, too.
	m.reload(func(c *config) {
		c.Trust = trustClients(m.caFile)
		if err := os.WriteFile(m.caFile, other.PEM, 0o600); err != nil {
			t.Fatal(err)
		}
	}, []string{trustKey})
	m.wantRefused("one of the authority before, on its connection", mine, "/oauth2/token", form)
	m.token(m.as(issue(other, "tacker", later)), form)
	m.reload(func(c *config) { c.Trust = nil }, []string{trustKey})
	m.wantRefused("where certificates are taken no more", m.as(issue(other, "tacker", later)), "/oauth2/token", form)
	m.wantMethods(mine, false)
}

// The first authority of a server that has run without any counts at once, and so does what is published.
func TestAReloadAddsTheFirstAuthority(t *testing.T) {
	ca := newPKI(t)
	m := startMutual(t, nil)
	admin := policy.Principal{Name: "admin", Project: "default", Roles: []string{policy.RoleAdmin}}
	asked := oauth.NewClient{Name: "tacker", Roles: []string{policy.RoleVNFM}, Certificate: oauth.Certificate{Kind: oauth.SubjectDN, Name: "CN=tacker,O=Acme"}}
	if _, _, err := m.clients.Create(t.Context(), admin, asked); err == nil {
		t.Error("a client is made that could not log in")
	}
	pair, err := ca.Client("tacker", []string{"Acme"}, time.Now().Add(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	mine := m.as(&pair)
	m.wantMethods(mine, false)
	m.caFile = story.WriteFile(t, "clients.pem", string(ca.PEM), 0o600)
	m.reload(func(c *config) { c.Trust = trustClients(m.caFile) }, []string{trustKey})
	c, _, err := m.clients.Create(t.Context(), admin, asked)
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.ID}}
	m.wantRefused("on a connection on which no certificate was asked for", mine, "/oauth2/token", form)
	m.token(m.as(&pair), form)
	m.wantMethods(mine, true)
}

// A reload takes no authority of clients, and no certificate, for a server of plain HTTP, and says so each time.
func TestAReloadTellsWhatTLSNeeds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	read := func(more string) config {
		t.Helper()
		text := "tokensFile: " + tokensFile(t) + "\ndataDir: " + filepath.Dir(file) + "/d\n" + more
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := loadConfig(file, []string{"HOME=/h"}, keep)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	cert, key := story.ServerCertificate(t)
	ca := story.WriteFile(t, "clients.pem", string(newPKI(t).PEM), 0o600)
	with := "oauth: {issuer: 'https://a.example'}\ntrust: [{name: c, certificates: {caFile: " + ca + "}}]\ntls: {certFile: " + cert + ", keyFile: " + key + "}\n"
	l := newLive(read(""))
	for range 2 {
		taken, restart := l.replace(read(with))
		for _, key := range []string{trustKey, "tls"} {
			if slices.Contains(taken, key) || !slices.Contains(restart, key) {
				t.Errorf("a reload takes %q and leaves %q to a restart: %s", taken, restart, key)
			}
		}
	}
	if l.clientCAs() != nil {
		t.Error("a server of plain HTTP has authorities of clients")
	}
	l = newLive(read(with))
	if taken, restart := l.replace(read("")); slices.Contains(taken, "tls") || !slices.Contains(restart, "tls") || l.now.Load().certificate == nil {
		t.Errorf("a reload without TLS takes %q and leaves %q to a restart", taken, restart)
	}
}

// A server of plain HTTP has authorities of clients where its proxies tell it certificates.
func TestAuthoritiesOfClientsBehindAProxy(t *testing.T) {
	m := startMutual(t, newPKI(t))
	for _, tells := range []bool{false, true} {
		l := newLive(config{policies: mustPolicies(t), egress: &projectRules{}, proxies: api.Proxies{ClientCert: tells}})
		l.trust = m.live.trust
		if got := l.clientCAs(); (got != nil) != tells {
			t.Errorf("proxies tell certificates: %t; authorities %v", tells, got)
		}
	}
}

// A client that goes on with a session of before certificates were asked for is asked, too.
func TestSessionsOfBeforeAreAskedForCertificates(t *testing.T) {
	ca := newPKI(t)
	m := startMutual(t, ca)
	admin := policy.Principal{Name: "admin", Project: "default", Roles: []string{policy.RoleAdmin}}
	c, _, err := m.clients.Create(t.Context(), admin, oauth.NewClient{
		Name: "tacker", Roles: []string{policy.RoleVNFM}, Certificate: oauth.Certificate{Kind: oauth.SubjectDN, Name: "CN=tacker,O=Acme"},
	})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Client("tacker", []string{"Acme"}, time.Now().Add(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	none := func(c *config) { c.Trust = nil }
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		m.reload(none, []string{trustKey})
		mine := m.as(&pair)
		transport := mine.Transport.(*http.Transport)
		transport.TLSClientConfig.ClientSessionCache, transport.TLSClientConfig.MaxVersion = tls.NewLRUClientSessionCache(1), version
		m.wantMethods(mine, false)
		transport.CloseIdleConnections()
		m.reload(func(c *config) { c.Trust = trustClients(m.caFile) }, []string{trustKey})
		m.token(mine, url.Values{"grant_type": {"client_credentials"}, "client_id": {c.ID}})
	}
}

// Over REST a client is made with one name of its certificate, which is shown, and without a secret.
func TestClientsAreMadeByCertificate(t *testing.T) {
	ca := newPKI(t)
	cert, key := story.ServerCertificate(t)
	s, token := tryOut(t, func(c *config) {
		c.TLS.CertFile, c.TLS.KeyFile, c.Issuer = cert, key, "https://127.0.0.1:8420"
		c.Trust = trustClients(story.WriteFile(t, "clients.pem", string(ca.PEM), 0o600))
	})
	ask := func(method, path, body string) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+token)
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for n, name := range []string{
		`{"subjectDN":"CN=a"}`, `{"sanDNS":"a.example"}`, `{"sanURI":"spiffe://a"}`, `{"sanIP":"192.0.2.1"}`, `{"sanEmail":"a@b.example"}`,
	} {
		status, body := ask("POST", "/v1/clients", `{"name":"c`+strconv.Itoa(n)+`","roles":["vnfm"],"certificate":`+name+`}`)
		var made struct{ ID string }
		if err := json.Unmarshal([]byte(body), &made); err != nil || status != 201 || !strings.Contains(body, `"certificate":`+name) || strings.Contains(body, "clientSecret") {
			t.Fatalf("POST with %s = %d %s", name, status, body)
		}
		if status, body := ask("GET", "/v1/clients/"+made.ID, ""); status != 200 || !strings.Contains(body, `"certificate":`+name) {
			t.Errorf("GET = %d %s", status, body)
		}
		if status, body := ask("POST", "/v1/clients/"+made.ID+"/rotate", `{"certificate":{"subjectDN":"CN=next"}}`); status != 200 || !strings.Contains(body, "CN=next") {
			t.Errorf("rotate = %d %s", status, body)
		}
		if status, body := ask("POST", "/v1/clients/"+made.ID+"/rotate", `{}`); status != 422 || !strings.Contains(body, "certificate") {
			t.Errorf("rotate to a secret = %d %s", status, body)
		}
	}
	for _, name := range []string{`{}`, `{"subjectDN":"CN=a","sanDNS":"a"}`, `{"subjectDN":"a"}`} {
		if status, body := ask("POST", "/v1/clients", `{"name":"x","roles":["vnfm"],"certificate":`+name+`}`); status != 422 || !strings.Contains(body, "certificate") {
			t.Errorf("POST with %s = %d %s", name, status, body)
		}
	}
}

// reload takes a configuration that differs.
func (m *mutual) reload(change func(*config), want []string) {
	m.t.Helper()
	next := m.config
	change(&next)
	d := &strictyaml.Document{}
	next.validate(d)
	next.load(d)
	if err := d.Err(); err != nil {
		m.t.Fatal(err)
	}
	next.tokens = m.config.tokens
	if taken, restart := m.live.replace(next); !slices.Equal(taken, want) || len(restart) > 0 {
		m.t.Errorf("a reload takes %q and leaves %q to a restart, want %q", taken, restart, want)
	}
}

// wantMethods checks what is published.
func (m *mutual) wantMethods(c *http.Client, certificates bool) {
	m.t.Helper()
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"} {
		_, body, _ := m.ask(c, path, nil, "")
		if strings.Contains(body, `"tls_client_auth"`) != certificates {
			m.t.Errorf("GET %s = %s, want tls_client_auth: %t", path, body, certificates)
		}
	}
	_, body, _ := m.ask(c, "/.well-known/oauth-authorization-server", nil, "")
	if strings.Contains(body, `"tls_client_certificate_bound_access_tokens":true`) != certificates {
		m.t.Errorf("metadata = %s, want bound tokens: %t", body, certificates)
	}
}

func TestAuthoritiesOfCertificatesAreChecked(t *testing.T) {
	ca := story.WriteFile(t, "ca.pem", string(newPKI(t).PEM), 0o600)
	cert, key := story.ServerCertificate(t)
	with := "tls: {certFile: " + cert + ", keyFile: " + key + "}\n"
	for text, want := range map[string]string{
		"trust: [{name: c, certificates: {caFile: " + ca + "}}]\n" + with:                      "",
		"trust: [{name: c, certificates: {caFile: " + ca + "}}]\n":                             "trust[0].certificates: needs tls",
		"trust: [{name: c, certificates: {}}]\n" + with:                                        "trust[0].certificates.caFile: must name",
		"trust: [{name: c, certificates: {caFile: " + key + "}}]\n" + with:                     "must hold certificates",
		"trust: [{name: c, certificates: {caFile: /nowhere}}]\n" + with:                        "/nowhere",
		"trust: [{name: c, certificates: {caFile: " + ca + ", crlFile: " + ca + "}}]\n" + with: "must hold lists",
	} {
		file := story.WriteFile(t, "c.yaml", "tokensFile: "+tokensFile(t)+"\ndataDir: "+filepath.Join(t.TempDir(), "d")+"\n"+text, 0o600)
		_, err := loadConfig(file, []string{"HOME=/h"}, keep)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
