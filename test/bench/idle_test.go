package bench

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/real"
)

const (
	// idleGoal is the memory, in MB, that a server at rest may hold.
	idleGoal = 80
	// idleFor is how long it is left alone.
	idleFor = 10 * time.Second
)

// idle measures what the program holds and uses while nobody asks it for
// anything: after its start, and after it has issued a lease.
func idle(b *testing.B, p *program) *figure {
	b.Helper()
	f := &figure{Title: "At rest"}
	if runtime.GOOS != "linux" {
		f.Title += " (not measured: it takes Linux to ask)"
		return f
	}
	cluster := real.Kubernetes(b)
	home := b.TempDir()
	data := filepath.Join(home, "data")
	server, err := serveIn(p.binary(b), home, data)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(server.Kill)
	f.Rows = append(f.Rows, atRest(b, server.PID(), "after start")...)

	token := devToken(b, data)
	c, err := client.New(client.Options{Addr: server.URL, Token: secret.NewText(token)})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := c.RegisterVIM(b.Context(), v1.Registration{
		Name: "cluster", Type: "kubernetes", Endpoint: cluster.Endpoint, CACert: cluster.CAPEM,
		Credential: v1.Credential{Token: secret.NewText(cluster.AdminToken(b))},
	}, ""); err != nil {
		b.Fatal(err)
	}
	if _, err := c.IssueLease(b.Context(), v1.LeaseRequest{VIM: "cluster", TTL: "1h", Role: "view"}, ""); err != nil {
		b.Fatal(err)
	}
	f.Rows = append(f.Rows, atRest(b, server.PID(), "after one lease")...)
	b.ReportMetric(f.Rows[2].Value, "MB")
	if err := server.Stop(); err != nil {
		b.Fatal(err)
	}
	return f
}

// atRest leaves a process alone, and tells what it used meanwhile and what it holds then.
func atRest(b *testing.B, pid int, when string) []row {
	b.Helper()
	before, err := processorTime(pid)
	if err != nil {
		b.Fatal(err)
	}
	<-time.After(idleFor) // that nothing happens is what is measured
	after, err := processorTime(pid)
	if err != nil {
		b.Fatal(err)
	}
	memory, err := resident(pid)
	if err != nil {
		b.Fatal(err)
	}
	seconds := int(idleFor / time.Second)
	return []row{
		row{What: "resident memory, " + when, N: seconds, Value: memory, Unit: "MB"}.valueGoal(idleGoal),
		{What: "processor, " + when, N: seconds, Value: (after - before) / idleFor.Seconds(), Unit: "ms/s"},
	}
}
