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

// readPages makes the manual page of each command, and the completions of the shells.
func (r *release) readPages() error {
	program := root.Command(&console.Console{Version: r.version})
	program.DisableAutoGenTag = true
	program.InitDefaultCompletionCmd()
	var walk func(c *cobra.Command) error
	walk = func(c *cobra.Command) error {
		if !c.IsAvailableCommand() && c != program {
			return nil
		}
		var page bytes.Buffer
		head := &doc.GenManHeader{Section: "1", Source: "vimbroker " + r.version, Manual: "vimbroker", Date: &r.made}
		if err := doc.GenMan(c, head, &page); err != nil {
			return err
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		r.pages = append(r.pages, file{"man/man1/" + name + ".1", 0o644, page.Bytes()})
		for _, inner := range c.Commands() {
			if err := walk(inner); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(program); err != nil {
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
