package api

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
)

// longestToken bounds what is accepted as a bearer token: JWTs with many groups are a
// few kilobytes.
const longestToken = 8 << 10

// KeystoneHeader is where OpenStack's clients put their token
// (docs.openstack.org/api-ref/identity/v3). Any token may stand there instead of in the
// Authorization header.
const KeystoneHeader = "X-Auth-Token"

// Authenticator finds the owner of a bearer token. An unknown token is
// [policy.ErrUnauthenticated]. Any other error means that the owner cannot be found out
// at the moment.
type Authenticator interface {
	Authenticate(ctx context.Context, bearer string) (policy.Principal, error)
}

// Logins is told, with every request, that a caller came in with a token, or that a
// token was refused. It decides which of these are recorded.
type Logins interface {
	RecordLogin(ctx context.Context, p policy.Principal)
	RecordRefusedLogin(ctx context.Context, why error)
}

// Identify tells who sends a request. Its errors are an Authenticator's.
type Identify func(*http.Request) (policy.Principal, error)

// Anyone identifies no caller: the operation is open to all.
func Anyone(*http.Request) (policy.Principal, error) { return policy.Principal{}, nil }

// errMalformedToken is a [policy.ErrUnauthenticated]: there is a token in no valid form.
var errMalformedToken = fmt.Errorf("%w: malformed", policy.ErrUnauthenticated)

// identify authenticates the caller (nil: by bearer token) and puts him into the
// request's trace. It removes the credentials: nothing behind it needs them, and nothing
// may print them.
func (s *server) identify(w http.ResponseWriter, r *http.Request, d *Door, by Identify) error {
	switch {
	case by == nil && d.Basic != nil:
		by = s.orBasic(d.Basic)
	case by == nil:
		by = s.bearer
	}
	_, given := shown(r)
	p, err := by(r)
	given = given || errors.As(err, new(*policy.RefusedLogin)) // a certificate
	if given && errors.Is(err, policy.ErrUnauthenticated) {
		err = s.limits.failedLogin(r, err)
	}
	r.Header.Del("Authorization")
	r.Header.Del(KeystoneHeader)
	switch {
	case errors.Is(err, policy.ErrUnauthenticated):
		challenge := `Bearer realm="vimbroker"`
		switch {
		case errors.Is(err, errMalformedToken):
			challenge += `, error="invalid_request"`
		case given:
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		if given && s.Logins != nil {
			s.Logins.RecordRefusedLogin(r.Context(), err)
		}
		return policy.ErrUnauthenticated
	case errors.Is(err, ErrLimited), errors.Is(err, errShed):
		return err
	case err != nil:
		return &broker.Error{Kind: broker.ErrUnavailable, Detail: "callers cannot be authenticated now", Cause: err}
	}
	traceOf(r.Context()).principal = p
	if p.Name != "" && s.Logins != nil {
		s.Logins.RecordLogin(r.Context(), p)
	}
	return nil
}

// bearer identifies the owner of a bearer token (RFC 6750, header form only, or as
// OpenStack's clients send it), or without a token that of the certificate.
func (s *server) bearer(r *http.Request) (policy.Principal, error) {
	token, given := shown(r)
	switch {
	case token == "" && given:
		return policy.Principal{}, errMalformedToken
	case token == "" && s.Certified != nil:
		return s.Certified(r.Context())
	case token == "":
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	if s.Remote != nil && s.Remote(token) {
		leave, err := s.limits.login(r)
		if err != nil {
			return policy.Principal{}, err
		}
		defer leave()
	}
	return s.Authenticator.Authenticate(r.Context(), token)
}

// orBasic is bearer for callers who may show an id and a secret instead.
func (s *server) orBasic(basic func(ctx context.Context, id, secret string) (policy.Principal, error)) Identify {
	return func(r *http.Request) (policy.Principal, error) {
		id, secret, is := r.BasicAuth()
		if !is {
			return s.bearer(r)
		}
		if len(r.Header.Values("Authorization")) != 1 || len(r.Header.Values(KeystoneHeader)) > 0 {
			return policy.Principal{}, errMalformedToken
		}
		leave, err := s.limits.login(r)
		if err != nil {
			return policy.Principal{}, err
		}
		defer leave()
		return basic(r.Context(), id, secret)
	}
}

// shown returns the token of the one header that has one, and whether there is such a
// header at all.
func shown(r *http.Request) (token string, given bool) {
	values := r.Header.Values(KeystoneHeader)
	token, given = authorization(r)
	switch {
	case len(values) == 0:
		return token, given
	case given || len(values) != 1 || !wellFormedToken(values[0]):
		return "", true // two tokens may name two callers
	}
	return values[0], true
}

// authorization returns the token of the one Authorization header, and whether there is
// such a header at all.
func authorization(r *http.Request) (token string, given bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", len(values) > 0
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || !wellFormedToken(token) {
		return "", true
	}
	return token, true
}

func wellFormedToken(token string) bool {
	return len(token) <= longestToken && !strings.ContainsAny(token, " \t,")
}

// Headers in which proxies say whom they speak for.
const (
	ForwardedFor = "X-Forwarded-For"
	Forwarded    = "Forwarded" // RFC 7239
	// clientCert and clientCertChain are the certificate that a proxy has seen (RFC 9440).
	clientCert      = "Client-Cert"
	clientCertChain = "Client-Cert-Chain"
)

// maxChain bounds the certificates in [clientCertChain].
const maxChain = 8

// Proxies are the proxies whose word on a caller's address counts. The zero value trusts
// none.
type Proxies struct {
	Networks []netip.Prefix
	// Header is the one that they set, [ForwardedFor] or [Forwarded]. A caller can set the
	// other one, so it is never read.
	Header string
	// ClientCert: the proxies end TLS, and say which certificate callers have.
	ClientCert bool
}

// Certificates are those that the sender of a request has proven to have the key of, the own one
// first: over TLS to this server, or to a proxy that says so. Call it before anything changes the
// request's address. Not ok: the header is not in a valid form, or a stranger's.
func (p Proxies) Certificates(r *http.Request) (chain []*x509.Certificate, stranger, ok bool) {
	own := r.Header.Values(clientCert)
	given := slices.Concat(own, r.Header.Values(clientCertChain))
	r.Header.Del(clientCert)
	r.Header.Del(clientCertChain)
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	trusted := err == nil && p.ClientCert && p.trusts(peer.Addr())
	switch {
	case len(given) == 0 && trusted: // the proxy's own certificate is not the caller's
		return nil, false, true
	case len(given) > 0 && !trusted:
		return nil, true, false
	case len(own) > 1 || len(own) == 0 && len(given) > 0:
		return nil, false, false
	case len(given) == 0 && r.TLS != nil:
		return r.TLS.PeerCertificates, false, true
	case len(given) == 0:
		return nil, false, true
	}
	for _, text := range strings.Split(strings.Join(given, ","), ",") {
		text = strings.TrimSpace(text)
		inner, cut := strings.CutPrefix(text, ":")
		inner, end := strings.CutSuffix(inner, ":")
		der, err := base64.StdEncoding.DecodeString(inner)
		one, parseErr := x509.ParseCertificate(der)
		if !cut || !end || err != nil || parseErr != nil || len(chain) == maxChain {
			return nil, false, false
		}
		chain = append(chain, one)
	}
	return chain, false, true
}

// caller returns the sender's address, as host:port; the port is 0 if a proxy named the
// address. The header is read from its end, where the nearest proxy has written, up to
// the first address that is no proxy's. The caller may have made up the addresses before
// that.
func (p Proxies) caller(r *http.Request) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !p.trusts(peer.Addr()) {
		return r.RemoteAddr
	}
	nearest := peer.Addr()
	hops := strings.Split(strings.Join(r.Header.Values(p.Header), ","), ",")
	for _, hop := range slices.Backward(hops) {
		addr, ok := p.address(hop)
		if !ok {
			break
		}
		nearest = addr
		if !p.trusts(addr) {
			break
		}
	}
	if nearest == peer.Addr() {
		return r.RemoteAddr
	}
	return netip.AddrPortFrom(nearest, 0).String()
}

func (p Proxies) trusts(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(p.Networks, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// address reads one element of the header.
func (p Proxies) address(hop string) (netip.Addr, bool) {
	if p.Header == Forwarded {
		_, pairs, err := mime.ParseMediaType("hop;" + hop)
		if err != nil {
			return netip.Addr{}, false
		}
		hop = pairs["for"]
	}
	hop = strings.TrimSpace(hop)
	if with, err := netip.ParseAddrPort(hop); err == nil {
		return with.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(hop, "["), "]"))
	return addr.Unmap().WithZone(""), err == nil
}
