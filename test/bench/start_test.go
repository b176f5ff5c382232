package bench

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

const (
	startGoal = 500 * time.Millisecond
	starts    = 9 // of each kind: enough for a median
)

// start measures how long the program takes from its start until it says, in its
// log and at /readyz, that it is ready. Each is killed then, so those of a
// registry that is there find what a crash leaves.
func start(b *testing.B, p *program) *figure {
	b.Helper()
	bin := p.binary(b)
	s := newStack(b)
	s.crowd(b, many)
	s.close(b)
	due := newStack(b)
	due.crowd(b, many)
	due.overdue(b)
	due.close(b)
	home, fresh := b.TempDir(), b.TempDir()
	into := func(dir func(n int) string) func(int) error {
		return func(n int) error {
			server, err := serveIn(bin, home, dir(n))
			if err != nil {
				return err
			}
			server.Kill()
			return nil
		}
	}
	const empty, full, late = "empty data directory", "10000 VIMs", "10000 VIMs, all due for a check"
	out, err := turns(starts, 1, 1,
		contender{empty, into(func(n int) string { return filepath.Join(fresh, fmt.Sprint(n)) })},
		contender{full, into(func(int) string { return s.dir })},
		contender{late, into(func(int) string { return due.dir })},
	)
	if err != nil {
		b.Fatal(err)
	}
	f := &figure{Title: "From start to ready"}
	for i, what := range []string{empty, full, late} {
		f.Rows = append(f.Rows, timed(what, out[i].sample).medianGoal(startGoal))
	}
	b.ReportMetric(f.Rows[0].P50, "ms-empty")
	b.ReportMetric(f.Rows[1].P50, "ms-full")
	return f
}

// overdue makes every VIM due for its check.
func (s *stack) overdue(b *testing.B) {
	b.Helper()
	var all []broker.VIM
	for f := (broker.VIMFilter{Page: broker.Page{Size: 1000}}); ; {
		found, next, err := s.store.VIMs(b.Context(), f)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, found...)
		if f.Token = next; next == "" {
			break
		}
	}
	const clients = 32
	_, err := turn(clients, (len(all)+clients-1)/clients, 0, func(i int) error {
		if i >= len(all) {
			return nil
		}
		v := all[i]
		v.Health.Next = v.Health.CheckedAt
		return s.store.SetHealth(b.Context(), v.ID, v.Current.Number, v.Health)
	})
	if err != nil {
		b.Fatal(err)
	}
}
