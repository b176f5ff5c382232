package script

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/spiffe/go-spiffe/v2/bundle/jwtbundle"
	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/svid/jwtsvid"
	"github.com/spiffe/go-spiffe/v2/svid/x509svid"

	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real/pki"
	"github.com/vimbroker/vimbroker/test/story"
)

// trustDomain is one of SPIFFE, with the keys of its JWT-SVIDs.
type trustDomain struct {
	t    *testing.T
	name spiffeid.TrustDomain
	ca   *pki.CA
	key  *ecdsa.PrivateKey
	url  string // issuer of its JWT-SVIDs
}

func newTrustDomain(t *testing.T) *trustDomain {
	t.Helper()
	d := &trustDomain{t: t, name: spiffeid.RequireTrustDomainFromString("acme.example")}
	var err error
	if d.ca, err = pki.NewCA("acme.example"); err != nil {
		t.Fatal(err)
	}
	if d.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: d.key.Public(), KeyID: "k1", Algorithm: "ES256", Use: "sig"}}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			_ = json.NewEncoder(w).Encode(set)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": d.url, "jwks_uri": d.url + "/keys"})
	}))
	t.Cleanup(s.Close)
	d.url = s.URL
	return d
}

// certificate makes an X.509-SVID, which go-spiffe takes for one.
func (d *trustDomain) certificate(path string) pki.Pair {
	d.t.Helper()
	pair, err := d.ca.Workload(d.name.IDString()+path, time.Now().Add(time.Hour))
	if err != nil {
		d.t.Fatal(err)
	}
	held, err := pair.TLS()
	if err != nil {
		d.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(held.PrivateKey)
	if err != nil {
		d.t.Fatal(err)
	}
	svid, err := x509svid.ParseRaw(held.Certificate[0], private)
	if err != nil {
		d.t.Fatalf("go-spiffe reads no X.509-SVID: %v", err)
	}
	bundle, err := x509bundle.Parse(d.name, d.ca.PEM)
	if err != nil {
		d.t.Fatal(err)
	}
	if id, _, err := x509svid.Verify(svid.Certificates, bundle); err != nil || id.String() != d.name.IDString()+path {
		d.t.Fatalf("go-spiffe takes no X.509-SVID: %s, %v", id, err)
	}
	return pair
}

// token makes a JWT-SVID, which go-spiffe takes for one.
func (d *trustDomain) token(path, audience string) string {
	d.t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: d.key, KeyID: "k1"}}, new(jose.SignerOptions).WithType("JWT"))
	if err != nil {
		d.t.Fatal(err)
	}
	now := time.Now().Unix()
	text := fmt.Sprintf(`{"iss":%q,"sub":%q,"aud":[%q],"iat":%d,"exp":%d}`, d.url, d.name.IDString()+path, audience, now, now+300)
	signed, err := signer.Sign([]byte(text))
	if err != nil {
		d.t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		d.t.Fatal(err)
	}
	bundle := jwtbundle.FromJWTAuthorities(d.name, map[string]crypto.PublicKey{"k1": d.key.Public()})
	if svid, err := jwtsvid.ParseAndValidate(token, bundle, []string{audience}); err != nil || svid.ID.String() != d.name.IDString()+path {
		d.t.Fatalf("go-spiffe takes no JWT-SVID: %v", err)
	}
	return token
}

// A workload of SPIFFE comes in by its X.509-SVID or its JWT-SVID, with the entries of docs/callers.md that an
// administrator types, and leases a VIM; no secret was given to it.
func TestWorkloadsComeInBySVIDs(t *testing.T) {
	d := newTrustDomain(t)
	cert, key := story.ServerCertificate(t)
	s := story.NewSite(t, story.BuildWithFailpoints(t, t.TempDir()), fmt.Sprintf("tls: {certFile: %s, keyFile: %s}\n", cert, key))
	addr := ""
	for i, v := range s.Env {
		if at, is := strings.CutPrefix(v, "VIMBROKER_ADDR="); is {
			addr = strings.Replace(at, "http://", "https://", 1)
			s.Env[i] = "VIMBROKER_ADDR=" + addr
		}
	}
	s.Env = append(s.Env, "VIMBROKER_CA_FILE="+cert)
	s.Write(t, "root/ca.pem", string(d.ca.PEM))
	s.Write(t, "root/mesh.yaml", `name: mesh
certificates: {caFile: ca.pem}
principals:
  - {match: {uri: "spiffe://acme.example/ns/jobs/*"}, project: default, roles: [member]}
`)
	s.Write(t, "root/spire.yaml", fmt.Sprintf(`name: spire
issuer: %s
principals:
  - {match: {sub: "spiffe://acme.example/ns/jobs/*"}, project: default, roles: [member]}
`, d.url))
	s.Write(t, "root/kubeconfig", fakekube.New(t, fakekube.Options{}).Kubeconfig())
	for name, pair := range map[string]pki.Pair{"runner": d.certificate("/ns/jobs/sa/runner"), "web": d.certificate("/ns/web/sa/front")} {
		s.Write(t, "root/"+name+".crt", string(pair.Cert))
		s.Write(t, "root/"+name+".key", string(pair.Key))
	}
	s.Write(t, "root/runner.jwt", d.token("/ns/jobs/sa/runner", "vimbroker"))
	s.Write(t, "root/other.jwt", d.token("/ns/jobs/sa/runner", "another"))
	as := func(name string) string {
		return "env -u VIMBROKER_TOKEN_FILE VIMBROKER_CLIENT_CERT_FILE=" + name + ".crt VIMBROKER_CLIENT_KEY_FILE=" + name + ".key "
	}
	for _, step := range []struct {
		line string
		code int
		want string
	}{
		{"vimbroker vim register --kubeconfig kubeconfig edge", 0, ""},
		{as("runner") + "vimbroker whoami", 1, "token"},
		{"vimbroker trust create mesh.yaml", 0, "certificates"},
		{"vimbroker trust create spire.yaml", 0, d.url},
		{as("runner") + "vimbroker whoami", 0, "cert:mesh:spiffe://acme.example/ns/jobs/sa/runner"},
		{as("runner") + "vimbroker exec --vim edge --role view -n default -- true", 0, ""},
		{as("web") + "vimbroker whoami", 1, "token"},
		{"vimbroker --token-file runner.jwt whoami", 0, "oidc:spire:spiffe://acme.example/ns/jobs/sa/runner"},
		{"vimbroker --token-file runner.jwt exec --vim edge --role view -n default -- true", 0, ""},
		{"vimbroker policy test --jwt other.jwt", 1, "audience is another"},
		{"vimbroker --token-file other.jwt whoami", 1, ""},
		{"vimbroker audit list -o json", 0, "no rule matches its claims"},
		{"vimbroker trust delete mesh", 0, ""},
		{as("runner") + "vimbroker whoami", 1, ""},
	} {
		r := s.Try(t, step.line)
		if said := r.Stdout + r.Stderr; r.Code != step.code && !(step.code == 1 && r.Code > 1) || !strings.Contains(said, step.want) {
			t.Errorf("%s = %d, want %d and %q\n%s", step.line, r.Code, step.code, step.want, said)
		}
	}
}
