package rest_test

import (
	"net/http"
	"strings"
	"testing"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
)

const canary = "canary-7b1f-secret-value"

// wantNowhere fails if the canary came back in an answer, or stands in the log.
func (b *bench) wantNowhere(t *testing.T, what, canary string) {
	t.Helper()
	if !strings.Contains(b.wire.String(), "Content-Type") || !strings.Contains(b.log.String(), `"msg"`) && !strings.Contains(b.log.String(), "msg=") {
		t.Errorf("%s: no answer is kept, or no line of the log: the test proves nothing", what)
	}
	if strings.Contains(b.wire.String(), canary) {
		t.Errorf("%s: the secret came back in an answer", what)
	}
	if strings.Contains(b.log.String(), canary) {
		t.Errorf("%s: the secret stands in the log", what)
	}
}

// Peers echo the offending value of a request that does not validate: a body that
// is wrong in any way must not bring its secrets back.
func TestMalformedBodiesNeverEchoASecret(t *testing.T) {
	b := newBench(t)
	b.mustRegister("core-1")
	for _, body := range []string{
		`{"name":"x","endpoint":"` + b.kube.Endpoint + `","type":"kubernetes","insecureSkipVerify":true,"credential":{"token":"CANARY"}}`,
		`{"credential":{"token":["CANARY"]}}`,
		`{"credential":{"token":{"CANARY":1}}}`,
		`{"credential":{"token":{"value":"CANARY"}}}`,
		`{"credential":{"password":"CANARY","username":17}}`,
		`{"credential":"CANARY"}`,
		`{"shared":"CANARY"}`,
		`{"labels":"CANARY"}`,
		`{"name":["CANARY"]}`,
		`{"credential":["CANARY"]}`,
		`{"credential":{"token":"CANARY","tokn":"x"}}`,
		`{"credential":{"tokn":"CANARY"}}`,
		`{"credential":{"token":"CANARY","token":"CANARY"}}`,
		`{"credential":{"token":"CANARY`,
		`{"credential":{"token":"CANARY"`,
		`{"credential":{"token":"CANARY\u12"}}`,
		`{"credential":{"token":"CANARY\q"}}`,
		`{"credential":{"token":CANARY}}`,
		`{"credential":{"token":"CANARY"}} CANARY`,
		`{"kubeconfig":"CANARY"}`,
		`{"kubeconfig":"apiVersion: v1\nusers:\n- name: CANARY\n  user: {token: CANARY, exec: {command: CANARY}}"}`,
		`{"kubeconfig":{"users":[{"token":"CANARY"}]}}`,
		`{"kubeconfig":"{CANARY"}`,
		`{"cloudsYaml":"CANARY","cloud":"x"}`,
		`{"name":17,"credential":{"clientKey":"CANARY","clientCertificate":"x"}}`,
		`{"name":"x","type":"kubernetes","endpoint":"` + b.kube.Endpoint + `","credential":{"clientKey":"CANARY","clientCertificate":"CANARY"}}`,
		`{"name":"x","type":"kubernetes","endpoint":"https://user:CANARY@127.0.0.1/","credential":{"token":"x"}}`,
		`{"name":"x","type":"kubernetes","endpoint":"` + b.kube.Endpoint + `","credential":{"applicationCredentialId":"x","applicationCredentialSecret":"CANARY"}}`,
		`"CANARY"`,
		`CANARY`,
	} {
		body = strings.ReplaceAll(body, "CANARY", canary)
		for method, path := range map[string]string{"POST": "/v1/vims", "PATCH": "/v1/vims/core-1"} {
			answer, text := b.raw("alice", method, path, body)
			if answer.StatusCode < 400 || answer.StatusCode >= 500 {
				t.Errorf("%s %s of %s = %d: %s", method, path, body, answer.StatusCode, text)
			}
		}
		_, _ = b.raw("alice", "POST", "/v1/vims/core-1/rotate", body)
		b.wantNowhere(t, body, canary)
	}
}

// Whatever a caller puts where, it does not come back in an error.
func TestStrayTokensAreNotEchoed(t *testing.T) {
	b := newBench(t)
	for _, headers := range [][]string{
		{"Authorization", "Bearer " + canary},
		{"Authorization", "Basic " + canary},
		{"Authorization", canary},
		{"X-Auth-Token", canary},
		{"X-Request-Id", "is not well formed: " + canary},
	} {
		_, _ = b.raw("", "GET", "/v1/vims", "", headers...)
	}
	for _, headers := range [][]string{
		{"If-Match", canary},
		{"Idempotency-Key", canary + " "},
		{"Content-Type", canary},
		{"Cookie", "token=" + canary},
	} {
		_, _ = b.raw("alice", "POST", "/v1/vims/core-1/rotate", "{}", headers...)
	}
	for _, path := range []string{"/v1/vims?token=" + canary, "/v1/vims?" + canary, "/v1/vims?pageToken=" + canary, "/v1/vims?status=" + canary, "/v1/" + canary, "/v1/vims/" + canary, "/v1/vims/" + canary + "/nothing"} {
		_, _ = b.raw("alice", "GET", path, "")
	}
	b.wantNowhere(t, "headers, query and path", canary)
}

// The credential that a VIM is registered with shows in no answer and no log line,
// whatever is then asked of the VIM; a lease's shows in the answer that issues it.
func TestCredentialsShowNowhereElse(t *testing.T) {
	b := newBench(t)
	alice, ctx := b.as("alice"), t.Context()
	for name, c := range map[string]v1.Credential{
		"by-token":       {Token: secret.NewText(b.kube.AdminToken)},
		"by-password":    {Username: b.kube.Username, Password: secret.NewText(b.kube.Password)},
		"by-certificate": {ClientCertificate: b.kube.AdminCert, ClientKey: secret.NewText(b.kube.AdminKey)},
	} {
		r := b.registration(name)
		r.Credential = c
		if _, err := alice.RegisterVIM(ctx, r, ""); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, _ = alice.RegisterVIM(ctx, r, "") // the name is taken
		if _, err := alice.RotateVIM(ctx, name, v1.Rotation{Credential: c}, 0); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, ask := range [][2]string{{"GET", ""}, {"POST", "/check"}, {"POST", "/inventory"}} {
			if answer, body := b.raw("alice", ask[0], "/v1/vims/"+name+ask[1], ""); answer.StatusCode != http.StatusOK {
				t.Errorf("%s %s%s = %s", ask[0], name, ask[1], body)
			}
		}
	}
	_, _ = b.raw("alice", "GET", "/v1/vims", "")
	_, _ = b.raw("root", "GET", "/v1/audit", "")
	_, _ = b.raw("", "GET", "/metrics", "")
	key := strings.Split(b.kube.AdminKey, "\n")[1]
	for what, text := range map[string]string{"token": b.kube.AdminToken, "password": b.kube.Password, "key": key, "caller's token": b.tokens["alice"]} {
		b.wantNowhere(t, what, text)
	}

	l := b.mustIssue("by-token", "json")
	if !strings.Contains(b.wire.String(), `"clientConfig":{`) {
		t.Fatal("the issuing answer holds no client configuration")
	}
	config, err := clientconfig.Decode(l.ClientConfig.Text)
	if err != nil || config.Token.Empty() {
		t.Fatalf("Decode() = %+v, %v", config, err)
	}
	if strings.Contains(b.log.String(), config.Token.Reveal()) {
		t.Error("a leased token stands in the log")
	}
}
