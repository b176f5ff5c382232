package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/policy/audit"
)

func (p *program) auditCommand() *cobra.Command {
	return console.Group("audit", "Read and verify the audit log",
		`The audit log says who did what: an entry with every decision, one more with
every outcome, under a signed Merkle tree.`,
		"  vimbroker audit list --since 1h\n  vimbroker audit verify",
		p.auditListCommand(),
		p.verifiesFiles(p.auditVerifyCommand()),
		p.auditProveCommand(),
		ask(p, &cobra.Command{
			Use:   "checkpoint",
			Short: "Print the last signed checkpoint of the audit log",
			Long: `Print the last checkpoint that the server signed: the size of the audit log and
the root of its Merkle tree, as a signed note (c2sp.org/tlog-checkpoint). Keep
it where nobody who can write in the server's database can: "vimbroker audit
verify --anchor FILE" proves that the log still begins with what it held then.`,
			Example: "  vimbroker audit checkpoint > checkpoint\n  vimbroker audit verify --anchor checkpoint",
		}, (*client.Client).AuditCheckpoint, printed(p, func(w io.Writer, found v1.AuditCheckpoint) { fmt.Fprint(w, found.Note) })),
		ask(p, &cobra.Command{
			Use:   "anchors",
			Short: "Show which checkpoint of the audit log each of its anchors has",
			Long: `Show the anchors of the audit log: files, syslog receivers and webhooks that
get every checkpoint, as audit.anchors of the server's configuration names
them. "vimbroker audit verify --anchor FILE" takes what an anchor has kept.`,
			Example: "  vimbroker audit anchors",
		}, (*client.Client).AuditAnchors, printed(p, func(w io.Writer, found v1.List[v1.AuditAnchor]) {
			p.Header(w, []string{"NAME", "SIZE", "TIME", "BEHIND", "FAULT"})
			for _, a := range found.Items {
				console.Row(w, a.Name, strconv.FormatInt(a.Size, 10), p.When(a.Time), strconv.FormatInt(a.Behind, 10), a.Fault)
			}
		})),
		p.auditKeyCommand(),
		ask(p, &cobra.Command{
			Use:   "sinks",
			Short: "Show how far the audit log has been delivered to each of its sinks",
			Long: `Show the sinks of the audit log: files, syslog receivers and webhooks that get
every entry, as audit.sinks of the server's configuration names them.

While a sink that is required is late, the server refuses what is not a
revocation or a read. A sink of best effort that is late and fails misses the
oldest entries: SKIPPED counts them. FAULT is what the replica that answers
saw at its last attempt. You need the right to read every project's entries.`,
			Example: "  vimbroker audit sinks",
		}, (*client.Client).AuditSinks, printed(p, func(w io.Writer, found v1.List[v1.AuditSink]) { p.auditSinksTable(w, found.Items) })),
		p.auditExportCommand(),
	)
}

func (p *program) auditListCommand() *cobra.Command {
	var q client.AuditQuery
	var since, until string
	var effects bool
	var limit int
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List audit entries, newest first",
		Long: `List the audit entries that the caller may see, newest first: what principals
of the caller's project did, and what others did on its VIMs. Who may read
every project's entries sees all.

An effect is an entry "intent" before it begins, and "done" or "failed"
afterwards. --credential-id takes what the VIM's own audit log says: "JTI=..."
of the annotation authentication.kubernetes.io/credential-id on Kubernetes,
the id of the application credential on OpenStack.`,
		Example: `  vimbroker audit list --since 24h --principal alice
  vimbroker audit list --vim edge-1 --effects
  vimbroker audit list --request 0b6f3c1e-5f4b-4b3f-9a53-2f1f1f6d1c11 -o wide
  vimbroker audit list --action server:login --outcome denied -o json`,
		Args: console.Names(),
		RunE: p.Remote(func(c *cobra.Command, _ []string, registry *client.Client) error {
			var err error
			if q.Since, err = p.when("since", since); err != nil {
				return console.Usage(c, err)
			}
			if q.Until, err = p.when("until", until); err != nil {
				return console.Usage(c, err)
			}
			if q.Lease, err = p.LeaseRef(c.Context(), registry, q.Lease); err != nil {
				return err
			}
			if q.VIM, err = p.VIMRef(c.Context(), registry, q.VIM); err != nil {
				return err
			}
			if effects {
				q.Outcomes = []string{string(audit.Intent), string(audit.Done), string(audit.Failed)}
			}
			q.PageSize = min(listPage, limit+1)
			return answered(printedAll(p, p.auditTable))(upTo(p, registry.AllAudit(c.Context(), q), limit, "entries"))
		}),
	}
	flags := c.Flags()
	flags.StringVar(&q.Principal, "principal", "", "only what this principal did")
	flags.StringVar(&q.Project, "project", "", "only what principals of this project did, and what others did on its VIMs")
	flags.StringVar(&q.Action, "action", "", "only this action, like lease:issue")
	flags.StringVar(&q.Resource, "resource", "", "only this resource's id")
	flags.StringVar(&q.VIM, "vim", "", "only about this VIM: its id, or its name as it was then")
	flags.StringVar(&q.Lease, "lease", "", "only about the lease of this id")
	flags.StringVar(&q.Request, "request", "", "only what was refused or failed in the request of this id, which each error ends with")
	flags.StringVar(&q.CredentialID, "credential-id", "", "only about the credential that the VIM's own audit log names so")
	flags.StringSliceVar(&q.Outcomes, "outcome", nil, "only with these outcomes: "+strings.Join(outcomes, ", "))
	flags.BoolVar(&effects, "effects", false, "only what had, or was to have, an effect")
	c.MarkFlagsMutuallyExclusive("outcome", "effects")
	flags.StringVar(&since, "since", "", "only what is newer: a duration like 24h, or a time like 2026-01-31T12:00:00Z")
	flags.StringVar(&until, "until", "", "only what is older: a duration like 24h, or a time")
	flags.IntVar(&limit, "limit", 100, "at most this many")
	known := slices.Clone(actions)
	for _, a := range audit.ServerActions {
		known = append(known, string(a))
	}
	console.MustChoose(c, "action", known...)
	console.MustChoose(c, "outcome", outcomes...)
	p.OutputFlag(c)
	return c
}

// outcomes are those of entries.
var outcomes = []string{string(audit.Denied), string(audit.Read), string(audit.Intent), string(audit.Done), string(audit.Failed)}

// when reads a flag that holds a duration before now, or a time.
func (p *program) when(flag, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := console.Duration(s); err == nil && d >= 0 {
		return p.Now().Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, fmt.Errorf("--%s must be a duration like 24h or a time like 2026-01-31T12:00:00Z", flag)
	}
	return t, nil
}

func (p *program) auditTable(w io.Writer, entries []v1.AuditEntry) {
	p.Header(w, []string{"SEQ", "TIME", "PRINCIPAL", "ACTION", "OUTCOME", "VIM", "LEASE"}, "SOURCE", "KIND", "RESOURCE", "REQUEST", "DETAIL")
	for _, e := range entries {
		if e.Damaged {
			e.Outcome += " (DAMAGED)"
		}
		p.Columns(w, []string{
			strconv.FormatInt(e.Seq, 10), e.Time.UTC().Format(time.RFC3339), p.Cut(e.Principal), e.Action, e.Outcome,
			p.Cut(cmp.Or(e.Detail["cluster"], e.Detail[audit.DetailVIMName])), console.ShortID(e.Detail[audit.DetailLease]),
		}, e.Detail[audit.DetailSource], e.Kind, e.Resource, e.Request, console.Pairs(e.Detail))
	}
}

func (p *program) auditSinksTable(w io.Writer, sinks []v1.AuditSink) {
	p.Header(w, []string{"NAME", "MODE", "WITHIN", "BEHIND", "LATE", "DELIVERED", "WAITING", "SKIPPED", "FAULT"})
	for _, s := range sinks {
		p.Columns(w, []string{
			s.Name, s.Mode, s.Within, s.Behind, strconv.FormatBool(s.Late), strconv.FormatInt(s.Delivered, 10),
			strconv.FormatInt(s.Waiting, 10), strconv.FormatInt(s.Skipped, 10), s.Fault,
		})
	}
}
