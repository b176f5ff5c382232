package lessee

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/test/real/pki"
	"github.com/vimbroker/vimbroker/test/story"
)

// plugin is the exec plugin of one user, and a server that answers as told.
type plugin struct {
	t      *testing.T
	now    time.Time
	env    console.Environment
	remote *client.Client
	answer http.HandlerFunc
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
	x.answer = func(w http.ResponseWriter, r *http.Request) {
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
	}
	x.remote = remoteBroker(t, x.answer)
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
		{`{"vim":"v","role":1}`, "", false, "", ""},
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

// The plugin is for one of a VIM, a lease that stands and a profile, and for a client of Kubernetes.
func TestCredentialIsOfOneThing(t *testing.T) {
	const one, none = "give one of --vim, --lease and --profile; --untold goes with --lease alone; see: credential --help", "no server named"
	for line, want := range map[string]string{
		"": one, "--vim edge --lease l": one, "--vim edge --profile": one, "--lease l --profile": one, "--vim edge --lease l --profile": one,
		"--untold": one, "--vim edge --untold": one, "--profile --untold": one,
		"--vim edge": none, "--lease l": none, "--profile": none, "--lease l --untold": none,
	} {
		c := (&program{&console.Console{Out: new(bytes.Buffer)}}).credentialCommand()
		c.SetArgs(strings.Fields(line))
		c.SilenceErrors, c.SilenceUsage = true, true
		if err := c.ExecuteContext(t.Context()); !strings.HasPrefix(said(err), want) {
			t.Errorf("credential %s: %v, want %q", line, err, want)
		}
	}
}

// What a client tells of its cluster decides: which one, in which form, and through which proxy.
func TestAClientTellsItsCluster(t *testing.T) {
	const form, version = envExecInfo + " is not the JSON that a client of Kubernetes gives its plugin", "the kubeconfig's exec.apiVersion must be " + execVersion
	for info, want := range map[string]string{
		"":  envExecInfo + " is not set: this command is for kubectl to run, and gives its token to nobody else; for a lease of your own take vimbroker lease issue",
		"{": form, `{"apiVersion":1}`: form, "{}": version,
		`{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","spec":{"cluster":{}}}`:    version,
		`{"apiVersion":"` + execVersion + `","kind":"Pod","spec":{"cluster":{}}}`:                                version,
		`{"apiVersion":"` + execVersion + `","kind":"ExecCredential","spec":{}}`:                                 errUntold.Error(),
		`{"apiVersion":"` + execVersion + `","kind":"ExecCredential","spec":{"cluster":{"server":"https://k"}}}`: "",
	} {
		c, err := (&program{&console.Console{Env: console.Environment{envExecInfo + "=" + info}}}).told("http://proxy")
		if said(err) != want || want == "" && (c.Server != "https://k" || c.allowed != "http://proxy") {
			t.Errorf("%s: %+v, %v; want %q", info, c, err, want)
		}
	}
}

// The whole command takes the VIM from its flag, or from the profile that the client has, and the role as well.
func TestTheVIMIsThatOfTheFlagOrTheProfile(t *testing.T) {
	const at = `"server":"https://k:6443"`
	for name, test := range map[string]struct {
		args    []string
		cluster string
		want    string
		asked   []string
		wished  string
	}{
		"by a flag":            {[]string{"--vim", "edge"}, at, "", []string{askVIM, askNew}, `{"vim":"v","ttl":"1h0m0s","format":"json"}`},
		"by a profile":         {[]string{"--profile"}, at + `,"config":{"vim":"edge","role":"view"}`, "", []string{askVIM, askNew}, `"role":"view"`},
		"by another's profile": {[]string{"--profile"}, at + `,"config":{}`, "the client does not say which VIM it asks for", nil, ""},
		"by a lease, untold":   {[]string{"--lease", "l", "--untold"}, "", "", []string{askLease, "GET /v1/vims/v", "POST /v1/leases/l/renew"}, "{}"},
		"by a lease, told":     {[]string{"--lease", "l", "--untold"}, `"server":"https://other"`, "the kubeconfig is for another cluster", []string{askLease, "GET /v1/vims/v"}, ""},
		"by a lease":           {[]string{"--lease", "l"}, "", "the client does not tell which cluster", nil, ""},
		"by a project":         {[]string{"--vim", "acme/edge"}, at, `you see no VIM "edge" in project "acme"`, []string{"GET /v1/vims"}, ""},
		"by a flag, untold":    {[]string{"--vim", "acme/edge"}, "", "the client does not tell which cluster", nil, ""},
		"by a profile, untold": {[]string{"--profile"}, "", "the client does not tell which cluster", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			x := newPlugin(t)
			wished := ""
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/vims" {
					x.asked = append(x.asked, r.Method+" "+r.URL.Path)
					encode(w, v1.List[v1.VIM]{})
					return
				}
				if r.Method == http.MethodPost {
					body, _ := io.ReadAll(r.Body)
					wished = string(body)
				}
				x.answer(w, r)
			}))
			t.Cleanup(s.Close)
			info := `{"apiVersion":"` + execVersion + `","kind":"ExecCredential","spec":{"cluster":{` + test.cluster + `}}}`
			if test.cluster == "" {
				info = `{"apiVersion":"` + execVersion + `","kind":"ExecCredential","spec":{}}`
			}
			var out bytes.Buffer
			c := (&program{&console.Console{
				Now: func() time.Time { return noon }, Out: &out, Env: console.Environment{console.EnvAddr + "=" + s.URL, console.EnvToken + "=t", envExecInfo + "=" + info},
			}}).credentialCommand()
			c.SetArgs(test.args)
			c.SilenceErrors, c.SilenceUsage = true, true
			err := c.ExecuteContext(t.Context())
			if (err == nil) != (test.want == "") || !strings.HasPrefix(said(err), test.want) || (out.Len() > 0) != (test.want == "") || fmt.Sprint(x.asked) != fmt.Sprint(test.asked) {
				t.Errorf("%v, asked %q, printed %q; want %q, %q", err, x.asked, &out, test.want, test.asked)
			}
			if test.wished != "" && !strings.Contains(wished, strings.TrimSuffix(strings.TrimPrefix(test.wished, "{"), "}")) {
				t.Errorf("wished %s, want %s", wished, test.wished)
			}
		})
	}
}

// Where the server is away, the cached lease is given as long as it lives a minute more; not to a person who has left, and not into
// nothing.
func TestACachedLeaseIsGivenAsLongAsItLives(t *testing.T) {
	x := newPlugin(t)
	x.want("first", "first", askVIM, askNew)
	x.status = http.StatusServiceUnavailable
	left, leave := context.WithCancel(t.Context())
	leave()
	for after, whole := range map[time.Duration]bool{0: true, 45 * time.Minute: true, 59*time.Minute - 1: true, 59 * time.Minute: false} {
		x.now = noon.Add(after)
		var out bytes.Buffer
		p := &program{&console.Console{Now: func() time.Time { return x.now }, Env: x.env, Out: &out}}
		told := &cluster{Server: x.vim.Endpoint}
		if err := p.credential(t.Context(), x.remote, told, x.wish); (err == nil) != whole || (out.Len() > 0) != whole {
			t.Errorf("after %v: %v, printed %q", after, err, &out)
		}
		out.Reset()
		if err := p.credential(left, x.remote, told, x.wish); !errors.Is(err, context.Canceled) || out.Len() > 0 {
			t.Errorf("after %v, to a person who has left: %v, printed %q", after, err, &out)
		}
		p.Out = broken{}
		if err := p.credential(t.Context(), x.remote, told, x.wish); whole && said(err) != "writing the exec credential: broken" {
			t.Errorf("after %v, into nothing: %v", after, err)
		}
	}
	x.now, x.status = noon, http.StatusNotFound // the lease is none of the server's
	if out, err := x.call(""); client.Status(err) != http.StatusNotFound || out != "" || fmt.Sprint(x.asked) != fmt.Sprint([]string{askLease, askVIM}) {
		t.Errorf("a lease that is not there: %q, %v, asked %q", out, err, x.asked)
	}
}

// A lease that stands gives tokens whose age counts from when they were minted.
func TestATokenOfALeaseThatStandsIsAsOldAsItself(t *testing.T) {
	x := newPlugin(t)
	minted := noon
	x.remote = remoteBroker(t, func(w http.ResponseWriter, r *http.Request) {
		x.asked = append(x.asked, r.Method+" "+r.URL.Path)
		switch {
		case r.Method == http.MethodPost:
			l := issued(t, "minted", minted.Add(time.Hour))
			config := leasedConfig("minted")
			config.ExpiresAt = minted.Add(time.Hour)
			l.ClientConfig.Text, _ = config.Render(clientconfig.JSON)
			l.Standing, l.IssuedAt, l.LastUsedAt = true, noon.Add(-24*time.Hour), minted
			encode(w, l)
		case strings.HasPrefix(r.URL.Path, "/v1/vims/"):
			encode(w, x.vim)
		default:
			encode(w, v1.Lease{ID: "l", VIM: "v", State: x.state, Standing: true})
		}
	})
	x.wish = wish{standing: "l"}
	const mint, ofLease = "POST /v1/leases/l/renew", "GET /v1/vims/v"
	x.want("first", "minted", askLease, ofLease, mint)
	x.now = noon.Add(30*time.Minute - 1)
	x.want("in the first half of its life", "minted", askLease)
	x.now, minted = noon.Add(30*time.Minute), noon.Add(30*time.Minute)
	x.want("in the second half", "minted", askLease, ofLease, mint)
}

// A VIM that moves between the question and the lease has the lease taken back; what is no credential of Kubernetes is an error.
func TestALeaseOfAVIMThatHasMovedIsTakenBack(t *testing.T) {
	x := newPlugin(t)
	config := leasedConfig("t")
	var last string
	x.remote = remoteBroker(t, func(w http.ResponseWriter, r *http.Request) {
		last = r.Method + " " + r.URL.Path
		switch r.Method {
		case http.MethodGet:
			encode(w, x.vim)
		case http.MethodDelete:
			encode(w, v1.Lease{ID: "l", State: "revoked"})
		default:
			l := issued(t, "t", noon.Add(time.Hour))
			l.VIMName = "edge"
			text, err := config.Render(clientconfig.JSON)
			if err != nil {
				t.Error(err)
			}
			l.ClientConfig.Text = text
			encode(w, l)
		}
	})
	config.Endpoint = "https://new:6443"
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	c := (&program{&console.Console{Out: null}}).credentialCommand()
	c.SetArgs([]string{"--vim", "edge"})
	c.SilenceErrors, c.SilenceUsage = true, true
	if err := c.ExecuteContext(t.Context()); !strings.HasPrefix(said(err), "standard output is closed or /dev/null") {
		t.Errorf("into nothing: %v", err)
	}
	if out, err := x.call(""); said(err) != "the VIM edge has just moved to another address; try again; the lease is revoked" || out != "" || last != "DELETE /v1/leases/l" {
		t.Errorf("%q, %v, last %s", out, err, last)
	}
	cloud := clientconfig.Config{
		VIM: "cloud", Lease: "l", Endpoint: "https://k:6443", ExpiresAt: noon.Add(time.Hour), Client: clientconfig.OpenStackClient{ProjectID: "p"},
		Credential: secret.Credential{ApplicationCredentialID: "i", ApplicationCredentialSecret: secret.NewText("s")},
	}
	var out bytes.Buffer
	p := &program{&console.Console{Out: &out}}
	form := issued(t, "t", noon)
	form.ClientConfig.Object = false
	if err := p.give(&cluster{Server: "https://k:6443"}, form, nil, ""); said(err) != "the server's answer holds no client configuration in JSON" || out.Len() > 0 {
		t.Errorf("%q, %v", &out, err)
	}
	if err := p.printCredential(cloud); !strings.HasPrefix(said(err), "making an exec credential for cloud: ") || out.Len() > 0 {
		t.Errorf("%q, %v", &out, err)
	}
}

// A shared lease that lives just as long as is too little is not handed out.
func TestASharedLeaseLivesLongEnough(t *testing.T) {
	for left, want := range map[time.Duration]int{stale: 2, stale + 1: 1} {
		asked := 0
		registry := remoteBroker(t, func(w http.ResponseWriter, _ *http.Request) {
			if asked++; asked == 1 {
				encode(w, issued(t, "first", noon.Add(left)))
				return
			}
			encode(w, issued(t, "second", noon.Add(time.Hour)))
		})
		p := &program{&console.Console{Now: func() time.Time { return noon }}}
		if _, err := p.sharedLease(t.Context(), registry, v1.LeaseRequest{VIM: "v"}, time.Hour); err != nil || asked != want {
			t.Errorf("with %v left: asked %d times, %v; want %d", left, asked, err, want)
		}
	}
}

// A lease that the server does not know, or does not give, is asked for once.
func TestALeaseThatIsRefusedIsAskedForOnce(t *testing.T) {
	x := newPlugin(t)
	x.wish = wish{standing: "l"}
	x.status = http.StatusNotFound
	if out, err := x.call(""); client.Status(err) != http.StatusNotFound || out != "" || fmt.Sprint(x.asked) != fmt.Sprint([]string{askLease}) {
		t.Errorf("one that stands: %q, %v, asked %q", out, err, x.asked)
	}
	asked := 0
	registry := remoteBroker(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusForbidden)
	})
	p := &program{&console.Console{Now: func() time.Time { return noon }}}
	if _, err := p.sharedLease(t.Context(), registry, v1.LeaseRequest{VIM: "v"}, time.Hour); client.Status(err) != http.StatusForbidden || asked != 1 {
		t.Errorf("a shared one: %v, asked %d times", err, asked)
	}
}

// A kubeconfig names the plugin with the flags of the wish, the server, and how its caller logs in, by absolute names of files.
func TestAKubeconfigNamesThePluginAsItsCallerRunsIt(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	const addr = console.EnvAddr + "=http://127.0.0.1:1"
	config := story.WriteFile(t, "c.yaml", "current: corp\ncontexts: [{name: corp, server: 'http://127.0.0.1:1', from: gitlab}]\n", 0o600)
	at := map[string]string{console.EnvAddr: "http://127.0.0.1:1"}
	with := func(pairs ...string) map[string]string {
		all := maps.Clone(at)
		for pair := range slices.Chunk(pairs, 2) {
			all[pair[0]] = pair[1]
		}
		return all
	}
	for name, test := range map[string]struct {
		p    console.Console
		want map[string]string
	}{
		"a token":            {console.Console{Env: console.Environment{addr, console.EnvToken + "=t"}}, at},
		"a token's file":     {console.Console{Env: console.Environment{addr}, TokenFile: "t"}, with(console.EnvTokenFile, dir+"/t")},
		"with authorities":   {console.Console{Env: console.Environment{addr, console.EnvCAFile + "=ca"}, TokenFile: "/t"}, with(console.EnvTokenFile, "/t", console.EnvCAFile, dir+"/ca")},
		"a client":           {console.Console{Env: console.Environment{addr, console.EnvClientID + "=c", console.EnvClientSecretFile + "=s"}}, with(console.EnvClientID, "c", console.EnvClientSecretFile, dir+"/s")},
		"by its certificate": {console.Console{Env: console.Environment{addr, console.EnvClientID + "=c", console.EnvClientCertFile + "=x", console.EnvClientKeyFile + "=/k"}}, with(console.EnvClientID, "c", console.EnvClientCertFile, dir+"/x", console.EnvClientKeyFile, "/k")},
		"a context":          {console.Console{Env: console.Environment{"VIMBROKER_CONFIG=" + config}}, with("VIMBROKER_CONTEXT", "corp", "VIMBROKER_CONFIG", config)},
	} {
		got := StandingPlugin(&test.p, "l")
		if diff := cmp.Diff(test.want, got.Env); diff != "" || !slices.Equal(got.Args, []string{"credential", "--lease", "l"}) || got.Command != console.SelfCommand() || got.InstallHint == "" {
			t.Errorf("%s: %+v (-want +got):\n%s", name, got, diff)
		}
	}
	f := Flags{Ttl: 30 * time.Minute, role: "edit", Namespaces: []string{"a", "b"}, purpose: "p", forWhom: "alice", clusterWide: true}
	for _, rule := range []string{"get:pods", "list:nodes"} {
		if err := f.rules.Set(rule); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		f    Flags
		want string
	}{
		{Flags{}, "credential --vim v"},
		{f, "credential --vim v --role edit --rule get:pods --rule list:nodes --cluster-wide --namespace a --namespace b --ttl 30m0s --purpose p --for alice"},
		{Flags{Ttl: 1}, "credential --vim v --ttl 1ns"},
	} {
		if got := strings.Join(Plugin(&console.Console{}, v1.VIM{ID: "v"}, test.f).Args, " "); got != test.want {
			t.Errorf("%+v: %s, want %s", test.f, got, test.want)
		}
	}
}

// A bundle counts by its certificates; what stands beside them counts as nothing.
func TestABundleCountsByItsCertificates(t *testing.T) {
	mine, other := authority(t), authority(t)
	const key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
	const none = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
	marked := strings.ReplaceAll(other, "CERTIFICATE", "TRUSTED CERTIFICATE")
	for name, test := range map[string]struct {
		client, vim string
		want        bool
	}{
		"the same": {mine, mine, true}, "one of two": {mine, other + mine, true}, "both": {other + mine, mine + other, true}, "another": {other, mine, false},
		"beside a key": {key + mine, mine, true}, "beside no certificate": {none + mine, mine, true}, "beside one of another kind": {marked + mine, mine, true},
		"none": {" \n", " ", true}, "none, of one": {"", mine, false}, "no certificate": {none, "", false}, "a key": {key, "", false}, "of another kind": {marked, marked, false},
	} {
		if got := withinCA([]byte(test.client), []byte(test.vim)); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	for at, want := range map[string]string{"https://K/": "k:443", "https://k:1/a%2Fb/": "k:1/a%2Fb", "https://:443": "", "https://u@k": "", "http://k": "", "https://k:x": "", "%zz": ""} {
		if got := serverOf(at); got != want {
			t.Errorf("serverOf(%q) = %q, want %q", at, got, want)
		}
	}
}

// Calls share a lease only where they wish for the same in each respect.
func TestCallsShareALeaseOnlyForOneWish(t *testing.T) {
	wish := v1.LeaseRequest{VIM: "v", Role: "view", Namespaces: []string{"a"}, TTL: "1h", Purpose: "test", For: "alice"}
	seen := map[string]string{wishKey(wish): "the wish"}
	for what, change := range map[string]func(*v1.LeaseRequest){
		"the VIM": func(r *v1.LeaseRequest) { r.VIM = "w" }, "the role": func(r *v1.LeaseRequest) { r.Role = "edit" }, "no role": func(r *v1.LeaseRequest) { r.Role = "" },
		"rules": func(r *v1.LeaseRequest) {
			r.Rules = []v1.Rule{{APIGroups: []string{""}, Verbs: []string{"get"}, Resources: []string{"pods"}}}
		},
		"other rules": func(r *v1.LeaseRequest) {
			r.Rules = []v1.Rule{{APIGroups: []string{""}, Verbs: []string{"get"}, Resources: []string{"pods", "secrets"}}}
		},
		"the namespace": func(r *v1.LeaseRequest) { r.Namespaces = []string{"b"} }, "no namespace": func(r *v1.LeaseRequest) { r.Namespaces = nil },
		"a second namespace": func(r *v1.LeaseRequest) { r.Namespaces = []string{"a", "b"} }, "the whole cluster": func(r *v1.LeaseRequest) { r.ClusterWide = true },
		"the time": func(r *v1.LeaseRequest) { r.TTL = "2h" }, "the purpose": func(r *v1.LeaseRequest) { r.Purpose = "" }, "the person": func(r *v1.LeaseRequest) { r.For = "bob" },
	} {
		r := wish
		change(&r)
		if before, is := seen[wishKey(r)]; is {
			t.Errorf("calls of which %s differs share a lease with %s", what, before)
		}
		seen[wishKey(r)] = what
	}
	if wishKey(wish, "a") == wishKey(wish, "b") {
		t.Error("calls of two users share a lease")
	}
}
