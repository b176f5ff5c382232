package secret

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Harden keeps this process's memory, and with it every secret and key, out of
// core files and away from other processes of the same user: PR_SET_DUMPABLE is
// set to 0 (no core dump, no ptrace, /proc/PID/mem and environ only for root) and
// RLIMIT_CORE to 0, hard limit included. Call it once, before the first secret is
// read. Child processes inherit the limit on core files, but are dumpable again
// once they exec. Root is not kept out. It does nothing on other systems than
// Linux.
func Harden() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("making the process not dumpable: %w", err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("limiting core files to none: %w", err)
	}
	return nil
}
