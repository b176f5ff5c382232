package real

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

// PostgresServer is a running PostgreSQL of one's own: TLS, passwords, and an
// ordinary role that owns the databases. Its methods are safe for concurrent use,
// but Restart, Crash, Pause and Stop disturb everyone who uses it.
type PostgresServer struct {
	// Dir is where everything of it lies.
	Dir string
	// CAFile holds the authority of its certificate, which is for localhost and 127.0.0.1.
	CAFile string
	// Port is where it listens, on 127.0.0.1.
	Port int

	programs string
	settings []string
	server   *process.Process
}

// Passwords of the superuser "postgres" and of the role "vimbroker".
const (
	PostgresPassword = "only-on-loopback"
	// PostgresRolePassword is in every connection string of [PostgresServer.DSN].
	PostgresRolePassword = "canary-password-of-the-role"
)

var (
	sharedPostgres shared[*PostgresServer]
	databases      atomic.Int64 // made so far, for their names
)

// Postgres returns the server that all tests of this process share, and starts it
// for the first; it does not wait for the disk. Tests keep apart by [PostgresServer.DSN].
// Where there are no programs to start, the test is skipped or fails: see [Demand].
// The package's TestMain calls [Main].
func Postgres(t testing.TB) *PostgresServer {
	t.Helper()
	programs := demand(t, "PostgreSQL", postgresPrograms)
	return sharedPostgres.get(t, "PostgreSQL", "vimbroker-pg-", func(ctx context.Context, dir string) (*PostgresServer, error) {
		return startPostgres(ctx, programs, dir, "fsync=off", "full_page_writes=off")
	})
}

// OwnPostgres starts a server for one test, which may disturb it, and stops it
// when the test ends. It waits for the disk. Settings are like "log_statement=all".
func OwnPostgres(t testing.TB, settings ...string) *PostgresServer {
	t.Helper()
	programs := demand(t, "PostgreSQL", postgresPrograms)
	s, err := startPostgres(t.Context(), programs, process.TempDir(t, "vimbroker-pg-"), settings...)
	if err != nil {
		t.Fatalf("starting PostgreSQL: %v", err)
	}
	t.Cleanup(s.Stop)
	return s
}

// PostgresProgram is the path of one of PostgreSQL's programs, of the version that the tests start.
func PostgresProgram(t testing.TB, name string) string {
	t.Helper()
	return filepath.Join(demand(t, "PostgreSQL", postgresPrograms), name)
}

// postgresPrograms finds the directory of initdb and postgres: that of Debian's
// package, or of what stands in the path.
func postgresPrograms() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // errs only for a malformed pattern
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	if program, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(program), nil
	}
	return "", fmt.Errorf("%w: initdb in /usr/lib/postgresql or the path; install PostgreSQL with test/real/postgres/install.sh", errNoPrograms)
}

func startPostgres(ctx context.Context, programs, dir string, settings ...string) (*PostgresServer, error) {
	var s *PostgresServer
	return s, process.OnFreePorts(ctx, 1, dir, func(home string, ports []int) error {
		s = &PostgresServer{Dir: home, programs: programs, settings: settings, CAFile: filepath.Join(dir, "ca.crt"), Port: ports[0]}
		err := s.prepare(ctx)
		if err != nil {
			s.Stop()
		}
		return err
	})
}

func (s *PostgresServer) prepare(ctx context.Context) error {
	ca, err := pki.NewCA("test database CA")
	if err != nil {
		return err
	}
	server, err := ca.Server("127.0.0.1", "localhost")
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		s.CAFile: ca.PEM, s.file("server.crt"): server.Cert, s.file("server.key"): server.Key, s.file("password"): []byte(PostgresPassword),
	} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	if err := s.giveAway(); err != nil {
		return err
	}
	initdb := s.command("initdb", "--pgdata="+s.file("data"), "--username=postgres", "--pwfile="+s.file("password"),
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	c := exec.CommandContext(ctx, initdb[0], initdb[1:]...)
	c.Dir = s.Dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("running initdb: %w: %s", err, out)
	}
	if err := s.run(ctx); err != nil {
		return err
	}
	return s.as(ctx, "postgres", "CREATE ROLE vimbroker LOGIN PASSWORD '"+PostgresRolePassword+"'")
}

// Standby starts a streaming standby of the server, a base backup of it at first, and stops it when the test
// ends. The server waits for it before it acknowledges a write.
func (s *PostgresServer) Standby(t *testing.T) *PostgresServer {
	t.Helper()
	standby := s.startCopy(t, "--write-recovery-conf")
	s.Exec(t, "", "ALTER SYSTEM SET synchronous_standby_names = '*'")
	s.Exec(t, "", "SELECT pg_reload_conf()")
	if !Poll(t, time.Minute, func() bool {
		return s.as(t.Context(), "postgres", "SELECT 1 / count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == nil
	}) {
		t.Fatal("the standby does not become a synchronous one")
	}
	return standby
}

// Restored starts another server on a base backup that is taken now, and stops it when the test ends.
func (s *PostgresServer) Restored(t *testing.T) *PostgresServer {
	t.Helper()
	return s.startCopy(t)
}

func (s *PostgresServer) startCopy(t *testing.T, options ...string) *PostgresServer {
	t.Helper()
	var other *PostgresServer
	err := process.OnFreePorts(t.Context(), 1, process.TempDir(t, "vimbroker-pg-"), func(home string, ports []int) error {
		other = &PostgresServer{Dir: home, programs: s.programs, settings: s.settings, CAFile: s.CAFile, Port: ports[0]}
		if err := s.copyTo(t.Context(), other, options...); err != nil {
			return err
		}
		err := other.run(t.Context())
		if err != nil {
			other.Stop()
		}
		return err
	})
	if err != nil {
		t.Fatalf("starting a copy of PostgreSQL: %v", err)
	}
	t.Cleanup(other.Stop)
	return other
}

// copyTo makes a base backup of the server the data of another one.
func (s *PostgresServer) copyTo(ctx context.Context, other *PostgresServer, options ...string) error {
	for _, name := range []string{"server.crt", "server.key", "password"} {
		text, err := os.ReadFile(s.file(name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(other.file(name), text, 0o600); err != nil {
			return err
		}
	}
	if err := other.giveAway(); err != nil {
		return err
	}
	from := fmt.Sprintf("host=127.0.0.1 port=%d user=postgres password=%s", s.Port, PostgresPassword)
	backup := other.command("pg_basebackup", append([]string{
		"--pgdata=" + other.file("data"), "--dbname=" + from, "--wal-method=stream", "--checkpoint=fast", "--no-sync",
	}, options...)...)
	c := exec.CommandContext(ctx, backup[0], backup[1:]...)
	c.Dir = other.Dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("running pg_basebackup: %w: %s", err, out)
	}
	return nil
}

// Promote ends that the server is a standby.
func (s *PostgresServer) Promote(t testing.TB) {
	t.Helper()
	s.Exec(t, "", "SELECT pg_promote()")
}

// Either is a connection string that leads to whichever of the server and another one takes writes.
func (s *PostgresServer) Either(dsn string, other *PostgresServer) string {
	u, err := url.Parse(dsn)
	if err != nil {
		panic("not a connection string of ours")
	}
	u.Host += fmt.Sprintf(",127.0.0.1:%d", other.Port)
	q := u.Query()
	q.Set("target_session_attrs", "read-write")
	u.RawQuery = q.Encode()
	return u.String()
}

// giveAway makes the files those of the user "postgres" where we are root, as whom
// PostgreSQL does not run.
func (s *PostgresServer) giveAway() error {
	if os.Geteuid() != 0 {
		return nil
	}
	owner, err := user.Lookup("postgres")
	if err != nil {
		return fmt.Errorf("finding the user that PostgreSQL runs as: %w", err)
	}
	uid, _ := strconv.Atoi(owner.Uid) // numbers on every system that this runs on
	gid, _ := strconv.Atoi(owner.Gid)
	if err := os.Chmod(filepath.Dir(s.Dir), 0o711); err != nil { //nolint:gosec // its parts are 0700
		return err
	}
	for _, name := range []string{s.Dir, s.file("server.crt"), s.file("server.key"), s.file("password")} {
		if err := os.Chown(name, uid, gid); err != nil {
			return err
		}
	}
	return nil
}

// command is how to run a program of PostgreSQL, as another user if we are root.
func (s *PostgresServer) command(name string, args ...string) []string {
	command := append([]string{filepath.Join(s.programs, name)}, args...)
	if os.Geteuid() != 0 {
		return command
	}
	return append([]string{"/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--pdeathsig=KILL", "--"}, command...)
}

func (s *PostgresServer) run(ctx context.Context) error {
	args := []string{"-D", s.file("data")}
	for _, setting := range append([]string{
		"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(s.Port), "unix_socket_directories=" + s.Dir,
		"ssl=on", "ssl_cert_file=" + s.file("server.crt"), "ssl_key_file=" + s.file("server.key"),
		"max_connections=500", "shared_buffers=64MB",
	}, s.settings...) {
		args = append(args, "-c", setting)
	}
	command := s.command("postgres", args...)
	var err error
	if s.server, err = start(s.Dir, command[0], command[1:]...); err != nil {
		return err
	}
	return s.server.Await(ctx, func(ctx context.Context) error { return s.as(ctx, "postgres", "SELECT 1") })
}

// Exec runs statements in a database as the superuser; empty names "postgres".
func (s *PostgresServer) Exec(t testing.TB, database, text string) {
	t.Helper()
	if database == "" {
		database = "postgres"
	}
	if err := s.as(t.Context(), database, text); err != nil {
		t.Fatal(err)
	}
}

func (s *PostgresServer) as(ctx context.Context, database, text string) error {
	ctx, cancel := context.WithTimeout(ctx, process.Patience)
	defer cancel()
	c, err := pgx.ParseConfig(s.address("postgres", PostgresPassword, database, "disable"))
	if err != nil {
		return fmt.Errorf("addressing PostgreSQL: %w", err)
	}
	// What the tests themselves do is not for the log that they look through.
	c.RuntimeParams["log_statement"], c.RuntimeParams["log_min_error_statement"] = "none", "panic"
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("asking PostgreSQL: %w", err)
	}
	return nil
}

// DSN makes an empty database, owned by the role "vimbroker", and returns its
// connection string. The database goes with the test.
func (s *PostgresServer) DSN(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("broker%d", databases.Add(1))
	s.Exec(t, "", "CREATE DATABASE "+name+" OWNER vimbroker STRATEGY file_copy")
	t.Cleanup(func() {
		// Fails if the test stopped the server; its files are removed in any case.
		_ = s.as(context.WithoutCancel(t.Context()), "postgres", "DROP DATABASE "+name+" WITH (FORCE)")
	})
	return s.address("vimbroker", PostgresRolePassword, name, "disable")
}

// Secure is a connection string with TLS, for one without.
func (s *PostgresServer) Secure(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		panic("not a connection string of ours")
	}
	u.RawQuery = url.Values{"sslmode": {"verify-full"}, "sslrootcert": {s.CAFile}}.Encode()
	return u.String()
}

func (s *PostgresServer) address(name, password, database, sslmode string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(name, password), Host: "127.0.0.1:" + strconv.Itoa(s.Port), Path: database,
		RawQuery: url.Values{"sslmode": {sslmode}}.Encode(),
	}
	return u.String()
}

// Log is what the server has logged so far.
func (s *PostgresServer) Log(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(s.server.File)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Restart ends all connections, stops the server and starts it again.
func (s *PostgresServer) Restart(t testing.TB) {
	t.Helper()
	s.end(syscall.SIGINT)
	s.Start(t)
}

// Crash ends the server and what works for it at once, as a power failure would.
func (s *PostgresServer) Crash() { s.end(syscall.SIGQUIT) }

// Kill ends the server and what works for it by SIGKILL: nothing of it says goodbye.
func (s *PostgresServer) Kill(t testing.TB) {
	t.Helper()
	s.signalAll(t, syscall.SIGKILL)
	s.end(syscall.SIGKILL)
}

// Start starts a server that was stopped or crashed, and waits until it answers.
func (s *PostgresServer) Start(t testing.TB) {
	t.Helper()
	if err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Pause stops the server's processes without ending them, until Resume.
func (s *PostgresServer) Pause(t testing.TB) { s.signalAll(t, syscall.SIGSTOP) }

// Resume lets them go on.
func (s *PostgresServer) Resume(t testing.TB) { s.signalAll(t, syscall.SIGCONT) }

// signalAll reaches the children too, which are in groups of their own.
func (s *PostgresServer) signalAll(t testing.TB, sig syscall.Signal) {
	t.Helper()
	pid := s.server.PID()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatalf("finding the processes of PostgreSQL: %v", err)
	}
	_ = s.server.Signal(sig)
	for field := range strings.FieldsSeq(string(children)) {
		if child, err := strconv.Atoi(field); err == nil {
			_ = syscall.Kill(child, sig)
		}
	}
}

// Stop ends the server. It may be called twice.
func (s *PostgresServer) Stop() { s.end(syscall.SIGINT) }

// end sends a signal that PostgreSQL ends on, and waits.
func (s *PostgresServer) end(sig syscall.Signal) {
	if s.server == nil {
		return
	}
	select {
	case <-s.server.Done:
		return
	default:
	}
	_ = s.server.Signal(sig)
	select {
	case <-s.server.Done:
	case <-time.After(process.Patience):
		s.server.Kill()
	}
}

func (s *PostgresServer) file(name string) string { return filepath.Join(s.Dir, name) }
