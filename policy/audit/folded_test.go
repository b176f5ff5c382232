package audit_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// interrupted is a sink that does not take the entry of one number, and while another is being written something happens.
type interrupted struct {
	sink
	asked, fails, at int
	meanwhile        func()
}

func (s *interrupted) Append(ctx context.Context, e audit.Entry) error {
	s.asked++
	n := s.asked
	if n == s.at && s.meanwhile != nil {
		s.meanwhile()
	}
	if n == s.fails {
		return errors.New("full")
	}
	return s.sink.Append(ctx, e)
}

// told counts what the entries stand for.
func (s *interrupted) told(t *testing.T) (n int) {
	t.Helper()
	for _, e := range s.entries {
		repeats, err := strconv.Atoi(cmp.Or(e.Detail[audit.DetailRepeats], "0"))
		if err != nil {
			t.Fatal(err)
		}
		n += 1 + repeats
	}
	return n
}

// Each refusal has an entry or is counted by one, whichever entry cannot be written, and whatever is refused meanwhile.
func TestNoRefusalIsLostOrToldTwice(t *testing.T) {
	for fails := range 12 { // 0 is none
		for at := range 12 {
			now, f, refused := clock.New(noon), audit.NewFolds(), 0
			s := &interrupted{fails: fails, at: at}
			refuse := func(about string, times int) {
				for range times {
					e := audit.Entry{Time: now.Now(), Action: policy.LeaseMint, Outcome: audit.Denied, Resource: about, Detail: map[string]string{}}
					if audit.AppendRefusal(f.Under(t.Context(), about), s, e) == nil {
						refused++
					}
				}
			}
			s.meanwhile = func() { refuse("often", 3) }
			tell := func() { _ = f.Tell(t.Context(), s, now.Now()) }
			refuse("often", 5)
			refuse("thrice", 3)
			refuse("once", 1)
			tell()
			tell()
			refuse("often", 2)
			s.meanwhile = nil
			now.Add(audit.FoldWithin)
			refuse("often", 2)
			refuse("thrice", 2)
			for range 3 {
				tell()
			}
			if told := s.told(t); told != refused {
				t.Errorf("entry %d is not written, and while %d is some are refused: of %d refusals %d are told", fails, at, refused, told)
			}
		}
	}
}

// Each refused login has an entry or is counted by one, whichever of those that are told later cannot be written.
func TestNoRefusedLoginIsLostOrToldTwice(t *testing.T) {
	for fails := range 6 { // 0 is none
		now, s, refused := clock.New(noon), &interrupted{}, 0
		l := audit.NewLogins(s, now.Now, testlog.Silent(t))
		from := func(address string, times int) {
			for range times {
				l.Refused(audit.WithSource(t.Context(), address), policy.ErrUnauthenticated)
				refused++
			}
		}
		from("", 4)
		from("192.0.2.7", 5)
		from("192.0.2.8", 3)
		for i := range 70 {
			from(fmt.Sprintf("2001:db8::%x", i), 2)
		}
		s.fails = s.asked + fails
		l.Tell(t.Context())
		from("192.0.2.7", 2)
		now.Add(time.Minute)
		from("192.0.2.8", 3)
		for range 2 {
			l.Tell(t.Context())
		}
		if told := s.told(t); told != refused {
			t.Errorf("entry %d of those that are told is not written: of %d refusals %d are told", fails, refused, told)
		}
	}
}

// Two refusals are alike, or two reads or logins, only where nothing differs that an auditor tells them by.
func TestWhatIsAlike(t *testing.T) {
	now := clock.New(noon)
	refusal := func(about string, change func(*audit.Entry)) func(audit.Sink, any) any {
		return func(s audit.Sink, kept any) any {
			f, _ := kept.(*audit.Folds)
			if f == nil {
				f = audit.NewFolds()
			}
			e := audit.Entry{Time: noon, Principal: "alice", Project: "core", Action: policy.LeaseMint, Outcome: audit.Denied, Detail: map[string]string{
				audit.DetailSource: "192.0.2.7", audit.DetailError: "e", audit.DetailReason: "r", audit.DetailPolicy: "p",
			}}
			change(&e)
			if err := audit.AppendRefusal(f.Under(t.Context(), about), s, e); err != nil {
				t.Fatal(err)
			}
			return f
		}
	}
	detail := func(key string) func(audit.Sink, any) any {
		return refusal("lease", func(e *audit.Entry) { e.Detail[key] = "other" })
	}
	read := func(p policy.Principal, action policy.Action, kind policy.Kind, id string) func(audit.Sink, any) any {
		return func(s audit.Sink, kept any) any {
			g, _ := kept.(*audit.Guard)
			if g == nil {
				g = &audit.Guard{Policy: answer{Allowed: true}, Now: now.Now, Reads: audit.NewReads()}
			}
			g.Sink = s
			act, err := g.Enter(t.Context(), p, action, policy.Resource{Kind: kind, ID: id, Project: "core"}, policy.Wish{})
			if err == nil {
				err = act.Read(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
	}
	logins := func(kept any, s audit.Sink) *audit.Logins {
		if l, _ := kept.(*audit.Logins); l != nil {
			return l
		}
		return audit.NewLogins(s, now.Now, testlog.Silent(t))
	}
	in := func(p policy.Principal, from string) func(audit.Sink, any) any {
		return func(s audit.Sink, kept any) any {
			l := logins(kept, s)
			l.In(audit.WithSource(t.Context(), from), p)
			return l
		}
	}
	refused := func(by, why, from string) func(audit.Sink, any) any {
		return func(s audit.Sink, kept any) any {
			l := logins(kept, s)
			l.Refused(audit.WithSource(t.Context(), from), &policy.RefusedLogin{Authenticator: by, Reason: why})
			return l
		}
	}
	same := func(*audit.Entry) {}
	bob, elsewhere := policy.Principal{Name: "bob", Project: "core"}, policy.Principal{Name: "alice", Project: "edge"}
	for _, group := range []struct {
		first func(audit.Sink, any) any
		then  map[string]func(audit.Sink, any) any
	}{
		{refusal("lease", same), map[string]func(audit.Sink, any) any{
			"": refusal("lease", same), "request": refusal("lease", func(e *audit.Entry) { e.Request = "other" }),
			"what it is about": refusal("other", same),
			"action":           refusal("lease", func(e *audit.Entry) { e.Action = policy.LeaseShow }),
			"outcome":          refusal("lease", func(e *audit.Entry) { e.Outcome = audit.Failed }),
			"principal":        refusal("lease", func(e *audit.Entry) { e.Principal = "bob" }),
			"project":          refusal("lease", func(e *audit.Entry) { e.Project = "edge" }),
			"source":           detail(audit.DetailSource), "error": detail(audit.DetailError),
			"reason": detail(audit.DetailReason), "policy": detail(audit.DetailPolicy),
		}},
		{read(alice, policy.VIMShow, policy.KindVIM, "v"), map[string]func(audit.Sink, any) any{
			"":                   read(alice, policy.VIMShow, policy.KindVIM, "v"),
			"reader":             read(bob, policy.VIMShow, policy.KindVIM, "v"),
			"the reader's place": read(elsewhere, policy.VIMShow, policy.KindVIM, "v"),
			"what is read":       read(alice, policy.LeaseShow, policy.KindVIM, "v"),
			"kind":               read(alice, policy.VIMShow, policy.KindProject, "v"),
			"resource":           read(alice, policy.VIMShow, policy.KindVIM, "w"),
		}},
		{in(alice, "192.0.2.7"), map[string]func(audit.Sink, any) any{
			"": in(alice, "192.0.2.7"), "who logs in": in(bob, "192.0.2.7"), "where to": in(elsewhere, "192.0.2.7"), "where from": in(alice, "192.0.2.8"),
		}},
		{refused("oidc", "expired", "192.0.2.7"), map[string]func(audit.Sink, any) any{
			"": refused("oidc", "expired", "192.0.2.7"), "who refuses": refused("client", "expired", "192.0.2.7"),
			"why": refused("oidc", "unknown key", "192.0.2.7"), "the refused's address": refused("oidc", "expired", "192.0.2.8"),
		}},
	} {
		for field, again := range group.then {
			s := &sink{}
			again(s, group.first(s, nil))
			want := 2
			if field == "" || field == "request" {
				want = 1
			}
			if len(s.entries) != want {
				t.Errorf("two that differ in %q are %d entries, want %d", field, len(s.entries), want)
			}
		}
	}
}
