// Package clusterapi shows what Cluster API keeps on a management cluster: Cluster
// objects, and which versions of their secrets there are. It implements [onboard.Source].
//
// It lists and watches one namespace at a time, in the version of the API that the
// management cluster serves (v1beta2, or v1beta1). It watches the metadata of secrets only;
// it reads a secret's content by name, when the cluster is due for registration. It keeps
// no credential and no object.
//
// Everything that comes from the management cluster is a tenant's word: answers are
// bounded and decoded into structures that hold only the fields in use, and errors repeat
// none of their text.
package clusterapi
