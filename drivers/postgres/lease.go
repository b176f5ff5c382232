package postgres

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var leaseForUpdate = leaseByID + ` FOR UPDATE`

const (
	leaseKeyTaken = `SELECT FROM leases WHERE principal = $1 AND idempotency_key = $2 AND idempotency_key <> ''`
	// passSecrets takes the secrets, and the key, of the lease whose place another takes.
	passSecrets = `UPDATE leases SET secret_sha256 = '', idempotency_key = ''
		WHERE login = $1 AND login <> '' AND secret_sha256 <> '' AND revision = $2 AND state NOT IN ('pending', 'active')`
	vimForLease = `SELECT project FROM vims WHERE id = $1 AND state = 'registered' AND generation = $2 AND $3::bigint IN (0, revision)`

	// Each counts up to its quota and no further.
	liveCounts = `SELECT
		(SELECT count(*) FROM (SELECT FROM live_leases WHERE principal = $1 LIMIT $4) AS l),
		(SELECT count(*) FROM (SELECT FROM live_leases WHERE vim = $2 LIMIT $5) AS l),
		(SELECT count(*) FROM (SELECT FROM live_leases WHERE project = $3 LIMIT $6) AS l)`

	presentKey = `SELECT g.key_ref FROM leases l JOIN vim_generations g ON g.vim = l.vim AND g.number = l.vim_generation WHERE l.id = $1`
	// dropCredential is also what a trigger does, once something else than 'apart' stands in the row of the lease.
	// Most find none to drop: to insert ON CONFLICT would log each one twice.
	dropCredential  = `DELETE FROM lease_credentials WHERE lease = $1`
	storeCredential = `INSERT INTO lease_credentials (lease, sealed) VALUES ($1, $2)`
	deferLease      = `UPDATE leases SET attempts = $1, next_attempt_at = $2, last_error = $3 WHERE id = $4`
	resume          = `UPDATE leases SET attempts = 0, next_attempt_at = least(next_attempt_at, $1)
		WHERE id IN (SELECT id FROM lease_turns WHERE vim = $2) AND state <> 'active' AND attempts > 0`
	dueVIMs = `SELECT vim, vim_project, min(due_at) FROM lease_turns WHERE due_at <= $1 GROUP BY vim, vim_project`
)

var insertLease = numbered(rows.LeaseColumns.Insert(`leases`))

// updateLease writes the columns that changed and no other: what is not written
// needs no new copy of a long text. Few combinations occur.
func updateLease(changed rows.Columns[broker.Lease]) string {
	return numbered(`UPDATE leases SET ` + changed.Set() + ` WHERE id = ?`)
}

// CreateLease stores the intent to issue a lease.
func (s *Store) CreateLease(ctx context.Context, l broker.Lease, q broker.Quota, e audit.Entry) (broker.Lease, error) {
	l.State, l.Revision, l.Epoch = broker.LeasePending, 1, 0
	err := s.write(ctx, e, func(t txn) error {
		if l.Follows() {
			switch tag, err := t.exec(passSecrets, l.Login, q.OldRevision); {
			case err != nil:
				return err
			case tag.RowsAffected() == 0:
				return rows.LeaseLogin.Taken(nil)
			}
		}
		// First: a request that is repeated may have used up the quota itself.
		if err := t.first(rows.LeaseKey, leaseKeyTaken, l.Principal, l.IdempotencyKey); err != nil {
			return err
		}
		t.share(lockVIM, l.VIM)
		var live rows.Live
		if q != (broker.Quota{}) {
			t.countLive(l, q, &live)
		}
		var epochs []int64
		if l.GrantDigest != "" {
			queueRows(t, scalar[int64], &epochs, openEpoch, l.VIM, l.GrantDigest)
		}
		projects, err := query(t, scalar[string], vimForLease, l.VIM, l.VIMGeneration, q.VIMRevision)
		if err != nil {
			return err
		}
		if len(projects) == 0 {
			return rows.NotLeasable()
		}
		if err := live.Within(q, l); err != nil {
			return err
		}
		l.VIMProject = projects[0]
		if l.GrantDigest != "" {
			if l.Epoch, err = t.epochOf(l, epochs); err != nil {
				return err
			}
		}
		t.queue(insertLease, values(rows.LeaseColumns.Fields(&l))...)
		return nil
	})
	if err != nil {
		return broker.Lease{}, fmt.Errorf("creating lease %s: %w", l.ID, err)
	}
	return l, nil
}

// first refuses a request whose idempotency key was used before, also by one that
// is being written at the same time.
func (t txn) first(rule rows.Unique, taken, principal, key string) error {
	if key == "" {
		return nil
	}
	t.lock(lockRequest, taken, principal, key)
	found, err := t.any(taken, principal, key)
	if err == nil && found {
		return rule.Taken(nil)
	}
	return err
}

// countLive queues to count, and to lock what is counted until the lease is
// committed, always in the same order. Only committed leases count.
func (t txn) countLive(l broker.Lease, q broker.Quota, c *rows.Live) {
	t.lock(lockPrincipal, l.Principal)
	t.lock(lockVIMQuota, l.VIM)
	t.lock(lockProject, l.Project)
	most, _ := q.Of(l.Principal)
	t.queue(liveCounts, l.Principal, l.VIM, l.Project, most, q.PerVIM, q.PerProject).QueryRow(func(row pgx.Row) error {
		return row.Scan(&c.OfPrincipal, &c.OnVIM, &c.OfProject)
	})
}

// UpdateLease changes a lease by a function. Changes to ID, VIM, VIMName, VIMType, VIMProject, VIMGeneration,
// Project, Principal, Operation, CreatedAt and Revision are ignored.
func (s *Store) UpdateLease(ctx context.Context, id string, change func(*broker.Lease) error, e audit.Entry) (broker.Lease, error) {
	var stored broker.Lease
	var refusal error // change's own error, returned unchanged
	err := s.write(ctx, e, func(t txn) error {
		var keys []secret.Ref // of the lease's generation
		t.queue(shareVIMOfLease, id)
		queueRows(t, scalar[secret.Ref], &keys, presentKey, id)
		l, err := oneLease(query(t, scanLeases(), leaseForUpdate, id))
		if err != nil {
			return err
		}
		old := l
		old.Namespaces = slices.Clone(l.Namespaces) // change may write into it
		if refusal = change(&l); refusal != nil {
			return refusal
		}
		if err := rows.MoveLease(old.State, l.State); err != nil {
			return err
		}
		if rows.Resealed(old, l) && !slices.Contains(keys, l.SealedKey) {
			return rows.OtherKey()
		}
		l.Revision = old.Revision + 1
		stored = old
		changed := rows.LeaseColumns.Amend(&stored, &l)
		row := stored
		if l.Sealed != old.Sealed {
			row.Sealed = t.stow(id, l.Sealed)
		}
		t.queue(updateLease(changed), append(values(changed.Fields(&row)), id)...)
		if !rows.NeedsGeneration(old) || rows.NeedsGeneration(l) {
			return nil
		}
		// The last two that need it may end at the same time.
		t.lock(lockGeneration, old.VIM)
		return t.dropUnneeded(old.VIM, old.VIMGeneration)
	})
	if refusal != nil {
		return broker.Lease{}, refusal
	}
	if err != nil {
		return broker.Lease{}, fmt.Errorf("updating lease %s: %w", id, err)
	}
	return stored, nil
}

// stow queues to keep the sealed credential of a lease apart, in bytes, and returns what is to stand in the
// row of the lease. It stays there where it is no base64.
func (t txn) stow(lease, sealed string) string {
	token, err := base64.URLEncoding.DecodeString(sealed)
	if sealed == "" || err != nil || base64.URLEncoding.EncodeToString(token) != sealed {
		return sealed
	}
	t.queue(dropCredential, lease)
	t.queue(storeCredential, lease, token)
	return "apart"
}

// DeferLease counts a failed try.
func (s *Store) DeferLease(ctx context.Context, id string, attempts int, next time.Time, class string) error {
	err := s.change(ctx, func(t txn) error {
		return t.one("lease", deferLease, attempts, stamp(next), class, id)
	})
	if err != nil {
		return fmt.Errorf("deferring lease %s: %w", id, err)
	}
	return nil
}

// DueVIMs returns the VIMs that leases are due on.
func (s *Store) DueVIMs(ctx context.Context, at time.Time) ([]broker.DueVIM, error) {
	due, err := read(ctx, s, func(r pgx.CollectableRow) (v broker.DueVIM, err error) {
		return v, r.Scan(&v.VIM, &v.Project, &moment{&v.Since})
	}, dueVIMs, stamp(at))
	if err != nil {
		return nil, fmt.Errorf("listing VIMs with leases that are due: %w", err)
	}
	return due, nil
}

// resume takes the leases of a VIM up again that wait after failed tries.
func (t txn) resume(vim string, now time.Time) { t.queue(resume, stamp(now), vim) }
