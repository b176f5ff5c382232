package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	leaseForUpdate = prepared(leaseByID)
	leaseKeyTaken  = prepared(`SELECT 1 FROM leases WHERE principal = ? AND idempotency_key = ? AND idempotency_key <> ''`)
	// passSecrets takes the secrets, and the key, of the lease whose place another takes.
	passSecrets = prepared(`UPDATE leases SET secret_sha256 = '', idempotency_key = ''
		WHERE login = ? AND login <> '' AND secret_sha256 <> '' AND revision = ? AND state NOT IN ('pending', 'active')`)
	// vimForLease counts live leases too, for quotas.
	vimForLease = prepared(`SELECT project,
		coalesce((SELECT n FROM lease_live_counts WHERE whose = 'principal' AND name = ?), 0),
		coalesce((SELECT n FROM lease_live_counts WHERE whose = 'vim' AND name = id), 0),
		coalesce((SELECT n FROM lease_live_counts WHERE whose = 'project' AND name = ?), 0)
		FROM vims WHERE id = ? AND state = 'registered' AND generation = ? AND ? IN (0, revision)`)

	insertLease = prepared(`INSERT INTO leases (` + leaseColumns + `, live) VALUES (` + strings.Repeat(`?, `, len(rows.LeaseColumns)) + `1)`)
	presentKey  = prepared(`SELECT 1 FROM vim_generations WHERE vim = ? AND number = ? AND key_ref = ?`)
	deferLease  = prepared(`UPDATE leases SET attempts = ?, next_attempt_at = ?, last_error = ? WHERE id = ?`)
	resume      = prepared(`UPDATE leases INDEXED BY lease_due_by_vim SET attempts = 0, next_attempt_at = min(next_attempt_at, ?)
		WHERE vim = ? AND due_at IS NOT NULL AND state <> 'active' AND attempts > 0`)
)

// leaseUpdate is a statement that changes columns of a lease, and, where ends is set, whether it is live.
type leaseUpdate struct {
	columns rows.Columns[broker.Lease]
	ends    bool
	text    string
}

func updateOfLease(ends bool, columns rows.Columns[broker.Lease]) leaseUpdate {
	set := columns.Set()
	if ends {
		set += `, live = ?`
	}
	return leaseUpdate{columns, ends, prepared(`UPDATE leases SET ` + set + ` WHERE id = ?`)}
}

// leaseUpdates begin with what most leases go through: a statement enters each index of a column that it names, whether
// the column changes or not.
var leaseUpdates = func() []leaseUpdate {
	all := rows.LeaseColumns.Changing()
	moves := all.Pick("revision", "state", "reason", "stood", "left_behind", "revoked_at", "next_attempt_at", "attempts", "last_error")
	buried := all.Pick("revision", "confirmed_dead_at", "sealed", "attempts", "last_error")
	return []leaseUpdate{
		updateOfLease(false, moves), updateOfLease(true, moves), updateOfLease(false, buried),
		updateOfLease(false, all.Without("idempotency_key").Without("secret_sha256")), updateOfLease(false, all), updateOfLease(true, all),
	}
}()

// change writes the changed columns of a lease, and returns the stored lease.
func (t txn) change(old, l broker.Lease) (broker.Lease, error) {
	l.Revision = old.Revision + 1
	stored, ends := old, old.State.Live() != l.State.Live()
	changed := rows.LeaseColumns.Amend(&stored, &l)
	update := leaseUpdates[slices.IndexFunc(leaseUpdates, func(u leaseUpdate) bool {
		return u.ends == ends && u.columns.Have(changed)
	})]
	args := values(update.columns.Fields(&stored))
	if ends {
		args = append(args, stored.State.Live())
	}
	_, err := t.exec(update.text, append(args, old.ID)...)
	return stored, err
}

const dueVIMs = `SELECT vim, vim_project, min(due_at) FROM leases INDEXED BY lease_due WHERE due_at <= ? GROUP BY vim, vim_project`

// CreateLease stores the intent to issue a lease.
func (s *Store) CreateLease(ctx context.Context, l broker.Lease, q broker.Quota, e audit.Entry) (broker.Lease, error) {
	l.State, l.Revision, l.Epoch = broker.LeasePending, 1, 0
	err := s.write(ctx, func(t txn) error {
		if l.Follows() {
			if n, err := t.affected(passSecrets, l.Login, q.OldRevision); err != nil || n == 0 {
				return orTaken(err, rows.LeaseLogin)
			}
		}
		// First: a request that is repeated may have used up the quota itself.
		if l.IdempotencyKey != "" {
			if found, err := t.any(leaseKeyTaken, l.Principal, l.IdempotencyKey); err != nil || found {
				return orTaken(err, rows.LeaseKey)
			}
		}
		var err error
		if l.VIMProject, err = t.leasable(l, q); err != nil {
			return err
		}
		if l.GrantDigest != "" {
			if l.Epoch, err = t.openEpoch(l); err != nil {
				return err
			}
		}
		if _, err := t.exec(insertLease, values(rows.LeaseColumns.Fields(&l))...); err != nil {
			return err
		}
		return t.append(e)
	})
	if err != nil {
		return broker.Lease{}, fmt.Errorf("creating lease %s: %w", l.ID, err)
	}
	return l, nil
}

// leasable returns the project of the lease's VIM, if that is registered with the
// lease's generation and no quota is used up.
func (t txn) leasable(l broker.Lease, q broker.Quota) (project string, err error) {
	var live rows.Live
	err = t.queryRow(vimForLease, l.Principal, l.Project, l.VIM, l.VIMGeneration, q.VIMRevision).Scan(&project, &live.OfPrincipal,
		&live.OnVIM, &live.OfProject)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", rows.NotLeasable()
	case err != nil:
		return "", translate(err)
	}
	return project, live.Within(q, l)
}

// UpdateLease changes a lease by a function. Changes to ID, VIM, VIMName, VIMType, VIMProject, VIMGeneration,
// Project, Principal, Operation, CreatedAt and Revision are ignored.
func (s *Store) UpdateLease(ctx context.Context, id string, change func(*broker.Lease) error, e audit.Entry) (broker.Lease, error) {
	var stored broker.Lease
	var refusal error // change's own error, returned unchanged
	err := s.write(ctx, func(t txn) error {
		l, err := t.lease(id)
		if err != nil {
			return err
		}
		old := l
		if refusal = change(&l); refusal != nil {
			return refusal
		}
		if err := rows.MoveLease(old.State, l.State); err != nil {
			return err
		}
		if rows.Resealed(old, l) {
			if present, err := t.any(presentKey, old.VIM, old.VIMGeneration, string(l.SealedKey)); err != nil {
				return err
			} else if !present {
				return rows.OtherKey()
			}
		}
		if stored, err = t.change(old, l); err != nil {
			return err
		}
		if rows.NeedsGeneration(old) && !rows.NeedsGeneration(l) {
			if err := t.dropUnneeded(old.VIM, old.VIMGeneration); err != nil {
				return err
			}
		}
		return t.append(e)
	})
	if refusal != nil {
		return broker.Lease{}, refusal
	}
	if err != nil {
		return broker.Lease{}, fmt.Errorf("updating lease %s: %w", id, err)
	}
	return stored, nil
}

// DeferLease counts a failed try.
func (s *Store) DeferLease(ctx context.Context, id string, attempts int, next time.Time, class string) error {
	err := s.write(ctx, func(t txn) error {
		return t.one("lease", deferLease, attempts, rows.Micro(next), class, id)
	})
	if err != nil {
		return fmt.Errorf("deferring lease %s: %w", id, err)
	}
	return nil
}

// DueVIMs returns the VIMs that leases are due on.
func (s *Store) DueVIMs(ctx context.Context, at time.Time) ([]broker.DueVIM, error) {
	found, err := s.query(ctx, dueVIMs, rows.Micro(at))
	due, err := collect(found, err, func(row *sql.Rows) (v broker.DueVIM, err error) {
		var since int64
		err = row.Scan(&v.VIM, &v.Project, &since)
		v.Since = rows.Time(since)
		return v, err
	})
	if err != nil {
		return nil, fmt.Errorf("listing VIMs with leases that are due: %w", err)
	}
	return due, nil
}

// resume takes the leases of a VIM up again that wait after failed tries.
func (t txn) resume(vim string, now time.Time) error {
	_, err := t.exec(resume, rows.Micro(now), vim)
	return err
}
