// Package sol013 is what the doors of ETSI's REST APIs share (ETSI GS NFV-SOL 013): the
// header Version, problem details, attribute-based filters, attribute selectors and paging.
package sol013
