// Package issuer asks issuers of tokens for their keys (OpenID Connect Discovery 1.0, RFC 8414, RFC 7517).
// It sends no credential and follows no redirect.
package issuer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Clusters asks registered clusters; the broker's registry does.
type Clusters interface {
	// IssuerKeys returns the JWK set of a registered cluster, and the issuer as it names itself.
	IssuerKeys(ctx context.Context, vim string) (issuer string, set []byte, err error)
}

// Driver asks issuers. It is safe for concurrent use.
type Driver struct {
	// Egress bounds where issuers may be.
	Egress func() *egress.Rules
	// Clusters are asked about entries of VIMs.
	Clusters Clusters
}

var _ trust.Source = Driver{}

// small bounds both documents.
var small = remote.Limit{Bytes: 256 << 10, Values: 4000, Items: 500}

const server = "the issuer"

// Keys implements [trust.Source]. An issuer that calls itself otherwise in its document has no keys.
func (d Driver) Keys(ctx context.Context, e trust.Authority) (issuer string, set []byte, err error) {
	if e.VIM != "" {
		return d.Clusters.IssuerKeys(ctx, e.VIM)
	}
	way, err := remote.New(d.Egress(), remote.Options{Server: server, CA: remote.Authorities{PEM: e.CA}})
	if err != nil {
		return "", nil, err
	}
	defer way.CloseIdleConnections()
	ctx = remote.Expect(ctx, small)
	said, err := discover(ctx, way.Client(), e)
	if err != nil {
		return said.Issuer, nil, err
	}
	if !said.safe(e, said.Keys) {
		return said.Issuer, nil, errors.New("the issuer's keys are not at an https URL")
	}
	set, err = get(ctx, way.Client(), said.Keys)
	return said.Issuer, set, err
}

// document is what issuers say of themselves (OpenID Connect Discovery 1.0).
type document struct {
	Issuer        string `json:"issuer"`
	Keys          string `json:"jwks_uri"`
	Authorization string `json:"authorization_endpoint"`
	Token         string `json:"token_endpoint"`
}

// safe reports whether a URL of the document may be used: https, or http where the issuer is at such a one.
func (document) safe(e trust.Authority, text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && strings.HasPrefix(e.Issuer, "http:"))
}

// discover reads the document of an entry's issuer, which has to call itself as the entry does.
func discover(ctx context.Context, c *http.Client, e trust.Authority) (said document, err error) {
	text, err := get(remote.Expect(ctx, small), c, strings.TrimSuffix(e.Issuer, "/")+"/.well-known/openid-configuration")
	switch {
	case err != nil:
		return said, err
	case json.Unmarshal(text, &said) != nil || said.Keys == "":
		return document{}, errors.New("the issuer's document is none of OpenID Connect")
	case said.Issuer != e.Issuer:
		return said, errors.New("the issuer calls itself otherwise than the entry does")
	}
	return said, nil
}

func get(ctx context.Context, c *http.Client, from string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil {
		return nil, errors.New("the issuer's URL cannot be used")
	}
	request.Header.Set("Accept", "application/json")
	answer, err := c.Do(request)
	if err != nil {
		return nil, remote.Explain(err, server)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the issuer answers %d", answer.StatusCode)
	}
	text, err := io.ReadAll(answer.Body) // which the transport has bounded
	if err != nil {
		return nil, errors.New("the issuer's answer breaks off")
	}
	return text, nil
}
