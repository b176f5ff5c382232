package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

func (p *program) whoamiCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "whoami",
		Short:   "Show who you are to the server",
		Long:    "Show the name, the project and the roles that the server reads from your token.",
		Example: "  vimbroker whoami\n  vimbroker whoami -o jsonpath='{.project}'",
		Args:    console.Names(),
		RunE: p.Remote(func(c *cobra.Command, _ []string, broker *client.Client) error {
			me, err := broker.WhoAmI(c.Context())
			if err != nil {
				return err
			}
			return p.Print(me, func(w io.Writer) {
				console.Fact(w, "Name", me.Name)
				console.Fact(w, "Project", me.Project)
				console.Fact(w, "Roles", console.List(me.Roles))
			})
		}),
	}
	p.OutputFlag(c)
	return c
}
