package tables

import (
	"context"
	"slices"

	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	tokenKeys     = statement(`SELECT ` + rows.TokenKeyColumns.Names() + ` FROM oauth_keys ORDER BY created_at, id`)
	tokenKeyTable = keysIn(`oauth_keys`, rows.TokenKeyColumns)
)

// TokenKeys implements [oauth.TokenKeyStore].
func (s *Tables) TokenKeys(ctx context.Context) ([]oauth.TokenKey, error) {
	keys, err := lookUp(ctx, s, scanTokenKey, tokenKeys)
	return keys, doing(err, "reading the keys that sign tokens")
}

// ChangeTokenKeys implements [oauth.TokenKeyStore].
func (s *Tables) ChangeTokenKeys(ctx context.Context, change func([]oauth.TokenKey) ([]oauth.TokenKey, error), e audit.Entry) error {
	var refused error
	err := s.write(ctx, e, func(t Tx) error {
		t.lock(lockTokenKeys, "")
		before, err := query(t, scanTokenKey, tokenKeys)
		if err != nil {
			return err
		}
		after, err := change(slices.Clone(before))
		if refused = err; err != nil {
			return err
		}
		return tokenKeyTable.store(t, before, after)
	})
	if err == nil || refused != nil {
		return err
	}
	if rows.IsTaken(err) {
		err = rows.Conflict("another key signs tokens")
	}
	return doing(err, "changing the keys that sign tokens")
}

func scanTokenKey(row Row) (k oauth.TokenKey, err error) {
	return k, row.Scan(rows.TokenKeyColumns.Fields(&k)...)
}
