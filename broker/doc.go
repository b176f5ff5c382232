// Package broker is the domain: the registry of VIMs and the leases issued on
// them. What is stored never leaves, unless a policy of the site has it passed through; what leaves is
// derived, narrow, expiring, revocable and audited.
//
// Every exported method of [Broker] that a request can reach takes the
// [policy.Principal] right after the context, decides, and records; callers
// authenticate and nothing else.
package broker
