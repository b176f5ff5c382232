package broker_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// cloudBench is a bench with an OpenStack VIM "core" besides.
type cloudBench struct {
	*bench
	cloud   *fakekeystone.Server
	project fakekeystone.Project
	user    fakekeystone.User
}

func newCloudBench(t *testing.T, o benchOptions) *cloudBench {
	t.Helper()
	b := newBench(t, o)
	cloud := fakekeystone.New(t, fakekeystone.Options{Now: b.clock.Now})
	driver := openstack.New(openstack.Options{Now: b.clock.Now})
	b.options.Drivers = append(b.options.Drivers, driver)
	b.Broker = mustNew(t, b.options)
	project := cloud.Project("demo")
	user := cloud.User("anna", project, "member")
	if _, err := b.RegisterVIM(t.Context(), root, broker.Registration{
		Name: "core", Type: "openstack", Endpoint: cloud.Endpoint, CACert: cloud.CA,
		Scope:      broker.Scope{ProjectName: "demo", ProjectDomainName: "Default", UserDomainName: "Default"},
		Credential: broker.Credential{Username: user.Name, Password: secret.NewText(user.Password)},
	}); err != nil {
		t.Fatal(err)
	}
	driver.Wait() // the probe's token ends with the probe, which tests that count tokens must not see
	return &cloudBench{b, cloud, project, user}
}

// heat issues a lease that is a project token.
func (b *cloudBench) heat(ttl time.Duration) (broker.Lease, string) {
	b.t.Helper()
	l, config, err := b.IssueLease(b.t.Context(), root, broker.LeaseRequest{VIM: "core", TTL: ttl, Purpose: openstack.Heat})
	if err != nil {
		b.t.Fatal(err)
	}
	if l.CredentialKind != broker.CredentialProjectToken || !config.ExpiresAt.Equal(l.ExpiresAt) {
		b.t.Fatalf("the lease is a %s until %v, its configuration says %v", l.CredentialKind, l.ExpiresAt, config.ExpiresAt)
	}
	return l, config.Token.Reveal()
}

// A token of an hour is leased for two minutes, and ends with the lease.
func TestATokenThatLivesLongerEndsWithItsLease(t *testing.T) {
	b := newCloudBench(t, benchOptions{terms: func(t *broker.Terms) { t.MaxTTL = 15 * time.Minute }})
	for _, asked := range []struct{ ttl, granted time.Duration }{{2 * time.Minute, 2 * time.Minute}, {time.Hour, 15 * time.Minute}} {
		l, token := b.heat(asked.ttl)
		if want := l.CreatedAt.Add(asked.granted); l.ExpiresAt.After(want) || l.ExpiresAt.After(l.MaxExpiresAt) || !l.CredentialEndsAt.After(want) {
			t.Errorf("asked for %v, the lease ends at %v, its token at %v; want the first at %v", asked.ttl, l.ExpiresAt, l.CredentialEndsAt, want)
		}
		b.clock.Add(asked.granted)
		before := b.cloud.Works(token)
		b.mustReap()
		if row := b.row(l.ID); row.State != broker.LeaseRevoked || !before || b.cloud.Works(token) {
			t.Errorf("when its time is up the lease is %s, its token works %v, and did %v", row.State, b.cloud.Works(token), before)
		}
	}
}

// A token that outlives its lease is not dead because the lease's time is up.
func TestAnEndedLeaseIsNoDeadToken(t *testing.T) {
	b := newCloudBench(t, benchOptions{})
	l, _ := b.heat(2 * time.Minute)
	if _, err := b.RevokeLease(t.Context(), root, l.ID); err != nil {
		t.Fatal(err)
	}
	b.cloud.Fail(fake.Fault{Path: "/auth/tokens", Method: "GET", Kind: fake.Refuse, Status: 500, Times: -1})
	b.clock.Add(10 * time.Minute)
	_ = b.Reap(t.Context()) // the cloud does not answer
	b.wantUnconfirmed("while the token could not be tried and has not expired,", l.ID)
	b.cloud.Heal()
	b.clock.Add(time.Hour)
	b.mustReap()
	if row := b.row(l.ID); row.ConfirmedDeadAt.IsZero() {
		t.Error("the token has expired, and its death is not confirmed")
	}
}

// What the holder of a lease made is on the lease and in the audit log once it is
// revoked, and gone where the site has it removed.
func TestWhatAHolderMadeIsReported(t *testing.T) {
	for name, remove := range map[string]bool{"reported": false, "removed": true} {
		t.Run(name, func(t *testing.T) {
			b := newCloudBench(t, benchOptions{terms: func(t *broker.Terms) { t.RemoveLeft = remove }})
			b.cloud.Plant(fakekeystone.Planted{UserID: b.user.ID, Type: "ec2"}) // before
			l, _ := b.heat(time.Hour)
			other, _ := b.mustIssue(root, "core")
			made := b.cloud.Plant(fakekeystone.Planted{UserID: b.user.ID, Type: "totp"})
			b.cloud.Fail(fake.Fault{Path: "/credentials$", Method: "GET", Kind: fake.Refuse, Status: 503})
			if now, err := b.RevokeLease(t.Context(), root, l.ID); err != nil || now.State != broker.LeaseRevoking {
				t.Fatalf("while the cloud cannot say what there is, the lease is %s, %v; want it revoking", now.State, err)
			}
			b.clock.Add(time.Minute)
			b.mustReap()
			row := b.row(l.ID)
			if row.State != broker.LeaseRevoked || len(row.LeftBehind) != 1 || !strings.Contains(row.LeftBehind[0], made.ID) || row.Stood != "" {
				t.Errorf("the lease is %s and says %q, want it revoked and to name %s", row.State, row.LeftBehind, made.ID)
			}
			if there := slices.Contains(b.cloud.Planted(), made); there == remove {
				t.Errorf("what was made is there: %v", there)
			}
			if n := len(b.cloud.Planted()); n < 1 {
				t.Error("what stood before was removed")
			}
			if row := b.row(other.ID); row.State != broker.LeaseActive || len(b.cloud.AppCreds()) == 0 {
				t.Errorf("another lease is %s", row.State)
			}
			entries, err := b.store.Entries(t.Context(), audit.Query{Limit: 1000})
			if err != nil || !slices.ContainsFunc(entries, func(e audit.Entry) bool {
				return e.Action == policy.LeaseRevoke && strings.Contains(e.Detail[audit.DetailLeft], made.ID)
			}) {
				t.Errorf("no audit entry names what was left behind (%v)", err)
			}
		})
	}
}

// A lease on a cloud that does not show what stands there says so.
func TestALeaseThatCannotBeComparedSaysSo(t *testing.T) {
	b := newCloudBench(t, benchOptions{})
	b.cloud.Fail(fake.Fault{Path: "/trusts$", Method: "GET", Kind: fake.Refuse, Status: 403})
	l, _ := b.heat(time.Hour)
	if len(l.LeftBehind) != 1 || !strings.Contains(l.LeftBehind[0], "may not list trusts") {
		t.Errorf("the lease says %q, want why nothing can be compared", l.LeftBehind)
	}
}

// A password that was passed through to many is tried once when it has been replaced: a cloud may lock the user out.
func TestAReplacedPasswordIsTriedOnce(t *testing.T) {
	b := newCloudBench(t, benchOptions{policies: site(`@id("pass") permit (principal, action == Action::"lease:pass-through", resource is VIM);`)})
	var all []broker.Lease
	for range 12 {
		l, _, err := b.IssueLease(t.Context(), root, broker.LeaseRequest{VIM: "core", Credential: broker.LeasePassThrough})
		if err != nil {
			t.Fatal(err)
		}
		if l, err = b.RevokeLease(t.Context(), root, l.ID); err != nil || b.row(l.ID).State != broker.LeaseIrrevocable {
			t.Fatalf("RevokeLease() = %+v, %v, want irrevocable", b.row(l.ID), err)
		}
		all = append(all, l)
	}
	b.cloud.SetPassword(b.user.ID, "the-second-one")
	if _, err := b.RotateVIM(t.Context(), root, "core", broker.Credential{
		Kind: broker.CredentialPassword, Username: b.user.Name, Password: secret.NewText("the-second-one"),
	}, 0); err != nil {
		t.Fatal(err)
	}
	var logins atomic.Int32
	b.cloud.Fail(fake.Fault{Method: http.MethodPost, Path: "/auth/tokens$", Kind: fake.Pass, Times: -1, Reached: func() { logins.Add(1) }})
	b.mustReap()
	b.cloud.Heal()
	for _, l := range all {
		if row := b.row(l.ID); row.State != broker.LeaseRevoked {
			t.Errorf("a lease is %s (%s), want revoked", row.State, row.LastError)
		}
	}
	if n := logins.Load(); n != 1 {
		t.Errorf("the password of %d leases was tried %d times, want once", len(all), n)
	}
}

// A bounded lease whose cloud lets its holder plant a credential after all, as before the fixes of
// 2026, is told of it when it ends: the row, the alarm and the audit log name it.
func TestABoundedLeaseThatLeftSomethingBehindSaysSo(t *testing.T) {
	b := newCloudBench(t, benchOptions{})
	l, _ := b.mustIssue(root, "core")
	if l.Grade != broker.GradeBounded {
		t.Fatalf("the lease is %s, want it bounded: the test proves nothing", l.Grade)
	}
	made := b.cloud.Plant(fakekeystone.Planted{UserID: b.user.ID, Type: "ec2"})
	if _, err := b.RevokeLease(t.Context(), root, l.ID); err != nil {
		t.Fatal(err)
	}
	row := b.row(l.ID)
	if len(row.LeftBehind) != 1 || !strings.Contains(row.LeftBehind[0], "EC2 credential "+made.ID) || row.Stood != "" {
		t.Errorf("the row says %q, want it to name %s", row.LeftBehind, made.ID)
	}
}

// A cloud whose catalog leads elsewhere by now is not the one that was registered: no lease is
// issued, whatever session is kept, until a check finds it well.
func TestNoLeaseOnACloudThatLeadsElsewhere(t *testing.T) {
	b := newCloudBench(t, benchOptions{})
	at := func(host string) fakekeystone.Endpoint {
		return fakekeystone.Endpoint{Service: "orchestration", Interface: "public", Region: "RegionOne", URL: host}
	}
	check := func() broker.Health {
		t.Helper()
		v, err := b.CheckVIM(t.Context(), root, "core")
		if err != nil {
			t.Fatal(err)
		}
		return v.Health
	}
	b.cloud.SetCatalog(at("https://evil.example"))
	if h := check(); h.Status != broker.HealthIdentityChanged || !strings.Contains(h.Message, "tokens would follow") {
		t.Errorf("the VIM is %s: %s; want it another", h.Status, h.Message)
	}
	b.Broker = mustNew(t, b.options) // another replica, which has checked nothing
	_, _, err := b.IssueLease(t.Context(), root, broker.LeaseRequest{VIM: "core"})
	wantKind(t, "a lease on a cloud that leads elsewhere", err, broker.ErrConflict)
	if n := len(b.cloud.AppCreds()); n > 0 {
		t.Errorf("%d application credentials were made", n)
	}
	b.cloud.SetCatalog(at(b.cloud.Endpoint + "/heat/v1/project"))
	if h := check(); h.Status != broker.HealthReachable {
		t.Errorf("the VIM is %s: %s; want it well again", h.Status, h.Message)
	}
	b.mustIssue(root, "core")
}
