//go:build !linux

package process

import "syscall"

// dieWithParent cannot be had here: a killed test leaves its programs behind.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// awaitStop cannot be had here: a stopped program may go on for a moment.
func awaitStop(int) error { return nil }
