package bench

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// thisMachine is where this runs, with the load of now.
func thisMachine() machine {
	return machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version(), LoadBefore: load()}
}

// load is the one-minute load average, as Linux tells it; zero elsewhere.
func load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	average, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return average
}

// resident is how much memory a process holds now, in MB, as Linux tells it.
func resident(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("reading memory of process %d: %w", pid, err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			if err != nil {
				return 0, fmt.Errorf("reading memory of process %d: %w", pid, err)
			}
			return kib * 1024 / 1e6, nil
		}
	}
	return 0, fmt.Errorf("reading memory of process %d: it has none", pid)
}

// ticks is the length of the clock tick that Linux counts processor time in, in
// milliseconds: it is 10 wherever programs can see it (USER_HZ).
const ticks = 10

// processorTime is how long a process has used a processor, in milliseconds, to
// a tick, as Linux tells it.
func processorTime(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("reading processor time of process %d: %w", pid, err)
	}
	// The second field is the program's name in brackets, and may hold anything.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("reading processor time of process %d: unexpected form", pid)
	}
	user, errUser := strconv.ParseFloat(fields[11], 64)
	system, errSystem := strconv.ParseFloat(fields[12], 64)
	if errUser != nil || errSystem != nil {
		return 0, fmt.Errorf("reading processor time of process %d: unexpected form", pid)
	}
	return (user + system) * ticks, nil
}

// machineTime is how long all processors together have been busy, in milliseconds, as Linux tells it.
func machineTime() (float64, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("reading processor time of the machine: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(first) // cpu user nice system idle iowait irq softirq
	if len(fields) < 8 {
		return 0, fmt.Errorf("reading processor time of the machine: unexpected form")
	}
	var busy float64
	for _, i := range []int{1, 2, 3, 6, 7} {
		n, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return 0, fmt.Errorf("reading processor time of the machine: %w", err)
		}
		busy += n
	}
	return busy * ticks, nil
}
