package server

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/issuer"
)

// trusting is a server whose table of trust has one issuer, with rules for alice and for a pipeline.
type trusting struct {
	*server
	t      *testing.T
	issuer *issuer.Issuer
	admin  string
}

func newTrusting(t *testing.T) *trusting {
	t.Helper()
	is := issuer.New(t)
	s, admin := tryOut(t, func(c *config) {
		c.Issuer, c.Limits = "http://127.0.0.1:8420", api.Limits{} // which would refuse a hundred forged tokens unseen
		e := trust.Authority{Name: "corp", Issuer: is.URL, Keys: string(is.JWKS()), Principals: []trust.Mapping{
			{Match: map[string]string{"sub": "alice"}, Project: "core", Roles: []string{"member"}},
			{Match: map[string]string{"repository": "acme/edge", "environment": "prod", "ref_protected": "true"}, Project: "acme", Roles: []string{"member"}},
		}}
		c.Trust = append(c.Trust, trustConfig{TrustEntry: files.TrustEntry{Authority: e.WithDefaults()}})
	})
	return &trusting{s, t, is, admin}
}

// ask sends a request with a token.
func (b *trusting) ask(method, path, token, form string) (int, string) {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, path, strings.NewReader(form))
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Version", "2.0.0")
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// bearerDoors are a path of each door that takes bearer tokens.
var bearerDoors = []string{
	"/v1/whoami", "/v1/vims", "/v1.0/vims", "/vnflcm/v2/vnf_instances", "/vnfpkgm/v2/vnf_packages", "/grant/v1/grants/6f0d5f1a-2c59-4b60-9f11-7a1d2c3b4e5f",
}

func TestATrustedCallerComesInAtEveryDoor(t *testing.T) {
	b := newTrusting(t)
	token := b.issuer.Token("alice", map[string]any{"acr": "gold"})
	for _, path := range bearerDoors {
		if status, body := b.ask("GET", path, token, ""); status == http.StatusUnauthorized || status >= 500 {
			t.Errorf("GET %s = %d %s", path, status, body)
		}
	}
	_, body := b.ask("GET", "/v1/whoami", token, "")
	for _, want := range []string{`"name":"oidc:corp:alice"`, `"project":"core"`, `"authenticator":"oidc"`, `"trust":"corp"`, `"acr":["gold"]`, `"expiresAt":`} {
		if !strings.Contains(body, want) {
			t.Errorf("whoami = %s, want %s in it", body, want)
		}
	}
}

// Each forged token is a 401 in one wording at each door, and one entry of the audit log that says who refused it and
// why, and nothing of it is anywhere.
func TestForgedTokensAreRefusedAtEveryDoor(t *testing.T) {
	b := newTrusting(t)
	said := map[string]bool{}
	for what, f := range b.issuer.Forged() {
		for _, path := range bearerDoors {
			status, body := b.ask("GET", path, f[0], "")
			if status != http.StatusUnauthorized {
				t.Errorf("%s: GET %s = %d %.200s", what, path, status, body)
			}
			if path == "/v1/whoami" && status == http.StatusUnauthorized {
				var p struct{ Type, Title, Detail string }
				if err := json.Unmarshal([]byte(body), &p); err != nil {
					t.Errorf("%s: GET %s = %s", what, path, body)
				}
				said[p.Type+p.Title+p.Detail] = true
			}
		}
	}
	if len(said) != 1 {
		t.Errorf("refusals are worded in %d ways: %v", len(said), said)
	}
}

func TestARefusalIsOneEntryWithItsReason(t *testing.T) {
	b := newTrusting(t)
	token := b.issuer.Forged()["exp a second ago"][0]
	for range 3 {
		b.ask("GET", "/v1/whoami", token, "")
	}
	_, _ = b.ask("GET", "/v1/whoami", b.issuer.Forged()["kid unknown"][0], "")
	_, log := b.ask("GET", "/v1/audit?action="+string(audit.Login)+"&outcome=denied", b.admin, "")
	if n := strings.Count(log, `"reason":"expired"`); n != 1 || !strings.Contains(log, `"authenticator":"oidc:corp"`) || !strings.Contains(log, `"reason":"unknown key"`) {
		t.Errorf("the audit log has %d entries on an expired token, want one for each reason:\n%s", n, log)
	}
	if strings.Contains(log, strings.Split(token, ".")[2]) {
		t.Error("the audit log holds a token")
	}
}

func TestAStaticTokenRaisesAnAlarmWhereTheSiteWantsOne(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		s, token := tryOut(t, func(c *config) { c.TokensAlarm = wanted })
		log := new(strings.Builder)
		s.log = slog.New(slog.NewTextHandler(log, nil))
		b := &trusting{server: s, t: t}
		for range 3 {
			b.ask("GET", "/v1/whoami", token, "")
		}
		n := strings.Count(log.String(), "a token of the tokens file is used")
		if wanted && n != 1 || !wanted && n != 0 || strings.Contains(log.String(), token) {
			t.Errorf("with tokensAlarm: %v three uses raise %d alarms:\n%s", wanted, n, log)
		}
	}
}

// token is the answer of the token endpoint.
func (b *trusting) token(form string) (token, refusal string, life int) {
	b.t.Helper()
	status, body := b.ask("POST", "/oauth2/token", "", form)
	var said struct {
		Token       string `json:"access_token"`
		Life        int    `json:"expires_in"`
		Error       string
		Description string `json:"error_description"`
	}
	if err := json.Unmarshal([]byte(body), &said); err != nil || (status == http.StatusOK) != (said.Token != "") {
		b.t.Errorf("POST /oauth2/token = %d %s", status, body)
	}
	if status != http.StatusOK && status != http.StatusBadRequest && status != http.StatusRequestEntityTooLarge {
		b.t.Errorf("POST /oauth2/token = %d %s", status, body)
	}
	return said.Token, said.Error + ": " + said.Description, said.Life
}

const (
	asBearer   = "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion="
	asExchange = "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&subject_token_type=urn:ietf:params:oauth:token-type:jwt&subject_token="
)

func TestATokenIsExchangedForOneOfFiveMinutes(t *testing.T) {
	b := newTrusting(t)
	long := b.issuer.Token("alice", map[string]any{"exp": time.Now().Add(time.Hour).Unix(), "acr": "gold"})
	for what, c := range map[string]struct {
		form, name string
		life       int
	}{
		"jwt-bearer":       {asBearer + long, "oidc:corp:alice", 300},
		"token-exchange":   {asExchange + long, "oidc:corp:alice", 300},
		"one that ends":    {asBearer + b.issuer.Token("alice", map[string]any{"exp": time.Now().Add(time.Minute).Unix()}), "oidc:corp:alice", 60},
		"a static token's": {asExchange + b.admin, "admin", 300},
	} {
		token, refusal, life := b.token(c.form)
		if token == "" || life > c.life || life < c.life-5 {
			t.Errorf("%s: %s, good for %d s", what, refusal, life)
			continue
		}
		status, body := b.ask("GET", "/v1/whoami", token, "")
		if status != http.StatusOK || !strings.Contains(body, `"name":"`+c.name+`"`) || strings.HasPrefix(c.name, "oidc") && !strings.Contains(body, `"trust":"corp"`) {
			t.Errorf("%s: whoami = %d %s", what, status, body)
		}
		for _, path := range bearerDoors {
			if status, body := b.ask("GET", path, token, ""); status == http.StatusUnauthorized || status >= 500 {
				t.Errorf("%s: GET %s = %d %s", what, path, status, body)
			}
		}
		for _, form := range []string{asBearer, asExchange} { // or it would have no end
			if again, _, _ := b.token(form + token); again != "" {
				t.Errorf("%s: the broker's own token is exchanged", what)
			}
		}
	}
	token, _, _ := b.token(asBearer + long)
	next := b.live.started
	next.Trust = slices.Clone(next.Trust)
	next.Trust[0].Principals = []trust.Mapping{{Match: map[string]string{"sub": "bob"}, Project: "core", Roles: []string{"member"}}}
	next.tokens = b.live.now.Load().tokens
	b.live.replace(next)
	if status, _ := b.ask("GET", "/v1/whoami", token, ""); status != http.StatusUnauthorized {
		t.Errorf("a token whose entry has changed: %d, want 401", status)
	}
	for what, form := range map[string]string{
		"no assertion":     strings.TrimSuffix(asBearer, "assertion=") + "x=1",
		"another type":     strings.Replace(asExchange, "token-type:jwt", "token-type:saml2", 1) + long,
		"an actor":         asExchange + long + "&actor_token=x",
		"another wish":     asExchange + long + "&requested_token_type=urn:ietf:params:oauth:token-type:refresh_token",
		"a Keystone token": asExchange + "gAAAAAB",
	} {
		if token, refusal, _ := b.token(form); token != "" || !strings.HasPrefix(refusal, "invalid_") {
			t.Errorf("%s: %s", what, refusal)
		}
	}
}

func TestForgedTokensAreNotExchanged(t *testing.T) {
	b := newTrusting(t)
	said := map[string]bool{}
	for what, f := range b.issuer.Forged() {
		for _, form := range []string{asBearer, asExchange} {
			token, refusal, _ := b.token(form + url.QueryEscape(f[0]))
			if token != "" {
				t.Errorf("%s is exchanged", what)
			}
			if len(f[0]) < 7000 {
				said[refusal] = true
			}
		}
	}
	if len(said) != 1 {
		t.Errorf("refusals are worded in %d ways: %v", len(said), said)
	}
}

func TestLoginsArePublished(t *testing.T) {
	b := newTrusting(t)
	if status, body := b.ask("GET", "/logins", "", ""); status != http.StatusOK || !strings.Contains(body, `{"items":[]}`) {
		t.Errorf("GET /logins = %d %s", status, body)
	}
	e := b.config.Trust[0].Authority
	e.Login = &trust.Signin{ClientID: "cli"}
	b.trust.Replace([]trust.Authority{e})
	if _, body := b.ask("GET", "/logins", "", ""); !strings.Contains(body, `"clientID":"cli"`) || !strings.Contains(body, `"audience":"vimbroker"`) || !strings.Contains(body, b.issuer.URL) {
		t.Errorf("GET /logins = %s", body)
	}
}
