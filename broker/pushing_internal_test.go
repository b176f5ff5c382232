package broker

import (
	"context"
	"fmt"
	"testing"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/policy"
)

// What is pushed, and what a lease, its VIM or the target's VIM lacks for that.
func TestWhatIsPushed(t *testing.T) {
	push := func(change func(*stage)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			if change != nil {
				change(s)
			}
			_, _, err := s.PushLease(ctx, person, leaseID, "t", "name")
			return fmt.Sprint(kindOf(err), ", ", s.count("Shelve"))
		}
	}
	target := func(change func(*PushTarget)) func(context.Context, *stage) string {
		return push(func(s *stage) {
			to := s.core.pushTargets["t"]
			change(&to)
			s.core.pushTargets["t"] = to
		})
	}
	of := func(change func(*stage)) func(*stage) { return func(s *stage) { standing(s); change(s) } }
	// The target's VIM is another than the lease's.
	elsewhere := func(change func(*VIM)) func(context.Context, *stage) string {
		return push(func(s *stage) {
			const other = "0c0a7f9e-3c0e-4a54-9a0c-0d6a2c9f7b33"
			v := s.v
			v.ID = other
			if err := s.seal(t.Context(), v, &v.Current, SealedCurrent); err != nil {
				t.Fatal(err)
			}
			change(&v)
			s.tape.vims[other] = v
			to := s.core.pushTargets["t"]
			to.VIM = other
			s.core.pushTargets["t"] = to
		})
	}
	outcomes(t, []result{
		{"a lease", standing, push(nil), "nil, 1"},
		{"to another VIM", standing, elsewhere(func(*VIM) {}), "nil, 1"},
		{"for Argo CD", standing, target(func(t *PushTarget) { t.Form = FormArgoCD }), "nil, 1"},
		{"one that does not stand", of(func(s *stage) { s.l.TokenTTL = 0 }), push(nil), "not supported, 0"},
		{"one of nobody who is registered", of(func(s *stage) { s.l.Principal = "alice" }), push(nil), "not supported, 0"},
		{"on a VIM that is not verified", of(func(s *stage) { s.v.Current.Target.InsecureSkipVerify = true }), push(nil), "not supported, 0"},
		{"on what is no cluster", standing, push(func(s *stage) { s.actor.client = clientconfig.OpenStackClient{} }), "not supported, 0"},
		{"to another project's VIM", standing, elsewhere(func(v *VIM) { v.Project = "q" }), "temporarily unavailable, 0"},
		{"to another project's VIM that is shared with all", standing, elsewhere(func(v *VIM) { v.Project, v.Shared = "q", true }), "temporarily unavailable, 0"},
		{"to another project's VIM that is shared", standing, elsewhere(func(v *VIM) { v.Project, v.SharedWith = "q", []string{"p"} }), "temporarily unavailable, 0"},
		{"one that has the login of the first of its place", of(func(s *stage) { s.l.Login = "2c0a7f9e-3c0e-4a54-9a0c-0d6a2c9f7b55" }), push(nil), "nil, 1"},
		{"to a VIM that is gone", standing, target(func(t *PushTarget) { t.VIM = "5c0a7f9e-3c0e-4a54-9a0c-0d6a2c9f7b44" }), "temporarily unavailable, 0"},
		{"to a VIM that cannot be read", standing, push(func(s *stage) { s.fails["VIM 2"] = errStep }), "the step fails, 0"},
		{"to a VIM of a type that is not served", standing, elsewhere(func(v *VIM) { v.Type = "b" }), "not supported type, 0"},
		{"to a VIM that is not verified", standing, elsewhere(func(v *VIM) { v.Current.Target.InsecureSkipVerify = true }), "not supported, 0"},
		{"to a VIM whose credential does not open", standing, elsewhere(func(v *VIM) { v.Current.KeyStore = "vault" }), "stored credential cannot be opened keyStore, 0"},
		{"to a VIM that keeps no Secrets", standing, push(func(s *stage) { s.core.drivers["a"] = struct{ Driver }{s.actor} }), "not supported, 0"},
	})
}

// What was pushed is removed only once its lease is cut off for good, and written only where it differs.
func TestWhatWasPushedIsKept(t *testing.T) {
	keep := func(change func(*stage)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.actor.shelved = []Shelved{{Login: leaseID, Name: "name"}}
			if change != nil {
				change(s)
			}
			err := s.KeepPushed(ctx)
			reason := ""
			for _, e := range s.tape.entries {
				reason = e.Detail["reason"]
			}
			return fmt.Sprint("written ", s.count("Shelve"), ", removed ", s.count("Unshelve"), ", ", reason, ", ", err)
		}
	}
	of := func(change func(*stage)) func(*stage) { return func(s *stage) { standing(s); change(s) } }
	as := func(state LeaseState, why Reason) func(*stage) {
		return of(func(s *stage) { s.l.State, s.l.Reason = state, why })
	}
	const written, removed, left = "written 1, removed 0, , <nil>", "written 0, removed 1, the lease is cut off, <nil>", "written 0, removed 0, , "
	outcomes(t, []result{
		{"another than the lease", standing, keep(nil), written},
		{"the same", standing, keep(func(s *stage) {
			is, err := s.Leaser.shelved(t.Context(), s.core.pushTargets["t"], s.l, "name")
			if err != nil {
				t.Fatal(err)
			}
			s.actor.shelved = []Shelved{is}
		}), left + "<nil>"},
		{"the same, with one key more", standing, keep(func(s *stage) {
			is, err := s.Leaser.shelved(t.Context(), s.core.pushTargets["t"], s.l, "name")
			if err != nil {
				t.Fatal(err)
			}
			is.Data["more"] = "x"
			s.actor.shelved = []Shelved{is}
		}), written},
		{"of a lease that is requested to end", as(LeaseRevoked, ReasonRequested), keep(nil), removed},
		{"of a lease that another may follow", as(LeaseRevoked, ReasonExpired), keep(nil), written},
		{"of a lease that none follows", as(LeaseRevoked, ReasonOperationEnded), keep(nil), removed},
		{"of a lease that lives, and that none would follow", of(func(s *stage) { s.l.Instance = "" }), keep(nil), written},
		{"where another target's VIM is gone", standing, keep(func(s *stage) {
			s.core.pushTargets["a"] = PushTarget{Name: "a", Project: "p", VIM: "5c0a7f9e-3c0e-4a54-9a0c-0d6a2c9f7b44"}
		}), "written 1, removed 0, , target a: the VIM 5c0a7f9e-3c0e-4a54-9a0c-0d6a2c9f7b44 of the target a is not registered"},
		{"of two Secrets, of which one is nobody's", standing, keep(func(s *stage) {
			s.actor.shelved = []Shelved{{Login: "none", Name: "first"}, {Login: leaseID, Name: "second"}, {Login: "none", Name: "third"}}
		}), written},
		{"of a lease that nobody knows", standing, keep(func(s *stage) { s.tape.leases = nil }), left + "<nil>"},
		{"of a VIM that is gone", standing, keep(func(s *stage) { s.fails["VIM 3"] = vimNotFound() }), removed},
		{"of a VIM that cannot be read", standing, keep(func(s *stage) { s.fails["VIM 3"] = errStep }), left + "target t: the step fails"},
		{"without the right to", standing, keep(func(s *stage) { s.denies[policy.LeasePush] = true }), "written 0, removed 0, , target t: policy does not allow system:targets to lease:push"},
	})
}
