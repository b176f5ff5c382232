// Package kubernetes is the driver of Kubernetes clusters: a lease is a bound
// service account token.
//
// What the driver keeps in a cluster:
//
//	namespace vimbroker
//	├── ServiceAccount vim-<hash>     one per (VIM, role, namespaces), made once
//	└── Secret <lease handle>         one per lease: empty, immutable; every token
//	                                  of the lease is bound to it by name and uid
//	ClusterRoleBinding vim-<hash>     for a lease without namespaces
//	namespace <each of the lease's>
//	└── RoleBinding vim-<hash>        for a lease limited to namespaces
//
// Everything carries the label vimbroker.io/vim with the VIM's id; a Secret also
// carries vimbroker.io/lease. An object of the same name without these labels is
// somebody else's: it is neither adopted nor deleted.
//
// A token dies with the Secret it is bound to, at most 10 seconds later (the API
// server remembers a good token that long). A finalizer on the Secret adds 60
// seconds, and makes Revoke fail until the Secret is really gone.
//
// # Rights
//
// The registered credential needs these to mint leases; [Driver.Check] asks for
// each without touching anything:
//
//	namespaces                       get, create (only while namespace vimbroker is missing)
//	clusterroles                     get; bind on those that leases are to have
//	clusterrolebindings              get, create
//	rolebindings                     get, create
//	in namespace vimbroker:
//	serviceaccounts                  get, create
//	serviceaccounts/token            create
//	secrets                          get, list, create, delete
//
// Forgetting a VIM also needs list and delete on serviceaccounts,
// clusterrolebindings and rolebindings. The namespace vimbroker itself stays:
// another broker may live in it.
//
// # Limits
//
// A holder of edit or admin in a namespace can act as every service account of
// that namespace (Kubernetes' own rule). So no lease is ever limited to the
// namespace vimbroker; a lease for edit on the whole cluster is as strong as the
// strongest service account there.
package kubernetes
