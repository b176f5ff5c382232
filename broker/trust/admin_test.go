package trust_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var root = policy.Principal{Name: "root", Project: "core", Roles: []string{policy.RoleAdmin}}

// named is an entry of that name and issuer.
func named(name, issuer string) trust.Authority {
	e := corp()
	e.Name, e.Issuer = name, issuer
	return e
}

func newTable(s *shelf, o trust.Options) *trust.Table {
	o.Store, o.Log, o.Now = s, slog.New(slog.DiscardHandler), func() time.Time { return noon }
	return &trust.Table{Gatekeeper: trust.New(o), Guard: &audit.Guard{Policy: yes{}, Sink: s, Now: time.Now}}
}

func TestAdministratorsKeepTheTable(t *testing.T) {
	s := &shelf{}
	table := newTable(s, trust.Options{})
	table.Replace([]trust.Authority{named("ours", "https://ours.example").WithDefaults()})
	ctx := t.Context()
	made, err := table.Create(ctx, root, named("corp", "https://id.example"))
	if err != nil || made.CreatedBy != "root" || !made.CreatedAt.Equal(noon) || made.MaxLife != trust.DefaultMaxLife || made.Configured() {
		t.Fatalf("Create() = %+v, %v", made, err)
	}
	many := func(rules int, text string) trust.Authority {
		e := named("big", "https://big.example")
		e.Principals = slices.Repeat(e.Principals[:1], rules)
		e.Principals[0].Name = text
		return e
	}
	certified := named("mesh", "")
	certified.Certificates = &trust.Certificates{CA: newAuthority(t, "ours").pem()}
	for what, c := range map[string]struct {
		e     trust.Authority
		kind  error
		field string
		says  string
	}{
		"a name twice":                   {named("corp", "https://x.example"), broker.ErrExists, "name", "is the name of another entry"},
		"a name of the configuration":    {named("ours", "https://x.example"), broker.ErrConflict, "name", "is an entry of the server's configuration"},
		"an issuer twice":                {named("corp2", "https://id.example"), broker.ErrInvalid, "issuer", "is the issuer of the entry corp"},
		"an issuer of the configuration": {named("corp2", "https://ours.example"), broker.ErrInvalid, "issuer", "of the entry ours of the server's"},
		"a flaw":                         {named("corp2", "http://id.example"), broker.ErrInvalid, "issuer", "must be an https URL"},
		"certificates, with no TLS":      {certified, broker.ErrInvalid, "certificates", "needs tls"},
		"101 rules":                      {many(101, ""), broker.ErrInvalid, "principals", "must be at most 100 rules"},
		"too much text":                  {many(1, strings.Repeat("x", 256<<10)), broker.ErrInvalid, "principals", "at most 256 KiB"},
	} {
		_, err := table.Create(ctx, root, c.e)
		var known *broker.Error
		if !errors.As(err, &known) || known.Kind != c.kind || known.Field != c.field || !strings.Contains(known.Detail, c.says) {
			t.Errorf("%s: %v, want %v of %s that says %q", what, err, c.kind, c.field, c.says)
		}
	}
	if _, err := table.Create(ctx, root, many(100, "")); err != nil {
		t.Errorf("an entry of 100 rules: %v", err)
	}
	table.Mutual = true
	if _, err := table.Create(ctx, root, certified); err != nil {
		t.Errorf("certificates where callers can show them: %v", err)
	}
	table.Mutual = false
	change := named("corp", "https://id.example")
	change.Login, change.Once = &trust.Signin{ClientID: "c", Scopes: []string{"a", "b"}}, true
	changed, err := table.Update(ctx, root, change)
	if err != nil || !changed.Once || changed.UpdatedBy != "root" || changed.CreatedBy != "root" {
		t.Errorf("Update() = %+v, %v", changed, err)
	}
	said := s.log[len(s.log)-1].Detail
	if said[audit.DetailTrust] != "corp" || said["new.login"] != "c a,b" || said["old.once"] != "false" || said["new.once"] != "true" || said["new.issuer"] != "" {
		t.Errorf("the change is told as %v", said)
	}
	if _, err := table.Update(ctx, root, named("none", "https://none.example")); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("Update() of no entry = %v", err)
	}
	all, err := table.List(ctx, root)
	var names []string
	for _, e := range all {
		names = append(names, fmt.Sprint(e.Name, e.Configured(), e.Fault))
	}
	if want := []string{"ourstrue", "corpfalse", "bigfalse", "meshfalse"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("List() = %q, %v, want %q", names, err, want)
	}
	if one, err := table.Entry(ctx, root, "ours"); err != nil || !one.Configured() {
		t.Errorf("Entry() of the first = %+v, %v", one, err)
	}
	if _, err := table.Entry(ctx, root, "none"); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("Entry() of none = %v", err)
	}
	if err := table.Delete(ctx, root, "ours"); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("Delete() of an entry of the configuration = %v", err)
	}
	if err := table.Delete(ctx, root, "none"); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("Delete() of none = %v", err)
	}
	if err := table.Delete(ctx, root, "corp"); err != nil || table.Trusts("oidc:corp:alice") {
		t.Errorf("Delete() = %v, and its callers come in: %t", err, table.Trusts("oidc:corp:alice"))
	}
	if said := s.log[len(s.log)-1].Detail; said["old.once"] != "true" || said["new.once"] != "" || said["old.principals[0]"] == "" {
		t.Errorf("the deletion is told as %v", said)
	}
	if logins := table.Logins(); len(logins) != 0 {
		t.Errorf("people log in at %v", logins)
	}
}

// The table and each of its entries has a bound, and is as large as that.
func TestBoundsOfTheTable(t *testing.T) {
	s := &shelf{}
	table := newTable(s, trust.Options{})
	for n := range 199 {
		s.all = append(s.all, trust.Listed{Authority: named(fmt.Sprint("n", n), fmt.Sprint("https://id.example/", n))})
	}
	if _, err := table.Create(t.Context(), root, named("last", "https://id.example")); err != nil || len(s.all) != 200 {
		t.Errorf("the last of %d: %v", len(s.all), err)
	}
	if _, err := table.Create(t.Context(), root, named("more", "https://more.example")); !errors.Is(err, broker.ErrQuota) || len(s.all) != 200 {
		t.Errorf("one more than there may be, of %d: %v", len(s.all), err)
	}
	for n, want := range map[int]error{256 << 10: nil, 256<<10 + 1: broker.ErrInvalid} {
		s.all = nil
		e := named("big", "https://big.example").WithDefaults()
		e.Principals[0].Name = "x"
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		e.Principals[0].Name = strings.Repeat("x", 1+n-len(text))
		if _, err := table.Create(t.Context(), root, e); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("an entry of %d bytes: %v", n, err)
		}
	}
}

// What an entry of the table wants of others it wants in the process that follows, too: there it does not count, and is told.
func TestEntriesThatDoNotCountAreTold(t *testing.T) {
	s := &shelf{}
	kept := func(e trust.Authority) trust.Listed {
		return trust.Listed{Authority: e, CreatedBy: "ann", UpdatedAt: noon}
	}
	cluster := func(name string) trust.Authority {
		e := named(name, "")
		e.VIM = "core/" + name
		return e
	}
	s.all = []trust.Listed{
		kept(named("a", "https://ours.example")), kept(named("b", "http://b.example")), kept(cluster("c")), kept(cluster("d")), kept(named("ours", "https://x.example")),
		kept(named("e", "https://e.example")),
	}
	s.all[5].Login = &trust.Signin{ClientID: "c"}
	table := newTable(s, trust.Options{})
	table.Replace([]trust.Authority{named("ours", "https://ours.example").WithDefaults()})
	all, err := table.List(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "issuer: is the issuer of another entry", "issuer: must be an https URL", "", "", "name: is the name of another entry", ""} {
		if !strings.HasPrefix(all[i].Fault, want) || want == "" && all[i].Fault != "" {
			t.Errorf("the fault of %s is %q, want %q", all[i].Name, all[i].Fault, want)
		}
	}
	for _, c := range []struct {
		name    string
		trusted bool
		lookup  error
		hold    time.Duration
	}{
		{"oidc:e:x", true, policy.ErrNotAsked, policy.DefaultHold},
		{"k8s:c:x", true, policy.ErrNotAsked, policy.DefaultHold},
		{"oidc:e:", false, policy.ErrUnauthenticated, 0},
		{"oidc:f:x", false, policy.ErrUnauthenticated, 0},
		{"k8s:e:x", false, policy.ErrUnauthenticated, 0},
		{"cert:e:x", false, policy.ErrUnauthenticated, 0},
		{"oidc:ee:x", false, policy.ErrUnauthenticated, 0},
		{"alice", true, policy.ErrUnauthenticated, 0},
	} {
		_, err := table.Lookup(t.Context(), c.name, "core")
		if table.Trusts(c.name) != c.trusted || !errors.Is(err, c.lookup) || table.Hold(c.name) != c.hold {
			t.Errorf("%s: trusted %t, Lookup() = %v, Hold() = %v", c.name, table.Trusts(c.name), err, table.Hold(c.name))
		}
	}
	if logins := table.Logins(); len(logins) != 1 || logins[0].Name != "e" {
		t.Errorf("people log in at %v", logins)
	}
	states := table.States()
	if len(states) != 4 || states[0].Name != "c" || states[0].Fault != "not asked yet" || !strings.Contains(table.Fault(), "c (not asked yet), d (not asked yet)") {
		t.Errorf("the keys stand as %v, %s", states, table.Fault())
	}
}

// away is a store that is away, and a decider that lets nobody in.
type awayStore struct{ *shelf }

var errAway = errors.New("the store is away")

func (awayStore) TrustEntries(context.Context) ([]trust.Listed, error) { return nil, errAway }
func (awayStore) ForgetUsed(context.Context, time.Time) error          { return errAway }
func (awayStore) UseOnce(context.Context, string, time.Time) error     { return errAway }

type no struct{ policy.Decider }

func (no) Decide(policy.Request) policy.Decision { return policy.Decision{} }

func TestATableThatCannotBeRead(t *testing.T) {
	s := &shelf{}
	table := newTable(s, trust.Options{})
	table.Store = awayStore{s}
	_, listed := table.List(t.Context(), root)
	_, shown := table.Entry(t.Context(), root, "corp")
	_, made := table.Create(t.Context(), root, named("corp", "https://id.example"))
	for what, err := range map[string]error{
		"Load": table.Load(t.Context()), "List": listed, "Entry": shown, "Create": made, "Delete": table.Delete(t.Context(), root, "corp"),
		"the pass": table.Passes()[0].Run(t.Context()),
	} {
		if !errors.Is(err, errAway) {
			t.Errorf("%s without the store = %v", what, err)
		}
	}
	table.Store, table.Guard.Policy = s, no{}
	_, listed = table.List(t.Context(), root)
	_, made = table.Create(t.Context(), root, named("corp", "https://id.example"))
	_, tried := table.Try(t.Context(), root, "x")
	for what, err := range map[string]error{"List": listed, "Create": made, "Try": tried} {
		if !errors.Is(err, broker.ErrDenied) {
			t.Errorf("%s by whom no policy lets = %v", what, err)
		}
	}
	if len(s.all) != 0 {
		t.Errorf("there are %v", s.all)
	}
}

// A trial says all that the log would, and takes nothing.
func TestATokenIsTried(t *testing.T) {
	e := corp()
	e.Once = true
	b := newBench(t, e)
	s := &shelf{}
	table := &trust.Table{Gatekeeper: b.Gatekeeper, Guard: &audit.Guard{Policy: yes{}, Sink: s, Now: time.Now}}
	token := b.issuer.Token("alice", map[string]any{"jti": "1"})
	for range 2 {
		got, err := table.Try(t.Context(), root, token)
		if err != nil || got.Principal.Name != "oidc:corp:alice" || got.Entry != "corp" || !got.Once || got.Rule != 0 || got.Reason != "" || !got.Until.After(noon) {
			t.Errorf("Try() of a good token = %+v, %v", got, err)
		}
	}
	for what, c := range map[string]struct{ token, entry, reason, rule string }{
		"a stranger": {b.issuer.Token("bob", nil), "corp", "no rule matches its claims", `principals[0]: sub is "bob", and must be "alice"`},
		"no token":   {"x", "", "no token in a valid form", ""},
	} {
		got, err := table.Try(t.Context(), root, c.token)
		if err != nil || got.Principal.Name != "" || got.Entry != c.entry || got.Reason != c.reason || len(got.Rules) > 0 != (c.rule != "") || c.rule != "" && got.Rules[0] != c.rule {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	b.use(corp()) // the keys of an entry that is another are not known yet
	e.Name = "late"
	b.use(e)
	if _, err := table.Try(t.Context(), root, token); !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("Try() without the issuer's keys = %v", err)
	}
	e.Keys = string(b.issuer.JWKS())
	b.use(e)
	p, err := b.Authenticate(t.Context(), token)
	if err != nil || !b.Current(p.Name, p.Login.Digest) || b.Current(p.Name, "x") || b.Current("oidc:corp:alice", p.Login.Digest) {
		t.Errorf("%+v, %v is of the entry as it is: %t", p, err, b.Current(p.Name, p.Login.Digest))
	}
	b.clock.Add(trust.KeepFor) // of the configuration keys are never old
	if _, err := b.Authenticate(t.Context(), b.issuer.Token("alice", map[string]any{"jti": "2"})); err != nil {
		t.Errorf("keys of the configuration after a day: %v", err)
	}
	b.Store = awayStore{s}
	if _, err := b.Authenticate(t.Context(), b.issuer.Token("alice", map[string]any{"jti": "3"})); !errors.Is(err, errAway) {
		t.Errorf("a token that is taken once, without the store: %v", err)
	}
}

// Chains lead by authorities between, certificates live for as long as they may, and entries about others are passed over.
func TestChainsOfCertificates(t *testing.T) {
	ours := newAuthority(t, "ours")
	between := &authority{t: t, key: newKey(t)}
	between.cert = ours.sign(&x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: ours.cert.Subject, NotBefore: noon.AddDate(-1, 0, 0), NotAfter: noon.AddDate(9, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign, SubjectKeyId: []byte("between"),
	}, between.key)
	rules := []trust.Mapping{{Match: map[string]string{"uri": "spiffe://acme/*"}, Project: "acme", Roles: []string{"member"}}}
	mesh := trust.Authority{Name: "mesh", Certificates: &trust.Certificates{CA: ours.pem()}, Principals: rules}
	clients := trust.Authority{Name: "clients", Certificates: &trust.Certificates{CA: newAuthority(t, "clients").pem()}}
	b := newBench(t, corp(), clients, mesh)
	leaf := between.issue(nil)
	for what, c := range map[string]struct {
		chain []*x509.Certificate
		want  string
	}{
		"by one between":       {[]*x509.Certificate{leaf, between.cert}, ""},
		"without the between":  {[]*x509.Certificate{leaf}, "no authority of the table has signed it"},
		"for the longest life": {[]*x509.Certificate{ours.issue(func(c *x509.Certificate) { c.NotAfter = c.NotBefore.Add(trust.DefaultMaxLife) })}, ""},
		"for a second longer": {[]*x509.Certificate{ours.issue(func(c *x509.Certificate) {
			c.NotAfter = c.NotBefore.Add(trust.DefaultMaxLife + time.Second)
		})}, "good for longer than maxLife"},
		"an authority's": {[]*x509.Certificate{ours.issue(func(c *x509.Certificate) { c.IsCA, c.BasicConstraintsValid = true, true })}, "certificate is not for clients"},
	} {
		p, err := b.Certified(oauth.WithPeer(t.Context(), c.chain))
		if c.want == "" && (err != nil || p.Name != "cert:mesh:spiffe://acme/ns/jobs/sa/runner" || !p.Login.Until.Equal(c.chain[0].NotAfter)) ||
			c.want != "" && reasonOf(err) != c.want {
			t.Errorf("%s: %+v, %v, want %q", what, p, err, c.want)
		}
	}
	callers, registered := b.Authorities()
	if len(callers.Subjects()) != 2 || len(registered.Subjects()) != 1 { //nolint:staticcheck // of pools that are made of texts
		t.Errorf("callers have the authorities %v, registered clients %v", callers, registered)
	}
	if a, b := newBench(t, corp()).Authorities(); a != nil || b != nil {
		t.Error("there are authorities where no entry has any")
	}
	other := newAuthority(t, "other")
	for what, c := range map[string]struct{ crl, says string }{
		"good":           {ours.revoke(noon.Add(time.Hour), 7), ""},
		"two":            {ours.revoke(noon.Add(time.Hour), 7) + ours.revoke(noon.Add(time.Hour), 7), ""},
		"of another":     {other.revoke(noon.Add(time.Hour), 7), "no authority of caFile has signed"},
		"a certificate":  {ours.pem(), "must hold lists of revoked"},
		"called a list":  {strings.ReplaceAll(ours.pem(), "CERTIFICATE", "X509 CRL"), "must hold lists of revoked"},
		"called another": {strings.ReplaceAll(ours.revoke(noon.Add(time.Hour)), "X509 CRL", "CRL"), "must hold lists of revoked"},
		"nothing in PEM": {"x", "must hold lists of revoked"},
	} {
		e := mesh
		e.Certificates = &trust.Certificates{CA: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" + ours.pem(), CRL: c.crl}
		flaws := e.WithDefaults().Flaws()
		if c.says == "" && len(flaws) != 0 || c.says != "" && (len(flaws) != 1 || flaws[0].Field != "certificates.crlFile" || !strings.Contains(flaws[0].Text, c.says)) {
			t.Errorf("a list that is %s: %v, want %q", what, flaws, c.says)
		}
	}
	mesh.Certificates = &trust.Certificates{CA: ours.pem(), CRL: ours.revoke(noon.Add(time.Hour), 2)}
	b.use(mesh)
	if _, err := b.Certified(oauth.WithPeer(t.Context(), []*x509.Certificate{leaf, between.cert})); reasonOf(err) != "certificate revoked" {
		t.Errorf("below an authority that is revoked: %v", err)
	}
}
