package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

func (p *program) vnfOpCommand() *cobra.Command {
	return console.Group("op", "Look at operations, and settle those that have failed",
		`An operation waits while its VIM or its project has as many under way as are
allowed at once; the list says so. One that has failed is FAILED_TEMP, and keeps
others from beginning on its instance until it is retried, rolled back or given
up (fail).`,
		"  vimbroker vnf op list --instance web\n  vimbroker vnf op retry 3f0c9c0e --wait",
		p.vnfOpListCommand(),
		show(p, vnfOperations.argument(p), &cobra.Command{
			Use:   "show OPERATION",
			Short: "Show one operation",
			Long: `Show one operation with its steps, by what it goes on should the one who asked
for it be gone (docs/callers.md), and, if it has failed, why.`,
			Example: "  vimbroker vnf op show 3f0c9c0e",
		}, (*client.Client).VNFOperation, printed(p, p.operationFacts)),
		p.vnfOpSettleCommand("retry", "COMPLETED", "Begin a failed operation again",
			"Begin a failed operation again. Steps that are done stay as they are. Policy\ndecides on the operation anew, for you."),
		p.vnfOpSettleCommand("rollback", "ROLLED_BACK", "Take back what a failed operation did",
			"Take back what a failed operation did. Operations of the types INSTANTIATE,\nSCALE and CHANGE_VNFPKG can be rolled back."),
		p.vnfOpSettleCommand("fail", "", "Give a failed operation up",
			"Give a failed operation up. The resources that it has made stay. An instance\nthat was being instantiated can then be terminated."),
		p.vnfOpCancelCommand(),
	)
}

func (p *program) vnfOpListCommand() *cobra.Command {
	var instance string
	var watch bool
	c := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:   "List operations",
		Long:    "List the operations that you may see, newest first.",
		Example: "  vimbroker vnf op list --instance web",
		Args:    console.Names(),
		RunE: p.Remote(func(c *cobra.Command, _ []string, registry *client.Client) (err error) {
			id := ""
			if instance != "" {
				if id, err = vnfInstances.find(c.Context(), registry, instance); err != nil {
					return err
				}
			}
			names := map[string]string{}
			return console.PrintList(c.Context(), p.Console, console.Listing[sol003.OpOcc]{
				Watch: watch,
				Table: func(w io.Writer, all []sol003.OpOcc) {
					nameInstances(c.Context(), registry, all, names)
					p.operationTable(w, all, names)
				},
				ID:   func(o sol003.OpOcc) string { return o.ID },
				List: func() ([]sol003.OpOcc, error) { return gather(registry.AllVNFOperations(c.Context(), id)) },
			})
		}),
	}
	c.Flags().StringVar(&instance, "instance", "", "only operations of this instance")
	console.MustComplete(c, "instance", vnfInstances.complete(p))
	console.WatchFlag(c, &watch)
	p.OutputFlag(c)
	return c
}

// nameInstances adds the names of the operations' instances, of those that the caller may list. The others have their ids.
func nameInstances(ctx context.Context, registry *client.Client, all []sol003.OpOcc, names map[string]string) {
	if !slices.ContainsFunc(all, func(o sol003.OpOcc) bool { return names[o.InstanceID] == "" }) {
		return
	}
	for i, err := range registry.AllVNFs(ctx) {
		if err != nil {
			return
		}
		names[i.ID] = i.Name
	}
}

func (p *program) operationTable(w io.Writer, all []sol003.OpOcc, names map[string]string) {
	p.Header(w, []string{"ID", "OPERATION", "STATE", "INSTANCE", "STARTED", "BY"}, "WHY")
	for _, o := range all {
		by, why := "", ""
		if o.Own != nil {
			by = o.Own.AskedBy
		}
		if o.Error != nil {
			why = o.Error.Detail
		}
		if waits := waitWords(o); waits != "" {
			why = waits
		}
		of := cmp.Or(p.Cut(names[o.InstanceID]), p.id(o.InstanceID))
		p.Columns(w, []string{p.id(o.ID), o.Operation, o.State, of, p.When(o.StartedAt), p.Cut(by)}, why)
	}
}

func (p *program) operationFacts(w io.Writer, o sol003.OpOcc) {
	console.Facts(w, "Id", o.ID, "Operation", o.Operation, "State", o.State, "Since", p.Moment(o.StateEnteredAt),
		"Instance", o.InstanceID, "Started", p.Moment(o.StartedAt), "Cancel", o.CancelMode)
	if o.Error != nil {
		console.Facts(w, "Error", o.Error.Detail)
	}
	if own := o.Own; own != nil {
		console.Facts(w, "Asked for by", own.AskedBy, "Goes on by", own.Warrant, "Turn", waitWords(o))
		if own.Deadline != nil {
			console.Facts(w, "Waits until", p.Moment(*own.Deadline))
		}
		notDone(w, own.NotDone)
		for _, s := range own.Steps {
			console.Facts(w, "Step", objectWords(s)+" "+stepWords(s))
		}
	}
	console.Facts(w, "Next", nextWords(o))
}

// notDone prints what is asked for of networks and is not done.
func notDone(w io.Writer, lines []string) {
	for _, line := range lines {
		console.Facts(w, "Not done", line)
	}
}

// waitWords say that an operation waits for its turn, and why; empty if it does not.
func waitWords(o sol003.OpOcc) string {
	if o.Own == nil || o.Own.Waiting == nil {
		return ""
	}
	return fmt.Sprintf("waits, number %d of its project: %s", o.Own.Waiting.Position, o.Own.Waiting.Reason)
}

// nextWords are the commands that can follow in an operation's state; empty if it has ended.
func nextWords(o sol003.OpOcc) string {
	op := "vimbroker vnf op "
	switch {
	case o.State == "FAILED_TEMP":
		return op + "retry|rollback|fail " + o.ID
	case !slices.Contains(ended, o.State):
		return "vimbroker vnf watch " + o.InstanceID
	}
	return ""
}

func (p *program) vnfOpSettleCommand(task, want, short, long string) *cobra.Command {
	return p.settling(task, "wait until the operation has ended", want, short, long,
		func(ctx context.Context, registry *client.Client, id string) error {
			return registry.SettleVNFOperation(ctx, id, task)
		})
}

func (p *program) vnfOpCancelCommand() *cobra.Command {
	r := sol003.CancelRequest{Mode: "GRACEFUL"}
	var force bool
	c := p.settling("cancel", "wait until it has stopped", "FAILED_TEMP", "Stop an operation that is being worked",
		`Stop an operation. The wave that is being worked ends first, unless --force is
given. The operation is then FAILED_TEMP, or ROLLED_BACK if nothing was made
yet.`, func(ctx context.Context, registry *client.Client, id string) error {
			if force {
				r.Mode = "FORCEFUL"
			}
			return registry.CancelVNFOperation(ctx, id, r)
		})
	c.Flags().BoolVar(&force, "force", false, "at once")
	return c
}

// settling is a command that has the server do something about an operation; with --wait, if it has a state to wait for.
func (p *program) settling(
	task, until, want, short, long string, do func(context.Context, *client.Client, string) error,
) *cobra.Command {
	var wait waiting
	c := vnfOperations.command(p, &cobra.Command{
		Use: task + " OPERATION", Short: short, Long: long,
		Example: "  vimbroker vnf op " + task + " 3f0c9c0e",
	}, func(c *cobra.Command, id string, registry *client.Client) error {
		if err := do(c.Context(), registry, id); err != nil {
			return err
		}
		return p.begun(c, registry, id, wait)
	})
	if want != "" {
		wait.add(c, until, want)
	}
	p.OutputFlag(c)
	return c
}
