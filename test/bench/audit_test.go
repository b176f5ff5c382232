package bench

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

const (
	// beforeTree is the last version whose writers extended one audit chain in turn.
	beforeTree = "71ef02863798f0125e67450a8c63ed77d88249a6"
	// fakeGoal and realGoal are how many times as many whole leases this version has to make.
	fakeGoal, realGoal = 3, 1.8
	// besideGoal bounds what a snapshot that is held open, and the rows of the past, may add to the p99.
	besideGoal = 1.2
	// verifyGoal is how many entries have to be verified in a second.
	verifyGoal = 100_000
	// pastVIMs, pastLeases and pastEntries are what stands in a database with a past. A year at 100 whole
	// leases a second has pastScale times as many leases.
	pastVIMs    = 1000
	pastLeases  = 300_000
	pastEntries = 300_000
	pastScale   = 100 * 60 * 60 * 24 * 365 / pastLeases
	// appends are how many entries each number of writers appends.
	appends = 4000
	// verified are how many entries the verifier alone verifies.
	verified = 200_000
)

// auditing is a program on a PostgreSQL of its own, with the VIMs "fake" and "real".
type auditing struct {
	*client.Client
	bin, dsn, home, addr, token string
}

// auditLog measures what the audit log costs those who write to it, and those who verify it: the
// programs themselves over HTTP, and the store and the verifier alone.
func auditLog(b *testing.B, p *program) *figure {
	b.Helper()
	before, err := story.BuildCommit(b, beforeTree)
	if err != nil {
		b.Fatal(err)
	}
	db, kube, cluster := real.OwnPostgres(b, "max_wal_size=8GB"), fakekube.New(b, fakekube.Options{}), real.Kubernetes(b)
	f := &figure{Title: "The audit log: this version, and 71ef028 before it"}
	past := db.DSN(b)
	now, old := newAuditing(b, p.binary(b), db.DSN(b), kube, cluster), newAuditing(b, before, db.DSN(b), kube, cluster)
	for _, on := range []struct {
		vim             string
		clients, rounds int
		each            int
		goal            float64
	}{{"fake", 8, 3, 8, fakeGoal}, {"fake", 64, 3, 2, fakeGoal}, {"real", 8, 3, 4, realGoal}, {"real", 64, 2, 2, realGoal}} {
		what := fmt.Sprintf("whole lease, %s VIM, clients: %d", on.vim, on.clients)
		out, err := turns(on.rounds, on.clients, on.each,
			contender{what, func(int) error { return now.whole(b.Context(), on.vim) }},
			contender{what + ", before", func(int) error { return old.whole(b.Context(), on.vim) }},
		)
		if err != nil {
			b.Fatal(err)
		}
		mine, theirs := timed(what, out[0].sample), timed(what+", before", out[1].sample)
		mine.PerSecond, theirs.PerSecond = out[0].perSecond(), out[1].perSecond()
		f.Rows = append(f.Rows, theirs, mine, row{
			What: what + ", to before", N: len(out[0].sample), Value: mine.PerSecond / theirs.PerSecond, Unit: "x",
		}.valueAtLeast(on.goal))
	}
	f.Rows = append(f.Rows, appending(b, db.DSN(b))...)
	f.Rows = append(f.Rows, now.besideSnapshot(b)...)
	f.Rows = append(f.Rows, verifying(b))
	return &figure{Title: f.Title, Rows: append(f.Rows, besidePast(b, now, newPast(b, p, past, kube, cluster, pastVIMs, pastLeases, 100, pastEntries))...)}
}

// newAuditing starts a version on a database, and registers its VIMs.
func newAuditing(b *testing.B, bin, dsn string, kube *fakekube.Server, cluster *real.Cluster) *auditing {
	b.Helper()
	a := &auditing{bin: bin, dsn: dsn, home: b.TempDir()}
	plain, digest := policy.NewToken()
	a.token = plain
	file := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(a.home, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		return filepath.Join(a.home, name)
	}
	config := file("config.yaml", fmt.Sprintf(`
listen: 127.0.0.1:0
dataDir: %s
tokensFile: %s
egress: {allowLoopback: true}
database: {postgres: {dsnFile: %s, migrate: true}}
keyStores: [keydir: {dir: %s}]
quota: {perPrincipal: 0, perVIM: 0, perProject: 0}
`, filepath.Join(a.home, "data"), file("tokens.yaml", "tokens: [{name: admin, project: default, roles: [admin], sha256: "+digest+"}]\n"),
		file("dsn", dsn), filepath.Join(a.home, "keys")))
	server, err := story.Serve(bin, a.home, []string{"HOME=" + a.home}, "--config", config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := server.Stop(); err != nil {
			b.Error(err)
		}
	})
	a.addr = server.URL
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	b.Cleanup(transport.CloseIdleConnections)
	a.Client, err = client.New(client.Options{Addr: a.addr, Token: secret.NewText(plain), HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		b.Fatal(err)
	}
	for _, r := range []v1.Registration{
		{Name: "fake", Endpoint: kube.Endpoint, CACert: kube.CA, Credential: v1.Credential{Token: secret.NewText(kube.AdminToken)}},
		{Name: "real", Endpoint: cluster.Endpoint, CACert: cluster.CAPEM, Credential: v1.Credential{Token: secret.NewText(cluster.AdminToken(b))}},
	} {
		r.Type = "kubernetes"
		if _, err := a.RegisterVIM(b.Context(), r, ""); err != nil {
			b.Fatal(err)
		}
	}
	return a
}

// whole issues a lease and revokes it.
func (a *auditing) whole(ctx context.Context, vim string) error {
	l, err := a.issue(ctx, vim)
	if err != nil {
		return err
	}
	_, err = a.RevokeLease(ctx, l.ID)
	return err
}

func (a *auditing) issue(ctx context.Context, vim string) (v1.IssuedLease, error) {
	return a.IssueLease(ctx, v1.LeaseRequest{VIM: vim, TTL: "1h", Role: "view", Namespaces: []string{"default"}}, "")
}

// appending measures the store alone, from several writers, while entries get their places.
func appending(b *testing.B, dsn string) (rows []row) {
	b.Helper()
	s, err := postgres.Open(b.Context(), postgres.Options{DSN: secret.NewText(dsn), Migrate: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan struct{})
	go func() { // as every server does
		defer close(ended)
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			_ = s.Grow(ctx) // what waits is measured
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	}()
	defer func() { stop(); <-ended }()
	rate := 0.0
	for _, writers := range []int{1, 4, 16} {
		began := time.Now()
		took, err := turn(writers, appends/writers, 0, func(n int) error { return s.Append(b.Context(), pastEntry(n)) })
		if err != nil {
			b.Fatal(err)
		}
		r := timed(fmt.Sprintf("entry appended, writers: %d", writers), took)
		r.PerSecond = float64(len(took)) / time.Since(began).Seconds()
		behind, err := s.Behind(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		rows = append(rows, r, row{What: fmt.Sprintf("behind after that, writers: %d", writers), N: 1, Value: behind.Seconds(), Unit: "s"})
		if rate > 0 {
			rows = append(rows, row{What: fmt.Sprintf("entries a second, writers: %d to fewer", writers), N: len(took), Value: r.PerSecond / rate, Unit: "x"}.valueAtLeast(1))
		}
		rate = r.PerSecond
	}
	return rows
}

func pastEntry(n int) audit.Entry {
	return audit.Entry{
		Time: time.Now(), Request: fmt.Sprintf("request-%08d", n), Principal: "alice", Project: "default", Action: policy.LeaseIssue,
		Kind: policy.KindVIM, Resource: "vim-7", Outcome: audit.Done, Detail: map[string]string{
			audit.DetailVIMName: "edge-7", audit.DetailLease: fmt.Sprintf("lease-%08d", n), audit.DetailSource: "192.0.2.7", "role": "view",
		},
	}
}

// besideSnapshot measures whole leases on the fake VIM while a transaction holds a snapshot open, and without it,
// in turns: the snapshot is as old as its turn, some seconds.
func (a *auditing) besideSnapshot(b *testing.B) []row {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), a.dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context())
	run := func(text string) {
		b.Helper()
		if _, err := conn.Exec(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
	var without, with sample
	var held time.Duration
	leases := func() sample {
		took, err := turn(8, 50, 0, func(int) error { return a.whole(b.Context(), "fake") })
		if err != nil {
			b.Fatal(err)
		}
		return took
	}
	for range 3 {
		without = append(without, leases()...)
		run("BEGIN ISOLATION LEVEL REPEATABLE READ")
		run("SELECT 1")
		began := time.Now()
		with = append(with, leases()...)
		held = max(held, time.Since(began))
		run("ROLLBACK")
	}
	base, beside := timed("whole lease, no snapshot", without), timed("whole lease, a snapshot held open", with)
	return []row{
		base, beside.over(base), beside.tailOver(base).ratioGoal(besideGoal),
		{What: "the snapshot was held for, at most", N: 3, Value: held.Seconds(), Unit: "s"},
	}
}

// verifying measures the verifier alone, on lines in memory.
func verifying(b *testing.B) row {
	b.Helper()
	const page = 4000
	var pages [][][]byte
	for n := range verified {
		e := pastEntry(n)
		e.Seq = int64(n + 1)
		line, err := audit.Line(e)
		if err != nil {
			b.Fatal(err)
		}
		if n%page == 0 {
			pages = append(pages, nil)
		}
		pages[len(pages)-1] = append(pages[len(pages)-1], line)
	}
	v, err := audit.NewVerifier(0, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	for _, lines := range pages {
		if err := v.Add(lines); err != nil {
			b.Fatal(err)
		}
	}
	return row{What: "entries verified, in memory", N: verified, Value: verified / time.Since(began).Seconds(), Unit: "/s"}.valueAtLeast(verifyGoal)
}

// newPast starts this version on a database with a past, whose entries are in the log's tree.
func newPast(b *testing.B, p *program, dsn string, kube *fakekube.Server, cluster *real.Cluster, vims, leases, live, entries int) *auditing {
	b.Helper()
	s, err := postgres.Open(b.Context(), postgres.Options{DSN: secret.NewText(dsn), Migrate: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	fill(b, dsn, vims, leases, live)
	conn, err := pgx.Connect(b.Context(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context())
	if _, err := conn.Exec(b.Context(), `INSERT INTO audit_inbox (time, request, door, principal, project, action, kind, resource, outcome, detail)
		SELECT now() - (i * interval '1 minute'), 'request-' || i, 'rest', 'principal-' || i % 1000, 'default', 'lease:issue', 'VIM', md5('vim' || i % 1000), 'done',
			json_build_object('vimName', 'vim-' || i % 1000, 'lease', md5('lease' || i), 'source', '192.0.2.7')
		FROM generate_series(1, $1::int) AS i`, entries); err != nil {
		b.Fatal(err)
	}
	if err := s.Grow(b.Context()); err != nil {
		b.Fatal(err)
	}
	if _, err := conn.Exec(b.Context(), `VACUUM ANALYZE`); err != nil {
		b.Fatal(err)
	}
	return newAuditing(b, p.binary(b), dsn, kube, cluster)
}

// besidePast measures what requests take beside the rows of a past, and without them.
func besidePast(b *testing.B, empty, full *auditing) (rows []row) {
	b.Helper()
	for _, a := range []*auditing{empty, full} { // the checkpoint that is gone on from
		if _, err := a.RotateAuditKey(b.Context()); err != nil {
			b.Fatal(err)
		}
		c, err := a.AuditCheckpoint(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(a.checkpoint(), []byte(c.Note), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	n, took, err := full.verify(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	rows = append(rows, row{What: "entries verified, audit verify", N: n, Value: float64(n) / took.Seconds(), Unit: "/s"}.valueAtLeast(verifyGoal))
	for _, ask := range []struct {
		what         string
		rounds, each int
		call         func(*auditing) error
	}{
		{"issue", 4, 20, func(a *auditing) error { _, err := a.issue(b.Context(), "fake"); return err }},
		{"page of 100 leases", 4, 20, func(a *auditing) error {
			_, err := a.Leases(b.Context(), client.LeaseQuery{PageSize: 100})
			return err
		}},
		{"page of 100 entries", 4, 20, func(a *auditing) error {
			_, err := a.Audit(b.Context(), client.AuditQuery{PageSize: 100})
			return err
		}},
		{"audit verify, from a checkpoint", 4, 2, func(a *auditing) error { return a.verifyNewer(b.Context()) }},
	} {
		out, err := turns(ask.rounds, 4, ask.each,
			contender{ask.what, func(int) error { return ask.call(empty) }},
			contender{ask.what, func(int) error { return ask.call(full) }},
		)
		if err != nil {
			b.Fatal(err)
		}
		base, beside := timed(ask.what+", no past", out[0].sample), timed(ask.what+", beside a past", out[1].sample)
		rows = append(rows, base, beside.over(base), beside.tailOver(base).ratioGoal(besideGoal))
	}
	return append(rows, row{What: "a year at 100 leases a second has so many times that past", N: pastLeases, Value: pastScale, Unit: "x"})
}

// verify runs "audit verify", and says how many entries that verified.
func (a *auditing) verify(ctx context.Context, args ...string) (entries int, took time.Duration, err error) {
	c := exec.CommandContext(ctx, a.bin, append([]string{"audit", "verify"}, args...)...)
	c.Env = []string{"HOME=" + a.home, "VIMBROKER_ADDR=" + a.addr, "VIMBROKER_TOKEN=" + a.token}
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	began := time.Now()
	if err := c.Run(); err != nil {
		return 0, 0, fmt.Errorf("audit verify %v: %w: %s", args, err, &said)
	}
	took = time.Since(began)
	_, err = fmt.Sscanf(said.String(), "%d entries verified", &entries)
	return entries, took, err
}

// verifyNewer runs "audit verify" from a checkpoint on.
func (a *auditing) verifyNewer(ctx context.Context) error {
	_, _, err := a.verify(ctx, "--anchor", a.checkpoint(), "--newer")
	return err
}

// checkpoint is the file that one is kept in.
func (a *auditing) checkpoint() string { return filepath.Join(a.home, "checkpoint") }
