package trust

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"time"

	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/policy"
)

// Reasons why a certificate is refused, for the audit log.
const (
	reasonStranger  = "Client-Cert from an address that is no trusted proxy's"
	reasonHeader    = "Client-Cert in no valid form"
	reasonAuthority = "no authority of the table has signed it"
	reasonUsage     = "certificate is not for clients"
	reasonRevoked   = "certificate revoked"
	reasonList      = "the list of revoked certificates has expired"
	reasonNames     = "certificate without one name, or with several"
)

type faultKey struct{}

// WithFault returns the context of a request whose certificate does not count, for one of the reasons.
func WithFault(ctx context.Context, stranger bool) context.Context {
	if stranger {
		return context.WithValue(ctx, faultKey{}, reasonStranger)
	}
	return context.WithValue(ctx, faultKey{}, reasonHeader)
}

// Certified returns the principal of the certificate that the sender of a request has proven to have.
// Without one it is [policy.ErrUnauthenticated]; if one does not count, that is a [policy.RefusedLogin].
func (c *Gatekeeper) Certified(ctx context.Context) (policy.Principal, error) {
	if reason, ok := ctx.Value(faultKey{}).(string); ok {
		return policy.Principal{}, &policy.RefusedLogin{Authenticator: policy.ByCertificate, Reason: reason}
	}
	chain := oauth.Peer(ctx)
	if len(chain) == 0 {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	refused := error(&policy.RefusedLogin{Authenticator: policy.ByCertificate, Reason: reasonAuthority})
	for _, t := range c.table.Load().rows {
		if !t.Certified() || len(t.Principals) == 0 {
			continue
		}
		p, reason := t.certified(chain, c.Now())
		if reason == "" {
			p.Login.Until, p.Login.Digest = chain[0].NotAfter, t.digest
			return p, nil
		}
		if reason != reasonAuthority {
			refused = t.refused(reason)
		}
	}
	return policy.Principal{}, refused
}

// certified is the principal of a chain, or the reason why there is none.
func (e Authority) certified(chain []*x509.Certificate, now time.Time) (policy.Principal, string) {
	between := x509.NewCertPool()
	for _, one := range chain[1:] {
		between.AddCert(one)
	}
	leaf := chain[0]
	options := x509.VerifyOptions{
		Roots: e.roots, Intermediates: between, CurrentTime: leaf.NotAfter, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	}
	if _, err := leaf.Verify(options); err != nil { // whose it is, before what is wrong with it
		return policy.Principal{}, reasonAuthority
	}
	switch {
	case now.After(leaf.NotAfter):
		return policy.Principal{}, reasonExpired
	case now.Add(skew).Before(leaf.NotBefore):
		return policy.Principal{}, reasonEarly
	case leaf.NotAfter.Sub(leaf.NotBefore) > e.MaxLife:
		return policy.Principal{}, reasonLife
	}
	options.CurrentTime, options.KeyUsages = now, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	chains, err := leaf.Verify(options)
	if err != nil || leaf.IsCA {
		return policy.Principal{}, reasonUsage
	}
	if reason := e.isRevoked(chains[0], now); reason != "" {
		return policy.Principal{}, reason
	}
	subject, claims := names(leaf)
	if subject == "" {
		return policy.Principal{}, reasonNames
	}
	p, _, ok := e.principal(subject, claims)
	if !ok {
		return policy.Principal{}, reasonRule
	}
	return p, ""
}

// isRevoked says why a certificate of a chain is refused; empty if none was revoked by one who has a list.
func (e Authority) isRevoked(chain []*x509.Certificate, now time.Time) string {
	for _, one := range chain {
		for _, list := range e.revoked[string(one.RawIssuer)] {
			if now.After(list.NextUpdate) {
				return reasonList
			}
			for _, gone := range list.RevokedCertificateEntries {
				if gone.SerialNumber.Cmp(one.SerialNumber) == 0 {
					return reasonRevoked
				}
			}
		}
	}
	return ""
}

// names are the one name of a certificate, and its names as rules match them: the URI, or else the
// e-mail address, or else the DNS name. With several of the kind that counts it has none.
func names(leaf *x509.Certificate) (string, Claims) {
	claims := Claims{"subject": oauth.Subject(leaf)}
	subject := ""
	add := func(kind string, texts ...string) {
		if len(texts) == 1 {
			claims[kind] = texts[0]
		}
		if len(texts) > 0 {
			subject = texts[0]
		}
		if len(texts) > 1 {
			subject = ""
		}
	}
	add("dns", leaf.DNSNames...)
	add("email", leaf.EmailAddresses...)
	uris := make([]string, len(leaf.URIs))
	for i, u := range leaf.URIs {
		uris[i] = u.String()
	}
	add("uri", uris...)
	return subject, claims
}

// readRevoked reads lists of revoked certificates in PEM, each signed by one of the authorities, by the raw subject of
// who issued them. It says what is wrong with the text.
func readRevoked(text, authorities string) (lists map[string][]*x509.RevocationList, fault string) {
	if text == "" {
		return nil, ""
	}
	lists = map[string][]*x509.RevocationList{}
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		list, err := x509.ParseRevocationList(block.Bytes)
		if block.Type != "X509 CRL" || err != nil {
			return nil, "must hold lists of revoked certificates in PEM"
		}
		if !signedByOne(list, []byte(authorities)) {
			return nil, "holds a list that no authority of caFile has signed"
		}
		lists[string(list.RawIssuer)] = append(lists[string(list.RawIssuer)], list)
	}
	if len(lists) == 0 {
		return nil, "must hold lists of revoked certificates in PEM"
	}
	return lists, ""
}

func signedByOne(list *x509.RevocationList, authorities []byte) bool {
	for block, rest := pem.Decode(authorities); block != nil; block, rest = pem.Decode(rest) {
		if one, err := x509.ParseCertificate(block.Bytes); err == nil && list.CheckSignatureFrom(one) == nil {
			return true
		}
	}
	return false
}
