package postgres

import (
	"crypto/sha256"
	"encoding/binary"
)

// lockKind is what an advisory lock is about. They are taken in this order: see the
// package's comment.
type lockKind string

const (
	lockRequest    lockKind = "request" // principal, idempotency key
	lockVIM        lockKind = "vim"
	lockPrincipal  lockKind = "quota of principal"
	lockVIMQuota   lockKind = "quota of VIM"
	lockProject    lockKind = "quota of project"
	lockPackages   lockKind = "packages of project"
	lockTurns      lockKind = "turns of operations"
	lockClients    lockKind = "clients of project"
	lockVIMs       lockKind = "VIMs of project"
	lockInstances  lockKind = "VNF instances of project"
	lockSubs       lockKind = "subscriptions of project"
	lockVNFGrants  lockKind = "grants of client"
	lockTokenKeys  lockKind = "keys that sign tokens"
	lockGrant      lockKind = "grant"      // VIM, digest
	lockGeneration lockKind = "generation" // a VIM's
	lockLog        lockKind = "audit log"
	lockMigration  lockKind = "migration"
)

const (
	takeLock       = `SELECT pg_advisory_xact_lock($1)`
	takeLockShared = `SELECT pg_advisory_xact_lock_shared($1)`
	// shareVIMOfLease takes lockVIM of a lease's VIM, which never changes. Its key is lockKey's.
	shareVIMOfLease = `SELECT pg_advisory_xact_lock_shared(` + vimLockKey + `) FROM leases WHERE id = $1`
	vimLockKey      = `('x' || left(encode(sha256('vimbroker lock vim'::bytea ||
		int8send(octet_length(vim)) || convert_to(vim, 'UTF8')), 'hex'), 16))::bit(64)::bigint`
)

// lockKey is the number of an advisory lock, the same in every process. Two that
// fall together by chance only wait for each other.
func lockKey(kind lockKind, names ...string) int64 {
	h := sha256.New() // its Write never fails
	h.Write([]byte("vimbroker lock " + string(kind)))
	for _, name := range names {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(name))))
		h.Write([]byte(name))
	}
	return int64(binary.BigEndian.Uint64(h.Sum(nil)))
}

// lock queues to take an advisory lock until the transaction ends.
func (t txn) lock(kind lockKind, names ...string) { t.queue(takeLock, lockKey(kind, names...)) }

// share queues to take one that others may share.
func (t txn) share(kind lockKind, names ...string) { t.queue(takeLockShared, lockKey(kind, names...)) }
