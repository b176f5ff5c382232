package kubernetes_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/fake"
)

// The issuer and the keys of a cluster's accounts are what it publishes; what it refuses is an error.
func TestKeysOfAClustersAccounts(t *testing.T) {
	b := newBench(t)
	answer := func(path string, status int, body string) {
		b.fail(fake.Fault{Method: "GET", Path: path, Kind: fake.JSON, Status: status, Body: body})
	}
	const issuer, keys = "/.well-known/openid-configuration$", "/openid/v1/jwks$"
	refused := `{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"reason":"Forbidden"}`
	answer(issuer, 200, `{"issuer":"https://issuer.example"}`)
	answer(keys, 200, `{"keys":[]}`)
	if from, got, err := b.d.AccountKeys(t.Context(), b.a); err != nil || from != "https://issuer.example" || string(got) != `{"keys":[]}` {
		t.Errorf("the accounts are of %q with %s, %v", from, got, err)
	}
	answer(issuer, 403, refused)
	if _, _, err := b.d.AccountKeys(t.Context(), b.a); !errors.Is(err, broker.ErrForbidden) || !strings.Contains(err.Error(), "openid-configuration") {
		t.Errorf("an issuer that nobody may see: %v", err)
	}
	answer(issuer, 200, `{"issuer":"x"}`)
	answer(keys, 403, refused)
	if _, _, err := b.d.AccountKeys(t.Context(), b.a); !errors.Is(err, broker.ErrForbidden) || !strings.Contains(err.Error(), "jwks") {
		t.Errorf("keys that nobody may see: %v", err)
	}
	nowhere := b.a
	nowhere.Target.CACert = "none"
	if _, _, err := b.d.AccountKeys(t.Context(), nowhere); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a cluster whose authorities are none: %v", err)
	}
}

// A token is an account's where the cluster says so, for the one audience that was asked about.
func TestTokensAreReviewed(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct {
		status int
		body   string
		is     bool
		want   error
	}{
		"an account's":       {201, `{"status":{"authenticated":true,"audiences":["us"]}}`, true, nil},
		"nobody's":           {201, `{"status":{"authenticated":false,"audiences":["us"]}}`, false, nil},
		"for another":        {201, `{"status":{"authenticated":true,"audiences":["them"]}}`, false, nil},
		"for two":            {201, `{"status":{"authenticated":true,"audiences":["us","them"]}}`, false, nil},
		"for nobody":         {201, `{"status":{"authenticated":true}}`, false, nil},
		"not to be asked of": {403, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"reason":"Forbidden"}`, false, broker.ErrForbidden},
	} {
		b.fail(fake.Fault{Method: "POST", Path: "/tokenreviews$", Kind: fake.JSON, Status: c.status, Body: c.body})
		if is, err := b.d.ReviewToken(t.Context(), b.a, "token", "us"); is != c.is || !errors.Is(err, c.want) || err == nil != (c.want == nil) {
			t.Errorf("a token, %s: %t, %v, want %t, %v", name, is, err, c.is, c.want)
		}
	}
}
