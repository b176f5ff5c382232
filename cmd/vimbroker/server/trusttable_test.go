package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/test/issuer"
)

// send sends JSON with a token, and checks the status.
func (b *trusting) send(want int, method, path, token string, body any) string {
	b.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(b.t.Context(), method, path, strings.NewReader(string(text)))
	if body == nil {
		r = httptest.NewRequestWithContext(b.t.Context(), method, path, http.NoBody)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	if w.Code != want {
		b.t.Errorf("%s %s = %d %s, want %d", method, path, w.Code, w.Body, want)
	}
	return w.Body.String()
}

// whoami is the answer with a token; empty if it is not let in.
func (b *trusting) whoami(token string) string {
	b.t.Helper()
	if status, body := b.ask("GET", "/v1/whoami", token, ""); status == http.StatusOK {
		return body
	}
	return ""
}

type object = map[string]any

// entryFor is a good entry for bob, changed.
func entryFor(of *issuer.Issuer, change object) object {
	e := object{
		"name": "more", "issuer": of.URL, "keys": string(of.JWKS()),
		"principals": []object{{"match": object{"sub": "bob"}, "project": "core", "roles": []string{"reader"}}},
	}
	maps.Copy(e, change)
	return e
}

func TestAdministratorsKeepTheTableOfTrust(t *testing.T) {
	b, more := newTrusting(t), issuer.New(t)
	bob, alice := more.Token("bob", nil), b.issuer.Token("alice", nil)
	if b.whoami(bob) != "" {
		t.Fatal("a caller of no entry is let in")
	}
	replica := trust.New(trust.Options{Store: b.store, Log: slog.New(slog.DiscardHandler)})
	b.send(http.StatusForbidden, "POST", "/v1/trust", alice, entryFor(more, nil))
	b.send(http.StatusForbidden, "GET", "/v1/trust", alice, nil)
	b.send(http.StatusForbidden, "POST", "/v1/trust:try", alice, object{"token": alice})
	b.send(http.StatusCreated, "POST", "/v1/trust", b.admin, entryFor(more, nil))
	if who := b.whoami(bob); !strings.Contains(who, `"name":"oidc:more:bob"`) || !strings.Contains(who, `"roles":["reader"]`) {
		t.Errorf("after an entry was created whoami = %s", who)
	}
	there := func() bool {
		t.Helper()
		if err := replica.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err := replica.Authenticate(t.Context(), bob)
		return err == nil
	}
	if !there() {
		t.Error("another process does not know the entry")
	}
	exchanged, _, _ := b.token(asBearer + bob)
	if b.whoami(exchanged) == "" {
		t.Error("an exchanged token does not count")
	}
	all := b.send(http.StatusOK, "GET", "/v1/trust", b.admin, nil)
	for _, want := range []string{`"name":"corp"`, `"origin":"configuration"`, `"name":"more"`, `"origin":"database"`, `"audience":"vimbroker"`, `"createdBy":"admin"`} {
		if !strings.Contains(all, want) {
			t.Errorf("GET /v1/trust = %s, want %s in it", all, want)
		}
	}
	rules := []object{{"match": object{"sub": "bob"}, "project": "core", "roles": []string{"member"}}}
	b.send(http.StatusOK, "PUT", "/v1/trust/more", b.admin, entryFor(more, object{"principals": rules}))
	if who := b.whoami(bob); !strings.Contains(who, `"roles":["member"]`) || b.whoami(exchanged) != "" {
		t.Errorf("after an entry was updated whoami = %s, and a token of before counts: %t", who, b.whoami(exchanged) != "")
	}
	b.send(http.StatusNoContent, "DELETE", "/v1/trust/more", b.admin, nil)
	if b.whoami(bob) != "" || there() {
		t.Error("a caller of a deleted entry is let in")
	}
	b.send(http.StatusNotFound, "DELETE", "/v1/trust/more", b.admin, nil)
	b.send(http.StatusNotFound, "PUT", "/v1/trust/more", b.admin, entryFor(more, nil))
	b.send(http.StatusNotFound, "GET", "/v1/trust/more", b.admin, nil)

	_, log := b.ask("GET", "/v1/audit?outcome=done", b.admin, "")
	for _, want := range []string{
		`"action":"trust:create"`, `"new.issuer":"` + more.URL + `"`, `"action":"trust:update"`, `"action":"trust:delete"`, `"trust":"more"`,
		`"old.principals[0]":"{\"match\":{\"sub\":\"bob\"},\"project\":\"core\",\"roles\":[\"reader\"]}"`,
		`"new.principals[0]":"{\"match\":{\"sub\":\"bob\"},\"project\":\"core\",\"roles\":[\"member\"]}"`, `"new.keys":"sha256:`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the audit log = %s, want %s in it", log, want)
		}
	}
}

func TestABadEntryIsRefusedWithItsField(t *testing.T) {
	b, more := newTrusting(t), issuer.New(t)
	b.send(http.StatusCreated, "POST", "/v1/trust", b.admin, entryFor(more, nil))
	rule := func(change object) object {
		r := object{"match": object{"sub": "bob"}, "project": "core", "roles": []string{"reader"}}
		maps.Copy(r, change)
		return object{"name": "x", "issuer": "https://x.example", "principals": []object{r}}
	}
	for _, c := range []struct {
		change object
		status int
		field  string
	}{
		{nil, http.StatusConflict, "name"},
		{object{"name": "corp"}, http.StatusConflict, "configuration"},
		{object{"name": "x"}, http.StatusUnprocessableEntity, "issuer"},
		{object{"name": "x", "issuer": b.issuer.URL}, http.StatusUnprocessableEntity, "issuer"},
		{object{"name": "a:b"}, http.StatusUnprocessableEntity, "name"},
		{object{"name": "x", "issuer": "http://id.example"}, http.StatusUnprocessableEntity, "issuer"},
		{object{"name": "x", "vim": "a/b"}, http.StatusUnprocessableEntity, "issuer"},
		{object{"name": "x", "issuer": "https://x.example", "keys": "{}"}, http.StatusUnprocessableEntity, "keys"},
		{object{"name": "x", "issuer": "https://x.example", "ca": "x"}, http.StatusUnprocessableEntity, "ca"},
		{object{"name": "x", "issuer": "https://x.example", "algorithms": []string{"HS256"}}, http.StatusUnprocessableEntity, "algorithms"},
		{object{"name": "x", "issuer": "https://x.example", "maxLife": "soon"}, http.StatusUnprocessableEntity, "maxLife"},
		{object{"name": "x", "issuer": "https://x.example", "secret": "x"}, http.StatusUnprocessableEntity, "secret"},
		{object{"name": "x", "issuer": "", "keys": "", "certificates": object{"ca": "x"}}, http.StatusUnprocessableEntity, "certificates.ca"},
		{object{"name": "x", "issuer": "", "keys": "", "certificates": object{"ca": string(newPKI(t).PEM)}}, http.StatusUnprocessableEntity, "needs tls"},
		{rule(object{"match": object{"sub": "*"}}), http.StatusUnprocessableEntity, "principals[0].match"},
		{rule(object{"project": "{tenant}"}), http.StatusUnprocessableEntity, "principals[0].projects"},
		{rule(object{"roles": []string{"system"}}), http.StatusUnprocessableEntity, "principals[0].roles"},
	} {
		e := entryFor(more, c.change)
		if c.change["principals"] != nil {
			e = c.change
		}
		if body := b.send(c.status, "POST", "/v1/trust", b.admin, e); !strings.Contains(body, c.field) {
			t.Errorf("creating %v: %s, want %s", c.change, body, c.field)
		}
	}
	for method, body := range map[string]any{"PUT": entryFor(more, object{"name": "corp"}), "DELETE": nil} {
		if said := b.send(http.StatusConflict, method, "/v1/trust/corp", b.admin, body); !strings.Contains(said, "configuration") {
			t.Errorf("%s of an entry of the configuration: %s", method, said)
		}
	}
	b.send(http.StatusUnprocessableEntity, "PUT", "/v1/trust/more", b.admin, entryFor(more, object{"name": "other"}))
	if all := b.send(http.StatusOK, "GET", "/v1/trust", b.admin, nil); strings.Count(all, `"origin"`) != 2 {
		t.Errorf("the table after refusals: %s", all)
	}
}

// An entry of the configuration counts before one of an administrator that came first.
func TestTheConfigurationCountsBeforeTheDatabase(t *testing.T) {
	b, more := newTrusting(t), issuer.New(t)
	b.send(http.StatusCreated, "POST", "/v1/trust", b.admin, entryFor(more, nil))
	bob := more.Token("bob", nil)
	next := b.live.started
	next.tokens = b.live.now.Load().tokens
	own := next.Trust[0]
	own.Name, own.Issuer, own.Keys = "site", more.URL, string(more.JWKS())
	own.Principals = []trust.Mapping{{Match: map[string]string{"sub": "bob"}, Project: "site", Roles: []string{"member"}}}
	next.Trust = append(append([]trustConfig{}, next.Trust...), own)
	b.live.replace(next)
	if who := b.whoami(bob); !strings.Contains(who, "oidc:site:bob") {
		t.Errorf("whoami = %s", who)
	}
	if one := b.send(http.StatusOK, "GET", "/v1/trust/more", b.admin, nil); !strings.Contains(one, `"fault":"issuer: is the issuer of another entry"`) {
		t.Errorf("an entry beside that of the configuration: %s", one)
	}
	b.live.replace(b.live.started)
	if who := b.whoami(bob); !strings.Contains(who, "oidc:more:bob") {
		t.Errorf("whoami without the entry of the configuration = %s", who)
	}
}

func TestATokenIsTriedAtTheTableOfTrust(t *testing.T) {
	b, more := newTrusting(t), issuer.New(t)
	b.send(http.StatusCreated, "POST", "/v1/trust", b.admin, entryFor(more, object{"once": true, "principals": []object{
		{"match": object{"repository": "acme/edge", "ref": "main"}, "project": "core", "roles": []string{"reader"}},
		{"match": object{"groups": "noc"}, "project": "{tenant}", "projects": []string{"t1"}, "roles": []string{"member"}},
	}}))
	try := func(token string, want ...string) {
		t.Helper()
		said := b.send(http.StatusOK, "POST", "/v1/trust:try", b.admin, object{"token": token})
		for _, w := range want {
			if !strings.Contains(said, w) {
				t.Errorf("a try = %s, want %s in it", said, w)
			}
		}
		if strings.Contains(said, strings.Split(token+"..", ".")[2]) && strings.Count(token, ".") == 2 {
			t.Errorf("a try shows the token: %s", said)
		}
	}
	edge := more.Token("r", map[string]any{"repository": "acme/edge", "ref": "main", "jti": "1"})
	for range 2 {
		try(edge, `"entry":"more"`, `"rule":"principals[0]"`, `"name":"oidc:more:r"`, `"project":"core"`, `"roles":["reader"]`, `"repository":["acme/edge"]`, `"once":true`, `"expiresAt":`)
	}
	if b.whoami(edge) == "" || b.whoami(edge) != "" {
		t.Error("a token that was tried is not taken once")
	}
	try(more.Token("r", map[string]any{"repository": "acme/core", "groups": []string{"dev", "noc"}}), `"reason":"no rule matches its claims"`,
		`principals[0]: ref is not in the token; repository is \"acme/core\", and must be \"acme/edge\"`, `principals[1]: project and name need`)
	try(more.Token("r", map[string]any{"groups": []string{"dev"}}), `principals[1]: groups is \"[\\\"dev\\\"]\", and must be \"noc\"`)
	try(b.issuer.Token("alice", nil), `"entry":"corp"`, `"name":"oidc:corp:alice"`, `"rule":"principals[0]"`)
	try("no token", `"reason":"no token in a valid form"`)
	for what, f := range b.issuer.Forged() {
		if len(f[0]) > 8<<10 {
			continue
		}
		said := b.send(http.StatusOK, "POST", "/v1/trust:try", b.admin, object{"token": f[0]})
		if strings.Contains(said, `"principal"`) || f[1] != "" && !strings.Contains(said, fmt.Sprintf(`"reason":%q`, f[1])) {
			t.Errorf("a try of %s = %s", what, said)
		}
	}
	_, log := b.ask("GET", "/v1/audit?pageSize=1000", b.admin, "")
	if strings.Contains(log, strings.Split(edge, ".")[2]) || !strings.Contains(log, `"action":"trust:show"`) {
		t.Errorf("the audit log = %s", log)
	}
}

func TestAnEntryOfCertificatesIsCreatedByREST(t *testing.T) {
	ca := newPKI(t)
	m := startMutual(t, nil)
	pair, err := ca.Workload("spiffe://acme/ns/jobs/sa/runner", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	c := m.as(&pair)
	if status, _, _ := m.ask(c, "/v1/whoami", nil, ""); status != http.StatusUnauthorized {
		t.Fatalf("whoami before there is an entry = %d", status)
	}
	token, err := os.ReadFile(filepath.Join(m.config.DataDir, devTokenFile))
	if err != nil {
		t.Fatal(err)
	}
	b := &trusting{server: m.server, t: t, admin: strings.TrimSpace(string(token))}
	b.send(http.StatusCreated, "POST", "/v1/trust", b.admin, object{
		"name": "mesh", "certificates": object{"ca": string(ca.PEM)},
		"principals": []object{{"match": object{"uri": "spiffe://acme/ns/jobs/*"}, "project": "acme", "roles": []string{"member"}}},
	})
	c.CloseIdleConnections()
	if _, body, _ := m.ask(c, "/v1/whoami", nil, ""); !strings.Contains(body, "cert:mesh:spiffe://acme/ns/jobs/sa/runner") {
		t.Errorf("whoami by certificate = %s", body)
	}
	b.send(http.StatusNoContent, "DELETE", "/v1/trust/mesh", b.admin, nil)
	if status, _, _ := m.ask(c, "/v1/whoami", nil, ""); status != http.StatusUnauthorized {
		t.Errorf("whoami after the entry is gone = %d", status)
	}
}
