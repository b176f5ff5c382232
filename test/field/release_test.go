package field_test

import (
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// released makes the release of a clone of this repository's last commit, and returns where.
func released(t *testing.T, args ...string) string {
	t.Helper()
	return releasedAs(t, "", t.TempDir(), args...)
}

// releasedAs makes the release as another version, if one is given.
func releasedAs(t *testing.T, version, dir string, args ...string) string {
	t.Helper()
	root, err := process.Repository()
	if err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(dir, "clone")
	out := filepath.Join(clone, "dist")
	typed(t, "", "git", "clone", "-q", root, clone)
	if version != "" {
		for _, name := range []string{"VERSION", "deploy/chart/Chart.yaml"} {
			typed(t, clone, "sed", "-i", `s/\b1\.0\.0\b/`+version+"/", name)
		}
		typed(t, clone, "git", "-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "--allow-empty", "-qam", "Be "+version)
	}
	typed(t, clone, "go", append([]string{"run", "-C", "deploy/dist", ".", "-out", out, "-here"}, args...)...)
	return out
}

// next is the version that the tests upgrade to: the same tree under another name.
const next = "1.0.1"

// kept are the directories of releases that several tests read, by version; TestMain removes them.
var kept = map[string]string{}

// theRelease is the release of this commit, or the same as another version, made once.
func theRelease(t *testing.T, version string) string {
	t.Helper()
	if kept[version] == "" {
		dir, err := os.MkdirTemp("", "release-")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("making the release %s in %s", version, dir)
		keptDirs = append(keptDirs, dir)
		kept[version] = releasedAs(t, version, dir)
	}
	return kept[version]
}

var keptDirs []string

func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range keptDirs {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// artefact is the one file of a release whose name has that form.
func artefact(t *testing.T, dir, form string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, form))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", form, found, err)
	}
	return found[0]
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

// firstLease is typed in a throw-away root, as root of a new machine: from the package to a lease in five lines, whose first
// letters are numbers here. $1 and $2 are the package and its next version, $3 a kubeconfig, $4 kubectl.
const firstLease = `set -eu
mkdir -p ~/.kube && cp "$3" ~/.kube/config
began=$(date +%s%N)
dpkg -i "$1"                                                                              # line 1
vimbroker init --host 127.0.0.1 --listen 127.0.0.1:18489                                  # line 2
echo 'egress: {allowLoopback: true}' >> /etc/vimbroker/vimbroker.yaml # the cluster of this test is on loopback
# line 3 is "systemctl enable --now vimbroker"; here what the unit starts, as its user
started=$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/vimbroker.service)
setpriv --reuid vimbroker --regid vimbroker --init-groups $started > /var/log/vimbroker.log 2>&1 &
server=$!
trap 'kill $server' EXIT
for try in $(seq 100); do grep -q '"msg":"ready"' /var/log/vimbroker.log && break; sleep 0.1; done
vimbroker vim register --kubeconfig ~/.kube/config edge-1                                 # line 4
vimbroker lease issue --vim edge-1 --role view --out edge-1.kubeconfig                    # line 5
"$4" --kubeconfig edge-1.kubeconfig get namespaces
echo "the first lease is there after $(( ($(date +%s%N) - began) / 1000000 )) ms"
systemd-analyze verify /usr/lib/systemd/system/vimbroker.service
man -w vimbroker-lease-issue
PATH=$PATH:$(dirname "$4") "$4" vimbroker whoami
# an upgrade keeps configuration and state; a running server is restarted by systemd, which is not here
cp /etc/vimbroker/vimbroker.yaml before.yaml
kill $server
wait $server
dpkg -i "$2"
cmp before.yaml /etc/vimbroker/vimbroker.yaml
vimbroker version | grep 1.0.1
setpriv --reuid vimbroker --regid vimbroker --init-groups $started > /var/log/vimbroker.log 2>&1 &
server=$!
for try in $(seq 100); do grep -q '"msg":"ready"' /var/log/vimbroker.log && break; sleep 0.1; done
vimbroker vim show edge-1
vimbroker lease list | grep edge-1
vimbroker audit verify
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

// newMachine types a script in a throw-away root: this machine's, with every change kept apart, in memory.
func newMachine(t *testing.T, script string, args ...string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("a throw-away root needs root")
	}
	// An overlay's upper directory cannot be on another overlay.
	const machine = `set -e
mount -t tmpfs -o size=1g tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
mount --rbind /dev /mnt/root/dev
mount -t proc proc /mnt/root/proc
mkdir -p /mnt/root/root/new
exec chroot /mnt/root env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root/new sh -c 'cd /root/new; exec sh -c "$0" typed "$@"' "$@"`
	return typed(t, "", "unshare", append([]string{"--mount", "sh", "-c", machine, "new-machine", script}, args...)...)
}

// TestFieldPackageInstalls: the package is installed in a throw-away root, its unit is one, a first lease of a real cluster is
// there five lines and less than a minute later, and the next version goes on with what this one has.
func TestFieldPackageInstalls(t *testing.T) {
	field.Only(t)
	cluster, err := real.StartKubernetes(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	got := newMachine(t, firstLease, artefact(t, theRelease(t, "1.0.0"), "*.deb"), artefact(t, theRelease(t, next), "*.deb"), cluster.Kubeconfig, cluster.Kubectl)
	took := regexp.MustCompile(`the first lease is there after (\d+) ms`).FindStringSubmatch(got)
	if !strings.HasSuffix(got, "all is well\n") || !strings.Contains(got, "kube-system") || took == nil || len(took[1]) > 5 && took[1] > "60000" {
		t.Errorf("%s", got)
	}
	if lines := strings.Count(firstLease, "# line "); lines != 5 {
		t.Errorf("%d lines are typed", lines)
	}
	t.Log(took[0])
}

// rpmLives is typed in a throw-away root with rpm: $1 and $2 are the package and its next version, $3 where rpm is.
const rpmLives = `set -eu
cp -a "$3/." /
rpm --initdb
rpm -i --nodeps "$1" # the database knows no /bin/sh
rpm -q vimbroker
rpm -ql vimbroker > files
for name in /usr/bin/vimbroker /usr/bin/vimbroker-helm /usr/bin/kubectl-vimbroker /usr/lib/systemd/system/vimbroker.service \
	/usr/share/man/man1/vimbroker.1.gz /usr/share/bash-completion/completions/vimbroker /usr/share/doc/vimbroker/LICENSES.txt.gz; do
	grep -qx $name files && test -e $name
done
test "$(rpm -q --configfiles vimbroker)" = /etc/vimbroker/vimbroker.yaml
rpm -V --nodeps vimbroker # size, digest, mode and owner of each file
test "$(stat -c '%a %U %G' /etc/vimbroker /var/lib/vimbroker /usr/bin/vimbroker | tr '\n' ' ')" = "750 root vimbroker 700 vimbroker vimbroker 755 root root "
vimbroker init --host 127.0.0.1 --listen 127.0.0.1:18490
echo '# mine' >> /etc/vimbroker/vimbroker.yaml
setpriv --reuid vimbroker --regid vimbroker --init-groups vimbroker serve --config /etc/vimbroker/vimbroker.yaml --check
touch /var/lib/vimbroker/state
# an upgrade leaves the configuration as it is, state and user too
rpm -U --nodeps "$2"
vimbroker version | grep 1.0.1
tail -1 /etc/vimbroker/vimbroker.yaml | grep mine
test -e /var/lib/vimbroker/state
getent passwd vimbroker
# what is removed leaves what is not the package's
rpm -e vimbroker
test ! -e /usr/bin/vimbroker && test ! -e /usr/lib/systemd/system/vimbroker.service
test -e /etc/vimbroker/vimbroker.yaml.rpmsave && test -e /var/lib/vimbroker/state && test -e /etc/vimbroker/admin.token
echo all is well
`

// TestFieldRPMInstalls: rpm installs, upgrades and removes the package in a throw-away root; what was changed there stays.
func TestFieldRPMInstalls(t *testing.T) {
	field.Only(t)
	root, err := process.Repository()
	if err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(root, "bin", "rpm")
	if _, err := os.Stat(filepath.Join(tool, "usr/bin/rpm")); err != nil {
		t.Fatalf("there is no rpm; make rpm-tools unpacks it: %v", err)
	}
	got := newMachine(t, rpmLives, artefact(t, theRelease(t, "1.0.0"), "*.rpm"), artefact(t, theRelease(t, next), "*.rpm"), tool)
	if !strings.HasSuffix(got, "all is well\n") {
		t.Errorf("%s", got)
	}
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

// onLinux are the packages of the command line whose tests use what only Linux, or no Windows, has: they are compiled, and
// their tests are not looked at.
var onLinux = map[string][]string{
	"darwin":  {"broker/clientconfig", "cmd/vimbroker"},
	"windows": {"broker/clientconfig", "broker/delivery", "broker/keyring", "cmd/vimbroker", "cmd/vimbroker/files", "cmd/vimbroker/lessee"},
}

// TestFieldOtherPlatforms: the command line is compiled for macOS and Windows, and vetted with its tests.
func TestFieldOtherPlatforms(t *testing.T) {
	field.Only(t)
	const module = "github.com/vimbroker/vimbroker/"
	for _, platform := range []string{"darwin", "windows"} {
		t.Run(platform, func(t *testing.T) {
			t.Setenv("GOOS", platform)
			var all []string
			for name := range strings.FieldsSeq(typed(t, "../..", "go", "list", "-deps", "./cmd/vimbroker")) {
				if own, is := strings.CutPrefix(name, module); is && !slices.Contains(onLinux[platform], own) {
					all = append(all, name)
				}
			}
			if len(all) < 20 {
				t.Errorf("only %q are looked at", all)
			}
			typed(t, "../..", "go", "build", "-o", filepath.Join(t.TempDir(), "vimbroker"), "./cmd/vimbroker")
			typed(t, "../..", "go", append([]string{"vet"}, all...)...)
		})
	}
}
