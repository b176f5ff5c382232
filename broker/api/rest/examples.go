package rest

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
	"listTokens": {out: aList(`{
		"id": "9f86d081884c", "name": "alice", "project": "acme", "roles": ["member"],
		"expiresAt": "2027-01-31T12:00:00Z", "lastUsedAt": "2026-11-02T09:00:00Z"
	}`)},
	"whoAmI": {out: `{"name": "alice", "project": "acme", "roles": ["member"]}`},
	"listAudit": {out: aList(`{
		"seq": 4711, "time": "2026-11-02T09:00:00.123456Z", "request": "0b9d6c1e-6d0f-4a52-9a3e-3f5d1c0e7a11",
		"principal": "alice", "project": "acme", "action": "lease:issue", "kind": "Lease", "resource": "` + leaseID + `",
		"outcome": "done", "detail": {"vim": "` + vimID + `"},
		"previous": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"hash": "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"
	}`)},
	"proveAuditGrowth": {out: `{"size": 4711, "root": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "proof": []}`},
	"proveAuditEntry":  {out: `{"size": 1, "root": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "index": 0, "line": "{\"seq\":1}", "proof": []}`},
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
	"ready": {out: `{"status": "ready"}`},
}

const (
	vimID      = "6f2b0f0c-8a43-4f0e-9a0e-2d5c6b8f1a77"
	auditKeyID = "3a0f7d52-1c64-4d0b-9a57-5d0be3f0c9d1"
	anAuditKey = `{
		"id": "` + auditKeyID + `", "state": "signing", "origin": "vimbroker.audit/` + auditKeyID + `",
		"verifier": "vimbroker.audit/` + auditKeyID + `+c3f1a2b4+AZ…", "since": 0, "keyStore": "vault", "createdAt": "2026-11-02T08:00:00Z"
	}`

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
