package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/root"
)

// No lifetime is another word for the server's default: that is what no flag says.
func TestALifetimeIsAboveZero(t *testing.T) {
	for _, text := range []string{"0s", "0", "0d", "-5m", "-2d", "soon", ""} {
		for _, line := range []string{"lease issue --vim x", "lease renew x", "exec x", "credential --vim x"} {
			c := &console.Console{Out: io.Discard, Err: io.Discard}
			program := root.Command(c)
			program.SetArgs(append(strings.Fields(line), "--ttl="+text))
			program.SetOut(io.Discard)
			program.SetErr(io.Discard)
			if err := program.Execute(); err == nil || !strings.Contains(err.Error(), "must be a duration above zero") {
				t.Errorf("%s --ttl=%s: %v", line, text, err)
			}
		}
	}
}

// Every command says what it does, at length and with an example, and completes
// its arguments.
func TestEveryCommandHelps(t *testing.T) {
	c := &console.Console{Out: io.Discard, Err: io.Discard}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || c.Long == "" || c.Example == "" {
			t.Errorf("%s: Short %q, Long %d bytes, Example %q: one is missing, or Short ends in a full stop", c.CommandPath(), c.Short, len(c.Long), c.Example)
		}
		for _, line := range strings.Split(c.Long+"\n"+c.Example, "\n") {
			if len(line) > 160 {
				t.Errorf("%s: a line of its help is %d bytes long", c.CommandPath(), len(line))
			}
		}
		if strings.ContainsAny(c.Use, " ") && !strings.HasPrefix(strings.SplitN(c.Use, " ", 2)[1], "-") && c.ValidArgsFunction == nil {
			t.Errorf("%s takes arguments and completes none", c.CommandPath())
		}
		for _, inner := range c.Commands() {
			walk(inner)
		}
	}
	walk(root.Command(c))
}
