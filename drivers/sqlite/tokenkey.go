package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ oauth.KeyStore = (*Store)(nil)

var (
	tokenKeys          = `SELECT ` + rows.TokenKeyColumns.Names() + ` FROM oauth_keys ORDER BY created_at, id`
	tokenKeysForUpdate = prepared(tokenKeys)
	insertTokenKey     = prepared(rows.TokenKeyColumns.Insert(`oauth_keys`))
	updateTokenKey     = prepared(`UPDATE oauth_keys SET ` + rows.TokenKeyColumns.Changing().Set() + ` WHERE id = ?`)
	dropTokenKey       = prepared(`DELETE FROM oauth_keys WHERE id = ?`)
)

// TokenKeys implements [oauth.KeyStore].
func (s *Store) TokenKeys(ctx context.Context) ([]oauth.Key, error) {
	found, err := s.query(ctx, tokenKeys)
	keys, err := collect(found, err, scanTokenKey)
	if err != nil {
		return nil, fmt.Errorf("reading the keys that sign tokens: %w", err)
	}
	return keys, nil
}

// ChangeTokenKeys implements [oauth.KeyStore].
func (s *Store) ChangeTokenKeys(ctx context.Context, change func([]oauth.Key) ([]oauth.Key, error), e audit.Entry) error {
	var refused error
	err := s.write(ctx, func(t txn) error {
		found, err := t.query(tokenKeysForUpdate)
		before, err := collect(found, err, scanTokenKey)
		if err != nil {
			return err
		}
		after, err := change(slices.Clone(before))
		if refused = err; err != nil {
			return err
		}
		if err := t.storeTokenKeys(before, after); err != nil {
			return err
		}
		return t.append(e)
	})
	if err == nil || refused != nil {
		return err
	}
	if rows.IsTaken(err) {
		err = rows.Conflict("another key signs tokens")
	}
	return fmt.Errorf("changing the keys that sign tokens: %w", err)
}

func (t txn) storeTokenKeys(before, after []oauth.Key) error {
	change, err := rows.ChangeOfTokenKeys(before, after)
	if err != nil {
		return err
	}
	for _, id := range change.Gone {
		if _, err := t.exec(dropTokenKey, id); err != nil {
			return err
		}
	}
	for _, k := range rows.SigningLast(change.Changed) {
		if _, err := t.exec(updateTokenKey, append(values(rows.TokenKeyColumns.Changing().Fields(&k)), k.ID)...); err != nil {
			return err
		}
	}
	for _, k := range change.New {
		if _, err := t.exec(insertTokenKey, values(rows.TokenKeyColumns.Fields(&k))...); err != nil {
			return err
		}
	}
	for _, k := range change.Retired {
		if _, err := t.exec(retireSigningKey, k.KeyStore, string(k.Ref), k.Owner.ID, k.Owner.Generation, rows.Micro(t.s.now())); err != nil {
			return err
		}
	}
	return nil
}

func scanTokenKey(row *sql.Rows) (k oauth.Key, err error) {
	return k, scan(row, rows.TokenKeyColumns.Fields(&k), nil)
}
