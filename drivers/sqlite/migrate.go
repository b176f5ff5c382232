package sqlite

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
)

// migrations are numbered from 0001 without a gap, and only go up. Until version 1.0.0 there is one, the whole schema,
// and each change edits it: see [rows.Fingerprint]. From then on none is edited once it is released.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema up to date.
func (s *Store) migrate(ctx context.Context) error {
	_, err := s.writer.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS schema_migrations (
		version    INTEGER NOT NULL PRIMARY KEY,
		name       TEXT    NOT NULL,
		sha256     TEXT    NOT NULL,
		applied_at INTEGER NOT NULL
	) STRICT`)
	if err != nil {
		return translate(err)
	}
	var have int
	if err := s.writer.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM schema_migrations`).Scan(&have); err != nil {
		return translate(err)
	}
	files, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		return err
	}
	if have > 0 {
		if err := s.demandMaker(ctx, files[0].Name()); err != nil {
			return err
		}
	}
	if have > len(files) {
		return &broker.Error{
			Kind:   broker.ErrUnsupported,
			Detail: fmt.Sprintf("the database has schema %d, this version knows up to %d", have, len(files)),
			Remedy: "run a version at least as new as the one that wrote it",
		}
	}
	for i, f := range files[have:] {
		if err := s.apply(ctx, have+i+1, f.Name()); err != nil {
			return fmt.Errorf("migration %s: %w", f.Name(), translate(err))
		}
		if have > 0 {
			s.log.Info("store migrated", "migration", f.Name())
		}
	}
	if have == 0 {
		s.log.Info("store made", "schema", len(files))
	}
	return nil
}

// demandMaker fails if the database was not made by this text of the first file.
func (s *Store) demandMaker(ctx context.Context, first string) error {
	var made string
	err := s.writer.QueryRowContext(ctx, `SELECT count(*) FROM pragma_table_info('schema_migrations') WHERE name = 'sha256'`).Scan(&made)
	if err == nil && made == "1" {
		err = s.writer.QueryRowContext(ctx, `SELECT sha256 FROM schema_migrations WHERE version = 1`).Scan(&made)
	}
	if err != nil {
		return translate(err)
	}
	return rows.DemandMaker(migrations, "migrations/"+first, made)
}

// apply runs one file and notes it, both or neither.
func (s *Store) apply(ctx context.Context, version int, name string) error {
	text, err := rows.Migration(migrations, "migrations/"+name, version)
	if err != nil {
		return err
	}
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, string(text)); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO schema_migrations (version, name, sha256, applied_at) VALUES (?, ?, ?, ?)`,
		version, name, rows.Fingerprint(text), rows.Micro(s.now()))
	if err != nil {
		return err
	}
	return tx.Commit()
}
