// Package tables keeps the tables that are alike in every database: life-cycle management, VNF packages, grants to
// VNFMs, subscriptions, clients, clusters, signing keys and the ledger of keys. Leases, VIMs and the audit log are kept
// by each database in its own way, for speed.
//
// A statement is written for PostgreSQL, with "?" or "?1" for an argument. A driver that speaks another dialect
// translates it. A hint for another database stands in a comment, which PostgreSQL ignores: "/*by x*/" names the
// index x for a table, and "/*slow*/" stands before a column whose index is not the one to use.
package tables
