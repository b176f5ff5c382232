// Package upgrade proves that a server of an earlier commit becomes this one without
// anybody noticing: in place on SQLite, and one replica after the other on PostgreSQL.
// Leases of each version are listed, renewed and revoked through the other, and nothing
// is left over. The earlier server is built from the repository's own history.
package upgrade
