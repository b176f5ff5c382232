package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// Each package's uses are looked for by themselves: EXISTS may read those of all.
	packageColumns = `document, state, touched_at, revision,
		(SELECT true FROM vnf_package_uses u WHERE u.package = vnf_packages.id LIMIT 1) IS NOT NULL`
	packageByID   = `SELECT ` + packageColumns + ` FROM vnf_packages WHERE id = $1`
	packageByVNFD = `SELECT ` + packageColumns + ` FROM vnf_packages WHERE project = $1 AND vnfd = $2 AND vnfd <> ''`
	readChunk     = `SELECT bytes FROM vnf_package_chunks WHERE content = $1 AND number = $2`

	// lockPackageRow comes first, so that what is read then holds.
	lockPackageRow = `SELECT FROM vnf_packages WHERE id = $1 FOR UPDATE`
	countPackages  = `SELECT count(*) FROM vnf_packages WHERE project = $1`
	insertPackage  = `INSERT INTO vnf_packages (id, project, state, vnfd, content, stored, created_at, touched_at, revision, document)
		VALUES ($1, $2, $3, $4, $5, 0, $6, $7, $8, $9)`
	// An upload that begins, or is undone, has no bytes yet.
	updatePackage = `UPDATE vnf_packages SET state = $1, vnfd = $2, stored = CASE WHEN content = $3 THEN stored ELSE 0 END, content = $3,
		touched_at = $4, revision = $5, document = $6 WHERE id = $7`
	deletePackage = `DELETE FROM vnf_packages WHERE id = $1`
	touchPackage  = `UPDATE vnf_packages SET touched_at = $1 WHERE id = $2 AND content = $3 AND state IN ('uploading', 'processing')`

	projectOfUpload = `SELECT project FROM vnf_packages WHERE id = $1`
	growPackage     = `UPDATE vnf_packages SET stored = stored + $1 WHERE id = $2 AND content = $3 AND state = 'uploading'`
	countBytes      = `SELECT coalesce(sum(stored), 0)::bigint FROM vnf_packages WHERE project = $1`
	insertChunk     = `INSERT INTO vnf_package_chunks (content, number, bytes) VALUES ($1, $2, $3)`
	dropContent     = `INSERT INTO vnf_contents_gone (content) VALUES ($1) ON CONFLICT DO NOTHING`
	contentGone     = `SELECT content FROM vnf_contents_gone LIMIT 1`
	sweepChunks     = `DELETE FROM vnf_package_chunks WHERE content = $1 AND number IN (SELECT number FROM vnf_package_chunks WHERE content = $1 LIMIT $2)`
	sweptClean      = `DELETE FROM vnf_contents_gone WHERE content = $1`
)

// CreatePackage stores a new package.
func (s *Store) CreatePackage(ctx context.Context, p catalog.Package, limit int, e audit.Entry) error {
	p.Revision = 1
	err := s.write(ctx, e, func(t txn) error {
		t.lock(lockPackages, p.Project)
		counts, err := query(t, scalar[int], countPackages, p.Project)
		if err != nil {
			return err
		}
		if limit > 0 && counts[0] >= limit {
			return rows.PackagesUsedUp(limit)
		}
		t.queue(insertPackage, p.ID, p.Project, p.State, p.VNFDID, p.Content, stamp(p.CreatedAt), stamp(p.TouchedAt), p.Revision, p.Document())
		return nil
	})
	if err != nil {
		return fmt.Errorf("creating VNF package %s: %w", p.ID, err)
	}
	return nil
}

// Package returns one by its id.
func (s *Store) Package(ctx context.Context, id string) (catalog.Package, error) {
	p, err := onePackage(lookUp(ctx, s, scanPackage, packageByID, id))
	if err != nil {
		return catalog.Package{}, fmt.Errorf("reading VNF package %s: %w", id, err)
	}
	return p, nil
}

// PackageOfVNFD returns the package of a project with that descriptor.
func (s *Store) PackageOfVNFD(ctx context.Context, project, vnfd string) (catalog.Package, error) {
	p, err := onePackage(lookUp(ctx, s, scanPackage, packageByVNFD, project, vnfd))
	if err != nil {
		return catalog.Package{}, fmt.Errorf("reading the VNF package of a VNFD: %w", err)
	}
	return p, nil
}

// Packages lists by age.
func (s *Store) Packages(ctx context.Context, f catalog.Filter) ([]catalog.Package, string, error) {
	size, after, err := rows.ReadPage[rows.PackagePosition](f.Page)
	if err != nil {
		return nil, "", fmt.Errorf("listing VNF packages: %w", err)
	}
	text, args := rows.WherePackages(f, after, func(t time.Time) any { return stamp(t) }).SelectFrom(`SELECT ` +
		packageColumns + ` FROM vnf_packages`)
	all, err := read(ctx, s, scanPackage, numbered(text+` ORDER BY created_at, id LIMIT ?`), append(args, size+1)...)
	if err != nil {
		return nil, "", fmt.Errorf("listing VNF packages: %w", err)
	}
	page, next := rows.CutPackages(all, size)
	return page, next, nil
}

func onePackage(found []catalog.Package, err error) (catalog.Package, error) {
	return rows.First("VNF package", found, err)
}

func scanPackage(row pgx.CollectableRow) (catalog.Package, error) {
	var r rows.Package
	if err := row.Scan(&r.Document, &r.State, &moment{&r.TouchedAt}, &r.Revision, &r.InUse); err != nil {
		return catalog.Package{}, err
	}
	return r.Package()
}

// pkg reads a package and locks its row.
func (t txn) pkg(id string) (catalog.Package, error) {
	t.queue(lockPackageRow, id)
	return onePackage(query(t, scanPackage, packageByID, id))
}

// UpdatePackage changes a package by a function.
func (s *Store) UpdatePackage(ctx context.Context, id string, change func(*catalog.Package) error, e audit.Entry) (catalog.Package, error) {
	read := func(t txn) (catalog.Package, error) { return t.pkg(id) }
	return amend(ctx, s, "VNF package "+id, e, read, change, func(t txn, old, next catalog.Package) (catalog.Package, error) {
		next, err := old.Moved(next)
		if err == nil {
			t.queue(updatePackage, next.State, next.VNFDID, next.Content, stamp(next.TouchedAt), next.Revision, next.Document(), id)
			t.dropContent(old.Content, next.Content)
		}
		return next, err
	})
}

// dropContent notes that the bytes of a content are to be removed, where another takes its place.
func (t txn) dropContent(old, next string) {
	if old != "" && old != next {
		t.queue(dropContent, old)
	}
}

// DeletePackage removes a package that no VNF instance was made from.
func (s *Store) DeletePackage(ctx context.Context, id string, e audit.Entry) error {
	err := s.write(ctx, e, func(t txn) error {
		p, err := t.pkg(id)
		switch {
		case rows.IsNotFound(err):
			return errNothing
		case err != nil:
			return err
		}
		if err := p.Undeletable(); err != nil {
			return err
		}
		t.queue(deletePackage, id)
		t.dropContent(p.Content, "")
		return nil
	})
	if err != nil {
		return fmt.Errorf("deleting VNF package %s: %w", id, err)
	}
	return nil
}

// AddChunk stores bytes of an upload.
func (s *Store) AddChunk(ctx context.Context, id, content string, n int, b []byte, limit int64) error {
	found, err := lookUp(ctx, s, scalar[string], projectOfUpload, id) // which never changes
	if err == nil && len(found) == 0 {
		err = rows.OtherUpload()
	}
	if err == nil {
		err = s.change(ctx, func(t txn) error { return t.addChunk(found[0], id, content, n, b, limit) })
	}
	if err != nil {
		return fmt.Errorf("storing bytes of VNF package %s: %w", id, err)
	}
	return nil
}

func (t txn) addChunk(project, id, content string, n int, b []byte, limit int64) error {
	err := t.one("upload", growPackage, len(b), id, content)
	if rows.IsNotFound(err) {
		return rows.OtherUpload()
	}
	if err != nil {
		return err
	}
	t.lock(lockPackages, project)
	t.queue(insertChunk, content, n, b)
	totals, err := query(t, scalar[int64], countBytes, project)
	if err != nil {
		return err
	}
	if limit > 0 && totals[0] > limit {
		return rows.BytesUsedUp(limit)
	}
	return nil
}

// Chunk returns bytes of a content.
func (s *Store) Chunk(ctx context.Context, content string, n int) ([]byte, error) {
	found, err := lookUp(ctx, s, scalar[[]byte], readChunk, content, n)
	b, err := rows.First("chunk", found, err)
	if err != nil {
		return nil, fmt.Errorf("reading bytes of a VNF package: %w", err)
	}
	return b, nil
}

// TouchPackage says that an upload is alive.
func (s *Store) TouchPackage(ctx context.Context, id, content string, at time.Time) error {
	err := s.change(ctx, func(t txn) error {
		err := t.one("upload", touchPackage, stamp(at), id, content)
		if rows.IsNotFound(err) {
			return rows.OtherUpload()
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("keeping the upload of VNF package %s: %w", id, err)
	}
	return nil
}

// SweepChunks removes bytes that no package names any more.
func (s *Store) SweepChunks(ctx context.Context, limit int) (more bool, err error) {
	gone, err := lookUp(ctx, s, scalar[string], contentGone)
	if err == nil && len(gone) > 0 {
		err = s.change(ctx, func(t txn) error {
			tag, err := t.exec(sweepChunks, gone[0], limit)
			if err == nil && tag.RowsAffected() < int64(limit) {
				t.queue(sweptClean, gone[0])
			}
			return err
		})
	}
	if err != nil {
		return false, fmt.Errorf("removing bytes of VNF packages that are gone: %w", err)
	}
	return len(gone) > 0, nil
}

const (
	holdPackageRow = `SELECT FROM vnf_packages WHERE id = $1 FOR KEY SHARE`

	dropUses = `DELETE FROM vnf_package_uses WHERE instance = $1 AND NOT package = ANY ($2)`
	addUses  = `INSERT INTO vnf_package_uses (package, instance) SELECT id, $1 FROM vnf_packages
		WHERE id = ANY ($2) ON CONFLICT DO NOTHING`
)

// holdPackage locks a package that an instance takes, so that it is not deleted before the instance's
// row is there. One that is gone already is [broker.ErrConflict].
func (t txn) holdPackage(id string) error {
	there, err := t.any(holdPackageRow, id)
	if err == nil && !there {
		err = rows.PackageGone()
	}
	return err
}

// keepPackages notes which packages an instance holds, in the transaction that writes the instance.
func (t txn) keepPackages(instance string, packages ...string) {
	held := append([]string{}, packages...) // never NULL
	t.queue(dropUses, instance, held)
	t.queue(addUses, instance, held)
}

var _ interface {
	broker.Store
	catalog.Store
} = (*Store)(nil)

const packagesByState = `SELECT state, count(*)::int FROM vnf_packages GROUP BY state`

// CountPackages counts packages by state.
func (s *Store) CountPackages(ctx context.Context) (map[catalog.State]int, error) {
	counts, err := count[catalog.State](ctx, s, packagesByState)
	if err != nil {
		return nil, fmt.Errorf("counting VNF packages: %w", err)
	}
	return counts, nil
}
