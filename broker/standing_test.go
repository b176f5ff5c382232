package broker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// vnfm is a registered client.
var vnfm = policy.Principal{Name: "client:8c1f1b0e-0c79-4a0c-9d0b-4f6f3c0f1a11", Project: "demo", Roles: []string{policy.RoleVNFM}}

// anyStanding lets anybody have a standing lease.
type anyStanding struct{ policy.Decider }

func (d anyStanding) Decide(r policy.Request) policy.Decision {
	r.Wish.Standing = false
	return d.Decider.Decide(r)
}

// standingBench has one VIM, and a client that may lease it.
type standingBench struct {
	*bench
	clients directory
	vim     broker.VIM
	plain   secret.Text // of the lease that was issued last, in a sweep
}

func newStandingBench(t *testing.T, o benchOptions) *standingBench {
	t.Helper()
	b := &standingBench{bench: newBench(t, o), clients: directory{vnfm.Name: vnfm}}
	b.options.Directories = map[string]policy.Directory{policy.ByClient: b.clients, policy.ByStaticToken: directory{alice.Name: alice, root.Name: root}}
	b.Broker = mustNew(t, b.options)
	b.vim = b.mustRegister(alice, "edge1")
	return b
}

func standingRequest() broker.LeaseRequest {
	return broker.LeaseRequest{VIM: "edge1", Standing: true, Role: "view", Namespaces: []string{"default"}, Instance: "vnf-1", Operation: "op-1", IdempotencyKey: "k1"}
}

func (b *standingBench) mustStand() (broker.Lease, secret.Text) {
	b.t.Helper()
	l, config, err := b.IssueLease(b.t.Context(), vnfm, standingRequest())
	if err != nil {
		b.t.Fatal(err)
	}
	plain := config.Credential.LeaseSecret
	if !config.Credential.Empty() || config.Credential.Kind != "" {
		b.t.Error("a credential was handed out with a standing lease")
	}
	if config.Endpoint != b.kube.Endpoint || config.CACert == "" {
		b.t.Errorf("the configuration leads to %q", config.Endpoint)
	}
	return l, plain
}

func (b *standingBench) mustMint(l broker.Lease, plain secret.Text) secret.Text {
	b.t.Helper()
	_, cred, ends, err := b.MintUnder(b.t.Context(), l.ID, plain.Reveal(), "")
	if err != nil {
		b.t.Fatalf("MintUnder() = %v", err)
	}
	if !cred.LeaseSecret.Empty() || cred.Token.Empty() {
		b.t.Fatal("MintUnder() answered with something else than a token")
	}
	if left := ends.Sub(b.clock.Now()); left <= 0 || left > broker.DefaultTerms().StandingTTL {
		b.t.Errorf("the token lives for %v", left)
	}
	return cred.Token
}

func TestTokensAreMintedUnderAStandingLeaseUntilItIsRevoked(t *testing.T) {
	b := newStandingBench(t, benchOptions{lag: 10 * time.Second})
	l, plain := b.mustStand()
	if !strings.HasPrefix(plain.Reveal(), "vbl_") || l.TokenTTL != 15*time.Minute || l.Instance != "vnf-1" || l.Principal != vnfm.Name || l.State != broker.LeaseActive {
		t.Fatalf("the lease = %+v", l)
	}
	idle := broker.DefaultTerms().StandingIdle
	if want := b.clock.Now().Add(idle); !l.ExpiresAt.Equal(want) {
		t.Errorf("the lease ends at %v if it is not used, want %v", l.ExpiresAt, want)
	}
	first := b.mustMint(l, plain)
	step := idle / 100
	b.clock.Add(step - time.Second)
	b.mustMint(l, plain)
	if row := b.row(l.ID); !row.ExpiresAt.Equal(l.ExpiresAt) || !row.RenewedAt.Equal(b.clock.Now()) {
		t.Errorf("a use within a step moved the end from %v to %v (last used at %v)", l.ExpiresAt, row.ExpiresAt, row.RenewedAt)
	}
	b.clock.Add(time.Second)
	second := b.mustMint(l, plain)
	if first.Reveal() == second.Reveal() {
		t.Error("two mints answered with one token")
	}
	row := b.row(l.ID)
	if want := b.clock.Now().Add(idle); !row.ExpiresAt.Equal(want) || !row.RenewedAt.Equal(b.clock.Now()) {
		t.Errorf("after a use the lease ends at %v (last used at %v), want %v", row.ExpiresAt, row.RenewedAt, want)
	}
	b.use(second)
	if got := b.upstream(); got != 1 {
		t.Errorf("%d accounts stand on the VIM, want 1", got)
	}
	if got := b.wantLog(policy.LeaseMint); !slices.Equal(got, []audit.Outcome{audit.Done, audit.Done, audit.Done}) {
		t.Errorf("three mints were recorded as %v", got)
	}
	b.mustRevoke(l.ID)
	_, _, _, err := b.MintUnder(t.Context(), l.ID, plain.Reveal(), "")
	wantKind(t, "MintUnder() of a lease that was revoked", err, broker.ErrConflict)
	b.clock.Add(30 * time.Second)
	b.mustReap()
	if row := b.row(l.ID); row.ConfirmedDeadAt.IsZero() || row.Sealed != "" || b.upstream() != 0 {
		t.Errorf("after the revocation the lease is %+v, %d accounts stand", row, b.upstream())
	}
	for what, canary := range map[string]secret.Text{"the lease's secret": plain, "the first token": first, "the second token": second} {
		b.wantNowhere(what, canary.Reveal())
	}
}

// Who polls a lease that has ended, or that its holder may not use any more, fills no log.
func TestRefusedPollsOfAStandingLeaseAreFolded(t *testing.T) {
	for name, c := range map[string]struct {
		end     func(b *standingBench, l broker.Lease)
		entries int // of one refusal
		class   string
	}{
		"it was revoked":     {func(b *standingBench, l broker.Lease) { b.mustRevoke(l.ID) }, 1, broker.ErrConflict.Error()},
		"its client is gone": {func(b *standingBench, _ broker.Lease) { delete(b.clients, vnfm.Name) }, 1, ""},
		"the VIM is suspended": {func(b *standingBench, _ broker.Lease) {
			b.mustUpdate(root, b.vim.ID, broker.Change{Suspended: ptr("paused")})
		}, 1, broker.ErrUnavailable.Error()},
		"its client has no role": {func(b *standingBench, _ broker.Lease) {
			b.clients[vnfm.Name] = policy.Principal{Name: vnfm.Name, Project: "demo"}
		}, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newStandingBench(t, benchOptions{})
			l, plain := b.mustStand()
			poll := func(from string) {
				t.Helper()
				if _, cred, _, err := b.MintUnder(audit.WithSource(t.Context(), from), l.ID, plain.Reveal(), ""); err == nil || !cred.Empty() {
					t.Fatalf("MintUnder() = %v", err)
				}
			}
			refused := func() (all []audit.Entry) {
				t.Helper()
				entries, err := b.store.Entries(t.Context(), audit.Query{Limit: 1000})
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range entries {
					if e.Action == policy.LeaseMint && e.Outcome != audit.Done {
						all = append(all, e)
					}
				}
				return all
			}
			c.end(b, l)
			for range 11 {
				poll("192.0.2.1")
				b.clock.Add(5 * time.Minute)
			}
			if got := refused(); len(got) != c.entries || got[0].Detail[audit.DetailRepeats] != "" || c.class != "" && got[0].Detail[audit.DetailError] != c.class {
				t.Errorf("eleven polls within an hour are %d entries, want %d: %v", len(got), c.entries, got)
			}
			poll("192.0.2.2")
			if got := refused(); len(got) != 2*c.entries {
				t.Errorf("with one from elsewhere there are %d entries, want %d", len(got), 2*c.entries)
			}
			b.clock.Add(5 * time.Minute)
			poll("192.0.2.1")
			told := 0
			for _, e := range refused() {
				if e.Detail[audit.DetailRepeats] == "10" {
					told++
				}
			}
			if told != c.entries {
				t.Errorf("%d entries count the ten that were folded, want %d: %v", told, c.entries, refused())
			}
			for range 3 {
				poll("192.0.2.1")
			}
			before := len(refused())
			ended, end := context.WithCancel(t.Context())
			end()
			for range 2 { // what was told is not told again
				b.KeepLogins(ended)
			}
			if got := refused()[:len(refused())-before]; len(got) != c.entries || got[0].Detail[audit.DetailRepeats] != "2" {
				t.Errorf("at the end the three that were folded are told by %v, want %d entries for two others each", got, c.entries)
			}
		})
	}
}

// changeless is a store that changes no lease while it fails.
type changeless struct {
	broker.Store
	fails bool
}

func (c *changeless) UpdateLease(ctx context.Context, id string, change func(*broker.Lease) error, e audit.Entry) (broker.Lease, error) {
	if c.fails {
		return broker.Lease{}, &broker.Error{Kind: broker.ErrUnavailable, Detail: "not now"}
	}
	return c.Store.UpdateLease(ctx, id, change, e)
}

// A token that was minted and is not handed out is recorded each time: it is no poll of what has ended. So is a refusal
// by another policy than the one before.
func TestWhatIsNoPollIsNotFolded(t *testing.T) {
	b := newStandingBench(t, benchOptions{})
	l, plain := b.mustStand()
	store := &changeless{Store: b.store}
	b.options.Store = store
	decides := &deciding{Decider: b.options.Policy}
	b.options.Policy = decides
	b.Broker = mustNew(t, b.options)
	mint := func() {
		t.Helper()
		if _, cred, _, err := b.MintUnder(t.Context(), l.ID, plain.Reveal(), ""); err == nil || !cred.Empty() {
			t.Fatalf("MintUnder() = %v", err)
		}
	}
	of := func(outcome audit.Outcome) (all []audit.Entry) {
		t.Helper()
		entries, err := b.store.Entries(t.Context(), audit.Query{Action: policy.LeaseMint, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Outcome == outcome && e.Detail[audit.DetailPolicy] != "" {
				all = append(all, e)
			}
		}
		return all
	}
	store.fails = true
	for range 3 {
		mint()
	}
	if got := of(audit.Failed); len(got) != 3 {
		t.Errorf("of three tokens that nobody has the log has %d: %v", len(got), got)
	}
	for _, decides.forbids = range []string{"one", "one", "another"} {
		mint()
	}
	if got := of(audit.Denied); len(got) != 2 {
		t.Errorf("of refusals by two policies the log has %d: %v", len(got), got)
	}
}

// deciding forbids to mint by a policy of that name, if there is one.
type deciding struct {
	policy.Decider
	forbids string
}

func (d *deciding) Decide(r policy.Request) policy.Decision {
	if d.forbids != "" && r.Action == policy.LeaseMint {
		return policy.Decision{Policies: []string{d.forbids}}
	}
	return d.Decider.Decide(r)
}

// A repeat answers with the same secret, also once tokens were minted and the VIM was sealed anew.
func TestARepeatOfAStandingLeaseAnswersTheSameSecret(t *testing.T) {
	b := newStandingBench(t, benchOptions{})
	l, plain := b.mustStand()
	for _, step := range []func(){
		func() {},
		func() { b.mustMint(l, plain) },
		func() {
			if _, err := b.RekeyVIM(t.Context(), alice, "edge1", "", 0); err != nil {
				t.Fatal(err)
			}
		},
		func() { b.mustMint(l, plain) },
	} {
		step()
		again, same := b.mustStand()
		if again.ID != l.ID || same.Reveal() != plain.Reveal() {
			t.Fatal("the repeat answered with another lease, or another secret")
		}
	}
}

func TestOnlyTheSecretOfTheLeaseMints(t *testing.T) {
	b := newStandingBench(t, benchOptions{})
	l, plain := b.mustStand()
	r := standingRequest()
	r.IdempotencyKey = "k2"
	other, config, err := b.IssueLease(t.Context(), vnfm, r)
	if err != nil {
		t.Fatal(err)
	}
	usual, _ := b.mustIssue(alice, "edge1")
	for what, c := range map[string]struct{ id, plain, holder string }{
		"no secret":              {l.ID, "", ""},
		"another lease's secret": {l.ID, config.Credential.LeaseSecret.Reveal(), ""},
		"a cut secret":           {l.ID, plain.Reveal()[:20], ""},
		"the digest":             {l.ID, b.row(l.ID).SecretSHA256, ""},
		"another holder":         {l.ID, plain.Reveal(), alice.Name},
		"no lease":               {vnfm.Name[7:], plain.Reveal(), ""},
		"no id":                  {"../" + l.ID, plain.Reveal(), ""},
		"a lease without one":    {usual.ID, "", ""},
		"an id that is another":  {other.ID, plain.Reveal(), vnfm.Name},
	} {
		if _, cred, _, err := b.MintUnder(t.Context(), c.id, c.plain, c.holder); !errors.Is(err, policy.ErrUnauthenticated) || !cred.Empty() {
			t.Errorf("MintUnder() with %s = %v", what, err)
		}
	}
	if got := b.wantLog(policy.LeaseMint); len(got) != 0 {
		t.Errorf("mints were recorded: %v", got)
	}
	if _, _, _, err := b.MintUnder(t.Context(), strings.ToUpper(l.ID), plain.Reveal(), vnfm.Name); err != nil {
		t.Errorf("MintUnder() with the holder's name = %v", err)
	}
}

// Each mint is decided anew.
func TestAMintIsRefusedOnceItsHolderWouldNotBeIssuedTheLease(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *standingBench)
		want   error
	}{
		"the client is gone": {func(b *standingBench) { delete(b.clients, vnfm.Name) }, policy.ErrUnauthenticated},
		"it is another's":    {func(b *standingBench) { b.clients[vnfm.Name] = policy.Principal{Name: vnfm.Name, Project: "other"} }, policy.ErrUnauthenticated},
		"it lost its role":   {func(b *standingBench) { b.clients[vnfm.Name] = policy.Principal{Name: vnfm.Name, Project: "demo"} }, broker.ErrNotFound},
		"it may only look": {func(b *standingBench) {
			b.clients[vnfm.Name] = policy.Principal{Name: vnfm.Name, Project: "demo", Roles: []string{policy.RoleReader}}
		}, broker.ErrDenied},
		"the VIM is suspended": {func(b *standingBench) {
			b.mustUpdate(root, b.vim.ID, broker.Change{Suspended: ptr("its cluster is paused")})
		}, broker.ErrUnavailable},
		"a policy forbids such leases": {func(b *standingBench) {
			policies, err := policy.Load(site(`@id("none") forbid (principal, action == Action::"lease:issue", resource) when { context.standing && context.grade == "bounded" };`))
			if err != nil {
				b.t.Fatal(err)
			}
			b.options.Policy = policies
			b.Broker = mustNew(b.t, b.options)
		}, broker.ErrDenied},
		"a policy forbids minting": {func(b *standingBench) {
			policies, err := policy.Load(site(`@id("none") forbid (principal, action == Action::"lease:mint", resource) when { context.ttlSeconds > 600 };`))
			if err != nil {
				b.t.Fatal(err)
			}
			b.options.Policy = policies
			b.Broker = mustNew(b.t, b.options)
		}, broker.ErrDenied},
	} {
		t.Run(name, func(t *testing.T) {
			b := newStandingBench(t, benchOptions{})
			l, plain := b.mustStand()
			b.mustMint(l, plain)
			minted := len(b.kube.Tokens())
			c.change(b)
			if _, cred, _, err := b.MintUnder(t.Context(), l.ID, plain.Reveal(), ""); !errors.Is(err, c.want) || !cred.Empty() {
				t.Errorf("MintUnder() = %v, want %v", err, c.want)
			}
			if got := len(b.kube.Tokens()); got != minted {
				t.Errorf("%d tokens were minted all the same", got-minted)
			}
			outcomes := b.wantLog(policy.LeaseMint)
			if len(outcomes) < 2 || !slices.Contains(outcomes, audit.Denied) && !slices.Contains(outcomes, audit.Failed) {
				t.Errorf("the refusal was recorded as %v", outcomes)
			}
		})
	}
}

func TestAStandingLeaseEndsUnusedAndAtItsMaximum(t *testing.T) {
	for name, used := range map[string]bool{"unused": false, "used each day": true} {
		t.Run(name, func(t *testing.T) {
			b := newStandingBench(t, benchOptions{terms: func(terms *broker.Terms) {
				terms.StandingIdle, terms.StandingMax = 3*24*time.Hour, 10*24*time.Hour
			}})
			l, plain := b.mustStand()
			days := 0
			for b.row(l.ID).State == broker.LeaseActive && days < 20 {
				if used {
					b.mustMint(l, plain)
				}
				b.clock.Add(24*time.Hour - time.Minute)
				b.mustReap()
				b.clock.Add(time.Minute)
				b.mustReap()
				days++
			}
			want := 3
			if used {
				want = 10
			}
			if row := b.row(l.ID); days != want || row.Reason != broker.ReasonExpired || row.State != broker.LeaseRevoked || b.upstream() != 0 {
				t.Errorf("after %d days the lease is %s (%s), with %d accounts; want it expired after %d", days, row.State, row.Reason, b.upstream(), want)
			}
		})
	}
}

// The last token before the maximum does not outlive the lease.
func TestNoTokenOutlivesItsStandingLease(t *testing.T) {
	b := newStandingBench(t, benchOptions{terms: func(terms *broker.Terms) { terms.StandingIdle, terms.StandingMax = time.Hour, time.Hour }})
	l, plain := b.mustStand()
	b.clock.Add(48 * time.Minute)
	_, _, ends, err := b.MintUnder(t.Context(), l.ID, plain.Reveal(), "")
	if err != nil || ends.After(l.MaxExpiresAt) {
		t.Errorf("MintUnder() 12 minutes before the maximum = a token until %v, %v; want %v", ends, err, l.MaxExpiresAt)
	}
	b.clock.Add(5 * time.Minute)
	_, _, _, err = b.MintUnder(t.Context(), l.ID, plain.Reveal(), "")
	wantKind(t, "MintUnder() 7 minutes before the maximum", err, broker.ErrConflict)
}

func TestWhoMayHaveAStandingLease(t *testing.T) {
	b := newStandingBench(t, benchOptions{})
	keystone := policy.Principal{Name: "keystone:u1@default", Project: "demo", Roles: []string{policy.RoleAdmin}}
	for who, want := range map[*policy.Principal]error{&vnfm: nil, &root: nil, &alice: broker.ErrDenied, &keystone: broker.ErrUnsupported} {
		r := standingRequest()
		r.VIM, r.IdempotencyKey = b.vim.ID, ""
		_, config, err := b.IssueLease(t.Context(), *who, r)
		wantKind(t, "IssueLease() of a standing lease by "+who.Name, err, want)
		if want != nil && !config.Credential.LeaseSecret.Empty() {
			t.Errorf("%s got a secret", who.Name)
		}
	}
}

// What a token is asked for is narrowed, and never widened.
func TestTheTTLOfAStandingLeaseIsThatOfEachToken(t *testing.T) {
	for ask, want := range map[time.Duration]time.Duration{0: 15 * time.Minute, 10 * time.Minute: 10 * time.Minute, 12 * time.Hour: 15 * time.Minute} {
		b := newStandingBench(t, benchOptions{})
		r := standingRequest()
		r.TTL = ask
		l, config, err := b.IssueLease(t.Context(), vnfm, r)
		if err != nil || l.TokenTTL != want {
			t.Fatalf("IssueLease() with %v = %v, %v; want %v", ask, l.TokenTTL, err, want)
		}
		_, _, ends, err := b.MintUnder(t.Context(), l.ID, config.Credential.LeaseSecret.Reveal(), "")
		if left := ends.Sub(b.clock.Now()); err != nil || left != want {
			t.Errorf("MintUnder() = a token for %v, %v; want %v", left, err, want)
		}
	}
}

func TestAMintThatIsNotRecordedIsNotHandedOut(t *testing.T) {
	b := newStandingBench(t, benchOptions{})
	l, plain := b.mustStand()
	b.store.fail("UpdateLease", 1)
	if _, cred, _, err := b.MintUnder(t.Context(), l.ID, plain.Reveal(), ""); !errors.Is(err, broker.ErrUnavailable) || !cred.Empty() {
		t.Errorf("MintUnder() that was not recorded = %v, want ErrUnavailable and no token", err)
	}
	b.mustMint(l, plain)
	b.lose(l.Handle)
	b.wantMint("once its account is gone", l.ID, plain)
	if row := b.row(l.ID); row.Reason != broker.ReasonGoneUpstream || row.State != broker.LeaseRevoked {
		t.Errorf("the lease is %s (%s)", row.State, row.Reason)
	}
}

// A lease that is revoked while a token is being minted is not used, and stays as it is.
func TestNoTokenIsHandedOutOfALeaseThatWasRevokedMeanwhile(t *testing.T) {
	b := newStandingBench(t, benchOptions{})
	l, plain := b.mustStand()
	before := b.mustMint(l, plain)
	known := b.row(l.ID)
	b.clock.Add(24 * time.Hour)
	b.kube.After("POST", "/token$", func() { b.mustRevoke(l.ID) })
	_, cred, _, err := b.MintUnder(t.Context(), l.ID, plain.Reveal(), "")
	wantKind(t, "MintUnder() of a lease that was revoked meanwhile", err, broker.ErrConflict)
	if !cred.Empty() {
		t.Error("a token was handed out")
	}
	row := b.row(l.ID)
	if row.State != broker.LeaseRevoked || !row.ExpiresAt.Equal(known.ExpiresAt) || !row.RenewedAt.Equal(known.RenewedAt) || row.CredentialID != known.CredentialID {
		t.Errorf("the lease is %s until %v, last used at %v; want it as it was, and revoked", row.State, row.ExpiresAt, row.RenewedAt)
	}
	if got := b.wantLog(policy.LeaseMint); !slices.Equal(got, []audit.Outcome{audit.Done, audit.Failed}) {
		t.Errorf("a mint, and one of a lease that was revoked meanwhile, were recorded as %v", got)
	}
	if b.upstream() != 0 {
		t.Errorf("%d accounts stand", b.upstream())
	}
	b.wantNowhere("the token before", before.Reveal())
}

// The VIM is sealed anew while a token is being minted.
func TestAMintSurvivesThatTheVIMIsSealedAnew(t *testing.T) {
	b := newStandingBench(t, benchOptions{})
	l, plain := b.mustStand()
	b.kube.After("POST", "/token$", func() {
		if _, err := b.RekeyVIM(t.Context(), alice, "edge1", "", 0); err != nil {
			t.Error(err)
		}
	})
	b.mustMint(l, plain)
	if _, same := b.mustStand(); same.Reveal() != plain.Reveal() {
		t.Error("the secret was lost")
	}
}

func TestAStandingLeaseIsNotRenewedAndIsRevokedByItsInstance(t *testing.T) {
	b := newStandingBench(t, benchOptions{})
	l, _ := b.mustStand()
	_, _, err := b.RenewLease(t.Context(), root, l.ID, 0)
	wantKind(t, "RenewLease() of another's standing lease", err, broker.ErrUnsupported)
	_, _, err = b.RenewLease(t.Context(), vnfm, l.ID, time.Hour)
	wantKind(t, "RenewLease() of a standing lease for an hour", err, broker.ErrUnsupported)
	found, _, err := b.Leases(t.Context(), alice, broker.LeaseQuery{Instance: "vnf-1"})
	if err != nil || len(found) != 1 || found[0].ID != l.ID {
		t.Errorf("Leases() of the instance = %v, %v", found, err)
	}
	for instance, want := range map[string]int{"vnf-2": 0, "vnf-1": 1} {
		if revoked, err := b.RevokeLeases(t.Context(), vnfm, broker.LeaseSelector{Instance: instance}); err != nil || len(revoked) != want {
			t.Errorf("RevokeLeases(%s) = %d, %v; want %d", instance, len(revoked), err, want)
		}
	}
	if b.row(l.ID).State != broker.LeaseRevoked {
		t.Error("the lease was not revoked")
	}
}

// Two replicas mint under one lease while one of them revokes it: nothing that either has minted works afterwards, and
// neither mints again.
func TestTwoReplicasMintUnderALeaseThatOneRevokes(t *testing.T) {
	b := newStandingBench(t, benchOptions{})
	other := mustNew(t, b.options)
	l, plain := b.mustStand()
	var (
		mu     sync.Mutex
		tokens []secret.Text
		minted = make(chan struct{}, 1000)
		group  sync.WaitGroup
	)
	for _, replica := range []*broker.Broker{b.Broker, other} {
		group.Go(func() {
			for {
				_, cred, _, err := replica.MintUnder(t.Context(), l.ID, plain.Reveal(), "")
				if err != nil {
					if !errors.Is(err, broker.ErrConflict) || !cred.Empty() {
						t.Errorf("MintUnder() of a lease that is revoked = %v", err)
					}
					return
				}
				mu.Lock()
				tokens = append(tokens, cred.Token)
				mu.Unlock()
				select {
				case minted <- struct{}{}:
				default: // enough were
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() { group.Wait(); close(ended) }()
	for range 6 {
		select {
		case <-minted:
		case <-ended:
			t.Fatal("no replica mints any more, and the lease is not revoked")
		}
	}
	b.mustRevoke(l.ID)
	<-ended
	for _, token := range tokens {
		clients, err := kubernetes.NewForConfig(&rest.Config{
			Host: b.kube.Endpoint, BearerToken: token.Reveal(), TLSClientConfig: rest.TLSClientConfig{CAData: []byte(b.kube.CA)},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := clients.Discovery().ServerVersion(); !apierrors.IsUnauthorized(err) {
			t.Errorf("a token that was minted works after the revocation: %v", err)
		}
	}
	if row := b.row(l.ID); row.State != broker.LeaseRevoked || b.upstream() != 0 {
		t.Errorf("the lease is %s, and %d accounts stand", row.State, b.upstream())
	}
}
