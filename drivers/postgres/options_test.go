package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/test/real"
)

func TestOptionsThatCannotBeMeant(t *testing.T) {
	const canary = "pa55word-canary"
	for _, key := range []string{"PGSSLMODE", "PGHOST", "PGSERVICE"} {
		t.Setenv(key, "")
	}
	for what, c := range map[string]struct {
		dsn   string
		conns int
		want  string // empty: well
	}{
		"none":                      {"", 0, "no database"},
		"a URL that is none":        {"postgres://u:" + canary + "@[::1:5432/db", 0, "connection string"},
		"a bad port":                {"postgres://u:" + canary + "@db:port/db", 0, "connection string"},
		"words":                     {"password " + canary, 0, "connection string"},
		"no word on TLS":            {"postgres://u:" + canary + "@db.example/db", 0, "sslmode"},
		"prefer":                    {"postgres://u:" + canary + "@db.example/db?sslmode=prefer", 0, "sslmode"},
		"allow, as pairs":           {"host=db.example user=u password=" + canary + " sslmode=allow", 0, "sslmode"},
		"prefer, on a second host":  {"postgres://u:" + canary + "@127.0.0.1,db.example/db", 0, "sslmode"},
		"too few connections":       {"postgres://u:" + canary + "@127.0.0.1/db", 7, "maxConns"},
		"loopback":                  {"postgres://u:" + canary + "@127.0.0.1/db", 8, ""},
		"a socket":                  {"host=/var/run/postgresql user=u password=" + canary, 0, ""},
		"verify-full":               {"postgres://u:" + canary + "@db.example/db?sslmode=verify-full", 0, ""},
		"plain, in so many words":   {"postgres://u:" + canary + "@db.example/db?sslmode=disable", 0, ""},
		"require, on several hosts": {"postgres://u:" + canary + "@a.example,b.example/db?sslmode=require", 0, ""},
	} {
		err := postgres.Options{DSN: secret.NewText(c.dsn), MaxConns: c.conns}.Validate()
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s = %v, want it accepted", what, err)
		case c.want != "" && (!errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s = %v, want ErrInvalid that says %q", what, err, c.want)
		case err != nil && strings.Contains(err.Error(), canary):
			t.Errorf("%s tells the password: %v", what, err)
		}
	}
}

func TestOpenFailures(t *testing.T) {
	server := real.Postgres(t)
	dsn := server.DSN(t)
	other := real.OwnPostgres(t)
	for what, c := range map[string]struct {
		dsn  string
		want error
	}{
		"nobody listens":            {"postgres://u:" + real.PostgresRolePassword + "@127.0.0.1:1/db?sslmode=disable", broker.ErrUnavailable},
		"a wrong password":          {strings.Replace(dsn, real.PostgresRolePassword, real.PostgresRolePassword+"-x", 1), broker.ErrUnavailable},
		"a database that is not":    {strings.Replace(dsn, "/broker", "/nobroker", 1), broker.ErrUnavailable},
		"another authority":         {strings.Replace(other.Secure(dsn), "verify-full", "verify-ca", 1), broker.ErrUnavailable},
		"a name that is not theirs": {strings.Replace(server.Secure(dsn), "127.0.0.1", "127.0.0.2", 1), broker.ErrUnavailable},
		"a schema that is not":      {dsn, broker.ErrUnsupported},
	} {
		s, err := postgres.Open(t.Context(), postgres.Options{DSN: secret.NewText(c.dsn)})
		if !errors.Is(err, c.want) {
			t.Errorf("Open with %s = %v (%s), want %v", what, err, cause(err), c.want)
		}
		if err == nil {
			_ = s.Close()
		} else if strings.Contains(err.Error()+cause(err), real.PostgresRolePassword) {
			t.Errorf("Open with %s tells the password: %v", what, err)
		}
	}
	s := mustOpen(t, server.Secure(dsn))
	if err := s.Check(t.Context(), broker.Replica{}); err != nil {
		t.Errorf("Check over TLS = %v", err)
	}
}
