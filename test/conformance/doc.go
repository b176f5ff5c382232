// Package conformance holds the suites that every implementation of one of our
// interfaces passes: one function per interface, which takes a constructor.
// What a suite checks is the contract in the interface's comment.
package conformance
