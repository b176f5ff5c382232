package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
)

const retire = `INSERT INTO retired_keys (key_store, key_ref, vim, generation, retired_at)
	SELECT key_store, key_ref, vim, number, ? FROM vim_generations WHERE `

var (
	retireKeysOfVIM       = prepared(retire + `vim = ? ORDER BY number ON CONFLICT DO NOTHING`)
	retireKeyOfGeneration = prepared(retire + `vim = ? AND number = ? ON CONFLICT DO NOTHING`)
	retireReplacedKey     = prepared(retire + `vim = ? AND number = ? AND key_ref <> ? ON CONFLICT DO NOTHING`)
	forgetKey             = prepared(`DELETE FROM retired_keys WHERE vim = ? AND generation = ? AND key_store = ? AND key_ref = ?`)
)

const (
	retiredKeys = `SELECT key_store, key_ref, vim, generation FROM retired_keys ORDER BY id LIMIT ?+0`

	keysInUseOfVIM = `SELECT key_store, key_ref, vim, number FROM vim_generations WHERE vim = ?
		UNION SELECT key_store, key_ref, vim, generation FROM retired_keys WHERE vim = ?
		UNION SELECT key_store, key_ref, id, 1 FROM audit_keys WHERE id = ? AND key_ref <> ''
		UNION SELECT key_store, key_ref, id, 1 FROM oauth_keys WHERE id = ? AND state <> 'verifying'
		UNION SELECT key_store, key_ref, id, 1 FROM vnf_subscriptions WHERE id = ? AND (key_ref <> '' OR state <> 'active')
		UNION SELECT key_store, key_ref, id, generation FROM vnf_hidden WHERE id = ?`
	keysInUse = `SELECT key_store, key_ref, vim, number FROM vim_generations
		UNION SELECT key_store, key_ref, vim, generation FROM retired_keys
		UNION SELECT key_store, key_ref, id, 1 FROM audit_keys WHERE key_ref <> ''
		UNION SELECT key_store, key_ref, id, 1 FROM oauth_keys WHERE state <> 'verifying'
		UNION SELECT key_store, key_ref, id, 1 FROM vnf_subscriptions WHERE key_ref <> '' OR state <> 'active'
		UNION SELECT key_store, key_ref, id, generation FROM vnf_hidden`
)

// RetiredKeys lists keys to destroy, oldest first.
func (s *Store) RetiredKeys(ctx context.Context, limit int) ([]broker.RetiredKey, error) {
	found, err := s.query(ctx, retiredKeys, limit)
	keys, err := collect(found, err, scanKey)
	if err != nil {
		return nil, fmt.Errorf("reading retired keys: %w", err)
	}
	return keys, nil
}

// ForgetKey takes a destroyed key off the ledger.
func (s *Store) ForgetKey(ctx context.Context, k broker.RetiredKey) error {
	err := s.write(ctx, func(t txn) error {
		_, err := t.exec(forgetKey, k.Owner.ID, k.Owner.Generation, k.KeyStore, string(k.Ref))
		return err
	})
	if err != nil {
		return fmt.Errorf("forgetting the key of VIM %s, generation %d: %w", k.Owner.ID, k.Owner.Generation, err)
	}
	return nil
}

// KeysInUse lists every key that a row names.
func (s *Store) KeysInUse(ctx context.Context, vim string) ([]broker.RetiredKey, error) {
	text, args := keysInUse, []any(nil)
	if vim != "" {
		text, args = keysInUseOfVIM, []any{vim, vim, vim, vim, vim, vim}
	}
	found, err := s.query(ctx, text, args...)
	keys, err := collect(found, err, scanKey)
	if err != nil {
		return nil, fmt.Errorf("reading keys in use: %w", err)
	}
	return keys, nil
}

func scanKey(row *sql.Rows) (broker.RetiredKey, error) {
	var k broker.RetiredKey
	var ref string
	err := row.Scan(&k.KeyStore, &ref, &k.Owner.ID, &k.Owner.Generation)
	k.Ref = secret.Ref(ref)
	return k, err
}
