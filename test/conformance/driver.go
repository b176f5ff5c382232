package conformance

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// DriverEnv is a driver under test, a VIM for it, and ways to look into that VIM
// and to meddle with it behind the driver's back. Every field is required unless
// it says otherwise.
type DriverEnv struct {
	// New returns a driver that has seen nothing yet, as after a restart, and
	// writes what it logs to log.
	New    func(log *slog.Logger) broker.Driver
	Egress *egress.Rules

	// Registration works, has a CA of its own, and may do anything. Its server
	// is known by the address 127.0.0.1 too.
	Registration broker.Registration
	// Others are further registrations of the same VIM that work, by what sets
	// them apart; where objects belong to a user, another user's among them.
	Others map[string]broker.Registration
	// Refused are registrations whose credential the VIM does not know.
	Refused map[string]broker.Registration
	// Powerless has a credential that the VIM knows, and that cannot mint; none
	// where every credential that a VIM knows can.
	Powerless broker.Registration
	// Tokens are VIMs whose leases no inventory shows, by why that is; none where
	// every lease has an object upstream.
	Tokens map[string]TokenVIM
	// Unknown is a credential of a kind that is minted, and never was.
	Unknown broker.Credential
	// PlainHTTP: the VIM may be registered without TLS.
	PlainHTTP bool
	// AnyRole: a lease that names no role stays without one.
	AnyRole bool
	// Elsewhere are the cases that are left out, as "Check/WrongCA", or all of a kind, as "Fault/": another run of the
	// suite shows the same on this VIM. Optional.
	Elsewhere []string
	// AtOnce are the leases that are made side by side; 0 means 32. A VIM that is slow answers no more in time.
	AtOnce int
	// Remote are texts in the VIM's answers that no error may repeat. Optional.
	Remote []string

	// MinTTL is the least that the VIM grants, MaxTTL the most; zero is any.
	MinTTL, MaxTTL time.Duration
	// Reader is a role that reads, Writer one that also writes.
	Reader, Writer string
	// Namespaces exist on the VIM; empty where it knows none.
	Namespaces [2]string
	// Now is the VIM's clock.
	Now func() time.Time
	// Await waits until done, as time passes on the VIM's clock, for at most
	// that long and a little; it reports whether it was done.
	Await func(t *testing.T, most time.Duration, done func() bool) bool

	// Handles lists the upstream objects of a VIM's leases, being deleted or not.
	Handles func(t *testing.T, vim string) []string
	// Kept lists what else the driver keeps upstream for a VIM; nil where that is
	// nothing.
	Kept func(t *testing.T, vim string) []string
	// RemoveKept deletes all that by hand. It goes with Kept.
	RemoveKept func(t *testing.T, vim string)
	// Everything lists every object that a driver could have made or deleted.
	Everything func(t *testing.T) []string
	// Remove deletes a lease's upstream object by hand.
	Remove func(t *testing.T, handle string)
	// Plant makes an object of that name that is not ours, until the test ends,
	// and returns whether it is still as it was. The VIM has, or had, a lease: the
	// object stands where others of it would.
	Plant func(t *testing.T, vim, handle string) (untouched func() bool)
	// Hold keeps a lease's upstream object from going away until release; nil where
	// nothing can.
	Hold func(t *testing.T, handle string) (release func())
	// May reports whether a minted credential may read, or write, in a namespace.
	May func(t *testing.T, target broker.Target, minted broker.Credential, write bool, namespace string) bool
}

// TokenVIM gives leases that are tokens and nothing else.
type TokenVIM struct {
	Registration broker.Registration
	// Purpose and Role are what such a lease is asked for with.
	Purpose, Role string
}

// Driver checks a driver against the contract of [broker.Driver], on the VIM of
// env, which it leaves as it found it. It holds every error text, and everything
// that the driver logs, against each credential that was used or minted.
func Driver(t *testing.T, env DriverEnv) {
	logs := captureLogs(t)
	seen := &leaks{}
	for _, text := range env.Remote {
		seen.add("remote answer", text)
	}
	var discovered broker.Discovered
	for _, test := range []struct {
		name string
		run  func(*testing.T, *subject)
	}{
		{"Normalize/KeepsWhatItKnows", normalizeKeeps},
		{"Normalize/RefusesByField", normalizeRefuses},
		{"Check/EveryCredential", checkEveryCredential},
		{"Check/TouchesNothing", checkTouchesNothing},
		{"Check/WrongCredential", checkWrongCredential},
		{"Check/WrongCA", checkWrongCA},
		{"Check/CannotMint", checkCannotMint},
		{"Prepare/RefusesWhatCannotBe", prepareRefuses},
		{"Prepare/IsStable", prepareIsStable},
		{"Issue/TrueExpiryInUTC", issueTrueExpiry},
		{"Issue/WithEveryCredential", issueWithEvery},
		{"Issue/LimitedByRole", issueLimitedByRole},
		{"Issue/LimitedToNamespaces", issueLimitedToNamespaces},
		{"Issue/RefusesUnknownRoleAndNamespace", issueRefusesUnknown},
		{"Issue/AdoptsOwnObjectAfterDeath", issueAdopts},
		{"Issue/LeavesForeignObjectAlone", issueForeign},
		{"Issue/ConcurrentlySharesOneAccount", issueConcurrently},
		{"Issue/RepairsWhatWasRemovedByHand", issueRepairs},
		{"Client/ReadsEveryFormat", clientReads},
		{"Renew/MintsAnother", renewMints},
		{"Renew/NotFoundMakesNothing", renewNotFound},
		{"Revoke/KillsEveryCredential", revokeKills},
		{"Revoke/IsIdempotent", revokeIdempotent},
		{"Revoke/WrongCredentialIsNoSuccess", revokeWrongCredential},
		{"Revoke/HeldIsNotYet", revokeHeld},
		{"Dead/OnlyOnTheVIMsWord", deadOnlyOnWord},
		{"Inventory/EachOnceAndOursOnly", inventoryEachOnce},
		{"Instead/SeesOrIsForbidden", endInstead},
		{"Token/UnlistedAndRevoked", tokenUnlisted},
		{"Forget/LeavesNothingAndOthersAlone", forgetLeavesNothing},
		{"Fault/Unreachable", faultUnreachable},
		{"Fault/BlackHoleEndsAtTheDeadline", faultBlackHole},
		{"Fault/RecoversFromAStrandedConnection", faultStranded},
		{"Fault/EgressRulesHold", faultEgress},
	} {
		kind, _, _ := strings.Cut(test.name, "/")
		if slices.Contains(env.Elsewhere, test.name) || slices.Contains(env.Elsewhere, kind+"/") {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			log := slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
			s := &subject{DriverEnv: env, log: log, leaks: seen, epoch: 1}
			s.d = s.restarted(t)
			s.a = s.another(t, discovered)
			discovered = s.a.Discovered
			test.run(t, s)
		})
	}
	if what := seen.in(logs.String()); what != "" {
		t.Errorf("the driver logged a %s", what)
	}
}

// subject is one test's driver and access: a VIM id of its own at the one VIM.
type subject struct {
	DriverEnv
	d     broker.Driver
	a     broker.Access
	log   *slog.Logger
	leaks *leaks
	epoch int64
}

// restarted returns a driver as another process would have it.
func (s *subject) restarted(t *testing.T) broker.Driver {
	return watched{s.New(s.log), t, s.leaks}
}

// access normalizes a registration under a new VIM id, and sweeps behind it when
// the test ends.
func (s *subject) access(t *testing.T, r broker.Registration) broker.Access {
	t.Helper()
	a := s.unchecked(t, r)
	// What it discovers is handed back, as the broker does; one that is refused discovers nothing.
	if report, err := s.New(s.log).Check(t.Context(), a); err == nil {
		a.Discovered = report.Discovered
	}
	return a
}

// another is the VIM under one more id. A check is spared where one has discovered
// what it is.
func (s *subject) another(t *testing.T, discovered broker.Discovered) broker.Access {
	t.Helper()
	if discovered.Regions == nil {
		return s.access(t, s.Registration)
	}
	a := s.unchecked(t, s.Registration)
	a.Discovered = discovered
	return a
}

func (s *subject) unchecked(t *testing.T, r broker.Registration) broker.Access {
	t.Helper()
	target, credential, err := s.d.Normalize(r)
	if err != nil {
		t.Fatalf("Normalize of a good registration: %v", err)
	}
	a := broker.Access{VIM: uuid.NewString(), Generation: 1, Target: target, Credential: credential, Egress: s.Egress}
	t.Cleanup(func() { s.sweep(t, a.VIM) })
	return a
}

// sweep removes what a test left upstream, with the good credential.
func (s *subject) sweep(t *testing.T, vim string) {
	d := s.restarted(t)
	target, credential, err := d.Normalize(s.Registration)
	if err != nil {
		t.Fatal(err)
	}
	a := broker.Access{VIM: vim, Generation: 1, Target: target, Credential: credential, Egress: s.Egress}
	for _, handle := range s.Handles(t, vim) {
		if err := d.Revoke(context.Background(), a, broker.Issued{Handle: handle}); err != nil {
			t.Errorf("sweeping %s: %v", handle, err)
		}
	}
	if err := d.Forget(context.Background(), a); err != nil {
		t.Errorf("sweeping VIM %s: %v", vim, err)
	}
}

// grant is a new lease, prepared.
func (s *subject) grant(t *testing.T, role string, ttl time.Duration, namespaces ...string) broker.Grant {
	t.Helper()
	id := uuid.NewString()
	wide := s.Namespaces[0] != "" && len(namespaces) == 0
	if s.Namespaces[0] == "" {
		namespaces = nil
	}
	g, err := s.d.Prepare(broker.Grant{
		Lease: id, Handle: "lease-" + id, TTL: ttl, Role: role, Namespaces: namespaces, Purpose: "conformance",
		ClusterWide: wide, Epoch: s.epoch,
	})
	if err != nil {
		t.Fatalf("Prepare(%s for %v in %v): %v", role, ttl, namespaces, err)
	}
	return g
}

// life is for a lease that must still work many calls later.
func (s *subject) life() time.Duration { return max(s.MinTTL, 10*time.Minute) }

// issue issues a lease that must work.
func (s *subject) issue(t *testing.T, g broker.Grant) broker.Minted {
	t.Helper()
	m, err := s.d.Issue(t.Context(), s.a, g)
	if err != nil {
		t.Fatalf("Issue(%s in %v) = %v", g.Role, g.Namespaces, err)
	}
	return m
}

// alive tries a credential.
func (s *subject) alive(t *testing.T, m broker.Minted) bool {
	t.Helper()
	a := s.a
	a.Credential = broker.Credential{}
	dead, err := s.d.Dead(t.Context(), a, m.Credential)
	if err != nil {
		t.Fatalf("Dead() = %v", err)
	}
	return !dead
}

// wantDead fails unless the credential dies within its published lag.
func (s *subject) wantDead(t *testing.T, what string, m broker.Minted) {
	t.Helper()
	if !s.Await(t, m.MaxRevocationLag, func() bool { return !s.alive(t, m) }) {
		t.Errorf("%s still works after its lag of %v", what, m.MaxRevocationLag)
	}
}
