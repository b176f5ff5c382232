package field_test

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// released makes the release of a clone of this repository's last commit, and returns where.
func released(t *testing.T, args ...string) string {
	t.Helper()
	root, err := process.Repository()
	if err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	out := filepath.Join(clone, "dist")
	typed(t, "", "git", "clone", "-q", root, clone)
	typed(t, clone, "go", append([]string{"run", "-C", "deploy/dist", ".", "-out", out, "-here"}, args...)...)
	return out
}

// typed runs a command to its end, and returns what it prints.
func typed(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestFieldReleaseIsReproducible: two clones in two directories make the same bytes, the digests are those of the files, and
// the signature is the key's.
func TestFieldReleaseIsReproducible(t *testing.T) {
	field.Only(t)
	key, public := filepath.Join(t.TempDir(), "key.pem"), filepath.Join(t.TempDir(), "public.pem")
	typed(t, "", "openssl", "genpkey", "-algorithm", "ed25519", "-out", key)
	typed(t, "", "openssl", "pkey", "-in", key, "-pubout", "-out", public)
	first, second := released(t, "-key", key), released(t)
	read := func(dir string) string {
		text, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if a, b := read(first), read(second); a != b || strings.Count(a, "\n") < 9 {
		t.Errorf("two clones make\n%s\nand\n%s", a, b)
	}
	typed(t, first, "sha256sum", "--check", "--strict", "SHA256SUMS")
	typed(t, first, "openssl", "pkeyutl", "-verify", "-pubin", "-inkey", public, "-rawin", "-in", "SHA256SUMS", "-sigfile", "SHA256SUMS.sig")
}

// firstLease is typed in a throw-away root, as root of a new machine: from the package to a lease.
const firstLease = `set -eu
dpkg -i "$1"
vimbroker init --host 127.0.0.1 --listen 127.0.0.1:18489
echo 'egress: {allowLoopback: true}' >> /etc/vimbroker/vimbroker.yaml # the cluster of this test is on loopback
systemd-analyze verify /usr/lib/systemd/system/vimbroker.service
# what the unit starts, as its user
started=$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/vimbroker.service)
setpriv --reuid vimbroker --regid vimbroker --init-groups $started > /var/log/vimbroker.log 2>&1 &
server=$!
trap 'kill $server' EXIT
for try in $(seq 100); do grep -q '"msg":"ready"' /var/log/vimbroker.log && break; sleep 0.1; done
export VIMBROKER_ADDR=https://127.0.0.1:18489 VIMBROKER_CA_FILE=/etc/vimbroker/tls/ca.crt VIMBROKER_TOKEN_FILE=/etc/vimbroker/admin.token
vimbroker vim register --kubeconfig "$2" edge-1
vimbroker lease issue --vim edge-1 --role view --out lease.kubeconfig
"$3" --kubeconfig lease.kubeconfig get namespaces
man -w vimbroker-lease-issue
PATH=$PATH:$(dirname "$3") "$3" vimbroker whoami
# an upgrade keeps configuration and state; a running server is restarted by systemd, which is not here
cp /etc/vimbroker/vimbroker.yaml before.yaml
dpkg -i "$1"
cmp before.yaml /etc/vimbroker/vimbroker.yaml
test -s /var/lib/vimbroker/vimbroker.db
vimbroker vim show edge-1
trap - EXIT
kill $server
wait $server
# a purge removes everything
dpkg -P vimbroker
for left in /etc/vimbroker /var/lib/vimbroker /usr/bin/vimbroker /usr/bin/vimbroker-helm /usr/lib/systemd/system/vimbroker.service; do
	if test -e $left; then echo "$left is left"; exit 1; fi
done
if getent passwd vimbroker; then exit 1; fi
echo all is well
`

// TestFieldPackageInstalls: the package is installed in a throw-away root (this machine's, with every change kept apart), its
// unit is one, and a first lease of a real cluster is there a few lines later.
func TestFieldPackageInstalls(t *testing.T) {
	field.Only(t)
	if os.Geteuid() != 0 {
		t.Fatal("a throw-away root needs root")
	}
	out := released(t)
	packages, err := filepath.Glob(filepath.Join(out, "*.deb"))
	if err != nil || len(packages) != 1 {
		t.Fatalf("%v, %v", packages, err)
	}
	cluster, err := real.StartKubernetes(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	// Kept in memory: an overlay's upper directory cannot be on another overlay.
	script := fmt.Sprintf(`set -e
mount -t tmpfs -o size=1g tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
mount --rbind /dev /mnt/root/dev
mount -t proc proc /mnt/root/proc
mkdir -p /mnt/root/root/new
exec chroot /mnt/root env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -c 'cd /root/new; exec sh -c "$0" first-lease "$@"' "$0" %s %s %s`,
		packages[0], cluster.Kubeconfig, cluster.Kubectl)
	began := time.Now()
	got := typed(t, "", "unshare", "--mount", "sh", "-c", script, firstLease)
	if !strings.HasSuffix(got, "all is well\n") || !strings.Contains(got, "kube-system") {
		t.Errorf("%s", got)
	}
	t.Logf("from the package to its purge, with a lease in between: %v", time.Since(began))
}

// TestFieldManual: every page and command is in the manual, and its links lead somewhere, which making it checks.
func TestFieldManual(t *testing.T) {
	field.Only(t)
	dir := filepath.Join(t.TempDir(), "manual")
	typed(t, "../..", "go", "run", "-C", "deploy/dist", ".", "-manual", dir)
	for _, name := range []string{"index.html", "docs/runbook.html", "commands/vimbroker_lease_issue.html", "configuration.html", "openapi.json", "errors.html", "events.html"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(text) < 500 {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "metrics.html"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := story.Serve(story.Build(t, t.TempDir()), t.TempDir(), []string{"HOME=" + t.TempDir()}, "--dev", "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	answer, err := http.Get(b.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	shown, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`(?m)^# HELP (vimbroker_\w+) (.*)$`).FindAllStringSubmatch(string(shown), -1)
	for _, m := range all {
		if text := html.UnescapeString(string(page)); !strings.Contains(text, m[1]) || !strings.Contains(text, m[2]) {
			t.Errorf("the server shows %s, which the manual does not have", m[1])
		}
	}
	if len(all) < 40 {
		t.Errorf("the server shows %d metrics", len(all))
	}
}
