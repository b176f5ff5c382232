package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"errors"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Certificate says which certificate a client logs in with: one that an authority of the server
// signed, and that has a name (RFC 8705 section 2.1.2). In its place stand the client's public keys where it
// signs assertions ([JWKS]). The zero value is none.
type Certificate struct {
	Kind NameKind `json:"kind,omitempty"`
	// Name is compared with the certificate's byte by byte; the name of a host without regard to
	// case.
	Name string `json:"name,omitempty"`
}

// NameKind says where in a certificate a name stands.
type NameKind string

// The kinds of names, as RFC 8705 section 2.1.2 calls them.
const (
	// SubjectDN is the subject, as [Subject] writes it.
	SubjectDN NameKind = "subject_dn"
	SANDNS    NameKind = "san_dns"
	SANURI    NameKind = "san_uri"
	SANIP     NameKind = "san_ip"
	SANEmail  NameKind = "san_email"
	// JWKS is no name: the text is a JWK set, and the client logs in by assertions that it signs (RFC 7523).
	JWKS NameKind = "jwks"
)

const maxCertificateName = 1024

func (c Certificate) None() bool { return c == Certificate{} }

// String is kind and name.
func (c Certificate) String() string {
	if c.None() {
		return ""
	}
	return string(c.Kind) + ":" + c.Name
}

func (c Certificate) check() error {
	wrong := func(why string) error { return broker.Invalid("certificate", "%s", why) }
	if c.Kind == JWKS {
		_, err := publicKeys(c.Name)
		return err
	}
	if c.Name == "" || len(c.Name) > maxCertificateName || strings.ContainsFunc(c.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return broker.Invalid("certificate", "must be a name of 1 to %d printable characters", maxCertificateName)
	}
	switch c.Kind {
	case SubjectDN:
		if !subjectForm().MatchString(c.Name) { // no certificate would have it
			return &broker.Error{
				Kind: broker.ErrInvalid, Field: "certificate",
				Detail: "must have its subject in the form of RFC 4514, such as CN=tacker,O=Acme, without spaces behind the commas",
				Remedy: "take what openssl x509 -noout -subject -nameopt RFC2253,-esc_msb prints, and for attributes but " +
					strings.Join(attributeNames(), ", ") + " a subject alternative name",
			}
		}
	case SANDNS, SANEmail:
	case SANURI:
		if u, err := url.Parse(c.Name); err != nil || u.Scheme == "" {
			return wrong("must have an absolute URI")
		}
	case SANIP:
		if _, err := netip.ParseAddr(c.Name); err != nil {
			return wrong("must have an IP address")
		}
	default:
		return wrong("must have a name of one kind")
	}
	return nil
}

func (c Certificate) names(leaf *x509.Certificate) bool {
	switch c.Kind {
	case SubjectDN:
		return c.Name != "" && c.Name == Subject(leaf)
	case SANDNS:
		return slices.ContainsFunc(leaf.DNSNames, func(name string) bool { return strings.EqualFold(name, c.Name) })
	case SANEmail:
		return slices.Contains(leaf.EmailAddresses, c.Name)
	case SANURI:
		return slices.ContainsFunc(leaf.URIs, func(u *url.URL) bool { return u.String() == c.Name })
	case SANIP:
		want, err := netip.ParseAddr(c.Name)
		return err == nil && slices.ContainsFunc(leaf.IPAddresses, func(ip net.IP) bool {
			has, ok := netip.AddrFromSlice(ip)
			return ok && has.Unmap() == want.Unmap()
		})
	}
	return false
}

// Subject is the subject of a certificate in the form of RFC 4514, as openssl writes it: the last
// part first, characters that are not ASCII unchanged, and attributes that are not in
// [attributes] as OID=#hex.
func Subject(leaf *x509.Certificate) string {
	var parts pkix.RDNSequence
	if rest, err := asn1.Unmarshal(leaf.RawSubject, &parts); err != nil || len(rest) > 0 {
		return ""
	}
	var said []string
	for _, part := range slices.Backward(parts) {
		var of []string
		for _, one := range slices.Backward(part) {
			name, named := attributes[one.Type.String()]
			if named {
				one.Type = commonName // only for its value, escaped
			}
			text := pkix.RDNSequence{{one}}.String()
			if named {
				text = name + strings.TrimPrefix(text, "CN")
			}
			of = append(of, text)
		}
		said = append(said, strings.Join(of, "+"))
	}
	return strings.Join(said, ",")
}

var commonName = asn1.ObjectIdentifier{2, 5, 4, 3}

// attributes are the types of RFC 4514 section 3, and others that subjects often have, by OID.
var attributes = map[string]string{
	commonName.String(): "CN", "2.5.4.5": "serialNumber", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "street",
	"2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.17": "postalCode", "0.9.2342.19200300.100.1.1": "UID",
	"0.9.2342.19200300.100.1.25": "DC", "1.2.840.113549.1.9.1": "emailAddress",
}

func attributeNames() []string { return slices.Sorted(maps.Values(attributes)) }

// subjectForm is the form of what [Subject] returns.
var subjectForm = sync.OnceValue(func() *regexp.Regexp {
	one := `(?:(?:` + strings.Join(attributeNames(), "|") + `)=(?:[^\\,+"<>;]|\\[\\,+"<>; #])*|[0-9.]+=#[0-9a-f]+)`
	return regexp.MustCompile(`^` + one + `(?:[,+]` + one + `)*$`)
})

// id tells a name from others in a token, as [secretID] does a secret.
func (c Certificate) id() string {
	if c.None() {
		return ""
	}
	return secretID(policy.Digest(string(c.Kind) + "\x00" + c.Name))
}

type peerKey struct{}

// WithPeer returns the context of a request whose sender has proven, while connecting, to have the
// key of the first of these certificates. Their signatures are not verified.
func WithPeer(ctx context.Context, chain []*x509.Certificate) context.Context {
	if len(chain) == 0 {
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, chain)
}

// Peer returns them.
func Peer(ctx context.Context) []*x509.Certificate {
	chain, _ := ctx.Value(peerKey{}).([]*x509.Certificate)
	return chain
}

// thumbprint is the digest that binds a token to a certificate (RFC 8705 section 3.1).
func thumbprint(leaf *x509.Certificate) string {
	sum := sha256.Sum256(leaf.Raw)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// boundTo reports whether the sender of a request has the certificate of a thumbprint.
func boundTo(ctx context.Context, print string) bool {
	chain := Peer(ctx)
	return len(chain) > 0 && print == thumbprint(chain[0])
}

var errNoCertificate = errors.New("none was shown")

// certified says why the sender of a request is not the client of a certificate; nil if he is.
// The chain is verified at each login and not while connecting: connections outlive certificates
// and authorities, and a refusal is an answer that names its reason.
func (c *Clients) certified(ctx context.Context, want Certificate) error {
	chain := Peer(ctx)
	if len(chain) == 0 {
		return errNoCertificate
	}
	roots := c.Authorities()
	if roots == nil {
		return errors.New("the server takes none: it has no entry of trust with certificates and without principals")
	}
	between := x509.NewCertPool()
	for _, one := range chain[1:] {
		between.AddCert(one)
	}
	if _, err := chain[0].Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, CurrentTime: c.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}); err != nil {
		return unverified(err)
	}
	if !want.names(chain[0]) { // an authority of the server's answers for the text
		return errors.New("its name is another; the subject is " + audit.Cut(Subject(chain[0])))
	}
	return nil
}

// unverified is of what kind an error of x509 is. Its own words repeat names of certificates, which anybody chose.
func unverified(err error) error {
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return errors.New("no authority of trust for clients has signed it, or one between is missing or does not fit")
	case !errors.As(err, &invalid):
		return errors.New("it cannot be verified")
	}
	switch invalid.Reason {
	case x509.Expired:
		return errors.New("it, or an authority between, has expired or is not valid yet")
	case x509.IncompatibleUsage:
		return errors.New("it is not for clients: its extended key usage has no clientAuth")
	case x509.NotAuthorizedToSign, x509.TooManyIntermediates, x509.CANotAuthorizedForThisName, x509.CANotAuthorizedForExtKeyUsage:
		return errors.New("an authority between may not sign it")
	}
	return errors.New("it is not valid (reason " + strconv.Itoa(int(invalid.Reason)) + " of crypto/x509)")
}

// ByCertificate reports whether clients can log in by certificates.
func (c *Clients) ByCertificate() bool { return c.Authorities() != nil }

// Confirm refuses a request whose sender shows a certificate that is not the client's, if that is
// one which logs in by its certificate: [policy.ErrUnauthenticated].
func (c *Clients) Confirm(ctx context.Context, id string) error {
	if len(Peer(ctx)) == 0 {
		return nil
	}
	found, err := c.active(ctx, id)
	if errors.Is(err, policy.ErrUnauthenticated) || err == nil && found.Certificate.None() {
		return nil // others say whether there is such a client
	}
	if err != nil || found.Certificate.Kind == JWKS {
		return err
	}
	return c.byCertificate(ctx, found)
}

// byCertificate logs a client in by the certificate that the sender of the request shows.
func (c *Clients) byCertificate(ctx context.Context, found Client) error {
	if err := c.certified(ctx, found.Certificate); err != nil {
		c.Log.InfoContext(ctx, "the certificate of a client is refused", "client", found.ID, "error", err)
		return policy.ErrUnauthenticated
	}
	return nil
}

// takable refuses a certificate that the client could not log in with.
func (c *Clients) takable(want Certificate) error {
	if want.None() {
		return nil
	}
	if want.Kind != JWKS && !c.ByCertificate() {
		return &broker.Error{
			Kind: broker.ErrUnsupported, Field: "certificate", Detail: "this server takes no certificates of clients",
			Remedy: "have the operator add an entry to trust with certificates and without principals",
		}
	}
	return want.check()
}
