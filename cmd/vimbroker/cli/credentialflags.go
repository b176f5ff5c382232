package cli

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
)

// credentialFlags name the files that hold a VIM's credential. No flag holds a
// secret itself.
type credentialFlags struct {
	tokenFile, certFile, keyFile, username, passwordFile string
	appCredID, appCredFile                               string
}

func (f *credentialFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.tokenFile, "bearer-token-file", "", "file with the VIM's bearer token (- is standard input)")
	flags.StringVar(&f.certFile, "client-cert-file", "", "PEM file with a client certificate, with --client-key-file")
	flags.StringVar(&f.keyFile, "client-key-file", "", "PEM file with its key (- is standard input)")
	flags.StringVar(&f.username, "username", "", "user name at the VIM, with --password-file")
	flags.StringVar(&f.passwordFile, "password-file", "", "file with the password (- is standard input)")
	flags.StringVar(&f.appCredID, "application-credential-id", "",
		"id of an OpenStack application credential; its secret has a flag of its own")
	flags.StringVar(&f.appCredFile, "application-credential-secret-file", "", "file with its secret (- is standard input)")
}

func (f *credentialFlags) names() []string {
	return []string{
		"bearer-token-file", "client-cert-file", "client-key-file", "username", "password-file", "application-credential-id",
		"application-credential-secret-file",
	}
}

// read makes a credential of the files; none given is an empty credential, and
// what does not belong together is the server's to refuse.
func (f *credentialFlags) read(p *program) (v1.Credential, error) {
	piped := 0
	for _, name := range []string{f.tokenFile, f.certFile, f.keyFile, f.passwordFile, f.appCredFile} {
		if name == "-" {
			piped++
		}
	}
	if piped > 1 {
		return v1.Credential{}, errors.New("only one file can be standard input (-)")
	}
	c := v1.Credential{Username: f.username, ApplicationCredentialID: f.appCredID}
	var err error
	if c.Token, err = p.secretFile("bearer token", f.tokenFile); err != nil {
		return c, err
	}
	if c.Password, err = p.secretFile("password", f.passwordFile); err != nil {
		return c, err
	}
	if c.ApplicationCredentialSecret, err = p.secretFile("application credential's secret", f.appCredFile); err != nil {
		return c, err
	}
	if c.ClientKey, err = p.secretFile("client key", f.keyFile); err != nil {
		return c, err
	}
	if f.certFile != "" {
		text, err := files.ReadFile(f.certFile, p.In)
		if err != nil {
			return c, fmt.Errorf("reading the client certificate: %w", err)
		}
		c.ClientCertificate = string(text)
	}
	return c, nil
}

// secretFile reads a secret, less the line break that editors put at the end.
func (p *program) secretFile(what, name string) (secret.Text, error) {
	if name == "" {
		return secret.Text{}, nil
	}
	text, err := files.ReadFile(name, p.In)
	if err != nil {
		return secret.Text{}, fmt.Errorf("reading the %s: %w", what, err)
	}
	text = bytes.TrimRight(text, "\r\n")
	if len(text) == 0 {
		return secret.Text{}, fmt.Errorf("reading the %s: %s is empty", what, name)
	}
	return secret.NewText(string(text)), nil
}
