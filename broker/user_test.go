package broker_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// newUserBench is a cloud whose registered user keeps the users of the domain.
func newUserBench(t *testing.T, o ...benchOptions) *cloudBench {
	t.Helper()
	b := newCloudBench(t, append(o, benchOptions{})[0])
	b.cloud.OnDomain(b.user.ID, "manager")
	b.options.Directories = map[string]policy.Directory{policy.ByClient: directory{vnfm.Name: vnfm}, policy.ByStaticToken: directory{alice.Name: alice, root.Name: root}}
	b.Broker = mustNew(t, b.options)
	return b
}

var aUser = broker.LeaseRequest{VIM: "core", Role: "member", Credential: broker.LeaseUser, IdempotencyKey: "again"}

// A lease that is a user stands for months, is answered with the same password again, and ends with
// its user; the password is nowhere.
func TestALeaseThatIsAUser(t *testing.T) {
	b := newUserBench(t)
	l, config, err := b.IssueLease(t.Context(), root, aUser)
	if err != nil {
		t.Fatal(err)
	}
	if !l.Derived || !l.Revocable || l.Asked() != broker.LeaseUser || l.Grade != broker.GradeBounded || l.ExpiresAt.Sub(l.CreatedAt) != broker.DefaultTerms().StandingMax {
		t.Errorf("the lease is %+v", l)
	}
	if config.Username != l.Handle || config.Password.Empty() || len(b.cloud.Users("lease-")) != 1 {
		t.Errorf("handed out is the user %q, and there are %d", config.Username, len(b.cloud.Users("lease-")))
	}
	first := config.Password.Reveal()
	again, config, err := b.IssueLease(t.Context(), root, aUser)
	if err != nil || again.ID != l.ID || config.Password.Reveal() != first {
		t.Errorf("a repeat = %s, %v, want the lease %s and its password", again.ID, err, l.ID)
	}
	renewed, config, err := b.RenewLease(t.Context(), root, l.ID, 0)
	if err != nil || !renewed.ExpiresAt.Equal(l.ExpiresAt) || config.Password.Reveal() == first {
		t.Errorf("renewed until %v, %v, want another password until %v", renewed.ExpiresAt, err, l.ExpiresAt)
	}
	second := config.Password.Reveal()
	if inv, err := b.Inventory(t.Context(), root, "core", false); err != nil || inv.Upstream != 1 || inv.Rows != 1 || len(inv.Ghosts)+len(inv.Orphans) > 0 {
		t.Errorf("Inventory() = %+v, %v", inv, err)
	}
	for _, password := range []string{first, second} {
		b.wantNowhere("a password", password)
	}
	// What cannot be seen is no ghost.
	b.cloud.OnDomain(b.user.ID)
	if _, err := b.Inventory(t.Context(), root, "core", false); !errors.Is(err, broker.ErrForbidden) {
		t.Errorf("Inventory() without the right to see users = %v, want forbidden", err)
	}
	b.cloud.OnDomain(b.user.ID, "manager")

	b.clock.Add(broker.DefaultTerms().StandingMax + time.Second)
	b.mustReap()
	if row := b.row(l.ID); row.State != broker.LeaseRevoked || row.Reason != broker.ReasonExpired || len(b.cloud.Users("lease-")) > 0 {
		t.Errorf("at its end it is %s (%s), with %d users", row.State, row.LastError, len(b.cloud.Users("lease-")))
	}
	b.clock.Add(time.Minute)
	b.mustReap()
	if row := b.row(l.ID); row.ConfirmedDeadAt.IsZero() || row.Sealed != "" {
		t.Errorf("its password was not tried: %+v", row)
	}
	if !broker.Wish(aUser, broker.GradeBounded).Standing {
		t.Error("policies do not see that it stands")
	}
}

// An issue that fails on its way leaves no user, also where Keystone does not answer at once.
func TestAUserThatWasNotHandedOutIsRemoved(t *testing.T) {
	for name, fault := range map[string]fake.Fault{
		"made, and no answer": {Method: "POST", Path: "/users$", Kind: fake.Drop, Late: true},
		"no role given":       {Method: "PUT", Path: "/roles/", Kind: fake.Drop, Times: 3},
	} {
		t.Run(name, func(t *testing.T) {
			b := newUserBench(t)
			b.cloud.Fail(fault)
			if _, _, err := b.IssueLease(t.Context(), root, aUser); err == nil {
				t.Fatal("IssueLease() succeeds")
			}
			b.cloud.Heal()
			b.clock.Add(time.Hour)
			b.mustReap()
			if left := b.cloud.Users("lease-"); len(left) > 0 {
				t.Errorf("%d users are left", len(left))
			}
			if _, _, err := b.IssueLease(t.Context(), root, aUser); err != nil {
				t.Errorf("a repeat = %v", err)
			}
		})
	}
	b := newUserBench(t)
	b.store.fail("UpdateLease", 1)
	if _, _, err := b.IssueLease(t.Context(), root, aUser); err == nil {
		t.Fatal("IssueLease() succeeds, and was not recorded")
	}
	b.clock.Add(time.Hour)
	b.mustReap()
	if left := b.cloud.Users("lease-"); len(left) > 0 {
		t.Errorf("%d users are left of an issue that was not recorded", len(left))
	}
}

// A user that no row explains is an orphan, and a person has it removed.
func TestAUserThatNoRowExplains(t *testing.T) {
	b := newUserBench(t)
	v, err := b.VIM(t.Context(), root, "core")
	if err != nil {
		t.Fatal(err)
	}
	lease := uuid.NewString()
	b.cloud.Stray("lease-"+lease, fmt.Sprintf("vimbroker vim=%s lease=%s issued=%s", v.ID, lease, b.clock.Now().UTC().Format(time.RFC3339)))
	b.cloud.Stray("lease-of-a-house", "a tenant's")
	if inv, err := b.Inventory(t.Context(), root, "core", true); err != nil || len(inv.Orphans) != 1 || inv.Orphans[0].Lease != lease {
		t.Errorf("Inventory() = %+v, %v, want the orphan", inv, err)
	}
	if left := b.cloud.Users("lease-"); len(left) != 1 || left[0].Name != "lease-of-a-house" {
		t.Errorf("left are %+v, want the tenant's alone", left)
	}
}

func TestWhereNoLeaseIsAUser(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", Credential: broker.LeaseUser})
	wantKind(t, "a user on a cluster", err, broker.ErrUnsupported)
	c := newCloudBench(t, benchOptions{})
	_, _, err = c.IssueLease(t.Context(), root, aUser)
	wantKind(t, "a user of who keeps none", err, broker.ErrForbidden)
	l, err := c.WeighLease(t.Context(), root, aUser)
	if err != nil || l.Asked() != broker.LeaseUser {
		t.Errorf("WeighLease() = %+v, %v", l, err)
	}
}

// A user stands for months, as a standing lease does: members have none, clients have, and a policy on what stands is
// asked with its whole life. So is the question about it.
func TestWhoMayHaveAUser(t *testing.T) {
	shared := func(b *cloudBench) broker.VIM {
		t.Helper()
		v, err := b.UpdateVIM(t.Context(), root, "core", broker.Change{Shared: ptr(true)})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	b := newUserBench(t)
	shared(b)
	usual := aUser
	usual.Credential, usual.IdempotencyKey = "", ""
	if _, _, err := b.IssueLease(t.Context(), alice, usual); err != nil {
		t.Errorf("the usual lease of a member = %v", err)
	}
	_, _, err := b.IssueLease(t.Context(), alice, aUser)
	wantKind(t, "a user of a member", err, broker.ErrDenied)
	_, err = b.WeighLease(t.Context(), alice, aUser)
	wantKind(t, "weighing a user of a member", err, broker.ErrDenied)
	l, config, err := b.IssueLease(t.Context(), vnfm, aUser)
	if err != nil {
		t.Fatalf("a user of a client = %v", err)
	}
	for name, p := range map[string]policy.Principal{
		"another of the project": alice,
		"its name elsewhere":     {Name: vnfm.Name, Project: "other", Roles: vnfm.Roles},
	} {
		if got, leaked, err := b.IssueLease(t.Context(), p, aUser); err == nil || got.ID != "" || !leaked.Password.Empty() {
			t.Errorf("a repeat by %s = %v", name, err)
		}
		if _, leaked, err := b.RenewLease(t.Context(), p, l.ID, 0); err == nil || !leaked.Password.Empty() {
			t.Errorf("renewing by %s = %v", name, err)
		}
	}
	// Who is no client any more has it renewed no more.
	was := vnfm
	was.Roles = []string{policy.RoleReader}
	if _, leaked, err := b.RenewLease(t.Context(), was, l.ID, 0); err == nil || !leaked.Password.Empty() {
		t.Errorf("renewing without the role = %v", err)
	}
	if made := b.cloud.Users("lease-"); len(made) != 1 || made[0].Password != config.Password.Reveal() {
		t.Errorf("there are %d users, or the one has another password", len(made))
	}

	for limit, want := range map[string]bool{"15551999": false, "15552000": true} {
		b := newUserBench(t, benchOptions{policies: site(`
			@id("short") forbid (principal, action == Action::"lease:issue", resource is VIM)
			when { context.standing && context.ttlSeconds > ` + limit + ` };`)})
		v := shared(b)
		d, err := b.Explain(t.Context(), vnfm, policy.Request{
			Principal: vnfm, Action: policy.LeaseIssue, Wish: broker.Wish(aUser, broker.GradeBounded),
			Resource: policy.Resource{Kind: policy.KindVIM, ID: v.ID, Name: v.Name, Project: v.Project, Shared: true, VIMType: string(v.Type)},
		})
		if err != nil || d.Allowed != want {
			t.Errorf("under a limit of %s s: Explain() = %+v, %v, want allowed %t", limit, d, err, want)
		}
		if _, _, err := b.IssueLease(t.Context(), vnfm, aUser); (err == nil) != want {
			t.Errorf("under a limit of %s s: IssueLease() = %v, want allowed %t", limit, err, want)
		}
	}
}

// A password is good for months, and nobody decides when it is used: so its lease ends once its holder would not be
// issued it any more, whatever the site says of other leases.
func TestAPasswordEndsWithTheAccessOfItsHolder(t *testing.T) {
	const passes = `@id("pass") permit (principal, action == Action::"lease:pass-through", resource is VIM) when { principal.roles.contains("vnfm") };`
	for name, lose := range map[string]func(b *cloudBench, clients directory, policies *switched) error{
		"nothing": func(b *cloudBench, _ directory, _ *switched) error { return b.EndWithoutAccess(b.t.Context()) },
		"the role": func(b *cloudBench, clients directory, _ *switched) error {
			less := vnfm
			less.Roles = []string{policy.RoleReader}
			clients[vnfm.Name] = less
			return b.EndWithoutAccess(b.t.Context())
		},
		"the client": func(b *cloudBench, clients directory, _ *switched) error {
			delete(clients, vnfm.Name)
			return b.EndWithoutAccess(b.t.Context())
		},
		"a policy, at a reload": func(b *cloudBench, _ directory, policies *switched) (err error) {
			policies.Decider, err = policy.Load(site(passes + `@id("none") forbid (principal, action == Action::"lease:issue", resource) when { principal.roles.contains("vnfm") };`))
			return errors.Join(err, b.EndWithoutAccess(b.t.Context()))
		},
		"the share": func(b *cloudBench, _ directory, _ *switched) error {
			_, err := b.UpdateVIM(b.t.Context(), root, "core", broker.Change{SharedWith: &[]string{}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newUserBench(t)
			policies, err := policy.Load(site(passes))
			if err != nil {
				t.Fatal(err)
			}
			clients, decider := directory{vnfm.Name: vnfm}, &switched{policies}
			b.options.Policy, b.options.Directories[policy.ByClient] = decider, clients
			b.Broker = mustNew(t, b.options)
			if _, err := b.UpdateVIM(t.Context(), root, "core", broker.Change{SharedWith: &[]string{vnfm.Project}}); err != nil {
				t.Fatal(err)
			}
			leases := map[broker.LeaseCredential]broker.Lease{}
			for _, credential := range []broker.LeaseCredential{"", broker.LeaseUser, broker.LeasePassThrough} {
				l, _, err := b.IssueLease(t.Context(), vnfm, broker.LeaseRequest{VIM: "core", Credential: credential})
				if err != nil {
					t.Fatal(err)
				}
				leases[credential] = l
			}
			if err := lose(b, clients, decider); err != nil {
				t.Fatal(err)
			}
			for credential, l := range leases {
				ends := credential != "" && name != "nothing"
				if row := b.row(l.ID); (row.State == broker.LeaseRevoking) != ends || (row.Reason == broker.ReasonAccessLost) != ends {
					t.Errorf("lease %q is %s (%s), want that it ends: %t", credential, row.State, row.Reason, ends)
				}
			}
			b.mustReap()
			if left := len(b.cloud.Users("lease-")); (left == 0) == (name == "nothing") {
				t.Errorf("after the reaper there are %d users", left)
			}
		})
	}
}

// Of whom nobody here knows later on whether they may still have it, none has a password for months.
func TestAPasswordOfWhomNoDirectoryKnowsIsShort(t *testing.T) {
	b := newUserBench(t)
	terms := broker.DefaultTerms()
	for name, c := range map[string]struct {
		p    policy.Principal
		want time.Duration
	}{
		"a static token":   {root, terms.StandingMax},
		"one from outside": {policy.Principal{Name: "keystone:u1@default", Project: root.Project, Roles: root.Roles}, terms.MaxTTL},
	} {
		wish := aUser
		wish.TTL, wish.IdempotencyKey = 10*terms.StandingMax, ""
		l, _, err := b.IssueLease(t.Context(), c.p, wish)
		if err != nil || l.ExpiresAt.Sub(l.CreatedAt) != c.want || !l.MaxExpiresAt.Equal(l.ExpiresAt) {
			t.Errorf("the lease of %s lives for %v, renewed for %v, %v; want %v", name, l.ExpiresAt.Sub(l.CreatedAt), l.MaxExpiresAt.Sub(l.CreatedAt), err, c.want)
		}
		if renewed, _, err := b.RenewLease(t.Context(), c.p, l.ID, wish.TTL); err != nil || !renewed.ExpiresAt.Equal(l.ExpiresAt) {
			t.Errorf("renewed, it lives until %v, %v; want %v", renewed.ExpiresAt, err, l.ExpiresAt)
		}
	}
}

// A VIM that went from a password to an application credential has an inventory all the same: its leases that are users
// are seen with the password that made them, and unseen where Keystone refuses that.
func TestAnInventoryAfterTheVIMHasAnApplicationCredential(t *testing.T) {
	b := newUserBench(t)
	l, _, err := b.IssueLease(t.Context(), root, aUser)
	if err != nil {
		t.Fatal(err)
	}
	made := b.cloud.AppCred(fakekeystone.AppCred{Name: "ours", UserID: b.user.ID, ProjectID: b.project.ID, Roles: []string{"member"}, Unrestricted: true})
	if _, err := b.RotateVIM(t.Context(), root, "core", broker.Credential{
		ApplicationCredentialID: made.ID, ApplicationCredentialSecret: secret.NewText(made.Secret),
	}, 0); err != nil {
		t.Fatal(err)
	}
	want := func(when string, upstream, unseen, ghosts int) {
		t.Helper()
		inv, err := b.Inventory(t.Context(), root, "core", false)
		if err != nil || inv.Upstream != upstream || inv.Rows != 1 || inv.Unseen != unseen || len(inv.Ghosts) != ghosts || len(inv.Orphans) > 0 {
			t.Errorf("%s: Inventory() = %+v, %v; want %d upstream, %d unseen, %d ghosts", when, inv, err, upstream, unseen, ghosts)
		}
	}
	want("after the rotation", 1, 0, 0)
	b.cloud.SetPassword(b.user.ID, "another")
	want("with the password refused", 0, 1, 0)
	b.cloud.SetPassword(b.user.ID, b.user.Password)
	b.cloud.OnDomain(b.user.ID)
	want("with the right to see users gone", 0, 1, 0)
	b.cloud.OnDomain(b.user.ID, "manager")
	if ended, err := b.RevokeLease(t.Context(), root, l.ID); err != nil || ended.State != broker.LeaseRevoked || len(b.cloud.Users("lease-")) > 0 {
		t.Errorf("RevokeLease() = %s, %v; %d users are left", ended.State, err, len(b.cloud.Users("lease-")))
	}
}

// during has f called once Keystone has the next new password of a user, before anybody is told.
func (b *cloudBench) during(f func()) {
	b.cloud.Fail(fake.Fault{Method: "PATCH", Path: "/users/", Kind: fake.Pass, Late: true, Reached: f})
}

// wantPassword fails the test if Keystone and the lease's row do not both have the password.
func (b *cloudBench) wantPassword(l broker.Lease, want string) {
	b.t.Helper()
	users := b.cloud.Users("lease-")
	if len(users) != 1 || users[0].Password != want {
		b.t.Errorf("%d users, and Keystone has another password than was handed out last", len(users))
	}
	_, config, err := b.IssueLease(b.t.Context(), root, aUser)
	if err != nil || config.Password.Reveal() != want {
		b.t.Errorf("the row has another password than was handed out last (%v)", err)
	}
}

// Renewals of a lease that is a user go one after the other, also on two replicas: each replaces the password of the
// one before, and the row has what Keystone has.
func TestRenewalsOfAUserGoOneAfterTheOther(t *testing.T) {
	b := newUserBench(t)
	other := mustNew(t, b.options)
	l, _, err := b.IssueLease(t.Context(), root, aUser)
	if err != nil {
		t.Fatal(err)
	}
	b.during(func() {
		_, _, err := other.RenewLease(t.Context(), root, l.ID, 0)
		wantKind(t, "a renewal while another is under way", err, broker.ErrConflict)
	})
	_, config, err := b.RenewLease(t.Context(), root, l.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	b.wantPassword(l, config.Password.Reveal())
	if _, config, err = other.RenewLease(t.Context(), root, l.ID, 0); err != nil {
		t.Fatalf("a renewal after the other = %v", err)
	}
	b.wantPassword(l, config.Password.Reveal())

	// One whose process died, or that took too long, keeps no other from renewing for ever, and records nothing after it.
	var second string
	b.during(func() {
		b.clock.Add(3 * b.options.Terms.CallTimeout)
		_, config, err := other.RenewLease(t.Context(), root, l.ID, 0)
		if err != nil {
			t.Errorf("a renewal long after one that has not ended = %v", err)
		}
		second = config.Password.Reveal()
	})
	_, config, err = b.RenewLease(t.Context(), root, l.ID, 0)
	wantKind(t, "a renewal that another has overtaken", err, broker.ErrConflict)
	if !config.Password.Empty() {
		t.Error("it hands out a password")
	}
	b.wantPassword(l, second)

	// Many at once, on both.
	for range 5 {
		var (
			group sync.WaitGroup
			mu    sync.Mutex
			last  []string
		)
		for n := range 8 {
			group.Go(func() {
				_, config, err := []*broker.Broker{b.Broker, other}[n%2].RenewLease(t.Context(), root, l.ID, 0)
				if err != nil {
					wantKind(t, "one of many renewals", err, broker.ErrConflict)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				last = append(last, config.Password.Reveal())
			})
		}
		group.Wait()
		now := b.cloud.Users("lease-")[0].Password
		if !slices.Contains(last, now) {
			t.Errorf("%d renewals succeed, and none has the password that Keystone has", len(last))
		}
		b.wantPassword(l, now)
	}
	if ended, err := other.RevokeLease(t.Context(), root, l.ID); err != nil || ended.State != broker.LeaseRevoked || len(b.cloud.Users("lease-")) > 0 {
		t.Errorf("RevokeLease() = %s, %v; %d users are left", ended.State, err, len(b.cloud.Users("lease-")))
	}
}

// A renewal whose VIM is sealed anew meanwhile is recorded all the same: the password before works no more.
func TestARenewalOfAUserSurvivesThatTheVIMIsSealedAnew(t *testing.T) {
	b := newUserBench(t)
	l, _, err := b.IssueLease(t.Context(), root, aUser)
	if err != nil {
		t.Fatal(err)
	}
	b.during(func() {
		if _, err := b.RekeyVIM(t.Context(), root, "core", "", 0); err != nil {
			t.Error(err)
		}
	})
	_, config, err := b.RenewLease(t.Context(), root, l.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	b.wantPassword(l, config.Password.Reveal())
}
