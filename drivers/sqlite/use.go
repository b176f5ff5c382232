package sqlite

import (
	"database/sql"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

var (
	usesOfVIM = prepared(`SELECT kind, subject, project, name, count(*) OVER () FROM vim_uses WHERE vim = ?
		ORDER BY kind, subject LIMIT ?+0`)
	dropUsesOfVIM = prepared(`DELETE FROM vim_uses WHERE vim = ?`)
	vimTakesUses  = prepared(`SELECT 1 FROM vims WHERE id = ? AND state = 'registered'`)
	leaveVIMs     = prepared(`DELETE FROM vim_uses WHERE kind = ? AND subject = ? AND vim NOT IN (SELECT value FROM json_each(?))`)
	standOnVIMs   = prepared(`INSERT INTO vim_uses (vim, kind, subject, project, name) SELECT id, ?, ?, ?, ? FROM vims
		WHERE id IN (SELECT value FROM json_each(?))
		ON CONFLICT (vim, kind, subject) DO UPDATE SET name = excluded.name WHERE vim_uses.name <> excluded.name`)
)

// unused is [broker.InUse] while something stands on a VIM.
func (t txn) unused(vim string) error {
	all := 0
	found, err := t.query(usesOfVIM, vim, broker.MaxUses)
	some, err := collect(found, err, func(row *sql.Rows) (u broker.Use, err error) {
		return u, row.Scan(&u.Kind, &u.Subject, &u.Project, &u.Name, &all)
	})
	if err == nil && len(some) > 0 {
		err = broker.InUse(some, all)
	}
	return err
}

// occupy makes sure that something can come to stand on a VIM. Writes follow each other, so that the VIM is there when
// they are done. An empty id is no VIM.
func (t txn) occupy(vim string) error {
	if vim == "" {
		return nil
	}
	takes, err := t.any(vimTakesUses, vim)
	if err == nil && !takes {
		err = rows.VIMGoing()
	}
	return err
}

// stand notes that something stands on these VIMs and on no others, in the transaction that writes the thing.
// One that was given up with its VIM stands on none.
func (t txn) stand(u broker.Use, vims []string) error {
	on := rows.JSON(vims)
	if _, err := t.exec(leaveVIMs, u.Kind, u.Subject, on); err != nil {
		return err
	}
	_, err := t.exec(standOnVIMs, u.Kind, u.Subject, u.Project, u.Name, on)
	return err
}
