package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

func (p *program) auditCommand() *cobra.Command {
	return console.Group("audit", "Read and verify the audit log",
		"The audit log says who did what: an entry with every decision, one more with every outcome, chained by hashes.",
		"  vimbroker audit list --since 1h\n  vimbroker audit verify",
		p.auditListCommand(),
		p.auditVerifyCommand(),
	)
}

func (p *program) auditListCommand() *cobra.Command {
	var q client.AuditQuery
	var since string
	var limit int
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List audit entries, newest first",
		Long:    "List the audit entries that the caller may see, newest first.",
		Example: "  vimbroker audit list --since 24h --principal alice\n  vimbroker audit list --action lease:issue -o json",
		Args:    console.Names(),
		RunE: p.Remote(func(c *cobra.Command, _ []string, broker *client.Client) error {
			var err error
			if q.Since, err = p.sinceWhen(since); err != nil {
				return console.Usage(c, err)
			}
			q.PageSize = min(listPage, limit+1)
			found := v1.List[v1.AuditEntry]{Items: []v1.AuditEntry{}}
			for e, err := range broker.AllAudit(c.Context(), q) {
				if err != nil {
					return err
				}
				if len(found.Items) == limit {
					p.Warn("there are more than %d entries; see them with --limit", limit)
					break
				}
				found.Items = append(found.Items, e)
			}
			return p.Print(found, func(w io.Writer) { p.auditTable(w, found.Items) })
		}),
	}
	flags := c.Flags()
	flags.StringVar(&q.Principal, "principal", "", "only what this principal did")
	flags.StringVar(&q.Project, "project", "", "only this project")
	flags.StringVar(&q.Action, "action", "", "only this action, like lease:issue")
	flags.StringVar(&q.Resource, "resource", "", "only this resource's id")
	flags.StringVar(&since, "since", "", "only what is newer: a duration like 24h, or a time like 2026-01-31T12:00:00Z")
	flags.IntVar(&limit, "limit", 100, "at most this many")
	console.MustComplete(c, "action", cobra.FixedCompletions(actions, cobra.ShellCompDirectiveNoFileComp))
	p.OutputFlag(c)
	return c
}

// sinceWhen reads a duration before now, or a time.
func (p *program) sinceWhen(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(s); err == nil {
		return p.Now().Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, errors.New("--since must be a duration like 24h or a time like 2026-01-31T12:00:00Z")
	}
	return t, nil
}

func (p *program) auditTable(w io.Writer, entries []v1.AuditEntry) {
	console.Row(w, "SEQ", "TIME", "PRINCIPAL", "ACTION", "OUTCOME", "KIND", "RESOURCE", "DETAIL")
	for _, e := range entries {
		console.Row(w, strconv.FormatInt(e.Seq, 10), e.Time.UTC().Format(time.RFC3339), e.Principal, e.Action, e.Outcome, e.Kind, e.Resource, console.Pairs(e.Detail))
	}
}

func (p *program) auditVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Verify that no audit entry is missing, altered or out of order",
		Long: `Fetch the whole audit log and verify its chain of hashes. You need the right to
read every project's entries. The command prints the number and hash of the newest
entry. Keep them elsewhere: they reveal a log that was rewritten or cut off.`,
		Example: "  vimbroker audit verify",
		Args:    console.Names(),
		RunE: p.Remote(func(c *cobra.Command, _ []string, broker *client.Client) error {
			newest, err := verifyAudit(c.Context(), broker)
			if err != nil {
				return err
			}
			fmt.Fprintf(p.Out, "%d entries verified; newest: %d %s\n", newest.Seq, newest.Seq, newest.Hash)
			return nil
		}),
	}
}

// verifyAudit walks the log from its newest entry to its first, a page at a
// time, and returns the newest.
func verifyAudit(ctx context.Context, broker *client.Client) (newest audit.Entry, err error) {
	q := client.AuditQuery{PageSize: listPage}
	var joint []audit.Entry // the oldest entry of the page before
	for {
		page, err := broker.Audit(ctx, q)
		if err != nil {
			return newest, err
		}
		run := slices.Clone(joint)
		for _, e := range page.Items {
			run = append(run, auditEntry(e))
		}
		if len(run) == 0 {
			return newest, errors.New("the audit log shows no entry, not even of being read")
		}
		if newest.Seq == 0 {
			newest = run[0]
		}
		oldest := run[len(run)-1]
		slices.Reverse(run)
		if err := audit.Verify(run); err != nil {
			return newest, fmt.Errorf("%w (or this caller may not read every project's entries)", err)
		}
		if page.NextPageToken == "" {
			if oldest.Seq != 1 {
				return newest, fmt.Errorf("the audit log begins with entry %d instead of 1: entries are missing, or this caller may not read every project's", oldest.Seq)
			}
			return newest, nil
		}
		joint = []audit.Entry{oldest}
		q.PageToken = page.NextPageToken
	}
}

// auditEntry is an entry as it was sealed.
func auditEntry(e v1.AuditEntry) audit.Entry {
	return audit.Entry{
		Seq: e.Seq, Time: e.Time, Request: e.Request, Principal: e.Principal, Project: e.Project,
		Action: policy.Action(e.Action), Kind: policy.Kind(e.Kind), Resource: e.Resource,
		Outcome: audit.Outcome(e.Outcome), Detail: e.Detail, Previous: e.Previous, Hash: e.Hash,
	}
}
