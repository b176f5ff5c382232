// Package vnfpkg reads VNF packages: CSAR files as ETSI GS NFV-SOL004 has them, and of
// their descriptor (VNFD, ETSI GS NFV-SOL001) what operations need.
//
// A package comes from outside and is not trusted. [Open] looks at every entry of
// the archive before anything is read out of it, and refuses what could be read in
// two ways: an entry twice, a path that leads out of the package, a link, a file
// that is larger than it says, a hash that does not match. It writes nothing to disk
// and runs nothing.
//
// [CSAR.Descriptor] walks the YAML of the descriptor. It is no TOSCA engine: types
// are not inherited and functions are not evaluated.
package vnfpkg
