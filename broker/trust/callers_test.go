package trust_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/drivers/issuer"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
	fake "github.com/vimbroker/vimbroker/test/issuer"
	"github.com/vimbroker/vimbroker/test/testlog"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// used remembers the tokens that were used.
type used struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (u *used) UseOnce(_ context.Context, id string, _ time.Time) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.seen[id] {
		return &broker.Error{Kind: broker.ErrExists}
	}
	u.seen[id] = true
	return nil
}

func (u *used) ForgetUsed(context.Context, time.Time) error { return nil }

func (u *used) TrustEntries(context.Context) ([]trust.Listed, error) { return nil, nil }

func (u *used) ChangeTrust(context.Context, func([]trust.Listed) ([]trust.Listed, error), audit.Entry) error {
	return nil
}

// bench are callers with one issuer.
type bench struct {
	*trust.Gatekeeper
	*testing.T
	clock  *clock.Clock
	issuer *fake.Issuer
	review func(vim, token, audience string) (bool, error)
	other  *fake.Issuer // of the cluster core/hub-2
}

func (b *bench) Review(_ context.Context, vim, token, audience string) (bool, error) {
	return b.review(vim, token, audience)
}

func newBench(t *testing.T, entries ...trust.Authority) *bench {
	t.Helper()
	b := &bench{T: t, clock: clock.New(noon), issuer: fake.New(t)}
	b.issuer.Now = b.clock.Now
	rules, err := egress.Parse(true, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Gatekeeper = trust.New(trust.Options{
		Source: issuer.Driver{Egress: func() *egress.Rules { return rules }, Clusters: b}, Reviewer: b, Store: &used{seen: map[string]bool{}},
		Log: testlog.Silent(t), Now: b.clock.Now,
	})
	b.use(entries...)
	b.Refresh(t.Context())
	return b
}

// use exchanges the table; an entry without issuer has the bench's.
func (b *bench) use(entries ...trust.Authority) {
	b.Helper()
	for i, e := range entries {
		if e.Issuer == "" && e.VIM == "" && !e.Certified() {
			e.Issuer = b.issuer.URL
		}
		if entries[i] = e.WithDefaults(); len(entries[i].Flaws()) > 0 {
			b.Fatalf("the entry %s has faults: %v", e.Name, entries[i].Flaws())
		}
	}
	b.Replace(entries)
}

// IssuerKeys is a cluster whose accounts the issuer signs for.
func (b *bench) IssuerKeys(_ context.Context, vim string) (string, []byte, error) {
	if vim == "core/hub-2" {
		return b.other.URL, b.other.JWKS(), nil
	}
	return b.issuer.URL, b.issuer.JWKS(), nil
}

// corp is an entry for alice, and for pipelines of acme/edge in prod.
func corp() trust.Authority {
	return trust.Authority{Name: "corp", Principals: []trust.Mapping{
		{Match: map[string]string{"sub": "alice"}, Project: "core", Roles: []string{"member"}},
		{Match: map[string]string{"repository": "acme/edge", "environment": "prod", "ref_protected": "true"}, Project: "acme", Roles: []string{"ci"}},
	}}
}

func reasonOf(err error) string {
	var refused *policy.RefusedLogin
	if !errors.As(err, &refused) || !errors.Is(err, policy.ErrUnauthenticated) {
		return fmt.Sprint("no refusal: ", err)
	}
	return refused.Reason
}

func TestForgedTokensAreRefused(t *testing.T) {
	b := newBench(t, corp())
	if p, err := b.Authenticate(t.Context(), b.issuer.Token("alice", nil)); err != nil || p.Name != "oidc:corp:alice" {
		t.Fatalf("a good token = %+v, %v", p, err)
	}
	forged := b.issuer.Forged()
	if len(forged) < 40 {
		t.Errorf("the table has %d tokens", len(forged))
	}
	// The first fault that is found is told, and none after it.
	forged["late, and for others"] = [2]string{b.issuer.Token("alice", map[string]any{"exp": 1, "aud": "others"}), "expired"}
	for what, f := range forged {
		p, err := b.Authenticate(t.Context(), f[0])
		if reason := reasonOf(err); p.Name != "" || f[1] != "" && reason != f[1] || strings.Contains(fmt.Sprint(err), f[0]) {
			t.Errorf("%s = %+v, %v (%s), want a refusal: %s", what, p, err, reason, f[1])
		}
	}
}

func TestATokenMakesAPrincipal(t *testing.T) {
	e := corp()
	e.Principals = append(e.Principals,
		trust.Mapping{
			Match: map[string]string{"groups": "noc"}, Name: "{preferred_username}", Project: "{tenant}", Projects: []string{"t1", "t2"},
			Roles: []string{"member"},
		},
		trust.Mapping{Match: map[string]string{"teams": "a*"}, Project: "teams", Roles: []string{"member"}},
		trust.Mapping{Match: map[string]string{"realm_access.roles": "ops", "email": "*@acme.example"}, Project: "ops", Roles: []string{"reader", "x"}},
	)
	b := newBench(t, e)
	who := func(subject string, claims map[string]any) string {
		p, err := b.Authenticate(t.Context(), b.issuer.Token(subject, claims))
		if err != nil {
			return reasonOf(err)
		}
		return strings.Join([]string{p.Name, p.Login.Shown, p.Project, strings.Join(p.Roles, ",")}, " ")
	}
	noc := map[string]any{"groups": []string{"dev", "noc"}, "preferred_username": "Bob B.", "tenant": "t2"}
	with := func(over map[string]any) map[string]any {
		all := map[string]any{}
		for _, m := range []map[string]any{noc, over} {
			for k, v := range m {
				all[k] = v
			}
		}
		return all
	}
	const nobody = "no rule matches its claims"
	got := map[string]string{}
	want := map[string]string{}
	for what, c := range map[string]struct {
		subject string
		claims  map[string]any
		want    string
	}{
		"the first rule":              {"alice", noc, "oidc:corp:alice alice core member"},
		"a group, project by claim":   {"b1", noc, "oidc:corp:b1 Bob B. t2 member"},
		"a project that is not there": {"b1", with(map[string]any{"tenant": "t3"}), nobody},
		"no project":                  {"b1", with(map[string]any{"tenant": nil}), nobody},
		"a list of projects":          {"b1", with(map[string]any{"tenant": []string{"t1"}}), nobody},
		"no name":                     {"b1", with(map[string]any{"preferred_username": nil}), nobody},
		"a name of many lines":        {"b1", with(map[string]any{"preferred_username": "a\nb"}), nobody},
		"a group that is a part":      {"b1", with(map[string]any{"groups": []string{"nocturnal"}}), nobody},
		"a pattern for a list":        {"t", map[string]any{"teams": []string{"ab"}}, nobody},
		"a pattern for a text":        {"t", map[string]any{"teams": "ab"}, "oidc:corp:t t teams member"},
		"a group that is a text":      {"b1", with(map[string]any{"groups": "noc"}), "oidc:corp:b1 Bob B. t2 member"},
		"a pattern in a claim":        {"b1", with(map[string]any{"groups": []string{"*"}}), nobody},
		"a claim within another":      {"c", map[string]any{"realm_access": map[string]any{"roles": []string{"ops"}}, "email": "c@acme.example"}, "oidc:corp:c c ops reader,x"},
		"only the end matches":        {"c", map[string]any{"realm_access": map[string]any{"roles": []string{"ops"}}, "email": "c@acme.example.evil.example"}, nobody},
		"a subject with odd letters":  {"a b%:c", map[string]any{"groups": "noc", "preferred_username": "x", "tenant": "t1"}, "oidc:corp:a%20b%25:c x t1 member"},
		"a pipeline":                  {"r", map[string]any{"repository": "acme/edge", "environment": "prod", "ref_protected": true}, "oidc:corp:r r acme ci"},
	} {
		got[what], want[what] = who(c.subject, c.claims), c.want
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("principals (-want +got):\n%s", diff)
	}
	p, err := b.Authenticate(t.Context(), b.issuer.Token("alice", map[string]any{"acr": "gold", "amr": []string{"otp"}, "auth_time": 5, "secret": "x", "azp": []string{"a"}}))
	if diff := cmp.Diff(map[string][]string{"acr": {"gold"}, "amr": {"otp"}, "auth_time": {"5"}}, p.Claims); err != nil || diff != "" {
		t.Errorf("claims for policies: %v (-want +got):\n%s", err, diff)
	}
}

func TestATokenIsTakenOnce(t *testing.T) {
	e, another := corp(), fake.New(t)
	e.Once, another.Now = true, func() time.Time { return noon }
	other := e
	other.Name, other.Issuer = "other", another.URL
	b := newBench(t, e, other)
	token := b.issuer.Token("alice", map[string]any{"jti": "a"})
	if _, err := b.Authenticate(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	for what, token := range map[string]string{
		"again": token, "another with its id": b.issuer.Token("alice", map[string]any{"jti": "a", "x": 1}), "without id": b.issuer.Token("alice", nil),
	} {
		if _, err := b.Authenticate(t.Context(), token); reasonOf(err) != "used before, or without jti" {
			t.Errorf("%s: %v", what, err)
		}
	}
	// Each issuer has ids of its own.
	for _, want := range []string{"", "used before, or without jti"} {
		_, err := b.Authenticate(t.Context(), another.Token("alice", map[string]any{"jti": "a"}))
		if want == "" && err != nil || want != "" && reasonOf(err) != want {
			t.Errorf("another issuer's with its id: %v, want %q", err, want)
		}
	}
}

func TestKeysRotateInTheBackground(t *testing.T) {
	b := newBench(t, corp())
	var wrong sync.Map
	var clients sync.WaitGroup
	ask := func(token string) {
		for range 64 {
			clients.Go(func() {
				if _, err := b.Authenticate(t.Context(), token); err != nil {
					wrong.Store(err.Error(), true)
				}
			})
		}
	}
	hour := func() map[string]any { return map[string]any{"exp": b.clock.Now().Add(time.Hour).Unix()} }
	before := b.issuer.Token("alice", hour())
	for n := range 3 { // each key is published before it signs, as issuers do
		ask(before)
		b.issuer.Rotate(fmt.Sprint("r", n))
		b.clock.Add(5 * time.Minute)
		before = b.issuer.Token("alice", hour())
		b.Refresh(t.Context())
		ask(before)
		clients.Wait()
	}
	wrong.Range(func(err, _ any) bool { t.Errorf("a call was refused while keys rotated: %v", err); return true })

	// A key that nobody knows yet is refused at once; however often it is shown, the issuer is asked once.
	b.issuer.Rotate("sudden")
	sudden := b.issuer.Token("alice", nil)
	asked := b.issuer.Asked()
	for range 50 {
		if _, err := b.Authenticate(t.Context(), sudden); reasonOf(err) != "unknown key" {
			t.Fatalf("a token with a key that is not known yet: %v", err)
		}
		b.Refresh(t.Context())
	}
	if n := b.issuer.Asked() - asked; n != 0 {
		t.Errorf("the issuer was asked %d times within ten seconds", n)
	}
	b.clock.Add(10 * time.Second)
	for range 50 {
		_, _ = b.Authenticate(t.Context(), b.issuer.Forged()["kid unknown"][0])
		b.Refresh(t.Context())
	}
	if n := b.issuer.Asked() - asked; n != 2 {
		t.Errorf("the issuer was asked %d times, want its document and its keys once", n)
	}
	if _, err := b.Authenticate(t.Context(), sudden); err != nil {
		t.Errorf("a token with a key that is known by now: %v", err)
	}
}

func TestAnIssuerThatIsAwayKeepsItsKeysForADay(t *testing.T) {
	b := newBench(t, corp())
	token := func() string { return b.issuer.Token("alice", nil) }
	had := b.States()[0].Fetched
	for what, answer := range map[string]http.HandlerFunc{
		"an error": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.example"+r.URL.Path, http.StatusFound)
		},
		"10 MB": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"x":"`+strings.Repeat("x", 10<<20)+`"}`)
		},
		"another issuer": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/keys" {
				_, _ = w.Write(b.issuer.JWKS())
				return
			}
			_, _ = io.WriteString(w, `{"issuer":"https://evil.example","jwks_uri":"`+b.issuer.URL+`/keys"}`)
		},
		"keys at plain ftp": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"issuer":"`+b.issuer.URL+`","jwks_uri":"ftp://x/keys"}`)
		},
		"no JSON": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "canary-page") },
		"no keys": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"issuer":"`+b.issuer.URL+`","jwks_uri":"`+b.issuer.URL+`/x","keys":[]}`)
		},
		"secret keys": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"issuer":"`+b.issuer.URL+`","jwks_uri":"`+b.issuer.URL+`/x","keys":[{"kty":"oct","k":"AAAA","kid":"k1"}]}`)
		},
	} {
		b.issuer.Answer(answer)
		b.clock.Add(5 * time.Minute)
		b.Refresh(t.Context())
		if s := b.States(); len(s) != 1 || s[0].Fault == "" || strings.Contains(s[0].Fault, "canary") || strings.Contains(s[0].Fault, "evil") {
			t.Errorf("%s: %+v, want a fault in our own words", what, s)
		} else if !s[0].Fetched.Equal(had) {
			t.Errorf("%s: keys count as had at %v, want %v", what, s[0].Fetched, had)
		}
		if _, err := b.Authenticate(t.Context(), token()); err != nil {
			t.Errorf("%s: a known key does not count any more: %v", what, err)
		}
	}
	b.clock.Add(had.Add(24 * time.Hour).Sub(b.clock.Now()))
	if _, err := b.Authenticate(t.Context(), token()); !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("with keys of the day before: %v, want ErrUnavailable", err)
	}
	b.issuer.Answer(nil)
	b.Refresh(t.Context())
	if _, err := b.Authenticate(t.Context(), token()); err != nil || b.States()[0].Fault != "" {
		t.Errorf("with the issuer back: %v, %+v", err, b.States())
	}
}

func TestServiceAccountsOfAClusterAreCallers(t *testing.T) {
	b := newBench(t, trust.Authority{Name: "hub", VIM: "core/hub-1", Principals: []trust.Mapping{
		{Match: map[string]string{"serviceaccount": "jobs:*"}, Name: "{pod}", Project: "acme", Roles: []string{"member"}},
	}})
	taken, asked := true, 0
	b.review = func(vim, _, audience string) (bool, error) {
		if asked++; vim != "core/hub-1" || audience != "vimbroker" {
			t.Errorf("asked of %s about the audience %s", vim, audience)
		}
		return taken, nil
	}
	bound := func(over map[string]any) map[string]any {
		return map[string]any{"kubernetes.io": map[string]any{
			"namespace": "jobs", "pod": map[string]any{"name": "p1", "uid": "u1"}, "serviceaccount": map[string]any{"name": "runner", "uid": "u2"},
		}, "aud": []string{"vimbroker"}, "x": over}
	}
	const sub = "system:serviceaccount:jobs:runner"
	token := b.issuer.Token(sub, bound(nil))
	if !b.Remote(token) || b.Remote("vbt_x") {
		t.Error("Remote() does not tell what another system is asked about")
	}
	for range 3 {
		p, err := b.Authenticate(t.Context(), token)
		if err != nil || p.Name != "k8s:hub:jobs:runner" || p.Login.Shown != "p1" || p.Project != "acme" || p.Claims["serviceaccount"][0] != "jobs:runner" {
			t.Errorf("the account of a pod = %+v, %v", p, err)
		}
	}
	if asked != 1 || b.Remote(token) {
		t.Errorf("the cluster was asked %d times within a minute", asked)
	}
	for what, c := range map[string]struct {
		sub    string
		claims map[string]any
		want   string
	}{
		"another account's subject": {"system:serviceaccount:jobs:admin", bound(nil), "no bound token of a service account"},
		"another namespace":         {"system:serviceaccount:web:a", map[string]any{"kubernetes.io": map[string]any{"namespace": "web", "serviceaccount": map[string]any{"name": "a", "uid": "u"}}}, "no rule matches its claims"},
		"not bound":                 {sub, map[string]any{"kubernetes.io": map[string]any{"namespace": "jobs"}}, "no bound token of a service account"},
		"a secret's token":          {sub, map[string]any{"kubernetes.io/serviceaccount/namespace": "jobs"}, "no bound token of a service account"},
	} {
		if _, err := b.Authenticate(t.Context(), b.issuer.Token(c.sub, c.claims)); reasonOf(err) != c.want {
			t.Errorf("%s: %v (%s)", what, err, reasonOf(err))
		}
	}
	corp := newBench(t, corp())
	if corp.Remote(corp.issuer.Token("alice", nil)) {
		t.Error("Remote() takes a token of an issuer for one that a cluster is asked about")
	}
	away := errors.New("away")
	b.review = func(string, string, string) (bool, error) { return true, away }
	b.clock.Add(trust.ReviewFor)
	if _, err := b.Authenticate(t.Context(), token); !errors.Is(err, away) || !strings.HasPrefix(err.Error(), "asking the cluster of hub") {
		t.Errorf("the account of a pod of a cluster that is away: %v", err)
	}
	b.review = func(string, string, string) (bool, error) { return taken, nil }
	taken = false // the pod is deleted
	b.clock.Add(trust.ReviewFor)
	if _, err := b.Authenticate(t.Context(), token); reasonOf(err) != "the cluster does not take it" {
		t.Errorf("the account of a deleted pod: %v", err)
	}
}

func TestEntriesWithFaultsAreRefused(t *testing.T) {
	rule := trust.Mapping{Match: map[string]string{"sub": "a"}, Project: "p", Roles: []string{"member"}}
	with := func(change func(*trust.Authority)) trust.Authority {
		e := trust.Authority{Name: "e", Issuer: "https://id.example", Principals: []trust.Mapping{rule}}
		change(&e)
		return e
	}
	rules := func(change func(*trust.Mapping)) trust.Authority {
		return with(func(e *trust.Authority) {
			r := rule
			change(&r)
			e.Principals = []trust.Mapping{r}
		})
	}
	const gitHub = "https://token.actions.githubusercontent.com"
	for want, e := range map[string]trust.Authority{
		"":            with(func(*trust.Authority) {}),
		"name":        with(func(e *trust.Authority) { e.Name = "a:b" }),
		"issuer":      with(func(e *trust.Authority) { e.Issuer = "http://id.example" }),
		"issuer ":     with(func(e *trust.Authority) { e.VIM = "a/b" }),
		"issuer  ":    with(func(e *trust.Authority) { e.Issuer = "" }),
		"algorithms":  with(func(e *trust.Authority) { e.Algorithms = []string{"HS256"} }),
		"algorithms ": with(func(e *trust.Authority) { e.Algorithms = []string{"none"} }),
		"keysFile":    with(func(e *trust.Authority) { e.Keys = `{"keys":[{"kty":"oct","k":"AAAA"}]}` }),
		"keysFile ": with(func(e *trust.Authority) {
			e.Keys = `{"keys":[{"kty":"EC","kid":"1","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","d":"870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE"}]}`
		}),
		"maxLife":             with(func(e *trust.Authority) { e.MaxLife = time.Second }),
		"login":               with(func(e *trust.Authority) { e.Login = &trust.Signin{} }),
		"principals":          with(func(e *trust.Authority) { e.Principals = nil }),
		"principals[0].match": rules(func(r *trust.Mapping) { r.Match = nil }),
		"principals[0].match ": rules(func(r *trust.Mapping) {
			r.Match = map[string]string{"sub": "*"}
		}),
		"principals[0].match  ": with(func(e *trust.Authority) {
			e.Issuer, e.Principals[0].Match = gitHub, map[string]string{"repository": "acme/edge"}
			e.Principals[0].Project = "p"
		}),
		"principals[0].match   ": with(func(e *trust.Authority) {
			e.Issuer, e.Principals = gitHub, []trust.Mapping{{Match: map[string]string{"repository": "acme/*", "environment": "prod"}, Project: "p", Roles: []string{"m"}}}
		}),
		"principals[0].match    ": with(func(e *trust.Authority) {
			e.Issuer, e.Principals = "https://gitlab.com", []trust.Mapping{{Match: map[string]string{"ref": "main"}, Project: "p", Roles: []string{"m"}}}
		}),
		"principals[0].projects": rules(func(r *trust.Mapping) { r.Project = "{tenant}" }),
		"principals[0].project":  rules(func(r *trust.Mapping) { r.Project = "{tenant" }),
		"principals[0].name":     rules(func(r *trust.Mapping) { r.Name = "{}" }),
		"principals[0].roles":    rules(func(r *trust.Mapping) { r.Roles = []string{"system"} }),
	} {
		want = strings.TrimSpace(want)
		faults := e.WithDefaults().Flaws()
		if want == "" && len(faults) > 0 || want != "" && (len(faults) != 1 || faults[0].Field != want) {
			t.Errorf("%s: %+v", want, faults)
		}
	}
}

// Clusters call themselves by the same name, unless somebody says otherwise: the key tells whose account it is.
func TestClustersOfTheSameNameAreToldApart(t *testing.T) {
	rule := []trust.Mapping{{Match: map[string]string{"serviceaccount": "jobs:*"}, Project: "acme", Roles: []string{"member"}}}
	b := newBench(t)
	b.other = fake.New(t)
	b.other.URL, b.other.Now = b.issuer.URL, b.clock.Now
	b.other.Rotate("of-hub-2")
	b.review = func(string, string, string) (bool, error) { return true, nil }
	b.use(trust.Authority{Name: "one", VIM: "core/hub-1", Principals: rule}, trust.Authority{Name: "two", VIM: "core/hub-2", Principals: rule})
	b.Refresh(t.Context())
	claims := map[string]any{"kubernetes.io": map[string]any{
		"namespace": "jobs", "serviceaccount": map[string]any{"name": "runner", "uid": "u"},
	}}
	const sub = "system:serviceaccount:jobs:runner"
	for want, is := range map[string]*fake.Issuer{"k8s:one:jobs:runner": b.issuer, "k8s:two:jobs:runner": b.other} {
		if p, err := b.Authenticate(t.Context(), is.Token(sub, claims)); err != nil || p.Name != want {
			t.Errorf("an account of %s = %+v, %v", want, p, err)
		}
	}
	if stranger := b.issuer.URL + "/another"; b.Knows(stranger) || b.Knows("") || !b.Knows(b.issuer.URL) {
		t.Errorf("Knows() takes %s, or nobody, for a cluster of the table, or does not know its own", stranger)
	}
	for what, other := range map[string]any{"another issuer": "https://stranger.example", "no issuer": ""} {
		claims := maps.Clone(claims)
		claims["iss"] = other
		if _, err := b.Authenticate(t.Context(), b.issuer.Token(sub, claims)); reasonOf(err) != "unknown issuer" {
			t.Errorf("a token of %s with a key of the table: %v", what, err)
		}
	}
	b.use(trust.Authority{Name: "one", VIM: "core/hub-1", Principals: rule})
	if _, err := b.Authenticate(t.Context(), b.other.Token(sub, claims)); reasonOf(err) != "unknown key" {
		t.Errorf("an account of a cluster that is not in the table: %v", err)
	}
}

// An issuer that hangs keeps no caller waiting, neither its own nor another's.
func TestAnIssuerThatHangsHoldsNobodyUp(t *testing.T) {
	b, hanging := newBench(t, corp()), fake.New(t)
	asked, release := make(chan struct{}, 1), make(chan struct{})
	defer close(release)
	hanging.Answer(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-release
	})
	slow := corp()
	slow.Name, slow.Issuer = "slow", hanging.URL
	b.use(corp(), slow)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go b.Refresh(ctx)
	<-asked
	if _, err := b.Authenticate(t.Context(), b.issuer.Token("alice", nil)); err != nil {
		t.Errorf("beside an issuer that hangs: %v", err)
	}
	if _, err := b.Authenticate(t.Context(), hanging.Token("alice", nil)); !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("of an issuer that hangs: %v, want ErrUnavailable", err)
	}
}
