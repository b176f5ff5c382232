package tacker_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/rest"
	"github.com/vimbroker/vimbroker/broker/api/tacker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// bench is Tacker's API before the real broker and a fake API server.
type bench struct {
	database string // the SQLite file
	store    *sqlite.Store
	testing.TB
	kube   *fakekube.Server
	url    string
	tokens map[string]string
	wire   strings.Builder // every answer
}

func newBench(t testing.TB, compat bool) *bench {
	t.Helper()
	b := &bench{TB: t, kube: fakekube.New(t, fakekube.Options{}), tokens: map[string]string{}}
	log := testlog.Silent(t)
	b.database = filepath.Join(t.TempDir(), "data", "vimbroker.db")
	store, err := quickstore.Open(t.Context(), sqlite.Options{Path: b.database, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	b.store = store
	keys, err := keydir.Open(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	rules := egress.Default()
	rules.AllowLoopback = true
	registry, err := broker.New(broker.Options{
		Store: store, Keys: []secret.KeyStore{keys}, Policy: policies, Terms: broker.DefaultTerms(), Log: log,
		Drivers: []broker.Driver{kubernetes.New(kubernetes.Options{Log: log}), openstack.New(openstack.Options{Log: log})},
		Egress:  func(string) *egress.Rules { return rules },
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []policy.StaticToken
	for name, p := range map[string]policy.Principal{
		"alice":  {Project: "demo", Roles: []string{policy.RoleMember}},
		"rita":   {Project: "demo", Roles: []string{policy.RoleReader}},
		"mallet": {Project: "other", Roles: []string{policy.RoleMember}},
		"root":   {Project: "admin", Roles: []string{policy.RoleAdmin}},
	} {
		plain, digest := policy.NewToken()
		b.tokens[name] = plain
		all = append(all, policy.StaticToken{Name: name, Project: p.Project, Roles: p.Roles, SHA256: digest})
	}
	tokens, err := policy.NewStaticTokens(all)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api.New(api.Options{
		Doors: []api.Door{
			rest.Door(rest.Options{Registry: registry, Leaser: registry, AuditLog: registry, Overseer: registry, Log: log}),
			tacker.Door(tacker.Options{Registry: registry, Compat: compat}),
		},
		Authenticator: tokens, Vitals: registry, Log: log,
	}))
	t.Cleanup(server.Close)
	b.url = server.URL
	return b
}

// call sends a request as python-tackerclient does, and returns the answer with its body.
func (b *bench) call(who, method, path, body string) (*http.Response, string) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	if who != "" {
		r.Header.Set("X-Auth-Token", b.tokens[who])
	}
	if strings.HasPrefix(path, "/v1/") { // REST, unlike Tacker, wants to be told
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.Fatal(err)
	}
	b.wire.Write(text)
	return answer, string(text)
}

// vim calls, wants a status, and returns what stands under "vim".
func (b *bench) vim(who, method, path, body string, status int) map[string]any {
	b.Helper()
	answer, text := b.call(who, method, path, body)
	if answer.StatusCode != status {
		b.Fatalf("%s %s = %d %s, want %d", method, path, answer.StatusCode, text, status)
	}
	var got struct{ VIM map[string]any }
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		b.Fatal(err)
	}
	return got.VIM
}

// body is a registration of the fake cluster; more, pairs of attribute and JSON,
// replaces what is in it.
func (b *bench) body(name string, more ...string) string {
	v := map[string]any{
		"type": "kubernetes", "name": name, "auth_url": b.kube.Endpoint, "vim_project": map[string]any{"name": "default"},
		"auth_cred": map[string]any{"bearer_token": b.kube.AdminToken, "ssl_ca_cert": strings.Join(strings.Fields(b.kube.CA), " ")},
	}
	for i := 0; i < len(more); i += 2 {
		v[more[i]] = json.RawMessage(more[i+1])
	}
	text, err := json.Marshal(map[string]any{"vim": v})
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}
