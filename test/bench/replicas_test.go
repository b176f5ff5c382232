package bench

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

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
)

// replicas measures how many leases a second one server issues, and three, that
// share a PostgreSQL and a Vault: the programs themselves, over HTTP. All of them
// run all the time; in its turn one of them, or each, is asked.
func replicas(b *testing.B, p *program) *figure {
	b.Helper()
	cluster := real.Kubernetes(b)
	fleet := newFleet(b, p)
	token := cluster.AdminToken(b)
	if _, err := fleet[0].RegisterVIM(b.Context(), v1.Registration{
		Name: "cluster", Type: "kubernetes", Endpoint: cluster.Endpoint, CACert: cluster.CAPEM,
		Credential: v1.Credential{Token: secret.NewText(token)},
	}, ""); err != nil {
		b.Fatal(err)
	}
	underneath := newBare(b, &stack{cluster: cluster, token: token})
	ctx := b.Context()
	issue := func(among int) func(int) error {
		return func(n int) error {
			_, err := fleet[n%among].IssueLease(ctx, v1.LeaseRequest{VIM: "cluster", TTL: "1h", Role: "view"}, "")
			return err
		}
	}
	const bareCalls, one = "bare ServiceAccount + TokenRequest", "lease, 1 replica"
	all := fmt.Sprintf("lease, %d replicas", fleetSize)
	out, err := turns(6, fleetClients, 4,
		contender{bareCalls, func(int) error { return underneath.issue(ctx) }},
		contender{one, issue(1)},
		contender{all, issue(fleetSize)},
	)
	if err != nil {
		b.Fatal(err)
	}
	f := &figure{Title: fmt.Sprintf("Leases of replicas on one PostgreSQL and one Vault, clients at once: %d", fleetClients)}
	base := timed(bareCalls, out[0].sample)
	for i, what := range []string{bareCalls, one, all} {
		r := timed(what, out[i].sample)
		if r.PerSecond = out[i].perSecond(); i > 0 {
			r = r.over(base)
		}
		f.Rows = append(f.Rows, r)
	}
	f.Rows = append(f.Rows, row{
		What: fmt.Sprintf("leases per s, %d replicas to 1", fleetSize), N: len(out[1].sample) + len(out[2].sample),
		Value: out[2].perSecond() / out[1].perSecond(), Unit: "x",
	})
	b.ReportMetric(out[1].perSecond(), "leases/s-1")
	b.ReportMetric(out[2].perSecond(), "leases/s-3")
	return f
}

// newFleet starts the servers, each with a client that keeps its connections.
func newFleet(b *testing.B, p *program) []*client.Client {
	b.Helper()
	bin, home := p.binary(b), b.TempDir()
	db, keys := real.OwnPostgres(b), real.Vault(b)
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
		file("dsn", db.DSN(b)), keys.Address, keys.CAFile, file("role-id", keys.RoleID), keys.SecretIDFile)
	var fleet []*client.Client
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
		fleet = append(fleet, c)
	}
	return fleet
}
