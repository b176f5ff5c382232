//go:build !linux

package root

import (
	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

// serverCommands: the program is a client alone on other systems than Linux.
func serverCommands(*console.Console) []*cobra.Command { return nil }
