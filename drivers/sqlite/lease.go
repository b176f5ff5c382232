package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	leaseForUpdate = prepared(leaseByID)
	leaseKeyTaken  = prepared(`SELECT 1 FROM leases WHERE principal = ? AND idempotency_key = ? AND idempotency_key <> ''`)
	// vimForLease counts live leases too, for quotas.
	vimForLease = prepared(`SELECT project,
		coalesce((SELECT n FROM lease_live_counts WHERE whose = 'principal' AND name = ?), 0),
		coalesce((SELECT n FROM lease_live_counts WHERE whose = 'vim' AND name = id), 0),
		coalesce((SELECT n FROM lease_live_counts WHERE whose = 'project' AND name = ?), 0)
		FROM vims WHERE id = ? AND state = 'registered' AND generation = ?`)

	insertLease = prepared(`INSERT INTO leases (id, vim, vim_name, vim_type, vim_project, vim_generation, project,
		principal, created_at, operation, state, reason, role, namespaces, format, purpose, issued_at, expires_at,
		max_expires_at, renewed_at, renewal_begun, credential_kind, unlisted, derived, revocable, max_revocation_lag, revoked_at, confirmed_dead_at, handle,
		sealed, sealed_key, attempts, next_attempt_at, last_error, revision, idempotency_key, request_digest)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	// updateLease leaves the indexes by state alone when the state stays: renewals and retries touch few of them.
	updateLease = prepared(`UPDATE leases SET operation = ?, state = ?, reason = ?, role = ?, namespaces = ?,
		format = ?, purpose = ?, issued_at = ?, expires_at = ?, max_expires_at = ?, renewed_at = ?, renewal_begun = ?, credential_kind = ?, unlisted = ?, derived = ?,
		revocable = ?, max_revocation_lag = ?, revoked_at = ?, confirmed_dead_at = ?, handle = ?, sealed = ?, sealed_key = ?,
		attempts = ?, next_attempt_at = ?, last_error = ?, revision = ?, idempotency_key = ?, request_digest = ?
		WHERE id = ? RETURNING ` + leaseColumns)
	presentKey = prepared(`SELECT 1 FROM vim_generations WHERE vim = ? AND number = ? AND key_ref = ?`)
	deferLease = prepared(`UPDATE leases SET attempts = ?, next_attempt_at = ?, last_error = ? WHERE id = ?`)
	resume     = prepared(`UPDATE leases INDEXED BY lease_due_by_vim SET attempts = 0, next_attempt_at = min(next_attempt_at, ?)
		WHERE vim = ? AND due_at IS NOT NULL AND state <> 'active' AND attempts > 0`)
)

const dueVIMs = `SELECT DISTINCT vim FROM leases INDEXED BY lease_due WHERE due_at <= ?`

// CreateLease stores the intent to issue a lease.
func (s *Store) CreateLease(ctx context.Context, l broker.Lease, q broker.Quota, e audit.Entry) error {
	l.State, l.Revision = broker.LeasePending, 1
	err := s.write(ctx, func(t txn) error {
		// First: a request that is repeated may have used up the quota itself.
		if l.IdempotencyKey != "" {
			if found, err := t.any(leaseKeyTaken, l.Principal, l.IdempotencyKey); err != nil || found {
				return orTaken(err, "leases.principal, leases.idempotency_key")
			}
		}
		vimProject, err := t.leasable(l, q)
		if err != nil {
			return err
		}
		args := append([]any{
			l.ID, l.VIM, l.VIMName, l.VIMType, vimProject, l.VIMGeneration, l.Project, l.Principal,
			micro(l.CreatedAt),
		}, changingColumns(l)...)
		if _, err := t.exec(insertLease, args...); err != nil {
			return err
		}
		return t.append(e)
	})
	if err != nil {
		return fmt.Errorf("creating lease %s: %w", l.ID, err)
	}
	return nil
}

// leasable returns the project of the lease's VIM, if that is registered with the
// lease's generation and no quota is used up.
func (t txn) leasable(l broker.Lease, q broker.Quota) (project string, err error) {
	var ofPrincipal, ofVIM, ofProject int
	err = t.queryRow(vimForLease, l.Principal, l.Project, l.VIM, l.VIMGeneration).Scan(&project, &ofPrincipal, &ofVIM, &ofProject)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", conflict("the VIM is gone, is not registered, or was changed in the meantime")
	case err != nil:
		return "", translate(err)
	}
	for _, bound := range []struct {
		name, of   string
		live, most int
	}{
		{"perPrincipal", l.Principal, ofPrincipal, q.PerPrincipal},
		{"perVIM", l.VIM, ofVIM, q.PerVIM},
		{"perProject", l.Project, ofProject, q.PerProject},
	} {
		if bound.most > 0 && bound.live >= bound.most {
			return "", &broker.Error{
				Kind:   broker.ErrQuota,
				Detail: fmt.Sprintf("quota %s is used up: %d live leases of %s", bound.name, bound.most, bound.of),
				Remedy: "revoke leases that are no longer needed",
			}
		}
	}
	return project, nil
}

// UpdateLease changes a lease by a function. What the function does to ID, VIM,
// VIMName, VIMType, VIMProject, VIMGeneration, Project, Principal, CreatedAt and Revision is ignored.
func (s *Store) UpdateLease(ctx context.Context, id string, change func(*broker.Lease) error, e audit.Entry) (broker.Lease, error) {
	var stored broker.Lease
	var refusal error // change's own words, returned as they are
	err := s.write(ctx, func(t txn) error {
		l, err := t.lease(id)
		if err != nil {
			return err
		}
		old := l
		if refusal = change(&l); refusal != nil {
			return refusal
		}
		if l.State != old.State && !old.State.CanMove(l.State) {
			return conflict(fmt.Sprintf("a lease that is %s cannot become %s", old.State, l.State))
		}
		if l.Sealed != "" && l.Sealed != old.Sealed {
			if present, err := t.any(presentKey, old.VIM, old.VIMGeneration, string(l.SealedKey)); err != nil {
				return err
			} else if !present {
				return conflict("the VIM was sealed under another key in the meantime")
			}
		}
		l.Revision = old.Revision + 1
		rows, err := t.query(updateLease, append(changingColumns(l), id)...)
		if stored, err = oneLease(rows, err); err != nil {
			return err
		}
		if needsGeneration(old) && !needsGeneration(l) {
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

// needsGeneration reports whether the lease's credential may have to be taken
// back or tried: in SQL, the condition of the index lease_needs_generation.
func needsGeneration(l broker.Lease) bool { return l.State.Live() || l.Sealed != "" }

// DeferLease counts a failed try.
func (s *Store) DeferLease(ctx context.Context, id string, attempts int, next time.Time, class string) error {
	err := s.write(ctx, func(t txn) error {
		return t.one("lease", deferLease, attempts, micro(next), class, id)
	})
	if err != nil {
		return fmt.Errorf("deferring lease %s: %w", id, err)
	}
	return nil
}

// DueVIMs returns the ids of the VIMs that leases are due on.
func (s *Store) DueVIMs(ctx context.Context, at time.Time) ([]string, error) {
	rows, err := s.query(ctx, dueVIMs, micro(at))
	ids, err := collect(rows, err, func(rows *sql.Rows) (id string, err error) { return id, rows.Scan(&id) })
	if err != nil {
		return nil, fmt.Errorf("listing VIMs with leases that are due: %w", err)
	}
	return ids, nil
}

// resume takes the leases of a VIM up again that wait after failed tries.
func (t txn) resume(vim string, now time.Time) error {
	_, err := t.exec(resume, micro(now), vim)
	return err
}

// changingColumns are the values of what may change in a lease's life, in the
// order that insertLease and updateLease share.
func changingColumns(l broker.Lease) []any {
	return []any{
		l.Operation, l.State, l.Reason, l.Role, encode(l.Namespaces), l.Format, l.Purpose,
		micro(l.IssuedAt), micro(l.ExpiresAt), micro(l.MaxExpiresAt), micro(l.RenewedAt), l.RenewalBegun, l.CredentialKind, l.Unlisted, l.Derived, l.Revocable,
		l.MaxRevocationLag.Microseconds(), micro(l.RevokedAt), micro(l.ConfirmedDeadAt), l.Handle, l.Sealed,
		string(l.SealedKey), l.Attempts, micro(l.NextAttemptAt), l.LastError, l.Revision, l.IdempotencyKey, l.RequestDigest,
	}
}
