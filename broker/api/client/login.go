package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
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

// session keeps the token of a client that has logged in.
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
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.String()+"/oauth2/token", strings.NewReader(form.Encode()))
	if err != nil {
		return secret.Text{}, fmt.Errorf("building the request for a token: %w", err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("User-Agent", c.agent)
	answer, err := c.http.Do(r)
	if err != nil {
		return secret.Text{}, fmt.Errorf("logging in at the broker at %s: %w", c.base.Host, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxProblem))
	if err != nil {
		return secret.Text{}, fmt.Errorf("logging in at the broker at %s: %w", c.base.Host, err)
	}
	var got struct {
		Token   secret.Text `json:"access_token"`
		Seconds int         `json:"expires_in"`
	}
	if answer.StatusCode != http.StatusOK || json.Unmarshal(body, &got) != nil || got.Token.Empty() {
		return secret.Text{}, &Problem{v1.Problem{Status: answer.StatusCode, Title: "the login of client " + s.ID + " is refused"}}
	}
	s.fresh, s.ends = got.Token, time.Now().Add(time.Duration(got.Seconds)*time.Second-tokenMargin)
	return s.fresh, nil
}
