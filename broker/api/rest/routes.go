package rest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

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

// The parts of the domain that handlers lead to, and the errors of servers that lack one.
var (
	leaser   = func(s *server) Leaser { return s.Leaser }
	auditLog = func(s *server) AuditLog { return s.AuditLog }
	overseer = func(s *server) Overseer { return s.Overseer }
	clusters = func(s *server) Clusters { return s.Clusters }
	clients  = func(s *server) OAuthClients { return s.Clients }
	keys     = func(s *server) TokenKeys { return s.TokenKeys }
	grants   = func(s *server) Grants { return s.Grants }
	trusted  = func(s *server) Trust { return s.Trust }

	onboarding = lacks(func(s *server) bool { return s.Clusters == nil }, "this server does not follow the clusters of Cluster API",
		"ask a server that does")
	oauthClients = lacks(func(s *server) bool { return s.Clients == nil }, "this server keeps no clients", "")
	tokenKeys    = lacks(func(s *server) bool { return s.TokenKeys == nil }, "this server gives clients no tokens", "")
	vnfGrants    = lacks(func(s *server) bool { return s.Grants == nil }, "this server gives VNFMs no grants", "")
	trustTable   = lacks(func(s *server) bool { return s.Trust == nil }, "this server has no table of trust", "")
	virtualLinks = lacks(func(s *server) bool { return s.Links == nil }, "this server keeps no virtual links and volumes", "")
)

// routes are all operations but GET /openapi.json. Every one under /v1/ requires an
// authenticated caller.
var routes = []route{
	on("POST /v1/vims", "registerVIM", "vims", takes((*server).registerVIM), "Register a VIM",
		route{timeout: remote, action: policy.VIMRegister, header: once, status: []int{http.StatusCreated}}),
	on("GET /v1/vims", "listVIMs", "vims", plain((*server).listVIMs), "List VIMs", route{action: policy.VIMShow, query: vimQuery}),
	on("GET /v1/vims/{id}", "showVIM", "vims", plain((*server).showVIM), "Show a VIM", route{action: policy.VIMShow}),
	on("PATCH /v1/vims/{id}", "updateVIM", "vims", takes((*server).updateVIM), "Change a VIM",
		route{timeout: remote, action: policy.VIMUpdate, header: match}),
	on("DELETE /v1/vims/{id}", "deleteVIM", "vims", plain((*server).deleteVIM),
		"Delete a VIM: 204 when it is gone, 202 while it drains",
		route{timeout: long, action: policy.VIMDelete, query: deletion, header: match, status: []int{http.StatusAccepted, http.StatusNoContent}}),
	on("POST /v1/vims/{id}/check", "checkVIM", "vims", takes((*server).checkVIM), "Check a VIM's endpoint and credential now",
		route{optional: true, timeout: remote, action: policy.VIMCheck}),
	on("POST /v1/vims/{id}/rotate", "rotateVIM", "vims", takes((*server).rotateVIM),
		"Replace a VIM's credential, also while the VIM drains, or seal it under a new key",
		route{optional: true, timeout: remote, action: policy.VIMRotate, header: match}),
	on("POST /v1/vims/{id}/inventory", "takeInventory", "vims", takes((*server).inventory),
		"Compare what a VIM holds with its leases, and settle the difference",
		route{optional: true, timeout: long, action: policy.VIMInventory}),

	on("GET /v1/keys", "listKeys", "keys", plain((*server).listKeys), "List how the credentials of VIMs are sealed",
		route{timeout: remote, action: policy.VIMShow, query: keyQuery}),
	on("POST /v1/keys:rotate", "rotateKeys", "keys", takes((*server).rotateKeys),
		"Seal under new keys what belongs to no VIM: secrets of subscriptions, and keys that sign",
		route{optional: true, timeout: remote, action: policy.VIMRotate, status: []int{http.StatusNoContent}}),

	on("POST /v1/leases", "issueLease", "leases", takes((*server).issueLease), "Issue a lease",
		route{timeout: remote, action: policy.LeaseIssue, header: once, status: []int{http.StatusCreated}}),
	on("GET /v1/leases", "listLeases", "leases", pages(leaser, Leaser.Leases, leasesAsked, lease), "List leases",
		route{action: policy.LeaseShow, query: leaseQuery}),
	on("GET /v1/leases/{id}", "showLease", "leases", byID(leaser, Leaser.Lease, lease), "Show a lease", route{action: policy.LeaseShow}),
	on("POST /v1/leases/{id}/renew", "renewLease", "leases", takes((*server).renewLease),
		"Mint a new credential of a lease; of a standing one a token, for its holder",
		route{optional: true, timeout: remote, action: policy.LeaseRenew}),
	on("POST /v1/leases/{id}/push", "pushLease", "leases", takes((*server).pushLease),
		"Keep a kubeconfig for a standing lease in a Secret of a target; it holds no credential",
		route{beta: true, timeout: remote, action: policy.LeasePush}),
	on("DELETE /v1/leases/{id}", "revokeLease", "leases", plain((*server).revokeLease),
		"Revoke a lease: 200 when its upstream object is gone, 202 until then",
		route{timeout: remote, action: policy.LeaseRevoke, status: []int{http.StatusOK, http.StatusAccepted}, lane: api.Ending}),
	on("POST /v1/leases:revoke", "revokeLeases", "leases", takes((*server).revokeLeases),
		"Revoke all leases of a VIM, a principal, a person, an operation or a VNF instance",
		route{timeout: long, action: policy.LeaseRevoke, lane: api.Ending}),

	on("POST /v1/management-clusters", "enableManagementCluster", "clusters", takes((*server).enableManagement),
		"Make a VIM a management cluster, or change how it is one",
		route{beta: true, action: policy.ClusterEnable, status: []int{http.StatusCreated}, needs: onboarding}),
	on("GET /v1/management-clusters", "listManagementClusters", "clusters", all(clusters, Clusters.Managements, management),
		"List management clusters", route{beta: true, action: policy.ClusterShow, needs: onboarding}),
	on("GET /v1/management-clusters/{id}", "showManagementCluster", "clusters", byID(clusters, Clusters.Management, management),
		"Show a management cluster", route{beta: true, action: policy.ClusterShow, needs: onboarding}),
	on("DELETE /v1/management-clusters/{id}", "disableManagementCluster", "clusters", ends(clusters, Clusters.Disable),
		"Stop following the clusters of a management cluster; their VIMs stay",
		route{beta: true, action: policy.ClusterEnable, status: []int{http.StatusNoContent}, needs: onboarding}),
	on("POST /v1/management-clusters/{id}/release", "releaseManagementCluster", "clusters", takes((*server).releaseManagement),
		"Let go of clusters that were held because too many were gone at once",
		route{beta: true, optional: true, action: policy.ClusterEnable, needs: onboarding}),
	on("GET /v1/clusters", "listClusters", "clusters", pages(clusters, Clusters.Clusters, clustersAsked, cluster),
		"List the clusters of management clusters",
		route{beta: true, action: policy.ClusterShow, query: clusterQuery, needs: onboarding}),
	on("GET /v1/clusters/{id}", "showCluster", "clusters", byID(clusters, Clusters.Cluster, cluster), "Show a cluster",
		route{beta: true, action: policy.ClusterShow, needs: onboarding}),
	on("POST /v1/clusters/{id}/push-token", "issuePushToken", "clusters", takes((*server).issuePushToken),
		"Issue the token with which one kubeconfig of a cluster can be pushed; the one before is good no more",
		route{beta: true, optional: true, action: policy.ClusterEnable, status: []int{http.StatusCreated}, needs: onboarding}),
	on("DELETE /v1/clusters/{id}/push-token", "revokePushToken", "clusters", ends(clusters, Clusters.RevokePushToken),
		"Revoke a cluster's token to push with",
		route{beta: true, action: policy.ClusterEnable, status: []int{http.StatusNoContent}, needs: onboarding}),
	on("POST /v1/onboard", "pushKubeconfig", "clusters", takes((*server).push),
		"Push the kubeconfig of a cluster, as if its secret held it",
		route{beta: true, pushes: true, timeout: remote, needs: onboarding}),

	on("POST /v1/virtual-links", "createVirtualLink", "links", takes(linkShelf.create),
		"Make a virtual link: 200 where it is there already and is the same",
		route{
			beta: true, timeout: remote, action: policy.LinkCreate, status: []int{http.StatusCreated, http.StatusOK},
			needs: virtualLinks,
		}),
	on("GET /v1/virtual-links", "listVirtualLinks", "links", plain(linkShelf.list), "List virtual links",
		route{beta: true, action: policy.LinkShow, query: paging, needs: virtualLinks}),
	on("GET /v1/virtual-links/{id}", "showVirtualLink", "links", plain(linkShelf.one), "Show a virtual link, and who uses it",
		route{beta: true, action: policy.LinkShow, needs: virtualLinks}),
	on("DELETE /v1/virtual-links/{id}", "deleteVirtualLink", "links", plain(linkShelf.remove),
		"Delete a virtual link: 409 while it is used",
		route{
			beta: true, timeout: remote, action: policy.LinkDelete, query: removal, status: []int{http.StatusNoContent, http.StatusOK},
			needs: virtualLinks,
		}),

	on("POST /v1/volumes", "createVolume", "links", takes(volumeShelf.create),
		"Make a volume: 200 where it is there already and is the same",
		route{
			beta: true, timeout: remote, action: policy.VolumeCreate, status: []int{http.StatusCreated, http.StatusOK},
			needs: virtualLinks,
		}),
	on("GET /v1/volumes", "listVolumes", "links", plain(volumeShelf.list), "List volumes",
		route{beta: true, action: policy.VolumeShow, query: paging, needs: virtualLinks}),
	on("GET /v1/volumes/{id}", "showVolume", "links", plain(volumeShelf.one), "Show a volume, and who uses it",
		route{beta: true, action: policy.VolumeShow, needs: virtualLinks}),
	on("DELETE /v1/volumes/{id}", "deleteVolume", "links", plain(volumeShelf.remove),
		"Delete a volume: 409 while it is used",
		route{
			beta: true, timeout: remote, action: policy.VolumeDelete, query: removal, status: []int{http.StatusNoContent, http.StatusOK},
			needs: virtualLinks,
		}),

	on("POST /v1/clients", "createClient", "clients", takes((*server).createClient),
		"Register a program that logs in by OAuth 2.0; the answer has its secret, this once",
		route{timeout: remote, action: policy.ClientCreate, status: []int{http.StatusCreated}, needs: oauthClients}),
	on("GET /v1/clients", "listClients", "clients", pages(clients, OAuthClients.Clients, clientsAsked, oauthClient), "List clients",
		route{action: policy.ClientShow, query: clientQuery, needs: oauthClients}),
	on("GET /v1/clients/{id}", "showClient", "clients", byID(clients, OAuthClients.Client, oauthClient), "Show a client",
		route{action: policy.ClientShow, needs: oauthClients}),
	on("PUT /v1/clients/{id}/placements", "setClientPlacements", "clients", takes((*server).setPlacements),
		"Replace what says where a client's VNFs go; leases that it has stay",
		route{beta: true, timeout: remote, action: policy.ClientUpdate, needs: oauthClients}),
	on("POST /v1/clients/{id}/rotate", "rotateClient", "clients", takes((*server).rotateClient),
		"Give a client another secret; the answer has it, this once",
		route{optional: true, timeout: long, action: policy.ClientRotate, needs: oauthClients}),
	on("DELETE /v1/clients/{id}", "deleteClient", "clients", ends(clients, OAuthClients.Delete), "Delete a client, and revoke its leases",
		route{timeout: long, action: policy.ClientDelete, status: []int{http.StatusNoContent}, lane: api.Ending, needs: oauthClients}),

	on("GET /v1/grants", "listGrants", "clients", pages(grants, Grants.Records, grantsAsked, vnfGrant),
		"List what VNFMs were granted for their operations, newest first",
		route{beta: true, action: policy.GrantShow, query: grantQuery, needs: vnfGrants}),
	on("GET /v1/grants/{id}", "showGrant", "clients", byID(grants, Grants.Record, vnfGrant),
		"Show what a VNFM was granted; its credential is for the VNFM alone",
		route{beta: true, action: policy.GrantShow, needs: vnfGrants}),

	on("GET /v1/token-keys", "listTokenKeys", "clients", all(keys, TokenKeys.Keys, tokenKey),
		"List the keys that sign clients' tokens, or did while their tokens count",
		route{action: policy.TokenKey, needs: tokenKeys}),
	on("POST /v1/token-keys:rotate", "rotateTokenKey", "clients", acts(keys, TokenKeys.RotateKey, tokenKey),
		"Replace the key that signs clients' tokens; tokens of the one before count until they expire",
		route{action: policy.TokenKey, needs: tokenKeys}),
	on("DELETE /v1/token-keys/{id}", "revokeTokenKey", "clients", ends(keys, TokenKeys.RevokeKey),
		"Revoke a key that leaked: none of its tokens counts any more",
		route{action: policy.TokenKey, status: []int{http.StatusNoContent}, lane: api.Ending, needs: tokenKeys}),

	on("GET /v1/whoami", "whoAmI", "callers", plain((*server).whoAmI), "Show who the caller is to the server", route{}),
	on("GET /v1/tokens", "listTokens", "callers", pages(overseer, Overseer.Tokens, (*call).paged, staticToken),
		"List callers' static tokens, and when each was last used", route{action: policy.TokenList, query: paging}),
	on("GET /v1/audit", "listAudit", "audit", plain((*server).listAudit), "Read the audit log, newest first",
		route{action: policy.AuditRead, query: auditQuery}),
	on("GET /v1/audit/anchors", "listAuditAnchors", "audit", all(auditLog, AuditLog.AuditAnchors, auditAnchor),
		"Show which checkpoint of the audit log each of its anchors has", route{action: policy.AuditRead}),
	on("GET /v1/audit/checkpoint", "showAuditCheckpoint", "audit", plain((*server).auditCheckpoint),
		"Show the last signed checkpoint of the audit log; as text/plain only the signed note",
		route{action: policy.AuditRead, media: "text/plain"}),
	on("GET /v1/audit/keys", "listAuditKeys", "audit", all(auditLog, AuditLog.AuditKeys, auditKey),
		"List the keys that sign checkpoints of the audit log, or did", route{action: policy.AuditRead}),
	on("POST /v1/audit/keys:rotate", "rotateAuditKey", "audit", acts(auditLog, AuditLog.RotateAuditKey, auditKey),
		"Replace the key that signs checkpoints; the old one endorses the new one", route{timeout: remote, action: policy.AuditKey}),
	on("POST /v1/audit/keys/{id}/revoke", "revokeAuditKey", "audit", takes((*server).revokeAuditKey),
		"Revoke a key that signs checkpoints, or did; a new one takes its place",
		route{optional: true, timeout: remote, action: policy.AuditKey}),
	on("GET /v1/audit/lines", "readAuditLines", "audit", plain((*server).auditLines),
		"Read the whole audit log in its order, one line a leaf of its Merkle tree",
		route{timeout: remote, action: policy.AuditRead, query: linesQuery, media: "application/x-ndjson"}),
	on("GET /v1/audit/growth", "proveAuditGrowth", "audit", plain((*server).auditGrowth),
		"Prove that the audit log begins, or began, with what it held at an earlier size",
		route{timeout: remote, action: policy.AuditRead, query: growthQuery}),
	on("GET /v1/audit/proofs/{seq}", "proveAuditEntry", "audit", plain((*server).auditProof), "Prove that an entry is in the audit log",
		route{timeout: remote, action: policy.AuditRead}),
	on("GET /v1/retention", "showRetention", "audit", plain((*server).retention),
		"Show how long the past is kept, and what is removed next", route{action: policy.AuditRead}),
	on("GET /v1/audit/sinks", "listAuditSinks", "audit", all(auditLog, AuditLog.AuditSinks, auditSink),
		"Show how far the audit log has been delivered to each of its sinks", route{action: policy.AuditRead}),
	on("GET /v1/audit/tree", "showAuditTree", "audit", plain((*server).auditTree), "Show the Merkle tree over the whole audit log",
		route{timeout: remote, action: policy.AuditRead, query: treeQuery}),
	on("POST /v1/policy:explain", "explainPolicy", "callers", takes((*server).explain), "Ask what policy would decide",
		route{action: policy.PolicyExplain}),

	on("POST /v1/trust", "createTrustEntry", "callers", takes((*server).createTrust), "Add an entry to the table of trust",
		route{beta: true, action: policy.TrustCreate, status: []int{http.StatusCreated}, needs: trustTable}),
	on("GET /v1/trust", "listTrustEntries", "callers", all(trusted, Trust.List, trustOut),
		"List the table of trust: who may say who callers are",
		route{beta: true, action: policy.TrustShow, needs: trustTable}),
	on("GET /v1/trust/{name}", "showTrustEntry", "callers", byID(trusted, Trust.Entry, trustOut), "Show an entry of the table of trust",
		route{beta: true, action: policy.TrustShow, needs: trustTable}),
	on("PUT /v1/trust/{name}", "updateTrustEntry", "callers", takes((*server).updateTrust), "Replace an entry of the table of trust",
		route{beta: true, action: policy.TrustUpdate, needs: trustTable}),
	on("DELETE /v1/trust/{name}", "deleteTrustEntry", "callers", ends(trusted, Trust.Delete),
		"Delete an entry of the table of trust: nobody comes in by it any more",
		route{beta: true, action: policy.TrustDelete, status: []int{http.StatusNoContent}, lane: api.Ending, needs: trustTable}),
	on("POST /v1/trust:try", "tryToken", "callers", takes((*server).tryToken), "Say how a token would fare at the table of trust",
		route{beta: true, timeout: remote, action: policy.TrustShow, needs: trustTable}),

	on("GET /logins", "listLogins", "callers", plain((*server).listLogins), "List how people log in; no token is needed",
		route{beta: true}),

	on("GET /healthz", "alive", "probes", plain((*server).alive), "Whether the server lives", route{lane: api.Free}),
	on("GET /readyz", "ready", "probes", plain((*server).ready), "Whether the server can serve, and which part of it cannot be used",
		route{query: []parameter{{name: "verbose", doc: "Show all parts"}}, lane: api.Free}),
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
			values: append(texts(broker.HealthStatuses()...), string(broker.VIMDraining)),
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
	removal = []parameter{{
		name: "force", doc: "Delete although it is used, or its VIM does not answer; the answer then names the users.", kind: "boolean",
		values: truth,
	}}
	leaseQuery = append([]parameter{
		{name: "idPrefix", doc: "Leases whose id begins so."},
		{name: "vim", doc: "Leases on the VIM of this id or name."},
		{name: "principal", doc: "Leases of this principal."},
		{name: "operation", doc: "Leases that serve this LCM operation occurrence."},
		{name: "for", doc: "Leases that are for this person."},
		{name: "instance", doc: "Leases that serve this VNF instance of another VNFM."},
		{name: "state", doc: "Leases in this state.", values: texts(broker.LeaseStates()...)},
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

// auditOutcomes are the complete values of the filter.
var auditOutcomes = []audit.Outcome{audit.Denied, audit.Read, audit.Intent, audit.Done, audit.Failed}

// typeFilter is the parameter whose values are the types that the broker serves.
const typeFilter = "type"

// on is the route of an operation, by its method and path; rt is what else is true of it.
func on(at, id, tag string, e endpoint, summary string, rt route) route {
	rt.method, rt.path, _ = strings.Cut(at, " ")
	rt.id, rt.tag, rt.endpoint, rt.summary = id, tag, e, summary
	return rt
}

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

func texts[T ~string](values ...T) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}
