package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// tokenMargin is how long before its end a token of a client is replaced.
const tokenMargin = 30 * time.Second

// Login is how a registered client logs in: with its secret, or with the certificate of its connections.
type Login struct {
	ID          string
	Secret      secret.Text
	Certificate tls.Certificate
}

type granted struct {
	Token   secret.Text `json:"access_token"`
	Seconds int         `json:"expires_in"`
	Error   string      `json:"error"`
}

// askToken asks the token endpoint. The form holds a secret, and no error does. A refusal has no token.
func (c *Client) askToken(ctx context.Context, form url.Values) (got granted, status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.JoinPath("oauth2", "token").String(), strings.NewReader(form.Encode()))
	if err != nil {
		return got, 0, errors.New("the broker's address cannot be used")
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("User-Agent", c.agent)
	answer, err := c.http.Do(r)
	if err != nil {
		return got, 0, fmt.Errorf("asking the broker at %s for a token: %w", c.base.Host, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxProblem))
	if err != nil {
		return got, 0, fmt.Errorf("asking the broker at %s for a token: %w", c.base.Host, err)
	}
	if json.Unmarshal(text, &got) != nil || answer.StatusCode != http.StatusOK {
		got.Token = secret.Text{}
	}
	return got, answer.StatusCode, nil
}

type session struct {
	Login
	mu    sync.Mutex
	fresh secret.Text
	ends  time.Time
}

// token is one that lives for longer than tokenMargin (RFC 6749 section 4.4). The form of the request holds the secret,
// and no error does.
func (s *session) token(ctx context.Context, c *Client) (secret.Text, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().Before(s.ends) {
		return s.fresh, nil
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {s.ID}}
	if !s.Secret.Empty() {
		form.Set("client_secret", s.Secret.Reveal())
	}
	got, status, err := c.askToken(ctx, form)
	if err != nil {
		return secret.Text{}, err
	}
	if got.Token.Empty() {
		return secret.Text{}, &Problem{v1.Problem{Status: status, Title: "the login of client " + s.ID + " is refused"}}
	}
	s.fresh, s.ends = got.Token, time.Now().Add(time.Duration(got.Seconds)*time.Second-tokenMargin)
	return s.fresh, nil
}
