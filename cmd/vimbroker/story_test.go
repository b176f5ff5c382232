package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/story"
)

// installation is a server in the try-out mode, with a fake cluster registered as
// "edge", and what its callers need.
type installation struct {
	kube *fakekube.Server
	env  []string
	stop func()
}

// install runs a server until the test ends.
func install(t *testing.T) *installation {
	t.Helper()
	data, addr := filepath.Join(t.TempDir(), "data"), process.FreeAddress(t)
	i := &installation{kube: fakekube.New(t, fakekube.Options{})}
	s := serve(t, nil, "--dev", "--listen", addr, "--data-dir", data, "--log-format", "json")
	i.stop = s.stop
	i.env = []string{
		"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(),
		console.EnvAddr + "=http://" + addr, console.EnvTokenFile + "=" + filepath.Join(data, "dev-token"),
	}
	kubeconfig := story.WriteFile(t, "kubeconfig", i.kube.Kubeconfig(), 0o600)
	if code, _, stderr := i.run(t, "vim", "register", "--kubeconfig", kubeconfig, "edge"); code != 0 {
		t.Fatalf("vim register: code %d: %s", code, stderr)
	}
	return i
}

// run runs a command of this program in this process.
func (i *installation) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &err, i.env)
	return code, out.String(), err.String()
}

// leases are the service accounts of leases that the cluster holds.
func (i *installation) leases() []string {
	return slices.DeleteFunc(i.kube.Names("serviceaccounts", ""), func(name string) bool { return !strings.HasPrefix(name, "vimbroker-") })
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestLeaseThatCannotBeWrittenIsRevoked(t *testing.T) {
	i := install(t)
	for _, args := range [][]string{
		{"lease", "issue", "--vim", "edge"},
		{"lease", "issue", "--vim", "edge", "-o", "json"},
		{"lease", "issue", "--vim", "edge", "-o", "yaml"},
	} {
		var stderr bytes.Buffer
		code := run(t.Context(), args, strings.NewReader(""), full{}, &stderr, i.env)
		if code != console.ExitFailed || !strings.Contains(stderr.String(), "no space left on device; the lease is revoked") {
			t.Errorf("%v = %d, %q", args, code, stderr.String())
		}
		if left := i.leases(); len(left) != 0 {
			t.Errorf("%v: the cluster still holds %v", args, left)
		}
	}
}

func TestExecThatCannotStartItsCommandRevokes(t *testing.T) {
	i := install(t)
	code, _, stderr := i.run(t, "exec", "edge", "--", filepath.Join(t.TempDir(), "nonesuch"))
	if code != console.ExitNoCommand || len(i.leases()) != 0 {
		t.Errorf("exec of nothing = %d, %q, leases %v", code, stderr, i.leases())
	}
	script := story.WriteFile(t, "script", "#!/nonexistent/interpreter\n", 0o755)
	code, _, stderr = i.run(t, "exec", "edge", "--", script)
	if code != console.ExitNotExecutable || len(i.leases()) != 0 {
		t.Errorf("exec of a script without its interpreter = %d, %q, leases %v", code, stderr, i.leases())
	}
}

func TestExecWithAFullDiskRevokes(t *testing.T) {
	i := install(t)
	c := i.command(t, "exec", "edge", "--", "sh", "-c", "echo the command ran")
	// No file may grow: what a full disk does, and needs no right to set up.
	c.Args = append([]string{"sh", "-c", `ulimit -f 0 && exec "$0" "$@"`, c.Path}, c.Args[1:]...)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	c.Path = sh
	out, err := c.CombinedOutput()
	if c.ProcessState.ExitCode() != console.ExitNotRun || !strings.Contains(string(out), "writing the lease's files") || strings.Contains(string(out), "the command ran") {
		t.Errorf("exec = %v, %s", err, out)
	}
	if left := i.leases(); len(left) != 0 {
		t.Errorf("the cluster still holds %v", left)
	}
}

func TestExecLeavesWhatTheVIMDoesNotTakeBackToTheServer(t *testing.T) {
	i := install(t)
	i.kube.Fail(fake.Fault{Method: "DELETE", Path: "/serviceaccounts/", Kind: fake.Refuse, Status: 500, Times: -1})
	code, _, stderr := i.run(t, "exec", "edge", "--", "sh", "-c", "exit 4")
	if code != console.ExitNotRevoked || !strings.Contains(stderr, "the command ended with 4; lease ") ||
		!strings.Contains(stderr, "is revoking: the VIM cannot be asked now, and the server goes on trying") {
		t.Errorf("exec = %d, %q, want %d, the command's 4 and who goes on", code, stderr, console.ExitNotRevoked)
	}
}

func TestExecSaysHowToRevokeWhatItCouldNot(t *testing.T) {
	i := install(t)
	started, end := filepath.Join(t.TempDir(), "started"), filepath.Join(t.TempDir(), "end")
	for _, name := range []string{started, end} {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		_, _ = os.ReadFile(started) // returns when the command writes
		i.stop()
		_ = os.WriteFile(end, nil, 0o600)
	}()
	code, _, stderr := i.run(t, "exec", "edge", "--", "sh", "-c", "echo > "+started+"; cat "+end)
	if code != console.ExitNotRevoked {
		t.Errorf("exec of a command that succeeded = %d, want %d", code, console.ExitNotRevoked)
	}
	if !strings.Contains(stderr, "revoking lease ") || !strings.Contains(stderr, "repeat with: vimbroker lease revoke ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("stderr = %q, want one line with the command to repeat", stderr)
	}
}
