package openstack

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"

	"github.com/vimbroker/vimbroker/broker"
)

// Check implements [broker.Driver]. The identity is the project's id. A new
// generation is probed once: an application credential of two minutes is made,
// tried and deleted. Later checks log in and compare.
func (d *Driver) Check(ctx context.Context, a broker.Access) (broker.Report, error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	version, err := version(ctx, a)
	if err != nil {
		return broker.Report{}, err
	}
	s, err := d.login(ctx, a)
	if err != nil {
		return broker.Report{}, err
	}
	defer s.close()
	found, err := recall(a.Discovered)
	if err != nil {
		return broker.Report{}, err
	}
	if err := hold(s.catalog, found.Catalog, a.Egress); err != nil {
		return broker.Report{}, err
	}
	r := broker.Report{Identity: s.identityOf(), Version: version, CanMint: true, Discovered: a.Discovered}
	// Of the application credential itself Keystone tells its owner when it ends.
	own, known, err := s.own(ctx, a.Credential)
	if err != nil {
		return broker.Report{}, err
	}
	if known {
		r.CredentialExpiresAt = own.ExpiresAt.UTC()
	}
	if a.Discovered.Cloud != nil {
		return r, nil
	}
	found = s.discovered()
	regions, err := s.regions(ctx)
	if err != nil {
		return broker.Report{}, err
	}
	if found.AccessRules, err = s.knowsAccessRules(ctx); err != nil {
		return broker.Report{}, err
	}
	if known && !own.Unrestricted {
		found.Leases = broker.ProjectToken
		found.Trusts, err = s.mayTrust(ctx)
	} else {
		err = d.probe(ctx, a, s, &found)
	}
	if err != nil {
		return broker.Report{}, err
	}
	r.Discovered, err = fit(broker.Discovered{Regions: regions, Cloud: &found})
	return r, err
}

// discovered is what the session's token says.
func (s *session) discovered() broker.Cloud {
	found := broker.Cloud{
		UserID: s.user.ID, UserDomainID: s.user.Domain.ID,
		ProjectID: s.project.ID, ProjectName: s.project.Name,
		ProjectDomainID: s.project.Domain.ID, ProjectDomainName: s.project.Domain.Name,
		Catalog: s.catalog,
	}
	for _, r := range s.roles {
		found.Roles = append(found.Roles, r.Name)
	}
	slices.Sort(found.Roles)
	return found
}

// version asks what answers at the endpoint whether it is Keystone, before a
// credential is sent there.
func version(ctx context.Context, a broker.Access) (string, error) {
	c, err := dial(a.Target, a.Egress)
	if err != nil {
		return "", err
	}
	defer c.close()
	var body struct {
		Version struct {
			ID string `json:"id"`
		} `json:"version"`
	}
	_, err = c.identity.Get(ctx, c.identity.ServiceURL(""), &body, &gophercloud.RequestOpts{OkCodes: []int{http.StatusOK}})
	if said(err, http.StatusNotFound) {
		return "", notKeystone(http.StatusNotFound)
	}
	if err != nil {
		return "", fault(err, "get", "the API's version")
	}
	if v := body.Version.ID; strings.HasPrefix(v, "v3") && isID(v) {
		return v, nil
	}
	return "", notKeystone(0)
}

// regions lists the cloud's regions: Keystone's own list, or where that is closed
// to the credential, those of the catalog.
func (s *session) regions(ctx context.Context) ([]string, error) {
	var body struct {
		Regions []struct {
			ID string `json:"id"`
		} `json:"regions"`
	}
	regions := []string{}
	err := s.get(ctx, "regions", &body)
	switch {
	case said(err, http.StatusForbidden):
		for _, e := range s.catalog {
			if e.Region != "" {
				regions = append(regions, e.Region)
			}
		}
	case err != nil:
		return nil, fault(err, "list", "regions")
	}
	for _, r := range body.Regions {
		if !isName(r.ID) {
			return nil, notKeystone(0)
		}
		regions = append(regions, r.ID)
	}
	slices.Sort(regions)
	return slices.Compact(regions), nil
}

// knowsAccessRules reports whether Keystone has access rules (Train and later).
func (s *session) knowsAccessRules(ctx context.Context) (bool, error) {
	var body struct{}
	err := s.get(ctx, "users/"+s.user.ID+"/access_rules", &body)
	if said(err, http.StatusNotFound) || said(err, http.StatusForbidden) {
		return false, nil
	}
	return err == nil, fault(err, "list", "access rules")
}

// own returns the application credential that is registered, where there is one.
func (s *session) own(ctx context.Context, c broker.Credential) (_ applicationcredentials.ApplicationCredential, known bool, _ error) {
	var none applicationcredentials.ApplicationCredential
	if c.Kind != broker.ApplicationCredential {
		return none, false, nil
	}
	own, err := applicationcredentials.Get(ctx, s.identity, s.user.ID, c.ApplicationCredentialID).Extract()
	switch {
	case err != nil:
		return none, false, fault(err, "get", "the registered application credential")
	case own == nil || own.ID != c.ApplicationCredentialID:
		return none, false, notKeystone(0)
	}
	return *own, true, nil
}

// mayTrust finds out whether the session's token may make trusts, by asking for
// one whose trustee does not exist: who may not is refused (403) before anyone
// looks for the trustee, and who may is told that there is none (404).
func (s *session) mayTrust(ctx context.Context) (bool, error) {
	const nobody = "00000000000000000000000000000000"
	roles := []map[string]string{}
	for _, r := range s.roles {
		roles = append(roles, map[string]string{"id": r.ID})
	}
	body := map[string]any{"trust": map[string]any{
		"trustor_user_id": s.user.ID, "trustee_user_id": nobody, "project_id": s.project.ID,
		"impersonation": false, "roles": roles,
	}}
	_, err := s.identity.Post(ctx, s.identity.ServiceURL("OS-TRUST", "trusts"), body, nil, nil)
	switch {
	case said(err, http.StatusNotFound):
		return true, nil
	case said(err, http.StatusForbidden):
		return false, nil
	case err == nil:
		return false, notKeystone(0)
	}
	return false, fault(err, "create", "trusts")
}
