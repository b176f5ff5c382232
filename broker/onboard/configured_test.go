package onboard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// TestEnabledByConfiguration: what the configuration says is enabled by the same method, in
// the name of the configuration, and only where something differs.
func TestEnabledByConfiguration(t *testing.T) {
	b := newBench(t)
	enable := func(project string, m onboard.Settings) error {
		return b.EnableConfigured(t.Context(), project, "hub", m)
	}
	now := func() onboard.Management {
		t.Helper()
		m, err := b.store.Management(t.Context(), b.hub.ID)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	same := onboard.Settings{Namespaces: []string{"b", "a"}, Projects: map[string]string{"": "north", "b": "south"}}
	if err := enable("default", same); err != nil || now().Revision != 1 || now().EnabledBy != "root" {
		t.Errorf("what is enabled so already: %v, revision %d, enabled by %s", err, now().Revision, now().EnabledBy)
	}
	for name, change := range map[string]func(*onboard.Settings){
		"namespaces":    func(m *onboard.Settings) { m.Namespaces = []string{"a"}; m.Projects = map[string]string{"": "north"} },
		"selector":      func(m *onboard.Settings) { m.Selector = map[string]string{"onboard": "yes"} },
		"projects":      func(m *onboard.Settings) { m.Projects = map[string]string{"": "south"} },
		"secretName":    func(m *onboard.Settings) { m.SecretName = "{cluster}-admin-kubeconfig" },
		"secretKey":     func(m *onboard.Settings) { m.SecretKey = "super-admin.conf" },
		"nameTemplate":  func(m *onboard.Settings) { m.NameTemplate = "{cluster}" },
		"copyLabels":    func(m *onboard.Settings) { m.CopyLabels = []string{"site"} },
		"controlPlanes": func(m *onboard.Settings) { m.ControlPlanes = []string{"planes.example.org"} },
		"account":       func(m *onboard.Settings) { m.Account = onboard.AccountNone },
	} {
		other, before := same, now().Revision
		change(&other)
		for range 2 { // the second time it is so already
			if err := enable("default", other); err != nil || now().Revision != before+1 || now().EnabledBy != "system:configuration" {
				t.Errorf("other %s: %v, revision %d after %d, enabled by %s", name, err, now().Revision, before, now().EnabledBy)
			}
		}
		if err := enable("default", same); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := b.store.Entries(t.Context(), audit.Query{Principal: "system:configuration", Limit: 1000})
	done := 0
	for _, e := range entries {
		if e.Action == "cluster:enable" && e.Outcome == audit.Done {
			done++
		}
	}
	if err != nil || done != 18 {
		t.Errorf("%d entries of the audit log say that it was enabled, %v, want 18", done, err)
	}

	if err := b.Disable(t.Context(), root, "hub"); err != nil {
		t.Fatal(err)
	}
	if err := enable("default", same); err != nil || now().Revision != 1 {
		t.Errorf("what is not enabled: %v", err)
	}
	b.clock.Add(time.Minute)
	b.watch()
	b.cluster("b", "edge")
	b.look("b", "edge")
	b.want("b", "edge", onboard.StateRegistered, "")
}

// TestOnlyAKubernetesVIMIsEnabled: Cluster API does not run on a cloud.
func TestOnlyAKubernetesVIMIsEnabled(t *testing.T) {
	b := newBench(t)
	b.drivers = append(b.drivers, openstack.New(openstack.Options{Now: b.clock.Now}))
	b.serve(func(*broker.Terms) {})
	cloud := fakekeystone.New(t, fakekeystone.Options{Now: b.clock.Now})
	user := cloud.User("anna", cloud.Project("demo"), "member")
	core, err := b.RegisterVIM(t.Context(), root, broker.Registration{
		Name: "core", Type: "openstack", Endpoint: cloud.Endpoint, CACert: cloud.CA,
		Scope:      broker.Scope{ProjectName: "demo", ProjectDomainName: "Default", UserDomainName: "Default"},
		Credential: broker.Credential{Username: user.Name, Password: secret.NewText(user.Password)},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := onboard.Settings{Namespaces: []string{"a"}, Projects: map[string]string{"": "north"}}
	_, err = b.Enable(t.Context(), root, "core", m)
	wantKind(t, "enabling a cloud", err, broker.ErrInvalid)
	if err != nil && !strings.Contains(err.Error(), "is of type openstack") {
		t.Errorf("Enable() = %v, which does not say why", err)
	}
	wantKind(t, "enabling a cloud by the configuration", b.EnableConfigured(t.Context(), "default", "core", m), broker.ErrInvalid)
	_, err = b.store.Management(t.Context(), core.ID)
	wantKind(t, "the cloud as a management cluster", err, broker.ErrNotFound)
}

// TestEnablingIsRecorded: whose VIMs clusters are to become, before it is so, and what was refused.
func TestEnablingIsRecorded(t *testing.T) {
	b := newBench(t)
	m := b.m
	m.NameTemplate = "one-for-all"
	_, err := b.Enable(t.Context(), root, "hub", m.Settings)
	wantKind(t, "settings that cannot be followed", err, broker.ErrInvalid)
	entries, err := b.store.Entries(t.Context(), audit.Query{Principal: "root", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, e := range entries {
		switch {
		case e.Action == policy.ClusterEnable && e.Outcome == audit.Done:
			got[e.Detail[audit.DetailNamespaces]]++
			if e.Detail[audit.DetailEndpointHost] == "" {
				t.Errorf("the entry does not have the host that policies see: %v", e.Detail)
			}
		case e.Action == policy.ClusterEnable:
			got[string(e.Outcome)+" "+e.Detail[audit.DetailError]]++
		case e.Action == policy.VIMRegister && e.Kind == policy.KindProject && e.Resource != b.hub.Project:
			got[string(e.Outcome)+" "+e.Resource]++
		}
	}
	if diff := cmp.Diff(map[string]int{"a=north,b=south": 1, "intent north": 1, "intent south": 1, "failed " + broker.ErrInvalid.Error(): 1}, got); diff != "" {
		t.Errorf("the audit log (-want +got):\n%s", diff)
	}
}

// TestEnablingAgainReleasesNothing: other settings let go of no cluster that is held.
func TestEnablingAgainReleasesNothing(t *testing.T) {
	b := newBench(t)
	held, until := b.clock.Now().Add(-time.Minute), b.clock.Now().Add(-time.Second)
	if _, err := b.store.UpdateManagement(t.Context(), b.hub.ID, func(m *onboard.Management) error {
		m.HeldAt, m.ReleasedUntil = held, until
		return nil
	}, audit.Entry{Time: held, Principal: "system:onboard", Project: "default", Action: policy.ClusterFollow, Kind: policy.KindVIM, Resource: b.hub.ID, Outcome: audit.Failed}); err != nil {
		t.Fatal(err)
	}
	m := b.m
	m.CopyLabels = []string{"site"}
	if got, err := b.Enable(t.Context(), root, "hub", m.Settings); err != nil || !got.HeldAt.Equal(held) || !got.ReleasedUntil.Equal(until) || !got.CreatedAt.Equal(b.m.CreatedAt) {
		t.Errorf("held since %v, released until %v, enabled %v, %v", got.HeldAt, got.ReleasedUntil, got.CreatedAt, err)
	}
}

// TestWhoMayDisableAndRelease: who may enable.
func TestWhoMayDisableAndRelease(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		p    policy.Principal
		want error
	}{{alice, broker.ErrNotFound}, {policy.Principal{Name: "dora", Project: "default", Roles: []string{policy.RoleMember}}, broker.ErrDenied}} {
		wantKind(t, c.p.Name+" disables it", b.Disable(t.Context(), c.p, "hub"), c.want)
		_, err := b.Release(t.Context(), c.p, "hub")
		wantKind(t, c.p.Name+" releases what is held", err, c.want)
	}
	if m, err := b.store.Management(t.Context(), b.hub.ID); err != nil || m.Revision != 1 {
		t.Errorf("it is in revision %d, %v", m.Revision, err)
	}
}

// TestConfigurationNamesTheProjectsOwnVIM, and none that others share with it.
func TestConfigurationNamesTheProjectsOwnVIM(t *testing.T) {
	b := newBench(t)
	if _, err := b.UpdateVIM(t.Context(), root, "hub", broker.Change{SharedWith: &[]string{"north"}}); err != nil {
		t.Fatal(err)
	}
	if v, err := b.VIM(t.Context(), alice, "hub"); err != nil || v.ID != b.hub.ID {
		t.Fatalf("the shared VIM is not seen by its name: %v", err)
	}
	m := onboard.Settings{Namespaces: []string{"a"}, Projects: map[string]string{"": "north"}}
	wantKind(t, "a VIM that is shared", b.EnableConfigured(t.Context(), "north", "hub", m), broker.ErrNotFound)
	wantKind(t, "a VIM that is not there", b.EnableConfigured(t.Context(), "default", "none", m), broker.ErrNotFound)
	m.Namespaces = nil
	wantKind(t, "no namespaces", b.EnableConfigured(t.Context(), "default", "hub", m), broker.ErrInvalid)
}
