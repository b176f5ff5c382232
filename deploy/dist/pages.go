package main

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/root"
)

// eachCommand calls do for every command that people see, the program first.
func eachCommand(program *cobra.Command, do func(*cobra.Command) error) error {
	var walk func(c *cobra.Command) error
	walk = func(c *cobra.Command) error {
		if !c.IsAvailableCommand() && c != program {
			return nil
		}
		if err := do(c); err != nil {
			return err
		}
		for _, inner := range c.Commands() {
			if err := walk(inner); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(program)
}

// readPages makes the manual page of each command, and the completions of the shells.
func (r *release) readPages() error {
	program := root.Command(&console.Console{Version: r.version})
	program.DisableAutoGenTag = true
	program.InitDefaultCompletionCmd()
	err := eachCommand(program, func(c *cobra.Command) error {
		var page bytes.Buffer
		head := &doc.GenManHeader{Section: "1", Source: "vimbroker " + r.version, Manual: "vimbroker", Date: &r.made}
		if err := doc.GenMan(c, head, &page); err != nil {
			return err
		}
		r.pages = append(r.pages, file{"man/man1/" + strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1", 0o644, page.Bytes()})
		return nil
	})
	if err != nil {
		return err
	}
	var bash, zsh, fish bytes.Buffer
	if err := cmp.Or(program.GenBashCompletionV2(&bash, true), program.GenZshCompletion(&zsh), program.GenFishCompletion(&fish, true)); err != nil {
		return err
	}
	r.pages = append(r.pages,
		file{"completions/vimbroker.bash", 0o644, bash.Bytes()},
		file{"completions/_vimbroker", 0o644, zsh.Bytes()},
		file{"completions/vimbroker.fish", 0o644, fish.Bytes()})
	return nil
}

// sorted are the keys of a map.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
