package login

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/limit"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

const (
	leasePath = "/oidc/token"
	// leaseScope is the scope that the holders of leases ask for, and the only one.
	leaseScope = "openid"
	// mintTime bounds an answer that waits for a VIM: Tacker waits for 20 s.
	mintTime = 18 * time.Second
	// maxHolders is how many holders' tokens are counted, those that were used last.
	maxHolders = 16384
)

// perLease bounds what the holder of one lease has minted: an operation needs one token, and a
// VNFM that looks at its instances one in five minutes.
var perLease = limit.Bound{PerSecond: 1, Burst: 30, InFlight: 4}

// Leases mints tokens under standing leases; [broker.Leaser] documents the method.
type Leases interface {
	MintUnder(ctx context.Context, id, plain, holder string) (broker.Lease, broker.Credential, time.Time, error)
}

// Clients knows clients by their secrets; [oauth.Clients] documents the method.
type Clients interface {
	Authenticate(ctx context.Context, id, plain string) (oauth.Client, error)
	Confirm(ctx context.Context, id string) error
}

var (
	_ Leases  = (*broker.Leaser)(nil)
	_ Clients = (*oauth.Clients)(nil)
)

// errNoLease is the refusal of a lease's id and secret. It counts as a failed login.
var errNoLease = errors.New("invalid_grant")

// leaseKinds are the refusals of a lease that RFC 6749 section 5.2 calls an invalid grant: it is
// not there, has ended, or its holder may not have it any more.
var leaseKinds = []api.ErrorKind{
	{Err: errNoLease, Status: http.StatusBadRequest, Name: "invalid_grant", Title: "there is no such lease, or the secret is another"},
	{Err: broker.ErrNotFound, Status: http.StatusBadRequest, Name: "invalid_grant", Title: "the lease may not be used"},
	{Err: broker.ErrDenied, Status: http.StatusBadRequest, Name: "invalid_grant", Title: "the lease may not be used"},
	{Err: broker.ErrConflict, Status: http.StatusBadRequest, Name: "invalid_grant", Title: "the lease cannot be used"},
}

// leaseToken is the answer of RFC 6749 section 5.1, with the ID token of OpenID Connect Core
// section 3.1.3.3: both are the VIM's own token.
type leaseToken struct {
	IDToken     secret.Text `json:"id_token"`
	AccessToken secret.Text `json:"access_token"`
	TokenType   string      `json:"token_type"`
	ExpiresIn   int         `json:"expires_in"`
	Scope       string      `json:"scope"`
}

// mint answers a request for a token under a standing lease: the password grant of RFC 6749
// section 4.3, whose user is a lease and whose password is the lease's secret. A client that names
// itself must be the lease's holder; one that shows a secret or a certificate must have it.
func (s server) mint(c *api.Call) (api.Answer, error) {
	form, err := c.Fields()
	if err != nil {
		return api.Answer{}, err
	}
	clientID, clientSecret, err := credentials(c.Request, form)
	if err != nil {
		return api.Answer{}, err
	}
	id, plain := form.Get("username"), form.Get("password")
	if form.Get("grant_type") == "client_credentials" { // the lease itself is the client
		id, plain, clientID, clientSecret = clientID, clientSecret, "", ""
	}
	switch grant := form.Get("grant_type"); {
	case grant == "":
		return api.Answer{}, &api.Refusal{Kind: errRequest, Detail: "grant_type is missing"}
	case grant != "password" && grant != "client_credentials":
		return api.Answer{}, &api.Refusal{Kind: errGrant, Detail: "grant_type must be password or client_credentials"}
	case id == "" || plain == "":
		return api.Answer{}, &api.Refusal{
			Kind: errRequest, Detail: "username and password, or client_id and client_secret, must be the id and the secret of a standing lease",
		}
	case clientID == "" && clientSecret != "":
		return api.Answer{}, &api.Refusal{Kind: errRequest, Detail: "client_id is missing"}
	}
	holder := ""
	if clientID != "" {
		holder = policy.ByClient + ":" + strings.ToLower(clientID)
	}
	if clientSecret != "" {
		_, err = s.Clients.Authenticate(c.Context(), clientID, clientSecret)
	} else if clientID != "" {
		err = s.Clients.Confirm(c.Context(), clientID)
	}
	if err != nil {
		return api.Answer{}, err
	}
	// Counted for id, however it is spelled, and secret together: who guesses takes nothing from the holder.
	whose := sha256.Sum256([]byte(strings.ToLower(id) + "\x00" + plain))
	leave, err := s.perLease.Enter(string(whose[:]))
	if over := (*limit.Exceeded)(nil); errors.As(err, &over) {
		return api.Answer{}, &api.Refusal{
			Kind: api.ErrLimited, Detail: fmt.Sprintf("tokens are minted under this lease %s", over),
			Remedy: "use the token until it expires", RetryAfter: over.Wait,
		}
	}
	defer leave()
	_, minted, ends, err := s.Leases.MintUnder(c.Context(), id, plain, holder)
	if errors.Is(err, policy.ErrUnauthenticated) {
		err = fmt.Errorf("%w: %w", errNoLease, err)
	}
	if err != nil {
		return api.Answer{}, err
	}
	return api.Answer{
		Header: http.Header{"Pragma": {"no-cache"}},
		Body: leaseToken{
			IDToken: minted.Token, AccessToken: minted.Token, TokenType: "Bearer", Scope: leaseScope,
			ExpiresIn: int(ends.Sub(s.Now()).Seconds()),
		},
	}, nil
}

// leaseMetadata describes the service for the holders of leases (OpenID Connect Discovery 1.0 section
// 3), and nothing else. There is no login of users, and ID tokens are issued and signed by the VIMs.
func (s server) leaseMetadata(*api.Call) (api.Answer, error) {
	return api.Answer{Body: map[string]any{
		"issuer":                                s.Issuer(),
		"token_endpoint":                        s.Issuer() + leasePath,
		"grant_types_supported":                 []string{"password", "client_credentials"},
		"scopes_supported":                      []string{leaseScope},
		"response_types_supported":              []string{},
		"token_endpoint_auth_methods_supported": s.methods("none", "client_secret_basic", "client_secret_post"),
	}}, nil
}
