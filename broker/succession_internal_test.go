package broker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Which lease has the place of one, and which may take it.
func TestWhoTakesThePlaceOfALease(t *testing.T) {
	current := func(change func(*stage)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			if change != nil {
				change(s)
			}
			l, err := s.Leaser.current(ctx, leaseID)
			return l.ID + ", " + kindOf(err)
		}
	}
	ended := func(s *stage) { standing(s); s.l.State = LeaseRevoked }
	next := func(s *stage) {
		l := s.l
		l.ID = "next"
		s.tape.leases = map[string]Lease{leaseID: {ID: leaseID, State: LeaseRevoked, Login: leaseID}, "next": l}
	}
	outcomes(t, []result{
		{"one that is active", standing, current(nil), leaseID + ", nil"},
		{"one that has ended, and none follows", func(s *stage) { ended(s); s.l.Login = "x" }, current(nil), leaseID + ", nil"},
		{"one that has ended, and one follows", nil, func(ctx context.Context, s *stage) string {
			s.l.Login = leaseID
			next(s)
			delete(s.tape.leases, leaseID)
			return current(nil)(ctx, s)
		}, "next, nil"},
		{"no lease", nil, func(ctx context.Context, s *stage) string {
			s.tape.leases = nil
			return current(nil)(ctx, s)
		}, ", not found"},
		{"unread", standing, current(func(s *stage) { s.fails["Lease"] = errStep }), ", the step fails"},
		{"whether one may follow", ended, func(ctx context.Context, s *stage) string {
			may, err := s.Replaceable(ctx, leaseID)
			s.fails["Lease"] = errStep
			unread, unreadErr := s.Replaceable(ctx, leaseID)
			return fmt.Sprint(may, err, unread, unreadErr)
		}, "true <nil> false the step fails"},
		{"ended, and the next is unread", ended, current(func(s *stage) { s.fails["LeaseByLogin"] = errStep }), ", the step fails"},
	})

	before := func(change func(*Lease)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			l := s.row()
			if change != nil {
				change(&l)
			}
			s.tape.leases[leaseID] = l
			i := &issuing{Leaser: s.Leaser, caller: policy.Principal{Name: s.l.Principal}, vim: s.v, lease: s.l, request: LeaseRequest{InPlaceOf: leaseID}}
			_, err := i.before(ctx)
			return kindOf(err)
		}
	}
	outcomes(t, []result{
		{"the place of one's own", standing, before(nil), "nil"},
		{"of another's", standing, before(func(l *Lease) { l.Principal = "x" }), "conflict Idempotency-Key"},
		{"of another project", standing, before(func(l *Lease) { l.Project = "x" }), "conflict Idempotency-Key"},
		{"of another instance", standing, before(func(l *Lease) { l.Instance = "x" }), "conflict Idempotency-Key"},
		{"of another VIM", standing, before(func(l *Lease) { l.VIM = "x" }), "conflict Idempotency-Key"},
		{"of none", standing, before(func(l *Lease) { l.Login = "x" }), "not found"},
	})

	succeed := func(r LeaseRequest, prepare func(*stage)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			k, err := r.kind()
			if err != nil {
				return err.Error()
			}
			i := &issuing{Leaser: s.Leaser, vim: s.v, kind: k, act: must(s, policy.LeaseIssue), request: r, lease: Lease{SecretSHA256: "own"}}
			i.request.InPlaceOf = leaseID
			if prepare != nil {
				prepare(s)
			}
			follows := i.follow(s.l)
			err = i.succeed(ctx)
			return fmt.Sprint(follows, ", ", i.lease.SecretSHA256, ", ", s.row().State, ", ", kindOf(err))
		}
	}
	over := func(s *stage) { standing(s); s.l.ExpiresAt = s.clock.Now() }
	shown := LeaseRequest{Standing: true, shown: secret.NewText("plain")}
	outcomes(t, []result{
		{"it lives", standing, succeed(LeaseRequest{Standing: true}, nil), "false, own, active, nil"},
		{"it is over", over, succeed(LeaseRequest{Standing: true}, nil), "true, own sum, revoking, nil"},
		{"it is over, and its secret is shown", over, succeed(shown, nil), "true, sum, revoking, nil"},
		{"it is over, and the next stands not", over, succeed(LeaseRequest{shown: shown.shown}, nil), "true, own sum, revoking, nil"},
		{"it has no secret any more", func(s *stage) { over(s); s.l.SecretSHA256 = "" }, succeed(shown, nil), "false, own, active, nil"},
		{"it has the secret of none", func(s *stage) { over(s); s.l.SecretSHA256 = "- sum" }, succeed(shown, nil), "true, sum, revoking, nil"},
		{"it was revoked", func(s *stage) { over(s); s.l.State, s.l.Reason = LeaseRevoked, ReasonRequested }, succeed(shown, nil), "false, own, revoked, nil"},
		{
			"it is resumed", func(s *stage) { over(s); s.l.State, s.l.Reason = LeaseRevoked, ReasonRequested },
			succeed(LeaseRequest{Standing: true, Resumed: true}, nil), "true, own sum, revoked, nil",
		},
		{"it cannot be ended", over, succeed(shown, func(s *stage) { s.fails["UpdateLease"] = errStep }), "true, own, active, the step fails"},
		{"it may not be ended", over, succeed(shown, func(s *stage) { s.denies[policy.LeaseRevoke] = true }), "true, own, active, denied"},
		{"it ends meanwhile", over, succeed(shown, func(s *stage) { s.tape.meantime = func(l *Lease) { l.State = LeaseRevoked } }), "true, sum, active, nil"},
		{"it is revoked meanwhile", over, succeed(shown, func(s *stage) {
			s.tape.meantime = func(l *Lease) { l.State, l.Reason = LeaseRevoked, ReasonRequested }
		}), "true, own, active, " + errMoved.Error()},
	})
}

// A token is minted for who holds the lease, and his secret is what the row says.
func TestMintingUnderALease(t *testing.T) {
	plain := leaseSecretPrefix + "secret"
	for what, l := range map[string]Lease{
		"true of a lease that stands":   {TokenTTL: 1, SecretSHA256: "x " + policy.Digest(plain)},
		"false of one that does not":    {SecretSHA256: policy.Digest(plain)},
		"false of one of other secrets": {TokenTTL: 1, SecretSHA256: policy.Digest("other")},
	} {
		if got := l.knows(plain); got != strings.HasPrefix(what, "true") {
			t.Errorf("%s: it knows the secret: %v", what, got)
		}
	}
	if text := "secret"; (Lease{TokenTTL: 1, SecretSHA256: policy.Digest(text)}).knows(text) {
		t.Error("a secret of another form is taken")
	}
	holder := func(ctx context.Context, s *stage) string {
		p := person
		p.Name = s.l.Principal
		_, c, err := s.RenewLease(ctx, p, leaseID, 0)
		return fmt.Sprint(c.Credential.Token.Reveal(), kindOf(err))
	}
	outcomes(t, []result{
		{"the holder is gone", standing, func(ctx context.Context, s *stage) string {
			_, err := s.Leaser.holderNow(ctx, s.l)
			return fmt.Sprint(errors.Is(err, policy.ErrUnauthenticated), len(s.tape.entries))
		}, "true 1"},
		{"the holder is gone, unrecorded", standing, func(ctx context.Context, s *stage) string {
			s.fails["Append"] = errStep
			_, err := s.Leaser.holderNow(ctx, s.l)
			return kindOf(err)
		}, "temporarily unavailable"},
		{"by its holder", standing, holder, fresh + "nil"},
		{"taken away on the VIM, and unread", standing, func(ctx context.Context, s *stage) string {
			s.fails["Renew"], s.fails["Lease 3"] = &Error{Kind: ErrNotFound}, errStep
			return holder(ctx, s)
		}, "conflict"},
		{"the secret of a VIM that is unread", standing, func(ctx context.Context, s *stage) string {
			in := s.newSession(vimID)
			defer in.close()
			text, err := s.secretOf(ctx, in, s.l)
			spoilt := s.l
			spoilt.Sealed = "no token"
			_, broken := s.secretOf(ctx, in, spoilt)
			s.fails["VIM"] = errStep
			other := s.newSession(vimID)
			defer other.close()
			_, unread := s.secretOf(ctx, other, s.l)
			return fmt.Sprint(text.Reveal(), ", ", kindOf(err), ", ", kindOf(broken), ", ", kindOf(unread))
		}, "vbl_secret, nil, stored credential cannot be opened, the step fails"},
		{"recorded by one that reads nothing", standing, func(ctx context.Context, s *stage) string {
			s.fails["VIM"] = errStep
			in := s.newSession(vimID)
			defer in.close()
			_, err := s.sealNewest(ctx, in, s.l, s.actor.minted, "", audit.Entry{}, func(*Lease) {})
			return kindOf(err)
		}, "the step fails"},
	})
}

// Which leases a selection ends.
func TestWhichLeasesAreEnded(t *testing.T) {
	revoke := func(sel LeaseSelector) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			all, err := s.RevokeLeases(ctx, person, sel)
			l := s.row()
			return fmt.Sprint(len(all), ", ", l.State, ", ", l.Reason, ", ", l.SecretSHA256, ", ", kindOf(err))
		}
	}
	with := func(step string, err error, sel LeaseSelector) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.fails[step] = err
			return revoke(sel)(ctx, s)
		}
	}
	ended := func(why Reason) func(*stage) {
		return func(s *stage) { standing(s); s.l.State, s.l.Reason = LeaseRevoked, why }
	}
	instance := LeaseSelector{Instance: "i"}
	outcomes(t, []result{
		{"of an instance", standing, revoke(instance), "1, revoked, requested, sum, nil"},
		{"that had expired", ended(ReasonExpired), revoke(instance), "1, revoked, requested, sum, nil"},
		{"that was revoked", ended(ReasonRequested), revoke(instance), "0, revoked, requested, sum, nil"},
		{"that was revoked, with its secrets", ended(ReasonRequested), revoke(LeaseSelector{Instance: "i", NewSecret: true}), "1, revoked, requested, -, nil"},
		{"that was revoked, of a holder who is gone", ended(ReasonRequested), revoke(LeaseSelector{Instance: "i", HolderGone: true}), "0, revoked, requested, , nil"},
		{"with its secrets, unstored", standing, with("UpdateLease 1", errStep, LeaseSelector{Instance: "i", NewSecret: true}), "0, active, , sum, the step fails"},
		{"that had expired, and another follows", ended(ReasonExpired), func(ctx context.Context, s *stage) string {
			s.tape.meantime = func(l *Lease) { l.SecretSHA256 = "" }
			return revoke(instance)(ctx, s)
		}, "0, revoked, expired, sum, nil"},
		{"that had expired, unstored", ended(ReasonExpired), with("UpdateLease 1", errStep, instance), "0, revoked, expired, sum, the step fails"},
		{"of a principal's operation", ended(ReasonExpired), revoke(LeaseSelector{Principal: "x", Operation: "o"}), "0, revoked, expired, sum, nil"},
		{"of a principal", ended(ReasonExpired), revoke(LeaseSelector{Principal: "x"}), "1, revoked, requested, sum, nil"},
		{"none of which there is", standing, func(ctx context.Context, s *stage) string {
			s.tape.leases = nil
			return fmt.Sprint(revoke(instance)(ctx, s), " ", s.count("RetiredKeys"))
		}, "0, , , , nil 0"},
		{"that may not be ended by now", standing, func(ctx context.Context, s *stage) string {
			asked := 0
			s.core.guard.Policy = deciding(func(r policy.Request) policy.Decision {
				if r.Action == policy.LeaseRevoke {
					asked++
				}
				return policy.Decision{Allowed: asked < 2 || r.Action != policy.LeaseRevoke}
			})
			into := s.newBatch(ctx)
			_, _, err := s.gather(ctx, person, LeaseSelector{NewSecret: true}, LeaseFilter{}, ReasonRequested, into)
			return fmt.Sprint(kindOf(err), len(into.fresh), s.count("UpdateLease"))
		}, "denied0 0"},
		{"of two, of which one may not be ended and the other is not", nil, func(ctx context.Context, s *stage) string {
			other := s.l
			other.ID = vimID
			s.tape.leases[vimID] = other
			s.core.guard.Policy = deciding(func(r policy.Request) policy.Decision {
				return policy.Decision{Allowed: r.Action != policy.LeaseRevoke || r.Resource.ID != vimID}
			})
			s.fails["UpdateLease"] = errStep
			_, revoked := s.RevokeLeases(ctx, person, LeaseSelector{VIM: "edge"})
			ended := s.EndLeases(ctx, person, LeaseSelector{VIM: "edge"})
			s.fails["UpdateLease"] = nil
			return kindOf(revoked) + ", " + kindOf(ended) + ", " + kindOf(s.EndLeases(ctx, person, LeaseSelector{VIM: "edge"}))
		}, "the step fails, the step fails, nil"},
		{"of nobody", standing, revoke(LeaseSelector{}), "0, active, , sum, invalid"},
		{"one that had expired", ended(ReasonExpired), func(ctx context.Context, s *stage) string {
			l, err := s.RevokeLease(ctx, person, leaseID)
			return fmt.Sprint(l.Reason, s.count("Revoke"), kindOf(err))
		}, "requested0nil"},
		{"one that had expired, unstored", ended(ReasonExpired), func(ctx context.Context, s *stage) string {
			s.fails["UpdateLease"] = errStep
			_, err := s.RevokeLease(ctx, person, leaseID)
			return kindOf(err)
		}, "the step fails"},
		{"one that was not issued yet", func(s *stage) { s.l.State, s.l.IssuedAt = LeasePending, time.Time{} }, func(ctx context.Context, s *stage) string {
			l, mine, err := s.beginRevocation(ctx, s.l, ReasonRequested, must(s, policy.LeaseRevoke), s.claim())
			return fmt.Sprint(l.NextAttemptAt.Sub(s.clock.Now()), mine, err)
		}, "45s false <nil>"},
		{"one that was not issued for long", func(s *stage) {
			s.l.State, s.l.IssuedAt, s.l.CreatedAt = LeasePending, time.Time{}, s.clock.Now().Add(-time.Hour)
		}, func(ctx context.Context, s *stage) string {
			l, mine, err := s.beginRevocation(ctx, s.l, ReasonRequested, must(s, policy.LeaseRevoke), time.Second)
			return fmt.Sprint(l.NextAttemptAt.Sub(s.clock.Now()), mine, err)
		}, "1s true <nil>"},
		{"one that another passes's revokes", func(s *stage) { s.l.State, s.l.NextAttemptAt = LeaseRevoking, s.clock.Now().Add(time.Second) }, func(ctx context.Context, s *stage) string {
			_, claimed, _ := s.beginRevocation(ctx, s.l, ReasonRequested, must(s, policy.LeaseRevoke), time.Second)
			return fmt.Sprint(claimed, s.row().NextAttemptAt.Sub(s.clock.Now()))
		}, "false 1s"},
		{"one that waits after a failure", func(s *stage) {
			s.l.State, s.l.Attempts, s.l.NextAttemptAt = LeaseRevoking, 1, s.clock.Now().Add(time.Second)
		}, func(ctx context.Context, s *stage) string {
			_, claimed, _ := s.beginRevocation(ctx, s.l, ReasonRequested, must(s, policy.LeaseRevoke), time.Minute)
			return fmt.Sprint(claimed, s.row().NextAttemptAt.Sub(s.clock.Now()))
		}, "true 1m0s"},
	})
}

// A VIM is read once, however many leases on it end because their holders may not have them any more.
func TestAVIMIsReadOnceForAllItsLeases(t *testing.T) {
	s := newStage(t)
	s.core.terms.EndWithAccess, s.denies[policy.LeaseIssue] = true, true
	other := s.l
	other.ID = vimID
	s.tape.leases[vimID] = other
	if err := s.EndWithoutAccess(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a, b := s.row().State, s.tape.leases[vimID].State; a != LeaseRevoking || b != a || s.count("VIM") != 1 {
		t.Errorf("they are %s and %s, after %q", a, b, s.taken)
	}
}

// A lease that cannot be taken back is given up, and that is recorded or tried again.
func TestWhatIsGivenUp(t *testing.T) {
	back := func(change func(*stage)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			if change != nil {
				change(s)
			}
			in := s.newSession(vimID)
			defer in.close()
			_, err := s.takeBack(ctx, in, s.l, must(s, policy.LeaseRevoke))
			return fmt.Sprint(s.row().State, ", ", s.row().LastError, ", ", kindOf(err))
		}
	}
	fails := func(s *stage) { s.fails["UpdateLease"] = errStep }
	passed := func(s *stage) { s.l.State, s.l.Derived = LeaseRevoking, false }
	revoking := func(s *stage) { s.l.State = LeaseRevoking }
	// The VIM has another credential now, and the one that was passed through is of its generation 1.
	replaced := func(change func(*stage)) func(*stage) {
		return func(s *stage) {
			v := s.tape.vims[vimID]
			past := v.Current
			key, err := s.core.sealGeneration(t.Context(), s.core.keys, VIM{ID: vimID, Type: "a", Current: Generation{Number: 2}}, &past, SealedPast,
				Credential{Token: secret.NewText(sent)})
			if err != nil {
				t.Fatal(err)
			}
			key.Clear()
			v.Past, v.Current.Number = []Generation{past}, 2
			s.tape.vims[vimID] = v
			if change != nil {
				change(s)
			}
		}
	}
	const change, taken = "it was passed through: change it on the VIM itself, and replace the VIM's credential",
		"it was passed through, and the VIM still takes it: change it on the VIM itself"
	outcomes(t, []result{
		{"passed through", passed, back(nil), "irrevocable, " + change + ", nil"},
		{"passed through, unstored", passed, back(fails), "revoking, , the step fails"},
		{"passed through, and another ends it", passed, back(func(s *stage) { s.tape.meantime = func(l *Lease) { l.State = LeaseRevoked } }), "revoking, , nil"},
		{"passed through, replaced, and it works", passed, back(replaced(nil)), "irrevocable, " + taken + ", nil"},
		{"passed through, replaced, it works, and that is unstored", passed, back(replaced(fails)), "revoking, , the step fails"},
		{"passed through, replaced, and it is dead", passed, back(replaced(func(s *stage) { s.actor.dead = true })), "revoked, , nil"},
		{"passed through, replaced, and it cannot be tried", passed, back(replaced(func(s *stage) { s.fails["Dead"] = &Error{Kind: ErrInvalid} })), "revoked, , nil"},
		{
			"passed through, replaced, and it does not answer", passed, back(replaced(func(s *stage) { s.fails["Dead"] = &Error{Kind: ErrUnreachable} })),
			"revoking, VIM unreachable, VIM unreachable",
		},
		{"of a VIM that is gone", revoking, back(func(s *stage) { s.tape.vims = nil }), "irrevocable, its VIM was deleted by force, nil"},
		{"of a VIM that is gone, unstored", revoking, back(func(s *stage) { s.tape.vims = nil; fails(s) }), "revoking, , the step fails"},
		{"of a VIM that drains by force", revoking, func(ctx context.Context, s *stage) string {
			s.fails["Revoke"], s.fails["UpdateLease"] = &Error{Kind: ErrUnreachable}, errStep
			return kindOf(s.revokeAll(ctx, s.v, true))
		}, "the step fails"},
		{"the rest of a VIM that drains by force", revoking, func(ctx context.Context, s *stage) string {
			s.fails["Revoke"] = &Error{Kind: ErrUnreachable}
			err := s.revokeAll(ctx, s.v, true)
			return fmt.Sprint(s.row().State, ", ", s.row().LastError, ", ", kindOf(err))
		}, "irrevocable, its VIM was deleted by force, nil"},
		{"of a type that is not served", revoking, func(ctx context.Context, s *stage) string {
			s.l.VIMType = "b"
			return back(nil)(ctx, s)
		}, "revoking, type: VIMs of type b are not supported by this broker, not supported type"},
		{"on a VIM that is down, unstored", func(s *stage) { revoking(s); s.v.Health.Status = HealthUnreachable }, func(ctx context.Context, s *stage) string {
			s.fails["Check"], s.fails["UpdateLease"] = &Error{Kind: ErrUnreachable}, errStep
			down, err := s.endDue(ctx, vimID)
			return fmt.Sprint(down, ", ", kindOf(err), ", ", s.row().State)
		}, "true, the step fails, revoking"},
		{"taken up again", func(s *stage) { s.l.State = LeaseIrrevocable }, func(ctx context.Context, s *stage) string {
			return fmt.Sprint(kindOf(s.retryIrrevocable(ctx, s.v)), s.row().State)
		}, "nil" + string(LeaseRevoking)},
		{"taken up again, and it ends meanwhile", func(s *stage) { s.l.State = LeaseIrrevocable }, func(ctx context.Context, s *stage) string {
			s.tape.meantime = func(l *Lease) { l.State = LeaseRevoked }
			return kindOf(s.retryIrrevocable(ctx, s.v))
		}, "nil"},
		{"taken up again, unstored", func(s *stage) { s.l.State = LeaseIrrevocable }, func(ctx context.Context, s *stage) string {
			fails(s)
			return kindOf(s.retryIrrevocable(ctx, s.v))
		}, "the step fails"},
		{"taken up again without the right to", func(s *stage) { s.l.State = LeaseIrrevocable }, func(ctx context.Context, s *stage) string {
			s.denies[policy.LeaseRevoke] = true
			return kindOf(s.retryIrrevocable(ctx, s.v))
		}, "denied"},
	})
}

// speaking is a policy that knows its words.
type speaking struct {
	deciding
	typo  error
	asked *[]policy.Request
}

func (p speaking) Check(r policy.Request) error {
	*p.asked = append(*p.asked, r)
	return p.typo
}

func (p speaking) CheckAction(policy.Action, ...policy.Action) error { return p.typo }

func (p speaking) Why(policy.Request) []string { return []string{"why"} }

func (p speaking) Usual(policy.Action) policy.Kind { return policy.KindLease }

func (p speaking) Text(id string) string { return map[string]string{"known": "text"}[id] }

// A question is answered in the words of policy, and says why to who may ask about others.
func TestQuestionsAboutPolicy(t *testing.T) {
	explain := func(who policy.Principal, typo error) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			var asked []policy.Request
			s.Oversight.core.policy = speaking{s.core.policy.(deciding), typo, &asked}
			d, err := s.Explain(ctx, person, policy.Request{Principal: who, Action: policy.LeaseShow, Resource: policy.Resource{Project: "p"}})
			if len(asked) == 0 {
				return kindOf(err)
			}
			return fmt.Sprint(d.Allowed, ", ", d.Why, ", ", asked[0].Resource.Kind, ", roles ", len(asked[0].Principal.Roles), ", ", s.count("Append"), ", ", kindOf(err))
		}
	}
	bob := policy.Principal{Name: "bob", Project: "p", Roles: []string{"x"}}
	elsewhere := policy.Principal{Name: "alice", Project: "q", Roles: []string{"x"}}
	denied := func(s *stage) { s.denies[policy.PolicyExplain] = true }
	outcomes(t, []result{
		{"oneself", nil, explain(person, nil), "true, [why], Lease, roles 0, 0, nil"},
		{"oneself, without the right to ask about others", denied, explain(person, nil), "true, [], Lease, roles 0, 0, nil"},
		{"another", nil, explain(bob, nil), "true, [why], Lease, roles 1, 1, nil"},
		{"another of the name elsewhere", nil, explain(elsewhere, nil), "true, [why], Lease, roles 1, 1, nil"},
		{"another, without the right to", denied, explain(bob, nil), "denied"},
		{"in words that there are not", nil, explain(person, &policy.Typo{Field: "action"}), "false, [], Lease, roles 0, 0, invalid action"},
		{"where the words cannot be checked", nil, explain(person, errStep), "false, [], Lease, roles 0, 0, the step fails"},
		{"texts", nil, func(ctx context.Context, s *stage) string {
			s.Oversight.core.policy = speaking{s.core.policy.(deciding), nil, nil}
			texts, err := s.PolicyTexts(ctx, person, []string{"known", "unknown"})
			return fmt.Sprint(texts, kindOf(err))
		}, "map[known:text]nil"},
		{"entries of an action that there is not", nil, func(ctx context.Context, s *stage) string {
			s.Oversight.core.policy = speaking{s.core.policy.(deciding), &policy.Typo{Field: "action"}, nil}
			_, err := s.Entries(ctx, person, audit.Query{Action: "x"})
			_, size := s.Entries(ctx, person, audit.Query{Limit: MaxPage + 1})
			return kindOf(err) + ", " + kindOf(size)
		}, "invalid action, invalid pageSize"},
		{"entries after, without the right to", func(s *stage) { s.denies[policy.AuditRead] = true }, func(ctx context.Context, s *stage) string {
			_, err := s.EntriesAfter(ctx, person, 0, 1)
			_, past := s.Retention(ctx, person)
			return kindOf(err) + ", " + kindOf(past)
		}, "denied, denied"},
		{"entries of an action, unread", nil, func(ctx context.Context, s *stage) string {
			s.Oversight.core.policy, s.fails["Entries"] = speaking{s.core.policy.(deciding), nil, nil}, errStep
			_, err := s.Entries(ctx, person, audit.Query{Action: policy.VIMShow})
			return kindOf(err)
		}, "the step fails"},
		{"what the resource of a damaged entry was", func(s *stage) { s.denies[policy.AuditRead] = false }, func(ctx context.Context, s *stage) string {
			s.tape.found = []audit.Entry{{Damaged: true, Resource: "r"}, {Resource: "s"}}
			all, err := s.Entries(ctx, person, audit.Query{})
			s.Oversight.core.guard.Policy = deciding(func(r policy.Request) policy.Decision {
				return policy.Decision{Allowed: r.Resource.Project != anyProject}
			})
			s.tape.found = []audit.Entry{{Damaged: true, Resource: "r"}, {Resource: "s"}, {Damaged: true, Resource: "q"}}
			own, ownErr := s.Entries(ctx, person, audit.Query{})
			return fmt.Sprint(all[0].Resource, all[1].Resource, own[0].Resource, own[1].Resource, own[2].Resource, err, ownErr)
		}, "rss<nil> <nil>"},
	})
}

// What a question's lease would come to, with defaults and bounds.
func TestWhatAQuestionWouldComeTo(t *testing.T) {
	effective := func(a policy.Action, w policy.Wish) func(context.Context, *stage) string {
		return func(_ context.Context, s *stage) string {
			got := s.effective(policy.Request{Principal: person, Action: a, Resource: policy.Resource{VIMType: string(s.v.Type)}, Wish: w})
			return fmt.Sprint(got.TTL, ", ", got.Standing, ", ", got.Role, ", ", got.Grade)
		}
	}
	users := func(s *stage) {
		s.actor.is.Users = true
		s.core.directories = map[string]policy.Directory{person.Authenticator(): nobody{}}
	}
	prepared := func(s *stage) {
		s.actor.prepare = func(g Grant) Grant { g.TTL, g.Role = time.Minute, "edit"; return g }
	}
	known := func(s *stage) { s.core.directories = map[string]policy.Directory{person.Authenticator(): nobody{}} }
	outcomes(t, []result{
		{"of another action", nil, effective(policy.VIMShow, policy.Wish{}), "0s, false, , "},
		{"a lease", nil, effective(policy.LeaseIssue, policy.Wish{Role: "view"}), "1h0m0s, false, view, bounded"},
		{"a long lease", nil, effective(policy.LeaseIssue, policy.Wish{TTL: 99 * time.Hour}), "12h0m0s, false, , bounded"},
		{"a mint", nil, effective(policy.LeaseMint, policy.Wish{}), "15m0s, true, , bounded"},
		{"a standing lease", nil, effective(policy.LeaseIssue, policy.Wish{Standing: true, TTL: time.Hour}), "15m0s, true, , bounded"},
		{"a user", users, effective(policy.LeaseIssue, policy.Wish{Standing: true}), "4320h0m0s, true, , bounded"},
		{"a lease on a type that has users", users, effective(policy.LeaseIssue, policy.Wish{TTL: 99 * time.Hour}), "12h0m0s, false, , bounded"},
		{"a standing lease on an unknown type", func(s *stage) { s.v.Type = "b" }, effective(policy.LeaseIssue, policy.Wish{Standing: true}), "15m0s, true, , "},
		{"one passed through", known, effective(policy.LeasePassThrough, policy.Wish{TTL: 9999 * time.Hour}), "4320h0m0s, false, , bounded"},
		{"one that has a grade", nil, effective(policy.LeaseIssue, policy.Wish{Grade: "unbounded"}), "1h0m0s, false, , unbounded"},
		{"one that the driver has defaults for", prepared, effective(policy.LeaseIssue, policy.Wish{}), "1m0s, false, edit, bounded"},
		{"one with rules that the driver has defaults for", prepared, func(ctx context.Context, s *stage) string {
			return effective(policy.LeaseIssue, policy.Wish{Role: "view", Rules: policy.LeaseRules{Verbs: []string{"get"}}})(ctx, s)
		}, "1h0m0s, false, view, bounded"},
		{"one that cannot be, and the driver has defaults", prepared, func(ctx context.Context, s *stage) string {
			s.fails["Prepare"] = errStep
			return effective(policy.LeaseIssue, policy.Wish{Role: "view"})(ctx, s)
		}, "1h0m0s, false, view, bounded"},
		{"one with rules", nil, func(ctx context.Context, s *stage) string {
			s.fails["Prepare"] = nil
			return effective(policy.LeaseIssue, policy.Wish{Role: "view", Rules: policy.LeaseRules{Verbs: []string{"get"}}})(ctx, s)
		}, "1h0m0s, false, view, bounded"},
		{"one that cannot be", nil, func(ctx context.Context, s *stage) string {
			s.fails["Prepare"] = errStep
			return effective(policy.LeaseIssue, policy.Wish{Role: "view"})(ctx, s)
		}, "1h0m0s, false, view, bounded"},
	})
}

// What a list of VIMs holds.
func TestWhichVIMsAreListed(t *testing.T) {
	list := func(q VIMQuery) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			all, _, err := s.VIMs(ctx, person, q)
			return fmt.Sprint(len(all), ", ", kindOf(err))
		}
	}
	live := func(ctx context.Context, s *stage) string {
		s.Registry.core.guard.Policy = deciding(func(r policy.Request) policy.Decision {
			return policy.Decision{Allowed: !s.denies[r.Action] && r.Resource.Project != anyProject}
		})
		counts, err := s.LiveOn(ctx, person, []VIM{s.v})
		return fmt.Sprint(slices.Collect(maps.Values(counts)), ", ", kindOf(err))
	}
	among := func(name string) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.Registry.core.guard.Policy = deciding(func(r policy.Request) policy.Decision {
				return policy.Decision{Allowed: r.Resource.Project != anyProject}
			})
			vim, project, err := s.leasesAmong(ctx, person, policy.LeaseShow, name)
			if err != nil {
				return err.Error()
			}
			return "vim " + vim + ", project " + project
		}
	}
	others := func(s *stage) { s.v.Project, s.v.SharedWith = "q", []string{"p", "r"} }
	shown := func(_ context.Context, s *stage) string { return fmt.Sprint(s.shown(person, s.v).SharedWith) }
	same := func(kind VIMType, identity string) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			v := s.v
			v.ID, v.Type, v.Current.Identity = leaseID, kind, identity
			all, err := s.SameSystem(ctx, person, v)
			s.fails["VIMs"] = errStep
			_, unread := s.SameSystem(ctx, person, v)
			return fmt.Sprint(len(all), ", ", kindOf(err), ", ", kindOf(unread))
		}
	}
	outcomes(t, []result{
		{"a VIM", nil, list(VIMQuery{}), "1, nil"},
		{"a page that there is not", nil, list(VIMQuery{Page: Page{Size: -1}}), "0, invalid pageSize"},
		{"a label that is none", nil, list(VIMQuery{Labels: map[string]string{"a b": ""}}), "0, invalid labels"},
		{"one that is being registered", func(s *stage) { s.v.State = VIMRegistering }, list(VIMQuery{}), "0, nil"},
		{"one that is damaged", func(s *stage) { s.v.Damaged = true }, list(VIMQuery{}), "0, nil"},
		{"all", nil, func(ctx context.Context, s *stage) string {
			all, err := AllVIMs(ctx, person, VIMQuery{}, s.VIMs)
			s.fails["VIMs"] = errStep
			none, unread := AllVIMs(ctx, person, VIMQuery{}, s.VIMs)
			return fmt.Sprint(len(all), kindOf(err), len(none), kindOf(unread))
		}, "1nil0the step fails"},
		{"leases on one's own", nil, live, "[2], nil"},
		{"leases on others'", func(s *stage) { s.v.Project = "q" }, live, "[], nil"},
		{"where leases on one's own are looked for", nil, among("edge"), "vim " + vimID + ", project "},
		{"where leases on others' are looked for", func(s *stage) { s.v.Project = "q" }, among("edge"), "vim " + vimID + ", project p"},
		{"where leases are looked for", nil, among(""), "vim , project p"},
		{"leases that nobody may see", func(s *stage) { s.denies[policy.LeaseShow] = true }, live, "[], nil"},
		{"with whom it is shared", others, func(ctx context.Context, s *stage) string {
			s.denies[policy.VIMUpdate] = true
			return shown(ctx, s)
		}, "[p]"},
		{"with whom it is shared, to who may change it", others, shown, "[p r]"},
		{"with whom one's own is shared", func(s *stage) { s.v.SharedWith, s.denies[policy.VIMUpdate] = []string{"r"}, true }, shown, "[r]"},
		{"the same system", nil, same("a", "uid"), "1, nil, the step fails"},
		{"the same identity of another type", nil, same("b", "uid"), "0, nil, the step fails"},
		{"another system", nil, same("a", "other"), "0, nil, the step fails"},
		{"no system", nil, same("a", ""), "0, nil, nil"},
		{"itself", nil, func(ctx context.Context, s *stage) string {
			all, err := s.SameSystem(ctx, person, s.v)
			return fmt.Sprint(len(all), err)
		}, "0 <nil>"},
		{"leases", nil, func(ctx context.Context, s *stage) string {
			all, _, err := s.Leases(ctx, person, LeaseQuery{})
			_, _, size := s.Leases(ctx, person, LeaseQuery{Page: Page{Size: -1}})
			_, _, state := s.Leases(ctx, person, LeaseQuery{State: "x"})
			s.denies[policy.LeaseShow] = true
			hidden, _, _ := s.Leases(ctx, person, LeaseQuery{})
			_, _, tokens := s.Tokens(ctx, person, Page{Size: -1})
			return fmt.Sprint(len(all), ", ", err, ", ", kindOf(size), ", ", kindOf(state), ", ", len(hidden), ", ", kindOf(tokens))
		}, "1, <nil>, invalid pageSize, invalid state, 0, invalid pageSize"},
	})
}
