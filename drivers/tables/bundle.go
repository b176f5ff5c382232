package tables

import (
	"context"

	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	bundles      = keyedBy(`id`, `vnf_bundles`, "row", rows.BundleColumns, same[bundle.Row], same[bundle.Row])
	bundleOfName = statement(bundles.text + ` WHERE project = ?1 AND kind = ?2 AND name = ?3`)
	deleteBundle = statement(`DELETE FROM vnf_bundles WHERE id = ?1`)
)

// CreateBundles stores rows of one project.
func (s *Tables) CreateBundles(ctx context.Context, all []bundle.Row, limit int, e audit.Entry) error {
	err := s.write(ctx, e, func(t Tx) error {
		if err := t.room(bundleQuota, all[0].Project, len(all), limit); err != nil {
			return err
		}
		for _, r := range all {
			bundles.add(t, r)
		}
		return nil
	})
	return doing(err, "creating %s %s", all[0].Kind, all[0].ID)
}

// Bundle returns the row of a name.
func (s *Tables) Bundle(ctx context.Context, project string, k bundle.Kind, name string) (bundle.Row, error) {
	found, err := lookUp(ctx, s, bundles.scan, bundleOfName, project, string(k), name)
	r, err := rows.First(string(k), found, err)
	return r, doing(err, "reading a %s", k)
}

// Bundles lists rows.
func (s *Tables) Bundles(ctx context.Context, f bundle.Filter) ([]bundle.Row, error) {
	where, order := rows.WhereBundles(f)
	text, args := where.SelectFrom(bundles.text)
	all, err := read(ctx, s, bundles.scan, text+` ORDER BY `+order+` LIMIT ?`, append(args, f.Limit)...)
	return all, doing(err, "listing rows of ONAP's door")
}

// UpdateBundle changes a row by a function.
func (s *Tables) UpdateBundle(ctx context.Context, id string, change func(*bundle.Row) error, e *audit.Entry) (bundle.Row, error) {
	write := s.change
	if e != nil {
		write = s.recording(*e)
	}
	return bundles.amend(ctx, write, id, change, func(old, next bundle.Row) (bundle.Row, error) {
		next.ID, next.Project, next.Kind, next.Name = old.ID, old.Project, old.Kind, old.Name
		return next, rows.Move("a row", old.State, next.State)
	})
}

// DeleteBundles removes rows, and retires their keys.
func (s *Tables) DeleteBundles(ctx context.Context, ids []string, e audit.Entry) error {
	err := s.write(ctx, e, func(t Tx) error {
		for _, id := range ids {
			r, err := bundles.locked(t, id)
			if rows.IsNotFound(err) {
				continue
			}
			if err != nil {
				return err
			}
			t.queue(deleteBundle, id)
			if r.Ref != "" {
				t.queue(retireSigningKey, r.KeyStore, string(r.Ref), r.ID, r.Owner.Generation, s.db.Now())
			}
		}
		return nil
	})
	return doing(err, "deleting rows of ONAP's door")
}
