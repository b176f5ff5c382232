// Package manifests makes, observes and removes what CNFs consist of on Kubernetes:
// objects of any kind that the cluster serves, as the manifests of a package
// describe them. It implements [lifecycle.Driver].
//
// Each object is made by server-side apply under the field manager "vimbroker", and
// carries the label vimbroker.io/instance with the instance's id. Its UID is recorded: that very
// object is the instance's, whatever becomes of its labels. Another object of
// the same name is somebody else's, and is neither changed nor removed:
//
//   - What is not there yet is applied with a resourceVersion that no object ever has.
//     The API server then makes the object, or answers that one is there (409),
//     whoever was first.
//   - What is there and ours is applied, scaled and deleted under its UID, so that an
//     object which takes its place meanwhile is left alone (409).
//
// Since every call names its object, the leases under which a plan runs hold for those
// names alone: RBAC judges a server-side apply by name, even one that creates
// (POST, list and watch it does not). For the same reason objects are waited for by
// reading each again, and not by a watch.
//
// Nothing that the API server or a manifest says is repeated in an error but names of
// objects, fields, webhooks and conditions. Secrets are in objects only, on their way
// to the API server.
package manifests
