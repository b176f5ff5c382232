package tables

import (
	"context"
	"slices"
	"time"

	"github.com/vimbroker/vimbroker/broker/link"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	links          = keyedBy(`id`, `virtual_links`, "virtual link", rows.LinkColumns, rows.Link.Read, rows.LinkRow)
	unsettledLinks = statement(links.text + `/*by link_unsettled*/
		WHERE (loose OR state <> 'ready') AND since < ?1 ORDER BY since, id LIMIT ?2`)
	deleteLink = statement(`DELETE FROM virtual_links WHERE id = ?1`)
	addViewer  = statement(`INSERT INTO link_viewers (project, link) VALUES (?1, ?2) ON CONFLICT DO NOTHING`)
)

var (
	usesOfLink  = statement(`SELECT instance, since, count(*) OVER () FROM link_uses WHERE link = ?1 ORDER BY instance LIMIT ?2`)
	endUses     = statement(`DELETE FROM link_uses WHERE link = ?1`)
	linksOf     = statement(`SELECT link FROM link_uses WHERE instance = ?1`)
	leaveLinks  = statement(`DELETE FROM link_uses WHERE instance = ?1 AND NOT link = ANY (?2)`)
	loosenLinks = statement(`UPDATE virtual_links SET loose = TRUE WHERE id = ANY (?1) AND maker <> '' AND NOT loose`)
	// Whoever removes a link locks its row against this.
	holdLinks = statement(`SELECT id FROM virtual_links WHERE id = ANY (?1) AND state = 'ready' ORDER BY id FOR SHARE`)
	takeLinks = statement(`INSERT INTO link_uses (link, instance, since) SELECT id, ?1, ?2 FROM virtual_links WHERE id = ANY (?3)`)
)

// CreateLink stores a new asset.
func (s *Tables) CreateLink(ctx context.Context, a link.Link, most int, e audit.Entry) error {
	a.Revision = 1
	return links.create(ctx, s, e, a.ID, a, func(t Tx) error {
		if err := t.occupy(a.VIM); err != nil {
			return err
		}
		return t.room(linkQuota, a.Project, 1, most)
	}, func(t Tx) error {
		for _, project := range a.Viewers() {
			t.queue(addViewer, project, a.ID)
		}
		t.stand(a.OnVIM(), []string{a.VIM})
		return nil
	})
}

// Link returns one by its id.
func (s *Tables) Link(ctx context.Context, id string) (link.Link, error) {
	return links.get(ctx, s, id)
}

// Links lists the newest first.
func (s *Tables) Links(ctx context.Context, f link.Filter) ([]link.Link, string, error) {
	var c rows.Conditions
	c.AddIf(f.Viewer != "" && f.Network == "", `id IN (SELECT link FROM link_viewers WHERE project IN (?, '*'))`, f.Viewer)
	c.AddIf(f.Name != "", `name = ?`, f.Name)
	c.AddIf(f.Network != "", `vim = ? AND network = ?`, f.VIM, f.Network)
	return links.page(ctx, s, rows.LinkOrder, f.Page, links.text, &c)
}

func scanLinkUse(all *int) func(Row) (link.Use, error) {
	return func(row Row) (u link.Use, err error) { return u, row.Scan(&u.Instance, &u.Since, all) }
}

// LinkUses returns the uses of one.
func (s *Tables) LinkUses(ctx context.Context, id string, limit int) (some []link.Use, all int, err error) {
	some, err = lookUp(ctx, s, scanLinkUse(&all), usesOfLink, id, limit)
	return some, all, doing(err, "reading the uses of virtual link %s", id)
}

// recordingIf is recording, of an entry that says what was done.
func (s *Tables) recordingIf(e audit.Entry) func(context.Context, func(Tx) error) error {
	if e.Action == "" {
		return s.change
	}
	return s.recording(e)
}

// UpdateLink changes a link by a function, which is told who uses it.
func (s *Tables) UpdateLink(
	ctx context.Context, id string, change func(*link.Link, []link.Use, int) error, e audit.Entry,
) (link.Link, error) {
	var some []link.Use
	all := 0
	find := func(t Tx) (l link.Link, err error) {
		if l, err = links.locked(t, id); err == nil {
			all = 0
			some, err = query(t, scanLinkUse(&all), usesOfLink, id, link.MaxUses)
		}
		return l, err
	}
	store := func(t Tx, old, next link.Link) (link.Link, error) {
		next, err := old.Moved(next)
		if err != nil {
			return next, err
		}
		if next.State == link.Removing && all > 0 {
			t.queue(endUses, id)
		}
		return next, links.store(t, id, next)
	}
	return amend(ctx, s.recordingIf(e), "updating virtual link "+id, find, func(a *link.Link) error { return change(a, some, all) }, store)
}

// DeleteLink removes a link.
func (s *Tables) DeleteLink(ctx context.Context, id string, e audit.Entry) error {
	err := s.recordingIf(e)(ctx, func(t Tx) error {
		a, err := orNothing(links.locked(t, id))
		if err == nil && a.State != link.Removing {
			err = rows.Conflict("the virtual link is " + string(a.State))
		}
		if err == nil {
			t.stand(a.OnVIM(), nil)
			t.queue(deleteLink, id)
		}
		return err
	})
	return doing(err, "deleting virtual link %s", id)
}

// UnsettledLinks lists the oldest first.
func (s *Tables) UnsettledLinks(ctx context.Context, before time.Time, limit int) ([]link.Link, error) {
	all, err := links.each(lookUp(ctx, s, links.scan, unsettledLinks, before, limit))
	return all, doing(err, "listing links that are not settled")
}

// use notes which links an instance uses, in the transaction that writes the instance. It takes none that is not ready.
func (t Tx) use(instance string, links []string) error {
	had, err := query(t, scalar[string], linksOf, instance)
	if err != nil || len(had)+len(links) == 0 {
		return err
	}
	of := func(all, but []string) []string {
		rest := slices.DeleteFunc(slices.Clone(all), func(id string) bool { return slices.Contains(but, id) })
		slices.Sort(rest)
		return slices.Compact(rest)
	}
	if wanted := of(links, had); len(wanted) > 0 {
		held, err := query(t, scalar[string], holdLinks, wanted)
		if err == nil && len(held) < len(wanted) {
			err = rows.LinksGone()
		}
		if err != nil {
			return err
		}
		t.queue(takeLinks, instance, t.Now(), wanted)
	}
	if left := of(had, links); len(left) > 0 {
		t.queue(leaveLinks, instance, links)
		t.queue(loosenLinks, left)
	}
	return nil
}
