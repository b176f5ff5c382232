package script

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real/pki"
	"github.com/vimbroker/vimbroker/test/story"
)

// lent is what a grant lends, as far as Tacker reads it.
type lent struct {
	Face struct {
		Endpoint string `json:"endpoint"`
		CA       string `json:"ssl_ca_cert"`
	} `json:"interfaceInfo"`
	Access access `json:"accessInfo"`
}

// overTLS is Tacker, before a broker that serves https.
type overTLS struct {
	*tacker
	api    *client.Client
	server *story.Broker
	home   string
	// clients are those of Tacker, by the VIM that their VNFs go to.
	clients map[string]v1.OAuthClientSecret
}

// verifying is the HTTP client of Tacker for one connection: "verify = ssl_ca_cert if ssl_ca_cert else False".
func (v *overTLS) verifying(l lent) http.Client {
	v.t.Helper()
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	if l.Face.CA == "" {
		v.t.Fatalf("Tacker would send the secret of the lease to whoever answers at %s", l.Access.URL)
	}
	if !config.RootCAs.AppendCertsFromPEM([]byte(l.Face.CA)) {
		v.t.Fatalf("ssl_ca_cert is %q", l.Face.CA)
	}
	transport := &http.Transport{TLSClientConfig: config}
	v.t.Cleanup(transport.CloseIdleConnections)
	return http.Client{Transport: transport}
}

// as asks for a grant as the client whose VNFs go to a VIM.
func (v *overTLS) as(vim, operation, id string) (int, string) {
	v.t.Helper()
	c := v.clients[vim]
	v.id, v.secret = c.ID, c.ClientSecret.Reveal()
	return v.ask(operation, id)
}

// instantiates has INSTANTIATE granted, and returns what is lent.
func (v *overTLS) instantiates(vim, id string) lent {
	v.t.Helper()
	status, text := v.as(vim, "INSTANTIATE", id)
	if status != http.StatusCreated {
		v.t.Fatalf("INSTANTIATE on %s = %d %s", vim, status, text)
	}
	for _, info := range read[struct {
		VIMs map[string]lent `json:"vimConnectionInfo"`
	}](v.t, text).VIMs {
		return info
	}
	v.t.Fatalf("the grant has no connection: %s", text)
	return lent{}
}

// uses fetches a token with what was lent, and calls the cluster with it.
func (v *overTLS) uses(vim string, l lent) {
	v.t.Helper()
	before, verifying := v.client, v.verifying(l)
	v.client = verifying
	status, token := v.token(l.Access)
	if v.client = before; status != http.StatusOK {
		v.t.Fatalf("%s: the token endpoint answers %d %s", vim, status, token)
	}
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, l.Face.Endpoint+"/version", nil)
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := verifying.Do(r)
	if err != nil {
		v.t.Fatalf("%s: the cluster: %v", vim, err)
	}
	defer answer.Body.Close()
	if text, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusOK {
		v.t.Errorf("%s: the cluster answers %d %s", vim, answer.StatusCode, text)
	}
}

// refused asks for INSTANTIATE, and wants it refused with words, without any lease.
func (v *overTLS) refused(vim, id, words string, kube *fakekube.Server) {
	v.t.Helper()
	leases := func() int {
		l, err := v.api.Leases(v.t.Context(), client.LeaseQuery{})
		if err != nil {
			v.t.Fatal(err)
		}
		return len(l.Items)
	}
	accounts := func() int {
		return len(slices.DeleteFunc(kube.Names("serviceaccounts", ""), func(name string) bool { return !strings.HasPrefix(name, "vimbroker-") }))
	}
	rows, upstream := leases(), accounts()
	status, text := v.as(vim, "INSTANTIATE", id)
	if status < 400 || status >= 500 || !strings.Contains(text, words) || strings.Contains(text, "vbl_") {
		v.t.Errorf("INSTANTIATE on %s = %d %s, want it refused, with %q", vim, status, text, words)
	}
	if leases() != rows || accounts() != upstream {
		v.t.Errorf("INSTANTIATE on %s was refused: %d leases, %d accounts; before %d and %d", vim, leases(), accounts(), rows, upstream)
	}
}

// configure writes the server's configuration, which names its certificate and what else of oauth.
func (v *overTLS) configure(digest, certFile, oauth string) string {
	v.t.Helper()
	file := filepath.Join(v.home, "vimbroker.yaml")
	text := fmt.Sprintf(`
listen: %s
dataDir: %s
tls: {certFile: %q, keyFile: %q}
tokensFile: %q
oauth: {issuer: %q%s}
sol003: {enabled: true}
egress: {allowLoopback: true}
`, strings.TrimPrefix(v.broker, "https://"), filepath.Join(v.home, "data"), certFile, filepath.Join(v.home, "key.pem"), filepath.Join(v.home, "tokens.yaml"), v.broker, oauth)
	v.write("tokens.yaml", "tokens: [{name: admin, project: default, roles: [admin], sha256: "+digest+"}]\n")
	v.write("vimbroker.yaml", text)
	return file
}

func (v *overTLS) write(name, text string) string {
	v.t.Helper()
	file := filepath.Join(v.home, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		v.t.Fatal(err)
	}
	return file
}

// register registers clusters, each with a client of Tacker whose VNFs go there.
func (v *overTLS) register(vims map[string]v1.Registration) {
	v.t.Helper()
	for name, r := range vims {
		r.Name, r.Type, r.Namespace = name, "kubernetes", "default"
		if _, err := v.api.RegisterVIM(v.t.Context(), r, ""); err != nil {
			v.t.Fatal(err)
		}
		made, err := v.api.CreateOAuthClient(v.t.Context(), v1.OAuthClientRequest{
			Name: "tacker-" + name, Roles: []string{policy.RoleVNFM}, Placements: []v1.Placement{{VIM: name, Role: "edit", Namespaces: []string{"default"}}},
		})
		if err != nil {
			v.t.Fatal(err)
		}
		v.clients[name] = made
	}
}

// TestTackerOverTLS: Tacker verifies the cluster and the token endpoint by the one bundle that a grant
// holds, and neither without it. So there is a bundle, or no grant.
func TestTackerOverTLS(t *testing.T) {
	own, rooted, bare := fakekube.New(t, fakekube.Options{}), fakekube.New(t, fakekube.Options{}), fakekube.New(t, fakekube.Options{})
	v := &overTLS{tacker: &tacker{t: t, broker: "https://" + process.FreeAddress(t), url: "http://192.0.2.1"}, home: t.TempDir(), clients: map[string]v1.OAuthClientSecret{}}
	authority, err := pki.NewCA("authority of the broker")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Server("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	ca, leaf := v.write("ca.pem", string(authority.PEM)), v.write("leaf.pem", string(pair.Cert))
	chain := v.write("chain.pem", string(pair.Cert)+string(authority.PEM))
	key := v.write("key.pem", string(pair.Key))
	v.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool()}}
	token, digest := policy.NewToken()
	env := []string{"HOME=" + v.home, "SSL_CERT_FILE=" + v.write("roots.pem", rooted.CA), "SSL_CERT_DIR=" + t.TempDir()}
	bin := story.BuildWithFailpoints(t, t.TempDir())
	serve := func(certFile, oauth string) {
		t.Helper()
		config := v.configure(digest, certFile, oauth)
		if v.server, err = story.Serve(bin, v.home, env, "--config", config); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(v.server.Kill)
	}
	serve(chain, "")
	if v.api, err = client.New(client.Options{Addr: v.broker, Token: secret.NewText(token), CAFile: ca}); err != nil {
		t.Fatal(err)
	}
	with := func(kube *fakekube.Server) v1.Credential {
		return v1.Credential{Token: secret.NewText(kube.AdminToken)}
	}
	v.register(map[string]v1.Registration{
		"own":    {Endpoint: own.Endpoint, CACert: own.CA, Credential: with(own)},
		"rooted": {Endpoint: rooted.Endpoint, Credential: with(rooted)},
		"bare":   {Endpoint: bare.Endpoint, InsecureSkipVerify: true, Credential: with(bare)},
	})

	first := v.instantiates("own", "op-own")
	for vim, want := range map[string]string{"own": own.CA, "rooted": rooted.CA} {
		l := v.instantiates(vim, "op-"+vim)
		if l.Face.CA != want+string(authority.PEM) {
			t.Errorf("%s: ssl_ca_cert = %s, want the authority of the cluster and that of the broker", vim, l.Face.CA)
		}
		v.uses(vim, l)
	}
	v.refused("bare", "op-bare", "caCert", bare)

	// A certificate whose authority is in no file of the server.
	if err := v.server.Stop(); err != nil {
		t.Fatal(err)
	}
	serve(leaf, "")
	v.refused("own", "op-own-2", "oauth.caFile", own)
	if status, text := v.as("own", "INSTANTIATE", "op-own"); status < 400 || strings.Contains(text, first.Access.Password) {
		t.Errorf("a grant of before is answered with %d %s", status, text)
	}
	// The file may hold more than certificates; what is no certificate stays here.
	keyText, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	both := v.write("both.pem", string(keyText)+string(authority.PEM))
	v.configure(digest, leaf, fmt.Sprintf(", caFile: %q", both))
	if err := v.server.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if line, err := v.server.Log.Next(t.Context(), "the configuration is reloaded", "the configuration is not reloaded"); err != nil || !strings.Contains(line, "oauth.caFile") {
		t.Fatalf("reload: %s, %v", line, err)
	}
	again := v.instantiates("own", "op-own")
	if again != first {
		t.Errorf("the grant of before is now %+v, not %+v", again.Face, first.Face)
	}
	v.uses("own", again)
}
