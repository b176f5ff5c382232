package clientconfig_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/process"
)

// childRole and childRoot turn the test binary into another process for a test.
const (
	childRole = "CLIENTCONFIG_TEST_CHILD"
	childRoot = "CLIENTCONFIG_TEST_ROOT"
)

func TestMain(m *testing.M) {
	var err error
	switch role := os.Getenv(childRole); role {
	case "":
		os.Exit(process.Unlogged(m))
	case "hold":
		err = hold(os.Getenv(childRoot))
	case "full":
		err = fillUp(os.Getenv(childRoot))
	default:
		err = fmt.Errorf("unknown role %q", role)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// childConfig needs no test to be made.
var childConfig = clientconfig.Config{
	VIM: "edge-1", Endpoint: "https://192.0.2.7:6443", CACert: strings.Repeat("not a certificate\n", 50),
	Credential: secret.Credential{Token: secret.NewText(canary)}, Client: clientconfig.KubernetesClient{},
}

// hold writes files, says where, and lives until it is killed or its input ends.
func hold(root string) error {
	d, err := clientconfig.OpenDir(root)
	if err != nil {
		return err
	}
	f, err := d.Write(childConfig)
	if err != nil {
		return err
	}
	fmt.Println(d.Path())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return errors.Join(f.Close(), d.Close())
}

// fillUp limits the size of files, which fails as a full disk does: in the middle.
func fillUp(root string) error {
	signal.Ignore(syscall.SIGXFSZ)
	d, err := clientconfig.OpenDir(root)
	if err != nil {
		return err
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	whole := limit.Cur
	// The files are written one by one: each has to be the first that does not fit.
	shortCA, longToken := childConfig, childConfig
	shortCA.CACert = "short\n"
	longToken.CACert, longToken.Token = "short\n", secret.NewText(strings.Repeat("t", 4096))
	for _, c := range []clientconfig.Config{childConfig, shortCA, longToken} {
		size, err := largest(d, c)
		if err != nil {
			return err
		}
		for n := range size {
			limit.Cur = uint64(n)
			if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
				return err
			}
			if _, err := d.Write(c); !errors.Is(err, syscall.EFBIG) {
				return fmt.Errorf("Write() with room for %d bytes = %v, want EFBIG", n, err)
			}
			if left, err := os.ReadDir(d.Path()); err != nil || len(left) != 0 {
				return fmt.Errorf("Write() with room for %d bytes left %d files (%v)", n, len(left), err)
			}
		}
		limit.Cur = whole
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
	}
	var f *clientconfig.Files
	// A token that cannot be replaced stays as it was.
	if f, err = d.Write(childConfig); err != nil {
		return err
	}
	before, err := os.ReadDir(d.Path())
	if err != nil {
		return err
	}
	limit.Cur = 3
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	next := childConfig
	next.Token = secret.NewText("another token")
	if err := f.Replace(next); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("Replace() without room = %v, want EFBIG", err)
	}
	after, err := os.ReadDir(d.Path())
	if err != nil || len(after) != len(before) {
		return fmt.Errorf("Replace() without room left %d files of %d (%v)", len(after), len(before), err)
	}
	if token, err := tokenIn(f.Main()); err != nil || token != canary {
		return fmt.Errorf("after Replace() without room the token is %d bytes long (%v)", len(token), err)
	}
	return d.Close()
}

// largest is the size of the largest file that a configuration makes.
func largest(d *clientconfig.Dir, c clientconfig.Config) (int, error) {
	f, err := d.Write(c)
	if err != nil {
		return 0, err
	}
	files, err := os.ReadDir(d.Path())
	if err != nil {
		return 0, err
	}
	size := 0
	for _, file := range files {
		info, err := file.Info()
		if err != nil {
			return 0, err
		}
		size = max(size, int(info.Size()))
	}
	return size, f.Close()
}

// holder is a child that holds files.
type holder struct {
	path string
	cmd  *exec.Cmd
	in   io.Closer
}

func startHolder(t *testing.T, root string) *holder {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"=hold", childRoot+"="+root)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the child said %q: %v", line, err)
	}
	return &holder{path: strings.TrimSpace(line), cmd: cmd, in: in}
}

// kill kills the child and returns when it has ended; nobody has collected it yet.
func (h *holder) kill(t *testing.T) {
	t.Helper()
	if err := h.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := unix.Waitid(unix.P_PID, h.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
}

func TestFullDiskLeavesNothing(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"=full", childRoot+"="+t.TempDir()+"/root")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
