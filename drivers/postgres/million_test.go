package postgres

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/real"
)

// rowsToMigrate is the environment variable that says how many leases TestManyRowsAreMigrated migrates.
const rowsToMigrate = "VIMBROKER_LEASES"

// writing is how long statements of writers took.
type writing struct {
	mu   sync.Mutex
	took []time.Duration
}

func (w *writing) note(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.took = append(w.took, d)
}

// since is what was noted since the last time: how many, half of them, 99 in 100, and the slowest.
func (w *writing) since() (n int, p50, p99, slowest time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.Sort(w.took)
	if n = len(w.took); n > 0 {
		p50, p99, slowest = w.took[n/2], w.took[n*99/100], w.took[n-1]
	}
	w.took = nil
	return n, p50, p99, slowest
}

// TestManyRowsAreMigrated migrates a database with leases of years, from the first schema whose migrations are to
// keep nobody waiting, while callers write: "make test-million" does so with a million. One in twenty is live.
func TestManyRowsAreMigrated(t *testing.T) {
	many, err := strconv.Atoi(os.Getenv(rowsToMigrate))
	if err != nil || many <= 0 {
		t.Skipf("minutes of work on a million rows: make test-million (%s)", rowsToMigrate)
	}
	db := real.OwnPostgres(t, "shared_buffers=512MB", "maintenance_work_mem=128MB", "max_wal_size=8GB")
	o := Options{DSN: secret.NewText(db.DSN(t))}
	s, err := connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.migrateBefore(t, "_vnf_drift.sql")
	live := many / 20
	began := time.Now()
	if err := pgx.BeginFunc(t.Context(), s.pool, func(tx pgx.Tx) error {
		for _, text := range []string{
			`SET LOCAL statement_timeout = 0`, `ALTER TABLE leases DISABLE TRIGGER USER`,
			fmt.Sprintf(`PREPARE more AS %s`, addLeases), fmt.Sprintf(`EXECUTE more('old-', %d)`, many), `DEALLOCATE more`,
			`UPDATE leases SET state = 'revoked', revoked_at = '2030-01-01', sealed = '' WHERE substr(id, 5)::int % 20 <> 0`,
			`ALTER TABLE leases ENABLE TRIGGER USER`,
			fmt.Sprintf(`UPDATE lease_census SET n = %d WHERE state = 'active'`, live),
			fmt.Sprintf(`UPDATE lease_census SET n = %d WHERE state = 'revoked'`, many-live),
			fmt.Sprintf(`INSERT INTO lease_grades (grade, n) VALUES ('', %d)`, live),
			`INSERT INTO lease_live_counts (whose, name, n) SELECT 'vim', vim, count(*) FROM leases WHERE state = 'active' GROUP BY vim`,
			fmt.Sprintf(`INSERT INTO lease_live_counts (whose, name, n) VALUES ('principal', 'alice', %d), ('project', 'north', %d)`, live, live),
		} {
			if _, err := tx.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
				return fmt.Errorf("%.60s: %w", text, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.pool.Exec(t.Context(), `VACUUM ANALYZE leases`); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d leases stored in %v", many, time.Since(began))

	const writers = 4
	var w writing
	var group sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for writer := range writers {
		group.Go(func() {
			for n := writer * 20; ctx.Err() == nil; n += writers * 20 {
				id := fmt.Sprintf("old-%d", n%many)
				for _, call := range []struct {
					text string
					args []any
				}{
					{`UPDATE leases SET state = 'revoking' WHERE id = $1 AND state = 'active'`, []any{id}},
					{`UPDATE leases SET state = 'revoked', revoked_at = '2030-01-01' WHERE id = $1 AND state = 'revoking'`, []any{id}},
					{`UPDATE leases SET sealed = '' WHERE id = $1 AND state = 'revoked'`, []any{id}},
					{addLeases, []any{fmt.Sprintf("new-%d-%d-", writer, n), 1}},
				} {
					began := time.Now()
					if _, err := s.pool.Exec(t.Context(), call.text, call.args...); err != nil {
						t.Errorf("%.40s: %v", call.text, err)
					}
					w.note(time.Since(began))
				}
			}
		})
	}
	defer group.Wait()
	defer stop()
	// A wait for a lock of a migration's ends after migrationLocks.
	const most = migrationLocks + time.Second
	step := func(what string, do func() error) {
		began := time.Now()
		err := do()
		n, p50, p99, slowest := w.since()
		t.Logf("%s: %v, with %d writes beside it: p50 %v, p99 %v, slowest %v", what, time.Since(began), n, p50, p99, slowest)
		if err != nil || n == 0 || slowest > most {
			t.Errorf("%s: %v, %d writes, the slowest took %v, want at most %v", what, err, n, slowest, most)
		}
	}
	step("nothing", func() error {
		select {
		case <-time.After(5 * time.Second):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	step("migrating", func() error {
		_, err := s.migrate(t.Context(), released())
		return err
	})
	step("finishing", func() error { return Finish(t.Context(), o) })
	stop()
	group.Wait()
	s.followed(t, "migrated")
}
