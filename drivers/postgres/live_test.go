package postgres

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
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
		// The first two are given with the request, and stay; the third changes once, when a successor takes its place.
		if name != "operation" && name != "idempotency_key" && name != "secret_sha256" && slices.Contains(indexed, name) {
			t.Errorf("an index of leases has the column %s, which changes", name)
		}
	}
}
