package openstack_test

import (
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/conformance/keystone"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// clock is the time of a fake cloud, which tests move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Now()} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// await moves the clock by seconds until done.
func (c *clock) await(_ *testing.T, most time.Duration, done func() bool) bool {
	for waited := time.Duration(0); ; waited += time.Second {
		if done() {
			return true
		}
		if waited > most {
			return false
		}
		c.Add(time.Second)
	}
}

// TestConformance runs on both kinds of cloud, with both kinds of credential that can
// mint, and in three time zones: Keystone and gophercloud write some times without one.
func TestConformance(t *testing.T) {
	for _, c := range []struct {
		zone              string
		trusts, byAppCred bool
	}{
		{"UTC", false, false},
		{"Asia/Tokyo", true, true},
		{"America/New_York", false, true},
	} {
		t.Run(c.zone, func(t *testing.T) {
			keystone.Zone(t, c.zone)
			now := newClock()
			s := fakekeystone.New(t, fakekeystone.Options{Now: now.Now, Trusts: c.trusts})
			project := s.Project("demo")
			user := func(name string, roles ...string) keystone.User {
				u := s.User(name, project, roles...)
				return keystone.User{ID: u.ID, Name: u.Name, Password: u.Password, ProjectID: project.ID, Project: project.Name}
			}
			env := keystone.Env(t, keystone.Cloud{
				Endpoint: s.Endpoint, CAPEM: s.CA, Trusts: c.trusts, ByAppCred: c.byAppCred, Now: now.Now, Await: now.await,
				User: user("operator", "admin", "member", "reader"), Colleague: user("colleague", "member"),
			})
			env.Remote = []string{fakekeystone.Canary}
			conformance.Driver(t, env)
		})
	}
}
