package bench

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/issuer"
	"github.com/vimbroker/vimbroker/test/real/pki"
	"github.com/vimbroker/vimbroker/test/story"
)

const (
	// callersTurns are requests of each kind of caller, in turns.
	callersTurns = 400
	// pipelineTurns are starts of the pipeline's form.
	pipelineTurns = 15
	// oneLogin and pipelineStart are goals.
	oneLogin      = 3 * time.Millisecond
	pipelineStart = 2 * time.Second
)

// callers measures what it costs to know the caller of a request, kind by kind beside a static token; what a login with a
// JWT takes; and how long the pipeline's form takes from the start of "exec" to its command. All come over TLS, each on
// one connection, and the server has the keys.
func callers(b *testing.B, p *program) *figure {
	b.Helper()
	home, is := b.TempDir(), issuer.New(b)
	ca, err := pki.NewCA("callers")
	if err != nil {
		b.Fatal(err)
	}
	pair, err := ca.Workload("spiffe://acme/runner", time.Now().Add(time.Hour))
	if err != nil {
		b.Fatal(err)
	}
	shown, err := pair.TLS()
	if err != nil {
		b.Fatal(err)
	}
	served, err := ca.Server("127.0.0.1")
	if err != nil {
		b.Fatal(err)
	}
	static, digest := policy.NewToken()
	file := func(name, text string) string {
		path := filepath.Join(home, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		return path
	}
	cert, key, authority := file("tls.crt", string(served.Cert)), file("tls.key", string(served.Key)), file("ca.pem", string(ca.PEM))
	config := file("config.yaml", fmt.Sprintf(`
listen: 127.0.0.1:0
dataDir: %s
tls: {certFile: %s, keyFile: %s}
tokensFile: %s
egress: {allowLoopback: true}
oauth: {issuer: https://broker.example, caFile: %s}
trust:
  - {name: ci, issuer: %q, keysFile: %s, principals: [{match: {sub: job}, project: default, roles: [admin]}]}
  - {name: mesh, certificates: {caFile: %s}, principals: [{match: {uri: "spiffe://acme/*"}, project: default, roles: [member]}]}
`, filepath.Join(home, "data"), cert, key, file("tokens.yaml", "tokens: [{name: a, project: default, roles: [admin], sha256: "+digest+"}]\n"), authority,
		is.URL, file("keys.json", string(is.JWKS())), authority))
	server, err := story.Serve(p.binary(b), home, []string{"HOME=" + home}, "--config", config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := server.Stop(); err != nil {
			b.Error(err)
		}
	})
	client := func(own ...tls.Certificate) *http.Client {
		t := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool(), Certificates: own}}
		b.Cleanup(t.CloseIdleConnections)
		return &http.Client{Transport: t}
	}
	ask := func(c *http.Client, token string, form url.Values) (time.Duration, string) {
		b.Helper()
		method, path := http.MethodGet, "/v1/whoami"
		if form != nil {
			method, path = http.MethodPost, "/oauth2/token"
		}
		r, err := http.NewRequestWithContext(b.Context(), method, server.URL+path, strings.NewReader(form.Encode()))
		if err != nil {
			b.Fatal(err)
		}
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		began := time.Now()
		answer, err := c.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			b.Fatalf("%s %s = %d %s, %v", method, path, answer.StatusCode, body, err)
		}
		return time.Since(began), string(body)
	}
	jwt := is.Token("job", nil)
	login := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {jwt}}
	_, answer := ask(client(), "", login)
	_, own, _ := strings.Cut(answer, `"access_token":"`)
	own, _, _ = strings.Cut(own, `"`)
	kinds := []struct {
		what  string
		c     *http.Client
		token string
		form  url.Values
		took  sample
	}{
		{what: "whoami by a static token", c: client(), token: static},
		{what: "the same, by an issuer's token (ES256)", c: client(), token: jwt},
		{what: "the same, by the broker's token of five minutes", c: client(), token: own},
		{what: "the same, by certificate", c: client(shown)},
		{what: "login with a JWT (jwt-bearer)", c: client(), form: login},
	}
	for n := range callersTurns + 20 {
		for i := range kinds {
			k := &kinds[i]
			if took, _ := ask(k.c, k.token, k.form); n >= 20 {
				k.took = append(k.took, took)
			}
		}
	}
	base := timed(kinds[0].what, kinds[0].took)
	rows := []row{base}
	for _, k := range kinds[1:] {
		r := timed(k.what, k.took).over(base)
		if k.form != nil {
			r = r.medianGoal(oneLogin)
		}
		rows = append(rows, r)
	}
	rows = append(rows, pipeline(b, p, server.URL, authority, jwt).medianGoal(pipelineStart))
	return &figure{Title: "What it costs to know a caller, and a pipeline's start", Rows: rows}
}

// pipeline measures "login --from file" and "exec" to its command, as deploy/ci has them.
func pipeline(b *testing.B, p *program, server, caFile, jwt string) row {
	b.Helper()
	home := b.TempDir()
	run := func(args ...string) {
		b.Helper()
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, p.binary(b), args...)
		c.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "VIMBROKER_ADDR=" + server, "VIMBROKER_CA_FILE=" + caFile}
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	for name, text := range map[string]string{"jwt": jwt, "kubeconfig": fakekube.New(b, fakekube.Options{}).Kubeconfig()} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	from := "file:" + filepath.Join(home, "jwt")
	run("login", "--from", from)
	run("vim", "register", "--kubeconfig", filepath.Join(home, "kubeconfig"), "edge")
	var took sample
	for range pipelineTurns {
		began := time.Now()
		run("login", "--from", from)
		run("exec", "--vim", "edge", "--role", "view", "-n", "default", "--", "true")
		took = append(took, time.Since(began))
	}
	return timed("pipeline: login, lease, command, revocation", took)
}
