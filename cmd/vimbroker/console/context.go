package console

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/contexts"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/signin"
)

// Contexts are those of the person.
func (p *Console) Contexts() (contexts.Merged, error) { return contexts.Load(p.Env.Get) }

// context is the current context, where it is for the server that is asked: a token goes to no other one.
func (p *Console) context() (contexts.Merged, contexts.Context, bool, error) {
	set, err := p.Contexts()
	if err != nil {
		return set, contexts.Context{}, false, err
	}
	now, there := set.Now()
	if named := p.namedAddr(); there && named != "" && named != now.Server {
		there = false
	}
	return set, now, there, nil
}

// ContextName is the context whose token counts; empty where flags or environment give one.
func (p *Console) ContextName() string {
	if p.ClientID() != "" || p.givenToken() != "" || p.ServerTokenFile() != "" || p.certificate() != "" {
		return ""
	}
	_, c, there, err := p.context()
	if err != nil || !there {
		return ""
	}
	return c.Name
}

// ContextToken is the token of a context: from its file, from its platform, or of its login, which is refreshed by
// one process at a time.
func (p *Console) ContextToken(ctx context.Context, set contexts.Merged, c contexts.Context) (token secret.Text, err error) {
	switch {
	case c.TokenFile != "":
		return p.tokenOf(c.TokenFile, "the context "+c.Name)
	case c.From != "":
		return signin.Platform(ctx, c.From, c.Audience, p.Env.Get)
	case c.Issuer == "":
		return secret.Text{}, fmt.Errorf("the context %s names no token; log in: vimbroker login", c.Name)
	}
	err = contexts.WithLogin(set, c, func(l *signin.Kept) (bool, error) {
		if l.Fresh(p.Now()) {
			token = secret.NewText(l.Token)
			return false, nil
		}
		next, err := p.IssuerOf(c).Refresh(ctx, *l)
		changed := next != *l // a refresh token that was used counts no more
		*l = next
		token = secret.NewText(l.Token)
		return changed, err
	})
	return token, err
}

// IssuerOf is the issuer of a context's logins.
func (p *Console) IssuerOf(c contexts.Context) signin.Issuer {
	return signin.Issuer{URL: c.Issuer, ClientID: c.ClientID, Scopes: c.Scopes, Audience: c.Audience, HTTP: p.issuerClient()}
}

// issuerClient trusts the authorities of EnvIssuerCAFile, or the system's.
func (p *Console) issuerClient() *http.Client {
	name := p.Env.Get(EnvIssuerCAFile)
	if name == "" {
		return nil
	}
	c, err := client.Trusting(name)
	if err != nil {
		return nil
	}
	return c
}

// tokenOf reads a file that holds one token.
func (p *Console) tokenOf(name, of string) (secret.Text, error) {
	text, err := files.ReadFile(name, p.In)
	if err != nil {
		return secret.Text{}, fmt.Errorf("reading the token of %s: %w", of, err)
	}
	return oneToken(text, name)
}

// Caller tells the caller at the server from every other, and tells nothing of the token.
func (p *Console) Caller() (string, error) {
	if id := cmp.Or(p.ClientID(), p.certificate()); id != "" {
		return digest(p.ServerAddr() + "\n" + id), nil
	}
	if p.givenToken() == "" && p.ServerTokenFile() == "" {
		if _, c, there, err := p.context(); err != nil {
			return "", err
		} else if there {
			return digest("context\n" + c.Server + "\n" + c.Name + "\n" + c.Issuer + "\n" + c.From), nil
		}
	}
	token, err := p.token(context.Background())
	if err != nil {
		return "", err
	}
	return digest(p.ServerAddr() + "\n" + token.Reveal()), nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// errNoServer says how a server is named.
var errNoServer = errors.New("no server named: set " + EnvAddr + " or --addr, like http://" + DefaultListen +
	", or take a context: vimbroker context use")
