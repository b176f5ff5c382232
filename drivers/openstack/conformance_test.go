package openstack_test

import (
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/conformance/keystone"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// TestConformance runs on each kind of cloud, with both kinds of credential that can
// mint, and in four time zones: Keystone and gophercloud write some times without one.
func TestConformance(t *testing.T) {
	for _, c := range []struct {
		zone              string
		trusts, byAppCred bool
		cloud             fakekeystone.Options
	}{
		{"UTC", false, false, fakekeystone.Options{Late: true}},
		{"Asia/Tokyo", true, true, fakekeystone.Options{}},
		{"America/New_York", false, true, fakekeystone.Options{}},
		{"Asia/Kolkata", false, true, fakekeystone.Options{Unpatched: true}},
	} {
		t.Run(c.zone, func(t *testing.T) {
			keystone.Zone(t, c.zone)
			now := clock.New(time.Now())
			c.cloud.Now, c.cloud.Trusts = now.Now, c.trusts
			s := fakekeystone.New(t, c.cloud)
			project := s.Project("demo")
			user := func(name string, roles ...string) keystone.User {
				u := s.User(name, project, roles...)
				return keystone.User{ID: u.ID, Name: u.Name, Password: u.Password, ProjectID: project.ID, Project: project.Name}
			}
			env := keystone.Env(t, keystone.Cloud{
				Endpoint: s.Endpoint, CAPEM: s.CA, Trusts: c.trusts, ByAppCred: c.byAppCred, Now: now.Now, Await: now.Await,
				User: user("operator", "admin", "member", "reader"), Colleague: user("colleague", "member"),
			})
			env.Remote = []string{fake.Canary}
			conformance.Driver(t, env)
		})
	}
}
