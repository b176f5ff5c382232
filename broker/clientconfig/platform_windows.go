package clientconfig

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

var errHeld = errors.New("another process holds the directory")

// onlyDirectory: no flag opens nothing but a directory.
const onlyDirectory = 0

// hold does nothing, as directories cannot be locked: a directory's name says alone whose it is.
func hold(*os.File) error { return nil }

// ours and openToOthers say nothing of files here: the directory for temporary files is the user's own, and those in it inherit
// its access control list.
func ours(fs.FileInfo) bool { return true }

func openToOthers(fs.FileInfo) bool { return false }

// bootID is no boot's: the time at which a process started tells it from those of other boots.
func bootID() (string, error) { return "000000000000", nil }

// startOf reads when a process started, in nanoseconds since 1970.
func startOf(pid int) (start uint64, ended bool, err error) {
	handle, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return 0, true, fs.ErrNotExist
	}
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(handle, &created, &exited, &kernel, &user); err != nil {
		return 0, false, err
	}
	// A process that has ended and that somebody still has a handle of has an exit time.
	return uint64(created.Nanoseconds()), exited.HighDateTime != 0 || exited.LowDateTime != 0, nil
}
