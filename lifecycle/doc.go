// Package lifecycle is VNF life-cycle management. So far it says what a driver of it owes.
//
// The words and states are those of ETSI GS NFV-SOL003.
package lifecycle
