package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/drivers/rows"
)

var recordTokenUse = prepared(`INSERT INTO token_uses (token, used_at) VALUES (?, ?)
	ON CONFLICT (token) DO UPDATE SET used_at = excluded.used_at WHERE used_at < excluded.used_at`)

const tokenUses = `SELECT token, used_at FROM token_uses`

// RecordTokenUses keeps when tokens were last used.
func (s *Store) RecordTokenUses(ctx context.Context, uses map[string]time.Time) error {
	err := s.write(ctx, func(t txn) error {
		for token, at := range uses {
			if _, err := t.exec(recordTokenUse, token, rows.Micro(at)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keeping when tokens were last used: %w", err)
	}
	return nil
}

// TokenUses returns when tokens were last used.
func (s *Store) TokenUses(ctx context.Context) (map[string]time.Time, error) {
	type use struct {
		token string
		at    time.Time
	}
	found, err := s.query(ctx, tokenUses)
	all, err := collect(found, err, func(r *sql.Rows) (u use, err error) { return u, r.Scan(&u.token, moment{&u.at}) })
	if err != nil {
		return nil, fmt.Errorf("reading when tokens were last used: %w", err)
	}
	uses := make(map[string]time.Time, len(all))
	for _, u := range all {
		uses[u.token] = u.at
	}
	return uses, nil
}
