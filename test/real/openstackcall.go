package real

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

// plainClient keeps no connections: the services close theirs after each answer.
var plainClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// answers reports whether anything answers HTTP there.
func answers(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := plainClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// LogIn gets a token for a tenant, by password; the answer's body goes into out,
// which may be nil.
func (o *Cloud) LogIn(ctx context.Context, who Tenant, out any) (token string, err error) {
	body := object{"auth": object{
		"identity": object{"methods": []string{"password"}, "password": object{"user": object{"id": who.UserID, "password": who.Password}}},
		"scope":    object{"project": object{"id": who.ProjectID}},
	}}
	header, err := send(ctx, "", "POST", o.AuthURL+"/auth/tokens", body, out)
	return header.Get("X-Subject-Token"), err
}

// Do asks with the administrator's token, and fails the test unless that
// succeeds. in and out are JSON; either may be nil.
func (o *Cloud) Do(t testing.TB, method, url string, in, out any) {
	t.Helper()
	// Also in a Cleanup, when the test's context is over.
	if err := o.call(context.WithoutCancel(t.Context()), method, url, in, out); err != nil {
		t.Fatal(err)
	}
}

func (o *Cloud) call(ctx context.Context, method, url string, in, out any) error {
	for again := false; ; again = true {
		o.mu.Lock()
		token := o.token
		o.mu.Unlock()
		if token != "" {
			_, err := send(ctx, token, method, url, in, out)
			var answered *statusError
			if again || !errors.As(err, &answered) || answered.status != http.StatusUnauthorized {
				return err
			}
		}
		token, err := o.LogIn(ctx, o.Admin, nil)
		if err != nil {
			return err
		}
		o.mu.Lock()
		o.token = token
		o.mu.Unlock()
	}
}

func send(ctx context.Context, token, method, url string, in, out any) (http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("asking OpenStack: %w", err)
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, fmt.Errorf("asking OpenStack: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("X-Auth-Token", token)
	}
	response, err := plainClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking OpenStack: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("asking OpenStack: %w", err)
	}
	if response.StatusCode >= 300 {
		return nil, &statusError{method, url, response.StatusCode, text}
	}
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			return nil, fmt.Errorf("reading the answer to %s %s: %w", method, url, err)
		}
	}
	return response.Header, nil
}

// StackWith asks Heat for a small stack with a tenant's application credential, and
// says whether it may have one.
func (o *Cloud) StackWith(t testing.TB, who Tenant, id, secret string) bool {
	t.Helper()
	header, err := send(t.Context(), "", "POST", o.AuthURL+"/auth/tokens", object{"auth": object{"identity": object{
		"methods": []string{"application_credential"}, "application_credential": object{"id": id, "secret": secret},
	}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	template := "heat_template_version: 2018-08-31\nresources: {r: {type: OS::Heat::RandomString}}\n"
	_, err = send(t.Context(), header.Get("X-Subject-Token"), "POST", o.Orchestration+"/v1/"+who.ProjectID+"/stacks",
		object{"stack_name": "with-" + id, "template": template}, nil)
	var answered *statusError
	if errors.As(err, &answered) && answered.status == http.StatusForbidden {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}
