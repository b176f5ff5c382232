package session

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/policy"
)

// LoginWithin is how long a login at an issuer may take.
const LoginWithin = 5 * time.Minute

// Provider asks issuers for what logins need.
type Provider interface {
	// AuthorizationAt is where an entry's issuer has people log in.
	AuthorizationAt(ctx context.Context, e trust.Authority) (string, error)
	// Exchange sends a code to the entry's issuer, and returns the tokens of the answer. Errors hold nothing of it.
	Exchange(ctx context.Context, e trust.Authority, form url.Values) ([]secret.Text, error)
}

// Issuers wire logins at issuers.
type Issuers struct {
	// Entries are those of the table of trust that people log in at.
	Entries  func() []trust.Authority
	Provider Provider
	// Once remembers which logins were finished.
	Once trust.Once
}

type logins struct{ Issuers }

// Begun is a login that is under way. The browser keeps it: it tells nobody but its own person anything.
type Begun struct {
	Entry    string    `json:"entry"`
	State    string    `json:"state"`
	Verifier string    `json:"verifier"`
	Callback string    `json:"callback"`
	Back     string    `json:"back"`
	Until    time.Time `json:"until"`
}

// Names are the entries that people log in at.
func (l logins) Names() []string {
	var all []string
	for _, e := range l.Entries() {
		all = append(all, e.Name)
	}
	return all
}

func (l logins) entry(name string) (trust.Authority, error) {
	all := l.Entries()
	n := slices.IndexFunc(all, func(e trust.Authority) bool { return e.Name == name })
	if n < 0 {
		return trust.Authority{}, &broker.Error{Kind: broker.ErrNotFound, Detail: "the table of trust has no entry of this name with a login"}
	}
	return all[n], nil
}

// BeginLogin returns where the person goes to log in at an issuer (RFC 6749 section 4.1, RFC 7636), and what the browser
// keeps until it comes back to callback. back is where the person then wants to be.
func (s *Sessions) BeginLogin(ctx context.Context, name, callback, back string) (at, kept string, err error) {
	e, err := s.entry(name)
	if err != nil {
		return "", "", err
	}
	if at, err = s.Provider.AuthorizationAt(ctx, e); err != nil {
		return "", "", &broker.Error{Kind: broker.ErrUnavailable, Detail: "the issuer " + name + " cannot be asked now", Cause: err}
	}
	state, _ := policy.NewSecret("")
	b := Begun{
		Entry: name, State: state, Verifier: oauth2.GenerateVerifier(), Callback: callback, Back: back, Until: s.Now().Add(LoginWithin),
	}
	text, err := json.Marshal(b)
	if err != nil {
		return "", "", err
	}
	scopes := e.Login.Scopes
	if len(scopes) == 0 {
		scopes = []string{"openid"}
	}
	ask := url.Values{
		"response_type": {"code"}, "client_id": {e.Login.ClientID}, "redirect_uri": {callback}, "scope": {strings.Join(scopes, " ")},
		"state": {state}, "code_challenge": {oauth2.S256ChallengeFromVerifier(b.Verifier)}, "code_challenge_method": {"S256"},
	}
	mark := "?"
	if strings.Contains(at, "?") {
		mark = "&"
	}
	return at + mark + ask.Encode(), base64.RawURLEncoding.EncodeToString(text), nil
}

// errLogin: the login is none that was begun here. Anybody can open such a URL in a person's browser.
var errLogin = &broker.Error{
	Kind: broker.ErrInvalid, Detail: "this is not the login that was begun in this browser, or it took longer than five minutes",
	Remedy: "begin again",
}

// FinishLogin begins a session for who has logged in at an issuer. kept is what the browser kept, which counts once, and
// came what it came back with.
func (s *Sessions) FinishLogin(ctx context.Context, kept string, came url.Values) (plain string, made Session, back string, err error) {
	fail := func(err error) (string, Session, string, error) { return "", Session{}, "", err }
	var b Begun
	text, err := base64.RawURLEncoding.DecodeString(kept)
	if err != nil || json.Unmarshal(text, &b) != nil || b.State == "" {
		return fail(errLogin)
	}
	now := s.Now()
	same := subtle.ConstantTimeCompare([]byte(came.Get("state")), []byte(b.State)) == 1
	if !same || !now.Before(b.Until) || b.Until.After(now.Add(LoginWithin)) {
		return fail(errLogin)
	}
	if err := s.Once.UseOnce(ctx, "login "+policy.Digest(b.State), b.Until); err != nil {
		if errors.Is(err, broker.ErrExists) {
			err = errLogin
		}
		return fail(err)
	}
	e, err := s.entry(b.Entry)
	if err != nil {
		return fail(err)
	}
	code := came.Get("code")
	if iss := came.Get("iss"); iss != "" && iss != e.Issuer || code == "" { // RFC 9207
		return fail(&broker.Error{
			Kind: broker.ErrDenied, Detail: "the issuer " + b.Entry + " has let nobody in", Remedy: "begin again, or ask its administrator",
		})
	}
	tokens, err := s.Provider.Exchange(ctx, e, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {b.Callback}, "client_id": {e.Login.ClientID},
		"code_verifier": {b.Verifier},
	})
	if err != nil {
		return fail(&broker.Error{Kind: broker.ErrUnavailable, Detail: "the issuer " + b.Entry + " gives no token for this login", Cause: err})
	}
	err = policy.ErrUnauthenticated
	for _, token := range tokens { // the one that is for this server
		var p policy.Principal
		if p, err = s.Callers.Authenticate(ctx, token.Reveal()); err == nil {
			plain, made, err = s.begin(ctx, p, "")
			return plain, made, b.Back, err
		}
	}
	return fail(err)
}

// links are those that let somebody in once. They are for a process that tries things out.
type links struct {
	mu  sync.Mutex
	all map[string]link
}

type link struct {
	who   policy.Principal
	until time.Time
}

// Link returns the secret of a link that lets somebody in once, for a while.
func (s *Sessions) Link(p policy.Principal, within time.Duration) string {
	plain, _ := policy.NewSecret("")
	s.links.mu.Lock()
	defer s.links.mu.Unlock()
	if s.links.all == nil {
		s.links.all = map[string]link{}
	}
	s.links.all[digestOf(plain)] = link{p, s.Now().Add(within)}
	return plain
}

// EnterByLink begins a session for whom a link lets in. The link ends with that.
func (s *Sessions) EnterByLink(ctx context.Context, plain string) (string, Session, error) {
	s.links.mu.Lock()
	key := digestOf(plain)
	l, known := s.links.all[key]
	delete(s.links.all, key)
	s.links.mu.Unlock()
	if !known || !s.Now().Before(l.until) {
		return "", Session{}, policy.ErrUnauthenticated
	}
	return s.begin(ctx, l.who, "")
}
