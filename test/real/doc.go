// Package real starts the real systems that the tests run against, on loopback,
// without containers: Kubernetes out of etcd, an API server and a controller
// manager; Cluster API's core manager on it; a proxy in front of it that knows names and passwords; Vault with
// TLS; OpenStack out of Keystone, Barbican and Heat; and a cable that can be cut.
//
// The programs are built by kube/build.sh, capi/build.sh and vault/build.sh, and installed by
// openstack/install.sh. Tests that find none are skipped, or
// fail where VIMBROKER_REAL=1 says so: see [Demand].
package real
