// Package cli is the command line over the REST API: every command that asks the
// server and prints its answer.
package cli

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
		p.auditCommand(),
		p.clientCommand(),
		p.clusterCommand(),
		p.contextCommand(),
		p.grantCommand(),
		p.keyCommand(),
		p.kubeconfigCommand(),
		p.leaseCommand(),
		p.linkCommand(),
		p.volumeCommand(),
		p.loginCommand(),
		p.logoutCommand(),
		p.managementCommand(),
		p.packageCommand(),
		p.policyCommand(),
		p.principalCommand(),
		p.retentionCommand(),
		p.tokenCommand(),
		p.trustCommand(),
		p.versionCommand(),
		p.vimCommand(),
		p.vnfCommand(),
		p.whoamiCommand(),
	}
}
