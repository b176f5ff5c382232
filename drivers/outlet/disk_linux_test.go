package outlet_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/drivers/outlet"
)

// A disk that fills up leaves no half line, and what was not written is written once
// there is room.
func TestFileOnAFullDisk(t *testing.T) {
	const mark = "OUTLET_TEST_CHILD"
	if os.Getenv(mark) == "" {
		child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		child.Env = append(os.Environ(), mark+"=1")
		child.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		out, err := child.CombinedOutput()
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOSPC) {
			t.Skipf("this system does not allow the namespaces that the test needs (kernel.unprivileged_userns_clone): %v", err)
		}
		if err != nil {
			t.Errorf("%v in the child:\n%s", err, out)
		}
		return
	}
	disk := t.TempDir()
	mustDo(t, unix.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"))
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	f, path := open(t, outlet.FileOptions{Path: filepath.Join(disk, "audit.jsonl")})
	mustDo(t, f.Send(t.Context(), lines(`{"a":1}`)))

	large := `{"large":"` + strings.Repeat("x", 100_000) + `"}`
	for range 2 {
		if err := f.Send(t.Context(), lines(`{"a":2}`, large)); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("Send to a full disk = %v, want ENOSPC", err)
		}
		holds(t, path, "{\"a\":1}\n")
	}
	mustDo(t, unix.Mount("", disk, "", unix.MS_REMOUNT, "size=1m"))
	mustDo(t, f.Send(t.Context(), lines(`{"a":2}`, large)))
	text, err := os.ReadFile(path)
	if want := "{\"a\":1}\n{\"a\":2}\n" + large + "\n"; err != nil || !bytes.Equal(text, []byte(want)) {
		t.Errorf("the file holds %d bytes (%v), want %d", len(text), err, len(want))
	}
	mustDo(t, f.Close()) // or the disk cannot be made read-only
	mustDo(t, unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	if err := f.Send(t.Context(), lines(`{}`)); !errors.Is(err, unix.EROFS) {
		t.Errorf("Send to a read-only disk = %v, want EROFS", err)
	}
}
