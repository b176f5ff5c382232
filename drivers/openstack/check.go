package openstack

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"

	"github.com/vimbroker/vimbroker/broker"
)

// Check implements [broker.Driver]. The identity is the project's id. A new
// generation is probed once: it logs in, makes an application credential of two
// minutes, logs in with that, and asks in parallel what its holder could do (see
// [openings]); it is deleted while the caller continues. Later checks log in, compare,
// and ask for the version.
func (d *Driver) Check(ctx context.Context, a broker.Access) (broker.Report, error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	found, err := recall(a.Discovered)
	if err != nil {
		return broker.Report{}, err
	}
	r := broker.Report{Version: oldestVersion, CanMint: true, Discovered: a.Discovered}
	if a.Discovered.Cloud != nil {
		if r.Version, err = version(ctx, a); err != nil {
			return broker.Report{}, err
		}
	}
	s, err := d.login(ctx, a)
	if err != nil {
		return broker.Report{}, err
	}
	d.sessions.put(a, s, d.now()) // also where the catalog leads elsewhere now: leases are held to that from here on
	if err := hold(s.catalog, found.Catalog); err != nil {
		return broker.Report{}, err
	}
	r.Identity = s.identityOf()
	// Keystone tells the owner of an application credential when that ends.
	own, err := s.own(ctx, a.Credential)
	if err != nil {
		return broker.Report{}, err
	}
	r.CredentialExpiresAt = own.ExpiresAt.UTC()
	if a.Discovered.Cloud == nil {
		r.Discovered, err = d.discover(ctx, a, s, own)
	}
	return r, err
}

// discover finds out what leases are on a cloud, and what their holders can do.
func (d *Driver) discover(
	ctx context.Context, a broker.Access, s *session, own applicationcredentials.ApplicationCredential,
) (broker.Discovered, error) {
	found := s.discovered()
	if region := a.Target.Scope.Region; region != "" && !slices.Contains(s.regions(), region) {
		return broker.Discovered{}, broker.Invalid("region", "is none of the cloud's: its catalog has %s",
			cmp.Or(strings.Join(s.regions(), ", "), "no region"))
	}
	var err error
	if own.ID != "" && !own.Unrestricted {
		found.Leases = broker.CredentialProjectToken
		err = s.explore(ctx, &found)
	} else {
		err = d.probe(ctx, a, s, &found)
	}
	if err != nil {
		return broker.Discovered{}, err
	}
	found.Warnings = append(warnings(found, a.Credential.Kind), strays(found.Catalog, a.Egress)...)
	return fit(broker.Discovered{Regions: s.regions(), Cloud: &found})
}

// discovered holds the facts in the session's token.
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

// oldestVersion is the version shown for a cloud until a check has asked for the real
// one.
const oldestVersion = "v3"

// version asks what answers at the endpoint which version of Keystone's API it has.
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

func (s *session) regions() []string {
	regions := []string{}
	for _, e := range s.catalog {
		if e.Region != "" {
			regions = append(regions, e.Region)
		}
	}
	slices.Sort(regions)
	return slices.Compact(regions)
}

// own returns the registered application credential, or zero.
func (s *session) own(ctx context.Context, c broker.Credential) (applicationcredentials.ApplicationCredential, error) {
	var none applicationcredentials.ApplicationCredential
	if c.Kind != broker.CredentialApplicationCredential {
		return none, nil
	}
	own, err := applicationcredentials.Get(ctx, s.identity, s.user.ID, c.ApplicationCredentialID).Extract()
	switch {
	case err != nil:
		return none, fault(err, "get", "the registered application credential")
	case own == nil || own.ID != c.ApplicationCredentialID:
		return none, notKeystone(0)
	}
	return *own, nil
}
