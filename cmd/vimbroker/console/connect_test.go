package console

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/contexts"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/signin"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

const twoContexts = `current: here
contexts:
- {name: here, server: "http://127.0.0.1:1", tokenFile: "%s", project: acme}
- {name: bare, server: "http://127.0.0.1:2"}
- {name: job, server: "http://127.0.0.1:3", from: gitlab, audience: broker}
`

// keys are the files of a certificate and its key, and one of both.
func keys(t *testing.T) (cert, key, both string) {
	t.Helper()
	ca, err := pki.NewCA("test")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Server("localhost")
	if err != nil {
		t.Fatal(err)
	}
	return file(t, "cert", string(pair.Cert)), file(t, "key", string(pair.Key)), file(t, "both", string(pair.Cert)+string(pair.Key))
}

// Whose words count is said in one order: flags, then the environment, then the current context.
func TestTheCallerIsWhomFlagsEnvironmentOrContextName(t *testing.T) {
	cert, key, both := keys(t)
	token, other, two := file(t, "token", " one\n"), file(t, "other", "other"), file(t, "two", "one two")
	empty, secretFile := file(t, "empty", " \n"), file(t, "secret", "\tword \n")
	set := file(t, "contexts.yaml", strings.ReplaceAll(twoContexts, "%s", token))
	broken := file(t, "broken.yaml", "contexts: [{nonsense: 1}]\n")
	const here, bare, elsewhere = EnvAddr + "=http://127.0.0.1:1", contexts.EnvContext + "=bare", EnvAddr + "=http://127.0.0.1:9"
	config, id := contexts.EnvConfig+"="+set, EnvClientID+"=c1"
	type want struct{ server, token, login, name, fails string }
	for name, test := range map[string]struct {
		env       []string
		tokenFile string
		want      want
	}{
		"nobody": {nil, "", want{fails: "no server named: set VIMBROKER_ADDR or --addr, like http://127.0.0.1:8420, or take a context: vimbroker context use"}},
		"a server, and no token": {[]string{here}, "", want{
			server: "http://127.0.0.1:1", fails: "no token given: set VIMBROKER_TOKEN, VIMBROKER_TOKEN_FILE or --token-file, or log in: vimbroker login",
		}},
		"contexts that cannot be read": {[]string{contexts.EnvConfig + "=" + broken}, "", want{fails: "reading contexts: " + broken + " is not in their form"}},
		"a server, and contexts that cannot be read": {[]string{here, contexts.EnvConfig + "=" + broken}, "", want{
			server: "http://127.0.0.1:1", fails: "reading contexts: " + broken + " is not in their form",
		}},
		"the context":                         {[]string{config}, "", want{server: "http://127.0.0.1:1", token: "one", name: "here"}},
		"the context of the server":           {[]string{config, here}, "", want{server: "http://127.0.0.1:1", token: "one", name: "here"}},
		"the context of another server":       {[]string{config, elsewhere}, "", want{server: "http://127.0.0.1:9", fails: "no token given"}},
		"a context without a token":           {[]string{config, bare}, "", want{server: "http://127.0.0.1:2", name: "bare", fails: "the context bare names no token; log in: vimbroker login"}},
		"a context of a platform":             {[]string{config, contexts.EnvContext + "=job", "VIMBROKER_ID_TOKEN=jwt"}, "", want{server: "http://127.0.0.1:3", token: "jwt", name: "job"}},
		"a token before the context":          {[]string{config, EnvToken + "=given"}, "", want{server: "http://127.0.0.1:1", token: "given"}},
		"a token's file before the context":   {[]string{config, EnvTokenFile + "=" + other}, "", want{server: "http://127.0.0.1:1", token: "other"}},
		"a token before its file":             {[]string{here, EnvToken + "=given", EnvTokenFile + "=" + other}, "", want{server: "http://127.0.0.1:1", token: "given"}},
		"the flag before a token":             {[]string{here, EnvToken + "=given"}, other, want{server: "http://127.0.0.1:1", token: "other"}},
		"the flag before a client":            {[]string{here, id}, other, want{server: "http://127.0.0.1:1", token: "other"}},
		"a file of two words":                 {[]string{here}, two, want{server: "http://127.0.0.1:1", fails: "the token file " + two + " does not hold one token and nothing else"}},
		"a file of none":                      {[]string{here, EnvTokenFile + "=" + empty}, "", want{server: "http://127.0.0.1:1", fails: "the token file " + empty + " does not hold one token and nothing else"}},
		"a file that is not there":            {[]string{here}, "/nowhere/t", want{server: "http://127.0.0.1:1", fails: "set --token-file to the file of your token"}},
		"a file of the variable that is none": {[]string{here, EnvTokenFile + "=/nowhere/t"}, "", want{server: "http://127.0.0.1:1", fails: "set VIMBROKER_TOKEN_FILE to the file of your token"}},
		"a client with a secret":              {[]string{config, id, EnvClientSecretFile + "=" + secretFile}, "", want{server: "http://127.0.0.1:1", login: "c1 word"}},
		"a client with a certificate":         {[]string{here, id, EnvClientCertFile + "=" + cert, EnvClientKeyFile + "=" + key}, "", want{server: "http://127.0.0.1:1", login: "c1  certificate"}},
		"a client with one file of both":      {[]string{here, id, EnvClientCertFile + "=" + both}, "", want{server: "http://127.0.0.1:1", login: "c1  certificate"}},
		"a certificate alone":                 {[]string{config, EnvClientCertFile + "=" + both}, "", want{server: "http://127.0.0.1:1", login: "  certificate"}},
		"a token before a certificate":        {[]string{here, EnvToken + "=given", EnvClientCertFile + "=" + both}, "", want{server: "http://127.0.0.1:1", token: "given"}},
		"a token's file before a certificate": {[]string{here, EnvTokenFile + "=" + other, EnvClientCertFile + "=" + both}, "", want{server: "http://127.0.0.1:1", token: "other"}},
		"a client with neither": {[]string{here, id}, "", want{
			server: "http://127.0.0.1:1", fails: "VIMBROKER_CLIENT_ID is set: set one of VIMBROKER_CLIENT_SECRET_FILE and VIMBROKER_CLIENT_CERT_FILE, too",
		}},
		"a client with both": {[]string{here, id, EnvClientSecretFile + "=" + secretFile, EnvClientCertFile + "=" + both}, "", want{
			server: "http://127.0.0.1:1", fails: "VIMBROKER_CLIENT_ID is set: set one of",
		}},
		"a secret of two words": {[]string{here, id, EnvClientSecretFile + "=" + two}, "", want{
			server: "http://127.0.0.1:1", fails: "the file " + two + " (VIMBROKER_CLIENT_SECRET_FILE) does not hold one word, the client's secret, and nothing else",
		}},
		"a secret of none": {[]string{here, id, EnvClientSecretFile + "=" + empty}, "", want{
			server: "http://127.0.0.1:1", fails: "the file " + empty + " (VIMBROKER_CLIENT_SECRET_FILE) does not hold one word",
		}},
		"a secret that is not there": {[]string{here, id, EnvClientSecretFile + "=/nowhere/s"}, "", want{
			server: "http://127.0.0.1:1", fails: "reading the client's secret (VIMBROKER_CLIENT_SECRET_FILE): ",
		}},
		"a certificate without its key": {[]string{here, id, EnvClientCertFile + "=" + cert}, "", want{
			server: "http://127.0.0.1:1", fails: "VIMBROKER_CLIENT_CERT_FILE, VIMBROKER_CLIENT_KEY_FILE: ",
		}},
	} {
		p := &Console{Env: test.env, TokenFile: test.tokenFile, In: strings.NewReader("")}
		got := want{server: p.ServerAddr(), name: p.ContextName()}
		if _, err := p.Connect(); err != nil {
			got.fails = err.Error()
		} else if l, err := p.login(); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if l != nil {
			got.login = l.ID + " " + l.Secret.Reveal()
			if len(l.Certificate.Certificate) > 0 {
				got.login += " certificate"
			}
		} else if text, err := p.token(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		} else {
			got.token = text.Reveal()
		}
		if test.want.fails != "" && strings.Contains(got.fails, test.want.fails) {
			got.fails = test.want.fails
		}
		if got != test.want {
			t.Errorf("%s: %+v\nwant %+v", name, got, test.want)
		}
	}
}

// What counts less than another way of logging in is not there.
func TestACertificateCountsWhereNothingElseIsGiven(t *testing.T) {
	const cert = EnvClientCertFile + "=/c"
	for _, test := range []struct {
		p    Console
		want string
	}{
		{Console{Env: Environment{cert}}, "/c"},
		{Console{Env: Environment{cert, EnvClientID + "=c1"}}, ""},
		{Console{Env: Environment{cert, EnvToken + "=t"}}, ""},
		{Console{Env: Environment{cert, EnvTokenFile + "=/t"}}, ""},
		{Console{Env: Environment{cert, EnvClientID + "=c1"}, TokenFile: "/t"}, ""},
	} {
		if got := test.p.certificate(); got != test.want {
			t.Errorf("%v: the certificate %q, want %q", test.p.Env, got, test.want)
		}
	}
}

// The context's project and authorities count where no others are given.
func TestAContextGivesProjectAndAuthorities(t *testing.T) {
	token := file(t, "token", "one")
	env := Environment{contexts.EnvConfig + "=" + file(t, "c.yaml", strings.ReplaceAll(twoContexts, "%s", token))}
	for given, want := range map[string]string{"": "acme", "other": "other"} {
		p := &Console{Env: env, Project: given}
		if _, err := p.Connect(); err != nil || p.Project != want {
			t.Errorf("--project %q: %v, project %q, want %q", given, err, p.Project, want)
		}
	}
	p := &Console{Env: append(env, EnvAddr+"=http://127.0.0.1:9", EnvToken+"=t")}
	if _, err := p.Connect(); err != nil || p.Project != "" {
		t.Errorf("another server: %v, project %q, want none", err, p.Project)
	}
	authorities := Environment{contexts.EnvConfig + "=" + file(t, "c.yaml", strings.ReplaceAll(twoContexts, "project: acme", "caFile: /ca"))}
	for _, test := range []struct {
		env  Environment
		want string
	}{
		{authorities, "/ca"},
		{append(authorities, EnvCAFile+"=/mine"), "/mine"},
		{append(authorities, EnvAddr+"=http://127.0.0.1:9"), ""},
		{Environment{contexts.EnvConfig + "=" + file(t, "broken", "contexts: 1\n")}, ""},
	} {
		if got := (&Console{Env: test.env}).ServerCAFile(); got != test.want {
			t.Errorf("%v: authorities %q, want %q", test.env, got, test.want)
		}
	}
	wrong := &Console{Env: append(authorities, EnvToken+"=t")}
	if _, err := wrong.Connect(); err == nil || !strings.HasPrefix(err.Error(), "VIMBROKER_CA_FILE: reading the broker's CA file") {
		t.Errorf("authorities that are not there: %v", err)
	}
	far := &Console{Env: Environment{EnvToken + "=t"}, Addr: "http://broker.example"}
	if _, err := far.Connect(); err == nil || !strings.HasPrefix(err.Error(), "VIMBROKER_ADDR or --addr: refusing to send the token over plain http") {
		t.Errorf("plain http to another host: %v", err)
	}
}

// A client of a context goes to its server with its token, and without one there is none.
func TestAClientOfAContextHasItsToken(t *testing.T) {
	b := newBench(t)
	c := contexts.Context{Name: "c", Server: b.server.URL, TokenFile: file(t, "token", "mine\n")}
	registry, err := b.ConnectAs(t.Context(), contexts.Merged{}, c)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = registry.VIM(t.Context(), "edge")
	asked := b.server.Requests()
	if len(asked) != 1 || asked[0].Header.Get("Authorization") != "Bearer mine" || asked[0].Header.Get("User-Agent") != "vimbroker/"+b.Version {
		t.Errorf("asked %+v", asked)
	}
	c.TokenFile = "/nowhere/t"
	if registry, err := b.ConnectAs(t.Context(), contexts.Merged{}, c); registry != nil || err == nil || !strings.HasPrefix(err.Error(), "reading the token of the context c: ") {
		t.Errorf("a token that is not there: %v, %v", registry, err)
	}
}

// Two callers are told apart by whom they are, and a caller is the same whatever token its context has now.
func TestCallersAreToldApart(t *testing.T) {
	token := file(t, "token", "one")
	config := contexts.EnvConfig + "=" + file(t, "c.yaml", strings.ReplaceAll(twoContexts, "%s", token))
	const a, b = EnvAddr + "=http://127.0.0.1:1", EnvAddr + "=http://127.0.0.1:9"
	of := func(env ...string) string {
		t.Helper()
		got, err := (&Console{Env: env}).Caller()
		if err != nil || len(got) != 64 {
			t.Errorf("%v: %q, %v", env, got, err)
		}
		return got
	}
	seen := map[string]string{}
	for name, caller := range map[string]string{
		"a token": of(a, EnvToken+"=t"), "another token": of(a, EnvToken+"=u"), "at another server": of(b, EnvToken+"=t"), "a token's file": of(a, EnvTokenFile+"="+token),
		"a client": of(a, EnvClientID+"=c"), "another client": of(a, EnvClientID+"=d"), "a client elsewhere": of(b, EnvClientID+"=c"), "a certificate": of(a, EnvClientCertFile+"=/c"),
		"a context": of(config), "another context": of(config, contexts.EnvContext+"=bare"), "a token beside a context": of(config, EnvToken+"=t2"),
		"a file beside a context": of(config, EnvTokenFile+"="+file(t, "token", "three")),
	} {
		if before := seen[caller]; before != "" {
			t.Errorf("%s is taken for %s", name, before)
		}
		seen[caller] = name
	}
	for part, context := range map[string]string{ // of each part that says who logs in, where
		"nothing": "name: c, server: http://127.0.0.1:1, from: gitlab", "the name": "name: d, server: http://127.0.0.1:1, from: gitlab",
		"the server": "name: c, server: http://127.0.0.1:2, from: gitlab", "the platform": "name: c, server: http://127.0.0.1:1, from: github",
		"an issuer": "name: c, server: http://127.0.0.1:1, issuer: https://a.example", "another issuer": "name: c, server: http://127.0.0.1:1, issuer: https://b.example",
	} {
		caller := of(contexts.EnvConfig+"="+file(t, "c.yaml", "contexts:\n- {"+context+"}\n"), contexts.EnvContext+"="+context[len("name: "):len("name: c")])
		if before := seen[caller]; before != "" {
			t.Errorf("a context of which %s differs is taken for that of which %s does", part, before)
		}
		seen[caller] = part
	}
	before := of(config)
	if err := os.WriteFile(token, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if of(config) != before {
		t.Error("a context with a new token is another caller")
	}
	for want, env := range map[string]Environment{
		"reading contexts: ": {contexts.EnvConfig + "=" + file(t, "broken", "contexts: 1\n")}, "no token given": {a}, "reading the token: ": {EnvTokenFile + "=/nowhere/t"},
	} {
		if got, err := (&Console{Env: env}).Caller(); got != "" || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: %q, %v, want %q", env, got, err, want)
		}
	}
}

// A login's token counts as long as it is fresh, then the issuer gives another one, which is kept; where it gives none, the
// person logs in again.
func TestALoginIsRefreshedWhereItsTokenGetsOld(t *testing.T) {
	token := func(of string, until time.Time) string {
		claims := fmt.Sprintf(`{"aud":"broker","exp":%d,"of":%q}`, until.Unix(), of)
		return "h." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".s"
	}
	kept, next := token("kept", noon), token("next", noon.Add(time.Hour))
	for name, test := range map[string]struct {
		left    time.Duration
		refused bool
		gives   string
		want    string
		fails   string
		file    string
	}{
		"fresh":     {time.Minute + 1, true, next, kept, "", "r1"},
		"old":       {time.Minute, false, next, next, "", "r2"},
		"and ended": {time.Minute, true, next, kept, "the login has ended; log in again: vimbroker login", "r1"},
		"and another's now": { // the refresh token is used up all the same
			time.Minute, false, "h." + base64.RawURLEncoding.EncodeToString([]byte(`{"aud":"other"}`)) + ".s", "",
			`gave no token for the audience "broker", which the server wants`, "r2",
		},
	} {
		var id *fake.Server
		id = fake.NewPlain(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path != "/token":
				fake.Say(w, http.StatusOK, map[string]any{"issuer": id.URL, "token_endpoint": id.URL + "/token"})
			case test.refused || r.FormValue("refresh_token") != "r1":
				fake.Say(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
			default:
				fake.Say(w, http.StatusOK, map[string]any{"access_token": test.gives, "token_type": "Bearer", "refresh_token": "r2"})
			}
		})
		c := contexts.Context{Name: "corp", Server: "http://127.0.0.1:1", Issuer: id.URL, ClientID: "cli", Audience: "broker"}
		get := Environment{contexts.EnvConfig + "=" + filepath.Join(t.TempDir(), "c.yaml")}.Get
		set, err := contexts.Load(get)
		if err != nil {
			t.Fatal(err)
		}
		keep := func(l *signin.Kept) (bool, error) {
			*l = signin.Kept{Token: kept, Refresh: "r1", ExpiresAt: noon.Add(test.left)}
			return true, nil
		}
		if err := contexts.WithLogin(set, c, keep); err != nil {
			t.Fatal(err)
		}
		p := &Console{Now: func() time.Time { return noon }}
		got, err := p.ContextToken(t.Context(), set, c)
		if got.Reveal() != test.want || (err == nil) != (test.fails == "") || !strings.Contains(said(err), test.fails) {
			t.Errorf("%s: %q, %v; want %q, %q", name, got.Reveal(), err, test.want, test.fails)
		}
		err = contexts.WithLogin(set, c, func(l *signin.Kept) (bool, error) {
			if l.Refresh != test.file || l.Token != test.want {
				t.Errorf("%s: kept %+v, want %s", name, l, test.file)
			}
			return false, nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// An issuer is asked over the authorities that a variable names, where they are any.
func TestAnIssuerIsAskedOverItsAuthorities(t *testing.T) {
	ca, err := pki.NewCA("issuer")
	if err != nil {
		t.Fatal(err)
	}
	c := contexts.Context{Issuer: "https://id.example", ClientID: "id", Scopes: []string{"s"}, Audience: "broker"}
	for name, test := range map[string]struct {
		file string
		own  bool
	}{"none": {"", false}, "a bundle": {file(t, "ca", string(ca.PEM)), true}, "no file": {"/nowhere/ca", false}} {
		p := &Console{Env: Environment{EnvIssuerCAFile + "=" + test.file}}
		i := p.IssuerOf(c)
		if (i.HTTP != nil) != test.own || i.URL != c.Issuer || i.ClientID != "id" || i.Audience != "broker" || len(i.Scopes) != 1 {
			t.Errorf("%s: %+v", name, i)
		}
		if test.own && i.HTTP.CheckRedirect(nil, nil) != http.ErrUseLastResponse {
			t.Error("a redirect is followed")
		}
	}
}

// A body of a command that needs a server is not run where there is none, and its error is the command's.
func TestABodyRunsWithAClient(t *testing.T) {
	b := newBench(t)
	c, _ := tree(t)
	c.SetContext(context.Background())
	ran := 0
	body := b.Remote(RemoteBody(func(_ *cobra.Command, args []string, registry *client.Client) error {
		ran++
		_, err := registry.VIM(t.Context(), args[0])
		return err
	}))
	if err := body(c, []string{"edge"}); err == nil || ran != 1 {
		t.Errorf("the body ran %d times: %v", ran, err)
	}
	b.Env = nil
	if err := body(c, nil); !errors.Is(err, errNoServer) || ran != 1 {
		t.Errorf("without a server the body ran %d times: %v", ran, err)
	}
}

// The command that calls this program is its name, where PATH finds this one by it.
func TestACommandNamesThisProgram(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mine, others := t.TempDir(), t.TempDir()
	if err := os.Symlink(self, filepath.Join(mine, "vimbroker")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(others, "vimbroker"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{mine: "vimbroker", others: self, t.TempDir(): self} {
		t.Setenv("PATH", path)
		if got := SelfCommand(); got != want {
			t.Errorf("PATH=%s: %s, want %s", path, got, want)
		}
	}
}

// A program that is started gets the environment less what is hidden from it; of a variable that is set twice the last counts.
func TestAnEnvironmentHidesVariables(t *testing.T) {
	e := Environment{"A=1", "AB=2", "B=3", "A=4"}
	if got := e.Without("A", "C"); !slices.Equal(got, Environment{"AB=2", "B=3"}) || len(e) != 4 {
		t.Errorf("without A and C: %q", got)
	}
	if got := e.Get("A") + e.Get("B") + e.Get("C"); got != "43" {
		t.Errorf("values %q, want 43", got)
	}
}
