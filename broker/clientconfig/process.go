package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// process names one process so that no later one has the same name, even with
// the same pid: by the boot it runs in and the time it started (proc(5)). It
// works on Linux only.
type process struct {
	boot  string // the first 12 digits of the boot id
	pid   int
	start uint64 // in clock ticks since the boot
}

var processForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9a-f]{12})-([1-9][0-9]{0,9})-([0-9]{1,20})-[0-9a-z]+$`)
})

// self is this process.
func self() (process, error) {
	boot, err := bootID()
	if err != nil {
		return process{}, err
	}
	p := process{boot: boot, pid: os.Getpid()}
	start, _, err := readStat(p.pid)
	if err != nil {
		return process{}, fmt.Errorf("reading the start time of this process: %w", err)
	}
	p.start = start
	return p, nil
}

// directoryName is a new name for a directory of the process.
func (p process) directoryName() string {
	return fmt.Sprintf("%s-%d-%d-%s", p.boot, p.pid, p.start, random())
}

// parseProcess reads whose directory it is from the directory's name.
func parseProcess(directory string) (process, bool) {
	m := processForm().FindStringSubmatch(directory)
	if m == nil {
		return process{}, false
	}
	pid, err := strconv.Atoi(m[2])
	if err != nil {
		return process{}, false
	}
	start, err := strconv.ParseUint(m[3], 10, 64)
	if err != nil {
		return process{}, false
	}
	return process{boot: m[1], pid: pid, start: start}, true
}

// dead reports whether the process has certainly ended: it ran before this boot, its
// pid is free or waits to be collected, or its pid is now another process's. In
// doubt it has not.
func (p process) dead(boot string) bool {
	if p.boot != boot {
		return true
	}
	start, state, err := readStat(p.pid)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
	}
	return start != p.start || state == 'Z' || state == 'X'
}

func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("reading the boot id: %w", err)
	}
	plain := strings.ReplaceAll(strings.TrimSpace(string(id)), "-", "")
	if len(plain) != 32 {
		return "", errors.New("reading the boot id: it is no UUID")
	}
	return plain[:12], nil
}

// readStat reads when a process started, and its state, from /proc/PID/stat. The second field,
// the command's name in parentheses, may hold anything; what counts comes behind the last ")".
func readStat(pid int) (start uint64, state byte, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return 0, 0, fmt.Errorf("/proc/%d/stat has too few fields", pid)
	}
	start, err = strconv.ParseUint(string(fields[19]), 10, 64)
	return start, fields[0][0], err
}
