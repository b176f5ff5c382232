// Package barbican keeps Fernet keys in Barbican, OpenStack's key manager: one
// secret of the service's project per key.
//
//	name       FOLDER/<vim id>
//	mode       <generation>.<32 hex digits>
//	algorithm  fernet
//	type       opaque
//	payload    application/octet-stream: the 44 bytes of secret.Key.Encode
//
// The reference of a key is the UUID that Barbican gave the secret. Barbican
// answers with URLs; only the UUID of those is used, at the configured endpoint.
// Names are not unique in Barbican: the random digits are what lists are ordered by,
// so that their pages join.
//
// A secret is made without its payload, closed to the project's other users, and
// only then given the payload, which Barbican takes once and never changes. The
// project's administrators, and whoever operates Barbican, can read it nevertheless.
// Deletion is soft: the operator can bring a key back until he purges Barbican's
// database.
//
// The store logs in to Keystone when first needed, again before its token expires
// and when Barbican no longer accepts it; nothing else is kept in memory, and no key
// is ever served from there. While Keystone or Barbican does not answer, no
// credential opens; as soon as they do, calls work again without a restart.
//
// What the store's user needs in Barbican is the role "creator" in a project of the
// broker's own.
package barbican
