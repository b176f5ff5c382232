package postgres_test

import (
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/real"
)

func TestMain(m *testing.M) { real.Main(m) }

func TestConformance(t *testing.T) {
	conformance.Store(t, func(t *testing.T) broker.Store { return mustOpen(t, real.Postgres(t).DSN(t)) })
}

// mustOpen opens a store, whose schema it makes, and which is closed at the end of
// the test.
func mustOpen(t testing.TB, dsn string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Options{DSN: secret.NewText(dsn), Migrate: true})
	if err != nil {
		t.Fatalf("Open = %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
	return s
}

func TestOnboarding(t *testing.T) {
	conformance.Onboard(t, func(t *testing.T) conformance.OnboardingStore { return mustOpen(t, real.Postgres(t).DSN(t)) })
}

func TestJobs(t *testing.T) {
	conformance.Jobs(t, func(t *testing.T) conformance.JobStore { return mustOpen(t, real.Postgres(t).DSN(t)) })
}

func TestLifecycle(t *testing.T) {
	conformance.Lifecycle(t, func(t *testing.T) conformance.LifecycleStore { return mustOpen(t, real.Postgres(t).DSN(t)) })
}

func TestPackages(t *testing.T) {
	conformance.Packages(t, func(t *testing.T) catalog.Store { return mustOpen(t, real.Postgres(t).DSN(t)) })
}

func TestVNFGrants(t *testing.T) {
	conformance.VNFGrants(t, func(t *testing.T) conformance.VNFGrantStore { return mustOpen(t, real.Postgres(t).DSN(t)) })
}

func TestClients(t *testing.T) {
	conformance.Clients(t, func(t *testing.T) oauth.Store { return mustOpen(t, real.Postgres(t).DSN(t)) })
}

func TestTokenKeys(t *testing.T) {
	conformance.TokenKeys(t, func(t *testing.T) conformance.TokenKeyStore { return mustOpen(t, real.Postgres(t).DSN(t)) })
}

func TestSubscriptions(t *testing.T) {
	conformance.Subscriptions(t, func(t *testing.T) conformance.SubscriptionStore {
		return mustOpen(t, real.Postgres(t).DSN(t))
	})
}
