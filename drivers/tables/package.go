package tables

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	// Each package's uses are looked for by themselves: EXISTS may read those of all.
	packageColumns = `document, state, touched_at, revision,
		(SELECT true FROM vnf_package_uses u WHERE u.package = vnf_packages.id LIMIT 1) IS NOT NULL`
	packageByID   = statement(`SELECT ` + packageColumns + ` FROM vnf_packages WHERE id = ?1`)
	packageByVNFD = statement(`SELECT ` + packageColumns + ` FROM vnf_packages WHERE project = ?1 AND vnfd = ?2 AND vnfd <> ''`)
	readChunk     = statement(`SELECT bytes FROM vnf_package_chunks WHERE content = ?1 AND number = ?2`)

	// lockPackageRow comes first, so that what is read then holds.
	lockPackageRow = statement(`SELECT 1 FROM vnf_packages WHERE id = ?1 FOR UPDATE`)
	insertPackage  = statement(`INSERT INTO vnf_packages
		(id, project, state, vnfd, content, stored, created_at, touched_at, revision, document)
		VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?7, ?8, ?9)`)
	// An upload that begins, or is undone, has no bytes yet.
	updatePackage = statement(`UPDATE vnf_packages SET state = ?1, vnfd = ?2,
		stored = CASE WHEN content = ?3 THEN stored ELSE 0 END, content = ?3,
		touched_at = ?4, revision = ?5, document = ?6 WHERE id = ?7`)
	deletePackage = statement(`DELETE FROM vnf_packages WHERE id = ?1`)
	touchPackage  = statement(`UPDATE vnf_packages SET touched_at = ?1
		WHERE id = ?2 AND content = ?3 AND state IN ('uploading', 'processing')`)

	projectOfUpload = statement(`SELECT project FROM vnf_packages WHERE id = ?1`)
	growPackage     = statement(`UPDATE vnf_packages SET stored = stored + ?1 WHERE id = ?2 AND content = ?3 AND state = 'uploading'`)
	countBytes      = statement(`SELECT coalesce(sum(stored), 0)::bigint FROM vnf_packages WHERE project = ?1`)
	insertChunk     = statement(`INSERT INTO vnf_package_chunks (content, number, bytes) VALUES (?1, ?2, ?3)`)
	dropContent     = statement(`INSERT INTO vnf_contents_gone (content) VALUES (?1) ON CONFLICT DO NOTHING`)
	contentGone     = statement(`SELECT content FROM vnf_contents_gone LIMIT 1`)
	sweepChunks     = statement(`DELETE FROM vnf_package_chunks WHERE content = ?1 AND number IN (
		SELECT number FROM vnf_package_chunks WHERE content = ?1 LIMIT ?2)`)
	sweptClean = statement(`DELETE FROM vnf_contents_gone WHERE content = ?1`)
)

// CreatePackage stores a new package.
func (s *Tables) CreatePackage(ctx context.Context, p catalog.Package, limit int, e audit.Entry) error {
	p.Revision = 1
	err := s.write(ctx, e, func(t Tx) error {
		if err := t.room(packageQuota, p.Project, 1, limit); err != nil {
			return err
		}
		t.queue(insertPackage, p.ID, p.Project, p.State, p.VNFDID, p.Content, p.CreatedAt, p.TouchedAt, p.Revision, p.Document())
		return nil
	})
	return doing(err, "creating VNF package %s", p.ID)
}

// Package returns one by its id.
func (s *Tables) Package(ctx context.Context, id string) (catalog.Package, error) {
	p, err := onePackage(lookUp(ctx, s, scanPackage, packageByID, id))
	return p, doing(err, "reading VNF package %s", id)
}

// PackageOfVNFD returns the package of a project with that descriptor.
func (s *Tables) PackageOfVNFD(ctx context.Context, project, vnfd string) (catalog.Package, error) {
	p, err := onePackage(lookUp(ctx, s, scanPackage, packageByVNFD, project, vnfd))
	return p, doing(err, "reading the VNF package of a VNFD")
}

// Packages lists by age.
func (s *Tables) Packages(ctx context.Context, f catalog.Filter) ([]catalog.Package, string, error) {
	from := `SELECT ` + packageColumns + ` FROM vnf_packages`
	if !f.SilentSince.IsZero() {
		from += `/*by package_uploading*/`
	}
	all, next, err := page(ctx, s, rows.PackageOrder, f.Page, scanPackage, from, rows.WherePackages(f))
	return all, next, doing(err, "listing VNF packages")
}

func onePackage(found []catalog.Package, err error) (catalog.Package, error) {
	return rows.First("VNF package", found, err)
}

func scanPackage(row Row) (catalog.Package, error) {
	var r rows.Package
	if err := row.Scan(&r.Document, &r.State, &r.TouchedAt, &r.Revision, &r.InUse); err != nil {
		return catalog.Package{}, err
	}
	return r.Package()
}

// pkg reads a package and locks its row.
func (t Tx) pkg(id string) (catalog.Package, error) {
	t.queue(lockPackageRow, id)
	return onePackage(query(t, scanPackage, packageByID, id))
}

// UpdatePackage changes a package by a function.
func (s *Tables) UpdatePackage(
	ctx context.Context, id string, change func(*catalog.Package) error, e audit.Entry,
) (catalog.Package, error) {
	read := func(t Tx) (catalog.Package, error) { return t.pkg(id) }
	store := func(t Tx, old, next catalog.Package) (catalog.Package, error) {
		next, err := old.Moved(next)
		if err == nil {
			t.queue(updatePackage, next.State, next.VNFDID, next.Content, next.TouchedAt, next.Revision, next.Document(), id)
			t.dropContent(old.Content, next.Content)
		}
		return next, err
	}
	return amend(ctx, s.recording(e), "updating VNF package "+id, read, change, store)
}

// dropContent notes the bytes of a content for removal, if another takes its place.
func (t Tx) dropContent(old, next string) {
	if old != "" && old != next {
		t.queue(dropContent, old)
	}
}

// DeletePackage removes a package that no VNF instance was made from.
func (s *Tables) DeletePackage(ctx context.Context, id string, e audit.Entry) error {
	err := s.write(ctx, e, func(t Tx) error {
		p, err := orNothing(t.pkg(id))
		if err != nil {
			return err
		}
		if err := p.Undeletable(); err != nil {
			return err
		}
		t.queue(deletePackage, id)
		t.dropContent(p.Content, "")
		return nil
	})
	return doing(err, "deleting VNF package %s", id)
}

// AddChunk stores bytes of an upload.
func (s *Tables) AddChunk(ctx context.Context, id, content string, n int, b []byte, limit int64) error {
	found, err := lookUp(ctx, s, scalar[string], projectOfUpload, id) // which never changes
	if err == nil && len(found) == 0 {
		err = rows.OtherUpload()
	}
	if err == nil {
		err = s.change(ctx, func(t Tx) error { return t.addChunk(found[0], id, content, n, b, limit) })
	}
	return doing(err, "storing bytes of VNF package %s", id)
}

func (t Tx) addChunk(project, id, content string, n int, b []byte, limit int64) error {
	if err := t.upload(growPackage, len(b), id, content); err != nil {
		return err
	}
	t.lock(lockPackages, project)
	t.queue(insertChunk, content, n, b)
	total, err := t.count(countBytes, project)
	if err != nil {
		return err
	}
	if limit > 0 && total > limit {
		return rows.BytesUsedUp(limit)
	}
	return nil
}

// Chunk returns bytes of a content.
func (s *Tables) Chunk(ctx context.Context, content string, n int) ([]byte, error) {
	found, err := lookUp(ctx, s, scalar[[]byte], readChunk, content, n)
	b, err := rows.First("chunk", found, err)
	return b, doing(err, "reading bytes of a VNF package")
}

// TouchPackage says that an upload is alive.
func (s *Tables) TouchPackage(ctx context.Context, id, content string, at time.Time) error {
	err := s.change(ctx, func(t Tx) error { return t.upload(touchPackage, at, id, content) })
	return doing(err, "keeping the upload of VNF package %s", id)
}

// upload runs an update that must meet an upload that goes on.
func (t Tx) upload(text string, args ...any) error {
	met, err := t.any(text, args...)
	if err == nil && !met {
		err = rows.OtherUpload()
	}
	return err
}

// SweepChunks removes bytes that no package names any more.
func (s *Tables) SweepChunks(ctx context.Context, limit int) (more bool, err error) {
	gone, err := lookUp(ctx, s, scalar[string], contentGone)
	if err == nil && len(gone) > 0 {
		err = s.change(ctx, func(t Tx) error {
			swept, err := t.Exec(sweepChunks, gone[0], limit)
			if err == nil && swept < int64(limit) {
				t.queue(sweptClean, gone[0])
			}
			return err
		})
	}
	return len(gone) > 0, doing(err, "removing bytes of VNF packages that are gone")
}

var (
	holdPackageRow = statement(`SELECT 1 FROM vnf_packages WHERE id = ?1 FOR KEY SHARE`)

	dropUses = statement(`DELETE FROM vnf_package_uses WHERE instance = ?1 AND NOT package = ANY (?2)`)
	addUses  = statement(`INSERT INTO vnf_package_uses (package, instance) SELECT id, ?1 FROM vnf_packages
		WHERE id = ANY (?2) ON CONFLICT DO NOTHING`)
)

// holdPackage locks a package that an instance takes, so that it is not deleted before the instance's
// row is there. One that is gone already is [broker.ErrConflict].
func (t Tx) holdPackage(id string) error {
	there, err := t.there(holdPackageRow, id)
	if err == nil && !there {
		err = rows.PackageGone()
	}
	return err
}

// keepPackages notes which packages an instance holds, in the transaction that writes the instance.
func (t Tx) keepPackages(instance string, packages ...string) {
	t.queue(dropUses, instance, packages)
	t.queue(addUses, instance, packages)
}

var packagesByState = statement(`SELECT state, count(*) FROM vnf_packages GROUP BY state`)

// CountPackages counts packages by state.
func (s *Tables) CountPackages(ctx context.Context) (map[catalog.State]int, error) {
	counts, err := readMap[catalog.State, int](ctx, s, packagesByState)
	return counts, doing(err, "counting VNF packages")
}
