package tables

import (
	"context"
	"maps"
	"slices"
	"time"
)

var recordTokenUse = statement(`INSERT INTO token_uses (token, used_at) VALUES (?, ?)
	ON CONFLICT (token) DO UPDATE SET used_at = excluded.used_at WHERE token_uses.used_at < excluded.used_at`)

// RecordTokenUses keeps when tokens were last used.
func (s *Tables) RecordTokenUses(ctx context.Context, uses map[string]time.Time) error {
	err := s.change(ctx, func(t Tx) error {
		// In one order in every process: none waits for another in a circle.
		for _, token := range slices.Sorted(maps.Keys(uses)) {
			t.queue(recordTokenUse, token, uses[token])
		}
		return nil
	})
	return doing(err, "keeping when tokens were last used")
}

// TokenUses returns when tokens were last used.
func (s *Tables) TokenUses(ctx context.Context) (map[string]time.Time, error) {
	uses, err := readMap[string, time.Time](ctx, s, `SELECT token, used_at FROM token_uses`)
	return uses, doing(err, "reading when tokens were last used")
}
