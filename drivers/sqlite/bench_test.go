package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/conformance"
)

// crowded is a store with 10 000 VIMs of ten projects.
func crowded(b *testing.B) (*sqlite.Store, []string) {
	b.Helper()
	s := mustOpen(b, filepath.Join(b.TempDir(), "broker.db"))
	ids := make([]string, 10_000)
	together(b, 64, len(ids), func(i int) error {
		v := registered(uuid.NewString(), fmt.Sprintf("vim-%05d", i))
		v.Project = fmt.Sprintf("project-%d", i%10)
		v.Labels = map[string]string{"site": fmt.Sprintf("s%d", i%100)}
		ids[i] = v.ID
		return s.CreateVIM(b.Context(), v, 0, entry)
	})
	return s, ids
}

// together calls f for 0 to n-1 from as many goroutines as writers.
func together(b *testing.B, writers, n int, f func(i int) error) {
	b.Helper()
	next, failed := make(chan int), make(chan error, writers)
	for range writers {
		go func() {
			var first error
			for i := range next {
				if err := f(i); err != nil && first == nil {
					first = err
				}
			}
			failed <- first
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	for range writers {
		if err := <-failed; err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVIMs(b *testing.B) {
	s, ids := crowded(b)
	ctx := b.Context()
	b.Run("show", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, err := s.VIM(ctx, ids[i%len(ids)]); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, f := range map[string]broker.VIMFilter{
		"page/first": {Project: "project-3"}, "page/all": {}, "page/label": {Labels: map[string]string{"site": "s7"}},
		"page/name": {Project: "project-3", Name: "vim-00003"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if vims, _, err := s.VIMs(ctx, f); err != nil || len(vims) == 0 {
					b.Fatal(len(vims), err)
				}
			}
		})
	}
	b.Run("page/last", func(b *testing.B) {
		f := broker.VIMFilter{Project: "project-3"}
		for {
			_, next, err := s.VIMs(ctx, f)
			if err != nil {
				b.Fatal(err)
			}
			if next == "" {
				break
			}
			f.Token = next
		}
		for b.Loop() {
			if vims, _, err := s.VIMs(ctx, f); err != nil || len(vims) == 0 {
				b.Fatal(len(vims), err)
			}
		}
	})
	b.Run("create", func(b *testing.B) {
		for b.Loop() {
			id := uuid.NewString()
			if err := s.CreateVIM(ctx, registered(id, id), 0, entry); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("update", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			_, err := s.UpdateVIM(ctx, ids[i%len(ids)], func(v *broker.VIM) error {
				v.UpdatedAt = v.UpdatedAt.Add(time.Second)
				return nil
			}, entry)
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("update64", func(b *testing.B) {
		together(b, 64, b.N, func(i int) error {
			_, err := s.UpdateVIM(ctx, ids[i%len(ids)], func(v *broker.VIM) error { return nil }, entry)
			return err
		})
	})
}

// BenchmarkLeases creates leases beside those that are there, with quotas: one
// after the other, and 64 at a time; append is the least a write can cost.
func BenchmarkLeases(b *testing.B) {
	s, ids := crowded(b)
	ctx := b.Context()
	quota := broker.Quota{PerPrincipal: 1_000_000, PerVIM: 1_000_000}
	create := func(i int) error {
		_, err := s.CreateLease(ctx, broker.Lease{
			ID: uuid.NewString(), VIM: ids[i%len(ids)], VIMGeneration: 1, Project: "north",
			Principal: fmt.Sprintf("p%d", i%100), CreatedAt: time.Unix(int64(i), 0), Handle: "handle",
		}, quota, entry)
		return err
	}
	b.Run("create", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if err := create(i); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("create64", func(b *testing.B) { together(b, 64, b.N, create) })
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			if err := s.Append(ctx, audit.Entry{Time: time.Unix(1, 0), Outcome: audit.Read}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("page", func(b *testing.B) {
		for b.Loop() {
			if leases, _, err := s.Leases(ctx, broker.LeaseFilter{}); err != nil || len(leases) == 0 {
				b.Fatal(len(leases), err)
			}
		}
	})
}

// BenchmarkOpen is what the store adds to the start: of a new directory, and of one that is there.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	open := func(b *testing.B, path string) {
		s, err := sqlite.Open(b.Context(), sqlite.Options{Path: path})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("new", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			open(b, filepath.Join(dir, fmt.Sprint(i), "broker.db"))
		}
	})
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			open(b, filepath.Join(dir, "again", "broker.db"))
		}
	})
}

// BenchmarkWholeLease is the store's part of a lease: intent, issued, to be revoked, revoked,
// confirmed dead, each with its audit entry. Beside the time it says the processor time, and what is written to files.
func BenchmarkWholeLease(b *testing.B) {
	s := mustOpen(b, filepath.Join(b.TempDir(), "broker.db"))
	ctx := b.Context()
	const vim = "0d7f1e0a-8f5e-4b8e-9f0b-1c1d4d0f7a11"
	if err := s.CreateVIM(ctx, registered(vim, "cluster"), 0, entry); err != nil {
		b.Fatal(err)
	}
	whole := func(int) error { return conformance.WholeLease(ctx, s, vim) }
	for _, writers := range []int{1, 4} {
		b.Run(fmt.Sprint("writers-", writers), func(b *testing.B) {
			before, wrote := processorTime(b), written(b)
			together(b, writers, b.N, whole)
			b.ReportMetric(float64(processorTime(b)-before)/float64(b.N)/1e6, "cpu-ms/op")
			b.ReportMetric(float64(written(b)-wrote)/float64(b.N)/1024, "written-KiB/op")
		})
	}
}

// processorTime is what this process has used so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// written is how many bytes this process has written so far.
func written(b *testing.B) (bytes int64) {
	b.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := fmt.Sscanf(string(text[strings.Index(string(text), "wchar"):]), "wchar: %d", &bytes); err != nil {
		b.Fatal(err)
	}
	return bytes
}
