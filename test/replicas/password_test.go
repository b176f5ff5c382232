package replicas

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vimbroker/vimbroker/test/real"
)

// reload gives every replica another connection string, tells them, and waits until each
// log says what it wants.
func (f *fleet) reload(password, want string) {
	f.t.Helper()
	for _, r := range f.replicas {
		file := filepath.Join(r.dir, "dsn")
		text, err := os.ReadFile(file)
		if err != nil {
			f.t.Fatal(err)
		}
		u, err := url.Parse(strings.TrimSpace(string(text)))
		if err != nil {
			f.t.Fatal("the connection string is no URL")
		}
		u.User = url.UserPassword(u.User.Username(), password)
		f.write(file, u.String()+"\n")
		r.signal(syscall.SIGHUP)
		eventually(f.t, "the log says "+want, func(context.Context) error {
			log, err := os.ReadFile(r.broker.File)
			if err == nil && !strings.Contains(string(log), want) {
				err = errors.New("it does not yet")
			}
			return err
		})
	}
}

// TestDatabasePasswordChanged changes the password of the database's role under load.
// Each server takes it up from its file, and says so; nobody is restarted.
func TestDatabasePasswordChanged(t *testing.T) {
	t.Parallel()
	demand(t)
	db := real.OwnPostgres(t)
	f := newFleet(t, db)
	l := f.begin()
	l.more(enough)
	const password, wrong = "another-canary-of-the-role", "a-wrong-canary-of-the-role"
	db.Exec(t, "", "ALTER ROLE vimbroker PASSWORD '"+password+"'")
	f.reload(password, `"changed":["database.postgres.dsnFile"]`)
	f.dsn = strings.Replace(f.dsn, real.PostgresRolePassword, password, 1)
	// Connections of before would go on: only new ones prove anything.
	db.Exec(t, "", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'vimbroker'")
	l.more(enough)
	for _, r := range f.replicas {
		r.ready()
	}
	f.reload(wrong, "the database does not take the new connection string")
	l.more(enough) // by the connections that there are
	f.reload(password, `"changed":["database.postgres.dsnFile"]`)
	for _, r := range f.replicas {
		r.ready()
		log, err := os.ReadFile(r.broker.File)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{password, wrong, real.PostgresRolePassword} {
			if strings.Contains(string(log), secret) {
				t.Error("the log holds a password of the database")
			}
		}
		if strings.Contains(string(log), "need a restart") {
			t.Error("a reload asks for a restart")
		}
	}
	l.end()
	l.prove()
}
