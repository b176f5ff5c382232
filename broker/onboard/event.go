package onboard

import (
	"strings"

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
	EventRetired     ClusterEventKind = "vim.retired"     // its VIM is gone: with the cluster, or deleted by a person
	EventSuspended   ClusterEventKind = "vim.suspended"   // it is paused or being deleted: its VIM issues no new leases
	EventResumed     ClusterEventKind = "vim.resumed"     // it is not any more
	// Events of a management cluster.
	EventHeld     ClusterEventKind = "managementCluster.held"     // too many of its clusters were gone: none is let go of
	EventReleased ClusterEventKind = "managementCluster.released" // a person has let go of them
)

// ClusterEvent is an event of a cluster, or of a management cluster, for the outside. The only texts of a tenant in it are
// the names of the cluster, and the labels that the settings say to copy.
type ClusterEvent struct {
	Kind ClusterEventKind `json:"-"`
	// VIM is the id of the cluster's VIM; empty if it was quarantined before it was one.
	VIM string `json:"vim,omitempty"`
	// Name is the VIM's, Labels those that it has from the Cluster object.
	Name   string            `json:"vimName,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	// ManagementCluster is the id of the VIM that its management cluster is.
	ManagementCluster string `json:"managementCluster"`
	// Cluster is NAMESPACE/NAME, Project whose VIM it is or would become; empty in an event of a management cluster.
	Cluster string        `json:"cluster,omitempty"`
	Project string        `json:"project,omitempty"`
	Reason  ClusterReason `json:"reason,omitempty"`
	// Entry is the audit entry's place in the log.
	Entry int64 `json:"auditEntry"`
}

// suspends are the reasons for which a VIM issues no new leases, doubts those for which a cluster is quarantined.
var (
	suspends = map[ClusterReason]bool{ReasonPaused: true, ReasonDeleting: true, ReasonMoving: true}
	doubts   = map[ClusterReason]bool{
		ReasonSecretMislabelled: true, ReasonSecretForeign: true, ReasonSecretInvalid: true, ReasonOtherSystem: true, ReasonSystemTaken: true,
	}
)

// EventOf is the event of an audit entry; false for entries without one.
func EventOf(e audit.Entry) (ClusterEvent, bool) {
	if kind := ClusterEventKind(e.Detail[detailEvent]); kind == EventHeld || kind == EventReleased {
		return ClusterEvent{Kind: kind, ManagementCluster: e.Resource, Reason: ReasonHeld, Entry: e.Seq}, true
	}
	if e.Principal != self("").Name || e.Action != policy.ClusterFollow || e.Outcome != audit.Done {
		return ClusterEvent{}, false
	}
	v := ClusterEvent{
		VIM: e.Detail[detailClusterVIM], ManagementCluster: e.Resource, Cluster: e.Detail[detailCluster], Project: e.Detail[detailProject],
		Reason: ClusterReason(e.Detail[audit.DetailReason]), Entry: e.Seq, Name: e.Detail[detailVIMName],
	}
	for key, value := range e.Detail {
		if name, ok := strings.CutPrefix(key, detailLabel); ok {
			if v.Labels == nil {
				v.Labels = map[string]string{}
			}
			v.Labels[name] = value
		}
	}
	before := ClusterReason(e.Detail[audit.DetailOld+audit.DetailReason])
	was, is := State(e.Detail[audit.DetailOld+detailState]), State(e.Detail[audit.DetailNew+detailState])
	switch {
	case is == StateRegistered && was == StateRegistering:
		v.Kind = EventRegistered
	case is == StateQuarantined, is == "" && doubts[v.Reason] && (doubts[before] || e.Detail[audit.DetailNew+detailSecret] != ""):
		v.Kind = EventQuarantined
	case e.Detail[audit.DetailNew+detailSecret] != "" && v.VIM != "" && is != StateRegistering:
		v.Kind = EventUpdated
	case v.VIM != "" && (is == StateRetired || is == StateWaiting):
		v.Kind = EventRetired
	case suspends[v.Reason] && v.Reason != ReasonMoving && !suspends[before] && is == "" && v.VIM != "":
		v.Kind = EventSuspended
	case suspends[before] && !suspends[v.Reason] && is == "" && v.VIM != "":
		v.Kind = EventResumed
	default:
		return ClusterEvent{}, false
	}
	return v, true
}
