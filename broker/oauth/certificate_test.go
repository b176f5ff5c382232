package oauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/policy"
)

// authority signs certificates of clients.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign makes a certificate; above nil signs itself.
func sign(t *testing.T, of *x509.Certificate, key *ecdsa.PrivateKey, above *authority) *x509.Certificate {
	t.Helper()
	if above == nil {
		above = &authority{cert: of, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, of, above.cert, key.Public(), above.key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func newAuthority(t *testing.T, name string, now time.Time, above *authority) *authority {
	t.Helper()
	key := newKey(t)
	return &authority{key: key, cert: sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(1000 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, key, above)}
}

// issue makes a certificate of a client, which change alters before it is signed.
func (a *authority) issue(t *testing.T, now time.Time, change func(*x509.Certificate)) *x509.Certificate {
	t.Helper()
	made := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "tacker", Organization: []string{"Acme, Inc."}},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(made)
	}
	return sign(t, made, newKey(t), a)
}

const tackersName = `CN=tacker,O=Acme\, Inc.`

func bySubject(name string) oauth.Certificate {
	return oauth.Certificate{Kind: oauth.SubjectDN, Name: name}
}

// coinFor is coin with an authority of clients.
func coinFor(t *testing.T) (*mint, *authority) {
	t.Helper()
	m := coin(t)
	a := newAuthority(t, "clients", m.clock.Now(), nil)
	m.roots = x509.NewCertPool()
	m.roots.AddCert(a.cert)
	return m, a
}

// certified registers a client that logs in by a certificate.
func (m *mint) certified(t *testing.T, name string, by oauth.Certificate) oauth.Client {
	t.Helper()
	c, plain, err := m.Create(t.Context(), keeper, oauth.NewClient{Name: name, Roles: []string{"vnfm"}, Certificate: by})
	if err != nil || !plain.Empty() || c.SHA256 != "" {
		t.Fatalf("Create = %+v, a secret: %t, %v", c, !plain.Empty(), err)
	}
	return c
}

func TestAClientLogsInByTheCertificateOfItsName(t *testing.T) {
	m, a := coinFor(t)
	now := m.clock.Now()
	c := m.certified(t, "tacker", bySubject(tackersName))
	between := newAuthority(t, "between", now, a)
	below := newAuthority(t, "below", now, between)
	stranger := newAuthority(t, "clients", now, nil)
	right := a.issue(t, now, nil)
	for what, shown := range map[string]struct {
		chain []*x509.Certificate
		taken bool
	}{
		"the right one":                       {[]*x509.Certificate{right}, true},
		"one that was renewed":                {[]*x509.Certificate{a.issue(t, now, nil)}, true},
		"one of an authority between":         {[]*x509.Certificate{between.issue(t, now, nil), between.cert}, true},
		"one below two authorities":           {[]*x509.Certificate{below.issue(t, now, nil), below.cert, between.cert}, true},
		"one below two, in another order":     {[]*x509.Certificate{below.issue(t, now, nil), between.cert, below.cert}, true},
		"one of an authority that is missing": {[]*x509.Certificate{between.issue(t, now, nil)}, false},
		"none":                                {nil, false},
		"another authority's":                 {[]*x509.Certificate{stranger.issue(t, now, nil)}, false},
		"another authority's, which it brings": {
			[]*x509.Certificate{stranger.issue(t, now, nil), stranger.cert}, false,
		},
		"an expired one":  {[]*x509.Certificate{a.issue(t, now, func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Minute) })}, false},
		"a future one":    {[]*x509.Certificate{a.issue(t, now, func(c *x509.Certificate) { c.NotBefore = now.Add(time.Minute) })}, false},
		"one of a server": {[]*x509.Certificate{a.issue(t, now, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} })}, false},
		"another's":       {[]*x509.Certificate{a.issue(t, now, func(c *x509.Certificate) { c.Subject.CommonName = "tacker2" })}, false},
		"more of a name":  {[]*x509.Certificate{a.issue(t, now, func(c *x509.Certificate) { c.Subject.OrganizationalUnit = []string{"x"} })}, false},
		"a name with tricks": {
			[]*x509.Certificate{a.issue(t, now, func(c *x509.Certificate) { c.Subject = pkix.Name{CommonName: `tacker,O=Acme\, Inc.`} })}, false,
		},
		"the right one behind another's": {[]*x509.Certificate{a.issue(t, now, func(c *x509.Certificate) { c.Subject.CommonName = "x" }), right}, false},
		"a name elsewhere": {[]*x509.Certificate{a.issue(t, now, func(c *x509.Certificate) {
			c.Subject, c.DNSNames = pkix.Name{}, []string{"tacker"}
		})}, false},
	} {
		token, err := m.Issue(oauth.WithPeer(t.Context(), shown.chain), c.ID, "")
		if shown.taken != (err == nil) || !shown.taken && !errors.Is(err, policy.ErrUnauthenticated) {
			t.Errorf("%s: Issue = %v, want a token: %t", what, err, shown.taken)
		}
		if err == nil {
			m.known(token)
		}
	}
	if strings.Count(m.log.String(), "the certificate of a client is refused") != 12 {
		t.Errorf("the log does not say why each was refused:\n%s", m.log)
	}
	ctx := oauth.WithPeer(t.Context(), []*x509.Certificate{right})
	if _, err := m.Issue(ctx, c.ID, "vbc_x"); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("with a secret besides: %v", err)
	}
	other, _ := m.create(t, keeper, "other", "vnfm")
	if _, err := m.Issue(ctx, other.ID, ""); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("as a client with a secret: %v", err)
	}
	m.roots = nil
	if _, err := m.Issue(ctx, c.ID, ""); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("without authorities: %v", err)
	}
}

// A token for a certificate counts over connections with that certificate, and ends with its name.
func TestATokenIsBoundToTheCertificate(t *testing.T) {
	m, a := coinFor(t)
	c := m.certified(t, "tacker", bySubject(tackersName))
	mine, renewed := a.issue(t, m.clock.Now(), nil), a.issue(t, m.clock.Now(), nil)
	with := func(chain ...*x509.Certificate) func(string) error {
		return func(token string) error {
			_, err := m.Tokens.Authenticate(oauth.WithPeer(t.Context(), chain), token)
			return err
		}
	}
	issue := func(cert *x509.Certificate) string {
		t.Helper()
		token, err := m.Issue(oauth.WithPeer(t.Context(), []*x509.Certificate{cert}), c.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		return m.known(token)
	}
	token := issue(mine)
	if err := with(mine)(token); err != nil {
		t.Errorf("with the certificate: %v", err)
	}
	for what, err := range map[string]error{
		"with none": with()(token), "with a renewed one": with(renewed)(token), "behind another": with(renewed, mine)(token),
	} {
		if !errors.Is(err, policy.ErrUnauthenticated) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, _, err := m.Rotate(t.Context(), keeper, c.ID, oauth.Rotation{Certificate: bySubject("CN=other")}); err != nil {
		t.Fatal(err)
	}
	if err := with(mine)(token); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("under another name: %v", err)
	}
	if _, _, err := m.Rotate(t.Context(), keeper, c.ID, oauth.Rotation{Certificate: bySubject(tackersName), RevokeLeases: true}); err != nil {
		t.Fatal(err)
	}
	if len(m.leases.revoked) != 1 {
		t.Errorf("revoked: %q", m.leases.revoked)
	}
	token = issue(mine)
	if err := m.Delete(t.Context(), keeper, c.ID); err != nil {
		t.Fatal(err)
	}
	if err := with(mine)(token); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("of a client that is gone: %v", err)
	}
}

// A client with a secret changes over to a certificate, its secret being taken for a while.
func TestAClientChangesOverToACertificate(t *testing.T) {
	m, a := coinFor(t)
	c, plain := m.create(t, keeper, "tacker", "vnfm")
	bySecret := m.issue(t, c.ID, plain)
	shown := oauth.WithPeer(t.Context(), []*x509.Certificate{a.issue(t, m.clock.Now(), nil)})
	hour := time.Hour
	stored, fresh, err := m.Rotate(t.Context(), keeper, c.ID, oauth.Rotation{Certificate: bySubject(tackersName), Overlap: &hour})
	if err != nil || !fresh.Empty() || stored.SHA256 != "" || stored.PreviousSHA256 == "" {
		t.Fatalf("Rotate = %+v, a secret: %t, %v", stored, !fresh.Empty(), err)
	}
	if _, err := m.Issue(shown, c.ID, ""); err != nil {
		t.Errorf("by certificate: %v", err)
	}
	m.wantTaken(t, "a token for the secret before", true, bySecret)
	m.wantTaken(t, "another for the secret before", true, m.issue(t, c.ID, plain))
	bad := new(broker.Error)
	if _, _, err := m.Rotate(t.Context(), keeper, c.ID, oauth.Rotation{}); !errors.As(err, &bad) || bad.Field != "certificate" {
		t.Errorf("Rotate without a name = %v", err)
	}
	m.clock.Add(hour)
	if _, err := m.Issue(t.Context(), c.ID, plain); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("the secret before, behind its end: %v", err)
	}
	again, _, err := m.Rotate(t.Context(), keeper, c.ID, oauth.Rotation{Certificate: bySubject("CN=next")})
	if err != nil || again.PreviousSHA256 != "" || !again.PreviousUntil.IsZero() {
		t.Errorf("Rotate to another name = %+v, %v: a secret before that nobody has", again, err)
	}
}

// At the token endpoint of leases a client that shows a certificate shows its own.
func TestAShownCertificateIsConfirmed(t *testing.T) {
	m, a := coinFor(t)
	c := m.certified(t, "tacker", bySubject(tackersName))
	withSecret, _ := m.create(t, keeper, "other", "vnfm")
	right := []*x509.Certificate{a.issue(t, m.clock.Now(), nil)}
	wrong := []*x509.Certificate{a.issue(t, m.clock.Now(), func(c *x509.Certificate) { c.Subject.CommonName = "x" })}
	for what, one := range map[string]struct {
		chain []*x509.Certificate
		id    string
		fine  bool
	}{
		"its own": {right, c.ID, true}, "another": {wrong, c.ID, false}, "none": {nil, c.ID, true},
		"another, under the id in capitals": {wrong, strings.ToUpper(c.ID), false},
		"one of a client with a secret":     {wrong, withSecret.ID, true}, "one of nobody": {wrong, "nobody", true},
	} {
		err := m.Confirm(oauth.WithPeer(t.Context(), one.chain), one.id)
		if one.fine != (err == nil) || !one.fine && !errors.Is(err, policy.ErrUnauthenticated) {
			t.Errorf("%s: %v, want it to be fine: %t", what, err, one.fine)
		}
	}
}

func TestNamesOfCertificates(t *testing.T) {
	m, a := coinFor(t)
	leaf := a.issue(t, m.clock.Now(), func(c *x509.Certificate) {
		c.DNSNames, c.EmailAddresses = []string{"tacker.acme.example"}, []string{"ops@acme.example"}
		c.IPAddresses = []net.IP{net.ParseIP("192.0.2.7"), net.ParseIP("2001:db8::7")}
		c.URIs = []*url.URL{{Scheme: "spiffe", Host: "acme", Path: "/tacker"}}
	})
	names := func(kind oauth.NameKind, all ...string) (out []oauth.Certificate) {
		for _, name := range all {
			out = append(out, oauth.Certificate{Kind: kind, Name: name})
		}
		return out
	}
	ctx := oauth.WithPeer(t.Context(), []*x509.Certificate{leaf})
	logIn := func(by oauth.Certificate) error {
		t.Helper()
		c := m.certified(t, "one", by)
		_, err := m.Issue(ctx, c.ID, "")
		if err := m.Delete(t.Context(), keeper, c.ID); err != nil {
			t.Fatal(err)
		}
		return err
	}
	for _, by := range append(append(append(append(names(oauth.SubjectDN, tackersName),
		names(oauth.SANDNS, "tacker.acme.example", "TACKER.acme.example")...), names(oauth.SANEmail, "ops@acme.example")...),
		names(oauth.SANIP, "192.0.2.7", "2001:db8:0::7", "::ffff:192.0.2.7")...), names(oauth.SANURI, "spiffe://acme/tacker")...) {
		if err := logIn(by); err != nil {
			t.Errorf("%s is not taken: %v", by, err)
		}
	}
	for _, by := range append(append(append(append(names(oauth.SubjectDN, "CN=Tacker,O=Acme\\, Inc.", "CN=tacker", "O=Acme\\, Inc.,CN=tacker"),
		names(oauth.SANDNS, "acme.example", "*.acme.example", "192.0.2.7")...), names(oauth.SANEmail, "OPS@acme.example")...),
		names(oauth.SANIP, "192.0.2.8")...), names(oauth.SANURI, "spiffe://acme/tacker/")...) {
		if err := logIn(by); !errors.Is(err, policy.ErrUnauthenticated) {
			t.Errorf("%s is taken: %v", by, err)
		}
	}
	for _, by := range append(append(append(names(oauth.SubjectDN, "", "tacker", "/CN=tacker/O=Acme", "cn=tacker", `CN=M\C3\BCller`, "title=Dr", "CN=tacker,", "CN=a<b", "2.5.4.12=Dr", "CN=tacker, O=Acme", "CN=\n", "CN="+strings.Repeat("x", 1024)),
		names(oauth.SANIP, "tacker", "192.0.2.0/24")...), names(oauth.SANURI, "tacker", "")...), names("", "CN=a")...) {
		bad := new(broker.Error)
		if _, _, err := m.Create(t.Context(), keeper, oauth.NewClient{Name: "one", Roles: []string{"vnfm"}, Certificate: by}); !errors.As(err, &bad) ||
			!errors.Is(err, broker.ErrInvalid) || bad.Field != "certificate" {
			t.Errorf("Create with %q = %v", by, err)
		}
	}
	m.roots = nil
	if _, _, err := m.Create(t.Context(), keeper, oauth.NewClient{Name: "one", Roles: []string{"vnfm"}, Certificate: bySubject(tackersName)}); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("Create at a server without authorities = %v", err)
	}
}

// Subjects are written as openssl writes them, with the attributes that authorities of companies use.
func TestSubjectsAreWrittenAsPeopleReadThem(t *testing.T) {
	m, a := coinFor(t)
	attribute := func(value string, oid ...int) pkix.AttributeTypeAndValue {
		return pkix.AttributeTypeAndValue{Type: oid, Value: value}
	}
	component := func(value string) pkix.AttributeTypeAndValue {
		return attribute(value, 0, 9, 2342, 19200300, 100, 1, 25)
	}
	subject, err := asn1.Marshal(pkix.RDNSequence{
		{component("example")},
		{component("acme")},
		{attribute("Müller, Söhne", 2, 5, 4, 10)},
		{attribute("77", 2, 5, 4, 5)},
		{attribute("tacker", 2, 5, 4, 3), attribute("t1", 0, 9, 2342, 19200300, 100, 1, 1)},
		{attribute("a@b.example", 1, 2, 840, 113549, 1, 9, 1)},
		{attribute("Dr", 2, 5, 4, 12)},
	})
	if err != nil {
		t.Fatal(err)
	}
	leaf := a.issue(t, m.clock.Now(), func(c *x509.Certificate) { c.RawSubject = subject })
	// All but the first as openssl x509 -subject -nameopt RFC2253,-esc_msb has it.
	const want = `2.5.4.12=#13024472,emailAddress=a@b.example,UID=t1+CN=tacker,serialNumber=77,O=Müller\, Söhne,DC=acme,DC=example`
	if got := oauth.Subject(leaf); got != want {
		t.Errorf("Subject = %s, want %s", got, want)
	}
	c := m.certified(t, "one", bySubject(want))
	if _, err := m.Issue(oauth.WithPeer(t.Context(), []*x509.Certificate{leaf}), c.ID, ""); err != nil {
		t.Errorf("Issue = %v", err)
	}
}

// canaryName stands in certificates that anybody may have made: it is in no log.
const canaryName = "canary-7c1e"

// The log says why a certificate is refused, and repeats nothing of one that no authority of ours answers for.
func TestTheLogRepeatsNoForeignCertificate(t *testing.T) {
	m, a := coinFor(t)
	now := m.clock.Now()
	c := m.certified(t, "tacker", bySubject(tackersName))
	named := func(c *x509.Certificate) {
		c.Subject, c.DNSNames = pkix.Name{CommonName: canaryName, Organization: []string{canaryName}}, []string{canaryName + ".example"}
	}
	stranger := newAuthority(t, canaryName, now, nil)
	noSigner := &authority{key: newKey(t)}
	noSigner.cert = sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: canaryName}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), BasicConstraintsValid: true,
	}, noSigner.key, a)
	bounded := &authority{key: newKey(t)}
	bounded.cert = sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(4), Subject: pkix.Name{CommonName: "bounded"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, PermittedDNSDomainsCritical: true, PermittedDNSDomains: []string{"inside"},
	}, bounded.key, a)
	for what, of := range map[string]struct {
		chain []*x509.Certificate
		why   string
	}{
		"a stranger's": {[]*x509.Certificate{stranger.issue(t, now, named), stranger.cert}, "no authority"},
		"one that looks like it": {
			[]*x509.Certificate{newAuthority(t, "clients", now, nil).issue(t, now, named)}, "no authority",
		},
		"of one that may not sign": {[]*x509.Certificate{noSigner.issue(t, now, named), noSigner.cert}, "does not fit"},
		"outside of its bounds":    {[]*x509.Certificate{bounded.issue(t, now, named), bounded.cert}, "may not sign"},
		"expired":                  {[]*x509.Certificate{a.issue(t, now, func(c *x509.Certificate) { named(c); c.NotAfter = now.Add(-time.Minute) })}, "has expired"},
		"of a server":              {[]*x509.Certificate{a.issue(t, now, func(c *x509.Certificate) { named(c); c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} })}, "not for clients"},
	} {
		m.log.Reset()
		if _, err := m.Issue(oauth.WithPeer(t.Context(), of.chain), c.ID, ""); !errors.Is(err, policy.ErrUnauthenticated) || strings.Contains(err.Error(), canaryName) {
			t.Errorf("%s: Issue = %v", what, err)
		}
		if text := m.log.String(); !strings.Contains(text, of.why) || strings.Contains(text, canaryName) {
			t.Errorf("%s: the log says %s, want %q and no name", what, text, of.why)
		}
	}
	// The name of one that an authority of ours signed helps, and is bounded.
	m.log.Reset()
	long := a.issue(t, now, func(c *x509.Certificate) { c.Subject = pkix.Name{CommonName: strings.Repeat("x", 60_000)} })
	if _, err := m.Issue(oauth.WithPeer(t.Context(), []*x509.Certificate{long}), c.ID, ""); !errors.Is(err, policy.ErrUnauthenticated) || m.log.Len() > 4096 || !strings.Contains(m.log.String(), "xxx") {
		t.Errorf("Issue = %v; the log has %d bytes", err, m.log.Len())
	}
}

// Where the server has no authority of clients none of their certificates counts: the system's do not either.
func TestWithoutAuthoritiesNoCertificateCounts(t *testing.T) {
	m, a := coinFor(t)
	c := m.certified(t, "tacker", bySubject(tackersName))
	right := oauth.WithPeer(t.Context(), []*x509.Certificate{a.issue(t, m.clock.Now(), nil)})
	m.roots = nil
	file := filepath.Join(t.TempDir(), "roots.pem") // the system's, as Go reads them
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", file)
	if _, err := m.Issue(right, c.ID, ""); !errors.Is(err, policy.ErrUnauthenticated) || !strings.Contains(m.log.String(), "the server takes none") {
		t.Errorf("Issue = %v, %s", err, m.log)
	}
}

// A client that is to change over from its secret to a certificate keeps the secret through repeats, until it has
// logged in with the certificate.
func TestAChangeToACertificateIsRepeated(t *testing.T) {
	m, a := coinFor(t)
	c, plain := m.create(t, keeper, "tacker", "vnfm")
	shows := oauth.WithPeer(t.Context(), []*x509.Certificate{a.issue(t, m.clock.Now(), nil)})
	rotate := func() {
		t.Helper()
		if _, _, err := m.Rotate(t.Context(), keeper, c.ID, oauth.Rotation{Certificate: bySubject(tackersName)}); err != nil {
			t.Fatal(err)
		}
	}
	rotate()
	rotate()
	m.wantIn(t, "the secret in use", true, c.ID, plain)
	if _, err := m.Clients.Authenticate(shows, c.ID, ""); err != nil {
		t.Fatal(err)
	}
	m.wantIn(t, "the secret while it changes over", true, c.ID, plain)
	rotate()
	m.wantIn(t, "the secret once the certificate was used", false, c.ID, plain)
}
