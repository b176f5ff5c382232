package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// TestLiveCountsAreTheLeases walks leases through every move there is, and
// compares what quotas are held against with the leases themselves.
func TestLiveCountsAreTheLeases(t *testing.T) {
	ctx := t.Context()
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	done := audit.Entry{Time: time.Unix(1, 0), Outcome: audit.Done}
	vims := []string{uuid.NewString(), uuid.NewString()}
	for i, id := range vims {
		v := broker.VIM{ID: id, Project: "north", Name: fmt.Sprint("vim-", i), State: broker.VIMRegistering, CreatedBy: "alice"}
		if err := s.CreateVIM(ctx, v, 0, done); err != nil {
			t.Fatal(err)
		}
		if _, err := s.UpdateVIM(ctx, id, func(v *broker.VIM) error {
			v.State, v.Current = broker.VIMRegistered, broker.Generation{Number: 1, Key: "key", KeyStore: "keydir", SealedAs: broker.SealedCurrent}
			return nil
		}, done); err != nil {
			t.Fatal(err)
		}
	}
	compare := func(when string) {
		t.Helper()
		counted := numbers(t, s, `SELECT whose || ' ' || name, n FROM lease_live_counts`)
		real := numbers(t, s, `SELECT 'principal ' || principal, count(*) FROM leases WHERE state <> 'revoked' GROUP BY 1
			UNION ALL SELECT 'vim ' || vim, count(*) FROM leases WHERE state <> 'revoked' GROUP BY 1
			UNION ALL SELECT 'project ' || project, count(*) FROM leases WHERE state <> 'revoked' GROUP BY 1`)
		if diff := cmp.Diff(real, counted); diff != "" {
			t.Errorf("%s: counts of live leases (-leases +counts):\n%s", when, diff)
		}
	}
	var ids []string
	for i := range 24 {
		l := broker.Lease{
			ID: uuid.NewString(), VIM: vims[i%2], VIMGeneration: 1, Project: fmt.Sprint("project-", i%3),
			Principal: fmt.Sprint("principal-", i%4), CreatedAt: time.Unix(int64(i), 0),
		}
		if _, err := s.CreateLease(ctx, l, broker.Quota{}, done); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, l.ID)
	}
	compare("after issue")
	move := func(id string, to broker.LeaseState) {
		t.Helper()
		if _, err := s.UpdateLease(ctx, id, func(l *broker.Lease) error {
			l.State, l.IssuedAt, l.ExpiresAt = to, time.Unix(100, 0), time.Unix(200, 0)
			if to == broker.LeaseRevoked {
				l.RevokedAt = time.Unix(150, 0)
			}
			return nil
		}, done); err != nil {
			t.Fatal(err)
		}
	}
	for n, to := range []broker.LeaseState{
		broker.LeaseActive, broker.LeaseRevoking, broker.LeaseIrrevocable, broker.LeaseRevoking, broker.LeaseRevoked,
	} {
		for i, id := range ids {
			if i%2 == 0 || n < 2 { // the others stay as revoking
				move(id, to)
			}
		}
		compare(fmt.Sprintf("after move %d, to %s", n+1, to))
	}
	for i, id := range ids {
		if i%2 != 0 {
			move(id, broker.LeaseRevoked)
		}
	}
	compare("after all have ended")
	if left := numbers(t, s, `SELECT name, n FROM lease_live_counts`); len(left) > 0 {
		t.Errorf("rows of none are left: %v", left)
	}
	if _, err := s.writer.ExecContext(ctx, `UPDATE leases SET state = 'active' WHERE id = ?`, ids[0]); err == nil {
		t.Error("a revoked lease came to life again past the counts")
	}
}

func numbers(t *testing.T, s *Store, text string) map[string]int {
	t.Helper()
	rows, err := s.reader.QueryContext(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	found := map[string]int{}
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		found[name] = n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}
