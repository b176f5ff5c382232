package console

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/strictyaml"
)

// Names are the positional arguments that a command takes, exactly; its help
// shows them in Use.
func Names(want ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(want):
			return Usagef(c, "%s is missing", want[len(args)])
		case len(args) > len(want):
			return Usagef(c, "unexpected argument %q", strictyaml.Printable(args[len(want)]))
		}
		return nil
	}
}

// Subcommand is the argument check of a command that only groups others.
func Subcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return Usagef(c, "unknown command %q for %q%s", strictyaml.Printable(args[0]), c.CommandPath(), hint)
}

// WrongFlag says that a flag is wrong; where the words before it name no command, the flag may be right for the one that is meant.
func WrongFlag(c *cobra.Command, err error) error {
	if before := c.Flags().Args(); c.HasSubCommands() && len(before) > 0 {
		return Subcommand(c, before)
	}
	return Usage(c, err)
}

// Group is a command that only groups others.
func Group(use, short, long, example string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example,
		Args: Subcommand, RunE: ShowHelp, SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(commands...)
	return c
}

// ShowHelp is the action of a command that only groups others.
func ShowHelp(c *cobra.Command, _ []string) error { return c.Help() }
