//go:build unix

package lessee

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Relayed are the signals that exec passes on.
var Relayed = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
	syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH,
}

// asksForEnd reports whether a signal asks a program to end.
func asksForEnd(s syscall.Signal) bool { return s != syscall.SIGWINCH }

// executable is the path of a file that can be run.
func executable(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "", fmt.Errorf("%s: %w", path, exec.ErrNotFound)
	case err != nil:
		return "", err
	case info.IsDir() || info.Mode().Perm()&0o111 == 0:
		return "", fmt.Errorf("%s: %w", path, os.ErrPermission)
	}
	return path, nil
}

// placed says where the command runs. With a terminal, it shares this process's group: the terminal's signals and job
// control treat both as one. Without one, it gets a group of its own, so that signals passed on reach what the command
// starts, too.
func placed() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: !hasTerminal()} }

// outcome is the exit code that a shell would report.
func outcome(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// deliver passes one signal on, unless the terminal sent it to the command already.
func deliver(c *exec.Cmd, s syscall.Signal) {
	if c.SysProcAttr.Setpgid {
		_ = syscall.Kill(-c.Process.Pid, s) // the group may be gone: then there is no one to tell
		return
	}
	switch s {
	case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGWINCH:
		if inForeground() {
			return
		}
	}
	_ = c.Process.Signal(s)
}

// hasTerminal reports whether this process has a controlling terminal.
func hasTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	tty.Close()
	return true
}

// inForeground reports whether the terminal's keys send their signals to this
// process's group, and so to the command in it.
func inForeground() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}
