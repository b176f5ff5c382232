package openstack

import (
	"net/http"
	"slices"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/vimbroker/vimbroker/broker"
)

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
	if purpose != Read {
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
	var rules []applicationcredentials.AccessRule
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
