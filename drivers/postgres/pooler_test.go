package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// dropSettings has PgBouncer accept the settings of a session and drop them.
const dropSettings = "ignore_startup_parameters = lock_timeout,statement_timeout,idle_in_transaction_session_timeout"

// TestPooler opens a store through PgBouncer: in session mode, with the settings on the role, all goes;
// otherwise it is refused with what to do.
func TestPooler(t *testing.T) {
	server := real.OwnPostgres(t)
	dsn := server.DSN(t)
	refused := func(mode, more, want string) {
		t.Helper()
		_, err := postgres.Open(t.Context(), postgres.Options{DSN: secret.NewText(server.Pooler(t, dsn, mode, more)), Migrate: true})
		var e *broker.Error
		if !errors.As(err, &e) || !strings.Contains(e.Detail, want) || e.Remedy == "" {
			t.Errorf("Open through a pooler in %s mode (%s) = %v, want that %s, and what to do", mode, more, err, want)
		}
	}
	refused("session", "", "refuses the settings")
	refused("session", dropSettings, "has dropped the setting")
	for _, setting := range []string{"lock_timeout = 10000", "statement_timeout = 15000", "idle_in_transaction_session_timeout = 4000"} {
		server.Exec(t, "", "ALTER ROLE vimbroker SET "+setting)
	}
	refused("transaction", dropSettings, "between two transactions")
	refused("statement", dropSettings, "")

	s := mustOpen(t, server.Pooler(t, dsn, "session", dropSettings))
	if err := s.CreateVIM(t.Context(), registered("v", "core"), 0, entry); err != nil {
		t.Fatal(err)
	}
	wantWell(t, "through a pooler in session mode", s)
	// The queue listens on a connection of its own, and a job begins when it is told.
	ctx, stop := context.WithCancel(t.Context())
	worked, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- s.Run(ctx, nil, testlog.Silent(t), job.Worker{Kind: "lcm", AtOnce: 1, Work: func(_ context.Context, subject string) error {
			worked <- subject
			return nil
		}})
	}()
	if err := s.Enqueue(t.Context(), entry, job.Job{Kind: "lcm", Subject: "7d0c"}); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-worked:
		if got != "7d0c" {
			t.Errorf("worked %q", got)
		}
	case <-time.After(time.Minute):
		t.Error("no job is worked")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
