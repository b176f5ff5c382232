// Package lessee uses leases on behalf of another program: "exec" runs a command
// with one, and "credential" hands one to kubectl.
package lessee

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
		p.execCommand(),
		p.credentialCommand(),
	}
}
