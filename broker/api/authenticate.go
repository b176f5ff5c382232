package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
)

// longestToken bounds what is looked at as a bearer token: JWTs with many groups
// are a few kilobytes.
const longestToken = 8 << 10

// keystoneHeader is where OpenStack's clients put their token
// (docs.openstack.org/api-ref/identity/v3). Any token may stand there instead of in
// the Authorization header.
const keystoneHeader = "X-Auth-Token"

// authenticate finds out who asks (RFC 6750, header form only, or as OpenStack's
// clients do) and puts that into the request's trace. Where it answers false it has
// answered the request.
func (s *server) authenticate(w http.ResponseWriter, r *http.Request) bool {
	_, given := shown(r)
	_, err := Identify(r, s.who)
	switch {
	case errors.Is(err, policy.ErrUnauthenticated):
		challenge := `Bearer realm="vimbroker"`
		switch {
		case errors.Is(err, errMalformed):
			challenge += `, error="invalid_request"`
		case given:
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		s.write(w, r, unauthenticated)
		return false
	case err != nil:
		s.fail(w, r, err)
		return false
	}
	return true
}

// errMalformed is an [policy.ErrUnauthenticated]: there is a token, not as one is sent.
var errMalformed = fmt.Errorf("%w: malformed", policy.ErrUnauthenticated)

// Identify finds out who sends a request, by the token in its headers, which it takes
// out: nothing behind it needs the token, and nothing may print it. Its error is
// [policy.ErrUnauthenticated], or [broker.ErrUnavailable] where it cannot be told now.
// In a request that came through [New]'s handler, the log names who it is.
func Identify(r *http.Request, who Authenticator) (policy.Principal, error) {
	token, given := shown(r)
	if token == "" {
		if given {
			return policy.Principal{}, errMalformed
		}
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	r.Header.Del("Authorization")
	r.Header.Del(keystoneHeader)
	p, err := who.Authenticate(r.Context(), token)
	switch {
	case errors.Is(err, policy.ErrUnauthenticated):
		return policy.Principal{}, policy.ErrUnauthenticated
	case err != nil:
		return policy.Principal{}, &broker.Error{Kind: broker.ErrUnavailable, Detail: "callers cannot be authenticated now", Cause: err}
	}
	if t, ok := r.Context().Value(traceKey{}).(*trace); ok {
		t.principal = p
	}
	return p, nil
}

// shown returns the token of the one header that holds one, and whether there is
// such a header at all.
func shown(r *http.Request) (token string, given bool) {
	values := r.Header.Values(keystoneHeader)
	if len(values) == 0 {
		return bearer(r)
	}
	if _, both := bearer(r); both || len(values) != 1 || len(values[0]) > longestToken || strings.ContainsAny(values[0], " \t,") {
		return "", true
	}
	return values[0], true
}

// bearer returns the token of the one Authorization header, and whether there is a header at all.
func bearer(r *http.Request) (token string, given bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", len(values) > 0
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || len(token) > longestToken || strings.ContainsAny(token, " \t,") {
		return "", true
	}
	return token, true
}
