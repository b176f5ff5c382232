package postgres_test

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/real/pki"
	"github.com/vimbroker/vimbroker/test/story"
)

// Whatever keeps a server from its database is said with its cause and what to do about
// it, and without the password.
func TestFaultsOfOpeningNameCauseAndCure(t *testing.T) {
	s := real.Postgres(t)
	bare := real.OwnPostgres(t, "ssl=off")
	stranger, err := pki.NewCA("a stranger")
	if err != nil {
		t.Fatal(err)
	}
	foreign := story.WriteFile(t, "ca.pem", string(stranger.PEM), 0o600)
	dsn := s.DSN(t)
	s.Exec(t, "", "CREATE ROLE crowded LOGIN PASSWORD '"+real.PostgresRolePassword+"' CONNECTION LIMIT 0")
	changed := func(dsn string, change func(*url.URL)) string {
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal("not a connection string")
		}
		change(u)
		return u.String()
	}
	host := func(host string) func(*url.URL) { return func(u *url.URL) { u.Host = host } }
	query := func(values ...string) func(*url.URL) {
		return func(u *url.URL) { u.RawQuery = strings.Join(values, "&") }
	}
	user := func(name, password string) func(*url.URL) {
		return func(u *url.URL) { u.User = url.UserPassword(name, password) }
	}
	const wrong = "canary-of-a-wrong-password"
	for name, c := range map[string]struct{ dsn, cause, cure string }{
		"wrong password":  {changed(dsn, user("vimbroker", wrong)), "refuses the password", "into the connection string"},
		"no such role":    {changed(dsn, user("nobody", wrong)), "refuses the password", "into the connection string"},
		"no database":     {changed(dsn, func(u *url.URL) { u.Path = "/nothing" }), "there is no such database", "createdb"},
		"no connections":  {changed(dsn, user("crowded", real.PostgresRolePassword)), "no connection left", "max_connections"},
		"not running":     {changed(dsn, host(process.FreeAddress(t))), "refuses connections", "start it"},
		"no such host":    {changed(dsn, host("db.invalid")), "cannot be resolved", "correct the host"},
		"wrong authority": {changed(dsn, query("sslmode=verify-full", "sslrootcert="+foreign)), "certificate does not verify", "sslrootcert"},
		"no TLS":          {changed(bare.DSN(t), query("sslmode=require")), "offers no TLS", "turn ssl on"},
		"no authority":    {changed(dsn, query("sslmode=verify-full", "sslrootcert="+filepath.Join(t.TempDir(), "none"))), "sslrootcert", "no such file"},
		"no migration":    {dsn, "the database has schema 0", "migrate"},
	} {
		_, err := postgres.Open(t.Context(), postgres.Options{DSN: secret.NewText(c.dsn)})
		if got := fmt.Sprint(err); err == nil || !strings.Contains(got, c.cause) || !strings.Contains(got, c.cure) {
			t.Errorf("%s: %v, want %q and %q", name, err, c.cause, c.cure)
		}
		if got := fmt.Sprintf("%+v", err); strings.Contains(got, wrong) || strings.Contains(got, real.PostgresRolePassword) {
			t.Errorf("%s: the password is in the error", name)
		}
	}
}
