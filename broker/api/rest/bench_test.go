package rest_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/rest"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// faulty is the real broker, of which CheckVIM does as it is told.
type faulty struct {
	*broker.Broker
	check func(context.Context) error // nil asks the broker
}

func (f *faulty) CheckVIM(ctx context.Context, p policy.Principal, ref string) (broker.VIM, error) {
	if f.check != nil {
		return broker.VIM{}, f.check(ctx)
	}
	return f.Broker.CheckVIM(ctx, p, ref)
}

// bench is the API before the real broker on its embedded defaults, which stands
// before a fake API server.
type bench struct {
	database string // the SQLite file
	t        testing.TB
	broker   *faulty
	kube     *fakekube.Server
	handler  http.Handler
	url      string
	tokens   map[string]string // by principal
	log      *fake.Buffer      // at debug level
	wire     *fake.Buffer      // every answer, headers included
	store    *sqlite.Store
	clusters rest.Clusters // nil: none are followed
}

// newBench takes the site's own policies, as file name and text.
func newBench(t testing.TB, site ...string) *bench {
	t.Helper()
	files := map[string][]byte{}
	for i := 0; i < len(site); i += 2 {
		files[site[i]] = []byte(site[i+1])
	}
	b := &bench{t: t, broker: &faulty{}, kube: fakekube.New(t, fakekube.Options{}), tokens: map[string]string{}, log: &fake.Buffer{}, wire: &fake.Buffer{}}
	log := testlog.To(t, slog.NewJSONHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: broker.LogCause}))
	dir := t.TempDir()
	b.database = filepath.Join(dir, "data", "vimbroker.db")
	store, err := quickstore.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "data", "vimbroker.db"), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	b.store = store
	keys, err := keydir.Open(filepath.Join(dir, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	policies, err := policy.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	rules := egress.Default()
	rules.AllowLoopback = true
	b.broker.Broker, err = broker.New(broker.Options{
		Store: store, Keys: []secret.KeyStore{keys}, Policy: policies, Terms: broker.DefaultTerms(), Log: log,
		Drivers: []broker.Driver{kubernetes.New(kubernetes.Options{Log: log}), openstack.New(openstack.Options{Log: log})},
		Egress:  func(string) *egress.Rules { return rules },
	})
	if err != nil {
		t.Fatal(err)
	}
	b.rewire(b.broker, b.authenticator())
	return b
}

// counted is the broker as the server uses it.
type counted interface {
	api.Logins
	rest.Registry
	rest.Leaser
	rest.AuditLog
	rest.Overseer
	api.Vitals
}

// rewire puts a server with these parts in the place of the one before.
func (b *bench) rewire(domain counted, who api.Authenticator) {
	b.t.Helper()
	log := testlog.To(b.t, slog.NewJSONHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: broker.LogCause}))
	b.handler = api.New(api.Options{
		Doors:   []api.Door{rest.Door(rest.Options{Registry: domain, Leaser: domain, AuditLog: domain, Overseer: domain, Clusters: b.clusters, Log: log, Version: "v0.0.0-test"})},
		Version: "v0.0.0-test", Authenticator: who, Vitals: domain, Logins: domain, Log: log,
	})
	server := httptest.NewServer(b.handler)
	b.t.Cleanup(server.Close)
	b.url = server.URL
}

// authenticator knows four callers.
func (b *bench) authenticator() api.Authenticator {
	b.t.Helper()
	var all []policy.StaticToken
	for _, p := range []policy.Principal{
		{Name: "alice", Project: "demo", Roles: []string{policy.RoleMember}},
		{Name: "rita", Project: "demo", Roles: []string{policy.RoleReader}},
		{Name: "mallet", Project: "other", Roles: []string{policy.RoleMember}},
		{Name: "root", Project: "admin", Roles: []string{policy.RoleAdmin}},
	} {
		plain, digest := policy.NewToken()
		b.tokens[p.Name] = plain
		all = append(all, policy.StaticToken{Name: p.Name, Project: p.Project, Roles: p.Roles, SHA256: digest})
	}
	tokens, err := policy.NewStaticTokens(all)
	if err != nil {
		b.t.Fatal(err)
	}
	return tokens
}

// as returns a client for a caller.
func (b *bench) as(name string) *client.Client {
	b.t.Helper()
	c, err := client.New(client.Options{Addr: b.url, Token: secret.NewText(b.tokens[name]), HTTPClient: &http.Client{Transport: b}})
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// RoundTrip records every answer on the wire, and looks for it in the OpenAPI document.
func (b *bench) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	_ = answer.Body.Close()
	_ = answer.Header.Write(b.wire)
	_, _ = b.wire.Write(body)
	answer.Body = io.NopCloser(bytes.NewReader(body))
	if b.broker.check == nil { // which answers what no broker does
		b.described(r.Method, r.URL.Path, answer.StatusCode, body)
	}
	return answer, nil
}

// raw sends a request as a careless or hostile caller would, and returns the
// answer with its body.
func (b *bench) raw(caller, method, path, body string, headers ...string) (*http.Response, string) {
	b.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(context.Background(), method, b.url+path, reader)
	if err != nil {
		b.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", v1.MediaType)
	}
	if caller != "" {
		r.Header.Set("Authorization", "Bearer "+b.tokens[caller])
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := b.RoundTrip(r)
	if err != nil {
		b.t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer, string(text)
}

// registration is a VIM on the fake, by bearer token.
func (b *bench) registration(name string) v1.Registration {
	return v1.Registration{
		Name: name, Type: "kubernetes", Endpoint: b.kube.Endpoint, CACert: b.kube.CA, Namespace: "default",
		Credential: v1.Credential{Token: secret.NewText(b.kube.AdminTokenFor(24 * time.Hour))},
	}
}

// mustRegister registers a VIM as alice.
func (b *bench) mustRegister(name string) v1.VIM {
	b.t.Helper()
	v, err := b.as("alice").RegisterVIM(b.t.Context(), b.registration(name), "")
	if err != nil {
		b.t.Fatalf("RegisterVIM(%q) = %v", name, err)
	}
	return v
}

// leases are the objects of leases on the fake, as NAMESPACE/NAME: the accounts in our
// namespaces.
func (b *bench) leases() []string {
	return slices.DeleteFunc(b.kube.Names("serviceaccounts", ""), func(name string) bool { return !strings.HasPrefix(name, "vimbroker-") })
}

// mustIssue takes a lease as alice.
func (b *bench) mustIssue(vim, format string) v1.IssuedLease {
	b.t.Helper()
	l, err := b.as("alice").IssueLease(b.t.Context(), v1.LeaseRequest{VIM: vim, TTL: "1h", Role: "view", Format: format}, "")
	if err != nil {
		b.t.Fatalf("IssueLease(%q) = %v", vim, err)
	}
	return l
}

// wantProblem fails unless err is a problem of that status.
func wantProblem(t testing.TB, what string, err error, status int) *client.Problem {
	t.Helper()
	if got := client.Status(err); got != status {
		t.Fatalf("%s = %v (status %d), want status %d", what, err, got, status)
	}
	p := err.(*client.Problem)
	if p.RequestID == "" || p.Type == "" || p.Title == "" {
		t.Errorf("%s: the problem lacks its id, type or title: %+v", what, p)
	}
	return p
}
