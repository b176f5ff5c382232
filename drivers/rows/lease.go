package rows

import (
	"fmt"

	"github.com/vimbroker/vimbroker/broker"
)

type lease = broker.Lease

// LeaseColumns are the columns of the table leases.
var LeaseColumns = Columns[lease]{
	{Name: "id", field: func(l *lease) any { return &l.ID }, fixed: true},
	{Name: "vim", field: func(l *lease) any { return &l.VIM }, fixed: true},
	{Name: "vim_name", field: func(l *lease) any { return &l.VIMName }, fixed: true},
	{Name: "vim_type", field: func(l *lease) any { return &l.VIMType }, fixed: true},
	{Name: "vim_project", field: func(l *lease) any { return &l.VIMProject }, fixed: true},
	{Name: "vim_generation", field: func(l *lease) any { return &l.VIMGeneration }, fixed: true},
	{Name: "project", field: func(l *lease) any { return &l.Project }, fixed: true},
	{Name: "principal", field: func(l *lease) any { return &l.Principal }, fixed: true},
	{Name: "created_at", field: func(l *lease) any { return &l.CreatedAt }, fixed: true},
	{Name: "operation", field: func(l *lease) any { return &l.Operation }, fixed: true},
	{Name: "state", field: func(l *lease) any { return &l.State }},
	{Name: "reason", field: func(l *lease) any { return &l.Reason }},
	{Name: "role", field: func(l *lease) any { return &l.Role }},
	{Name: "namespaces", field: func(l *lease) any { return &l.Namespaces }},
	{Name: "format", field: func(l *lease) any { return &l.Format }},
	{Name: "purpose", field: func(l *lease) any { return &l.Purpose }},
	{Name: "issued_at", field: func(l *lease) any { return &l.IssuedAt }},
	{Name: "expires_at", field: func(l *lease) any { return &l.ExpiresAt }},
	{Name: "max_expires_at", field: func(l *lease) any { return &l.MaxExpiresAt }, fixed: true},
	{Name: "renewed_at", field: func(l *lease) any { return &l.RenewedAt }},
	{Name: "renewal_begun", field: func(l *lease) any { return &l.RenewalBegun }},
	{Name: "credential_kind", field: func(l *lease) any { return &l.CredentialKind }},
	{Name: "unlisted", field: func(l *lease) any { return &l.Unlisted }},
	{Name: "derived", field: func(l *lease) any { return &l.Derived }},
	{Name: "revocable", field: func(l *lease) any { return &l.Revocable }},
	{Name: "max_revocation_lag", field: func(l *lease) any { return &l.MaxRevocationLag }},
	{Name: "revoked_at", field: func(l *lease) any { return &l.RevokedAt }},
	{Name: "confirmed_dead_at", field: func(l *lease) any { return &l.ConfirmedDeadAt }},
	{Name: "handle", field: func(l *lease) any { return &l.Handle }},
	{Name: "sealed", field: func(l *lease) any { return &l.Sealed }},
	{Name: "sealed_key", field: func(l *lease) any { return &l.SealedKey }},
	{Name: "attempts", field: func(l *lease) any { return &l.Attempts }},
	{Name: "next_attempt_at", field: func(l *lease) any { return &l.NextAttemptAt }},
	{Name: "last_error", field: func(l *lease) any { return &l.LastError }},
	{Name: "revision", field: func(l *lease) any { return &l.Revision }},
	{Name: "idempotency_key", field: func(l *lease) any { return &l.IdempotencyKey }},
	{Name: "request_digest", field: func(l *lease) any { return &l.RequestDigest }},
	{Name: "rules", field: func(l *lease) any { return &l.Rules }, fixed: true},
	{Name: "cluster_wide", field: func(l *lease) any { return &l.ClusterWide }, fixed: true},
	{Name: "grade", field: func(l *lease) any { return &l.Grade }, fixed: true},
	{Name: "grade_reasons", field: func(l *lease) any { return &l.GradeReasons }, fixed: true},
	{Name: "grant_digest", field: func(l *lease) any { return &l.GrantDigest }, fixed: true},
	{Name: "epoch", field: func(l *lease) any { return &l.Epoch }, fixed: true},
	{Name: "uid", field: func(l *lease) any { return &l.UID }},
	{Name: "credential_id", field: func(l *lease) any { return &l.CredentialID }},
	{Name: "credential_ends_at", field: func(l *lease) any { return &l.CredentialEndsAt }},
	{Name: "stood", field: func(l *lease) any { return &l.Stood }},
	{Name: "left_behind", field: func(l *lease) any { return &l.LeftBehind }},
	{Name: "holder_roles", field: func(l *lease) any { return &l.HolderRoles }},
	{Name: "instance", field: func(l *lease) any { return &l.Instance }, fixed: true},
	{Name: "for_whom", field: func(l *lease) any { return &l.For }, fixed: true},
	{Name: "planned", field: func(l *lease) any { return &l.Planned }, fixed: true},
	{Name: "token_ttl", field: func(l *lease) any { return &l.TokenTTL }, fixed: true},
	{Name: "login", field: func(l *lease) any { return &l.Login }, fixed: true},
	{Name: "door", field: func(l *lease) any { return &l.Door }, fixed: true},
	{Name: "secret_sha256", field: func(l *lease) any { return &l.SecretSHA256 }},
}

// Sparing is a lease as it is read. Of one whose row is damaged it is the readable part: such a lease can be
// revoked, and cannot be renewed for other namespaces than it had.
func Sparing(l broker.Lease, damaged bool) broker.Lease {
	if len(l.Namespaces) == 0 {
		l.Namespaces = nil
	}
	if len(l.GradeReasons) == 0 {
		l.GradeReasons = nil
	}
	if damaged {
		l.Namespaces = []string{"(cannot be read)"}
	}
	return l
}

// OverLease is the condition that nothing takes the place of a lease that has ended: no grant holds it, or it is
// not to be replaced. See broker.Lease.replaceable.
const OverLease = `(login = '' OR secret_sha256 = '' OR reason = 'operationEnded'
	OR (login = id AND reason IN ('issueFailed', 'abandoned', 'auditFailed'))
	OR NOT EXISTS (SELECT 1 FROM vnf_grants WHERE vnf_grants.lease = leases.login AND vnf_grants.holds))`

// NeedsGeneration reports whether the broker may still have to revoke or try the
// lease's credential. PostgreSQL keeps a row for it as long in live_leases or lease_turns, and
// in SQLite it is the condition of the index lease_needs_generation.
func NeedsGeneration(l broker.Lease) bool { return l.State.Live() || l.Sealed != "" }

// Resealed reports whether a change gives the lease another sealed credential. Its
// key must then be the present key of the lease's generation, or [ErrOtherKey] is due.
func Resealed(from, to broker.Lease) bool { return to.Sealed != "" && to.Sealed != from.Sealed }

// MoveLease refuses a move that the state machine of leases does not have.
func MoveLease(from, to broker.LeaseState) error {
	if from != to && !from.CanMove(to) {
		return Conflict(fmt.Sprintf("a lease that is %s cannot become %s", from, to))
	}
	return nil
}

// Live counts the live leases of a principal, on a VIM and of a project.
type Live struct{ OfPrincipal, OnVIM, OfProject int }

// Within refuses one lease more than a quota allows.
func (c Live) Within(q broker.Quota, l broker.Lease) error {
	most, name := q.Of(l.Principal)
	for _, bound := range []struct {
		name, of   string
		live, most int
	}{
		{name, l.Principal, c.OfPrincipal, most},
		{"perVIM", l.VIM, c.OnVIM, q.PerVIM},
		{"perProject", l.Project, c.OfProject, q.PerProject},
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
