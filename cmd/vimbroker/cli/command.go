package cli

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

// argument is the one argument of a command.
type argument struct {
	name     string // in an error; empty: as in the command's use
	complete cobra.CompletionFunc
	find     func(ctx context.Context, registry *client.Client, ref string) (id string, err error) // nil: it is the id
}

// vim is an argument that names a VIM.
func (p *program) vim() argument {
	return argument{name: "VIM (a name or id)", complete: p.VimNames, find: p.VIMRef}
}

// free is an argument that may be anything.
var free = argument{complete: cobra.NoFileCompletions}

// onOne is the body of a command that acts on the thing of an id.
type onOne func(c *cobra.Command, id string, registry *client.Client) error

// command completes a command that has the argument: with its check, its completion, and a body that gets its id.
func (a argument) command(p *program, c *cobra.Command, run onOne) *cobra.Command {
	a.checked(c)
	c.RunE = p.Remote(func(c *cobra.Command, args []string, registry *client.Client) error {
		id, err := a.id(c.Context(), registry, args[0])
		if err != nil {
			return err
		}
		return run(c, id, registry)
	})
	return c
}

// id is the id of the thing that a person named.
func (a argument) id(ctx context.Context, registry *client.Client, named string) (string, error) {
	if a.find == nil {
		return named, nil
	}
	return a.find(ctx, registry, named)
}

// checked gives a command the check and the completion of its argument.
func (a argument) checked(c *cobra.Command) {
	_, name, _ := strings.Cut(c.Use, " ")
	c.Args, c.ValidArgsFunction = console.Names(cmp.Or(a.name, name)), console.OnlyFirst(a.complete)
}

// show completes a command that asks the server about one thing, and prints the answer.
func show[T any](
	p *program, a argument, c *cobra.Command, ask func(*client.Client, context.Context, string) (T, error), print func(T) error,
) *cobra.Command {
	if strings.HasPrefix(c.Use, "show ") {
		c.Aliases = []string{"get", "describe"}
	}
	c = a.command(p, c, func(c *cobra.Command, id string, registry *client.Client) error {
		return answered(print)(ask(registry, c.Context(), id))
	})
	p.OutputFlag(c)
	return c
}

// deeds are what a command has done to the thing that it names, by its first word.
var deeds = map[string]string{"delete": "is deleted", "revoke": "is revoked", "disable": "is a management cluster no more"}

// act completes a command that has the server do something to one thing, and says that it is done.
func act(p *program, a argument, c *cobra.Command, do func(*client.Client, context.Context, string) error) *cobra.Command {
	if strings.HasPrefix(c.Use, "delete ") {
		c.Aliases = []string{"rm"}
	}
	a.checked(c)
	c.RunE = p.Remote(func(c *cobra.Command, args []string, registry *client.Client) error {
		id, err := a.id(c.Context(), registry, args[0])
		if err == nil {
			err = do(registry, c.Context(), id)
		}
		if err == nil {
			p.Warn("%s %s", strictyaml.Printable(args[0]), deeds[c.Name()])
		}
		return err
	})
	return c
}

// ask completes a command without an argument that asks the server, and prints the answer.
func ask[T any](p *program, c *cobra.Command, ask func(*client.Client, context.Context) (T, error), print func(T) error) *cobra.Command {
	c.Args = console.Names()
	c.RunE = p.Remote(func(c *cobra.Command, _ []string, registry *client.Client) error {
		return answered(print)(ask(registry, c.Context()))
	})
	p.OutputFlag(c)
	return c
}

// answered hands on what the server answered, unless that is an error.
func answered[T any](print func(T) error) func(T, error) error {
	return func(answer T, err error) error {
		if err != nil {
			return err
		}
		return print(answer)
	}
}

// given points to the value of a flag that is given.
func given[T any](c *cobra.Command, flag string, value *T) *T {
	if !c.Flags().Changed(flag) {
		return nil
	}
	return value
}

// printed prints a value in the form asked for; table writes it for people.
func printed[T any](p *program, table func(io.Writer, T)) func(T) error {
	return func(value T) error { return p.Print(value, func(w io.Writer) { table(w, value) }) }
}

// printedAll is printed for a list.
func printedAll[T any](p *program, table func(io.Writer, []T)) func([]T) error {
	return func(all []T) error { return p.Print(v1.List[T]{Items: all}, func(w io.Writer) { table(w, all) }) }
}
