// Package v1 is the wire of REST version 1: the JSON bodies that the server and
// its clients exchange, and the codec for them.
//
// Names are camelCase, times are RFC 3339 in UTC, durations are Go duration strings
// ("1h30m"). A time that has not come is left out. [IssuedLease] is the only answer with a
// secret. Secrets are [secret.Text] in these types, so that a value of this package can be
// printed or logged. Only [Encode] writes them out, at the edge of the process.
//
// The codec is package codec's, on github.com/go-json-experiment/json; this package adds
// with the same library how a [ClientConfig] is read and written.
package v1
