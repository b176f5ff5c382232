package upgrade

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// site is a cluster, a cloud, and what servers of either version share.
type site struct {
	t       *testing.T
	kube    *fakekube.Server
	cloud   *fakekeystone.Server
	project fakekeystone.Project
	// operator is whose password is registered, alice a caller.
	operator, alice fakekeystone.User
	dir             string
	token           string
	// database is a line of the configuration; empty is the embedded store.
	database string
}

// edge and cloud are the names that the cluster and the cloud are registered under.
const edge, cloud = "edge", "cloud"

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, kube: fakekube.New(t, fakekube.Options{}), cloud: fakekeystone.New(t, fakekeystone.Options{}), dir: t.TempDir()}
	s.project = s.cloud.Project("demo")
	s.operator, s.alice = s.cloud.User("operator", s.project, "member"), s.cloud.User("alice", s.project, "member")
	var digest string
	s.token, digest = policy.NewToken()
	s.write("token", s.token)
	s.write("tokens.yaml", "tokens: [{name: admin, project: "+s.project.ID+", roles: [admin], sha256: "+digest+"}]\n")
	return s
}

func (s *site) file(name string) string { return filepath.Join(s.dir, name) }

// write writes a file, and returns its path.
func (s *site) write(name, text string) string {
	s.t.Helper()
	if err := os.WriteFile(s.file(name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return s.file(name)
}

// configure writes the configuration of a server that listens there. Both versions read it.
func (s *site) configure(name, listen string) string {
	s.t.Helper()
	login := s.cloud.User("vimbroker-"+name, s.project, "service")
	return s.write(name+".yaml", fmt.Sprintf(`
listen: %s
dataDir: %s
tokensFile: %s
egress: {allowLoopback: true}
callers:
  keystone:
    authURL: %s/v3
    caFile: %s
    auth: {password: {userID: %s, projectID: %s, passwordFile: %s}}
%s
`, listen, s.file("data"), s.file("tokens.yaml"), s.cloud.Endpoint, s.write("cloud.pem", s.cloud.CA),
		login.ID, s.project.ID, s.write("password-"+name, login.Password), s.database))
}

// run runs a command that must end well.
func (s *site) run(bin string, env []string, args ...string) {
	s.t.Helper()
	c := exec.Command(bin, args...)
	c.Env = append(env, "HOME="+s.dir)
	if out, err := c.CombinedOutput(); err != nil {
		s.t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// registrations are those of the cluster and the cloud.
func (s *site) registrations() []v1.Registration {
	return []v1.Registration{{
		Name: edge, Type: "kubernetes", Endpoint: s.kube.Endpoint, CACert: s.kube.CA,
		Credential: v1.Credential{Token: secret.NewText(s.kube.AdminTokenFor(0))},
	}, {
		Name: cloud, Type: "openstack", Endpoint: s.cloud.Endpoint + "/v3", CACert: s.cloud.CA, ProjectID: s.project.ID, UserDomain: fakekeystone.DomainName,
		Credential: v1.Credential{Username: s.operator.Name, Password: secret.NewText(s.operator.Password)},
	}}
}

// aliceToken logs alice in at Keystone.
func (s *site) aliceToken() string {
	s.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(s.cloud.CA))
	keystone := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	defer keystone.CloseIdleConnections()
	body := fmt.Sprintf(`{"auth": {"identity": {"methods": ["password"], "password": {"user": {"id": %q, "password": %q}}}, "scope": {"project": {"id": %q}}}}`,
		s.alice.ID, s.alice.Password, s.project.ID)
	answer, err := keystone.Post(s.cloud.Endpoint+"/v3/auth/tokens", "application/json", bytes.NewBufferString(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		s.t.Fatalf("Keystone does not log alice in: %s", answer.Status)
	}
	return answer.Header.Get("X-Subject-Token")
}

// upstream reports whether something at the cluster or at the cloud is a lease's.
func (s *site) upstream(l v1.IssuedLease) bool {
	for _, token := range s.kube.Tokens() {
		if strings.Contains(token.Secret+token.ServiceAccount, l.ID) {
			return true
		}
	}
	for _, c := range s.cloud.AppCreds() {
		if strings.Contains(c.Name, l.ID) {
			return true
		}
	}
	return false
}

// wantOld wants the leases' tokens on the cluster to be such as the earlier version makes:
// of an account that leases share, and bound to a Secret of the lease.
func (s *site) wantOld(leases ...[]v1.IssuedLease) {
	s.t.Helper()
	s.wantTokens("bound to a Secret", leases, func(token fakekube.Token, handle string) bool {
		return token.Namespace == "vimbroker" && strings.HasPrefix(token.ServiceAccount, "vim-") && token.Secret == handle
	})
}

// wantNew wants them to be such as this version makes: of an account of the lease alone,
// in a namespace of its grant.
func (s *site) wantNew(leases ...[]v1.IssuedLease) {
	s.t.Helper()
	s.wantTokens("of the lease's own account", leases, func(token fakekube.Token, handle string) bool {
		return strings.HasPrefix(token.Namespace, "vimbroker-") && token.ServiceAccount == handle && token.Secret == ""
	})
}

func (s *site) wantTokens(what string, leases [][]v1.IssuedLease, right func(token fakekube.Token, handle string) bool) {
	s.t.Helper()
	for _, l := range slices.Concat(leases...) {
		if l.VIMName != edge {
			continue
		}
		handle, found := "lease-"+l.ID, 0
		for _, token := range s.kube.Tokens() {
			if token.Secret != handle && token.ServiceAccount != handle {
				continue
			}
			if found++; !right(token, handle) {
				s.t.Errorf("a token of lease %s is %+v, want it %s", l.Purpose, token, what)
			}
		}
		if found == 0 {
			s.t.Errorf("lease %s has no token, want one that is %s", l.Purpose, what)
		}
	}
}

// shared is what leases of the earlier version share on the cluster, and their Secrets.
func (s *site) shared() []string {
	found := slices.Concat(s.kube.Names("serviceaccounts", "vimbroker"), s.kube.Names("secrets", "vimbroker"))
	for _, name := range slices.Concat(s.kube.Names("clusterrolebindings", ""), s.kube.Names("rolebindings", "")) {
		if strings.HasPrefix(name[strings.Index(name, "/")+1:], "vim-") {
			found = append(found, name)
		}
	}
	return found
}

// wantNothingShared wants the cluster to hold nothing that leases of the earlier version share.
func (s *site) wantNothingShared() {
	s.t.Helper()
	if left := s.shared(); len(left) > 0 {
		s.t.Errorf("the last lease of the earlier version is revoked, and it left %q", left)
	}
}

// wantEmpty wants nothing of the broker's in the cluster, in the cloud and in the key store.
func (s *site) wantEmpty() {
	s.t.Helper()
	left := s.shared()
	for _, plural := range []string{"namespaces", "serviceaccounts", "clusterrolebindings", "rolebindings"} {
		for _, name := range s.kube.Names(plural, "") {
			if strings.Contains(name, "vimbroker-") {
				left = append(left, plural+" "+name)
			}
		}
	}
	for _, c := range s.cloud.AppCreds() {
		left = append(left, "application credential "+c.Name)
	}
	keys, err := filepath.Glob(s.file("data/keys/*/*"))
	if err != nil {
		s.t.Fatal(err)
	}
	if len(keys) > 1 { // the one that seals the audit log's own stays
		left = append(left, keys...)
	}
	if len(left) > 0 {
		s.t.Errorf("what is left: %q", left)
	}
}
