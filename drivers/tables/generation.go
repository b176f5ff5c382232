package tables

import (
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

var (
	insertGeneration = statement(rows.GenerationColumns.Insert(`vim_generations`))
	// A lease that has ended needs it for as long as it has a turn: until it was tried.
	neededGeneration = statement(either(`SELECT 1 FROM live_leases WHERE vim = ?1 AND vim_generation = ?2
		UNION ALL SELECT 1 FROM lease_turns WHERE vim = ?1 AND vim_generation = ?2 LIMIT 1`,
		`SELECT 1 FROM leases INDEXED BY lease_needs_generation
		WHERE vim = ?1 AND vim_generation = ?2 AND (live = 1 OR sealed <> '') LIMIT 1`))
	pastGeneration = statement(`SELECT 1 FROM vim_generations g JOIN vims v ON v.id = g.vim
		WHERE g.vim = ?1 AND g.number = ?2 AND g.number <> v.generation`)
	deleteGeneration = statement(`DELETE FROM vim_generations WHERE vim = ?1 AND number = ?2`)
)

func (t Tx) addGeneration(vim string, g broker.Generation) {
	t.queue(insertGeneration, rows.GenerationColumns.Values(&rows.Generation{VIM: vim, Generation: g})...)
}

// replaceGeneration makes g the current generation of old, if it is another one.
// The one before stays while a lease needs it, and leases that wait after failed
// tries are taken up again now. The row of the VIM must name g already, and the VIM
// be held.
func (t Tx) replaceGeneration(old broker.VIM, g broker.Generation, now time.Time) error {
	if replaces, err := rows.Replaces(old.Current, g); err != nil || !replaces {
		return err
	}
	t.addGeneration(old.ID, g)
	if old.Current.Number == 0 {
		return nil
	}
	t.resume(old.ID, now)
	return t.dropUnneeded(old.ID, old.Current.Number)
}

// dropUnneeded removes a generation, unless it is the current one or a lease
// needs it, and puts its key on the ledger. No other transaction may end such a lease
// at the same time: the caller holds the VIM or its lockGeneration.
func (t Tx) dropUnneeded(vim string, number int64) error {
	if past, err := t.there(pastGeneration, vim, number); err != nil || !past {
		return err
	}
	if needed, err := t.there(neededGeneration, vim, number); err != nil || needed {
		return err
	}
	t.queue(retireKeyOfGeneration, t.Now(), vim, number)
	t.queue(deleteGeneration, vim, number)
	return nil
}
