package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

func (p *program) clientKeyCommand() *cobra.Command {
	return console.Group("key", "Look after the keys that sign clients' tokens",
		`The server signs the tokens of clients. It replaces the key every 30 days;
tokens of the key before are taken until they expire. If somebody else may have
the private half of a key, revoke it: its tokens end at once, and clients log in
again.`,
		"  vimbroker client key list\n  vimbroker client key revoke 3a0f7d52-1c64-4d0b-9a57-5d0be3f0c9d1",
		p.clientKeyListCommand(),
		p.clientKeyRotateCommand(),
		p.clientKeyRevokeCommand(),
	)
}

func (p *program) clientKeyListCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:   "List the keys that sign clients' tokens",
		Long:    "List the key that signs clients' tokens, and those before it whose tokens still\ncount.",
		Example: "  vimbroker client key list",
		Args:    console.Names(),
		RunE: p.Remote(func(c *cobra.Command, _ []string, broker *client.Client) error {
			found, err := broker.TokenKeys(c.Context())
			if err != nil {
				return err
			}
			return p.Print(found, func(w io.Writer) { p.clientKeyTable(w, found.Items) })
		}),
	}
	p.OutputFlag(c)
	return c
}

func (p *program) clientKeyTable(w io.Writer, keys []v1.TokenKey) {
	p.Header(w, []string{"ID", "STATE", "KEY STORE", "MADE", "TOKENS END"})
	for _, k := range keys {
		p.Columns(w, []string{k.ID, k.State, k.KeyStore, p.When(k.CreatedAt), p.When(k.Until)})
	}
}

func (p *program) clientKeyRotateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "rotate",
		Short: "Replace the key that signs clients' tokens",
		Long: `Replace the key that signs clients' tokens. Tokens of the key before are taken
until they expire, five minutes at most; its private half is destroyed.`,
		Example: "  vimbroker client key rotate",
		Args:    console.Names(),
		RunE: p.Remote(func(c *cobra.Command, _ []string, broker *client.Client) error {
			k, err := broker.RotateTokenKey(c.Context())
			if err != nil {
				return err
			}
			return p.Print(k, func(w io.Writer) { p.clientKeyTable(w, []v1.TokenKey{k}) })
		}),
	}
	p.OutputFlag(c)
	return c
}

func (p *program) clientKeyRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke KEY",
		Short: "Revoke a key that leaked",
		Long: `Revoke a key whose private half somebody else may have: none of its tokens is
taken any more. If it signs, the next token is signed by a new one.`,
		Example: "  vimbroker client key revoke 3a0f7d52-1c64-4d0b-9a57-5d0be3f0c9d1",
		Args:    console.Names("KEY"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.Remote(func(c *cobra.Command, args []string, broker *client.Client) error {
			return broker.RevokeTokenKey(c.Context(), args[0])
		}),
	}
}
