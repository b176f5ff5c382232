package trust_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/policy"
)

// authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t}
	a.key = newKey(t)
	a.cert = a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: noon.AddDate(-1, 0, 0), NotAfter: noon.AddDate(9, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}, nil)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign signs for a key; nil is the authority's own.
func (a *authority) sign(cert *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	a.t.Helper()
	parent := a.cert
	if key == nil {
		parent, key = cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return made
}

// below is an authority that this one vouches for.
func (a *authority) below(name string) *authority {
	a.t.Helper()
	b := newAuthority(a.t, name)
	own := *b.cert
	b.cert = a.sign(&own, b.key)
	return b
}

// issue makes a good certificate for a workload, changed.
func (a *authority) issue(change func(*x509.Certificate)) *x509.Certificate {
	a.t.Helper()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(7), NotBefore: noon.Add(-time.Hour), NotAfter: noon.Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, KeyUsage: x509.KeyUsageDigitalSignature,
		URIs: []*url.URL{uri(a.t, "spiffe://acme/ns/jobs/sa/runner")},
	}
	if change != nil {
		change(c)
	}
	return a.sign(c, newKey(a.t))
}

func uri(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// revoke is a list that is good until a time.
func (a *authority) revoke(until time.Time, serials ...int64) string {
	a.t.Helper()
	list := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: noon.Add(-time.Hour), NextUpdate: until}
	for _, n := range serials {
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: big.NewInt(n), RevocationTime: noon.Add(-time.Minute)})
	}
	der, err := x509.CreateRevocationList(rand.Reader, list, a.cert, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der}))
}

func (a *authority) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}))
}

func TestCertificatesMakePrincipals(t *testing.T) {
	ours, other := newAuthority(t, "ours"), newAuthority(t, "other")
	upper := ours.below("upper")
	lower := upper.below("lower")
	mesh := trust.Authority{Name: "mesh", Certificates: &trust.Certificates{CA: ours.pem(), CRL: ours.revoke(noon.Add(time.Hour), 66)}, Principals: []trust.Mapping{
		{Match: map[string]string{"uri": "spiffe://acme/ns/jobs/*"}, Project: "acme", Roles: []string{"member"}},
		{Match: map[string]string{"dns": "ci.acme.example"}, Project: "acme", Roles: []string{"reader"}},
		{Match: map[string]string{"email": "*@acme.example"}, Project: "acme", Roles: []string{"reader"}},
	}}
	b := newBench(t, mesh)
	dns := func(names ...string) func(*x509.Certificate) {
		return func(c *x509.Certificate) { c.URIs, c.DNSNames = nil, names }
	}
	for what, c := range map[string]struct {
		chain []*x509.Certificate
		want  string
	}{
		"a workload":         {[]*x509.Certificate{ours.issue(nil)}, "cert:mesh:spiffe://acme/ns/jobs/sa/runner"},
		"a host":             {[]*x509.Certificate{ours.issue(dns("ci.acme.example"))}, "cert:mesh:ci.acme.example"},
		"a person":           {[]*x509.Certificate{ours.issue(func(c *x509.Certificate) { c.URIs, c.EmailAddresses = nil, []string{"a@acme.example"} })}, "cert:mesh:a@acme.example"},
		"another authority":  {[]*x509.Certificate{other.issue(nil)}, "no authority of the table has signed it"},
		"a forged authority": {[]*x509.Certificate{newAuthority(t, "ours").issue(nil)}, "no authority of the table has signed it"},
		"for servers":        {[]*x509.Certificate{ours.issue(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} })}, "certificate is not for clients"},
		"an authority's own": {[]*x509.Certificate{ours.cert}, "good for longer than maxLife"},
		"expired":            {[]*x509.Certificate{ours.issue(func(c *x509.Certificate) { c.NotAfter = noon.Add(-time.Second) })}, "expired"},
		"from tomorrow":      {[]*x509.Certificate{ours.issue(func(c *x509.Certificate) { c.NotBefore, c.NotAfter = noon.Add(time.Hour), noon.Add(2*time.Hour) })}, "not valid yet"},
		"for a year":         {[]*x509.Certificate{ours.issue(func(c *x509.Certificate) { c.NotAfter = noon.AddDate(1, 0, 0) })}, "good for longer than maxLife"},
		"revoked":            {[]*x509.Certificate{ours.issue(func(c *x509.Certificate) { c.SerialNumber = big.NewInt(66) })}, "certificate revoked"},
		"two URIs":           {[]*x509.Certificate{ours.issue(func(c *x509.Certificate) { c.URIs = append(c.URIs, uri(t, "spiffe://acme/ns/jobs/sa/admin")) })}, "certificate without one name, or with several"},
		"two hosts":          {[]*x509.Certificate{ours.issue(dns("ci.acme.example", "x.acme.example"))}, "certificate without one name, or with several"},
		"no name":            {[]*x509.Certificate{ours.issue(dns())}, "certificate without one name, or with several"},
		"below two":          {[]*x509.Certificate{lower.issue(nil), lower.cert, upper.cert}, "cert:mesh:spiffe://acme/ns/jobs/sa/runner"},
		"below two, turned":  {[]*x509.Certificate{lower.issue(nil), upper.cert, lower.cert}, "cert:mesh:spiffe://acme/ns/jobs/sa/runner"},
		"below one missing":  {[]*x509.Certificate{lower.issue(nil), lower.cert}, "no authority of the table has signed it"},
		"another name":       {[]*x509.Certificate{ours.issue(dns("x.acme.example"))}, "no rule matches its claims"},
		"a name of another kind": {[]*x509.Certificate{ours.issue(func(c *x509.Certificate) {
			c.URIs, c.DNSNames = []*url.URL{uri(t, "spiffe://evil/x")}, []string{"ci.acme.example"}
		})}, "cert:mesh:spiffe://evil/x"},
	} {
		p, err := b.Certified(oauth.WithPeer(t.Context(), c.chain))
		got := p.Name
		if err != nil {
			got = reasonOf(err)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
	if _, err := b.Certified(t.Context()); !errors.Is(err, policy.ErrUnauthenticated) || errors.As(err, new(*policy.RefusedLogin)) {
		t.Errorf("no certificate: %v, want a refusal without a word", err)
	}
	for stranger, want := range map[bool]string{true: "Client-Cert from an address that is no trusted proxy's", false: "Client-Cert in no valid form"} {
		if _, err := b.Certified(trust.WithFault(oauth.WithPeer(t.Context(), []*x509.Certificate{ours.issue(nil)}), stranger)); reasonOf(err) != want {
			t.Errorf("a fault (%v): %v", stranger, fmt.Sprint(err))
		}
	}
	// Of several entries of one authority the first that takes the certificate counts, and the last that knows it says why none does.
	hosts, people := mesh, mesh
	hosts.Name, hosts.Principals = "hosts", mesh.Principals[1:2]
	people.Name, people.Principals = "people", mesh.Principals[2:]
	for want, order := range map[string][]trust.Authority{
		"cert:mesh:spiffe://acme/ns/jobs/sa/runner": {hosts, mesh}, "cert:mesh:spiffe://acme/ns/jobs/sa/runner ": {hosts, people, mesh},
		"no rule matches its claims": {hosts, people},
	} {
		b.use(order...)
		p, err := b.Certified(oauth.WithPeer(t.Context(), []*x509.Certificate{ours.issue(nil)}))
		got := p.Name
		if err != nil {
			got = reasonOf(err)
		}
		if got != strings.TrimSpace(want) {
			t.Errorf("%d entries of one authority: %q, want %q", len(order), got, want)
		}
	}
	// Of several lists of one authority each counts, in whatever order: one may be for other certificates than the next.
	for _, lists := range [][]int64{{66, 67}, {67, 66}} {
		mesh.Certificates = &trust.Certificates{CA: ours.pem(), CRL: ours.revoke(noon.Add(time.Hour), lists[0]) + ours.revoke(noon.Add(time.Hour), lists[1])}
		b.use(mesh)
		for serial, want := range map[int64]string{66: "certificate revoked", 67: "certificate revoked", 68: ""} {
			leaf := ours.issue(func(c *x509.Certificate) { c.SerialNumber = big.NewInt(serial) })
			if _, err := b.Certified(oauth.WithPeer(t.Context(), []*x509.Certificate{leaf})); (err == nil) != (want == "") || err != nil && reasonOf(err) != want {
				t.Errorf("%d, where one list has %d and the next %d: %v, want %q", serial, lists[0], lists[1], err, want)
			}
		}
	}
	mesh.Certificates = &trust.Certificates{CA: ours.pem(), CRL: ours.revoke(noon.Add(-time.Second))}
	b.use(mesh)
	if _, err := b.Certified(oauth.WithPeer(t.Context(), []*x509.Certificate{ours.issue(nil)})); reasonOf(err) != "the list of revoked certificates has expired" {
		t.Errorf("with a list that has expired: %v", err)
	}
}
