package openstack

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/vimbroker/vimbroker/broker"
)

// request is the request for an application credential.
type request struct {
	name    string
	mark    mark
	roles   []tokens.Role
	rules   []applicationcredentials.AccessRule
	expires time.Time
}

// create makes an application credential for the session's user. An application
// credential that differs from the request is deleted again, and is an error. A name
// that is taken is [broker.ErrConflict].
func (s *session) create(ctx context.Context, r request) (*applicationcredentials.ApplicationCredential, error) {
	// In UTC: gophercloud writes the wall clock and no zone, and Keystone reads UTC.
	expires := r.expires.UTC().Truncate(time.Second)
	opts := applicationcredentials.CreateOpts{
		Name: r.name, Description: r.mark.String(), Unrestricted: false, AccessRules: r.rules, ExpiresAt: &expires,
	}
	for _, role := range r.roles {
		opts.Roles = append(opts.Roles, applicationcredentials.Role{ID: role.ID})
	}
	c, err := applicationcredentials.Create(ctx, s.identity, s.user.ID, opts).Extract()
	if err != nil {
		return nil, fault(err, "create", "application credentials")
	}
	if c == nil || !isID(c.ID) {
		return nil, notKeystone(0)
	}
	if why := s.wrong(r, *c); why != nil {
		_ = s.remove(context.WithoutCancel(ctx), s.user.ID, c.ID) // whatever becomes of it, it is not handed out
		return nil, why
	}
	return c, nil
}

// wrong compares the application credential that Keystone made with the request.
func (s *session) wrong(r request, c applicationcredentials.ApplicationCredential) error {
	c.ExpiresAt = c.ExpiresAt.UTC()
	switch {
	case c.Name != r.name, c.Secret == "", !isToken(c.Secret), c.ProjectID != s.project.ID,
		c.ExpiresAt.IsZero(), c.ExpiresAt.After(r.expires.Add(time.Second)):
		return notKeystone(0)
	case len(r.rules) > 0 && len(c.AccessRules) == 0:
		return noRules("the cloud's Keystone knows no access rules")
	case !sameRules(r.rules, c.AccessRules):
		return notKeystone(0)
	case c.Unrestricted:
		return &broker.Error{
			Kind: broker.ErrForbidden, Detail: "the cloud makes application credentials unrestricted although that was not asked for",
			Remedy: "correct the cloud's configuration",
		}
	}
	asked := slices.ContainsFunc(r.roles, func(role tokens.Role) bool { return role.Name == admin })
	got := slices.ContainsFunc(c.Roles, func(role applicationcredentials.Role) bool { return role.Name == admin })
	if got && !asked {
		return &broker.Error{
			Kind: broker.ErrForbidden, Field: "role",
			Detail: "the cloud adds role admin to the roles that were asked for, because one of them implies it",
			Remedy: "ask for other roles, or for admin by name",
		}
	}
	return nil
}

// list returns the application credentials of a user whose names begin like that;
// a Keystone that cannot select them returns others too.
func (s *session) list(ctx context.Context, user, beginning string) ([]applicationcredentials.ApplicationCredential, error) {
	path := "users/" + user + "/application_credentials"
	if beginning != "" {
		path += "?name__startswith=" + url.QueryEscape(beginning)
	}
	all, err := listOf[applicationcredentials.ApplicationCredential](ctx, s, path, "application_credentials", "application credentials",
		"raise list_limit of [application_credential] in the cloud's Keystone, or register a user of its own")
	if slices.ContainsFunc(all, func(c applicationcredentials.ApplicationCredential) bool { return !isID(c.ID) }) {
		return nil, notKeystone(0)
	}
	return all, err
}

// remove deletes an application credential. That it is gone is success, said to a
// session that is not gone itself: where it was logged in with an application
// credential that has been deleted since, Keystone answers 404 to everything.
func (s *session) remove(ctx context.Context, user, id string) error {
	_, err := s.identity.Delete(ctx, s.identity.ServiceURL("users", user, "application_credentials", id),
		&gophercloud.RequestOpts{OkCodes: []int{http.StatusNoContent}})
	if said(err, http.StatusNotFound) {
		_, err = s.list(ctx, user, id)
		return err
	}
	return fault(err, "delete", "application credentials")
}

// byHandle returns the application credentials of one lease, and whether the handle
// is somebody else's.
func byHandle(
	all []applicationcredentials.ApplicationCredential, vim, handle string,
) (ours []applicationcredentials.ApplicationCredential, foreign bool) {
	return marked(all, vim, func(c applicationcredentials.ApplicationCredential) (string, bool) {
		name, _ := number(c.Name)
		return c.Description, name == handle
	})
}

// rules are the Keystone access rules that limit a lease's application credential
// to the lease's purpose: for [Read] the methods GET and HEAD, on every path of
// every service in the catalog; for all others nothing but its roles.
//
// They are held by the services and not by Keystone. One whose operator has set
// service_type for keystonemiddleware obeys; one that has not refuses tokens with
// rules altogether (401). Keystone's own API obeys none (seen on Zed), so roles
// which may write there are refused.
//
// No lease is wider than its purpose: if rules are not available the lease is
// refused.
func (s *session) rules(purpose string, roles []tokens.Role) ([]applicationcredentials.AccessRule, error) {
	var rules []applicationcredentials.AccessRule
	switch purpose {
	case Network:
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
			rules = append(rules, applicationcredentials.AccessRule{Service: Network, Method: method, Path: "/**"})
		}
		return rules, nil
	case Read:
	default:
		return nil, nil
	}
	for _, r := range roles {
		if r.Name == admin || r.Name == "manager" {
			return nil, &broker.Error{
				Kind: broker.ErrInvalid, Field: "role",
				Detail: "names " + r.Name + ", which may write at Keystone whatever the access rules: a lease to read cannot have it",
				Remedy: "ask for other roles by name",
			}
		}
	}
	var services []string
	for _, e := range s.catalog {
		services = append(services, e.Service)
	}
	slices.Sort(services)
	for _, service := range slices.Compact(services) {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			rules = append(rules, applicationcredentials.AccessRule{Service: service, Method: method, Path: "/**"})
		}
	}
	return rules, nil
}

// noRules refuses a lease that cannot be held to its purpose.
func noRules(why string) error {
	return &broker.Error{
		Kind: broker.ErrUnsupported, Field: "purpose", Detail: "read cannot be held to: " + why,
		Remedy: "leave the purpose out, and ask for role reader",
	}
}

// sameRules reports whether Keystone made the rules that were asked for.
func sameRules(asked, got []applicationcredentials.AccessRule) bool {
	return len(asked) == len(got) && !slices.ContainsFunc(got, func(r applicationcredentials.AccessRule) bool {
		r.ID = ""
		return !slices.Contains(asked, r)
	})
}
