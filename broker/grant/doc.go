// Package grant decides on the grants of other VNFMs (ETSI GS NFV-SOL 003 clause 9): the loan to
// a VNFM that is a registered client, for an operation on one of its VNF instances.
//
// A grant request names no VIM; the client's placements do. The loan is a lease of the client's
// own, decided on like any other. By default it stands with the instance: the first grant makes it,
// later ones answer it again, and it ends with the instance, as far as the VNFM says so.
package grant
