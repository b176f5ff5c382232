//go:build unix

package render

import (
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// What one chart can use up: memory in bytes, time of a processor in seconds.
const (
	maxMemory = 768 << 20
	maxTime   = 5
)

// confine has the process open no file and no connection any more, write no file, and end when it has used up
// its memory or its time. What it has open stays open: its input and its output.
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
