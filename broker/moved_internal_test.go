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
	"github.com/vimbroker/vimbroker/test/testlog"
)

// An update that was decided on another state of its VIM is decided again where a generation of it went by, or a right is gone.
func TestAnUpdateOfAVIMThatMovedOn(t *testing.T) {
	credential := Change{Credential: Credential{Kind: CredentialBearerToken, Token: secret.NewText("t")}}
	name := Change{Name: new("n")}
	for what, c := range map[string]struct {
		change Change
		now    func(*VIM)
		denied policy.Action
		want   string
	}{
		"as it was":                                 {credential, func(*VIM) {}, "", "<nil>"},
		"as it was, and denied by now":              {credential, func(*VIM) {}, policy.VIMUpdate, "<nil>"},
		"another revision":                          {credential, func(v *VIM) { v.Revision++ }, "", "<nil>"},
		"another revision, and denied":              {name, func(v *VIM) { v.Revision++ }, policy.VIMUpdate, errMoved.Error()},
		"another generation, and a new credential":  {credential, func(v *VIM) { v.Revision++; v.Current.Number++ }, "", errMoved.Error()},
		"another generation, and another name":      {name, func(v *VIM) { v.Revision++; v.Current.Number++ }, "", "<nil>"},
		"it is being deleted":                       {name, func(v *VIM) { v.State = VIMDraining }, "", "the VIM is being deleted, and only its credential can be replaced"},
		"it is being deleted, and a new credential": {credential, func(v *VIM) { v.State = VIMDraining }, "", "<nil>"},
	} {
		s := newStage(t)
		now := s.v
		c.now(&now)
		s.denies[c.denied] = true
		u := &edit{caller: person, action: policy.VIMUpdate, vim: s.v, change: c.change, driver: s.actor, target: s.v.Current.Target}
		if err := s.writableFor(&now, u); fmt.Sprint(err) != c.want {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
	}
}

// A credential that is refused for good is explained by the policy that forbids the lease, and to nobody who may not see the VIM.
func TestWhyALeaseIsNotRenewed(t *testing.T) {
	const refusal = "policy would not issue you this lease on the VIM any more, so it is not renewed"
	denied := &Error{Kind: ErrDenied, Detail: "no"}
	for what, c := range map[string]struct {
		err  error
		want string
	}{
		"a policy":           {denied, refusal + ": policy does not allow alice to lease:issue such a lease (p)"},
		"a VIM that is hid":  {&Error{Kind: ErrNotFound, Detail: "no such VIM"}, refusal},
		"another error":      {errStep, refusal},
		"nobody can say now": {&Error{Kind: ErrUnavailable, Detail: "later"}, "later"},
	} {
		b := &Leaser{core: &core{policy: deciding(func(policy.Request) policy.Decision { return policy.Decision{Policies: []string{"p"}} })}}
		e, _ := errors.AsType[*Error](b.noLonger(c.err, person, VIM{}, Lease{}, policy.Wish{}))
		if e == nil || e.Detail != c.want {
			t.Errorf("%s: %v, want %q", what, e, c.want)
		}
	}
}

// What somebody else did meanwhile is left as it is, and nothing is recorded of it.
func TestWhatAnotherDidMeanwhile(t *testing.T) {
	outcomes(t, []result{
		{"a lease that another saw end", func(s *stage) {
			s.tape.meantime = func(l *Lease) { l.State, l.Reason = LeaseRevoked, ReasonExpired }
		}, func(ctx context.Context, s *stage) string {
			l, err := s.finishRevocation(ctx, s.l, []string{"a token"}, must(s, policy.LeaseRevoke))
			return fmt.Sprint(l.State, " ", l.Reason, " ", len(l.LeftBehind), " ", err, " ", len(s.tape.entries), " ", s.row().State)
		}, "revoked expired 0 <nil> 0 active"},
		{"a VIM that goes as it is checked", nil, func(ctx context.Context, s *stage) string {
			s.fails["SetHealth"] = notFound(policy.KindVIM)
			h, err := s.Registry.check(ctx, s.v)
			s.fails["SetHealth"] = errStep
			_, failed := s.Registry.check(ctx, s.v)
			return fmt.Sprint(h.Status, " ", err, ", ", failed)
		}, "reachable <nil>, the step fails"},
		{"a lease that cannot be aborted, nor read", nil, func(ctx context.Context, s *stage) string {
			s.fails["UpdateLease"], s.fails["Lease"] = errStep, errStep
			s.abort(ctx, s.l, ReasonRequested, must(s, policy.LeaseRevoke).Done())
			return fmt.Sprint(s.count("Revoke"), s.count("VIM"), s.logs("left for the settle pass"), s.logs("left for the reaper"))
		}, "0 0 true false"},
		{"past generations that no lease is pinned to", nil, func(ctx context.Context, s *stage) string {
			past := s.v.Current
			past.Number = 7
			s.v.Past = []Generation{past}
			in := s.newSession(vimID)
			defer in.close()
			_, unseen, err := s.listUpstream(ctx, in, s.v, map[string]Lease{leaseID: s.l}, map[string]int64{})
			return fmt.Sprint(s.count("Inventory"), " ", unseen, " ", err)
		}, "1 map[1:false] <nil>"},
		{"an inventory whose late objects stay", func(s *stage) {
			s.actor.listed = []Upstream{{Handle: s.l.Handle, Lease: leaseID}}
			s.l.State, s.l.IssuedAt = LeaseRevoked, time.Time{}
		}, func(ctx context.Context, s *stage) string {
			s.fails["Append"] = errStep
			s.takeInventory(ctx, vimID)
			return fmt.Sprint(s.logs("no inventory could be taken"), s.logs("disagree"))
		}, "true false"},
	})
}

// A part that cannot be used is looked at again sooner than one that can.
func TestHowSoonAPartIsLookedAtAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, at, firsts := time.Now(), []string{}, 0
		ctx, end := context.WithCancel(t.Context())
		p := &probe{name: "database", every: time.Hour, clock: time.Now, ask: func(context.Context) error {
			if at = append(at, time.Since(began).String()); len(at) == 4 {
				end()
			}
			if len(at) == 2 {
				return errStep
			}
			return nil
		}}
		p.keep(ctx, testlog.Silent(t), func() { firsts++ })
		want := strings.Join([]string{"0s", time.Hour.String(), (time.Hour + lookAgain).String(), (2*time.Hour + lookAgain).String()}, " ")
		if got := strings.Join(at, " "); got != want || firsts != 4 {
			t.Errorf("it is looked at after %s, want %s; %d are told", got, want, firsts)
		}
	})
}
