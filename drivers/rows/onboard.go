package rows

import (
	"fmt"

	"github.com/vimbroker/vimbroker/broker/onboard"
)

// ManagementColumns are the columns of the table management_clusters.
var ManagementColumns = Columns[onboard.Management]{
	{Name: "vim", field: func(m *onboard.Management) any { return &m.VIM }, fixed: true},
	{Name: "namespaces", field: func(m *onboard.Management) any { return &m.Namespaces }},
	{Name: "namespace_selector", field: func(m *onboard.Management) any { return &m.NamespaceSelector }},
	{Name: "selector", field: func(m *onboard.Management) any { return &m.Selector }},
	{Name: "projects", field: func(m *onboard.Management) any { return &m.Projects }},
	{Name: "secret_name", field: func(m *onboard.Management) any { return &m.SecretName }},
	{Name: "secret_key", field: func(m *onboard.Management) any { return &m.SecretKey }},
	{Name: "name_template", field: func(m *onboard.Management) any { return &m.NameTemplate }},
	{Name: "copy_labels", field: func(m *onboard.Management) any { return &m.CopyLabels }},
	{Name: "control_planes", field: func(m *onboard.Management) any { return &m.ControlPlanes }},
	{Name: "account", field: func(m *onboard.Management) any { return &m.Account }},
	{Name: "max_gone", field: func(m *onboard.Management) any { return &m.MaxGone }},
	{Name: "max_gone_share", field: func(m *onboard.Management) any { return &m.MaxGoneShare }},
	{Name: "annotation", field: func(m *onboard.Management) any { return &m.Annotation }},
	{Name: "enabled_by", field: func(m *onboard.Management) any { return &m.EnabledBy }},
	{Name: "created_at", field: func(m *onboard.Management) any { return &m.CreatedAt }, fixed: true},
	{Name: "updated_at", field: func(m *onboard.Management) any { return &m.UpdatedAt }},
	{Name: "watched_at", field: func(m *onboard.Management) any { return &m.WatchedAt }},
	{Name: "trouble", field: func(m *onboard.Management) any { return &m.Trouble }},
	{Name: "held_at", field: func(m *onboard.Management) any { return &m.HeldAt }},
	{Name: "released_until", field: func(m *onboard.Management) any { return &m.ReleasedUntil }},
	{Name: "revision", field: func(m *onboard.Management) any { return &m.Revision }},
}

// ManagementNoteColumns are those that a watch writes.
var ManagementNoteColumns = ManagementColumns.Pick("watched_at", "trouble")

// ClusterColumns are the columns of the table clusters.
var ClusterColumns = Columns[onboard.Cluster]{
	{Name: "id", field: func(c *onboard.Cluster) any { return &c.ID }, fixed: true},
	{Name: "management", field: func(c *onboard.Cluster) any { return &c.Management }, fixed: true},
	{Name: "namespace", field: func(c *onboard.Cluster) any { return &c.Namespace }, fixed: true},
	{Name: "name", field: func(c *onboard.Cluster) any { return &c.Name }, fixed: true},
	{Name: "uid", field: func(c *onboard.Cluster) any { return &c.UID }, fixed: true},
	{Name: "project", field: func(c *onboard.Cluster) any { return &c.Project }},
	{Name: "state", field: func(c *onboard.Cluster) any { return &c.State }},
	{Name: "reason", field: func(c *onboard.Cluster) any { return &c.Reason }},
	{Name: "message", field: func(c *onboard.Cluster) any { return &c.Message }},
	{Name: "vim", field: func(c *onboard.Cluster) any { return &c.VIM }},
	{Name: "former", field: func(c *onboard.Cluster) any { return &c.Former }},
	{Name: "system", field: func(c *onboard.Cluster) any { return &c.System }},
	{Name: "rival", field: func(c *onboard.Cluster) any { return &c.Rival }},
	{Name: "secret", field: func(c *onboard.Cluster) any { return &c.Secret }},
	{Name: "push_token", field: func(c *onboard.Cluster) any { return &c.PushToken }},
	{Name: "push_expires_at", field: func(c *onboard.Cluster) any { return &c.PushExpiresAt }},
	{Name: "pushed_at", field: func(c *onboard.Cluster) any { return &c.PushedAt }},
	{Name: "ready_at", field: func(c *onboard.Cluster) any { return &c.ReadyAt }},
	{Name: "registered_at", field: func(c *onboard.Cluster) any { return &c.RegisteredAt }},
	{Name: "gone_at", field: func(c *onboard.Cluster) any { return &c.GoneAt }},
	{Name: "created_at", field: func(c *onboard.Cluster) any { return &c.CreatedAt }, fixed: true},
	{Name: "updated_at", field: func(c *onboard.Cluster) any { return &c.UpdatedAt }},
	{Name: "attempts", field: func(c *onboard.Cluster) any { return &c.Attempts }},
	{Name: "revision", field: func(c *onboard.Cluster) any { return &c.Revision }},
}

// ClusterNoteColumns are those that an observation of a cluster writes.
var ClusterNoteColumns = ClusterColumns.Pick("reason", "message", "attempts", "secret")

// ClusterPosition is the place of a cluster in its list.
type ClusterPosition struct {
	Management string `json:"clusterManagement"`
	Namespace  string `json:"clusterNamespace"`
	Name       string `json:"clusterName"`
	UID        string `json:"clusterUid"`
}

// CutClusters cuts a list that is longer than a page, and returns the next page's token.
func CutClusters(clusters []onboard.Cluster, size int) ([]onboard.Cluster, string) {
	return Cut(clusters, size, func(c onboard.Cluster) string {
		return Token(ClusterPosition{c.Management, c.Namespace, c.Name, c.UID})
	})
}

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
	if old.State != now.State && !old.State.CanMove(now.State) {
		return onboard.Cluster{}, Conflict(fmt.Sprintf("a cluster that is %s cannot become %s", old.State, now.State))
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

// WhereClusters are the conditions of a filter, and of the page after a position.
func WhereClusters(f onboard.ClusterFilter, after *ClusterPosition) *Conditions {
	where := new(Conditions)
	where.AddIf(f.Management != "", `management = ?`, f.Management)
	where.AddIf(f.Project != "", `project = ?`, f.Project)
	where.AddIf(f.Namespace != "", `namespace = ?`, f.Namespace)
	where.AddIf(f.Name != "", `name = ?`, f.Name)
	if f.System != "" { // as the index has it
		where.Add(`system = ? AND system <> '' AND state <> 'retired'`, f.System)
	}
	where.AddIf(f.State != "", `state = ?`, string(f.State))
	if after != nil {
		where.Add(`(management, namespace, name, uid) > (?, ?, ?, ?)`, after.Management, after.Namespace, after.Name, after.UID)
	}
	return where
}
