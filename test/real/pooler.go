package real

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/vimbroker/vimbroker/test/process"
)

// Pooler starts PgBouncer before the server, in a pool mode and with further lines of configuration, and
// returns the connection string that goes through it. It stops with the test.
func (s *PostgresServer) Pooler(t testing.TB, dsn, mode, more string) string {
	t.Helper()
	program := demand(t, "PgBouncer", func() (string, error) {
		for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
			if path, err := exec.LookPath(name); err == nil {
				return path, nil
			}
		}
		return "", fmt.Errorf("%w: pgbouncer; install it with test/real/postgres/install.sh", errNoPrograms)
	})
	through, err := url.Parse(dsn)
	if err != nil {
		t.Fatal("not a connection string of ours")
	}
	err = process.OnFreePorts(t.Context(), 1, process.TempDir(t, "vimbroker-pool-"), func(home string, ports []int) error {
		pooler := &PostgresServer{Dir: home}
		for name, text := range map[string]string{
			"users.txt": fmt.Sprintf("%q %q\n", "vimbroker", PostgresRolePassword),
			"pooler.ini": fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%d\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\n"+
				"unix_socket_dir =\nauth_type = plain\nauth_file = %s\npool_mode = %s\ndefault_pool_size = 60\n%s\n",
				s.Port, ports[0], pooler.file("users.txt"), mode, more),
			"server.crt": "", "server.key": "", "password": "",
		} {
			if err := os.WriteFile(pooler.file(name), []byte(text), 0o644); err != nil { //nolint:gosec // for its own user to read
				return err
			}
		}
		if err := pooler.giveAway(); err != nil {
			return err
		}
		command := pooler.command("", pooler.file("pooler.ini"))
		command[len(command)-2] = program
		p, err := start(home, command[0], command[1:]...)
		if err != nil {
			return err
		}
		t.Cleanup(p.Kill)
		through.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[0]))
		return p.Await(t.Context(), func(ctx context.Context) error {
			c, err := new(net.Dialer).DialContext(ctx, "tcp", through.Host)
			if err != nil {
				return err
			}
			return c.Close()
		})
	})
	if err != nil {
		t.Fatalf("starting PgBouncer: %v", err)
	}
	return through.String()
}
