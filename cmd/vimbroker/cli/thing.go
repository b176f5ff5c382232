package cli

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

// things are what a person names by an id, by how that begins, or by a name if no other has it.
type things[T any] struct {
	what string // what one is, in an error
	list string // the command that lists them
	all  func(*client.Client, context.Context) iter.Seq2[T, error]
	id   func(T) string
	// name is what completion offers, and hint what it says of it.
	name, hint func(T) string
}

var (
	vnfInstances = things[sol003.VNFInstance]{
		what: "VNF instance", list: "vimbroker vnf list",
		all:  (*client.Client).AllVNFs,
		id:   func(i sol003.VNFInstance) string { return i.ID },
		name: func(i sol003.VNFInstance) string { return i.Name },
		hint: func(i sol003.VNFInstance) string { return i.ProductName + ", " + i.State },
	}
	vnfOperations = things[sol003.OpOcc]{
		what: "operation", list: "vimbroker vnf op list",
		all: func(broker *client.Client, ctx context.Context) iter.Seq2[sol003.OpOcc, error] {
			return broker.AllVNFOperations(ctx, "")
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
		all:  (*client.Client).AllPackages,
		id:   func(p client.Package) string { return p.ID },
		name: func(p client.Package) string { return p.VNFDID },
		hint: func(p client.Package) string { return p.ProductName + " " + p.SoftwareVersion },
	}
)

// find makes the id of one thing of a person's words.
func (k things[T]) find(ctx context.Context, broker *client.Client, ref string) (string, error) {
	if uuid.Validate(ref) == nil {
		return ref, nil
	}
	var ids []string
	for one, err := range k.all(broker, ctx) {
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

// on is a command whose argument is one thing.
func (k things[T]) on(p *program, run func(c *cobra.Command, id string, broker *client.Client) error) func(*cobra.Command, []string) error {
	return p.Remote(func(c *cobra.Command, args []string, broker *client.Client) error {
		id, err := k.find(c.Context(), broker, args[0])
		if err != nil {
			return err
		}
		return run(c, id, broker)
	})
}

// complete completes the name of one thing.
func (k things[T]) complete(p *program) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return p.Ask(c, func(ctx context.Context, broker *client.Client) ([]string, error) {
			var words []string
			for one, err := range k.all(broker, ctx) {
				if err != nil {
					return nil, err
				}
				words = append(words, cobra.CompletionWithDesc(k.name(one), k.hint(one)))
			}
			return words, nil
		})
	}
}
