package cli

import (
	"cmp"
	"context"
	"io"
	"iter"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

// grants are named by id.
var grants = things[v1.Grant]{
	what: "grant", list: "vimbroker grant list",
	all: func(registry *client.Client, ctx context.Context) iter.Seq2[v1.Grant, error] {
		return registry.AllGrants(ctx, client.GrantQuery{PageSize: listPage})
	},
	id:   func(g v1.Grant) string { return g.ID },
	name: func(g v1.Grant) string { return g.ID },
	hint: func(g v1.Grant) string { return g.OperationType + " of " + g.Instance + ", " + g.State },
}

func (p *program) grantCommand() *cobra.Command {
	return console.Group("grant", "Look at what VNFMs were granted",
		`A VNFM that is a client asks for a grant (SOL003) before each operation on a
VNF instance of its own, and is lent a lease. These commands show which client
was granted what, and what became of it. A grant's credential is for its client
alone: to take it back, revoke the lease.`,
		`  vimbroker grant list --client tacker-north --state granted
  vimbroker lease revoke --instance 97b5a2f0-6ad9-4a1a-9c55-4a9a1f0c7a11`,
		p.grantListCommand(),
		show(p, grants.argument(p), &cobra.Command{
			Use:   "show ID",
			Short: "Show one grant", Long: "Show one grant. Its credential is shown nowhere.",
			Example: "  vimbroker grant show 0197a2f0-6ad9-7a1a-9c55-4a9a1f0c7a11",
		}, (*client.Client).Grant, printed(p, p.grantFacts)),
	)
}

func (p *program) grantListCommand() *cobra.Command {
	var q client.GrantQuery
	var watch bool
	var limit int
	c := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short: "List grants",
		Long: `List the grants that you may see, newest first. TOKEN is when the newest token
was minted that the client got under the lease.`,
		Example: `  vimbroker grant list
  vimbroker grant list --instance 97b5a2f0-6ad9-4a1a-9c55-4a9a1f0c7a11
  vimbroker grant list --state refused -o json`,
		Args: console.Names(),
		RunE: p.Remote(func(c *cobra.Command, _ []string, registry *client.Client) error {
			if q.Client != "" {
				var err error
				if q.Client, err = oauthClients.find(c.Context(), registry, q.Client); err != nil {
					return err
				}
			}
			q.PageSize = min(listPage, limit+1)
			return console.PrintList(c.Context(), p.Console, console.Listing[v1.Grant]{
				Watch: watch, Table: p.grantTable, ID: func(g v1.Grant) string { return g.ID },
				List: func() ([]v1.Grant, error) { return upTo(p, registry.AllGrants(c.Context(), q), limit, "grants") },
			})
		}),
	}
	flags := c.Flags()
	flags.StringVar(&q.Client, "client", "", "only grants of this client (name or id)")
	flags.StringVar(&q.Instance, "instance", "", "only grants for this VNF instance of the VNFM")
	flags.StringVar(&q.Operation, "operation", "", "only grants for this operation of the VNFM")
	flags.StringVar(&q.VIM, "vim", "", "only grants that lend this VIM (name or id)")
	flags.StringVar(&q.Lease, "lease", "", "only grants that lend this lease (id)")
	flags.StringVar(&q.State, "state", "", "only grants in this state: deciding, granted, refused or ended")
	flags.IntVar(&limit, "limit", 1000, "at most this many")
	console.WatchFlag(c, &watch)
	console.MustComplete(c, "client", oauthClients.complete(p))
	console.MustComplete(c, "vim", p.VimNames)
	console.MustChoose(c, "state", "granted", "ended", "refused", "deciding")
	p.OutputFlag(c)
	return c
}

func (p *program) grantTable(w io.Writer, all []v1.Grant) {
	p.Header(w, []string{"ID", "OPERATION", "INSTANCE", "STATE", "VIM", "LEASE", "TOKEN"}, "LEASE STATE", "OUTCOME",
		"CLIENT", "PROJECT", "ASKED")
	for _, g := range all {
		p.Columns(w, []string{p.id(g.ID), g.OperationType, p.Cut(g.Instance), g.State, p.Cut(g.VIMName), p.id(g.Lease), p.When(g.TokenAt)},
			g.LeaseState, g.Outcome, g.Client, g.Project, p.When(g.CreatedAt))
	}
}

func (p *program) grantFacts(w io.Writer, g v1.Grant) {
	console.Facts(w, "Id", g.ID, "State", g.State, "Refused", g.Refusal, "Operation", g.OperationType+" "+g.Operation,
		"At the VNFM", g.OperationURL, "VNF instance", g.Instance, "VNFD", g.VNFD, "New VNFD", g.NewVNFD,
		"Client", g.Client, "Project", g.Project, "Profile", g.Profile)
	if g.Lease != "" {
		console.Facts(w, "VIM", g.VIMName+" ("+g.VIM+")", "Lease", g.Lease+", "+cmp.Or(g.LeaseState, "forgotten"))
		if g.Profile != "user" && g.Profile != "passThrough" { // those hold a password
			console.Facts(w, "Newest token", cmp.Or(p.Moment(g.TokenAt), "none"))
		}
	}
	console.Facts(w, "Operation ended", g.Outcome, "Asked again", p.Moment(g.AskedAgainAt),
		"Asked for", p.Moment(g.CreatedAt), "Decided", p.Moment(g.DecidedAt))
}
