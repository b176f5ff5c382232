package bench

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/real"
)

// How many leases are due, and on how many VIMs.
const (
	dueLeases = 1000
	dueVIMs   = 10
)

// due measures the pass that ends leases where very many are due at once: on one
// VIM, on ten, and on ten of which one does not answer.
func due(b *testing.B) *figure {
	b.Helper()
	f := &figure{Title: fmt.Sprintf("%d leases due in the same second", dueLeases)}
	f.Rows = append(f.Rows, reap(b, "on 1 VIM", 1, false)...)
	f.Rows = append(f.Rows, reap(b, fmt.Sprintf("on %d VIMs", dueVIMs), dueVIMs, false)...)
	f.Rows = append(f.Rows, reap(b, fmt.Sprintf("on %d VIMs, 1 silent", dueVIMs), dueVIMs, true)...)
	return f
}

// reap lets leases of some VIMs fall due, and runs the pass; one VIM may have fallen
// silent: it is connected to, and nothing comes back.
func reap(b *testing.B, where string, vims int, silent bool) []row {
	b.Helper()
	s := newStack(b)
	ctx := b.Context()
	endpoint, err := url.Parse(s.cluster.Endpoint)
	if err != nil {
		b.Fatal(err)
	}
	cable := real.NewCut(b, endpoint.Host)
	for i := range vims {
		at := s.cluster.Endpoint
		if silent && i == 0 {
			at = "https://" + cable.Addr()
		}
		if _, err := s.register(ctx, crowdName(i), at); err != nil {
			b.Fatal(err)
		}
	}
	const clients = 8
	if _, err := turn(clients, dueLeases/clients, 0, func(n int) error {
		_, _, err := s.IssueLease(ctx, admin, broker.LeaseRequest{VIM: crowdName(n % vims), TTL: time.Hour, Role: "view"})
		return err
	}); err != nil {
		b.Fatal(err)
	}
	if silent {
		cable.BlackHole()
	}
	s.ahead.Store(int64(time.Hour + time.Minute))
	began, due := time.Now(), time.Now().Add(time.Duration(s.ahead.Load()))
	if err := s.Reap(ctx); err != nil {
		b.Fatal(err)
	}
	pass := time.Since(began)
	waits := s.revoked(b, due)
	want := dueLeases
	if silent {
		want -= dueLeases / vims
		cable.Pass(b)
	}
	if len(waits) != want {
		b.Fatalf("%s: the pass revoked %d leases, want %d", where, len(waits), want)
	}
	took := timed("due to revoked, "+where, waits)
	took.PerSecond = float64(len(waits)) / waits.percentile(100).Seconds()
	return []row{
		{What: "the pass, for each lease, " + where, N: dueLeases, Value: millis(pass) / dueLeases, Unit: "ms"},
		took,
	}
}

// revoked is how long after they were due the leases that are revoked were.
func (s *stack) revoked(b *testing.B, due time.Time) sample {
	b.Helper()
	var waits sample
	for q := (broker.LeaseQuery{State: broker.LeaseRevoked, Page: broker.Page{Size: 1000}}); ; {
		found, next, err := s.Leases(b.Context(), admin, q)
		if err != nil {
			b.Fatal(err)
		}
		for _, l := range found {
			waits = append(waits, l.RevokedAt.Sub(due))
		}
		if q.Token = next; next == "" {
			return waits
		}
	}
}
