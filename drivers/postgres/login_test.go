package postgres_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/test/real"
)

// The connection string is read again before each connection. One that cannot be used, or
// that leads elsewhere, leaves the one before.
func TestTheLoginIsReadAgain(t *testing.T) {
	db := real.OwnPostgres(t)
	first := db.DSN(t)
	other := db.DSN(t)
	second := strings.Replace(first, real.PostgresRolePassword, "canary-of-the-new-login", 1)
	var now atomic.Pointer[string]
	give := func(dsn string) { now.Store(&dsn) }
	give(first)
	s, err := postgres.Open(t.Context(), postgres.Options{DSN: secret.NewText(first), Migrate: true, Reread: func() (secret.Text, error) {
		if text := *now.Load(); text != "" {
			return secret.NewText(text), nil
		}
		return secret.Text{}, errors.New("no file")
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.CreateVIM(t.Context(), registered("v", "core"), 0, entry); err != nil {
		t.Fatal(err)
	}
	anew := func() {
		db.Exec(t, "", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'vimbroker'")
	}
	wantWell(t, "at first", s)

	db.Exec(t, "", "ALTER ROLE vimbroker PASSWORD 'canary-of-the-new-login'")
	anew()
	wantUnavailable(t, "with the password of before", s, soon)
	if err := s.TryLogin(t.Context()); !errors.Is(err, broker.ErrUnavailable) || !strings.Contains(err.Error(), "refuses the password") {
		t.Errorf("TryLogin() with the password of before = %v", err)
	}
	give(second)
	if err := s.TryLogin(t.Context()); err != nil {
		t.Errorf("TryLogin() = %v", err)
	}
	wantWell(t, "with the new password", s)
	for what, dsn := range map[string]string{
		"no file": "", "no connection string": "nonsense", "another database": strings.Replace(other, real.PostgresRolePassword, "canary-of-the-new-login", 1),
	} {
		give(dsn)
		anew()
		wantWell(t, what, s)
		err := s.TryLogin(t.Context())
		if err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: TryLogin() = %v, want an error without the password", what, err)
		}
	}
	o := func(dsn string) postgres.Options { return postgres.Options{DSN: secret.NewText(dsn)} }
	if !postgres.SameDatabase(o(first), o(second)) || postgres.SameDatabase(o(first), o(other)) {
		t.Error("two logins to one database are not the same, or two databases are")
	}
}
