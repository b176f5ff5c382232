package replicas

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// patience bounds every wait: far longer than what is waited for takes, on a
// machine that does other things too.
const patience = 3 * time.Minute

// fleet is three servers, one database, one key directory and one cluster.
type fleet struct {
	t        testing.TB
	kube     *fakekube.Server
	dsn      string
	keys     string
	token    string // of an administrator
	replicas []*replica
	// cut is between the first replica and the database.
	cut *real.Cut
}

// replica is one server; it keeps its address from process to process.
type replica struct {
	*client.Client
	fleet  *fleet
	dir    string
	broker *story.Broker
	// program and begin are what its next process runs, and how it is started.
	program string
	begin   func(*exec.Cmd) error
}

// demand skips a test unless real systems are demanded: together the tests take
// more than a minute, whatever the machine.
func demand(t testing.TB) {
	t.Helper()
	if os.Getenv(real.Demand) != "1" {
		t.Skipf("three servers on one PostgreSQL, for more than a minute: run by make test-real (%s=1)", real.Demand)
	}
}

// shared is a database server that other tests use too.
func shared(t testing.TB) *real.PostgresServer {
	t.Helper()
	demand(t)
	return real.Postgres(t)
}

// footing is what a fleet stands on besides its database.
type footing struct {
	program string
	// keyStores are the lines of that key; none is one directory for all.
	keyStores string
	// settings are further lines of the configuration.
	settings string
	// standby is of the database's server, where it has one.
	standby *real.PostgresServer
}

// newFleet starts three replicas on a new database of db, with the cluster
// registered as "edge" and "core".
func newFleet(t testing.TB, db *real.PostgresServer) *fleet {
	t.Helper()
	return newFleetOn(t, db, footing{program: present})
}

func newFleetOn(t testing.TB, db *real.PostgresServer, on footing) *fleet {
	t.Helper()
	f := &fleet{t: t, kube: fakekube.New(t, fakekube.Options{}), dsn: db.DSN(t), keys: filepath.Join(t.TempDir(), "keys")}
	token, digest := policy.NewToken()
	f.token = token
	tokens := filepath.Join(t.TempDir(), "tokens.yaml")
	f.write(tokens, "tokens: [{name: admin, project: default, roles: [admin], sha256: "+digest+"}]\n")
	if on.standby != nil {
		f.dsn = db.Either(f.dsn, on.standby)
	}
	u, err := url.Parse(f.dsn)
	if err != nil {
		t.Fatal("the connection string is no URL")
	}
	first, _, _ := strings.Cut(u.Host, ",")
	f.cut = real.NewCut(t, first)
	if on.keyStores == "" {
		on.keyStores = "  - keydir: {dir: " + f.keys + "}\n"
	}
	for i := range 3 {
		r := &replica{fleet: f, dir: t.TempDir(), program: on.program, begin: (*exec.Cmd).Start}
		f.replicas = append(f.replicas, r)
		dsn := *u
		if i == 0 {
			dsn.Host = strings.Replace(u.Host, first, f.cut.Addr(), 1)
		}
		listen := process.FreeAddress(t)
		f.write(filepath.Join(r.dir, "dsn"), dsn.String()+"\n")
		f.write(r.config(), fmt.Sprintf(`
listen: %s
dataDir: %s
tokensFile: %s
egress: {allowLoopback: true}
database: {postgres: {dsnFile: %s}}
checkInterval: 10s
quota: {perPrincipal: 0, perVIM: 0, perProject: 0}
shutdownGrace: 60s
keyStores:
%s%s`, listen, r.dir, tokens, filepath.Join(r.dir, "dsn"), on.keyStores, on.settings))
		if r.Client, err = client.New(client.Options{Addr: "http://" + listen, Token: secret.NewText(token)}); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			out, code := r.run("db", "migrate")
			for deadline := time.Now().Add(patience); code != 0 && strings.Contains(out, "in time") && time.Now().Before(deadline); {
				out, code = r.run("db", "migrate")
			}
			if code != 0 {
				t.Fatalf("db migrate: %s", out)
			}
		}
		r.start()
	}
	for _, name := range []string{"edge", "core"} {
		if _, err := registers(t, f.replicas[0], v1.Registration{
			Name: name, Type: "kubernetes", Endpoint: f.kube.Endpoint, CACert: f.kube.CA,
			Credential: v1.Credential{Token: secret.NewText(f.kube.AdminTokenFor(0))},
		}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for i, r := range f.replicas {
			if r.broker == nil {
				continue // it never began
			}
			r.broker.Kill()
			if text, err := os.ReadFile(r.broker.File); err == nil && t.Failed() {
				t.Logf("log of replica %d:\n%s", i, text)
			}
		}
	})
	return f
}

// registers registers a VIM, also where an answer is lost.
func registers(t testing.TB, r *replica, asked v1.Registration) (v v1.VIM, err error) {
	t.Helper()
	again := false
	answered(t, asked.Name+" is registered", func(ctx context.Context) error {
		v, err = r.RegisterVIM(ctx, asked, "")
		if again && client.Status(err) == http.StatusConflict { // an earlier request has registered it
			v, err = r.VIM(ctx, asked.Name)
		}
		again = true
		return err
	})
	return v, err
}

func (f *fleet) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// start starts the replica's next process, and returns when it is ready. One that ends because the
// database is slow is started again, as systemd does.
func (r *replica) start() {
	r.fleet.t.Helper()
	env := []string{"HOME=" + r.dir, "VIMBROKER_FAILPOINT=" + r.armFile()}
	began := time.Now()
	b, err := story.ServeBy(r.begin, r.program, r.dir, env, "--config", r.config())
	for err != nil && strings.Contains(err.Error(), "the database does not answer in time") && time.Since(began) < patience {
		b, err = story.ServeBy(r.begin, r.program, r.dir, env, "--config", r.config())
	}
	if err != nil {
		r.fleet.t.Fatal(err)
	}
	r.broker = b
}

// armFile is what a program with failpoints reads the one to die at from.
func (r *replica) armFile() string { return filepath.Join(r.dir, "failpoint") }

func (r *replica) config() string { return filepath.Join(r.dir, "config.yaml") }

// run runs a command with the replica's configuration, and returns all that it said
// and its exit code.
func (r *replica) run(args ...string) (string, int) {
	r.fleet.t.Helper()
	c := exec.Command(r.program, append(args, "--config", r.config())...)
	c.Env = []string{"HOME=" + r.dir}
	out, err := c.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		r.fleet.t.Fatal(err)
	}
	return string(out), c.ProcessState.ExitCode()
}

func (r *replica) signal(s syscall.Signal) {
	r.fleet.t.Helper()
	if err := r.broker.Signal(s); err != nil {
		r.fleet.t.Fatal(err)
	}
}

// ready waits until the replica says that it is.
func (r *replica) ready() {
	r.fleet.t.Helper()
	eventually(r.fleet.t, "a replica is ready", func(ctx context.Context) error { return r.Ready(ctx) })
}

// makeDue ends a lease's life now, by the database's clock.
func (f *fleet) makeDue(lease string) {
	f.t.Helper()
	conn, err := pgx.Connect(f.t.Context(), f.dsn)
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(f.t.Context()))
	if _, err := conn.Exec(f.t.Context(), `UPDATE leases SET expires_at = now() WHERE id = $1`, lease); err != nil {
		f.t.Fatal(err)
	}
}

// eventually tries check, first often and then less so, until it returns nil.
func eventually(t testing.TB, what string, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			t.Fatalf("waiting until %s: %v", what, errors.Join(err, ctx.Err()))
		}
	}
}

// answered asks until there is an answer: whoever does not answer, or is of no use for now, is asked again, and any other
// error ends the test.
func answered(t testing.TB, what string, ask func(context.Context) error) {
	t.Helper()
	eventually(t, what, func(ctx context.Context) error {
		err := ask(ctx)
		if err != nil && !passes(err) {
			t.Fatalf("waiting until %s: %v", what, err)
		}
		return err
	})
}

// passes reports whether an error, of a replica or of what it stands on, is one of now.
func passes(err error) bool {
	switch client.Status(err) {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	var unheard *url.Error
	return errors.As(err, &unheard) || errors.Is(err, broker.ErrUnreachable) || errors.Is(err, broker.ErrUnavailable)
}
