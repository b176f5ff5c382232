package console

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
)

// completion is the function that gives cobra the words that may follow.
type completion = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// completionPage is the most words that a completion asks the server for.
const completionPage = 200

// VimNames completes the name of a VIM.
func (p *Console) VimNames(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.Ask(c, func(ctx context.Context, registry *client.Client) []string {
		vims, _ := registry.VIMs(ctx, client.VIMQuery{PageSize: completionPage})
		var words []string
		for _, v := range vims.Items {
			words = append(words, cobra.CompletionWithDesc(v.Name, v.Type+", "+v.Status))
		}
		return words
	})
}

// VIMNamespaces completes a namespace of the VIM that the line names, in --vim or first.
func (p *Console) VIMNamespaces(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	vim := strings.Join(args[:min(1, len(args))], "")
	if f := c.Flags().Lookup("vim"); f != nil && f.Value.String() != "" {
		vim = f.Value.String()
	}
	return p.Ask(c, func(ctx context.Context, registry *client.Client) []string {
		ref, err := p.VIMRef(ctx, registry, vim)
		if err != nil || ref == "" {
			return nil
		}
		v, _ := registry.VIM(ctx, ref)
		if v.Discovered == nil {
			return nil
		}
		return v.Discovered.Regions
	})
}

// LeaseIDs completes the ids of leases that are not over, skipping those given already.
func (p *Console) LeaseIDs(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.Ask(c, func(ctx context.Context, registry *client.Client) []string {
		leases, _ := registry.Leases(ctx, client.LeaseQuery{State: "active", PageSize: completionPage})
		var words []string
		for _, l := range leases.Items {
			if !slices.Contains(args, l.ID) {
				words = append(words, cobra.CompletionWithDesc(l.ID, l.VIMName+", "+l.Role+", expires "+p.When(l.ExpiresAt)))
			}
		}
		return words
	})
}

// Ask fetches words from the server; whatever goes wrong, there are none, and
// nothing is said: the person is in the middle of a line.
func (p *Console) Ask(
	c *cobra.Command, words func(context.Context, *client.Client) []string,
) ([]string, cobra.ShellCompDirective) {
	registry, err := p.Connect()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(c.Context(), completionPatience)
	defer cancel()
	return words(ctx, registry), cobra.ShellCompDirectiveNoFileComp
}

// MustComplete registers the completion of a flag that exists.
func MustComplete(c *cobra.Command, flag string, f completion) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag's name is misspelled in this program
	}
}

// MustChoose registers the words that a flag that exists chooses from.
func MustChoose(c *cobra.Command, flag string, words ...string) {
	MustComplete(c, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// MustHave demands flags that exist.
func MustHave(c *cobra.Command, flags ...string) {
	for _, flag := range flags {
		if err := c.MarkFlagRequired(flag); err != nil {
			panic(err) // the flag's name is misspelled in this program
		}
	}
}

// Files completes names of files.
func Files(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// Directories completes names of directories.
func Directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// OnlyFirst completes the first argument alone.
func OnlyFirst(f completion) completion {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(c, args, typed)
	}
}
