package main

import ( // flag is a pattern of refusals_test.go
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/root"
	"github.com/vimbroker/vimbroker/test/golden"
)

// Every command has the summary, the aliases, the flags and the completions that testdata/help shows: a file for each group.
func TestHelpGolden(t *testing.T) {
	top := root.Command(&console.Console{Version: "1.2.3", In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	var groups []string
	for _, c := range append([]*cobra.Command{top}, top.Commands()...) {
		var text strings.Builder
		if c == top {
			c.SetOut(&text)
			if err := c.Help(); err != nil {
				t.Fatal(err)
			}
			tellFlags(&text, c)
		} else {
			tellCommand(t, &text, c)
		}
		name := filepath.Join("testdata", "help", c.Name()+".golden")
		groups = append(groups, name)
		if golden.Updating() {
			if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(string(want), text.String()); diff != "" {
			t.Errorf("the help of %s differs; see the change with -update (-want +got):\n%s", c.CommandPath(), diff)
		}
	}
	files, err := filepath.Glob("testdata/help/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !slices.Contains(groups, file) {
			t.Errorf("%s is of no command: delete it", file)
		}
	}
}

// tellCommand writes what a person can know of a command and of all below it.
func tellCommand(t *testing.T, w io.Writer, c *cobra.Command) {
	t.Helper()
	fmt.Fprintf(w, "==== %s\n%s\n", c.UseLine(), c.Short)
	if len(c.Aliases) > 0 {
		fmt.Fprintf(w, "aliases: %s\n", strings.Join(c.Aliases, " "))
	}
	if complete := c.ValidArgsFunction; complete != nil {
		words, then := complete(c, nil, "")
		_, thenNext := complete(c, []string{"first"}, "")
		fmt.Fprintf(w, "completes: %s, then %s\n", completed(words, then), completed(nil, thenNext))
	}
	tellFlags(w, c)
	fmt.Fprintln(w)
	for _, inner := range c.Commands() {
		tellCommand(t, w, inner)
	}
}

// tellFlags writes the flags of a command, and what cobra is told of them.
func tellFlags(w io.Writer, c *cobra.Command) {
	flags := c.LocalFlags()
	fmt.Fprint(w, flags.FlagUsagesWrapped(80))
	flags.VisitAll(func(f *pflag.Flag) {
		var facts []string
		if f.Hidden {
			facts = append(facts, "is hidden")
		}
		for _, key := range slices.Sorted(maps.Keys(f.Annotations)) {
			facts = append(facts, fmt.Sprintf("%s %s", strings.TrimPrefix(key, "cobra_annotation_"), f.Annotations[key]))
		}
		if complete, ok := c.GetFlagCompletionFunc(f.Name); ok {
			words, then := complete(c, nil, "")
			facts = append(facts, "completes: "+completed(words, then))
		}
		if len(facts) > 0 {
			fmt.Fprintf(w, "--%s %s\n", f.Name, strings.Join(facts, "; "))
		}
	})
}

// completed tells words and what the shell does besides.
func completed(words []string, then cobra.ShellCompDirective) string {
	besides := map[cobra.ShellCompDirective]string{
		cobra.ShellCompDirectiveDefault: "files", cobra.ShellCompDirectiveNoFileComp: "nothing else",
		cobra.ShellCompDirectiveFilterDirs: "directories", cobra.ShellCompDirectiveError: "an error",
	}[then]
	if besides == "" {
		besides = fmt.Sprintf("directive %d", then)
	}
	return strings.Join(append(slices.Clone(words), besides), " ")
}
