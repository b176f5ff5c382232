package cli

import (
	"cmp"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/contexts"
)

func (p *program) contextCommand() *cobra.Command {
	return console.Group("context", "List, change and choose the contexts of this machine",
		`A context names a server, its authorities, a way to a token (a login, a platform
or a file), and a project. The current one counts where neither --addr nor
VIMBROKER_ADDR is given; its token goes to its own server alone.
VIMBROKER_CONTEXT names another one for one command or shell.

Contexts are kept in $XDG_CONFIG_HOME/vimbroker/contexts.yaml or
~/.config/vimbroker/contexts.yaml. VIMBROKER_CONFIG lists other files, which are
merged: of two contexts with one name the first counts.`,
		"  vimbroker context list\n  vimbroker context use corp",
		p.contextListCommand(),
		p.contextUseCommand(),
		p.contextAddCommand(),
		p.contextRemoveCommand(),
	)
}

func (p *program) contextListCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short: "List the contexts", Long: "List the contexts of all files. * is the current one.",
		Example: "  vimbroker context list",
		Args:    console.Names(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			set, err := p.Contexts()
			if err != nil {
				return err
			}
			return p.Print(map[string]any{"current": set.Current, "items": set.Contexts}, func(w io.Writer) {
				p.Header(w, []string{"", "NAME", "SERVER", "PROJECT"}, "LOGIN")
				for _, c := range set.Contexts {
					mark := ""
					if c.Name == set.Current {
						mark = "*"
					}
					p.Columns(w, []string{mark, p.Cut(c.Name), p.Cut(c.Server), p.Cut(c.Project)}, cmp.Or(c.Issuer, c.From, c.TokenFile))
				}
			})
		},
	}
	p.OutputFlag(c)
	return c
}

func (p *program) contextUseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "use NAME", Short: "Make a context the current one", Long: "Make a context the current one.",
		Example: "  vimbroker context use corp",
		Args:    console.Names("NAME"), ValidArgsFunction: console.OnlyFirst(p.contextNames),
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := p.Contexts()
			if err != nil {
				return err
			}
			if _, there := set.Find(args[0]); !there {
				return console.Missing("there is no context %q; see: vimbroker context list", args[0])
			}
			return set.Use(args[0])
		},
	}
}

func (p *program) contextAddCommand() *cobra.Command {
	var next contexts.Context
	c := &cobra.Command{
		Use:   "add NAME --server URL",
		Short: "Add a context, or replace one, and make it the current one",
		Long: `Add a context with a static token, or without a way to a token: then log in with
"vimbroker login --context NAME". A context of that name is replaced.`,
		Example: "  vimbroker context add lab --server https://lab.example:8443 --token lab.token",
		Args:    console.Names("NAME"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			set, err := p.Contexts()
			if err != nil {
				return err
			}
			if next.Server == "" {
				return console.Usagef(c, "--server is missing")
			}
			next.Name = args[0]
			for _, file := range []*string{&next.CAFile, &next.TokenFile} {
				if *file != "" {
					if *file, err = filepath.Abs(*file); err != nil {
						return err
					}
				}
			}
			return set.Put(next)
		},
	}
	flags := c.Flags()
	flags.StringVar(&next.Server, "server", "", "URL of the server")
	flags.StringVar(&next.CAFile, "ca-file", "", "authorities of the server's certificate (default: the system's)")
	flags.StringVar(&next.TokenFile, "token", "", "file of a static token")
	flags.StringVar(&next.Project, "in-project", "", "project that commands with --project mean without it")
	return c
}

func (p *program) contextRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm"}, Short: "Remove a context, and its login",
		Long: `Remove a context, and the tokens of its login. "vimbroker logout" before that
ends the login at the issuer, too.`,
		Example: "  vimbroker context remove lab",
		Args:    console.Names("NAME"), ValidArgsFunction: console.OnlyFirst(p.contextNames),
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := p.Contexts()
			if err != nil {
				return err
			}
			return set.Remove(args[0])
		},
	}
}
