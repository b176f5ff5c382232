// Package faults sweeps flows: it has each step of a flow at its store fail once, in a world of its own, and compares what
// stands in the end with what stands where nothing failed.
//
// A step is a read or a transaction of SQLite, or a call of a key store or a driver that goes through [Points]. It fails,
// takes effect and its answer is lost, or it and all that follow fail until the call has ended. Then the call must have
// said that it failed, or all that it should have done must be done; nothing may stand on a VIM that no row names; and
// the call repeated, followed by the passes, must leave the rows, the objects on the VIM and the entries of the audit
// log as they are without a fault. What may differ, a [Flow] says.
package faults
