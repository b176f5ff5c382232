// Package catalog keeps VNF packages: the VNF catalogue of NFV-MANO (ETSI GS NFV 006).
//
// A package is created empty, gets its content by one upload, is looked through
// ([vnfpkg]) and is then onboarded: enabled or disabled. Its bytes are stored in the
// database, in chunks, where every replica reads them. They are not sealed: a package
// is no place for a secret.
//
// Every exported method of [Catalog] that a request can reach takes the principal,
// decides and records, as those of the broker do.
package catalog
