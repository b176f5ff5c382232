package openstack

import (
	"context"
	"slices"

	"github.com/vimbroker/vimbroker/broker"
)

var (
	_ broker.Grader   = (*Driver)(nil)
	_ broker.Foreseer = (*Driver)(nil)
)

// The ways in which the holder of a lease can go beyond it.
const (
	tokenOfPassword = "the lease is a token from the registered user's password: its holder can make application credentials, trusts, " +
		"EC2 and TOTP credentials of that user, which outlive it, and delete those of other leases"
	administers = "the lease has role admin, which may make users and grant them roles"
	adminsToken = "no VNF can run here: a lease for purpose heat is a token with every role of the registered user, and nobody asked " +
		"for admin by name: register a user without role admin"
	notKnownYet = "what application credentials may do on this cloud is not known yet"
)

// Grade implements [broker.Grader], from what the first check discovered. A lease is
// bounded if it is an application credential, or a token of one, on a cloud that has
// clearly said no to each of the [openings]. OpenStack knows no namespaces that
// would bound another.
func (d *Driver) Grade(_ context.Context, a broker.Access, g broker.Grant) (broker.Graded, error) {
	found, err := recall(a.Discovered)
	if err != nil {
		return broker.Graded{}, err
	}
	return broker.Graded{Grant: g, Grade: gradeOf(found, a.Credential.Kind, g), Reasons: beyond(found, a.Credential.Kind, g)}, nil
}

func gradeOf(found broker.Cloud, registered broker.CredentialKind, g broker.Grant) broker.Grade {
	if len(beyond(found, registered, g)) > 0 {
		return broker.GradeUnbounded
	}
	return broker.GradeBounded
}

// beyond are the ways in which a holder can go beyond the lease.
func beyond(found broker.Cloud, registered broker.CredentialKind, g broker.Grant) []string {
	var reasons []string
	switch {
	case g.User: // what it makes is deleted with it, but not what an application credential that it makes lets it become
		reasons = opened(found, openImpersonation)
	case leasesToken(found, g) && registered == broker.CredentialPassword:
		reasons = []string{tokenOfPassword}
	case found.Openings == nil:
		reasons = []string{notKnownYet}
	default:
		reasons = opened(found)
	}
	if slices.Contains(rolesOf(g.Role), admin) {
		reasons = append(reasons, administers)
	}
	return reasons
}

// warnings say which leases of a cloud are not bounded, for who registers it.
func warnings(found broker.Cloud, registered broker.CredentialKind) []string {
	var out []string
	for _, reason := range opened(found) {
		out = append(out, "every lease is unbounded: "+reason)
	}
	switch {
	case registered != broker.CredentialPassword:
	case found.Leases == broker.CredentialProjectToken:
		out = append(out, "every lease is unbounded: "+tokenOfPassword)
	case !found.Trusts:
		out = append(out, "a lease for purpose heat is unbounded: "+tokenOfPassword)
	}
	if registered == broker.CredentialPassword && leasesToken(found, broker.Grant{Purpose: Heat}) && slices.Contains(found.Roles, admin) {
		out = append(out, adminsToken)
	}
	return out
}
