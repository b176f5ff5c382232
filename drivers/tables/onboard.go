package tables

import (
	"context"

	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	managements = keyedBy(`vim`, `management_clusters`, "management cluster", rows.ManagementColumns,
		readManagement, same[onboard.Management])
	clusters = keyedBy(`id`, `clusters`, "cluster", rows.ClusterColumns, same[onboard.Cluster], same[onboard.Cluster])

	allManagements = statement(managements.text + ` ORDER BY vim`)
	noteManagement = statement(`UPDATE management_clusters SET ` + rows.ManagementNoteColumns.Set() + ` WHERE vim = ?`)
	noteCluster    = statement(`UPDATE clusters SET ` + rows.ClusterNoteColumns.Set() + ` WHERE id = ?`)
)

var (
	dropManagement = statement(`DELETE FROM management_clusters WHERE vim = ?1`)
	forgetCluster  = statement(`DELETE FROM clusters WHERE id = ?1 AND state = 'retired'`)
	countClusters  = statement(`SELECT state, reason, count(*) FROM clusters GROUP BY state, reason`)
)

// EnableManagement stores a management cluster and the job that watches it.
func (s *Tables) EnableManagement(ctx context.Context, m onboard.Management, e audit.Entry) error {
	m.Revision = 1
	return managements.create(ctx, s, e, m.VIM, m, func(t Tx) error {
		there, err := t.hold(m.VIM)
		if err == nil && !there {
			err = rows.NotFound("VIM")
		}
		return err
	}, func(t Tx) error { return t.enqueue(job.Job{Kind: onboard.JobKind, Subject: m.VIM}) })
}

// Management returns one by the id of its VIM.
func (s *Tables) Management(ctx context.Context, vim string) (onboard.Management, error) {
	return managements.get(ctx, s, vim)
}

// Managements returns all.
func (s *Tables) Managements(ctx context.Context) ([]onboard.Management, error) {
	all, err := managements.each(read(ctx, s, managements.scan, allManagements))
	return all, doing(err, "reading management clusters")
}

func readManagement(m onboard.Management) (onboard.Management, error) {
	if len(m.CopyLabels) == 0 {
		m.CopyLabels = nil
	}
	if len(m.Selector) == 0 {
		m.Selector = nil
	}
	return m, nil
}

// UpdateManagement changes one by a function.
func (s *Tables) UpdateManagement(
	ctx context.Context, vim string, change func(*onboard.Management) error, e audit.Entry,
) (onboard.Management, error) {
	read := func(t Tx) (onboard.Management, error) { return managements.locked(t, vim) }
	store := func(t Tx, old, next onboard.Management) (onboard.Management, error) {
		next = rows.ChangeManagement(old, next)
		managements.replace(t, vim, next)
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
		return t.some(dropManagement, vim)
	})
	return doing(err, "disabling management cluster %s", vim)
}

// AddCluster stores a cluster.
func (s *Tables) AddCluster(ctx context.Context, c onboard.Cluster, e audit.Entry) error {
	c.Revision = 1
	return clusters.create(ctx, s, e, c.Namespace+"/"+c.Name, c, nil, nil)
}

// Cluster returns one by its id.
func (s *Tables) Cluster(ctx context.Context, id string) (onboard.Cluster, error) {
	return clusters.get(ctx, s, id)
}

// Clusters returns those that match, and the next page's token.
func (s *Tables) Clusters(ctx context.Context, f onboard.ClusterFilter) ([]onboard.Cluster, string, error) {
	from := clusters.text
	if f.Name != "" {
		from += `/*by cluster_by_name*/`
	}
	return clusters.page(ctx, s, rows.ClusterOrder, f.Page, from, rows.WhereClusters(f))
}

// UpdateCluster changes a cluster by a function.
func (s *Tables) UpdateCluster(
	ctx context.Context, id string, change func(*onboard.Cluster) error, e audit.Entry,
) (onboard.Cluster, error) {
	return clusters.amend(ctx, s.recording(e), id, change, rows.ChangeCluster)
}

// DeferCluster stores what was observed of a cluster.
func (s *Tables) DeferCluster(ctx context.Context, c onboard.Cluster) error {
	return s.change(ctx, func(t Tx) error {
		return t.one("cluster", noteCluster, append(rows.ClusterNoteColumns.Values(&c), c.ID)...)
	})
}

// ForgetCluster removes the row of a retired cluster.
func (s *Tables) ForgetCluster(ctx context.Context, id string) error {
	return s.run(ctx, forgetCluster, id)
}

// CountClusters counts clusters.
func (s *Tables) CountClusters(ctx context.Context) (onboard.Count, error) {
	counts, err := read(ctx, s, func(row Row) (c rows.ClusterCount, err error) {
		return c, row.Scan(&c.State, &c.Reason, &c.N)
	}, countClusters)
	return rows.CountClusters(counts), doing(err, "counting clusters")
}
