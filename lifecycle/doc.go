// Package lifecycle is VNF life-cycle management: instances, the operations on them, and
// the engine that works operations, each under leases that are cut to its plan.
//
// The words and states are those of ETSI GS NFV-SOL003. The engine contains no credential.
// Policy decides again at each attempt what an operation may do on a VIM, for the caller who
// asked for it and for the engine.
package lifecycle
