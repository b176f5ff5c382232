package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	leaseForUpdate = leaseByID + ` FOR UPDATE`
	leaseKeyTaken  = `SELECT FROM leases WHERE principal = $1 AND idempotency_key = $2 AND idempotency_key <> ''`
	vimForLease    = `SELECT project FROM vims WHERE id = $1 AND state = 'registered' AND generation = $2`

	liveCounts = `SELECT
		coalesce((SELECT n FROM lease_live_counts WHERE whose = 'principal' AND name = $1), 0),
		coalesce((SELECT n FROM lease_live_counts WHERE whose = 'vim' AND name = $2), 0),
		coalesce((SELECT n FROM lease_live_counts WHERE whose = 'project' AND name = $3), 0)`

	// leaseValueColumns are those of leaseValues.
	leaseValueColumns = `operation, state, reason, role, namespaces,
		format, purpose, issued_at, expires_at, max_expires_at, renewed_at, renewal_begun, credential_kind, unlisted, derived,
		revocable, max_revocation_lag, revoked_at, confirmed_dead_at, handle, sealed, sealed_key,
		attempts, next_attempt_at, last_error, revision, idempotency_key, request_digest,
		id, vim, vim_name, vim_type, vim_project, vim_generation, project, principal, created_at`
	insertLease = `INSERT INTO leases (` + leaseValueColumns + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27,
		$28, $29, $30, $31, $32, $33, $34, $35, $36, $37)`
	updateLease = `UPDATE leases SET operation = $1, state = $2, reason = $3, role = $4, namespaces = $5,
		format = $6, purpose = $7, issued_at = $8, expires_at = $9, max_expires_at = $10, renewed_at = $11, renewal_begun = $12,
		credential_kind = $13, unlisted = $14, derived = $15, revocable = $16, max_revocation_lag = $17, revoked_at = $18,
		confirmed_dead_at = $19, handle = $20, sealed = $21, sealed_key = $22, attempts = $23, next_attempt_at = $24, last_error = $25,
		revision = $26, idempotency_key = $27, request_digest = $28 WHERE id = $29 RETURNING ` + leaseColumns
	presentKey = `SELECT g.key_ref FROM leases l JOIN vim_generations g ON g.vim = l.vim AND g.number = l.vim_generation WHERE l.id = $1`
	deferLease = `UPDATE leases SET attempts = $1, next_attempt_at = $2, last_error = $3 WHERE id = $4`
	resume     = `UPDATE leases SET attempts = 0, next_attempt_at = least(next_attempt_at, $1)
		WHERE vim = $2 AND due_at IS NOT NULL AND state <> 'active' AND attempts > 0`
	dueVIMs = `SELECT DISTINCT vim FROM leases WHERE due_at <= $1`
)

// CreateLease stores the intent to issue a lease.
func (s *Store) CreateLease(ctx context.Context, l broker.Lease, q broker.Quota, e audit.Entry) error {
	l.State, l.Revision = broker.LeasePending, 1
	err := s.write(ctx, e, func(t txn) error {
		// First: a request that is repeated may have used up the quota itself.
		if err := t.first(leaseKeyRule, leaseKeyTaken, l.Principal, l.IdempotencyKey); err != nil {
			return err
		}
		t.share(lockVIM, l.VIM)
		var live counts
		if q != (broker.Quota{}) {
			t.countLive(l, &live)
		}
		projects, err := rows(t, scalar[string], vimForLease, l.VIM, l.VIMGeneration)
		if err != nil {
			return err
		}
		if len(projects) == 0 {
			return conflict("the VIM is gone, is not registered, or was changed in the meantime")
		}
		if err := live.within(q, l); err != nil {
			return err
		}
		l.VIMProject = projects[0]
		t.queue(insertLease, leaseValues(l)...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("creating lease %s: %w", l.ID, err)
	}
	return nil
}

// first refuses a request whose idempotency key was used before, also by one that
// is being written at the same time.
func (t txn) first(rule, query, principal, key string) error {
	if key == "" {
		return nil
	}
	t.lock(lockRequest, rule, principal, key)
	found, err := t.any(query, principal, key)
	if err == nil && found {
		return errTaken(rule)
	}
	return err
}

// counts are how many live leases a principal, a VIM and a project have.
type counts struct{ ofPrincipal, ofVIM, ofProject int }

// countLive queues to count, and to lock what is counted until the lease is
// committed, always in the same order. What is counted is what was committed.
func (t txn) countLive(l broker.Lease, c *counts) {
	t.lock(lockPrincipal, l.Principal)
	t.lock(lockVIMQuota, l.VIM)
	t.lock(lockProject, l.Project)
	t.queue(liveCounts, l.Principal, l.VIM, l.Project).QueryRow(func(row pgx.Row) error {
		return row.Scan(&c.ofPrincipal, &c.ofVIM, &c.ofProject)
	})
}

// within refuses one lease more than a quota.
func (c counts) within(q broker.Quota, l broker.Lease) error {
	for _, bound := range []struct {
		name, of   string
		live, most int
	}{
		{"perPrincipal", l.Principal, c.ofPrincipal, q.PerPrincipal},
		{"perVIM", l.VIM, c.ofVIM, q.PerVIM},
		{"perProject", l.Project, c.ofProject, q.PerProject},
	} {
		if bound.most > 0 && bound.live >= bound.most {
			return &broker.Error{
				Kind:   broker.ErrQuota,
				Detail: fmt.Sprintf("quota %s is used up: %d live leases of %s", bound.name, bound.most, bound.of),
				Remedy: "revoke leases that are no longer needed",
			}
		}
	}
	return nil
}

// UpdateLease changes a lease by a function. What the function does to ID, VIM,
// VIMName, VIMType, VIMProject, VIMGeneration, Project, Principal, CreatedAt and Revision is ignored.
func (s *Store) UpdateLease(ctx context.Context, id string, change func(*broker.Lease) error, e audit.Entry) (broker.Lease, error) {
	var stored []broker.Lease
	var refusal error // change's own words, returned as they are
	err := s.write(ctx, e, func(t txn) error {
		var keys []string // of the lease's generation
		t.queue(shareVIMOfLease, id)
		queueRows(t, scalar[string], &keys, presentKey, id)
		l, err := oneLease(rows(t, scanLease, leaseForUpdate, id))
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
		if l.Sealed != "" && l.Sealed != old.Sealed && !slices.Contains(keys, string(l.SealedKey)) {
			return conflict("the VIM was sealed under another key in the meantime")
		}
		l.Revision = old.Revision + 1
		queueRows(t, scanLease, &stored, updateLease, append(changingColumns(l), id)...)
		if !needsGeneration(old) || needsGeneration(l) {
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
	return stored[0], nil // its row was locked
}

// needsGeneration reports whether the lease's credential may have to be taken
// back or tried: in SQL, the condition of the index lease_needs_generation.
func needsGeneration(l broker.Lease) bool { return l.State.Live() || l.Sealed != "" }

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

// DueVIMs returns the ids of the VIMs that leases are due on.
func (s *Store) DueVIMs(ctx context.Context, at time.Time) ([]string, error) {
	ids, err := read(ctx, s, scalar[string], dueVIMs, stamp(at))
	if err != nil {
		return nil, fmt.Errorf("listing VIMs with leases that are due: %w", err)
	}
	return ids, nil
}

// resume takes the leases of a VIM up again that wait after failed tries.
func (t txn) resume(vim string, now time.Time) { t.queue(resume, stamp(now), vim) }

// leaseValues are a new row's.
func leaseValues(l broker.Lease) []any {
	return append(changingColumns(l), l.ID, l.VIM, l.VIMName, l.VIMType, l.VIMProject,
		l.VIMGeneration, l.Project, l.Principal, stamp(l.CreatedAt))
}

// changingColumns are the values of what may change in a lease's life, in the
// order that insertLease and updateLease share.
func changingColumns(l broker.Lease) []any {
	return []any{
		l.Operation, l.State, l.Reason, l.Role, list(l.Namespaces), l.Format, l.Purpose,
		stamp(l.IssuedAt), stamp(l.ExpiresAt), stamp(l.MaxExpiresAt), stamp(l.RenewedAt), l.RenewalBegun, l.CredentialKind, l.Unlisted, l.Derived, l.Revocable,
		l.MaxRevocationLag.Microseconds(), stamp(l.RevokedAt), stamp(l.ConfirmedDeadAt), l.Handle, l.Sealed,
		string(l.SealedKey), l.Attempts, stamp(l.NextAttemptAt), l.LastError, l.Revision, l.IdempotencyKey, l.RequestDigest,
	}
}
