package kubernetes

import "slices"

// escalation is one way in which RBAC rules let their holder become somebody else,
// or outlive the lease. Source: Kubernetes documentation, "Role Based Access
// Control Good Practices", section "Privilege escalation risks", and what was
// measured on 1.36.
type escalation struct {
	group, resource string
	verbs           []string
	// why completes the sentence "the holder can ...".
	why string
	// scope is the binding that a rule needs to have the effect, and its reach.
	scope reach
	// only limits it to one namespace, whose objects others trust.
	only string
	// unnamed: a rule that names objects is harmless, because it reaches no other.
	unnamed bool
}

// makesPods reports whether the holder decides what a container is: Pod Security's concern.
func (e escalation) makesPods() bool {
	return e.why == runsPods || e.resource == "pods/ephemeralcontainers"
}

// reach is the reach of an escalation.
type reach int

const (
	// The zero value: to the identities of each namespace that the rule is bound in.
	_ reach = iota
	// anywhere: to the whole cluster, even from a binding in one namespace.
	anywhere
	// clusterOnly: to the whole cluster. The resource has no namespace, so that a
	// binding in a namespace does not grant it. For namespaces this holds for create alone:
	// Kubernetes counts a request for one namespace as one in it.
	clusterOnly
)

const (
	core         = ""
	runsPods     = "run pods as any service account of the namespace"
	entersPods   = "run commands in pods, as their service accounts"
	readsSecrets = "read secrets, tokens of service accounts among them"
	givesAway    = "give its rights to others, who keep them when the lease ends"
	reachesNodes = "lift the Pod Security level that keeps pods from their nodes"
	liftsRules   = "lift what rules of admission forbid, Pod Security's among them"
	trusted      = "change which certificates pods trust"
	actsAsNode   = "stand in for the kubelet of a node, and get what is sent to it"

	admissionGroup      = "admissionregistration.k8s.io"
	authenticationGroup = "authentication.k8s.io"
	certificatesGroup   = "certificates.k8s.io"

	// networkGroup is Multus'. It has the only kind of others that is an escalation.
	networkGroup = "k8s.cni.cncf.io"
	networkKind  = "network-attachment-definitions"
)

var (
	writes  = []string{"create", "update", "patch"}
	alters  = []string{"update", "patch", "delete", "deletecollection"}
	removes = []string{"delete", "deletecollection"}
	changes = []string{"update", "patch"}
	every   = []string{"*"}
)

// escalations are all that we know of. A rule that matches none of them is bounded, unless
// it names a kind of Kubernetes' own that is not [harmless] either.
var escalations = slices.Concat(workloads, identities, clusterPower)

// workloads run code under an identity of their namespace.
var workloads = []escalation{
	{group: core, resource: "pods", verbs: writes, why: runsPods},
	{group: core, resource: "replicationcontrollers", verbs: writes, why: runsPods},
	{group: "apps", resource: "deployments", verbs: writes, why: runsPods},
	{group: "apps", resource: "replicasets", verbs: writes, why: runsPods},
	{group: "apps", resource: "statefulsets", verbs: writes, why: runsPods},
	{group: "apps", resource: "daemonsets", verbs: writes, why: runsPods},
	// A StatefulSet makes pods of the revision that its status names, no matter which client wrote
	// it.
	{group: "apps", resource: "controllerrevisions", verbs: writes, why: runsPods},
	{group: "batch", resource: "jobs", verbs: writes, why: runsPods},
	{group: "batch", resource: "cronjobs", verbs: writes, why: runsPods},
	{group: core, resource: "pods/exec", verbs: []string{"get", "create"}, why: entersPods},
	{group: core, resource: "pods/attach", verbs: []string{"get", "create"}, why: entersPods},
	{group: core, resource: "pods/ephemeralcontainers", verbs: changes, why: entersPods},
	{group: networkGroup, resource: networkKind, verbs: writes, why: "give pods interfaces of their nodes", scope: anywhere},
}

// identities are handed out, or lent, by these resources.
var identities = []escalation{
	// A patch answers with the whole Secret, deleting a collection with all it held.
	{group: core, resource: "secrets", verbs: []string{
		"get", "list", "watch", "update", "patch", "delete", "deletecollection",
	}, why: readsSecrets},
	{group: core, resource: "serviceaccounts/token", verbs: []string{"create"}, why: "make tokens of service accounts"},
	{group: core, resource: "serviceaccounts", verbs: []string{"impersonate"}, why: "impersonate service accounts"},
	{
		group: certificatesGroup, resource: "podcertificaterequests", verbs: []string{"create"},
		why: "get certificates of pods, as their service accounts",
	},
	// Since 1.36; what it may then do is granted by verbs impersonate-on:*.
	{
		group: authenticationGroup, resource: "serviceaccounts", verbs: []string{"impersonate:serviceaccount"},
		why: "impersonate service accounts",
	},
	{
		group: core, resource: "secrets", verbs: []string{"create"}, why: "make bootstrap tokens, which join nodes",
		scope: anywhere, only: "kube-system",
	},
	{group: rbacGroup, resource: "rolebindings", verbs: writes, why: givesAway},
	{group: rbacGroup, resource: "roles", verbs: changes, why: givesAway},
	{
		group: rbacGroup, resource: "roles", verbs: []string{"bind", "escalate"},
		why: "give itself rights that it does not have", scope: anywhere,
	},
	{
		group: rbacGroup, resource: "clusterroles", verbs: []string{"bind", "escalate"},
		why: "give itself rights that it does not have", scope: anywhere,
	},
	// These two subresources change labels, too.
	{group: core, resource: "namespaces", verbs: changes, why: reachesNodes, scope: anywhere},
	{group: core, resource: "namespaces/status", verbs: changes, why: reachesNodes, scope: anywhere},
	{group: core, resource: "namespaces/finalize", verbs: changes, why: reachesNodes, scope: anywhere},
	{
		group: core, resource: "configmaps", verbs: alters, why: "change which certificates aggregated API servers trust",
		scope: anywhere, only: "kube-system",
	},
}

// onlyCluster are escalations of that scope.
func onlyCluster(all []escalation) []escalation {
	for i := range all {
		all[i].scope = clusterOnly
	}
	return all
}

// clusterPower comes with resources that belong to no namespace.
var clusterPower = onlyCluster([]escalation{
	{group: core, resource: "users", verbs: []string{"impersonate"}, why: "impersonate users"},
	{group: core, resource: "groups", verbs: []string{"impersonate"}, why: "impersonate groups"},
	{group: authenticationGroup, resource: "users", verbs: []string{"impersonate:user-info"}, why: "impersonate users"},
	{
		group: authenticationGroup, resource: "nodes", verbs: []string{"impersonate:arbitrary-node", "impersonate:associated-node"},
		why: "impersonate nodes",
	},
	{group: core, resource: "nodes/proxy", verbs: every, why: "command the kubelet of every node"},
	{group: core, resource: "persistentvolumes", verbs: writes, why: "mount directories of nodes"},
	{group: core, resource: "namespaces", verbs: []string{"create"}, why: "make namespaces in which pods reach their nodes"},
	{group: core, resource: "nodes", verbs: []string{"create"}, why: actsAsNode},
	{group: core, resource: "nodes/status", verbs: changes, why: actsAsNode},
	{group: rbacGroup, resource: "clusterrolebindings", verbs: writes, why: givesAway},
	// Roles of the cluster can aggregate one that is made.
	{group: rbacGroup, resource: "clusterroles", verbs: writes, why: givesAway},
	{group: certificatesGroup, resource: "certificatesigningrequests/approval", verbs: changes, why: "approve client certificates"},
	{group: certificatesGroup, resource: "certificatesigningrequests/status", verbs: changes, why: "issue client certificates"},
	// The controller manager approves these by itself.
	{
		group: certificatesGroup, resource: "certificatesigningrequests/nodeclient", verbs: []string{"create"},
		why: "make client certificates of nodes",
	},
	{group: certificatesGroup, resource: "signers", verbs: []string{"approve", "sign"}, why: "approve client certificates"},
	{group: certificatesGroup, resource: "signers", verbs: []string{"attest"}, why: trusted},
	{group: certificatesGroup, resource: "clustertrustbundles", verbs: writes, why: trusted},
	{group: admissionGroup, resource: "mutatingwebhookconfigurations", verbs: writes, why: "read and change what others write"},
	{group: admissionGroup, resource: "validatingwebhookconfigurations", verbs: writes, why: "read what others write"},
	{group: admissionGroup, resource: "mutatingadmissionpolicies", verbs: writes, why: "change what others write"},
	{group: admissionGroup, resource: "mutatingadmissionpolicybindings", verbs: writes, why: "change what others write"},
	{group: admissionGroup, resource: "mutatingwebhookconfigurations", verbs: removes, why: liftsRules, unnamed: true},
	{group: admissionGroup, resource: "validatingwebhookconfigurations", verbs: removes, why: liftsRules, unnamed: true},
	{group: admissionGroup, resource: "validatingadmissionpolicies", verbs: changes, why: liftsRules},
	{group: admissionGroup, resource: "validatingadmissionpolicies", verbs: removes, why: liftsRules, unnamed: true},
	{group: admissionGroup, resource: "validatingadmissionpolicybindings", verbs: changes, why: liftsRules},
	{group: admissionGroup, resource: "validatingadmissionpolicybindings", verbs: removes, why: liftsRules, unnamed: true},
	// A label of a driver says which Pod Security level its volumes need.
	{group: "storage.k8s.io", resource: "csidrivers", verbs: writes, why: reachesNodes},
	{group: "apiregistration.k8s.io", resource: "apiservices", verbs: writes, why: "answer in place of the API server"},
	{group: "apiextensions.k8s.io", resource: "customresourcedefinitions", verbs: changes, why: "route custom resources through a webhook"},
})
