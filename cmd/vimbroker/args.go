package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// names are the positional arguments that a command takes, exactly; its help
// shows them in Use.
func names(want ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(want):
			return usagef(c, "%s is missing", want[len(args)])
		case len(args) > len(want):
			return usagef(c, "unexpected argument %q", printable(args[len(want)]))
		}
		return nil
	}
}

// subcommand is the argument check of a command that only groups others.
func subcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usagef(c, "unknown command %q for %q%s", printable(args[0]), c.CommandPath(), hint)
}

// group is a command that only groups others.
func group(use, short, long, example string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example,
		Args: subcommand, RunE: showHelp, SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(commands...)
	return c
}
