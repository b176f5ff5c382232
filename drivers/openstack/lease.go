package openstack

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
)

// maxRevocationLag is the time for which a service may honour a token that Keystone has
// revoked: the life of keystonemiddleware's cache, unless the cloud set another.
const maxRevocationLag = 300 * time.Second

// Issue implements [broker.Driver]. g is what Prepare returned. It makes an application
// credential: two requests in parallel, after a login if no session is kept. If the registered
// credential may not make any, and for [Heat] if the cloud lets no application credential make
// trusts, the lease is a project token instead, which always takes a login.
func (d *Driver) Issue(ctx context.Context, a broker.Access, g broker.Grant) (m broker.Minted, err error) {
	if err := checkTTL(g.TTL); err != nil {
		return broker.Minted{}, err
	}
	ctx, cancel := bound(ctx)
	defer cancel()
	found, err := recall(a.Discovered)
	if err != nil {
		return broker.Minted{}, err
	}
	if g.User {
		return d.issueUser(ctx, a, found, g)
	}
	if leasesToken(found, g) {
		return d.handOut(ctx, a, found, g)
	}
	err = d.with(ctx, a, func(s *session) error {
		if err := hold(s.catalog, found.Catalog); err != nil {
			return err
		}
		var (
			before  broker.Minted
			looking sync.WaitGroup
		)
		// The lease is not handed out yet: the existing objects can be listed while it is made.
		looking.Go(func() { s.look(ctx, gradeOf(found, a.Credential.Kind, g), &before) })
		m, err = d.mintFirst(ctx, a, s, g)
		looking.Wait()
		m.Stood, m.Unseen = before.Stood, before.Unseen
		return err
	})
	return m, err
}

// mintFirst makes a lease's first application credential.
func (d *Driver) mintFirst(ctx context.Context, a broker.Access, s *session, g broker.Grant) (broker.Minted, error) {
	m, err := d.mint(ctx, a, s, g, 1)
	if !errors.Is(err, broker.ErrConflict) {
		return m, err
	}
	// The name is taken: by an attempt that crashed, whose secret is lost, or by a stranger.
	all, err := s.list(ctx, s.user.ID, g.Handle)
	if err != nil {
		return broker.Minted{}, err
	}
	ours, others := byHandle(all, a.VIM, g.Handle)
	if others {
		return broker.Minted{}, foreign("application credential", g.Handle)
	}
	for _, c := range ours {
		if err := s.remove(ctx, s.user.ID, c.ID); err != nil {
			return broker.Minted{}, err
		}
	}
	return d.mint(ctx, a, s, g, 1)
}

// Renew implements [broker.Driver]. An application credential cannot be made to
// live longer: another is made beside it, and both end with the lease. A project
// token cannot be renewed ([broker.ErrUnsupported]): the one before could not be
// taken back any more.
func (d *Driver) Renew(ctx context.Context, a broker.Access, g broker.Grant) (m broker.Minted, err error) {
	if err := checkTTL(g.TTL); err != nil {
		return broker.Minted{}, err
	}
	ctx, cancel := bound(ctx)
	defer cancel()
	found, err := recall(a.Discovered)
	if err != nil {
		return broker.Minted{}, err
	}
	if g.User {
		return d.renewUser(ctx, a, g)
	}
	if leasesToken(found, g) {
		return broker.Minted{}, &broker.Error{
			Kind: broker.ErrUnsupported, Detail: "the lease is a project token, whose life is the cloud's",
			Remedy: "issue another lease",
		}
	}
	err = d.with(ctx, a, func(s *session) error {
		if err := hold(s.catalog, found.Catalog); err != nil {
			return err
		}
		m, err = d.mintNext(ctx, a, s, g)
		return err
	})
	return m, err
}

// mintNext makes one more application credential of a lease.
func (d *Driver) mintNext(ctx context.Context, a broker.Access, s *session, g broker.Grant) (broker.Minted, error) {
	owner, all, err := s.owned(ctx, a, g.Handle)
	if err != nil {
		return broker.Minted{}, err
	}
	ours, others := byHandle(all, a.VIM, g.Handle)
	switch {
	case others:
		return broker.Minted{}, foreign("application credential", g.Handle)
	case len(ours) == 0:
		return broker.Minted{}, &broker.Error{
			Kind: broker.ErrNotFound, Detail: "the lease's application credential is gone from the cloud",
			Remedy: "issue a new lease",
		}
	case owner != s.user.ID:
		return broker.Minted{}, &broker.Error{
			Kind: broker.ErrForbidden, Detail: "the lease's application credential belongs to the user that was registered before, and only " +
				"that user can make another",
			Remedy: "issue a new lease",
		}
	}
	last := 1
	for _, c := range ours {
		_, n := number(c.Name)
		last = max(last, n)
	}
	return d.mint(ctx, a, s, g, last+1)
}

// leasesToken reports whether a lease is a project token here. Before the first check
// an application credential is tried.
func leasesToken(found broker.Cloud, g broker.Grant) bool {
	return found.Leases == broker.CredentialProjectToken || found.Leases != "" && g.Purpose == Heat && !found.Trusts
}

// handOut logs in for a project token, which is the lease's credential. It may outlive
// the lease: the broker revokes it then.
func (d *Driver) handOut(ctx context.Context, a broker.Access, found broker.Cloud, g broker.Grant) (broker.Minted, error) {
	if err := noToken(found, a.Credential.Kind, g); err != nil {
		return broker.Minted{}, err
	}
	s, err := d.login(ctx, a)
	if err != nil {
		return broker.Minted{}, err
	}
	defer s.close()
	if err := hold(s.catalog, found.Catalog); err != nil {
		return broker.Minted{}, err
	}
	if err := s.requireAllRoles(g.Role); err != nil {
		return broker.Minted{}, err
	}
	m := broker.Minted{
		Credential: s.projectToken(), Unlisted: true,
		ExpiresAt: s.expires, MaxRevocationLag: maxRevocationLag,
	}
	s.look(ctx, gradeOf(found, a.Credential.Kind, g), &m)
	return m, nil
}

// noToken says why no project token can be such a lease, whatever its roles.
func noToken(found broker.Cloud, registered broker.CredentialKind, g broker.Grant) error {
	switch {
	case g.Purpose == Heat && !found.Trusts && registered == broker.CredentialApplicationCredential:
		if unclear := found.Openings[openTrusts]; unclear != "" {
			return &broker.Error{
				Kind: broker.ErrUnsupported, Field: "purpose",
				Detail: "it is not known whether this cloud lets application credentials make the trusts that Heat needs (" + unclear + ")",
				Remedy: "once Keystone answers replace the VIM's credential, which has it asked again, or register the VIM with user name and password",
			}
		}
		return &broker.Error{
			Kind: broker.ErrUnsupported, Field: "purpose",
			Detail: "this cloud lets no application credential make the trusts that Heat needs, and the VIM is registered with one",
			Remedy: "register the VIM with user name and password",
		}
	case g.Purpose == Read:
		return noRules("a lease is a project token here, which no access rules go with")
	}
	return nil
}

// Foresee implements [broker.Foreseer]: a project token cannot be such a lease, by the roles that the
// registered user had when it was registered.
func (d *Driver) Foresee(_ context.Context, a broker.Access, g broker.Grant) error {
	found, err := recall(a.Discovered)
	if err != nil || g.User || !leasesToken(found, g) {
		return err
	}
	if err := noToken(found, a.Credential.Kind, g); err != nil {
		return err
	}
	var then session
	for _, name := range found.Roles {
		then.roles = append(then.roles, tokens.Role{Name: name})
	}
	return then.requireAllRoles(g.Role)
}

// mint makes a lease's nth application credential.
func (d *Driver) mint(ctx context.Context, a broker.Access, s *session, g broker.Grant, n int) (broker.Minted, error) {
	roles, err := s.subset(g.Role)
	if err != nil {
		return broker.Minted{}, err
	}
	rules, err := s.rules(g.Purpose, roles)
	if err != nil {
		return broker.Minted{}, err
	}
	c, err := s.create(ctx, request{
		name: numbered(g.Handle, n), mark: mark{vim: a.VIM, lease: g.Lease, issued: d.now()},
		roles: roles, rules: rules, expires: d.now().Add(g.TTL),
	})
	if err != nil {
		return broker.Minted{}, err
	}
	failpoint.At("openstack.issue.minted")
	return broker.Minted{
		Credential: credentialOf(c, s.user.ID), CredentialID: c.ID,
		ExpiresAt: c.ExpiresAt.UTC(), MaxRevocationLag: maxRevocationLag,
	}, nil
}
