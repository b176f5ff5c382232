package broker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// again asks for the lease of the instance as its grant does.
func (b *standingBench) again(l broker.Lease, resumed bool) (broker.Lease, secret.Text, error) {
	r := standingRequest()
	r.VIM, r.InPlaceOf, r.Resumed = b.vim.ID, l.Login, resumed
	next, config, err := b.IssueLease(b.t.Context(), vnfm, r)
	return next, config.Credential.LeaseSecret, err
}

// mint is what the holder of a secret gets under a login.
func (b *standingBench) mint(login string, plain secret.Text) (broker.Lease, secret.Text, error) {
	l, cred, _, err := b.MintUnder(b.t.Context(), login, plain.Reveal(), vnfm.Name)
	return l, cred.Token, err
}

// wantMint mints under a login, and uses the token.
func (b *standingBench) wantMint(when, login string, plain secret.Text) broker.Lease {
	b.t.Helper()
	l, token, err := b.mint(login, plain)
	if err != nil {
		b.t.Fatalf("%s: MintUnder() = %v", when, err)
	}
	b.use(token)
	return l
}

// pastEnd is what ends a standing lease that nobody revokes.
var pastEnd = map[string]func(b *standingBench, l broker.Lease){
	"it was not used": func(b *standingBench, _ broker.Lease) {
		b.clock.Add(broker.DefaultTerms().StandingIdle + time.Minute)
		b.mustReap()
	},
	"it was not used, and the reaper has not come yet": func(b *standingBench, _ broker.Lease) {
		b.clock.Add(broker.DefaultTerms().StandingIdle + time.Minute)
	},
	"its account was deleted on the VIM": func(b *standingBench, l broker.Lease) { b.lose(l.Handle) },
}

// A lease that ended, and that nobody revoked, has a successor under the same name and secret: by the next token and by the
// next grant alike.
func TestAnEndedLeaseHasASuccessorOfTheSameSecret(t *testing.T) {
	for name, end := range pastEnd {
		t.Run(name, func(t *testing.T) {
			b := newStandingBench(t, benchOptions{})
			first, plain := b.mustStand()
			last := first
			for round := range 3 {
				end(b, last)
				next := b.wantMint("after its end", first.ID, plain)
				if next.ID == last.ID || next.Login != first.ID || next.Instance != first.Instance || !slices.Equal(next.Namespaces, first.Namespaces) || next.Role != first.Role || next.VIM != first.VIM {
					t.Fatalf("round %d: the successor = %+v", round, next)
				}
				if same, repeated, err := b.again(first, false); err != nil || same.ID != next.ID || repeated.Reveal() != plain.Reveal() {
					t.Fatalf("a grant is answered with %s, %v; want %s and the secret of before", same.ID, err, next.ID)
				}
				if old := b.row(last.ID); old.SecretSHA256 != "" || old.State == broker.LeaseActive {
					t.Errorf("the lease before is %s with %q", old.State, old.SecretSHA256)
				}
				last = next
			}
			b.clock.Add(time.Hour)
			b.mustReap()
			if got := b.upstream(); got != 1 {
				t.Errorf("%d accounts stand on the VIM, want that of the last lease", got)
			}
			entries := b.entries(root, audit.Query{Action: policy.LeaseIssue, Limit: 100})
			if !slices.ContainsFunc(entries, func(e audit.Entry) bool {
				return e.Principal == vnfm.Name && e.Outcome == audit.Intent && e.Detail[audit.DetailInPlaceOf] == first.ID
			}) {
				t.Errorf("no entry says whose place was taken: %v", entries)
			}
			b.wantNowhere("the lease's secret", plain.Reveal())
		})
	}
}

// A grant that comes first cannot know the secret: it has one of its own, and both are taken from then on.
func TestAGrantGivesASuccessorWhoseSecretsAreBothTaken(t *testing.T) {
	b := newStandingBench(t, benchOptions{})
	first, plain := b.mustStand()
	given := []secret.Text{plain}
	for range 10 {
		b.clock.Add(broker.DefaultTerms().StandingIdle + time.Minute)
		b.mustReap()
		next, another, err := b.again(first, false)
		if err != nil || another.Reveal() == given[len(given)-1].Reveal() || next.Login != first.ID {
			t.Fatalf("IssueLease() = %+v, %v", next, err)
		}
		given = append(given, another)
	}
	row, err := b.store.LeaseByLogin(t.Context(), first.ID)
	if err != nil || len(strings.Fields(row.SecretSHA256)) != 8 {
		t.Fatalf("%d secrets are taken, %v; want 8", len(strings.Fields(row.SecretSHA256)), err)
	}
	for i, one := range given {
		_, _, err := b.mint(first.ID, one)
		if taken := i == 0 || i > len(given)-8; taken != (err == nil) {
			t.Errorf("secret %d of %d: %v; want it taken: %t", i, len(given), err, taken)
		}
	}
}

// The first secret is taken for ever, whoever came first after each end.
func TestTheFirstSecretIsTakenForEver(t *testing.T) {
	b := newStandingBench(t, benchOptions{})
	first, plain := b.mustStand()
	for n := range 20 {
		b.clock.Add(broker.DefaultTerms().StandingIdle + time.Minute)
		b.mustReap()
		if n%3 > 0 {
			if _, _, err := b.again(first, false); err != nil {
				t.Fatal(err)
			}
		}
		b.wantMint("after so many ends", first.ID, plain)
	}
}

// What a person has revoked does not come back by a token, nor by a grant without a right of its own.
func TestARevokedLeaseComesBackOnlyWhereItIsResumed(t *testing.T) {
	for name, ended := range map[string]bool{"while it stood": false, "once it had ended": true} {
		for way, revoke := range map[string]func(b *standingBench, l broker.Lease) error{
			"by its id": func(b *standingBench, l broker.Lease) error {
				_, err := b.RevokeLease(b.t.Context(), root, l.ID)
				return err
			},
			"by its instance": func(b *standingBench, l broker.Lease) error {
				_, err := b.RevokeLeases(b.t.Context(), root, broker.LeaseSelector{Instance: l.Instance})
				return err
			},
			"by its holder": func(b *standingBench, l broker.Lease) error {
				_, err := b.RevokeLeases(b.t.Context(), root, broker.LeaseSelector{Principal: l.Principal})
				return err
			},
		} {
			t.Run(name+" "+way, func(t *testing.T) {
				b := newStandingBench(t, benchOptions{})
				first, plain := b.mustStand()
				b.lose(first.Handle)
				second := b.wantMint("after its account was deleted", first.ID, plain)
				if ended {
					b.clock.Add(broker.DefaultTerms().StandingIdle + time.Minute)
					b.mustReap()
					b.clock.Add(time.Minute)
					b.mustReap()
				}
				if err := revoke(b, first); err != nil { // the id that the VNFM has
					t.Fatal(err)
				}
				b.mustReap()
				if row := b.row(second.ID); row.State == broker.LeaseActive || row.Reason != broker.ReasonRequested {
					t.Fatalf("the lease is %s, %s", row.State, row.Reason)
				}
				refused := func(when string) {
					t.Helper()
					if _, _, err := b.mint(first.ID, plain); !errors.Is(err, broker.ErrConflict) {
						t.Errorf("%s: MintUnder() = %v, want a refusal", when, err)
					}
					if _, _, err := b.again(first, false); !errors.Is(err, broker.ErrConflict) {
						t.Errorf("%s: IssueLease() = %v, want a refusal", when, err)
					}
				}
				refused("after the revocation")
				b.kube.Deny(fakekube.Denial{Verb: "create", Resource: "serviceaccounts/token"})
				if _, _, err := b.again(first, true); err == nil {
					t.Fatal("a lease was issued that the VIM refuses")
				}
				b.kube.Deny()
				b.clock.Add(time.Hour)
				b.mustReap()
				refused("after a resumption that failed")
				if _, _, err := b.again(first, true); err != nil {
					t.Fatal(err)
				}
				b.wantMint("after it was resumed", first.ID, plain)
			})
		}
	}
}

// A secret that others may know is not taken any more, also once its instance is resumed.
func TestASecretEndsWhereItIsAskedFor(t *testing.T) {
	for name, ended := range map[string]bool{"while it stood": false, "once it had ended": true} {
		t.Run(name, func(t *testing.T) {
			b := newStandingBench(t, benchOptions{})
			l, plain := b.mustStand()
			if ended {
				b.clock.Add(broker.DefaultTerms().StandingIdle + time.Minute)
				b.mustReap()
			}
			if _, err := b.RevokeLeases(t.Context(), root, broker.LeaseSelector{Principal: vnfm.Name, NewSecret: true}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := b.again(l, false); !errors.Is(err, broker.ErrConflict) {
				t.Errorf("IssueLease() = %v, want a refusal", err)
			}
			_, another, err := b.again(l, true)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := b.mint(l.ID, plain); !errors.Is(err, policy.ErrUnauthenticated) {
				t.Errorf("MintUnder() with the secret of before = %v", err)
			}
			b.wantMint("with the new secret", l.ID, another)
			if _, err := b.RevokeLeases(t.Context(), root, broker.LeaseSelector{Principal: vnfm.Name, HolderGone: true}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := b.again(l, true); err == nil {
				t.Error("a lease was issued in the place of one whose holder is gone")
			}
		})
	}
}

// Nothing takes the place of a lease whose instance is gone, nor does anybody else than its holder.
func TestWhatHasNoSuccessor(t *testing.T) {
	t.Run("its operation has ended", func(t *testing.T) {
		b := newStandingBench(t, benchOptions{})
		l, plain := b.mustStand()
		b.clock.Add(broker.DefaultTerms().StandingIdle + time.Minute)
		b.mustReap()
		if err := b.EndLeases(t.Context(), root, broker.LeaseSelector{Instance: l.Instance}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.mint(l.ID, plain); !errors.Is(err, broker.ErrConflict) {
			t.Errorf("MintUnder() = %v", err)
		}
		if follows, err := b.Replaceable(t.Context(), l.ID); err != nil || follows {
			t.Errorf("Replaceable() = %t, %v", follows, err)
		}
	})
	t.Run("no instance", func(t *testing.T) {
		b := newStandingBench(t, benchOptions{})
		r := standingRequest()
		r.Instance = ""
		l, config, err := b.IssueLease(t.Context(), vnfm, r)
		if err != nil {
			t.Fatal(err)
		}
		b.clock.Add(broker.DefaultTerms().StandingIdle + time.Minute)
		b.mustReap()
		if _, _, err := b.mint(l.ID, config.Credential.LeaseSecret); !errors.Is(err, broker.ErrConflict) {
			t.Errorf("MintUnder() = %v", err)
		}
	})
	t.Run("another asks", func(t *testing.T) {
		b := newStandingBench(t, benchOptions{})
		l, _ := b.mustStand()
		mallet := policy.Principal{Name: "client:" + uuid.NewString(), Project: "demo", Roles: []string{policy.RoleVNFM}}
		b.clients[mallet.Name] = mallet
		for range 2 {
			r := standingRequest()
			r.InPlaceOf = l.Login
			if _, config, err := b.IssueLease(t.Context(), mallet, r); err == nil || !config.Credential.LeaseSecret.Empty() {
				t.Errorf("another client was given the lease: %v", err)
			}
			r.Instance, r.IdempotencyKey = "vnf-2", "k2"
			if _, config, err := b.IssueLease(t.Context(), vnfm, r); err == nil || !config.Credential.LeaseSecret.Empty() {
				t.Errorf("another instance was given the lease: %v", err)
			}
			b.clock.Add(broker.DefaultTerms().StandingIdle + time.Minute)
			b.mustReap()
		}
	})
	t.Run("policy forbids it", func(t *testing.T) {
		b := newStandingBench(t, benchOptions{})
		l, plain := b.mustStand()
		b.clock.Add(broker.DefaultTerms().StandingIdle + time.Minute)
		b.mustReap()
		b.clients[vnfm.Name] = policy.Principal{Name: vnfm.Name, Project: "demo", Roles: []string{policy.RoleReader}}
		if _, _, err := b.mint(l.ID, plain); !errors.Is(err, broker.ErrDenied) {
			t.Errorf("MintUnder() = %v, want ErrDenied", err)
		}
		b.clients[vnfm.Name] = vnfm
		b.wantMint("once it is permitted again", l.ID, plain)
	})
	t.Run("the VIM is suspended", func(t *testing.T) {
		b := newStandingBench(t, benchOptions{})
		l, plain := b.mustStand()
		b.lose(l.Handle)
		b.mustUpdate(root, b.vim.ID, broker.Change{Suspended: ptr("paused")})
		b.clock.Add(broker.DefaultTerms().StandingIdle + time.Minute)
		b.mustReap()
		if _, _, err := b.mint(l.ID, plain); !errors.Is(err, broker.ErrUnavailable) {
			t.Errorf("MintUnder() = %v, want ErrUnavailable", err)
		}
		b.mustUpdate(root, b.vim.ID, broker.Change{Suspended: ptr("")})
		b.wantMint("once it is resumed", l.ID, plain)
	})
}

// revokingWhenCreated revokes a lease just before another takes its place.
type revokingWhenCreated struct {
	broker.Store
	revoke func()
}

func (s *revokingWhenCreated) CreateLease(ctx context.Context, l broker.Lease, q broker.Quota, e audit.Entry) (broker.Lease, error) {
	if do := s.revoke; do != nil && l.Follows() {
		s.revoke = nil
		do()
	}
	return s.Store.CreateLease(ctx, l, q, e)
}

// What is revoked while another is about to take its place stays revoked, and so does a secret that ends meanwhile.
func TestARevocationWinsOverASuccessor(t *testing.T) {
	b := newStandingBench(t, benchOptions{})
	l, plain := b.mustStand()
	store := &revokingWhenCreated{Store: b.store}
	b.options.Store = store
	b.Broker = mustNew(t, b.options)
	b.clock.Add(broker.DefaultTerms().StandingIdle + time.Minute)
	b.mustReap()
	store.revoke = func() {
		if _, err := b.RevokeLeases(t.Context(), root, broker.LeaseSelector{Instance: l.Instance, NewSecret: true}); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := b.mint(l.ID, plain); err == nil || store.revoke != nil {
		t.Fatalf("MintUnder() = %v while the lease was revoked", err)
	}
	if _, _, err := b.again(l, false); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("IssueLease() = %v", err)
	}
}

// Many at once have one successor.
func TestManyAskForOneSuccessor(t *testing.T) {
	b := newStandingBench(t, benchOptions{})
	l, plain := b.mustStand()
	b.clock.Add(broker.DefaultTerms().StandingIdle + time.Minute)
	b.mustReap()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, _, err := b.mint(l.ID, plain); err != nil && !errors.Is(err, broker.ErrConflict) && !errors.Is(err, broker.ErrUnavailable) {
				t.Errorf("MintUnder() = %v", err)
			}
		})
	}
	all.Wait()
	found, _, err := b.store.Leases(t.Context(), broker.LeaseFilter{Instance: l.Instance, States: []broker.LeaseState{broker.LeaseActive}, Page: broker.Page{Size: 10}})
	if err != nil || len(found) != 1 || b.upstream() != 1 {
		t.Errorf("%d leases stand, %v, with %d accounts", len(found), err, b.upstream())
	}
	b.wantMint("after that", l.ID, plain)
}

// The holder of a standing lease has a token without its secret, also under a successor, and only while the lease stands.
// The secret goes on for whoever has it.
func TestTheHolderOfAStandingLeaseNeedsNoSecret(t *testing.T) {
	b := newStandingBench(t, benchOptions{lag: 10 * time.Second})
	b.options.Terms.Keep.Leases = 10 * 24 * time.Hour
	b.Broker = mustNew(t, b.options)
	first, plain := b.mustStand()
	renew := func() (broker.Lease, error) {
		l, config, err := b.RenewLease(t.Context(), vnfm, first.ID, 0)
		if err == nil {
			b.use(config.Token)
			if !config.LeaseSecret.Empty() || config.Endpoint != b.kube.Endpoint || config.ExpiresAt.After(b.clock.Now().Add(15*time.Minute)) {
				t.Errorf("the configuration is for %s, until %v", config.Endpoint, config.ExpiresAt)
			}
		}
		return l, err
	}
	if l, err := renew(); err != nil || l.ID != first.ID {
		t.Fatalf("RenewLease() = %s, %v", l.ID, err)
	}
	if again, same := b.mustStand(); again.ID != first.ID || same.Reveal() != plain.Reveal() {
		t.Error("after a renewal a repeat has another secret")
	}
	other := vnfm
	other.Name = "client:00000000-0e0c-4a0c-9d0b-4f6f3c0f1a11"
	b.clients[other.Name] = other
	_, _, err := b.RenewLease(t.Context(), other, first.ID, 0)
	wantKind(t, "RenewLease() by another client", err, broker.ErrNotFound)

	b.clock.Add(broker.DefaultTerms().StandingIdle + time.Minute)
	next, err := renew()
	if err != nil || next.ID == first.ID || next.Login != first.Login {
		t.Fatalf("the successor is %s of %s, %v", next.ID, next.Login, err)
	}
	b.wantMint("after a renewal", first.Login, plain)
	for range 8 { // until the row of the first lease is removed
		b.clock.Add(2 * 24 * time.Hour)
		b.mustReap()
		if again, err := renew(); err != nil || again.ID != next.ID {
			t.Fatalf("the successor again is %s, %v", again.ID, err)
		}
		b.pass("prune")
	}
	if _, err := b.store.Lease(t.Context(), first.ID); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("the row of the first lease: %v; want it gone", err)
	}
	if _, err := b.RevokeLease(t.Context(), root, first.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := renew(); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("RenewLease() once it is revoked = %v", err)
	}
}
