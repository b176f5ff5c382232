// Package clusterapi shows what Cluster API keeps on a management cluster: Cluster
// objects, and which versions of their secrets there are. It implements [onboard.Source].
//
// It lists and watches one namespace at a time, in the version of the API that the
// management cluster serves (v1beta2, or v1beta1). Of secrets it watches the metadata only;
// what one holds is read by name, when it is to be registered. It keeps no credential and
// no object.
//
// Everything that comes from the management cluster is a tenant's word: answers are
// bounded, decoded into structures that hold no more than is used, and no text of theirs
// is in an error.
package clusterapi
