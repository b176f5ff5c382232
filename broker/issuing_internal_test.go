package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

// A lease that is shared is issued once for half of its lifetime. One that has ended before is followed by another, three
// times; one that is being issued is waited for; any other answer is given on.
func TestALeaseIsShared(t *testing.T) {
	const ttl = 8 * time.Minute
	shared := func(change func(context.Context, *stage) context.Context) func(*testing.T, *stage) string {
		return func(t *testing.T, s *stage) string {
			ctx := t.Context()
			if change != nil {
				ctx = change(ctx, s)
			}
			l, _, err := s.IssueShared(ctx, person, LeaseRequest{VIM: vimID, TTL: ttl, IdempotencyKey: "k"})
			return fmt.Sprint(l.State, ", ", kindOf(err), ", asked ", s.count("LeaseByKey"), ", issued ", s.count("Issue"))
		}
	}
	held := func(s *stage, try int, state LeaseState) string {
		l := s.l
		l.ID = fmt.Sprint("held ", try)
		l.State, l.IdempotencyKey = state, fmt.Sprintf("k-%d-%d", s.clock.Now().UnixNano()/int64(ttl/2), try)
		l.RequestDigest = leaseDigest(vimID, LeaseRequest{TTL: ttl, Format: s.actor.is.Formats[0]}, Grant{})
		s.tape.leases[l.ID] = l
		return l.ID
	}
	ended := func(n int) func(context.Context, *stage) context.Context {
		return func(ctx context.Context, s *stage) context.Context {
			for try := range n {
				held(s, try, LeaseRevoked)
			}
			return ctx
		}
	}
	for _, c := range []struct {
		what string
		do   func(*testing.T, *stage) string
		want string
	}{
		{"the first", shared(nil), "active, nil, asked 1, issued 1"},
		{"for half of its lifetime", func(t *testing.T, s *stage) string {
			until := s.clock.Now().Truncate(ttl / 2).Add(ttl / 2)
			first := shared(nil)(t, s)
			s.clock.Add(until.Sub(s.clock.Now()) - 1)
			again := shared(nil)(t, s)
			s.clock.Add(1)
			return fmt.Sprint(first, "; ", again, "; ", shared(nil)(t, s))
		}, "active, nil, asked 1, issued 1; active, nil, asked 2, issued 1; active, nil, asked 3, issued 2"},
		{"two that have ended", shared(ended(2)), "active, nil, asked 3, issued 1"},
		{"two that have ended, and nobody waits", shared(func(ctx context.Context, s *stage) context.Context {
			ctx, cancel := context.WithCancel(ended(2)(ctx, s))
			cancel()
			return ctx
		}), "active, nil, asked 3, issued 1"},
		{"three that have ended", shared(ended(3)), ", conflict Idempotency-Key, asked 3, issued 0"},
		{"one that is being issued", shared(func(ctx context.Context, s *stage) context.Context {
			id := held(s, 0, LeasePending)
			s.during["LeaseByKey 4"] = func() { delete(s.tape.leases, id) }
			return ctx
		}), "active, nil, asked 4, issued 1"},
		{"one that is being issued, and nobody waits", shared(func(ctx context.Context, s *stage) context.Context {
			held(s, 0, LeasePending)
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx
		}), ", conflict Idempotency-Key, asked 1, issued 0"},
		{"an answer that is none of these", shared(func(ctx context.Context, s *stage) context.Context {
			s.fails["Grade"] = &Error{Kind: ErrUnreachable}
			return ctx
		}), ", VIM unreachable, asked 1, issued 0"},
		{"a step that fails", shared(func(ctx context.Context, s *stage) context.Context {
			s.fails["Grade"] = errStep
			return ctx
		}), ", the step fails, asked 1, issued 0"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t)
			if got := c.do(t, s); got != c.want {
				t.Errorf("%s: %s, want %s; the steps are %q", c.what, got, c.want, s.taken)
			}
		})
	}
}

// What the kinds of leases that are not usual are refused for, and what they end with.
func TestLeasesOfOtherKinds(t *testing.T) {
	issue := func(change func(*stage), r LeaseRequest) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			if change != nil {
				change(s)
			}
			r.VIM = vimID
			l, c, err := s.IssueLease(ctx, person, r)
			return fmt.Sprint(l.State, ", ", l.ExpiresAt.Sub(s.clock.Now()) > 0, ", ", c.CACert == "", ", ", kindOf(err), ", entries ", len(s.tape.entries))
		}
	}
	ends := func(at time.Duration) func(*stage) {
		return func(s *stage) { s.v.Current.CredentialExpiresAt = s.clock.Now().Add(at) }
	}
	until := func(r LeaseRequest) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			r.VIM, r.Credential = vimID, LeasePassThrough
			l, _, err := s.IssueLease(ctx, person, r)
			return fmt.Sprint(l.ExpiresAt.Sub(s.clock.Now()), ", ", kindOf(err))
		}
	}
	repeat := func(change func(*stage)) func(*stage) {
		return func(s *stage) {
			s.l.IdempotencyKey, s.l.Derived = "k", false
			r := LeaseRequest{TTL: time.Hour, Format: s.actor.is.Formats[0], Credential: LeasePassThrough}
			s.l.RequestDigest = leaseDigest(vimID, r, Grant{})
			if change != nil {
				change(s)
			}
		}
	}
	clients := func(s *stage) {
		s.actor.is.Standing, s.actor.is.Users = true, true
		s.core.drivers["a"], s.core.directories = s.actor, map[string]policy.Directory{person.Authenticator(): nobody{}}
	}
	keyed := func(change func(*stage)) func(*stage) {
		return func(s *stage) {
			clients(s)
			s.l.IdempotencyKey, s.l.TokenTTL, s.l.Login = "k", s.core.terms.StandingTTL, leaseID
			r := LeaseRequest{TTL: s.core.terms.StandingTTL, Format: s.actor.is.Formats[0], Standing: true}
			s.l.RequestDigest = leaseDigest(vimID, r, Grant{})
			if change != nil {
				change(s)
			}
		}
	}
	through, again := LeaseRequest{Credential: LeasePassThrough}, LeaseRequest{Credential: LeasePassThrough, TTL: time.Hour, IdempotencyKey: "k"}
	unverified := func(s *stage) { s.v.Current.Target.InsecureSkipVerify = true }
	outcomes(t, []result{
		{"an error has no authorities", unverified, issue(nil, LeaseRequest{Verified: true}), ", false, true, not supported, entries 1"},
		{"passed through", nil, issue(nil, through), "active, true, true, nil, entries 3"},
		{"passed through, where so wide a lease may be", nil, issue(nil, LeaseRequest{Credential: LeasePassThrough, Widest: GradeUnbounded}), "active, true, true, nil, entries 3"},
		{"passed through, where that is too wide", nil, issue(nil, LeaseRequest{Credential: LeasePassThrough, Widest: GradeBounded}), ", false, true, denied, entries 1"},
		{"passed through, without the right to", nil, issue(func(s *stage) { s.denies[policy.LeasePassThrough] = true }, through), ", false, true, denied credential, entries 2"},
		{"passed through, and the right cannot be recorded", nil, issue(func(s *stage) { s.fails["Append 1"] = errStep }, through), ", false, true, temporarily unavailable, entries 1"},
		{"passed through, and cut down", nil, issue(nil, LeaseRequest{Credential: LeasePassThrough, Namespaces: []string{"n"}}), ", false, true, invalid credential, entries 0"},
		{"passed through, in a role", nil, issue(nil, LeaseRequest{Credential: LeasePassThrough, Role: "view"}), ", false, true, invalid credential, entries 0"},
		{"passed through, and standing", nil, issue(nil, LeaseRequest{Credential: LeasePassThrough, Standing: true}), ", false, true, invalid credential, entries 0"},
		{"a user that stands", clients, issue(nil, LeaseRequest{Credential: LeaseUser, Standing: true}), ", false, true, invalid credential, entries 0"},
		{"a user", clients, issue(nil, LeaseRequest{Credential: LeaseUser}), "active, true, true, nil, entries 2"},
		{"the stored credential ends before", ends(time.Minute), until(LeaseRequest{TTL: time.Hour}), "1m0s, nil"},
		{"the stored credential ends after", ends(2 * time.Hour), until(LeaseRequest{TTL: time.Hour}), "1h0m0s, nil"},
		{"the stored credential has no end", nil, until(LeaseRequest{TTL: time.Hour}), "1h0m0s, nil"},
		{"the stored credential has ended", ends(0), issue(nil, through), ", false, true, credential refused by the VIM vim, entries 2"},
		{"passed through to whom a directory knows", clients, func(ctx context.Context, s *stage) string {
			l, _, err := s.IssueLease(ctx, person, LeaseRequest{VIM: vimID, Credential: LeasePassThrough})
			return fmt.Sprint(l.MaxExpiresAt.Sub(l.CreatedAt) == s.core.terms.StandingMax, s.core.terms.StandingMax > s.core.terms.MaxTTL, err)
		}, "true true <nil>"},
		{"standing again, and it has ended", keyed(func(s *stage) {
			s.l.State, s.l.Reason, s.l.Instance, s.l.SecretSHA256 = LeaseRevoked, ReasonExpired, "i", "sum"
		}), issue(nil, LeaseRequest{Standing: true, IdempotencyKey: "k"}), ", false, true, conflict Idempotency-Key, entries 1"},
		{"passed through again", repeat(nil), issue(nil, again), "active, true, true, nil, entries 2"},
		{"passed through again, without the right to", repeat(nil), issue(func(s *stage) { s.denies[policy.LeasePassThrough] = true }, again), ", false, true, denied credential, entries 2"},
		{"standing again", keyed(nil), issue(nil, LeaseRequest{Standing: true, IdempotencyKey: "k"}), "active, true, true, nil, entries 1"},
		{"standing again, and its secret is not kept", keyed(nil), issue(func(s *stage) {
			l := s.row()
			l.Sealed = s.sealed(t, Credential{Token: secret.NewText(fresh)})
			s.tape.leases[leaseID] = l
		}, LeaseRequest{Standing: true, IdempotencyKey: "k"}), ", false, true, conflict Idempotency-Key, entries 1"},
		{"standing again, and it does not open", keyed(nil), issue(func(s *stage) {
			l := s.row()
			l.Sealed = "x"
			s.tape.leases[leaseID] = l
		}, LeaseRequest{Standing: true, IdempotencyKey: "k"}), ", false, true, stored credential cannot be opened, entries 1"},
		{"issued at the same moment", nil, issue(func(s *stage) {
			s.fails["CreateLease"] = &Error{Kind: ErrExists}
			s.during["CreateLease"] = func() {
				l := s.row()
				l.IdempotencyKey, l.RequestDigest = "k", leaseDigest(vimID, LeaseRequest{TTL: time.Hour, Format: s.actor.is.Formats[0]}, Grant{})
				s.tape.leases[leaseID] = l
			}
		}, LeaseRequest{IdempotencyKey: "k"}), "active, true, true, nil, entries 1"},
		{"there is one, and nobody finds it", nil, issue(func(s *stage) { s.fails["CreateLease"] = &Error{Kind: ErrExists} }, LeaseRequest{IdempotencyKey: "k"}), ", false, true, already exists, entries 1"},
	})
}

// sealed is a credential of the lease, sealed as its row has it.
func (s *stage) sealed(t *testing.T, c Credential) string {
	t.Helper()
	in := s.newSession(vimID)
	defer in.close()
	o, err := in.pinned(t.Context(), s.l)
	if err != nil {
		t.Fatal(err)
	}
	text, err := o.seal(s.l, c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What is asked about a lease that is not issued, and a key that seals no more: each ends with an error.
func TestWhatEndsAnIssue(t *testing.T) {
	weigh := func(change func(*stage)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			change(s)
			l, err := s.WeighLease(ctx, person, LeaseRequest{VIM: vimID})
			return fmt.Sprint(l.ID == "", ", ", kindOf(err), ", ", s.count("Foresee"))
		}
	}
	cleared := &opened{key: &secret.Key{}}
	outcomes(t, []result{
		{"a VIM that is being deleted is weighed", func(s *stage) { s.v.State = VIMDraining }, weigh(func(*stage) {}), "true, conflict vim, 0"},
		{"a VIM whose credential does not open is weighed", nil, weigh(func(s *stage) {
			v := s.tape.vims[vimID]
			v.Current.KeyStore = "vault"
			s.tape.vims[vimID] = v
		}), "true, stored credential cannot be opened keyStore, 0"},
		{"what was minted does not seal", func(s *stage) { s.l.State = LeasePending }, func(ctx context.Context, s *stage) string {
			l, err := s.record(ctx, s.l, s.actor.minted, cleared, must(s, policy.LeaseIssue))
			return fmt.Sprint(l.ID, ", ", strings.HasPrefix(fmt.Sprint(err), "sealing the credential"), ", ", s.count("UpdateLease"))
		}, ", true, 0"},
		{"the newest does not seal", nil, func(ctx context.Context, s *stage) string {
			in := s.newSession(vimID)
			in.open[1] = cleared
			_, err := s.sealNewest(ctx, in, s.l, s.actor.minted, "", must(s, policy.LeaseRenew).Done(), func(*Lease) {})
			return fmt.Sprint(strings.HasPrefix(fmt.Sprint(err), "sealing the credential"), ", ", s.count("UpdateLease"))
		}, "true, 0"},
		{"a lease under a new key does not seal", nil, func(_ context.Context, s *stage) string {
			in := s.newSession(vimID)
			defer in.close()
			o, err := in.pinned(context.Background(), s.l)
			if err != nil {
				return err.Error()
			}
			l := s.l
			err = reseal(&l, &rekeyed{old: o.key, now: &secret.Key{}})
			return fmt.Sprint(err != nil, l.SealedKey == s.l.SealedKey)
		}, "true true"},
		{"what was minted cannot be taken back by who may not", func(s *stage) {
			s.l.State, s.l.NextAttemptAt = LeasePending, s.clock.Now().Add(time.Hour)
		}, func(ctx context.Context, s *stage) string {
			s.denies[policy.LeaseRevoke] = true
			s.abort(ctx, s.l, ReasonIssueFailed, must(s, policy.LeaseIssue).Failed("x"))
			return fmt.Sprint(s.row().State, ", ", s.count("Revoke"), ", ", s.logs("left for the reaper"), ", due ", s.row().NextAttemptAt.Equal(s.clock.Now()))
		}, "revoking, 0, true, due true"},
		{"what was minted is taken back, and nothing is left to tell", func(s *stage) { s.l.State = LeasePending }, func(ctx context.Context, s *stage) string {
			s.abort(ctx, s.l, ReasonIssueFailed, must(s, policy.LeaseIssue).Failed("x"))
			return fmt.Sprint(s.row().State, ", ", s.count("Revoke"), ", ", s.logs("left for"))
		}, "revoked, 1, false"},
		{"a renewal for no time", nil, func(_ context.Context, s *stage) string {
			_, _, err := s.renewable(person, s.l, 0)
			return kindOf(err)
		}, "nil"},
		{"leases that cannot be listed", nil, func(ctx context.Context, s *stage) string {
			s.fails["Leases"] = errStep
			all, _, err := s.Leases(ctx, person, LeaseQuery{})
			return fmt.Sprint(len(all), " ", errors.Is(err, errStep))
		}, "0 true"},
		{"a lease that cannot be read has not ended", func(s *stage) { s.l.State = LeaseRevoked }, func(ctx context.Context, s *stage) string {
			is, _, err := s.Ended(ctx, leaseID)
			s.fails["Lease"] = errStep
			unread, _, failed := s.Ended(ctx, leaseID)
			return fmt.Sprint(is, err, unread, failed)
		}, "true <nil> false the step fails"},
	})
}
