package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// heap takes entries, or fails.
type heap struct {
	Sink
	entries []Entry
	fail    error
}

func (h *heap) Append(_ context.Context, e Entry) error {
	if h.fail == nil {
		h.entries = append(h.entries, e)
	}
	return h.fail
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// What is remembered is forgotten as a whole when it is too much: then more is recorded than necessary, and nothing less.
func TestWhatIsRememberedIsBounded(t *testing.T) {
	h, now := &heap{}, noon
	f, again := NewFolds(), false
	refuse := func(about string) {
		e := Entry{Time: now, Action: policy.LeaseMint, Outcome: Denied, Detail: map[string]string{}}
		if err := AppendRefusal(f.Under(t.Context(), about), h, e); err != nil {
			t.Fatal(err)
		}
	}
	r := NewReads()
	l := NewLogins(h, func() time.Time { return now }, testlog.To(t, slog.NewTextHandler(io.Discard, nil)))
	for name, c := range map[string]struct {
		most int
		do   func(n int)
	}{
		"refusals": {maxFolds, func(n int) { refuse(fmt.Sprint(n)) }},
		"reads": {maxRemembered, func(n int) {
			if e := (Entry{Time: now, Resource: fmt.Sprint(n)}); r.due(e) {
				h.entries = append(h.entries, e)
				r.recorded(e)
			}
		}},
		"logins": {maxRemembered, func(n int) { l.In(t.Context(), policy.Principal{Name: fmt.Sprint(n)}) }},
		"refused logins": {maxRemembered, func(n int) {
			if now = now.Add(time.Microsecond); n%refusalsAtOnce == 0 && n > 0 && !again {
				l.window = time.Time{} // as if a minute were over, for all but what is remembered
			}
			l.Refused(WithSource(t.Context(), fmt.Sprint(n)), policy.ErrUnauthenticated)
		}},
	} {
		h.entries, now, again = nil, noon, false
		for n := range c.most {
			c.do(n)
		}
		if len(h.entries) != c.most {
			t.Fatalf("%s: %d entries of %d", name, len(h.entries), c.most)
		}
		again = true
		c.do(0)
		c.do(c.most - 1)
		if len(h.entries) != c.most {
			t.Errorf("%s: of as many as are remembered one is recorded again", name)
		}
		l.window = time.Time{}
		c.do(c.most) // all are forgotten
		c.do(0)
		if len(h.entries) != c.most+2 {
			t.Errorf("%s: after one too many there are %d entries", name, len(h.entries)-c.most)
		}
	}
	// What was counted of the two that came again is told with the next.
	if got := h.entries; len(got) < 2 {
		t.Errorf("%d entries", len(got))
	}
	l.unsaid = 0
	l.refused = map[[3]string]refusals{{"a"}: {at: now, repeats: 3}, {"b"}: {at: now, repeats: 4}}
	for n := range maxRemembered - 2 {
		l.refused[[3]string{"x", fmt.Sprint(n)}] = refusals{at: now}
	}
	l.window, h.entries = time.Time{}, nil
	l.Refused(WithSource(t.Context(), "one more"), policy.ErrUnauthenticated)
	if len(h.entries) != 1 || h.entries[0].Detail[DetailRepeats] != "7" || len(l.refused) != 1 {
		t.Errorf("what was counted of the forgotten is told as %+v", h.entries)
	}
}

// One refusal of nobody in particular is told too.
func TestOneRefusalThatWasOnlyCountedIsTold(t *testing.T) {
	h := &heap{}
	l := NewLogins(h, func() time.Time { return noon }, testlog.Silent(t))
	l.unsaid = 1
	l.Tell(t.Context())
	if len(h.entries) != 1 || l.unsaid != 0 {
		t.Errorf("%d entries, %d left", len(h.entries), l.unsaid)
	}
	if l.Tell(t.Context()); len(h.entries) != 1 {
		t.Errorf("what was told is told again: %d entries", len(h.entries))
	}
}

// An entry that stands for others says for how many, and is otherwise as it was.
func TestAnEntryStandsForOthers(t *testing.T) {
	e := Entry{Detail: map[string]string{"k": "v"}}
	for others, want := range map[int]string{0: "", 1: "1", 7: "7"} {
		if got := e.repeated(others); got.Detail[DetailRepeats] != want || got.Detail["k"] != "v" || len(e.Detail) != 1 {
			t.Errorf("for %d others it is %v, and the entry itself %v", others, got.Detail, e.Detail)
		}
	}
	h := &heap{}
	g := &Guard{Policy: decider(false), Sink: h, Now: time.Now}
	wish := policy.Wish{TTL: time.Hour, Role: "edit"}
	if _, err := g.Enter(t.Context(), policy.Principal{Name: "a", Project: "p"}, policy.LeaseIssue, policy.Resource{Kind: policy.KindProject, ID: "p", Project: "p"}, wish); err == nil ||
		len(h.entries) != 1 || h.entries[0].Detail[DetailRole] != "edit" || h.entries[0].Detail[DetailTTL] != "1h0m0s" {
		t.Errorf("a refusal does not say what was wished for: %v, %+v", err, h.entries)
	}
}

func TestTextsOfEntriesAreCut(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a\x00b": "a\uFFFDb", "a\xff": "a\uFFFD", strings.Repeat("x", 512): strings.Repeat("x", 512),
		strings.Repeat("x", 513): strings.Repeat("x", 512), strings.Repeat("x", 511) + "é": strings.Repeat("x", 511),
		strings.Repeat("x", 510) + "éx": strings.Repeat("x", 510) + "é", strings.Repeat("x", 509) + "\U0001F600": strings.Repeat("x", 509),
	} {
		if got := Cut(text); got != want {
			t.Errorf("Cut of %d bytes = %d bytes, want %d", len(text), len(got), len(want))
		}
	}
}

// An act says of its resource what there is to say.
func TestWhatAnActIsAbout(t *testing.T) {
	for name, c := range map[string]struct {
		res  policy.Resource
		want map[string]string
	}{
		"a project":                   {policy.Resource{Kind: policy.KindProject, ID: "p", Project: "p"}, nil},
		"a VIM":                       {policy.Resource{Kind: policy.KindVIM, ID: "v", Project: "p"}, map[string]string{DetailVIM: "v", DetailVIMProject: "p"}},
		"a VIM by its name alone":     {policy.Resource{Kind: policy.KindVNFInstance, ID: "i", Project: "p", VIMName: "n"}, map[string]string{DetailVIMName: "n"}},
		"an instance on a VIM":        {policy.Resource{Kind: policy.KindVNFInstance, ID: "i", Project: "p", VIM: "v", VIMProject: "q"}, map[string]string{DetailVIM: "v", DetailVIMProject: "q"}},
		"a lease":                     {policy.Resource{Kind: policy.KindLease, ID: "l", Project: "p", VIMProject: "q"}, map[string]string{DetailLease: "l", DetailVIMProject: "q"}},
		"a lease of a VIM, by a name": {policy.Resource{Kind: policy.KindLease, ID: "l", VIM: "v", VIMName: "n"}, map[string]string{DetailLease: "l", DetailVIM: "v", DetailVIMName: "n"}},
	} {
		a := (&Act{}).About(c.res)
		if fmt.Sprint(a.entry.Detail) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", name, a.entry.Detail, c.want)
		}
	}
	wish := policy.Wish{TTL: time.Hour, Role: "edit", Namespaces: []string{"a", "b"}, Purpose: "x", For: "y", Grade: "z", Rules: policy.LeaseRules{Verbs: []string{"get"}, Resources: []string{"pods"}}}
	a := &Act{}
	a.wished(wish)
	if got := a.entry.Detail; got[DetailTTL] != "1h0m0s" || got[DetailRole] != "edit" || got[DetailNamespaces] != "a,b" || got[DetailRules] != "get:pods" ||
		got[DetailPurpose] != "x" || got[DetailFor] != "y" || got[DetailGrade] != "z" {
		t.Errorf("what was wished for is %v", got)
	}
	wish.ClusterWide = true
	a.wished(wish)
	if got := a.entry.Detail[DetailNamespaces]; got != "*" {
		t.Errorf("the whole cluster is told as %q", got)
	}
	a = &Act{}
	if a.wished(policy.Wish{Role: "edit"}); len(a.entry.Detail) != 0 {
		t.Errorf("a question about no lease is told as %v", a.entry.Detail)
	}
}

// decider lets all in, or nobody.
type decider bool

func (d decider) Decide(r policy.Request) policy.Decision {
	return policy.Decision{Allowed: bool(d) || r.Action == policy.VIMShow}
}

// While a server is held back it does nothing for callers but what ends leases, stops an operation or reads.
func TestAServerThatIsHeldBack(t *testing.T) {
	held := errors.New("held back")
	alice, pass := policy.Principal{Name: "alice", Project: "p"}, policy.Principal{Name: "system:reaper", Roles: []string{policy.RoleSystem}}
	for _, c := range []struct {
		p      policy.Principal
		action policy.Action
		want   error
	}{
		{alice, policy.LeaseIssue, held},
		{alice, policy.VIMUpdate, held},
		{alice, policy.LeaseRevoke, nil},
		{alice, policy.VIMShow, nil},
		{alice, policy.VNFCancel, nil},
		{pass, policy.LeaseIssue, nil},
	} {
		g := &Guard{Policy: decider(true), Sink: &heap{}, Now: time.Now, Held: func(context.Context) error { return held }}
		act, err := g.Enter(t.Context(), c.p, c.action, policy.Resource{Kind: policy.KindVIM, ID: "v"}, policy.Wish{})
		if !errors.Is(err, c.want) || (act == nil) != (c.want != nil) {
			t.Errorf("%s by %s: %v, want %v", c.action, c.p.Name, err, c.want)
		}
	}
}

// A refusal that cannot be recorded is an error of every way to refuse; one of an object that the caller's own project holds is
// not told there.
func TestRefusalsNeedTheLog(t *testing.T) {
	full := errors.New("full")
	alice := policy.Principal{Name: "alice", Project: "p"}
	vim := policy.Resource{Kind: policy.KindVIM, ID: "v", Project: "q"}
	h := &heap{fail: full}
	g := &Guard{Policy: decider(false), Sink: h, Now: time.Now}
	_, entered := g.Enter(t.Context(), alice, policy.VIMDelete, vim, policy.Wish{})
	f := NewFolds()
	for name, err := range map[string]error{
		"Enter": entered, "Hide": g.Hide(t.Context(), alice, policy.VIMDelete, vim), "Missing": g.Missing(t.Context(), alice, policy.VIMDelete, policy.KindVIM),
		"Refuse": g.Refuse(t.Context(), alice, policy.VIMDelete, vim), "folded": AppendRefusal(f.Under(t.Context(), "x"), h, Entry{Time: noon}),
	} {
		if !errors.Is(err, full) {
			t.Errorf("%s with a log that takes nothing = %v", name, err)
		}
	}
	h.fail = nil
	if err := AppendRefusal(f.Under(t.Context(), "x"), h, Entry{Time: noon}); err != nil || len(h.entries) != 1 {
		t.Errorf("a refusal that was not recorded is folded the next time: %d entries, %v", len(h.entries), err)
	}
	h.entries = nil
	project := policy.Resource{Kind: policy.KindProject, ID: "q", Project: "q"} // what is no object has nothing to hide
	if _, err := g.Enter(t.Context(), alice, policy.VIMRegister, project, policy.Wish{}); errors.Is(err, ErrHidden) || !errors.Is(err, policy.ErrDenied) || len(h.entries) != 1 {
		t.Errorf("Enter() on a project = %v, %d entries", err, len(h.entries))
	}
	h.entries = nil
	lease := policy.Resource{Kind: policy.KindLease, ID: "l", Project: "q", VIMProject: "p"}
	if err := g.Hide(t.Context(), alice, policy.LeaseShow, lease); !errors.Is(err, ErrHidden) {
		t.Errorf("Hide() = %v", err)
	}
	if len(h.entries) != 2 || h.entries[1].Project != "" || h.entries[1].Detail[DetailVIMProject] != "" {
		t.Errorf("a lease of the own project's VIM is told as %+v", h.entries)
	}
}

func TestEntriesThatCannotBeRead(t *testing.T) {
	damaged := Entry{Seq: 1, Damaged: true}
	_, leaf := Leaf(damaged)
	_, _, grown := Grown(t.Context(), nil, tree.Head{}, []Entry{damaged})
	for name, err := range map[string]error{"Leaf": leaf, "Grown": grown} {
		if !errors.Is(err, tree.ErrTorn) {
			t.Errorf("%s of a damaged entry = %v", name, err)
		}
	}
	whole, err := Line(Entry{Seq: 3, Time: noon})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := ParseLine(whole); err != nil || e.Seq != 3 || !e.Time.Equal(noon) {
		t.Errorf("ParseLine() = %+v, %v", e, err)
	}
	for text, says := range map[string]string{
		"{": "is not JSON", strings.Replace(string(whole), "2026-03-01", "x", 1): "audit entry 3 has no time",
		strings.Replace(string(whole), `"seq":3`, `"seq": 3`, 1): "audit entry 3 is not written as the log writes it",
	} {
		if _, err := ParseLine([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("ParseLine(%s) = %v, want %q", text, err, says)
		}
	}
	for line, good := range map[string]bool{
		`{"seq":7,"x`: true, `{"seq":x,`: false, `{"seq":07,`: false, `{"seq":99999999999999999999,`: false, `7,`: false,
	} {
		if seq, err := seqOf([]byte(line)); (err == nil) != good || good && seq != 7 {
			t.Errorf("the number of %s is %d, %v", line, seq, err)
		}
	}
	if _, err := NewVerifier(3, nil, nil); !errors.Is(err, tree.ErrUnproven) {
		t.Errorf("NewVerifier() without a frontier = %v", err)
	}
}
