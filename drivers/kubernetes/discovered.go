package kubernetes

import "github.com/vimbroker/vimbroker/broker"

// knowsMode reports whether the credential was checked by a broker that tells managed
// from prepared, and so was registered with no rights to what leases of old need.
func knowsMode(a broker.Access) bool {
	return a.Discovered.Cluster != nil && (a.InsteadOf == nil || a.InsteadOf.Cluster != nil)
}

// isPrepared reports whether the credential works in the namespaces of a pool.
func isPrepared(a broker.Access) bool {
	return a.Discovered.Cluster != nil && a.Discovered.Cluster.Mode == broker.ModePrepared
}
