package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/real"
)

// soon is how long a store may take to say that it is unavailable, where the
// database says so itself or nobody listens; the machine may be busy.
const soon = 15 * time.Second

// wantUnavailable asks a store to read and to write.
func wantUnavailable(t *testing.T, when string, s *postgres.Store, within time.Duration) {
	t.Helper()
	for what, f := range map[string]func() error{
		"Check":  func() error { return s.Check(t.Context(), broker.Replica{}) },
		"Append": func() error { return s.Append(t.Context(), entry) },
		"VIM": func() error {
			_, err := s.VIM(t.Context(), "v")
			return err
		},
	} {
		begin := time.Now()
		err := f()
		if took := time.Since(begin); !errors.Is(err, broker.ErrUnavailable) || took > within {
			t.Errorf("%s: %s = %v after %v, want ErrUnavailable within %v", when, what, err, took, within)
		}
		if err != nil && strings.Contains(err.Error(), real.PostgresRolePassword) {
			t.Errorf("%s: %s tells the password: %v", when, what, err)
		}
	}
}

// use reads and writes, all together: no connection of before may be in the way.
func use(t *testing.T, s *postgres.Store) error {
	t.Helper()
	var all errgroup.Group
	for range 20 {
		all.Go(func() error {
			if _, err := s.VIM(t.Context(), "v"); err != nil {
				return err
			}
			return s.Append(t.Context(), entry)
		})
	}
	return errors.Join(all.Wait(), s.Check(t.Context(), broker.Replica{}))
}

func wantWell(t *testing.T, when string, s *postgres.Store) {
	t.Helper()
	if err := postgres.InTime(func() error { return use(t, s) }); err != nil {
		t.Errorf("%s: %v (%s)", when, err, cause(err))
	}
}

func TestOutages(t *testing.T) {
	server := real.OwnPostgres(t)
	dsn := server.DSN(t)
	database := dsn[strings.LastIndex(dsn, "/")+1 : strings.LastIndex(dsn, "?")]
	s := mustOpen(t, dsn)
	if err := s.CreateVIM(t.Context(), registered("v", "core"), 0, entry); err != nil {
		t.Fatal(err)
	}
	wantWell(t, "at first", s)

	server.Restart(t)
	wantWell(t, "after a restart", s)

	server.Crash()
	wantUnavailable(t, "while the server is down", s, soon)
	server.Start(t)
	wantWell(t, "after a crash", s)

	server.Exec(t, "", `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'vimbroker'`)
	wantWell(t, "after an administrator ended all connections", s)

	server.Exec(t, "", `ALTER DATABASE `+database+` SET default_transaction_read_only = on`)
	server.Exec(t, "", `ALTER ROLE vimbroker CONNECTION LIMIT 0`)
	server.Exec(t, "", `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'vimbroker'`)
	wantUnavailable(t, "while there are too many connections", s, soon)
	server.Exec(t, "", `ALTER ROLE vimbroker CONNECTION LIMIT -1`)
	wantWell(t, "after that", s) // a write says itself that it writes
	server.Exec(t, "", `ALTER DATABASE `+database+` RESET default_transaction_read_only`)

	// What a full disk, a failed one and a standby say.
	for code, rule := range map[string]string{
		"53100": "disk_full", "53200": "out_of_memory", "58030": "io_error", "25006": "read_only_sql_transaction", "57P04": "database_dropped",
	} {
		server.Exec(t, database, `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '`+rule+`' USING ERRCODE = '`+code+`'; END $$;
			CREATE TRIGGER fail BEFORE INSERT OR UPDATE ON replicas FOR EACH ROW EXECUTE FUNCTION fail();
			CREATE TRIGGER fail BEFORE INSERT ON audit_inbox FOR EACH ROW EXECUTE FUNCTION fail()`)
		if err := s.Check(t.Context(), broker.Replica{}); !errors.Is(err, broker.ErrUnavailable) {
			t.Errorf("Check with %s = %v, want ErrUnavailable", rule, err)
		}
		if err := s.Append(t.Context(), entry); !errors.Is(err, broker.ErrUnavailable) {
			t.Errorf("Append with %s = %v, want ErrUnavailable", rule, err)
		} else if want := code[:2] == "53" || code[:2] == "25"; errors.Is(err, broker.ErrNoWrites) != want || errors.Is(s.Refusal(), broker.ErrNoWrites) != want {
			t.Errorf("Append with %s = %v, Refusal = %v, want ErrNoWrites: %t", rule, err, s.Refusal(), want)
		}
		if v, err := s.VIM(t.Context(), "v"); err != nil || v.ID != "v" {
			t.Errorf("VIM with %s = %s, %v", rule, v.ID, err)
		}
		server.Exec(t, database, `DROP FUNCTION fail CASCADE`)
		if err := s.Check(t.Context(), broker.Replica{}); err != nil || s.Refusal() != nil {
			t.Errorf("Check after %s = %v, Refusal = %v", rule, err, s.Refusal())
		}
	}
	wantWell(t, "with space on the disk", s)

	conformance.VerifyLog(t, s)
}

// cause is all that an error was caused by, in one text.
func cause(err error) string {
	var e *broker.Error
	if errors.As(err, &e) && e.Cause != nil {
		return e.Cause.Error()
	}
	return ""
}

func allEntries(t *testing.T, s *postgres.Store) []audit.Entry {
	t.Helper()
	all, err := s.Entries(t.Context(), audit.Query{Limit: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// TestPausedServer stops the database without ending it, as a machine does that
// hangs: calls end in bounded time, their callers' first, and go on after it.
func TestPausedServer(t *testing.T) {
	server := real.OwnPostgres(t)
	s := mustOpen(t, server.DSN(t))
	if err := s.CreateVIM(t.Context(), registered("v", "core"), 0, entry); err != nil {
		t.Fatal(err)
	}
	server.Pause(t)
	impatient, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if err := s.Append(impatient, entry); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > soon {
		t.Errorf("Append with a context of 200 ms = %v after %v, want its error then", err, time.Since(begin))
	}
	wantUnavailable(t, "while the server hangs", s, 35*time.Second)
	server.Resume(t)
	wantWell(t, "when it goes on", s)
}

// TestAcknowledgedWritesSurvive crashes the database in the middle of many writes:
// what was acknowledged is there, and the chain is whole.
func TestAcknowledgedWritesSurvive(t *testing.T) {
	server := real.OwnPostgres(t)
	s := mustOpen(t, server.DSN(t))
	var mu sync.Mutex
	stored := map[string]bool{}
	enough := make(chan struct{})
	var once sync.Once
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for ctx.Err() == nil {
				e := entry
				e.Resource = uuid.NewString()
				if err := s.Append(ctx, e); err != nil {
					continue
				}
				mu.Lock()
				stored[e.Resource] = true
				if len(stored) == 300 {
					once.Do(func() { close(enough) })
				}
				mu.Unlock()
			}
		})
	}
	<-enough
	server.Crash()
	stop()
	writers.Wait()
	server.Start(t)
	all := allEntries(t, s)
	conformance.VerifyLog(t, s)
	for _, e := range all {
		delete(stored, e.Resource)
	}
	if len(stored) > 0 {
		t.Errorf("%d acknowledged entries are lost", len(stored))
	}
}
