package bench

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

const (
	// fleetSize is how many servers there are.
	fleetSize = 3
	// fleetClients is how many ask them at once.
	fleetClients = 64
	// fleetRounds are the turns of each, in which each client takes fleetLeases.
	fleetRounds, fleetLeases = 3, 8
)

// replicas measures how many whole leases a second one server issues and revokes, and three, that
// share a PostgreSQL and a Vault: the programs themselves, over HTTP. All of them run all the time;
// in its turn one of them, or each, is asked. What processor time of whom a lease takes is counted,
// and from that a simulation says what it should have been here, and what it would be where each has
// a machine of its own.
func replicas(b *testing.B, p *program) *figure {
	b.Helper()
	cluster := real.Kubernetes(b)
	servers := newFleet(b, p)
	token := cluster.AdminToken(b)
	ctx := b.Context()
	if _, err := servers.clients[0].RegisterVIM(ctx, v1.Registration{
		Name: "cluster", Type: "kubernetes", Endpoint: cluster.Endpoint, CACert: cluster.CAPEM,
		Credential: v1.Credential{Token: secret.NewText(token)},
	}, ""); err != nil {
		b.Fatal(err)
	}
	f := &figure{Title: fmt.Sprintf("Whole leases of replicas on one PostgreSQL and one Vault, clients at once: %d", fleetClients)}
	var took [2]outcome
	var turned, whole [2]demand                     // until the last was revoked, and until it was confirmed dead
	for round := -1; round < fleetRounds; round++ { // the first makes what is made once
		for i, among := range []int{1, fleetSize} {
			before, began := servers.used(b), time.Now()
			calls, err := turn(fleetClients, fleetLeases, 0, func(n int) error {
				c := servers.clients[n%among]
				l, err := c.IssueLease(ctx, v1.LeaseRequest{VIM: "cluster", TTL: "1h", Role: "view"}, "")
				if err == nil {
					_, err = c.RevokeLease(ctx, l.ID)
				}
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
			busy, until := time.Since(began), servers.used(b)
			servers.settle(b)
			if round < 0 {
				continue
			}
			took[i].sample, took[i].busy = append(took[i].sample, calls...), took[i].busy+busy
			turned[i] = turned[i].plus(before, until)
			whole[i] = whole[i].plus(before, servers.used(b))
		}
	}
	for i, among := range []int{1, fleetSize} {
		n := float64(len(took[i].sample))
		d := whole[i].each(n)
		what := fmt.Sprintf("whole lease, replicas: %d", among)
		r := timed(what, took[i].sample)
		r.PerSecond = took[i].perSecond()
		value := func(of string, v float64, unit string) row {
			return row{What: what + ", " + of, N: len(took[i].sample), Value: v, Unit: unit}
		}
		here := simulate(site{replicas: among, shared: runtime.NumCPU(), clients: fleetClients}, turned[i].each(n))
		f.Rows = append(f.Rows, r,
			value("processor of the replicas", d.broker, "ms"), value("processor of the database", d.database, "ms"), value("processor of all else", d.rest, "ms"),
			value("by simulation", here, "/s"), value("measured to simulated", r.PerSecond/here, "x"),
			value("replicas of 2 cores that a database of 4 feeds", d.feeds(4, 2), ""))
		if among > 1 {
			continue
		}
		for _, n := range []int{1, 2, 3, 4, 6} {
			f.Rows = append(f.Rows, row{
				What: fmt.Sprintf("by simulation, a database of 4 cores, replicas of 2: %d", n), N: simulatedLeases,
				Value: simulate(site{replicas: n, coresEach: 2, database: 4, clients: 4 * fleetClients}, d), Unit: "/s",
			})
		}
	}
	b.ReportMetric(took[0].perSecond(), "leases/s-1")
	b.ReportMetric(took[1].perSecond(), "leases/s-3")
	return f
}

// fleet is the servers, each with a client that keeps its connections.
type fleet struct {
	clients []*client.Client
	pids    []int
	// watch is a connection to their database, whose server is postmaster.
	watch      *pgx.Conn
	postmaster int
}

// used is the processor time so far, in ms: of the servers, the database, and all else on the machine.
func (s *fleet) used(b *testing.B) (d demand) {
	b.Helper()
	all, err := machineTime()
	if err != nil {
		b.Fatal(err)
	}
	for _, pid := range s.pids {
		d.broker += spent(b, pid)
	}
	d.database = family(b, s.postmaster)
	d.rest = all - d.broker - d.database
	return d
}

// settle waits until all leases are confirmed dead, which costs too.
func (s *fleet) settle(b *testing.B) {
	b.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		var left int
		if err := s.watch.QueryRow(b.Context(), `SELECT count(*) FROM lease_turns`).Scan(&left); err != nil {
			b.Fatal(err)
		}
		if left == 0 {
			return
		}
		if time.Now().After(deadline) {
			b.Fatalf("%d leases are not confirmed dead", left)
		}
	}
}

// newFleet starts the servers.
func newFleet(b *testing.B, p *program) *fleet {
	b.Helper()
	bin, home := p.binary(b), b.TempDir()
	db, keys := real.OwnPostgres(b), real.Vault(b)
	dsn := db.DSN(b)
	token, digest := policy.NewToken()
	file := func(name, text string) string {
		path := filepath.Join(home, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		return path
	}
	shared := fmt.Sprintf(`
listen: 127.0.0.1:0
tokensFile: %s
egress: {allowLoopback: true}
database: {postgres: {dsnFile: %s, migrate: true}}
keyStores:
  - vault: {address: %q, caFile: %s, auth: {appRole: {roleIDFile: %s, secretIDFile: %s}}}
quota: {perPrincipal: 0, perVIM: 0, perProject: 0}
`,
		file("tokens.yaml", "tokens: [{name: admin, project: default, roles: [admin], sha256: "+digest+"}]\n"),
		file("dsn", dsn), keys.Address, keys.CAFile, file("role-id", keys.RoleID), keys.SecretIDFile)
	var s fleet
	for i := range fleetSize {
		dir := b.TempDir()
		config := file(fmt.Sprintf("config-%d.yaml", i), shared+"dataDir: "+dir+"\n")
		server, err := story.Serve(bin, dir, []string{"HOME=" + home}, "--config", config)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := server.Stop(); err != nil {
				b.Error(err)
			}
		})
		transport := &http.Transport{MaxIdleConnsPerHost: fleetClients}
		b.Cleanup(transport.CloseIdleConnections)
		c, err := client.New(client.Options{Addr: server.URL, Token: secret.NewText(token), HTTPClient: &http.Client{Transport: transport}})
		if err != nil {
			b.Fatal(err)
		}
		s.clients, s.pids = append(s.clients, c), append(s.pids, server.PID())
	}
	var err error
	if s.watch, err = pgx.Connect(b.Context(), dsn); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.watch.Close(context.WithoutCancel(b.Context())) })
	s.postmaster = parent(b, int(s.watch.PgConn().PID()))
	return &s
}
