package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

// through runs the program as a process of its own, by a line of sh in which "$@" is
// the program with its arguments.
func (i *installation) through(t *testing.T, line string, args ...string) (code int, stderr string) {
	t.Helper()
	c := i.command(t, args...)
	c.Args = append([]string{"sh", "-c", line, "sh", c.Path}, args...)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	c.Path = sh
	var said bytes.Buffer
	c.Stderr = &said
	_ = c.Run() // the code tells
	return c.ProcessState.ExitCode(), said.String()
}

// brokenPipe runs the program with a standard output that nobody reads.
func (i *installation) brokenPipe(t *testing.T, args ...string) (code int, stderr string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	defer w.Close()
	c := i.command(t, args...)
	var said bytes.Buffer
	c.Stdout, c.Stderr = w, &said
	_ = c.Run() // the code tells
	return c.ProcessState.ExitCode(), said.String()
}

func TestALeaseThatGoesNowhereIsNotLeft(t *testing.T) {
	i := install(t)
	i.env = append(i.env, "KUBERNETES_EXEC_INFO="+i.kube.ExecInfo())
	out := filepath.Join(t.TempDir(), "kubeconfig")
	for name, c := range map[string]struct {
		line string // empty for a broken pipe
		args []string
		want string
	}{
		"broken pipe":              {"", []string{"lease", "issue", "--vim", "edge"}, "broken pipe; the lease is revoked"},
		"broken pipe, JSON":        {"", []string{"lease", "issue", "--vim", "edge", "-o", "json"}, "broken pipe; the lease is revoked"},
		"broken pipe, a field":     {"", []string{"lease", "issue", "--vim", "edge", "-o", "jsonpath={.clientConfig}"}, "broken pipe; the lease is revoked"},
		"broken pipe, name":        {"", []string{"lease", "issue", "--vim", "edge", "-o", "name"}, "broken pipe; the lease is revoked"},
		"broken pipe, file":        {"", []string{"lease", "issue", "--vim", "edge", "--out", out, "-o", "json"}, "broken pipe; the lease is revoked"},
		"broken pipe, plugin":      {"", []string{"credential", "--vim", "edge"}, "broken pipe; the lease is revoked"},
		"full disk, file":          {`ulimit -f 0; exec "$@"`, []string{"lease", "issue", "--vim", "edge", "--out", out, "--replace"}, "file too large; the lease is revoked"},
		"closed stdout":            {`exec "$@" >&-`, []string{"lease", "issue", "--vim", "edge"}, "standard output is closed or /dev/null"},
		"closed stdout, plugin":    {`exec "$@" >&-`, []string{"credential", "--vim", "edge"}, "standard output is closed or /dev/null"},
		"null device":              {`exec "$@" >/dev/null`, []string{"lease", "issue", "--vim", "edge", "-o", "json"}, "standard output is closed or /dev/null"},
		"closed stdout and stderr": {`exec "$@" >&- 2>&-`, []string{"lease", "issue", "--vim", "edge"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			run := func() (int, string) { return i.through(t, c.line, c.args...) }
			if c.line == "" {
				run = func() (int, string) { return i.brokenPipe(t, c.args...) }
			}
			if code, stderr := run(); code != console.ExitFailed || !strings.Contains(stderr, c.want) {
				t.Errorf("%v = %d, %q; want %d, %q", c.args, code, stderr, console.ExitFailed, c.want)
			}
			if left := i.leases(); len(left) != 0 {
				t.Errorf("the cluster still holds %v", left)
			}
		})
	}
}

// A renewal whose configuration cannot be written says which credential counts, and
// leaves the lease.
func TestARenewalThatGoesNowhereLeavesTheLease(t *testing.T) {
	i := install(t)
	code, id, stderr := i.run(t, "lease", "issue", "--vim", "edge", "-o", "jsonpath={.id}")
	if code != 0 {
		t.Fatal(stderr)
	}
	id = strings.TrimSpace(id)
	held := i.leases()
	if code, stderr := i.brokenPipe(t, "lease", "renew", id); code != console.ExitFailed || !strings.Contains(stderr, "its credential from before counts") {
		t.Errorf("lease renew into a broken pipe = %d, %q", code, stderr)
	}
	if code, stderr := i.through(t, `exec "$@" >&-`, "lease", "renew", id); code != console.ExitFailed || !strings.Contains(stderr, "standard output is closed") {
		t.Errorf("lease renew with stdout closed = %d, %q", code, stderr)
	}
	if _, state, _ := i.run(t, "lease", "show", id, "-o", "jsonpath={.state}"); strings.TrimSpace(state) != "active" || len(held) != 1 || len(i.leases()) != 1 {
		t.Errorf("the lease is %s, and the cluster holds %v", state, i.leases())
	}
}

// asThief makes the test binary print the environment of its parent, as far as another
// process of the same user can read it. asPlainUser makes it be the program without the
// rights that root has beyond other users.
const (
	asThief     = "VIMBROKER_TEST_AS_THIEF"
	asPlainUser = "VIMBROKER_TEST_AS_PLAIN_USER"
)

func steal() {
	stolen, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
	fmt.Printf("%s%v\n%s\n", stolen, err, strings.Join(os.Environ(), "\n"))
	os.Exit(0)
}

func becomePlainUser() {
	runtime.LockOSThread()
	for capability := range uintptr(unix.CAP_LAST_CAP + 1) {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0) // who is not root has none
	}
	env := console.Environment(os.Environ()).Without(asPlainUser)
	fmt.Println(unix.Exec("/proc/self/exe", os.Args, env))
	os.Exit(1)
}

func TestExecShowsItsTokenToNobody(t *testing.T) {
	i := install(t)
	text, err := os.ReadFile(console.Environment(i.env).Get(console.EnvTokenFile))
	if err != nil {
		t.Fatal(err)
	}
	token := bytes.TrimSpace(text)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := i.command(t, "exec", "edge", "--", "env", asThief+"=1", self)
	c.Env = append(c.Env, asPlainUser+"=1", console.EnvToken+"="+string(token))
	out, err := c.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("permission denied")) || !bytes.Contains(out, []byte("KUBECONFIG=")) || bytes.Contains(out, token) {
		t.Errorf("the command of exec reads: %v\n%s", err, out)
	}
}
