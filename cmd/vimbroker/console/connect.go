package console

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/secret"
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
	// A registered client logs in with these, in place of a token.
	EnvClientID         = "VIMBROKER_CLIENT_ID"
	EnvClientSecretFile = "VIMBROKER_CLIENT_SECRET_FILE"
	EnvClientCertFile   = "VIMBROKER_CLIENT_CERT_FILE"
	EnvClientKeyFile    = "VIMBROKER_CLIENT_KEY_FILE"
)

// completionPatience bounds a person's wait for completions.
const completionPatience = 2 * time.Second

// Connect returns a client of the server that flags and environment name. It
// connects to nothing yet.
func (p *Console) Connect() (*client.Client, error) {
	addr := p.ServerAddr()
	if addr == "" {
		return nil, errors.New("no server named: set " + EnvAddr + " or --addr, like http://" + DefaultListen)
	}
	login, err := p.login()
	if err != nil {
		return nil, err
	}
	var token secret.Text
	if login == nil {
		if token, err = p.token(); err != nil {
			return nil, err
		}
	}
	c, err := client.New(client.Options{
		Addr:      addr,
		Token:     token,
		Login:     login,
		CAFile:    p.Env.Get(EnvCAFile),
		UserAgent: "vimbroker/" + p.Version,
	})
	var bundle *client.CAError
	switch {
	case errors.As(err, &bundle):
		return nil, fmt.Errorf("%s: %w", EnvCAFile, err)
	case err != nil:
		return nil, fmt.Errorf("%s or --addr: %w", EnvAddr, err)
	}
	return c, nil
}

// Caller tells the caller's token at the server that it is for from every other, and tells
// nothing of it.
func (p *Console) Caller() (string, error) {
	who := p.ClientID()
	if who == "" {
		token, err := p.token()
		if err != nil {
			return "", err
		}
		who = token.Reveal()
	}
	sum := sha256.Sum256([]byte(p.ServerAddr() + "\n" + who))
	return hex.EncodeToString(sum[:]), nil
}

// ClientID is the id of the registered client that the caller logs in as; empty where it has a token.
func (p *Console) ClientID() string {
	if p.TokenFile != "" {
		return ""
	}
	return p.Env.Get(EnvClientID)
}

// login is how the caller logs in as a registered client; nil where it has a token.
func (p *Console) login() (*client.Login, error) {
	id := p.ClientID()
	if id == "" {
		return nil, nil //nolint:nilnil // as it says
	}
	l := &client.Login{ID: id}
	secretFile, certFile, keyFile := p.Env.Get(EnvClientSecretFile), p.Env.Get(EnvClientCertFile), p.Env.Get(EnvClientKeyFile)
	switch {
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

func (p *Console) ServerAddr() string {
	if p.Addr != "" {
		return p.Addr
	}
	return p.Env.Get(EnvAddr)
}

// ServerTokenFile names the token file that counts, or is empty.
func (p *Console) ServerTokenFile() string {
	if p.TokenFile != "" || p.Env.Get(EnvToken) != "" {
		return p.TokenFile
	}
	return p.Env.Get(EnvTokenFile)
}

// token finds the caller's token: the flag wins over the variable that holds the
// token, that over the one that names a file.
func (p *Console) token() (secret.Text, error) {
	name := p.ServerTokenFile()
	if name == "" {
		token := p.Env.Get(EnvToken)
		if token == "" {
			return secret.Text{}, errors.New("no token given: set " + EnvToken + ", " + EnvTokenFile + " or --token-file")
		}
		return secret.NewText(token), nil
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
