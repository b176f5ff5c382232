package tables

import (
	"context"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
)

const retire = `INSERT INTO retired_keys (key_store, key_ref, vim, generation, retired_at)
	SELECT key_store, key_ref, vim, number, ?1::timestamptz FROM vim_generations WHERE `

var (
	retireKeysOfVIM       = statement(retire + `vim = ?2 ORDER BY number ON CONFLICT DO NOTHING`)
	retireKeyOfGeneration = statement(retire + `vim = ?2 AND number = ?3 ON CONFLICT DO NOTHING`)
	retireReplacedKey     = statement(retire + `vim = ?2 AND number = ?3 AND key_ref <> ?4 ON CONFLICT DO NOTHING`)
	forgetKey             = statement(`DELETE FROM retired_keys WHERE vim = ?1 AND generation = ?2 AND key_store = ?3 AND key_ref = ?4`)

	retiredKeys = statement(`SELECT key_store, key_ref, vim, generation FROM retired_keys ORDER BY id LIMIT ?1`)

	keysInUseOfVIM = statement(`SELECT key_store, key_ref, vim, number FROM vim_generations WHERE vim = ?1
		UNION SELECT key_store, key_ref, vim, generation FROM retired_keys WHERE vim = ?1
		UNION SELECT key_store, key_ref, id, 1 FROM audit_keys WHERE id = ?1 AND key_ref <> ''
		UNION SELECT key_store, key_ref, id, 1 FROM oauth_keys WHERE id = ?1 AND state <> 'verifying'
		UNION SELECT key_store, key_ref, id, 1 FROM vnf_subscriptions WHERE id = ?1 AND (key_ref <> '' OR state <> 'active')
		UNION SELECT key_store, key_ref, id, generation FROM vnf_secret_parameters WHERE id = ?1
		UNION SELECT key_store, key_ref, id, generation FROM vnf_bundles WHERE id = ?1 AND (key_ref <> '' OR state <> 'active')`)
	keysInUse = statement(`SELECT key_store, key_ref, vim, number FROM vim_generations
		UNION SELECT key_store, key_ref, vim, generation FROM retired_keys
		UNION SELECT key_store, key_ref, id, 1 FROM audit_keys WHERE key_ref <> ''
		UNION SELECT key_store, key_ref, id, 1 FROM oauth_keys WHERE state <> 'verifying'
		UNION SELECT key_store, key_ref, id, 1 FROM vnf_subscriptions WHERE key_ref <> '' OR state <> 'active'
		UNION SELECT key_store, key_ref, id, generation FROM vnf_secret_parameters
		UNION SELECT key_store, key_ref, id, generation FROM vnf_bundles WHERE key_ref <> '' OR state <> 'active'`)
)

// RetiredKeys lists keys to destroy, oldest first.
func (s *Tables) RetiredKeys(ctx context.Context, limit int) ([]broker.RetiredKey, error) {
	keys, err := read(ctx, s, scanKey, retiredKeys, limit)
	return keys, doing(err, "reading retired keys")
}

// ForgetKey takes a destroyed key off the ledger.
func (s *Tables) ForgetKey(ctx context.Context, k broker.RetiredKey) error {
	err := s.run(ctx, forgetKey, k.Owner.ID, k.Owner.Generation, k.KeyStore, string(k.Ref))
	return doing(err, "forgetting the key of VIM %s, generation %d", k.Owner.ID, k.Owner.Generation)
}

// KeysInUse lists every key that a row names.
func (s *Tables) KeysInUse(ctx context.Context, vim string) ([]broker.RetiredKey, error) {
	text, args := keysInUse, []any(nil)
	if vim != "" {
		text, args = keysInUseOfVIM, []any{vim}
	}
	keys, err := read(ctx, s, scanKey, text, args...)
	return keys, doing(err, "reading keys in use")
}

func scanKey(row Row) (broker.RetiredKey, error) {
	var k broker.RetiredKey
	var ref string
	err := row.Scan(&k.KeyStore, &ref, &k.Owner.ID, &k.Owner.Generation)
	k.Ref = secret.Ref(ref)
	return k, err
}
