package field_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/grants"
	"github.com/vimbroker/vimbroker/broker/api/login"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/drivers/vnfm"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

// A year of a VNFM that works as Tacker does, over https and mutual TLS: it keeps the first connection of each instance
// for ever, and verifies by what that holds. No instance dies that nobody cut off, and none is ever on another cluster.
func TestFieldAYearOfInstances(t *testing.T) {
	field.Only(t)
	newYear(t).live(20, 600, 365*24*time.Hour)
}

// The sample of it that always runs.
func TestMonthsOfInstances(t *testing.T) { newYear(t).live(4, 40, 200*24*time.Hour) }

// resuming permits the client to resume one instance.
type resuming struct {
	policy.Decider
	instance string
}

func (d *resuming) Decide(r policy.Request) policy.Decision {
	if r.Action == policy.GrantResume && r.Resource.Name == d.instance {
		return policy.Decision{Allowed: true}
	}
	return d.Decider.Decide(r)
}

// instance is a VNF instance as the VNFM knows it.
type instance struct {
	id, key  string
	first    connection
	endpoint string
}

// connection is a VimConnectionInfo, as Tacker reads it.
type connection struct {
	Face struct {
		Endpoint string `json:"endpoint"`
		CA       string `json:"ssl_ca_cert"`
	} `json:"interfaceInfo"`
	Access struct {
		TokenURL string `json:"oidc_token_url"`
		Username string `json:"username"`
		Password string `json:"password"`
		ClientID string `json:"client_id"`
	} `json:"accessInfo"`
}

type year struct {
	t       *testing.T
	clock   *clock.Clock
	store   *sqlite.Store
	options broker.Options
	decides *resuming
	kubes   []*fakekube.Server
	handler http.Handler
	server  *httptest.Server
	pool    *x509.CertPool // of clients' certificates

	broker  *broker.Broker
	clients *oauth.Clients
	grants  *grant.Grants

	client oauth.Client
	nfvo   *http.Client // as the VNFM reaches its NFVO: with its certificate
	ca     string       // of the server
	ops    int
	kept   *instance // whose kubeconfig was pushed
	random *rand.Rand
}

var operator = policy.Principal{Name: "root", Project: "ops", Roles: []string{policy.RoleAdmin}}

func (y *year) must(err error) {
	y.t.Helper()
	if err != nil {
		y.t.Fatal(err)
	}
}

func newYear(t *testing.T) *year {
	y := &year{t: t, clock: clock.New(time.Now().UTC().Truncate(time.Second)), random: rand.New(rand.NewPCG(1, 2))}
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	keys, err := keydir.Open(filepath.Join(dir, "keys"))
	y.must(err)
	y.store, err = sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "vimbroker.db"), Now: y.clock.Now, Log: log})
	y.must(err)
	t.Cleanup(func() { _ = y.store.Close() })
	policies, err := policy.Load(nil)
	y.must(err)
	y.decides = &resuming{Decider: policies}
	rules := egress.Default()
	rules.AllowLoopback = true
	terms := broker.DefaultTerms()
	terms.StandingMax, terms.Keep.Leases = 60*24*time.Hour, 30*24*time.Hour
	y.options = broker.Options{
		Store: y.store, Keys: []secret.KeyStore{keys}, Policy: y.decides, Terms: terms, Log: log, Now: y.clock.Now,
		Drivers: []broker.Driver{kubernetes.New(kubernetes.Options{Now: y.clock.Now, Log: log})},
		Egress:  func(string) *egress.Rules { return rules },
		PushTargets: map[string]broker.PushTarget{"argocd": {
			Name: "argocd", Project: "ops", VIM: "north", Namespace: "default", Form: broker.FormArgoCD,
			Plugin: clientconfig.Plugin{Command: "/tools/vimbroker", Env: map[string]string{"VIMBROKER_ADDR": "https://broker"}},
		}},
	}
	authority, err := pki.NewCA("vnfms")
	y.must(err)
	y.pool = authority.Pool()
	pair, err := authority.Client("tacker", nil, time.Now().Add(9*365*24*time.Hour))
	y.must(err)
	mine, err := pair.TLS()
	y.must(err)
	y.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		y.handler.ServeHTTP(w, r.WithContext(oauth.WithPeer(r.Context(), r.TLS.PeerCertificates)))
	}))
	y.server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, SessionTicketsDisabled: true}
	y.server.StartTLS()
	t.Cleanup(y.server.Close)
	y.ca = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: y.server.Certificate().Raw}))
	y.restart()
	for _, name := range []string{"south", "north"} {
		kube := fakekube.New(t, fakekube.Options{Now: y.clock.Now})
		_, err := y.broker.RegisterVIM(t.Context(), operator, broker.Registration{
			Name: name, Type: "kubernetes", Endpoint: kube.Endpoint, CACert: kube.CA,
			Credential: broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(kube.AdminToken)},
		})
		y.must(err)
		y.kubes = append(y.kubes, kube)
	}
	subject, err := x509.ParseCertificate(mine.Certificate[0])
	y.must(err)
	y.client, _, err = y.clients.Create(t.Context(), operator, oauth.NewClient{
		Name: "tacker", Roles: []string{policy.RoleVNFM}, Placements: placements("south"),
		Certificate: oauth.Certificate{Kind: oauth.SubjectDN, Name: oauth.Subject(subject)},
	})
	y.must(err)
	y.nfvo = verifying(t, y.ca, mine)
	return y
}

func placements(vim string) []oauth.Placement {
	return []oauth.Placement{{VIM: vim, Role: "view", Namespaces: []string{"default"}}}
}

// verifying is a client that verifies as Tacker does: by the bundle, which has to be there.
func verifying(t *testing.T, bundle string, certificates ...tls.Certificate) *http.Client {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(bundle)) {
		t.Fatal("without a bundle Tacker verifies nothing, and sends the secret to whoever answers")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: certificates}, DisableKeepAlives: true}
	return &http.Client{Transport: transport}
}

// restart is what another process on the store knows: nothing.
func (y *year) restart() {
	var err error
	o := y.options
	directories := map[string]policy.Directory{}
	o.Directories = directories
	y.broker, err = broker.New(o)
	y.must(err)
	y.clients = oauth.New(oauth.Options{
		Store: y.store, Leases: y.broker.Leaser, Guard: y.broker.Guard(), Log: o.Log, Now: o.Now, Authorities: func() *x509.CertPool { return y.pool },
	})
	directories[policy.ByClient] = y.clients
	y.broker, err = broker.New(o) // which knows the directory
	y.must(err)
	tokens := oauth.NewTokens(oauth.TokensOptions{
		Store: y.store, Clients: y.clients, Keys: o.Keys, Ledger: y.broker, Guard: y.broker.Guard(), Log: o.Log, Issuer: y.server.URL, Now: o.Now,
	})
	y.grants = grant.New(grant.Options{
		Store: y.store, Leases: y.broker.Leaser, Clients: y.clients, VNFM: vnfm.Driver{}, Guard: y.broker.Guard(), Egress: o.Egress,
		Standing: true, IssuerCA: func() string { return y.ca }, Log: o.Log, Now: o.Now,
	})
	y.handler = api.New(api.Options{
		Doors: []api.Door{
			login.Door(login.Options{Tokens: tokens, Clients: y.clients, Leases: y.broker.Leaser, Now: o.Now}),
			grants.Door(y.grants, y.server.URL),
		},
		Authenticator: tokens, Vitals: y.broker.Oversight, Log: o.Log, Now: o.Now,
	})
}

// pass has time go by, with the passes that end, prune and forget.
func (y *year) pass(d time.Duration) {
	y.t.Helper()
	y.clock.Add(d)
	for range 2 {
		y.must(y.broker.Reap(y.t.Context()))
		y.clock.Add(3 * time.Minute)
	}
	y.must(y.broker.Settle(y.t.Context(), y.clock.Now().Add(-time.Hour)))
	for _, pass := range y.broker.Passes() {
		if pass.Name == "prune" {
			y.must(pass.Run(y.t.Context()))
		}
	}
	y.must(y.broker.KeepPushed(y.t.Context()))
	y.must(y.grants.Follow(y.t.Context()))
	y.must(y.grants.Forget(y.t.Context()))
}

func (y *year) send(c *http.Client, method, to, kind, body string, headers ...string) (int, string) {
	y.t.Helper()
	r, err := http.NewRequestWithContext(y.t.Context(), method, to, strings.NewReader(body))
	y.must(err)
	r.Header.Set("Content-Type", kind)
	for n := 1; n < len(headers); n += 2 {
		r.Header.Set(headers[n-1], headers[n])
	}
	answer, err := c.Do(r)
	y.must(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	y.must(err)
	return answer.StatusCode, string(text)
}

const form = "application/x-www-form-urlencoded"

// ask sends a request to the NFVO, after a login by certificate.
func (y *year) ask(path, body string) (int, string) {
	y.t.Helper()
	login := url.Values{"grant_type": {"client_credentials"}, "client_id": {y.client.ID}}.Encode()
	status, text := y.send(y.nfvo, "POST", y.server.URL+"/oauth2/token", form, login)
	var token struct {
		Access string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(text), &token); err != nil || status != http.StatusOK {
		y.t.Fatalf("login = %d %s", status, text)
	}
	return y.send(y.nfvo, "POST", y.server.URL+path, "application/json", body, "Authorization", "Bearer "+token.Access, "Version", "1.4.0")
}

// grant asks for a grant, twice: the VNFM may have died after the first.
func (y *year) grant(i *instance, operation string) (id, key string, given connection, status int) {
	y.t.Helper()
	y.ops++
	id = fmt.Sprintf("op-%d", y.ops)
	body := fmt.Sprintf(`{"vnfInstanceId":%q,"vnfLcmOpOccId":%q,"vnfdId":"vnfd","operation":%q,"isAutomaticInvocation":false,
		"_links":{"vnfLcmOpOcc":{"href":"http://127.0.0.1:1/x"},"vnfInstance":{"href":"http://127.0.0.1:1/y"}}}`, i.id, id, operation)
	status, text := y.ask("/grant/v1/grants", body)
	if y.random.IntN(4) == 0 {
		y.restart()
		if again, _ := y.ask("/grant/v1/grants", body); again != status {
			y.t.Errorf("%s of %s is answered with %d, and a repeat with %d", operation, i.id, status, again)
		}
	}
	if status != http.StatusCreated {
		return id, "", given, status
	}
	var answer struct {
		Connections map[string]connection `json:"vimConnectionInfo"`
	}
	y.must(json.Unmarshal([]byte(text), &answer))
	for key, given = range answer.Connections {
	}
	return id, key, given, status
}

// uses fetches a token with the first connection of an instance, and uses it on its cluster.
func (y *year) uses(i *instance) error {
	y.t.Helper()
	a := i.first.Access
	bundled := verifying(y.t, i.first.Face.CA)
	login := url.Values{
		"grant_type": {"password"}, "scope": {"openid"}, "client_id": {a.ClientID}, "client_secret": {""}, "username": {a.Username}, "password": {a.Password},
	}.Encode()
	status, text := y.send(bundled, "POST", a.TokenURL, form, login)
	var token struct {
		ID string `json:"id_token"`
	}
	if err := json.Unmarshal([]byte(text), &token); err != nil || status != http.StatusOK {
		return fmt.Errorf("a token: %d %s", status, text)
	}
	status, text = y.send(bundled, "GET", i.first.Face.Endpoint+"/api/v1/namespaces/default/configmaps", "", "", "Authorization", "Bearer "+token.ID)
	if status != http.StatusOK {
		return fmt.Errorf("the cluster: %d %s", status, text)
	}
	return nil
}

// operate is one operation from its grant to its end.
func (y *year) operate(i *instance, operation string) {
	y.t.Helper()
	id, key, given, status := y.grant(i, operation)
	if status != http.StatusCreated {
		y.t.Fatalf("%s of %s = %d", operation, i.id, status)
	}
	if operation == "INSTANTIATE" {
		i.key, i.first, i.endpoint = key, given, given.Face.Endpoint
	}
	if key != i.key || given.Access.Username != i.first.Access.Username || given.Face != i.first.Face || given.Access.TokenURL != i.first.Access.TokenURL {
		y.t.Errorf("%s of %s has another connection", operation, i.id)
	}
	if y.random.IntN(4) == 0 {
		y.restart()
	}
	if err := y.uses(i); err != nil {
		y.t.Fatalf("%s of %s on day %v: %v", operation, i.id, y.clock.Now(), err)
	}
	if status, text := y.ask("/grant/v1/notifications", `{"vnfLcmOpOccId":"`+id+`","operationState":"COMPLETED"}`); status != http.StatusNoContent {
		y.t.Errorf("a notification = %d %s", status, text)
	}
}

// cutOff revokes an instance, has it stay so, and resumes it.
func (y *year) cutOff(i *instance) {
	y.t.Helper()
	if _, err := y.broker.RevokeLeases(y.t.Context(), operator, broker.LeaseSelector{Instance: i.id}); err != nil {
		y.t.Fatal(err)
	}
	for _, wait := range []time.Duration{time.Minute, 40 * 24 * time.Hour} {
		y.pass(wait)
		if _, _, _, status := y.grant(i, "SCALE"); status != http.StatusForbidden {
			y.t.Errorf("%v after it was cut off %s is granted an operation: %d", wait, i.id, status)
		}
		if err := y.uses(i); err == nil {
			y.t.Errorf("%v after it was cut off %s works", wait, i.id)
		}
	}
	y.decides.instance = i.id
	y.operate(i, "HEAL")
	y.decides.instance = ""
	if left := y.kubes[1].Names("secrets", "default"); i == y.kept {
		if len(left) > 0 {
			y.t.Errorf("of an instance that was cut off %q is left", left)
		}
		y.push(i)
	}
}

// push keeps a kubeconfig of the instance's lease in a Secret.
func (y *year) push(i *instance) {
	y.t.Helper()
	_, _, err := y.broker.PushLease(y.t.Context(), operator, i.first.Access.Username, "argocd", "of-the-first")
	y.must(err)
	y.kept = i
}

// pushed looks at the Secret of the first instance: it is there as it was, names the login that the instance has had all the
// time, and holds no secret of any.
func (y *year) pushed(all []*instance) {
	y.t.Helper()
	status, text := y.send(verifying(y.t, y.kubes[1].CA), "GET", y.kubes[1].Endpoint+"/api/v1/namespaces/default/secrets/of-the-first", "", "",
		"Authorization", "Bearer "+y.kubes[1].AdminToken)
	var s struct{ Data map[string][]byte }
	if err := json.Unmarshal([]byte(text), &s); err != nil || status != http.StatusOK {
		y.t.Fatalf("what was pushed: %d %s", status, text)
	}
	if config := string(s.Data["config"]); !strings.Contains(config, all[0].first.Access.Username) {
		y.t.Errorf("what was pushed is %s", config)
	}
	for _, i := range all {
		for key, part := range s.Data {
			if strings.Contains(string(part), i.first.Access.Password) || strings.Contains(string(part), "eyJ") {
				y.t.Errorf("%s of what was pushed holds a secret", key)
			}
		}
	}
}

func (y *year) live(instances, operations int, span time.Duration) {
	y.t.Helper()
	var all []*instance
	for n := range instances {
		i := &instance{id: uuid.NewString()}
		y.operate(i, "INSTANTIATE")
		if all = append(all, i); n == instances/2 { // from here on they go elsewhere
			_, err := y.clients.SetPlacements(y.t.Context(), operator, y.client.ID, placements("north"))
			y.must(err)
		}
	}
	y.push(all[0])
	step := span / time.Duration(operations)
	for n := len(all); n < operations-len(all); n++ {
		y.pass(time.Duration(y.random.Int64N(int64(2 * step))))
		i := all[y.random.IntN(len(all))]
		switch {
		case n%9 == 0: // all accounts of its cluster are deleted
			for _, kube := range y.kubes {
				for _, name := range kube.Names("serviceaccounts", "") {
					if namespace, account, _ := strings.Cut(name, "/"); strings.HasPrefix(account, "lease-") {
						kube.Delete("serviceaccounts", namespace, account)
					}
				}
			}
		case n%13 == 0: // nobody comes for long
			y.pass(15 * 24 * time.Hour)
		case n == operations/2:
			y.cutOff(i)
		}
		y.operate(i, []string{"SCALE", "HEAL"}[n%2])
	}
	y.clock.Add(65 * 24 * time.Hour)
	y.pushed(all)
	for n, i := range all {
		if kube := y.kubes[min(n/(instances/2+1), 1)]; i.endpoint != kube.Endpoint {
			y.t.Errorf("instance %d is on %s", n, i.endpoint)
		}
		y.operate(i, "TERMINATE")
	}
	y.pass(time.Hour)
	for _, i := range all {
		if err := y.uses(i); err == nil {
			y.t.Errorf("%s was terminated, and works", i.id)
		}
	}
	if left := y.kubes[1].Names("secrets", "default"); len(left) > 0 {
		y.t.Errorf("of what was pushed %q is left", left)
	}
	for _, kube := range y.kubes {
		for _, name := range kube.Names("serviceaccounts", "") {
			if strings.Contains(name, "lease-") {
				y.t.Errorf("account %s is left", name)
			}
		}
	}
}
