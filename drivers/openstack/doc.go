// Package openstack derives leases from the credential of an OpenStack cloud, by
// its Keystone, and knows Keystone's tokens of callers.
//
// # What a lease is
//
// An application credential, named after the lease's handle, of the registered
// user on the registered project: it always expires, has the roles that were asked
// for with those that they imply, and never unrestricted rights. A renewal makes
// another beside it ("<handle>.2"); all end together when the lease is revoked. Its
// description carries the ids of VIM and lease: see [mark].
//
// Where the registered credential may not make application credentials (it is a
// restricted one itself), and for purpose "heat" on clouds that let no application
// credential make trusts, a lease is a project token: it lives as long as the
// cloud's tokens do, has all roles of the registered user, and is given only to who
// asked for all of them. The first check finds out which kind of cloud it is.
//
// What the holder of a lease can become, [Driver.Grade] says: a token from the
// registered password is unbounded, and so is every lease on a cloud that does not
// clearly refuse what some releases let application credentials make: see [openings].
//
// A lease for purpose "read" has access rules besides: see [session.rules]. Keystone
// keeps a rule that was once used when its credential is deleted, for the user's next
// one: two for each service of the catalog, and no more.
//
// # What is trusted
//
// The driver keeps no credential between calls. It keeps what it logged in for, a
// session for each VIM and generation, in memory and for five minutes: a login is what
// most of a call's time goes into, as Keystone hashes passwords slowly on purpose. A
// session serves only who comes with the same target, credential and egress rules.
// It is replaced where Keystone refuses it, and its token is revoked with the VIM. No
// lease is ever given a session's token.
// It calls the registered endpoint and nothing else: links, redirects and catalogs
// are not followed. The catalog is pinned to the hosts that it had, because the tokens of
// a lease's holder follow it; entries that the egress rules refuse are warned of.
//
// # Limits
//
// Keystone refuses a revoked credential at once; a service may honour a token from its
// cache for 300 s. A project token's holder may have exchanged it for another, which
// revoking does not reach (seen on Zed), and which ends when the first would.
// Application credentials go with their user, and some releases of Keystone delete
// those on a project when a role there is taken away from him: renewal and inventory
// notice. Where they stay, a lease has the roles that are left, and works again when
// they are given back. Keystone keeps those that expired until someone deletes them:
// the broker does, when the lease ends. For a second after a password was changed it
// refuses the tokens that it gives.
package openstack
