// Package api serves REST version 1 over HTTP: it authenticates, decodes
// strictly, calls one method of the domain, and encodes.
//
// Decisions and records belong to the domain; this package trusts nothing it
// reads and repeats nothing it was sent. Every route is a row of the table in
// routes.go, every error answer a row of the table in problem.go.
//
// JSON goes through the codec of package v1, which refuses unknown and repeated fields and
// whose errors hold no value. Of huma only the OpenAPI model and the schemas are
// used: its handlers put the offending value into error answers, keep request
// bodies in a pool and take the last of repeated fields, none of which may
// happen to a body that holds a credential.
package api
