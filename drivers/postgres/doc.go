// Package postgres keeps VIMs, leases, the audit log and the job queue in
// PostgreSQL (14 or newer): the store of several brokers at once.
//
// Rules that must hold between brokers are held by the database: by constraints
// and unique indexes, named after the rule, and by locks. A write is one
// transaction (read committed) and takes its locks in this order, whatever it
// does, so that no two wait for each other:
//
//  1. an idempotency key (advisory): who repeats a request waits for its first try
//  2. a VIM (advisory): shared to issue and change leases on it, exclusive to change
//     or delete it
//     or to give operations on VNF instances their turn (advisory)
//  3. the row that is changed (FOR UPDATE)
//  4. what is counted (advisory): the live leases of a principal, a VIM and a
//     project against their quotas; the VNF packages and the VIMs of a project; the epochs of a
//     grant, to open one; the leases that need a generation
//  5. the end of the audit log (advisory), together with the commit
//
// Advisory locks queue in the order of arrival, so a change of a VIM is not kept
// waiting by a stream of leases. Only the last lock is one that every write takes:
// it puts them in the order of the log, and is held while the database adds the
// entry and waits for the disk, but for no round trip.
//
// A lease changes five times. What of it changes stands in no index of leases, so that a
// change stays on its page: triggers keep a narrow row in live_leases while it is live, and
// one in lease_turns while there is work for it, and queries find leases there. What changes
// stands side by side, at the end of the row, as the log takes what lies between
// (see migrations/0001_schema.sql), and a sealed credential in a row of its own.
//
// The database ends what does not end by itself (see sessionLimits): a broker that
// is stopped in the middle of a write holds the others up for seconds.
//
// Connections go directly to PostgreSQL, or through a pooler in session mode: Open refuses others.
// Times are kept as timestamptz, and the zero [time.Time] as '-infinity'.
package postgres
