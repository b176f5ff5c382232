package lessee

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

// plugin is the exec plugin of one user, and a server that answers as told.
type plugin struct {
	t      *testing.T
	now    time.Time
	env    console.Environment
	remote *client.Client
	// The server's VIM, what it issues, what becomes of it, and what it was asked.
	vim    v1.VIM
	token  string
	state  string
	status int
	issue  int // the status of what issues, if not zero
	asked  []string
	wish   wish
}

func newPlugin(t *testing.T) *plugin {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", t.TempDir())
	x := &plugin{
		t: t, now: noon, wish: wish{request: v1.LeaseRequest{VIM: "edge"}, ttl: time.Hour}, token: "first", state: "active", vim: v1.VIM{ID: "v", Name: "edge", Endpoint: "https://k:6443"},
		env: console.Environment{console.EnvAddr + "=http://broker", console.EnvToken + "=mine"},
	}
	x.remote = remoteBroker(t, func(w http.ResponseWriter, r *http.Request) {
		x.asked = append(x.asked, r.Method+" "+r.URL.Path)
		switch {
		case x.status == -1:
			panic(http.ErrAbortHandler)
		case x.status != 0:
			w.WriteHeader(x.status)
		case x.issue != 0 && r.Method == http.MethodPost:
			w.WriteHeader(x.issue)
		case strings.HasPrefix(r.URL.Path, "/v1/vims/"):
			encode(w, x.vim)
		case r.Method == http.MethodGet:
			encode(w, v1.Lease{ID: "l", VIM: "v", State: x.state})
		default:
			config := clientconfig.Config{
				VIM: "edge", Lease: "l", Endpoint: x.vim.Endpoint, CACert: x.vim.CACert, ServerName: x.vim.ServerName,
				InsecureSkipVerify: x.vim.InsecureSkipVerify, Client: clientconfig.KubernetesClient{},
				Credential: secret.Credential{Token: secret.NewText(x.token)}, ExpiresAt: x.now.Add(time.Hour),
			}
			text, err := config.Render(clientconfig.JSON)
			if err != nil {
				t.Error(err)
			}
			encode(w, v1.IssuedLease{
				Lease:        v1.Lease{ID: "l", State: "active", IssuedAt: x.now, ExpiresAt: x.now.Add(time.Hour)},
				ClientConfig: v1.ClientConfig{Text: text, Object: true},
			})
		}
	})
	return x
}

// call runs the plugin for a client that tells this of its cluster, in JSON; empty tells what the VIM is.
func (x *plugin) call(told string, args ...string) (out string, err error) {
	x.t.Helper()
	x.asked = nil
	if told == "" {
		text, err := json.Marshal(cluster{Server: x.vim.Endpoint, ServerName: x.vim.ServerName, Insecure: x.vim.InsecureSkipVerify, CA: []byte(x.vim.CACert)})
		if err != nil {
			x.t.Fatal(err)
		}
		told = string(text)
	}
	env := append(x.env[:len(x.env):len(x.env)], envExecInfo+`={"apiVersion":"`+execVersion+`","kind":"ExecCredential","spec":{"cluster":`+told+`}}`)
	var text bytes.Buffer
	p := &program{&console.Console{Now: func() time.Time { return x.now }, Env: env, Out: &text}}
	proxy := ""
	if len(args) > 0 {
		proxy = args[0]
	}
	cluster, err := p.told(proxy)
	if err == nil {
		err = p.credential(x.t.Context(), x.remote, cluster, x.wish)
	}
	return text.String(), err
}

// want calls the plugin, which prints a token and asks the server for so much; how often it asks
// one that breaks the connection is Go's to say.
func (x *plugin) want(what, token string, asked ...string) {
	x.t.Helper()
	out, err := x.call("")
	if x.status == -1 {
		x.asked = nil
	}
	if err != nil || strings.Count(out, "\n") != 1 || !strings.Contains(out, `"token":"`+token+`"`) || fmt.Sprint(x.asked) != fmt.Sprint(asked) {
		x.t.Errorf("%s: prints %q, %v, and asks %v; want the token %s and %v", what, out, err, x.asked, token, asked)
	}
}

const askVIM, askLease, askNew = "GET /v1/vims/edge", "GET /v1/leases/l", "POST /v1/leases"

// TestCredentialIsCached: while a lease is in the first half of its life the server is only
// asked whether it is still alive; without the server it is good for all of it.
func TestCredentialIsCached(t *testing.T) {
	x := newPlugin(t)
	x.want("first", "first", askVIM, askNew)
	x.token = "second"
	x.want("again", "first", askLease)
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusTooManyRequests} {
		x.status = status
		x.want(fmt.Sprint("server answers ", status), "first", askLease)
	}
	x.status = -1
	x.want("no server", "first")
	x.now = noon.Add(45 * time.Minute)
	x.want("old, and no server", "first")
	x.status = 0
	x.want("old", "second", askVIM, askNew)
	x.want("the next", "second", askLease)

	x.token, x.state, x.issue = "third", "revoked", http.StatusServiceUnavailable
	if out, err := x.call(""); err == nil || out != "" {
		t.Errorf("revoked, and no other can be issued: prints %q, %v", out, err)
	}
	x.issue = 0
	x.want("revoked", "third", askVIM, askNew) // the one that had ended is forgotten
	x.token = "fourth"
	x.want("revoked", "fourth", askLease, askVIM, askNew)
	x.state = "active"
	x.want("the one after", "fourth", askLease)

	x.now = x.now.Add(59*time.Minute + 30*time.Second)
	x.status = -1
	if out, err := x.call(""); err == nil || out != "" {
		t.Errorf("about to expire, and no server: prints %q, %v", out, err)
	}
}

// TestCredentialIsRefused: what the server refuses is not given from the cache.
func TestCredentialIsRefused(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		x := newPlugin(t)
		x.want("first", "first", askVIM, askNew)
		x.status = status
		if out, err := x.call(""); client.Status(err) != status || out != "" {
			t.Errorf("server answers %d: prints %q, %v", status, out, err)
		}
		x.now = noon.Add(45 * time.Minute)
		if out, err := x.call(""); client.Status(err) != status || out != "" {
			t.Errorf("server answers %d later: prints %q, %v", status, out, err)
		}
	}
}

// TestCacheIsOfOneCaller: another token, server or wish has another place.
func TestCacheIsOfOneCaller(t *testing.T) {
	x := newPlugin(t)
	x.want("first", "first", askVIM, askNew)
	x.token = "second"
	for _, variable := range []string{console.EnvToken + "=another", console.EnvAddr + "=http://another"} {
		other := *x
		other.env = append(x.env[:len(x.env):len(x.env)], variable)
		x.asked = nil
		if out, err := other.call(""); err != nil || !strings.Contains(out, "second") {
			t.Errorf("with %s: prints %q, %v", variable, out, err)
		}
	}
	x.want("the first again", "first", askLease)
}

// TestCacheIsPrivate, and where it cannot be, nothing is cached and all works.
func TestCacheIsPrivate(t *testing.T) {
	x := newPlugin(t)
	x.want("first", "first", askVIM, askNew)
	found, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*", "leases", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("cached: %v, %v; want one file", found, err)
	}
	if info, err := os.Stat(found[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if err := os.Chmod(filepath.Dir(found[0]), 0o755); err != nil { //nolint:gosec // what the test is about
		t.Fatal(err)
	}
	x.token = "second"
	x.want("a directory that is open to others", "second", askVIM, askNew)
}

// TestCredentialIsForOneCluster: a credential, cached or not, is given for the VIM's own server
// alone, that the client knows by no less than the broker does.
func TestCredentialIsForOneCluster(t *testing.T) {
	mine, other := authority(t), authority(t)
	told := func(server, name, ca, more string) string {
		return fmt.Sprintf(`{"server":%q,"tls-server-name":%q,"certificate-authority-data":%q%s}`, server, name, base64.StdEncoding.EncodeToString([]byte(ca)), more)
	}
	vim := v1.VIM{ID: "v", Name: "edge", Endpoint: "https://k:6443", CACert: mine + "\n", ServerName: "api"}
	roots, blind := vim, vim
	roots.CACert = ""
	blind.CACert, blind.ServerName, blind.InsecureSkipVerify = "", "", true
	const k, proxy = "https://k:6443", "http://proxy:3128"
	for name, c := range map[string]struct {
		vim   v1.VIM
		told  string
		proxy string
		want  string
	}{
		"its own":               {vim, told(k, "api", mine, ""), "", ""},
		"another server":        {vim, told("https://l:6443", "api", mine, ""), "", "another cluster than edge"},
		"another name":          {vim, told(k, "apis", mine, ""), "", "tls-server-name"},
		"no name":               {vim, told(k, "", mine, ""), "", "tls-server-name"},
		"another CA":            {vim, told(k, "api", other, ""), "", "certificate-authority-data"},
		"another CA beside":     {vim, told(k, "api", mine+"\n"+other, ""), "", "certificate-authority-data"},
		"the system's roots":    {vim, told(k, "api", "", ""), "", "certificate-authority-data"},
		"garbage":               {vim, told(k, "api", "garbage", ""), "", "certificate-authority-data"},
		"unverified":            {vim, told(k, "api", "", `,"insecure-skip-tls-verify":true`), "", "insecure-skip-tls-verify"},
		"a proxy":               {vim, told(k, "api", mine, `,"proxy-url":"`+proxy+`"`), "", "proxy-url"},
		"the proxy":             {vim, told(k, "api", mine, `,"proxy-url":"`+proxy+`"`), proxy, ""},
		"without the proxy":     {vim, told(k, "api", mine, ""), proxy, "proxy-url"},
		"roots, its own":        {roots, told(k, "api", "", ""), "", ""},
		"roots, a CA":           {roots, told(k, "api", other, ""), "", "certificate-authority-data"},
		"roots, garbage":        {roots, told(k, "api", "garbage", ""), "", "certificate-authority-data"},
		"unverified, its own":   {blind, told(k, "", "", `,"insecure-skip-tls-verify":true`), "", ""},
		"unverified, with a CA": {blind, told(k, "", other, ""), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			x := newPlugin(t)
			x.vim = c.vim
			for _, what := range []string{"", ", cached"} {
				out, err := x.call(c.told, c.proxy)
				switch {
				case c.want == "" && (err != nil || !strings.Contains(out, "first")):
					t.Errorf("for its own cluster%s: %q, %v", what, out, err)
				case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || out != ""):
					t.Errorf("for another cluster%s: %q, %v; want an error with %q", what, out, err, c.want)
				case c.want != "" && strings.Contains(fmt.Sprint(x.asked), askNew):
					t.Error("a lease is issued for it")
				}
				if c.want != "" && what == "" { // its own client has the lease cached
					own := *x
					own.env = x.env
					if _, err := own.call(""); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
	if _, err := newPlugin(t).call("null"); err == nil || !strings.Contains(err.Error(), "provideClusterInfo") {
		t.Errorf("a client that tells no cluster: %v", err)
	}
}

// TestTwoClustersInOneProcess: a client that asks for two clusters with one wish has a credential
// for the VIM's and none for the other, in whatever order it asks.
func TestTwoClustersInOneProcess(t *testing.T) {
	x := newPlugin(t)
	for range 2 {
		for server, right := range map[string]bool{"https://k:6443": true, "https://other:6443": false} {
			out, err := x.call(fmt.Sprintf(`{"server":%q}`, server))
			if (err == nil) != right || (out != "") != right {
				t.Errorf("for %s: %q, %v", server, out, err)
			}
		}
	}
}

// TestAVIMThatMoves: a lease at the server before is not given for the one of now.
func TestAVIMThatMoves(t *testing.T) {
	x := newPlugin(t)
	if _, err := x.call(`{"server":"https://k:6443"}`); err != nil {
		t.Fatal(err)
	}
	x.vim.Endpoint, x.token = "https://new:6443", "second"
	if out, err := x.call(`{"server":"https://new:6443"}`); err != nil || !strings.Contains(out, "second") {
		t.Errorf("for where it is now: %q, %v", out, err)
	}
	if out, err := x.call(`{"server":"https://k:6443"}`); err == nil || out != "" {
		t.Errorf("for where it was: %q, %v", out, err)
	}
}

// TestCredentialThatCannotBePrinted is taken back, and not cached.
func TestCredentialThatCannotBePrinted(t *testing.T) {
	x := newPlugin(t)
	p := &program{&console.Console{Now: func() time.Time { return x.now }, Env: x.env, Out: broken{}}}
	if err := p.credential(t.Context(), x.remote, &cluster{Server: x.vim.Endpoint}, x.wish); err == nil {
		t.Error("no error")
	}
	if last := x.asked[len(x.asked)-1]; last != "DELETE /v1/leases/l" {
		t.Errorf("the last request is %s", last)
	}
	x.want("the next", "first", askVIM, askNew)
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }

func authority(t *testing.T) string {
	t.Helper()
	ca, err := pki.NewCA("a CA")
	if err != nil {
		t.Fatal(err)
	}
	return string(ca.PEM)
}

// TestCredentialOfALeaseThatStands: its holder has a token under it, which calls share; no lease is taken, and none is revoked.
func TestCredentialOfALeaseThatStands(t *testing.T) {
	const mint, ofLease = "POST /v1/leases/l/renew", "GET /v1/vims/v"
	x := newPlugin(t)
	x.wish = wish{standing: "l"}
	x.want("first", "first", askLease, ofLease, mint)
	x.token = "second"
	x.want("cached", "first", askLease)
	x.state = "revoked" // another may stand in its place
	x.want("a lease that has ended", "second", askLease, askLease, ofLease, mint)
	x.state, x.issue = "revoked", http.StatusConflict
	if out, err := x.call(""); err == nil || out != "" {
		t.Errorf("a lease that was revoked: %q, %v", out, err)
	}
	x.issue = 0
	if _, err := x.call(`{"server":"https://other:6443"}`); err == nil || strings.Contains(fmt.Sprint(x.asked), mint) {
		t.Errorf("for another cluster: %v, %v", x.asked, err)
	}
	p := &program{&console.Console{Now: func() time.Time { return x.now }, Env: x.env, Out: broken{}}}
	x.asked = nil
	if err := p.credential(t.Context(), x.remote, &cluster{Server: x.vim.Endpoint}, x.wish); err == nil || strings.Contains(fmt.Sprint(x.asked), "DELETE") {
		t.Errorf("a token that cannot be printed: %v, %v", x.asked, err)
	}
}

// TestAClientThatCannotTell: Argo CD runs plugins, and tells none which cluster it asks for.
func TestAClientThatCannotTell(t *testing.T) {
	x := newPlugin(t)
	run := func(info string, args ...string) (string, error) {
		var text bytes.Buffer
		c := (&program{&console.Console{Now: func() time.Time { return x.now }, Env: append(x.env[:len(x.env):len(x.env)], envExecInfo+"="+info), Out: &text}}).credentialCommand()
		c.SetArgs(args)
		c.SilenceErrors, c.SilenceUsage = true, true
		err := c.ExecuteContext(t.Context())
		return text.String(), err
	}
	for what, info := range map[string]string{"nothing": "", "another program": "{}"} {
		if out, err := run(info, "--lease", "l", "--untold"); err == nil || out != "" {
			t.Errorf("%s gets %q, %v", what, out, err)
		}
	}
	asked := `{"apiVersion":"` + execVersion + `","kind":"ExecCredential","spec":{"interactive":false}}`
	if out, err := run(asked, "--lease", "l"); err == nil || out != "" {
		t.Errorf("without the flag: %q, %v", out, err)
	}
	if out, err := run(asked, "--vim", "edge", "--untold"); err == nil || out != "" {
		t.Errorf("with --vim: %q, %v", out, err)
	}
	w := wish{standing: "l"}
	var text bytes.Buffer
	p := &program{&console.Console{Now: func() time.Time { return x.now }, Env: x.env, Out: &text}}
	if err := p.credential(t.Context(), x.remote, nil, w); err != nil || !strings.Contains(text.String(), "first") {
		t.Errorf("with the flag: %q, %v", text.String(), err)
	}
}

// A profile says which VIM, and the role where no flag asks for rights; a client that has its cluster from elsewhere is told so.
func TestProfileSaysWhichVIM(t *testing.T) {
	const x = "x"
	for _, c := range []struct {
		config, role string
		rules        bool
		vim, want    string
	}{
		{`{"vim":"v","role":"view"}`, "", false, "v", "view"},
		{`{"vim":"v","role":"view"}`, "edit", false, "v", "edit"},
		{`{"vim":"v","role":"view"}`, "", true, "v", ""},
		{`{"vim":"v"}`, "", false, "v", ""},
		{`{}`, "", false, "", ""},
		{`"v"`, "", false, "", ""},
		{``, x, false, "", x},
	} {
		f := Flags{role: c.role}
		if c.rules {
			if err := f.rules.Set("get:pods"); err != nil {
				t.Fatal(err)
			}
		}
		vim, err := (&cluster{Config: json.RawMessage(c.config)}).profiled(&f)
		if vim != c.vim || f.role != c.want || (err == nil) != (c.vim != "") || err != nil && !strings.Contains(err.Error(), "ClusterProfile") {
			t.Errorf("%q: VIM %q, role %q, %v, want %q, %q", c.config, vim, f.role, err, c.vim, c.want)
		}
	}
}
