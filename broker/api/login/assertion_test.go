package login_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/policy"
	fake "github.com/vimbroker/vimbroker/test/issuer"
)

// A client logs in by an assertion in the form (RFC 7523 section 2.2), and by nothing beside it.
func TestAnAssertionLogsAClientIn(t *testing.T) {
	b := newBench(t, api.Limits{})
	signs := fake.New(t)
	admin := policy.Principal{Name: "root", Project: "core", Roles: []string{"admin"}}
	c, _, err := b.clients.Create(t.Context(), admin, oauth.NewClient{
		Name: "signer", Roles: []string{"vnfm"}, Certificate: oauth.Certificate{Kind: oauth.JWKS, Name: string(signs.JWKS())},
	})
	if err != nil {
		t.Fatal(err)
	}
	const form = "grant_type=client_credentials&client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer&client_assertion="
	assertion := func(id string) string {
		return signs.Token(c.ID, map[string]any{"iss": c.ID, "aud": issuer + "/oauth2/token", "jti": id})
	}
	first, secretly := assertion("1"), "&client_id="+b.id+"&client_secret="+b.plain
	b.id = c.ID
	b.wantToken("an assertion", b.ask(here, form+first))
	for what, w := range map[string]struct {
		form    string
		headers []string
		status  int
		want    string
	}{
		"used again":       {form + first, nil, http.StatusUnauthorized, "invalid_client"},
		"another type":     {strings.Replace(form, "jwt-bearer", "saml2-bearer", 1) + assertion("2"), nil, http.StatusBadRequest, "invalid_request"},
		"a secret with it": {form + assertion("3") + secretly, nil, http.StatusBadRequest, "invalid_request"},
		"a header with it": {form + assertion("4"), []string{"Authorization", basic(c.ID, "")}, http.StatusBadRequest, "invalid_request"},
		"no type":          {"grant_type=client_credentials&client_assertion=" + assertion("5"), nil, http.StatusBadRequest, "invalid_request"},
		"a type alone":     {strings.TrimSuffix(form, "&client_assertion="), nil, http.StatusUnauthorized, "invalid_client"},
		"no assertion":     {form, nil, http.StatusUnauthorized, "invalid_client"},
	} {
		got := b.ask(here, w.form, w.headers...)
		if got.Code != w.status || !strings.Contains(got.Body.String(), `"`+w.want+`"`) || strings.Contains(got.Body.String(), first) {
			t.Errorf("%s: %d %s", what, got.Code, got.Body)
		}
	}
	if strings.Contains(b.log.String(), first) {
		t.Error("the log holds an assertion")
	}
}
