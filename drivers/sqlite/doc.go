// Package sqlite keeps VIMs, leases, the audit log and the job queue in one
// SQLite file: the store of a broker that runs on one machine.
//
// One connection writes and several read (write-ahead log). Writers that wait
// at the same time share one transaction, and with it one wait for the disk; each
// returns only after the commit that holds its change. No one in this process
// ever finds the database locked, and no other process can open it: the data directory is
// locked for as long as the store is open.
//
// Times are kept in microseconds, and the zero [time.Time] as 0.
package sqlite
