package keystone

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"
)

type object = map[string]any

// AppCred is an application credential; its Secret is known only of those just made.
type AppCred struct {
	ID, Name, Description, Secret string
	ExpiresAt                     string `json:"expires_at"`
}

// auth is how a login says who it is.
func (a AppCred) auth() object {
	return object{"identity": object{
		"methods": []string{"application_credential"}, "application_credential": object{"id": a.ID, "secret": a.Secret},
	}}
}

// auth logs the user in to his project.
func (u User) auth() object {
	return object{
		"identity": object{"methods": []string{"password"}, "password": object{"user": object{"id": u.ID, "password": u.Password}}},
		"scope":    object{"project": object{"id": u.ProjectID}},
	}
}

// login is the answer to one.
type login struct {
	token string
	Token struct {
		Roles     []struct{ Name string }
		ExpiresAt string `json:"expires_at"`
	}
}

// logIn returns the answer to a login, and its status.
func (c Cloud) logIn(t *testing.T, auth object) (login, int) {
	t.Helper()
	var in login
	header, status := c.ask(t, "", http.MethodPost, "/auth/tokens", object{"auth": auth}, &in)
	in.token = header.Get("X-Subject-Token")
	return in, status
}

// rolesOf are the roles of a login, sorted.
func (c Cloud) rolesOf(t *testing.T, auth object) []string {
	t.Helper()
	in, status := c.logIn(t, auth)
	if status != http.StatusCreated {
		t.Fatalf("login = %d", status)
	}
	var names []string
	for _, r := range in.Token.Roles {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return names
}

// as asks as a user, and wants that status.
func (c Cloud) as(t *testing.T, u User, want int, method, path string, in, out any) {
	t.Helper()
	who, status := c.logIn(t, u.auth())
	if status != http.StatusCreated {
		t.Fatalf("login of %s = %d", u.Name, status)
	}
	if _, status := c.ask(t, who.token, method, "/users/"+u.ID+path, in, out); status != want {
		t.Fatalf("%s %s = %d, want %d", method, path, status, want)
	}
}

// appCred makes one that is the user's.
func (c Cloud) appCred(t *testing.T, fields object) AppCred {
	t.Helper()
	var made struct {
		Credential AppCred `json:"application_credential"`
	}
	c.as(t, c.User, http.StatusCreated, http.MethodPost, "/application_credentials", object{"application_credential": fields}, &made)
	return made.Credential
}

func (c Cloud) appCreds(t *testing.T, u User) []AppCred {
	t.Helper()
	var all struct {
		Credentials []AppCred `json:"application_credentials"`
	}
	c.as(t, u, http.StatusOK, http.MethodGet, "/application_credentials", nil, &all)
	return all.Credentials
}

func (c Cloud) delete(t *testing.T, u User, id string) {
	t.Helper()
	c.as(t, u, http.StatusNoContent, http.MethodDelete, "/application_credentials/"+id, nil, nil)
}

// ask sends one request to Keystone; an answer that is no success is not read.
func (c Cloud) ask(t *testing.T, token, method, path string, in, out any) (http.Header, int) {
	t.Helper()
	var body io.Reader // none for nil: Keystone refuses JSON's null
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	// Also in a Cleanup, when the test's context is over.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, c.Endpoint+"/v3"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("X-Auth-Token", token)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(c.CAPEM))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if out == nil || response.StatusCode >= 300 {
		_, _ = io.Copy(io.Discard, response.Body)
		return response.Header, response.StatusCode
	}
	if err := json.NewDecoder(response.Body).Decode(out); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return response.Header, response.StatusCode
}
