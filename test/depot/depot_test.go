package depot_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/rest"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/depot"
	"github.com/vimbroker/vimbroker/test/quickstore"
)

func TestConformance(t *testing.T) {
	now := clock.New(time.Now())
	s := depot.NewServer(t, now.Now)
	rules := egress.Default()
	rules.AllowLoopback = true
	as := func(c broker.Credential) broker.Registration {
		return broker.Registration{Name: "depot", Type: "depot", Endpoint: s.URL, CACert: s.CA, Credential: c}
	}
	conformance.Driver(t, conformance.DriverEnv{
		New:    func(*slog.Logger) broker.Driver { return depot.Driver{} },
		Egress: rules,
		MinTTL: time.Minute, MaxTTL: 24 * time.Hour, Reader: "reader", Writer: "writer", Now: now.Now, Await: now.Await,
		Registration: as(broker.Credential{Token: s.Token}),
		Others:       map[string]broker.Registration{"a password": as(broker.Credential{Username: "operator", Password: s.Password})},
		Refused:      map[string]broker.Registration{"a wrong token": as(broker.Credential{Token: secret.NewText("not-a-token-of-it")})},
		Powerless:    as(broker.Credential{Token: s.ClerkToken}),
		Unknown:      broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText("never-was-a-token")},
		Handles:      s.Handles, Everything: s.Everything, Remove: s.Remove, Plant: func(t *testing.T, _, name string) func() bool { return s.Plant(t, name) },
		May: func(t *testing.T, at broker.Target, c broker.Credential, write bool, _ string) bool {
			return status(t, s, at.Endpoint, c.Token.Reveal(), write) == http.StatusOK
		},
	})
}

// status uses a lease, as a client of the depot does.
func status(t *testing.T, s *depot.Server, url, token string, write bool) int {
	t.Helper()
	method := http.MethodGet
	if write {
		method = http.MethodPut
	}
	r, err := http.NewRequestWithContext(t.Context(), method, url+"/v1/goods", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := trusting(t, s).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// trusting is an HTTP client that knows the depot's CA.
func trusting(t *testing.T, s *depot.Server) *http.Client {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(s.CA)) {
		t.Fatal("the depot's CA is no certificate")
	}
	way := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	t.Cleanup(way.CloseIdleConnections)
	return &http.Client{Transport: way}
}

// serve starts the broker with all drivers behind REST.
func serve(t *testing.T, now func() time.Time) (*broker.Broker, *client.Client) {
	t.Helper()
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	store, err := quickstore.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "data", "vimbroker.db"), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	keys, err := keydir.Open(filepath.Join(dir, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	rules := egress.Default()
	rules.AllowLoopback = true
	b, err := broker.New(broker.Options{
		Store: store, Keys: []secret.KeyStore{keys}, Policy: policies, Terms: broker.DefaultTerms(), Log: log,
		Egress: func(string) *egress.Rules { return rules }, Now: now,
		Drivers: []broker.Driver{
			kubernetes.New(kubernetes.Options{Log: log}),
			openstack.New(openstack.Options{Log: log}),
			depot.Driver{}, // the one line that a third type needs outside its folder
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	plain, digest := policy.NewToken()
	tokens, err := policy.NewStaticTokens([]policy.StaticToken{{Name: "alice", Project: "demo", Roles: []string{policy.RoleAdmin}, SHA256: digest}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api.New(api.Options{
		Doors:         []api.Door{rest.Door(rest.Options{Registry: b, Leaser: b, AuditLog: b, Overseer: b, Log: log, Version: "v0.0.0-test"})},
		Authenticator: tokens, Vitals: b, Log: log,
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Options{Addr: server.URL, Token: secret.NewText(plain)})
	if err != nil {
		t.Fatal(err)
	}
	return b, c
}

// A third type of VIM passes through everything that the broker does, by its driver
// alone.
func TestAThirdVIMTypeNeedsOnlyItsOwnFolder(t *testing.T) {
	nothingElseKnows(t)
	now := clock.New(time.Now())
	s := depot.NewServer(t, now.Now)
	b, as := serve(t, now.Now)
	v, err := as.RegisterVIM(t.Context(), v1.Registration{
		Name: "north", Type: "depot", Endpoint: s.URL, CACert: s.CA, Credential: v1.Credential{Username: "operator", Password: s.Password},
	}, "")
	if err != nil || v.Type != "depot" || v.Status != "reachable" || !v.CanMint || v.Credential.Kind != "basicAuth" {
		t.Fatalf("registered %+v, %v", v, err)
	}
	for _, format := range (depot.Driver{}).Type().Formats {
		t.Run(string(format), func(t *testing.T) { leases(t, s, b, as, now, format) })
	}
	if l, err := as.IssueLease(t.Context(), v1.LeaseRequest{VIM: "north"}, ""); err != nil || l.Format != "depot.ini" {
		t.Errorf("a lease without a format is %q, %v, want the type's first", l.Format, err)
	}
	_, err = as.IssueLease(t.Context(), v1.LeaseRequest{VIM: "north", Format: "kubeconfig"}, "")
	if client.Status(err) != http.StatusUnprocessableEntity || !strings.Contains(err.Error(), "depot.ini, json") {
		t.Errorf("a format that the type does not have: %v, want a 422 that lists those it has", err)
	}
	member := policy.Principal{Name: "bob", Project: "demo", Roles: []string{policy.RoleMember}}
	if _, _, err := b.IssueLease(t.Context(), member, broker.LeaseRequest{VIM: "north"}); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("a member asks for a lease without a grade: %v, want that it is for administrators", err)
	}
	s.Plant(t, "lease-of-nobody")
	if found, err := as.Inventory(t.Context(), "north", false); err != nil || found.Upstream != 1 || found.Rows != 1 || len(found.Orphans)+len(found.Ghosts) > 0 {
		t.Errorf("Inventory() = %+v, %v, want the one live lease", found, err)
	}
	if _, _, err := as.DeleteVIM(t.Context(), "north", client.Deletion{Drain: true}); err != nil {
		t.Fatal(err)
	}
	runPass(t, b, "reap")
	if left := s.Everything(t); !slices.Equal(left, []string{"lease-of-nobody"}) {
		t.Errorf("after the VIM is deleted, the depot has %v", left)
	}
}

// leases takes a lease in one format, uses it, renews it and gives it back.
func leases(t *testing.T, s *depot.Server, b *broker.Broker, as *client.Client, now *clock.Clock, format clientconfig.Format) {
	l, err := as.IssueLease(t.Context(), v1.LeaseRequest{VIM: "north", Role: "reader", TTL: "10m", Format: string(format)}, "")
	if err != nil {
		t.Fatal(err)
	}
	first := tokenIn(t, s, l.ClientConfig)
	if got := status(t, s, s.URL, first, false); got != http.StatusOK {
		t.Errorf("the lease is answered %d", got)
	}
	renewed, err := as.RenewLease(t.Context(), l.ID, v1.Renewal{TTL: "20m"})
	if err != nil || !renewed.ExpiresAt.After(l.ExpiresAt) {
		t.Fatalf("renewed until %v, %v, and issued until %v", renewed.ExpiresAt, err, l.ExpiresAt)
	}
	second := tokenIn(t, s, renewed.ClientConfig)
	if got := status(t, s, s.URL, second, false); got != http.StatusOK || first == second {
		t.Errorf("the renewed lease is answered %d; the same token: %t", got, first == second)
	}
	revoked, err := as.RevokeLease(t.Context(), l.ID)
	if err != nil || revoked.State != "revoked" {
		t.Fatalf("revoked: %s, %v", revoked.State, err)
	}
	for _, token := range []string{first, second} {
		if got := status(t, s, s.URL, token, false); got != http.StatusUnauthorized {
			t.Errorf("a token of the revoked lease is answered %d", got)
		}
	}
	now.Add(time.Minute)
	runPass(t, b, "reap")
	if dead, err := as.Lease(t.Context(), l.ID); err != nil || dead.ConfirmedDeadAt.IsZero() {
		t.Errorf("after a pass the lease is confirmed dead at %v, %v", dead.ConfirmedDeadAt, err)
	}
}

// tokenIn reads a client configuration, as the depot's clients do.
func tokenIn(t *testing.T, s *depot.Server, c v1.ClientConfig) string {
	t.Helper()
	if !c.Object {
		found := regexp.MustCompile(`^\[depot\]\nurl = (\S+)\ntoken = (\S+)\n$`).FindStringSubmatch(c.Text.Reveal())
		if found == nil || found[1] != s.URL {
			t.Fatal("the text is not a depot.ini of this depot")
		}
		return found[2]
	}
	var object struct{ Depot, Token string }
	if err := json.Unmarshal([]byte(c.Text.Reveal()), &object); err != nil || object.Depot != s.URL {
		t.Fatalf("the object is not for this depot (%v)", err)
	}
	return object.Token
}

// runPass runs one of the broker's passes.
func runPass(t *testing.T, b *broker.Broker, name string) {
	t.Helper()
	for _, p := range b.Passes() {
		if p.Name == name {
			if err := p.Run(context.WithoutCancel(t.Context())); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("there is no pass %s", name)
}

// nothingElseKnows fails if a package outside this folder imports this one.
func nothingElseKnows(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"bin", ".git", "depot"}, d.Name()):
			return fs.SkipDir
		case d.IsDir(), !strings.HasSuffix(path, ".go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "test/depot") {
			t.Errorf("%s knows of the third type", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
