package rows

import (
	"fmt"

	"github.com/vimbroker/vimbroker/broker"
)

type lease = broker.Lease

// LeaseColumns are the columns of the table leases.
var LeaseColumns = ColumnsOf[lease](`
	id! vim! vim_name! vim_type! vim_project! vim_generation! project! principal! created_at! operation! state reason
	role namespaces format purpose issued_at expires_at max_expires_at! renewed_at renewal_begun credential_kind
	unlisted derived revocable max_revocation_lag revoked_at confirmed_dead_at handle sealed sealed_key attempts
	next_attempt_at last_error revision idempotency_key request_digest rules! cluster_wide! grade! grade_reasons!
	grant_digest! epoch! uid credential_id credential_ends_at stood left_behind holder_roles instance! for_whom!=For
	planned! token_ttl! login! door! secret_sha256`)

// LeaseOrder is the order of a list of leases.
var LeaseOrder = OrderOf[lease]("leases", "created_at id", true)

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
