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
	"github.com/vimbroker/vimbroker/broker/remote"
)

// made is an application credential as Keystone shows it.
type made struct {
	applicationcredentials.ApplicationCredential
}

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
func (s *session) create(ctx context.Context, r request) (made, error) {
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
		return made{}, fault(err, "create", "application credentials")
	}
	if c == nil || !isID(c.ID) {
		return made{}, notKeystone(0)
	}
	if why := s.wrong(r, *c); why != nil {
		_ = s.remove(context.WithoutCancel(ctx), s.user.ID, c.ID) // whatever becomes of it, it is not handed out
		return made{}, why
	}
	return made{*c}, nil
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
	asked := func(name string) bool {
		return slices.ContainsFunc(r.roles, func(role tokens.Role) bool { return role.Name == name })
	}
	for _, got := range c.Roles {
		if got.Name == admin && !asked(admin) {
			return &broker.Error{
				Kind: broker.ErrForbidden, Field: "role",
				Detail: "the cloud adds role admin to the roles that were asked for, because one of them implies it",
				Remedy: "ask for other roles, or for admin by name",
			}
		}
	}
	return nil
}

// list returns the application credentials of a user whose names begin like that;
// a Keystone that cannot select them returns others too. No link in the answer is
// followed: it would take the token to an address of the remote side's choice.
func (s *session) list(ctx context.Context, user, beginning string) ([]applicationcredentials.ApplicationCredential, error) {
	var body struct {
		Items []applicationcredentials.ApplicationCredential `json:"application_credentials"`
		Links struct {
			Next string `json:"next"`
		} `json:"links"`
		Truncated bool `json:"truncated"`
	}
	path := "users/" + user + "/application_credentials"
	if beginning != "" {
		path += "?name__startswith=" + url.QueryEscape(beginning)
	}
	if err := s.get(remote.Expect(ctx, remote.List), path, &body); err != nil {
		return nil, fault(err, "list", "application credentials")
	}
	if body.Truncated || body.Links.Next != "" {
		return nil, &broker.Error{
			Kind: broker.ErrUnsupported, Detail: "the cloud does not list all application credentials of the user",
			Remedy: "raise list_limit of [application_credential] in the cloud's Keystone, or register a user of its own",
		}
	}
	if body.Items == nil {
		return nil, notKeystone(0)
	}
	for _, c := range body.Items {
		if !isID(c.ID) {
			return nil, notKeystone(0)
		}
	}
	return body.Items, nil
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
	for _, c := range all {
		name, _ := number(c.Name)
		if name != handle {
			continue
		}
		if m, ok := readMark(c.Description); ok && m.vim == vim {
			ours = append(ours, c)
		} else {
			foreign = true
		}
	}
	return ours, foreign
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
			rules = append(rules, applicationcredentials.AccessRule{Service: Network, Method: method, Path: "/v2.0/**"})
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
	if len(asked) != len(got) {
		return false
	}
	for _, r := range got {
		r.ID = ""
		if !slices.Contains(asked, r) {
			return false
		}
	}
	return true
}
