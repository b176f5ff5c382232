package cli

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

// things are the kinds of objects that a person names by an id, by the beginning of an id, or
// by a unique name.
type things[T any] struct {
	what string // what one is, in an error
	list string // the command that lists them
	all  func(*client.Client, context.Context) iter.Seq2[T, error]
	id   func(T) string
	// name is the word that completion offers, and hint its description.
	name, hint func(T) string
	// project is nil where all that a person sees is listed.
	project func(T) string
	uuids   bool // names may be UUIDs, as ids are
}

var (
	vnfInstances = things[sol003.VNFInstance]{
		what: "VNF instance", list: "vimbroker vnf list",
		all:  (*client.Client).AllVNFs,
		id:   func(i sol003.VNFInstance) string { return i.ID },
		name: func(i sol003.VNFInstance) string { return i.Name },
		hint: func(i sol003.VNFInstance) string { return i.ProductName + ", " + i.State },
		project: func(i sol003.VNFInstance) string {
			if i.Own == nil {
				return ""
			}
			return i.Own.Project
		},
	}
	vnfOperations = things[sol003.OpOcc]{
		what: "operation", list: "vimbroker vnf op list",
		all: func(registry *client.Client, ctx context.Context) iter.Seq2[sol003.OpOcc, error] {
			return registry.AllVNFOperations(ctx, "")
		},
		id:   func(o sol003.OpOcc) string { return o.ID },
		name: func(o sol003.OpOcc) string { return o.ID },
		hint: func(o sol003.OpOcc) string { return o.Operation + ", " + o.State },
	}
	vnfSubscriptions = things[sol003.Subscription]{
		what: "subscription", list: "vimbroker vnf subscription list",
		all:  (*client.Client).AllSubscriptions,
		id:   func(s sol003.Subscription) string { return s.ID },
		name: func(s sol003.Subscription) string { return s.ID },
		hint: func(s sol003.Subscription) string { return s.CallbackURI },
	}
	vnfPackages = things[client.Package]{
		what: "VNF package", list: "vimbroker package list",
		all: (*client.Client).AllPackages, uuids: true,
		id:   func(p client.Package) string { return p.ID },
		name: func(p client.Package) string { return p.VNFDID },
		hint: func(p client.Package) string { return p.ProductName + " " + p.SoftwareVersion },
	}
)

// find makes the id of one thing of a person's words.
func (k things[T]) find(ctx context.Context, registry *client.Client, ref string) (string, error) {
	if uuid.Validate(ref) == nil && !k.uuids {
		return ref, nil
	}
	var ids []string
	for one, err := range k.all(registry, ctx) {
		if err != nil {
			return "", err
		}
		if k.name(one) == ref || len(ref) >= 4 && strings.HasPrefix(k.id(one), ref) {
			ids = append(ids, k.id(one))
		}
	}
	switch len(ids) {
	case 0:
		return "", console.Missing("you see no %s %q; see: %s", k.what, ref, k.list)
	case 1:
		return ids[0], nil
	}
	return "", fmt.Errorf("%q names more than one %s; give its id", ref, k.what)
}

// argument is a thing as the argument of a command.
func (k things[T]) argument(p *program) argument {
	return argument{complete: k.complete(p), find: k.find}
}

// command completes a command whose argument is one thing.
func (k things[T]) command(p *program, c *cobra.Command, run onOne) *cobra.Command {
	return k.argument(p).command(p, c, run)
}

// listed completes the command that lists all things.
func (k things[T]) listed(p *program, c *cobra.Command, table func(io.Writer, []T)) *cobra.Command {
	var watch, allProjects bool
	c.Aliases, c.Args = []string{"ls"}, console.Names()
	c.RunE = p.Remote(func(c *cobra.Command, _ []string, registry *client.Client) error {
		return console.PrintList(c.Context(), p.Console, console.Listing[T]{
			Watch: watch, Table: table, ID: k.id,
			List: func() ([]T, error) {
				all, err := gather(k.all(registry, c.Context()))
				return slices.DeleteFunc(all, func(one T) bool {
					return k.project != nil && p.Project != "" && !allProjects && k.project(one) != p.Project
				}), err
			},
		})
	})
	console.WatchFlag(c, &watch)
	if k.project != nil {
		c.Flags().BoolVarP(&allProjects, "all-projects", "A", false, "of every project, as without --project")
	}
	p.OutputFlag(c)
	return c
}

// complete completes the name of one thing.
func (k things[T]) complete(p *program) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return p.Ask(c, func(ctx context.Context, registry *client.Client) []string {
			var words []string
			for one, err := range k.all(registry, ctx) {
				if err != nil {
					return nil
				}
				words = append(words, cobra.CompletionWithDesc(k.name(one), k.hint(one)))
			}
			return words
		})
	}
}
