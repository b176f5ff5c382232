package postgres

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/rows"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/real"
)

// followed compares the narrow rows with the leases that they follow.
func (s *Store) followed(t *testing.T, when string) {
	t.Helper()
	const due = `lease_due(state, expires_at, next_attempt_at, sealed <> '')`
	for _, c := range []struct{ what, leases, rows string }{
		{
			"live leases",
			`SELECT concat_ws(' ', id, created_at, vim, vim_project, project, principal, vim_generation, epoch, grade, state)
				FROM leases WHERE state <> 'revoked'`,
			`SELECT concat_ws(' ', id, created_at, vim, vim_project, project, principal, vim_generation, epoch, grade, state)
				FROM live_leases`,
		},
		{
			"turns",
			`SELECT concat_ws(' ', ` + due + `, vim, id, vim_project, vim_generation) FROM leases WHERE ` + due + ` IS NOT NULL`,
			`SELECT concat_ws(' ', due_at, vim, id, vim_project, vim_generation) FROM lease_turns`,
		},
		{"ended leases", `SELECT count(*)::text FROM leases WHERE state = 'revoked'`, `SELECT sum(n)::text FROM ended_leases`},
	} {
		want, err := read(t.Context(), s, scalar[string], c.leases)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(t.Context(), s, scalar[string], c.rows)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s (-leases +rows):\n%s", when, c.what, diff)
		}
	}
}

// TestNarrowRowsFollowLeases walks leases through every move there is, and back, beside
// failed tries, new keys and the removal of what has ended. Each of what the rows follow also
// changes alone.
func TestNarrowRowsFollowLeases(t *testing.T) {
	s := withLease(t)
	vims, err := read(t.Context(), s, scalar[string], `SELECT id FROM vims`)
	if err != nil {
		t.Fatal(err)
	}
	done := audit.Entry{Time: time.Unix(1, 0), Outcome: audit.Done}
	states := []broker.LeaseState{broker.LeasePending, broker.LeaseActive, broker.LeaseRevoking, broker.LeaseIrrevocable, broker.LeaseRevoked}
	created := 0
	create := func() string {
		created++
		l, err := s.CreateLease(t.Context(), broker.Lease{
			ID: fmt.Sprint("moved-", created), VIM: vims[0], VIMGeneration: 1, Project: fmt.Sprint("project-", created%3),
			Principal: fmt.Sprint("principal-", created%4), CreatedAt: time.Unix(int64(created), 0),
		}, broker.Quota{PerPrincipal: 1000, PerVIM: 1000, PerProject: 1000}, done)
		if err != nil {
			t.Fatal(err)
		}
		return l.ID
	}
	move := func(id string, to broker.LeaseState, at int64) {
		t.Helper()
		if _, err := s.UpdateLease(t.Context(), id, func(l *broker.Lease) error {
			l.State, l.IssuedAt, l.ExpiresAt, l.NextAttemptAt = to, time.Unix(100, 0), time.Unix(at, 0), time.Unix(at+1, 0)
			if to == broker.LeaseRevoked {
				l.RevokedAt = time.Unix(300, 0)
			}
			return nil
		}, done); err != nil {
			t.Fatalf("to %s: %v", to, err)
		}
	}
	// Each state is reached by the shortest way, and left for each that there is.
	ways := map[broker.LeaseState][]broker.LeaseState{broker.LeasePending: {}}
	for grown := true; grown; {
		grown = false
		for _, from := range states {
			for _, to := range states {
				if way, known := ways[from]; known && ways[to] == nil && from.CanMove(to) {
					ways[to], grown = append(slices.Clone(way), to), true
				}
			}
		}
	}
	for _, from := range states {
		for _, to := range states {
			if from != to && !from.CanMove(to) {
				continue
			}
			for _, at := range []int64{200, 250} { // the state alone changes, and its times with it
				id := create()
				for _, step := range ways[from] {
					move(id, step, 200)
				}
				move(id, to, at)
			}
		}
	}
	s.followed(t, "after every move")
	for _, column := range []string{"expires_at", "next_attempt_at"} {
		if _, err := s.pool.Exec(t.Context(), `UPDATE leases SET `+column+` = `+column+` + interval '1 hour'`); err != nil {
			t.Fatal(err)
		}
		s.followed(t, "with another "+column)
	}

	if err := s.DeferLease(t.Context(), "moved-2", 3, time.Unix(900, 0), "unreachable"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.pool.Exec(t.Context(), `UPDATE leases SET sealed = 'sealed' WHERE state = 'revoked'`); err != nil {
		t.Fatal(err)
	}
	s.followed(t, "with leases to try")
	if _, err := s.pool.Exec(t.Context(), `UPDATE leases SET sealed = ''`); err != nil {
		t.Fatal(err)
	}
	s.followed(t, "with nothing to try")
	if n, err := s.PruneLeases(t.Context(), time.Unix(1000, 0), 3, audit.Entry{Time: done.Time, Outcome: audit.Done, Detail: map[string]string{}}); err != nil || n == 0 {
		t.Fatalf("PruneLeases = %d, %v", n, err)
	}
	s.followed(t, "after a removal")
}

// TestAChangeOfALeaseEntersNoIndex holds that what of a lease changes is in no index of
// leases: then its new row stays on its page, and no index is written.
func TestAChangeOfALeaseEntersNoIndex(t *testing.T) {
	s := withLease(t)
	indexed, err := read(t.Context(), s, scalar[string], `SELECT DISTINCT a.attname::text FROM pg_depend d
		JOIN pg_index i ON i.indexrelid = d.objid AND i.indrelid = d.refobjid
		JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
		WHERE d.refobjid = 'leases'::regclass`)
	if err != nil || !slices.Contains(indexed, "principal") {
		t.Fatalf("columns of indexes = %q, %v", indexed, err)
	}
	for _, name := range rows.LeaseColumns.Changing().List() {
		// These two are given with the request, and stay.
		if name != "operation" && name != "idempotency_key" && slices.Contains(indexed, name) {
			t.Errorf("an index of leases has the column %s, which changes", name)
		}
	}
}

// migrateBefore migrates an empty database up to the migration of that name, and without it.
func (s *Store) migrateBefore(t *testing.T, name string) {
	t.Helper()
	earlier := fstest.MapFS{}
	entries, err := migrations.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), name) {
			break
		}
		text, err := migrations.ReadFile("migrations/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		earlier[e.Name()] = &fstest.MapFile{Data: text}
	}
	if _, err := s.migrate(t.Context(), earlier); err != nil {
		t.Fatal(err)
	}
}

// addLeases stores active leases, in the columns that each version has: the beginning of their ids, and how many.
const addLeases = `INSERT INTO leases (` + `id, vim, vim_name, vim_type, vim_project, vim_generation, project, principal, operation, state, reason,
		role, namespaces, format, purpose, created_at, issued_at, expires_at, max_expires_at, renewed_at, credential_kind,
		unlisted, derived, revocable, max_revocation_lag, revoked_at, confirmed_dead_at, handle, sealed, sealed_key, attempts,
		next_attempt_at, last_error, revision, idempotency_key, request_digest)
	SELECT $1::text || i, 'vim-' || i % 50, 'vim', 'kubernetes', 'north', 1, 'north', 'alice', '', 'active', '', 'edit', '{}', 'kubeconfig', '',
		'2030-01-01', '2030-01-01', '2030-01-02', '2030-01-02', '-infinity', 'bearerToken', false, true, true, 0, '-infinity',
		'-infinity', 'handle', 'sealed', '', 0, '2030-01-01', '', 1, '', ''
	FROM generate_series(1, $2::int) AS i`

// TestLeasesOfBeforeAreFollowed migrates 25 000 live leases, while others are issued and
// moved all the time.
func TestLeasesOfBeforeAreFollowed(t *testing.T) {
	o := Options{DSN: secret.NewText(real.Postgres(t).DSN(t))}
	s, err := connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.migrateBefore(t, "_live_leases.sql")
	// Counted row by row, as earlier versions do, 25 000 leases take a minute.
	if err := pgx.BeginFunc(t.Context(), s.pool, func(tx pgx.Tx) error {
		for _, text := range []string{`ALTER TABLE leases DISABLE TRIGGER USER`, `SET LOCAL statement_timeout = 0`} {
			if _, err := tx.Exec(t.Context(), text); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(t.Context(), addLeases, "old-", 25_000); err != nil {
			return err
		}
		for _, text := range []string{
			`ALTER TABLE leases ENABLE TRIGGER USER`, `UPDATE lease_census SET n = 25000 WHERE state = 'active'`,
			`INSERT INTO lease_grades (grade, n) VALUES ('', 25000)`,
			`INSERT INTO lease_live_counts (whose, name, n) SELECT 'vim', 'vim-' || i, 500 FROM generate_series(0, 49) AS i
				UNION ALL VALUES ('principal', 'alice', 25000), ('project', 'north', 25000)`,
		} {
			if _, err := tx.Exec(t.Context(), text); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}

	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			for _, text := range []string{
				`UPDATE leases SET state = 'revoking' WHERE id = 'old-' || $1::int * 11 AND state = 'active'`,
				`UPDATE leases SET state = 'revoked', revoked_at = '2030-01-01' WHERE id = 'old-' || ($1::int - 1) * 11 AND state = 'revoking'`,
				`UPDATE leases SET sealed = '' WHERE id = 'old-' || ($1::int - 2) * 11 AND state = 'revoked'`,
			} {
				if _, err := s.pool.Exec(t.Context(), text, i); err != nil {
					stopped <- err
					return
				}
			}
			if _, err := s.pool.Exec(t.Context(), addLeases, fmt.Sprint("new-", i, "-"), 2); err != nil {
				stopped <- err
				return
			}
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
		}
	}()
	_, err = s.migrate(t.Context(), released())
	close(stop)
	if writing := <-stopped; err != nil || writing != nil {
		t.Fatalf("migrate = %v, and writing beside it %v", err, writing)
	}
	s.followed(t, "migrated")
	var a *answer
	if _, err := s.pool.Exec(t.Context(), `UPDATE leases SET epoch = 1, revision = revision + 1`); !errors.As(translate(err), &a) ||
		a.rule != "lease_written_knowingly" {
		t.Errorf("a version that knows no epochs writes a lease: %v", err)
	}
	if err := Finish(t.Context(), o); err != nil {
		t.Fatalf("Finish = %v", err)
	}
	if err := Finish(t.Context(), o); err != nil {
		t.Fatalf("Finish again = %v", err)
	}
	if _, err := s.pool.Exec(t.Context(), `UPDATE leases SET state = 'revoking' WHERE state = 'active' AND vim = 'vim-7'`); err != nil {
		t.Fatal(err)
	}
	s.followed(t, "finished")
}
