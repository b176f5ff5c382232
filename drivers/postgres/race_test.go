package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/tables"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/real"
)

// InTime does something, and again for a minute while the database, or this process, is too slow to answer or to connect.
func InTime(do func() error) error {
	late := func(err error) bool {
		return errors.Is(err, context.DeadlineExceeded) || err != nil && strings.Contains(err.Error(), "in time")
	}
	err := do()
	for deadline := time.Now().Add(time.Minute); late(err) && time.Now().Before(deadline); {
		err = do()
	}
	return err
}

func mustOpen(t testing.TB, dsn string) *Store {
	t.Helper()
	var s *Store
	if err := InTime(func() (err error) {
		s, err = Open(t.Context(), Options{DSN: secret.NewText(dsn), Migrate: true})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func entryOf(resource string) audit.Entry {
	return audit.Entry{Time: time.Unix(1, 0), Principal: "alice", Action: "vim:update", Resource: resource, Outcome: audit.Done}
}

// withLease is a store with a registered VIM "v" and an active lease "l" on it.
func withLease(t *testing.T) *Store {
	t.Helper()
	return withLeaseIn(t, real.Postgres(t).DSN(t))
}

func withLeaseIn(t *testing.T, dsn string) *Store {
	t.Helper()
	s := mustOpen(t, dsn)
	v := broker.VIM{
		ID: "v", Project: "north", Name: "v", Type: "kubernetes", State: broker.VIMRegistered, CreatedAt: time.Unix(1, 0),
		Current: broker.Generation{Number: 1, Sealed: "sealed", Key: "old", KeyStore: "keydir", SealedAs: broker.SealedCurrent},
	}
	if err := s.CreateVIM(t.Context(), v, 0, entryOf("v")); err != nil {
		t.Fatal(err)
	}
	l := broker.Lease{ID: "l", VIM: "v", VIMGeneration: 1, Project: "north", Principal: "alice", CreatedAt: time.Unix(1, 0)}
	if _, err := s.CreateLease(t.Context(), l, broker.Quota{}, entryOf("l")); err != nil {
		t.Fatal(err)
	}
	return s
}

// jam holds the inbox of the audit log, so that writes stop directly before they
// commit, until it is let go.
func jam(t *testing.T, s *Store) (letGo func()) {
	t.Helper()
	tx, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`SET LOCAL idle_in_transaction_session_timeout = 0`, `LOCK TABLE audit_inbox IN EXCLUSIVE MODE`} {
		if _, err := tx.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	letGo = sync.OnceFunc(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })
	t.Cleanup(letGo)
	return letGo
}

// blocked counts the sessions that wait for locks.
func blocked(t *testing.T, s *Store) int {
	t.Helper()
	n, err := readOne(t.Context(), s, scalar[int],
		`SELECT count(*)::bigint FROM pg_locks l JOIN pg_database d ON d.oid = l.database OR l.database IS NULL
		JOIN pg_stat_activity a ON a.pid = l.pid WHERE NOT l.granted AND d.datname = current_database() AND a.datname = current_database()`)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// queued waits until n sessions wait for locks.
func queued(t *testing.T, s *Store, n int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); blocked(t, s) < n; {
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions do not wait for locks", n)
		}
	}
}

// TestSealingAnewWaitsForLeases stops a lease that is sealed with the present key
// before its commit, and seals the VIM anew meanwhile.
func TestSealingAnewWaitsForLeases(t *testing.T) {
	s := withLease(t)
	letGo := jam(t, s)
	var writers sync.WaitGroup
	writers.Go(func() {
		if _, err := s.UpdateLease(t.Context(), "l", func(l *broker.Lease) error {
			l.Sealed, l.SealedKey = "sealed", "old"
			return nil
		}, entryOf("l")); err != nil {
			t.Errorf("UpdateLease = %v", err)
		}
	})
	queued(t, s, 1)
	writers.Go(func() {
		if _, err := s.Rekey(t.Context(), "v", func(v *broker.VIM, leases []broker.Lease) error {
			v.Current.Key = "new"
			for i := range leases {
				leases[i].SealedKey = "new"
			}
			return nil
		}, entryOf("v")); err != nil {
			t.Errorf("Rekey = %v", err)
		}
	})
	queued(t, s, 2)
	letGo()
	writers.Wait()
	if l, err := s.Lease(t.Context(), "l"); err != nil || l.SealedKey != "new" {
		t.Errorf("lease is sealed with %q, %v; want the VIM's new key", l.SealedKey, err)
	}
}

// TestHealthIsNotOverwritten records a check while an update has read the row.
func TestHealthIsNotOverwritten(t *testing.T) {
	s := withLease(t)
	checked := make(chan error, 1)
	var once sync.Once
	_, err := s.UpdateVIM(t.Context(), "v", func(v *broker.VIM) error {
		once.Do(func() {
			go func() { checked <- s.SetHealth(t.Context(), "v", 1, broker.Health{Status: broker.HealthUnauthorized}) }()
			queued(t, s, 1) // or the check would be lost
		})
		v.Name = "renamed"
		return nil
	}, entryOf("v"))
	if err != nil {
		t.Fatal(err)
	}
	if err := <-checked; err != nil {
		t.Fatal(err)
	}
	if v, err := s.VIM(t.Context(), "v"); err != nil || v.Name != "renamed" || v.Health.Status != broker.HealthUnauthorized {
		t.Errorf("VIM = %q, health %q, %v; want both changes", v.Name, v.Health.Status, err)
	}
}

// TestChangeOfAVIMIsNotStarved keeps a VIM in use by leases that overlap, and
// changes it: who came before waits, and who comes after lets it pass.
func TestChangeOfAVIMIsNotStarved(t *testing.T) {
	s := withLease(t)
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for ctx.Err() == nil {
				_, err := s.UpdateLease(ctx, "l", func(l *broker.Lease) error { return nil }, entryOf("l"))
				if err != nil && ctx.Err() == nil {
					t.Errorf("UpdateLease = %v", err)
				}
			}
		})
	}
	for i := range 10 {
		begin := time.Now()
		if _, err := s.UpdateVIM(t.Context(), "v", func(*broker.VIM) error { return nil }, entryOf("v")); err != nil {
			t.Errorf("UpdateVIM %d = %v after %v", i, err, time.Since(begin))
		}
	}
	stop()
	writers.Wait()
}

// TestDeadlockIsTriedAgain crosses two transactions that no method of the store
// would: PostgreSQL ends one of them, and it begins anew.
func TestDeadlockIsTriedAgain(t *testing.T) {
	s := withLease(t)
	var both, writers sync.WaitGroup
	both.Add(2)
	for _, order := range [][2]string{{"a", "b"}, {"b", "a"}} {
		first := sync.OnceFunc(func() {
			both.Done()
			both.Wait()
		})
		writers.Go(func() {
			err := s.change(t.Context(), func(x txn) error {
				x.lock(tables.LockVIM, order[0])
				if err := x.send(); err != nil {
					return err
				}
				first()
				x.lock(tables.LockVIM, order[1])
				return x.append(entryOf(order[0]))
			})
			if err != nil {
				t.Errorf("change = %v", err)
			}
		})
	}
	writers.Wait()
	if entries, err := s.Entries(t.Context(), audit.Query{Limit: 10}); err != nil || len(entries) != 4 {
		t.Errorf("%d entries, %v; want one for each write", len(entries), err)
	}
}

// TestStoppedWriterIsCutOff stops in the middle of a write, as a process does that
// is paused: those behind it go on in seconds, and it has written nothing.
func TestStoppedWriterIsCutOff(t *testing.T) {
	s := withLease(t)
	held, cont := make(chan struct{}), make(chan struct{})
	stopped := make(chan error, 1)
	go func() {
		stopped <- s.change(t.Context(), func(x txn) error {
			select {
			case <-cont: // the second try
				return errors.New("tried again")
			default:
			}
			if err := x.append(entryOf("stopped")); err != nil {
				return err
			}
			x.lock(lockLog)
			if err := x.send(); err != nil {
				return err
			}
			close(held)
			<-cont
			return nil
		})
	}()
	<-held
	begin := time.Now()
	if err := s.Append(t.Context(), entryOf("next")); err != nil {
		t.Errorf("Append beside a stopped writer = %v after %v", err, time.Since(begin))
	}
	if err := s.Grow(t.Context()); err != nil {
		t.Errorf("Grow behind a stopped writer = %v after %v", err, time.Since(begin))
	}
	close(cont)
	if err := <-stopped; err == nil {
		t.Error("the stopped writer was told that it had written")
	}
	entries, err := s.Entries(t.Context(), audit.Query{Limit: 10})
	if err != nil || len(entries) != 3 || entries[0].Resource != "next" {
		t.Errorf("entries = %+v, %v; want none of the stopped writer", entries, err)
	}
}

// TestRulesStandInTheDatabase writes past the store.
func TestRulesStandInTheDatabase(t *testing.T) {
	s := withLease(t)
	second := broker.VIM{ID: "w", Project: "north", Name: "w", State: broker.VIMRegistering, Health: broker.Health{Status: broker.HealthUnchecked}}
	if err := s.CreateVIM(t.Context(), second, 0, entryOf("w")); err != nil {
		t.Fatal(err)
	}
	if err := s.Grow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), entryOf("waiting")); err != nil {
		t.Fatal(err)
	}
	for rule, text := range map[string]string{
		"audit_inbox_never_changes":    `UPDATE audit_inbox SET principal = 'bob'`,
		"audit_inbox_never_emptied":    `TRUNCATE audit_inbox`,
		"audit_tiles_only_grow":        `UPDATE audit_tiles SET hashes = 'x'`,
		"audit_tiles_stay":             `DELETE FROM audit_tiles`,
		"audit_tiles_never_emptied":    `TRUNCATE audit_tiles`,
		"audit_tree_only_grows":        `UPDATE audit_tree SET size = 1`,
		"audit_tree_stays":             `DELETE FROM audit_tree`,
		"lease_expires_after_issue":    `UPDATE leases SET issued_at = '2030-01-02', expires_at = '2030-01-01'`,
		"lease_state_known":            `UPDATE leases SET state = 'lost'`,
		"lease_revoked_has_time":       `UPDATE leases SET state = 'revoked'`,
		"lease_revoked_stays_so":       `UPDATE leases SET state = 'revoked', revoked_at = now(); UPDATE leases SET state = 'active'`,
		"lease_never_deleted":          `DELETE FROM leases`,
		"leases_never_deleted":         `TRUNCATE leases`,
		"vim_state_known":              `UPDATE vims SET state = 'lost'`,
		"generation_names_its_key":     `UPDATE vim_generations SET key_ref = ''`,
		"generation_never_changes":     `UPDATE vim_generations SET endpoint = 'old'`,
		"audit_never_changes":          `UPDATE audit_entries SET principal = 'bob'`,
		"audit_never_shrinks":          `DELETE FROM audit_entries`,
		"audit_never_emptied":          `TRUNCATE audit_entries`,
		"audit_head_only_grows":        `UPDATE audit_head SET seq = 1`,
		"audit_head_stays":             `DELETE FROM audit_head`,
		"vim_default_once_per_project": `UPDATE vims SET is_default = true`,
	} {
		err := pgx.BeginFunc(t.Context(), s.pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol)
			return err
		})
		var a *answer
		if !errors.As(translate(err), &a) || a.rule != rule {
			t.Errorf("%s = %v, want rule %s to refuse it", text, err, rule)
		}
	}
	// All of a generation stays but what it is sealed with.
	rows, err := s.pool.Query(t.Context(), `SELECT column_name FROM information_schema.columns
		WHERE table_name = 'vim_generations' AND column_name NOT IN ('sealed', 'sealed_as', 'key_ref', 'key_store')`)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(columns) == 0 {
		t.Fatalf("columns of generations: %q, %v", columns, err)
	}
	for _, column := range columns {
		_, err := s.pool.Exec(t.Context(), fmt.Sprintf(`UPDATE vim_generations SET %[1]s = %[1]s`, column))
		var a *answer
		if !errors.As(translate(err), &a) || a.rule != "generation_never_changes" {
			t.Errorf("changing a generation's %s = %v, want rule generation_never_changes to refuse it", column, err)
		}
	}
	_, err = s.UpdateLease(t.Context(), "l", func(l *broker.Lease) error {
		l.State, l.IssuedAt, l.ExpiresAt = broker.LeaseActive, time.Unix(2, 0), time.Unix(1, 0)
		return nil
	}, entryOf("l"))
	if e := new(broker.Error); !errors.Is(err, broker.ErrInvalid) || !errors.As(err, &e) || e.Detail != "the store's rule lease_expires_after_issue forbids it" {
		t.Errorf("UpdateLease against a rule = %v, want ErrInvalid that names it", err)
	}
}

// TestAStoppedWriterTriesAgain lets the database end a transaction whose process does
// nothing for too long, as one that was stopped does: the write is done anyway.
func TestAStoppedWriterTriesAgain(t *testing.T) {
	watcher := withLease(t)
	limit := sessionLimits["idle_in_transaction_session_timeout"]
	sessionLimits["idle_in_transaction_session_timeout"] = time.Second
	defer func() { sessionLimits["idle_in_transaction_session_timeout"] = limit }()
	s := mustOpen(t, watcher.pool.Config().ConnString())
	tried := 0
	_, err := s.UpdateLease(t.Context(), "l", func(l *broker.Lease) error {
		tried++
		l.LastError = fmt.Sprint("try ", tried)
		for tried == 1 {
			open, err := readOne(t.Context(), watcher, scalar[int], `SELECT count(*)::bigint FROM pg_stat_activity
				WHERE datname = current_database() AND state LIKE 'idle in transaction%'`)
			if err != nil {
				return err
			}
			if open == 0 {
				break
			}
		}
		return nil
	}, entryOf("l"))
	if err != nil {
		t.Errorf("UpdateLease = %v", err)
	}
	if l, err := s.Lease(t.Context(), "l"); err != nil || tried < 2 || l.LastError != fmt.Sprint("try ", tried) {
		t.Errorf("after %d tries the lease says %q, %v; want what the last wrote, which is not the first", tried, l.LastError, err)
	}
}

// TestTurnsAreGivenOneCallAfterTheOther stops a caller between what it reads and what it writes, and has another
// give turns meanwhile: it sees what the first has given.
func TestTurnsAreGivenOneCallAfterTheOther(t *testing.T) {
	s := mustOpen(t, real.Postgres(t).DSN(t))
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.CreatePackage(ctx, catalog.Package{ID: "package", Project: "north", State: catalog.Created}, 0, entryOf("package")))
	for _, id := range []string{"first", "second"} {
		i := lifecycle.Instance{ID: id, Project: "north", State: lifecycle.NotInstantiated, Shape: lifecycle.Shape{Package: "package"}}
		must(s.CreateInstance(ctx, i, 0, entryOf(id)))
		o := lifecycle.Operation{ID: "of-" + id, Instance: id, Project: "north", Type: lifecycle.Instantiate, State: lifecycle.Starting, Before: i.Shape, Target: i.Shape}
		must(s.BeginOperation(ctx, o, 1, nil, entryOf(id)))
	}
	// One operation is worked at a time; each caller prefers another.
	one := func(places []lifecycle.Place, operation string) []string {
		if slices.ContainsFunc(places, func(p lifecycle.Place) bool { return !p.Waits }) {
			return nil
		}
		return []string{operation}
	}
	begin := func(o *lifecycle.Operation) { o.TurnAt = time.Unix(1, 0) }
	ended := make(chan struct{})
	var meanwhile error
	calls := 0
	must(s.GiveTurns(ctx, func(places []lifecycle.Place) []string {
		if calls++; calls == 2 { // the first time it only asks whether there is anything to do
			go func() {
				defer close(ended)
				meanwhile = s.GiveTurns(ctx, func(places []lifecycle.Place) []string { return one(places, "of-second") }, begin)
			}()
			for waits := false; !waits; {
				select {
				case <-ended:
					waits = true
				default:
					waits = blocked(t, s) > 0
				}
			}
		}
		return one(places, "of-first")
	}, begin))
	<-ended
	must(meanwhile)
	places, err := s.Places(ctx)
	must(err)
	var worked []string
	for _, p := range places {
		if !p.Waits {
			worked = append(worked, p.Operation)
		}
	}
	if calls != 2 || !slices.Equal(worked, []string{"of-first"}) {
		t.Errorf("after %d looks of the first caller %q have their turn, want of-first alone", calls, worked)
	}
}

// TestAVIMIsNotDeletedUnderAnInstance: two replicas, one that instantiates and one that deletes the VIM.
func TestAVIMIsNotDeletedUnderAnInstance(t *testing.T) {
	db := real.Postgres(t).DSN(t)
	conformance.VIMRace(t, mustOpen(t, db), mustOpen(t, db))
}
