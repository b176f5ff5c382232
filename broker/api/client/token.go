package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// Logins returns how people log in at issuers that the server trusts. It needs no token.
func (c *Client) Logins(ctx context.Context) ([]v1.LoginMethod, error) {
	all, err := fetch[v1.Logins](ctx, c, request{method: http.MethodGet, path: []string{"logins"}})
	return all.Items, err
}

// wordOf is a word of OAuth; another text may be anything.
func wordOf(text string) string {
	if len(text) > 64 || strings.ContainsFunc(text, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r == '_') }) {
		return "?"
	}
	return text
}

// ShortToken exchanges the client's token for one of the broker's, which is good for minutes (RFC 8693).
func (c *Client) ShortToken(ctx context.Context) (secret.Text, error) {
	form := url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "subject_token": {c.token.Reveal()},
		"subject_token_type": {"urn:ietf:params:oauth:token-type:access_token"},
	}
	said, status, err := c.askToken(ctx, form)
	switch {
	case err != nil:
		return secret.Text{}, err
	case status == http.StatusNotFound:
		return secret.Text{}, fmt.Errorf("%s gives no tokens of its own: its operator sets oauth.issuer", c.base.Host)
	case said.Token.Empty():
		return secret.Text{}, fmt.Errorf("%s gives no token for this one (%d): %s", c.base.Host, status, wordOf(said.Error))
	}
	return said.Token, nil
}
