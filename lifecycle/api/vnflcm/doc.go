// Package vnflcm is the door of ETSI GS NFV-SOL003's VNF Life-cycle Management interface,
// version 2: /vnflcm/v2. A resource that is not served answers 501 and has no link.
package vnflcm
