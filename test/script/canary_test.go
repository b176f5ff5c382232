package script

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/story"
)

// canaries are secrets by name, which must be found nowhere but where they belong.
type canaries struct {
	mu   sync.Mutex
	text map[string][]string
}

// add keeps a secret in the forms that it could turn up in.
func (c *canaries) add(name, s string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s = strings.TrimSpace(s)
	if strings.Contains(s, "\n") { // a key in PEM: its longest line will do, however breaks are escaped
		longest := ""
		for line := range strings.Lines(s) {
			if line = strings.TrimSpace(line); len(line) > len(longest) {
				longest = line
			}
		}
		c.text[name] = []string{longest, base64.StdEncoding.EncodeToString([]byte(s))[:64]}
		return
	}
	c.text[name] = []string{s, base64.StdEncoding.EncodeToString([]byte(s))}
}

// in names the secrets that a text holds.
func (c *canaries) in(text []byte) (found []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, forms := range c.text {
		for _, form := range forms {
			if bytes.Contains(text, []byte(form)) {
				found = append(found, name)
				break
			}
		}
	}
	return found
}

// user is someone at a shell, whose server can be reached only through a proxy
// that keeps what was answered.
type user struct {
	story.Shell
	broker    *story.Broker
	kube      *fakekube.Server
	data, tmp string

	mu      sync.Mutex
	answers []answer
}

// answer is what the server said to one request.
type answer struct {
	request string
	status  int
	body    []byte
}

func newUser(t *testing.T) *user {
	t.Helper()
	home := t.TempDir()
	u := &user{kube: fakekube.New(t, fakekube.Options{}), data: filepath.Join(home, "data"), tmp: filepath.Join(home, "tmp")}
	if err := os.Mkdir(u.tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	bin := story.BuildWithFailpoints(t, t.TempDir())
	env := []string{"HOME=" + home, "TMPDIR=" + u.tmp}
	var err error
	u.broker, err = story.Serve(bin, home, env, "--dev", "--listen", "127.0.0.1:0", "--data-dir", u.data, "--log-level", "debug")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.broker.Kill)
	target, err := url.Parse(u.broker.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: u.keep,
	})
	t.Cleanup(proxy.Close)
	for name, text := range map[string]string{
		"kubeconfig": u.kube.Kubeconfig(), "token": u.kube.AdminToken, "wrong": "wrong-" + u.kube.AdminToken, "ca.pem": u.kube.CA,
		"password": u.kube.Password, "admin.crt": u.kube.AdminCert, "admin.key": u.kube.AdminKey,
		"hostile.conf": strings.ReplaceAll(u.kube.Kubeconfig(), "token:", "exec: {command: id}\n    token:"),
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	u.Shell = story.Shell{Dir: home, Env: append(env, "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"),
		"VIMBROKER_ADDR="+proxy.URL, "VIMBROKER_TOKEN_FILE="+filepath.Join(u.data, "dev-token"), "KUBE="+u.kube.Endpoint, "EXEC_INFO="+u.kube.ExecInfo())}
	return u
}

// keep reads an answer's body, and puts it back.
func (u *user) keep(r *http.Response) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("reading an answer: %w", err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	u.mu.Lock()
	defer u.mu.Unlock()
	u.answers = append(u.answers, answer{r.Request.Method + " " + r.Request.URL.Path, r.StatusCode, body})
	return nil
}

// live is a life of VIMs and leases, failures included. It returns what went to
// the terminal, but for the client configurations that were asked for, which go to files.
func (u *user) live(t *testing.T) string {
	t.Helper()
	var terminal strings.Builder
	for _, step := range []struct {
		line string
		code int
	}{
		{"vimbroker vim register --kubeconfig kubeconfig by-kubeconfig", 0},
		{"vimbroker vim register --endpoint $KUBE --ca-cert-file ca.pem --bearer-token-file token by-token", 0},
		{"vimbroker vim register --endpoint $KUBE --ca-cert-file ca.pem --bearer-token-file - piped < token", 0},
		{"vimbroker vim register --endpoint $KUBE --ca-cert-file ca.pem --client-cert-file admin.crt --client-key-file admin.key by-certificate", 0},
		{"vimbroker vim register --endpoint $KUBE --insecure-skip-verify --username " + u.kube.Username + " --password-file password by-password", 0},
		{"vimbroker vim register --endpoint $KUBE --ca-cert-file ca.pem --bearer-token-file wrong refused", 1},
		{"vimbroker vim register --endpoint $KUBE --bearer-token-file token unverified", 1},
		{"vimbroker vim register --kubeconfig hostile.conf hostile", 1},
		{"vimbroker vim rotate by-token --bearer-token-file wrong", 1},
		{"vimbroker vim rotate by-token --bearer-token-file token", 0},
		{"vimbroker vim rotate by-certificate", 2},
		{"vimbroker key rotate by-certificate", 0},
		{"vimbroker vim update by-password --label site=north", 0},
		{"vimbroker vim update by-token --endpoint https://127.0.0.1:1", 1},
		{"vimbroker vim check by-password", 0},
		{"vimbroker lease issue --vim by-token --out a", 0},
		{"vimbroker lease issue --vim by-certificate --format env --out b", 0},
		{"vimbroker lease issue --vim by-password --format exec-credential --out c", 0},
		{"vimbroker lease issue --vim by-token --role no-such-role --out d", 1},
		{"vimbroker lease renew $(vimbroker lease list --vim by-token -o json | sed -n 's/.*\"id\": \"\\(.*\\)\".*/\\1/p') --out e", 0},
		{"vimbroker exec by-kubeconfig -- sh -c 'cat $(dirname $KUBECONFIG)/token-* > f; exit 3'", 3},
		{`KUBERNETES_EXEC_INFO="$EXEC_INFO" vimbroker credential --vim by-password > g`, 0},
		{"vimbroker credential --vim by-password", 1},
		{"vimbroker link create sgi --vim by-token --cidr 10.9.0.0/24 --nad bridge:br1 && vimbroker link show sgi -o json && vimbroker link list -o yaml", 0},
		{"vimbroker volume create data --vim by-token --size 1Gi -n default && vimbroker volume show data -o json && vimbroker volume list", 0},
		{"vimbroker volume create else --vim by-token --claim nowhere -n default", 1},
		{"vimbroker link delete sgi && vimbroker volume delete data", 0},
		{"vimbroker vim list -o json; vimbroker vim show by-token -o yaml; vimbroker lease list --all -o json; vimbroker audit list -o json --limit 1000", 0},
		{"vimbroker audit export --out h >&2 && cat h && rm h", 0},
		{"vimbroker vim inventory --all", 0},
		{"VIMBROKER_TOKEN_FILE=wrong vimbroker vim list", 1},
		{"vimbroker lease revoke --all --wait", 0},
		{"vimbroker vim delete by-token && vimbroker vim delete by-certificate && vimbroker vim delete piped", 0},
	} {
		r := u.Try(t, step.line)
		if r.Code != step.code {
			t.Fatalf("%s: exit code %d, want %d\n%s%s", step.line, r.Code, step.code, r.Stdout, r.Stderr)
		}
		terminal.WriteString(r.Stdout + r.Stderr)
	}
	return terminal.String()
}

var token = regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]+`)

// TestNoSecretIsFoundAfterAWholeLife looks for every secret of a life of VIMs and
// leases where none may be: the database as it is on disk, the log at debug
// level, every body but those that hand a credential out, error bodies, the
// terminal, and the command lines of all processes meanwhile.
func TestNoSecretIsFoundAfterAWholeLife(t *testing.T) {
	u := newUser(t)
	var secrets canaries
	secrets.text = map[string][]string{}
	secrets.add("the VIM's token", u.kube.AdminToken)
	secrets.add("the VIM's password", u.kube.Password)
	secrets.add("the VIM's key", u.kube.AdminKey)
	caller, err := os.ReadFile(filepath.Join(u.data, "dev-token"))
	if err != nil {
		t.Fatal(err)
	}
	secrets.add("the caller's token", string(caller))

	stop := make(chan struct{})
	lines := make(chan map[string]bool)
	go func() {
		seen := map[string]bool{}
		often := time.NewTicker(20 * time.Millisecond) // a command takes longer: it is seen, and the machine is not busy with looking
		defer often.Stop()
		for {
			commandLines(seen)
			select {
			case <-stop:
				lines <- seen
				return
			case <-often.C:
			}
		}
	}()
	terminal := u.live(t)
	close(stop)
	seen := <-lines

	for _, name := range []string{"a", "b", "c", "e", "f", "g"} {
		text, err := os.ReadFile(filepath.Join(u.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		minted := token.FindString(string(text))
		if minted == "" {
			t.Fatalf("file %s holds no token: the search would find nothing", name)
		}
		secrets.add("the token in file "+name, minted)
	}

	// Those of the broker's own leases, too, as one that makes a volume.
	for n, r := range u.kube.Requests() {
		if shown, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); is {
			secrets.add(fmt.Sprintf("the token of request %d: %s %s", n, r.Method, r.Path), shown)
		}
	}

	ours := 0
	for line := range seen {
		if strings.Contains(line, "vimbroker") {
			ours++
		}
		if found := secrets.in([]byte(line)); found != nil {
			t.Errorf("on a command line: %v", found)
		}
	}
	if ours < 5 {
		t.Errorf("%d command lines of the binary were seen: the search found too little to mean anything", ours)
	}
	if found := secrets.in([]byte(terminal)); found != nil {
		t.Errorf("on the terminal: %v", found)
	}
	u.mu.Lock()
	answers := slices.Clone(u.answers)
	u.mu.Unlock()
	handed, failed := 0, 0
	for _, a := range answers {
		if a.status >= 400 {
			failed++
		}
		issues := a.request == "POST /v1/leases" || strings.HasPrefix(a.request, "POST /v1/leases/") && strings.HasSuffix(a.request, "/renew")
		if issues && a.status < 300 {
			handed++
			continue
		}
		if found := secrets.in(a.body); found != nil {
			t.Errorf("in the answer to %s, status %d: %v", a.request, a.status, found)
		}
	}
	if handed != 6 || failed < 6 {
		t.Errorf("%d answers handed a credential out, want 6; %d failed, want some", handed, failed)
	}
	if err := u.broker.Stop(); err != nil {
		t.Error(err)
	}
	u.search(t, &secrets)
}

// search looks through the data directory and the log.
func (u *user) search(t *testing.T, secrets *canaries) {
	t.Helper()
	files := []string{u.broker.File}
	err := filepath.WalkDir(u.data, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != "dev-token" {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 3 {
		t.Fatalf("files to search: %v, %v", files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := secrets.in(text); found != nil {
			t.Errorf("in %s: %v", name, found)
		}
	}
	if left, err := story.Leftover(u.tmp); err != nil || len(left) > 0 {
		t.Errorf("files of leases: %v, %v", left, err)
	}
}

// commandLines adds the command line of every process to seen.
func commandLines(seen map[string]bool) {
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range found {
		if text, err := os.ReadFile(name); err == nil { // it may have ended
			seen[string(text)] = true
		}
	}
}

// TestFailedRegistrationsLeakNoFileAndNoDescriptor counts what the server holds
// open, and what lies in its directories, before and after many failures.
func TestFailedRegistrationsLeakNoFileAndNoDescriptor(t *testing.T) {
	u := newUser(t)
	fail := func() {
		t.Helper()
		for _, line := range []string{
			"vimbroker vim register --endpoint $KUBE --ca-cert-file ca.pem --bearer-token-file wrong refused",
			"vimbroker vim register --endpoint $KUBE --bearer-token-file token unverified",
			"vimbroker vim register --endpoint https://127.0.0.1:1 --bearer-token-file token nobody",
		} {
			if r := u.Try(t, line); r.Code != 1 {
				t.Fatalf("%s: exit code %d, want 1\n%s", line, r.Code, r.Stderr)
			}
		}
	}
	fail()
	before := u.open(t)
	// The server makes a key or two of its own meanwhile, once each: a round without a new
	// file comes soon, unless registrations leave some.
	for round := 1; ; round++ {
		files := u.files(t)
		for range 10 {
			fail()
		}
		after := u.files(t)
		if slices.Equal(after, files) {
			break
		}
		if round == 3 {
			t.Errorf("files = %v, want %v", after, files)
			break
		}
	}
	if after := u.open(t); len(after) > len(before) {
		t.Errorf("open files of the server: %v, want %v", after, before)
	}
}

// open lists what the server has open on disk, but for the database: the pool of
// its connections is bounded, and grows to that when there is much to read.
func (u *user) open(t *testing.T) []string {
	t.Helper()
	dir := "/proc/" + strconv.Itoa(u.broker.PID()) + "/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Skipf("the server's descriptors cannot be counted (it hides them from all but root): %v", err)
	}
	var found []string
	for _, e := range entries {
		if target, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && strings.HasPrefix(target, "/") && !strings.Contains(target, "/vimbroker.db") {
			found = append(found, target)
		}
	}
	if len(found) == 0 {
		t.Fatal("the server has no file open: the count means nothing")
	}
	return found
}

// files lists what lies in the server's directories.
func (u *user) files(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, dir := range []string{u.data, u.tmp} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestAStoredCredentialIsNotSentToANewEndpoint moves a VIM to a server of someone
// who would like to have its credential.
func TestAStoredCredentialIsNotSentToANewEndpoint(t *testing.T) {
	u := newUser(t)
	thief := fakekube.New(t, fakekube.Options{})
	if err := os.WriteFile(filepath.Join(u.Dir, "thief.pem"), []byte(thief.CA), 0o600); err != nil {
		t.Fatal(err)
	}
	u.Must(t, "vimbroker vim register --kubeconfig kubeconfig edge")
	for _, line := range []string{
		"vimbroker vim update edge --endpoint " + thief.Endpoint,
		"vimbroker vim update edge --ca-cert-file thief.pem",
		"vimbroker vim update edge --insecure-skip-verify",
		"vimbroker vim update edge --ca-cert-file thief.pem --endpoint " + thief.Endpoint,
	} {
		if r := u.Try(t, line); r.Code != 1 || !strings.Contains(r.Stderr, "credential") {
			t.Errorf("%s: %+v, want a demand for the credential", line, r)
		}
	}
	if got := thief.Requests(); len(got) > 0 {
		t.Errorf("the other server was asked %v", got)
	}
	u.Must(t, "vimbroker exec edge -- true")
}
