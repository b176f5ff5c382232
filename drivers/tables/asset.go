package tables

import (
	"context"
	"slices"
	"time"

	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	assets          = keyedBy(`id`, `assets`, "virtual link or volume", rows.AssetColumns, rows.Asset.Read, rows.AssetRow)
	unsettledAssets = statement(assets.text + `/*by asset_unsettled*/
		WHERE (loose OR state <> 'ready') AND since < ?1 ORDER BY since, id LIMIT ?2`)
	deleteAsset = statement(`DELETE FROM assets WHERE id = ?1`)
	addViewer   = statement(`INSERT INTO asset_viewers (project, asset) VALUES (?1, ?2) ON CONFLICT DO NOTHING`)
)

var (
	usesOfAsset  = statement(`SELECT instance, since, count(*) OVER () FROM asset_uses WHERE asset = ?1 ORDER BY instance LIMIT ?2`)
	endUses      = statement(`DELETE FROM asset_uses WHERE asset = ?1`)
	assetsOf     = statement(`SELECT asset FROM asset_uses WHERE instance = ?1`)
	leaveAssets  = statement(`DELETE FROM asset_uses WHERE instance = ?1 AND NOT asset = ANY (?2)`)
	loosenAssets = statement(`UPDATE assets SET loose = TRUE WHERE id = ANY (?1) AND maker <> '' AND NOT loose`)
	// Whoever removes an asset locks its row against this.
	holdAssets = statement(`SELECT id FROM assets WHERE id = ANY (?1) AND state = 'ready' ORDER BY id FOR SHARE`)
	takeAssets = statement(`INSERT INTO asset_uses (asset, instance, since) SELECT id, ?1, ?2 FROM assets WHERE id = ANY (?3)`)
)

// CreateAsset stores a new asset.
func (s *Tables) CreateAsset(ctx context.Context, a asset.Asset, most int, e audit.Entry) error {
	a.Revision = 1
	return assets.create(ctx, s, e, a.ID, a, func(t Tx) error {
		if err := t.occupy(a.VIM); err != nil {
			return err
		}
		return t.room(assetQuotas[a.Kind], a.Project, 1, most)
	}, func(t Tx) error {
		for _, project := range a.Viewers() {
			t.queue(addViewer, project, a.ID)
		}
		t.stand(a.OnVIM(), []string{a.VIM})
		return nil
	})
}

// Asset returns one by its id.
func (s *Tables) Asset(ctx context.Context, id string) (asset.Asset, error) {
	return assets.get(ctx, s, id)
}

// Assets lists the newest first.
func (s *Tables) Assets(ctx context.Context, f asset.Filter) ([]asset.Asset, string, error) {
	var c rows.Conditions
	c.AddIf(f.Viewer != "" && f.Network == "", `id IN (SELECT asset FROM asset_viewers WHERE project IN (?, '*'))`, f.Viewer)
	c.AddIf(f.Kind != "", `kind = ?`, string(f.Kind))
	c.AddIf(f.Name != "", `name = ?`, f.Name)
	c.AddIf(f.Network != "", `vim = ? AND network = ?`, f.VIM, f.Network)
	return assets.page(ctx, s, rows.AssetOrder, f.Page, assets.text, &c)
}

func scanAssetUse(all *int) func(Row) (asset.Use, error) {
	return func(row Row) (u asset.Use, err error) { return u, row.Scan(&u.Instance, &u.Since, all) }
}

// AssetUses returns the uses of one.
func (s *Tables) AssetUses(ctx context.Context, id string, limit int) (some []asset.Use, all int, err error) {
	some, err = lookUp(ctx, s, scanAssetUse(&all), usesOfAsset, id, limit)
	return some, all, doing(err, "reading the uses of asset %s", id)
}

// recordingIf is recording, of an entry that says what was done.
func (s *Tables) recordingIf(e audit.Entry) func(context.Context, func(Tx) error) error {
	if e.Action == "" {
		return s.change
	}
	return s.recording(e)
}

// UpdateAsset changes an asset by a function, which is told who uses it.
func (s *Tables) UpdateAsset(
	ctx context.Context, id string, change func(*asset.Asset, []asset.Use, int) error, e audit.Entry,
) (asset.Asset, error) {
	var some []asset.Use
	all := 0
	find := func(t Tx) (l asset.Asset, err error) {
		if l, err = assets.locked(t, id); err == nil {
			all = 0
			some, err = query(t, scanAssetUse(&all), usesOfAsset, id, asset.MaxUses)
		}
		return l, err
	}
	store := func(t Tx, old, next asset.Asset) (asset.Asset, error) {
		next, err := old.Moved(next)
		if err != nil {
			return next, err
		}
		if next.State == asset.Removing && all > 0 {
			t.queue(endUses, id)
		}
		return next, assets.store(t, id, next)
	}
	return amend(ctx, s.recordingIf(e), "updating asset "+id, find, func(a *asset.Asset) error { return change(a, some, all) }, store)
}

// DeleteAsset removes one.
func (s *Tables) DeleteAsset(ctx context.Context, id string, e audit.Entry) error {
	err := s.recordingIf(e)(ctx, func(t Tx) error {
		a, err := orNothing(assets.locked(t, id))
		if err == nil && a.State != asset.Removing {
			err = rows.Conflict("it is " + string(a.State))
		}
		if err == nil {
			t.stand(a.OnVIM(), nil)
			t.queue(deleteAsset, id)
		}
		return err
	})
	return doing(err, "deleting asset %s", id)
}

// UnsettledAssets lists the oldest first.
func (s *Tables) UnsettledAssets(ctx context.Context, before time.Time, limit int) ([]asset.Asset, error) {
	all, err := assets.each(lookUp(ctx, s, assets.scan, unsettledAssets, before, limit))
	return all, doing(err, "listing assets that are not settled")
}

// use notes which assets an instance uses, in the transaction that writes the instance. It takes none that is not ready.
func (t Tx) use(instance string, links []string) error {
	had, err := query(t, scalar[string], assetsOf, instance)
	if err != nil || len(had)+len(links) == 0 {
		return err
	}
	of := func(all, but []string) []string {
		rest := slices.DeleteFunc(slices.Clone(all), func(id string) bool { return slices.Contains(but, id) })
		slices.Sort(rest)
		return slices.Compact(rest)
	}
	if wanted := of(links, had); len(wanted) > 0 {
		held, err := query(t, scalar[string], holdAssets, wanted)
		if err == nil && len(held) < len(wanted) {
			err = rows.AssetsGone()
		}
		if err != nil {
			return err
		}
		t.queue(takeAssets, instance, t.Now(), wanted)
	}
	if left := of(had, links); len(left) > 0 {
		t.queue(leaveAssets, instance, links)
		t.queue(loosenAssets, left)
	}
	return nil
}
