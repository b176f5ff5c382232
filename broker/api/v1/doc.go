// Package v1 is the wire of REST version 1: the JSON bodies that the server and
// its clients exchange, and the codec for them.
//
// Names are camelCase, times RFC 3339 in UTC, durations Go duration strings
// ("1h30m"); a time that has not come is left out. No answer but [IssuedLease]
// holds a secret. Secrets are [secret.Text] in these types, so that a value of
// this package can be printed or logged; only [Encode] writes them out, at the
// edge of the process.
package v1
