//go:build unix && failpoints

package openstack_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
	"github.com/vimbroker/vimbroker/test/process"
)

// byPassword is a registration as Tacker's files have it.
func byPassword(endpoint, ca string, u fakekeystone.User, project string) broker.Registration {
	return broker.Registration{
		Name: "fake", Type: "openstack", Endpoint: endpoint, CACert: ca,
		Scope:      broker.Scope{ProjectName: project, ProjectDomainName: "Default", UserDomainName: "Default"},
		Credential: broker.Credential{Username: u.Name, Password: secret.NewText(u.Password)},
	}
}

// errand is what the child is to do.
type errand struct {
	Endpoint, CA, VIM string
	Discovered        broker.Discovered
	User              fakekeystone.User
	Grant             broker.Grant
	Token             string
}

func (e errand) access(t *testing.T, d *openstack.Driver) broker.Access {
	t.Helper()
	target, credential, err := d.Normalize(byPassword(e.Endpoint, e.CA, e.User, "demo"))
	if err != nil {
		t.Fatal(err)
	}
	rules := egress.Default()
	rules.AllowLoopback = true
	return broker.Access{VIM: e.VIM, Generation: 1, Target: target, Credential: credential, Discovered: e.Discovered, Egress: rules}
}

// TestKilledOnTheWay kills a process with SIGKILL at each failpoint, and has the
// next one find, adopt or remove what is left: nothing is, in the end.
func TestKilledOnTheWay(t *testing.T) {
	d := openstack.New(openstack.Options{})
	var e errand
	if process.Errand(t, &e) {
		a, issued := e.access(t, d), broker.Issued{Handle: e.Grant.Handle}
		if e.Token != "" {
			issued.Credential = broker.Credential{Kind: broker.CredentialProjectToken, Token: secret.NewText(e.Token)}
		}
		if _, err := d.Check(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if e.Token == "" {
			if _, err := d.Issue(t.Context(), a, e.Grant); err != nil {
				t.Fatal(err)
			}
		}
		t.Fatalf("the process lives on: %v", d.Revoke(t.Context(), a, issued))
	}
	for _, point := range []string{
		"openstack.check.probed", "openstack.issue.minted", "openstack.revoke.deleted", "openstack.revoke.token",
	} {
		t.Run(point, func(t *testing.T) {
			s := fakekeystone.New(t, fakekeystone.Options{})
			project := s.Project("demo")
			const lease = "6f1d2c7e-3f5a-4b8e-9d5b-0a1b2c3d4e5f"
			e := errand{
				Endpoint: s.Endpoint, CA: s.CA, User: s.User("operator", project, "member"), VIM: "2b1d2c7e-3f5a-4b8e-9d5b-0a1b2c3d4e5f",
				Grant: broker.Grant{Lease: lease, Handle: "lease-" + lease, TTL: time.Hour},
			}
			var minted broker.Minted
			if strings.HasSuffix(point, ".token") {
				report, err := d.Check(t.Context(), e.access(t, d))
				if err != nil {
					t.Fatal(err)
				}
				e.Discovered, e.Grant.Purpose = report.Discovered, openstack.Heat
				if minted, err = d.Issue(t.Context(), e.access(t, d), e.Grant); err != nil {
					t.Fatal(err)
				}
				e.Token = minted.Credential.Token.Reveal()
			}
			process.KillAt(t, point, e)
			a := e.access(t, d)
			if err := d.Revoke(t.Context(), a, broker.Issued{Handle: e.Grant.Handle, Credential: minted.Credential}); err != nil {
				t.Errorf("Revoke = %v", err)
			}
			if e.Token != "" {
				if dead, err := d.Dead(t.Context(), a, minted.Credential); !dead || err != nil {
					t.Errorf("Dead = %v, %v, want true", dead, err)
				}
			}
			if err := d.Forget(t.Context(), a); err != nil {
				t.Errorf("Forget = %v", err)
			}
			if left := s.AppCreds(); len(left) > 0 {
				t.Errorf("Keystone still holds %d application credentials", len(left))
			}
		})
	}
}
