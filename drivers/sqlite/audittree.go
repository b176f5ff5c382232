package sqlite

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"github.com/vimbroker/vimbroker/policy/audit"
)

// growEvery is how often the tree takes up new entries.
const growEvery = time.Second

var _ audit.Log = (*Store)(nil)

// keepGrowing takes new entries up into the tree until ctx ends.
func (s *Store) keepGrowing(ctx context.Context, log *slog.Logger) {
	audit.Keep(ctx, growEvery, log, func(ctx context.Context) error {
		if !s.ungrown(ctx) {
			return nil
		}
		_, err := s.GrowTree(ctx, true)
		return err
	})
}

// ungrown reports whether there may be entries that the tree does not hold: a write
// for nothing would wait for the disk all the same.
func (s *Store) ungrown(ctx context.Context) bool {
	found, err := s.query(ctx, `SELECT EXISTS (SELECT 1 FROM audit_entries WHERE seq > (SELECT size FROM audit_tree WHERE id = 1))`)
	some, err := collect(found, err, func(r *sql.Rows) (is bool, err error) { return is, r.Scan(&is) })
	return err != nil || some[0]
}
