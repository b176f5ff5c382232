package oauth

import (
	"context"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

// caller is the caller that an exchanged token is for, as it was then.
type caller struct {
	Project string              `json:"project"`
	Roles   []string            `json:"roles"`
	Claims  map[string][]string `json:"claims,omitempty"`
	Shown   string              `json:"shown,omitempty"`
	Entry   string              `json:"entry,omitempty"`
	Digest  string              `json:"digest,omitempty"`
}

// Exchange makes a token for a caller that another token has let in (RFC 7523 section 2.1, RFC 8693). It ends
// after [TokenLife], and not later than what let the caller in. A client gets none so: it logs in.
//
// Where a directory knows the caller, the rights are those of each request. Otherwise they are those of now, and
// the token ends with the entry of the table of trust, or once that is changed.
func (t *Tokens) Exchange(ctx context.Context, p policy.Principal) (secret.Text, time.Duration, error) {
	now := t.Now()
	end := now.Add(TokenLife)
	if until := p.Login.Until; !until.IsZero() && until.Before(end) {
		end = until
	}
	if p.Name == "" || p.Authenticator() == policy.ByClient || !now.Before(end) {
		return secret.Text{}, 0, policy.ErrUnauthenticated
	}
	token, err := t.sign(ctx, claims{
		Claims: t.standard(p.Name, now, end), ClientID: p.Name,
		Caller: &caller{
			Project: p.Project, Roles: p.Roles, Claims: p.Claims,
			Shown: p.Login.Shown, Entry: p.Login.Entry, Digest: p.Login.Digest,
		},
	})
	return token, end.Sub(now), err
}

// standard are the claims of RFC 9068 of a token for a subject.
func (t *Tokens) standard(subject string, from, to time.Time) jwt.Claims {
	return jwt.Claims{
		Issuer: t.Issuer(), Subject: subject, Audience: jwt.Audience{t.Issuer()}, ID: uuid.NewString(),
		IssuedAt: jwt.NewNumericDate(from), NotBefore: jwt.NewNumericDate(from), Expiry: jwt.NewNumericDate(to),
	}
}

// takeCaller returns the caller of an exchanged token, if it still counts.
func (t *Tokens) takeCaller(ctx context.Context, said claims) (policy.Principal, error) {
	p := policy.Principal{
		Name: said.Subject, Project: said.Caller.Project, Roles: slices.Clone(said.Caller.Roles), Claims: said.Caller.Claims,
		Login: policy.Arrival{
			Shown: said.Caller.Shown, Entry: said.Caller.Entry, Digest: said.Caller.Digest, Until: said.Expiry.Time(),
		},
	}
	if directory, known := t.Directories[p.Authenticator()]; known {
		now, err := directory.Lookup(ctx, p.Name, p.Project)
		p.Roles = now.Roles
		return p, err
	}
	if !t.Trusted(p.Name, p.Login.Digest) {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	return p, nil
}
