package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// What may be renewed, and for how long.
func TestWhatMayBeRenewed(t *testing.T) {
	renew := func(ttl time.Duration, p policy.Principal) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			l, c, err := s.RenewLease(ctx, p, leaseID, ttl)
			if err != nil {
				return kindOf(err)
			}
			return fmt.Sprint(l.ExpiresAt.Sub(s.clock.Now()), ", ", c.ExpiresAt.Sub(s.clock.Now()), ", ", s.count("Renew"))
		}
	}
	short := func(s *stage) {
		s.l.MaxExpiresAt = s.clock.Now().Add(time.Minute)
		s.l.ExpiresAt = s.clock.Now().Add(time.Second)
	}
	prepares := func(ttl time.Duration) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.fails["Prepare"] = &Error{Kind: ErrInvalid, Field: "ttl"}
			return renew(ttl, person)(ctx, s)
		}
	}
	actor := person
	actor.Actor = "operation"
	outcomes(t, []result{
		{"without a ttl", nil, renew(0, person), "1h0m0s, 1h0m0s, 1"},
		{"negative", nil, renew(-1, person), "invalid ttl"},
		{"for longer than the VIM says", nil, renew(2*time.Hour, person), "1h0m0s, 1h0m0s, 1"},
		{"for as long as is left", short, renew(time.Minute, person), "1m0s, 1m0s, 1"},
		{"for more than is left", short, renew(time.Hour, person), "1m0s, 1m0s, 1"},
		{"too short for the VIM", short, prepares(time.Hour), "conflict"},
		{"too short as it was asked", short, prepares(time.Minute), "invalid ttl"},
		{"expired", func(s *stage) { s.l.ExpiresAt = s.clock.Now() }, renew(0, person), "conflict"},
		{"ended", func(s *stage) { s.l.State = LeaseRevoked }, renew(0, person), "conflict"},
		{"planned", func(s *stage) { s.l.Planned = true }, renew(0, person), "denied"},
		{"planned, by its operation", func(s *stage) { s.l.Planned = true }, renew(0, actor), "1h0m0s, 1h0m0s, 1"},
		{"passed through", func(s *stage) { s.l.Derived = false }, renew(0, person), "not supported"},
		{"of a type that is not served", func(s *stage) { s.l.VIMType = "b" }, renew(0, person), "not supported type"},
		{"on a VIM whose system is another", func(s *stage) { s.v.Health.Status = HealthIdentityChanged }, renew(0, person), "conflict vim"},
		{"standing, by its holder", standing, func(ctx context.Context, s *stage) string {
			p := person
			p.Name = s.l.Principal
			_, c, err := s.RenewLease(ctx, p, leaseID, 0)
			return fmt.Sprint(c.Token.Empty(), kindOf(err))
		}, "falsenil"},
		{"standing, by another", standing, renew(0, person), "not supported"},
		{"standing, by one of that name elsewhere", standing, func(ctx context.Context, s *stage) string {
			return renew(0, policy.Principal{Name: s.l.Principal, Project: "q"})(ctx, s)
		}, "not supported"},
		{"standing, by an actor", standing, func(ctx context.Context, s *stage) string {
			return renew(0, policy.Principal{Name: s.l.Principal, Project: "p", Actor: "a"})(ctx, s)
		}, "not supported"},
		{"standing, for a ttl", standing, func(ctx context.Context, s *stage) string {
			return renew(time.Minute, policy.Principal{Name: s.l.Principal, Project: "p"})(ctx, s)
		}, "not supported"},
		{"revoked meanwhile", nil, func(ctx context.Context, s *stage) string {
			n := 0
			s.tape.meantime = func(l *Lease) {
				if n++; n > 1 {
					l.State = LeaseRevoking
				}
			}
			return renew(0, person)(ctx, s)
		}, "conflict"},
	})
}

// A lease is issued once for a key, on a VIM that is as it was decided on.
func TestWhatIsIssued(t *testing.T) {
	issue := func(r LeaseRequest) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			r.VIM = vimID
			l, c, err := s.IssueLease(ctx, person, r)
			return fmt.Sprint(l.State, ", ", c.Credential.Token.Reveal(), ", ", kindOf(err), ", issued ", s.count("Issue"), ", revoked ", s.count("Revoke"))
		}
	}
	fails := func(step string, err error, r LeaseRequest) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.fails[step] = err
			return issue(r)(ctx, s)
		}
	}
	again := func(change func(*stage)) func(*stage) {
		return func(s *stage) {
			s.l.IdempotencyKey, s.l.RequestDigest = "k", leaseDigest(vimID, LeaseRequest{TTL: time.Hour, Format: s.actor.is.Formats[0]}, Grant{})
			if change != nil {
				change(s)
			}
		}
	}
	key := LeaseRequest{IdempotencyKey: "k"}
	moved := func(err error, revision int64) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			v := s.tape.vims[vimID]
			v.Revision = revision
			i := &issuing{Leaser: s.Leaser, vim: s.v, act: must(s, policy.LeaseIssue)}
			s.tape.vims[vimID], s.fails["CreateLease"] = v, err
			_, err := i.create(ctx)
			return kindOf(err)
		}
	}
	outcomes(t, []result{
		{"a lease", nil, issue(LeaseRequest{}), "active, " + fresh + ", nil, issued 1, revoked 0"},
		{"verified by the system's authorities", nil, func(ctx context.Context, s *stage) string {
			_, plain, err := s.IssueLease(ctx, person, LeaseRequest{VIM: vimID})
			_, verified, verifiedErr := s.IssueLease(ctx, person, LeaseRequest{VIM: vimID, Verified: true})
			return fmt.Sprint(plain.CACert == "", err, verified.CACert == remote.SystemRoots(), verifiedErr)
		}, "true <nil> true <nil>"},
		{"for whom", nil, func(ctx context.Context, s *stage) string {
			issue(LeaseRequest{For: "dave"})(ctx, s)
			for _, e := range s.tape.entries {
				if e.Action == policy.LeaseIssue && e.Detail[audit.DetailFor] == "dave" {
					return "recorded"
				}
			}
			return "not recorded"
		}, "recorded"},
		{"suspended", func(s *stage) { s.v.Suspended = "why" }, issue(LeaseRequest{}), ", , conflict vim, issued 0, revoked 0"},
		{"unverified", func(s *stage) { s.v.Current.Target.InsecureSkipVerify = true }, issue(LeaseRequest{Verified: true}), ", , not supported, issued 0, revoked 0"},
		{"standing where none can be made", func(s *stage) {
			s.v.Health.CanMint, s.actor.is.Standing = false, true
			s.core.directories = map[string]policy.Directory{person.Authenticator(): nobody{}}
			s.core.drivers["a"] = s.actor
		}, issue(LeaseRequest{Standing: true}), ", , not supported standing, issued 0, revoked 0"},
		{"standing on a type that has none", func(s *stage) {
			s.core.directories = map[string]policy.Directory{person.Authenticator(): nobody{}}
		}, issue(LeaseRequest{Standing: true}), ", , not supported standing, issued 0, revoked 0"},
		{"a bad key", nil, issue(LeaseRequest{IdempotencyKey: "a b"}), ", , invalid Idempotency-Key, issued 0, revoked 0"},
		{"a long purpose", nil, issue(LeaseRequest{Purpose: letters(256)}), ", , invalid purpose, issued 0, revoked 0"},
		{"a format of none", nil, issue(LeaseRequest{Format: "xml"}), ", , invalid format, issued 0, revoked 0"},
		{"a negative ttl", nil, issue(LeaseRequest{TTL: -1}), ", , invalid ttl, issued 0, revoked 0"},
		{"an unknown type", func(s *stage) { s.v.Type = "b" }, issue(LeaseRequest{}), ", , not supported type, issued 0, revoked 0"},
		{
			"rules that the VIM does not know", func(s *stage) { s.actor.is.Rules = true },
			fails("CheckRules", &Error{Kind: ErrInvalid, Field: "rules"}, LeaseRequest{Rules: []Rule{{APIGroups: []string{""}, Resources: []string{"x"}, Verbs: []string{"get"}}}}),
			", , invalid rules, issued 0, revoked 0",
		},
		{
			"rules that the VIM does not know yet, of an operation", func(s *stage) { s.actor.is.Rules = true },
			fails("CheckRules", &Error{Kind: ErrInvalid, Field: "rules"}, LeaseRequest{
				Rules: []Rule{{APIGroups: []string{""}, Resources: []string{"x"}, Verbs: []string{"get"}}}, Operation: "o",
			}),
			"active, " + fresh + ", nil, issued 1, revoked 0",
		},
		{"no grade", nil, fails("Grade", &Error{Kind: ErrUnreachable}, LeaseRequest{}), ", , VIM unreachable, issued 0, revoked 0"},
		{"not minted", nil, fails("Issue", &Error{Kind: ErrForbidden}, LeaseRequest{}), ", , credential lacks rights on the VIM, issued 1, revoked 1"},
		{"standing, and not minted", func(s *stage) {
			s.actor.is.Standing = true
			s.core.directories = map[string]policy.Directory{person.Authenticator(): nobody{}}
			s.core.drivers["a"] = s.actor
		}, fails("Issue", &Error{Kind: ErrForbidden}, LeaseRequest{Standing: true}), ", , credential lacks rights on the VIM, issued 1, revoked 1"},
		{"a repeat", again(nil), issue(key), "active, " + fresh + ", nil, issued 0, revoked 0"},
		{"a repeat, unread", again(nil), fails("LeaseByKey", errStep, key), ", , the step fails, issued 0, revoked 0"},
		{"a repeat, unrecorded", again(nil), fails("Append", errStep, key), ", , the step fails, issued 0, revoked 0"},
		{"a repeat under way", again(func(s *stage) { s.l.State = LeasePending }), issue(key), ", , conflict Idempotency-Key, issued 0, revoked 0"},
		{"a repeat that has ended", again(func(s *stage) { s.l.State = LeaseRevoked }), issue(key), ", , conflict Idempotency-Key, issued 0, revoked 0"},
		{"a repeat that has expired", again(func(s *stage) { s.l.ExpiresAt = s.clock.Now() }), issue(key), ", , conflict Idempotency-Key, issued 0, revoked 0"},
		{"a repeat of an earlier generation", again(func(s *stage) { s.l.VIMGeneration = 7 }), issue(key), ", , conflict Idempotency-Key, issued 0, revoked 0"},
		{"a repeat of another request", again(func(s *stage) { s.l.RequestDigest = "x" }), issue(key), ", , conflict Idempotency-Key, issued 0, revoked 0"},
		{"a repeat of another project", again(func(s *stage) { s.l.Project = "q" }), issue(key), ", , conflict Idempotency-Key, issued 0, revoked 0"},
		{"a conflict, and the VIM has changed", nil, moved(&Error{Kind: ErrConflict}, 2), errMoved.Error()},
		{"a conflict, and it has not", nil, moved(&Error{Kind: ErrConflict}, 1), "conflict"},
		{"no conflict, and it has changed", nil, moved(&Error{Kind: ErrQuota}, 2), "quota exceeded"},
		{"another took the place", nil, moved(&Error{Kind: ErrExists, Field: "login"}, 1), errMoved.Error()},
		{"a conflict, and the VIM cannot be read", nil, func(ctx context.Context, s *stage) string {
			s.fails["VIM"] = errStep
			return moved(&Error{Kind: ErrConflict}, 2)(ctx, s)
		}, "conflict"},
	})
}

// nobody is a directory without callers.
type nobody struct{}

func (nobody) Lookup(context.Context, string, string) (policy.Principal, error) {
	return policy.Principal{}, policy.ErrUnauthenticated
}

// What is minted is recorded, under the present key where the VIM was sealed anew, and a write whose answer was lost is seen.
func TestRecordingWhatWasMinted(t *testing.T) {
	record := func(change func(*stage, *opened)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			o, err := s.core.open(ctx, s.v, s.v.Current)
			if err != nil {
				return err.Error()
			}
			defer o.close()
			change(s, o)
			l, err := s.recordIssue(ctx, s.l, s.actor.minted, o, must(s, policy.LeaseIssue))
			return fmt.Sprint(l.State, ", ", kindOf(err), ", ", s.count("UpdateLease"))
		}
	}
	pending := func(s *stage) { s.l.State = LeasePending }
	conflict := func(s *stage) { s.fails["UpdateLease 1"] = &Error{Kind: ErrConflict} }
	elsewhere := func(change func(*VIM)) func(s *stage, o *opened) {
		return func(s *stage, _ *opened) {
			v := s.tape.vims[vimID]
			if err := s.seal(t.Context(), v, &v.Current, SealedCurrent); err != nil {
				t.Fatal(err)
			}
			change(&v)
			s.tape.vims[vimID] = v
			conflict(s)
		}
	}
	outcomes(t, []result{
		{"recorded", pending, record(func(*stage, *opened) {}), "active, nil, 1"},
		{"revoked meanwhile", func(s *stage) { s.l.State = LeaseRevoking }, record(func(*stage, *opened) {}), ", conflict, 1"},
		{"sealed anew", pending, record(elsewhere(func(*VIM) {})), "active, nil, 2"},
		{"a conflict of another kind", pending, record(func(s *stage, _ *opened) { conflict(s) }), ", conflict, 1"},
		{"another generation by now", pending, record(elsewhere(func(v *VIM) { v.Current.Number = 2 })), ", conflict, 1"},
		{"sealed anew, and it does not open", pending, record(elsewhere(func(v *VIM) { v.Current.Identity = "other" })), ", conflict, 1"},
		{"sealed anew, and unread", pending, record(func(s *stage, o *opened) {
			elsewhere(func(*VIM) {})(s, o)
			s.fails["VIM"] = errStep
		}), ", conflict, 1"},
		{"not stored", pending, record(func(s *stage, _ *opened) { s.fails["UpdateLease"] = errStep }), ", the step fails, 1"},
		{"not stored, and another has made it active", nil, record(func(s *stage, _ *opened) { s.fails["UpdateLease"] = errStep }), ", the step fails, 1"},
	})
	_, err := (&opened{key: &secret.Key{}}).withMinted(Lease{ID: "l"}, Minted{Credential: Credential{Token: secret.NewText("t")}})
	if err == nil || !strings.Contains(err.Error(), "sealing the credential of lease l") {
		t.Errorf("without a key: %v", err)
	}
	if l, err := (&opened{}).withMinted(Lease{ID: "l"}, Minted{UID: "u"}); err != nil || l.UID != "" {
		t.Errorf("without a credential: %q, %v", l.UID, err)
	}
}

// elsewhere is a key store of another name.
type elsewhere struct{ secret.KeyStore }

func (elsewhere) Name() string { return "vault" }

// A write of a VIM that another has taken over, or that changed meanwhile, is given up.
func TestWritesThatAreOvertaken(t *testing.T) {
	mine := &Pending{Generation: 1}
	writing := func(s *stage) { s.v.Pending = mine }
	rekey := func(change func(*stage)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			v := s.tape.vims[vimID]
			change(s)
			_, err := s.Registry.rekey(ctx, s.core.keys, v, mine, must(s, policy.VIMRotate))
			return fmt.Sprint(kindOf(err), ", ", errors.Is(err, errOvertaken))
		}
	}
	stored := func(change func(*VIM)) func(*stage) {
		return func(s *stage) {
			v := s.tape.vims[vimID]
			change(&v)
			s.tape.vims[vimID] = v
		}
	}
	outcomes(t, []result{
		{"sealing anew", writing, rekey(func(*stage) {}), "nil, false"},
		{"sealing anew in another key store", writing, func(ctx context.Context, s *stage) string {
			s.core.keys = append(keyring.Ring{elsewhere{s.core.keys[0]}}, s.core.keys...)
			_, err := s.Registry.rekey(ctx, s.core.keys, s.tape.vims[vimID], mine, must(s, policy.VIMRotate))
			if err != nil || len(s.tape.entries) != 1 {
				return fmt.Sprint(err, s.tape.entries)
			}
			return s.tape.entries[0].Detail[audit.DetailNew+"keyStore"]
		}, "vault"},
		{"taken over", writing, rekey(stored(func(v *VIM) { v.Pending = nil })), "conflict, true"},
		{"one more generation", writing, rekey(stored(func(v *VIM) { v.Past = []Generation{{Number: 7}} })), "conflict, false"},
		{"another generation", writing, rekey(stored(func(v *VIM) { v.Current.Number = 7 })), "conflict, false"},
		{"another key", writing, rekey(stored(func(v *VIM) { v.Current.Key = "other" })), "conflict, false"},
		{"a lease of another generation", func(s *stage) { writing(s); s.l.VIMGeneration = 7 }, rekey(func(*stage) {}), "conflict, false"},
		{"a lease that does not open", writing, func(ctx context.Context, s *stage) string {
			got := rekey(func(s *stage) {
				l := s.row()
				l.Handle, l.ID = "h", vimID
				s.tape.leases[vimID] = l
			})(ctx, s)
			return fmt.Sprint(got, ", ", s.tape.leases[vimID].Sealed == "" && s.tape.leases[vimID].SealedKey == "", ", ", s.row().Sealed != "")
		}, "nil, false, true, true"},
		{"a key store that fails", writing, func(ctx context.Context, s *stage) string {
			_, err := s.Registry.rekeyGeneration(ctx, keyring.Ring{failing{}}, s.v, s.v.Current)
			return kindOf(err)
		}, "temporarily unavailable"},
		{"a key that does not come back", nil, func(ctx context.Context, s *stage) string {
			_, err := s.Registry.rekeyGeneration(ctx, keyring.Ring{elsewhere{s.stored}}, s.v, s.v.Current)
			return kindOf(err)
		}, "temporarily unavailable"},
		{"a generation that does not open", func(s *stage) { writing(s) }, func(ctx context.Context, s *stage) string {
			v := s.v
			v.Current.Identity = "other"
			_, err := s.Registry.rekeyGeneration(ctx, s.core.keys, v, v.Current)
			return kindOf(err)
		}, "stored credential cannot be opened"},
		{"the start, of another generation", nil, func(ctx context.Context, s *stage) string {
			v := s.v
			v.Current.Number = 7
			_, err := s.Registry.sealAnew(ctx, s.core.keys, v, func(*VIM) error { return nil }, must(s, policy.VIMRotate))
			return fmt.Sprint(kindOf(err), ", ", s.count("Rekey"))
		}, "conflict, 0"},
		{"the start, of a VIM that may not", nil, func(ctx context.Context, s *stage) string {
			_, err := s.Registry.sealAnew(ctx, s.core.keys, s.v, func(*VIM) error { return errStep }, must(s, policy.VIMRotate))
			return fmt.Sprint(kindOf(err), ", ", s.count("Rekey"))
		}, "the step fails, 0"},
		{"clearing what another has taken over", nil, func(ctx context.Context, s *stage) string {
			err := s.Registry.clearPending(ctx, vimID, mine, audit.Entry{})
			return fmt.Sprint(errors.Is(err, errOvertaken), s.count("UpdateVIM"))
		}, "true 0"},
		{"undoing what another has taken over", nil, func(ctx context.Context, s *stage) string {
			s.Registry.undoUpdate(ctx, s.v, mine, audit.Entry{})
			return fmt.Sprint(s.count("UpdateVIM"), strings.Contains(s.log.String(), "left for the settle pass"))
		}, "0 true"},
		{"undoing where the store fails", writing, func(ctx context.Context, s *stage) string {
			s.fails["UpdateVIM 1"] = errStep
			s.Registry.undoUpdate(ctx, s.v, mine, audit.Entry{})
			return fmt.Sprint(s.count("UpdateVIM"), mine.Since.Sub(s.tape.vims[vimID].Pending.Since))
		}, "2 5m0s"},
		{"settling what another settles", writing, func(ctx context.Context, s *stage) string {
			v := s.v
			v.Pending = &Pending{Generation: 7}
			return kindOf(s.Registry.settleVIM(ctx, v))
		}, "nil"},
		{"settling what is gone", writing, func(ctx context.Context, s *stage) string {
			s.tape.vims = nil
			return kindOf(s.Registry.settleVIM(ctx, s.v))
		}, "nil"},
		{"settling without the right to", writing, func(ctx context.Context, s *stage) string {
			s.denies[policy.VIMSettle] = true
			return fmt.Sprint(kindOf(s.Registry.settleVIM(ctx, s.v)), s.count("UpdateVIM"))
		}, "denied0"},
		{"another write has begun", func(s *stage) { s.v.Current.Number = 3 }, func(ctx context.Context, s *stage) string {
			u := &edit{vim: s.v, driver: s.actor, renews: true}
			u.vim.Current.Number = 1
			_, err := s.Registry.writeGeneration(ctx, u, must(s, policy.VIMRotate))
			return fmt.Sprint(kindOf(err), s.count("Reappoint"))
		}, "conflict0"},
	})
}

// failing is a key store that cannot be used.
type failing struct{ secret.KeyStore }

func (failing) Name() string { return "failing" }

func (failing) Put(context.Context, secret.Owner, *secret.Key) (secret.Ref, error) {
	return "", errStep
}

func (failing) List(context.Context, string) ([]secret.Held, error) { return nil, errStep }

// Which VIMs the pass seals anew, and which keys it reports.
func TestWhichVIMsAreSealedAnew(t *testing.T) {
	old := func(s *stage) {
		g := s.v.Current
		s.v.Past, s.v.Current.Number = []Generation{g}, 2
		s.l.VIMGeneration = 2
	}
	sealing := func(ctx context.Context, s *stage) string {
		err := s.SealAnew(ctx)
		return fmt.Sprint(kindOf(err), ", ", s.count("UpdateVIM"), ", ", strings.Contains(s.log.String(), "could not be sealed anew"))
	}
	outcomes(t, []result{
		{"none", nil, sealing, "nil, 0, false"},
		{"an earlier generation", old, sealing, "nil, 1, false"},
		{"an earlier generation, of a VIM that is being written", func(s *stage) { old(s); s.v.Pending = &Pending{Generation: 2} }, sealing, "nil, 0, false"},
		{"a process that ends", old, func(ctx context.Context, s *stage) string {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			err := s.SealAnew(ctx)
			return fmt.Sprint(errors.Is(err, context.Canceled), strings.Contains(s.log.String(), "could not be sealed anew"))
		}, "true false"},
		{"a key store that fails", nil, func(ctx context.Context, s *stage) string {
			s.core.keys = append(s.core.keys, failing{})
			return fmt.Sprint(s.SealAnew(ctx))
		}, "listing the keys of failing: the step fails"},
		{"a key of a VIM that cannot be read", nil, func(ctx context.Context, s *stage) string {
			s.tape.vims, s.fails["VIM"] = nil, errStep
			return fmt.Sprint(s.SealAnew(ctx))
		}, "looking for the VIM of a key: the step fails"},
		{"a key of a VIM that is being registered", nil, func(ctx context.Context, s *stage) string {
			s.tape.vims, s.during["SigningKeys"] = nil, func() { s.tape.vims = map[string]VIM{vimID: s.v} }
			err := s.SealAnew(ctx)
			during := s.Registry.discrepancies.sum().Unexplained
			s.tape.vims, s.during["SigningKeys"] = nil, nil
			return fmt.Sprint(err, during, s.SealAnew(ctx), s.Registry.discrepancies.sum().Unexplained)
		}, "<nil> 0 <nil> 1"},
		{"without the right to", old, func(ctx context.Context, s *stage) string {
			s.denies[policy.VIMSettle] = true
			return kindOf(s.Registry.sealVIMAnew(ctx, s.v))
		}, "denied"},
		{"under a key store that is not configured", nil, func(ctx context.Context, s *stage) string {
			v := s.v
			v.Current.KeyStore = "vault"
			return kindOf(s.Registry.sealVIMAnew(ctx, v))
		}, "stored credential cannot be opened keyStore"},
		{"one that is being deleted by now", nil, func(ctx context.Context, s *stage) string {
			v := s.tape.vims[vimID]
			v.State = VIMDraining
			s.tape.vims[vimID] = v
			return kindOf(s.Registry.sealVIMAnew(ctx, s.v))
		}, "conflict"},
	})
	ring := keyring.Ring{&keysInMemory{steps: &steps{}, held: map[secret.Ref]held{}}}
	sealed, err := ring.Seal(t.Context(), secret.Owner{ID: vimID, Generation: 1}, "f", secret.NewText("t"))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, spoilt := sealed, sealed
	elsewhere.KeyStore, spoilt.Text = "vault", "no token"
	for what, c := range map[string]struct {
		s      keyring.Sealed
		before time.Time
		want   bool
	}{
		"sealed since": {sealed, time.Time{}, false}, "sealed before": {sealed, time.Now().Add(time.Hour), true}, "elsewhere": {elsewhere, time.Time{}, true},
		"spoilt": {spoilt, time.Time{}, true}, "nothing": {keyring.Sealed{KeyStore: "vault"}, time.Now().Add(time.Hour), false},
	} {
		if got := (Due{To: ring, Before: c.before}).Selects(c.s); got != c.want {
			t.Errorf("%s is due: %v", what, got)
		}
	}
}

// Which generation a VIM is asked with.
func TestWhichGenerationAsks(t *testing.T) {
	// Two generations: 1 is past, 2 is the current one.
	two := func(change func(past, now *Generation)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			v := s.v
			past, now := v.Current, v.Current
			now.Number = 2
			change(&past, &now)
			spoilt := past.KeyStore == "spoilt"
			for i, g := range []*Generation{&past, &now} {
				v.Current.Number = 2
				as := []SealedAs{SealedPast, SealedCurrent}[i]
				if err := s.seal(ctx, v, g, as); err != nil {
					return err.Error()
				}
			}
			if spoilt {
				past.KeyStore = "spoilt"
			}
			v.Past, v.Current = []Generation{past}, now
			s.tape.vims[vimID] = v
			in := s.newSession(vimID)
			defer in.close()
			asked := ""
			g, err := in.each(ctx, 1, func(_ context.Context, o *opened) error {
				asked += fmt.Sprint(o.Generation)
				if o.Generation == 1 {
					return &Error{Kind: ErrForbidden}
				}
				return nil
			})
			return fmt.Sprint(asked, ", ", g.Number, ", ", kindOf(err))
		}
	}
	outcomes(t, []result{
		{"refused, of the same system", nil, two(func(_, _ *Generation) {}), "12, 2, nil"},
		{"it does not open, of the same system", nil, two(func(past, _ *Generation) { past.KeyStore = "spoilt" }), "2, 2, nil"},
		{"refused, of another system", nil, two(func(past, _ *Generation) { past.Identity = "old" }), "1, 1, credential lacks rights on the VIM"},
		{"a generation that is gone since it was read", nil, func(ctx context.Context, s *stage) string {
			v, now := s.v, s.v
			v.Current.Sealed, now.Current.Number = "changed", 2
			s.tape.vims[vimID] = now
			_, err := s.core.open(ctx, v, v.Current)
			return fmt.Sprint(errors.Is(err, ErrUnopenable), " ", err)
		}, "false the VIM was changed at the same time; read it again and repeat the change"},
		{"a generation that is gone", nil, func(ctx context.Context, s *stage) string {
			in := s.newSession(vimID)
			defer in.close()
			_, err := in.each(ctx, 7, nil)
			_, pinned := in.pinned(ctx, Lease{VIMGeneration: 7})
			return kindOf(err) + ", " + kindOf(pinned)
		}, "stored credential cannot be opened, conflict"},
		{"closed, and opened again", nil, func(ctx context.Context, s *stage) string {
			in := s.newSession(vimID)
			for range 2 {
				o, err := in.pinned(ctx, s.l)
				if err != nil {
					return err.Error()
				}
				if _, err = o.unseal(s.l); err != nil {
					return err.Error()
				}
				in.close()
			}
			return fmt.Sprint(s.count("VIM"))
		}, "1"},
		{"unread", nil, func(ctx context.Context, s *stage) string {
			s.fails["VIM"] = errStep
			in := s.newSession(vimID)
			defer in.close()
			_, each := in.each(ctx, 1, nil)
			_, pinned := in.pinned(ctx, s.l)
			_, vouched := in.vouched(ctx)
			_, opened := in.opened(ctx, s.v.Current)
			return fmt.Sprint(each, pinned, vouched, opened)
		}, "the step fails the step fails the step fails the step fails"},
		{"sealed anew since it was read", nil, func(ctx context.Context, s *stage) string {
			read := s.v
			read.Current.Identity = "other"
			_, same := s.core.open(ctx, read, read.Current)
			v := s.tape.vims[vimID]
			if err := s.seal(ctx, v, &v.Current, SealedCurrent); err != nil {
				return err.Error()
			}
			s.tape.vims[vimID] = v
			again, since := s.core.open(ctx, read, read.Current)
			if since == nil {
				again.close()
			}
			read.Current.Number = 7
			_, gone := s.core.open(ctx, read, read.Current)
			s.fails["VIM"] = errStep
			_, unread := s.core.open(ctx, read, read.Current)
			return kindOf(same) + ", " + kindOf(since) + ", " + kindOf(gone) + ", " + kindOf(unread)
		}, "stored credential cannot be opened, nil, conflict, stored credential cannot be opened"},
	})
}

// The numbers of an operator's page, and what the log says where they cannot be had.
func TestWhatFailsIsShown(t *testing.T) {
	outcomes(t, []result{
		{"the store", nil, func(ctx context.Context, s *stage) string {
			whole := s.Vitals(ctx).Counted != nil
			s.fails["Census"] = errStep
			return fmt.Sprint(whole, s.Vitals(ctx).Counted != nil, strings.Contains(s.log.String(), "could not be asked"))
		}, "true false true"},
		{"passes", nil, func(_ context.Context, s *stage) string {
			now := s.clock.Now()
			s.counters.passes = map[string]PassRecord{
				"a": {FailedAt: now, Every: time.Minute}, "b": {FailedAt: now.Add(1 - 2*time.Minute), Every: time.Minute},
				"c": {FailedAt: now.Add(-2 * time.Minute), Every: time.Minute}, "d": {Every: time.Minute},
			}
			return strings.Join(s.counters.failing(now), ", ")
		}, "the pass a fails, the pass b fails"},
		{"a part of trust", nil, func(_ context.Context, s *stage) string {
			for _, p := range s.probes() {
				p.at = time.Now()
			}
			s.WatchTrust(func() string { return "it is out" })
			parts, err := s.Ready()
			return fmt.Sprint(parts[len(parts)-1], err)
		}, fmt.Sprint(PartStatus{Part: PartTrust, Fault: "it is out"}, nil)},
		{"keys of checkpoints", func(s *stage) {
			s.tape.signing = []notary.SigningKey{{ID: "m", State: notary.Making}, {ID: "a", State: notary.Abandoned}, {ID: "s", State: notary.Signing, Sealed: keyring.Sealed{Text: "t"}}}
		}, func(ctx context.Context, s *stage) string {
			keys, err := s.AuditKeys(ctx, person)
			return fmt.Sprint(len(keys), keys[0].ID, keys[0].Text, err)
		}, "1s<nil>"},
		{"revoking a key", nil, func(ctx context.Context, s *stage) string {
			_, negative := s.RevokeAuditKey(ctx, person, "x", -1)
			_, none := s.RevokeAuditKey(ctx, person, "x", 0)
			s.denies[policy.AuditKey] = true
			_, denied := s.RevokeAuditKey(ctx, person, "x", 0)
			_, rotates := s.RotateAuditKey(ctx, person)
			return fmt.Sprint(kindOf(negative), ", ", kindOf(none), ", ", kindOf(denied), ", ", kindOf(rotates), ", ", s.count("ChangeSigningKeys"))
		}, "invalid until, not found key, denied, denied, 0"},
		{"the same fault", nil, func(ctx context.Context, s *stage) string {
			fault := errors.New("one")
			p := &probe{name: "part", ask: func(context.Context) error { return fault }, clock: time.Now}
			for _, fault = range []error{errors.New("one"), errors.New("one"), errors.New("two"), nil, nil} {
				_ = p.look(ctx, testlog.To(t, slog.NewTextHandler(s.log, nil)))
			}
			return fmt.Sprint(strings.Count(s.log.String(), "cannot be used"), strings.Count(s.log.String(), "can be used again"))
		}, "2 1"},
	})
}

// Each term bounds from one on.
func TestTermsFromOneOn(t *testing.T) {
	terms := Terms{
		DefaultTTL: 1, MaxTTL: 1, StandingTTL: 1, StandingIdle: 1, StandingMax: 1, CheckEvery: 1, CheckpointEvery: 1, ReapEvery: 1, SettleEvery: 1,
		InventoryEvery: 1, CallTimeout: 1, AbandonedAfter: 1, GiveUpAfter: 1, TidyAfter: 1,
	}
	if err := terms.check(); err != nil {
		t.Errorf("terms of one: %v", err)
	}
}
