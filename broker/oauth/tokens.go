package oauth

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// TokenLife is how long a token is taken.
	TokenLife = 5 * time.Minute
	// leeway is how far the clocks of replicas may be apart.
	leeway = 5 * time.Second
	// tokenType is the media type of access tokens (RFC 9068 section 2.1).
	tokenType = "at+jwt"
	// algorithm is the only one that signs and is taken.
	algorithm = jose.ES256
)

// TokensOptions wire [Tokens]. Every field without a stated default is required.
type TokensOptions struct {
	Store   TokenKeyStore
	Clients *Clients
	// Keys are the key stores, the first of which takes new keys.
	Keys []secret.KeyStore
	// Ledger destroys what seals keys that were replaced.
	Ledger Ledger
	// Guard is the server's, whose sink is the store.
	Guard *audit.Guard
	Log   *slog.Logger
	// Issuer is the URL of the broker as its clients know it: issuer and audience of tokens.
	Issuer string
	// Once remembers the assertions of clients.
	Once Once
	// Directories know callers without their tokens, by authenticator.
	Directories map[string]policy.Directory
	// Trusted reports whether what let a caller in whom no directory knows is still as it was then; nil: never.
	Trusted func(name, digest string) bool
	// Now defaults to time.Now.
	Now func() time.Time
}

// Ledger is [broker.Broker] as this package uses it.
type Ledger interface {
	// RetireKeys destroys the keys on the ledger of retired keys. The pass retries those that
	// it cannot destroy now.
	RetireKeys(ctx context.Context)
}

// Tokens makes and takes access tokens: JWTs of the profile of RFC 9068, signed with ES256.
// Its methods are safe for concurrent use, by any number of processes on one store.
type Tokens struct {
	TokensOptions
	desk broker.Desk
	keys keyring.Ring
}

// NewTokens returns Tokens; it starts nothing.
func NewTokens(o TokensOptions) *Tokens {
	o.Now = broker.Clock(o.Now)
	if o.Trusted == nil {
		o.Trusted = func(string, string) bool { return false }
	}
	return &Tokens{o, broker.Desk{Guard: o.Guard, Log: o.Log, Missing: gone}, o.Keys}
}

// Issuer is the URL of the broker as its clients know it.
func (t *Tokens) Issuer() string { return t.TokensOptions.Issuer }

// claims are the claims of a token. The client's row holds its identity and its rights.
type claims struct {
	jwt.Claims
	ClientID string `json:"client_id"`
	// Secret names the secret with which the client logged in, by the beginning of its digest: with
	// the secret the token ends. So does one for a certificate with its name.
	Secret string `json:"vimbroker_secret"`
	// Bound is to the certificate with which the client logged in (RFC 8705 section 3.1): the token
	// counts over connections with that one.
	Bound *confirmation `json:"cnf,omitempty"`
	// Caller is whom an exchanged token is for, who is no client.
	Caller *caller `json:"vimbroker_caller,omitempty"`
}

type confirmation struct {
	Certificate string `json:"x5t#S256"`
}

// secretID tells a secret from others without being of use to anyone.
func secretID(sha256 string) string {
	if len(sha256) < 12 {
		return ""
	}
	return sha256[:12]
}

// Issue makes a token for the client that has an id and a secret, or a certificate; see
// [Clients.Authenticate]. It is [policy.ErrUnauthenticated], which tells nothing more, if there is
// none.
//
// A token ends after [TokenLife], and before that with the secret, the client or the key. A token
// for a certificate counts only if the sender shows that certificate.
func (t *Tokens) Issue(ctx context.Context, id, plain string) (secret.Text, error) {
	c, err := t.Clients.Authenticate(ctx, id, plain)
	if err != nil {
		return secret.Text{}, err
	}
	now := t.Now()
	says := claims{
		Claims: t.standard(c.ID, now, now.Add(TokenLife)), ClientID: c.ID, Secret: secretID(policy.Digest(plain)),
	}
	if plain == "" {
		says.Secret, says.Bound = c.Certificate.id(), &confirmation{thumbprint(Peer(ctx)[0])}
	}
	return t.sign(ctx, says)
}

func (t *Tokens) sign(ctx context.Context, says claims) (secret.Text, error) {
	key, err := t.signing(ctx)
	if err != nil {
		return secret.Text{}, err
	}
	private, err := t.open(ctx, key)
	if err != nil {
		return secret.Text{}, err
	}
	options := new(jose.SignerOptions).WithType(tokenType)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: private}, options)
	if err != nil {
		return secret.Text{}, errKeyLost()
	}
	signed, err := jwt.Signed(signer).Claims(says).Serialize()
	if err != nil {
		return secret.Text{}, errKeyLost()
	}
	return secret.NewText(signed), nil
}

// Authenticate returns the present state of the client that a token was made for.
// [policy.ErrUnauthenticated], which tells nothing more, if the token does not count; any other
// error means that the token cannot be checked now.
func (t *Tokens) Authenticate(ctx context.Context, bearer string) (policy.Principal, error) {
	refused := policy.ErrUnauthenticated
	signed, err := jwt.ParseSigned(bearer, []jose.SignatureAlgorithm{algorithm})
	if err != nil || len(signed.Headers) != 1 || signed.Headers[0].ExtraHeaders[jose.HeaderType] != tokenType {
		return policy.Principal{}, refused
	}
	id := signed.Headers[0].KeyID
	if uuid.Validate(id) != nil {
		return policy.Principal{}, refused
	}
	keys, err := t.Store.TokenKeys(ctx)
	if err != nil {
		return policy.Principal{}, err
	}
	now := t.Now()
	for _, k := range keys {
		if k.ID != id || !k.counts(now) {
			continue
		}
		var public jose.JSONWebKey
		if err := json.Unmarshal([]byte(k.Public), &public); err != nil {
			return policy.Principal{}, errKeyLost()
		}
		var said claims
		if signed.Claims(public.Key, &said) != nil {
			return policy.Principal{}, refused
		}
		return t.take(ctx, said, now)
	}
	return policy.Principal{}, refused
}

// take returns the client that claims are about, if they count.
func (t *Tokens) take(ctx context.Context, said claims, now time.Time) (policy.Principal, error) {
	expected := jwt.Expected{Issuer: t.Issuer(), AnyAudience: jwt.Audience{t.Issuer()}, Time: now}
	if said.Expiry == nil || said.IssuedAt == nil || said.ValidateWithLeeway(expected, leeway) != nil {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	if said.Caller != nil {
		return t.takeCaller(ctx, said)
	}
	c, err := t.Clients.active(ctx, said.Subject)
	if err != nil {
		return policy.Principal{}, err
	}
	is := said.Secret != "" && said.Secret == secretID(c.SHA256)
	was := said.Secret != "" && said.Secret == secretID(c.PreviousSHA256) && now.Before(c.PreviousUntil)
	if c.Certificate.Kind == JWKS {
		is, was = said.Secret != "" && said.Bound == nil && said.Secret == c.Certificate.id(), false
	} else if said.Bound != nil {
		is, was = said.Secret != "" && said.Secret == c.Certificate.id() && boundTo(ctx, said.Bound.Certificate), false
	}
	if !is && !was {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	return c.Principal(), nil
}

// ByCertificate reports whether clients can log in by certificates.
func (t *Tokens) ByCertificate() bool { return t.Clients.ByCertificate() }

// JWKS are the public halves of the keys whose tokens count, as a JWK set (RFC 7517 section 5) in JSON.
func (t *Tokens) JWKS(ctx context.Context) (json.RawMessage, error) {
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	keys, err := t.Store.TokenKeys(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		var public jose.JSONWebKey
		if k.counts(t.Now()) && json.Unmarshal([]byte(k.Public), &public) == nil && public.IsPublic() {
			set.Keys = append(set.Keys, public)
		}
	}
	return json.Marshal(set)
}

// keyFault is an error of a key ring as callers are told it.
func keyFault(err error) error {
	return broker.KeyFault(err, broker.Error{
		Detail: "the key that signs tokens does not open", Remedy: "revoke it: a new one takes its place",
	})
}

func errKeyLost() error { return keyFault(keyring.ErrLost) }
