package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/root"
)

// The help of every command fits a terminal of 80 columns.
func TestHelpFitsATerminal(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		var out bytes.Buffer
		c.SetOut(&out)
		if err := c.Help(); err != nil {
			t.Errorf("%s --help: %v", c.CommandPath(), err)
		}
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, `Use "`) { // cobra's own
				continue
			}
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s --help: a line of %d columns: %s", c.CommandPath(), n, line)
			}
		}
		for _, inner := range c.Commands() {
			walk(inner)
		}
	}
	walk(root.Command(&console.Console{}))
}
