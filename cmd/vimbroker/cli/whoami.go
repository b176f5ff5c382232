package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

func (p *program) whoamiCommand() *cobra.Command {
	return ask(p, &cobra.Command{
		Use:     "whoami",
		Short:   "Show who you are to the server",
		Long:    "Show the name, the project and the roles that the server reads from your token.",
		Example: "  vimbroker whoami\n  vimbroker whoami -o jsonpath='{.project}'",
	}, (*client.Client).WhoAmI, printed(p, func(w io.Writer, me v1.Principal) {
		console.Fact(w, "Name", me.Name)
		console.Fact(w, "Project", me.Project)
		console.Fact(w, "Roles", console.List(me.Roles))
	}))
}
