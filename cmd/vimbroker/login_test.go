package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/issuer"
	"github.com/vimbroker/vimbroker/test/story"
)

// home is a person with a home directory, at a server that trusts an issuer.
type home struct {
	*configured
	t      *testing.T
	dir    string
	issuer *issuer.Issuer
	env    []string
	mu     sync.Mutex
	said   strings.Builder // what all commands but "token print" have said
}

// newHome starts the server. Its environment names it, and no token.
func newHome(t *testing.T, more string) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir(), issuer: issuer.New(t)}
	keys := story.WriteFile(t, "keys.json", string(h.issuer.JWKS()), 0o600)
	h.configured = serveConfig(t, fmt.Sprintf(`
trust:
  - name: corp
    issuer: %s
    keysFile: %s
    login: {clientID: cli}
    principals:
      - {match: {sub: alice}, project: acme, roles: [member]}
%s`, h.issuer.URL, keys, more))
	h.env = []string{"HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
	return h
}

// watcher calls see with each line.
type watcher struct {
	mu  sync.Mutex
	all strings.Builder
	see func(text string)
}

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all.Write(p)
	if w.see != nil {
		w.see(string(p))
	}
	return len(p), nil
}

// do runs a command as the person; see is called with what it says to standard error.
func (h *home) do(see func(string), env []string, args ...string) (code int, out, said string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	var stdout strings.Builder
	stderr := &watcher{see: see}
	code = run(ctx, args, strings.NewReader(""), &stdout, stderr, append(append([]string{}, h.env...), env...))
	if args[0] != "token" {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.said.WriteString(stdout.String() + stderr.all.String())
	}
	return code, stdout.String(), stderr.all.String()
}

// ok runs a command that must succeed.
func (h *home) ok(see func(string), env []string, args ...string) (out, said string) {
	h.t.Helper()
	code, out, said := h.do(see, env, args...)
	if code != 0 {
		h.t.Fatalf("%v = %d\n%s%s", args, code, out, said)
	}
	return out, said
}

// wantPrivate checks that the person's files are for the person alone, and holds a canary nowhere else.
func (h *home) wantPrivate(canary string) {
	h.t.Helper()
	found := 0
	_, audit, _ := h.run(h.t, "audit", "list", "-o", "json")
	told := h.log.String() + audit + h.said.String()
	kept := 0
	err := filepath.Walk(filepath.Join(h.dir, ".config"), func(name string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			if err == nil && info.Mode().Perm()&0o077 != 0 && strings.Contains(name, "vimbroker") {
				h.t.Errorf("%s is open to others: %v", name, info.Mode())
			}
			return err
		}
		text, err := os.ReadFile(name)
		if strings.Contains(string(text), canary) {
			found++
		}
		var login struct{ Token, Refresh string }
		if json.Unmarshal(text, &login) == nil && aToken.MatchString(login.Token) {
			kept++
		}
		if info.Mode().Perm()&0o077 != 0 {
			h.t.Errorf("%s is open to others: %v", name, info.Mode())
		}
		return err
	})
	if err != nil || found != 1 || kept != 1 {
		h.t.Errorf("%d files hold the refresh token, and %d a token, %v; want one", found, kept, err)
	}
	if strings.Contains(told, canary) || aToken.MatchString(told) {
		h.t.Error("a command, the server's log or the audit log says a token")
	}
}

// aToken is a JWT in a text.
var aToken = regexp.MustCompile(`ey[\w-]+\.[\w-]+\.[\w-]+`)

var addressInText = regexp.MustCompile(`https?://[^\s]+`)

func TestAPersonLogsInByBrowserAndContextsAreKept(t *testing.T) {
	h := newHome(t, "oauth: {issuer: 'http://127.0.0.1:8420'}\n")
	person := h.issuer.LogIn("alice")
	server := "http://" + h.addr
	forged := make(chan int, 1)
	browse := func(text string) {
		at := addressInText.FindString(text)
		if !strings.Contains(at, "/auth?") {
			return
		}
		go func() {
			back := regexp.MustCompile(`redirect_uri=([^&]+)`).FindStringSubmatch(at)
			callback := strings.NewReplacer("%3A", ":", "%2F", "/").Replace(back[1])
			answer, err := http.Get(callback + "?code=x&state=another")
			if err != nil {
				t.Error(err)
				return
			}
			_ = answer.Body.Close()
			forged <- answer.StatusCode
			if answer, err = http.Get(at); err != nil {
				t.Error(err)
				return
			}
			_ = answer.Body.Close()
		}()
	}
	_, said := h.ok(browse, []string{"BROWSER=true"}, "login", "--addr", server)
	if status := <-forged; status != http.StatusBadRequest || !strings.Contains(said, "logged in as alice (oidc:corp:alice) in project acme") {
		t.Errorf("a callback with another state = %d; login says\n%s", status, said)
	}
	if out, _ := h.ok(nil, nil, "whoami"); !strings.Contains(out, "oidc:corp:alice") || !strings.Contains(out, "corp") {
		t.Errorf("whoami = %s", out)
	}
	h.ok(nil, nil, "context", "list", "-o", "json")
	h.ok(nil, nil, "context", "list")
	h.wantPrivate("canary-refresh-")
	out, _ := h.ok(nil, nil, "token", "print")
	if _, who := h.ok(nil, []string{"VIMBROKER_ADDR=" + server, "VIMBROKER_TOKEN=" + strings.TrimSpace(out)}, "whoami"); who != "" {
		t.Errorf("whoami with a printed token says %s", who)
	}
	if code, _, said := h.do(nil, []string{"VIMBROKER_ADDR=http://127.0.0.1:1"}, "whoami"); code == 0 || !strings.Contains(said, "no token given") {
		t.Errorf("the token of a context goes to another server: %d %s", code, said)
	}

	// A context of a file, chosen by the variable; merged with another file.
	h.ok(nil, nil, "context", "add", "root", "--server", server, "--token", story.WriteFile(t, "root.token", h.token, 0o600))
	if out, _ := h.ok(nil, nil, "whoami"); !strings.Contains(out, "alice\n") || strings.Contains(out, "oidc") {
		t.Errorf("whoami in the context root = %s", out)
	}
	if out, _ := h.ok(nil, []string{"VIMBROKER_CONTEXT=corp"}, "whoami"); !strings.Contains(out, "oidc:corp:alice") {
		t.Errorf("whoami in the context corp = %s", out)
	}
	first := filepath.Join(t.TempDir(), "mine.yaml")
	both := []string{"VIMBROKER_CONFIG=" + first + ":" + filepath.Join(h.dir, ".config", "vimbroker", "contexts.yaml")}
	h.ok(nil, both, "context", "add", "root", "--server", "http://127.0.0.1:1")
	if out, _ := h.ok(nil, both, "context", "list"); strings.Count(out, "root") != 1 && !strings.Contains(out, "corp") {
		t.Errorf("context list = %s", out)
	}
	h.ok(nil, both, "context", "use", "corp")
	if out, _ := h.ok(nil, both, "whoami"); !strings.Contains(out, "oidc:corp:alice") {
		t.Errorf("whoami in a merged context = %s", out)
	}
	h.ok(nil, nil, "context", "use", "corp")
	h.ok(nil, nil, "logout")
	if revoked, _ := person.Seen(); len(revoked) != 1 || !strings.HasPrefix(revoked[0], "canary-refresh-") {
		t.Errorf("revoked at the issuer: %v", revoked)
	}
	if code, _, said := h.do(nil, nil, "whoami"); code == 0 || !strings.Contains(said, "log in again: vimbroker login") {
		t.Errorf("whoami after logout = %d %s", code, said)
	}
	h.ok(nil, nil, "context", "remove", "corp")
	if code, _, said := h.do(nil, nil, "whoami"); code == 0 || !strings.Contains(said, "no server named") {
		t.Errorf("whoami without a context = %d %s", code, said)
	}
}

func TestALoginByDeviceIsRefreshedByOneProcessAtATime(t *testing.T) {
	h := newHome(t, "")
	person := h.issuer.LogIn("alice")
	person.Life = 30 // each use refreshes: a token is replaced a minute before its end
	_, said := h.ok(func(text string) {
		if strings.Contains(text, "ABCD-EFGH") {
			person.Approve()
		}
	}, []string{"VIMBROKER_ADDR=http://" + h.addr}, "login", "--device")
	if !strings.Contains(said, "/type") || !strings.Contains(said, "logged in as alice") {
		t.Errorf("login --device says\n%s", said)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if code, _, said := h.do(nil, nil, "whoami"); code != 0 {
				t.Errorf("whoami beside others = %d %s", code, said)
			}
		})
	}
	all.Wait()
	if _, twice := person.Seen(); twice != 0 {
		t.Errorf("%d refresh tokens came twice", twice)
	}
	h.wantPrivate("canary-refresh-")
}

func TestAProgramTakesTheTokenOfItsPlatform(t *testing.T) {
	h := newHome(t, "")
	server := "VIMBROKER_ADDR=http://" + h.addr
	good := func() string { return h.issuer.Token("alice", nil) }
	runner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer runner" || r.URL.Query().Get("audience") != "vimbroker" || r.URL.Query().Get("v") != "2" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `{"value":%q}`, good())
	}))
	t.Cleanup(runner.Close)
	file := story.WriteFile(t, "platform.token", good()+"\n", 0o600)
	for from, env := range map[string][]string{
		"github":       {"ACTIONS_ID_TOKEN_REQUEST_URL=" + runner.URL + "/?v=2", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=runner"},
		"gitlab":       {"VIMBROKER_ID_TOKEN=" + good()},
		"kubernetes":   {"VIMBROKER_POD_TOKEN_FILE=" + file},
		"file:" + file: nil,
	} {
		if code, _, said := h.do(nil, append([]string{server}, env...), "login", "--from", from); code != 0 || !strings.Contains(said, "logged in as alice") {
			t.Errorf("login --from %s = %d %s", from, code, said)
			continue
		}
		if out, _ := h.ok(nil, env, "whoami"); !strings.Contains(out, "oidc:corp:alice") {
			t.Errorf("whoami from %s = %s", from, out)
		}
		if from == "github" || from == "gitlab" {
			if code, _, said := h.do(nil, nil, "whoami"); code == 0 || !strings.Contains(said, "the job ") {
				t.Errorf("whoami without what %s gives = %d %s", from, code, said)
			}
		}
	}
	if code, _, said := h.do(nil, []string{server}, "login", "--from", "jenkins"); code == 0 || !strings.Contains(said, "github, gitlab, kubernetes") {
		t.Errorf("login --from jenkins = %d %s", code, said)
	}
}
