package openstack

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
)

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
	return try(ctx, a, made.credential(s.user.ID), found)
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

// credential is the application credential as a lease's.
func (c made) credential(user string) broker.Credential {
	return broker.Credential{
		Kind: broker.CredentialApplicationCredential, UserID: user,
		ApplicationCredentialID: c.ID, ApplicationCredentialSecret: secret.NewText(c.Secret),
	}
}
