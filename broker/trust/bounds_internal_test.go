package trust

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/testlog"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// jwk is a key that signs, as a set has it, with other members.
func jwk(t *testing.T, change func(*jose.JSONWebKey)) json.RawMessage {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	j := jose.JSONWebKey{Key: &key.PublicKey, KeyID: "k", Use: "sig"}
	change(&j)
	text, err := j.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestKeysThatSign(t *testing.T) {
	good := jwk(t, func(*jose.JSONWebKey) {})
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		keys []json.RawMessage
		want int
	}{
		"one":                  {[]json.RawMessage{good}, 1},
		"one that may do all":  {[]json.RawMessage{jwk(t, func(j *jose.JSONWebKey) { j.Use = "" })}, 1},
		"one that seals":       {[]json.RawMessage{good, jwk(t, func(j *jose.JSONWebKey) { j.Use = "enc" })}, 1},
		"one that is no key":   {[]json.RawMessage{good, json.RawMessage(`{"kty":"other"}`), json.RawMessage(`7`)}, 1},
		"one of no exponent":   {[]json.RawMessage{good, json.RawMessage(`{"kty":"RSA","n":"AQAB","e":"AA"}`)}, 1},
		"a private one":        {[]json.RawMessage{good, jwk(t, func(j *jose.JSONWebKey) { j.Key = private })}, 1},
		"as many as there may": {slices.Repeat([]json.RawMessage{good}, maxKeys), maxKeys},
		"one more":             {slices.Repeat([]json.RawMessage{good}, maxKeys+1), 0},
		"none that signs":      {[]json.RawMessage{json.RawMessage(`{"kty":"other"}`)}, 0},
		"none":                 {nil, 0},
	} {
		text, err := json.Marshal(map[string]any{"keys": c.keys})
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseKeys(text)
		if len(got) != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%s: %d keys, %v, want %d", name, len(got), err, c.want)
		}
	}
	for _, text := range []string{`{"keys":[`, `{"keys":[` + string(good) + `],"keys":7}`} {
		if got, err := parseKeys([]byte(text)); err == nil || got != nil {
			t.Errorf("the set %.40s is %v", text, got)
		}
	}
}

func TestTheKeyOfAToken(t *testing.T) {
	key := func(id, algorithm string) jose.JSONWebKey { return jose.JSONWebKey{KeyID: id, Algorithm: algorithm} }
	k := &known{keys: []jose.JSONWebKey{key("a", "ES256"), key("b", "RS256"), key("c", ""), key("b", "ES256")}}
	for _, c := range []struct{ id, algorithm, want string }{
		{"a", "ES256", "a"},
		{"a", "RS256", ""},
		{"b", "RS256", "b"},
		{"b", "ES256", "b"},
		{"c", "PS256", "c"},
		{"", "PS256", "c"},
		{"", "ES256", ""},
		{"d", "ES256", ""},
	} {
		if got, ok := k.find(c.id, c.algorithm); got.KeyID != c.want || ok != (c.want != "") {
			t.Errorf("the key %q for %s is %q, %t", c.id, c.algorithm, got.KeyID, ok)
		}
	}
	for _, c := range []struct {
		k            *known
		asked        bool
		due, counts  bool
		whichIsAbout string
	}{
		{nil, false, true, false, "nothing known"},
		{&known{}, false, true, false, "nothing tried"},
		{&known{tried: noon, fetched: noon}, true, false, true, "now"},
		{&known{tried: noon.Add(1 - askAgain), fetched: noon}, true, false, true, "asked too soon"},
		{&known{tried: noon.Add(-askAgain), fetched: noon}, true, true, true, "asked again"},
		{&known{tried: noon.Add(-askAgain), fetched: noon}, false, false, true, "not asked"},
		{&known{tried: noon.Add(-askAgain), fetched: noon, fault: "away"}, false, true, true, "away"},
		{&known{tried: noon.Add(1 - freshFor), fetched: noon}, false, false, true, "fresh"},
		{&known{tried: noon.Add(-freshFor), fetched: noon}, false, true, true, "not fresh"},
		{&known{tried: noon, fetched: noon.Add(1 - KeepFor)}, false, false, true, "old"},
		{&known{tried: noon, fetched: noon.Add(-KeepFor)}, false, false, false, "too old"},
	} {
		if due, counts := c.k.due(noon, c.asked), c.k.counts(noon); due != c.due || counts != c.counts {
			t.Errorf("%s: due %t, counts %t", c.whichIsAbout, due, counts)
		}
	}
	cluster := &row{Authority: Authority{VIM: "v"}} // whose keys are not known, and then not to be had
	none := &table{rows: []*row{{Authority: Authority{VIM: "w"}}, cluster}}
	for _, state := range []*known{nil, {fault: "away"}} {
		cluster.keys.Store(state)
		if got := none.find("", ""); got != nil {
			t.Errorf("a token without an issuer is of a cluster whose keys are %+v", state)
		}
	}
	one := Authority{Issuer: "i", VIM: "v", CA: "c", Keys: "k"}
	for what, edit := range map[string]func(*Authority){
		"issuer": func(e *Authority) { e.Issuer = "" }, "vim": func(e *Authority) { e.VIM = "" }, "ca": func(e *Authority) { e.CA = "" }, "keys": func(e *Authority) { e.Keys = "" },
	} {
		other := one
		edit(&other)
		if sameKeys(one, other) || sameKeys(other, one) || !sameKeys(other, other) {
			t.Errorf("keys of an entry with another %s are the same", what)
		}
	}
}

// deaf is a store and a source that nobody gets an answer of.
type deaf struct{ Store }

func (deaf) TrustEntries(context.Context) ([]Listed, error) { return nil, errors.New("away") }

func (deaf) Keys(context.Context, Authority) (string, []byte, error) {
	return "", nil, errors.New("away")
}

// Keys are asked for of who publishes them, and a change is told by the fields that differ, in their order.
func TestWordsOfEntries(t *testing.T) {
	for _, c := range []struct {
		e    Authority
		want bool
	}{
		{Authority{VIM: "v"}, true}, {Authority{Issuer: "i"}, true}, {Authority{Issuer: "i", Keys: "k"}, false}, {Authority{Keys: "k"}, false}, {Authority{}, false},
	} {
		if got := c.e.fetched(); got != c.want {
			t.Errorf("the keys of %+v are asked for: %t", c.e, got)
		}
	}
	if sum("") != "" || sum("x") != "sha256:"+policy.Digest("x")[:16] {
		t.Errorf("digests are %q and %q", sum(""), sum("x"))
	}
	hub := Authority{Name: "hub", VIM: "core/hub", Principals: []Mapping{{Match: map[string]string{"serviceaccount": "a:b"}, Project: "p", Roles: []string{"member"}}}}.WithDefaults()
	other := hub
	other.Name, other.VIM = "other", "core/other"
	if err := beside([]Listed{{Authority: other}}, hub); err != nil {
		t.Errorf("two entries without an issuer stand not beside each other: %v", err)
	}
	table := &Table{Gatekeeper: New(Options{Log: testlog.Silent(t)})}
	table.Replace([]Authority{other})
	if err := table.changeable(policy.TrustCreate, hub); err != nil {
		t.Errorf("an entry without an issuer beside one of the configuration: %v", err)
	}
	changed := hub
	changed.Audience, changed.Once = "elsewhere", true
	said := differences(hub, changed, policy.TrustUpdate)
	var fields []string
	for i := 0; i < len(said); i += 4 {
		fields = append(fields, said[i])
	}
	if len(fields) != 2 || !slices.IsSorted(fields) {
		t.Errorf("the change is told as %q", said)
	}
	mesh := Authority{Name: "mesh", Certificates: &Certificates{CA: "one"}}.WithDefaults()
	renewed := mesh
	renewed.Certificates = &Certificates{CA: "two"}
	if got := differences(mesh, renewed, policy.TrustUpdate); !slices.Equal(got, []string{"old.certificates", sum("one"), "new.certificates", sum("two")}) {
		t.Errorf("another authority is told as %q", got)
	}
	for name, rules := range map[string][]Mapping{"people": hub.Principals, "clients": nil} {
		mesh.Principals = rules
		<-table.wake // which each exchange of entries asks for
		table.Replace([]Authority{mesh})
		if callers, clients := table.Authorities(); callers == nil || (clients != nil) != (name == "clients") {
			t.Errorf("the authorities of %s are those of callers: %t, of clients: %t", name, callers != nil, clients != nil)
		}
	}
	claims := Claims{"email": "a@b", "amr": []any{"mfa", 7.0}, "azp": []any{"x"}, "auth_time": 7.0, "groups": "one", "scope": true, "other": "y"}
	if got := fmt.Sprint(claims.allowed()); got != "map[amr:[mfa] auth_time:[7] email:[a@b] groups:[one] scope:[true]]" {
		t.Errorf("policies may see %s", got)
	}
	for value, good := range map[string]bool{"a b": true, "é": true, "a\x1f": false, "a\x7f": false, "\n": false, "": false, strings.Repeat("x", maxClaim): true, strings.Repeat("x", maxClaim+1): false} {
		if _, ok := fill("{email}", Claims{"email": value}); ok != good {
			t.Errorf("the claim %.9q fills a name: %t", value, ok)
		}
	}
	for platform := range particulars {
		nobody := hub
		nobody.Platform, nobody.Principals[0].Match = platform, map[string]string{"sub": "*"}
		if got := nobody.Principals[0].faults(nobody); len(got) != 1 || got[0].Text != "names nobody in particular: a claim must have a pattern that is more than *" {
			t.Errorf("a rule of %s for everybody: %+v", platform, got)
		}
	}
}

// fickle is a store with one entry, and a source that answers as it is told to.
type fickle struct {
	Store
	kept Listed
	set  json.RawMessage
}

func (f *fickle) TrustEntries(context.Context) ([]Listed, error) { return []Listed{f.kept}, nil }

func (f *fickle) Keys(context.Context, Authority) (string, []byte, error) {
	if f.set == nil {
		return "", nil, errors.New("away")
	}
	return f.kept.Issuer, f.set, nil
}

// That keys are not to be had is told once, and that they are again; a first success is no news.
func TestKeysThatAreAwayAreToldOnce(t *testing.T) {
	var log strings.Builder
	good, err := json.Marshal(map[string]any{"keys": []json.RawMessage{jwk(t, func(*jose.JSONWebKey) {})}})
	if err != nil {
		t.Fatal(err)
	}
	at, changed := noon, make(chan struct{}, 1)
	f := &fickle{set: good, kept: Listed{Authority: Authority{
		Name: "corp", Issuer: "https://id.example", Principals: []Mapping{{Match: map[string]string{"sub": "a"}, Project: "p", Roles: []string{"member"}}},
	}}}
	c := New(Options{
		Store: f, Source: f, Log: testlog.To(t, slog.NewTextHandler(&log, nil)), Now: func() time.Time { return at },
		Changed: func(context.Context) { changed <- struct{}{} },
	})
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		set   json.RawMessage
		fault string
		told  string
	}{
		{good, "", ""},
		{nil, "keys are not to be had of corp (away)", "are not to be had"},
		{nil, "keys are not to be had of corp (away)", ""},
		{good, "", "are to be had again"},
		{good, "", ""},
	} {
		f.set = step.set
		log.Reset()
		at = at.Add(freshFor)
		corp := c.table.Load().rows[0]
		corp.asked.Store(true)
		if c.Refresh(t.Context()); corp.asked.Load() {
			t.Error("keys that were just asked for are still to be asked for")
		}
		if lines := strings.Count(log.String(), "\n"); c.Fault() != step.fault || !strings.Contains(log.String(), step.told) || (lines == 1) != (step.told != "") || lines > 1 {
			t.Errorf("after an answer %.9s the fault is %q, and the log has %q", step.set, c.Fault(), log.String())
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	c.Run(ended)
	<-changed // whoever is to know of the entries that were loaded
}

// A token with a key that is not known has the issuer asked, once in a while; what fails after the end is nobody's news.
func TestWhenKeysAreAskedFor(t *testing.T) {
	var log strings.Builder
	c := New(Options{Store: deaf{}, Source: deaf{}, Log: testlog.To(t, slog.NewTextHandler(&log, nil)), Now: func() time.Time { return noon }})
	for name, x := range map[string]struct {
		k     *known
		asked bool
		wakes bool
	}{
		"tried long ago":       {&known{tried: noon.Add(-askAgain), fetched: noon}, false, true},
		"tried just now":       {&known{tried: noon, fetched: noon}, false, false},
		"asked for already":    {&known{tried: noon.Add(-askAgain), fetched: noon}, true, false},
		"nothing known so far": {nil, false, true},
	} {
		r := &row{Authority: Authority{Name: "corp", Algorithms: []string{"ES256"}}}
		r.keys.Store(x.k)
		r.asked.Store(x.asked)
		if _, err := c.key(r, header{Algorithm: "ES256", KeyID: "k"}); err == nil || !r.asked.Load() {
			t.Errorf("%s: the key is %v, asked for: %t", name, err, r.asked.Load())
		}
		woken := len(c.wake) > 0
		if woken {
			<-c.wake
		}
		if woken != x.wakes {
			t.Errorf("%s: the issuer is asked: %t", name, woken)
		}
	}
	// An issuer that is being asked is not asked twice, and nothing is known of it meanwhile.
	busy := &row{Authority: Authority{Name: "corp", Issuer: "i"}}
	busy.fetching.Store(true)
	c.table.Store(&table{rows: []*row{busy}})
	if c.Refresh(t.Context()); busy.keys.Load() != nil {
		t.Errorf("of an issuer that is being asked is known %+v", busy.keys.Load())
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if c.Run(ended); log.String() != "" {
		t.Errorf("the log has:\n%s", log.String())
	}
}

func TestTimesOfAToken(t *testing.T) {
	at := func(d time.Duration) float64 { return float64(noon.Add(d).Unix()) }
	for name, c := range map[string]struct {
		claims Claims
		want   string
	}{
		"good":                     {Claims{"exp": at(time.Hour), "iat": at(0)}, ""},
		"good from now":            {Claims{"exp": at(time.Hour), "iat": at(0), "nbf": at(0)}, ""},
		"by a clock that is ahead": {Claims{"exp": at(time.Hour), "iat": at(skew), "nbf": at(skew)}, ""},
		"a whole life":             {Claims{"exp": at(time.Hour), "iat": at(-time.Hour)}, ""},
		"longer":                   {Claims{"exp": at(time.Hour), "iat": at(-time.Hour - time.Second)}, reasonLife},
		"at its end":               {Claims{"exp": at(0), "iat": at(-time.Hour)}, reasonExpired},
		"made later":               {Claims{"exp": at(time.Hour), "iat": at(skew + time.Second)}, reasonEarly},
		"good later":               {Claims{"exp": at(time.Hour), "iat": at(0), "nbf": at(skew + time.Second)}, reasonEarly},
		"without an end":           {Claims{"iat": at(0)}, reasonTimes},
		"without a begin":          {Claims{"exp": at(time.Hour)}, reasonTimes},
		"an end in words":          {Claims{"exp": "1", "iat": at(0)}, reasonTimes},
		"from before all":          {Claims{"exp": at(time.Hour), "iat": at(0), "nbf": -1.0}, reasonTimes},
		"from the beginning":       {Claims{"exp": at(time.Hour), "iat": at(0), "nbf": 0.0}, ""},
		"for ever":                 {Claims{"exp": float64(1 << 40), "iat": at(0)}, reasonLife},
		"for longer than that":     {Claims{"exp": float64(1<<40 + 1), "iat": at(0)}, reasonTimes},
	} {
		if _, got := (Authority{MaxLife: 2 * time.Hour}).times(c.claims, noon); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for _, c := range []struct {
		wants string
		h     header
		want  string
	}{
		{"", header{Algorithm: "ES256"}, ""},
		{"", header{Algorithm: "ES256", Type: "JWT"}, ""},
		{"", header{Algorithm: "ES256", Type: "application/at+jwt"}, ""},
		{"", header{Algorithm: "ES256", Type: "logout+jwt"}, reasonType},
		{"logout+jwt", header{Algorithm: "ES256", Type: "Logout+JWT"}, ""},
		{"logout+jwt", header{Algorithm: "ES256", Type: "JWT"}, reasonType},
		{"", header{Algorithm: "ES256", Content: "JWT"}, reasonType},
		{"", header{Algorithm: "HS256"}, reasonAlgorithm},
	} {
		if got := (Authority{Algorithms: []string{"ES256"}, Type: c.wants}).accepts(c.h); got != c.want {
			t.Errorf("%+v where %q is wanted: %q, want %q", c.h, c.wants, got, c.want)
		}
	}
	for sub, want := range map[any]bool{
		"a": true, " ~": true, strings.Repeat("x", maxSubject): true, "": false, strings.Repeat("x", maxSubject+1): false, "a\x1f": false, "\x7f": false, 7: false,
	} {
		if _, got := (Claims{"sub": sub}).subject(); got != want {
			t.Errorf("the subject %.20q is one: %t", sub, got)
		}
	}
	if _, got := (Claims{}).subject(); got {
		t.Error("a token without a subject has one")
	}
}

func TestTheFormOfAToken(t *testing.T) {
	const head, body = "eyJhbGciOiJub25lIn0", "eyJpc3MiOiJpIn0"
	long := strings.Repeat("A", maxToken-len(head+"."+body+"."))
	for token, want := range map[string]string{
		head + "." + body + ".AA": "i", head + "." + body + "." + long: "i",
		head + "." + body + "." + long + "A": "", head + "." + body + ".": "", head + "." + body: "", head + "!." + body + ".AA": "", head + "." + body + "!.AA": "", "x" + head + "." + body + ".AA": "",
		head + "." + body + ".AA.BB": "", "e" + body[1:] + "." + body[:7] + ".AA": "",
	} {
		if got := IssuerOf(token); got != want {
			t.Errorf("the issuer of %.60s, of %d bytes, is %q", token, len(token), got)
		}
	}
}

func TestAccountsOfAToken(t *testing.T) {
	bound := func(edit func(account map[string]any, all Claims)) Claims {
		account := map[string]any{"namespace": "n", "serviceaccount": map[string]any{"name": "a", "uid": "u"}}
		all := Claims{"sub": "system:serviceaccount:n:a", "kubernetes.io": account}
		edit(account, all)
		return all
	}
	for name, c := range map[string]struct {
		claims Claims
		want   string
	}{
		"an account":   {bound(func(map[string]any, Claims) {}), "n:a map[namespace:n serviceaccount:n:a]"},
		"of a pod":     {bound(func(a map[string]any, _ Claims) { a["pod"] = map[string]any{"name": "p"} }), "n:a map[namespace:n pod:p serviceaccount:n:a]"},
		"no namespace": {bound(func(a map[string]any, all Claims) { delete(a, "namespace"); all["sub"] = "system:serviceaccount::a" }), ""},
		"no name": {bound(func(a map[string]any, all Claims) {
			a["serviceaccount"] = map[string]any{"uid": "u"}
			all["sub"] = "system:serviceaccount:n:"
		}), ""},
		"no uid":          {bound(func(a map[string]any, _ Claims) { a["serviceaccount"] = map[string]any{"name": "a"} }), ""},
		"another subject": {bound(func(_ map[string]any, all Claims) { all["sub"] = "system:serviceaccount:n:b" }), ""},
		"not bound":       {Claims{"sub": "system:serviceaccount:n:a"}, ""},
	} {
		subject, account, ok := c.claims.account()
		got := ""
		if ok {
			got = fmt.Sprint(subject, " ", map[string]any(account))
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The first rule that matches and makes a principal counts; one that matches and makes none is left for the next.
func TestTheFirstRuleThatMakesAPrincipalCounts(t *testing.T) {
	of := func(project, name string, projects ...string) Mapping {
		return Mapping{Match: map[string]string{"sub": "alice"}, Project: project, Projects: projects, Name: name, Roles: []string{project}}
	}
	another := Mapping{Match: map[string]string{"sub": "bob"}, Project: "d", Roles: []string{"d"}}
	for _, c := range []struct {
		rules []Mapping
		want  string
		at    int
	}{
		{[]Mapping{of("a", ""), of("b", "")}, "a", 0},
		{[]Mapping{another, of("b", "")}, "b", 1},
		{[]Mapping{of("a", "{none}"), of("b", "")}, "b", 1},
		{[]Mapping{of("{none}", "", "a"), another, of("{tenant}", "", "x"), of("{tenant}", "", "x", "c")}, "c", 3},
		{[]Mapping{of("a", "{none}"), another}, "", 0},
		{nil, "", 0},
	} {
		p, at, ok := Authority{Name: "corp", Principals: c.rules}.principal("alice", Claims{"sub": "alice", "tenant": "c"})
		if p.Project != c.want || at != c.at || ok != (c.want != "") || ok && !slices.Equal(p.Roles, c.rules[c.at].Roles) {
			t.Errorf("%v make %+v by rule %d, %t; want one of %q by %d", c.rules, p, at, ok, c.want, c.at)
		}
	}
}

// Each part of an entry that is another one is told as it was and as it is, and no other part is.
func TestEveryChangeOfAnEntryIsTold(t *testing.T) {
	before := func() Authority {
		return Authority{
			Name: "corp", Issuer: "https://a.example", Algorithms: []string{"ES256"}, Login: &Signin{ClientID: "c", Scopes: []string{"a"}},
			Certificates: &Certificates{CA: "ca", CRL: "crl"},
			Principals:   []Mapping{{Match: map[string]string{"sub": "a"}, Project: "p", Roles: []string{"r"}}, {Project: "q"}},
		}
	}
	for _, c := range []struct {
		field  string
		change func(*Authority)
	}{
		{"issuer", func(e *Authority) { e.Issuer = "https://b.example" }},
		{"vim", func(e *Authority) { e.VIM = "edge" }},
		{"audience", func(e *Authority) { e.Audience = "x" }},
		{"algorithms", func(e *Authority) { e.Algorithms = []string{"ES256", "RS256"} }},
		{"keys", func(e *Authority) { e.Keys = "k" }},
		{"ca", func(e *Authority) { e.CA = "c" }},
		{"type", func(e *Authority) { e.Type = "at+jwt" }},
		{"maxLife", func(e *Authority) { e.MaxLife = time.Hour }},
		{"once", func(e *Authority) { e.Once = true }},
		{"platform", func(e *Authority) { e.Platform = GitLab }},
		{"hold", func(e *Authority) { e.Hold = time.Minute }},
		{"login", func(e *Authority) { e.Login.ClientID = "d" }},
		{"login", func(e *Authority) { e.Login.Scopes = []string{"a", "b"} }},
		{"login", func(e *Authority) { e.Login = nil }},
		{"certificates", func(e *Authority) { e.Certificates.CA = "x" }},
		{"certificates", func(e *Authority) { e.Certificates.CRL = "x" }},
		{"certificates", func(e *Authority) { e.Certificates = nil }},
		{"principals[0]", func(e *Authority) { e.Principals[0].Match["sub"] = "b" }},
		{"principals[0]", func(e *Authority) { e.Principals[0].Name = "{x}" }},
		{"principals[0]", func(e *Authority) { e.Principals[0].Projects = []string{"p"} }},
		{"principals[1]", func(e *Authority) { e.Principals[1].Project = "r" }},
		{"principals[1]", func(e *Authority) { e.Principals[1].Roles = []string{"r"} }},
		{"principals[1]", func(e *Authority) { e.Principals = e.Principals[:1] }},
		{"principals[2]", func(e *Authority) { e.Principals = append(e.Principals, Mapping{Project: "r"}) }},
	} {
		after := before()
		c.change(&after)
		told := differences(before().WithDefaults(), after, policy.TrustUpdate)
		if len(told) != 4 || told[0] != audit.DetailOld+c.field || told[2] != audit.DetailNew+c.field || told[1] == told[3] {
			t.Errorf("another %s (%+v) is told as %q", c.field, after, told)
		}
	}
	if told := differences(before().WithDefaults(), before(), policy.TrustUpdate); len(told) > 0 {
		t.Errorf("no change is told as %q", told)
	}
}

func TestRulesMatchAndSayWhy(t *testing.T) {
	rule := func(name string, match ...string) Mapping {
		r := Mapping{Match: map[string]string{}, Project: "core", Name: name, Roles: []string{"member"}}
		for i := 0; i < len(match); i += 2 {
			r.Match[match[i]] = match[i+1]
		}
		return r
	}
	claims := Claims{"sub": "alice", "groups": []any{"noc", 7}, "in": map[string]any{"er": "x"}, "on": true, "ref": []any{"main"}}
	for _, c := range []struct {
		r    Mapping
		want bool
		why  string
	}{
		{rule("", "sub", "alice"), true, ""},
		{rule("", "groups", "noc"), true, ""},
		{rule("", "in.er", "x"), true, ""},
		{rule("", "on", "true"), true, ""},
		{rule(""), false, ""},
		{rule("", "sub", "bob"), false, `sub is "alice", and must be "bob"`},
		{rule("", "sub", "alice", "none", "*"), false, "none is not in the token"},
		{rule("", "in", "*"), false, `in is "{\"er\":\"x\"}", and must be "*"`},
		{rule("", "ref", "main"), false, `ref is "[\"main\"]", and must be "main"`},
		{rule("", "groups", "n*"), false, `groups is "[\"noc\",7]", and must be "n*"`},
		{rule("", "in", ""), false, `in is "{\"er\":\"x\"}", and must be ""`},
		{rule("", "sub.er", "x"), false, "sub.er is not in the token"},
		{rule("", "sub", "bob", "none", "x"), false, `none is not in the token; sub is "alice", and must be "bob"`},
		{rule("{none}", "sub", "alice"), true, "project and name need claims that the token does not have, or a project that is not among projects"},
		{rule("{none}", "sub", "bob"), false, `sub is "alice", and must be "bob"`},
	} {
		if got := c.r.matches(claims); got != c.want {
			t.Errorf("%v matches: %t", c.r.Match, got)
		}
		if got := (Authority{Principals: []Mapping{c.r}}).why("alice", claims); len(got) != 1 || got[0] != "principals[0]: "+c.why {
			t.Errorf("%v: %q, want %q", c.r.Match, got, c.why)
		}
	}
	if got := shortly(strings.Repeat("x", maxClaim+9)); got != `"`+strings.Repeat("x", maxClaim)+`"` {
		t.Errorf("a long claim is told in %d bytes", len(got))
	}
}

// What clusters said is forgotten after its time, and all of it when it is too much.
func TestReviewsAreForgotten(t *testing.T) {
	var r reviews
	r.put("a", true, noon)
	for n := range maxReviews - 1 {
		r.put(fmt.Sprint(n), false, noon)
	}
	if taken, known := r.get("a", noon.Add(ReviewFor-1)); !taken || !known {
		t.Error("what was said is forgotten before its time")
	}
	if _, known := r.get("a", noon.Add(ReviewFor)); known {
		t.Error("what was said counts for longer than its time")
	}
	r.put("one more", true, noon)
	if _, known := r.get("a", noon); known || len(r.said) != 1 {
		t.Errorf("%d are remembered", len(r.said))
	}
}
