// Package rest is REST version 1: a handler decodes strictly, calls one method of the
// domain, and encodes.
//
// Every route is a row of the table in routes.go. Bodies go through the codec of package
// v1, whose errors contain no value. Only the OpenAPI model and the schemas of huma are
// used: its handlers put the offending value into error answers, keep request bodies in a
// pool and take the last of repeated fields, none of which may happen to a body with a
// credential. Only the OpenAPI document is written with encoding/json, because huma's
// types implement its interfaces.
package rest
