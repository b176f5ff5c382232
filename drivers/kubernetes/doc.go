// Package kubernetes is the driver of Kubernetes clusters: a lease is a service
// account of its own, and a token of it.
//
// What the driver keeps in a cluster:
//
//	namespace vimbroker-<hash>            one per home: (VIM, role or rules, scope, epoch)
//	└── ServiceAccount <lease handle>     one per lease
//	ClusterRoleBinding vimbroker-<hash>   for a lease on the whole cluster
//	ClusterRole vimbroker-<hash>          only where the lease has exact rules
//	namespace <each of the lease's>
//	├── RoleBinding vimbroker-<hash>      for a lease limited to namespaces
//	└── Role vimbroker-<hash>             only where the lease has exact rules
//
// The bindings are made once per home, to the group of all service accounts of its
// namespace. So a lease costs an account and a token, two VIMs on one cluster share
// nothing, and a home that is tidied away leaves nothing bound. The hash is never
// used again: the next lease of that kind has the next epoch.
//
// Everything carries the labels vimbroker.io/vim and vimbroker.io/grant; an account
// also carries vimbroker.io/lease. An object of the same name without these labels is
// somebody else's: it is neither adopted nor deleted. Only the uid that was recorded
// when a lease was issued counts for more than labels.
//
// A token dies with its account, whoever made it, at most 10 seconds later (the API
// server remembers a good token that long). A finalizer on the account adds 60
// seconds, and makes Revoke fail until the account is really gone.
//
// # Two ways to run
//
// In managed mode the registered credential may make namespaces. In prepared mode an
// administrator makes a pool, namespaces vimbroker-<first 8 of the VIM's id>-1 and so
// on, and the credential works in those and in the namespaces of its leases alone. A
// home claims a namespace of the pool by creating a config map in it, which succeeds
// once, and Tidy gives it back empty.
//
// # An account of the broker's own
//
// Where it is asked for, the driver works as an account of its own in the place of the
// credential that was given:
//
//	namespace vimbroker-account-<name>
//	└── ServiceAccount vimbroker
//	ClusterRole, ClusterRoleBinding vimbroker-account-<name>, and with -engine behind it
//
// These carry the label vimbroker.io/account, and the cluster-wide ones are owned by the
// namespace: who deletes that deletes all of it.
//
// # Limits
//
// A holder of edit or admin in a namespace can act as every service account of
// that namespace (Kubernetes' own rule). So no lease is
// ever limited to a namespace of ours.
package kubernetes
