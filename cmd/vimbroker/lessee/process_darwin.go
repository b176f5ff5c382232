package lessee

import "golang.org/x/sys/unix"

// awaitExit returns when a child has ended, and leaves it to be reaped.
func awaitExit(pid int) {
	queue, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(queue) }()
	wanted := []unix.Kevent_t{{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD, Fflags: unix.NOTE_EXIT}}
	for {
		_, err := unix.Kevent(queue, wanted, make([]unix.Kevent_t, 1), nil)
		if err != unix.EINTR {
			return // it ended, or had ended before (ESRCH)
		}
	}
}
