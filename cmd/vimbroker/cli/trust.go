package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/rest"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
)

// trustEntries are named by name.
var trustEntries = things[v1.TrustEntry]{
	what: "entry", list: "vimbroker trust list",
	all:  (*client.Client).AllTrustEntries,
	id:   func(e v1.TrustEntry) string { return e.Name },
	name: func(e v1.TrustEntry) string { return e.Name },
	hint: aboutTrust,
}

func (p *program) trustCommand() *cobra.Command {
	return console.Group("trust", "Say who may say who callers are",
		`The table of trust has an entry for each issuer of tokens, registered cluster or
authority of certificates that lets callers in. Entries of the configuration are
listed too, and only the configuration changes them. An entry is a YAML file
with the keys that the configuration has:

  name: corp
  issuer: https://id.example
  principals:
    - {match: {groups: noc}, project: acme, roles: [member]}

The server that is asked goes by a change at once, others within five seconds.
docs/callers.md has entries to copy; "vimbroker policy test --jwt" tries tokens.`,
		"  vimbroker trust create corp.yaml\n  vimbroker trust show corp",
		trustEntries.listed(p, &cobra.Command{
			Use:   "list",
			Short: "List entries", Long: "List the entries: first those of the server's configuration, then others by\nname.",
			Example: "  vimbroker trust list",
		}, p.trustTable),
		show(p, p.trustEntry(), &cobra.Command{
			Use:   "show ENTRY",
			Short: "Show one entry", Long: "Show one entry with its rules.",
			Example: "  vimbroker trust show corp",
		}, (*client.Client).TrustEntry, printed(p, p.trustFacts)),
		p.trustWriteCommand("create", "Add an entry",
			"Add the entry of a file. The files that it names are read here and sent with it.", (*client.Client).CreateTrustEntry),
		p.trustWriteCommand("update", "Replace an entry", `Replace the entry of the name that the file has. The files that it names are
read here, and sent with it.`, (*client.Client).UpdateTrustEntry),
		act(p, p.trustEntry(), &cobra.Command{
			Use:   "delete ENTRY",
			Short: "Delete an entry: nobody comes in by it any more",
			Long: `Delete an entry. The server that is asked refuses its callers at once, others
within five seconds. Leases that they hold end too where the server
has lease.endWithAccess, and otherwise by their time.`,
			Example: "  vimbroker trust delete corp",
		}, (*client.Client).DeleteTrustEntry),
	)
}

func (p *program) trustEntry() argument { return argument{complete: trustEntries.complete(p)} }

func (p *program) trustTable(w io.Writer, all []v1.TrustEntry) {
	p.Header(w, []string{"NAME", "ORIGIN", "RULES", "ABOUT"}, "CHANGED", "BY")
	for _, e := range all {
		about := aboutTrust(e)
		if e.Fault != "" {
			about += "; does not count: " + e.Fault
		}
		p.Columns(w, []string{p.Cut(e.Name), e.Origin, fmt.Sprint(len(e.Principals)), p.Cut(about)}, p.When(e.UpdatedAt), e.UpdatedBy)
	}
}

// aboutTrust is what an entry is about.
func aboutTrust(e v1.TrustEntry) string {
	switch {
	case e.Keystone != "":
		return "Keystone " + e.Keystone
	case e.VIM != "":
		return "cluster " + e.VIM
	case e.Certificates != nil && len(e.Principals) == 0:
		return "certificates of clients"
	case e.Certificates != nil:
		return "certificates"
	}
	return e.Issuer
}

func (p *program) trustFacts(w io.Writer, e v1.TrustEntry) {
	console.Facts(w, "Name", e.Name, "About", aboutTrust(e), "Origin", e.Origin, "Does not count", e.Fault,
		"Audience", e.Audience, "Algorithms", console.List(e.Algorithms), "Platform", e.Platform, "At most", e.MaxLife,
		"Holds for", e.Hold)
	for i, r := range e.Principals {
		var wants []string
		for _, claim := range slices.Sorted(maps.Keys(r.Match)) {
			wants = append(wants, claim+"="+r.Match[claim])
		}
		console.Facts(w, fmt.Sprintf("Rule %d", i), fmt.Sprintf("%s: %s in project %s, shown as %s", strings.Join(wants, " "),
			console.List(r.Roles), cmp.Or(r.Project, "none"), cmp.Or(r.Name, "its subject")))
	}
	if e.CreatedBy != "" {
		console.Facts(w, "Created", p.Moment(e.CreatedAt)+" by "+e.CreatedBy, "Updated", p.Moment(e.UpdatedAt)+" by "+e.UpdatedBy)
	}
}

func (p *program) trustWriteCommand(
	name, short, long string, write func(*client.Client, context.Context, v1.TrustEntryRequest) (v1.TrustEntry, error),
) *cobra.Command {
	return show(p, argument{complete: console.Files}, &cobra.Command{
		Use: name + " FILE", Short: short, Long: long,
		Example: "  vimbroker trust " + name + " corp.yaml",
	}, func(registry *client.Client, ctx context.Context, file string) (stored v1.TrustEntry, err error) {
		text, err := files.ReadFile(file, p.In)
		if err != nil {
			return stored, err
		}
		e, err := files.Trust(file, text)
		if err != nil {
			return stored, err
		}
		return write(registry, ctx, rest.TrustRequest(e))
	}, printed(p, func(w io.Writer, stored v1.TrustEntry) { p.trustTable(w, []v1.TrustEntry{stored}) }))
}
