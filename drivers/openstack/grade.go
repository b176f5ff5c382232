package openstack

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
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

const (
	// probePrefix begins the name of an application credential that a check makes.
	probePrefix = "vimbroker-probe-"
	// probeTTL is the life of one, should the check die before it deletes it.
	probeTTL = 2 * time.Minute
)

// probe finds out whether the credential can mint, and what a lease's
// application credential may do here, by making one. It is deleted while the caller
// continues. If the process crashes before that, it expires, and the inventory finds it
// by its mark.
func (d *Driver) probe(ctx context.Context, a broker.Access, s *session, found *broker.Cloud) error {
	roles, err := s.subset("")
	if err != nil { // only an administrator
		if roles, err = s.subset(admin); err != nil {
			return err
		}
	}
	made, err := s.create(ctx, request{
		name: probePrefix + uuid.NewString(), mark: mark{vim: a.VIM, issued: d.now()}, roles: roles, expires: d.now().Add(probeTTL),
	})
	if errors.Is(err, broker.ErrForbidden) {
		found.Leases = broker.CredentialProjectToken
		if a.Credential.Kind == broker.CredentialApplicationCredential {
			return s.explore(ctx, found)
		}
		return nil
	}
	if err != nil {
		return err
	}
	failpoint.At("openstack.check.probed")
	defer d.probes.Go(func() { d.removeProbe(context.WithoutCancel(ctx), s, made.ID) })
	found.Leases = broker.CredentialApplicationCredential
	return try(ctx, a, credentialOf(made, s.user.ID), found)
}

// removeProbe deletes a probe that has been tried. The inventory deletes a probe that
// removeProbe cannot.
func (d *Driver) removeProbe(ctx context.Context, s *session, id string) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := s.remove(ctx, s.user.ID, id); err != nil {
		d.log.WarnContext(ctx, "a probe is left for the inventory", "probe", id, "error", err)
	}
}

// sweepProbes deletes those of all that checks which crashed have left: Keystone
// keeps an application credential's row when it has expired.
func (d *Driver) sweepProbes(ctx context.Context, s *session, all []applicationcredentials.ApplicationCredential) error {
	for _, c := range all {
		m, ours := readMark(c.Description)
		if !ours || m.lease != "" || !strings.HasPrefix(c.Name, probePrefix) || c.ExpiresAt.IsZero() || c.ExpiresAt.After(d.now()) {
			continue
		}
		if err := s.remove(ctx, s.user.ID, c.ID); err != nil {
			return err
		}
	}
	return nil
}

// credentialOf is the application credential as a lease's.
func credentialOf(c *applicationcredentials.ApplicationCredential, user string) broker.Credential {
	return broker.Credential{
		Kind: broker.CredentialApplicationCredential, UserID: user,
		ApplicationCredentialID: c.ID, ApplicationCredentialSecret: secret.NewText(c.Secret),
	}
}
