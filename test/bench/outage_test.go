package bench

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real"
)

const (
	// outageLeases are due on one VIM while it is down.
	outageLeases = 10_000
	// outageTime is how long it is down, on the broker's clock.
	outageTime = 5 * time.Minute
	// outageSlow is how long it may take to drain, on the broker's clock, before
	// leases are said to be lost: far longer than a lease waits for its next try.
	outageSlow = time.Hour
)

// outage measures what very many leases, which are due at once, do to a VIM that
// is down, and to it when it comes back. The passes run one at a time at their
// intervals; where nothing is to do the clock is moved to the next. The VIM is
// the fake, which takes any number of requests; the database is a PostgreSQL.
func outage(b *testing.B) *figure {
	b.Helper()
	s := &stack{dir: b.TempDir(), database: secret.NewText(real.OwnPostgres(b).DSN(b))}
	fake := fakekube.New(b, fakekube.Options{Now: s.now})
	g := &gate{vim: fake}
	front := httptest.NewUnstartedServer(g)
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	front.StartTLS()
	b.Cleanup(front.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	s.cluster, s.token = &real.Cluster{Endpoint: front.URL, CAPEM: string(ca)}, fake.AdminToken
	s.open(b)
	v := s.mustRegister(b, "cluster")
	none := fake.Names("serviceaccounts", "")
	const clients = 16
	if _, err := turn(clients, outageLeases/clients, 0, func(int) error {
		_, _, err := s.IssueLease(b.Context(), admin, broker.LeaseRequest{VIM: v.Name, TTL: time.Hour, Role: "view"})
		return err
	}); err != nil {
		b.Fatal(err)
	}

	s.ahead.Store(int64(time.Hour + time.Minute))
	p := s.schedule()
	g.count()
	g.mode.Store(silent)
	p.run(b, "reap")
	unheard, unheardMost := g.count()
	g.mode.Store(breaks)
	p.run(b, "reap")
	broken, _ := g.count()

	g.mode.Store(refuses)
	down, busiest := s.now(), 0
	var seen int
	p.took = nil
	for s.now().Before(down.Add(outageTime)) {
		p.next(b)
		n, _ := g.count()
		seen, busiest = seen+n, max(busiest, n)
	}
	downFor, took := s.now().Sub(down), p.took

	g.mode.Store(passes)
	back := s.now()
	for s.live(b) > 0 {
		if s.now().After(back.Add(outageSlow)) {
			b.Fatalf("%d leases are still live %v after the VIM is back", s.live(b), outageSlow)
		}
		p.next(b)
	}
	drained, backMost := g.count()
	waits := s.revoked(b, back)
	if len(waits) != outageLeases {
		b.Fatalf("%d leases were revoked, want %d", len(waits), outageLeases)
	}
	if left := fake.Names("serviceaccounts", ""); len(left) != len(none) {
		b.Fatalf("%d service accounts are left on the VIM, where there were %d before", len(left), len(none))
	}
	var late int
	for _, wait := range waits {
		if wait > time.Minute {
			late++
		}
	}
	afterwards := timed("back to revoked", waits)
	afterwards.PerSecond = float64(len(waits)) / waits.percentile(100).Seconds()
	value := func(what string, v float64, unit string) row {
		return row{What: what, N: outageLeases, Value: v, Unit: unit}
	}
	return &figure{
		Title: fmt.Sprintf("%d leases due at once on a VIM that is down, and back after %v", outageLeases, outageTime),
		Rows: []row{
			value("silent: requests at once, at most", float64(unheardMost), ""),
			value("silent: requests in one pass", float64(unheard), ""),
			value("breaking connections: requests in one pass", float64(broken), ""),
			value("refusing: requests in the busiest pass", float64(busiest), ""),
			{What: "refusing: requests", N: int(downFor.Seconds()), PerSecond: float64(seen) / downFor.Seconds()},
			timed("refusing: the pass that revokes", took),
			value("back: requests at once, at most", float64(backMost), ""),
			value("back: requests for each lease", float64(drained)/outageLeases, ""),
			afterwards,
			value("back: leases revoked after more than a minute", float64(late), ""),
			value("back: until the last is revoked", waits.percentile(100).Seconds(), "s"),
		},
	}
}

// live counts the leases that are to be revoked.
func (s *stack) live(b *testing.B) int {
	b.Helper()
	c, err := s.store.Census(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return c.Leases[broker.LeaseActive] + c.Leases[broker.LeaseRevoking] + c.Leases[broker.LeaseIrrevocable]
}

// schedule runs the passes of a stack on the broker's clock.
type schedule struct {
	s      *stack
	passes []broker.Pass
	due    []time.Time
	// took is how long each run of the pass that revokes took.
	took sample
}

func (s *stack) schedule() *schedule {
	p := &schedule{s: s, passes: s.Passes()}
	for _, pass := range p.passes {
		p.due = append(p.due, s.now().Add(pass.Every))
	}
	return p
}

// next moves the clock to when the next pass is due, if it is not past that, and runs it.
func (p *schedule) next(b *testing.B) {
	b.Helper()
	first := 0
	for i, due := range p.due {
		if due.Before(p.due[first]) {
			first = i
		}
	}
	if wait := p.due[first].Sub(p.s.now()); wait > 0 {
		p.s.ahead.Add(int64(wait))
	}
	p.run(b, p.passes[first].Name)
}

// run runs a pass now. What fails because the VIM is down is in the rows and not an error.
func (p *schedule) run(b *testing.B, name string) {
	b.Helper()
	for i, pass := range p.passes {
		if pass.Name != name {
			continue
		}
		p.due[i] = p.s.now().Add(pass.Every)
		began := time.Now()
		if err := pass.Run(b.Context()); err != nil {
			b.Fatalf("pass %s: %v", name, err)
		}
		if name == "reap" {
			p.took = append(p.took, time.Since(began))
		}
	}
}
