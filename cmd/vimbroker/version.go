package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker (-X main.version=...).
var version string

// buildVersion is what the linker set, or what the toolchain knows of this build.
func buildVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

func (p *program) versionCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "version",
		Short:   "Say which build this is",
		Long:    "Say which build this is, and with which Go it was made.",
		Example: "  vimbroker version -o json",
		Args:    names(),
		RunE: func(*cobra.Command, []string) error {
			facts := map[string]string{"version": buildVersion(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
			return p.print(facts, func(w io.Writer) {
				fmt.Fprintf(w, "vimbroker %s (%s, %s)\n", facts["version"], facts["go"], facts["platform"])
			})
		},
	}
	p.outputFlag(c)
	return c
}
