package depot

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/rebuild"
	"github.com/vimbroker/vimbroker/broker/secret"
)

var _ broker.Driver = Driver{}

// minTTL is the least that a depot grants.
const minTTL = time.Minute

// Driver implements [broker.Driver] for depots. A lease is a pass with tokens.
type Driver struct{}

// Type implements [broker.Driver].
func (Driver) Type() broker.Type {
	return broker.Type{
		Name: "depot", Formats: clientconfig.Formats(Client{}),
		Credentials: []broker.CredentialKind{broker.CredentialBearerToken, broker.CredentialBasicAuth},
	}
}

// Normalize implements [broker.Driver].
func (d Driver) Normalize(r broker.Registration) (t broker.Target, c broker.Credential, err error) {
	if t.Endpoint, err = rebuild.Endpoint("endpoint", r.Endpoint, false); err != nil {
		return broker.Target{}, broker.Credential{}, err
	}
	if t.CACert, err = rebuild.CABundle("caCert", r.CACert); err != nil {
		return broker.Target{}, broker.Credential{}, err
	}
	t.InsecureSkipVerify = r.InsecureSkipVerify
	given := r.Credential
	switch {
	case t.InsecureSkipVerify && t.CACert != "":
		err = broker.Invalid("insecureSkipVerify", "contradicts caCert")
	case r.Namespace != "":
		err = broker.Invalid("namespace", "is not known to depots")
	case !given.Token.Empty() && given.Username == "" && given.Password.Empty():
		c = broker.Credential{Kind: broker.CredentialBearerToken, Token: given.Token}
		if strings.ContainsAny(c.Token.Reveal(), "\r\n ") {
			err = broker.Invalid("credential.token", "is not one word")
		}
	case given.Token.Empty() && given.Username != "" && !given.Password.Empty():
		c = broker.Credential{Kind: broker.CredentialBasicAuth, Username: given.Username, Password: given.Password}
	default:
		err = broker.Invalid("credential", "must be token, or username with password")
	}
	if err != nil {
		return broker.Target{}, broker.Credential{}, err
	}
	return t, c, nil
}

// Check implements [broker.Driver].
func (Driver) Check(ctx context.Context, a broker.Access) (broker.Report, error) {
	found, err := call(ctx, a, http.MethodGet, "/v1", nil)
	if err != nil {
		return broker.Report{}, err
	}
	r := broker.Report{Identity: found.ID, Version: found.Version, CanMint: found.MayLease, Discovered: broker.Discovered{Regions: []string{}}}
	if !r.CanMint {
		r.MintMessage = "the credential may not make passes; give it that right"
	}
	return r, nil
}

var word = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// Prepare implements [broker.Driver].
func (Driver) Prepare(g broker.Grant) (broker.Grant, error) {
	if g.Role == "" {
		g.Role = "reader"
	}
	switch {
	case g.TTL < minTTL:
		return broker.Grant{}, broker.Invalid("ttl", "must be at least %v", minTTL)
	case !word.MatchString(g.Role):
		return broker.Grant{}, broker.Invalid("role", "must be one word")
	case len(g.Namespaces) > 0:
		return broker.Grant{}, broker.Invalid("namespaces", "are not known to depots")
	}
	return g, nil
}

func passPath(handle string) string { return "/v1/passes/" + url.PathEscape(handle) }

// Issue implements [broker.Driver].
func (d Driver) Issue(ctx context.Context, a broker.Access, g broker.Grant) (broker.Minted, error) {
	return d.mint(ctx, a, g, http.MethodPut, passPath(g.Handle))
}

// Renew implements [broker.Driver].
func (d Driver) Renew(ctx context.Context, a broker.Access, g broker.Grant) (broker.Minted, error) {
	return d.mint(ctx, a, g, http.MethodPost, passPath(g.Handle)+"/tokens")
}

func (d Driver) mint(ctx context.Context, a broker.Access, g broker.Grant, method, path string) (broker.Minted, error) {
	g, err := d.Prepare(g)
	if err != nil {
		return broker.Minted{}, err
	}
	made, err := call(ctx, a, method, path, order{VIM: a.VIM, Lease: g.Lease, Role: g.Role, Seconds: int64(g.TTL / time.Second)})
	if err != nil {
		return broker.Minted{}, err
	}
	return broker.Minted{
		Credential: broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(made.Token)}, ExpiresAt: made.ExpiresAt,
	}, nil
}

// Revoke implements [broker.Driver].
func (d Driver) Revoke(ctx context.Context, a broker.Access, i broker.Issued) error {
	found, err := call(ctx, a, http.MethodGet, "/v1", nil)
	if err != nil {
		return err
	}
	if a.Identity != "" && found.ID != a.Identity {
		return &broker.Error{Kind: broker.ErrConflict, Detail: "another depot answers at the endpoint"}
	}
	_, err = call(ctx, a, http.MethodDelete, passPath(i.Handle)+"?vim="+url.QueryEscape(a.VIM), nil)
	if errors.Is(err, broker.ErrNotFound) {
		return nil
	}
	return err
}

// Dead implements [broker.Driver].
func (Driver) Dead(ctx context.Context, a broker.Access, minted broker.Credential) (bool, error) {
	if minted.Token.Empty() {
		return false, broker.Invalid("credential", "is empty")
	}
	a.Credential = minted
	_, err := call(ctx, a, http.MethodGet, "/v1/goods", nil)
	if errors.Is(err, broker.ErrUnauthorized) {
		return true, nil
	}
	return false, err
}

// Inventory implements [broker.Driver].
func (Driver) Inventory(ctx context.Context, a broker.Access) ([]broker.Upstream, error) {
	found, err := call(ctx, a, http.MethodGet, "/v1/passes?vim="+url.QueryEscape(a.VIM), nil)
	var all []broker.Upstream
	for _, p := range found.Passes {
		all = append(all, broker.Upstream{Handle: p.Name, Lease: p.Lease, CreatedAt: p.CreatedAt.UTC()})
	}
	return all, err
}

// Client implements [broker.Driver].
func (Driver) Client(broker.Access, []string, broker.CredentialKind) clientconfig.Client {
	return Client{}
}

// Forget implements [broker.Driver]. A depot keeps nothing besides passes.
func (Driver) Forget(ctx context.Context, a broker.Access) error {
	_, err := call(ctx, a, http.MethodGet, "/v1", nil)
	return err
}
