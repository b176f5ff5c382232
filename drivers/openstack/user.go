package openstack

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/users"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

// passwordPrefix gives every password of the broker's an upper and a lower case letter, a digit
// and a special character, as the rules of some clouds require.
const passwordPrefix = "Vb1_"

// never is when a password ends that the cloud sets no end for.
var never = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// keeper is a session on the project's domain, where the registered user may keep users.
type keeper struct {
	*session
	// of is the session on the project.
	of *session
}

// keep calls do with sessions on the project's domain and on the project. The one on the domain is
// logged in for each call.
func (d *Driver) keep(ctx context.Context, a broker.Access, do func(keeper) error) error {
	if a.Credential.Kind != broker.CredentialPassword {
		return &broker.Error{
			Kind: broker.ErrUnsupported, Field: "credential", Detail: "an application credential keeps no users",
			Remedy: "register the VIM with user name and password",
		}
	}
	return d.with(ctx, a, func(s *session) error {
		has, err := s.hasDomain(ctx)
		if err != nil {
			return err
		}
		if !has {
			return &broker.Error{
				Kind: broker.ErrForbidden, Field: "credential",
				Detail: "the registered user has no role on the domain of the project, and may keep no users there",
				Remedy: "give it role manager there (openstack role add --user USER --domain DOMAIN manager), on a Keystone of 2024.2 or later",
			}
		}
		k, err := d.loginDomain(ctx, a, s)
		if err != nil {
			return err
		}
		defer k.close()
		return do(keeper{session: k, of: s})
	})
}

// hasDomain reports whether the user has a role on the project's domain.
func (s *session) hasDomain(ctx context.Context) (bool, error) {
	domains, err := listOf[tokens.Domain](ctx, s, "auth/domains", "domains", "the user's domains", "")
	if errors.Is(err, broker.ErrForbidden) { // a cloud that tells nobody: leases of others are none the worse
		return false, nil
	}
	return slices.ContainsFunc(domains, func(d tokens.Domain) bool { return d.ID == s.project.Domain.ID }), err
}

// loginDomain opens a session of the same user on the project's domain.
func (d *Driver) loginDomain(ctx context.Context, a broker.Access, s *session) (*session, error) {
	c, err := dial(a.Target, a.Egress)
	if err != nil {
		return nil, err
	}
	o := options(a.Target.Scope, a.Credential, broker.Cloud{UserID: s.user.ID})
	o.Scope = tokens.Scope{DomainID: s.project.Domain.ID}
	k, err := c.login(ctx, o)
	if err == nil && (k.user.ID != s.user.ID || k.domain.ID != s.project.Domain.ID) {
		err = notKeystone(0)
	}
	if err != nil {
		c.close()
		return nil, fault(err, "log in to", "the project's domain")
	}
	return k, nil
}

// leasedUser is a user of the broker's in Keystone's form.
type leasedUser struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	DomainID    string `json:"domain_id"`
	Description string `json:"description"`
	Enabled     bool   `json:"enabled"`
	Ends        string `json:"password_expires_at"`
}

// list returns the users of the domain that a query selects.
func (k keeper) list(ctx context.Context, query string) ([]leasedUser, error) {
	all, err := listOf[leasedUser](ctx, k.session, "users?domain_id="+url.QueryEscape(k.domain.ID)+"&"+query, "users",
		"users of the project's domain", "raise list_limit of [identity] in the cloud's Keystone")
	switch {
	case errors.Is(err, broker.ErrForbidden):
		return nil, mayNotKeep()
	case slices.ContainsFunc(all, func(u leasedUser) bool { return !isID(u.ID) }):
		return nil, notKeystone(0)
	}
	return all, err
}

// named returns the users of that name which carry this VIM's id, and whether the name is somebody else's.
func (k keeper) named(ctx context.Context, vim, handle string) (ours []leasedUser, foreign bool, err error) {
	all, err := k.list(ctx, "name="+url.QueryEscape(handle)) // from a Keystone that selects none: all
	ours, foreign = marked(all, vim, func(u leasedUser) (string, bool) { return u.Description, u.Name == handle })
	return ours, foreign, err
}

// issueUser makes a user of the lease's own, with roles on the project and nowhere else.
func (d *Driver) issueUser(ctx context.Context, a broker.Access, found broker.Cloud, g broker.Grant) (m broker.Minted, err error) {
	if g.Purpose == Read {
		return m, noRules("a lease is a user here, which no access rules go with")
	}
	err = d.keep(ctx, a, func(k keeper) error {
		if err := hold(k.of.catalog, found.Catalog); err != nil {
			return err
		}
		roles, err := k.of.subset(g.Role)
		if err != nil {
			return err
		}
		// One that is there is of an attempt that died: its password is lost.
		ours, others, err := k.named(ctx, a.VIM, g.Handle)
		if err != nil {
			return err
		}
		if others {
			return foreign("user", g.Handle)
		}
		for _, u := range ours {
			if err := k.remove(ctx, u.ID, g.Handle); err != nil {
				return err
			}
		}
		password, _ := policy.NewSecret(passwordPrefix)
		u, err := k.create(ctx, g.Handle, mark{vim: a.VIM, lease: g.Lease, issued: d.now()}, password)
		if err != nil {
			return err
		}
		failpoint.At("openstack.user.created")
		for _, role := range roles {
			if err := k.give(ctx, u.ID, role); err != nil {
				return err
			}
			failpoint.At("openstack.user.granted")
		}
		m = userMinted(u, password)
		return nil
	})
	return m, err
}

func userMinted(u leasedUser, password string) broker.Minted {
	ends := moment(u.Ends)
	if ends.IsZero() {
		ends = never
	}
	return broker.Minted{
		Credential: broker.Credential{Kind: broker.CredentialUser, Username: u.Name, UserID: u.ID, Password: secret.NewText(password)},
		UID:        u.ID, CredentialID: u.ID, ExpiresAt: ends, MaxRevocationLag: maxRevocationLag,
	}
}

// create makes a user that cannot change its password, so that the lease stays what its row says.
func (k keeper) create(ctx context.Context, name string, m mark, password string) (leasedUser, error) {
	enabled := true
	r := users.Create(ctx, k.identity, users.CreateOpts{
		Name: name, DomainID: k.domain.ID, DefaultProjectID: k.of.project.ID, Description: m.String(), Enabled: &enabled, Password: password,
		Options: map[users.Option]any{"lock_password": true, users.IgnoreChangePasswordUponFirstUse: true},
	})
	if said(r.Err, http.StatusForbidden) {
		return leasedUser{}, mayNotKeep()
	}
	if r.Err != nil {
		return leasedUser{}, fault(r.Err, "create", "users in the project's domain")
	}
	var body struct {
		User leasedUser `json:"user"`
	}
	if err := r.ExtractInto(&body); err != nil {
		return leasedUser{}, notKeystone(0)
	}
	if u := body.User; !isID(u.ID) || u.Name != name || u.DomainID != k.domain.ID || !u.Enabled {
		return leasedUser{}, notKeystone(0)
	}
	return body.User, nil
}

func mayNotKeep() error {
	return &broker.Error{
		Kind: broker.ErrForbidden, Field: "credential", Detail: "the registered user may not keep users in the project's domain (403)",
		Remedy: "give it role manager on the domain (openstack role add --user USER --domain DOMAIN manager), on a Keystone of 2024.2 or later",
	}
}

func (k keeper) give(ctx context.Context, user string, role tokens.Role) error {
	_, err := k.identity.Put(ctx, k.identity.ServiceURL("projects", k.of.project.ID, "users", user, "roles", role.ID), nil, nil,
		&gophercloud.RequestOpts{OkCodes: []int{http.StatusNoContent}})
	if said(err, http.StatusForbidden) {
		return &broker.Error{
			Kind: broker.ErrForbidden, Field: "role", Detail: "the registered user may not give role " + role.Name + " to another user (403)",
			Remedy: "name roles that it may give: those of Keystone's rule domain_managed_target_role, which are manager, member and reader " +
				"unless the cloud says otherwise",
		}
	}
	return fault(err, "give", "a role on the project")
}

// remove deletes a user. Keystone may refuse to say of one that is gone to who keeps only a
// domain: then the domain's users are asked for, and it itself, whatever its name is by now.
func (k keeper) remove(ctx context.Context, id, name string) error {
	_, err := k.identity.Delete(ctx, k.identity.ServiceURL("users", id), &gophercloud.RequestOpts{OkCodes: []int{http.StatusNoContent}})
	switch {
	case said(err, http.StatusNotFound):
		_, err = k.list(ctx, "name="+url.QueryEscape(name)) // so says no session that has ended itself
		return err
	case said(err, http.StatusForbidden):
		if _, listed := k.list(ctx, "name="+url.QueryEscape(name)); listed != nil {
			return listed
		}
		var there struct{}
		shown := k.get(ctx, "users/"+url.PathEscape(id), &there)
		if said(shown, http.StatusForbidden) || said(shown, http.StatusNotFound) {
			return nil // a caller who may list users is shown those that exist
		}
		if shown != nil {
			return fault(shown, "show", "users of the project's domain")
		}
	}
	return fault(err, "delete", "users of the project's domain")
}

// removeUser deletes the user of a lease: with it its tokens, application credentials, trusts and
// EC2 credentials. It is looked for by its name, and by its id where that is known.
func (d *Driver) removeUser(ctx context.Context, a broker.Access, i broker.Issued) error {
	return d.keep(ctx, a, func(k keeper) error {
		ours, others, err := k.named(ctx, a.VIM, i.Handle)
		if err != nil {
			return err
		}
		if others {
			d.log.WarnContext(ctx, "a user with a lease's name is not ours, left alone", "vim", a.VIM, "name", i.Handle)
		}
		if i.UID != "" && !slices.ContainsFunc(ours, func(u leasedUser) bool { return u.ID == i.UID }) {
			ours = append(ours, leasedUser{ID: i.UID}) // its name or description is another by now, or it is gone
		}
		for _, u := range ours {
			if err := k.remove(ctx, u.ID, i.Handle); err != nil {
				return err
			}
			failpoint.At("openstack.user.deleted")
		}
		return nil
	})
}

// renewUser gives the lease's user another password, which ends the one before and its tokens.
func (d *Driver) renewUser(ctx context.Context, a broker.Access, g broker.Grant) (m broker.Minted, err error) {
	err = d.keep(ctx, a, func(k keeper) error {
		ours, others, err := k.named(ctx, a.VIM, g.Handle)
		switch {
		case err != nil:
			return err
		case others:
			return foreign("user", g.Handle)
		case len(ours) != 1:
			return &broker.Error{Kind: broker.ErrNotFound, Detail: "the lease's user is gone from the cloud", Remedy: "issue a new lease"}
		}
		password, _ := policy.NewSecret(passwordPrefix)
		r := users.Update(ctx, k.identity, ours[0].ID, users.UpdateOpts{Password: password})
		if r.Err != nil {
			return fault(r.Err, "change", "the password of the lease's user")
		}
		var body struct {
			User leasedUser `json:"user"`
		}
		if err := r.ExtractInto(&body); err != nil || body.User.ID != ours[0].ID {
			return notKeystone(0)
		}
		failpoint.At("openstack.user.renewed")
		body.User.Name = g.Handle
		m = userMinted(body.User, password)
		return nil
	})
	return m, err
}

// usersOf are the leases of a VIM that are users. If none is known to be alive, and the
// registered user keeps no users, there are none.
func (d *Driver) usersOf(ctx context.Context, a broker.Access, s *session) ([]broker.Upstream, error) {
	if !a.Users {
		if a.Credential.Kind != broker.CredentialPassword {
			return nil, nil
		}
		if has, err := s.hasDomain(ctx); err != nil || !has {
			return nil, err
		}
	}
	var found []broker.Upstream
	err := d.keep(ctx, a, func(k keeper) error {
		all, err := k.list(ctx, "name__startswith=lease-")
		if !a.Users && errors.Is(err, broker.ErrForbidden) {
			return nil // it has another role there, which keeps no users
		}
		if err != nil {
			return err
		}
		for _, u := range all {
			if m, ours := readMark(u.Description); ours && m.vim == a.VIM && m.lease != "" {
				found = append(found, broker.Upstream{Handle: u.Name, Lease: m.lease, CreatedAt: m.issued, User: true})
			}
		}
		return nil
	})
	return found, err
}
