package keydir_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
)

// inChild runs the calling test again in a process of its own, which may do what
// would hurt this one, and returns false here; in the child it returns true.
func inChild(t *testing.T, attr *syscall.SysProcAttr) bool {
	t.Helper()
	const mark = "KEYDIR_TEST_CHILD"
	if os.Getenv(mark) != "" {
		return true
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), mark+"=1")
	child.SysProcAttr = attr
	out, err := child.CombinedOutput()
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOSPC) {
		t.Skipf("this system does not allow the namespaces that the test needs (kernel.unprivileged_userns_clone): %v", err)
	}
	if err != nil {
		t.Errorf("%v in the child:\n%s", err, out)
	}
	return false
}

func wantUnavailable(t *testing.T, call string, err error) {
	t.Helper()
	if !errors.Is(err, secret.ErrUnavailable) {
		t.Errorf("%s = %v, want ErrUnavailable", call, err)
	}
}

// wantCause is wantUnavailable for what a system call refused.
func wantCause(t *testing.T, call string, err, cause error, op string) {
	t.Helper()
	if wantUnavailable(t, call, err); !errors.Is(err, cause) || !strings.Contains(err.Error(), op+" ") {
		t.Errorf("%s = %v, want that %s says %v", call, err, op, cause)
	}
}

// wantWriteless checks a store that cannot write, and holds one key.
func wantWriteless(t *testing.T, s *keydir.Store, owner secret.Owner, ref secret.Ref, dir string, cause error, op string) {
	t.Helper()
	_, err := s.Put(t.Context(), owner, newKey(t))
	wantCause(t, "Put", err, cause, op)
	wantCause(t, "Check", s.Check(t.Context()), cause, op)
	if _, err := s.Get(t.Context(), ref); err != nil {
		t.Errorf("Get = %v, want nil", err)
	}
	if held, err := s.List(t.Context(), ""); err != nil || len(held) != 1 {
		t.Errorf("List = %v, %v, want the one key", held, err)
	}
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("files = %v, want only the key", got)
	}
}

func TestFullAndReadOnlyDiskAreUnavailable(t *testing.T) {
	if !inChild(t, &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}) {
		return
	}
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	dir := filepath.Join(disk, "keys")
	s := mustOpen(t, dir)
	owner := newOwner()
	ref := mustPut(t, s, owner)

	filler := filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 1<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("filling the disk = %v, want ENOSPC", err)
	}
	wantWriteless(t, s, owner, ref, dir, unix.ENOSPC, "write")

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	other, err := s.Put(t.Context(), owner, newKey(t))
	if err != nil {
		t.Fatalf("Put with space again = %v, want nil", err)
	}
	if _, err := s.Delete(t.Context(), other); err != nil {
		t.Fatal(err)
	}

	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	wantWriteless(t, s, owner, ref, dir, unix.EROFS, "open")
	_, err = s.Delete(t.Context(), ref)
	wantUnavailable(t, "Delete", err)
}

func TestNoAccessIsUnavailable(t *testing.T) {
	if !inChild(t, nil) {
		return
	}
	dir := filepath.Join(t.TempDir(), "keys")
	s := mustOpen(t, dir)
	owner := newOwner()
	ref := mustPut(t, s, owner)
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // whom modes do not stop
		if err := syscall.Seteuid(65534); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Put(t.Context(), owner, newKey(t))
	wantUnavailable(t, "Put", err)
	_, err = s.Get(t.Context(), ref)
	wantUnavailable(t, "Get", err)
	_, err = s.Delete(t.Context(), ref)
	wantUnavailable(t, "Delete", err)
	_, err = s.List(t.Context(), "")
	wantUnavailable(t, "List", err)
	_, err = s.List(t.Context(), owner.ID)
	wantUnavailable(t, "List of one VIM", err)
	wantUnavailable(t, "Check", s.Check(t.Context()))
	if os.Getuid() == 0 {
		if err := syscall.Seteuid(0); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil { // for the cleanup
		t.Fatal(err)
	}
}

// What others own in the directory is not ours to change: Put says so, and leaves nothing.
func TestWhatBelongsToOthersIsUnavailable(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make another user's directory")
	}
	if !inChild(t, nil) {
		return
	}
	above := t.TempDir()
	const nobody = 65534
	for at := above; at != "/"; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err != nil || info.Mode()&0o011 != 0o011 && os.Chmod(at, info.Mode()|0o011) != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(above, "keys")
	owner := newOwner()
	shard := keyFile(dir, owner, "")
	as := func(id int) {
		if err := syscall.Seteuid(id); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(dir, 0o700), mkdir(shard, 0o750), os.Chown(dir, nobody, -1)); err != nil {
		t.Fatal(err)
	}
	as(nobody)
	s := mustOpen(t, dir)
	_, err := s.Put(t.Context(), owner, newKey(t)) // the folder's mode is not ours to make right
	wantCause(t, "Put into a folder of root's", err, unix.EPERM, "chmod")
	as(0)
	if err := errors.Join(os.Chown(shard, nobody, -1), os.Chmod(shard, 0o700)); err != nil {
		t.Fatal(err)
	}
	as(nobody)
	ref := mustPut(t, s, owner)
	if err := os.Chmod(shard, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err = s.Put(t.Context(), owner, newKey(t))
	wantCause(t, "Put into a folder that takes nothing", err, unix.EACCES, "link")
	_, err = s.Delete(t.Context(), ref)
	wantUnavailable(t, "Delete from a folder that gives nothing", err)
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("files = %v, want the one key", got)
	}
	as(0)
	if err := errors.Join(os.Chmod(dir, 0), os.Chown(dir, nobody, -1)); err != nil {
		t.Fatal(err)
	}
	as(nobody)
	_, err = keydir.Open(dir)
	wantCause(t, "Open of a directory that may not be read", err, unix.EACCES, "open")
	as(0)
	if err := errors.Join(os.Chmod(dir, 0o700), os.Chmod(shard, 0o700)); err != nil { // for the cleanup
		t.Fatal(err)
	}
}

// A check leaves no file open.
func TestACheckLeavesNoFileOpen(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "keys"))
	open := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	before := open()
	for range 20 {
		if err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if after := open(); after > before+5 {
		t.Errorf("after 20 checks %d files are open, want those %d that were", after, before)
	}
}
