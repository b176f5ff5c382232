// Package login is the door where programs log in: the token endpoint of OAuth 2.0
// (RFC 6749) for client credentials, the one where the holders of standing leases get tokens of the
// VIM, and the documents published about both (RFC 8414, OpenID Connect Discovery 1.0).
//
// It has two forms and two grants, so it stands on the doors of package api, and on go-jose for
// what is signed: zitadel/oidc and ory/fosite bring 45 and 465 modules for a store of sessions,
// codes and logins that nobody here has.
package login

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/limit"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// maxBody bounds a token request, in bytes.
	maxBody = 8 << 10
	// answerTime bounds an answer. It waits for the store and a key store.
	answerTime = 15 * time.Second

	tokenPath = "/oauth2/token"
	keysPath  = "/oauth2/jwks"
	formType  = "application/x-www-form-urlencoded"
)

// Tokens makes tokens; [oauth.Tokens] says what each method does.
type Tokens interface {
	Issuer() string
	ByCertificate() bool
	Issue(ctx context.Context, id, plain string) (secret.Text, error)
	IssueAsserted(ctx context.Context, assertion string) (secret.Text, error)
	Exchange(ctx context.Context, p policy.Principal) (secret.Text, time.Duration, error)
	JWKS(ctx context.Context) (json.RawMessage, error)
}

// The errors of RFC 6749 section 5.2 that the common table lacks.
var (
	errRequest = errors.New("invalid_request")
	errGrant   = errors.New("unsupported_grant_type")
	errToken   = errors.New("invalid_grant")
)

var _ Tokens = (*oauth.Tokens)(nil)

type server struct {
	Options
	perLease *limit.Keys
}

// Options wire the door. Every field is required.
type Options struct {
	Tokens
	Clients Clients
	// Callers knows the owners of tokens that are exchanged for one of the broker's; it is not asked about those.
	Callers api.Authenticator
	Leases  Leases
	Now     func() time.Time
}

// Door returns the token endpoints, and the documents that clients find them by.
func Door(o Options) api.Door {
	s := server{o, limit.NewKeys(perLease, maxHolders, o.Now)}
	return api.Door{
		Name:     audit.DoorLogin,
		Paths:    []string{"/oauth2/", "/oidc/", "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"},
		Tolerant: true,
		Kinds: append(slices.Clone(leaseKinds), []api.ErrorKind{
			{Err: errToken, Status: http.StatusBadRequest, Name: "invalid_grant", Title: "the token is not accepted"},
			{Err: policy.ErrUnauthenticated, Status: http.StatusUnauthorized, Name: "invalid_client", Title: "not authenticated"},
			{Err: errRequest, Status: http.StatusBadRequest, Name: "invalid_request", Title: "invalid request"},
			{Err: errGrant, Status: http.StatusBadRequest, Name: "unsupported_grant_type", Title: "unsupported grant type"},
			{Err: api.ErrMediaType, Status: http.StatusBadRequest, Name: "invalid_request", Title: "invalid request"},
		}...),
		Next:   api.RESTNext,
		Refuse: refuse,
		Routes: []api.Route{
			{
				Method: "POST", Path: tokenPath, Login: true, Timeout: answerTime, Status: http.StatusOK,
				Body: api.Body{Limit: maxBody, Types: []string{formType}}, Handle: s.token,
			},
			{
				Method: "POST", Path: leasePath, Login: true, Timeout: mintTime, Status: http.StatusOK,
				Body: api.Body{Limit: maxBody, Types: []string{formType}}, Handle: s.mint,
			},
			{Method: "GET", Path: keysPath, Identify: api.Anyone, Quiet: true, Timeout: answerTime, Status: http.StatusOK, Handle: s.keys},
			{
				Method: "GET", Path: "/.well-known/oauth-authorization-server",
				Identify: api.Anyone, Quiet: true, Timeout: answerTime, Status: http.StatusOK, Handle: s.metadata,
			},
			{
				Method: "GET", Path: "/.well-known/openid-configuration",
				Identify: api.Anyone, Quiet: true, Timeout: answerTime, Status: http.StatusOK, Handle: s.leaseMetadata,
			},
		},
	}
}

// granted is the answer of RFC 6749 section 5.1.
type granted struct {
	AccessToken secret.Text `json:"access_token"`
	TokenType   string      `json:"token_type"`
	ExpiresIn   int         `json:"expires_in"`
	Scope       string      `json:"scope,omitempty"`
	IssuedType  string      `json:"issued_token_type,omitempty"` // RFC 8693
}

// clientScope is the one scope that a client's token has.
const clientScope = "vimbroker"

// token answers a token request. The header Accept is ignored: some clients ask for a form, and
// read JSON.
func (s server) token(c *api.Call) (api.Answer, error) {
	form, err := c.Fields()
	if err != nil {
		return api.Answer{}, err
	}
	id, plain, err := credentials(c.Request, form)
	if err != nil {
		return api.Answer{}, err
	}
	switch grant := form.Get("grant_type"); {
	case grant == "":
		return api.Answer{}, &api.Refusal{Kind: errRequest, Detail: "grant_type is missing"}
	case grant == bearerGrant || grant == exchangeGrant:
		return s.exchange(c, form, id, plain)
	case grant != "client_credentials":
		return api.Answer{}, &api.Refusal{Kind: errGrant, Detail: "grant_type must be client_credentials, jwt-bearer or token-exchange"}
	}
	// Without a secret it is the certificate of the connection that counts (RFC 8705 section 2).
	// RFC 6749 section 3.3: the requested scope may be ignored, and the answer names the granted
	// one.
	granted := granted{TokenType: "Bearer", ExpiresIn: int(oauth.TokenLife.Seconds())}
	if form.Get("scope") != "" {
		granted.Scope = clientScope
	}
	if granted.AccessToken, err = s.issue(c, form, id, plain); err != nil {
		return api.Answer{}, err
	}
	return api.Answer{Header: http.Header{"Pragma": {"no-cache"}}, Body: granted}, nil
}

// assertionType is that of an assertion by which a client logs in (RFC 7523 section 2.2).
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// issue makes a token for a client that shows a secret, a certificate, or an assertion that it has signed.
func (s server) issue(c *api.Call, form url.Values, id, plain string) (secret.Text, error) {
	if !form.Has("client_assertion") && !form.Has("client_assertion_type") {
		return s.Issue(c.Context(), id, plain)
	}
	switch {
	case plain != "" || c.Header.Get("Authorization") != "":
		return secret.Text{}, &api.Refusal{Kind: errRequest, Detail: "credentials are given in two ways: take one"}
	case form.Get("client_assertion_type") != assertionType:
		return secret.Text{}, &api.Refusal{Kind: errRequest, Detail: "client_assertion_type must be " + assertionType}
	}
	return s.IssueAsserted(c.Context(), form.Get("client_assertion"))
}

// credentials are those of one way: a Basic header, or the form (RFC 6749 section 2.3.1).
func credentials(r *http.Request, form url.Values) (id, plain string, err error) {
	formID, formSecret := form.Get("client_id"), form.Get("client_secret")
	given := r.Header.Values("Authorization")
	if len(given) == 0 {
		return formID, formSecret, nil
	}
	id, plain, ok := r.BasicAuth()
	if len(given) > 1 || !ok {
		return "", "", policy.ErrUnauthenticated
	}
	id, plain = unescaped(id), unescaped(plain)
	if formSecret != "" || formID != "" && formID != id {
		return "", "", &api.Refusal{Kind: errRequest, Detail: "credentials are given in two ways: take one"}
	}
	return id, plain, nil
}

// unescaped undoes the escaping that the RFC asks for, and that many clients leave out: ids and
// secrets of this broker need none.
func unescaped(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

func (s server) keys(c *api.Call) (api.Answer, error) {
	set, err := s.JWKS(c.Context())
	return api.Answer{Body: set}, err
}

// metadata describes the service for clients (RFC 8414 section 2), and nothing else.
func (s server) metadata(*api.Call) (api.Answer, error) {
	said := map[string]any{
		"issuer":                                s.Issuer(),
		"token_endpoint":                        s.Issuer() + tokenPath,
		"jwks_uri":                              s.Issuer() + keysPath,
		"grant_types_supported":                 []string{"client_credentials", bearerGrant, exchangeGrant},
		"scopes_supported":                      []string{clientScope},
		"response_types_supported":              []string{},
		"token_endpoint_auth_methods_supported": s.methods("client_secret_basic", "client_secret_post", "private_key_jwt"),

		"token_endpoint_auth_signing_alg_values_supported": oauth.AssertionAlgorithms,
	}
	if s.ByCertificate() {
		said["tls_client_certificate_bound_access_tokens"] = true
	}
	return api.Answer{Body: said}, nil
}

// methods are the ways in which clients can log in now (RFC 8705 section 2.1.1).
func (s server) methods(always ...string) []string {
	if s.ByCertificate() {
		return append(always, "tls_client_auth")
	}
	return always
}

// refusal is the answer of RFC 6749 section 5.2.
type refusal struct {
	Error       string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

// refuse puts a refusal into OAuth's form. A refusal without a word in section 5.2 gets one
// of RFC 6749 section 4.1.2.1.
func refuse(_ *http.Request, p api.Problem) api.Answer {
	body := refusal{Error: "invalid_request", Description: described(p)}
	switch {
	case p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable || p.Status == http.StatusGatewayTimeout:
		body.Error = "temporarily_unavailable"
	case p.Status >= http.StatusInternalServerError:
		body.Error = "server_error"
	case p.Name == "invalid_client", p.Name == "unsupported_grant_type", p.Name == "invalid_grant":
		body.Error = p.Name
	}
	a := api.Answer{Body: body}
	if p.Status == http.StatusUnauthorized {
		a.Header = http.Header{"Www-Authenticate": {`Basic realm="vimbroker"`}}
	}
	return a
}

// described is the description of a fault, in the characters that the RFC allows.
func described(p api.Problem) string {
	words := []string{p.Detail, p.Remedy}
	for _, f := range p.Faults {
		words = append(words, f.Sentence())
	}
	var said []string
	for _, w := range words {
		if w != "" {
			said = append(said, w)
		}
	}
	text := strings.Join(said, "; ")
	if text == "" {
		text = p.Title
	}
	if p.Status >= http.StatusInternalServerError {
		text += "; request " + p.RequestID
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '\''
		}
		return r
	}, text)
}
