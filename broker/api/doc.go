// Package api is the common base of every door of the broker. A door is one standard's
// view of the broker: its operations and its words. Package rest is REST version 1,
// package tacker is Tacker's VIM API.
//
// This package finds the operation of a request, authenticates the caller, bounds and
// reads the body, checks parameters, writes answers and refusals, and logs and counts
// each request under the name of its operation. It contains the one table from errors to
// answers; a door rewords its rows. Decisions and records belong to the domain.
//
// Bodies are JSON of package codec, form fields, or streams. This package itself reads
// and writes no JSON.
package api
