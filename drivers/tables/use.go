package tables

import (
	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

var (
	usesOfVIM = statement(`SELECT kind, subject, project, name, count(*) OVER () FROM vim_uses WHERE vim = ?1
		ORDER BY kind, subject LIMIT ?2`)
	clustersOfVIM = statement(`SELECT id, project, namespace || '/' || name, count(*) OVER () FROM clusters
		WHERE management = ?1 AND state <> 'retired' ORDER BY namespace, name LIMIT ?2`)
	dropUsesOfVIM = statement(`DELETE FROM vim_uses WHERE vim = ?1`)
	vimTakesUses  = statement(`SELECT 1 FROM vims WHERE id = ?1 AND state = 'registered'`)
	leaveVIMs     = statement(`DELETE FROM vim_uses WHERE kind = ?1 AND subject = ?2 AND NOT vim = ANY (?3)`)
	standOnVIMs   = statement(`INSERT INTO vim_uses (vim, kind, subject, project, name) SELECT id, ?1, ?2, ?3, ?4 FROM vims WHERE id = ANY (?5)
		ON CONFLICT (vim, kind, subject) DO UPDATE SET name = excluded.name WHERE vim_uses.name <> excluded.name`)
)

// unused is [broker.InUse] while something stands on a VIM, which the transaction holds.
func (t Tx) unused(vim string) error {
	all := 0
	some, err := query(t, func(row Row) (u broker.Use, err error) {
		return u, row.Scan(&u.Kind, &u.Subject, &u.Project, &u.Name, &all)
	}, usesOfVIM, vim, broker.MaxUses)
	if err == nil && len(some) == 0 {
		some, err = query(t, func(row Row) (broker.Use, error) {
			u := broker.Use{Kind: broker.UseCluster}
			return u, row.Scan(&u.Subject, &u.Project, &u.Name, &all)
		}, clustersOfVIM, vim, broker.MaxUses)
	}
	if err == nil && len(some) > 0 {
		err = broker.InUse(some, all)
	}
	return err
}

// occupy makes sure that something can come to stand on a VIM, and that the VIM stays until the transaction ends.
// An empty id is no VIM.
func (t Tx) occupy(vim string) error {
	if vim == "" {
		return nil
	}
	t.Share(vim)
	takes, err := t.there(vimTakesUses, vim)
	if err == nil && !takes {
		err = rows.VIMGoing()
	}
	return err
}

// stand notes that something stands on these VIMs and on no others, in the transaction that writes the thing.
// One that was given up with its VIM stands on none.
func (t Tx) stand(u broker.Use, vims []string) {
	t.queue(leaveVIMs, u.Kind, u.Subject, vims)
	t.queue(standOnVIMs, u.Kind, u.Subject, u.Project, u.Name, vims)
}
