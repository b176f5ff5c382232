package postgres

import (
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

const (
	// generationColumns are those of generationValues.
	generationColumns = `vim, number, endpoint, ca_cert, insecure_skip_verify,
		server_name, namespace, scope, discovered, identity, credential_kind, username, credential_expires_at, sealed, key_ref, key_store`
	insertGeneration = `INSERT INTO vim_generations (` + generationColumns + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`
	neededGeneration = `SELECT FROM leases
		WHERE vim = $1 AND vim_generation = $2 AND (state <> 'revoked' OR sealed <> '') LIMIT 1`
	pastGeneration = `SELECT FROM vim_generations g JOIN vims v ON v.id = g.vim
		WHERE g.vim = $1 AND g.number = $2 AND g.number <> v.generation`
	deleteGeneration = `DELETE FROM vim_generations WHERE vim = $1 AND number = $2`
)

func (t txn) addGeneration(vim string, g broker.Generation) {
	t.queue(insertGeneration, generationValues(vim, g)...)
}

// generationValues are a new row's.
func generationValues(vim string, g broker.Generation) []any {
	return []any{
		vim, g.Number, g.Target.Endpoint, g.Target.CACert, g.Target.InsecureSkipVerify,
		g.Target.ServerName, g.Target.Namespace, encode(g.Target.Scope), g.Discovered, g.Identity, g.CredentialKind, g.Username,
		stamp(g.CredentialExpiresAt), g.Sealed, string(g.Key), g.KeyStore,
	}
}

// replaceGeneration makes g the current generation of old, if it is another one.
// The one before stays while a lease needs it, and leases that wait after failed
// tries are taken up again now. The row of the VIM must name g already, and the VIM
// be held.
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
	t.addGeneration(old.ID, g)
	if old.Current.Number == 0 {
		return nil
	}
	t.resume(old.ID, now)
	return t.dropUnneeded(old.ID, old.Current.Number)
}

// dropUnneeded removes a generation, unless it is the current one or a lease
// needs it, and puts its key on the ledger. Nobody else may end such a lease
// meanwhile: the VIM, or lockGeneration of it, must be held.
func (t txn) dropUnneeded(vim string, number int64) error {
	if past, err := t.any(pastGeneration, vim, number); err != nil || !past {
		return err
	}
	if needed, err := t.any(neededGeneration, vim, number); err != nil || needed {
		return err
	}
	t.queue(retireKeyOfGeneration, stamp(t.s.now()), vim, number)
	t.queue(deleteGeneration, vim, number)
	return nil
}

// sameGeneration compares as the store does: times in microseconds.
func sameGeneration(a, b broker.Generation) bool {
	same := stamp(a.CredentialExpiresAt) == stamp(b.CredentialExpiresAt)
	a.CredentialExpiresAt = b.CredentialExpiresAt
	return same && a == b
}
