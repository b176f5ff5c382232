package login_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/login"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

// issuers know alice by the token "s3cret-of-alice", and cannot say whose "s3cret-of-bob" is.
type issuers struct{}

func (issuers) Authenticate(_ context.Context, token string) (policy.Principal, error) {
	switch token {
	case "s3cret-of-alice":
		return policy.Principal{Name: "oidc:corp:alice", Project: "core", Roles: []string{"member"}}, nil
	case "s3cret-of-bob":
		return policy.Principal{}, &broker.Error{Kind: broker.ErrUnavailable, Detail: "the issuer does not answer"}
	}
	return policy.Principal{}, policy.ErrUnauthenticated
}

const (
	bearer   = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	tokens   = "urn:ietf:params:oauth:token-type:"
)

func TestATokenOfAnIssuerIsExchanged(t *testing.T) {
	b := newBench(t, api.Limits{})
	form := func(grant string, more ...string) url.Values {
		all := url.Values{"grant_type": {grant}}
		if grant == exchange {
			all.Set("subject_token", "s3cret-of-alice")
			all.Set("subject_token_type", tokens+"jwt")
		} else {
			all.Set("assertion", "s3cret-of-alice")
		}
		for i := 0; i < len(more); i += 2 {
			if all.Del(more[i]); more[i+1] != "" {
				all.Set(more[i], more[i+1])
			}
		}
		return all
	}
	with := []string{"Authorization", basic(b.id, b.plain)}
	for what, c := range map[string]struct {
		form    url.Values
		headers []string
		status  int
		has     string // of the answer
	}{
		"an assertion":                     {form(bearer), nil, 200, `"token_type":"Bearer"`},
		"an assertion, with a scope":       {form(bearer, "scope", "x"), nil, 200, `"scope":"vimbroker"`},
		"an assertion of a client's":       {form(bearer), with, 200, ""},
		"an assertion of a wrong client's": {form(bearer), []string{"Authorization", basic(b.id, "x")}, 401, "invalid_client"},
		"an assertion of nobody":           {form(bearer, "assertion", "zog"), nil, 400, "invalid_grant"},
		"an issuer that is away":           {form(bearer, "assertion", "s3cret-of-bob"), nil, 503, "temporarily_unavailable"},
		"no assertion":                     {form(bearer, "assertion", ""), nil, 400, "the token is missing: assertion"},
		"a token":                          {form(exchange), nil, 200, `"issued_token_type":"` + tokens + `access_token"`},
		"an access token":                  {form(exchange, "subject_token_type", tokens+"access_token"), nil, 200, ""},
		"an ID token":                      {form(exchange, "subject_token_type", tokens+"id_token"), nil, 200, ""},
		"a SAML assertion":                 {form(exchange, "subject_token_type", tokens+"saml2"), nil, 400, "subject_token_type must be"},
		"a token of no type":               {form(exchange, "subject_token_type", ""), nil, 400, "subject_token_type must be"},
		"for an access token":              {form(exchange, "requested_token_type", tokens+"access_token"), nil, 200, ""},
		"for a JWT":                        {form(exchange, "requested_token_type", tokens+"jwt"), nil, 200, ""},
		"for a refresh token":              {form(exchange, "requested_token_type", tokens+"refresh_token"), nil, 400, "requested_token_type must be"},
		"in somebody's name":               {form(exchange, "actor_token", "x"), nil, 400, "actor_token is not supported"},
		"no token":                         {form(exchange, "subject_token", ""), nil, 400, "the token is missing"},
		"no grant":                         {url.Values{"scope": {"x"}}, nil, 400, "grant_type is missing"},
	} {
		w := b.ask(here, c.form.Encode(), c.headers...)
		var got struct {
			AccessToken string `json:"access_token"`
			IssuedType  string `json:"issued_token_type"`
			ExpiresIn   int    `json:"expires_in"`
			Scope       string `json:"scope"`
		}
		err := json.Unmarshal(w.Body.Bytes(), &got)
		if err != nil || w.Code != c.status || !strings.Contains(w.Body.String(), c.has) || strings.Contains(w.Body.String(), "s3cret") {
			t.Errorf("%s: %d %s, want %d %s", what, w.Code, w.Body, c.status, c.has)
		}
		if c.status != http.StatusOK {
			continue
		}
		isExchange := c.form.Get("grant_type") == exchange
		if got.ExpiresIn <= 0 || w.Header().Get("Pragma") != "no-cache" || (got.Scope == "") == c.form.Has("scope") || (got.IssuedType != "") != isExchange {
			t.Errorf("%s: %s, %v", what, w.Body, w.Header())
		}
		parts := strings.Split(got.AccessToken, ".")
		claims, err := base64.RawURLEncoding.DecodeString(parts[min(1, len(parts)-1)])
		if err != nil || !strings.Contains(string(claims), `"sub":"oidc:corp:alice"`) || len(parts) != 3 {
			t.Errorf("%s: the token says %s, %v", what, claims, err)
		}
	}
}

// failing exchanges nothing.
type failing struct {
	login.Tokens
	err error
}

func (f failing) Exchange(context.Context, policy.Principal) (secret.Text, time.Duration, error) {
	return secret.Text{}, 0, f.err
}

func (f failing) JWKS(context.Context) (json.RawMessage, error) { return nil, f.err }

// An owner whose token is not exchanged is told why; a description has the characters that the RFC allows.
func TestARefusedExchangeIsTold(t *testing.T) {
	b := newBench(t, api.Limits{})
	for what, c := range map[string]struct {
		err    error
		status int
		has    string
	}{
		"one of an exchanged token": {policy.ErrUnauthenticated, 400, "invalid_grant"},
		"a store that is down":      {&broker.Error{Kind: broker.ErrUnavailable, Detail: `a "quoted" \ tab` + "\t~\x7fé"}, 503, `a 'quoted' ' tab'~''; request `},
		"a fault":                   {errors.New("secret words"), 500, "server_error"},
	} {
		b.handler = b.open(failing{b.tokens, c.err})
		w := b.ask(here, url.Values{"grant_type": {bearer}, "assertion": {"s3cret-of-alice"}}.Encode())
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.has) || strings.Contains(w.Body.String(), "secret words") {
			t.Errorf("%s: %d %s, want %d %s", what, w.Code, w.Body, c.status, c.has)
		}
		w = httptest.NewRecorder()
		b.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/oauth2/jwks", nil))
		if w.Code < 400 {
			t.Errorf("%s: keys that cannot be read: %d %s", what, w.Code, w.Body)
		}
	}
}
