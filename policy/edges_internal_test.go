package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/schema/validate"
)

// Of claims those count that policies know, and that say something.
func TestClaimsThatPoliciesSee(t *testing.T) {
	got := claimRecord(map[string][]string{"unknown": {"x"}, "groups": {}, "email": {"a@b"}, "auth_time": {"soon"}}).Map()
	if len(got) != 1 || got["email"] == nil {
		t.Errorf("policies see %v", got)
	}
	got = claimRecord(map[string][]string{"groups": {"a", "b"}, "email": {"a@b", "c@d"}, "auth_time": {"7"}}).Map()
	if want := (types.RecordMap{"groups": stringSet([]string{"a", "b"}), "email": types.String("a@b"), "auth_time": types.Long(7)}); !types.NewRecord(got).Equal(types.NewRecord(want)) {
		t.Errorf("policies see %v, want %v", got, want)
	}
	for want, reasons := range map[string][]string{ErrDenied.Error(): nil, ErrDenied.Error() + ": a": {"a"}, ErrDenied.Error() + ": a; b": {"a", "b"}} {
		if got := (&Refused{reasons}).Error(); got != want {
			t.Errorf("a refusal for %q is %q", reasons, got)
		}
	}
	for word, want := range map[string]string{"abc": "axy", "ab": "", "abcdef": ""} { // a third of the letters, and one more
		if got := Nearest(word, []string{"axy"}); got != want {
			t.Errorf("the word nearest to %s is %q", word, got)
		}
	}
}

// A label is changed where it is new, even without a value, where it has another value, and where it is gone.
func TestLabelsThatADraftChanges(t *testing.T) {
	for name, c := range map[string]struct {
		before, after map[string]string
		want          []string
	}{
		"none":          {nil, nil, nil},
		"a new one":     {nil, map[string]string{"a": "b"}, []string{"a"}},
		"without value": {nil, map[string]string{"a": ""}, []string{"a"}},
		"the same":      {map[string]string{"a": "b"}, map[string]string{"a": "b"}, nil},
		"another value": {map[string]string{"a": "b", "c": "d"}, map[string]string{"a": "x", "c": "d"}, []string{"a"}},
		"one is gone":   {map[string]string{"a": "b", "c": ""}, map[string]string{"a": "b"}, []string{"c"}},
	} {
		got, _ := draftRecord(&VIMDraft{Labels: c.after, LabelsBefore: c.before}).Get("labelsChanged")
		if !got.Equal(stringSet(c.want)) {
			t.Errorf("%s: %s, want %s", name, got, stringSet(c.want))
		}
	}
}

// away is a directory that cannot answer.
type away struct{ then func() }

func (a away) Lookup(context.Context, string, string) (Principal, error) {
	a.then()
	return Principal{}, errors.New("away")
}

func TestWorkForACallerWhoIsAway(t *testing.T) {
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	ctx, cancel := context.WithCancel(t.Context())
	d := &Delegates{Now: func() time.Time { return at }, Directories: map[string]Directory{"oidc": away{cancel}}}
	g := Delegation{Name: "oidc:corp:alice", Project: "core", Roles: []string{RoleMember}, At: at}
	if _, err := d.Resume(ctx, "system:lifecycle", g); !errors.Is(err, context.Canceled) || errors.Is(err, ErrDelegationEnded) {
		t.Errorf("Resume() while the process ends = %v", err)
	}
	d.Directories = map[string]Directory{"oidc": away{func() {}}}
	if p, err := d.Resume(t.Context(), "system:lifecycle", g); err != nil || !strings.HasSuffix(p.Warrant, "while corp is in the table of trust") {
		t.Errorf("Resume() at once = %+v, %v", p, err)
	}
	g.Name = "ldap:corp:alice"
	if says := d.Warrant(g); strings.Contains(says, "table of trust") || !strings.Contains(says, at.Add(DefaultHold).Format(time.RFC3339)) {
		t.Errorf("the warrant of a caller without a directory is %q", says)
	}
	for _, name := range []string{"oidc", "oidc:corp"} { // which are of no issuer
		g.Name = name
		if says := d.Warrant(g); strings.Contains(says, "table of trust") {
			t.Errorf("the warrant of %s is %q", name, says)
		}
	}
	for _, by := range []string{ByIssuer, ByCluster, ByCertificate} {
		g.Name, d.Directories = by+":corp:alice", map[string]Directory{by: away{func() {}}}
		if says := d.Warrant(g); !strings.HasSuffix(says, "while corp is in the table of trust") {
			t.Errorf("the warrant of %s is %q", g.Name, says)
		}
	}
	g.Name = "ldap:corp:alice"
	g.At = at.Add(1) // by a clock that is ahead
	if _, err := d.Resume(t.Context(), "system:lifecycle", g); !errors.Is(err, ErrDelegationEnded) {
		t.Errorf("Resume() of what is asked later = %v", err)
	}
	g.At = at
	d.HoldOf = func(string) time.Duration { return time.Minute }
	at = at.Add(time.Minute)
	if _, err := d.Resume(t.Context(), "system:lifecycle", g); !errors.Is(err, ErrDelegationEnded) {
		t.Errorf("Resume() after the caller's own hold = %v", err)
	}
}

func TestPoliciesByTheirIDs(t *testing.T) {
	p, err := Load(map[string][]byte{"site.cedar": []byte(`
		@id("fails") permit (principal, action == Action::"lease:issue", resource is VIM) when { 9223372036854775807 + context.ttlSeconds > 0 };`)})
	if err != nil {
		t.Fatal(err)
	}
	ids := p.IDs()
	if !slices.IsSorted(ids) || !slices.Contains(ids, "site.fails") || len(ids) != len(p.callers) {
		t.Errorf("IDs() = %q", ids)
	}
	for _, id := range []string{ids[0], ids[len(ids)-1], "site.fails"} {
		if _, name, _ := strings.Cut(id, "."); !strings.Contains(p.Text(id), `"`+name+`"`) {
			t.Errorf("Text(%s) = %q", id, p.Text(id))
		}
	}
	if text := p.Text("site.none"); text != "" {
		t.Errorf("Text() of none = %q", text)
	}
	for id := range p.callers.All() {
		if string(id) != ids[0] {
			t.Errorf("the first is %s", id)
		}
		break
	}
	q := Request{
		Principal: Principal{Name: "gus", Project: "core", Roles: []string{"guest"}}, Action: LeaseIssue,
		Resource: Resource{Kind: KindVIM, ID: "v", Project: "core"}, Wish: Wish{TTL: time.Hour},
	}
	if got := p.Why(q); len(got) == 0 || slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "site.fails") }) {
		t.Errorf("Why() names a condition that has no value: %q", got)
	}
	unknown, part := q, q
	unknown.Action, part.Principal.Actor = "no:such", "system:lifecycle"
	for name, q := range map[string]Request{"an unknown action": unknown, "a part of the broker": part} {
		if got := p.Why(q); got != nil {
			t.Errorf("Why() of %s = %q", name, got)
		}
	}
}

func TestWordsAreSuggested(t *testing.T) {
	for want, typo := range map[string]*Typo{
		"the action is done to a VIM or a Lease, not to a Project; give one": {Field: "kind", Word: "Project", Known: []string{"VIM", "Lease"}},
		`role "membr" is not known here; did you mean member?`:               {Field: "role", Word: "membr", Nearest: "member", Known: []string{"member"}},
		`role "x" is not known here; known: admin, member`:                   {Field: "role", Word: "x", Known: []string{"admin", "member"}},
	} {
		if got := typo.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for word, want := range map[string]string{"membr": "; did you mean member?", "x": ""} {
		if got := Suggest(word, []string{"admin", "member"}); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", word, got, want)
		}
	}
	// The first question of two is about what may have no label.
	_, err := Load(map[string][]byte{"site.cedar": []byte(`
		@id("two") forbid (principal, action == Action::"lease:issue", resource is VIM)
		when { VIM::"x".hasTag("stage") && resource.hasTag("stage") };`)})
	if err == nil || !strings.Contains(err.Error(), "only a VIM or a package has labels") {
		t.Errorf("a policy that asks for the label of another thing loads: %v", err)
	}
}

// Load does not ask the schema of what is built in.
func TestTheSchemaKnowsWhatIsBuiltIn(t *testing.T) {
	known, err := parseSchema()
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string][]byte{DefaultFile: defaultText, systemFile: systemText} {
		set, err := compile(validate.New(known), file, text)
		if err != nil || len(set) < 3 {
			t.Errorf("%s has %d policies, %v", file, len(set), err)
		}
		if _, err := compile(validate.New(known), file, append(text, `@id("x") permit (principal is VIM, action == Action::"vim:show", resource);`...)); err == nil {
			t.Errorf("a policy of %s that can never apply is no fault", file)
		}
	}
}

// Policies see the time in the zone of the site, whatever is asked, and an age of no less than nothing.
func TestTheTimeThatPoliciesSee(t *testing.T) {
	at := time.Date(2031, 5, 4, 23, 30, 0, 0, time.FixedZone("", 5*3600+1800)) // a Sunday
	for what, record := range map[string]types.Record{"a lease": wishRecord(Wish{}, at), "a plan": planRecord(&OperationPlan{}, at), "no plan": planRecord(nil, at)} {
		now, _ := record.Get("now")
		want := types.NewRecord(types.RecordMap{"hour": types.Long(23), "weekday": types.Long(7), "zone": types.String("+05:30"), "epoch": types.Long(at.Unix())})
		if now == nil || !now.Equal(want) {
			t.Errorf("of %s policies see the time %v, want %v", what, now, want)
		}
	}
	for want, issued := range map[types.Long]time.Time{
		0: at, 60: at.Add(-time.Minute), 61: at.Add(-time.Minute - 1), 3600: at.Add(-time.Hour),
	} {
		if age, _ := wishRecord(Wish{Issued: issued}, at).Get("leaseAge"); age != want {
			t.Errorf("a lease that was issued at %v is %v old, want %v", issued, age, want)
		}
	}
	for what, issued := range map[string]time.Time{"not issued yet": {}, "issued by a clock that was ahead": at.Add(time.Hour)} {
		if age, _ := wishRecord(Wish{Issued: issued}, at).Get("leaseAge"); age != types.Long(0) {
			t.Errorf("a lease that was %s is %v old", what, age)
		}
	}
}

// A policy of the site decides on each action on each kind that it is for, in whichever form its head names them, and on no other.
func TestPoliciesAreHeardOnEachActionAndKind(t *testing.T) {
	var text strings.Builder
	n := 0
	each := func(do func(n int, a Action, k Kind)) {
		n = 0
		p, err := Load(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range slices.Sorted(maps.Keys(p.actions)) {
			for _, k := range p.actions[a].kinds {
				do(n, a, k)
				n++
			}
		}
	}
	each(func(n int, a Action, k Kind) {
		fmt.Fprintf(&text, "@id(\"eq-%d\") permit (principal, action == Action::%q, resource is %s) when { principal.name == \"eq\" };\n", n, a, k)
		fmt.Fprintf(&text, "@id(\"in-%d\") permit (principal, action in [Action::%q], resource is %s) when { principal.name == \"in\" };\n", n, a, k)
		fmt.Fprintf(&text, "@id(\"one-%d\") permit (principal, action == Action::%q, resource == %s::\"x\") when { principal.name == \"one\" };\n", n, a, k)
	})
	site, err := Load(map[string][]byte{DefaultFile: []byte(text.String())})
	if err != nil {
		t.Fatal(err)
	}
	each(func(n int, a Action, k Kind) {
		for _, form := range []string{"eq", "in", "one"} {
			d := site.Decide(Request{Principal: Principal{Name: form, Project: "p"}, Action: a, Resource: Resource{Kind: k, ID: "x", Project: "p"}})
			if want := fmt.Sprintf("default.%s-%d", form, n); !d.Allowed || !slices.Equal(d.Policies, []string{want}) {
				t.Errorf("%s on a %s: %+v, want %s", a, k, d, want)
			}
		}
	})
	if n < 60 {
		t.Errorf("%d are tried", n)
	}
}
