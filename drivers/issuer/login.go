package issuer

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/session"
	"github.com/vimbroker/vimbroker/broker/trust"
)

var _ session.Provider = Driver{}

// AuthorizationAt implements [session.Provider].
func (d Driver) AuthorizationAt(ctx context.Context, e trust.Authority) (string, error) {
	way, err := remote.New(d.Egress(), remote.Options{Server: server, CA: remote.Authorities{PEM: e.CA}})
	if err != nil {
		return "", err
	}
	defer way.CloseIdleConnections()
	said, err := discover(ctx, way.Client(), e)
	if err == nil && !said.safe(e, said.Authorization) {
		err = errors.New("the issuer has people log in at no https URL")
	}
	return said.Authorization, err
}

// Exchange implements [session.Provider].
func (d Driver) Exchange(ctx context.Context, e trust.Authority, form url.Values) ([]secret.Text, error) {
	way, err := remote.New(d.Egress(), remote.Options{Server: server, CA: remote.Authorities{PEM: e.CA}})
	if err != nil {
		return nil, err
	}
	defer way.CloseIdleConnections()
	said, err := discover(ctx, way.Client(), e)
	if err != nil {
		return nil, err
	}
	if !said.safe(e, said.Token) {
		return nil, errors.New("the issuer has tokens at no https URL")
	}
	r, err := http.NewRequestWithContext(remote.Expect(ctx, small), http.MethodPost, said.Token, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, errors.New("the issuer's URL cannot be used")
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	answer, err := way.Client().Do(r)
	if err != nil {
		return nil, remote.Explain(err, server)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body) // which the transport has bounded
	var got struct {
		Access string `json:"access_token"`
		ID     string `json:"id_token"`
	}
	if err != nil || answer.StatusCode != http.StatusOK || json.Unmarshal(text, &got) != nil {
		return nil, errors.New("the issuer gives no token for the code")
	}
	var all []secret.Text
	for _, token := range []string{got.ID, got.Access} {
		if token != "" {
			all = append(all, secret.NewText(token))
		}
	}
	return all, nil
}
