// Package rows holds what every store of the broker does alike, whatever its
// database: which columns a table has, what pages and their tokens are, and which
// changes are refused in which words. The SQL is each store's own.
package rows
