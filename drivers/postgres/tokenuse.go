package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

const (
	// recordTokenUses meets the rows in one order in every process: none waits for another in a circle.
	recordTokenUses = `INSERT INTO token_uses (token, used_at) SELECT token, at FROM unnest($1::text[], $2::timestamptz[]) AS u (token, at)
		ORDER BY token COLLATE "C" ON CONFLICT (token) DO UPDATE SET used_at = excluded.used_at WHERE token_uses.used_at < excluded.used_at`
	tokenUses = `SELECT token, used_at FROM token_uses`
)

// RecordTokenUses keeps when tokens were last used.
func (s *Store) RecordTokenUses(ctx context.Context, uses map[string]time.Time) error {
	err := s.change(ctx, func(t txn) error {
		t.queue(recordTokenUses, tokenUseArgs(uses)...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("keeping when tokens were last used: %w", err)
	}
	return nil
}

// tokenUseArgs are the arguments of recordTokenUses.
func tokenUseArgs(uses map[string]time.Time) []any {
	tokens := slices.Sorted(maps.Keys(uses))
	at := make([]pgtype.Timestamptz, 0, len(tokens))
	for _, token := range tokens {
		at = append(at, stamp(uses[token]))
	}
	return []any{tokens, at}
}

// TokenUses returns when tokens were last used.
func (s *Store) TokenUses(ctx context.Context) (map[string]time.Time, error) {
	type use struct {
		token string
		at    time.Time
	}
	all, err := read(ctx, s, func(r pgx.CollectableRow) (u use, err error) { return u, r.Scan(&u.token, &moment{&u.at}) }, tokenUses)
	if err != nil {
		return nil, fmt.Errorf("reading when tokens were last used: %w", err)
	}
	uses := make(map[string]time.Time, len(all))
	for _, u := range all {
		uses[u.token] = u.at
	}
	return uses, nil
}
