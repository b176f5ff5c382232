package tables

import (
	"context"
	"slices"

	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	tokenKeyTable = keysIn(`oauth_keys`, rows.TokenKeyColumns)
	tokenKeys     = statement(tokenKeyTable.text + ` ORDER BY created_at, id`)
)

// TokenKeys implements [oauth.TokenKeyStore].
func (s *Tables) TokenKeys(ctx context.Context) ([]oauth.TokenKey, error) {
	keys, err := lookUp(ctx, s, tokenKeyTable.scan, tokenKeys)
	return keys, doing(err, "reading the keys that sign tokens")
}

// ChangeTokenKeys implements [oauth.TokenKeyStore].
func (s *Tables) ChangeTokenKeys(ctx context.Context, change func([]oauth.TokenKey) ([]oauth.TokenKey, error), e audit.Entry) error {
	var refused error
	err := s.write(ctx, e, func(t Tx) error {
		t.lock(lockTokenKeys, "")
		before, err := query(t, tokenKeyTable.scan, tokenKeys)
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
