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
		ask(p, &cobra.Command{
			Use: "list", Aliases: []string{"ls"},
			Short:   "List the keys that sign clients' tokens",
			Long:    "List the key that signs clients' tokens, and those before it whose tokens still\ncount.",
			Example: "  vimbroker client key list",
		}, (*client.Client).TokenKeys, printed(p, func(w io.Writer, found v1.List[v1.TokenKey]) { p.clientKeyTable(w, found.Items) })),
		ask(p, &cobra.Command{
			Use:   "rotate",
			Short: "Replace the key that signs clients' tokens",
			Long: `Replace the key that signs clients' tokens. Tokens of the key before are taken
until they expire, five minutes at most; its private half is destroyed.`,
			Example: "  vimbroker client key rotate",
		}, (*client.Client).RotateTokenKey, printed(p, func(w io.Writer, k v1.TokenKey) { p.clientKeyTable(w, []v1.TokenKey{k}) })),
		act(p, free, &cobra.Command{
			Use:   "revoke KEY",
			Short: "Revoke a key that leaked",
			Long: `Revoke a key whose private half somebody else may have: none of its tokens is
taken any more. If it signs, the next token is signed by a new one.`,
			Example: "  vimbroker client key revoke 3a0f7d52-1c64-4d0b-9a57-5d0be3f0c9d1",
		}, (*client.Client).RevokeTokenKey),
	)
}

func (p *program) clientKeyTable(w io.Writer, keys []v1.TokenKey) {
	p.Header(w, []string{"ID", "STATE", "KEY STORE", "MADE", "TOKENS END"})
	for _, k := range keys {
		p.Columns(w, []string{k.ID, k.State, k.KeyStore, p.When(k.CreatedAt), p.When(k.Until)})
	}
}
