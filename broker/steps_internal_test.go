package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var person = policy.Principal{Name: "alice", Project: "p", Roles: []string{policy.RoleAdmin}}

// Whatever step of an act fails, the act fails with it, and what follows is not done.
func TestAStepThatFailsEndsTheAct(t *testing.T) {
	act := func(s *stage) *sessionOf { return &sessionOf{s, s.newSession(s.v.ID)} }
	for _, c := range []struct {
		what  string
		given func(*stage)
		do    func(context.Context, *stage) error
		steps string // each fails alone
		never string // what is not done where one fails
	}{
		{"an inventory", nil, func(ctx context.Context, s *stage) error {
			_, err := s.Inventory(ctx, person, vimID, false)
			return err
		}, "Append,Leases 1,VIM 1,VIM 2,Inventory,Leases 2,Foreign", ""},
		{"settling an inventory", func(s *stage) { s.actor.listed = []Upstream{{Handle: "orphan", Lease: "o"}} }, func(ctx context.Context, s *stage) error {
			_, err := s.Inventory(ctx, person, vimID, true)
			return err
		}, "VIM 1,Leases 1,VIM 2,Inventory,Leases 2,Foreign,Append 1,Revoke,UpdateLease,Append 2", ""},
		{"removing what came late", func(s *stage) {
			s.actor.listed = []Upstream{{Handle: s.l.Handle, Lease: leaseID}}
			s.l.State, s.l.IssuedAt = LeaseRevoked, time.Time{}
		}, func(ctx context.Context, s *stage) error {
			in := act(s)
			defer in.close()
			inv, err := s.compare(ctx, in.session)
			return errors.Join(err, s.removeLate(ctx, in.session, &inv))
		}, "Lease,Append 1,Revoke,Append 2", ""},
		{"tidying", func(s *stage) { s.tape.grants = []GrantEpoch{{VIM: vimID, Epoch: 1}} }, func(ctx context.Context, s *stage) error {
			return s.tidyGrants(ctx)
		}, "CloseIdleGrants,VIM,Append 1,Tidy,Append 2,ForgetGrant", ""},
		{"settling leases", func(s *stage) { s.l.State = LeasePending }, func(ctx context.Context, s *stage) error {
			return s.settleLeases(ctx, s.clock.Now())
		}, "Leases 1,Leases 2,UpdateLease 1", "Revoke"},
		{"ending claims", func(s *stage) { s.l.State, s.l.NextAttemptAt = LeaseRevoking, s.clock.Now().Add(time.Second) }, func(ctx context.Context, s *stage) error {
			return s.endClaims(ctx, s.clock.Now())
		}, "Leases,DeferLease", ""},
		{"trying a credential", nil, func(ctx context.Context, s *stage) error {
			in := act(s)
			defer in.close()
			_, err := s.tryDead(ctx, in.session, s.l)
			return err
		}, "VIM,Dead", ""},
		{"reaping", func(s *stage) { s.tape.due = []DueVIM{{VIM: vimID, Project: "p"}}; s.clock.Add(2 * time.Hour) }, func(ctx context.Context, s *stage) error {
			return s.Reap(ctx)
		}, "DueVIMs 1,VIMs 1,VIM 1,Leases 1,UpdateLease 1", ""},
		{"retiring", func(s *stage) { s.v.State = VIMDraining }, func(ctx context.Context, s *stage) error {
			a, err := s.core.enter(ctx, person, policy.VIMRetire, vimResource(s.v), policy.Wish{})
			if err != nil {
				return err
			}
			_, err = s.retireGone(ctx, s.v, false, a)
			return err
		}, "Leases,UpdateLease 1,UpdateLease 2,DeleteVIM", ""},
		{"draining", func(s *stage) { s.v.State, s.l.State = VIMDraining, LeaseRevoked }, func(ctx context.Context, s *stage) error {
			a, err := s.core.enter(ctx, person, policy.VIMDelete, vimResource(s.v), policy.Wish{})
			if err != nil {
				return err
			}
			_, err = s.drain(ctx, s.v, false, a)
			return err
		}, "Leases 1,Leases 2,Forget,DeleteVIM", ""},
		{"pruning", nil, func(ctx context.Context, s *stage) error { return s.prune(ctx) }, "PruneLeases,PruneJobs,LastCheckpoint", ""},
		{"what is removed next", nil, func(ctx context.Context, s *stage) error {
			_, err := s.Retention(ctx, person)
			return err
		}, "Append,Horizon,LastCheckpoint,CountPrunable", ""},
		{"seeing that a credential is dead", func(s *stage) { s.l.State, s.l.RevokedAt, s.actor.dead = LeaseRevoked, s.clock.Now(), true }, func(ctx context.Context, s *stage) error {
			in := act(s)
			defer in.close()
			_, err := s.confirm(ctx, in.session, s.l, must(s, policy.LeaseRevoke))
			return err
		}, "VIM,Dead,UpdateLease 1", ""},
		{"counting", nil, func(ctx context.Context, s *stage) error {
			_, err := s.counted(ctx)
			return err
		}, "Census,Load,Behind,LastCheckpoint,EntriesAfter,CredentialsExpiring", ""},
		{"keys that no row explains", nil, func(ctx context.Context, s *stage) error { return s.SealAnew(ctx) }, "VIMs,KeysInUse,SigningKeys", ""},
		{"checking what is due", func(s *stage) { s.v.Health.Status = HealthUnreachable }, func(ctx context.Context, s *stage) error {
			return s.CheckDue(ctx)
		}, "VIMs 1,VIM 1,Leases 1,SetHealth 1", ""},
		{"minting anew", nil, func(ctx context.Context, s *stage) error {
			_, _, err := s.RenewLease(ctx, person, leaseID, time.Minute)
			return err
		}, "Lease 1,Lease 2,Prepare,VIM 1,UpdateLease 1,Renew,UpdateLease 2", ""},
		{"revoking one that has ended", func(s *stage) { s.l.State = LeaseRevoked }, func(ctx context.Context, s *stage) error {
			_, err := s.RevokeLease(ctx, person, leaseID)
			return err
		}, "Lease 1,Lease 2,Append", ""},
		{"weighing", nil, func(ctx context.Context, s *stage) error {
			_, err := s.WeighLease(ctx, person, LeaseRequest{VIM: vimID})
			return err
		}, "VIM 1,Prepare,Grade,Foresee,Append", ""},
		{"destroying keys", func(s *stage) { s.tape.retired = []RetiredKey{{KeyStore: "memory", Ref: s.v.Current.Key}} }, func(ctx context.Context, s *stage) error {
			return s.destroyRetired(ctx)
		}, "RetiredKeys,ForgetKey", ""},
		{"ending what nobody may have any more", func(s *stage) { s.core.terms.EndWithAccess = true }, func(ctx context.Context, s *stage) error {
			s.core.terms.EndWithAccess = true
			s.denies[policy.LeaseIssue] = true
			return s.EndWithoutAccess(ctx)
		}, "Leases,VIM,UpdateLease", ""},
		{"a login", nil, func(ctx context.Context, s *stage) error {
			s.core.terms.EndWithAccess = true
			return s.LoggedIn(ctx, person)
		}, "Leases,VIM", ""},
		{"another token of the VIM's own account", func(s *stage) {
			s.v.Current.Discovered.Cluster = &Cluster{Profile: "engine"}
		}, func(ctx context.Context, s *stage) error {
			_, err := s.Registry.writeGeneration(ctx, &edit{vim: s.v, driver: s.actor, renews: true}, must(s, policy.VIMRotate))
			return err
		}, "UpdateVIM 1,Reappoint,UpdateVIM 2", ""},
		{"another namespace", nil, func(ctx context.Context, s *stage) error {
			_, err := s.UpdateVIM(ctx, person, vimID, Change{Namespace: new("n")})
			return err
		}, "VIM 1,Normalize,UpdateVIM 1,Check,UpdateVIM 2", ""},
		{"another name", nil, func(ctx context.Context, s *stage) error {
			_, err := s.UpdateVIM(ctx, person, vimID, Change{Name: new("n")})
			return err
		}, "VIM,UpdateVIM", ""},
		{"sealing anew", nil, func(ctx context.Context, s *stage) error {
			_, err := s.RekeyVIM(ctx, person, vimID, "", 0)
			return err
		}, "VIM,UpdateVIM 1,Rekey", ""},
		{"keys of checkpoints", func(s *stage) { s.tape.signing = []notary.SigningKey{{State: notary.Making}} }, func(ctx context.Context, s *stage) error {
			return s.Reseal(ctx, Due{})
		}, "SigningKeys", ""},
		{"the rest", nil, func(ctx context.Context, s *stage) error { return s.RekeyRest(ctx, person, "", time.Time{}) }, "Append 1,SigningKeys,Append 2", ""},
		{"settling a write", func(s *stage) { s.v.Pending = &Pending{Generation: 2} }, func(ctx context.Context, s *stage) error {
			return s.settleVIM(ctx, s.v)
		}, "UpdateVIM 1,VIM,KeysInUse,UpdateVIM 2", ""},
		{"settling a registration", func(s *stage) { s.v.State, s.v.Pending = VIMRegistering, &Pending{Generation: 1} }, func(ctx context.Context, s *stage) error {
			return s.settleVIM(ctx, s.v)
		}, "UpdateVIM,VIM,KeysInUse,DeleteVIM", ""},
		{"live leases", nil, func(ctx context.Context, s *stage) error {
			_, err := s.LiveOn(ctx, person, []VIM{s.v})
			return err
		}, "Append,LiveOn", ""},
		{"what a VIM waits for", func(s *stage) { s.v.State = VIMDraining }, func(ctx context.Context, s *stage) error {
			_, err := s.WaitsFor(ctx, person, s.v)
			return err
		}, "Leases", ""},
		{"tokens", nil, func(ctx context.Context, s *stage) error {
			_, _, err := s.Tokens(ctx, person, Page{})
			return err
		}, "Append,TokenUses", ""},
		{"what the log waits for", nil, func(ctx context.Context, s *stage) error { return s.WatchAudit(ctx) }, "Behind,LastCheckpoint,EntriesAfter,Unguarded", ""},
		{"pushing", standing, func(ctx context.Context, s *stage) error {
			_, _, err := s.PushLease(ctx, person, leaseID, "t", "name")
			return err
		}, "Lease 1,Lease 2,VIM 1,Append 1,VIM 2,Shelve,Append 2", ""},
		{"keeping what is pushed", func(s *stage) { standing(s); s.actor.shelved = []Shelved{{Login: leaseID, Name: "name"}} }, func(ctx context.Context, s *stage) error {
			return s.KeepPushed(ctx)
		}, "Shelved,Lease,VIM 3,Append 1,Shelve,Append 2", ""},
		{"removing what is pushed", func(s *stage) {
			standing(s)
			s.l.State, s.l.Reason, s.actor.shelved = LeaseRevoked, ReasonRequested, []Shelved{{Login: leaseID, Name: "name"}}
		}, func(ctx context.Context, s *stage) error { return s.KeepPushed(ctx) }, "Shelved,Unshelve", "Shelve"},
		{"what explains", nil, func(ctx context.Context, s *stage) error {
			_, err := s.Explain(ctx, person, policy.Request{Principal: policy.Principal{Name: "bob", Project: "p"}, Action: policy.VIMShow})
			return err
		}, "Append", ""},
		{"texts of policies", nil, func(ctx context.Context, s *stage) error {
			_, err := s.PolicyTexts(ctx, person, nil)
			return err
		}, "Append", ""},
	} {
		run := func(step string) (*stage, error) {
			s := newStage(t)
			if c.given != nil {
				c.given(s)
			}
			s.put()
			if step != "" {
				s.fails[step] = errStep
			}
			err := c.do(t.Context(), s)
			s.came(t, c.what+", "+cmp.Or(step, "nothing")+" fails", fmt.Sprint(err))
			return s, err
		}
		if s, err := run(""); err != nil {
			t.Errorf("%s: %v, after %q", c.what, err, s.taken)
		}
		for step := range strings.SplitSeq(c.steps, ",") {
			s, err := run(step)
			if name, _, _ := strings.Cut(step, " "); s.count(name) == 0 {
				t.Errorf("%s: there is no step %s among %q", c.what, step, s.taken)
			}
			if !errors.Is(err, errStep) && !strings.Contains(fmt.Sprint(err), errStep.Error()) {
				t.Errorf("%s: %s fails, and it ends with %v", c.what, step, err)
			}
			if c.never != "" && s.count(c.never) > 0 {
				t.Errorf("%s: %s fails, and %s is done", c.what, step, c.never)
			}
		}
	}
}

// must is the act of a person that nobody denies.
func must(s *stage, action policy.Action) *audit.Act {
	act, err := s.core.enter(context.Background(), person, action, vimResource(s.v), policy.Wish{})
	if err != nil {
		panic(err)
	}
	return act
}

// standing makes the lease one that stands, of a client, and its VIM a target.
func standing(s *stage) {
	s.core.pushTargets = map[string]PushTarget{"t": {Name: "t", Project: "p", VIM: vimID, Plugin: clientconfig.Plugin{Env: map[string]string{}}}}
	s.l.TokenTTL, s.l.Login, s.l.Principal = time.Minute, leaseID, policy.ByClient+":c"
	s.l.Instance, s.l.SecretSHA256 = "i", "sum"
	s.v.Current.Target.Endpoint = "https://vim"
}

// sessionOf is a session of a stage.
type sessionOf struct {
	*stage
	*session
}

func (s *sessionOf) close() { s.session.close() }
