package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	packageColumns = `document, state, touched_at, revision,
		EXISTS (SELECT 1 FROM vnf_package_uses u WHERE u.package = vnf_packages.id)`
	packageByID   = `SELECT ` + packageColumns + ` FROM vnf_packages WHERE id = ?`
	packageByVNFD = `SELECT ` + packageColumns + ` FROM vnf_packages WHERE project = ? AND vnfd = ? AND vnfd <> ''`
	readChunk     = `SELECT bytes FROM vnf_package_chunks WHERE content = ? AND number = ?`
	contentGone   = `SELECT content FROM vnf_contents_gone LIMIT 1`
)

var (
	packageForUpdate = prepared(packageByID)
	countPackages    = prepared(`SELECT count(*) FROM vnf_packages WHERE project = ?`)
	insertPackage    = prepared(`INSERT INTO vnf_packages (id, project, state, vnfd, content, stored, created_at, touched_at, revision, document)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	// An upload that begins, or is undone, has no bytes yet.
	updatePackage = prepared(`UPDATE vnf_packages SET state = ?, vnfd = ?, stored = iif(content = ?, stored, 0), content = ?,
		touched_at = ?, revision = ?, document = ? WHERE id = ?`)
	deletePackage = prepared(`DELETE FROM vnf_packages WHERE id = ?`)
	touchPackage  = prepared(`UPDATE vnf_packages SET touched_at = ? WHERE id = ? AND content = ? AND state IN ('uploading', 'processing')`)

	growPackage = prepared(`UPDATE vnf_packages SET stored = stored + ? WHERE id = ? AND content = ? AND state = 'uploading' RETURNING project`)
	countBytes  = prepared(`SELECT sum(stored) FROM vnf_packages WHERE project = ?`)
	insertChunk = prepared(`INSERT INTO vnf_package_chunks (content, number, bytes) VALUES (?, ?, ?)`)
	dropContent = prepared(`INSERT INTO vnf_contents_gone (content) VALUES (?) ON CONFLICT DO NOTHING`)
	sweepChunks = prepared(`DELETE FROM vnf_package_chunks WHERE rowid IN (SELECT rowid FROM vnf_package_chunks WHERE content = ? LIMIT ?)`)
	sweptClean  = prepared(`DELETE FROM vnf_contents_gone WHERE content = ?`)
)

// CreatePackage stores a new package.
func (s *Store) CreatePackage(ctx context.Context, p catalog.Package, limit int, e audit.Entry) error {
	p.Revision = 1
	err := s.write(ctx, func(t txn) error {
		var n int
		if err := t.queryRow(countPackages, p.Project).Scan(&n); err != nil {
			return translate(err)
		}
		if limit > 0 && n >= limit {
			return rows.PackagesUsedUp(limit)
		}
		if _, err := t.exec(insertPackage, p.ID, p.Project, p.State, p.VNFDID, p.Content, 0,
			rows.Micro(p.CreatedAt), rows.Micro(p.TouchedAt), p.Revision, p.Document()); err != nil {
			return err
		}
		return t.append(e)
	})
	if err != nil {
		return fmt.Errorf("creating VNF package %s: %w", p.ID, err)
	}
	return nil
}

// Package returns one by its id.
func (s *Store) Package(ctx context.Context, id string) (catalog.Package, error) {
	found, err := s.query(ctx, packageByID, id)
	p, err := onePackage(collect(found, err, scanPackage))
	if err != nil {
		return catalog.Package{}, fmt.Errorf("reading VNF package %s: %w", id, err)
	}
	return p, nil
}

// PackageOfVNFD returns the package of a project with that descriptor.
func (s *Store) PackageOfVNFD(ctx context.Context, project, vnfd string) (catalog.Package, error) {
	found, err := s.query(ctx, packageByVNFD, project, vnfd)
	p, err := onePackage(collect(found, err, scanPackage))
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
	from := `SELECT ` + packageColumns + ` FROM vnf_packages`
	if !f.SilentSince.IsZero() {
		from += ` INDEXED BY package_uploading`
	}
	text, args := rows.WherePackages(f, after, func(t time.Time) any { return rows.Micro(t) }).SelectFrom(from)
	found, err := s.query(ctx, text+` ORDER BY created_at, id LIMIT ?+0`, append(args, size+1)...)
	all, err := collect(found, err, scanPackage)
	if err != nil {
		return nil, "", fmt.Errorf("listing VNF packages: %w", err)
	}
	page, next := rows.CutPackages(all, size)
	return page, next, nil
}

func onePackage(found []catalog.Package, err error) (catalog.Package, error) {
	return rows.First("VNF package", found, err)
}

func scanPackage(row *sql.Rows) (catalog.Package, error) {
	var r rows.Package
	if err := row.Scan(&r.Document, &r.State, moment{&r.TouchedAt}, &r.Revision, &r.InUse); err != nil {
		return catalog.Package{}, err
	}
	return r.Package()
}

func (t txn) pkg(id string) (catalog.Package, error) {
	found, err := t.query(packageForUpdate, id)
	return onePackage(collect(found, err, scanPackage))
}

// UpdatePackage changes a package by a function.
func (s *Store) UpdatePackage(ctx context.Context, id string, change func(*catalog.Package) error, e audit.Entry) (catalog.Package, error) {
	read := func(t txn) (catalog.Package, error) { return t.pkg(id) }
	return amend(ctx, s, "VNF package "+id, e, read, change, func(t txn, old, next catalog.Package) (catalog.Package, error) {
		next, err := old.Moved(next)
		if err != nil {
			return next, err
		}
		if _, err := t.exec(updatePackage, next.State, next.VNFDID, next.Content, next.Content,
			rows.Micro(next.TouchedAt), next.Revision, next.Document(), id); err != nil {
			return next, err
		}
		return next, t.dropContent(old.Content, next.Content)
	})
}

// dropContent notes that the bytes of a content are to be removed, where another takes its place.
func (t txn) dropContent(old, next string) error {
	if old == "" || old == next {
		return nil
	}
	_, err := t.exec(dropContent, old)
	return err
}

// DeletePackage removes a package that no VNF instance was made from.
func (s *Store) DeletePackage(ctx context.Context, id string, e audit.Entry) error {
	err := s.write(ctx, func(t txn) error {
		p, err := t.pkg(id)
		switch {
		case rows.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		if err := p.Undeletable(); err != nil {
			return err
		}
		if _, err := t.exec(deletePackage, id); err != nil {
			return err
		}
		if err := t.dropContent(p.Content, ""); err != nil {
			return err
		}
		return t.append(e)
	})
	if err != nil {
		return fmt.Errorf("deleting VNF package %s: %w", id, err)
	}
	return nil
}

// AddChunk stores bytes of an upload.
func (s *Store) AddChunk(ctx context.Context, id, content string, n int, b []byte, limit int64) error {
	err := s.write(ctx, func(t txn) error {
		found, err := t.query(growPackage, len(b), id, content)
		projects, err := collect(found, err, func(r *sql.Rows) (p string, err error) { return p, r.Scan(&p) })
		if err != nil {
			return err
		}
		if len(projects) == 0 {
			return rows.OtherUpload()
		}
		var total int64
		if err := t.queryRow(countBytes, projects[0]).Scan(&total); err != nil {
			return translate(err)
		}
		if limit > 0 && total > limit {
			return rows.BytesUsedUp(limit)
		}
		_, err = t.exec(insertChunk, content, n, b)
		return err
	})
	if err != nil {
		return fmt.Errorf("storing bytes of VNF package %s: %w", id, err)
	}
	return nil
}

// Chunk returns bytes of a content.
func (s *Store) Chunk(ctx context.Context, content string, n int) ([]byte, error) {
	found, err := s.query(ctx, readChunk, content, n)
	all, err := collect(found, err, func(r *sql.Rows) (b []byte, err error) { return b, r.Scan(&b) })
	b, err := rows.First("chunk", all, err)
	if err != nil {
		return nil, fmt.Errorf("reading bytes of a VNF package: %w", err)
	}
	return b, nil
}

// TouchPackage says that an upload is alive.
func (s *Store) TouchPackage(ctx context.Context, id, content string, at time.Time) error {
	err := s.write(ctx, func(t txn) error {
		err := t.one("upload", touchPackage, rows.Micro(at), id, content)
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
	found, err := s.query(ctx, contentGone)
	gone, err := collect(found, err, func(r *sql.Rows) (c string, err error) { return c, r.Scan(&c) })
	if err == nil && len(gone) > 0 {
		err = s.write(ctx, func(t txn) error {
			r, err := t.exec(sweepChunks, gone[0], limit)
			if err != nil {
				return err
			}
			if n, err := r.RowsAffected(); err != nil || n == int64(limit) {
				return err
			}
			_, err = t.exec(sweptClean, gone[0])
			return err
		})
	}
	if err != nil {
		return false, fmt.Errorf("removing bytes of VNF packages that are gone: %w", err)
	}
	return len(gone) > 0, nil
}

var (
	packageThere = prepared(`SELECT 1 FROM vnf_packages WHERE id = ?`)

	dropUses = prepared(`DELETE FROM vnf_package_uses WHERE instance = ? AND package NOT IN (SELECT value FROM json_each(?))`)
	addUses  = prepared(`INSERT INTO vnf_package_uses (package, instance) SELECT id, ? FROM vnf_packages
		WHERE id IN (SELECT value FROM json_each(?)) ON CONFLICT DO NOTHING`)
)

// holdPackage makes sure that a package that an instance takes is there; one that is gone is
// [broker.ErrConflict]. Writes follow each other, so that it is there when they are done.
func (t txn) holdPackage(id string) error {
	there, err := t.any(packageThere, id)
	if err == nil && !there {
		err = rows.PackageGone()
	}
	return err
}

// keepPackages notes which packages an instance holds, in the transaction that writes the instance.
func (t txn) keepPackages(instance string, packages ...string) error {
	held := rows.JSON(append([]string{}, packages...)) // never null
	if _, err := t.exec(dropUses, instance, held); err != nil {
		return err
	}
	_, err := t.exec(addUses, instance, held)
	return err
}

var _ interface {
	broker.Store
	catalog.Store
} = (*Store)(nil)

const packagesByState = `SELECT state, count(*) FROM vnf_packages GROUP BY state`

// CountPackages counts packages by state.
func (s *Store) CountPackages(ctx context.Context) (map[catalog.State]int, error) {
	counts, err := count[catalog.State](ctx, s, packagesByState)
	if err != nil {
		return nil, fmt.Errorf("counting VNF packages: %w", err)
	}
	return counts, nil
}
