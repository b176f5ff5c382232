// Package sol013 is the common part of the doors of ETSI's REST APIs (ETSI GS NFV-SOL 013):
// the header Version, problem details, attribute-based filters, attribute selectors and
// paging.
package sol013
