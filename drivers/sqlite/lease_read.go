package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

const leaseColumns = `id, vim, vim_name, vim_type, vim_project, vim_generation, project, principal, operation, state, reason, role,
	namespaces, format, purpose, created_at, issued_at, expires_at, max_expires_at, renewed_at, renewal_begun, credential_kind, unlisted, derived, revocable,
	max_revocation_lag, revoked_at, confirmed_dead_at, handle, sealed, sealed_key, attempts, next_attempt_at, last_error, revision,
	idempotency_key, request_digest`

const (
	leaseByID  = `SELECT ` + leaseColumns + ` FROM leases WHERE id = ?`
	leaseByKey = `SELECT ` + leaseColumns + ` FROM leases
		WHERE principal = ? AND idempotency_key = ? AND idempotency_key <> ''`
)

// Lease returns one by its id.
func (s *Store) Lease(ctx context.Context, id string) (broker.Lease, error) {
	rows, err := s.query(ctx, leaseByID, id)
	l, err := oneLease(rows, err)
	if err != nil {
		return broker.Lease{}, fmt.Errorf("reading lease %s: %w", id, err)
	}
	return l, nil
}

// LeaseByKey returns the lease that a principal was issued under an idempotency key.
func (s *Store) LeaseByKey(ctx context.Context, principal, key string) (broker.Lease, error) {
	rows, err := s.query(ctx, leaseByKey, principal, key)
	l, err := oneLease(rows, err)
	if err != nil {
		return broker.Lease{}, fmt.Errorf("reading the lease of an idempotency key: %w", err)
	}
	return l, nil
}

func (t txn) lease(id string) (broker.Lease, error) {
	rows, err := t.query(leaseForUpdate, id)
	return oneLease(rows, err)
}

func oneLease(rows *sql.Rows, err error) (broker.Lease, error) {
	leases, err := collect(rows, err, scanLease)
	switch {
	case err != nil:
		return broker.Lease{}, err
	case len(leases) == 0:
		return broker.Lease{}, notFound("lease")
	}
	return leases[0], nil
}

func scanLease(rows *sql.Rows) (broker.Lease, error) {
	var l broker.Lease
	var lag int64
	err := rows.Scan(&l.ID, &l.VIM, &l.VIMName, &l.VIMType, &l.VIMProject, &l.VIMGeneration, &l.Project, &l.Principal, &l.Operation,
		&l.State, &l.Reason, &l.Role, document[[]string]{&l.Namespaces}, &l.Format, &l.Purpose,
		moment{&l.CreatedAt}, moment{&l.IssuedAt}, moment{&l.ExpiresAt}, moment{&l.MaxExpiresAt}, moment{&l.RenewedAt}, &l.RenewalBegun,
		&l.CredentialKind, &l.Unlisted, &l.Derived, &l.Revocable, &lag, moment{&l.RevokedAt}, moment{&l.ConfirmedDeadAt}, &l.Handle, &l.Sealed, &l.SealedKey,
		&l.Attempts, moment{&l.NextAttemptAt}, &l.LastError, &l.Revision, &l.IdempotencyKey, &l.RequestDigest)
	l.MaxRevocationLag = time.Duration(lag) * time.Microsecond
	return l, err
}

// Leases lists the newest first.
func (s *Store) Leases(ctx context.Context, f broker.LeaseFilter) ([]broker.Lease, string, error) {
	text, args, size, err := listLeases(f)
	if err != nil {
		return nil, "", fmt.Errorf("listing leases: %w", err)
	}
	rows, err := s.query(ctx, text, args...)
	leases, err := collect(rows, err, scanLease)
	if err != nil {
		return nil, "", fmt.Errorf("listing leases: %w", err)
	}
	if len(leases) <= size {
		return leases, "", nil
	}
	leases = leases[:size]
	last := leases[size-1]
	return leases, pageToken(leasePosition{micro(last.CreatedAt), last.ID}), nil
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
		c.add(`(created_at, id) < (?, ?)`, p.CreatedAt, p.ID)
	}
	c.addIf(f.Operation != "", `operation = ? AND operation <> ''`, f.Operation)
	c.addIf(f.VIM != "", `vim = ?`, f.VIM)
	c.addIf(f.Principal != "", `principal = ?`, f.Principal)
	c.addIf(!f.DueBefore.IsZero(), `due_at <= ?`, micro(f.DueBefore))
	c.addIf(!f.CreatedBefore.IsZero(), `created_at < ?`, micro(f.CreatedBefore))

	// Sorted and without doubles, so that few different texts are prepared.
	states := slices.Clone(f.States)
	slices.Sort(states)
	states = slices.Compact(states)
	live := len(states) > 0 && !slices.Contains(states, broker.LeaseRevoked)
	if len(states) > 0 {
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(states)), ", ")
		c.add(`state IN (`+marks+`)`, anys(states)...)
	}
	c.addIf(live, `state <> 'revoked'`)

	index := leaseIndex(f, live)
	switch {
	case f.Project == "":
		text, args = c.selectFrom(leasesBy + index)
	case index != "":
		c.add(`(project = ? OR vim_project = ?)`, f.Project, f.Project)
		text, args = c.selectFrom(leasesBy + index)
	default:
		of := "lease_by_"
		if live {
			of = "lease_live_by_"
		}
		own, lent := c.clone(), c.clone()
		own.add(`project = ?`, f.Project)
		lent.add(`vim_project = ? AND project <> vim_project`, f.Project)
		first, firstArgs := own.selectFrom(leasesBy + of + "project")
		second, secondArgs := lent.selectFrom(leasesBy + of + "lender")
		text, args = first+` UNION ALL `+second, append(firstArgs, secondArgs...)
	}
	return text + ` ORDER BY created_at DESC, id DESC LIMIT ?+0`, append(args, size+1), size, nil
}

const leasesBy = `SELECT ` + leaseColumns + ` FROM leases INDEXED BY `

// leaseIndex names the index that leaves the fewest leases to look at, and none
// where those are of a project's. SQLite would guess; what is live, and what is due, is
// always little.
func leaseIndex(f broker.LeaseFilter, live bool) string {
	switch {
	case !f.DueBefore.IsZero() && f.VIM != "":
		return "lease_due_by_vim"
	case !f.DueBefore.IsZero():
		return "lease_due"
	case f.Operation != "":
		return "lease_by_operation"
	case f.VIM != "" && live:
		return "lease_live_by_vim"
	case f.VIM != "":
		return "lease_by_vim"
	case f.Principal != "" && live:
		return "lease_live_by_principal"
	case f.Principal != "":
		return "lease_by_principal"
	case f.Project != "":
		return ""
	case live:
		return "lease_live"
	}
	return "lease_newest"
}

func anys[T any](values []T) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}
