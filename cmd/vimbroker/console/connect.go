package console

import (
	"bytes"
	"crypto/sha256"
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
	token, err := p.token()
	if err != nil {
		return nil, err
	}
	c, err := client.New(client.Options{
		Addr:      addr,
		Token:     token,
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
	token, err := p.token()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(p.ServerAddr() + "\n" + token.Reveal()))
	return hex.EncodeToString(sum[:]), nil
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
