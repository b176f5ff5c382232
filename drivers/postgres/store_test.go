package postgres_test

import (
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/real"
)

func TestMain(m *testing.M) { real.Main(m) }

// suites are what a store owes, on databases that are empty.
var suites = map[string]func(t *testing.T, database func(*testing.T) string){
	"Conformance": func(t *testing.T, database func(*testing.T) string) {
		conformance.Store(t, func(t *testing.T) broker.Store { return mustOpen(t, database(t)) })
	},
	"Onboarding": func(t *testing.T, database func(*testing.T) string) {
		conformance.Onboard(t, func(t *testing.T) conformance.OnboardingStore { return mustOpen(t, database(t)) })
	},
	"Jobs": func(t *testing.T, database func(*testing.T) string) {
		conformance.Jobs(t, func(t *testing.T) conformance.JobStore { return mustOpen(t, database(t)) })
	},
	"Lifecycle": func(t *testing.T, database func(*testing.T) string) {
		conformance.Lifecycle(t, func(t *testing.T) conformance.LifecycleStore { return mustOpen(t, database(t)) })
	},
	"Packages": func(t *testing.T, database func(*testing.T) string) {
		conformance.Packages(t, func(t *testing.T) catalog.Store { return mustOpen(t, database(t)) })
	},
	"VNFGrants": func(t *testing.T, database func(*testing.T) string) {
		conformance.VNFGrants(t, func(t *testing.T) conformance.VNFGrantStore { return mustOpen(t, database(t)) })
	},
	"Clients": func(t *testing.T, database func(*testing.T) string) {
		conformance.Clients(t, func(t *testing.T) oauth.Store { return mustOpen(t, database(t)) })
	},
	"TokenKeys": func(t *testing.T, database func(*testing.T) string) {
		conformance.TokenKeys(t, func(t *testing.T) conformance.TokenKeyStore { return mustOpen(t, database(t)) })
	},
	"Bundles": func(t *testing.T, database func(*testing.T) string) {
		conformance.Bundles(t, func(t *testing.T) conformance.BundleStore { return mustOpen(t, database(t)) })
	},
	"Subscriptions": func(t *testing.T, database func(*testing.T) string) {
		conformance.Subscriptions(t, func(t *testing.T) conformance.SubscriptionStore { return mustOpen(t, database(t)) })
	},
}

// mustOpen opens a store, whose schema it makes, and which is closed at the end of
// the test.
func mustOpen(t testing.TB, dsn string) *postgres.Store {
	t.Helper()
	var s *postgres.Store
	if err := postgres.InTime(func() (err error) {
		s, err = postgres.Open(t.Context(), postgres.Options{DSN: secret.NewText(dsn), Migrate: true})
		return err
	}); err != nil {
		t.Fatalf("Open = %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
	return s
}

// A link that ten thousand instances use is shown in part, and let go by all.
func TestFieldALinkOfTenThousandUses(t *testing.T) {
	field.Only(t)
	conformance.ManyUses(t, func(t *testing.T) conformance.LifecycleStore { return mustOpen(t, real.Postgres(t).DSN(t)) }, 10000)
}
