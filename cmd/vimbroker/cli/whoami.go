package cli

import (
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

func (p *program) whoamiCommand() *cobra.Command {
	return ask(p, &cobra.Command{
		Use:   "whoami",
		Short: "Show who you are to the server",
		Long: `Show the name, the project and the roles that the server makes of your token or
certificate, and what counted for that: the entry of its table of trust, and
the claims that policies see.`,
		Example: "  vimbroker whoami\n  vimbroker whoami -o jsonpath='{.project}'",
	}, (*client.Client).WhoAmI, printed(p, func(w io.Writer, me v1.Caller) {
		console.Facts(w, "Name", me.Name, "Project", me.Project, "Roles", console.List(me.Roles))
		if me.Trust == "" {
			return
		}
		console.Facts(w, "Shown as", me.Shown, "Trust", me.Trust)
		for _, claim := range slices.Sorted(maps.Keys(me.Claims)) {
			console.Facts(w, "Claim "+claim, console.List(me.Claims[claim]))
		}
		console.Facts(w, "Until", p.When(me.ExpiresAt))
	}))
}
