package console

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/contexts"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
)

// DefaultListen is the address on which serve listens, and that the examples name.
const DefaultListen = "127.0.0.1:8420"

// The variables that clients of the server read.
const (
	EnvAddr      = "VIMBROKER_ADDR"
	EnvToken     = "VIMBROKER_TOKEN"
	EnvTokenFile = "VIMBROKER_TOKEN_FILE"
	EnvCAFile    = "VIMBROKER_CA_FILE"
	// EnvIssuerCAFile names the authorities of the issuer of a login.
	EnvIssuerCAFile = "VIMBROKER_ISSUER_CA_FILE"
	// A registered client logs in with these, in place of a token. A certificate alone is the caller's own.
	EnvClientID         = clientconfig.EnvClientID
	EnvClientSecretFile = "VIMBROKER_CLIENT_SECRET_FILE"
	EnvClientCertFile   = "VIMBROKER_CLIENT_CERT_FILE"
	EnvClientKeyFile    = "VIMBROKER_CLIENT_KEY_FILE"
)

// completionPatience bounds a person's wait for completions.
const completionPatience = 2 * time.Second

// Connect returns a client of the server that flags and environment name, or else of the current context. It connects
// to nothing yet, but where the context's login has to be refreshed.
func (p *Console) Connect() (*client.Client, error) {
	addr := p.ServerAddr()
	if addr == "" {
		if _, err := p.Contexts(); err != nil {
			return nil, err
		}
		return nil, errNoServer
	}
	if _, c, there, err := p.context(); err == nil && there && p.Project == "" {
		p.Project = c.Project
	}
	login, err := p.login()
	if err != nil {
		return nil, err
	}
	var token secret.Text
	if login == nil {
		if token, err = p.token(context.Background()); err != nil {
			return nil, err
		}
	}
	return p.connect(client.Options{Addr: addr, CAFile: p.ServerCAFile(), Token: token, Login: login})
}

// ConnectAs returns a client of a context's server, with the context's token.
func (p *Console) ConnectAs(ctx context.Context, set contexts.Merged, c contexts.Context) (*client.Client, error) {
	token, err := p.ContextToken(ctx, set, c)
	if err != nil {
		return nil, err
	}
	return p.connect(client.Options{Addr: c.Server, CAFile: c.CAFile, Token: token})
}

func (p *Console) connect(o client.Options) (*client.Client, error) {
	o.UserAgent = "vimbroker/" + p.Version
	c, err := client.New(o)
	var bundle *client.CAError
	switch {
	case errors.As(err, &bundle):
		return nil, fmt.Errorf("%s: %w", EnvCAFile, err)
	case err != nil:
		return nil, fmt.Errorf("%s or --addr: %w", EnvAddr, err)
	}
	return c, nil
}

// ClientID is the id of the registered client that the caller logs in as; empty where it has a token.
func (p *Console) ClientID() string {
	if p.TokenFile != "" {
		return ""
	}
	return p.Env.Get(EnvClientID)
}

// certificate is the file of the certificate that the caller shows in place of a token; empty where it has none.
func (p *Console) certificate() string {
	if p.ClientID() != "" || p.givenToken() != "" || p.ServerTokenFile() != "" {
		return ""
	}
	return p.Env.Get(EnvClientCertFile)
}

// login is how the caller logs in as a registered client, or its certificate; nil where it has a token.
func (p *Console) login() (*client.Login, error) {
	id := p.ClientID()
	if id == "" && p.certificate() == "" {
		return nil, nil //nolint:nilnil // as it says
	}
	l := &client.Login{ID: id}
	secretFile, certFile, keyFile := p.Env.Get(EnvClientSecretFile), p.Env.Get(EnvClientCertFile), p.Env.Get(EnvClientKeyFile)
	switch {
	case id == "":
	case (secretFile == "") == (certFile == ""):
		return nil, errors.New(EnvClientID + " is set: set one of " + EnvClientSecretFile + " and " + EnvClientCertFile + ", too")
	case secretFile != "":
		text, err := p.word(secretFile, EnvClientSecretFile, "client's secret")
		l.Secret = text
		return l, err
	}
	pair, err := tls.LoadX509KeyPair(certFile, cmp.Or(keyFile, certFile))
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", EnvClientCertFile, EnvClientKeyFile, err)
	}
	l.Certificate = pair
	return l, nil
}

// word is the one word that a file holds.
func (p *Console) word(name, where, what string) (secret.Text, error) {
	text, err := files.ReadFile(name, p.In)
	if err != nil {
		return secret.Text{}, fmt.Errorf("reading the %s (%s): %w", what, where, err)
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 || bytes.ContainsAny(text, " \t\r\n") {
		return secret.Text{}, fmt.Errorf("the file %s (%s) does not hold one word, the %s, and nothing else", name, where, what)
	}
	return secret.NewText(string(text)), nil
}

// namedAddr is the server that flags and environment name; empty: none.
func (p *Console) namedAddr() string {
	if p.Addr != "" {
		return p.Addr
	}
	return p.Env.Get(EnvAddr)
}

// ServerAddr is the server's URL; empty: none is named.
func (p *Console) ServerAddr() string {
	if named := p.namedAddr(); named != "" {
		return named
	}
	if _, c, _, err := p.context(); err == nil {
		return c.Server
	}
	return ""
}

// ServerCAFile names the authorities of the server's certificate; empty: the system's.
func (p *Console) ServerCAFile() string {
	if named := p.Env.Get(EnvCAFile); named != "" {
		return named
	}
	if _, c, there, err := p.context(); err == nil && there {
		return c.CAFile
	}
	return ""
}

// ServerTokenFile names the token file that counts, or is empty.
func (p *Console) ServerTokenFile() string {
	if p.TokenFile != "" || p.givenToken() != "" {
		return p.TokenFile
	}
	return p.Env.Get(EnvTokenFile)
}

// givenToken is the token in the environment.
func (p *Console) givenToken() string { return p.Env.Get(EnvToken) }

// token finds the caller's token: the flag wins over the variable that holds the token, that over the one that names
// a file, and all over the context.
func (p *Console) token(ctx context.Context) (secret.Text, error) {
	name := p.ServerTokenFile()
	if name == "" {
		if token := p.givenToken(); token != "" {
			return secret.NewText(token), nil
		}
		set, c, there, err := p.context()
		if err != nil {
			return secret.Text{}, err
		}
		if there {
			return p.ContextToken(ctx, set, c)
		}
		return secret.Text{}, errors.New("no token given: set " + EnvToken + ", " + EnvTokenFile + " or --token-file, or log in: vimbroker login")
	}
	text, err := files.ReadFile(name, p.In)
	if err != nil {
		where := EnvTokenFile
		if p.TokenFile != "" {
			where = "--token-file"
		}
		return secret.Text{},
			fmt.Errorf(`reading the token: %w; set %s to the file of your token ("vimbroker serve --dev" writes DATADIR/dev-token)`, err, where)
	}
	return oneToken(text, name)
}

// oneToken is the one token that a file holds.
func oneToken(text []byte, name string) (secret.Text, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || bytes.ContainsAny(text, " \t\r\n") {
		return secret.Text{}, fmt.Errorf("the token file %s does not hold one token and nothing else", name)
	}
	return secret.NewText(string(text)), nil
}

// RemoteBody is the body of a command that needs a client.
type RemoteBody func(c *cobra.Command, args []string, registry *client.Client) error

// Remote makes a command's body from one that needs a client.
func (p *Console) Remote(body RemoteBody) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		registry, err := p.Connect()
		if err != nil {
			return err
		}
		return p.Meant(c.Context(), registry, body(c, args, registry))
	}
}
