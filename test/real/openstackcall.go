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

	"github.com/vimbroker/vimbroker/test/process"
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

// LogInWith gets a token for an application credential; the answer's body goes into
// out, which may be nil.
func (o *Cloud) LogInWith(ctx context.Context, id, secret string, out any) (token string, err error) {
	body := object{"auth": object{"identity": object{
		"methods": []string{"application_credential"}, "application_credential": object{"id": id, "secret": secret},
	}}}
	header, err := send(ctx, "", "POST", o.AuthURL+"/auth/tokens", body, out)
	return header.Get("X-Subject-Token"), err
}

// As asks with a token, and returns the status of the answer. in and out are JSON,
// out that of a success; either may be nil.
func (o *Cloud) As(t testing.TB, token, method, url string, in, out any) (status int) {
	t.Helper()
	_, err := send(context.WithoutCancel(t.Context()), token, method, url, in, out)
	var answered *statusError
	if errors.As(err, &answered) {
		return answered.status
	}
	if err != nil {
		t.Fatal(err)
	}
	return http.StatusOK
}

// Stack has Heat make a small stack in a project, and waits until it is complete.
// It says whether the token's owner may have one.
func (o *Cloud) Stack(t testing.TB, token, projectID string) bool {
	t.Helper()
	var made struct{ Stack struct{ ID string } }
	stacks := o.Orchestration + "/v1/" + projectID + "/stacks"
	switch status := o.As(t, token, "POST", stacks, object{
		"stack_name": o.newName(), "template": "heat_template_version: 2018-08-31\nresources: {r: {type: OS::Heat::RandomString}}\n",
	}, &made); status {
	case http.StatusOK:
	case http.StatusForbidden:
		return false
	default:
		t.Fatalf("Heat answers %d to the request for a stack", status)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(process.Patience); ; {
		var now struct {
			Stack struct {
				Status string `json:"stack_status"`
				Reason string `json:"stack_status_reason"`
			}
		}
		// By the administrator: the token may have ended.
		o.Do(t, "GET", stacks+"/"+made.Stack.ID, nil, &now)
		switch now.Stack.Status {
		case "CREATE_COMPLETE":
			return true
		case "CREATE_FAILED":
			t.Fatalf("a stack failed: %s", now.Stack.Reason)
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("a stack is still %s", now.Stack.Status)
		}
	}
}

// Token logs a tenant in.
func (o *Cloud) Token(t testing.TB, who Tenant) string {
	t.Helper()
	token, err := o.LogIn(t.Context(), who, nil)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// Trustees are the users whom a tenant's trusts are for.
func (o *Cloud) Trustees(t testing.TB, who Tenant) (ids []string) {
	t.Helper()
	var all struct {
		Trusts []struct {
			Trustee string `json:"trustee_user_id"`
		}
	}
	if status := o.As(t, o.Token(t, who), http.MethodGet, o.AuthURL+"/OS-TRUST/trusts?trustor_user_id="+who.UserID, nil, &all); status != http.StatusOK {
		t.Fatalf("trusts are answered with %d", status)
	}
	for _, one := range all.Trusts {
		ids = append(ids, one.Trustee)
	}
	return ids
}
