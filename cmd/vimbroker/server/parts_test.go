package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/drivers/barbican"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/story"
)

func mustPolicies(t *testing.T) *policy.Policies {
	t.Helper()
	p, err := files.SitePolicies("")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A key store that cannot be opened keeps none open.
func TestKeyStoresAreOpenedTogether(t *testing.T) {
	log, dir, file := slog.New(slog.DiscardHandler), filepath.Join(t.TempDir(), "keys"), story.WriteFile(t, "file", "x", 0o600)
	first := keyStoreConfig{Keydir: &keydirConfig{dir}}
	for what, c := range map[string]struct {
		config
		want string
	}{
		"a file":          {config{KeyStores: []keyStoreConfig{first, {Keydir: &keydirConfig{file}}}}, "opening key directory " + file},
		"a Vault":         {config{KeyStores: []keyStoreConfig{first, {Vault: &vaultConfig{}}}}, "address"},
		"a Barbican":      {config{KeyStores: []keyStoreConfig{first, {Barbican: &barbicanConfig{barbican.Options{}}}}}, "opening key store: "},
		"a data file":     {config{DataDir: file + "/data", KeyStores: []keyStoreConfig{first, {Keydir: &keydirConfig{}}}}, "making the data directory: "},
		"a data file, by": {config{DataDir: file + "/data"}, "making the data directory: "},
	} {
		open, err := openKeyStores(t.Context(), c.config, log)
		if err == nil || open != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in place of a key store: %v, %v, want %q", what, open, err, c.want)
		}
		if open, err = openKeyStores(t.Context(), config{KeyStores: []keyStoreConfig{first}}, log); err != nil || len(open) != 1 {
			t.Fatalf("after that the first key store: %v", err)
		}
		if err := closeKeyStores(open); err != nil {
			t.Error(err)
		}
	}
}

// What a server cannot be put together with is said, and nothing stays open: the next one starts.
func TestAServerThatIsNotPutTogether(t *testing.T) {
	dir := t.TempDir()
	made := func() config {
		c := devConfig(nil)
		c.DataDir, c.policies, c.egress = dir, mustPolicies(t), &projectRules{}
		return c
	}
	broken := func(what, want string, change func(*config)) {
		t.Helper()
		c := made()
		change(&c)
		s, err := wire(t.Context(), c, "test", slog.New(slog.DiscardHandler))
		if err == nil || s != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	broken("a store that is a directory", "vimbroker.db", func(c *config) {
		c.DataDir = filepath.Join(t.TempDir(), "other")
		if err := os.MkdirAll(c.databaseFile(), 0o700); err != nil {
			t.Fatal(err)
		}
	})
	name := filepath.Join(dir, devTokenFile)
	if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken("a token that is none", "does not hold a token", func(*config) {})
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	broken("a Keystone without an address", "address", func(c *config) { c.Trust = []trustConfig{{Keystone: &keystoneCallers{}}} })
	broken("leases that end before they begin", "TTL", func(c *config) { c.Terms.DefaultTTL = -1 })
	s, err := wire(t.Context(), made(), "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A caller is let in by whom the token names: the server itself, the table of trust, a Keystone, or the tokens file.
func TestWhoLetsACallerIn(t *testing.T) {
	b := newTrusting(t)
	alice := b.issuer.Token("alice", nil)
	opaque := "gAAAAA"
	p, err := b.live.Authenticate(t.Context(), alice)
	if err != nil || p.Name != "oidc:corp:alice" {
		t.Errorf("a token of the table of trust: %+v, %v", p, err)
	}
	l := newLive(*b.live.now.Load())
	l.trust = b.live.trust // and nobody is told of callers, nor of uses of tokens
	for token, want := range map[string]string{alice: "oidc:corp:alice", b.admin: "admin", opaque: ""} {
		if p, err := l.Authenticate(t.Context(), token); p.Name != want || (err == nil) != (want != "") {
			t.Errorf("a token of %q: %+v, %v", want, p, err)
		}
		if p, err := (exchangers{l}).Authenticate(t.Context(), token); p.Name != want || (err == nil) != (want != "") {
			t.Errorf("a token of %q that is exchanged: %+v, %v", want, p, err)
		}
	}
	// Without an issuer of its own the server takes its own static tokens all the same.
	plain := l.started
	plain.Issuer = ""
	l = newLive(plain)
	if p, err := (exchangers{l}).Authenticate(t.Context(), b.admin); err != nil || p.Name != "admin" {
		t.Errorf("a token that is exchanged where there is no issuer: %+v, %v", p, err)
	}
	var refused *policy.RefusedLogin
	if _, err := (exchangers{l}).Authenticate(t.Context(), opaque); !errors.As(err, &refused) || refused.Reason != "no token that is exchanged" {
		t.Errorf("an opaque token is exchanged: %v", err)
	}
	// A server whose own tokens nobody knows yet asks the table of trust for them, which refuses.
	l = newLive(config{Issuer: b.issuer.URL})
	if _, err := l.Authenticate(t.Context(), alice); err == nil {
		t.Error("a token of the server's own is taken by nobody")
	}
	if _, err := l.Authenticate(t.Context(), b.admin); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("without a tokens file: %v", err)
	}
	if _, err := l.Lookup(t.Context(), "admin", "default"); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("looking up where there is no tokens file: %v", err)
	}
}

// A static token raises its alarm again after an hour.
func TestAnAlarmIsRaisedAgain(t *testing.T) {
	s, _ := tryOut(t, func(c *config) { c.TokensAlarm = true })
	log := new(strings.Builder)
	s.log = slog.New(slog.NewTextHandler(log, nil))
	alarms := func() int {
		s.tokenUsed("t1")
		return strings.Count(log.String(), "a token of the tokens file is used")
	}
	if first, second := alarms(), alarms(); first != 1 || second != 1 {
		t.Errorf("two uses raise %d alarms", second)
	}
	s.watched.tokens["t1"] = s.store.Now().Add(-tokenAlarmAgain)
	if again := alarms(); again != 2 {
		t.Errorf("a use after an hour: %d alarms, want 2", again)
	}
	if more := alarms(); more != 2 {
		t.Errorf("a use soon after that: %d alarms, want 2", more)
	}
}

// Leases of a caller are decided on anew where the caller has other roles, and where it was forgotten who had which.
func TestACallerWithOtherRolesIsDecidedOnAnew(t *testing.T) {
	s, _ := tryOut(t, func(c *config) { c.Terms.EndWithAccess = true })
	log := new(strings.Builder)
	s.log = slog.New(slog.NewTextHandler(log, nil))
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	// Without a store no decision is possible, which the log says.
	decided := func(name string, roles ...string) bool {
		log.Reset()
		name, project, _ := strings.Cut(name, " of ")
		s.cameIn(t.Context(), policy.Principal{Name: name, Project: project, Roles: roles})
		return strings.Contains(log.String(), "leases whose holder has lost access are left") && strings.Contains(log.String(), "principal="+name)
	}
	for n, c := range []struct {
		name  string
		roles []string
		want  bool
	}{
		{"alice", []string{"member"}, true},
		{"alice", []string{"member"}, false},
		{"bob", []string{"member"}, true},
		{"alice", []string{"reader"}, true},
		{"alice", []string{"reader"}, false},
		{"alice", []string{"member"}, true},
		{"alice of another", []string{"member"}, true},
		{"alice of another", []string{"reader"}, true},
		{"alice", []string{"member"}, false},
	} {
		if got := decided(c.name, c.roles...); got != c.want {
			t.Errorf("%d: %s comes in with %v: decided %v, want %v", n, c.name, c.roles, got, c.want)
		}
	}
	for n := len(s.watched.roles); n < maxSeen-1; n++ {
		s.watched.roles[fmt.Sprint(n)] = "x"
	}
	decided("carol", "member")
	if n := len(s.watched.roles); n != maxSeen || decided("alice", "member") {
		t.Errorf("%d callers are remembered, want %d", n, maxSeen)
	}
	if n := len(s.watched.roles); n != 1 {
		t.Errorf("%d callers are remembered after there were as many as may be", n)
	}
	s.config.Terms.EndWithAccess = false
	if decided("dave", "member") {
		t.Error("leases end with access, though the configuration does not say so")
	}
}

// The door of ONAP lets clients in by id and secret, and in the try-out mode also whoever shows the token.
func TestCallersOfONAPShowAPassword(t *testing.T) {
	s, token := tryOut(t, func(*config) {})
	client, secret, err := s.clients.Create(t.Context(), devAdmin(), oauth.NewClient{Name: "so", Project: "core", Roles: []string{"vnfm"}})
	if err != nil {
		t.Fatal(err)
	}
	basic := s.onap()[0].Basic
	for _, c := range []struct {
		dev       bool
		id, plain string
		want      string
	}{
		{true, "anyone", token, "admin"},
		{false, "anyone", token, ""},
		{true, client.ID, secret.Reveal(), client.Principal().Name},
		{false, client.ID, secret.Reveal(), client.Principal().Name},
		{true, client.ID, token, ""},
		{true, uuid.NewString(), secret.Reveal(), ""},
		{true, "anyone", secret.Reveal(), ""},
	} {
		s.config.Dev = c.dev
		if p, err := basic(t.Context(), c.id, c.plain); p.Name != c.want || (err == nil) != (c.want != "") {
			t.Errorf("dev %v, id %s: %+v, %v, want %q", c.dev, c.id, p, err, c.want)
		}
	}
}

// A package that cannot be had, or a file of it, is an error.
func TestPackagesThatAreNotThere(t *testing.T) {
	w := wireDev(t, filepath.Join(t.TempDir(), "data"), func(*config) {})
	id := w.upload("web-1", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n")
	held := packages{w.catalog}
	if v, err := held.Held(t.Context(), uuid.NewString()); !errors.Is(err, broker.ErrNotFound) || v.ID != "" {
		t.Errorf("a package that nobody has: %+v, %v", v, err)
	}
	view, err := held.Held(t.Context(), id)
	if err != nil || view.ID != id || len(view.Paths) == 0 || view.Product.Name != "web" {
		t.Fatalf("a package that is held: %+v, %v", view, err)
	}
	if got, err := view.Read(view.Paths); err != nil || len(got) != len(view.Paths) || !strings.Contains(got[1].Text.Reveal(), "ConfigMap") {
		t.Errorf("its files: %+v, %v", got, err)
	}
	if got, err := view.Read([]string{"Nothing/here.yaml"}); err == nil || got != nil {
		t.Errorf("a file that it has not: %+v, %v", got, err)
	}
	if _, err := view.Translate("nothing", nil, false); err == nil {
		t.Error("a flavour that it has not is translated")
	}
}

// A server that shares its database settles nothing by itself; one whose store fails says so, and goes on.
func TestAServerSettlesWhatIsItsOwn(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	log := new(strings.Builder)
	s.log = slog.New(slog.NewTextHandler(log, nil))
	settled := func() string {
		log.Reset()
		<-s.settle(t.Context(), s.store.Now())
		return log.String()
	}
	if said := settled(); !strings.Contains(said, "settled what an earlier process left") || strings.Contains(said, "goes on with it") {
		t.Errorf("settling says %s", said)
	}
	s.config.Database.Postgres = &postgresConfig{}
	if said := settled(); said != "" {
		t.Errorf("where others may be at work settling says %s", said)
	}
	s.config.Database.Postgres = nil
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	if said := settled(); !strings.Contains(said, "settling what an earlier process left; the settle pass goes on with it") || strings.Contains(said, `"settled`) {
		t.Errorf("settling without a store says %s", said)
	}
}

// While a server is not ready its log says why, once for each reason; it is ready once, and not at all if it is to end before.
func TestAServerSaysWhyItIsNotReady(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	log := new(strings.Builder)
	s.log = slog.New(slog.NewTextHandler(log, nil))
	over, end := context.WithCancel(t.Context())
	end()
	looked := make(chan struct{})
	never := func() { t.Error("a server that has ended is ready") }
	s.awaitReady(over, looked, never)
	close(looked)
	s.ready.settled.Store(true)
	s.broker.Probe(t.Context())
	for range 20 { // which of both comes first is open
		s.awaitReady(over, looked, never)
	}
	if log.String() != "" {
		t.Errorf("the log says %s", log)
	}
	s.ready.ending.Store(true)
	waiting, stop := context.WithCancel(t.Context())
	s.log = slog.New(slog.NewTextHandler(writer(func(p []byte) { stop(); log.Write(p) }), nil))
	s.awaitReady(waiting, looked, never)
	if n := strings.Count(log.String(), "serving, and not ready yet"); n != 1 || !strings.Contains(log.String(), "ending: send new requests to another server") {
		t.Errorf("the log says %d times why: %s", n, log)
	}
	s.ready.ending.Store(false)
	ready := 0
	if s.awaitReady(t.Context(), looked, func() { ready++ }); ready != 1 {
		t.Errorf("ready was called %d times", ready)
	}
}

// Whatever a server runs by ends it with its error: its listener, its passes, or what keeps a key store usable.
func TestWhatEndsAServer(t *testing.T) {
	run := func(change func(*server, net.Listener)) error {
		t.Helper()
		s, _ := tryOut(t, func(*config) {})
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		change(s, l)
		return s.run(t.Context(), l, func() {})
	}
	if err := run(func(_ *server, l net.Listener) { _ = l.Close() }); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a listener that is closed: %v", err)
	}
	err := run(func(s *server, _ net.Listener) { s.keys[0].run = func(context.Context) error { return errDisk } })
	if !errors.Is(err, errDisk) || err.Error() != "keeping the key store keydir usable: "+errDisk.Error() {
		t.Errorf("a key store that cannot be kept: %v", err)
	}
}

// Whoever shows a certificate that nobody has vouched for is told from one who shows none.
func TestACertificateThatCountsForNothing(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	send := func(cert string) string {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/whoami", http.NoBody)
		r.RemoteAddr = "192.0.2.1:1"
		if cert != "" {
			r.Header.Set("Client-Cert", cert)
		}
		w := httptest.NewRecorder()
		s.serveHTTP(w, r)
		return fmt.Sprint(w.Code)
	}
	if none, strange := send(""), send(":AAAA:"); none != "401" || strange != "401" {
		t.Errorf("without a certificate %s, with one that counts for nothing %s", none, strange)
	}
	for range 10 { // a refusal is recorded by the way
		entries, err := s.broker.Entries(t.Context(), devAdmin(), audit.Query{Action: audit.Login, Limit: 9})
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) == 1 && entries[0].Detail[audit.DetailReason] == "Client-Cert from an address that is no trusted proxy's" {
			return
		}
		t.Errorf("the log has %+v", entries)
	}
}

// writer takes what is written.
type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

// What happens to a server is in the audit log, or the server's log says that it is not.
func TestWhatHappensToAServerIsRecorded(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	log := new(strings.Builder)
	s.log = slog.New(slog.NewTextHandler(log, nil))
	s.recordStart(t.Context(), audit.DetailVersion, "v0")
	s.record(t.Context(), audit.ServerReload, audit.Done, audit.DetailTaken, "tls")
	entries, err := s.broker.Entries(t.Context(), devAdmin(), audit.Query{Limit: 3})
	if err != nil || len(entries) != 3 || entries[1].Action != audit.ServerReload || entries[1].Detail[audit.DetailTaken] != "tls" || entries[2].Detail[audit.DetailVersion] != "v0" || log.String() != "" {
		t.Errorf("the audit log has %+v, %v; the log says %s", entries, err, log)
	}
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	s.recordStart(t.Context())
	s.record(t.Context(), audit.ServerReload, audit.Done)
	if said := log.String(); !strings.Contains(said, "the audit log does not say that the server starts") || !strings.Contains(said, "the audit log does not say what happened to the server") {
		t.Errorf("the log says %s", said)
	}
}

// A server alone on its database is known by its host; a key store that does not close is told.
func TestAServerIsKnownByItsHost(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	s.broker.Probe(t.Context())
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if all, err := s.broker.Replicas(t.Context(), devAdmin()); err != nil || len(all) != 1 || all[0].ID != host || all[0].Version != "v0" {
		t.Errorf("replicas %+v, %v, want %s", all, err, host)
	}
	closed := s.keys[0].close
	s.keys[0].close = func() error { return errors.Join(closed(), errDisk) }
	if err := s.Close(); !errors.Is(err, errDisk) {
		t.Errorf("closing a key store fails: %v", err)
	}
}

// Others are asked about a token only where its entry cannot tell by itself.
func TestWhomATokenIsAskedOf(t *testing.T) {
	b := newTrusting(t)
	for what, c := range map[string]struct {
		token string
		want  bool
	}{"an issuer's whose keys are known": {b.issuer.Token("alice", nil), false}, "a static one": {b.admin, false}, "an opaque one": {"gAAAAA", false}} {
		if got := b.asksOthers(c.token); got != c.want {
			t.Errorf("others are asked about a token, %s: %v", what, got)
		}
	}
}

// Behind a proxy that tells callers' certificates the table may begin to have such; without TLS and proxy that needs a restart.
func TestCertificatesComeWithTLSOrAProxy(t *testing.T) {
	for _, proxy := range []bool{true, false} {
		now := config{policies: mustPolicies(t), egress: &projectRules{}, proxies: api.Proxies{ClientCert: proxy}}
		next := now
		next.Trust = []trustConfig{{TrustEntry: files.TrustEntry{Authority: trust.Authority{Name: "mesh", Certificates: &trust.Certificates{CA: string(newPKI(t).PEM)}}}}}
		taken, restart := newLive(now).replace(next)
		if slices.Contains(taken, trustKey) != proxy || slices.Contains(restart, trustKey) == proxy {
			t.Errorf("behind a proxy, %v: taken %v, needing a restart %v", proxy, taken, restart)
		}
	}
}

// A management cluster of the configuration is tried until its VIM is there, which the log says once, and then left alone.
func TestAManagementClusterIsEnabledOnce(t *testing.T) {
	s, _ := tryOut(t, func(*config) {})
	log := new(strings.Builder)
	s.log = slog.New(slog.NewTextHandler(log, nil))
	c := *s.live.now.Load()
	c.Managements = []managementConfig{{VIM: "hub", Project: "north", Settings: onboard.Settings{Namespaces: []string{"tenant"}, Projects: map[string]string{"": "north"}}}}
	if err := c.Managements[0].Settings.Complete(); err != nil {
		t.Fatal(err)
	}
	s.live.now.Store(&c)
	again, tried, done := make(chan time.Time), make(chan struct{}), make(chan struct{})
	s.after = func(time.Duration) <-chan time.Time {
		tried <- struct{}{}
		return again
	}
	over, end := context.WithCancel(t.Context())
	end()
	go s.enableManagements(over)
	<-tried
	ctx, end := context.WithCancel(t.Context())
	go func() { defer close(done); s.enableManagements(ctx) }()
	for range 3 {
		<-tried
		again <- time.Time{}
	}
	<-tried
	settled(t, s, "north", "hub", fakekube.New(t, fakekube.Options{}))
	again <- time.Time{}
	for range 4 { // the last one is taken when all before are done
		select {
		case s.managements <- struct{}{}:
		case <-tried:
			t.Fatalf("it is not enabled: %s", log)
		}
	}
	end()
	<-done
	if n := strings.Count(log.String(), "a management cluster of the configuration is not enabled yet"); n != 1 {
		t.Errorf("the log says %d times why it is not enabled: %s", n, log)
	}
	entries, err := s.broker.Entries(t.Context(), devAdmin(), audit.Query{Principal: "system:configuration", Action: policy.ClusterEnable, Limit: 9})
	if err != nil || len(entries) != 1 || entries[0].Outcome != audit.Done {
		t.Errorf("the audit log has %+v, %v, want one entry", entries, err)
	}
}

// A caller who is refused has not come in; a door where a Keystone lets callers in leads to it.
func TestARefusedCallerHasNotComeIn(t *testing.T) {
	b := newTrusting(t)
	var came []string
	b.live.cameIn = func(_ context.Context, p policy.Principal) { came = append(came, p.Name) }
	for _, token := range []string{b.issuer.Forged()["exp a second ago"][0], b.issuer.Token("alice", nil)} {
		_, _ = b.live.Authenticate(t.Context(), token)
	}
	if !slices.Equal(came, []string{"oidc:corp:alice"}) {
		t.Errorf("came in: %q", came)
	}
	password := story.WriteFile(t, "password", "x", 0o600)
	file := story.WriteFile(t, "c.yaml", "trust: [{name: k, keystone: {authURL: \"https://k.example\", roles: {a: reader}, auth: {password: {userID: u, projectID: p, passwordFile: "+password+"}}}}]\n", 0o600)
	read, err := loadConfig(file, console.Environment{"HOME=/h"}, keep)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := tryOut(t, func(c *config) { c.Trust = read.Trust })
	own, _ := policy.NewToken()
	if s.asksOthers(own) || !s.asksOthers("gAAAAA") {
		t.Error("a Keystone is asked about a token of ours, or not about one that may be its own")
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/v1.0/vims", http.NoBody))
	if got := w.Header().Get("Www-Authenticate"); w.Code != http.StatusUnauthorized || got != `Keystone uri="https://k.example"` {
		t.Errorf("without a token: %d, %q", w.Code, got)
	}
}
