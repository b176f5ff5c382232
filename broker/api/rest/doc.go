// Package rest is REST version 1: a handler decodes strictly, calls one method of the
// domain, and encodes.
//
// Every route is a row of the table in routes.go. Bodies go through the codec of package
// v1, whose errors contain no value. The OpenAPI document is openapi.json, which "make
// generate" writes from the table with huma's model and schemas. Its handlers are not used:
// they put the offending value into error answers, keep request bodies in a pool and take
// the last of repeated fields, none of which may happen to a body with a credential.
package rest
