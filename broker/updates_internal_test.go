package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

// logs reports whether the log has a text.
func (s *stage) logs(text string) bool { return strings.Contains(s.log.String(), text) }

// The token of the broker's own account is replaced once half of its life is over, on a VIM that is there and written by
// nobody. One that the VIM does not give is for the next check; what the broker itself cannot do fails.
func TestWhenTheTokenOfTheAccountIsReplaced(t *testing.T) {
	account := func(s *stage) {
		s.v.Current.Discovered = Discovered{Cluster: &Cluster{Profile: "engine", RenewAt: s.clock.Now()}}
	}
	but := func(change func(*stage)) func(*stage) { return func(s *stage) { account(s); change(s) } }
	keep := func(change func(*stage)) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			v := s.v
			if change != nil {
				change(s)
			}
			err := s.Registry.keepAccount(ctx, v)
			return fmt.Sprint(s.tape.vims[vimID].Current.Number, ", ", s.count("Reappoint"), ", ", kindOf(err), ", told ", s.logs("is not renewed"))
		}
	}
	fails := func(step string, err error) func(context.Context, *stage) string {
		return keep(func(s *stage) { s.fails[step] = err })
	}
	const not = "1, 0, nil, told false"
	outcomes(t, []result{
		{"it is time", account, keep(nil), "2, 1, nil, told false"},
		{"it is not time yet", but(func(s *stage) { s.v.Current.Discovered.RenewAt = s.clock.Now().Add(1) }), keep(nil), not},
		{"there is no account", func(s *stage) {}, keep(nil), not},
		{"a write is under way", but(func(s *stage) { s.v.Pending = &Pending{Generation: 2} }), keep(nil), not},
		{"the VIM is being deleted", but(func(s *stage) { s.v.State = VIMDraining }), keep(nil), not},
		{"the VIM is of a type that is not served", but(func(s *stage) { s.v.Type = "b" }), keep(nil), "1, 0, not supported type, told false"},
		{"policy denies it", account, keep(func(s *stage) { s.denies[policy.VIMRotate] = true }), "1, 0, denied, told false"},
		{"the VIM refuses", account, fails("Reappoint", &Error{Kind: ErrForbidden}), "1, 1, nil, told true"},
		{"the store fails", account, fails("UpdateVIM 1", errStep), "1, 0, the step fails, told false"},
		{"it changes meanwhile", account, keep(func(s *stage) {
			s.during["UpdateVIM 1"] = func() {
				v := s.tape.vims[vimID]
				v.Revision++
				s.tape.vims[vimID], s.denies[policy.VIMRotate] = v, true
			}
		}), "1, 0, nil, told true"},
		{"a check of all that is due", but(func(s *stage) { s.actor.report.Discovered = s.v.Current.Discovered }), func(ctx context.Context, s *stage) string {
			s.fails["UpdateVIM"] = errStep
			return fmt.Sprint(s.CheckDue(ctx))
		}, "the step fails"},
		{"a check of all that is due, of one that does not answer", but(func(s *stage) { s.actor.report.Discovered = s.v.Current.Discovered }), func(ctx context.Context, s *stage) string {
			s.fails["Check"] = &Error{Kind: ErrUnreachable}
			return fmt.Sprint(s.CheckDue(ctx), ", ", s.count("Check"), " ", s.count("Reappoint"))
		}, "<nil>, 1 0"},
		{"a check of one that is being deleted since it was listed", nil, func(ctx context.Context, s *stage) string {
			s.during["VIM 1"] = func() {
				v := s.tape.vims[vimID]
				v.State = VIMDraining
				s.tape.vims[vimID] = v
			}
			return fmt.Sprint(s.CheckDue(ctx), s.count("Check"))
		}, "<nil> 0"},
	})
}

// A VIM that is being deleted takes another credential, and with it what leads there; nothing else.
func TestWhatReplacesACredentialAlone(t *testing.T) {
	with := func(more func(*Change)) func(*edit) {
		return func(u *edit) {
			u.change.Credential = Credential{Kind: CredentialBearerToken, Token: secret.NewText(fresh)}
			more(&u.change)
		}
	}
	for what, c := range map[string]struct {
		change func(*edit)
		alone  bool
	}{
		"nothing":                {func(*edit) {}, false},
		"a credential":           {with(func(*Change) {}), true},
		"of the revision it saw": {with(func(c *Change) { c.IfRevision = 3 }), true},
		"with where it is":       {with(func(c *Change) { c.Endpoint, c.CACert, c.Namespace = new("e"), new("c"), new("n") }), true},
		"with the rest of where": {with(func(c *Change) {
			c.ServerName, c.InsecureSkipVerify, c.Context, c.Cloud = new("s"), new(true), "x", "y"
		}), true},
		"that leads elsewhere": {func(u *edit) { with(func(*Change) {})(u); u.target.Endpoint = "other" }, false},
		"with a name":          {with(func(c *Change) { c.Name = new("n") }), false},
		"with a label":         {with(func(c *Change) { c.Labels = map[string]*string{"a": nil} }), false},
		"a kubeconfig":         {func(u *edit) { u.change.Kubeconfig = secret.NewText("k") }, true},
		"a kubeconfig and a label": {func(u *edit) {
			u.change.Kubeconfig, u.change.Labels = secret.NewText("k"), map[string]*string{"a": nil}
		}, false},
	} {
		u := &edit{}
		if c.change(u); u.onlyCredential() != c.alone {
			t.Errorf("%s: alone = %t", what, !c.alone)
		}
	}
}

// What a change is refused for before anybody is asked: each reason by itself, and the first of two.
func TestWhatAnUpdateIsRefusedFor(t *testing.T) {
	update := func(c Change) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			_, err := s.UpdateVIM(ctx, person, vimID, c)
			return fmt.Sprint(kindOf(err), ", ", s.tape.vims[vimID].Current.Number, ", ", len(s.tape.entries))
		}
	}
	token := func(kind CredentialKind) Credential { return Credential{Kind: kind, Token: secret.NewText(fresh)} }
	cred := token(CredentialBearerToken)
	there := func(s *stage) { s.v.Current.Target.Endpoint = "https://vim" }
	unverified := func(s *stage) { there(s); s.v.Current.Target.InsecureSkipVerify = true }
	many := map[string]*string{}
	for k, v := range labels(65) {
		many[k] = &v
	}
	outcomes(t, []result{
		{"a credential", there, update(Change{Credential: cred}), "nil, 2, 2"},
		{"a credential that is too large", there, func(ctx context.Context, s *stage) string {
			s.core.terms.VIMs.Bytes = 1000
			long := Credential{Kind: CredentialBearerToken, Token: secret.NewText(strings.Repeat("t", 1000))}
			given := update(Change{Credential: long})(ctx, s)
			_, err := s.RotateVIM(ctx, person, vimID, long, 0)
			return given + ", " + kindOf(err)
		}, "quota exceeded credential, 1, 1, quota exceeded credential"},
		{"a credential of the same server", there, update(Change{Credential: cred, SameServer: true}), "nil, 2, 2"},
		{"a credential of another server", there, update(Change{Credential: cred, SameServer: true, Endpoint: new("https://other")}), "conflict endpoint, 1, 1"},
		{"a credential of another server, which the driver refuses", unverified, func(ctx context.Context, s *stage) string {
			s.fails["Normalize"] = Invalid("endpoint", "is none")
			return update(Change{Credential: cred, SameServer: true, Endpoint: new("https://other")})(ctx, s)
		}, "invalid endpoint, 1, 1"},
		{"a credential of another server, where that may be", there, update(Change{Credential: cred, Endpoint: new("https://other")}), "nil, 2, 2"},
		{"a credential of a server that is not verified", unverified, update(Change{Credential: cred, SameServer: true}), "conflict endpoint, 1, 1"},
		{"a credential of a server that is to be verified", unverified, update(Change{Credential: cred, InsecureSkipVerify: new(false)}), "nil, 2, 2"},
		{"an authority of a server that is not verified", unverified, update(Change{Credential: cred, CACert: new("ca")}), "nil, 2, 2"},
		{"no authority of a server that is not verified", unverified, update(Change{Credential: cred, CACert: new("")}), "nil, 2, 2"},
		{"no authority of a server that is verified", there, update(Change{Credential: cred, CACert: new("")}), "nil, 2, 2"},
		{"a credential of a kind that the type has not", there, update(Change{Credential: token(CredentialPassword)}), "invalid credential, 1, 1"},
		{"a label that ties the VIM", nil, update(Change{Labels: map[string]*string{LabelInline: nil}}), "denied labels." + LabelInline + ", 1, 1"},
		{"a label that ties the VIM, and a share", nil, update(Change{Labels: map[string]*string{LabelInline: nil}, SharedWith: &[]string{"q"}}), "denied labels." + LabelInline + ", 1, 1"},
		{"labels that are too many, with a credential", there, update(Change{Labels: many, Credential: cred}), "invalid labels, 1, 2"},
		{"a type that is not served", func(s *stage) { s.v.Type = "b" }, update(Change{Credential: cred}), "not supported type, 1, 1"},
		{"a credential that cannot be kept", func(s *stage) { s.v.Current.KeyStore = "vault" }, func(ctx context.Context, s *stage) string {
			v := s.tape.vims[vimID]
			v.Current.KeyStore = "vault"
			s.tape.vims[vimID] = v
			return update(Change{Namespace: new("n")})(ctx, s)
		}, "stored credential cannot be opened keyStore, 1, 1"},
		{"a key store that fails", there, func(ctx context.Context, s *stage) string {
			s.core.keys = keyring.Ring{failing{}}
			return update(Change{Credential: cred})(ctx, s)
		}, "temporarily unavailable, 1, 2"},
		{"no credential in the place of the other", nil, func(ctx context.Context, s *stage) string {
			_, err := s.RotateVIM(ctx, person, vimID, Credential{}, 0)
			return fmt.Sprint(kindOf(err), ", ", s.tape.vims[vimID].Current.Number, ", ", len(s.tape.entries))
		}, "invalid credential, 1, 1"},
		{"the driver refuses, and policy has weighed the VIM as it is", func(s *stage) { there(s); s.v.Current.Target.ServerName = "is" }, func(ctx context.Context, s *stage) string {
			s.fails["Normalize"] = errStep
			got := update(Change{Credential: cred, ServerName: new("would be")})(ctx, s)
			return fmt.Sprint(got, ", ", s.asked[len(s.asked)-1].Wish.VIM.ServerName)
		}, "the step fails, 1, 1, is"},
		{"a share that policy forbids once the VIM has changed", nil, func(ctx context.Context, s *stage) string {
			s.during["UpdateVIM 1"] = func() {
				v := s.tape.vims[vimID]
				v.Revision++
				s.tape.vims[vimID], s.denies[policy.VIMUpdate] = v, true
			}
			_, err := s.UpdateVIM(ctx, person, vimID, Change{Shared: new(true)})
			return fmt.Sprint(kindOf(err), ", ", s.tape.vims[vimID].Shared)
		}, "denied, false"},
	})
}

// What a driver is given of a change, and of the VIM as it is: a file says itself where it leads.
func TestWhatADriverIsGivenOfAChange(t *testing.T) {
	is := func(s *stage) {
		s.v.Current.Target = Target{Endpoint: "https://is", ServerName: "is", Namespace: "is", InsecureSkipVerify: true, Scope: Scope{ProjectID: "is"}}
	}
	plan := func(c Change) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			u := &edit{vim: s.v, change: c}
			err := s.Registry.plan(u)
			r := s.actor.asked
			return fmt.Sprint(r.Endpoint, r.CACert, r.InsecureSkipVerify, r.ServerName, r.Namespace, r.Scope.ProjectID, " ", kindOf(err))
		}
	}
	verified := func(s *stage) {
		s.v.Current.Target = Target{Endpoint: "https://is", CACert: "is"}
	}
	cred, text := Credential{Kind: CredentialBearerToken, Token: secret.NewText(fresh)}, secret.NewText("a file")
	outcomes(t, []result{
		{"a credential", is, plan(Change{Credential: cred}), "https://istrueisisis nil"},
		{"a kubeconfig", is, plan(Change{Kubeconfig: text}), "falseis nil"},
		{"a clouds.yaml", is, plan(Change{CloudsYAML: text}), "falseis nil"},
		{"a CA ends the insecure state", is, plan(Change{Credential: cred, CACert: new("a CA")}), "https://isa CAfalseisisis nil"},
		{"no CA does not", is, plan(Change{Credential: cred, CACert: new("")}), "https://istrueisisis nil"},
		{"an insecure state ends the CA", verified, plan(Change{Credential: cred, InsecureSkipVerify: new(true)}), "https://istrue nil"},
		{"a secure state does not", verified, plan(Change{Credential: cred, InsecureSkipVerify: new(false)}), "https://isisfalse nil"},
		{"a CA stays beside an insecure state that is asked for", verified, plan(Change{Credential: cred, CACert: new("a CA"), InsecureSkipVerify: new(true)}), "https://isa CAtrue nil"},
	})
	kept := func(c Change) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			v, err := s.UpdateVIM(ctx, person, vimID, c)
			r := s.actor.asked
			return fmt.Sprint(r.Name, r.Type, r.Endpoint, r.CACert, r.InsecureSkipVerify, r.ServerName, r.Namespace, r.Scope.ProjectID, " ", !r.Credential.Empty(), " ",
				v.Current.Target.Vouched, " ", kindOf(err))
		}
	}
	vouched := func(s *stage) {
		is(s)
		s.v.Current.Target.CACert, s.v.Current.Target.InsecureSkipVerify, s.v.Current.Target.Vouched = "is", false, Vouched{SharedKinds: "a.b"}
	}
	outcomes(t, []result{
		{"another namespace", vouched, kept(Change{Namespace: new("other")}), "edgeahttps://isisfalseisotheris true {a.b } nil"},
		{"other kinds that are shared", vouched, kept(Change{SharedKinds: &[]string{"c.d"}}), "edgeahttps://isisfalseisisis true {c.d } nil"},
	})
	same := func(ctx context.Context, s *stage) string {
		is, err := s.SameTarget(ctx, person, vimID, text)
		return fmt.Sprint(is, " ", kindOf(err))
	}
	outcomes(t, []result{
		{"a kubeconfig that leads to the VIM", nil, same, "true nil"},
		{"one that leads elsewhere", func(s *stage) { s.v.Current.Target.Endpoint = "https://vim" }, same, "false nil"},
		{"one that the driver refuses", nil, func(ctx context.Context, s *stage) string {
			s.fails["Normalize"] = errStep
			return same(ctx, s)
		}, "false the step fails"},
		{"one for a VIM of a type that is not served", func(s *stage) { s.v.Type = "b" }, same, "false not supported type"},
		{"one for a VIM that cannot be read", nil, func(ctx context.Context, s *stage) string {
			s.fails["VIM"] = errStep
			return same(ctx, s)
		}, "false the step fails"},
	})
}

// An account that takes the place of another is told whose the credential was, where the VIM is a cluster.
func TestWhoseCredentialAnAccountReplaces(t *testing.T) {
	appoint := func(ctx context.Context, s *stage) string {
		c := Change{Credential: Credential{Kind: CredentialBearerToken, Token: secret.NewText(sent)}, Account: &Account{Name: "n", Profile: "engine"}}
		_, err := s.UpdateVIM(ctx, person, vimID, c)
		return fmt.Sprint(s.actor.wished, " ", kindOf(err))
	}
	outcomes(t, []result{
		{"of a cluster", func(s *stage) { s.v.Current.Discovered.Cluster = &Cluster{User: "u"} }, appoint, "{n engine u} nil"},
		{"of what is none", nil, appoint, "{n engine } nil"},
	})
}

// What another has taken over is left to it, at whatever step.
func TestWhatWasTakenOverIsLeft(t *testing.T) {
	mine := &Pending{Generation: 1}
	taken := func(s *stage) {
		v := s.tape.vims[vimID]
		v.Pending = &Pending{Generation: 7}
		s.tape.vims[vimID] = v
	}
	writing := func(s *stage) { s.v.Pending = mine }
	outcomes(t, []result{
		{"an update is undone", writing, func(ctx context.Context, s *stage) string {
			s.fails["UpdateVIM 1"] = errStep
			s.during["UpdateVIM 2"] = func() { taken(s) }
			s.Registry.undoUpdate(ctx, s.v, mine, must(s, policy.VIMUpdate).Failed("x"))
			return fmt.Sprint(s.tape.vims[vimID].Pending.Generation, len(s.tape.entries), s.logs("cannot be stored"))
		}, "7 0 true"},
		{"a write is cleared", writing, func(ctx context.Context, s *stage) string {
			s.during["KeysInUse"] = func() { taken(s) }
			err := s.Registry.clearPending(ctx, vimID, mine, must(s, policy.VIMUpdate).Failed("x"))
			return fmt.Sprint(errors.Is(err, errOvertaken), s.tape.vims[vimID].Pending.Generation, len(s.tape.entries))
		}, "true 7 0"},
		{"a registration ends", writing, func(ctx context.Context, s *stage) string {
			taken(s)
			before := map[secret.Ref]bool{}
			for ref := range s.stored.held {
				before[ref] = true
			}
			_, err := s.Registry.completeRegistration(ctx, s.actor, s.v, Credential{Token: secret.NewText(sent)}, Registration{}, must(s, policy.VIMRegister))
			left := 0
			for ref, key := range s.stored.held {
				if key.key != nil && !before[ref] {
					left++
				}
			}
			return fmt.Sprint(errors.Is(err, errOvertaken), s.tape.vims[vimID].Pending.Generation, ", keys left ", left)
		}, "true 7, keys left 0"},
		{"a registration ends that is gone", writing, func(ctx context.Context, s *stage) string {
			s.tape.vims = nil
			_, err := s.Registry.completeRegistration(ctx, s.actor, s.v, Credential{Token: secret.NewText(sent)}, Registration{}, must(s, policy.VIMRegister))
			return fmt.Sprint(errors.Is(err, errOvertaken))
		}, "true"},
		{"a key store is out", writing, func(ctx context.Context, s *stage) string {
			for _, k := range s.core.keyProbes {
				k.at, k.found = time.Now(), errStep
			}
			return fmt.Sprint(kindOf(s.Registry.settleVIM(ctx, s.v)), s.count("UpdateVIM"))
		}, "the step fails0"},
		{"a key store was not looked at", writing, func(ctx context.Context, s *stage) string {
			return fmt.Sprint(kindOf(s.Registry.settleVIM(ctx, s.v)), s.count("UpdateVIM"))
		}, "nil2"},
		{"a key store is well", writing, func(ctx context.Context, s *stage) string {
			for _, k := range s.core.keyProbes {
				k.at = time.Now()
			}
			return fmt.Sprint(kindOf(s.Registry.settleVIM(ctx, s.v)), s.count("UpdateVIM"))
		}, "nil2"},
	})
}
