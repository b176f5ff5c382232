package broker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

// said is what a test wants of an error: how its text begins; empty where there is to be none.
type said struct {
	what string
	got  error
	want string
}

func check(t *testing.T, all []said) {
	t.Helper()
	for _, s := range all {
		if s.want == "" && s.got != nil || s.want != "" && (!errors.Is(s.got, ErrInvalid) || !strings.HasPrefix(s.got.Error(), s.want)) {
			t.Errorf("%s: %v, want %q", s.what, s.got, s.want)
		}
	}
}

func letters(n int) string { return strings.Repeat("a", n) }

func labels(n int) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprint("k", i)] = "v"
	}
	return all
}

func projects(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("p%03d", i))
	}
	return all
}

// Each bound on what a caller writes stands where it says: the last good value is taken, and the next one is refused.
func TestBoundsOfWhatCallersWrite(t *testing.T) {
	name := func(s string) said {
		return said{what: fmt.Sprintf("the name %.8q of %d bytes", s, len(s)), got: validName(s)}
	}
	refused := func(s said, want string) said { s.want = want; return s }
	project := func(s string) said {
		return said{what: fmt.Sprintf("the project %.8q of %d bytes", s, len(s)), got: validProject(s)}
	}
	key := func(s string) said {
		return said{what: fmt.Sprintf("the key %.8q of %d bytes", s, len(s)), got: CheckIdempotencyKey(s)}
	}
	page := func(n int) said {
		_, err := Page{Size: n}.Valid()
		return said{what: fmt.Sprint("a page of ", n), got: err}
	}
	shares := func(all ...string) said {
		_, err := sharedWith(all, "own")
		return said{what: fmt.Sprintf("shared with %d, %.8q", len(all), all[0]), got: err}
	}
	check(t, []said{
		refused(name(""), "name: is required"), refused(name("."), `name: is "."`), refused(name(".."), `name: is ".."`), name("..."),
		name(letters(255)), refused(name(letters(256)), "name: is longer than 255 bytes"), refused(name("a "), "name: begins or ends"),
		refused(name("a\tb"), "name: holds a character"), refused(name("a\ufffdb"), "name: holds a character"),
		refused(name("a\u202eb"), "name: holds a character"), refused(name("a\u200bb"), "name: holds a character"),
		refused(name("a\u00a0b"), "name: holds a character"), name("é b"), name(strings.Repeat("é", 127) + "a"),
		refused(name(strings.Repeat("é", 128)), "name: is longer than 255 bytes"), refused(project(strings.Repeat("é", 128)), "project: must be"),
		refused(project("a\u202eb"), "project: must be"), refused(shares("a", "a\u202eb"), "sharedWith: holds a name"),
		refused(name("6f0a7f9e-3c0e-4a54-9a0c-0d6a2c9f7b11"), "name: looks like an id"),
		project(letters(255)), refused(project(letters(256)), "project: must be"), refused(project(" a"), "project: must be"),
		refused(project("a\tb"), "project: must be"), refused(project("a\ufffdb"), "project: must be"),
		key(letters(128)), refused(key(letters(129)), "Idempotency-Key: is longer than 128"), key("!~"),
		refused(key("a b"), "Idempotency-Key: holds"), refused(key("a\x7f"), "Idempotency-Key: holds"),
		page(0), page(1), page(MaxPage), refused(page(-1), "pageSize: must be"), refused(page(MaxPage+1), "pageSize: must be"),
		shares(projects(100)...), refused(shares(projects(101)...), "sharedWith: names more than 100"), shares(append(projects(100), "own")...),
		refused(shares(""), "sharedWith: holds a name"), refused(shares("a\tb"), "sharedWith: holds a name"),
		{"labels", ValidLabels(labels(64)), ""},
		{"too many labels", ValidLabels(labels(65)), "labels: more than 64"},
		{"a key that is none", ValidLabels(map[string]string{"a b": "v"}), "labels: a key must be"},
		{"a value that is none", ValidLabels(map[string]string{"a": "b c"}), "labels.a: is not"},
	})
	if p, _ := (Page{}).Valid(); p.Size != DefaultPage {
		t.Errorf("a page has %d where none is asked for", p.Size)
	}
	if got, _ := sharedWith([]string{"b", "own", "a", "b"}, "own"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("sharedWith = %q, want each other project once, in order", got)
	}
	if !shortText(letters(255)) || shortText(letters(256)) || shortText("a\tb") {
		t.Error("a short text is one of 255 printable bytes")
	}
}

func TestBoundsOfNotes(t *testing.T) {
	nested := func(open, shut string, levels int) string {
		return `{"a":` + strings.Repeat(open, levels-1) + strings.Repeat(shut, levels-1) + "}"
	}
	extra := func(n int) string { return `{"a":"` + letters(n-8) + `"}` }
	check(t, []said{
		{"a description", validNotes(letters(maxDescription), ""), ""},
		{"a long description", validNotes(letters(maxDescription+1), ""), "description: is longer"},
		{"no UTF-8", validNotes("\xff", ""), "description: is not text"},
		{"a zero", validNotes("\x00", ""), "description: is not text"},
		{"extra", validNotes("", extra(maxExtra)), ""},
		{"long extra", validNotes("", extra(maxExtra+1)), "extra: is longer"},
		{"extra that is null", validNotes("", "null"), "extra: is not a JSON object"},
		{"extra that is a list", validNotes("", "[]"), "extra: is not a JSON object"},
		{"extra without UTF-8", validNotes("", "{\"a\":\"\xff\"}"), "extra: is not a JSON object"},
		{"deep lists", validNotes("", nested("[", "]", maxExtraDepth)), ""},
		{"too deep lists", validNotes("", nested("[", "]", maxExtraDepth+1)), "extra: nests deeper"},
		{"too deep objects", validNotes("", `{"a":`+nested(`{"a":`, "}", maxExtraDepth)+"}"), "extra: is not"},
		{"what a change left of labels", (&VIM{Labels: labels(65)}).validNotes(), "labels: more than"},
		{"what a change left of extra", (&VIM{Labels: labels(64), Extra: "[]"}).validNotes(), "extra: is not"},
	})
}

// A VIM stores as much as its quota says, or less than it did; who exceeds it is told the largest part, and of equal ones
// the first by name.
func TestQuotaOfBytes(t *testing.T) {
	ten := VIM{ID: "v", Name: "four"} // and a credential of six
	all := VIM{
		Name: "aaa", Labels: map[string]string{"a": "aa"}, Description: "aaa", Extra: "aaa", SharedWith: []string{"aaa"},
		Current: Generation{Target: Target{Endpoint: "a", ServerName: "a", Namespace: "a", CACert: "aaa"}},
	}
	short := all
	short.Name, short.Current.Target.CACert = "aaaa", "a"
	for _, c := range []struct {
		what          string
		quota, was    int
		before, after VIM
		field         string
	}{
		{"without a bound", 0, 0, VIM{}, ten, ""},
		{"at the bound", 10, 0, VIM{}, ten, ""},
		{"above the bound", 9, 0, VIM{}, ten, "credential"},
		{"as much as before", 9, 6, ten, ten, ""},
		{"more than before", 9, 5, ten, ten, "credential"},
		{"new, where another stores more", 9, 60, VIM{Name: "four"}, ten, "credential"},
	} {
		err := VIMQuota{Bytes: c.quota}.fits(c.before, c.was, c.after, 6)
		if known, _ := errors.AsType[*Error](err); c.field == "" && err != nil || c.field != "" && (known == nil || known.Kind != ErrQuota || known.Field != c.field) {
			t.Errorf("%s: %v, want an error about %q", c.what, err, c.field)
		}
	}
	for range 20 { // a map's order is another each time
		for field, v := range map[string]VIM{"caCert": all, "name": short} {
			if err, _ := errors.AsType[*Error](VIMQuota{Bytes: 1}.fits(VIM{}, 0, v, 3)); err == nil || err.Field != field {
				t.Fatalf("of the parts %v the largest is said to be in %v, want %s", sizes(v, 3), err, field)
			}
		}
	}
	if got := kibibytes(1024); got != 1 || kibibytes(1025) != 2 {
		t.Errorf("1024 bytes are %d KiB", got)
	}
}

// judge is a driver that grades, and does nothing.
type judge struct {
	Driver
	Grader
	is Type
}

func (j judge) Type() Type { return j.is }

func TestBoundsOfRules(t *testing.T) {
	many := func(n int) []string { return slices.Repeat([]string{"a"}, n) }
	one := func(change func(*Rule)) LeaseRequest {
		r := Rule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}
		change(&r)
		return LeaseRequest{Rules: []Rule{r}}
	}
	rules := func(n int) (r LeaseRequest) {
		for range n {
			r.Rules = append(r.Rules, one(func(*Rule) {}).Rules...)
		}
		return r
	}
	resource := func(s string) LeaseRequest { return one(func(r *Rule) { r.Resources = []string{s} }) }
	const names = "rules: must hold names"
	for _, c := range []struct {
		what string
		r    LeaseRequest
		want string
	}{
		{"64 rules", rules(64), ""},
		{"65 rules", rules(65), "rules: are more than 64"},
		{"no groups", one(func(r *Rule) { r.APIGroups = nil }), "rules: hold one without"},
		{"no resources", one(func(r *Rule) { r.Resources = nil }), "rules: hold one without"},
		{"no verbs", one(func(r *Rule) { r.Verbs = nil }), "rules: hold one without"},
		{"64 verbs", one(func(r *Rule) { r.Verbs = many(64) }), ""},
		{"65 verbs", one(func(r *Rule) { r.Verbs = many(65) }), "rules: hold a list of more than 64"},
		{"65 names", one(func(r *Rule) { r.ResourceNames = many(65) }), "rules: hold a list of more than 64"},
		{"an empty resource", resource(""), names},
		{"an empty verb", one(func(r *Rule) { r.Verbs = []string{""} }), names},
		{"a long resource", resource(letters(253)), ""},
		{"a longer resource", resource(letters(254)), names},
		{"every character", resource("azAZ09-._:/*"), ""},
		{"a space", resource(" "), names},
		{"what follows 9 and :", resource(";"), names},
		{"what comes before A", resource("@"), names},
		{"what follows Z", resource("["), names},
		{"what comes before a", resource("`"), names},
		{"what follows z", resource("{"), names},
		{"a letter that is none of ASCII", resource("é"), names},
	} {
		check(t, []said{{c.what, checkRules(judge{is: Type{Rules: true}}, &c.r), c.want}})
	}
	pods, secrets := one(func(*Rule) {}).Rules[0], resource("secrets").Rules[0]
	if got := canonical([]Rule{secrets, pods, secrets}); !reflect.DeepEqual(got, canonical([]Rule{pods, secrets})) || len(got) != 2 {
		t.Errorf("canonical = %v, want each rule once", got)
	}
}

func TestBoundsOfWhatIsVouched(t *testing.T) {
	types := func(n int) []string {
		return []string{"a.b=" + strings.Join(slices.Repeat([]string{"t"}, n), ",")}
	}
	for _, c := range []struct {
		what   string
		rules  bool
		change Change
		want   string
	}{
		{"100 kinds", true, Change{SharedKinds: new(projects(100))}, ""},
		{"101 kinds", true, Change{SharedKinds: new(projects(101))}, "sharedKinds: names more than 100"},
		{"32 types", true, Change{SharedKinds: new(types(32))}, ""},
		{"33 types", true, Change{SharedKinds: new(types(33))}, "sharedKinds: must hold kinds"},
		{"a kind twice", true, Change{SharedKinds: &[]string{"a.b", "a.b=t"}}, "sharedKinds: names a kind twice"},
		{"pods", true, Change{PodsHeldBy: new("kyverno")}, ""},
		{"pods of a VIM that knows none", false, Change{PodsHeldBy: new("kyverno")}, "podsHeldBy: is not known"},
		{"pods held by no name", true, Change{PodsHeldBy: new("a b")}, "podsHeldBy: must be"},
	} {
		_, err := c.change.vouched(Type{Rules: c.rules}, Vouched{})
		check(t, []said{{c.what, err, c.want}})
	}
}

func TestOneKindOfCredential(t *testing.T) {
	token, password := Credential{Token: secret.NewText("t")}, Credential{Username: "u", Password: secret.NewText("p")}
	both := password
	both.Token = token.Token
	for _, c := range []struct {
		what  string
		given Credential
		want  string
		kind  CredentialKind
	}{
		{"none", Credential{}, "", ""},
		{"a token", token, "", CredentialBearerToken},
		{"a token, and a password that no VIM of the type takes", both, "credential: must be one of token", ""},
		{"a password alone", password, "credential: must be one of token", ""},
		{"half of a certificate", Credential{ClientCertificate: "c"}, "credential.clientKey: is required with clientCertificate", ""},
		{"the other half", Credential{ClientKey: secret.NewText("k")}, "credential.clientCertificate: is required with clientKey", ""},
		{"another kind", Credential{Kind: CredentialPassword, Token: token.Token}, "credential: names another kind", CredentialPassword},
		{"its kind", Credential{Kind: CredentialBearerToken, Token: token.Token}, "", CredentialBearerToken},
	} {
		is := Type{Credentials: []CredentialKind{CredentialBearerToken, CredentialClientCertificate}}
		check(t, []said{{c.what, is.chooseKind(&c.given), c.want}})
		if c.given.Kind != c.kind {
			t.Errorf("%s: the kind is %q, want %q", c.what, c.given.Kind, c.kind)
		}
	}
}

func TestTypeOfARegistration(t *testing.T) {
	const a, b = VIMType("a"), VIMType("b")
	clusters := Type{Name: a, Document: DocumentKubeconfig}
	r := &Registry{core: &core{drivers: map[VIMType]Driver{a: judge{is: clusters}, b: judge{is: Type{Name: b}}}, types: []Type{clusters, {Name: b}}}}
	file := secret.NewText("file")
	for _, c := range []struct {
		what    string
		r       Registration
		want    VIMType
		refusal string
	}{
		{"a file that tells it", Registration{Kubeconfig: file}, a, ""},
		{"a file that tells it, and a type", Registration{Type: b, Kubeconfig: file}, b, ""},
		{"a file of none", Registration{CloudsYAML: file}, "", "type: is required: a or b"},
		{"neither", Registration{}, "", "type: is required: a or b"},
		{"one that there is not", Registration{Type: "c"}, "c", "type: must be a or b"},
	} {
		d, err := r.chooseType(&c.r)
		check(t, []said{{c.what, err, c.refusal}})
		if c.r.Type != c.want || err == nil && d.Type().Name != c.want {
			t.Errorf("%s: of type %q, by %v", c.what, c.r.Type, d)
		}
	}
	for want, all := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := oneOf(all); got != want {
			t.Errorf("oneOf(%q) = %q", all, got)
		}
	}
	if err := (&core{drivers: map[VIMType]Driver{}}).addDrivers([]Driver{judge{is: fit("a", "")}, judge{is: fit("b", "")}}); err != nil {
		t.Errorf("two types without a document: %v", err)
	}
	both := []Driver{judge{is: fit("a", DocumentKubeconfig)}, judge{is: fit("b", DocumentKubeconfig)}}
	if err := (&core{drivers: map[VIMType]Driver{}}).addDrivers(both); err == nil {
		t.Error("two types are registered with one document")
	}
	two, format := Type{Name: "t", Formats: []clientconfig.Format{"x", "y"}}, clientconfig.Format("z")
	check(t, []said{{"a format that the VIM does not have", two.chooseFormat(&format), "format: must be one of x, y: the VIM is of type t"}})
	if format = ""; two.chooseFormat(&format) != nil || format != "x" {
		t.Errorf("the format of who asks for none is %q", format)
	}
	nameless := fit("", "")
	odd := []Driver{nil, judge{is: nameless}, judge{is: nameless}, judge{is: fit("a", DocumentKubeconfig)}, judge{is: fit("a", DocumentKubeconfig)}, judge{is: fit("b", DocumentKubeconfig)}}
	want := `driver 1 is nil
VIM type "": it has no name
VIM type "": it has no name
two drivers serve VIM type "a"
VIM types "a" and "b" are both registered with a kubeconfig`
	if err := (&core{drivers: map[VIMType]Driver{}}).addDrivers(odd); fmt.Sprint(err) != want {
		t.Errorf("of drivers that cannot be served it is said: %v", err)
	}
}

// fit is a type that can be served.
func fit(name VIMType, document Document) Type {
	return Type{Name: name, Document: document, Formats: []clientconfig.Format{clientconfig.JSON}, Credentials: []CredentialKind{CredentialBearerToken}}
}

// Each field of a change that a generation holds makes one, and each that leads elsewhere needs the credential.
func TestWhatAChangeNeeds(t *testing.T) {
	text := secret.NewText("t")
	here := Target{Endpoint: "https://here", CACert: "ca", ServerName: "name", Scope: Scope{Region: "r"}}
	for field, c := range map[string]struct {
		same, other Change
		given       bool
	}{
		"endpoint":           {Change{Endpoint: new("https://here")}, Change{Endpoint: new("https://there")}, false},
		"caCert":             {Change{CACert: new("ca")}, Change{CACert: new("another")}, false},
		"scope":              {Change{Scope: &Scope{Region: "r"}}, Change{Scope: &Scope{}}, false},
		"insecureSkipVerify": {Change{InsecureSkipVerify: new(false)}, Change{InsecureSkipVerify: new(true)}, false},
		"serverName":         {Change{ServerName: new("name")}, Change{ServerName: new("")}, false},
		"credential":         {Change{Credential: Credential{Token: text}}, Change{}, true},
		"kubeconfig":         {Change{Kubeconfig: text}, Change{}, true},
		"cloudsYaml":         {Change{CloudsYAML: text}, Change{}, true},
		"namespace":          {Change{Namespace: new("n")}, Change{}, false},
		"sharedKinds":        {Change{SharedKinds: &[]string{}}, Change{}, false},
		"podsHeldBy":         {Change{PodsHeldBy: new("")}, Change{}, false},
	} {
		if !c.same.makesGeneration() || c.same.given() != c.given {
			t.Errorf("a change of %s makes a generation: %v, brings the credential: %v", field, c.same.makesGeneration(), c.same.given())
		}
		if err := c.same.leavesDestination(here); err != nil {
			t.Errorf("%s as it was: %v", field, err)
		}
		if reflect.ValueOf(c.other).IsZero() {
			continue
		}
		err, _ := errors.AsType[*Error](c.other.leavesDestination(here))
		if err == nil || err.Kind != ErrInvalid || err.Field != "credential" || !strings.HasPrefix(err.Detail, "changing "+field+" ") {
			t.Errorf("another %s: %v", field, err)
		}
		c.other.Credential.Token = text
		if err := c.other.leavesDestination(here); err != nil {
			t.Errorf("another %s with the credential: %v", field, err)
		}
	}
	if (Change{Name: new("n"), Extra: "{}"}).makesGeneration() {
		t.Error("a change of the name makes a generation")
	}
	file := secret.NewText("file")
	check(t, []said{
		{"nothing", Change{}.valid(), ""},
		{"a name", Change{Name: new("")}.valid(), "name: is required"},
		{"extra", Change{Extra: "[]"}.valid(), "extra: is not"},
		{"a reason", Change{Suspended: new(letters(256))}.valid(), "suspended: must be"},
		{"a short reason", Change{Suspended: new(letters(255))}.valid(), ""},
		{"a cloud of no file", Change{Cloud: "c"}.valid(), "cloud: selects"},
		{"a cloud of a file", Change{Cloud: "c", CloudsYAML: file}.valid(), ""},
		{"a context of no file", Change{Context: "c"}.valid(), "context: selects"},
		{"a context of a file", Change{Context: "c", Kubeconfig: file}.valid(), ""},
	})
}

// Two targets are one server where all that leads to it and knows it is the same.
func TestOneServer(t *testing.T) {
	here := Target{Endpoint: "https://here", CACert: "ca", ServerName: "name"}
	for field, change := range map[string]func(*Target){
		"endpoint":           func(t *Target) { t.Endpoint = "https://there" },
		"caCert":             func(t *Target) { t.CACert = "another" },
		"serverName":         func(t *Target) { t.ServerName = "another" },
		"insecureSkipVerify": func(t *Target) { t.InsecureSkipVerify = true },
	} {
		there := here
		if change(&there); here.sameServer(there) {
			t.Errorf("another %s is the same server", field)
		}
		now := VIM{Current: Generation{Identity: "uid", Target: there}}
		for _, c := range []struct {
			what string
			was  Generation
			err  error
			want bool
		}{
			{"no answer there", Generation{Identity: "uid", Target: here}, &Error{Kind: ErrUnreachable}, true},
			{"an answer there", Generation{Identity: "uid", Target: here}, &Error{Kind: ErrForbidden}, false},
			{"another system", Generation{Identity: "other", Target: here}, &Error{Kind: ErrUnreachable}, false},
			{"nothing else", Generation{Identity: "uid", Target: there}, &Error{Kind: ErrUnreachable}, false},
		} {
			if got := now.movedFrom(c.was, c.err); got != c.want {
				t.Errorf("%s changed, %s: moved is %v", field, c.what, got)
			}
		}
	}
	if other := (Target{Endpoint: "https://here", CACert: "ca", ServerName: "name", Namespace: "n"}); !here.sameServer(other) {
		t.Error("another namespace is another server")
	}
}

// The labels that tie a VIM to what made it are for parts of the broker, and come with a VIM that a request brings.
func TestLabelsOfTheBroker(t *testing.T) {
	change := Change{Labels: map[string]*string{LabelCluster: new("c")}}
	if err := change.tied(policy.Principal{Roles: []string{policy.RoleSystem}}); err != nil {
		t.Errorf("a part of the broker: %v", err)
	}
	err, _ := errors.AsType[*Error](change.tied(policy.Principal{Roles: []string{policy.RoleAdmin}}))
	if err == nil || err.Kind != ErrDenied || err.Field != "labels."+LabelCluster {
		t.Errorf("an administrator: %v", err)
	}
	r := &Registry{reserved: []string{"site/"}}
	ours, others := map[string]string{"site/a": "1"}, map[string]string{"b": "1"}
	for _, c := range []struct {
		what          string
		inline        bool
		before, after map[string]string
		want          bool
	}{
		{"reserved ones", false, nil, ours, true},
		{"others", false, nil, others, false},
		{"those of a VIM that came with a request", true, nil, ours, false},
		{"those of one that it changes", true, others, ours, true},
	} {
		got := slices.ContainsFunc(r.extraRights(&policy.VIMDraft{Inline: c.inline, LabelsBefore: c.before, Labels: c.after}), func(n extraRight) bool {
			return n.action == policy.VIMLabelReserved && n.field == "labels"
		})
		if got != c.want {
			t.Errorf("%s need a right of their own: %v", c.what, got)
		}
	}
	if got := withPrefix(map[string]string{"site/a": "1", "b": "2"}, "site/"); !maps.Equal(got, ours) {
		t.Errorf("withPrefix = %v", got)
	}
}

// A lease's wish says what its rules reach, and how wide it is.
func TestWishOfALease(t *testing.T) {
	rules := []Rule{{APIGroups: []string{"", "apps"}, Resources: []string{"pods"}, Verbs: []string{"get"}}}
	w := Wish(LeaseRequest{TTL: time.Hour, Rules: rules, For: "dave"}, GradeNamespaces)
	if !slices.Equal(w.Rules.Resources, []string{"pods", "pods.apps"}) || w.Standing || w.For != "dave" || w.Grade != string(GradeNamespaces) {
		t.Errorf("the wish is %+v", w)
	}
	for _, r := range []LeaseRequest{{Standing: true}, {Credential: LeaseUser}} {
		if !Wish(r, "").Standing {
			t.Errorf("%+v does not stand", r)
		}
	}
	for g, want := range map[Grade]bool{GradeBounded: false, GradeNamespaces: false, GradeUnbounded: true, "unknown": true, "": true} {
		if got := widerThan(g, GradeNamespaces); got != want {
			t.Errorf("%q is wider than %s: %v", g, GradeNamespaces, got)
		}
	}
	b := &Leaser{core: &core{}}
	for _, g := range []Graded{{Grade: "odd"}, {Grade: GradeBounded, Reasons: []string{"it says a-secret-of-the-VIM"}}} {
		cred := Credential{Token: secret.NewText("a-secret-of-the-VIM")}
		if _, err := b.grade(t.Context(), graded{g}, &opened{Access: Access{Credential: cred}}, Grant{}); err == nil {
			t.Errorf("%+v is taken for a grade", g)
		}
	}
}

// graded is a driver that grades every lease the same.
type graded struct{ is Graded }

func (g graded) Grade(context.Context, Access, Grant) (Graded, error) { return g.is, nil }
