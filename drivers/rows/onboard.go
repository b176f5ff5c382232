package rows

import "github.com/vimbroker/vimbroker/broker/onboard"

// ManagementColumns are the columns of the table management_clusters.
var ManagementColumns = ColumnsOf[onboard.Management](`
	vim! namespaces namespace_selector selector projects secret_name secret_key name_template copy_labels
	control_planes account max_gone max_gone_share annotation enabled_by created_at! updated_at watched_at trouble
	held_at released_until revision`)

// ManagementNoteColumns are those that a watch writes.
var ManagementNoteColumns = ManagementColumns.Pick("watched_at", "trouble")

// ClusterColumns are the columns of the table clusters.
var ClusterColumns = ColumnsOf[onboard.Cluster](`
	id! management! namespace! name! uid! project state reason message vim former system rival secret push_token
	push_expires_at pushed_at ready_at registered_at gone_at created_at! updated_at attempts revision`)

// ClusterNoteColumns are those that an observation of a cluster writes.
var ClusterNoteColumns = ClusterColumns.Pick("reason", "message", "attempts", "secret")

// ClusterOrder is the order of a list of clusters.
var ClusterOrder = OrderOf[onboard.Cluster]("clusters", "management namespace name uid", false)

// ChangeManagement returns what becomes of a row when a change has made now of it: what a
// change does to VIM, CreatedAt and Revision is ignored.
func ChangeManagement(old, now onboard.Management) onboard.Management {
	now.VIM, now.CreatedAt, now.Revision = old.VIM, old.CreatedAt, old.Revision+1
	return now
}

// ChangeCluster returns what becomes of a row when a change has made now of it: what a change
// does to the identity, CreatedAt and Revision is ignored. A move that the state machine of
// clusters does not have is ErrConflict.
func ChangeCluster(old, now onboard.Cluster) (onboard.Cluster, error) {
	if err := Move("a cluster", old.State, now.State); err != nil {
		return onboard.Cluster{}, err
	}
	now.ID, now.Management, now.Namespace, now.Name = old.ID, old.Management, old.Namespace, old.Name
	now.UID, now.CreatedAt, now.Revision = old.UID, old.CreatedAt, old.Revision+1
	return now, nil
}

// ClusterCount counts clusters: n are in a state, for a reason if there is one.
type ClusterCount struct {
	State  onboard.State
	Reason onboard.ClusterReason
	N      int
}

// CountClusters adds counts up.
func CountClusters(counts []ClusterCount) onboard.Count {
	sum := onboard.Count{States: map[onboard.State]int{}, Reasons: map[onboard.ClusterReason]int{}}
	for _, c := range counts {
		sum.States[c.State] += c.N
		if c.Reason != "" {
			sum.Reasons[c.Reason] += c.N
		}
	}
	return sum
}

// WhereClusters are the conditions of a filter.
func WhereClusters(f onboard.ClusterFilter) *Conditions {
	where := new(Conditions)
	where.AddIf(f.Management != "", `management = ?`, f.Management)
	where.AddIf(f.Project != "", `project = ?`, f.Project)
	where.AddIf(f.Namespace != "", `namespace = ?`, f.Namespace)
	where.AddIf(f.Name != "", `name = ?`, f.Name)
	if f.System != "" { // as the index has it
		where.Add(`system = ? AND system <> '' AND state <> 'retired'`, f.System)
	}
	where.AddIf(f.State != "", `state = ?`, string(f.State))
	return where
}
