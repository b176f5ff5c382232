package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// plain makes the stage's driver one that can what every driver can, and nothing else.
func (s *stage) plain() { s.core.drivers["a"] = struct{ Driver }{s.actor} }

// What a driver cannot do, and a type that is not served: each pass goes on without it, or says so.
func TestWhatADriverLacks(t *testing.T) {
	unserved := func(s *stage) { s.v.Type, s.l.VIMType = "b", "b" }
	in := func(do func(context.Context, *stage, *session) error) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			session := s.newSession(vimID)
			defer session.close()
			return kindOf(do(ctx, s, session))
		}
	}
	outcomes(t, []result{
		{"a grant of a type that is not served", unserved, in(func(ctx context.Context, s *stage, in *session) error {
			return s.Leaser.tidyGrant(ctx, in, s.v, GrantEpoch{})
		}), "not supported type"},
		{"a grant where nothing is tidied", nil, func(ctx context.Context, s *stage) string {
			s.plain()
			s.fails["ForgetGrant"] = errStep
			return fmt.Sprint(kindOf(s.Leaser.tidyGrant(ctx, nil, s.v, GrantEpoch{})), s.count("Append"))
		}, "the step fails0"},
		{"what is left on a type that is not served", unserved, in(func(ctx context.Context, s *stage, in *session) error {
			_, err := s.Leaser.leftBehind(ctx, in, s.l)
			return err
		}), "not supported type"},
		{"what is left where nothing is compared", func(s *stage) { s.l.Stood = "before" }, func(ctx context.Context, s *stage) string {
			s.plain()
			left, err := s.Leaser.leftBehind(ctx, s.newSession(vimID), s.l)
			return fmt.Sprint(left, err)
		}, "[] <nil>"},
		{"what is foreign on a type that is not served", unserved, in(func(ctx context.Context, s *stage, in *session) error {
			_, err := s.foreign(ctx, in, s.v)
			return err
		}), "not supported type"},
		{"an object on a type that is not served", unserved, in(func(ctx context.Context, s *stage, in *session) error {
			return s.removeObject(ctx, in, 1, s.l.issued())
		}), "not supported type"},
		{"an object on a VIM that cannot be read", nil, in(func(ctx context.Context, s *stage, in *session) error {
			s.fails["VIM"] = errStep
			return s.removeObject(ctx, in, 1, s.l.issued())
		}), "the step fails"},
		{"an object that may not be removed", nil, func(ctx context.Context, s *stage) string {
			s.denies[policy.LeaseRevoke] = true
			in := s.newSession(vimID)
			defer in.close()
			err := s.removeLateObject(ctx, in, 1, s.l)
			return fmt.Sprint(kindOf(err), s.count("Revoke"))
		}, "denied0"},
		{"inventories of VIMs that cannot be listed", nil, func(ctx context.Context, s *stage) string {
			s.fails["VIMs"] = errStep
			return fmt.Sprint(s.InventoryAll(ctx))
		}, "the step fails"},
		{"an ability on a type that is not served", unserved, func(ctx context.Context, s *stage) string {
			_, _, err := s.renewAccount(ctx, s.v, nil)
			return kindOf(err)
		}, "not supported type"},
		{"an ability, and the credential does not open", nil, func(ctx context.Context, s *stage) string {
			v := s.v
			v.Current.KeyStore = "vault"
			_, _, err := s.renewAccount(ctx, v, nil)
			return fmt.Sprint(kindOf(err), s.count("Reappoint"))
		}, "stored credential cannot be opened keyStore0"},
	})
}

// A credential that cannot be tried is none that is dead.
func TestWhatCannotBeTriedIsNotDead(t *testing.T) {
	dead := func(change func(*stage)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.actor.dead = true
			change(s)
			in := s.newSession(vimID)
			defer in.close()
			is, err := s.tryDead(ctx, in, s.row())
			return fmt.Sprint(is, ", ", kindOf(err))
		}
	}
	row := func(change func(*Lease)) func(context.Context, *stage) string {
		return dead(func(s *stage) {
			l := s.row()
			change(&l)
			s.tape.leases[leaseID] = l
		})
	}
	outcomes(t, []result{
		{"it is dead", nil, dead(func(*stage) {}), "true, nil"},
		{"a type that is not served", nil, row(func(l *Lease) { l.VIMType = "b" }), "false, not supported type"},
		{"a VIM that cannot be read", nil, dead(func(s *stage) { s.fails["VIM"] = errStep }), "false, the step fails"},
		{"a generation that is gone", nil, row(func(l *Lease) { l.VIMGeneration = 7 }), "false, stored credential cannot be opened"},
		{"a VIM whose credential does not open", nil, dead(func(s *stage) {
			v := s.tape.vims[vimID]
			v.Current.KeyStore = "vault"
			s.tape.vims[vimID] = v
		}), "false, stored credential cannot be opened keyStore"},
		{"a lease that does not open", nil, row(func(l *Lease) { l.Sealed = "x" }), "false, stored credential cannot be opened"},
		{"it works, and that cannot be stored", nil, func(ctx context.Context, s *stage) string {
			s.fails["UpdateLease"] = errStep
			l, err := s.stillWorks(ctx, s.l, must(s, policy.LeaseRevoke))
			return fmt.Sprint(l.State, ", ", kindOf(err))
		}, ", the step fails"},
	})
}

// Which leases are graded anew, and what ends then.
func TestWhichLeasesAreGradedAnew(t *testing.T) {
	anew := func(change func(*stage)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.core.terms.EndWithAccess = true
			if change != nil {
				change(s)
			}
			err := s.gradeAnewOn(ctx, vimID)
			return fmt.Sprint(s.count("Grade"), ", ", s.row().State, ", ", err)
		}
	}
	graded := func(s *stage) { s.l.Grade = GradeBounded }
	denied := func(s *stage) { s.denies[policy.LeaseIssue] = true }
	down := func(s *stage) { graded(s); s.v.Health.Status = HealthUnreachable }
	through := func(s *stage) { s.l.Grade, s.l.Derived = GradeUnbounded, false }
	outcomes(t, []result{
		{"a lease", graded, anew(nil), "1, active, <nil>"},
		{"a lease that its holder would not get", graded, anew(denied), "1, revoking, <nil>"},
		{"without a grade", nil, anew(denied), "0, active, <nil>"},
		{"of the VIM's own credential", through, anew(denied), "0, active, <nil>"},
		{"that does not end with access", graded, anew(func(s *stage) { denied(s); s.core.terms.EndWithAccess = false }), "0, active, <nil>"},
		{"on a VIM that is down", down, anew(denied), "0, active, <nil>"},
		{"on a VIM that is gone", graded, anew(func(s *stage) { s.tape.vims = nil }), "0, active, <nil>"},
		{"on a VIM that cannot be read", graded, anew(func(s *stage) { s.fails["VIM"] = errStep }), "0, active, the step fails"},
		{"on a VIM that does not answer", graded, anew(func(s *stage) { denied(s); s.fails["Grade"] = &Error{Kind: ErrUnreachable} }), "1, active, VIM unreachable"},
		{"on a VIM that the broker cannot ask", graded, anew(func(s *stage) { denied(s); s.fails["Grade"] = &Error{Kind: ErrUnavailable} }), "1, active, temporarily unavailable"},
		{"on a VIM whose present credential does not open", graded, anew(func(s *stage) {
			denied(s)
			v := s.tape.vims[vimID]
			v.Past, v.Current.Number, v.Current.KeyStore = []Generation{v.Current}, 2, "vault"
			s.tape.vims[vimID] = v
		}), "0, active, lease " + leaseID + ": keyStore: the key store \"vault\" is not configured here; there is memory; configure it, if only to migrate from it"},
		{"on a VIM that refuses", graded, anew(func(s *stage) { denied(s); s.fails["Grade"] = &Error{Kind: ErrForbidden} }), "1, active, lease " + leaseID + ": credential lacks rights on the VIM"},
	})
	outcomes(t, []result{
		{"why it is not renewed", nil, func(_ context.Context, s *stage) string {
			plain := s.noLonger(errStep, person, s.v, s.l, policy.Wish{})
			full := s.noLonger(&Error{Kind: ErrUnavailable}, person, s.v, s.l, policy.Wish{})
			return kindOf(plain) + ", " + kindOf(full)
		}, "denied, temporarily unavailable"},
	})
}

// What an inventory makes of what changes while it looks, and as whom it looks.
func TestWhatChangesDuringAnInventory(t *testing.T) {
	unbound := func(during LeaseState) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.actor.listed = []Upstream{{Handle: s.l.Handle, Lease: leaseID, Unbound: []string{"n"}}}
			s.during["Inventory"] = func() {
				l := s.row()
				l.State = during
				s.tape.leases[leaseID] = l
			}
			in := s.newSession(vimID)
			defer in.close()
			inv, err := s.compare(ctx, in)
			return fmt.Sprint(len(inv.Unbound), inv.Rows, len(inv.Ghosts), len(inv.Orphans), err)
		}
	}
	foreign := func(read error) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			in := s.newSession(vimID)
			defer in.close()
			s.actor.others, s.fails["VIM 2"] = []string{vimID}, read
			found, err := s.foreign(ctx, in, s.v)
			return fmt.Sprint(len(found), " ", kindOf(err))
		}
	}
	users := func(kinds ...CredentialKind) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			live := map[string]Lease{}
			for i, kind := range kinds {
				l := s.l
				l.CredentialKind = kind
				live[fmt.Sprint(i)] = l
			}
			in := s.newSession(vimID)
			defer in.close()
			for range 10 { // a map's order is another each time
				if _, _, err := s.listUpstream(ctx, in, s.v, live, map[string]int64{}); err != nil || !s.actor.access.Users {
					return fmt.Sprint(s.actor.access.Users, err)
				}
			}
			return "users"
		}
	}
	outcomes(t, []result{
		{"active all the time", nil, unbound(LeaseActive), "1 1 0 0 <nil>"},
		{"active since", func(s *stage) { s.l.State = LeasePending }, unbound(LeaseActive), "0 1 0 0 <nil>"},
		{"ended since", nil, unbound(LeaseRevoked), "0 0 0 0 <nil>"},
		{"what is of a VIM that is gone", nil, foreign(vimNotFound()), "1 nil"},
		{"what is of a VIM that is there", nil, foreign(nil), "0 nil"},
		{"what is of a VIM whose row is damaged", nil, foreign(errDamaged), "0 nil"},
		{"what is of a VIM that cannot be read", nil, foreign(errStep), "0 the step fails"},
		{"a ghost whose end cannot be stored", nil, func(ctx context.Context, s *stage) string {
			s.fails["UpdateLease, at its end"] = errStep
			in := s.newSession(vimID)
			defer in.close()
			err := s.settleInventory(ctx, in, Inventory{VIM: vimID, Ghosts: []Lease{s.l}}, must(s, policy.LeaseRevoke))
			return fmt.Sprint(kindOf(err), s.count("Revoke"), s.count("DeferLease"))
		}, "the step fails0 0"},
		{"users", nil, users(CredentialUser), "users"},
		{"a user, and one that is none", nil, users(CredentialUser, CredentialBearerToken), "users"},
		{"no user", nil, users(CredentialBearerToken), "false <nil>"},
	})
}

// Where the current generation is asked in the place of a past one, it opens; and what cannot be looked for ends nothing.
func TestWhatDoesNotOpenIsAskedOfNobody(t *testing.T) {
	two := func(s *stage) VIM {
		v := s.v
		past := v.Current
		v.Current.Number = 2
		key, err := s.core.sealGeneration(t.Context(), s.core.keys, v, &past, SealedPast, Credential{Token: secret.NewText(sent)})
		if err != nil {
			t.Fatal(err)
		}
		key.Clear()
		v.Past = []Generation{past}
		s.tape.vims[vimID] = v
		return v
	}
	outcomes(t, []result{
		{"the current one", nil, func(ctx context.Context, s *stage) string {
			v := two(s)
			v.Current.KeyStore = "vault"
			s.tape.vims[vimID] = v
			in := s.newSession(vimID)
			defer in.close()
			asked := 0
			g, err := in.each(ctx, 1, func(context.Context, *opened) error {
				asked++
				return &Error{Kind: ErrForbidden}
			})
			return fmt.Sprint(asked, g.Number, kindOf(err))
		}, "1 2stored credential cannot be opened keyStore"},
		{"what was passed through, and its key cannot be asked for", func(s *stage) { s.l.Derived = false }, func(ctx context.Context, s *stage) string {
			v := two(s)
			s.stored.fails = errStep
			in := s.newSession(vimID)
			defer in.close()
			return fmt.Sprint(kindOf(s.replaced(ctx, in, s.actor, v, s.l)), s.count("Dead"))
		}, "temporarily unavailable0"},
		{"keys, and whoever asks goes", nil, func(ctx context.Context, s *stage) string {
			ctx, cancel := context.WithCancel(ctx)
			s.during["VIMs"] = cancel
			all, _, err := s.KeyStatuses(ctx, person, VIMQuery{}, true)
			return fmt.Sprint(len(all), errors.Is(err, context.Canceled))
		}, "0 true"},
		{"keys that open, that are lost, and that cannot be asked for", nil, func(ctx context.Context, s *stage) string {
			said := ""
			for _, given := range []func(){func() {}, func() { s.stored.fails = errStep }, func() { s.stored.fails, s.stored.held = nil, map[secret.Ref]held{} }} {
				given()
				all, next, err := s.KeyStatuses(ctx, person, VIMQuery{}, true)
				one := all[0]
				opens := "unknown"
				if one.Opens != nil {
					opens = fmt.Sprint(*one.Opens)
				}
				said += fmt.Sprint(one.VIM == vimID, one.VIMName, one.Project, one.Generation, one.KeyStore, one.Past, one.Pending, one.Elsewhere, !one.SealedAt.IsZero()) +
					fmt.Sprint(" ", opens, " ", one.Message, next, err, "; ")
			}
			return said
		}, "trueedgep1memory0 false 0 true true <nil>; trueedgep1memory0 false 0 true unknown the key store cannot be used now; try again later<nil>; " +
			"trueedgep1memory0 false 0 true false the key of the stored credential is lost<nil>; "},
		{"keys, and who has secrets of the VIM fails", nil, func(ctx context.Context, s *stage) string {
			s.AddKeeper(keeper{})
			all, _, err := s.KeyStatuses(ctx, person, VIMQuery{}, false)
			return fmt.Sprint(len(all), err)
		}, "0 the step fails"},
	})
}

// Three failures in a row end the work on a VIM that has answered; one that has not answered at all is left after the first. An
// answer ends the row of those before its attempt.
func TestWhenTheWorkOnAVIMEnds(t *testing.T) {
	for outcomes, want := range map[string]string{ // a: it is answered, f: it fails
		"": "", "fa": "f", "ff": "f", "affffa": "afff", "affaffaffff": "affaffafff", "aa": "aa",
	} {
		s := newStage(t)
		in := s.newSession(vimID)
		var mu sync.Mutex
		looked, asked, rest := 0, "", make(chan struct{})
		// All places but one are taken until the last item is begun, so that the others run one after another.
		total := batchLeases - 1 + len(outcomes)
		s.core.now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			if looked++; looked == total {
				close(rest)
			}
			return s.clock.Now()
		}
		items := make([]batchItem, 0, total)
		for range batchLeases - 1 {
			items = append(items, batchItem{lease: s.l, do: func(_ context.Context, _ *session, l Lease, _ *audit.Act) (Lease, error) {
				<-rest
				return l, nil
			}})
		}
		for _, outcome := range outcomes {
			items = append(items, batchItem{lease: s.l, do: func(_ context.Context, _ *session, l Lease, _ *audit.Act) (Lease, error) {
				if asked += string(outcome); outcome == 'f' {
					return l, &Error{Kind: ErrUnreachable}
				}
				return l, nil
			}})
		}
		done, silent := s.workOn(t.Context(), in, items)
		in.close()
		if silent && strings.Contains(asked, "a") {
			t.Errorf("%q: a VIM that has answered is silent", outcomes)
		}
		if asked != want || len(done) != total {
			t.Errorf("%q: asked are %q, want %q, and it ends with %d of %d leases", outcomes, asked, want, len(done), total)
		}
	}
}

// keeper has secrets of VIMs, and cannot tell which.
type keeper struct{ Keeper }

func (keeper) SecretParametersElsewhere(context.Context, string, string) (int, error) {
	return 0, errStep
}
