package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/rest"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/root"
)

// registry serves no type of VIM.
type registry struct{ rest.Registry }

func (registry) Types() []broker.Type { return nil }

// Every operation that a remedy of the REST API names is shown as the command that
// performs it, and there is such a command with these flags.
func TestRemediesAreCommands(t *testing.T) {
	words := rest.Door(rest.Options{Registry: registry{}}).Next
	command := regexp.MustCompile(`"vimbroker ([^"]+)"`)
	for step := broker.NextNothing + 1; step < broker.NextEnd; step++ {
		var out bytes.Buffer
		c := &console.Console{Err: &out}
		c.ExitCode(&client.Problem{Problem: v1.Problem{Title: "x", Remedy: words[step]}})
		got := out.String()
		if strings.Contains(got, "/v1/") {
			t.Errorf("step %d: %q names an operation that has no command", step, got)
		}
		if strings.Contains(words[step], "/v1/") && !command.MatchString(got) {
			t.Errorf("step %d: %q names no command", step, got)
		}
		for _, m := range command.FindAllStringSubmatch(got, -1) {
			typed := strings.Fields(strings.ReplaceAll(m[1], " NAME", ""))
			found, rest, err := root.Command(c).Find(typed)
			if err != nil || !found.Runnable() || found.HasSubCommands() {
				t.Errorf("step %d: there is no command %q: %v", step, m[0], err)
				continue
			}
			for _, flag := range rest {
				if found.Flags().Lookup(strings.TrimPrefix(flag, "--")) == nil {
					t.Errorf("step %d: %q has no flag %s", step, found.CommandPath(), flag)
				}
			}
		}
	}
}
