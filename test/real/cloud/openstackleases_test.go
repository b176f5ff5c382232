package cloud_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
)

// loggedIn is what Keystone says of a token.
type loggedIn struct {
	Token struct {
		Roles     []struct{ Name string }
		ExpiresAt string `json:"expires_at"`
	}
}

func (l loggedIn) roles() []string {
	var names []string
	for _, r := range l.Token.Roles {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return names
}

// What a lease is worth on a real Keystone: the roles that were asked for and those
// that they imply, for no longer than it lives, and no right to make another.
func TestOpenStackLeaseIsNarrow(t *testing.T) {
	o := real.OpenStack(t)
	behind, who := o.TLS(t), o.Project(t, "admin", "creator")
	v := newVIM(t, registration(behind, who))
	for role, want := range map[string][]string{
		"member":        {"member", "reader"},
		"reader":        {"reader"},
		"":              {"creator", "member", "reader"}, // all but admin, which must be asked for
		"admin":         {"admin", "member", "reader"},
		"creator,admin": {"admin", "creator", "member", "reader"},
	} {
		g := v.grant(t, role, "", 2*time.Minute)
		m, err := v.Issue(t.Context(), v.Access, g)
		if err != nil {
			t.Fatal(err)
		}
		var in loggedIn
		token, err := o.LogInWith(t.Context(), m.Credential.ApplicationCredentialID, m.Credential.ApplicationCredentialSecret.Reveal(), &in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, in.roles()); diff != "" {
			t.Errorf("roles of a lease for %q (-want +got):\n%s", role, diff)
		}
		// Capped, and written without a zone: it is UTC.
		if end, err := time.Parse("2006-01-02T15:04:05", in.Token.ExpiresAt[:19]); err != nil || !end.Equal(m.ExpiresAt.Truncate(time.Second)) {
			t.Errorf("its token ends at %s, the lease at %s", in.Token.ExpiresAt, m.ExpiresAt)
		}
		made := map[string]any{"application_credential": map[string]any{"name": "another"}}
		if status := o.As(t, token, "POST", o.AuthURL+"/users/"+who.UserID+"/application_credentials", made, nil); status != http.StatusForbidden {
			t.Errorf("a lease for %q makes an application credential: %d, want 403", role, status)
		}
		v.end(t, g, m.Credential)
		if status := o.As(t, token, "GET", o.AuthURL+"/auth/projects", nil, nil); status == http.StatusOK {
			t.Errorf("the token of a revoked lease for %q works at Keystone", role)
		}
	}
}

// A lease that is a project token tells its true end, and is refused everywhere
// once it is revoked.
func TestOpenStackProjectTokenEnds(t *testing.T) {
	o, began := disturbed(t), time.Now()
	behind, who := o.TLS(t), o.Project(t)
	password := newVIM(t, registration(behind, who))
	soon := time.Now().Add(10 * time.Minute).Truncate(time.Second)
	id, text := o.ExpiringApplicationCredential(t, who, soon)
	restricted := newVIM(t, broker.Registration{
		Name: "core", Type: "openstack", Endpoint: behind.AuthURL, CACert: behind.CAPEM,
		Credential: broker.Credential{ApplicationCredentialID: id, ApplicationCredentialSecret: secret.NewText(text)},
	})
	for name, c := range map[string]struct {
		vim
		purpose string
		end     time.Time // zero: once the token has lived as long as the cloud's do
	}{
		"for Heat":               {password, openstack.Heat, time.Time{}},
		"of one that ends first": {restricted, "", soon},
	} {
		t.Run(name, func(t *testing.T) {
			g := c.grant(t, "member,creator,heat_stack_owner", c.purpose, time.Hour)
			m, err := c.Issue(t.Context(), c.Access, g)
			if err != nil || m.Credential.Kind != broker.CredentialProjectToken {
				t.Fatalf("Issue() = a %s, %v", m.Credential.Kind, err)
			}
			from, to := c.end, c.end
			if c.end.IsZero() { // it was made since the test began
				from, to = began.Add(tokensLife), time.Now().Add(tokensLife)
			}
			if m.ExpiresAt.Before(from.Add(-10*time.Second)) || m.ExpiresAt.After(to.Add(10*time.Second)) {
				t.Errorf("ends at %s, want %s to %s", m.ExpiresAt, from, to)
			}
			token := m.Credential.Token.Reveal()
			if !may(t, o, token, "POST", o.KeyManager+"/v1/secrets", map[string]string{"name": "mine"}) {
				t.Error("Barbican refuses a lease's token")
			}
			c.vim.end(t, g, m.Credential)
			for _, url := range []string{o.AuthURL + "/auth/projects", o.KeyManager + "/v1/secrets", o.Orchestration + "/v1/" + who.ProjectID + "/stacks"} {
				if status := o.As(t, token, "GET", url, nil, nil); status != http.StatusUnauthorized {
					t.Errorf("%s answers %d to a revoked token, want 401", url, status)
				}
			}
		})
	}
}

// admin may do everything.
var admin = policy.Principal{Name: "admin", Project: "default", Roles: []string{policy.RoleAdmin}}

// newBroker is a broker on its embedded defaults, with the OpenStack driver; change may
// be nil.
func newBroker(t *testing.T, change func(*broker.Options)) *broker.Broker {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "vimbroker.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	keys, err := keydir.Open(filepath.Join(dir, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	rules := egress.Default()
	rules.AllowLoopback = true
	terms := broker.DefaultTerms()
	terms.CallTimeout = process.Patience
	options := broker.Options{
		Store: store, Keys: []secret.KeyStore{keys}, Policy: policies, Terms: terms, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Drivers: []broker.Driver{openstack.New(openstack.Options{})},
		Egress:  func(string) *egress.Rules { return rules },
	}
	if change != nil {
		change(&options)
	}
	b, err := broker.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func issue(t *testing.T, b *broker.Broker) (broker.Lease, clientconfig.Config) {
	t.Helper()
	l, config, err := b.IssueLease(t.Context(), admin, broker.LeaseRequest{VIM: "core", TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return l, config
}

func wantInventory(t *testing.T, b *broker.Broker, when string, want broker.Inventory) {
	t.Helper()
	got, err := b.Inventory(t.Context(), admin, "core", want.Settled)
	if err != nil || got.Upstream != want.Upstream || got.Rows != want.Rows || got.Unseen != want.Unseen ||
		len(got.Orphans) != len(want.Orphans) || len(got.Ghosts) != len(want.Ghosts) {
		t.Errorf("%s, Inventory() = %+v, %v, want %+v", when, got, err, want)
	}
}

// Leases end without us: someone on the cloud deletes their application credentials,
// as some releases of Keystone do by themselves when a role is taken away. This one
// lets a lease keep the roles that are left.
func TestOpenStackTakesLeasesAway(t *testing.T) {
	o := real.OpenStack(t)
	who, b := o.Project(t), newBroker(t, nil)
	if _, err := b.RegisterVIM(t.Context(), admin, registration(o.TLS(t), who)); err != nil {
		t.Fatal(err)
	}
	renewed, config := issue(t, b)
	revoked, _ := issue(t, b)
	issue(t, b)
	o.TakeRole(t, who, "creator")
	var in loggedIn
	if _, err := o.LogInWith(t.Context(), config.ApplicationCredentialID, config.ApplicationCredentialSecret.Reveal(), &in); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"heat_stack_owner", "member", "reader"}, in.roles()); diff != "" {
		t.Errorf("roles of a lease after one was taken from its user (-want +got):\n%s", diff)
	}
	wantInventory(t, b, "with three leases", broker.Inventory{Upstream: 3, Rows: 3})

	var all struct {
		Credentials []struct{ ID string } `json:"application_credentials"`
	}
	token, url := o.Token(t, who), o.AuthURL+"/users/"+who.UserID+"/application_credentials"
	o.As(t, token, "GET", url, nil, &all)
	for _, c := range all.Credentials {
		o.As(t, token, "DELETE", url+"/"+c.ID, nil, nil)
	}
	wantInventory(t, b, "with all deleted", broker.Inventory{Rows: 3, Ghosts: make([]broker.Lease, 3)})
	if _, _, err := b.RenewLease(t.Context(), admin, renewed.ID, 0); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("RenewLease() = %v, want %v", err, broker.ErrConflict)
	}
	if l, err := b.Lease(t.Context(), admin, renewed.ID); err != nil || l.State != broker.LeaseRevoked || l.Reason != broker.ReasonGoneUpstream {
		t.Errorf("the lease that was to be renewed is %s, %s, %v; want revoked, goneUpstream", l.State, l.Reason, err)
	}
	if l, err := b.RevokeLease(t.Context(), admin, revoked.ID); err != nil || l.State != broker.LeaseRevoked {
		t.Errorf("RevokeLease() = %s, %v, want revoked", l.State, err)
	}
	wantInventory(t, b, "settling", broker.Inventory{Rows: 1, Ghosts: make([]broker.Lease, 1), Settled: true})
	issue(t, b)
	wantInventory(t, b, "in the end", broker.Inventory{Upstream: 1, Rows: 1})
}

// An application credential belongs to the user that made it, and to no other of the
// project.
func TestOpenStackRotatesToAnotherUser(t *testing.T) {
	o := real.OpenStack(t)
	anna, b := o.Project(t), newBroker(t, nil)
	ben := o.Colleague(t, anna)
	if _, err := b.RegisterVIM(t.Context(), admin, registration(o.TLS(t), anna)); err != nil {
		t.Fatal(err)
	}
	first, _ := issue(t, b)
	if _, err := b.RotateVIM(t.Context(), admin, "core", broker.Credential{Username: ben.Username, Password: secret.NewText(ben.Password)}, 0); err != nil {
		t.Fatal(err)
	}
	issue(t, b)
	wantInventory(t, b, "after the rotation", broker.Inventory{Upstream: 2, Rows: 2})
	if _, _, err := b.RenewLease(t.Context(), admin, first.ID, 0); err != nil {
		t.Errorf("RenewLease() of the first user's = %v", err)
	}
	o.SetPassword(t, anna, "another-"+anna.Password)
	wantInventory(t, b, "with the first user refused", broker.Inventory{Upstream: 1, Rows: 2, Unseen: 1})
	if _, _, err := b.RenewLease(t.Context(), admin, first.ID, 0); !errors.Is(err, broker.ErrForbidden) {
		t.Errorf("RenewLease() = %v, want %v", err, broker.ErrForbidden)
	}
	o.SetPassword(t, anna, anna.Password)
	// For a second Keystone refuses the tokens that it gives her.
	if !real.Poll(t, process.Patience, func() bool {
		inv, err := b.Inventory(t.Context(), admin, "core", false)
		return err == nil && inv.Unseen == 0
	}) {
		t.Error("with her password back, the first user's lease is not seen")
	}
	if l, err := b.RevokeLease(t.Context(), admin, first.ID); err != nil || l.State != broker.LeaseRevoked {
		t.Errorf("RevokeLease() = %s, %v, want revoked", l.State, err)
	}
	wantInventory(t, b, "in the end", broker.Inventory{Upstream: 1, Rows: 1})
}
