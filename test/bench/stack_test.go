package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/rest"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/real"
)

// admin is who asks: the caller of the try-out mode.
var admin = policy.Principal{Name: "admin", Project: "default", Roles: []string{policy.RoleAdmin}}

// stack is the broker on its embedded defaults, but for what is set before it is
// opened, put together as serve does it.
// Its passes run only when called.
type stack struct {
	*broker.Broker
	dir   string
	store interface {
		broker.Store
		Close() error
	}
	keys    *keydir.Store
	cluster *real.Cluster
	// database is used instead of an SQLite file, where it is set.
	database secret.Text
	// ahead is how far the broker's clock runs before the real one.
	ahead atomic.Int64
	// unasked is what the check of a VIM finds, without asking the VIM, where it
	// is set: to register very many.
	unasked atomic.Pointer[broker.Report]
	token   string // administrator's on the cluster
}

// newStack opens one in a new directory.
func newStack(b *testing.B) *stack { return newStackOn(b, real.Kubernetes(b)) }

// newStackOn opens one whose VIMs are a cluster.
func newStackOn(b *testing.B, cluster *real.Cluster) *stack {
	b.Helper()
	s := &stack{dir: b.TempDir(), cluster: cluster}
	var err error
	if s.token, err = s.cluster.NewAdminToken(b.Context(), real.MaxTokenTTL); err != nil {
		b.Fatal(err)
	}
	s.open(b)
	return s
}

func (s *stack) open(b *testing.B) {
	b.Helper()
	log := slog.New(slog.NewJSONHandler(io.Discard, nil))
	var err error
	if s.database.Empty() {
		s.store, err = sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(s.dir, "vimbroker.db"), Log: log})
	} else {
		s.store, err = postgres.Open(b.Context(), postgres.Options{DSN: s.database, Migrate: true, Log: log})
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.close(b) })
	if s.keys, err = keydir.Open(filepath.Join(s.dir, "keys")); err != nil {
		b.Fatal(err)
	}
	policies, err := policy.Load(nil)
	if err != nil {
		b.Fatal(err)
	}
	rules := egress.Default()
	rules.AllowLoopback = true
	terms := broker.DefaultTerms()
	terms.VIMs.PerProject = 2 * many
	terms.Quota = broker.Quota{PerPrincipal: 100_000, PerVIM: 100_000, PerProject: 100_000}
	driver := kubernetes.New(kubernetes.Options{Log: log})
	b.Cleanup(driver.Close)
	s.Broker, err = broker.New(broker.Options{
		Store: s.store, Keys: []secret.KeyStore{s.keys}, Policy: policies, Terms: terms, Log: log,
		Drivers: []broker.Driver{sparing{driver, &s.unasked}, openstack.New(openstack.Options{Log: log})},
		Egress:  func(string) *egress.Rules { return rules },
		Now:     s.now,
	})
	if err != nil {
		b.Fatal(err)
	}
}

// now is the time on the broker's clock.
func (s *stack) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

// close lets go of the directory; it may be called twice.
func (s *stack) close(b *testing.B) {
	b.Helper()
	if s.keys != nil {
		if err := s.keys.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			b.Error(err)
		}
	}
	if err := s.store.Close(); err != nil {
		b.Error(err)
	}
}

// sparing is the Kubernetes driver, which can be told to spare the VIM the check.
type sparing struct {
	*kubernetes.Driver
	unasked *atomic.Pointer[broker.Report]
}

func (d sparing) Check(ctx context.Context, a broker.Access) (broker.Report, error) {
	if r := d.unasked.Load(); r != nil {
		return *r, nil
	}
	return d.Driver.Check(ctx, a)
}

// register registers the cluster as a VIM, at an endpoint that leads to it.
func (s *stack) register(ctx context.Context, name, endpoint string) (broker.VIM, error) {
	return s.RegisterVIM(ctx, admin, s.registration(name, endpoint))
}

func (s *stack) registration(name, endpoint string) broker.Registration {
	return broker.Registration{
		Name: name, Type: "kubernetes", Endpoint: endpoint, CACert: s.cluster.CAPEM,
		Credential: broker.Credential{Token: secret.NewText(s.token)},
	}
}

func (s *stack) mustRegister(b *testing.B, name string) broker.VIM {
	b.Helper()
	v, err := s.register(b.Context(), name, s.cluster.Endpoint)
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// crowd registers very many VIMs, whose credentials open and lead to the
// cluster, and spares it their checks.
func (s *stack) crowd(b *testing.B, n int) {
	b.Helper()
	v := s.mustRegister(b, "model")
	s.unasked.Store(&broker.Report{Identity: v.Current.Identity, Version: v.Health.Version, CanMint: true})
	defer s.unasked.Store(nil)
	const clients = 32
	_, err := turn(clients, (n+clients-1)/clients, 0, func(i int) error {
		if i >= n {
			return nil
		}
		_, err := s.register(b.Context(), crowdName(i), s.cluster.Endpoint)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

func crowdName(i int) string { return fmt.Sprintf("vim-%05d", i) }

// serve serves the broker over HTTP on loopback, and returns a client of it that
// keeps its connections.
func (s *stack) serve(b *testing.B) *client.Client {
	b.Helper()
	plain, digest := policy.NewToken()
	tokens, err := policy.NewStaticTokens([]policy.StaticToken{{Name: admin.Name, Project: admin.Project, Roles: admin.Roles, SHA256: digest}})
	if err != nil {
		b.Fatal(err)
	}
	log := slog.New(slog.NewJSONHandler(io.Discard, nil))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		handler := api.New(api.Options{
			Doors:         []api.Door{rest.Door(rest.Options{Registry: s.Broker, Leaser: s.Broker, AuditLog: s.Broker, Overseer: s.Broker, Log: log, Version: "bench"})},
			Authenticator: tokens, Vitals: s.Broker, Log: log,
		})
		ended <- api.Server{Handler: handler, Log: log}.Serve(ctx, l)
	}()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	b.Cleanup(func() {
		transport.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	c, err := client.New(client.Options{
		Addr: "http://" + l.Addr().String(), Token: secret.NewText(plain), HTTPClient: &http.Client{Transport: transport},
	})
	if err != nil {
		b.Fatal(err)
	}
	return c
}
