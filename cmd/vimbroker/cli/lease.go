package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/lessee"
	"github.com/vimbroker/vimbroker/policy"
)

// Lease states, as the API spells them.
var (
	leaseStates = []string{"pending", "active", "revoking", "revoked", "irrevocable"}
	// liveStates are the states in which a credential may still work, the most common first.
	liveStates = []string{"active", "pending", "revoking", "irrevocable"}
)

func (p *program) leaseCommand() *cobra.Command {
	group := console.Group("lease", "Take, look at, renew and revoke leases",
		`A lease is a credential derived from a VIM's: narrow, short-lived, revocable,
and recorded.`,
		`  vimbroker lease issue --vim edge-1 --role edit -n web --out kubeconfig
  vimbroker lease list
  vimbroker lease revoke --vim edge-1 --wait`,
		p.leaseIssueCommand(),
		p.leaseListCommand(),
		show(p, p.lease(), &cobra.Command{
			Use:   "show ID",
			Short: "Show one lease",
			Long: `Show one lease. Its credential is printed only when it is issued or renewed,
never here.`,
			Example: "  vimbroker lease show 3f0c9c0e-5f4b-4b3f-9a53-2f1f1f6d1c11",
		}, (*client.Client).Lease, printed(p, p.leaseFacts)),
		p.leaseRenewCommand(),
		p.leasePushCommand(),
		p.leaseRevokeCommand(),
	)
	p.ProjectFlag(group)
	return group
}

func (p *program) leaseListCommand() *cobra.Command {
	var f leaseFilter
	var state string
	var all, allProjects, watch bool
	var limit int
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List leases",
		Long: `List the leases that you may see, newest first. Leases that have ended are
listed only with --all or --state; --project lists those of one project. MAY is
the role or the rules of a lease, WHERE the namespaces that they hold in, WHO
its holder; a lease that somebody took for another says so: "dave, by alice".`,
		Example: `  vimbroker lease list
  vimbroker lease list --vim edge-1 --all
  vimbroker lease list --state irrevocable -o json`,
		Args: console.Names(),
		RunE: p.Remote(func(c *cobra.Command, _ []string, registry *client.Client) error {
			states := liveStates
			if all {
				states = []string{""}
			}
			if state != "" {
				states = []string{state}
			}
			if err := f.find(c.Context(), p, registry); err != nil {
				return err
			}
			q := client.LeaseQuery{VIM: f.VIM, Principal: f.Principal, For: f.For, Operation: f.Operation, Instance: f.Instance}
			return console.PrintList(c.Context(), p.Console, console.Listing[v1.Lease]{
				Watch: watch, Table: func(w io.Writer, leases []v1.Lease) {
					p.leaseTable(w, byNames(c.Context(), registry, leases))
				}, ID: func(l v1.Lease) string { return l.ID },
				List: func() ([]v1.Lease, error) {
					leases, more, err := listLeases(c.Context(), registry, q, states, limit, func(l v1.Lease) bool {
						return allProjects || p.Project == "" || q.VIM != "" || l.Project == p.Project
					})
					if more {
						p.Warn("there are leases beyond the first %d; see them with --limit", limit)
					}
					return leases, err
				},
			})
		}),
	}
	f.add(p, c, "only ")
	flags := c.Flags()
	flags.StringVar(&state, "state", "", "only leases in this state")
	flags.BoolVar(&all, "all", false, "leases that have ended, too")
	flags.BoolVarP(&allProjects, "all-projects", "A", false, "of every project, as without --project")
	flags.IntVar(&limit, "limit", 1000, "at most this many")
	console.WatchFlag(c, &watch)
	console.MustChoose(c, "state", leaseStates...)
	p.OutputFlag(c)
	return c
}

// leaseFilter are the flags that say which leases are meant, together.
type leaseFilter struct {
	v1.Selector
	holder string
	mine   bool
}

// add adds the flags; only begins what is said of each.
func (f *leaseFilter) add(p *program, c *cobra.Command, only string) {
	flags := c.Flags()
	flags.StringVar(&f.VIM, "vim", "", only+"leases on this VIM (name or id)")
	flags.StringVar(&f.Principal, "principal", "", only+"leases of this principal")
	flags.StringVar(&f.For, "for", "", only+"leases that are for this person")
	flags.StringVar(&f.holder, "client", "", only+"leases of this client (name or id)")
	flags.StringVar(&f.Operation, "operation", "", only+"leases that serve this operation")
	flags.StringVar(&f.Instance, "instance", "", only+"leases that serve this VNF instance of another VNFM")
	flags.BoolVar(&f.mine, "mine", false, only+"your own leases")
	c.MarkFlagsMutuallyExclusive("mine", "principal", "client")
	console.MustComplete(c, "vim", p.VimNames)
	console.MustComplete(c, "client", oauthClients.complete(p))
}

// find makes ids and names of a person's words. A holder, or a person, that no lease that the caller sees ever had, ended ones
// included, is an error: the name may be mistyped, and an empty answer would look like success.
func (f *leaseFilter) find(ctx context.Context, p *program, registry *client.Client) (err error) {
	if f.VIM, err = p.VIMRef(ctx, registry, f.VIM); err != nil {
		return err
	}
	if f.Principal != "" {
		err = anyLease(ctx, registry, client.LeaseQuery{Principal: f.Principal}, f.Principal, "you see no lease that %q holds or held%s",
			func(l v1.Lease) string { return l.Principal })
	}
	if err == nil && f.For != "" {
		err = anyLease(ctx, registry, client.LeaseQuery{For: f.For}, f.For, "you see no lease that is or was for %q%s",
			func(l v1.Lease) string { return l.For })
	}
	switch {
	case err != nil:
	case f.holder != "":
		f.Principal, err = oauthClients.find(ctx, registry, f.holder)
		f.Principal = policy.ByClient + ":" + f.Principal
	case f.mine:
		var me v1.Caller
		me, err = registry.WhoAmI(ctx)
		f.Principal = me.Name
	}
	return err
}

// anyLease is an error unless the caller sees a lease of a query; name is what the person typed, and named that of a lease.
func anyLease(
	ctx context.Context, registry *client.Client, q client.LeaseQuery, name, missing string, named func(v1.Lease) string,
) error {
	q.PageSize = 1
	some, err := registry.Leases(ctx, q)
	if err != nil || len(some.Items) > 0 {
		return err
	}
	var names []string
	leases, _, err := listLeases(ctx, registry, client.LeaseQuery{}, []string{""}, listPage, everyLease)
	if err != nil {
		return err
	}
	for _, l := range leases {
		names = append(names, named(l))
	}
	return console.Missing(missing, strictyaml.Printable(name), policy.Suggest(name, names))
}

// listLeases lists the leases in one state after the other, and tells whether there are more.
func listLeases(
	ctx context.Context, registry *client.Client, q client.LeaseQuery, states []string, limit int, keep func(v1.Lease) bool,
) (leases []v1.Lease, more bool, err error) {
	leases = []v1.Lease{}
	for _, state := range states {
		q.State, q.PageSize = state, min(listPage, limit+1)
		for l, err := range registry.AllLeases(ctx, q) {
			if err != nil {
				return nil, false, err
			}
			if !keep(l) {
				continue
			}
			if len(leases) == limit {
				return leases, true, nil
			}
			leases = append(leases, l)
		}
	}
	return leases, false, nil
}

func everyLease(v1.Lease) bool { return true }

func (p *program) leaseTable(w io.Writer, leases []v1.Lease) {
	p.Header(w, []string{"ID", "VIM", "STATE", "MAY", "WHERE", "WHO", "EXPIRES"}, "ISSUED", "PURPOSE", "PROJECT", "FORMAT")
	for _, l := range leases {
		p.Columns(w, []string{
			p.id(l.ID), p.CutTo(l.VIMName, 12), l.State, p.CutTo(mayOf(l), 16), p.CutTo(whereOf(l), 10), p.CutTo(whoOf(l), 14), expiry(l, p.When),
		}, p.When(l.IssuedAt), l.Purpose, l.Project, l.Format)
	}
}

// byNames names the clients that hold leases, for whoever may list them, as the table has no room for their ids.
func byNames(ctx context.Context, registry *client.Client, leases []v1.Lease) []v1.Lease {
	const prefix = policy.ByClient + ":"
	if !slices.ContainsFunc(leases, func(l v1.Lease) bool { return strings.HasPrefix(l.Principal, prefix) }) {
		return leases
	}
	names := map[string]string{}
	for c, err := range registry.AllOAuthClients(ctx) {
		if err != nil {
			return leases
		}
		names[prefix+c.ID] = prefix + c.Name
	}
	named := slices.Clone(leases)
	for i, l := range named {
		named[i].Principal = cmp.Or(names[l.Principal], l.Principal)
	}
	return named
}

// mayOf says in a few words what a lease may do.
func mayOf(l v1.Lease) string {
	switch {
	case !l.Derived:
		return "all (passed through)"
	case len(l.Rules) > 0:
		return lessee.RulesText(l.Rules)
	}
	return l.Role
}

// whereOf is scopeOf for a table.
func whereOf(l v1.Lease) string {
	if l.ClusterWide {
		return "all"
	}
	return strings.Join(l.Namespaces, ",")
}

// whoOf is who has the lease: its holder, and before that whom it is for.
func whoOf(l v1.Lease) string {
	if l.For == "" {
		return l.Principal
	}
	return l.For + ", by " + l.Principal
}

// id is an id's form in a table: its beginning, or all of it in a wide one.
func (p *program) id(id string) string {
	if p.Wide() {
		return id
	}
	return console.ShortID(id)
}

// expiry tells when a lease ends by itself, which one that was revoked does not.
func expiry(l v1.Lease, tell func(time.Time) string) string {
	if l.State == "revoked" {
		return ""
	}
	return tell(l.ExpiresAt)
}

// lease is an argument that names a lease.
func (p *program) lease() argument { return argument{complete: p.LeaseIDs, find: p.LeaseRef} }

func (p *program) leaseFacts(w io.Writer, l v1.Lease) {
	console.Facts(w, "Id", l.ID, "VIM", fmt.Sprintf("%s (%s, generation %d)", l.VIMName, l.VIM, l.VIMGeneration),
		"State", l.State, "Reason", l.Reason, "Last error", l.LastError, "Role", l.Role,
		"Rules", lessee.RulesText(l.Rules), "Namespaces", scopeOf(l))
	gradeFacts(w, l)
	console.Facts(w, "Principal", l.Principal, "For", l.For, "Project", l.Project, "Operation", l.Operation,
		"VNF instance", l.Instance, "Door", l.Door, "Purpose", l.Purpose, "Format", l.Format,
		"Issued", p.Moment(l.IssuedAt), "Expires", expiry(l, p.Moment))
	switch {
	case l.Standing:
		console.Facts(w, "Stands", "tokens of "+l.TokenTTL+" at most; if used, until "+p.Moment(l.MaxExpiresAt),
			"Last used", p.Moment(l.LastUsedAt))
	case l.State == "active":
		console.Facts(w, "Renewable until", p.Moment(l.MaxExpiresAt))
	}
	console.Facts(w, "Derived", derived(l), "Revocable", revocable(l), "Revoked", p.Moment(l.RevokedAt),
		"Confirmed dead", p.confirmedDead(l))
	for _, left := range l.LeftBehind {
		console.Facts(w, "Left behind", left)
	}
	console.Facts(w, "Credential id", l.CredentialID)
}

// scopeOf names the places in which a lease's role or rules hold.
func scopeOf(l v1.Lease) string {
	if l.ClusterWide {
		return "all, and what has none (cluster-wide)"
	}
	return console.List(l.Namespaces)
}

// gradeFacts name the identities that the holder of a lease can become, and the effects that
// revoking it does not reach.
func gradeFacts(w io.Writer, l v1.Lease) {
	words := map[string]string{
		"bounded":    "bounded: the holder can do what the role or rules say, and become nobody else",
		"namespaces": "namespaces: the holder can become any identity of the lease's namespaces",
		"unbounded":  "unbounded: the holder can become any identity",
	}
	console.Facts(w, "Grade", words[l.Grade])
	for _, reason := range l.GradeReasons {
		console.Facts(w, "", reason)
	}
	if l.Grade != "" && l.Grade != "bounded" {
		console.Facts(w, "Not revoked", "what the holder made or became elsewhere than with this lease's own credential")
	}
}

// confirmedDead also names the place where the credential was tried: other servers of the
// VIM may still accept it from their caches.
func (p *program) confirmedDead(l v1.Lease) string {
	lag, err := time.ParseDuration(l.MaxRevocationLag)
	last := l.RevokedAt.Add(lag)
	if err != nil || l.ConfirmedDeadAt.IsZero() || !last.After(l.ConfirmedDeadAt) {
		return p.Moment(l.ConfirmedDeadAt)
	}
	return p.Moment(l.ConfirmedDeadAt) + ", where it was issued; services may take it from their caches until " + p.Moment(last)
}

func derived(l v1.Lease) string {
	if l.Credential == "user" {
		return "yes: a user of the lease's own, with a password"
	}
	if l.Derived {
		return "yes"
	}
	return "NO: the VIM's own credential was passed through"
}

func revocable(l v1.Lease) string {
	if l.Revocable {
		return "yes, dead at most " + l.MaxRevocationLag + " later"
	}
	return "no: it works until it is replaced on the VIM itself"
}

// renewsInto refuses to replace a file that is no JSON by the configuration of a lease that is: kubectl's plugin takes such
// leases, and who renews one into a kubeconfig would lose it.
func renewsInto(ctx context.Context, registry *client.Client, id string, out outFlags) error {
	if !out.replace {
		return nil
	}
	old, err := os.ReadFile(out.name)
	if old = bytes.TrimSpace(old); err != nil || len(old) == 0 || old[0] == '{' {
		return nil //nolint:nilerr // there is nothing to lose
	}
	l, err := registry.Lease(ctx, id)
	if err == nil && slices.Contains([]clientconfig.Format{clientconfig.JSON, clientconfig.ExecCredential, clientconfig.VIMConnection},
		clientconfig.Format(l.Format)) {
		err = fmt.Errorf("the lease's configuration is of the format %s, and %s holds another; take a lease for it with: vimbroker lease "+
			"issue --vim %s --out %s --replace",
			l.Format, out.name, l.VIMName, out.name)
	}
	return err
}

func (p *program) leaseRenewCommand() *cobra.Command {
	var ttl time.Duration
	var out outFlags
	c := &cobra.Command{
		Use:   "renew ID",
		Short: "Mint a new credential of a lease",
		Long: `Mint a new credential for an active lease, within the longest lifetime that the
lease was granted. The new client configuration is written as by "lease issue".
Its format is that of the lease, which "lease list -o wide" shows: a lease that
kubectl's plugin took has no kubeconfig.
The previous credential works until it expires or the lease ends.

With --out FILE --replace the file always holds one complete configuration: if
renewing fails, the old one stays. Where the new configuration cannot be
written, the exit code is 1 and the previous credential counts; nobody has the
new one, which ends with the lease.`,
		Example: `  vimbroker lease renew 3f0c9c0e-5f4b-4b3f-9a53-2f1f1f6d1c11 \
      --out kubeconfig --replace`,
		Args: console.Names("ID"), ValidArgsFunction: console.OnlyFirst(p.LeaseIDs),
		RunE: p.Remote(func(c *cobra.Command, args []string, registry *client.Client) error {
			var r v1.Renewal
			if ttl != 0 {
				r.TTL = ttl.String()
			}
			file, err := out.create(c, p.Console)
			if err != nil {
				return err
			}
			defer file.Discard() //nolint:errcheck // what is not complete is empty
			id, err := p.LeaseRef(c.Context(), registry, args[0])
			if err != nil {
				return err
			}
			if err := renewsInto(c.Context(), registry, id, out); err != nil {
				return err
			}
			l, err := registry.RenewLease(c.Context(), id, r)
			if err != nil {
				return err
			}
			if err := p.handOver(l, file); err != nil {
				return fmt.Errorf("%w; the lease lives on, and its credential from before counts: renew again, or revoke it", err)
			}
			if p.ForPeople() {
				p.Warn("lease %s on %s: expires %s", l.ID, l.VIMName, p.Moment(l.ExpiresAt))
			}
			return nil
		}),
	}
	console.LifetimeFlag(c, &ttl, "ttl", "wished lifetime from now (default: the server's)")
	out.add(c)
	p.OutputFlag(c)
	return c
}
