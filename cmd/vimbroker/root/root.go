// Package root puts the commands of vimbroker together.
package root

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/cli"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/lessee"
)

// Command is the whole program. It is for one run.
func Command(c *console.Console) *cobra.Command {
	root := &cobra.Command{
		Use:   "vimbroker",
		Short: "Keep the credentials of clouds and clusters sealed, lend short-lived ones",
		Long: `vimbroker keeps the credentials of VIMs (Kubernetes clusters and OpenStack
clouds) sealed, and hands out leases: credentials derived from them that are
narrow, short-lived, revocable and audited.

"vimbroker serve" is the server. The commands that talk to it read:

  VIMBROKER_ADDR        where the server is, like https://vimbroker.example:8420
  VIMBROKER_TOKEN_FILE  a file that holds the caller's token
  VIMBROKER_TOKEN       the token itself; your other processes can read it there
  VIMBROKER_CA_FILE     a PEM bundle that the server's certificate chains to,
                        if the system's roots do not know it

"vimbroker login" keeps server and token as a context, in place of these; see
"vimbroker context". VIMBROKER_CONTEXT names one.

A registered client needs no token. It logs in by VIMBROKER_CLIENT_ID, with
VIMBROKER_CLIENT_SECRET_FILE, or with VIMBROKER_CLIENT_CERT_FILE and
VIMBROKER_CLIENT_KEY_FILE; --token-file counts before these. A certificate
without an id is the caller itself, where no token is given.

Exit codes: 0 success; 1 failure; 2 wrong command line; 3 no such VIM or lease
(or it belongs to another project). "exec" exits with the code of the command
that it ran; see its help. With -o json an error is a line of JSON on standard
error: "message", and the fields of the server's answer where it refused.`,
		Example: `  vimbroker serve --dev
  vimbroker vim register --kubeconfig ~/.kube/config edge-1
  vimbroker exec edge-1 -- kubectl get namespaces`,
		Version:       c.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          console.Subcommand,
		RunE:          console.ShowHelp,

		SuggestionsMinimumDistance: 2,
	}
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 80 "))
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	flags := root.PersistentFlags()
	flags.StringVar(&c.Addr, "addr", "", "the server's address (default: $VIMBROKER_ADDR)")
	flags.StringVar(&c.TokenFile, "token-file", "",
		"file that holds the caller's token (default: $VIMBROKER_TOKEN_FILE, or the token itself in $VIMBROKER_TOKEN)")
	root.SetFlagErrorFunc(console.WrongFlag)
	root.AddCommand(serverCommands(c)...)
	root.AddCommand(cli.Commands(c)...)
	root.AddCommand(lessee.Commands(c)...)
	console.InWords(root)
	return root
}
