package sqlite

import (
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

var (
	insertGeneration = prepared(`INSERT INTO vim_generations (vim, number, endpoint, ca_cert, insecure_skip_verify,
		server_name, namespace, scope, discovered, identity, credential_kind, username, credential_expires_at, sealed, key_ref, key_store)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	neededGeneration = prepared(`SELECT 1 FROM leases INDEXED BY lease_needs_generation
		WHERE vim = ? AND vim_generation = ? AND (state <> 'revoked' OR sealed <> '') LIMIT 1`)
	pastGeneration = prepared(`SELECT 1 FROM vim_generations g JOIN vims v ON v.id = g.vim
		WHERE g.vim = ? AND g.number = ? AND g.number <> v.generation`)
	deleteGeneration = prepared(`DELETE FROM vim_generations WHERE vim = ? AND number = ?`)
)

func (t txn) addGeneration(vim string, g broker.Generation) error {
	_, err := t.exec(insertGeneration, vim, g.Number, g.Target.Endpoint, g.Target.CACert, g.Target.InsecureSkipVerify,
		g.Target.ServerName, g.Target.Namespace, encode(g.Target.Scope), g.Discovered, g.Identity, g.CredentialKind, g.Username, micro(g.CredentialExpiresAt),
		g.Sealed, string(g.Key), g.KeyStore)
	return err
}

// replaceGeneration makes g the current generation of old, if it is another one.
// The one before stays while a lease needs it, and leases that wait after failed
// tries are taken up again now. The row of the VIM must name g already.
func (t txn) replaceGeneration(old broker.VIM, g broker.Generation, now time.Time) error {
	switch {
	case g.Number == old.Current.Number:
		if !sameGeneration(g, old.Current) {
			return conflict("a generation never changes; a new one has a new number")
		}
		return nil
	case g.Number < old.Current.Number:
		return conflict("the number of a generation only grows")
	}
	if err := t.addGeneration(old.ID, g); err != nil {
		return err
	}
	if old.Current.Number == 0 {
		return nil
	}
	if err := t.resume(old.ID, now); err != nil {
		return err
	}
	return t.dropUnneeded(old.ID, old.Current.Number)
}

// dropUnneeded removes a generation, unless it is the current one or a lease
// needs it, and puts its key on the ledger.
func (t txn) dropUnneeded(vim string, number int64) error {
	if past, err := t.any(pastGeneration, vim, number); err != nil || !past {
		return err
	}
	if needed, err := t.any(neededGeneration, vim, number); err != nil || needed {
		return err
	}
	if _, err := t.exec(retireKeyOfGeneration, micro(t.s.now()), vim, number); err != nil {
		return err
	}
	_, err := t.exec(deleteGeneration, vim, number)
	return err
}

// sameGeneration compares as the store does: times in microseconds.
func sameGeneration(a, b broker.Generation) bool {
	same := micro(a.CredentialExpiresAt) == micro(b.CredentialExpiresAt)
	a.CredentialExpiresAt = b.CredentialExpiresAt
	return same && a == b
}
