package tables

import (
	"context"

	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	changingManagement = rows.ManagementColumns.Changing()
	changingCluster    = rows.ClusterColumns.Changing()

	oneManagement    = statement(`SELECT ` + rows.ManagementColumns.Names() + ` FROM management_clusters WHERE vim = ?1`)
	lockManagement   = statement(oneManagement + ` FOR UPDATE`)
	allManagements   = statement(`SELECT ` + rows.ManagementColumns.Names() + ` FROM management_clusters ORDER BY vim`)
	oneCluster       = statement(`SELECT ` + rows.ClusterColumns.Names() + ` FROM clusters WHERE id = ?1`)
	lockCluster      = statement(oneCluster + ` FOR UPDATE`)
	insertManagement = statement(rows.ManagementColumns.Insert(`management_clusters`))
	updateManagement = statement(`UPDATE management_clusters SET ` + changingManagement.Set() + ` WHERE vim = ?`)
	noteManagement   = statement(`UPDATE management_clusters SET ` + rows.ManagementNoteColumns.Set() + ` WHERE vim = ?`)
	insertCluster    = statement(rows.ClusterColumns.Insert(`clusters`))
	updateCluster    = statement(`UPDATE clusters SET ` + changingCluster.Set() + ` WHERE id = ?`)
	noteCluster      = statement(`UPDATE clusters SET ` + rows.ClusterNoteColumns.Set() + ` WHERE id = ?`)
)

var (
	dropManagement = statement(`DELETE FROM management_clusters WHERE vim = ?1`)
	forgetCluster  = statement(`DELETE FROM clusters WHERE id = ?1 AND state = 'retired'`)
	countClusters  = statement(`SELECT state, reason, count(*) FROM clusters GROUP BY state, reason`)
)

// EnableManagement stores a management cluster and the job that watches it.
func (s *Tables) EnableManagement(ctx context.Context, m onboard.Management, e audit.Entry) error {
	m.Revision = 1
	err := s.write(ctx, e, func(t Tx) error {
		if there, err := t.hold(m.VIM); err != nil || !there {
			return orNotFound("VIM", err)
		}
		t.queue(insertManagement, rows.ManagementColumns.Values(&m)...)
		return t.enqueue(job.Job{Kind: onboard.JobKind, Subject: m.VIM})
	})
	return doing(err, "enabling management cluster %s", m.VIM)
}

func orNotFound(what string, err error) error {
	if err != nil {
		return err
	}
	return rows.NotFound(what)
}

// Management returns one by the id of its VIM.
func (s *Tables) Management(ctx context.Context, vim string) (onboard.Management, error) {
	all, err := lookUp(ctx, s, scanManagement, oneManagement, vim)
	m, err := rows.First("management cluster", all, err)
	return m, doing(err, "reading management cluster %s", vim)
}

// Managements returns all.
func (s *Tables) Managements(ctx context.Context) ([]onboard.Management, error) {
	all, err := read(ctx, s, scanManagement, allManagements)
	return all, doing(err, "reading management clusters")
}

func scanManagement(row Row) (m onboard.Management, err error) {
	err = row.Scan(rows.ManagementColumns.Fields(&m)...)
	if len(m.CopyLabels) == 0 {
		m.CopyLabels = nil
	}
	if len(m.Selector) == 0 {
		m.Selector = nil
	}
	return m, err
}

// UpdateManagement changes one by a function.
func (s *Tables) UpdateManagement(
	ctx context.Context, vim string, change func(*onboard.Management) error, e audit.Entry,
) (onboard.Management, error) {
	read := func(t Tx) (onboard.Management, error) {
		all, err := query(t, scanManagement, lockManagement, vim)
		return rows.First("management cluster", all, err)
	}
	store := func(t Tx, old, next onboard.Management) (onboard.Management, error) {
		next = rows.ChangeManagement(old, next)
		t.queue(updateManagement, append(changingManagement.Values(&next), vim)...)
		return next, t.enqueue(job.Job{Kind: onboard.JobKind, Subject: vim})
	}
	return amend(ctx, s.recording(e), "updating management cluster "+vim, read, change, store)
}

// NoteManagement stores what a watch observed.
func (s *Tables) NoteManagement(ctx context.Context, m onboard.Management) error {
	return s.change(ctx, func(t Tx) error {
		return t.one("management cluster", noteManagement, append(rows.ManagementNoteColumns.Values(&m), m.VIM)...)
	})
}

// DisableManagement removes one with its clusters.
func (s *Tables) DisableManagement(ctx context.Context, vim string, e audit.Entry) error {
	err := s.write(ctx, e, func(t Tx) error {
		there, err := t.any(dropManagement, vim)
		if err == nil && !there {
			return ErrNothing
		}
		return err
	})
	return doing(err, "disabling management cluster %s", vim)
}

// AddCluster stores a cluster.
func (s *Tables) AddCluster(ctx context.Context, c onboard.Cluster, e audit.Entry) error {
	c.Revision = 1
	err := s.write(ctx, e, func(t Tx) error {
		t.queue(insertCluster, rows.ClusterColumns.Values(&c)...)
		return nil
	})
	return doing(err, "adding cluster %s/%s", c.Namespace, c.Name)
}

// Cluster returns one by its id.
func (s *Tables) Cluster(ctx context.Context, id string) (onboard.Cluster, error) {
	all, err := lookUp(ctx, s, scanCluster, oneCluster, id)
	c, err := rows.First("cluster", all, err)
	return c, doing(err, "reading cluster %s", id)
}

func scanCluster(row Row) (c onboard.Cluster, err error) {
	return c, row.Scan(rows.ClusterColumns.Fields(&c)...)
}

// Clusters returns those that match, and the next page's token.
func (s *Tables) Clusters(ctx context.Context, f onboard.ClusterFilter) ([]onboard.Cluster, string, error) {
	size, after, err := rows.ReadPage[rows.ClusterPosition](f.Page)
	if err != nil {
		return nil, "", err
	}
	from := `SELECT ` + rows.ClusterColumns.Names() + ` FROM clusters`
	if f.Name != "" {
		from += `/*by cluster_by_name*/`
	}
	text, args := rows.WhereClusters(f, after).SelectFrom(from)
	text += ` ORDER BY management, namespace, name, uid LIMIT ?`
	all, err := read(ctx, s, scanCluster, text, append(args, size+1)...)
	if err != nil {
		return nil, "", doing(err, "listing clusters")
	}
	page, next := rows.CutClusters(all, size)
	return page, next, nil
}

// UpdateCluster changes a cluster by a function.
func (s *Tables) UpdateCluster(
	ctx context.Context, id string, change func(*onboard.Cluster) error, e audit.Entry,
) (onboard.Cluster, error) {
	read := func(t Tx) (onboard.Cluster, error) {
		all, err := query(t, scanCluster, lockCluster, id)
		return rows.First("cluster", all, err)
	}
	return amend(ctx, s.recording(e), "updating cluster "+id, read, change, func(t Tx, old, next onboard.Cluster) (onboard.Cluster, error) {
		next, err := rows.ChangeCluster(old, next)
		if err == nil {
			t.queue(updateCluster, append(changingCluster.Values(&next), id)...)
		}
		return next, err
	})
}

// DeferCluster stores what was observed of a cluster.
func (s *Tables) DeferCluster(ctx context.Context, c onboard.Cluster) error {
	return s.change(ctx, func(t Tx) error {
		return t.one("cluster", noteCluster, append(rows.ClusterNoteColumns.Values(&c), c.ID)...)
	})
}

// ForgetCluster removes the row of a retired cluster.
func (s *Tables) ForgetCluster(ctx context.Context, id string) error {
	return s.change(ctx, func(t Tx) error {
		t.queue(forgetCluster, id)
		return nil
	})
}

// CountClusters counts clusters.
func (s *Tables) CountClusters(ctx context.Context) (onboard.Count, error) {
	counts, err := read(ctx, s, func(row Row) (c rows.ClusterCount, err error) {
		return c, row.Scan(&c.State, &c.Reason, &c.N)
	}, countClusters)
	return rows.CountClusters(counts), doing(err, "counting clusters")
}
