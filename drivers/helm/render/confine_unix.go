//go:build unix

package render

import (
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// The limits of one chart: memory in bytes, processor time in seconds.
const (
	maxMemory = 768 << 20
	maxTime   = 5
)

// confine has the process open no file and no connection any more, write no file, and end when it has used up
// its memory or its time. Its input and its output stay open.
func confine() error {
	debug.SetMemoryLimit(maxMemory / 2)
	for resource, most := range map[int]uint64{
		unix.RLIMIT_NOFILE: 0, unix.RLIMIT_FSIZE: 0, unix.RLIMIT_CORE: 0, unix.RLIMIT_DATA: maxMemory, unix.RLIMIT_CPU: maxTime,
	} {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	return nil
}
