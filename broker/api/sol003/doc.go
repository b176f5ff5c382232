// Package sol003 contains the wire types of ETSI GS NFV-SOL003's VNF Life-cycle Management interface
// (clause 5.5), as far as they are served, with the broker's own members under "vimbroker".
package sol003
