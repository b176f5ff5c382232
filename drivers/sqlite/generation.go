package sqlite

import (
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

var (
	insertGeneration = prepared(rows.GenerationColumns.Insert(`vim_generations`))
	neededGeneration = prepared(`SELECT 1 FROM leases INDEXED BY lease_needs_generation
		WHERE vim = ? AND vim_generation = ? AND (live = 1 OR sealed <> '') LIMIT 1`)
	pastGeneration = prepared(`SELECT 1 FROM vim_generations g JOIN vims v ON v.id = g.vim
		WHERE g.vim = ? AND g.number = ? AND g.number <> v.generation`)
	deleteGeneration = prepared(`DELETE FROM vim_generations WHERE vim = ? AND number = ?`)
)

func (t txn) addGeneration(vim string, g broker.Generation) error {
	_, err := t.exec(insertGeneration, values(rows.GenerationColumns.Fields(&rows.Generation{VIM: vim, Generation: g}))...)
	return err
}

// replaceGeneration makes g the current generation of old, if it is another one.
// The one before stays while a lease needs it, and leases that wait after failed
// tries are taken up again now. The row of the VIM must name g already.
func (t txn) replaceGeneration(old broker.VIM, g broker.Generation, now time.Time) error {
	if replaces, err := rows.Replaces(old.Current, g); err != nil || !replaces {
		return err
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
	t.shared().RetireKey(vim, number)
	_, err := t.exec(deleteGeneration, vim, number)
	return err
}
