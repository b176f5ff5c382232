package clientconfig

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// bootID are the first digits of the id of this boot's session.
func bootID() (string, error) {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return "", fmt.Errorf("reading the boot id: %w", err)
	}
	plain := strings.ToLower(strings.ReplaceAll(id, "-", ""))
	if len(plain) < 12 {
		return "", errors.New("reading the boot id: it is no UUID")
	}
	return plain[:12], nil
}

// zombie is the state of a process that has ended and waits to be collected (SZOMB in sys/proc.h).
const zombie = 5

// startOf reads when a process started, in microseconds, and whether it has ended and waits to be collected.
func startOf(pid int) (start uint64, ended bool, err error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, false, unix.ESRCH // the answer has no entry
	}
	at := info.Proc.P_starttime
	return uint64(at.Sec)*1_000_000 + uint64(at.Usec), info.Proc.P_stat == zombie, nil
}
