package openstack_test

import (
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/drivers/openstack"
)

// A client of a lease is told the domain of who logs in: of a lease's own user the project's, of the registered user his own, of
// whom else none.
func TestDomainsOfClients(t *testing.T) {
	for leased, want := range map[broker.CredentialKind]clientconfig.OpenStackClient{
		broker.CredentialUser:                  {UserDomain: "of the project", UserDomainID: "pd"},
		broker.CredentialPassword:              {UserDomain: "of the user", UserDomainID: "ud"},
		broker.CredentialApplicationCredential: {}, broker.CredentialProjectToken: {},
	} {
		a := broker.Access{
			Target:     broker.Target{Scope: broker.Scope{Region: "R", UserDomainName: "of the user", ProjectDomainName: "another"}},
			Credential: broker.Credential{Kind: broker.CredentialPassword}, Discovered: broker.Discovered{Cloud: &broker.Cloud{
				ProjectID: "p", ProjectName: "demo", ProjectDomainID: "pd", ProjectDomainName: "of the project", UserDomainID: "ud",
			}},
		}
		want.Region, want.ProjectID, want.ProjectName, want.ProjectDomain = "R", "p", "demo", "of the project"
		if got := openstack.New(openstack.Options{}).Client(a, nil, leased); got != clientconfig.Client(want) {
			t.Errorf("leased as a %s: %+v, want %+v", leased, got, want)
		}
	}
}

// Keystone exchanges only a token that was not made with an application credential.
func TestWhichTokensCannotBeExchanged(t *testing.T) {
	for _, c := range []struct {
		stored, leased broker.CredentialKind
		delegated      bool
	}{
		{broker.CredentialApplicationCredential, broker.CredentialProjectToken, true},
		{broker.CredentialApplicationCredential, broker.CredentialApplicationCredential, false},
		{broker.CredentialPassword, broker.CredentialProjectToken, false},
		{broker.CredentialPassword, broker.CredentialApplicationCredential, false},
	} {
		a := broker.Access{
			Target: broker.Target{Scope: broker.Scope{Region: "R"}}, Credential: broker.Credential{Kind: c.stored},
			Discovered: broker.Discovered{Cloud: &broker.Cloud{ProjectID: "p", ProjectName: "demo", ProjectDomainID: "d", ProjectDomainName: "Default"}},
		}
		want := clientconfig.OpenStackClient{Region: "R", ProjectID: "p", ProjectName: "demo", ProjectDomain: "Default", Delegated: c.delegated}
		if got := openstack.New(openstack.Options{}).Client(a, nil, c.leased); got != clientconfig.Client(want) {
			t.Errorf("a %s leased from a %s: %+v, want %+v", c.leased, c.stored, got, want)
		}
	}
}
