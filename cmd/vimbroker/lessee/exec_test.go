package lessee

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/story"
)

// said is the text of an error, or none.
func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// run is an exec at a server that answers as told.
type run struct {
	server   *fake.Server
	out, err bytes.Buffer
	issued   v1.IssuedLease
	// issue and revoke are the statuses of such requests, if not zero; -1 breaks the connection.
	issue, revoke int
	state         string // after the revocation
	issuing       func() // before the lease is answered
	asked         []string
	wished        string
}

func newRun(t *testing.T) *run {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", t.TempDir())
	r := &run{issued: issued(t, "first", noon.Add(time.Hour)), state: "revoked", issuing: func() {}}
	r.issued.VIMName = "edge"
	r.server = fake.NewPlain(t, func(w http.ResponseWriter, q *http.Request) {
		r.asked = append(r.asked, q.Method+" "+q.URL.Path)
		status := map[string]int{http.MethodPost: r.issue, http.MethodDelete: r.revoke}[q.Method]
		switch {
		case status == -1:
			panic(http.ErrAbortHandler)
		case status != 0:
			w.WriteHeader(status)
		case q.Method == http.MethodGet:
			w.WriteHeader(http.StatusNotFound)
		case q.Method == http.MethodDelete:
			encode(w, v1.Lease{ID: "l", State: r.state})
		default:
			r.issuing()
			body, _ := io.ReadAll(q.Body)
			r.wished = string(body)
			encode(w, r.issued)
		}
	})
	return r
}

// do runs exec with these arguments, and returns the code that the program would end with.
func (r *run) do(t *testing.T, args ...string) int {
	t.Helper()
	p := &program{&console.Console{
		In: strings.NewReader("typed"), Out: &r.out, Err: &r.err, Now: func() time.Time { return noon },
		After: func(time.Duration) <-chan time.Time { return nil },
		Env:   console.Environment{console.EnvAddr + "=" + r.server.URL, console.EnvToken + "=mine", "PATH=" + os.Getenv("PATH"), "OS_TOKEN=other"},
	}}
	c := p.execCommand()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	return p.ExitCode(c.ExecuteContext(t.Context()))
}

// exec names one VIM, and behind two dashes the command.
func TestExecIsForOneVIMAndOneCommand(t *testing.T) {
	const usage = "; see: exec --help"
	for line, want := range map[string]string{
		"":                      "VIM is missing" + usage,
		"-- true":               "VIM is missing" + usage,
		"edge":                  "the command behind -- is missing" + usage,
		"--vim edge":            "the command behind -- is missing" + usage,
		"--vim edge true":       "give one VIM, then --, then the command" + usage,
		"edge true":             "give one VIM, then --, then the command" + usage,
		"edge other -- true":    "give one VIM, then --, then the command" + usage,
		"--vim edge one -- two": "give one VIM, then --, then the command" + usage,
		"edge --":               "the command behind -- is missing" + usage,
		"--vim edge --":         "the command behind -- is missing" + usage,
		"edge -- true":          "no server named",
		"--vim edge -- true":    "no server named",
		"edge -- true --vim":    "no server named",
	} {
		p := &program{&console.Console{}}
		c := p.execCommand()
		c.SilenceErrors, c.SilenceUsage = true, true
		c.SetArgs(strings.Fields(line))
		if err := c.ExecuteContext(t.Context()); !strings.HasPrefix(said(err), want) {
			t.Errorf("exec %s: %v, want %q", line, err, want)
		}
	}
}

// A command runs with the lease, and its code is exec's; whatever happens, the lease is given back, or its holder told.
func TestExecRunsACommandWithALease(t *testing.T) {
	const see = `echo "$VIMBROKER_VIM $VIMBROKER_LEASE $VIMBROKER_TOKEN $OS_TOKEN"; test -s "$KUBECONFIG" && cat && exit `
	const issue, revoke = "POST /v1/leases", "DELETE /v1/leases/l"
	again := "; it may work until it expires: repeat with: vimbroker lease revoke l\n"
	plain, odd := story.WriteFile(t, "plain", "", 0o644), story.WriteFile(t, "odd", "none", 0o755)
	for name, test := range map[string]struct {
		change func(r *run)
		args   []string
		code   int
		out    string
		err    string
		asked  []string
	}{
		"well":                {nil, []string{"edge", "--", "sh", "-c", see + "0"}, 0, "edge l  other\ntyped", "", []string{issue, revoke}},
		"by a flag":           {nil, []string{"--vim", "edge", "--", "sh", "-c", see + "0"}, 0, "edge l  other\ntyped", "", []string{issue, revoke}},
		"with a code":         {nil, []string{"edge", "--", "sh", "-c", see + "3"}, 3, "edge l  other\ntyped", "", []string{issue, revoke}},
		"with the least code": {nil, []string{"edge", "--", "sh", "-c", see + "1"}, 1, "edge l  other\ntyped", "", []string{issue, revoke}},
		"of a project":        {nil, []string{"edge", "--project", "acme", "--", "true"}, 125, "", "vimbroker: the broker's address answered 404 Not Found\n", []string{"GET /v1/vims"}},
		"no such command":     {nil, []string{"edge", "--", "/nowhere/tool"}, 127, "", "vimbroker: /nowhere/tool: executable file not found in $PATH\n", nil},
		"no program":          {nil, []string{"edge", "--", plain}, 126, "", "vimbroker: " + plain + ": permission denied\n", nil},
		"refused":             {func(r *run) { r.issue = 403 }, []string{"edge", "--", "true"}, 125, "", "vimbroker: the broker's address answered 403 Forbidden\n", []string{issue}},
		"another project's":   {nil, []string{"acme/edge", "--", "true"}, 125, "", "vimbroker: the broker's address answered 404 Not Found\n", []string{"GET /v1/vims"}},
		"no answer": {
			func(r *run) { r.issue = -1 },
			[]string{"edge", "--", "true"},
			125, "",
			"vimbroker: asking the broker at SERVER: EOF; if a lease was issued all the same, it is in: vimbroker lease list\n",
			[]string{issue, issue},
		},
		"another form": {
			func(r *run) { r.issued.ClientConfig.Object = false },
			[]string{"edge", "--", "true"},
			125, "",
			"vimbroker: the server's answer holds no client configuration in JSON\n",
			[]string{issue, revoke},
		},
		"without its directory": {
			func(r *run) { r.issuing = func() { _ = os.RemoveAll(os.Getenv("TMPDIR")) } },
			[]string{"edge", "--", "true"},
			125, "",
			"vimbroker: writing the lease's files: writing client configuration: openat token-N: no such file or directory\n",
			[]string{issue, revoke},
		},
		"of no format": {nil, []string{"edge", "--", odd}, 126, "", "vimbroker: fork/exec " + odd + ": exec format error\n", []string{issue, revoke}},
		"not taken back": {
			func(r *run) { r.revoke = 503 },
			[]string{"edge", "--", "true"},
			122, "",
			"vimbroker: revoking lease l: the broker's address answered 503 Service Unavailable" + again,
			[]string{issue, revoke},
		},
		"not taken back behind a code": {
			func(r *run) { r.revoke = 503 },
			[]string{"edge", "--", "sh", "-c", "exit 4"},
			122, "",
			"vimbroker: the command ended with 4; revoking lease l: the broker's address answered 503 Service Unavailable" + again,
			[]string{issue, revoke},
		},
		"irrevocable": {
			func(r *run) { r.state = "irrevocable" },
			[]string{"edge", "--", "true"},
			122, "",
			"vimbroker: revoking lease l: the VIM does not take it back" + again,
			[]string{issue, revoke},
		},
		"still revoking": {
			func(r *run) { r.state = "revoking" },
			[]string{"edge", "--", "true"},
			122, "",
			"vimbroker: lease l is revoking: the VIM cannot be asked now, and the server goes on trying; see: vimbroker lease show l\n",
			[]string{issue, revoke},
		},
		"another form, not taken back": {
			func(r *run) { r.issued.ClientConfig.Object, r.revoke = false, 503 },
			[]string{"edge", "--", "true"},
			122, "",
			"vimbroker: the server's answer holds no client configuration in JSON; revoking lease l: the broker's address answered 503 Service Unavailable" + again,
			[]string{issue, revoke},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			if test.change != nil {
				test.change(r)
			}
			code := r.do(t, test.args...)
			said := regexp.MustCompile(`token-\w+`).ReplaceAllString(r.err.String(), "token-N")
			if code != test.code || r.out.String() != test.out || said != strings.ReplaceAll(test.err, "SERVER", r.server.URL[len("http://"):]) || !slices.Equal(r.asked, test.asked) {
				t.Errorf("code %d, asked %q, printed %q, said %q\nwant %+v", code, r.asked, &r.out, &r.err, test)
			}
			left, err := filepath.Glob(os.Getenv("TMPDIR") + "/*/*")
			if err != nil || len(left) > 0 {
				t.Errorf("left %q, %v", left, err)
			}
		})
	}
}

// The flags of exec are the wish, and where no private directory can be made nothing is asked for.
func TestExecAsksForWhatItsFlagsSay(t *testing.T) {
	r := newRun(t)
	code := r.do(t, "edge", "--role", "edit", "-n", "a", "-n", "b", "--ttl", "30m", "--purpose", "p", "--for", "alice", "--cluster-wide", "--rule", "get:pods", "--", "true")
	const want = `{"vim":"edge","role":"edit","namespaces":["a","b"],"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}],` +
		`"clusterWide":true,"ttl":"30m0s","purpose":"p","for":"alice","format":"json"}`
	if code != 0 || len(r.wished) != len(want) {
		t.Errorf("code %d, wished %s\nwant %s", code, r.wished, want)
	}
	for _, part := range strings.Split(strings.Trim(want, "{}"), ",\"") {
		if !strings.Contains(r.wished, strings.TrimPrefix(part, `"`)) {
			t.Errorf("wished %s, without %s", r.wished, part)
		}
	}
	r = newRun(t)
	t.Setenv("TMPDIR", story.WriteFile(t, "file", "", 0o600))
	code = r.do(t, "edge", "--", "true")
	if code != 125 || len(r.asked) > 0 || !strings.Contains(r.err.String(), "removing files of an earlier exec that was killed: ") ||
		!strings.Contains(r.err.String(), "\nvimbroker: making a directory for the lease's files: ") {
		t.Errorf("code %d, asked %q, said %q", code, r.asked, &r.err)
	}
}

// What may follow a flag is known, and what a flag is without a value is shown.
func TestFlagsOfLeasesAreCompleted(t *testing.T) {
	p := &program{&console.Console{}}
	for _, c := range Commands(p.Console) {
		for _, flag := range []string{"vim", "role", "namespace"} {
			if complete, ok := c.GetFlagCompletionFunc(flag); !ok || complete == nil {
				t.Errorf("%s: --%s is not completed", c.Name(), flag)
			}
		}
	}
	if ttl := p.credentialCommand().Flags().Lookup("ttl"); ttl.DefValue != "1h0m0s" || ttl.Value.String() != "1h0m0s" || ttl.Usage != "wished lifetime, like 30m" {
		t.Errorf("--ttl is %+v", ttl)
	}
	f := Flags{Ttl: 1}
	if got := f.Request("v", clientconfig.JSON); got.TTL != "1ns" || got.VIM != "v" || got.Format != "json" {
		t.Errorf("asks for %+v", got)
	}
	f.Ttl = 0
	if got := f.Request("v", clientconfig.JSON); got.TTL != "" {
		t.Errorf("asks for %+v", got)
	}
}

// A command on OpenStack sees no variable of OpenStack but the lease's, and no command sees what logs in at the broker.
func TestACommandSeesNoOtherCredential(t *testing.T) {
	secrets := console.Environment{
		console.EnvToken + "=1", console.EnvTokenFile + "=2", console.EnvClientSecretFile + "=3", console.EnvClientKeyFile + "=4", console.EnvClientCertFile + "=5",
		"VIMBROKER_CONTEXT=6", "VIMBROKER_ID_TOKEN=7",
	}
	p := &program{&console.Console{Env: append(secrets, "HOME=/h", "OS_TOKEN=t", "OS_CLOUD=before", "OSX=y", "KUBECONFIG=mine")}}
	for name, test := range map[string]struct{ leased, want []string }{
		"a cloud":   {[]string{"OS_CLIENT_CONFIG_FILE=/c", "OS_CLOUD=lease"}, []string{"HOME=/h", "OSX=y", "KUBECONFIG=mine", "OS_CLIENT_CONFIG_FILE=/c", "OS_CLOUD=lease"}},
		"a cluster": {[]string{"KUBECONFIG=/k"}, []string{"HOME=/h", "OS_TOKEN=t", "OS_CLOUD=before", "OSX=y", "KUBECONFIG=/k"}},
	} {
		c := p.child("/bin/tool", []string{"tool", "arg"}, test.leased)
		if !slices.Equal(c.Env, test.want) || c.Path != "/bin/tool" || !slices.Equal(c.Args, []string{"tool", "arg"}) {
			t.Errorf("%s: %q of %q sees %q, want %q", name, c.Args, c.Path, c.Env, test.want)
		}
	}
}

// What the server says about a renewal is final where it will say it again.
func TestAnAnswerIsFinalWhereItStays(t *testing.T) {
	for status, want := range map[int]bool{0: false, 399: false, 400: true, 404: true, 429: false, 499: true, 500: false, 503: false} {
		err := error(&client.Problem{Problem: v1.Problem{Status: status}})
		if status == 0 {
			err = errors.New("no answer")
		}
		if final(err) != want {
			t.Errorf("%d is final: %t", status, !want)
		}
	}
	for status, want := range map[int]bool{0: false, 403: false, 428: false, 429: true, 430: false, 499: false, 500: true, 503: true} {
		err := error(&client.Problem{Problem: v1.Problem{Status: status}})
		if away(err) != want {
			t.Errorf("%d is away: %t", status, !want)
		}
	}
	if !away(fmt.Errorf("so: %w", context.DeadlineExceeded)) || away(context.Canceled) || away(nil) {
		t.Error("a server that lets one wait is away, and a person who leaves is none")
	}
}

// keeper renews a lease at a server that answers as told.
func keeper(t *testing.T, answer http.HandlerFunc) (p *program, registry *client.Client, files *clientconfig.Files, said *bytes.Buffer) {
	t.Helper()
	dir, err := clientconfig.OpenDir(filepath.Join(t.TempDir(), "files"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	if files, err = dir.Write(leasedConfig("first")); err != nil {
		t.Fatal(err)
	}
	said = new(bytes.Buffer)
	p = &program{&console.Console{Err: said, Now: func() time.Time { return noon }, After: func(time.Duration) <-chan time.Time {
		past := make(chan time.Time, 1)
		past <- noon
		return past
	}}}
	return p, remoteBroker(t, answer), files, said
}

// A renewal asks for the wished life, and ends where the lease has, where the answer is final and where the command has ended.
func TestKeepAliveEndsWhereItHasTo(t *testing.T) {
	hour := noon.Add(time.Hour)
	for name, test := range map[string]struct {
		lease  v1.Lease
		ttl    time.Duration
		status int
		want   string
		asked  []string
	}{
		"for ever":         {v1.Lease{ID: "l", Derived: true}, 0, 0, "", nil},
		"passed through":   {v1.Lease{ID: "l", ExpiresAt: hour}, 0, 0, "", nil},
		"expired":          {v1.Lease{ID: "l", Derived: true, ExpiresAt: noon}, 0, 0, "vimbroker: lease l has expired under the running command\n", nil},
		"refused":          {v1.Lease{ID: "l", Derived: true, ExpiresAt: hour}, 0, 403, "vimbroker: renewing lease l, which expires in 60m: the broker's address answered 403 Forbidden\n", []string{"{}"}},
		"no longer":        {v1.Lease{ID: "l", Derived: true, ExpiresAt: hour}, 0, 0, "vimbroker: lease l cannot be renewed any further and expires in 60m (2026-11-20T13:00:01Z)\n", []string{"{}"}},
		"as wished":        {v1.Lease{ID: "l", Derived: true, ExpiresAt: hour}, 30 * time.Minute, 0, "vimbroker: lease l cannot be renewed any further and expires in 60m (2026-11-20T13:00:01Z)\n", []string{`{"ttl":"30m0s"}`}},
		"a moment is left": {v1.Lease{ID: "l", Derived: true, ExpiresAt: noon.Add(1)}, 0, 403, "vimbroker: renewing lease l, which expires now: the broker's address answered 403 Forbidden\n", []string{"{}"}},
	} {
		var asked []string
		p, registry, files, said := keeper(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			asked = append(asked, strings.TrimSpace(string(body)))
			if test.status != 0 {
				w.WriteHeader(test.status)
				return
			}
			encode(w, issued(t, "next", hour.Add(time.Second)))
		})
		p.keepAlive(t.Context(), registry, test.lease, test.ttl, files)
		if said.String() != test.want || !slices.Equal(asked, test.asked) {
			t.Errorf("%s: asked %q, said %q; want %q, %q", name, asked, said, test.asked, test.want)
		}
	}
	ctx, end := context.WithCancel(t.Context())
	p, registry, files, said := keeper(t, func(w http.ResponseWriter, _ *http.Request) {
		end()
		w.WriteHeader(http.StatusForbidden)
	})
	p.keepAlive(ctx, registry, v1.Lease{ID: "l", Derived: true, ExpiresAt: hour}, 0, files)
	if said.Len() > 0 {
		t.Errorf("a command that ends during a renewal: %q", said)
	}
}

// A credential that is none, or that cannot be written, is an error of the renewal.
func TestARenewalThatCannotBeKept(t *testing.T) {
	l := issued(t, "next", noon.Add(time.Hour))
	p, registry, files, _ := keeper(t, func(w http.ResponseWriter, _ *http.Request) { encode(w, l) })
	l.ClientConfig.Object = false
	if _, err := p.renew(t.Context(), registry, "l", v1.Renewal{}, files); said(err) != "the server's answer holds no client configuration in JSON" {
		t.Error(err)
	}
	l.ClientConfig.Object = true
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.renew(t.Context(), registry, "l", v1.Renewal{}, files); err == nil {
		t.Error("files that are gone are replaced")
	}
}

// Files that are gone were removed; what cannot be removed is told.
func TestFilesThatStayAreTold(t *testing.T) {
	var told bytes.Buffer
	p := &program{&console.Console{Err: &told}}
	p.closed(nil)
	p.closed(fmt.Errorf("so: %w", os.ErrNotExist))
	if told.Len() > 0 {
		t.Errorf("told %q", &told)
	}
	p.closed(errors.New("busy"))
	if told.String() != "vimbroker: removing the lease's files: busy\n" {
		t.Errorf("told %q", &told)
	}
}

// A lease that cannot be used is taken back, and where it is not, its holder is told how.
func TestALeaseThatCannotBeUsedIsTakenBack(t *testing.T) {
	broken := errors.New("no room")
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the person has left
	for status, want := range map[int]string{
		200: "no room; the lease is revoked",
		503: "no room; and revoking the lease failed: the broker's address answered 503 Service Unavailable; do it with: vimbroker lease revoke l",
	} {
		registry := remoteBroker(t, func(w http.ResponseWriter, _ *http.Request) {
			if status != http.StatusOK {
				w.WriteHeader(status)
				return
			}
			encode(w, v1.Lease{ID: "l", State: "revoked"})
		})
		if err := TakeBack(ctx, registry, "l", broken); said(err) != want || !errors.Is(err, broken) {
			t.Errorf("%d: %v, want %q", status, err, want)
		}
		if err := giveBack(ctx, registry, "l"); (err == nil) != (status == http.StatusOK) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// The first signal that asks for an end is the one that counts, and the size of a window asks for none.
func TestTheFirstSignalThatAsksForAnEndCounts(t *testing.T) {
	s := &signals{arrived: make(chan struct{})}
	s.remember(syscall.SIGWINCH)
	if s.first() != 0 {
		t.Errorf("a window's size ends it: %v", s.first())
	}
	for _, got := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		s.remember(got)
		<-s.arrived
		if s.first() != syscall.SIGHUP {
			t.Errorf("%v counts, want HUP", s.first())
		}
	}
}

// A signal that came while the command was being started reaches it.
func TestASignalBeforeTheCommandReachesIt(t *testing.T) {
	never := filepath.Join(t.TempDir(), "never")
	if err := syscall.Mkfifo(never, 0o600); err != nil {
		t.Fatal(err)
	}
	s := catchSignals()
	defer s.release()
	s.remember(syscall.SIGHUP) // the signal of the least number
	c := exec.Command("sh", "-c", `read x < "$0"`, never)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if code, err := s.relay(c); code != 128+int(syscall.SIGHUP) || err != nil {
		t.Errorf("code %d, %v", code, err)
	}
}

// What cannot be looked at is no program, and says why.
func TestAPathThatCannotBeLookedAt(t *testing.T) {
	loop := filepath.Join(t.TempDir(), "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	if path, err := executable(loop); path != "" || !errors.Is(err, syscall.ELOOP) {
		t.Errorf("%q, %v", path, err)
	}
	plain := story.WriteFile(t, "plain", "", 0o644)
	if path, err := executable(plain + "/tool"); path != "" || !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("%q, %v", path, err)
	}
}

// An answer that holds another form than was asked for is no configuration.
func TestAConfigurationIsInJSON(t *testing.T) {
	l := issued(t, "t", noon)
	if c, err := configOf(l); err != nil || c.VIM != "edge" {
		t.Errorf("%+v, %v", c, err)
	}
	l.ClientConfig.Text = secret.NewText("{")
	if _, err := configOf(l); !strings.HasPrefix(said(err), "decoding client configuration: ") {
		t.Error(err)
	}
}
