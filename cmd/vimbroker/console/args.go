package console

import (
	"slices"
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
	hint, near := "", turned(c, args)
	if len(near) == 0 {
		near = slices.DeleteFunc(c.SuggestionsFor(args[0]), func(name string) bool {
			return len(args[0]) < 4 && name[0] != args[0][0] // any short word is near to another
		})
	}
	if len(near) > 0 {
		hint = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return Usagef(c, "unknown command %q for %q%s", strictyaml.Printable(args[0]), c.CommandPath(), hint)
}

// turned is the command that somebody means who is used to kubectl, and says "get vims" or "describe vim edge-1".
func turned(c *cobra.Command, args []string) []string {
	for _, group := range c.Commands() {
		if len(args) < 2 || args[1] != group.Name() && args[1] != group.Name()+"s" {
			continue
		}
		verb := args[0]
		if verb == "get" && len(args) == 2 {
			verb = "list"
		}
		for _, one := range group.Commands() {
			if one.Name() == verb || one.HasAlias(verb) {
				return []string{group.Name() + " " + one.Name()}
			}
		}
	}
	return nil
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
