package main

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// The variables that clients of the server read.
const (
	envAddr      = "VIMBROKER_ADDR"
	envToken     = "VIMBROKER_TOKEN"
	envTokenFile = "VIMBROKER_TOKEN_FILE"
	envCAFile    = "VIMBROKER_CA_FILE"
)

// completionPatience bounds what a person waits for completions.
const completionPatience = 2 * time.Second

// connect returns a client of the server that flags and environment name. It
// connects to nothing yet.
func (p *program) connect() (*client.Client, error) {
	addr := p.serverAddr()
	if addr == "" {
		return nil, errors.New("no server named: set " + envAddr + " or --addr, like http://" + defaultListen)
	}
	token, err := p.token()
	if err != nil {
		return nil, err
	}
	c, err := client.New(client.Options{
		Addr:      addr,
		Token:     token,
		CAFile:    p.env.get(envCAFile),
		UserAgent: "vimbroker/" + buildVersion(),
	})
	if err != nil {
		return nil, fmt.Errorf("%s or --addr: %w", envAddr, err)
	}
	return c, nil
}

func (p *program) serverAddr() string {
	if p.addr != "" {
		return p.addr
	}
	return p.env.get(envAddr)
}

// serverTokenFile names the token file that counts, or is empty.
func (p *program) serverTokenFile() string {
	if p.tokenFile != "" || p.env.get(envToken) != "" {
		return p.tokenFile
	}
	return p.env.get(envTokenFile)
}

// token finds the caller's token: the flag wins over the variable that holds the
// token, that over the one that names a file.
func (p *program) token() (secret.Text, error) {
	name := p.serverTokenFile()
	if name == "" {
		token := p.env.get(envToken)
		if token == "" {
			return secret.Text{}, errors.New("no token given: set " + envToken + ", " + envTokenFile + " or --token-file")
		}
		return secret.NewText(token), nil
	}
	text, err := readFile(name, p.in)
	if err != nil {
		return secret.Text{}, fmt.Errorf("reading the token: %w", err)
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 || bytes.ContainsAny(text, " \t\r\n") {
		return secret.Text{}, fmt.Errorf("the token file %s does not hold one token and nothing else", name)
	}
	return secret.NewText(string(text)), nil
}

// remote makes a command's body from one that needs a client.
func (p *program) remote(body func(c *cobra.Command, args []string, broker *client.Client) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		broker, err := p.connect()
		if err != nil {
			return err
		}
		return body(c, args, broker)
	}
}
