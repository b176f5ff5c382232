package rest

import (
	"reflect"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// example is what an operation's bodies may look like, in JSON; none where there is no body.
// text is an answer in another media type.
type example struct{ in, out, text string }

// examples are those of the OpenAPI document, by operation.
var examples = map[string]example{
	"registerVIM": {
		in: `{
			"name": "edge-1", "type": "kubernetes", "endpoint": "https://10.0.0.10:6443",
			"caCert": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n",
			"credential": {"token": "eyJhbGciOiJSUzI1NiIs…"}, "labels": {"site": "north"}
		}`,
		out: aVIM,
	},
	"listVIMs": {out: aList(aVIM)},
	"showVIM":  {out: aVIM},
	"updateVIM": {
		in:  `{"labels": {"site": "south", "stage": null}, "shared": true}`,
		out: aVIM,
	},
	"deleteVIM":     {out: aVIM},
	"checkVIM":      {in: `{}`, out: aVIM},
	"rotateVIM":     {in: `{"credential": {"token": "eyJhbGciOiJSUzI1NiIs…"}}`, out: aVIM},
	"takeInventory": {in: `{"settle": true}`, out: `{"vim": "` + vimID + `", "vimName": "edge-1", "upstream": 1, "rows": 1, "orphans": [], "ghosts": [], "settled": true}`},
	"listKeys": {out: aList(`{
		"vim": "` + vimID + `", "vimName": "edge-1", "project": "acme", "generation": 1, "keyStore": "vault",
		"sealedAt": "2026-11-02T08:15:00Z", "opens": true
	}`)},
	"issueLease": {
		in:  `{"vim": "edge-1", "role": "edit", "namespaces": ["web"], "ttl": "30m"}`,
		out: anIssuedLease,
	},
	"listLeases":   {out: aList(aLease)},
	"showLease":    {out: aLease},
	"renewLease":   {in: `{"ttl": "30m"}`, out: anIssuedLease},
	"revokeLease":  {out: aLease},
	"revokeLeases": {in: `{"vim": "edge-1", "principal": "alice"}`, out: aList(aLease)},
	"enableManagementCluster": {
		in:  `{"vim": "hub", "namespaces": ["tenant-a"], "projects": {"": "acme"}}`,
		out: aManagementCluster,
	},
	"listManagementClusters":   {out: aList(aManagementCluster)},
	"showManagementCluster":    {out: aManagementCluster},
	"releaseManagementCluster": {in: `{}`, out: aManagementCluster},
	"listClusters":             {out: aList(aCluster)},
	"showCluster":              {out: aCluster},
	"issuePushToken":           {in: `{"ttl": "30m"}`, out: `{"token": "vbpush_…", "expiresAt": "2026-11-02T09:30:00Z"}`},
	"pushKubeconfig": {
		in: `{
			"managementCluster": "hub", "namespace": "tenant-a", "clusterUid": "3f6c1c44-7a0e-4c57-9d3c-0b0f6f8f2a10",
			"kubeconfig": "apiVersion: v1\nkind: Config\n…"
		}`,
		out: aCluster,
	},
	"listTokens": {out: aList(`{
		"id": "9f86d081884c", "name": "alice", "project": "acme", "roles": ["member"],
		"expiresAt": "2027-01-31T12:00:00Z", "lastUsedAt": "2026-11-02T09:00:00Z"
	}`)},
	"listGrants":   {out: aList(aGrant)},
	"showGrant":    {out: aGrant},
	"createClient": {in: `{"name": "tacker-north", "roles": ["vnfm"]}`, out: aClientSecret},
	"listClients":  {out: aList(aClient)},
	"showClient":   {out: aClient},
	"setClientPlacements": {
		in: `{"placements": [{"vim": "edge-1", "role": "edit", "namespaces": ["web"]}]}`, out: aClient,
	},
	"rotateClient":   {in: `{"overlap": "1h"}`, out: aClientSecret},
	"listTokenKeys":  {out: aList(aTokenKey)},
	"rotateTokenKey": {out: aTokenKey},
	"whoAmI":         {out: `{"name": "alice", "project": "acme", "roles": ["member"]}`},
	"listAudit": {out: aList(`{
		"seq": 4711, "time": "2026-11-02T09:00:00.123456Z", "request": "0b9d6c1e-6d0f-4a52-9a3e-3f5d1c0e7a11",
		"principal": "alice", "project": "acme", "action": "lease:issue", "kind": "Lease", "resource": "` + leaseID + `",
		"outcome": "done", "detail": {"vim": "` + vimID + `"},
		"previous": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"hash": "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"
	}`)},
	"proveAuditGrowth": {out: `{"size": 4711, "root": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "proof": []}`},
	"proveAuditEntry":  {out: `{"size": 1, "root": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "index": 0, "line": "{\"seq\":1}", "proof": []}`},
	"listAuditAnchors": {out: aList(`{
		"name": "site-syslog", "size": 4711, "time": "2026-11-02T09:00:00Z", "behind": 12, "fault": "dial tcp 10.0.0.9:6514: connect: connection refused"
	}`)},
	"showAuditCheckpoint": {
		out: `{
			"size": 4711, "root": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "time": "2026-11-02T09:00:00Z", "key": "` + auditKeyID + `",
			"note": "vimbroker.audit/` + auditKeyID + `\n4711\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n— vimbroker.audit/` + auditKeyID + ` …\n"
		}`,
		text: "vimbroker.audit/" + auditKeyID + "\n4711\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n— vimbroker.audit/" + auditKeyID + " …\n",
	},
	"readAuditLines": {text: `{"seq":1,"time":"2026-11-02T08:00:00.000000Z","principal":"system:server","action":"server:start",…}` + "\n"},
	"listAuditKeys":  {out: aList(anAuditKey)},
	"rotateAuditKey": {out: anAuditKey},
	"revokeAuditKey": {in: `{"until": 4000}`, out: anAuditKey},
	"showAuditTree":  {out: `{"size": 4711, "root": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "frontier": []}`},
	"showRetention": {out: `{
		"keepAudit": "43800h0m0s", "keepLeases": "8760h0m0s", "keepJobs": "168h0m0s", "entries": 0, "leases": 12, "jobs": 0,
		"horizon": 0, "upTo": 4711, "heldBy": "the last signed checkpoint"
	}`},
	"listAuditSinks": {out: aList(`{
		"name": "siem", "mode": "required", "within": "5m0s", "behind": "0s", "late": false, "delivered": 4711, "waiting": 0, "skipped": 0
	}`)},
	"explainPolicy": {
		in: `{
			"action": "lease:issue", "resource": {"kind": "VIM", "id": "` + vimID + `", "project": "acme", "vimType": "kubernetes", "vimName": "edge-1"},
			"wish": {"ttl": "8h", "role": "edit"}
		}`,
		out: `{"allowed": false, "policies": ["site.short-leases"], "errors": []}`,
	},
	"alive": {out: `{"status": "ok", "version": "v1.0.0"}`},
	"ready": {out: `{"status": "ready", "parts": [{"name": "issuing", "usable": false, "detail": "the key store vault cannot be used: Vault is sealed"}]}`},
}

const (
	vimID      = "6f2b0f0c-8a43-4f0e-9a0e-2d5c6b8f1a77"
	auditKeyID = "3a0f7d52-1c64-4d0b-9a57-5d0be3f0c9d1"
	anAuditKey = `{
		"id": "` + auditKeyID + `", "state": "signing", "origin": "vimbroker.audit/` + auditKeyID + `",
		"verifier": "vimbroker.audit/` + auditKeyID + `+c3f1a2b4+AZ…", "since": 0, "keyStore": "vault", "createdAt": "2026-11-02T08:00:00Z"
	}`

	clientID     = "3f0c9c0e-5f4b-4b3f-9a53-2f1f1f6d1c11"
	clientFields = `
		"id": "` + clientID + `", "name": "tacker-north", "project": "acme", "roles": ["vnfm"], "principal": "client:` + clientID + `",
		"placements": [{"vnfd": "b1bb0ce7-*", "vim": "edge-1", "role": "edit", "namespaces": ["web"], "ttl": "15m", "grade": "namespaces", "profile": "oidc"}],
		"state": "active", "rotatedAt": "2026-11-02T08:15:00Z", "previousUntil": "2026-11-02T09:15:00Z", "createdBy": "alice",
		"createdAt": "2026-11-01T08:15:00Z", "updatedAt": "2026-11-02T08:15:00Z"`
	aGrant = `{
		"id": "0197a2f0-6ad9-7a1a-9c55-4a9a1f0c7a11", "client": "8c1f1b0e-0c79-4a0c-9d0b-4f6f3c0f1a11", "project": "acme", "state": "granted",
		"operation": "18d2f0c6-5f0e-4a3f-9d55-0c7d3c1f7a11", "operationType": "INSTANTIATE",
		"operationUrl": "https://vnfm.example/vnflcm/v2/vnf_lcm_op_occs/18d2f0c6-5f0e-4a3f-9d55-0c7d3c1f7a11",
		"instance": "97b5a2f0-6ad9-4a1a-9c55-4a9a1f0c7a11", "vnfd": "b1bb0ce7-ebca-4fa7-95ed-4840d70a1177", "profile": "oidc",
		"vim": "` + vimID + `", "vimName": "edge-1", "lease": "6f0d5f1a-2c59-4b60-9f11-7a1d2c3b4e5f", "leaseState": "active",
		"tokenAt": "2026-11-02T08:20:00Z", "askedAgainAt": "2026-11-02T08:21:00Z", "createdAt": "2026-11-02T08:15:00Z", "decidedAt": "2026-11-02T08:15:01Z"
	}`
	aClient   = `{` + clientFields + `}`
	aTokenKey = `{
		"id": "` + auditKeyID + `", "state": "verifying", "keyStore": "vault", "createdAt": "2026-11-01T08:15:00Z", "until": "2026-11-02T08:20:00Z"
	}`
	aClientSecret = `{` + clientFields + `, "clientSecret": "vbc_…"}`

	leaseID = "c0a8f7de-3b1d-4c55-8a4b-90b1c3d2e5f6"

	aVIM = `{
		"id": "` + vimID + `", "name": "edge-1", "type": "kubernetes", "endpoint": "https://10.0.0.10:6443",
		"status": "reachable", "state": "registered", "project": "acme", "labels": {"site": "north"},
		"shared": false, "default": true, "generation": 1, "revision": 3,
		"credential": {"kind": "bearerToken", "expiresAt": "2027-11-02T08:15:00Z", "keyStore": "vault"},
		"insecureSkipVerify": false, "discovered": {"regions": ["default", "web"]},
		"checkedAt": "2026-11-02T09:00:00Z", "version": "v1.34.2", "identity": "1d3c2b4a-5e6f-4708-8192-a3b4c5d6e7f8",
		"canMint": true, "warnings": [], "createdAt": "2026-11-02T08:15:00Z", "updatedAt": "2026-11-02T08:15:00Z", "createdBy": "alice"
	}`

	leaseFields = `
		"id": "` + leaseID + `", "vim": "` + vimID + `", "vimName": "edge-1", "vimGeneration": 1,
		"principal": "alice", "project": "acme", "state": "active", "role": "edit", "namespaces": ["web"], "format": "kubeconfig",
		"issuedAt": "2026-11-02T09:00:00Z", "expiresAt": "2026-11-02T09:30:00Z", "maxExpiresAt": "2026-11-02T21:00:00Z",
		"revocable": true, "derived": true, "maxRevocationLag": "10s"`

	aLease        = `{` + leaseFields + `}`
	anIssuedLease = `{` + leaseFields + `, "clientConfig": "apiVersion: v1\nkind: Config\n…"}`
)

func aList(item string) string { return `{"items": [` + item + `], "nextPageToken": ""}` }

// part is an example of a schema, for properties that no example of an operation has.
type part struct {
	of   reflect.Type
	text string
}

var parts = []part{
	{reflect.TypeFor[v1.AuditEntry](), `{"resource": "` + leaseID + `"}`},
	{reflect.TypeFor[v1.AuditKey](), `{
		"until": 9000, "endorsement": "vimbroker key\nvimbroker.example/audit\n…", "endedAt": "2027-11-02T08:15:00Z"
	}`},
	{reflect.TypeFor[v1.AuditKeyRevocation](), `{"until": 9000}`},
	{reflect.TypeFor[v1.AuditSink](), `{"fault": "the receiver refuses connections"}`},
	{reflect.TypeFor[v1.Unbound](), `{"namespaces": ["web"]}`},
	{reflect.TypeFor[v1.ManagementCluster](), `{
		"trouble": "namespace tenant-b: the lease may not read clusters in namespace tenant-b (403)",
		"heldAt": "2026-11-02T09:00:00Z", "releasedUntil": "2026-11-02T09:20:00Z", "selector": {"onboard": "yes"}, "copyLabels": ["site"]
	}`},
	{reflect.TypeFor[v1.OAuthClientCertificate](), `{
		"subjectDN": "CN=tacker-north,O=Acme", "sanDNS": "tacker.acme.example", "sanURI": "spiffe://acme.example/tacker",
		"sanIP": "192.0.2.7", "sanEmail": "tacker@acme.example"
	}`},
	{reflect.TypeFor[v1.ManagementClusterRequest](), `{
		"selector": {"onboard": "yes"}, "copyLabels": ["site"], "secretName": "{cluster}-kubeconfig", "secretKey": "value",
		"nameTemplate": "{namespace}.{cluster}", "controlPlanes": ["kubeadmcontrolplanes.controlplane.cluster.x-k8s.io"],
		"account": "leases"
	}`},
	{reflect.TypeFor[v1.WorkloadCluster](), `{
		"pushTokenExpiresAt": "2026-11-02T09:30:00Z", "pushedAt": "2026-11-02T09:10:00Z", "reason": "otherSystem", "message": "the credential leads to another system than the cluster's first one",
		"goneAt": "2027-11-02T08:15:00Z"
	}`},
	{reflect.TypeFor[v1.OAuthClientRequest](), `{"project": "acme"}`},
	{reflect.TypeFor[v1.Placement](), `{
		"parameters": {"site": "north-*"}, "rules": [{"apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["web"], "verbs": ["get"]}],
		"flavours": {"VDU1-compute": "m1.small"}, "images": {"VDU1-image": "cirros-0.6"}
	}`},
	{reflect.TypeFor[v1.CatalogEntry](), `{"service": "compute", "interface": "public", "region": "RegionOne", "origin": "https://nova.example:8774"}`},
	{reflect.TypeFor[v1.Change](), `{
		"name": "edge-2", "description": "north site, rack 7", "extra": {"area": "north"}, "sharedWith": ["lab"], "default": true,
		"endpoint": "https://10.0.0.11:6443", "caCert": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n",
		"insecureSkipVerify": false, "serverName": "kubernetes.default.svc", "namespace": "web", "cloudsYaml": "clouds: …",
		"cloud": "demo", "kubeconfig": "apiVersion: v1\nkind: Config\n…", "context": "edge", "suspended": "the certificate is being replaced"
	}`},
	{reflect.TypeFor[v1.Credential](), `{
		"clientCertificate": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n",
		"clientKey": "-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----\n", "username": "operator", "password": "…",
		"applicationCredentialId": "4f1c0e6b9a2b4c5d8e7f6a5b4c3d2e1f", "applicationCredentialSecret": "…"
	}`},
	{reflect.TypeFor[v1.Decision](), `{"errors": ["site.short-leases: integer overflow"]}`},
	{reflect.TypeFor[v1.Discovered](), `{
		"user": "system:serviceaccount:vimbroker:vimbroker", "mode": "managed", "profile": "engine",
		"renewAt": "2026-11-05T20:15:00Z", "noAccount": "the credential may not create clusterroles with these rules (403)", "projectId": "` + projectID + `", "projectName": "cnf",
		"projectDomainId": "default", "projectDomainName": "Default", "userId": "9a2b4f1c0e6b4c5d8e7f6a5b4c3d2e1f", "userDomainId": "default",
		"roles": ["member", "reader"], "leases": "applicationCredential", "trustsByApplicationCredential": false,
		"warnings": ["a lease for purpose heat is unbounded"]
	}`},
	{reflect.TypeFor[v1.Health](), `{"version": "v1.0.0"}`},
	{reflect.TypeFor[v1.Inventory](), `{"foreign": ["rolebinding web/helper binds an account of a lease"], "unseen": 1}`},
	{reflect.TypeFor[v1.KeyStatus](), `{"past": 1, "elsewhere": 1, "pending": false, "message": "the key store vault does not hold the key"}`},
	{reflect.TypeFor[v1.Lease](), leaseParts},
	{reflect.TypeFor[v1.IssuedLease](), leaseParts},
	{reflect.TypeFor[v1.LeaseRequest](), `{"credential": "passThrough", "format": "kubeconfig", "purpose": "upgrade of web", "operation": "` + operationID + `", "clusterWide": false, "standing": false, "instance": "vnf-1"}`},
	{reflect.TypeFor[v1.Principal](), `{"name": "alice", "project": "acme", "roles": ["member"]}`},
	{reflect.TypeFor[v1.Problem](), `{
		"status": 404, "detail": "no such VIM", "remedy": "GET /v1/vims lists the VIMs that there are", "requestId": "` + aRequestID + `",
		"instance": "urn:vimbroker:request:` + aRequestID + `", "errors": [{"location": "body", "message": "must be a duration such as 90m or 1h30m"}]
	}`},
	{reflect.TypeFor[v1.Registration](), `{
		"insecureSkipVerify": false, "serverName": "kubernetes.default.svc", "namespace": "web", "region": "RegionOne", "project": "cnf",
		"projectId": "` + projectID + `", "domain": "Default", "projectDomain": "Default", "userDomain": "Default",
		"kubeconfig": "apiVersion: v1\nkind: Config\n…", "context": "edge", "cloudsYaml": "clouds: …", "cloud": "demo",
		"description": "north site, rack 7", "extra": {"area": "north"}, "shared": false, "default": true, "sharedWith": ["lab"]
	}`},
	{reflect.TypeFor[v1.Resource](), `{"vimProject": "hub", "shared": false, "sharedWith": ["lab"], "labels": {"site": "north"}, "owner": "alice"}`},
	{reflect.TypeFor[v1.Rule](), `{"resourceNames": ["web"]}`},
	{reflect.TypeFor[v1.Scope](), `{
		"region": "RegionOne", "projectId": "` + projectID + `", "project": "cnf", "projectDomainId": "default", "projectDomain": "Default",
		"userDomainId": "default", "userDomain": "Default"
	}`},
	{reflect.TypeFor[v1.Selector](), `{"operation": "` + operationID + `", "instance": "vnf-1"}`},
	{reflect.TypeFor[v1.Upstream](), `{"handle": "vimbroker-c0a8f7de", "lease": "` + leaseID + `", "createdAt": "2026-11-02T09:00:00Z"}`},
	{reflect.TypeFor[v1.VIM](), `{
		"message": "the API server refuses the credential (401)", "caCert": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n",
		"serverName": "kubernetes.default.svc", "namespace": "web", "sharedWith": ["lab"], "sameAs": ["edge-old"],
		"description": "north site, rack 7", "extra": {"area": "north"}, "mintMessage": "the credential may not create serviceaccounts/token",
		"suspended": "the certificate is being replaced"
	}`},
	{reflect.TypeFor[v1.Wish](), `{"namespaces": ["web"], "purpose": "upgrade of web", "grade": "bounded", "clusterWide": false}`},
}

const (
	projectID   = "2d5c6b8f1a774f0e9a0e6f2b0f0c8a43"
	operationID = "5d1e7c22-4b0a-4d0e-8f37-0a9c7be2d411"
	aRequestID  = "0b9d6c1e-6d0f-4a52-9a3e-3f5d1c0e7a11"

	leaseParts = `{"credential": "passThrough", 
		"operation": "` + operationID + `", "instance": "vnf-1", "standing": false, "lastUsedAt": "2026-11-02T09:05:00Z", "reason": "requested", "clusterWide": false, "purpose": "upgrade of web", "grade": "bounded",
		"revokedAt": "2026-11-02T09:20:00Z", "confirmedDeadAt": "2026-11-02T09:20:11Z", "lastError": "the VIM is unreachable"
	}`
)

const (
	aManagementCluster = `{
		"vim": "` + vimID + `", "vimName": "hub", "project": "ops", "namespaces": ["tenant-a"], "projects": {"": "acme"},
		"secretName": "{cluster}-kubeconfig", "secretKey": "value", "nameTemplate": "{namespace}.{cluster}",
		"controlPlanes": ["kubeadmcontrolplanes.controlplane.cluster.x-k8s.io"], "account": "engine", "enabledBy": "alice",
		"createdAt": "2026-11-02T08:15:00Z", "updatedAt": "2026-11-02T08:15:00Z", "watchedAt": "2026-11-02T08:16:00Z"
	}`
	aCluster = `{
		"id": "7f0b4f0e-5a2c-4b7a-9a51-0d4f3f2f8c11", "managementCluster": "` + vimID + `", "namespace": "tenant-a", "name": "edge-1",
		"uid": "2b1f6f6a-7a1d-4f39-8a5e-1f6a2c9b7d10", "project": "acme", "state": "registered", "vim": "` + vimID + `",
		"vimName": "tenant-a.edge-1", "vimStatus": "reachable", "credentialExpiresAt": "2027-11-02T08:15:00Z",
		"checkedAt": "2026-11-02T08:20:00Z", "readyAt": "2026-11-02T08:15:00Z", "registeredAt": "2026-11-02T08:15:01Z",
		"createdAt": "2026-11-02T08:10:00Z", "updatedAt": "2026-11-02T08:15:01Z"
	}`
)
