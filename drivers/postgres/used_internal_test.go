package postgres

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Used is the processor time that the server on this machine has used so far, and this process, and how many bytes of
// its log the server has written.
func (s *Store) Used(t testing.TB) (server, own time.Duration, logged int64) {
	t.Helper()
	var backend int
	err := s.pool.QueryRow(t.Context(), `SELECT pg_backend_pid(), (pg_current_wal_insert_lsn() - '0/0')::bigint`).Scan(&backend, &logged)
	if err != nil {
		t.Fatal(err)
	}
	parent, _ := processOf(fmt.Sprint("/proc/", backend, "/stat"))
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, stat := range stats {
		if of, ticks := processOf(stat); of == parent {
			server += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return server, time.Duration(used.Utime.Nano() + used.Stime.Nano()), logged
}

// processOf reads a process's parent, and its processor time in ticks of 10 ms.
func processOf(stat string) (parent, ticks int64) {
	text, err := os.ReadFile(stat)
	if err != nil {
		return 0, 0 // it has ended
	}
	var user, system, skipped int64
	var state string
	_, rest, _ := strings.Cut(string(text), ") ")
	into := []any{&state, &parent}
	for range 9 {
		into = append(into, &skipped)
	}
	_, _ = fmt.Sscan(rest, append(into, &user, &system)...)
	return parent, user + system
}
