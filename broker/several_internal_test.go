package broker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/clock"
)

// Of several key stores each counts, wherever it stands: what is ready, what is told of each, and whether an abandoned write is settled.
func TestEachKeyStoreCounts(t *testing.T) {
	broken := errors.New("sealed")
	stores := func(fails ...error) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.core.keyProbes = nil
			for n, err := range fails {
				s.core.keyProbes = append(s.core.keyProbes, &probe{
					name: fmt.Sprint("k", n+1), ask: func(context.Context) error { return err }, every: lookAtKeysEvery, clock: time.Now,
				})
			}
			s.Oversight.storeProbe.ask = func(context.Context) error { return nil }
			s.Probe(ctx)
			parts, err := s.Ready()
			if err != nil {
				return err.Error()
			}
			known := s.Vitals(ctx).KeyStores
			settled := s.Registry.settleVIM(ctx, s.v)
			return fmt.Sprint(parts[2].Fault, ", ", known, ", ", settled, ", ", s.tape.vims[vimID].Pending == nil)
		}
	}
	writing := func(s *stage) { s.v.Pending = &Pending{Generation: 2} }
	outcomes(t, []result{
		{"both can be used", writing, stores(nil, nil), ", map[k1:true k2:true], <nil>, true"},
		{"the first cannot", writing, stores(broken, nil), "the key store k1 cannot be used, map[k1:false k2:true], sealed, false"},
		{"the second cannot", writing, stores(nil, broken), "the key store k2 cannot be used, map[k1:true k2:false], sealed, false"},
		{"neither can", writing, stores(broken, broken), "the key store k1 cannot be used, map[k1:false k2:false], sealed, false"},
	})
}

// One of several that fails keeps none of the others.
func TestOneOfSeveralKeepsNoOther(t *testing.T) {
	retired := func(stores ...string) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			for n, store := range stores {
				s.tape.retired = append(s.tape.retired, RetiredKey{KeyStore: store, Ref: secret.Ref(fmt.Sprint("old ", n)), Owner: secret.Owner{ID: vimID}})
			}
			err := s.core.destroyRetired(ctx)
			return fmt.Sprint(s.count("ForgetKey"), " ", kindOf(err))
		}
	}
	// Of two VIMs with a write that was abandoned, and with a grant to tidy, the first by its id.
	const other = "0c0a7f9e-3c0e-4a54-9a0c-0d6a2c9f7b33"
	two := func(ctx context.Context, s *stage, change func(*VIM)) {
		v := s.v
		v.ID, v.Name = other, "other"
		if err := s.seal(ctx, v, &v.Current, SealedCurrent); err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(&v)
		}
		s.tape.vims[other] = v
	}
	writing := func(s *stage) { s.v.Pending = &Pending{Generation: 2, Since: s.clock.Now().Add(-time.Hour)} }
	settle := func(steps ...string) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			two(ctx, s, nil)
			for _, step := range steps {
				s.fails[step] = errStep
			}
			err := s.Registry.settleVIMs(ctx, s.clock.Now())
			return fmt.Sprint(s.tape.vims[other].Pending == nil, " ", s.tape.vims[vimID].Pending == nil, " ", err)
		}
	}
	tidy := func(grants ...GrantEpoch) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			two(ctx, s, func(v *VIM) { v.Type = "b" }) // which nobody serves
			s.tape.grants = grants
			err := s.tidyGrants(ctx)
			failed := 0
			if err != nil {
				failed = strings.Count(err.Error(), "are not supported") + strings.Count(err.Error(), "step fails")
			}
			return fmt.Sprint(s.count("Tidy"), " ", failed, " ", s.logs("cannot be read"))
		}
	}
	grant := func(vim string, damaged bool) GrantEpoch { return GrantEpoch{VIM: vim, Epoch: 1, Damaged: damaged} }
	outcomes(t, []result{
		{"two retired keys", nil, retired("memory", "memory"), "2 nil"},
		{"the first retired key is elsewhere", nil, retired("vault", "memory"), "1 temporarily unavailable keyStore"},
		{"the second retired key is elsewhere", nil, retired("memory", "vault"), "1 temporarily unavailable keyStore"},
		{"two abandoned writes", writing, settle(), "true true <nil>"},
		{"the first abandoned write stays", writing, settle("UpdateVIM 1"), "false true the step fails"},
		{"the second abandoned write stays", writing, settle("UpdateVIM 3"), "true false the step fails"},
		{"the first grant cannot be read", nil, tidy(grant(vimID, true), grant(vimID, false)), "1 0 true"},
		{"the second grant cannot be read", nil, tidy(grant(vimID, false), grant(vimID, true)), "1 0 true"},
		{"a VIM that is damaged is among those of a list", nil, func(ctx context.Context, s *stage) string {
			two(ctx, s, func(v *VIM) { v.Damaged = true })
			all, _, err := s.VIMs(ctx, person, VIMQuery{})
			return fmt.Sprint(len(all), " ", err)
		}, "1 <nil>"},
	})
	for want, fails := range map[string]error{"1 1 false": nil, "1 2 false": errStep} { // side by side, so that steps have no order
		s := newStage(t)
		s.put()
		s.fails["Tidy"] = fails
		if got := tidy(grant(other, false), grant(vimID, false))(t.Context(), s); got != want {
			t.Errorf("grants of two VIMs, of which one is not served: %s, want %s", got, want)
		}
	}
}

// To those of another project who may not change a VIM it is shown as shared with their own project alone, however it is shared,
// and wherever it is shown. Leases on it are counted for its own project.
func TestWithWhomAVIMIsShared(t *testing.T) {
	shared := func(project string, all bool, with ...string) func(*stage) {
		return func(s *stage) { s.v.Project, s.v.Shared, s.v.SharedWith = project, all, with }
	}
	seen := func(update bool) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.denies[policy.VIMUpdate] = !update
			one, err := s.VIM(ctx, person, vimID)
			all, _, listErr := s.VIMs(ctx, person, VIMQuery{})
			if err != nil || listErr != nil || len(all) != 1 {
				return fmt.Sprint(err, listErr, len(all))
			}
			s.Registry.core.guard.Policy = deciding(func(r policy.Request) policy.Decision {
				return policy.Decision{Allowed: r.Resource.Project != anyProject}
			})
			counts, err := s.LiveOn(ctx, person, []VIM{s.v})
			return fmt.Sprint(one.SharedWith, all[0].SharedWith, " ", len(counts), " ", err)
		}
	}
	outcomes(t, []result{
		{"one's own", shared("p", false, "q", "r"), seen(false), "[q r] [q r] 1 <nil>"},
		{"one's own, with all besides", shared("p", true, "q", "r"), seen(false), "[q r] [q r] 1 <nil>"},
		{"another's", shared("q", false, "p", "r"), seen(false), "[p] [p] 0 <nil>"},
		{"another's, with all besides", shared("q", true, "p", "r"), seen(false), "[p] [p] 0 <nil>"},
		{"another's, with all, and with others besides", shared("q", true, "r"), seen(false), "[] [] 0 <nil>"},
		{"another's, to who may change it", shared("q", true, "p", "r"), seen(true), "[p r] [p r] 0 <nil>"},
	})
}

// A generation that is still sealed as the current one is sealed anew, whichever of the earlier ones it is.
func TestAnyEarlierGenerationIsSealedOtherwise(t *testing.T) {
	for _, c := range []struct {
		past []SealedAs
		want bool
	}{
		{nil, false},
		{[]SealedAs{SealedPast}, false},
		{[]SealedAs{SealedCurrent}, true},
		{[]SealedAs{""}, true},
		{[]SealedAs{SealedPast, SealedCurrent}, true},
		{[]SealedAs{SealedCurrent, SealedPast}, true},
		{[]SealedAs{SealedPast, SealedPast}, false},
	} {
		v := VIM{Current: Generation{SealedAs: SealedCurrent}}
		for _, as := range c.past {
			v.Past = append(v.Past, Generation{SealedAs: as})
		}
		if got := v.sealedOtherwise(); got != c.want {
			t.Errorf("with earlier ones sealed as %q: %v", c.past, got)
		}
	}
}

// What was there of a lease before its revocation goes on counting: why it is to end, how often it was tried, what was wrong, and
// what was left behind.
func TestWhatCameBeforeARevocationCounts(t *testing.T) {
	begin := func(state LeaseState, was, why Reason) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.l.State, s.l.Reason, s.l.Attempts, s.l.LastError, s.l.IdempotencyKey = state, was, 9, "before", "key"
			s.l.NextAttemptAt = s.clock.Now()
			s.tape.leases[leaseID] = s.l
			l, mine, err := s.beginRevocation(ctx, s.l, why, must(s, policy.LeaseRevoke), time.Minute)
			return fmt.Sprint(l.State, " ", l.Reason, " ", l.Attempts, l.LastError, " ", l.IdempotencyKey != "", " ", mine, " ", err)
		}
	}
	back := func(attempts int, last string, fails error) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.l.State, s.l.Attempts, s.l.LastError = LeaseRevoking, attempts, last
			s.tape.leases[leaseID] = s.l
			s.fails["Revoke"] = fails
			in := s.newSession(vimID)
			defer in.close()
			_, err := s.takeBack(ctx, in, s.l, must(s, policy.LeaseRevoke))
			now := s.row()
			return fmt.Sprint(now.State, " ", now.Attempts, ", ", now.LastError, ", waits ", now.NextAttemptAt.After(s.clock.Now()), ", conflicts ",
				s.counters.alarms[AlarmConflict], ", given up ", s.counters.alarms[AlarmGivenUp], ", ", kindOf(err))
		}
	}
	left := func(before []string, now ...string) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.l.State, s.l.LeftBehind = LeaseRevoking, before
			s.tape.leases[leaseID] = s.l
			l, err := s.finishRevocation(ctx, s.l, now, must(s, policy.LeaseRevoke))
			return fmt.Sprintf("%q %q %v", l.LeftBehind, s.tape.entries[0].Detail[audit.DetailLeft], err)
		}
	}
	most := DefaultTerms().GiveUpAfter
	conflict, again := &Error{Kind: ErrConflict, Detail: "changed"}, "changed"
	outcomes(t, []result{
		{"begun", nil, begin(LeaseActive, "", ReasonExpired), "revoking expired 9before true true <nil>"},
		{"begun for another reason before", nil, begin(LeaseActive, ReasonRequested, ReasonExpired), "revoking requested 9before true true <nil>"},
		{"begun, of one that was resumed and never issued", nil, begin(LeasePending, ReasonRequested, ReasonAbandoned), "revoking requested 9before false true <nil>"},
		{"begun, of one that was never issued", nil, begin(LeasePending, "", ReasonAbandoned), "revoking abandoned 9before false true <nil>"},
		{"begun once more", nil, begin(LeaseRevoking, ReasonExpired, ReasonRequested), "revoking expired 9before true true <nil>"},
		{"begun, of one that was given up", nil, begin(LeaseIrrevocable, ReasonExpired, ReasonRequested), "revoking expired 0 true true <nil>"},
		{"a conflict", nil, back(0, "", conflict), "revoking 1, changed, waits true, conflicts 1, given up 0, conflict"},
		{"the same conflict again", nil, back(1, again, conflict), "revoking 2, changed, waits true, conflicts 0, given up 0, conflict"},
		{"a conflict after another failure", nil, back(1, "away", conflict), "revoking 2, changed, waits true, conflicts 1, given up 0, conflict"},
		{"not asked, at first", nil, back(0, "", &Error{Kind: ErrUnavailable}), "revoking 0, temporarily unavailable, waits false, conflicts 0, given up 0, temporarily unavailable"},
		{
			"not asked, after failures", nil, back(most-1, "away", &Error{Kind: ErrUnavailable}),
			fmt.Sprint("revoking ", most-1, ", temporarily unavailable, waits false, conflicts 0, given up 0, temporarily unavailable"),
		},
		{"no answer, for the last time", nil, back(most-1, "away", &Error{Kind: ErrUnreachable}), fmt.Sprint("irrevocable ", most-1, ", VIM unreachable, waits false, conflicts 0, given up 1, VIM unreachable")},
		{"no answer, for the last time but one", nil, back(most-2, "away", &Error{Kind: ErrUnreachable}), fmt.Sprint("revoking ", most-1, ", VIM unreachable, waits true, conflicts 0, given up 0, VIM unreachable")},
		{"nothing is left", nil, left(nil), `[] "" <nil>`},
		{"something is left", nil, left(nil, "a key", "a trust"), `["a key" "a trust"] "a key; a trust" <nil>`},
		{"something was said before", nil, left([]string{"a user"}), `["a user"] "" <nil>`},
		{"something was said before, and something is left", nil, left([]string{"a user"}, "a key"), `["a user" "a key"] "a key" <nil>`},
	})
}

// Why a lease has ended says whether another may take its place; where it was never handed out, only if it followed one itself.
func TestWhichReasonLeavesAPlace(t *testing.T) {
	for reason, c := range map[Reason]struct{ first, follows bool }{
		"": {true, true}, ReasonExpired: {true, true}, ReasonRequested: {true, true}, ReasonVIMDeleted: {true, true}, ReasonIssueFailed: {false, true},
		ReasonAbandoned: {false, true}, ReasonAuditFailed: {false, true}, ReasonGoneUpstream: {true, true}, ReasonAccessLost: {true, true},
		ReasonSystemGone: {true, true}, ReasonOperationEnded: {false, false},
	} {
		l := Lease{ID: "second", Login: "second", TokenTTL: 1, Instance: "i", SecretSHA256: "sum", State: LeaseRevoked, Reason: reason}
		if got := l.replaceable(); got != c.first {
			t.Errorf("ended because of %q: %v", reason, got)
		}
		l.Login = "first"
		if got := l.replaceable(); got != c.follows {
			t.Errorf("that followed, ended because of %q: %v", reason, got)
		}
		for what, lacks := range map[string]Lease{"an instance": {Instance: "-"}, "a secret": {SecretSHA256: "-"}, "the form": {TokenTTL: 1}} {
			without := l
			if lacks.Instance != "" {
				without.Instance = ""
			}
			if lacks.SecretSHA256 != "" {
				without.SecretSHA256 = ""
			}
			if lacks.TokenTTL != 0 {
				without.TokenTTL = 0
			}
			if without.replaceable() {
				t.Errorf("without %s, ended because of %q, a lease leaves a place", what, reason)
			}
		}
	}
}

// What takes the place of a lease is what that was, and no wider: else it is not issued.
func TestWhatTakesThePlaceIsAsTheOneBefore(t *testing.T) {
	again := func(grade Grade) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.actor.grade = grade
			l, err := s.standsAgain(ctx, policy.Principal{Name: s.l.Principal, Project: "p"}, s.l, "vbl_secret")
			return fmt.Sprintf("%v, %s %s %s %s %v, %v %s, %s", l.ID != leaseID, l.Purpose, l.Operation, l.Instance, l.For, l.TokenTTL,
				l.Login == leaseID, l.SecretSHA256, kindOf(err))
		}
	}
	over := func(s *stage) {
		standing(s)
		s.actor.is.Standing = true
		s.core.drivers["a"], s.core.directories = s.actor, map[string]policy.Directory{policy.ByClient: nobody{}}
		s.l.State, s.l.Reason, s.l.Grade = LeaseRevoked, ReasonExpired, GradeNamespaces
		s.l.Role, s.l.Namespaces, s.l.Purpose, s.l.Operation, s.l.For, s.l.Format = "edit", []string{"a", "b"}, "why", "op", "bob", s.actor.is.Formats[0]
	}
	outcomes(t, []result{
		{"as it was", over, again(GradeNamespaces), "true, why op i bob 1m0s, true sum, nil"},
		{"narrower", over, again(GradeBounded), "true, why op i bob 1m0s, true sum, nil"},
		{"wider", over, again(GradeUnbounded), "true,     0s, false , denied"},
	})
}

// A VIM that is down rests for as long as one whose work has failed, and is no failure of the pass.
func TestAVIMThatIsDownRests(t *testing.T) {
	for what, c := range map[string]struct {
		ends  error
		fails bool
		want  int
	}{"down": {errDown, false, 2}, "failing": {errStep, true, 2}, "well": {nil, false, 4}} {
		synctest.Test(t, func(t *testing.T) {
			const every, rest = 5 * time.Second, 12 * time.Second
			b := &core{terms: Terms{ReapEvery: every}, now: time.Now}
			p, answer, over, n := &passOver{listed: []string{"hangs", "one"}}, make(chan struct{}), make(chan error), 0
			q := newFairQueue(3, 3)
			q.rest = rest
			go func() {
				over <- b.inTurn(t.Context(), q, p.list, func(_ context.Context, vim string) (bool, error) {
					if vim == "hangs" {
						<-answer
						return false, nil
					}
					n++
					return true, c.ends
				})
			}()
			time.Sleep(3*every + 1) // four looks
			synctest.Wait()
			if n != c.want {
				t.Errorf("one that is %s is worked on %d times, want %d", what, n, c.want)
			}
			p.set()
			close(answer)
			if err := <-over; (err != nil) != c.fails {
				t.Errorf("one that is %s: inTurn() = %v", what, err)
			}
		})
	}
}

// A change of where the credential is sent needs the credential, also where a value is taken away.
func TestTakingAValueAwayNeedsTheCredential(t *testing.T) {
	here := Target{Endpoint: "https://here", CACert: "ca", ServerName: "name", InsecureSkipVerify: true, Scope: Scope{Region: "r", ProjectID: "p"}}
	for field, all := range map[string][]Change{
		"endpoint":           {{Endpoint: new("")}, {Endpoint: new("https://HERE")}},
		"caCert":             {{CACert: new("")}, {CACert: new("ca2")}},
		"serverName":         {{ServerName: new("")}, {ServerName: new("name2")}},
		"insecureSkipVerify": {{InsecureSkipVerify: new(false)}},
		"scope":              {{Scope: &Scope{}}, {Scope: &Scope{Region: "r"}}, {Scope: &Scope{ProjectID: "p"}}, {Scope: &Scope{Region: "r", ProjectID: "q"}}},
	} {
		for n, c := range all {
			err, _ := errors.AsType[*Error](c.leavesDestination(here))
			if err == nil || err.Field != "credential" || !strings.HasPrefix(err.Detail, "changing "+field+" ") {
				t.Errorf("%s, change %d: %v", field, n, err)
			}
		}
	}
}

// Two targets are one server only where all is the same, whichever of the two lacks a value.
func TestOneServerLacksNothing(t *testing.T) {
	here := Target{Endpoint: "https://here", CACert: "ca", ServerName: "name"}
	for field, lacks := range map[string]func(*Target){
		"endpoint": func(t *Target) { t.Endpoint = "" }, "caCert": func(t *Target) { t.CACert = "" }, "serverName": func(t *Target) { t.ServerName = "" },
		"verification": func(t *Target) { t.InsecureSkipVerify = true },
	} {
		there := here
		if lacks(&there); here.sameServer(there) || there.sameServer(here) {
			t.Errorf("one without %s is the same server", field)
		}
		moved := VIM{Current: Generation{Target: there}}.movedFrom(Generation{Target: here}, &Error{Kind: ErrUnreachable})
		back := VIM{Current: Generation{Target: here}}.movedFrom(Generation{Target: there}, &Error{Kind: ErrUnreachable})
		if !moved || !back {
			t.Errorf("one without %s is moved from: %v, and to: %v", field, moved, back)
		}
	}
}

// Labels are set, replaced and removed by one change, and the others stay; the row before keeps its own.
func TestSeveralLabelsChangeAtOnce(t *testing.T) {
	before := map[string]string{"stays": "1", "goes": "1", "goes-too": "1", "other": "1"}
	v := VIM{Labels: before}
	Change{Labels: map[string]*string{"goes": nil, "goes-too": nil, "other": new("2"), "fresh": new(""), "never": nil}}.apply(&v)
	if want := map[string]string{"stays": "1", "other": "2", "fresh": ""}; !maps.Equal(v.Labels, want) || len(before) != 4 {
		t.Errorf("the labels are %v, want %v; before they were %v", v.Labels, want, before)
	}
	v = VIM{}
	if (Change{Labels: map[string]*string{"a": new("1"), "b": nil}}).apply(&v); !maps.Equal(v.Labels, map[string]string{"a": "1"}) {
		t.Errorf("the first labels are %v", v.Labels)
	}
}

// Nobody but a part of the broker sets, changes or removes a label that ties a VIM, beside others or alone.
func TestEachLabelThatTiesAVIM(t *testing.T) {
	all := []string{
		"vimbroker.io/inline", "vimbroker.io/vnf-instance", "vimbroker.io/vim-connection", "vimbroker.io/cluster", "vimbroker.io/management-cluster",
		"vimbroker.io/cluster-namespace", "vimbroker.io/cluster-name", "vimbroker.io/cluster-gone",
	}
	for _, key := range all {
		for what, to := range map[string]*string{"set": new("x"), "emptied": new(""), "removed": nil} {
			c := Change{Labels: map[string]*string{"site": new("here"), key: to}}
			for _, roles := range [][]string{nil, {policy.RoleAdmin}, {policy.RoleProjectAdmin, policy.RoleMember}} {
				err, _ := errors.AsType[*Error](c.tied(policy.Principal{Roles: roles}))
				if err == nil || !errors.Is(err, ErrDenied) || err.Field != "labels."+key {
					t.Errorf("%s is %s by %q: %v", key, what, roles, err)
				}
			}
			if err := c.tied(policy.Principal{Roles: []string{policy.RoleMember, policy.RoleSystem}}); err != nil {
				t.Errorf("%s is %s by a part of the broker: %v", key, what, err)
			}
		}
	}
	if err := (Change{Labels: map[string]*string{"vimbroker.io/hub": new("x"), "site": nil}}).tied(person); err != nil {
		t.Errorf("labels that tie nothing: %v", err)
	}
}

// A pass is told as failing until it has succeeded, or has not run for twice its time, however often it failed.
func TestHowLongAPassIsFailing(t *testing.T) {
	at := clock.New(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	var fails error
	c := &counters{passes: map[string]PassRecord{}}
	p := c.watched(Pass{Name: "reap", Every: time.Minute, Run: func(context.Context) error { return fails }}, at.Now)
	c.watched(Pass{Name: "other", Every: time.Minute, Run: p.Run}, at.Now)
	run := func(err error, failures int, failing bool) {
		t.Helper()
		fails = err
		at.Add(time.Minute)
		if got := p.Run(t.Context()); !errors.Is(got, err) {
			t.Errorf("it says %v", got)
		}
		told := c.failing(at.Now())
		if is := c.passes["reap"]; is.Failures != failures || (len(told) == 1) != failing || is.FailedAt.Equal(at.Now()) != failing || is.LastSuccess.Equal(at.Now()) == failing {
			t.Errorf("after %v it is %+v, and failing are %q", err, is, told)
		}
	}
	run(nil, 0, false)
	run(errStep, 1, true)
	run(errStep, 2, true)
	run(errStep, 3, true)
	at.Add(2*time.Minute - 1)
	if got := c.failing(at.Now()); len(got) != 1 {
		t.Errorf("at the last moment failing are %q", got)
	}
	at.Add(1)
	if got := c.failing(at.Now()); len(got) != 0 {
		t.Errorf("after twice its time failing are %q", got)
	}
	run(nil, 3, false)
}

// Each duration is counted under each bound that it does not exceed, and in count and sum also where it exceeds all.
func TestALagCountsAll(t *testing.T) {
	last := LagBounds[len(LagBounds)-1]
	for d, want := range map[time.Duration][2]int{ // the first bucket, and the last
		-time.Second: {1, 1}, 0: {1, 1}, time.Second: {1, 1}, time.Second + 1: {0, 1}, last: {0, 1}, last + 1: {0, 0}, 1000 * time.Hour: {0, 0},
	} {
		var l Lag
		l.Add(d)
		l.Add(d)
		if l.Count != 2 || l.Sum != 2*max(d, 0) || l.Buckets[0] != 2*want[0] || l.Buckets[len(LagBounds)-1] != 2*want[1] {
			t.Errorf("%v, twice: %+v", d, l)
		}
	}
}

// Pages are walked to the last, also over one that holds few or nothing while there is a next; an error ends the walk.
func TestPagesAreWalkedToTheLast(t *testing.T) {
	type answer struct {
		found []string
		next  string
		err   error
	}
	for what, c := range map[string]struct {
		pages []answer
		stop  int // after so many; 0: never
		size  int
		want  string
	}{
		"none":            {[]answer{{}}, 0, 0, "[] <nil> asked 1000:"},
		"one":             {[]answer{{found: []string{"a"}}}, 0, 0, "[a] <nil> asked 1000:"},
		"of a size":       {[]answer{{found: []string{"a"}}}, 0, 7, "[a] <nil> asked 7:"},
		"few, then more":  {[]answer{{found: []string{"a"}, next: "x"}, {found: []string{"b"}}}, 0, 2, "[a b] <nil> asked 2: 2:x"},
		"empty, and more": {[]answer{{next: "x"}, {next: "y"}, {found: []string{"c"}}}, 0, 2, "[c] <nil> asked 2: 2:x 2:y"},
		"one fails":       {[]answer{{found: []string{"a"}, next: "x"}, {found: []string{"b"}, next: "y", err: errStep}}, 0, 2, "[a] the step fails asked 2: 2:x"},
		"who stops":       {[]answer{{found: []string{"a", "b"}, next: "x"}, {found: []string{"c"}}}, 1, 2, "[a] <nil> asked 2:"},
	} {
		page, asked := Page{Size: c.size}, []string{}
		var got []string
		var failed error
		for one, err := range Pages(&page, func() ([]string, string, error) {
			asked = append(asked, fmt.Sprint(page.Size, ":", page.Token))
			is := c.pages[len(asked)-1]
			return is.found, is.next, is.err
		}) {
			if err != nil {
				failed = err
				continue
			}
			if got = append(got, one); len(got) == c.stop {
				break
			}
		}
		if is := fmt.Sprint(got, " ", failed, " asked ", strings.Join(asked, " ")); is != c.want {
			t.Errorf("%s: %s, want %s", what, is, c.want)
		}
	}
}

// A secret is looked for in all of an answer that is kept.
func TestAnEchoAnywhereInAReport(t *testing.T) {
	secretText := strings.Repeat("s", 20)
	c := Credential{Token: secret.NewText(secretText)}
	for field, r := range map[string]Report{
		"identity": {Identity: "x" + secretText}, "version": {Version: secretText}, "what it cannot mint": {MintMessage: "no " + secretText},
		"regions": {Discovered: Discovered{Regions: []string{"a", secretText}}}, "user": {Discovered: Discovered{Cluster: &Cluster{User: secretText}}},
		"warnings": {Discovered: Discovered{Cloud: &Cloud{Warnings: []string{"a", secretText}}}},
	} {
		if err := echoes(c, r.texts()...); !errors.Is(err, ErrUnreachable) {
			t.Errorf("a credential in the %s of a report: %v", field, err)
		}
	}
	if err := echoes(c, Report{Identity: "x", Version: "v1", MintMessage: "no"}.texts()...); err != nil {
		t.Errorf("a report without it: %v", err)
	}
}

// Keys of the VIM's other generations stay where what a write has left is swept, and where it is undone.
func TestASweepLeavesTheKeysInUse(t *testing.T) {
	outcomes(t, []result{{"after a write of the third", nil, func(ctx context.Context, s *stage) string {
		v := s.tape.vims[vimID]
		past, fresh := Generation{Number: 1}, Generation{Number: 3}
		v.Current.Number, v.Pending = 2, &Pending{Generation: 3}
		if err := errors.Join(s.seal(ctx, v, &past, SealedPast), s.seal(ctx, v, &fresh, SealedCurrent)); err != nil {
			t.Fatal(err)
		}
		v.Past = []Generation{past}
		s.tape.vims[vimID] = v
		err := s.Registry.clearPending(ctx, vimID, v.Pending, audit.Entry{})
		there := func(g Generation) bool { return s.stored.held[g.Key].key != nil }
		return fmt.Sprint(there(v.Current), there(past), there(fresh), " ", s.tape.vims[vimID].Pending == nil, " ", err)
	}, "true true false true <nil>"}})
}

// A list asks the store for all that its query names, and the projects are those that the caller may see.
func TestWhatAListAsksFor(t *testing.T) {
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	vims := VIMQuery{
		IDPrefix: "AB", Identity: "uid", Type: "a", Name: "edge", State: VIMRegistered, Status: HealthUnreachable, EndsBefore: at,
		Labels: map[string]string{"site": "x"}, Page: Page{Size: 7, Token: "token"},
	}
	leases := LeaseQuery{
		IDPrefix: "AB", VIM: "edge", Principal: "alice", Operation: "op", Instance: "i", For: "bob", State: LeaseRevoking, Page: Page{Size: 7, Token: "token"},
	}
	ask := func(all bool) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			for _, c := range []*core{s.Registry.core, s.Leaser.core} {
				c.guard.Policy = deciding(func(r policy.Request) policy.Decision {
					return policy.Decision{Allowed: all || r.Resource.Project != anyProject}
				})
			}
			_, _, err := s.VIMs(ctx, person, vims)
			_, _, leasesErr := s.Leases(ctx, person, leases)
			return kindOf(err) + ", " + kindOf(leasesErr)
		}
	}
	outcomes(t, []result{{"of all projects", nil, ask(true), "nil, nil"}, {"of one", nil, ask(false), "nil, nil"}})
}

// Leases in each state that is no end are ended with what they are for, and with their VIM.
func TestWhichStatesAreEnded(t *testing.T) {
	end := func(do func(context.Context, *stage) error) func(state LeaseState) func(context.Context, *stage) string {
		return func(state LeaseState) func(context.Context, *stage) string {
			return func(ctx context.Context, s *stage) string {
				l := s.l
				l.State, l.CreatedAt = state, s.clock.Now().Add(-time.Hour)
				s.tape.leases[leaseID] = l
				live, err := s.hasLive(ctx, vimID)
				done := do(ctx, s)
				return fmt.Sprint(live, err, " ", s.row().State, " ", kindOf(done))
			}
		}
	}
	revoke := end(func(ctx context.Context, s *stage) error {
		_, err := s.RevokeLeases(ctx, person, LeaseSelector{Operation: "op"})
		return err
	})
	ends := end(func(ctx context.Context, s *stage) error {
		return s.EndLeases(ctx, person, LeaseSelector{Operation: "op"})
	})
	drain := end(func(ctx context.Context, s *stage) error { return s.revokeAll(ctx, s.v, false) })
	force := end(func(ctx context.Context, s *stage) error { return s.revokeAll(ctx, s.v, true) })
	outcomes(t, []result{
		{"revoked, pending", nil, revoke(LeasePending), "true <nil> revoked nil"},
		{"revoked, active", nil, revoke(LeaseActive), "true <nil> revoked nil"},
		{"revoked, revoking", nil, revoke(LeaseRevoking), "true <nil> revoked nil"},
		{"revoked, given up", nil, revoke(LeaseIrrevocable), "true <nil> revoked nil"},
		{"revoked, ended", nil, revoke(LeaseRevoked), "false <nil> revoked nil"},
		{"with an operation, pending", nil, ends(LeasePending), "true <nil> revoking nil"},
		{"with an operation, active", nil, ends(LeaseActive), "true <nil> revoking nil"},
		{"with an operation, given up", nil, ends(LeaseIrrevocable), "true <nil> revoking nil"},
		{"with their VIM, pending", nil, drain(LeasePending), "true <nil> revoked nil"},
		{"with their VIM, active", nil, drain(LeaseActive), "true <nil> revoked nil"},
		{"with their VIM, revoking", nil, drain(LeaseRevoking), "true <nil> revoked nil"},
		{"with their VIM, given up", nil, drain(LeaseIrrevocable), "true <nil> irrevocable conflict"},
		{"with their VIM by force, given up", nil, force(LeaseIrrevocable), "true <nil> irrevocable nil"},
	})
}

// A renewed lease says what its holder can become now, and until when what he was given works; the row keeps the grade of its issue.
func TestWhatARenewalAnswers(t *testing.T) {
	renew := func(given, ttl time.Duration) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			s.actor.grade, s.actor.reasons, s.actor.minted.ExpiresAt = GradeNamespaces, []string{"of now"}, s.clock.Now().Add(given)
			l, config, err := s.RenewLease(ctx, person, leaseID, ttl)
			return fmt.Sprint(l.Grade, l.GradeReasons, " ", l.ExpiresAt.Sub(s.clock.Now()), " ", config.ExpiresAt.Sub(s.clock.Now()), " ", s.row().Grade, s.row().GradeReasons,
				" ", s.row().MaxRevocationLag, " ", kindOf(err))
		}
	}
	graded := func(s *stage) {
		s.l.Grade, s.l.GradeReasons, s.l.MaxRevocationLag = GradeBounded, []string{"of then"}, time.Minute
	}
	outcomes(t, []result{
		{"for as long as it is asked", graded, renew(2*time.Hour, 2*time.Hour), "namespaces[of now] 2h0m0s 2h0m0s bounded[of then] 1m0s nil"},
		{"for less than it has", graded, renew(time.Minute, time.Minute), "namespaces[of now] 1h0m0s 1m0s bounded[of then] 1m0s nil"},
		{"for less than it is asked", graded, renew(90*time.Minute, 2*time.Hour), "namespaces[of now] 1h30m0s 1h30m0s bounded[of then] 1m0s nil"},
	})
}

// asker is a keeper that notes which key store it is asked for.
type asker struct{ asked *[]string }

func (k asker) RekeySecretParameters(_ context.Context, vim, keyStore string) error {
	*k.asked = append(*k.asked, vim+" "+keyStore)
	return nil
}

func (k asker) SecretParametersElsewhere(_ context.Context, _, keyStore string) (int, error) {
	*k.asked = append(*k.asked, "elsewhere than "+keyStore)
	return 2, nil
}

// What belongs to a VIM is sealed anew where the VIM is; the pass that seals anew leaves it in the key store where it is.
func TestWhereAVIMIsSealedAnew(t *testing.T) {
	rekey := func(to string) func(context.Context, *stage) string {
		return func(ctx context.Context, s *stage) string {
			var asked []string
			s.AddKeeper(asker{&asked})
			s.AddKeeper(asker{&asked})
			other := &keysInMemory{steps: s.steps, held: map[secret.Ref]held{}, name: "other"}
			s.core.keys = append(s.core.keys[:1:1], other)
			v, err := s.RekeyVIM(ctx, person, vimID, to, 0)
			all, _, statusErr := s.KeyStatuses(ctx, person, VIMQuery{}, true)
			if statusErr != nil || len(all) != 1 || all[0].Opens == nil || !*all[0].Opens {
				return fmt.Sprint(all, statusErr)
			}
			return fmt.Sprint(v.Current.KeyStore, " ", strings.ReplaceAll(strings.Join(asked, ", "), vimID, "vim"), ", ", all[0].Elsewhere, " ", kindOf(err))
		}
	}
	outcomes(t, []result{
		{"where new keys are", nil, rekey(""), "memory vim , vim , elsewhere than memory, elsewhere than memory, 4 nil"},
		{"where it is", nil, rekey("memory"), "memory vim memory, vim memory, elsewhere than memory, elsewhere than memory, 4 nil"},
		{"elsewhere", nil, rekey("other"), "other vim other, vim other, elsewhere than other, elsewhere than other, 4 nil"},
		{"whether it opens, while its key store is away", nil, func(ctx context.Context, s *stage) string {
			s.stored.fails = errStep
			all, _, err := s.KeyStatuses(ctx, person, VIMQuery{}, true)
			return fmt.Sprint(all[0].Opens == nil, " ", all[0].Message != "", " ", err)
		}, "true true <nil>"},
		{"a lease whose credential does not open any more", nil, func(ctx context.Context, s *stage) string {
			l := s.l
			l.Sealed = "spoilt"
			s.tape.leases[leaseID] = l
			_, err := s.RekeyVIM(ctx, person, vimID, "", 0)
			return fmt.Sprint(s.row().Sealed == "", " ", s.row().SealedKey == "", " ", kindOf(err))
		}, "true true nil"},
		{"by the pass, while new keys are elsewhere", func(s *stage) {
			s.v.Past, s.v.Current.Number = []Generation{s.v.Current}, 2
			s.l.VIMGeneration = 2
		}, func(ctx context.Context, s *stage) string {
			other := &keysInMemory{steps: s.steps, held: map[secret.Ref]held{}, name: "other"}
			s.core.keys = append(keyring.Ring{other}, s.core.keys...)
			err := s.sealVIMAnew(ctx, s.tape.vims[vimID])
			return fmt.Sprint(s.tape.vims[vimID].Current.KeyStore, " ", len(other.held), " ", kindOf(err))
		}, "memory 0 nil"},
	})
}
