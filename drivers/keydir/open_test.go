//go:build unix

package keydir_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
)

func TestOpenRefusesAnUnsafeDirectory(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(t *testing.T, dir string) error
		want string // the remedy, in the error
	}{
		{"symbolic link", func(t *testing.T, dir string) error { return os.Symlink(t.TempDir(), dir) }, "give the path of the directory itself"},
		{"dangling link", func(_ *testing.T, dir string) error { return os.Symlink("nowhere", dir) }, "give the path of the directory itself"},
		{"file", func(_ *testing.T, dir string) error { return os.WriteFile(dir, nil, 0o600) }, "not a directory"},
		{"group may read", func(_ *testing.T, dir string) error { return mkdir(dir, 0o740) }, "chmod 700"},
		{"others may enter", func(_ *testing.T, dir string) error { return mkdir(dir, 0o701) }, "chmod 700"},
		{"other user's", func(t *testing.T, dir string) error {
			if os.Geteuid() != 0 {
				t.Skip("only root can make another user's directory")
			}
			if err := mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.Chown(dir, 65534, -1)
		}, "belongs to user 65534"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "keys")
			if err := tc.make(t, dir); err != nil {
				t.Fatal(err)
			}
			s, err := keydir.Open(dir)
			if err == nil {
				_ = s.Close()
				t.Fatal("Open = nil, want an error")
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Open = %q, want it to say %q", err, tc.want)
			}
		})
	}
}

func mkdir(dir string, mode os.FileMode) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, mode)
}

func TestOpenNeedsTheParent(t *testing.T) {
	_, err := keydir.Open(filepath.Join(t.TempDir(), "missing", "keys"))
	if err == nil || !strings.Contains(err.Error(), "create it") {
		t.Errorf("Open = %v, want an error that says to create the parent", err)
	}
}

// plantTemps leaves what a process leaves that was killed in Put: before the
// link, and after it.
func plantTemps(t *testing.T, dir string, owner secret.Owner, linked secret.Ref) {
	t.Helper()
	before := filepath.Join(dir, ".tmp-"+strings.Repeat("a", 32))
	if err := os.WriteFile(before, newKey(t).Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	after := filepath.Join(dir, ".tmp-"+strings.Repeat("b", 32))
	if err := os.Link(keyFile(dir, owner, linked), after); err != nil {
		t.Fatal(err)
	}
}

func TestOpenSweepsWhatADeadProcessLeft(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	s := mustOpen(t, dir)
	owner := newOwner()
	ref := mustPut(t, s, owner)
	plantTemps(t, dir, owner, ref)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = mustOpen(t, dir)
	if got := files(t, dir); len(got) != 1 || got[0] != keyFile(dir, owner, ref) {
		t.Errorf("files after Open = %v, want only the key", got)
	}
	if _, err := s.Get(t.Context(), ref); err != nil {
		t.Errorf("Get = %v, want nil", err)
	}
}

// childDir tells the test binary to open a directory, say so, and wait for its
// standard input to end.
const childDir = "KEYDIR_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if _, err := keydir.Open(dir); err != nil {
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString("open\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestOpenSparesTheFilesOfALiveProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	s := mustOpen(t, dir)
	owner := newOwner()
	ref := mustPut(t, s, owner)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "open\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	plantTemps(t, dir, owner, ref)

	s = mustOpen(t, dir)
	if got := files(t, dir); len(got) != 3 {
		t.Errorf("files beside a live process = %v, want the key and two temporary files", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // its lock is gone with it
	mustOpen(t, dir)
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("files after the process was killed = %v, want only the key", got)
	}
}
