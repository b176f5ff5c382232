package conformance

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Upgraded checks a store whose rows an older version wrote: those of the file
// testdata/schema6.sql of each store. They list, renew and end as this version's do.
func Upgraded(t *testing.T, opened broker.Store) {
	s := storeTest{Store: opened, ctx: t.Context()}
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

	v := s.mustVIM(t, "core")
	if v.Current.Number != 2 || len(v.Past) != 1 || v.Past[0].Sealed != "sealed-core" || v.Labels["site"] != "core" ||
		v.Current.Target.Scope.Region != "R" || v.Health.Version != "v1" || v.Extra != `{"n":1}` || !v.Default {
		t.Errorf("VIM(core) = %+v", v)
	}
	discovered := broker.Discovered{Regions: []string{"R"}, Cloud: &broker.Cloud{
		UserID: "0123456789abcdef0123456789abcdef", UserDomainID: "default",
		ProjectID: "fedcba9876543210fedcba9876543210", ProjectName: "demo", ProjectDomainID: "default", ProjectDomainName: "Default",
		Roles: []string{"member", "reader"}, Leases: broker.CredentialApplicationCredential, Trusts: true,
		Catalog: []broker.CatalogEntry{{Service: "compute", Interface: "public", Region: "R", Origin: "https://nova.example:8774"}},
	}}
	for what, found := range map[string][2]broker.Discovered{
		"a cloud":                   {discovered, v.Current.Discovered},
		"a cluster":                 {{Regions: []string{"default", "kube-system"}}, s.mustVIM(t, "edge").Current.Discovered},
		"one that was not explored": {{}, v.Past[0].Discovered},
	} {
		if diff := cmp.Diff(found[0], found[1]); diff != "" {
			t.Errorf("what the older version discovered of %s (-want +got):\n%s", what, diff)
		}
	}
	vims, _, err := s.VIMs(s.ctx, broker.VIMFilter{Project: "south"})
	if err != nil || len(vims) != 1 || vims[0].ID != "core" {
		t.Errorf("VIMs of another project = %d, %v; want the shared one", len(vims), err)
	}
	live, _, err := s.Leases(s.ctx, broker.LeaseFilter{Project: "north", States: []broker.LeaseState{broker.LeaseActive}})
	if err != nil || len(live) != 2 {
		t.Fatalf("Leases(active) = %d, %v; want 2", len(live), err)
	}
	for _, l := range live {
		if l.VIMGeneration != 1 || !slices.Equal(l.Namespaces, []string{"a", "b"}) || l.SealedKey != "ref-1" ||
			!l.ExpiresAt.Equal(now.Add(time.Hour)) || l.MaxRevocationLag != 10*time.Second || l.RenewalBegun != (l.ID == "renewed") {
			t.Errorf("Lease(%s) = %+v", l.ID, l)
		}
	}
	if l, err := s.LeaseByKey(s.ctx, "alice", "key-active"); err != nil || l.ID != "active" {
		t.Errorf("LeaseByKey = %s, %v", l.ID, err)
	}

	change := func(id string, f func(*broker.Lease)) {
		t.Helper()
		if _, err := s.UpdateLease(s.ctx, id, func(l *broker.Lease) error { f(l); return nil }, entry(id)); err != nil {
			t.Errorf("UpdateLease(%s) = %v", id, err)
		}
	}
	change("active", func(l *broker.Lease) { l.ExpiresAt, l.RenewedAt = now.Add(2*time.Hour), now.Add(time.Hour) })
	if due, err := s.DueVIMs(s.ctx, now.Add(2*time.Hour)); err != nil || len(due) != 1 || due[0].VIM != "core" {
		t.Errorf("DueVIMs = %v, %v", due, err)
	}
	for _, id := range []string{"active", "renewed"} {
		change(id, func(l *broker.Lease) { l.State, l.Reason = broker.LeaseRevoking, broker.ReasonRequested })
		change(id, func(l *broker.Lease) { l.State, l.RevokedAt = broker.LeaseRevoked, now.Add(time.Hour) })
	}
	for _, id := range []string{"active", "renewed", "revoked"} {
		change(id, func(l *broker.Lease) { l.ConfirmedDeadAt, l.Sealed = now.Add(time.Hour), "" })
	}
	if v := s.mustVIM(t, "core"); len(v.Past) != 0 {
		t.Errorf("the generation that no lease needs any more is still there: %+v", v.Past)
	}
	if keys, err := s.RetiredKeys(s.ctx, 10); err != nil || len(keys) != 1 || keys[0].Ref != "ref-1" {
		t.Errorf("RetiredKeys = %v, %v; want the key of that generation", keys, err)
	}
	if c, err := s.Census(s.ctx); err != nil || c.Leases[broker.LeaseRevoked] != 3 || c.Leases[broker.LeaseActive] != 0 {
		t.Errorf("Census = %+v, %v", c, err)
	}
	entries, err := s.Entries(s.ctx, audit.Query{Limit: 1000})
	slices.Reverse(entries)
	if err != nil || audit.Verify(entries) != nil {
		t.Errorf("the audit log of both versions: %v, %v", err, audit.Verify(entries))
	}
}
