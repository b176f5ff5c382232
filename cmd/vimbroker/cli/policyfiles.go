package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/policy"
)

func (p *program) policyCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check DIR",
		Short: "Check a directory of policies as the server would",
		Long: `Read the policies in DIR with the built-in ones, and report every fault with
file and line. Without a fault it prints the hash of the set, which the server
logs when it loads the same policies. Nothing is sent to the server.`,
		Example: "  vimbroker policy check /etc/vimbroker/policies",
		Args:    console.Names("DIR"), ValidArgsFunction: console.OnlyFirst(console.Directories),
		RunE: func(_ *cobra.Command, args []string) error {
			policies, err := files.SitePolicies(strings.Join(args, ""))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(p.Out, policies.Hash())
			return err
		},
	}
}

func (p *program) policyListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list [DIR]",
		Short: "List the policies for callers",
		Long: `List the ids of the policies that apply to callers: the built-in ones and,
with DIR, those of the site. Nothing is sent to the server.`,
		Example: "  vimbroker policy list /etc/vimbroker/policies",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: console.OnlyFirst(console.Directories),
		RunE: func(_ *cobra.Command, args []string) error {
			policies, err := files.SitePolicies(strings.Join(args, ""))
			if err != nil {
				return err
			}
			for _, id := range policies.IDs() {
				if _, err := fmt.Fprintln(p.Out, id); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (p *program) policySchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the schema of policies",
		Long: `Print the Cedar schema: everything that a policy can speak of. Nothing is sent
to the server.`,
		Example: "  vimbroker policy schema > vimbroker.cedarschema",
		Args:    console.Names(),
		RunE: func(*cobra.Command, []string) error {
			_, err := p.Out.Write(policy.Schema())
			return err
		},
	}
}
