package root

import (
	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/server"
)

// serverCommands are those of the server and of its machine, which runs Linux.
func serverCommands(c *console.Console) []*cobra.Command { return server.Commands(c) }
