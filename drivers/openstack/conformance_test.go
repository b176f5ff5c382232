package openstack_test

import (
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/conformance"
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

// byPassword is a registration as Tacker's files have it.
func byPassword(endpoint, ca string, u fakekeystone.User, project string) broker.Registration {
	return broker.Registration{
		Name: "fake", Type: broker.OpenStack, Endpoint: endpoint, CACert: ca,
		Scope:      broker.Scope{ProjectName: project, ProjectDomainName: "Default", UserDomainName: "Default"},
		Credential: broker.Credential{Username: u.Name, Password: secret.NewText(u.Password)},
	}
}

func byAppCred(endpoint, ca string, c fakekeystone.AppCred) broker.Registration {
	return broker.Registration{
		Name: "fake", Type: broker.OpenStack, Endpoint: endpoint, CACert: ca,
		Credential: broker.Credential{ApplicationCredentialID: c.ID, ApplicationCredentialSecret: secret.NewText(c.Secret)},
	}
}

func TestConformance(t *testing.T) {
	now := newClock()
	s := fakekeystone.New(t, fakekeystone.Options{Now: now.Now})
	project := s.Project("demo")
	user := s.User("operator", project, "admin", "member", "reader")
	mighty := s.AppCred(fakekeystone.AppCred{Name: "mighty", UserID: user.ID, ProjectID: project.ID, Roles: []string{"member", "reader"}, Unrestricted: true})
	restricted := s.AppCred(fakekeystone.AppCred{Name: "restricted", UserID: user.ID, ProjectID: project.ID, Roles: []string{"member", "reader"}})
	rules := egress.Default()
	rules.AllowLoopback = true

	roles := func(id string) []string {
		for _, c := range s.AppCreds() {
			if c.ID == id {
				return c.Roles
			}
		}
		return nil
	}
	env := conformance.DriverEnv{
		New: func(log *slog.Logger) broker.Driver {
			return openstack.New(openstack.Options{Now: now.Now, Log: log})
		},
		Egress: rules, PlainHTTP: true, AnyRole: true,
		Registration: byPassword(s.Endpoint+"/v3", s.CA, user, project.Name),
		Tokens:       byAppCred(s.Endpoint, s.CA, restricted), Whole: "member,reader",
		Unknown: broker.Credential{
			Kind: broker.ApplicationCredential, ApplicationCredentialID: "0123456789abcdef", ApplicationCredentialSecret: secret.NewText("never-was-a-secret"),
		},
		Remote: []string{fakekeystone.Canary},
		MinTTL: time.Minute, Reader: "reader", Writer: "member",
		Now: now.Now, Await: now.await,
		Handles: func(_ *testing.T, vim string) []string {
			var names []string
			for _, c := range s.AppCreds() {
				name, _, _ := strings.Cut(c.Name, ".")
				if strings.Contains(c.Description, "vim="+vim+" ") && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
			return names
		},
		Everything: func(*testing.T) []string {
			var names []string
			for _, c := range s.AppCreds() {
				names = append(names, c.Name)
			}
			return names
		},
		Remove: func(t *testing.T, handle string) {
			if !s.Delete(handle) {
				t.Fatalf("there is no %s to remove", handle)
			}
		},
		Plant: func(t *testing.T, handle string) func() bool {
			was := s.AppCred(fakekeystone.AppCred{Name: handle, UserID: user.ID, ProjectID: project.ID, Description: "somebody's"})
			t.Cleanup(func() { s.Delete(handle) })
			return func() bool {
				return slices.ContainsFunc(s.AppCreds(), func(c fakekeystone.AppCred) bool { return c.ID == was.ID })
			}
		},
		May: func(_ *testing.T, _ broker.Target, minted broker.Credential, write bool, _ string) bool {
			held := roles(minted.ApplicationCredentialID)
			if write {
				return slices.Contains(held, "member")
			}
			return slices.Contains(held, "reader")
		},
	}
	byID := byPassword(s.Endpoint, s.CA, user, "")
	byID.Scope = broker.Scope{ProjectID: project.ID, UserDomainID: "default"}
	env.Others = map[string]broker.Registration{
		"an application credential": byAppCred(s.Endpoint+"/v3/", s.CA, mighty),
		"ids":                       byID,
		"a colleague":               byPassword(s.Endpoint, s.CA, s.User("colleague", project, "member", "reader"), project.Name),
	}
	wrong := user
	wrong.Password = "wrong-" + user.Password
	dead := mighty
	dead.ID = "00000000000000000000000000000001"
	env.Refused = map[string]broker.Registration{
		"a wrong password":                   byPassword(s.Endpoint, s.CA, wrong, project.Name),
		"a deleted application credential":   byAppCred(s.Endpoint, s.CA, dead),
		"an application credential's secret": byAppCred(s.Endpoint, s.CA, fakekeystone.AppCred{ID: mighty.ID, Secret: "wrong-secret"}),
	}
	conformance.Driver(t, env)
}
