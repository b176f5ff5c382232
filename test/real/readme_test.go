package real_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// bench is a place where a user sits: a server, a shell that knows it, a kubectl.
type bench struct {
	story.Shell
	broker *story.Broker
	// data is the server's data directory, tmp the client's TMPDIR.
	data, tmp string
	// bin is the program.
	bin string
}

// sitDown starts a server in the try-out mode for a user who has c's kubeconfig as
// ~/.kube/config.
func sitDown(t *testing.T, c *real.Cluster, serveFlags ...string) *bench {
	t.Helper()
	home := t.TempDir()
	b := &bench{data: filepath.Join(home, "data"), tmp: filepath.Join(home, "tmp")}
	text, err := os.ReadFile(c.Kubeconfig)
	for _, err := range []error{
		err, os.Mkdir(b.tmp, 0o700), os.Mkdir(filepath.Join(home, ".kube"), 0o700),
		os.WriteFile(filepath.Join(home, ".kube", "config"), text, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b.bin = story.Build(t, t.TempDir())
	env := []string{"HOME=" + home, "TMPDIR=" + b.tmp}
	flags := append([]string{"--dev", "--listen", "127.0.0.1:0", "--data-dir", b.data}, serveFlags...)
	if b.broker, err = story.Serve(b.bin, home, env, flags...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.broker.Kill)
	path := []string{filepath.Dir(b.bin), filepath.Dir(c.Kubectl), os.Getenv("PATH")}
	b.Shell = story.Shell{Dir: home, Env: append(env,
		"PATH="+strings.Join(path, ":"), "VIMBROKER_ADDR="+b.broker.URL, "VIMBROKER_TOKEN_FILE="+filepath.Join(b.data, "dev-token"))}
	return b
}

// id returns the id of a VIM.
func (b *bench) id(t *testing.T, vim string) string {
	t.Helper()
	var v struct{ ID string }
	b.decode(t, "vimbroker vim show "+vim+" -o json", &v)
	return v.ID
}

// lease is what the stories look at of one.
type lease struct {
	ID, State, Purpose, MaxRevocationLag string
	RevokedAt, ConfirmedDeadAt           time.Time
	CreatedAt, ExpiresAt                 time.Time
}

// leases are all leases, newest first.
func (b *bench) leases(t *testing.T) []lease {
	t.Helper()
	var list struct{ Items []lease }
	b.decode(t, "vimbroker lease list --all -o json", &list)
	return list.Items
}

func (b *bench) decode(t *testing.T, line string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(b.Must(t, line)), into); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
}

// nothingLeft asserts that a VIM left nothing on the cluster, no key with the
// broker, and no file of a lease on disk.
func (b *bench) nothingLeft(t *testing.T, vim string) {
	t.Helper()
	kubectl, of := "kubectl --kubeconfig ~/.kube/config get ", " -o name -l vimbroker.io/vim="+vim
	for _, what := range []string{
		"serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings -A",
		"namespaces --field-selector status.phase=Active", // others are being emptied by the cluster
	} {
		if got := b.Must(t, kubectl+what+of); got != "" {
			t.Errorf("on the cluster: %s", got)
		}
	}
	if left, err := story.Leftover(b.tmp); err != nil || len(left) > 0 {
		t.Errorf("files of leases: %v, %v", left, err)
	}
	// The key that seals the audit log's own stays.
	if keys, err := filepath.Glob(filepath.Join(b.data, "keys", "*", "*")); err != nil || len(keys) > 1 {
		t.Errorf("keys: %v, %v", keys, err)
	}
}

// TestREADMEFiveMinutes runs the commands of the README's story, word for word,
// in the order they stand there.
func TestREADMEFiveMinutes(t *testing.T) {
	t.Parallel()
	b := sitDown(t, real.Kubernetes(t))
	var vim, id string
	var ran []string
	for _, line := range section(t, "Five minutes") {
		if strings.HasPrefix(line, "export ") || strings.HasPrefix(line, "alias ") {
			continue // done by sitDown
		}
		line, comment, _ := strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if id == "" {
			if ls := b.leases(t); len(ls) > 0 {
				id = ls[0].ID
			}
		}
		got := b.Try(t, strings.ReplaceAll(line, "LEASE", id))
		ran = append(ran, line)
		if refused := strings.Contains(comment, "Unauthorized"); refused != (got.Code != 0) || refused != strings.Contains(got.Stderr, "Unauthorized") {
			t.Fatalf("%s: exit code %d\n%s%s", line, got.Code, got.Stdout, got.Stderr)
		}
		switch {
		case strings.HasSuffix(line, "get ns"):
			if got.Code == 0 && !strings.Contains(got.Stdout, "kube-system") {
				t.Errorf("%s: %q, want namespaces", line, got.Stdout)
			}
		case strings.HasPrefix(line, "vimbroker vim register "):
			vim = b.id(t, "edge1")
		case strings.HasPrefix(line, "vimbroker vim inventory "):
			_, row, _ := strings.Cut(got.Stdout, "\n")
			if f := strings.Fields(row); len(f) < 5 || strings.Join(f[:5], " ") != "edge1 0 0 0 0" {
				t.Errorf("%s: %q, want nothing upstream and no leases", line, got.Stdout)
			}
		case strings.HasPrefix(line, "vimbroker audit list"):
			for _, want := range []string{"vim:register", "lease:issue", "lease:renew", "lease:revoke"} {
				if !strings.Contains(got.Stdout, want) {
					t.Errorf("%s: no %s in it", line, want)
				}
			}
		}
	}
	if got := strings.Join(ran, "\n"); vim == "" || id == "" || !strings.Contains(got, "lease revoke") || !strings.HasSuffix(got, "vim delete edge1") {
		t.Fatalf("the README's story has no register, lease, revoke and delete any more: %s", got)
	}
	if !real.Poll(t, patience, func() bool { return b.Try(t, "vimbroker vim show "+vim).Code != 0 }) { // its deletion was slow
		t.Errorf("the VIM is not gone: %+v", b.Try(t, "vimbroker vim show "+vim))
	}
	b.nothingLeft(t, vim)
	if err := b.broker.Stop(); err != nil {
		t.Error(err)
	}
}

// section are the commands in the README's section of that name.
func section(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(text), "\n## "+name+"\n")
	part, _, _ = strings.Cut(part, "\n## ")
	var lines []string
	for line := range strings.Lines(part) {
		if command, ok := strings.CutPrefix(line, "    "); ok {
			lines = append(lines, strings.TrimSpace(command))
		}
	}
	return lines
}

// TestRevokedCredentialIsRefusedWithinThePublishedLag asks kubectl until it is
// refused, and compares with what the lease promised.
func TestRevokedCredentialIsRefusedWithinThePublishedLag(t *testing.T) {
	t.Parallel()
	b := sitDown(t, real.Kubernetes(t))
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config edge1")
	vim := b.id(t, "edge1")
	b.Must(t, "vimbroker lease issue --vim edge1 --out kubeconfig")
	use := "kubectl --kubeconfig kubeconfig get ns"
	b.Must(t, use) // so that the API server remembers it as good
	b.Must(t, "vimbroker lease revoke "+b.leases(t)[0].ID)
	l := b.leases(t)[0]
	lag, err := time.ParseDuration(l.MaxRevocationLag)
	if err != nil || l.RevokedAt.IsZero() {
		t.Fatalf("the revoked lease says %+v, %v", l, err)
	}
	var asked time.Time // when it was taken last
	if !real.Poll(t, patience, func() bool {
		at := time.Now()
		r := b.Try(t, use)
		if r.Code == 0 {
			asked = at
		}
		return strings.Contains(r.Stderr, "Unauthorized")
	}) {
		t.Errorf("the credential still works")
	}
	if late := asked.Sub(l.RevokedAt); late > lag {
		t.Errorf("a request was taken %s after the revocation, want at most %s", late, lag)
	}
	b.Must(t, "vimbroker vim delete edge1 --drain --wait")
	b.nothingLeft(t, vim)
}
