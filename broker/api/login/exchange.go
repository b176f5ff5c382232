package login

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/policy"
)

const (
	// bearerGrant (RFC 7523 section 2.1) and exchangeGrant (RFC 8693) give a token of the broker for another one.
	bearerGrant   = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange"

	tokenTypes  = "urn:ietf:params:oauth:token-type:"
	accessToken = tokenTypes + "access_token"
)

// exchange answers a caller who shows the token of an issuer of the table of trust, or a static one, with a token
// of the broker for the same caller. Credentials of a client are not needed; those that are there must be right.
func (s server) exchange(c *api.Call, form url.Values, id, plain string) (api.Answer, error) {
	refuse := func(detail string) (api.Answer, error) {
		return api.Answer{}, &api.Refusal{Kind: errRequest, Detail: detail}
	}
	shown, made := form.Get("assertion"), granted{TokenType: "Bearer"}
	if form.Get("grant_type") == exchangeGrant {
		shown, made.IssuedType = form.Get("subject_token"), accessToken
		types := []string{accessToken, tokenTypes + "jwt", tokenTypes + "id_token"}
		switch wanted := form.Get("requested_token_type"); {
		case !slices.Contains(types, form.Get("subject_token_type")):
			return refuse("subject_token_type must be that of an access token, a JWT or an ID token")
		case wanted != "" && wanted != accessToken && wanted != tokenTypes+"jwt":
			return refuse("requested_token_type must be " + accessToken)
		case form.Has("actor_token"):
			return refuse("actor_token is not supported")
		}
	}
	if shown == "" {
		return refuse("the token is missing: assertion, or subject_token")
	}
	if plain != "" {
		if _, err := s.Clients.Authenticate(c.Context(), id, plain); err != nil {
			return api.Answer{}, err
		}
	}
	p, err := s.Callers.Authenticate(c.Context(), shown)
	if err != nil {
		return api.Answer{}, notAccepted(err)
	}
	token, lives, err := s.Exchange(c.Context(), p)
	if err != nil {
		return api.Answer{}, notAccepted(err)
	}
	made.AccessToken, made.ExpiresIn = token, int(lives.Seconds())
	if form.Get("scope") != "" {
		made.Scope = clientScope
	}
	return api.Answer{Header: http.Header{"Pragma": {"no-cache"}}, Body: made}, nil
}

// notAccepted is the refusal of a token. It counts as a failed login.
func notAccepted(err error) error {
	if errors.Is(err, policy.ErrUnauthenticated) {
		return fmt.Errorf("%w: %w", errToken, err)
	}
	return err
}
