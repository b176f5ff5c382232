package rest

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Timeouts of answers: from our own store, with one check of a VIM, with many calls to a
// VIM.
const (
	quick  = 15 * time.Second
	remote = time.Minute
	long   = 2 * time.Minute
)

// routes are all operations but GET /openapi.json. Every one under /v1/ requires an
// authenticated caller.
var routes = []route{
	{
		method: "POST", path: "/v1/vims", id: "registerVIM", tag: "vims", endpoint: takes((*server).registerVIM),
		summary: "Register a VIM", timeout: remote, action: policy.VIMRegister, header: once, status: []int{http.StatusCreated},
	},
	{
		method: "GET", path: "/v1/vims", id: "listVIMs", tag: "vims", endpoint: plain((*server).listVIMs),
		summary: "List VIMs", action: policy.VIMShow, query: vimQuery,
	},
	{
		method: "GET", path: "/v1/vims/{id}", id: "showVIM", tag: "vims", endpoint: plain((*server).showVIM),
		summary: "Show a VIM", action: policy.VIMShow,
	},
	{
		method: "PATCH", path: "/v1/vims/{id}", id: "updateVIM", tag: "vims", endpoint: takes((*server).updateVIM),
		summary: "Change a VIM", timeout: remote, action: policy.VIMUpdate, header: match,
	},
	{
		method: "DELETE", path: "/v1/vims/{id}", id: "deleteVIM", tag: "vims", endpoint: plain((*server).deleteVIM),
		summary: "Delete a VIM: 204 when it is gone, 202 while it drains",
		timeout: long, action: policy.VIMDelete, query: deletion, header: match, status: []int{http.StatusAccepted, http.StatusNoContent},
	},
	{
		method: "POST", path: "/v1/vims/{id}/check", id: "checkVIM", tag: "vims", endpoint: takes((*server).checkVIM),
		summary: "Check a VIM's endpoint and credential now", optional: true, timeout: remote, action: policy.VIMCheck,
	},
	{
		method: "POST", path: "/v1/vims/{id}/rotate", id: "rotateVIM", tag: "vims", endpoint: takes((*server).rotateVIM),
		summary:  "Replace a VIM's credential, also while the VIM drains, or seal it under a new key",
		optional: true, timeout: remote, action: policy.VIMRotate, header: match,
	},
	{
		method: "POST", path: "/v1/vims/{id}/inventory", id: "takeInventory", tag: "vims", endpoint: takes((*server).inventory),
		summary:  "Compare what a VIM holds with its leases, and settle the difference",
		optional: true, timeout: long, action: policy.VIMInventory,
	},

	{
		method: "GET", path: "/v1/keys", id: "listKeys", tag: "keys", endpoint: plain((*server).listKeys),
		summary: "List how the credentials of VIMs are sealed", timeout: remote, action: policy.VIMShow, query: keyQuery,
	},
	{
		method: "POST", path: "/v1/keys:rotate", id: "rotateKeys", tag: "keys", endpoint: takes((*server).rotateKeys),
		summary:  "Seal under new keys what belongs to no VIM: secrets of subscriptions, and keys that sign",
		optional: true, timeout: remote, action: policy.VIMRotate, status: []int{http.StatusNoContent},
	},

	{
		method: "POST", path: "/v1/leases", id: "issueLease", tag: "leases", endpoint: takes((*server).issueLease),
		summary: "Issue a lease", timeout: remote, action: policy.LeaseIssue, header: once, status: []int{http.StatusCreated},
	},
	{
		method: "GET", path: "/v1/leases", id: "listLeases", tag: "leases", endpoint: plain((*server).listLeases),
		summary: "List leases", action: policy.LeaseShow, query: leaseQuery,
	},
	{
		method: "GET", path: "/v1/leases/{id}", id: "showLease", tag: "leases", endpoint: plain((*server).showLease),
		summary: "Show a lease", action: policy.LeaseShow,
	},
	{
		method: "POST", path: "/v1/leases/{id}/renew", id: "renewLease", tag: "leases", endpoint: takes((*server).renewLease),
		summary:  "Mint a new credential of a lease; of a standing one a token, for its holder",
		optional: true, timeout: remote, action: policy.LeaseRenew,
	},
	{
		method: "POST", path: "/v1/leases/{id}/push", beta: true, id: "pushLease", tag: "leases", endpoint: takes((*server).pushLease),
		summary: "Keep a kubeconfig for a standing lease in a Secret of a target; it holds no credential",
		timeout: remote, action: policy.LeasePush,
	},
	{
		method: "DELETE", path: "/v1/leases/{id}", id: "revokeLease", tag: "leases", endpoint: plain((*server).revokeLease),
		summary: "Revoke a lease: 200 when its upstream object is gone, 202 until then",
		timeout: remote, action: policy.LeaseRevoke, status: []int{http.StatusOK, http.StatusAccepted}, lane: api.Ending,
	},
	{
		method: "POST", path: "/v1/leases:revoke", id: "revokeLeases", tag: "leases", endpoint: takes((*server).revokeLeases),
		summary: "Revoke all leases of a VIM, a principal, a person, an operation or a VNF instance",
		timeout: long, action: policy.LeaseRevoke, lane: api.Ending,
	},

	{
		method: "POST", path: "/v1/management-clusters", beta: true, id: "enableManagementCluster", tag: "clusters",
		endpoint: takes((*server).enableManagement), summary: "Make a VIM a management cluster, or change how it is one",
		action: policy.ClusterEnable, status: []int{http.StatusCreated}, needs: (*server).onboarding,
	},
	{
		method: "GET", path: "/v1/management-clusters", beta: true, id: "listManagementClusters", tag: "clusters",
		endpoint: plain((*server).listManagements), summary: "List management clusters",
		action: policy.ClusterShow, needs: (*server).onboarding,
	},
	{
		method: "GET", path: "/v1/management-clusters/{id}", beta: true, id: "showManagementCluster", tag: "clusters",
		endpoint: plain((*server).showManagement), summary: "Show a management cluster",
		action: policy.ClusterShow, needs: (*server).onboarding,
	},
	{
		method: "DELETE", path: "/v1/management-clusters/{id}", beta: true, id: "disableManagementCluster", tag: "clusters",
		endpoint: plain((*server).disableManagement), summary: "Stop following the clusters of a management cluster; their VIMs stay",
		action: policy.ClusterEnable, status: []int{http.StatusNoContent}, needs: (*server).onboarding,
	},
	{
		method: "POST", path: "/v1/management-clusters/{id}/release", beta: true, id: "releaseManagementCluster", tag: "clusters",
		endpoint: takes((*server).releaseManagement), summary: "Let go of clusters that were held because too many were gone at once",
		optional: true, action: policy.ClusterEnable, needs: (*server).onboarding,
	},
	{
		method: "GET", path: "/v1/clusters", beta: true, id: "listClusters", tag: "clusters", endpoint: plain((*server).listClusters),
		summary: "List the clusters of management clusters",
		action:  policy.ClusterShow, query: clusterQuery, needs: (*server).onboarding,
	},
	{
		method: "GET", path: "/v1/clusters/{id}", beta: true, id: "showCluster", tag: "clusters", endpoint: plain((*server).showCluster),
		summary: "Show a cluster", action: policy.ClusterShow, needs: (*server).onboarding,
	},
	{
		method: "POST", path: "/v1/clusters/{id}/push-token", beta: true, id: "issuePushToken", tag: "clusters",
		endpoint: takes((*server).issuePushToken),
		summary:  "Issue the token with which one kubeconfig of a cluster can be pushed; the one before is good no more",
		optional: true, action: policy.ClusterEnable, status: []int{http.StatusCreated}, needs: (*server).onboarding,
	},
	{
		method: "DELETE", path: "/v1/clusters/{id}/push-token", beta: true, id: "revokePushToken", tag: "clusters",
		endpoint: plain((*server).revokePushToken), summary: "Revoke a cluster's token to push with",
		action: policy.ClusterEnable, status: []int{http.StatusNoContent}, needs: (*server).onboarding,
	},
	{
		method: "POST", path: "/v1/onboard", beta: true, id: "pushKubeconfig", tag: "clusters", endpoint: takes((*server).push), pushes: true,
		summary: "Push the kubeconfig of a cluster, as if its secret held it", timeout: remote, needs: (*server).onboarding,
	},

	{
		method: "POST", path: "/v1/clients", id: "createClient", tag: "clients", endpoint: takes((*server).createClient),
		summary: "Register a program that logs in by OAuth 2.0; the answer has its secret, this once",
		timeout: remote, action: policy.ClientCreate, status: []int{http.StatusCreated}, needs: (*server).oauthClients,
	},
	{
		method: "GET", path: "/v1/clients", id: "listClients", tag: "clients", endpoint: plain((*server).listClients),
		summary: "List clients", action: policy.ClientShow, query: clientQuery, needs: (*server).oauthClients,
	},
	{
		method: "GET", path: "/v1/clients/{id}", id: "showClient", tag: "clients", endpoint: plain((*server).showClient),
		summary: "Show a client", action: policy.ClientShow, needs: (*server).oauthClients,
	},
	{
		method: "PUT", path: "/v1/clients/{id}/placements", beta: true, id: "setClientPlacements", tag: "clients",
		endpoint: takes((*server).setPlacements), summary: "Replace what says where a client's VNFs go; leases that it has stay",
		timeout: remote, action: policy.ClientUpdate, needs: (*server).oauthClients,
	},
	{
		method: "POST", path: "/v1/clients/{id}/rotate", id: "rotateClient", tag: "clients", endpoint: takes((*server).rotateClient),
		summary:  "Give a client another secret; the answer has it, this once",
		optional: true, timeout: long, action: policy.ClientRotate, needs: (*server).oauthClients,
	},
	{
		method: "DELETE", path: "/v1/clients/{id}", id: "deleteClient", tag: "clients", endpoint: plain((*server).deleteClient),
		summary: "Delete a client, and revoke its leases",
		timeout: long, action: policy.ClientDelete, status: []int{http.StatusNoContent}, lane: api.Ending, needs: (*server).oauthClients,
	},

	{
		method: "GET", path: "/v1/grants", beta: true, id: "listGrants", tag: "clients", endpoint: plain((*server).listGrants),
		summary: "List what VNFMs were granted for their operations, newest first",
		action:  policy.GrantShow, query: grantQuery, needs: (*server).vnfGrants,
	},
	{
		method: "GET", path: "/v1/grants/{id}", beta: true, id: "showGrant", tag: "clients", endpoint: plain((*server).showGrant),
		summary: "Show what a VNFM was granted; its credential is for the VNFM alone",
		action:  policy.GrantShow, needs: (*server).vnfGrants,
	},

	{
		method: "GET", path: "/v1/token-keys", id: "listTokenKeys", tag: "clients", endpoint: plain((*server).listTokenKeys),
		summary: "List the keys that sign clients' tokens, or did while their tokens count",
		action:  policy.TokenKey, needs: (*server).tokenKeys,
	},
	{
		method: "POST", path: "/v1/token-keys:rotate", id: "rotateTokenKey", tag: "clients", endpoint: plain((*server).rotateTokenKey),
		summary: "Replace the key that signs clients' tokens; tokens of the one before count until they expire",
		action:  policy.TokenKey, needs: (*server).tokenKeys,
	},
	{
		method: "DELETE", path: "/v1/token-keys/{id}", id: "revokeTokenKey", tag: "clients", endpoint: plain((*server).revokeTokenKey),
		summary: "Revoke a key that leaked: none of its tokens counts any more",
		action:  policy.TokenKey, status: []int{http.StatusNoContent}, lane: api.Ending, needs: (*server).tokenKeys,
	},

	{
		method: "GET", path: "/v1/whoami", id: "whoAmI", tag: "callers", endpoint: plain((*server).whoAmI),
		summary: "Show who the caller is to the server",
	},
	{
		method: "GET", path: "/v1/tokens", id: "listTokens", tag: "callers", endpoint: plain((*server).listTokens),
		summary: "List callers' static tokens, and when each was last used", action: policy.TokenList, query: paging,
	},
	{
		method: "GET", path: "/v1/audit", id: "listAudit", tag: "audit", endpoint: plain((*server).listAudit),
		summary: "Read the audit log, newest first", action: policy.AuditRead, query: auditQuery,
	},
	{
		method: "GET", path: "/v1/audit/anchors", id: "listAuditAnchors", tag: "audit", endpoint: plain((*server).auditAnchors),
		summary: "Show which checkpoint of the audit log each of its anchors has", action: policy.AuditRead,
	},
	{
		method: "GET", path: "/v1/audit/checkpoint", id: "showAuditCheckpoint", tag: "audit", endpoint: plain((*server).auditCheckpoint),
		summary: "Show the last signed checkpoint of the audit log; as text/plain only the signed note",
		action:  policy.AuditRead, media: "text/plain",
	},
	{
		method: "GET", path: "/v1/audit/keys", id: "listAuditKeys", tag: "audit", endpoint: plain((*server).auditKeys),
		summary: "List the keys that sign checkpoints of the audit log, or did", action: policy.AuditRead,
	},
	{
		method: "POST", path: "/v1/audit/keys:rotate", id: "rotateAuditKey", tag: "audit", endpoint: plain((*server).rotateAuditKey),
		summary: "Replace the key that signs checkpoints; the old one endorses the new one", timeout: remote, action: policy.AuditKey,
	},
	{
		method: "POST", path: "/v1/audit/keys/{id}/revoke", id: "revokeAuditKey", tag: "audit", endpoint: takes((*server).revokeAuditKey),
		summary:  "Revoke a key that signs checkpoints, or did; a new one takes its place",
		optional: true, timeout: remote, action: policy.AuditKey,
	},
	{
		method: "GET", path: "/v1/audit/lines", id: "readAuditLines", tag: "audit", endpoint: plain((*server).auditLines),
		summary: "Read the whole audit log in its order, one line a leaf of its Merkle tree",
		timeout: remote, action: policy.AuditRead, query: linesQuery, media: "application/x-ndjson",
	},
	{
		method: "GET", path: "/v1/audit/growth", id: "proveAuditGrowth", tag: "audit", endpoint: plain((*server).auditGrowth),
		summary: "Prove that the audit log begins, or began, with what it held at an earlier size",
		timeout: remote, action: policy.AuditRead, query: growthQuery,
	},
	{
		method: "GET", path: "/v1/audit/proofs/{seq}", id: "proveAuditEntry", tag: "audit", endpoint: plain((*server).auditProof),
		summary: "Prove that an entry is in the audit log", timeout: remote, action: policy.AuditRead,
	},
	{
		method: "GET", path: "/v1/retention", id: "showRetention", tag: "audit", endpoint: plain((*server).retention),
		summary: "Show how long the past is kept, and what is removed next", action: policy.AuditRead,
	},
	{
		method: "GET", path: "/v1/audit/sinks", id: "listAuditSinks", tag: "audit", endpoint: plain((*server).auditSinks),
		summary: "Show how far the audit log has been delivered to each of its sinks", action: policy.AuditRead,
	},
	{
		method: "GET", path: "/v1/audit/tree", id: "showAuditTree", tag: "audit", endpoint: plain((*server).auditTree),
		summary: "Show the Merkle tree over the whole audit log", timeout: remote, action: policy.AuditRead, query: treeQuery,
	},
	{
		method: "POST", path: "/v1/policy:explain", id: "explainPolicy", tag: "callers", endpoint: takes((*server).explain),
		summary: "Ask what policy would decide", action: policy.PolicyExplain,
	},

	{
		method: "POST", path: "/v1/trust", beta: true, id: "createTrustEntry", tag: "callers", endpoint: takes((*server).createTrust),
		summary: "Add an entry to the table of trust", action: policy.TrustCreate, status: []int{http.StatusCreated},
		needs: (*server).trustTable,
	},
	{
		method: "GET", path: "/v1/trust", beta: true, id: "listTrustEntries", tag: "callers", endpoint: plain((*server).listTrust),
		summary: "List the table of trust: who may say who callers are", action: policy.TrustShow, needs: (*server).trustTable,
	},
	{
		method: "GET", path: "/v1/trust/{name}", beta: true, id: "showTrustEntry", tag: "callers", endpoint: plain((*server).showTrust),
		summary: "Show an entry of the table of trust", action: policy.TrustShow, needs: (*server).trustTable,
	},
	{
		method: "PUT", path: "/v1/trust/{name}", beta: true, id: "updateTrustEntry", tag: "callers", endpoint: takes((*server).updateTrust),
		summary: "Replace an entry of the table of trust", action: policy.TrustUpdate, needs: (*server).trustTable,
	},
	{
		method: "DELETE", path: "/v1/trust/{name}", beta: true, id: "deleteTrustEntry", tag: "callers", endpoint: plain((*server).deleteTrust),
		summary: "Delete an entry of the table of trust: nobody comes in by it any more",
		action:  policy.TrustDelete, status: []int{http.StatusNoContent}, lane: api.Ending, needs: (*server).trustTable,
	},
	{
		method: "POST", path: "/v1/trust:try", beta: true, id: "tryToken", tag: "callers", endpoint: takes((*server).tryToken),
		summary: "Say how a token would fare at the table of trust", timeout: remote, action: policy.TrustShow, needs: (*server).trustTable,
	},

	{
		method: "GET", path: "/logins", beta: true, id: "listLogins", tag: "callers", endpoint: plain((*server).listLogins),
		summary: "List how people log in; no token is needed",
	},

	{
		method: "GET", path: "/healthz", id: "alive", tag: "probes", endpoint: plain((*server).alive),
		summary: "Whether the server lives", lane: api.Free,
	},
	{
		method: "GET", path: "/readyz", id: "ready", tag: "probes", endpoint: plain((*server).ready),
		summary: "Whether the server can serve, and which part of it cannot be used",
		query:   []parameter{{name: "verbose", doc: "Show all parts"}}, lane: api.Free,
	},
}

// tags are the groups of operations, in the order in which people meet them.
var tags = []*huma.Tag{
	{Name: "vims", Description: "Clouds and clusters whose credentials are kept"},
	{Name: "leases", Description: "Short-lived credentials derived from theirs"},
	{Name: "clusters", Description: "Clusters of Cluster API, which become VIMs by themselves (beta)"},
	{Name: "keys", Description: "How credentials are sealed"},
	{Name: "callers", Description: "Who calls, and what policy decides"},
	{Name: "clients", Description: "Programs that log in by OAuth 2.0, such as VNFMs"},
	{Name: "audit", Description: "Who did what, and the proof that the log only grew"},
	{Name: "probes", Description: "Whether the server lives and can serve; no token needed"},
}

var (
	once = []parameter{{
		name: "Idempotency-Key",
		doc: "Makes a repetition harmless: the same key from the same principal answers with what the first request made; one that failed " +
			"is tried anew. " +
			"At most " + strconv.Itoa(broker.MaxIdempotencyKey) + " visible ASCII characters.",
	}}
	match = []parameter{{name: "If-Match", doc: "ETag of the VIM as it was read; another one by now is answered with 412."}}

	paging = []parameter{
		{name: "pageSize", doc: "At most this many items, 1 to 1000; 100 if absent. There may be fewer, and even none, while there is a " +
			"nextPageToken.", kind: "integer"},
		{name: "pageToken", doc: "nextPageToken of the page before."},
	}
	truth = []string{"true", "false"}

	clientQuery = append([]parameter{{name: "name", doc: "Clients of this name."}}, paging...)

	vimQuery = append([]parameter{
		{name: typeFilter, doc: "VIMs of this type."},
		{name: "name", doc: "VIMs of this name."},
		{name: "idPrefix", doc: "VIMs whose id begins so."},
		{
			name: "status", doc: "VIMs of this status: what the last check found, or draining.",
			values: append(texts(healthStatuses...), string(broker.VIMDraining)),
		},
		{name: "label", doc: "VIMs with this label, as name=value.", many: true},
	}, paging...)
	keyQuery = append([]parameter{
		{name: "try", doc: "Open each credential, and say whether that works.", kind: "boolean", values: truth},
	}, vimQuery...)
	deletion = []parameter{
		{name: "drain", doc: "Revoke live leases first, instead of refusing.", kind: "boolean", values: truth},
		{name: "force", doc: "Delete although leases cannot be revoked; they stay listed as irrevocable.", kind: "boolean", values: truth},
	}
	leaseQuery = append([]parameter{
		{name: "idPrefix", doc: "Leases whose id begins so."},
		{name: "vim", doc: "Leases on the VIM of this id or name."},
		{name: "principal", doc: "Leases of this principal."},
		{name: "operation", doc: "Leases that serve this LCM operation occurrence."},
		{name: "for", doc: "Leases that are for this person."},
		{name: "instance", doc: "Leases that serve this VNF instance of another VNFM."},
		{name: "state", doc: "Leases in this state.", values: texts(leaseStates...)},
	}, paging...)
	grantQuery = append([]parameter{
		{name: "client", doc: "Grants of the client of this id."},
		{name: "instance", doc: "Grants for this VNF instance of the VNFM."},
		{name: "operation", doc: "Grants for this LCM operation occurrence of the VNFM."},
		{name: "vim", doc: "Grants that lend the VIM of this id, or of this name as it was then."},
		{name: "lease", doc: "Grants that lend the lease of this id."},
		{name: "state", doc: "Grants in this state.", values: texts(grant.States()...)},
	}, paging...)
	linesQuery = []parameter{
		{name: "after", doc: "Entries that follow the one of this number; 0 if absent.", kind: "integer"},
		{name: "limit", doc: "At most this many, 1 to " + strconv.Itoa(maxLines) +
			"; as many if absent. There may be fewer: a page ends at some megabytes.", kind: "integer"},
	}
	clusterQuery = append([]parameter{
		{name: "managementCluster", doc: "Clusters of the management cluster that is the VIM of this id or name."},
		{name: "namespace", doc: "Clusters of this namespace of their management cluster."},
		{name: "name", doc: "Clusters of this name."},
		{name: "state", doc: "Clusters in this state.", values: texts(onboard.States()...)},
	}, paging...)
	growthQuery = []parameter{
		{name: "size", doc: "Earlier size of the log; 0 if absent."},
		{name: "later", doc: "Later size of the log, whose tree the answer is about; that of now if absent."},
	}
	treeQuery = []parameter{
		{name: "size", doc: "Earlier size of the log, for which the answer holds the frontier; 0 if absent."},
	}
	auditQuery = append([]parameter{
		{name: "project", doc: "What principals of this project did, and what others did on its VIMs."},
		{name: "principal", doc: "Entries of this principal."},
		{name: "vim", doc: "Entries about the VIM of this id, or of this name as it was then."},
		{name: "lease", doc: "Entries about the lease of this id."},
		{name: "request", doc: "What was refused or failed in the request of this id."},
		{name: "credentialId", doc: "Entries about the credential that the VIM's own audit log names so."},
		{name: "outcome", doc: "Entries with this outcome.", values: texts(auditOutcomes...), many: true},
		{name: "action", doc: "Entries of this action."},
		{name: "resource", doc: "Entries about the resource of this id."},
		{name: "since", doc: "Entries from this time on (RFC 3339)."},
		{name: "until", doc: "Entries before this time (RFC 3339)."},
	}, paging...)
)

// The complete values of the filters.
var (
	healthStatuses = []broker.HealthStatus{
		broker.HealthUnchecked, broker.HealthReachable, broker.HealthUnreachable, broker.HealthUnauthorized, broker.HealthIdentityChanged,
		broker.HealthUnopenable,
	}
	auditOutcomes = []audit.Outcome{audit.Denied, audit.Read, audit.Intent, audit.Done, audit.Failed}
	leaseStates   = []broker.LeaseState{
		broker.LeasePending, broker.LeaseActive, broker.LeaseRevoking, broker.LeaseRevoked, broker.LeaseIrrevocable,
	}
)

// typeFilter is the parameter whose values are the types that the broker serves.
const typeFilter = "type"

// routesFor is the table, in full, for a broker that serves these types of VIM.
func routesFor(types []broker.Type) []route {
	all := slices.Clone(routes)
	for i := range all {
		if all[i].timeout == 0 {
			all[i].timeout = quick
		}
		if all[i].status == nil {
			all[i].status = []int{http.StatusOK}
		}
		all[i].query = slices.Clone(all[i].query)
		for j := range all[i].query {
			if p := &all[i].query[j]; p.name == typeFilter {
				p.values = typeNames(types)
			}
		}
	}
	return all
}

func typeNames(types []broker.Type) []string {
	var names []string
	for _, t := range types {
		names = append(names, string(t.Name))
	}
	return names
}

// formatNames are the client configuration formats of all types, each once, with
// the defaults in front.
func formatNames(types []broker.Type) []string {
	var defaults, others []string
	for _, t := range types {
		defaults = append(defaults, string(t.Formats[0]))
		others = append(others, texts(t.Formats[1:]...)...)
	}
	var names []string
	for _, f := range append(defaults, others...) {
		if !slices.Contains(names, f) {
			names = append(names, f)
		}
	}
	return names
}

// texts are the words of an enumeration.
func texts[T ~string](values ...T) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}
