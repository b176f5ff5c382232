// Package fakekube is a Kubernetes API server at the network for hermetic tests:
// it keeps namespaces, secrets, config maps, service accounts and RBAC objects in
// memory, issues tokens that die as real ones do, decides by RBAC, and can be
// told to fail in every way that a network and a server can.
//
// Told to, it serves Cluster API's Cluster objects as well, which only a test writes
// ([Server.PutCluster]): it is a management cluster then.
//
// What it does not do: watches of other kinds than secrets and clusters, server-side
// apply, field selectors, admission, controllers (roles are not aggregated, namespaces are
// emptied at once), and the check that nobody grants more than they have.
package fakekube

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

const adminAccount = "fakekube-admin"

// Options of a server. The zero value is a server like a fresh cluster.
type Options struct {
	// Now is the server's clock; nil means time.Now.
	Now func() time.Time
	// MaxTokenTTL is the most that a token lasts, whatever was asked; zero
	// means 24 hours.
	MaxTokenTTL time.Duration
	// CacheLag is how long a token that was used once is still taken after it
	// has died, on the server's clock; real servers have ten seconds, zero is none.
	CacheLag time.Duration
	// Version is what /version says; empty means v1.36.3.
	Version string
	// Addr is where to listen; empty means a free port on loopback.
	Addr string
	// ClusterAPI are the versions of cluster.x-k8s.io that it serves; none means that it is
	// no management cluster.
	ClusterAPI []string
	// Plain serves http. There is no AdminCert then.
	Plain bool
	// Networks: it says that it serves the networks of Multus. It keeps none.
	Networks bool
}

// Server is a running fake. Its methods are safe for concurrent use.
type Server struct {
	fake.Server
	// Endpoint is the server's URL.
	Endpoint string
	// AdminToken, Username with Password, and AdminCert with AdminKey are three
	// credentials that may do anything. The token does not expire, the
	// certificate does in a year.
	AdminToken          string
	Username, Password  string
	AdminCert, AdminKey string

	opts Options
	key  []byte // signs tokens

	mu       sync.Mutex
	objects  map[key]object
	revision int64
	issued   []claims
	cache    map[[sha256.Size]byte]time.Time // token digest: taken unseen until then
	revoked  map[[sha256.Size]byte]bool      // single tokens
	denials  []Denial
	events   []event       // what watches show, oldest first
	forgot   int64         // the revision up to which there are no events any more
	news     chan struct{} // closed when there is a new event
	ends     chan struct{} // closed to end the watches there are
	watching int           // how many those are
}

// New starts a server for one test, and stops it when that ends.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts a server. The caller closes it.
func Start(o Options) (*Server, error) {
	if o.MaxTokenTTL == 0 {
		o.MaxTokenTTL = 24 * time.Hour
	}
	if o.Version == "" {
		o.Version = "v1.36.3"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{
		Server:   fake.Server{Addr: o.Addr, HTTP2: true, Plain: o.Plain},
		Username: "fakekube-basic", Password: random(), opts: o, key: []byte(random()),
		objects: map[key]object{}, cache: map[[sha256.Size]byte]time.Time{}, revoked: map[[sha256.Size]byte]bool{}, news: make(chan struct{}),
		ends: make(chan struct{}),
	}
	s.Opening, s.Refuse = `{"kind":"List","apiVersion":"v1","items":[`, refuse
	if err := s.seed(); err != nil {
		return nil, fmt.Errorf("seeding fake API server: %w", err)
	}
	s.AdminToken = s.AdminTokenFor(0)
	if err := s.Server.Start(s.serve); err != nil {
		return nil, err
	}
	s.Endpoint = s.URL
	if o.Plain {
		return s, nil
	}
	admin, err := s.Authority.Client("fakekube-cert", []string{masters}, time.Now().AddDate(1, 0, 0))
	if err != nil {
		s.Close()
		return nil, err
	}
	s.AdminCert, s.AdminKey = string(admin.Cert), string(admin.Key)
	return s, nil
}

// AdminTokenFor signs a token that may do anything and expires after ttl; zero
// makes one that does not expire.
func (s *Server) AdminTokenFor(ttl time.Duration) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	expiry := time.Time{}
	if ttl != 0 {
		expiry = s.now().Add(ttl)
	}
	return s.sign(s.objects[key{"serviceaccounts", "kube-system", adminAccount}], nil, []string{issuer}, expiry)
}

// ExecInfo is what kubectl tells an exec plugin of the server (KUBERNETES_EXEC_INFO).
func (s *Server) ExecInfo() string {
	return fmt.Sprintf(`{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false,`+
		`"cluster":{"server":%q,"certificate-authority-data":%q}}}`, s.Endpoint, base64.StdEncoding.EncodeToString([]byte(s.CA)))
}

// Kubeconfig is a kubeconfig with AdminToken, whose one context is "fakekube".
func (s *Server) Kubeconfig() string { return s.kubeconfig(s.AdminToken, s.CA) }

// Anew is a kubeconfig with another token, whose bundle has one authority more than that of Kubeconfig: it leads to the same
// system in another way.
func (s *Server) Anew() string {
	more, err := pki.NewCA("the next authority")
	if err != nil {
		panic(err)
	}
	return s.kubeconfig(s.AdminTokenFor(0), s.CA+string(more.PEM))
}

func (s *Server) kubeconfig(token, ca string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: fakekube
clusters:
- name: fakekube
  cluster: {server: %q, certificate-authority-data: %s}
users:
- name: admin
  user: {token: %q}
contexts:
- name: fakekube
  context: {cluster: fakekube, user: admin, namespace: default}
`, s.Endpoint, base64.StdEncoding.EncodeToString([]byte(ca)), token)
}

func (s *Server) now() time.Time { return s.opts.Now() }

func random() string {
	b := make([]byte, 24)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}
