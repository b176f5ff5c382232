package onboard

import (
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// ClusterEventKind says what became of a cluster's VIM, in the words of those who are told.
type ClusterEventKind string

// Events for the outside. An event is an audit entry seen from outside.
const (
	EventRegistered  ClusterEventKind = "vim.registered"  // a cluster has become a VIM
	EventUpdated     ClusterEventKind = "vim.updated"     // its VIM has another credential
	EventQuarantined ClusterEventKind = "vim.quarantined" // what is shown of it is not believed
	EventRetired     ClusterEventKind = "vim.retired"     // it is gone, and so is its VIM
)

// ClusterEvent is an event of a cluster for the outside. The only texts of a tenant in it are the
// names of the cluster.
type ClusterEvent struct {
	Kind ClusterEventKind `json:"-"`
	// VIM is the id of the cluster's VIM; empty if it was quarantined before it was one.
	VIM string `json:"vim,omitempty"`
	// ManagementCluster is the id of the VIM that its management cluster is.
	ManagementCluster string `json:"managementCluster"`
	// Cluster is NAMESPACE/NAME, Project whose VIM it is or would become.
	Cluster string        `json:"cluster"`
	Project string        `json:"project"`
	Reason  ClusterReason `json:"reason,omitempty"`
	// Entry is the audit entry's place in the log.
	Entry int64 `json:"auditEntry"`
}

// EventOf is the event of an audit entry; false for entries without one.
func EventOf(e audit.Entry) (ClusterEvent, bool) {
	if e.Principal != self("").Name || e.Action != policy.ClusterFollow || e.Outcome != audit.Done {
		return ClusterEvent{}, false
	}
	v := ClusterEvent{
		VIM: e.Detail[detailClusterVIM], ManagementCluster: e.Resource, Cluster: e.Detail[detailCluster], Project: e.Detail[detailProject],
		Reason: ClusterReason(e.Detail[audit.DetailReason]), Entry: e.Seq,
	}
	was, is := State(e.Detail[audit.DetailOld+detailState]), State(e.Detail[audit.DetailNew+detailState])
	switch {
	case is == StateRegistered && was == StateRegistering:
		v.Kind = EventRegistered
	case e.Detail[audit.DetailNew+detailSecret] != "" && v.VIM != "" && is != StateQuarantined && is != StateRegistering:
		v.Kind = EventUpdated
	case is == StateQuarantined:
		v.Kind = EventQuarantined
	case is == StateRetired && v.VIM != "":
		v.Kind = EventRetired
	default:
		return ClusterEvent{}, false
	}
	return v, true
}
