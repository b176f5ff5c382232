package console

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// tree is a small program of groups.
func tree(t *testing.T) (root *cobra.Command, out *bytes.Buffer) {
	t.Helper()
	leaf := func(use string, aliases ...string) *cobra.Command {
		return &cobra.Command{Use: use, Aliases: aliases, Args: Names("ONE", "TWO"), RunE: func(*cobra.Command, []string) error { return nil }}
	}
	root = Group("tool", "short", "long text", "",
		Group("vim", "s", "l", "", leaf("list"), leaf("describe", "show"), leaf("get")),
		Group("key", "s", "l", "", leaf("list"), leaf("rotate")),
		leaf("audit"), leaf("lease"), leaf("lend"),
	)
	out = new(bytes.Buffer)
	root.SetOut(out)
	root.SetErr(out)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(WrongFlag)
	return root, out
}

// A word that is no command gets the command that is meant, where one is near to it.
func TestAnUnknownCommandIsAnsweredWithTheOneThatIsMeant(t *testing.T) {
	for line, want := range map[string]string{
		"get vims":           `unknown command "get" for "tool"; did you mean vim list?; see: tool --help`,
		"get vim":            `unknown command "get" for "tool"; did you mean vim list?; see: tool --help`,
		"get keys":           `unknown command "get" for "tool"; did you mean key list?; see: tool --help`,
		"get vim edge":       `unknown command "get" for "tool"; did you mean vim get?; see: tool --help`,
		"describe vim":       `unknown command "describe" for "tool"; did you mean vim describe?; see: tool --help`,
		"show vims":          `unknown command "show" for "tool"; did you mean vim describe?; see: tool --help`,
		"rotate key":         `unknown command "rotate" for "tool"; did you mean key rotate?; see: tool --help`,
		"rotate vim":         `unknown command "rotate" for "tool"; see: tool --help`,
		"rotate nothing":     `unknown command "rotate" for "tool"; see: tool --help`,
		"vmi":                `unknown command "vmi" for "tool"; did you mean vim?; see: tool --help`,
		"xim":                `unknown command "xim" for "tool"; see: tool --help`,
		"ximm":               `unknown command "ximm" for "tool"; did you mean vim?; see: tool --help`,
		"leas vim":           `unknown command "leas" for "tool"; did you mean lease or lend?; see: tool --help`,
		"frobnicate":         `unknown command "frobnicate" for "tool"; see: tool --help`,
		"vim frobnicate":     `unknown command "frobnicate" for "tool vim"; see: tool vim --help`,
		"get vims --all":     `unknown command "get" for "tool"; did you mean vim list?; see: tool --help`,
		"--all":              "unknown flag: --all; see: tool --help",
		"vim list --all a b": "unknown flag: --all; see: tool vim list --help",
		"frobnicate --all":   `unknown command "frobnicate" for "tool"; see: tool --help`,
		"vim list a --all":   "unknown flag: --all; see: tool vim list --help",
		"vim list a":         "TWO is missing; see: tool vim list --help",
		"vim list a b c":     `unexpected argument "c"; see: tool vim list --help`,
		"vim list a b":       "",
	} {
		root, _ := tree(t)
		root.SetArgs(strings.Fields(line))
		err := root.Execute()
		if said(err) != want {
			t.Errorf("%s: %q\nwant %q", line, said(err), want)
		}
		if wrong := new(usageError); want != "" && !errors.As(err, &wrong) {
			t.Errorf("%s: %T is no error of the command line", line, err)
		}
	}
}

// A group without a command shows its help.
func TestAGroupAloneShowsItsHelp(t *testing.T) {
	root, out := tree(t)
	root.SetArgs([]string{})
	if err := root.Execute(); err != nil || !strings.HasPrefix(out.String(), "long text\n") {
		t.Errorf("%v, %q", err, out)
	}
}

// A VIM may be given as an argument or as --vim, and as both it is one too many.
func TestAVIMIsTheArgumentOrTheFlag(t *testing.T) {
	for line, want := range map[string]string{
		"show edge":             "[edge]",
		"show --vim edge":       "[edge]",
		"show --vim edge other": `unexpected argument "other"; see: tool show --help`,
		"show":                  "VIM is missing; see: tool show --help",
		"maybe":                 "[]",
		"maybe --vim edge":      "[edge]",
		"lease --vim edge":      "unknown flag: --vim",
		"show broken":           "it is broken",
	} {
		var got string
		leaf := func(use string, args cobra.PositionalArgs) *cobra.Command {
			return &cobra.Command{Use: use, Args: args, RunE: func(_ *cobra.Command, args []string) error {
				if got = "[" + strings.Join(args, " ") + "]"; got == "[broken]" {
					return errors.New("it is broken")
				}
				return nil
			}}
		}
		all := []*cobra.Command{leaf("show VIM", Names("VIM")), leaf("maybe [VIM]", cobra.MaximumNArgs(1)), leaf("lease ID", Names("ID"))}
		VIMEither(Files, all...)
		if complete, ok := all[0].GetFlagCompletionFunc("vim"); !ok || complete == nil {
			t.Error("--vim is not completed")
		}
		root := &cobra.Command{Use: "tool", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(all...)
		root.SetArgs(strings.Fields(line))
		if err := root.Execute(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
