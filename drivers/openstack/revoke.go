package openstack

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
)

// Revoke implements [broker.Driver]. The application credential of a lease that was
// never renewed is deleted by its id. If the id is not known, or there may be more,
// Revoke deletes all application credentials of the lease, found by its name among those
// of the user that made them; it leaves another VIM's of that name alone. A project token
// is revoked at Keystone; a token that was lost before it was recorded has no name, and
// ends at its own expiry.
func (d *Driver) Revoke(ctx context.Context, a broker.Access, i broker.Issued) error {
	ctx, cancel := bound(ctx)
	defer cancel()
	if i.Grant.User {
		return d.removeUser(ctx, a, i)
	}
	return d.with(ctx, a, func(s *session) error {
		if i.Credential.Kind == broker.CredentialProjectToken {
			return revokeToken(ctx, a, i.Credential.Token.Reveal())
		}
		return d.removeLease(ctx, a, s, i)
	})
}

func (d *Driver) removeLease(ctx context.Context, a broker.Access, s *session, i broker.Issued) error {
	if id := i.Credential.ApplicationCredentialID; id != "" && !i.Renewed && a.InsteadOf == nil {
		if err := s.remove(ctx, s.user.ID, id); err != nil {
			return err
		}
		failpoint.At("openstack.revoke.deleted")
		return nil
	}
	owner, all, err := s.owned(ctx, a, i.Handle)
	if err != nil {
		return err
	}
	ours, others := byHandle(all, a.VIM, i.Handle)
	if others {
		d.log.WarnContext(ctx, "application credential with a lease's name is not ours, left alone", "vim", a.VIM, "name", i.Handle)
	}
	for _, c := range ours {
		if err := s.remove(ctx, owner, c.ID); err != nil {
			return err
		}
		failpoint.At("openstack.revoke.deleted")
	}
	return nil
}

// owned lists the application credentials that a call is about, by how their names
// begin, and says whose they are: the session's own user's, or those of the user that
// it stands in for.
func (s *session) owned(
	ctx context.Context, a broker.Access, beginning string,
) (owner string, all []applicationcredentials.ApplicationCredential, err error) {
	if owner, err = s.ownerOf(a); err != nil {
		return "", nil, err
	}
	all, err = s.list(ctx, owner, beginning)
	if errors.Is(err, broker.ErrForbidden) && owner != s.user.ID {
		err = &broker.Error{
			Kind: broker.ErrForbidden, Detail: "the application credential belongs to the user that was registered before, whom Keystone " +
				"refuses by now, and the present one may not see it (403)",
			Remedy: "delete it on the cloud, or see that it has expired",
		}
	}
	return owner, all, err
}

// ownerOf is the user whose credentials a call is about.
func (s *session) ownerOf(a broker.Access) (string, error) {
	if a.InsteadOf == nil {
		return s.user.ID, nil
	}
	before, err := recall(*a.InsteadOf)
	return cmp.Or(before.UserID, s.user.ID), err
}

// revokeToken revokes a project token with its own right. That Keystone does not
// know it any more is success.
func revokeToken(ctx context.Context, a broker.Access, token string) error {
	c, err := dial(a.Target, a.Egress)
	if err != nil {
		return err
	}
	defer c.close()
	c.identity.SetToken(token)
	err = tokens.Revoke(ctx, c.identity, token).Err
	if said(err, http.StatusUnauthorized) || said(err, http.StatusNotFound) {
		return nil
	}
	if err != nil {
		return fault(err, "revoke", "the lease's token")
	}
	failpoint.At("openstack.revoke.token")
	return nil
}

// Dead implements [broker.Driver]. It logs in with an application credential or a password, or
// asks Keystone about a token with its own right. Only a refusal in Keystone's own
// words counts.
func (d *Driver) Dead(ctx context.Context, a broker.Access, minted broker.Credential) (bool, error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	c, err := dial(a.Target, a.Egress)
	if err != nil {
		return false, err
	}
	defer c.close()
	switch {
	case minted.Kind == broker.CredentialApplicationCredential && !minted.ApplicationCredentialSecret.Empty():
		_, err = c.login(ctx, options(broker.Scope{}, minted, broker.Cloud{}))
	case minted.Kind == broker.CredentialProjectToken && !minted.Token.Empty():
		c.identity.SetToken(minted.Token.Reveal())
		var body struct{}
		_, err = c.identity.Get(ctx, c.identity.ServiceURL("auth", "tokens")+"?nocatalog", &body, &gophercloud.RequestOpts{
			OkCodes: []int{http.StatusOK}, MoreHeaders: map[string]string{"X-Subject-Token": minted.Token.Reveal()},
		})
	case minted.Kind == broker.CredentialUser:
		_, err = c.login(ctx, unscoped{options(broker.Scope{}, minted, broker.Cloud{})})
	case !minted.Password.Empty():
		known, recalled := recall(a.Discovered)
		if recalled != nil {
			return false, recalled
		}
		_, err = c.login(ctx, unscoped{options(a.Target.Scope, minted, known)})
	default:
		return false, broker.Invalid("credential", "is empty, there is nothing to try")
	}
	if said(err, http.StatusUnauthorized) || said(err, http.StatusNotFound) {
		return true, nil
	}
	return false, fault(err, "try", "the lease's credential")
}
