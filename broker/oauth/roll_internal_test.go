package oauth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/testlog"
)

const clientID = "6a3c2f0e-5f3e-4a44-8b1e-4f5d1c1d9a10"

// roll keeps one client in memory, and its leases; steps of it that are named fail.
type roll struct {
	Store
	one      Client
	fails    map[string]error
	taken    []string
	meantime func(*Client) // happens before a change
	denied   bool
	entry    audit.Entry // of the last change
	log      strings.Builder
}

func (r *roll) step(name string) error { return fake.Step(&r.taken, r.fails, name) }

func (r *roll) Client(context.Context, string) (Client, error) {
	if err := r.step("Client"); err != nil {
		return Client{}, err
	}
	return r.one, nil
}

func (r *roll) Clients(context.Context, Filter) ([]Client, string, error) {
	return []Client{r.one}, "", r.step("Clients")
}

func (r *roll) UpdateClient(_ context.Context, _ string, change func(*Client) error, e audit.Entry) (Client, error) {
	r.entry = e
	if err := r.step("UpdateClient"); err != nil {
		return Client{}, err
	}
	if r.meantime != nil {
		r.meantime(&r.one)
	}
	now := r.one
	if err := change(&now); err != nil {
		return Client{}, err
	}
	now.Revision++
	r.one = now
	return now, nil
}

func (r *roll) DeleteClient(_ context.Context, _ string, e audit.Entry) error {
	r.entry = e
	return r.step("DeleteClient")
}

func (r *roll) Append(context.Context, audit.Entry) error { return r.step("Append") }

func (r *roll) RevokeLeases(context.Context, policy.Principal, broker.LeaseSelector) ([]broker.Lease, error) {
	return nil, r.step("RevokeLeases")
}

func (r *roll) WeighLease(context.Context, policy.Principal, broker.LeaseRequest) (broker.Lease, error) {
	return broker.Lease{}, r.step("WeighLease")
}

func (r *roll) UseOnce(context.Context, string, time.Time) error { return r.step("UseOnce") }

func (r *roll) Decide(policy.Request) policy.Decision { return policy.Decision{Allowed: !r.denied} }

// newRoll has a client that has changed its secret an hour ago.
func newRoll(t *testing.T) (*roll, *Clients) {
	r := &roll{fails: map[string]error{}, one: Client{
		ID: clientID, Name: "vnfm", Project: "p", Roles: []string{"vnfm"}, State: Active, SHA256: policy.Digest(secretPrefix + "now"),
		PreviousSHA256: policy.Digest(secretPrefix + "before"), PreviousUntil: now.Add(time.Hour),
		RotatedAt: now.Add(-time.Hour), UpdatedAt: now.Add(-time.Hour), Revision: 1,
	}}
	return r, New(Options{
		Store: r, Leases: r, Guard: &audit.Guard{Policy: r, Sink: r, Now: time.Now},
		Log: testlog.To(t, slog.NewTextHandler(&r.log, nil)), Now: func() time.Time { return now },
	})
}

// The use of a secret is noted once, of the client as it is then; a failure of that is told the log alone.
func TestWhatIsNotedOfAUse(t *testing.T) {
	for what, c := range map[string]struct {
		change      func(*roll)
		noted, said bool
	}{
		"a use":              {func(*roll) {}, true, false},
		"of one deleted":     {func(r *roll) { r.meantime = func(c *Client) { c.State = Deleting } }, false, false},
		"of another secret":  {func(r *roll) { r.meantime = func(c *Client) { c.RotatedAt, c.UpdatedAt = now, now } }, false, false},
		"that is noted":      {func(r *roll) { r.meantime = func(c *Client) { c.UpdatedAt = c.RotatedAt.Add(1) } }, false, false},
		"that is not stored": {func(r *roll) { r.fails["UpdateClient"] = errStep }, false, true},
		"that is denied":     {func(r *roll) { r.denied = true }, false, true},
		"of the only secret": {func(r *roll) { r.one.PreviousSHA256 = "" }, false, false},
		"noted before":       {func(r *roll) { r.one.UpdatedAt = r.one.RotatedAt.Add(1) }, false, false},
	} {
		r, clients := newRoll(t)
		c.change(r)
		clients.noteUse(t.Context(), r.one)
		if noted := slices.Contains(r.taken, "UpdateClient"); noted && r.one.PreviousSHA256 == "" || noted && what == "noted before" {
			t.Errorf("%s: the store is asked to note it", what)
		}
		if c.noted && !r.one.UpdatedAt.Equal(now) {
			t.Errorf("%s: noted at %v", what, r.one.UpdatedAt)
		}
		if noted, said := r.one.Revision == 2, strings.Contains(r.log.String(), "could not be noted"); noted != c.noted || said != c.said {
			t.Errorf("%s: noted %t, and the log says %q", what, noted, r.log.String())
		}
	}
}

// What ends the leases of a client goes on until they are ending, and undoes nothing that came meanwhile.
func TestWhatEndsLeasesOfAClient(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*roll)
		want   string // whether they are ending still, and the error
	}{
		"all":               {func(*roll) {}, "false <nil>"},
		"not revoked":       {func(r *roll) { r.fails["RevokeLeases"] = errStep }, "true the step fails"},
		"denied":            {func(r *roll) { r.denied = true }, "true " + broker.ErrNotFound.Error()},
		"unread":            {func(r *roll) { r.fails["Clients"] = errStep }, "true the step fails"},
		"not stored":        {func(r *roll) { r.fails["UpdateClient"] = errStep }, "true the step fails"},
		"gone meanwhile":    {func(r *roll) { r.fails["UpdateClient"] = broker.ErrNotFound }, "true <nil>"},
		"rotated meanwhile": {func(r *roll) { r.meantime = func(c *Client) { c.RotatedAt = now } }, "true <nil>"},
		"deleted meanwhile": {func(r *roll) { r.meantime = func(c *Client) { c.State = Deleting } }, "true <nil>"},
	} {
		r, clients := newRoll(t)
		r.one.Ending = true
		c.change(r)
		err := clients.Settle(t.Context())
		if got := fmt.Sprint(r.one.Ending, " ", told(err)); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
	for state, action := range map[State]policy.Action{Active: policy.ClientRotate, Deleting: policy.ClientDelete} {
		r, clients := newRoll(t)
		r.one.Ending, r.one.State = true, state
		if err := clients.Settle(t.Context()); err != nil || r.entry.Action != action || r.entry.Detail[audit.DetailClientName] != "vnfm" {
			t.Errorf("of a client that is %s: %v, and the log has %+v", state, err, r.entry)
		}
	}
	// Another rotation leaves what is to be revoked to be revoked.
	r, clients := newRoll(t)
	r.one.Ending, r.fails["RevokeLeases"] = true, errStep
	if c, _, err := clients.Rotate(t.Context(), policy.Principal{}, clientID, Rotation{}); err != nil || !c.Ending || !r.one.Ending {
		t.Errorf("after a rotation: %+v, %v", c, err)
	}
	if _, err := (Client{State: Deleting}).Moved(Client{State: Active}); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("a client that is being deleted becomes active: %v", err)
	}
}

// What a rotation leaves: the secret before, as far as it is in use and for as long as is asked, and an entry of what is new.
func TestWhatARotationLeaves(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "k"}}})
	if err != nil {
		t.Fatal(err)
	}
	jwks := Certificate{JWKS, string(keys)}
	const before, is = secretPrefix + "before", secretPrefix + "now"
	span := func(d time.Duration) *time.Duration { return &d }
	for what, c := range map[string]struct {
		change   func(*Client)
		rotation Rotation
		previous string
		until    time.Duration // from now on
		fault    string
	}{
		"a secret that was never used":  {func(*Client) {}, Rotation{}, before, DefaultOverlap, ""},
		"a secret that was used":        {func(c *Client) { c.UpdatedAt = c.RotatedAt.Add(1) }, Rotation{}, is, DefaultOverlap, ""},
		"the only secret":               {func(c *Client) { c.PreviousUntil = now }, Rotation{}, is, DefaultOverlap, ""},
		"at once":                       {func(*Client) {}, Rotation{Overlap: span(0)}, "", 0, ""},
		"in a moment":                   {func(*Client) {}, Rotation{Overlap: span(1)}, before, 1, ""},
		"as late as may be":             {func(*Client) {}, Rotation{Overlap: span(MaxOverlap)}, before, MaxOverlap, ""},
		"later":                         {func(*Client) {}, Rotation{Overlap: span(MaxOverlap + 1)}, before, 0, "overlap"},
		"earlier":                       {func(*Client) {}, Rotation{Overlap: span(-1)}, before, 0, "overlap"},
		"a certificate":                 {func(*Client) {}, Rotation{Certificate: jwks}, before, DefaultOverlap, ""},
		"a certificate after another":   {func(c *Client) { c.SHA256, c.PreviousSHA256, c.Certificate = "", "", jwks }, Rotation{Certificate: jwks}, "", 0, ""},
		"a certificate that none shows": {func(*Client) {}, Rotation{Certificate: Certificate{SANDNS, "a"}}, before, 0, "certificate"},
		"a secret after a certificate":  {func(c *Client) { c.Certificate = jwks }, Rotation{}, before, 0, "certificate"},
	} {
		r, clients := newRoll(t)
		c.change(&r.one)
		was := r.one
		got, plain, err := clients.Rotate(t.Context(), policy.Principal{}, clientID, c.rotation)
		if c.fault != "" {
			var known *broker.Error
			if !errors.As(err, &known) || known.Field != c.fault || r.one.Revision != was.Revision {
				t.Errorf("%s: %v, want a fault of %s, and no change", what, err, c.fault)
			}
			continue
		}
		sum, until := "", time.Time{}
		if c.previous != "" {
			sum, until = policy.Digest(c.previous), now.Add(c.until)
		}
		if err != nil || got.PreviousSHA256 != sum || !got.PreviousUntil.Equal(until) || !got.RotatedAt.Equal(now) || got.Certificate != c.rotation.Certificate {
			t.Errorf("%s leaves %+v, %v", what, got, err)
		}
		told := map[string]string{audit.DetailNew + "secret": r.entry.Detail[audit.DetailNew+"secret"], audit.DetailNew + "certificate": r.entry.Detail[audit.DetailNew+"certificate"]}
		want := map[string]string{audit.DetailNew + "secret": "replaced", audit.DetailNew + "certificate": ""}
		if !c.rotation.Certificate.None() {
			want = map[string]string{audit.DetailNew + "secret": "", audit.DetailNew + "certificate": jwks.String()}
		}
		by := ""
		if !was.Certificate.None() {
			by = was.Certificate.String()
		}
		if fmt.Sprint(told) != fmt.Sprint(want) || r.entry.Detail[audit.DetailCertificate] != by || plain.Empty() != !c.rotation.Certificate.None() {
			t.Errorf("%s is told as %v", what, r.entry.Detail)
		}
	}
}

// A client that there is not, or that is going, is nobody; what fails is told as it is.
func TestAnActiveClient(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*roll)
		err    error
	}{
		"active": {func(*roll) {}, nil}, "going": {func(r *roll) { r.one.State = Deleting }, policy.ErrUnauthenticated},
		"gone": {func(r *roll) { r.fails["Client"] = broker.ErrNotFound }, policy.ErrUnauthenticated}, "unread": {func(r *roll) { r.fails["Client"] = errStep }, errStep},
	} {
		r, clients := newRoll(t)
		c.change(r)
		if got, err := clients.active(t.Context(), strings.ToUpper(clientID)); !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || (got.ID == "") != (c.err != nil) {
			t.Errorf("a client that is %s: %q, %v", what, got.ID, err)
		}
	}
	// What would be lent is weighed, and a VIM that is not there is told as the field that it is.
	r, clients := newRoll(t)
	r.fails["WeighLease"] = &broker.Error{Kind: broker.ErrNotFound, Detail: "no such VIM"}
	r.one.Placements = []Placement{{VIM: "v", Grade: broker.GradeBounded}}
	var known *broker.Error
	if err := clients.placeable(t.Context(), r.one); !errors.As(err, &known) || known.Field != "placements[0].vim" || known.Kind != broker.ErrInvalid || known.Detail != "no such VIM" {
		t.Errorf("a placement on a VIM that is not there: %v", err)
	}
	if got := (Certificate{}).String(); got != "" {
		t.Errorf("no certificate is called %q", got)
	}
	moved, err := r.one.Moved(Client{ID: "x", Name: "x", Project: "x", CreatedBy: "x", CreatedAt: now, State: Active, Roles: []string{"other"}})
	want := r.one
	want = Client{
		ID: want.ID, Name: want.Name, Project: want.Project, CreatedBy: want.CreatedBy, CreatedAt: want.CreatedAt, State: Active,
		Roles: []string{"other"}, Revision: want.Revision + 1,
	}
	if diff := cmp.Diff(want, moved); diff != "" || err != nil {
		t.Errorf("a change leads to %v (-want +got):\n%s", err, diff)
	}
	name, err := asn1.Marshal(pkix.Name{CommonName: "a"}.ToRDNSequence())
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		raw  []byte
		want string
	}{"a subject": {name, "CN=a"}, "with a byte behind it": {append(slices.Clone(name), 0), ""}, "half of one": {name[:3], ""}} {
		if got := Subject(&x509.Certificate{RawSubject: c.raw}); got != c.want {
			t.Errorf("%s is %q, want %q", what, got, c.want)
		}
	}
}

// Who is looked up is the client of the project, and an error of the store is none of the caller's.
func TestWhoIsAClient(t *testing.T) {
	peer := WithPeer(t.Context(), []*x509.Certificate{{}})
	acting := func(r *roll, c *Clients) error {
		_, err := c.Acting(t.Context(), policy.Principal{Name: principalName(clientID), Project: "p"})
		return err
	}
	confirm := func(_ *roll, c *Clients) error { return c.Confirm(peer, clientID) }
	place := func(n int) func(*roll, *Clients) error {
		return func(_ *roll, c *Clients) error {
			_, err := c.SetPlacements(t.Context(), policy.Principal{}, clientID, make([]Placement, n))
			return err
		}
	}
	for what, c := range map[string]struct {
		change func(*roll)
		do     func(*roll, *Clients) error
		want   error
	}{
		"acting":                       {func(*roll) {}, acting, nil},
		"acting elsewhere":             {func(r *roll) { r.one.Project = "q" }, acting, policy.ErrUnauthenticated},
		"acting unread":                {func(r *roll) { r.fails["Client"] = errStep }, acting, errStep},
		"confirmed without one":        {func(*roll) {}, confirm, nil},
		"confirmed by another":         {func(r *roll) { r.one.Certificate = Certificate{SANDNS, "a"} }, confirm, policy.ErrUnauthenticated},
		"confirmed where keys sign":    {func(r *roll) { r.one.Certificate = Certificate{JWKS, "a"} }, confirm, nil},
		"confirmed where there's none": {func(r *roll) { r.fails["Client"] = broker.ErrNotFound }, confirm, nil},
		"confirmed unread":             {func(r *roll) { r.fails["Client"] = errStep }, confirm, errStep},
		"placed":                       {func(*roll) {}, place(maxPlacements), nil},
		"placed too often":             {func(*roll) {}, place(maxPlacements + 1), broker.ErrInvalid},
		"placed, unweighed":            {func(r *roll) { r.fails["WeighLease"] = errStep }, place(1), errStep},
		"placed, deleted meanwhile":    {func(r *roll) { r.meantime = func(c *Client) { c.State = Deleting } }, place(1), broker.ErrNotFound},
		"a page of none": {func(*roll) {}, func(_ *roll, c *Clients) error {
			_, _, err := c.Clients(t.Context(), policy.Principal{}, Query{Page: broker.Page{Size: -1}})
			return err
		}, broker.ErrInvalid},
	} {
		r, clients := newRoll(t)
		c.change(r)
		if err := c.do(r, clients); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
	_, clients := newRoll(t)
	if tokens := NewTokens(TokensOptions{Clients: clients}); clients.ByCertificate() || tokens.ByCertificate() {
		t.Error("without authorities clients log in by certificates")
	}
	clients.Authorities = x509.NewCertPool
	if tokens := NewTokens(TokensOptions{Clients: clients}); !tokens.ByCertificate() {
		t.Error("with authorities no client logs in by a certificate")
	}
	for err, want := range map[error]string{
		errStep: "it cannot be verified", x509.CertificateInvalidError{Reason: x509.NameMismatch}: "it is not valid (reason 5 of crypto/x509)",
	} {
		if got := unverified(err); got.Error() != want {
			t.Errorf("of %v it is said: %v", err, got)
		}
	}
}

// signedBy is an assertion with these claims, or with a text in their place.
func signedBy(t *testing.T, k any, algorithm jose.SignatureAlgorithm, id string, payload any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: k, KeyID: id}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, is := payload.(string)
	if !is {
		said, err := json.Marshal(payload)
		if err != nil {
			t.Fatal(err)
		}
		text = string(said)
	}
	signed, err := signer.Sign([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return compact
}

// An assertion counts by its key, for the client that it names, as long as it says.
func TestWhichAssertionsCount(t *testing.T) {
	made := key(t)
	set := func(change func(*jose.JSONWebKey)) string {
		k := jose.JSONWebKey{Key: &made.PublicKey, KeyID: "k"}
		change(&k)
		text, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{k}})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	claims := func() map[string]any {
		return map[string]any{"iss": clientID, "sub": clientID, "aud": "https://broker", "jti": "j", "exp": now.Unix() + 60}
	}
	for what, c := range map[string]struct {
		change func(*roll, map[string]any)
		want   string
	}{
		"one": {func(*roll, map[string]any) {}, ""},
		"a key of that algorithm": {func(r *roll, _ map[string]any) {
			r.one.Certificate.Name = set(func(k *jose.JSONWebKey) { k.Algorithm = "ES256" })
		}, ""},
		"a key of another": {func(r *roll, _ map[string]any) {
			r.one.Certificate.Name = set(func(k *jose.JSONWebKey) { k.Algorithm = "ES384" })
		}, "unknown key"},
		"another key": {func(r *roll, _ map[string]any) {
			r.one.Certificate.Name = set(func(k *jose.JSONWebKey) { k.KeyID = "l" })
		}, "unknown key"},
		"keys that are none":      {func(r *roll, _ map[string]any) { r.one.Certificate.Name = "x" }, "must have a JWK set"},
		"a client with a secret":  {func(r *roll, _ map[string]any) { r.one.Certificate = Certificate{} }, "of no client that logs in so"},
		"its id spelled large":    {func(_ *roll, c map[string]any) { c["sub"] = strings.ToUpper(clientID) }, "of no client that logs in so"},
		"an issuer spelled large": {func(_ *roll, c map[string]any) { c["iss"] = strings.ToUpper(clientID) }, "of no client that logs in so"},
		"used before":             {func(r *roll, _ map[string]any) { r.fails["UseOnce"] = broker.ErrExists }, "used before"},
		"not noted":               {func(r *roll, _ map[string]any) { r.fails["UseOnce"] = errStep }, "the step fails"},
		"before time":             {func(_ *roll, c map[string]any) { c["exp"] = -1 }, "without exp"},
		"at the beginning":        {func(_ *roll, c map[string]any) { c["exp"] = 0 }, "expired"},
		"for very long":           {func(_ *roll, c map[string]any) { c["exp"] = 1 << 40 }, "good for too long"},
		"for ever":                {func(_ *roll, c map[string]any) { c["exp"] = 1<<40 + 1 }, "without exp"},
	} {
		r, clients := newRoll(t)
		r.one.Certificate = Certificate{JWKS, set(func(*jose.JSONWebKey) {})}
		said := claims()
		c.change(r, said)
		tokens := NewTokens(TokensOptions{Clients: clients, Issuer: "https://broker", Once: r, Now: func() time.Time { return now }})
		_, err := tokens.assertedBy(t.Context(), signedBy(t, made, jose.ES256, "k", said))
		got := fmt.Sprint(err)
		if refused, is := errors.AsType[*policy.RefusedLogin](err); is {
			got = refused.Reason
		}
		if c.want == "" && err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %q", what, got, c.want)
		}
	}
	if _, _, err := readAssertion(signedBy(t, made, jose.ES256, "k", "no JSON")); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("an assertion that says nothing: %v", err)
	}
	padded := func(n int) string {
		for id := "k"; len(id) < 9; id += "k" {
			with := claims()
			with["pad"] = strings.Repeat("x", (n-len(signedBy(t, made, jose.ES256, id, with))-12)*3/4)
			for range 12 {
				if text := signedBy(t, made, jose.ES256, id, with); len(text) == n {
					return text
				}
				with["pad"] = with["pad"].(string) + "x"
			}
		}
		t.Fatalf("no assertion has %d bytes", n)
		return ""
	}
	for n, fine := range map[int]bool{maxAssertion: true, maxAssertion + 1: false} {
		if _, _, err := readAssertion(padded(n)); (err == nil) != fine {
			t.Errorf("an assertion of %d bytes: %v", n, err)
		}
	}
	if _, err := publicKeys(`{"keys":[{"kty":"RSA","n":"AQAB","e":"AA","kid":"k"}]}`); err == nil {
		t.Error("a key that is none is taken")
	}
}

// A token counts for what the client has now: without a word of a secret or certificate it is nobody's.
func TestWhatATokenIsHeldAgainst(t *testing.T) {
	shown := &x509.Certificate{Raw: []byte("shown")}
	ctx := WithPeer(t.Context(), []*x509.Certificate{shown})
	bound := &confirmation{thumbprint(shown)}
	jwks, dns := Certificate{JWKS, "keys"}, Certificate{SANDNS, "a"}
	for what, c := range map[string]struct {
		change func(*Client, *claims)
		taken  bool
	}{
		"its secret":                    {func(*Client, *claims) {}, true},
		"the secret before":             {func(c *Client, s *claims) { s.Secret = secretID(c.PreviousSHA256) }, true},
		"another secret":                {func(_ *Client, s *claims) { s.Secret = "x" }, false},
		"no secret of none":             {func(c *Client, s *claims) { c.SHA256, s.Secret = "", "" }, false},
		"no secret, none before":        {func(c *Client, s *claims) { c.PreviousSHA256, s.Secret = "", "" }, false},
		"its keys":                      {func(c *Client, s *claims) { c.Certificate, s.Secret = jwks, jwks.id() }, true},
		"its keys, bound":               {func(c *Client, s *claims) { c.Certificate, s.Secret, s.Bound = jwks, jwks.id(), bound }, false},
		"its certificate":               {func(c *Client, s *claims) { c.Certificate, s.Secret, s.Bound = dns, dns.id(), bound }, true},
		"another certificate":           {func(c *Client, s *claims) { c.Certificate, s.Secret, s.Bound = dns, dns.id(), &confirmation{"x"} }, false},
		"no certificate, but one bound": {func(_ *Client, s *claims) { s.Secret, s.Bound = "", bound }, false},
	} {
		r, clients := newRoll(t)
		tokens := NewTokens(TokensOptions{Clients: clients, Issuer: "https://broker", Now: func() time.Time { return now }})
		said := claims{Claims: tokens.standard(clientID, now, now.Add(time.Minute)), Secret: secretID(r.one.SHA256)}
		c.change(&r.one, &said)
		if p, err := tokens.take(ctx, said, now); (err == nil) != c.taken || c.taken && p.Name != principalName(clientID) || !c.taken && !errors.Is(err, policy.ErrUnauthenticated) {
			t.Errorf("%s: %+v, %v", what, p, err)
		}
	}
}

// A key that is not the one of its row signs nothing, and none of its private half is shown.
func TestAKeyThatIsNotItsRows(t *testing.T) {
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	larger, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	alice := policy.Principal{Name: "oidc:alice", Project: "p"}
	for what, c := range map[string]struct {
		key   any
		id    string
		signs bool
	}{
		"of its kind": {key(t), "", true}, "of another id": {key(t), "x", false}, "of another kind": {edwards, "", false}, "of another curve": {larger, "", false},
	} {
		s, tokens := newShelf(t)
		id := c.id
		if id == "" {
			id = s.keys[0].ID
		}
		text, err := json.Marshal(jose.JSONWebKey{Key: c.key, KeyID: id})
		if err != nil {
			t.Fatal(err)
		}
		swap(t, s, string(text))
		token, _, err := tokens.Exchange(t.Context(), alice)
		if (err == nil) != c.signs || token.Empty() == c.signs || !c.signs && told(err) != "stored credential cannot be opened" {
			t.Errorf("one %s: %v", what, err)
		}
		s.keys[0].Public = string(text)
		if set, err := tokens.JWKS(t.Context()); err != nil || strings.Contains(string(set), `"kty"`) {
			t.Errorf("the set shows %s, %v", set, err)
		}
	}
	s, tokens := newShelf(t)
	s.fails["TokenKeys"] = errStep
	if _, err := tokens.Keys(t.Context(), policy.Principal{}); !errors.Is(err, errStep) {
		t.Errorf("keys that are unread: %v", err)
	}
	// Another takes over, and what it did cannot be read.
	s, tokens = newShelf(t)
	s.fails["TokenKeys 2"] = errStep
	s.meantime = func(keys []TokenKey) []TokenKey {
		for i := range keys {
			if keys[i].State == KeySigning {
				keys[i].State = KeyVerifying
			}
		}
		return keys
	}
	if _, err := tokens.RotateKey(t.Context(), policy.Principal{}); !errors.Is(err, errStep) {
		t.Errorf("a rotation in which another takes over: %v", err)
	}
	// A key that signs by the time its row goes stays.
	s, tokens = newShelf(t)
	s.keys = append(s.keys, TokenKey{ID: clientID, State: KeyMaking})
	changes := 0
	s.meantime = func(keys []TokenKey) []TokenKey {
		if changes++; changes == 2 {
			keys[1].State = KeySigning
		}
		return keys
	}
	act, err := tokens.enter(t.Context(), policy.Principal{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tokens.drop(t.Context(), s.keys[1], act); err != nil || !slices.ContainsFunc(s.keys, func(k TokenKey) bool { return k.ID == clientID }) {
		t.Errorf("the keys are %v, %v", s.keys, err)
	}
}
