package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

func (p *program) vimShareCommand() *cobra.Command {
	return p.sharingCommand(&cobra.Command{
		Use:   "share VIM",
		Short: "Let other projects see and lease a VIM",
		Long: `Let the projects that --with names, or with --with-all every project, see and
lease a VIM. Those that it is shared with already stay.`,
		Example: "  vimbroker vim share edge-1 --with acme --with lab\n  vimbroker vim share edge-1 --with-all",
	}, func(change *v1.Change, v v1.VIM, with []string, all bool) {
		if all {
			change.Shared = &all
		}
		if len(with) > 0 {
			shared := append(slices.Clone(v.SharedWith), with...)
			change.SharedWith = &shared
		}
	}, true)
}

func (p *program) vimUnshareCommand() *cobra.Command {
	return p.sharingCommand(&cobra.Command{
		Use:   "unshare VIM",
		Short: "Share a VIM with fewer projects, or none",
		Long: `Take a VIM back from the projects that --with names, or with --with-all from
the projects that are not named; without flags from all of them. Leases of
theirs are not renewed any more, and end at once where the server is
configured so (lease.endWithAccess).`,
		Example: "  vimbroker vim unshare edge-1 --with acme\n  vimbroker vim unshare edge-1",
	}, func(change *v1.Change, v v1.VIM, with []string, all bool) {
		if no := false; all || len(with) == 0 {
			change.Shared = &no
		}
		if !all || len(with) > 0 {
			left := slices.DeleteFunc(slices.Clone(v.SharedWith), func(project string) bool {
				return len(with) == 0 || slices.Contains(with, project)
			})
			change.SharedWith = &left
		}
	}, false)
}

// sharingCommand reads the VIM, lets edit work out the change, and makes it if the VIM
// is still the one that was read.
func (p *program) sharingCommand(c *cobra.Command, edit func(
	change *v1.Change, v v1.VIM, with []string, all bool,
), demand bool,
) *cobra.Command {
	var with []string
	var all bool
	p.vim().command(p, c, func(c *cobra.Command, id string, registry *client.Client) error {
		if demand && len(with) == 0 && !all {
			return console.Usagef(c, "give --with PROJECT or --with-all")
		}
		v, err := registry.VIM(c.Context(), id)
		if err != nil {
			return err
		}
		if !demand && v.Shared && !all && len(with) > 0 {
			return fmt.Errorf("%s is shared with every project, so these would go on seeing it; add --with-all to share it with named "+
				"projects only", strictyaml.Printable(v.Name))
		}
		var change v1.Change
		edit(&change, v, with, all)
		return answered(p.printVIM)(registry.UpdateVIM(c.Context(), v.ID, change, v.Revision))
	})
	c.Flags().StringArrayVar(&with, "with", nil, "a `project`; can be repeated")
	c.Flags().BoolVar(&all, "with-all", false, "every project")
	p.OutputFlag(c)
	return c
}

// sharing says with whom a VIM is shared.
func sharing(v v1.VIM) string {
	if v.Shared {
		return "with every project"
	}
	if len(v.SharedWith) > 0 {
		return "with " + console.List(v.SharedWith)
	}
	return console.Yes(false)
}
