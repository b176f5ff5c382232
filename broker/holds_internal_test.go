package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// lookup is a directory that answers one thing.
type lookup struct {
	roles []string
	fails error
}

func (l lookup) Lookup(_ context.Context, name, project string) (policy.Principal, error) {
	return policy.Principal{Name: name, Project: project, Roles: l.roles}, l.fails
}

// Whether a holder would be issued its lease now: with which roles that is asked, as which lease, for which time, and what
// ends nothing.
func TestWhetherAHolderStillHolds(t *testing.T) {
	const ended, stays = "false nil", "true nil"
	const issue, through = "lease:issue member bounded 30m0s", "lease:issue member bounded 30m0s, lease:pass-through member bounded 30m0s"
	person := policy.Principal{Name: "alice", Project: "p", Roles: []string{"now"}}
	pass := func(s *stage) {
		s.l.Derived, s.l.Grade, s.l.CredentialKind = false, GradeUnbounded, CredentialBearerToken
	}
	decides := func(d func(policy.Request) policy.Decision) func(*stage) {
		return func(s *stage) {
			was := s.core.policy
			s.core.policy = deciding(func(r policy.Request) policy.Decision { was.Decide(r); return d(r) })
		}
	}
	unsure := decides(func(policy.Request) policy.Decision { return policy.Decision{Errors: []string{"no attribute"}} })
	both := func(all ...func(*stage)) func(*stage) {
		return func(s *stage) {
			for _, one := range all {
				one(s)
			}
		}
	}
	denies := func(a policy.Action) func(*stage) { return func(s *stage) { s.denies[a] = true } }
	directory := func(l lookup) func(*stage) {
		return func(s *stage) {
			s.core.directories = map[string]policy.Directory{policy.Principal{Name: "alice"}.Authenticator(): l}
		}
	}
	trusts := func(is bool) func(*stage) {
		return func(s *stage) { s.core.trusts = func(name string) bool { return is && name == "alice" } }
	}
	for _, c := range []struct {
		what   string
		given  func(*stage)
		seen   *policy.Principal
		want   string
		decide string
	}{
		{"a lease", nil, nil, stays, issue},
		{"policy denies it", denies(policy.LeaseIssue), nil, ended, issue},
		{"policy cannot be evaluated", unsure, nil, stays, issue},
		{"of no roles", func(s *stage) { s.l.HolderRoles = nil; denies(policy.LeaseIssue)(s) }, nil, stays, ""},
		{"a directory knows the holder", directory(lookup{roles: []string{"now"}}), nil, stays, "lease:issue now bounded 30m0s"},
		{"a directory knows of no role", directory(lookup{}), nil, stays, "lease:issue  bounded 30m0s"},
		{"a directory does not know the holder", directory(lookup{fails: policy.ErrUnauthenticated}), nil, ended, ""},
		{"a directory cannot be asked", directory(lookup{fails: errStep}), nil, "true the step fails", ""},
		{"a directory, and what let others in is gone", both(directory(lookup{roles: []string{"now"}}), trusts(false)), nil, stays, "lease:issue now bounded 30m0s"},
		{"what let it in is there", trusts(true), nil, stays, issue},
		{"what let it in is gone", trusts(false), nil, ended, ""},
		{"it stands, and what let it in is gone", func(s *stage) { s.l.TokenTTL = time.Minute; trusts(false)(s) }, nil, ended, ""},
		{"it was seen", both(directory(lookup{fails: errStep}), trusts(false)), &person, stays, "lease:issue now bounded 30m0s"},
		{"of a grade", func(s *stage) { s.l.Grade = GradeNamespaces }, nil, stays, "lease:issue member namespaces 30m0s"},
		{"it stands", func(s *stage) { s.l.TokenTTL = time.Minute }, nil, stays, "lease:issue member bounded 1m0s standing"},
		{"a user", func(s *stage) { s.l.CredentialKind = CredentialUser }, nil, stays, "lease:issue member bounded 30m0s standing"},
		{"passed through", pass, nil, stays, through},
		{"passed through, and none may be issued", both(pass, denies(policy.LeaseIssue)), nil, ended, issue},
		{"passed through, without the right to", both(pass, denies(policy.LeasePassThrough)), nil, ended, through},
		{"passed through, without a grade and the right to", func(s *stage) {
			pass(s)
			s.l.Grade = ""
			denies(policy.LeasePassThrough)(s)
		}, nil, ended, through},
		{"passed through, and the right cannot be evaluated", both(pass, decides(func(r policy.Request) policy.Decision {
			if r.Action == policy.LeasePassThrough {
				return policy.Decision{Errors: []string{"no attribute"}}
			}
			return policy.Decision{Allowed: true}
		})), nil, stays, through},
		{"of a type that is not served", func(s *stage) { s.l.VIMType = "b" }, nil, "true not supported type", ""},
		{"where nothing is graded", func(s *stage) { s.plain() }, nil, stays, "lease:issue member  30m0s"},
	} {
		s := newStage(t)
		if c.given != nil {
			c.given(s)
		}
		s.put()
		s.clock.Add(30 * time.Minute)
		holds, err := s.stillHolds(t.Context(), s.l, s.v, c.seen)
		var asked []string
		for _, r := range s.asked {
			line := fmt.Sprint(r.Action, " ", strings.Join(r.Principal.Roles, ","), " ", r.Wish.Grade, " ", r.Wish.TTL)
			if r.Wish.Standing {
				line += " standing"
			}
			asked = append(asked, line)
		}
		if got := strings.Join(asked, ", "); fmt.Sprint(holds, " ", kindOf(err)) != c.want || got != c.decide {
			t.Errorf("%s: %v, %s, want %s; policy was asked %q, want %q", c.what, holds, kindOf(err), c.want, got, c.decide)
		}
	}
}

// A VIM that is gone or cannot be read ends none of its leases, and keeps none on others.
func TestAVIMThatCannotBeReadKeepsNoOtherLease(t *testing.T) {
	s := newStage(t)
	s.core.terms.EndWithAccess = true
	s.denies[policy.LeaseIssue] = true
	for i, vim := range []string{"gone", "unread", vimID, "unread", vimID} {
		l := s.l
		l.ID, l.VIM = fmt.Sprint(i), vim
		s.tape.leases[l.ID] = l
	}
	delete(s.tape.leases, leaseID)
	s.fails["VIM 2"] = errStep
	if err := s.EndWithoutAccess(t.Context()); !errors.Is(err, errStep) {
		t.Errorf("that a VIM cannot be read is told as %v", err)
	}
	for id, want := range map[string]LeaseState{"0": LeaseActive, "1": LeaseActive, "2": LeaseRevoking, "3": LeaseActive, "4": LeaseRevoking} {
		if l := s.tape.leases[id]; l.State != want || want == LeaseRevoking && l.Reason != ReasonAccessLost {
			t.Errorf("lease %s is %s for %q, want %s", id, l.State, l.Reason, want)
		}
	}
}

// A lease that ended meanwhile is none that fails: the others of the batch are begun, and it is not.
func TestABatchBeginsWhatHasNotEnded(t *testing.T) {
	for claim, mine := range map[time.Duration]bool{0: false, time.Minute: true} {
		s := newStage(t)
		all := s.newBatch(t.Context())
		for i, state := range []LeaseState{LeaseRevoked, LeaseActive, LeaseIrrevocable, LeasePending, LeaseRevoking} {
			l := s.l
			l.ID, l.State, l.NextAttemptAt = fmt.Sprint(i), state, s.clock.Now().Add(time.Hour)
			s.tape.leases[l.ID] = l
			l.State = LeaseActive // as it was when it was listed
			all.begin(l, ReasonRequested, must(s, policy.LeaseRevoke))
		}
		if err := all.beginFresh(s.Leaser, claim); err != nil || len(all.fresh) != 0 {
			t.Errorf("with a claim of %s: %v, and %d are left", claim, err, len(all.fresh))
		}
		got := map[string]bool{}
		for _, i := range all.items[vimID] {
			if got[i.lease.ID] = i.mine; i.act == nil || i.lease.State != LeaseRevoking {
				t.Errorf("lease %s is %s in the batch", i.lease.ID, i.lease.State)
			}
		}
		if _, ended := got["0"]; ended || got["1"] != mine || got["4"] {
			t.Errorf("with a claim of %s the batch has, and may work on: %v", claim, got)
		}
	}
}

// A lease that is left for the next pass, and that this batch has claimed, is given back at once, whatever it is left for.
func TestWhatABatchLeavesItGivesBack(t *testing.T) {
	for what, c := range map[string]struct {
		mine   bool
		until  time.Duration
		silent bool
		stops  bool
		want   string
	}{
		"claimed":                            {true, time.Hour, false, false, "tried 1, given back 0, due false"},
		"claimed, of a VIM that is silent":   {true, time.Hour, true, false, "tried 0, given back 1, due true"},
		"claimed, and the pass ends":         {true, time.Hour, false, true, "tried 0, given back 1, due true"},
		"claimed, for a time that is over":   {true, time.Second, false, false, "tried 0, given back 1, due true"},
		"due":                                {false, 0, false, false, "tried 1, given back 0, due true"},
		"due, of a VIM that is silent":       {false, 0, true, false, "tried 0, given back 0, due true"},
		"another's":                          {false, time.Hour, false, false, "tried 0, given back 0, due false"},
		"another's, and the pass ends":       {false, time.Hour, false, true, "tried 0, given back 0, due false"},
		"another's, of a VIM that is silent": {false, time.Hour, true, false, "tried 0, given back 0, due false"},
	} {
		s := newStage(t)
		ctx, cancel := context.WithCancel(t.Context())
		l, tried := s.l, 0
		l.NextAttemptAt = s.clock.Now().Add(c.until)
		s.tape.leases[leaseID] = l
		var items []batchItem
		if c.silent { // all places are taken by such as fail, so that the lease comes after one of them
			for range batchLeases {
				items = append(items, batchItem{lease: Lease{ID: "other"}, do: func(_ context.Context, _ *session, l Lease, _ *audit.Act) (Lease, error) {
					return l, &Error{Kind: ErrUnreachable}
				}})
			}
		}
		if c.stops {
			cancel()
		}
		items = append(items, batchItem{lease: l, mine: c.mine, do: func(_ context.Context, _ *session, l Lease, _ *audit.Act) (Lease, error) {
			tried++
			return l, nil
		}})
		in := s.newSession(vimID)
		done, silent := s.workOn(ctx, in, items)
		in.close()
		cancel()
		at := slices.IndexFunc(done, func(l Lease) bool { return l.ID == leaseID })
		got := fmt.Sprint("tried ", tried, ", given back ", s.count("DeferLease"), ", due ", !done[at].NextAttemptAt.After(s.clock.Now()))
		if stored := s.row().NextAttemptAt; got != c.want || silent != c.silent || s.count("DeferLease") > 0 && !stored.Equal(s.clock.Now()) {
			t.Errorf("%s: %s, silent %v, stored %s, want %s", what, got, silent, stored, c.want)
		}
	}
}
