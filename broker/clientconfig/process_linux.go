package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// bootID are the first digits of the boot id.
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

// startOf reads when a process started, in clock ticks since the boot, and whether it has ended and waits to be collected,
// from /proc/PID/stat (proc(5)).
func startOf(pid int) (start uint64, ended bool, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false, err
	}
	return parseStat(text)
}

// parseStat reads the start and the state. The second field, the command's name in parentheses, may hold anything; what
// counts comes behind the last ")".
func parseStat(text []byte) (start uint64, ended bool, err error) {
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return 0, false, errors.New("the stat of a process has too few fields")
	}
	start, err = strconv.ParseUint(string(fields[19]), 10, 64)
	state := fields[0][0]
	return start, state == 'Z' || state == 'X', err
}
