package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// program is what every command shares: where it reads and writes, its
// environment, and how it reaches the server.
type program struct {
	in       io.Reader
	out, err io.Writer
	env      environment
	now      func() time.Time
	after    func(time.Duration) <-chan time.Time

	// addr and tokenFile are the global flags.
	addr, tokenFile string
	// output is the -o flag of the commands that have it.
	output string
}

// environment is a process environment, as os.Environ spells it.
type environment []string

// get returns a variable's value, empty if it is not set. Of several the last counts.
func (e environment) get(key string) string {
	var value string
	for _, pair := range e {
		if v, ok := strings.CutPrefix(pair, key+"="); ok {
			value = v
		}
	}
	return value
}

// without returns the environment less some variables.
func (e environment) without(keys ...string) environment {
	var kept environment
next:
	for _, pair := range e {
		for _, key := range keys {
			if strings.HasPrefix(pair, key+"=") {
				continue next
			}
		}
		kept = append(kept, pair)
	}
	return kept
}

// run is the whole program after main: it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	p := &program{in: stdin, out: stdout, err: stderr, env: env, now: time.Now, after: time.After}
	root := p.rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return p.exitCode(root.ExecuteContext(ctx))
}

func (p *program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "vimbroker",
		Short: "Keep the credentials of clouds and clusters sealed, lend short-lived ones",
		Long: `vimbroker keeps the credentials of VIMs (Kubernetes clusters and OpenStack
clouds) sealed, and hands out leases: credentials derived from them that are
narrow, short-lived, revocable and audited.

"vimbroker serve" is the server. Every other command talks to it, and reads:

  VIMBROKER_ADDR        where the server is, like https://vimbroker.example:8420
  VIMBROKER_TOKEN       the caller's token
  VIMBROKER_TOKEN_FILE  a file that holds the token instead
  VIMBROKER_CA_FILE     a PEM bundle to know the server by, if the system's roots do not

Exit codes: 0 done; 1 failed; 2 the command line is wrong; 3 there is no such
VIM or lease (or it is another project's). "exec" answers with the code of the
command that it ran; its help tells the rest.`,
		Example: `  vimbroker serve --dev
  vimbroker vim register --kubeconfig ~/.kube/config edge-1
  vimbroker exec edge-1 -- kubectl get namespaces`,
		Version:       buildVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          subcommand,
		RunE:          showHelp,

		SuggestionsMinimumDistance: 2,
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	flags := root.PersistentFlags()
	flags.StringVar(&p.addr, "addr", "", "the server's address (default: $VIMBROKER_ADDR)")
	flags.StringVar(&p.tokenFile, "token-file", "", "file that holds the caller's token (default: $VIMBROKER_TOKEN_FILE, or the token itself in $VIMBROKER_TOKEN)")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage(c, err) })
	root.AddCommand(
		p.serveCommand(),
		p.vimCommand(),
		p.leaseCommand(),
		p.keyCommand(),
		p.dbCommand(),
		p.execCommand(),
		p.credentialCommand(),
		p.auditCommand(),
		p.policyCommand(),
		p.tokenCommand(),
		p.versionCommand(),
	)
	return root
}

// showHelp is what a command that only groups others does.
func showHelp(c *cobra.Command, _ []string) error { return c.Help() }
