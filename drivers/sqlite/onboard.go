package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ onboard.Store = (*Store)(nil)

var (
	changingManagement = rows.ManagementColumns.Changing()
	changingCluster    = rows.ClusterColumns.Changing()

	managementText = `SELECT ` + rows.ManagementColumns.Names() + ` FROM management_clusters WHERE vim = ?`
	allManagements = `SELECT ` + rows.ManagementColumns.Names() + ` FROM management_clusters ORDER BY vim`
	clusterText    = `SELECT ` + rows.ClusterColumns.Names() + ` FROM clusters WHERE id = ?`

	managementForUpdate = prepared(managementText)
	clusterForUpdate    = prepared(clusterText)
	insertManagement    = prepared(rows.ManagementColumns.Insert(`management_clusters`))
	updateManagement    = prepared(`UPDATE management_clusters SET ` + changingManagement.Set() + ` WHERE vim = ?`)
	noteManagement      = prepared(`UPDATE management_clusters SET ` + rows.ManagementNoteColumns.Set() + ` WHERE vim = ?`)
	dropManagement      = prepared(`DELETE FROM management_clusters WHERE vim = ? RETURNING vim`)
	insertCluster       = prepared(rows.ClusterColumns.Insert(`clusters`))
	updateCluster       = prepared(`UPDATE clusters SET ` + changingCluster.Set() + ` WHERE id = ?`)
	noteCluster         = prepared(`UPDATE clusters SET ` + rows.ClusterNoteColumns.Set() + ` WHERE id = ?`)
	forgetCluster       = prepared(`DELETE FROM clusters WHERE id = ? AND state = 'retired'`)
)

const countClusters = `SELECT state, reason, count(*) FROM clusters GROUP BY state, reason`

// EnableManagement stores a management cluster and the job that watches it.
func (s *Store) EnableManagement(ctx context.Context, m onboard.Management, e audit.Entry) error {
	m.Revision = 1
	err := s.write(ctx, func(t txn) error {
		if there, err := t.any(vimThere, m.VIM); err != nil || !there {
			return orNotFound("VIM", err)
		}
		if taken, err := t.any(managementForUpdate, m.VIM); err != nil || taken {
			return orTaken(err, rows.ManagementVIM)
		}
		if _, err := t.exec(insertManagement, values(rows.ManagementColumns.Fields(&m))...); err != nil {
			return err
		}
		if err := t.enqueue(job.Job{Kind: onboard.JobKind, Subject: m.VIM}); err != nil {
			return err
		}
		return t.append(e)
	})
	if err != nil {
		return fmt.Errorf("enabling management cluster %s: %w", m.VIM, err)
	}
	return nil
}

func orNotFound(what string, err error) error {
	if err != nil {
		return err
	}
	return rows.NotFound(what)
}

// Management returns one by the id of its VIM.
func (s *Store) Management(ctx context.Context, vim string) (onboard.Management, error) {
	found, err := s.query(ctx, managementText, vim)
	all, err := collect(found, err, scanManagement)
	m, err := rows.First("management cluster", all, err)
	if err != nil {
		return m, fmt.Errorf("reading management cluster %s: %w", vim, err)
	}
	return m, nil
}

// Managements returns all.
func (s *Store) Managements(ctx context.Context) ([]onboard.Management, error) {
	found, err := s.query(ctx, allManagements)
	all, err := collect(found, err, scanManagement)
	if err != nil {
		return nil, fmt.Errorf("reading management clusters: %w", err)
	}
	return all, nil
}

func scanManagement(row *sql.Rows) (m onboard.Management, err error) {
	return m, scan(row, rows.ManagementColumns.Fields(&m), nil)
}

// UpdateManagement changes one by a function.
func (s *Store) UpdateManagement(
	ctx context.Context, vim string, change func(*onboard.Management) error, e audit.Entry,
) (onboard.Management, error) {
	read := func(t txn) (onboard.Management, error) {
		found, err := t.query(managementForUpdate, vim)
		all, err := collect(found, err, scanManagement)
		return rows.First("management cluster", all, err)
	}
	return amend(ctx, s, "management cluster "+vim, e, read, change, func(t txn, old, next onboard.Management) (onboard.Management, error) {
		next = rows.ChangeManagement(old, next)
		if _, err := t.exec(updateManagement, append(values(changingManagement.Fields(&next)), vim)...); err != nil {
			return next, err
		}
		return next, t.enqueue(job.Job{Kind: onboard.JobKind, Subject: vim})
	})
}

// NoteManagement stores what a watch observed.
func (s *Store) NoteManagement(ctx context.Context, m onboard.Management) error {
	return s.write(ctx, func(t txn) error {
		return t.one("management cluster", noteManagement, append(values(rows.ManagementNoteColumns.Fields(&m)), m.VIM)...)
	})
}

// DisableManagement removes one with its clusters.
func (s *Store) DisableManagement(ctx context.Context, vim string, e audit.Entry) error {
	err := s.write(ctx, func(t txn) error {
		if there, err := t.any(dropManagement, vim); err != nil || !there {
			return err
		}
		return t.append(e)
	})
	if err != nil {
		return fmt.Errorf("disabling management cluster %s: %w", vim, err)
	}
	return nil
}

// AddCluster stores a cluster.
func (s *Store) AddCluster(ctx context.Context, c onboard.Cluster, e audit.Entry) error {
	c.Revision = 1
	err := s.write(ctx, func(t txn) error {
		if _, err := t.exec(insertCluster, values(rows.ClusterColumns.Fields(&c))...); err != nil {
			return err
		}
		return t.append(e)
	})
	if err != nil {
		return fmt.Errorf("adding cluster %s/%s: %w", c.Namespace, c.Name, err)
	}
	return nil
}

// Cluster returns one by its id.
func (s *Store) Cluster(ctx context.Context, id string) (onboard.Cluster, error) {
	found, err := s.query(ctx, clusterText, id)
	all, err := collect(found, err, scanCluster)
	c, err := rows.First("cluster", all, err)
	if err != nil {
		return c, fmt.Errorf("reading cluster %s: %w", id, err)
	}
	return c, nil
}

func scanCluster(row *sql.Rows) (c onboard.Cluster, err error) {
	return c, scan(row, rows.ClusterColumns.Fields(&c), nil)
}

// Clusters returns those that match, and the next page's token.
func (s *Store) Clusters(ctx context.Context, f onboard.ClusterFilter) ([]onboard.Cluster, string, error) {
	size, after, err := rows.ReadPage[rows.ClusterPosition](f.Page)
	if err != nil {
		return nil, "", err
	}
	from := `SELECT ` + rows.ClusterColumns.Names() + ` FROM clusters`
	if f.Name != "" {
		from += ` INDEXED BY cluster_by_name`
	}
	text, args := rows.WhereClusters(f, after).SelectFrom(from)
	found, err := s.query(ctx, text+` ORDER BY management, namespace, name, uid LIMIT ?+0`, append(args, size+1)...)
	all, err := collect(found, err, scanCluster)
	if err != nil {
		return nil, "", fmt.Errorf("listing clusters: %w", err)
	}
	page, next := rows.CutClusters(all, size)
	return page, next, nil
}

// UpdateCluster changes a cluster by a function.
func (s *Store) UpdateCluster(
	ctx context.Context, id string, change func(*onboard.Cluster) error, e audit.Entry,
) (onboard.Cluster, error) {
	read := func(t txn) (onboard.Cluster, error) {
		found, err := t.query(clusterForUpdate, id)
		all, err := collect(found, err, scanCluster)
		return rows.First("cluster", all, err)
	}
	return amend(ctx, s, "cluster "+id, e, read, change, func(t txn, old, next onboard.Cluster) (onboard.Cluster, error) {
		next, err := rows.ChangeCluster(old, next)
		if err == nil {
			_, err = t.exec(updateCluster, append(values(changingCluster.Fields(&next)), id)...)
		}
		return next, err
	})
}

// DeferCluster stores what was observed of a cluster.
func (s *Store) DeferCluster(ctx context.Context, c onboard.Cluster) error {
	return s.write(ctx, func(t txn) error {
		return t.one("cluster", noteCluster, append(values(rows.ClusterNoteColumns.Fields(&c)), c.ID)...)
	})
}

// ForgetCluster removes the row of a retired cluster.
func (s *Store) ForgetCluster(ctx context.Context, id string) error {
	return s.write(ctx, func(t txn) error {
		_, err := t.exec(forgetCluster, id)
		return err
	})
}

// CountClusters counts clusters.
func (s *Store) CountClusters(ctx context.Context) (onboard.Count, error) {
	found, err := s.query(ctx, countClusters)
	counts, err := collect(found, err, func(row *sql.Rows) (c rows.ClusterCount, err error) {
		return c, row.Scan(&c.State, &c.Reason, &c.N)
	})
	if err != nil {
		return onboard.Count{}, fmt.Errorf("counting clusters: %w", err)
	}
	return rows.CountClusters(counts), nil
}
