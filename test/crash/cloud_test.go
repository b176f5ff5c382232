package crash_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// forHeat is the purpose of leases that are a project's token on a cloud.
const forHeat = openstack.Heat

// probeLife is how long what a check has made lives if the check's process dies.
const probeLife = 2 * time.Minute

// cloud is a fake Keystone, and who is registered there.
type cloud struct {
	fake   *fakekeystone.Server
	user   fakekeystone.User
	client *http.Client
	// users: the kit's leases are users of their own.
	users bool
}

// fakeCloudOfUsers is a cloud whose registered user keeps the users of its domain.
func fakeCloudOfUsers(t testing.TB) *cloud {
	t.Helper()
	c := fakeCloud(t)
	c.fake.OnDomain(c.user.ID, "manager")
	c.users = true
	return c
}

func fakeCloud(t testing.TB) *cloud {
	t.Helper()
	f := fakekeystone.New(t, fakekeystone.Options{})
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(f.CA))
	way := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	t.Cleanup(way.CloseIdleConnections)
	return &cloud{fake: f, user: f.User("operator", f.Project("demo"), "member"), client: &http.Client{Transport: way}}
}

func (c *cloud) registration(t testing.TB, name string) v1.Registration {
	t.Helper()
	return v1.Registration{
		Name: name, Type: "openstack", Endpoint: c.fake.Endpoint, CACert: c.fake.CA,
		Project: "demo", Domain: fakekeystone.DomainName, Credential: c.credential(t),
	}
}

// credential is the user's password, which a rotation finds as good as another.
func (c *cloud) credential(testing.TB) v1.Credential {
	return v1.Credential{Username: c.user.Name, Password: secret.NewText(c.user.Password)}
}

func (c *cloud) request(vim string) v1.LeaseRequest {
	if c.users {
		return v1.LeaseRequest{VIM: vim, Format: "json", Purpose: "crash kit", Credential: "user"}
	}
	return v1.LeaseRequest{VIM: vim, Format: "json", Purpose: "crash kit"}
}

// secretOf is the application credential's secret, the token or the password.
func (*cloud) secretOf(l v1.IssuedLease) string {
	c, err := clientconfig.Decode(l.ClientConfig.Text)
	if err != nil {
		return ""
	}
	return c.Token.Reveal() + c.ApplicationCredentialSecret.Reveal() + c.Password.Reveal() // it has one of them
}

// works asks Keystone about a token, and looks an application credential's secret up
// there.
func (c *cloud) works(t testing.TB, secret string) bool {
	t.Helper()
	if c.users {
		return slices.ContainsFunc(c.fake.Users("lease-"), func(u fakekeystone.User) bool { return u.Password == secret })
	}
	if !strings.HasPrefix(secret, "gAAAAA") {
		return slices.ContainsFunc(c.fake.AppCreds(), func(a fakekeystone.AppCred) bool { return a.Secret == secret && a.ExpiresAt.After(time.Now()) })
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.fake.Endpoint+"/v3/auth/tokens", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Auth-Token", secret)
	r.Header.Set("X-Subject-Token", secret)
	answer, err := c.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// objects are the names of the leases' application credentials and users; those that
// renewals made beside the first count as one.
func (c *cloud) objects(testing.TB) []string {
	names := []string{}
	for _, a := range c.fake.AppCreds() {
		if name, _, _ := strings.Cut(a.Name, "."); strings.HasPrefix(name, "lease-") {
			names = append(names, name)
		}
	}
	for _, u := range c.fake.Users("lease-") {
		names = append(names, u.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// others are the application credentials that are no lease's and live longer than
// what a check makes: of a check that died before its VIM was registered nothing
// else is known, and what it made ends by itself.
func (c *cloud) others(testing.TB) []string {
	names := []string{}
	for _, a := range c.fake.AppCreds() {
		if !strings.HasPrefix(a.Name, "lease-") && time.Until(a.ExpiresAt) > probeLife {
			names = append(names, "application credential "+a.Name)
		}
	}
	return names
}
