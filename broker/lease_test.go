package broker_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// A replica that was stopped between its write and the answer to it must not take
// back what another has answered meanwhile, to a repeat.
func TestALeaseThatWasRecordedIsHandedOutWhenTheAnswerIsLost(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	b.store.fail("UpdateLease answer", 1)
	l, token := b.mustIssue(alice, "edge1")
	if row := b.row(l.ID); row.State != broker.LeaseActive || l.ExpiresAt.IsZero() || token.Reveal() == "" || b.upstream() != 1 {
		t.Errorf("the lease is %s with %d objects upstream, want active with its own", row.State, b.upstream())
	}
}

// A lease says by which door it was asked for, and one of the broker's own parts names none.
func TestTheDoorOfALease(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	for _, door := range []audit.Door{audit.DoorREST, ""} {
		l, _, err := b.IssueLease(audit.WithDoor(t.Context(), door), alice, broker.LeaseRequest{VIM: v.ID})
		if err != nil {
			t.Fatal(err)
		}
		if stored, err := b.store.Lease(t.Context(), l.ID); l.Door != door || err != nil || stored.Door != door {
			t.Errorf("a lease by the door %q names %q, and in its row %q, %v", door, l.Door, stored.Door, err)
		}
	}
}

func TestALeaseLivesAndDies(t *testing.T) {
	b := newBench(t, benchOptions{lag: 10 * time.Second})
	b.mustRegister(alice, "edge1")
	l, token := b.mustIssue(alice, "edge1")
	if l.State != broker.LeaseActive || !l.Derived || !l.Revocable || l.MaxRevocationLag != 10*time.Second {
		t.Errorf("IssueLease() = %+v, want active, derived, revocable, 10s", l)
	}
	if want := b.clock.Now().Add(time.Hour); !l.ExpiresAt.Equal(want) {
		t.Errorf("ExpiresAt = %v, want %v", l.ExpiresAt, want)
	}
	b.wantNowhere("the leased token", token.Reveal())

	b.clock.Add(30 * time.Minute)
	renewed, config, err := b.RenewLease(t.Context(), alice, l.ID, time.Hour)
	if err != nil || !renewed.ExpiresAt.Equal(b.clock.Now().Add(time.Hour)) || config.Token.Equal(token) {
		t.Fatalf("RenewLease() = %+v, %v, want an hour more and another token", renewed, err)
	}
	b.wantNowhere("the renewed token", config.Token.Reveal())
	if b.upstream() != 1 {
		t.Errorf("%d lease objects upstream, want 1", b.upstream())
	}

	gone, err := b.RevokeLease(t.Context(), alice, l.ID)
	if err != nil || gone.State != broker.LeaseRevoked || gone.RevokedAt.IsZero() {
		t.Fatalf("RevokeLease() = %+v, %v, want revoked", gone, err)
	}
	if b.upstream() != 0 {
		t.Errorf("%d lease objects upstream after revocation", b.upstream())
	}
	b.clock.Add(30 * time.Second)
	b.mustReap()
	if row := b.row(l.ID); row.ConfirmedDeadAt.IsZero() || row.Sealed != "" {
		t.Errorf("after the pass ConfirmedDeadAt = %v, sealed = %v, want confirmed and nothing kept", row.ConfirmedDeadAt, row.Sealed != "")
	}
	if again, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil || again.State != broker.LeaseRevoked {
		t.Errorf("revoking again = %+v, %v, want revoked", again, err)
	}
	if got := b.wantLog(policy.LeaseIssue); !slices.Equal(got, []audit.Outcome{audit.Intent, audit.Done}) {
		t.Errorf("recorded %v for the issue, which a renewal adds nothing to", got)
	}
}

func TestExpiryIsUTCInEveryZone(t *testing.T) {
	for _, zone := range []string{"UTC", "Asia/Tokyo", "America/New_York"} {
		t.Run(zone, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestExpiryInThisZone$", "-test.v")
			cmd.Env = append(os.Environ(), "TZ="+zone, "VIMBROKER_TEST_ZONE="+zone)
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("--- PASS: TestExpiryInThisZone")) {
				t.Errorf("in %s: %v\n%s", zone, err, out)
			}
		})
	}
}

func TestExpiryInThisZone(t *testing.T) {
	if zone := os.Getenv("VIMBROKER_TEST_ZONE"); zone != "" && zone != "UTC" {
		if _, offset := time.Now().Zone(); offset == 0 {
			t.Fatalf("this process is not in %s", zone)
		}
	}
	b := newBench(t, benchOptions{})
	b.clock.Set(b.clock.Now().In(time.Local))
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	if want := b.clock.Now().Add(time.Hour); !l.ExpiresAt.Equal(want) || l.ExpiresAt.Location() != time.UTC {
		t.Errorf("ExpiresAt = %v, want %v in UTC", l.ExpiresAt, want)
	}
	b.clock.Add(59 * time.Minute)
	b.mustReap()
	if got := b.row(l.ID).State; got != broker.LeaseActive {
		t.Errorf("after 59 minutes it is %s", got)
	}
	b.clock.Add(2 * time.Minute)
	b.mustReap()
	b.clock.Add(10 * time.Second)
	b.mustReap()
	if got := b.row(l.ID); got.State != broker.LeaseRevoked || got.Reason != broker.ReasonExpired || !got.ConfirmedDeadAt.Equal(b.clock.Now()) {
		t.Errorf("after 61 minutes it is %s, %s, confirmed %v", got.State, got.Reason, got.ConfirmedDeadAt)
	}
	if b.upstream() != 0 {
		t.Error("the lease object is still there")
	}
}

func TestRefusedBeforeAnythingIsTouched(t *testing.T) {
	b := newBench(t, benchOptions{terms: func(t *broker.Terms) { t.Quota.PerPrincipal = 1 }})
	b.mustRegister(alice, "edge1")
	b.kube.Requests()
	for _, c := range []struct {
		field string
		r     broker.LeaseRequest
	}{
		{"ttl", broker.LeaseRequest{VIM: "edge1", TTL: 599 * time.Second}},
		{"ttl", broker.LeaseRequest{VIM: "edge1", TTL: -1}},
		{"format", broker.LeaseRequest{VIM: "edge1", Format: "zip"}},
		{"format", broker.LeaseRequest{VIM: "edge1", Format: clientconfig.CloudsYAML}},
		{"namespaces", broker.LeaseRequest{VIM: "edge1", Namespaces: []string{"A_b"}}},
		{"purpose", broker.LeaseRequest{VIM: "edge1", Purpose: "a\nb"}},
		{"vim", broker.LeaseRequest{}},
	} {
		_, _, err := b.IssueLease(t.Context(), alice, c.r)
		wantKind(t, c.field, err, broker.ErrInvalid)
		wantField(t, c.field, err, c.field)
	}
	if got := b.kube.Requests(); len(got) != 0 {
		t.Errorf("the VIM was asked %v", got)
	}
	b.mustIssue(alice, "edge1")
	b.kube.Requests()
	_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1"})
	wantKind(t, "over the quota", err, broker.ErrQuota)
	if got := b.kube.Requests(); len(got) != 0 {
		t.Errorf("the VIM was asked %v", got)
	}
	// Where the grade has to be computed anew, the VIM is read, and no more.
	b.clock.Add(2 * time.Minute)
	_, _, err = b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1"})
	wantKind(t, "over the quota, later", err, broker.ErrQuota)
	for _, r := range b.kube.Requests() {
		if r.Method != http.MethodGet {
			t.Errorf("the VIM was asked %v", r)
		}
	}
	b.mustIssue(bob, "edge1") // the quota is alice's
}

func TestTTLIsCapped(t *testing.T) {
	b := newBench(t, benchOptions{terms: func(t *broker.Terms) { t.MaxTTL = 30 * time.Minute }})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	if want := b.clock.Now().Add(30 * time.Minute); !l.ExpiresAt.Equal(want) {
		t.Errorf("ExpiresAt = %v, want %v", l.ExpiresAt, want)
	}
	b.clock.Add(25 * time.Minute)
	_, _, err := b.RenewLease(t.Context(), alice, l.ID, time.Hour)
	wantKind(t, "renewing past the maximum", err, broker.ErrConflict)
}

func TestIdempotencyKeyOfALease(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	r := broker.LeaseRequest{VIM: "edge1", TTL: time.Hour, IdempotencyKey: "k1"}
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		ids    = map[string]bool{}
		tokens = map[string]bool{}
	)
	for range 8 {
		wg.Go(func() {
			l, c, err := b.IssueLease(t.Context(), alice, r)
			for errors.Is(err, broker.ErrConflict) { // the first is still running
				l, c, err = b.IssueLease(t.Context(), alice, r)
			}
			if err != nil {
				t.Errorf("IssueLease() = %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			ids[l.ID], tokens[c.Token.Reveal()] = true, true
		})
	}
	wg.Wait()
	if len(ids) != 1 || len(tokens) != 1 || b.upstream() != 1 {
		t.Errorf("8 repeats made %d leases, %d tokens, %d objects, want one of each", len(ids), len(tokens), b.upstream())
	}
	if l, _, err := b.IssueLease(t.Context(), bob, r); err != nil || ids[l.ID] {
		t.Errorf("bob's request under the same key = %s, %v, want a lease of his own", l.ID, err)
	}
	for id := range ids {
		if _, err := b.RevokeLease(t.Context(), alice, id); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := b.IssueLease(t.Context(), alice, r)
	wantKind(t, "a repeat after the end", err, broker.ErrConflict)
}

// A repeat is told when the first request with its key will have ended, one way or
// the other.
func TestARepeatIsToldWhenToTryAgain(t *testing.T) {
	for name, c := range map[string]struct {
		path  string
		first func(*bench) error
	}{
		"lease": {"/token$", func(b *bench) error {
			_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1", IdempotencyKey: "k"})
			return err
		}},
		"registration": {"/version$", func(b *bench) error {
			r := b.registration("edge2")
			r.IdempotencyKey = "k"
			_, err := b.RegisterVIM(t.Context(), alice, r)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			b.mustRegister(alice, "edge1")
			wantWait := func(what string, want time.Duration) {
				t.Helper()
				var e *broker.Error
				err := c.first(b)
				wantKind(t, what, err, broker.ErrConflict)
				wantField(t, what, err, "Idempotency-Key")
				if errors.As(err, &e) && e.RetryAfter != want {
					t.Errorf("%s is to be tried again in %v, want %v: %v", what, e.RetryAfter, want, err)
				}
			}
			b.kube.After("", c.path, func() {
				wantWait("a repeat at the same time", time.Second)
				b.clock.Add(2 * time.Minute)
				wantWait("a repeat when the first has surely died", 4*time.Minute)
				b.clock.Add(10 * time.Minute)
				wantWait("a repeat when it should be settled", time.Second)
			})
			if err := c.first(b); err != nil {
				t.Errorf("the first request = %v", err)
			}
		})
	}
}

func TestNothingStaysWhenIssuingFails(t *testing.T) {
	cases := map[string]struct {
		spoil func(*bench)
		want  error
	}{
		"account refused": {func(b *bench) { b.kube.FailNext("POST", "/serviceaccounts$", 403, 1) }, broker.ErrForbidden},
		"token refused":   {func(b *bench) { b.kube.FailNext("POST", "/token$", 500, -1) }, broker.ErrUnreachable},
		"answer of the account lost": {func(b *bench) {
			b.kube.Fail(fake.Fault{Method: "POST", Path: "/serviceaccounts$", Kind: fake.Drop, Late: true})
		}, broker.ErrUnreachable},
		"answer of the token lost": {func(b *bench) {
			b.kube.Fail(fake.Fault{Method: "POST", Path: "/token$", Kind: fake.Drop, Late: true})
		}, broker.ErrUnreachable},
		// The audit of the answer fails: the credential was minted, and is revoked.
		"audit of the answer fails": {func(b *bench) { b.store.fail("UpdateLease", 1) }, broker.ErrUnavailable},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			b.mustRegister(alice, "edge1")
			c.spoil(b)
			r := broker.LeaseRequest{VIM: "edge1", IdempotencyKey: "k"}
			failed, config, err := b.IssueLease(t.Context(), alice, r)
			wantKind(t, "IssueLease()", err, c.want)
			if !config.Token.Empty() {
				t.Error("a token was handed out")
			}
			// At once, before a pass comes by: the VIM lets itself be asked for it.
			if b.upstream() != 0 || !b.onlyRevoked() {
				t.Errorf("when the answer is given %d lease objects are left upstream, all leases revoked: %v; want none, and all", b.upstream(), b.onlyRevoked())
			}
			b.kube.Heal()
			b.clock.Add(time.Hour)
			if err := b.Settle(t.Context(), b.clock.Now()); err != nil {
				t.Fatal(err)
			}
			b.mustReap()
			if b.upstream() != 0 {
				t.Errorf("%d lease objects left upstream", b.upstream())
			}
			rows, _, err := b.store.Leases(t.Context(), broker.LeaseFilter{States: []broker.LeaseState{broker.LeasePending, broker.LeaseActive, broker.LeaseRevoking}, Page: broker.Page{Size: 10}})
			if err != nil || len(rows) != 0 {
				t.Errorf("live rows left: %+v, %v", rows, err)
			}
			// The cause is gone, so the same request works, once.
			l, config, err := b.IssueLease(t.Context(), alice, r)
			if err != nil || l.ID == failed.ID || config.Token.Empty() {
				t.Fatalf("a repeat under the same key = %+v, %v; want a lease", l, err)
			}
			if again, _, err := b.IssueLease(t.Context(), alice, r); err != nil || again.ID != l.ID || b.upstream() != 1 {
				t.Errorf("one more repeat = %s, %v with %d objects upstream; want lease %s again", again.ID, err, b.upstream(), l.ID)
			}
		})
	}
}

// A process that died while it issued keeps a key until what it left is settled.
func TestAKeyIsFreeOnceAnAbandonedIssueIsSettled(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	r := broker.LeaseRequest{VIM: "edge1", IdempotencyKey: "k"}
	b.kube.FailNext("POST", "/token$", 500, -1)
	b.store.fail("UpdateLease", 1) // the row stays as it is
	_, _, err := b.IssueLease(t.Context(), alice, r)
	wantKind(t, "IssueLease() that cannot be undone", err, broker.ErrUnreachable)
	b.kube.Heal()
	_, _, err = b.IssueLease(t.Context(), alice, r)
	wantKind(t, "a repeat before it is settled", err, broker.ErrConflict)
	b.clock.Add(time.Hour)
	if err := b.Settle(t.Context(), b.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.IssueLease(t.Context(), alice, r); err != nil {
		t.Errorf("a repeat once it is settled = %v", err)
	}
}

// The write that makes the lease active takes effect, its answer is lost, and the store
// stays away until the request has failed: what the row then says must be true.
func TestALeaseThatTheRowCallsActiveIsNotTakenBack(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	b.store.fail("UpdateLease answer", 1)
	b.store.fail("Lease", 1)
	b.store.fail("UpdateLease", 2)
	r := broker.LeaseRequest{VIM: "edge1", IdempotencyKey: "k"}
	_, _, err := b.IssueLease(t.Context(), alice, r)
	wantKind(t, "IssueLease() while the store is away", err, broker.ErrUnavailable)
	l, config, err := b.IssueLease(t.Context(), alice, r)
	if err != nil || l.State != broker.LeaseActive || config.Token.Empty() {
		t.Fatalf("the repeat = %s, %v, want the lease that the row calls active", l.State, err)
	}
	if b.upstream() != 1 {
		t.Errorf("%d lease objects upstream, want that of the active lease", b.upstream())
	}
}

// onlyRevoked reports whether no lease is in any other state.
func (b *bench) onlyRevoked() bool {
	b.t.Helper()
	rows, _, err := b.store.Leases(b.t.Context(), broker.LeaseFilter{Page: broker.Page{Size: 100}})
	if err != nil {
		b.t.Fatal(err)
	}
	return !slices.ContainsFunc(rows, func(l broker.Lease) bool { return l.State != broker.LeaseRevoked })
}

// A lease is pinned to the VIM as it was: its generation, with the credential and
// the key, stays as long as the lease, and no longer.
func TestALeaseIsPinnedToItsGeneration(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	if _, err := b.RotateVIM(t.Context(), alice, "edge1", broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0))}, 0); err != nil {
		t.Fatal(err)
	}
	b.wantKeys(2)
	v, err := b.store.VIM(t.Context(), l.VIM)
	if err != nil || len(v.Past) != 1 || v.Past[0].Number != 1 || v.Current.Number != 2 {
		t.Fatalf("generations: %+v, %v", v, err)
	}
	if _, _, err := b.RenewLease(t.Context(), alice, l.ID, 0); err != nil {
		t.Errorf("RenewLease() on the old generation = %v", err)
	}
	if _, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil {
		t.Fatal(err)
	}
	b.clock.Add(time.Minute)
	b.mustReap() // confirms its death
	b.wantKeys(1)
	if b.upstream() != 0 {
		t.Error("the lease object is still there")
	}
}

func TestRevocationWaitsForAVIMThatIsDown(t *testing.T) {
	b := newBench(t, benchOptions{terms: func(t *broker.Terms) { t.GiveUpAfter = 4 }})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	b.kube.Fail(fake.Fault{Kind: fake.Drop, Times: -1})
	after, err := b.RevokeLease(t.Context(), alice, l.ID)
	if err != nil || after.State != broker.LeaseRevoking || after.LastError == "" {
		t.Fatalf("RevokeLease() = %+v, %v, want revoking with the reason", after, err)
	}
	for minutes := range 4 {
		if got := b.row(l.ID); got.State != broker.LeaseRevoking {
			t.Fatalf("after %d minutes and %d tries it is %s, want revoking", 10*minutes, got.Attempts, got.State)
		}
		b.clock.Add(10 * time.Minute)
		b.mustReap()
	}
	if got := b.row(l.ID); got.State != broker.LeaseIrrevocable || got.LastError == "" {
		t.Fatalf("after 40 minutes it is %s, %q, want irrevocable with the reason", got.State, got.LastError)
	}
	b.kube.Heal()
	// It comes back, and what was given up is taken up again.
	b.clock.Add(10 * time.Minute)
	if err := b.CheckDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.mustReap()
	if got := b.row(l.ID).State; got != broker.LeaseRevoked || b.upstream() != 0 {
		t.Errorf("after it came back it is %s with %d objects, want revoked with none", got, b.upstream())
	}
}

// Another cluster's "not found" is none. What else is none is in
// TestRevokingAsksTheVIMForMoreThanARefusal.
func TestOnlyARealNotFoundCountsAsRevoked(t *testing.T) {
	cases := map[string]func(*bench){
		"another cluster": func(b *bench) {
			b.kube.ChangeIdentity()
			for _, there := range leasesOn(b.kube) {
				namespace, name, _ := strings.Cut(there, "/")
				b.kube.Delete("serviceaccounts", namespace, name)
			}
		},
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			b.mustRegister(alice, "edge1")
			l, _ := b.mustIssue(alice, "edge1")
			spoil(b)
			after, err := b.RevokeLease(t.Context(), alice, l.ID)
			if err != nil || after.State != broker.LeaseRevoking {
				t.Errorf("RevokeLease() = %s, %v, want revoking", after.State, err)
			}
		})
	}
}

func TestAlreadyGoneIsRevoked(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	b.lose(l.Handle)
	after, err := b.RevokeLease(t.Context(), alice, l.ID)
	if err != nil || after.State != broker.LeaseRevoked {
		t.Errorf("RevokeLease() = %s, %v, want revoked", after.State, err)
	}
}

func TestRenewNeverExtendsADeadLease(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	b.lose(l.Handle)
	_, config, err := b.RenewLease(t.Context(), alice, l.ID, 0)
	wantKind(t, "RenewLease()", err, broker.ErrConflict)
	if !config.Token.Empty() || b.upstream() != 0 {
		t.Error("something was made for a dead lease")
	}
	if row := b.row(l.ID); row.State != broker.LeaseRevoked || row.Reason != broker.ReasonGoneUpstream {
		t.Errorf("the lease is %s, %s, want revoked, goneUpstream", row.State, row.Reason)
	}
}

func TestInventoryFindsOrphansAndGhosts(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(root, "edge1")
	ghost, _ := b.mustIssue(root, "edge1")
	orphan, _ := b.mustIssue(root, "edge1")
	b.mustIssue(root, "edge1")
	b.lose(ghost.Handle)
	// A row lost from the store: what restoring an old backup looks like.
	if _, err := b.store.UpdateLease(t.Context(), orphan.ID, func(l *broker.Lease) error {
		l.State = broker.LeaseRevoking
		return nil
	}, audit.Entry{Time: b.clock.Now(), Outcome: audit.Done}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.UpdateLease(t.Context(), orphan.ID, func(l *broker.Lease) error {
		l.State, l.RevokedAt = broker.LeaseRevoked, b.clock.Now()
		return nil
	}, audit.Entry{Time: b.clock.Now(), Outcome: audit.Done}); err != nil {
		t.Fatal(err)
	}
	if err := b.InventoryAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := b.Discrepancies(), (broker.Discrepancy{Orphans: 1, Ghosts: 1}); got != want {
		t.Errorf("Discrepancies() = %+v, want %+v", got, want)
	}
	inv, err := b.Inventory(t.Context(), root, v.Name, true)
	if err != nil || len(inv.Orphans) != 1 || inv.Orphans[0].Handle != orphan.Handle || len(inv.Ghosts) != 1 || inv.Ghosts[0].ID != ghost.ID || !inv.Settled {
		t.Fatalf("Inventory() = %+v, %v", inv, err)
	}
	inv, err = b.Inventory(t.Context(), root, v.Name, false)
	if err != nil || len(inv.Orphans)+len(inv.Ghosts) != 0 || inv.Upstream != 1 || inv.Rows != 1 {
		t.Errorf("after settling Inventory() = %+v, %v, want one and one", inv, err)
	}
}

func TestAVIMThatCannotMintPassesThroughOnlyByPolicy(t *testing.T) {
	noMint := fakekube.Denial{Verb: "create", Resource: "serviceaccounts/token"}
	b := newBench(t, benchOptions{})
	b.kube.Deny(noMint)
	v := b.mustRegister(alice, "edge1")
	if v.Health.CanMint || v.Health.MintMessage == "" {
		t.Errorf("CanMint = %v, %q, want false and the missing right", v.Health.CanMint, v.Health.MintMessage)
	}
	_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1"})
	wantKind(t, "by the default policies", err, broker.ErrUnsupported)

	b = newBench(t, benchOptions{policies: map[string][]byte{"site.cedar": []byte(
		`@id("pass") permit (principal, action == Action::"lease:pass-through", resource is VIM) when { principal.name == "alice" };`)}})
	b.kube.Deny(noMint)
	b.mustRegister(alice, "edge1")
	l, config, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1"})
	if err != nil || l.Derived || l.Revocable || config.Token.Reveal() != b.kube.AdminToken {
		t.Fatalf("by a policy = %+v, %v, want derived false, revocable false, the stored credential", l, err)
	}
	_, _, err = b.RenewLease(t.Context(), alice, l.ID, 0)
	wantKind(t, "renewing it", err, broker.ErrUnsupported)
	if after, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil || b.row(after.ID).State != broker.LeaseIrrevocable {
		t.Errorf("revoking it = %s, %v, want irrevocable", b.row(l.ID).State, err)
	}
	if _, err := b.RotateVIM(t.Context(), alice, "edge1", broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0))}, 0); err != nil {
		t.Fatal(err)
	}
	if after, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil || b.row(after.ID).State != broker.LeaseIrrevocable || !strings.Contains(b.row(l.ID).LastError, "still takes it") {
		t.Errorf("revoking it while the VIM takes it = %+v, %v, want irrevocable", b.row(l.ID), err)
	}
	b.kube.RevokeToken(b.kube.AdminToken)
	if after, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil || after.State != broker.LeaseRevoked {
		t.Errorf("revoking it after the credential was replaced = %s, %v, want revoked", after.State, err)
	}
	b.wantKeys(1)
}

// The stored credential itself is handed out to who asks for it and has the right, for as long as
// a lease can stand; its end is that of the credential on the VIM, and nothing else.
func TestTheStoredCredentialIsPassedThroughByPolicyAlone(t *testing.T) {
	wish := broker.LeaseRequest{VIM: "edge1", Credential: broker.LeasePassThrough, IdempotencyKey: "again"}
	for _, p := range []policy.Principal{alice, root} {
		b := newBench(t, benchOptions{})
		wish := wish
		wish.VIM = b.mustRegister(alice, "edge1").ID
		_, _, err := b.IssueLease(t.Context(), p, wish)
		wantKind(t, "by the default policies, for "+p.Name, err, broker.ErrDenied)
		_, err = b.WeighLease(t.Context(), p, wish)
		wantKind(t, "weighing it, for "+p.Name, err, broker.ErrDenied)
	}
	b := newBench(t, benchOptions{policies: map[string][]byte{"site.cedar": []byte(
		`@id("pass") permit (principal, action == Action::"lease:pass-through", resource is VIM) when { principal.name == "alice" };`)}})
	b.options.Directories = map[string]policy.Directory{policy.ByStaticToken: directory{alice.Name: alice}}
	b.Broker = mustNew(t, b.options)
	b.mustRegister(alice, "edge1")
	narrow := wish
	narrow.Widest = broker.GradeBounded
	_, _, err := b.IssueLease(t.Context(), alice, narrow)
	wantKind(t, "as a bounded lease", err, broker.ErrDenied)
	if l, err := b.WeighLease(t.Context(), alice, wish); err != nil || l.Derived || l.Grade != broker.GradeUnbounded {
		t.Errorf("WeighLease() = %+v, %v, want unbounded, not derived", l, err)
	}
	l, config, err := b.IssueLease(t.Context(), alice, wish)
	if err != nil || l.Derived || l.Revocable || l.Grade != broker.GradeUnbounded || config.Token.Reveal() != b.kube.AdminToken {
		t.Fatalf("IssueLease() = %+v, %v, want the stored credential", l, err)
	}
	if want := broker.DefaultTerms().StandingMax; l.ExpiresAt.Sub(l.CreatedAt) != want {
		t.Errorf("it lives for %v, want %v", l.ExpiresAt.Sub(l.CreatedAt), want)
	}
	again, config, err := b.IssueLease(t.Context(), alice, wish)
	if err != nil || again.ID != l.ID || config.Token.Reveal() != b.kube.AdminToken {
		t.Errorf("a repeat = %s, %v, want the lease %s", again.ID, err, l.ID)
	}
	usual := wish
	usual.Credential = ""
	_, _, err = b.IssueLease(t.Context(), alice, usual)
	wantKind(t, "a derived lease under the same key", err, broker.ErrConflict)

	// At its end nothing can be confirmed, and the state says so.
	b.clock.Add(broker.DefaultTerms().StandingMax + time.Minute)
	b.mustReap()
	if row := b.row(l.ID); row.State != broker.LeaseIrrevocable || !row.ConfirmedDeadAt.IsZero() || !strings.Contains(row.LastError, "change it on the VIM itself") {
		t.Errorf("at its end it is %+v, want irrevocable, and what is to be done", row)
	}
	// Once the credential is another, and the VIM refuses the one before, it has ended by itself.
	b.kube.RevokeToken(b.kube.AdminToken)
	if _, err := b.RotateVIM(t.Context(), alice, "edge1", broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0))}, 0); err != nil {
		t.Fatal(err)
	}
	b.mustReap()
	if row := b.row(l.ID); row.State != broker.LeaseRevoked {
		t.Errorf("after the credential was replaced it is %s (%s), want revoked", row.State, row.LastError)
	}
	for _, bad := range []broker.LeaseRequest{
		{VIM: "edge1", Credential: "mine"},
		{VIM: "edge1", Credential: broker.LeasePassThrough, Standing: true},
		{VIM: "edge1", Credential: broker.LeasePassThrough, Role: "view"},
		{VIM: "edge1", Credential: broker.LeasePassThrough, ClusterWide: true},
		{VIM: "edge1", Credential: broker.LeasePassThrough, Namespaces: []string{"default"}},
		{VIM: "edge1", Credential: broker.LeasePassThrough, Rules: []broker.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}},
	} {
		_, _, err := b.IssueLease(t.Context(), alice, bad)
		if wrong := (*broker.Error)(nil); !errors.As(err, &wrong) || wrong.Field != "credential" && wrong.Field != "standing" {
			t.Errorf("%+v = %v, want the field named", bad, err)
		}
	}
	b.wantKeys(1)
}

func TestDeleteAndDrain(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	_, _, err := b.DeleteVIM(t.Context(), alice, "edge1", broker.Deletion{})
	wantKind(t, "deleting a VIM in use", err, broker.ErrConflict)
	b.mustIssue(alice, "edge1") // it still works

	b.kube.Fail(fake.Fault{Method: "DELETE", Kind: fake.Drop, Times: -1})
	v, gone, err := b.DeleteVIM(t.Context(), alice, "edge1", broker.Deletion{Drain: true})
	if err != nil || gone || v.State != broker.VIMDraining {
		t.Fatalf("draining a VIM that is down = %s, %v, %v, want draining", v.State, gone, err)
	}
	_, _, err = b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: v.ID})
	wantKind(t, "a lease on a draining VIM", err, broker.ErrConflict)
	b.kube.Heal()
	b.clock.Add(time.Hour / 2)
	b.mustReap()
	_, err = b.VIM(t.Context(), alice, v.ID)
	wantKind(t, "showing it when drained", err, broker.ErrNotFound)
	if left := b.ours(); len(left) != 0 {
		t.Errorf("left upstream: %q", left)
	}
	b.wantKeys(0)
	if row := b.row(l.ID); row.State != broker.LeaseRevoked || row.Reason != broker.ReasonVIMDeleted || row.VIMName != "edge1" {
		t.Errorf("its lease is %s, %s of %s", row.State, row.Reason, row.VIMName)
	}
}

func TestForceDeletesAVIMThatIsGoneForGood(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	b.kube.Fail(fake.Fault{Kind: fake.Drop, Times: -1})
	_, _, err := b.DeleteVIM(t.Context(), alice, "edge1", broker.Deletion{Force: true})
	wantKind(t, "a member forcing", err, broker.ErrDenied)
	v, err := b.VIM(t.Context(), alice, "edge1")
	if err != nil {
		t.Fatal(err)
	}
	if _, gone, err := b.DeleteVIM(t.Context(), root, v.ID, broker.Deletion{Force: true}); err != nil || !gone {
		t.Fatalf("DeleteVIM(force) = %v, %v, want gone", gone, err)
	}
	b.wantKeys(0)
	if got := b.row(l.ID).State; got != broker.LeaseIrrevocable {
		t.Errorf("its lease is %s, want irrevocable", got)
	}
}

func TestRevokeManyByVIMPrincipalAndOperation(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(root, "edge1")
	issue := func(p policy.Principal, op string) broker.Lease {
		t.Helper()
		v, _, err := b.VIMs(t.Context(), root, broker.VIMQuery{})
		if err != nil {
			t.Fatal(err)
		}
		l, _, err := b.IssueLease(t.Context(), p, broker.LeaseRequest{VIM: v[0].ID, Operation: op})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	a, c, d := issue(root, "op-1"), issue(root, "op-1"), issue(root, "op-2")
	_, err := b.RevokeLeases(t.Context(), root, broker.LeaseSelector{})
	wantKind(t, "an empty selector", err, broker.ErrInvalid)
	done, err := b.RevokeLeases(t.Context(), root, broker.LeaseSelector{Operation: "op-1"})
	if err != nil || len(done) != 2 {
		t.Fatalf("RevokeLeases(op-1) = %d, %v, want 2", len(done), err)
	}
	for id, want := range map[string]broker.LeaseState{a.ID: broker.LeaseRevoked, c.ID: broker.LeaseRevoked, d.ID: broker.LeaseActive} {
		if got := b.row(id).State; got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
	if done, err = b.RevokeLeases(t.Context(), root, broker.LeaseSelector{Principal: "root"}); err != nil || len(done) != 1 {
		t.Errorf("RevokeLeases(root) = %d, %v, want 1", len(done), err)
	}
}

// Another project's object answers on every verb exactly as one that does not exist.
func TestForeignIsNotFound(t *testing.T) {
	b := newBench(t, benchOptions{})
	v := b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	ctx := t.Context()
	const noVIM, noLease = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
	name := "x"
	verbs := map[string]func(vim, lease string) error{
		"show": func(vim, _ string) error { _, err := b.VIM(ctx, mallet, vim); return err },
		"update": func(vim, _ string) error {
			_, err := b.UpdateVIM(ctx, mallet, vim, broker.Change{Name: &name})
			return err
		},
		"rotate": func(vim, _ string) error { _, err := b.RotateVIM(ctx, mallet, vim, broker.Credential{}, 0); return err },
		"check":  func(vim, _ string) error { _, err := b.CheckVIM(ctx, mallet, vim); return err },
		"delete": func(vim, _ string) error { _, _, err := b.DeleteVIM(ctx, mallet, vim, broker.Deletion{}); return err },
		"drain": func(vim, _ string) error {
			_, _, err := b.DeleteVIM(ctx, mallet, vim, broker.Deletion{Drain: true})
			return err
		},
		"force": func(vim, _ string) error {
			_, _, err := b.DeleteVIM(ctx, mallet, vim, broker.Deletion{Force: true})
			return err
		},
		"inventory": func(vim, _ string) error { _, err := b.Inventory(ctx, mallet, vim, false); return err },
		"settle":    func(vim, _ string) error { _, err := b.Inventory(ctx, mallet, vim, true); return err },
		"issue": func(vim, _ string) error {
			_, _, err := b.IssueLease(ctx, mallet, broker.LeaseRequest{VIM: vim})
			return err
		},
		"bad issue": func(vim, _ string) error {
			_, _, err := b.IssueLease(ctx, mallet, broker.LeaseRequest{VIM: vim, TTL: 1})
			return err
		},
		"leases of": func(vim, _ string) error { _, _, err := b.Leases(ctx, mallet, broker.LeaseQuery{VIM: vim}); return err },
		"revoke by": func(vim, _ string) error {
			_, err := b.RevokeLeases(ctx, mallet, broker.LeaseSelector{VIM: vim})
			return err
		},
		"lease":  func(_, lease string) error { _, err := b.Lease(ctx, mallet, lease); return err },
		"renew":  func(_, lease string) error { _, _, err := b.RenewLease(ctx, mallet, lease, 0); return err },
		"revoke": func(_, lease string) error { _, err := b.RevokeLease(ctx, mallet, lease); return err },
	}
	for verb, do := range verbs {
		foreign, missing := do(v.ID, l.ID), do(noVIM, noLease)
		wantKind(t, verb, foreign, broker.ErrNotFound)
		if foreign == nil || missing == nil || foreign.Error() != missing.Error() {
			t.Errorf("%s: foreign answers %q, missing %q", verb, foreign, missing)
		}
	}
	vims, _, err := b.VIMs(ctx, mallet, broker.VIMQuery{})
	if err != nil || len(vims) != 0 {
		t.Errorf("mallet lists %d VIMs, %v", len(vims), err)
	}
	leases, _, err := b.Leases(ctx, mallet, broker.LeaseQuery{})
	if err != nil || len(leases) != 0 {
		t.Errorf("mallet lists %d leases, %v", len(leases), err)
	}
}

func TestRolesOfAProject(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	if _, err := b.VIM(t.Context(), rita, "edge1"); err != nil {
		t.Errorf("a reader showing = %v", err)
	}
	_, _, err := b.IssueLease(t.Context(), rita, broker.LeaseRequest{VIM: "edge1"})
	wantKind(t, "a reader issuing", err, broker.ErrDenied)
	_, _, err = b.RenewLease(t.Context(), bob, l.ID, 0)
	wantKind(t, "renewing another's lease", err, broker.ErrDenied)
	_, err = b.RegisterVIM(t.Context(), rita, b.registration("edge2"))
	wantKind(t, "a reader registering", err, broker.ErrDenied)
	shared := true
	_, err = b.UpdateVIM(t.Context(), alice, "edge1", broker.Change{Shared: &shared})
	wantKind(t, "a member sharing", err, broker.ErrDenied)
	v, err := b.VIM(t.Context(), alice, "edge1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.UpdateVIM(t.Context(), root, v.ID, broker.Change{Shared: &shared}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.IssueLease(t.Context(), mallet, broker.LeaseRequest{VIM: "edge1"}); err != nil {
		t.Errorf("leasing a shared VIM by its name = %v", err)
	}
}

// Where the audit log cannot be written, nothing happens.
func TestNoAuditNoEffect(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	b.store.fail("Append", 1)
	_, err := b.VIM(t.Context(), alice, "edge1")
	wantKind(t, "a read", err, broker.ErrUnavailable)
	l, _ := b.mustIssue(alice, "edge1")
	b.kube.Requests()
	b.store.fail("UpdateLease", 1)
	_, err = b.RevokeLease(t.Context(), alice, l.ID)
	wantKind(t, "a revocation", err, broker.ErrUnavailable)
	b.store.fail("UpdateLease", 1)
	_, _, err = b.RenewLease(t.Context(), alice, l.ID, 0)
	wantKind(t, "a renewal", err, broker.ErrUnavailable)
	if got := b.kube.Requests(); len(got) != 0 {
		t.Errorf("the VIM was asked %v", got)
	}
}
