package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
)

const leaseColumns = `id, vim, vim_name, vim_type, vim_project, vim_generation, project, principal, operation, state, reason, role,
	namespaces, format, purpose, created_at, issued_at, expires_at, max_expires_at, renewed_at, renewal_begun, credential_kind, unlisted, derived, revocable,
	max_revocation_lag, revoked_at, confirmed_dead_at, handle, sealed, sealed_key, attempts, next_attempt_at, last_error, revision,
	idempotency_key, request_digest`

const (
	leaseByID  = `SELECT ` + leaseColumns + ` FROM leases WHERE id = $1`
	leaseByKey = `SELECT ` + leaseColumns + ` FROM leases
		WHERE principal = $1 AND idempotency_key = $2 AND idempotency_key <> ''`
)

// Lease returns one by its id.
func (s *Store) Lease(ctx context.Context, id string) (broker.Lease, error) {
	l, err := oneLease(lookUp(ctx, s, scanLease, leaseByID, id))
	if err != nil {
		return broker.Lease{}, fmt.Errorf("reading lease %s: %w", id, err)
	}
	return l, nil
}

// LeaseByKey returns the lease that a principal was issued under an idempotency key.
func (s *Store) LeaseByKey(ctx context.Context, principal, key string) (broker.Lease, error) {
	l, err := oneLease(lookUp(ctx, s, scanLease, leaseByKey, principal, key))
	if err != nil {
		return broker.Lease{}, fmt.Errorf("reading the lease of an idempotency key: %w", err)
	}
	return l, nil
}

func oneLease(leases []broker.Lease, err error) (broker.Lease, error) {
	switch {
	case err != nil:
		return broker.Lease{}, err
	case len(leases) == 0:
		return broker.Lease{}, notFound("lease")
	}
	return leases[0], nil
}

func scanLease(row pgx.CollectableRow) (broker.Lease, error) {
	var l broker.Lease
	var lag int64
	err := row.Scan(&l.ID, &l.VIM, &l.VIMName, &l.VIMType, &l.VIMProject, &l.VIMGeneration, &l.Project, &l.Principal, &l.Operation,
		&l.State, &l.Reason, &l.Role, &l.Namespaces, &l.Format, &l.Purpose,
		into(&l.CreatedAt), into(&l.IssuedAt), into(&l.ExpiresAt), into(&l.MaxExpiresAt), into(&l.RenewedAt), &l.RenewalBegun,
		&l.CredentialKind, &l.Unlisted, &l.Derived, &l.Revocable, &lag, into(&l.RevokedAt), into(&l.ConfirmedDeadAt), &l.Handle,
		&l.Sealed, &l.SealedKey, &l.Attempts, into(&l.NextAttemptAt), &l.LastError, &l.Revision, &l.IdempotencyKey, &l.RequestDigest)
	l.MaxRevocationLag = time.Duration(lag) * time.Microsecond
	if len(l.Namespaces) == 0 {
		l.Namespaces = nil
	}
	return l, err
}

// Leases lists the newest first.
func (s *Store) Leases(ctx context.Context, f broker.LeaseFilter) ([]broker.Lease, string, error) {
	text, args, size, err := listLeases(f)
	if err != nil {
		return nil, "", fmt.Errorf("listing leases: %w", err)
	}
	leases, err := read(ctx, s, scanLease, text, args...)
	if err != nil {
		return nil, "", fmt.Errorf("listing leases: %w", err)
	}
	if len(leases) <= size {
		return leases, "", nil
	}
	leases = leases[:size]
	return leases, pageToken(positionOf(leases[size-1])), nil
}

func listLeases(f broker.LeaseFilter) (text string, args []any, size int, err error) {
	if size, err = pageSize(f.Page); err != nil {
		return "", nil, 0, err
	}
	var c conditions
	if f.Token != "" {
		p, err := readToken[leasePosition](f.Token)
		if err != nil {
			return "", nil, 0, err
		}
		c.add(`(created_at, id) < (?, ?)`, stamp(p.createdAt()), p.ID)
	}
	c.addIf(f.Operation != "", `operation = ? AND operation <> ''`, f.Operation)
	c.addIf(f.VIM != "", `vim = ?`, f.VIM)
	c.addIf(f.Principal != "", `principal = ?`, f.Principal)
	c.addIf(!f.DueBefore.IsZero(), `due_at <= ?`, stamp(f.DueBefore))
	c.addIf(!f.CreatedBefore.IsZero(), `created_at < ?`, stamp(f.CreatedBefore))
	if len(f.States) > 0 {
		states := make([]string, len(f.States))
		for i, state := range f.States {
			states[i] = string(state)
		}
		c.add(`state = ANY(?)`, states)
		c.addIf(!slices.Contains(f.States, broker.LeaseRevoked), `state <> 'revoked'`)
	}
	switch {
	case f.Project == "":
		text, args = c.selectFrom(allLeases)
	case f.VIM != "" || f.Principal != "" || f.Operation != "" || !f.DueBefore.IsZero():
		c.add(`(project = ? OR vim_project = ?)`, f.Project, f.Project)
		text, args = c.selectFrom(allLeases)
	default:
		own, lent := c.clone(), c.clone()
		own.add(`project = ?`, f.Project)
		lent.add(`vim_project = ? AND project <> vim_project`, f.Project)
		first, firstArgs := own.selectFrom(allLeases)
		second, secondArgs := lent.selectFrom(allLeases)
		text, args = first+` UNION ALL `+second, append(firstArgs, secondArgs...)
	}
	if !f.DueBefore.IsZero() {
		text = apart(text)
	}
	return numbered(text + ` ORDER BY created_at DESC, id DESC LIMIT ?`), append(args, size+1), size, nil
}

const allLeases = `SELECT ` + leaseColumns + ` FROM leases`

// apart keeps the order and the limit of a list out of the choice of its index:
// those who are due are few, and PostgreSQL, which hopes to meet them soon among
// all in the order asked for, would look at all.
func apart(text string) string { return `SELECT * FROM (` + text + ` OFFSET 0) AS few` }
