// Package broker is the domain: the registry of VIMs and the leases issued on
// them. A stored credential never leaves, unless a policy of the site has it passed through; a leased one is
// derived, narrow, expiring, revocable and audited.
//
// [Broker] is three parts over one core: [Registry] keeps VIMs, [Leaser] issues and ends leases,
// and [Oversight] reads, signs and prunes the audit log and says how the broker is. Each part of
// the product takes the one that it needs.
//
// Every exported method of theirs that a request can reach takes the
// [policy.Principal] right after the context, decides, and records; callers
// authenticate and nothing else.
package broker
