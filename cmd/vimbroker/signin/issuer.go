// Package signin gets tokens for a person or a program from where the server trusts them: the issuer of a person's
// login, by code with PKCE or by device code, or the platform that a program runs on.
package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Issuer is an issuer of tokens, as a client knows it.
type Issuer struct {
	URL      string
	ClientID string
	Scopes   []string
	// Audience is the one that the server wants in tokens.
	Audience string
	// HTTP asks it; nil means a client of 30 s.
	HTTP *http.Client
}

// Kept is what a login has brought. It is for files of its owner alone.
type Kept struct {
	// Token is the one that the server takes.
	Token string `json:"token,omitempty"`
	// Refresh gets another one; empty if the issuer gave none.
	Refresh   string    `json:"refresh,omitempty"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
}

// Fresh reports whether the token is good for a while longer.
func (l Kept) Fresh(now time.Time) bool {
	return l.Token != "" && now.Add(time.Minute).Before(l.ExpiresAt)
}

// maxAnswer bounds an answer of an issuer, in bytes.
const maxAnswer = 1 << 20

// document is the part of an issuer's document (OpenID Connect Discovery 1.0) that logins need.
type document struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Device        string   `json:"device_authorization_endpoint"`
	Revocation    string   `json:"revocation_endpoint"`
	Scopes        []string `json:"scopes_supported"`
}

func (i Issuer) client() *http.Client {
	if i.HTTP != nil {
		return i.HTTP
	}
	return &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// discover reads the issuer's document.
func (i Issuer) discover(ctx context.Context) (document, error) {
	var d document
	text, err := get(ctx, i.client(), strings.TrimSuffix(i.URL, "/")+"/.well-known/openid-configuration", nil)
	if err != nil {
		return d, err
	}
	if json.Unmarshal(text, &d) != nil || d.Issuer != i.URL || d.Token == "" {
		return d, fmt.Errorf("%s does not describe itself as an issuer of that name", i.URL)
	}
	for _, at := range []string{d.Authorization, d.Token, d.Device, d.Revocation} {
		if at != "" && !safe(at) {
			return d, fmt.Errorf("%s has an endpoint that is not https", i.URL)
		}
	}
	return d, nil
}

// safe reports whether tokens may be sent to a URL.
func safe(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || egress.OwnHost(u.Hostname()))
}

// get reads an answer. Errors hold nothing of it.
func get(ctx context.Context, c *http.Client, from string, bearer *secret.Text) ([]byte, error) {
	host := from
	if u, err := url.Parse(from); err == nil {
		host = u.Host
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil || !safe(from) {
		return nil, fmt.Errorf("%s is no https URL", host)
	}
	r.Header.Set("Accept", "application/json")
	if bearer != nil {
		r.Header.Set("Authorization", "Bearer "+bearer.Reveal())
	}
	answer, err := c.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%s does not answer: %w", host, plain(err))
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %d", host, answer.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("the answer of %s breaks off", host)
	}
	return text, nil
}

// plain is a network error without the URL, which may hold a code.
func plain(err error) error {
	if asked := (*url.Error)(nil); errors.As(err, &asked) {
		return asked.Err
	}
	return err
}

// flow is a login that is under way.
type flow struct {
	Issuer
	document
	config oauth2.Config
}

func (i Issuer) begin(ctx context.Context) (flow, context.Context, error) {
	d, err := i.discover(ctx)
	scopes := i.Scopes
	if len(scopes) == 0 {
		scopes = []string{"openid"}
		for _, s := range d.Scopes {
			if s == "offline_access" {
				scopes = append(scopes, s)
			}
		}
	}
	f := flow{Issuer: i, document: d, config: oauth2.Config{
		ClientID: i.ClientID, Scopes: scopes,
		Endpoint: oauth2.Endpoint{
			AuthURL: d.Authorization, TokenURL: d.Token, DeviceAuthURL: d.Device, AuthStyle: oauth2.AuthStyleInParams,
		},
	}}
	return f, context.WithValue(ctx, oauth2.HTTPClient, i.client()), err
}

// login takes from an issuer's answer the token that is for the audience: the access token, or else the ID token.
func (f flow) login(t *oauth2.Token, before Kept) (Kept, error) {
	l := Kept{Refresh: t.RefreshToken}
	if l.Refresh == "" {
		l.Refresh = before.Refresh
	}
	id, _ := t.Extra("id_token").(string)
	for _, token := range []string{t.AccessToken, id} {
		if said, ok := claimsOf(token); ok && said.isFor(f.Audience) {
			l.Token, l.ExpiresAt = token, time.Unix(int64(said.Expiry), 0)
			return l, nil
		}
	}
	return l, fmt.Errorf("%s gave no token for the audience %q, which the server wants; the issuer's administrator sets it, "+
		"or the entry in the server's table of trust is for another", f.URL, f.Audience)
}

// said are the claims of a token that the client looks at. Only the server checks it.
type said struct {
	Audience any     `json:"aud"`
	Expiry   float64 `json:"exp"`
}

func (s said) isFor(audience string) bool {
	if many, ok := s.Audience.([]any); ok {
		for _, one := range many {
			if one == audience {
				return true
			}
		}
	}
	return s.Audience == audience
}

// Refresh gets another token for a login. The issuer may take a refresh token once, so no other process may do so
// meanwhile.
func (i Issuer) Refresh(ctx context.Context, l Kept) (Kept, error) {
	if l.Refresh == "" {
		return l, errAgain
	}
	f, ctx, err := i.begin(ctx)
	if err != nil {
		return l, err
	}
	t, err := f.config.TokenSource(ctx, &oauth2.Token{RefreshToken: l.Refresh}).Token()
	if err != nil {
		if said := (*oauth2.RetrieveError)(nil); errors.As(err, &said) {
			return l, errAgain
		}
		return l, fmt.Errorf("%s does not answer: %w", i.URL, plain(err))
	}
	return f.login(t, l)
}

// errAgain: a person has to log in.
var errAgain = errors.New("the login has ended; log in again: vimbroker login")

// Revoke ends a login at the issuer, where it can.
func (i Issuer) Revoke(ctx context.Context, l Kept) error {
	if l.Refresh == "" {
		return nil
	}
	f, _, err := i.begin(ctx)
	if err != nil || f.Revocation == "" {
		return err
	}
	form := url.Values{"token": {l.Refresh}, "token_type_hint": {"refresh_token"}, "client_id": {i.ClientID}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.Revocation, strings.NewReader(form.Encode()))
	if err != nil {
		return fmt.Errorf("%s cannot be asked", i.URL)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := i.client().Do(r)
	if err != nil {
		return fmt.Errorf("%s does not answer: %w", i.URL, plain(err))
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %d", i.URL, answer.StatusCode)
	}
	return nil
}
