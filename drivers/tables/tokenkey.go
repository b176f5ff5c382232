package tables

import (
	"context"
	"fmt"
	"slices"

	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var dropTokenKey = statement(`DELETE FROM oauth_keys WHERE id = ?1`)

var (
	tokenKeys      = statement(`SELECT ` + rows.TokenKeyColumns.Names() + ` FROM oauth_keys ORDER BY created_at, id`)
	insertTokenKey = statement(rows.TokenKeyColumns.Insert(`oauth_keys`))
	updateTokenKey = statement(`UPDATE oauth_keys SET ` + rows.TokenKeyColumns.Changing().Set() + ` WHERE id = ?`)
)

// TokenKeys implements [oauth.TokenKeyStore].
func (s *Tables) TokenKeys(ctx context.Context) ([]oauth.TokenKey, error) {
	keys, err := lookUp(ctx, s, scanTokenKey, tokenKeys)
	if err != nil {
		return nil, fmt.Errorf("reading the keys that sign tokens: %w", err)
	}
	return keys, nil
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
		return t.storeTokenKeys(before, after)
	})
	if err == nil || refused != nil {
		return err
	}
	if rows.IsTaken(err) {
		err = rows.Conflict("another key signs tokens")
	}
	return fmt.Errorf("changing the keys that sign tokens: %w", err)
}

func (t Tx) storeTokenKeys(before, after []oauth.TokenKey) error {
	change, err := rows.ChangeOfTokenKeys(before, after)
	if err != nil {
		return err
	}
	for _, id := range change.Gone {
		t.queue(dropTokenKey, id)
	}
	for _, k := range rows.SigningLast(change.Changed) {
		t.queue(updateTokenKey, append(rows.TokenKeyColumns.Changing().Values(&k), k.ID)...)
	}
	for _, k := range change.New {
		t.queue(insertTokenKey, rows.TokenKeyColumns.Values(&k)...)
	}
	for _, k := range change.Retired {
		t.queue(retireSigningKey, k.KeyStore, string(k.Ref), k.Owner.ID, k.Owner.Generation, t.Now())
	}
	return nil
}

func scanTokenKey(row Row) (k oauth.TokenKey, err error) {
	return k, row.Scan(rows.TokenKeyColumns.Fields(&k)...)
}
