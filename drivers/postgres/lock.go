package postgres

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/vimbroker/vimbroker/drivers/tables"
)

// The subjects of advisory locks that are taken after those of [tables] (see the package's comment).
const (
	lockLog       tables.Lock = "audit log"
	lockMigration tables.Lock = "migration"
)

const (
	takeLock       = `SELECT pg_advisory_xact_lock($1)`
	takeLockShared = `SELECT pg_advisory_xact_lock_shared($1)`
	// shareVIMOfLease takes the lock of a lease's VIM, which never changes. Its key is lockKey's.
	shareVIMOfLease = `SELECT pg_advisory_xact_lock_shared(` + vimLockKey + `) FROM leases WHERE id = $1`
	vimLockKey      = `('x' || left(encode(sha256('vimbroker lock vim'::bytea ||
		int8send(octet_length(vim)) || convert_to(vim, 'UTF8')), 'hex'), 16))::bit(64)::bigint`
)

// lockKey is the number of an advisory lock, the same in every process. Two that
// fall together by chance only wait for each other.
func lockKey(kind tables.Lock, names ...string) int64 {
	h := sha256.New() // its Write never fails
	h.Write([]byte("vimbroker lock " + string(kind)))
	for _, name := range names {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(name))))
		h.Write([]byte(name))
	}
	return int64(binary.BigEndian.Uint64(h.Sum(nil)))
}

// lock queues to take an advisory lock until the transaction ends.
func (t txn) lock(kind tables.Lock, names ...string) { t.queue(takeLock, lockKey(kind, names...)) }
