package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// result is a case of a stage: what do says comes of what is given.
type result struct {
	what  string
	given func(*stage)
	do    func(context.Context, *stage) string
	want  string
}

func outcomes(t *testing.T, all []result) {
	t.Helper()
	for _, c := range all {
		s := newStage(t)
		if c.given != nil {
			c.given(s)
		}
		s.put()
		got := c.do(t.Context(), s)
		if got != c.want {
			t.Errorf("%s: %s, want %s; the steps are %q, and the log says %s", c.what, got, c.want, s.taken, s.log)
		}
		s.came(t, c.what, got)
	}
}

// kindOf is an error's kind, and its field if there is one.
func kindOf(err error) string {
	if err == nil {
		return "nil"
	}
	if e, known := errors.AsType[*Error](err); known {
		return strings.TrimSuffix(e.Kind.Error()+" "+e.Field, " ")
	}
	return err.Error()
}

// row is the lease as it is stored.
func (s *stage) row() Lease { return s.tape.leases[leaseID] }

// A drain that went no further says why on the VIM, and is tried again later.
func TestWhyADrainRests(t *testing.T) {
	rest := func(why error) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			v := s.Registry.restDrain(ctx, s.v, why)
			return fmt.Sprint(v.Health.Status, ", ", v.Health.Message, ", ", v.Health.Next.Sub(s.clock.Now()), ", ", s.tape.vims[vimID].Health == v.Health)
		}
	}
	outcomes(t, []result{
		{"leases", nil, rest(LeasesLive()), "reachable, , 30s, true"},
		{"unauthorized", nil, rest(&Error{Kind: ErrUnauthorized, Detail: "d"}), "unauthorized, d, 5s, true"},
		{"forbidden", nil, rest(&Error{Kind: ErrForbidden, Detail: "d"}), "unauthorized, d, 5s, true"},
		{"unopenable", nil, rest(&Error{Kind: ErrUnopenable, Detail: "d"}), "unopenable, d, 5s, true"},
		{"unreachable", nil, rest(&Error{Kind: ErrUnreachable, Detail: "d"}), "unreachable, d, 5s, true"},
		{"another", nil, rest(&Error{Kind: ErrConflict, Detail: "d"}), "reachable, d, 5s, true"},
		{"of no kind", nil, rest(errStep), "reachable, internal error, 5s, true"},
		{"found away by a check", func(s *stage) { s.v.State = VIMDraining }, func(ctx context.Context, s *stage) string {
			s.fails["Check"] = &Error{Kind: ErrUnreachable}
			h, err := s.Registry.check(ctx, s.v)
			return fmt.Sprint(h.Status, ", ", h.Next.Sub(s.clock.Now()), ", ", s.tape.vims[vimID].Health == h, ", ", err)
		}, "unreachable, 5s, true, <nil>"},
		{"found well by a check", func(s *stage) { s.v.State = VIMDraining }, func(ctx context.Context, s *stage) string {
			h, err := s.Registry.check(ctx, s.v)
			return fmt.Sprint(h.Status, ", ", h.Next.Sub(s.clock.Now()), ", ", s.tape.vims[vimID].Health == h, ", ", err)
		}, "reachable, 0s, true, <nil>"},
	})
}

// A VIM is deleted as far as it goes: under which action, whom it asks, and what it leaves.
func TestHowAVIMIsDeleted(t *testing.T) {
	deleted := func(d Deletion) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			v, gone, err := s.DeleteVIM(ctx, person, vimID, d)
			idle := ""
			for _, leased := range []string{"UpdateIdleVIM true", "UpdateIdleVIM false"} {
				if s.count(leased) > 0 {
					idle = strings.TrimPrefix(leased, "Update")
				}
			}
			return fmt.Sprint(kindOf(err), ", gone ", gone, ", ", v.State, ", ", idle, ", asked ", s.count("Revoke")+s.count("Forget")+s.count("Check"), ", lease ", s.row().State)
		}
	}
	denied := func(actions ...policy.Action) func(*stage) {
		return func(s *stage) {
			s.l.State = LeaseRevoked
			for _, a := range actions {
				s.denies[a] = true
			}
		}
	}
	ended := func(s *stage) { s.l.State = LeaseRevoked }
	outcomes(t, []result{
		{"deleting", ended, deleted(Deletion{}), "nil, gone true, draining, IdleVIM false, asked 1, lease revoked"},
		{"draining", nil, deleted(Deletion{Drain: true}), "nil, gone true, draining, IdleVIM true, asked 2, lease revoked"},
		{"by force, of one that answers", nil, deleted(Deletion{Force: true}), "nil, gone true, draining, IdleVIM true, asked 2, lease revoked"},
		{
			"by force, of one that does not", func(s *stage) { s.v.Health.Status = HealthUnreachable }, deleted(Deletion{Force: true}),
			"nil, gone true, draining, , asked 2, lease revoked",
		},
		{"gone", nil, deleted(Deletion{Gone: true}), "nil, gone true, draining, IdleVIM true, asked 0, lease revoked"},
		{"once more", func(s *stage) { s.v.State = VIMDraining }, deleted(Deletion{}), "nil, gone true, draining, IdleVIM true, asked 2, lease revoked"},
		{"another was faster", ended, func(ctx context.Context, s *stage) string {
			s.fails["UpdateVIM"] = vimNotFound()
			return deleted(Deletion{})(ctx, s)
		}, "nil, gone true, , IdleVIM false, asked 0, lease revoked"},
		{"denied", denied(policy.VIMDelete), deleted(Deletion{}), "denied, gone false, , , asked 0, lease revoked"},
		{"force denied", denied(policy.VIMForceDelete), deleted(Deletion{Force: true}), "denied, gone false, , , asked 0, lease revoked"},
		{"retiring denied", denied(policy.VIMRetire), deleted(Deletion{Gone: true}), "denied, gone false, , , asked 0, lease revoked"},
		{
			"retiring, and no other right", denied(policy.VIMDelete, policy.VIMForceDelete), deleted(Deletion{Gone: true}),
			"nil, gone true, draining, IdleVIM true, asked 0, lease revoked",
		},
		{"another revision", ended, deleted(Deletion{IfRevision: 7}), "changed since it was read If-Match, gone false, , IdleVIM false, asked 0, lease revoked"},
		{"changed meanwhile, and it may be all the same", ended, func(ctx context.Context, s *stage) string {
			s.during["UpdateIdleVIM false"] = func() {
				v := s.tape.vims[vimID]
				v.Revision = 7
				s.tape.vims[vimID] = v
			}
			return fmt.Sprint(deleted(Deletion{})(ctx, s), ", tries ", s.count("UpdateIdleVIM false"))
		}, "nil, gone true, draining, IdleVIM false, asked 1, lease revoked, tries 1"},
		{"when it begins", nil, func(ctx context.Context, s *stage) string {
			v := s.tape.vims[vimID]
			v.Health.CheckedAt = s.clock.Now().Add(-time.Minute)
			s.tape.vims[vimID] = v
			s.during["Leases"] = func() { v = s.tape.vims[vimID] }
			_, _, err := s.DeleteVIM(ctx, person, vimID, Deletion{Drain: true})
			return fmt.Sprint(v.State, v.UpdatedAt.Sub(s.clock.Now()), s.clock.Now().Sub(v.Health.Next), err)
		}, "draining0s 1m0s <nil>"},
		{"it does not answer", ended, func(ctx context.Context, s *stage) string {
			s.fails["Forget"] = &Error{Kind: ErrUnreachable}
			return deleted(Deletion{})(ctx, s)
		}, "nil, gone false, draining, IdleVIM false, asked 1, lease revoked"},
	})
	pending := func(force, unread bool) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			if unread {
				s.fails["VIM 1"] = errStep
			}
			gone, err := s.Registry.drain(ctx, s.v, force, must(s, policy.VIMDelete))
			return fmt.Sprint(gone, ", ", kindOf(err))
		}
	}
	writing := func(s *stage) { s.l.State, s.v.State, s.v.Pending = LeaseRevoked, VIMDraining, &Pending{Generation: 2} }
	outcomes(t, []result{
		{"a write under way", writing, pending(false, false), "false, conflict"},
		{"a write under way, by force", writing, pending(true, false), "true, nil"},
		{"none", func(s *stage) { s.l.State = LeaseRevoked }, pending(false, false), "true, nil"},
		{"a VIM that cannot be read again", writing, pending(false, true), "true, nil"},
	})
	system := func(ctx context.Context, s *stage) string {
		err := s.Leaser.endWithSystem(ctx, s.l, must(s, policy.LeaseRevoke))
		l := s.row()
		said := ""
		for _, e := range s.tape.entries {
			said += ", " + e.Detail[audit.DetailReason]
		}
		return fmt.Sprint(kindOf(err), ", ", l.State, ", ", l.Reason, said)
	}
	outcomes(t, []result{
		{"a lease on a system that is gone", nil, system, "nil, revoked, systemGone, systemGone, systemGone"},
		{"one that had ended", func(s *stage) { s.l.State, s.l.Reason = LeaseRevoked, ReasonRequested }, system, "nil, revoked, requested"},
	})
}

// A VIM is found by its id, its name or as the default of the project, unless it is only being registered.
func TestWhichVIMIsFound(t *testing.T) {
	find := func(ref string) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			v, err := s.core.lookUpVIM(ctx, person, ref)
			return v.Name + ", " + kindOf(err)
		}
	}
	unread := func(ref string) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.fails["VIM"], s.fails["VIMs"] = errStep, errStep
			_, err := s.core.lookUpVIM(ctx, person, ref)
			return kindOf(err)
		}
	}
	registering := func(s *stage) { s.v.State = VIMRegistering }
	other := func(s *stage) { s.v.Project = "q" }
	damaged := func(s *stage) { s.v.Damaged = true }
	broken := func(s *stage) { s.v.Damaged, s.v.Project = true, "q" }
	outcomes(t, []result{
		{"by id", nil, find(vimID), "edge, nil"},
		{"by id, registering", registering, find(vimID), ", not found"},
		{"by id, unread", registering, unread(vimID), "the step fails"},
		{"by another id", nil, find(leaseID), ", not found"},
		{"by name", nil, find("edge"), "edge, nil"},
		{"by name, shared", other, find("edge"), "edge, nil"},
		{"by name, registering", registering, find("edge"), ", not found"},
		{"by name, damaged", damaged, find("edge"), ", temporarily unavailable"},
		{"by name, damaged elsewhere", broken, find("edge"), ", not found"},
		{"by name, unread", nil, unread("edge"), "the step fails"},
		{"the default", nil, find(""), "edge, nil"},
		{"the default, registering", registering, find(""), ", invalid vim"},
		{"the default, of others", other, find(""), ", invalid vim"},
		{"the default, damaged", damaged, find(""), ", invalid vim"},
		{"the default, unread", nil, unread(""), "the step fails"},
	})
	lease := func(id string) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			l, err := s.core.findLease(ctx, person, policy.LeaseRevoke, id)
			return fmt.Sprint(l.ID == leaseID, ", ", kindOf(err), ", ", len(s.tape.entries))
		}
	}
	login := func(s *stage) { s.l.Login = vimID }
	outcomes(t, []result{
		{"a lease", nil, lease(leaseID), "true, nil, 0"},
		{"a lease by its login, in capitals", login, lease(strings.ToUpper(vimID)), "true, nil, 0"},
		{"no lease", nil, lease(vimID), "false, not found, 1"},
		{"no id", nil, lease("x"), "false, not found, 1"},
		{"no lease, unrecorded", nil, func(ctx context.Context, s *stage) string {
			s.fails["Append"] = errStep
			return lease(vimID)(ctx, s)
		}, "false, temporarily unavailable, 0"},
		{"a lease, unread", nil, func(ctx context.Context, s *stage) string {
			s.fails["Lease"] = errStep
			return lease(leaseID)(ctx, s)
		}, "false, the step fails, 0"},
		{"a VIM that nobody may see, unrecorded", func(s *stage) { s.denies[policy.VIMShow] = true }, func(ctx context.Context, s *stage) string {
			s.fails["Append"] = errStep
			_, err := s.core.visibleVIM(ctx, person, policy.LeaseShow, vimID)
			return kindOf(err)
		}, "temporarily unavailable"},
		{"a VIM that nobody may see", func(s *stage) { s.denies[policy.VIMShow] = true }, func(ctx context.Context, s *stage) string {
			_, err := s.core.visibleVIM(ctx, person, policy.LeaseShow, vimID)
			return kindOf(err)
		}, "not found"},
	})
}

// A draining VIM names ten leases that it waits for, counts the rest, and says what it waits for where there is none.
func TestADrainingVIMWaits(t *testing.T) {
	waits := func(n int) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.tape.leases = map[string]Lease{}
			for i := range n {
				l := s.l
				l.ID = fmt.Sprint(i)
				s.tape.leases[l.ID] = l
			}
			out, err := s.WaitsFor(ctx, person, s.v)
			if len(out) > 0 {
				return fmt.Sprint(len(out), ", ", out[len(out)-1], ", ", err)
			}
			return fmt.Sprint(err)
		}
	}
	drains := func(s *stage) { s.v.State = VIMDraining }
	outcomes(t, []result{
		{"no drain", nil, waits(1), "<nil>"},
		{"nothing", drains, waits(0), "1, the next pass, which removes what the broker keeps on the VIM, <nil>"},
		{"ten leases", drains, waits(10), "10, lease 9 of alice, which is active, <nil>"},
		{"eleven leases", drains, waits(11), "11, 1 more leases, <nil>"},
		{"twelve leases", drains, waits(12), "11, 2 more leases, <nil>"},
		{"leases that the caller may not see", func(s *stage) { drains(s); s.denies[policy.LeaseShow] = true }, waits(2), "1, 2 more leases, <nil>"},
		{"the VIM", func(s *stage) {
			drains(s)
			s.v.Health = Health{Status: HealthUnreachable, Message: "m", CheckedAt: s.clock.Now(), Next: s.clock.Now().Add(time.Minute)}
		}, waits(0), "1, the VIM, which was unreachable at 2030-01-02T03:04:05Z: m; the next try is at 2030-01-02T03:05:05Z, <nil>"},
	})
}

// What an inventory tells of rows and objects.
func TestWhatAnInventoryTells(t *testing.T) {
	take := func(ctx context.Context, s *stage) string {
		i, err := s.Inventory(ctx, person, vimID, false)
		return fmt.Sprint(len(i.Orphans), " orphans, ", len(i.Ghosts), " ghosts, ", len(i.Unbound), " unbound, ", i.Rows, " rows, ", i.Unseen, " unseen, ", kindOf(err))
	}
	there := func(lacks ...string) func(*stage) {
		return func(s *stage) { s.actor.listed = []Upstream{{Handle: s.l.Handle, Unbound: lacks}} }
	}
	past := func(fails error) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			v := s.tape.vims[vimID]
			v.Past, v.Current.Number = []Generation{v.Current}, 2
			old := v.Current
			old.Number = 2
			key, err := s.core.sealGeneration(ctx, s.core.keys, v, &old, SealedCurrent, Credential{Token: secret.NewText(sent)})
			if err != nil {
				return err.Error()
			}
			key.Clear()
			v.Current, s.tape.vims[vimID] = old, VIM{}
			s.tape.vims[vimID] = v
			s.fails["Inventory 2"], s.fails["Inventory 3"] = fails, fails
			return take(ctx, s)
		}
	}
	outcomes(t, []result{
		{"all well", there(), take, "0 orphans, 0 ghosts, 0 unbound, 1 rows, 0 unseen, nil"},
		{"no object", nil, take, "0 orphans, 1 ghosts, 0 unbound, 1 rows, 0 unseen, nil"},
		{"no row", func(s *stage) { there()(s); s.l.State = LeaseRevoked }, take, "1 orphans, 0 ghosts, 0 unbound, 0 rows, 0 unseen, nil"},
		{"rights that are gone", there("n"), take, "0 orphans, 0 ghosts, 1 unbound, 1 rows, 0 unseen, nil"},
		{"what is being issued", func(s *stage) { s.l.State = LeasePending }, take, "0 orphans, 0 ghosts, 0 unbound, 0 rows, 0 unseen, nil"},
		{"what has no object", func(s *stage) { s.l.Unlisted = true }, take, "0 orphans, 0 ghosts, 0 unbound, 0 rows, 0 unseen, nil"},
		{"what was passed through", func(s *stage) { s.l.Derived = false }, take, "0 orphans, 0 ghosts, 0 unbound, 0 rows, 0 unseen, nil"},
		{"an earlier generation", nil, past(nil), "0 orphans, 1 ghosts, 0 unbound, 1 rows, 0 unseen, nil"},
		{"one that is refused", nil, past(&Error{Kind: ErrForbidden}), "0 orphans, 0 ghosts, 0 unbound, 1 rows, 1 unseen, nil"},
		{"one that cannot be asked so", nil, past(&Error{Kind: ErrUnsupported}), "0 orphans, 0 ghosts, 0 unbound, 1 rows, 1 unseen, nil"},
		{"one that fails", nil, past(&Error{Kind: ErrUnreachable}), "0 orphans, 0 ghosts, 0 unbound, 0 rows, 0 unseen, VIM unreachable"},
	})
	all := func(ctx context.Context, s *stage) string {
		return fmt.Sprint(s.InventoryAll(ctx), s.count("Inventory"))
	}
	outcomes(t, []result{
		{"the pass", nil, all, "<nil> 1"},
		{"the pass over a VIM that is down", func(s *stage) { s.v.Health.Status = HealthUnreachable }, all, "<nil> 0"},
		{"the pass over a VIM without leases", func(s *stage) { s.v.Health.CanMint = false }, all, "<nil> 0"},
	})
	settled := func(ctx context.Context, s *stage) string {
		i, err := s.Inventory(ctx, person, vimID, true)
		return fmt.Sprint(i.Settled, ", ", s.row().State, ", revoked ", s.count("Revoke"), ", ", kindOf(err))
	}
	outcomes(t, []result{
		{"settling a ghost", nil, settled, "true, revoked, revoked 1, nil"},
		{"settling one that ends meanwhile", func(s *stage) { s.tape.meantime = func(l *Lease) { l.State = LeaseRevoked } }, settled, "true, active, revoked 0, nil"},
		{"settling one that another ends", func(s *stage) {
			s.tape.meantime = func(l *Lease) { l.State, l.NextAttemptAt = LeaseRevoking, s.clock.Now().Add(time.Second) }
		}, settled, "true, revoking, revoked 0, nil"},
	})
}

// A dead process's claim ends; one of a process that may live stays.
func TestWhichClaimsEnd(t *testing.T) {
	claims := func(state LeaseState, change func(*Lease)) result {
		return result{given: func(s *stage) {
			s.l.State, s.l.NextAttemptAt = state, s.clock.Now().Add(time.Second)
			change(&s.l)
		}, do: func(ctx context.Context, s *stage) string {
			err := s.Leaser.endClaims(ctx, s.clock.Now())
			return fmt.Sprint(s.count("DeferLease"), " ", kindOf(err))
		}}
	}
	with := func(r result, what, want string) result { r.what, r.want = what, want; return r }
	outcomes(t, []result{
		with(claims(LeaseRevoking, func(*Lease) {}), "a claim", "1 nil"),
		with(claims(LeaseRevoking, func(l *Lease) { l.IssuedAt = time.Time{} }), "of one that may still be issued", "0 nil"),
		with(claims(LeaseRevoking, func(l *Lease) { l.IssuedAt, l.Reason = time.Time{}, ReasonAbandoned }), "of one that was abandoned", "1 nil"),
		with(claims(LeaseRevoking, func(l *Lease) { l.Attempts = 1 }), "a wait after a failed try", "0 nil"),
		with(claims(LeaseRevoking, func(l *Lease) { l.NextAttemptAt = l.CreatedAt.Add(46 * time.Second) }), "a claim of now", "0 nil"),
		with(claims(LeaseRevoking, func(l *Lease) { l.NextAttemptAt = l.CreatedAt.Add(45 * time.Second) }), "the longest claim of then", "1 nil"),
		with(claims(LeaseActive, func(*Lease) {}), "no claim", "0 nil"),
	})
}

// A credential that was tried and works, or could not be tried, is tried again; one that works for too long needs a person.
func TestTryingWhetherACredentialIsDead(t *testing.T) {
	confirm := func(fails error) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.fails["Dead"] = fails
			in := s.newSession(vimID)
			defer in.close()
			l, err := s.Leaser.confirm(ctx, in, s.l, must(s, policy.LeaseRevoke))
			next := "now"
			switch wait := s.row().NextAttemptAt.Sub(s.clock.Now()); {
			case wait == confirmEvery:
				next = "soon"
			case wait > 0:
				next = "later"
			}
			return fmt.Sprint(l.State, ", dead ", !l.ConfirmedDeadAt.IsZero(), ", tries ", s.row().Attempts, ", ", next, ", ", s.row().LastError, ", ", kindOf(err))
		}
	}
	ended := func(s *stage) {
		s.l.State, s.l.RevokedAt, s.l.MaxRevocationLag, s.l.CredentialEndsAt = LeaseRevoked, s.clock.Now(), time.Minute, s.clock.Now().Add(time.Hour)
	}
	long := func(s *stage) { ended(s); s.l.RevokedAt = s.clock.Now().Add(-time.Minute - confirmEvery - 1) }
	outcomes(t, []result{
		{"dead", func(s *stage) { ended(s); s.actor.dead = true }, confirm(nil), "revoked, dead true, tries 0, now, , nil"},
		{"it works", ended, confirm(nil), "revoked, dead false, tries 1, soon, the credential still works, nil"},
		{"it cannot be asked", ended, confirm(&Error{Kind: ErrUnavailable}), "revoked, dead false, tries 0, soon, temporarily unavailable, temporarily unavailable"},
		{"no answer", ended, confirm(&Error{Kind: ErrUnreachable}), "revoked, dead false, tries 1, later, VIM unreachable, VIM unreachable"},
		{"it works after its lag", long, confirm(nil), "irrevocable, dead false, tries 0, now, the credential was revoked and still works after its published lag of 1m0s, nil"},
		{"no answer after its lag", long, confirm(&Error{Kind: ErrUnreachable}), "revoked, dead false, tries 1, later, VIM unreachable, VIM unreachable"},
		{"after its end", func(s *stage) {
			ended(s)
			s.l.ExpiresAt, s.l.CredentialEndsAt = s.clock.Now().Add(-pastExpiry), s.clock.Now().Add(-pastExpiry)
		}, confirm(nil), "revoked, dead true, tries 0, now, , nil"},
		{
			"it works, and another has said so", func(s *stage) { long(s); s.tape.meantime = func(l *Lease) { l.State = LeaseIrrevocable } }, confirm(nil),
			"irrevocable, dead false, tries 0, now, , nil",
		},
		{
			"it works, and another saw it dead", func(s *stage) { long(s); s.tape.meantime = func(l *Lease) { l.ConfirmedDeadAt = s.clock.Now() } }, confirm(nil),
			"revoked, dead true, tries 0, now, , nil",
		},
		{
			"a generation that is gone", func(s *stage) { ended(s); s.l.VIMGeneration = 7 }, confirm(nil),
			"revoked, dead false, tries 1, later, stored credential cannot be opened, stored credential cannot be opened",
		},
	})
}

// What is left behind is compared, reported, and holds no credential.
func TestWhatALeaseLeaves(t *testing.T) {
	left := func(fails error) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.fails["Left"] = fails
			in := s.newSession(vimID)
			defer in.close()
			all, err := s.Leaser.leftBehind(ctx, in, s.l)
			return fmt.Sprintf("%q, alarms %d, %s", all, s.counters.alarms[AlarmLeftBehind], kindOf(err))
		}
	}
	stood := func(s *stage) { s.l.Stood = "before" }
	outcomes(t, []result{
		{"nothing stood", func(s *stage) { s.actor.left = []string{"a key"} }, left(nil), "[], alarms 0, nil"},
		{"nothing is left", stood, left(nil), "[], alarms 0, nil"},
		{"a key", func(s *stage) { stood(s); s.actor.left = []string{"a key"} }, left(nil), `["a key"], alarms 1, nil`},
		{
			"an echo", func(s *stage) { stood(s); s.actor.left = []string{sent} }, left(nil),
			`["what the holder may have made is not known: the VIM answers with a credential that it was sent"], alarms 1, nil`,
		},
		{"unseen", stood, left(&Error{Kind: ErrForbidden, Detail: "no right"}), `["what the holder may have made is not known: no right"], alarms 1, nil`},
		{"no answer", stood, left(&Error{Kind: ErrUnreachable}), "[], alarms 0, VIM unreachable"},
		{"no room", stood, left(&Error{Kind: ErrUnavailable}), "[], alarms 0, temporarily unavailable"},
	})
	live := func(lease, handle string, fails error) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.fails["Lease"] = fails
			is, err := s.Leaser.othersLive("self")(ctx, lease, handle)
			return fmt.Sprint(is, ", ", kindOf(err))
		}
	}
	handle := "lease-" + leaseID
	outcomes(t, []result{
		{"another that is live", nil, live(leaseID, handle, nil), "true, nil"},
		{"itself", nil, live("self", handle, nil), "false, nil"},
		{"none", nil, live("none", handle, nil), "false, nil"},
		{"one of another object", nil, live(leaseID, "other", nil), "false, nil"},
		{"one that is being issued", func(s *stage) { s.l.State = LeasePending }, live(leaseID, handle, nil), "true, nil"},
		{"one that is being revoked", func(s *stage) { s.l.State = LeaseRevoking }, live(leaseID, handle, nil), "true, nil"},
		{"one that was given up", func(s *stage) { s.l.State = LeaseIrrevocable }, live(leaseID, handle, nil), "true, nil"},
		{"one that has ended", func(s *stage) { s.l.State = LeaseRevoked }, live(leaseID, handle, nil), "false, nil"},
		{"one that cannot be read", nil, live(leaseID, handle, errStep), "false, the step fails"},
	})
}

// A grant is tidied on a VIM that is there and answers; where it is gone, the grant has gone with it.
func TestWhereGrantsAreTidied(t *testing.T) {
	tidied := func(ctx context.Context, s *stage) string {
		s.tape.grants = []GrantEpoch{{VIM: vimID, Epoch: 1}}
		err := s.Leaser.tidyGrants(ctx)
		return fmt.Sprint(s.count("Tidy"), s.count("ForgetGrant"), " ", kindOf(err))
	}
	outcomes(t, []result{
		{"there", nil, tidied, "1 1 nil"},
		{"draining", func(s *stage) { s.v.State = VIMDraining }, tidied, "0 0 nil"},
		{"down", func(s *stage) { s.v.Health.Status = HealthUnreachable }, tidied, "0 0 nil"},
		{"gone", func(s *stage) { s.v.ID = leaseID }, tidied, "0 0 nil"},
	})
}
