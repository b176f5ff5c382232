package lessee

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// Relayed are the signals that exec passes on: Ctrl-C and Ctrl-Break, and the end of the session.
var Relayed = []os.Signal{syscall.SIGINT, syscall.SIGTERM}

// asksForEnd reports whether a signal asks a program to end.
func asksForEnd(syscall.Signal) bool { return true }

// executable is the path of a file that can be run: its name ends, or is made to end, as one of PATHEXT.
func executable(path string) (string, error) {
	endings := strings.Split(strings.ToLower(os.Getenv("PATHEXT")), ";")
	if slices.Contains(endings, strings.ToLower(filepath.Ext(path))) {
		endings = []string{""}
	}
	for _, ending := range endings {
		if info, err := os.Stat(path + ending); err == nil && info.Mode().IsRegular() {
			return path + ending, nil
		}
	}
	return "", fmt.Errorf("%s: %w", path, exec.ErrNotFound)
}

// placed says where the command runs: in the group of this process's console.
func placed() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// outcome is the exit code that a shell would report.
func outcome(state *os.ProcessState) int { return state.ExitCode() }

// deliver passes one signal on. The console has sent Ctrl-C to the command already; an end is the one other signal there is.
func deliver(c *exec.Cmd, s syscall.Signal) {
	if s == syscall.SIGTERM {
		_ = c.Process.Kill()
	}
}

// awaitExit returns when a child has ended.
func awaitExit(pid int) {
	handle, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	_, _ = windows.WaitForSingleObject(handle, windows.INFINITE)
}
