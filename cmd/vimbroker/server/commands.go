// Package server puts the server together: its configuration, its assembly, and the
// commands that run it and prepare its database.
package server

import (
	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

// program has the commands of this room.
type program struct{ *console.Console }

// Commands are this room's commands.
func Commands(c *console.Console) []*cobra.Command {
	p := &program{c}
	return []*cobra.Command{
		p.serveCommand(),
		p.initCommand(),
		p.doctorCommand(),
		p.reloadCommand(),
		p.dbCommand(),
	}
}
