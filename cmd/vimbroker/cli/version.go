package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

func (p *program) versionCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this build",
		Long:    "Print the version of this build, and the version of Go that built it.",
		Example: "  vimbroker version -o json",
		Args:    console.Names(),
		RunE: func(*cobra.Command, []string) error {
			facts := map[string]string{"version": p.Version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
			return p.Print(facts, func(w io.Writer) {
				fmt.Fprintf(w, "vimbroker %s (%s, %s)\n", facts["version"], facts["go"], facts["platform"])
			})
		},
	}
	p.OutputFlag(c)
	return c
}
