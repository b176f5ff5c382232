package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

func (p *program) auditCommand() *cobra.Command {
	return console.Group("audit", "Read and verify the audit log",
		`The audit log says who did what: an entry with every decision, one more with
every outcome, chained by hashes.`,
		"  vimbroker audit list --since 1h\n  vimbroker audit verify",
		p.auditListCommand(),
		p.auditVerifyCommand(),
		p.auditProveCommand(),
		p.auditCheckpointCommand(),
		p.auditKeyCommand(),
		p.auditSinksCommand(),
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
  vimbroker audit list --action server:login --outcome denied -o json`,
		Args: console.Names(),
		RunE: p.Remote(func(c *cobra.Command, _ []string, broker *client.Client) error {
			var err error
			if q.Since, err = p.when("since", since); err != nil {
				return console.Usage(c, err)
			}
			if q.Until, err = p.when("until", until); err != nil {
				return console.Usage(c, err)
			}
			if q.Lease, err = p.LeaseRef(c.Context(), broker, q.Lease); err != nil {
				return err
			}
			if effects {
				q.Outcomes = []string{string(audit.Intent), string(audit.Done), string(audit.Failed)}
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
	flags.StringVar(&q.VIM, "vim", "", "only about this VIM: its id, or its name as it was then")
	flags.StringVar(&q.Lease, "lease", "", "only about the lease of this id")
	flags.StringVar(&q.CredentialID, "credential-id", "", "only about the credential that the VIM's own audit log names so")
	flags.StringSliceVar(&q.Outcomes, "outcome", nil, "only with these outcomes: "+strings.Join(outcomes, ", "))
	flags.BoolVar(&effects, "effects", false, "only what had, or was to have, an effect")
	c.MarkFlagsMutuallyExclusive("outcome", "effects")
	flags.StringVar(&since, "since", "", "only what is newer: a duration like 24h, or a time like 2026-01-31T12:00:00Z")
	flags.StringVar(&until, "until", "", "only what is older: a duration like 24h, or a time")
	flags.IntVar(&limit, "limit", 100, "at most this many")
	console.MustComplete(c, "action", cobra.FixedCompletions(append(serverActions, actions...), cobra.ShellCompDirectiveNoFileComp))
	console.MustComplete(c, "outcome", cobra.FixedCompletions(outcomes, cobra.ShellCompDirectiveNoFileComp))
	p.OutputFlag(c)
	return c
}

// outcomes are those of entries, and serverActions what is recorded and no policy decides.
var (
	outcomes      = []string{string(audit.Denied), string(audit.Read), string(audit.Intent), string(audit.Done), string(audit.Failed)}
	serverActions = []string{string(audit.Login), string(audit.ServerStart), string(audit.ServerReload), string(audit.ServerSink)}
)

// when reads a flag that holds a duration before now, or a time.
func (p *program) when(flag, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(s); err == nil {
		return p.Now().Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, fmt.Errorf("--%s must be a duration like 24h or a time like 2026-01-31T12:00:00Z", flag)
	}
	return t, nil
}

func (p *program) auditTable(w io.Writer, entries []v1.AuditEntry) {
	p.Header(w, []string{"SEQ", "TIME", "PRINCIPAL", "ACTION", "OUTCOME", "VIM", "LEASE"}, "SOURCE", "KIND", "RESOURCE", "DETAIL")
	for _, e := range entries {
		p.Columns(w, []string{strconv.FormatInt(e.Seq, 10), e.Time.UTC().Format(time.RFC3339), p.Cut(e.Principal), e.Action, e.Outcome, p.Cut(e.Detail[audit.DetailVIMName]), console.ShortID(e.Detail[audit.DetailLease])}, e.Detail[audit.DetailSource], e.Kind, e.Resource, console.Pairs(e.Detail))
	}
}

func (p *program) auditVerifyCommand() *cobra.Command {
	var anchor string
	var newer bool
	c := &cobra.Command{
		Use:   "verify",
		Short: "Verify that no audit entry is missing, altered or out of order",
		Long: `Fetch the audit log, verify its chain of hashes, and verify that it is the log
whose Merkle tree (RFC 6962) the broker keeps. You need the right to read
every project's entries.

The command prints an anchor: the size of the log and the root of its tree.
Keep it elsewhere. With --anchor the command proves that the log begins with
what it held then: a log that was rewritten or cut off, even as a whole, does
not pass. With --newer it goes on from there and fetches only what is newer.`,
		Example: `  vimbroker audit verify
  vimbroker audit verify \
      --anchor 4711:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=`,
		Args: console.Names(),
		RunE: p.Remote(func(c *cobra.Command, _ []string, broker *client.Client) error {
			kept, err := parseAnchor(anchor)
			if err != nil {
				return console.Usage(c, err)
			}
			from := int64(0)
			if newer {
				from = kept.Size
			}
			now, err := verifyAudit(c.Context(), broker, kept, from)
			if err != nil {
				return err
			}
			fmt.Fprintf(p.Out, "%d entries verified; anchor: %s\n", now.Size-from, anchorText(now))
			return nil
		}),
	}
	c.Flags().StringVar(&anchor, "anchor", "", "an anchor that an earlier run printed")
	c.Flags().BoolVar(&newer, "newer", false, "verify only the entries that are newer than the anchor")
	return c
}

// anchorText is a state of the log for a person to keep.
func anchorText(s tree.State) string {
	return fmt.Sprintf("%d:%s", s.Size, base64.StdEncoding.EncodeToString(s.Root[:]))
}

// parseAnchor reads what anchorText wrote; no text is the empty log.
func parseAnchor(text string) (tree.State, error) {
	if text == "" {
		return tree.Empty(), nil
	}
	number, root, _ := strings.Cut(text, ":")
	size, err := strconv.ParseInt(number, 10, 64)
	hash, rootErr := base64.StdEncoding.DecodeString(root)
	if err != nil || rootErr != nil || size < 0 || len(hash) != len(tree.Hash{}) {
		return tree.State{}, errors.New("--anchor must be what \"vimbroker audit verify\" printed, like 4711:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
	}
	return tree.State{Size: size, Root: tree.Hash(hash)}, nil
}

// verifyAudit fetches the entries after the first from, computes the root of the log's
// tree from them, and compares it with the server's. On the way it compares the log
// with the anchor, whose size is from or larger. It returns the log as it is now.
func verifyAudit(ctx context.Context, broker *client.Client, kept tree.State, from int64) (tree.State, error) {
	shown, err := broker.AuditTree(ctx, from)
	if err != nil {
		return tree.State{}, err
	}
	now, frontier, err := auditTree(shown)
	if err != nil {
		return tree.State{}, err
	}
	if now.Size < kept.Size {
		return tree.State{}, fmt.Errorf("the audit log was cut off: it has %d entries, and had %d when the anchor was made", now.Size, kept.Size)
	}
	b, err := tree.NewBuilder(from, frontier)
	if err != nil {
		return tree.State{}, errors.New("the server's answer does not show the log as it was at the anchor's size")
	}
	leaves, err := auditLeaves(ctx, broker, from, now.Size)
	if err != nil {
		return tree.State{}, err
	}
	for size := from; ; size++ {
		if size == kept.Size {
			if was, err := b.State(); err != nil || was != kept {
				return tree.State{}, fmt.Errorf("the audit log was changed: its first %d entries are not those that the anchor was made of", kept.Size)
			}
		}
		if size == now.Size {
			break
		}
		if err := b.Append(leaves[now.Size-1-size]); err != nil {
			return tree.State{}, err
		}
	}
	if built, err := b.State(); err != nil || built != now {
		return tree.State{}, fmt.Errorf("the audit log was changed: its entries from %d to %d are not those of its tree", from+1, now.Size)
	}
	return now, nil
}

// auditTree reads the server's answer.
func auditTree(t v1.AuditTree) (tree.State, []tree.Hash, error) {
	hashes := make([]tree.Hash, 0, len(t.Frontier)+1)
	for _, h := range append([][]byte{t.Root}, t.Frontier...) {
		if len(h) != len(tree.Hash{}) {
			return tree.State{}, nil, errors.New("the server's answer holds a hash of another length than SHA-256's")
		}
		hashes = append(hashes, tree.Hash(h))
	}
	return tree.State{Size: t.Size, Root: hashes[0]}, hashes[1:], nil
}

// auditLeaves walks the log from the newest entry of its tree down to an entry, a page at
// a time, verifies the chain, and returns the leaves in that order.
func auditLeaves(ctx context.Context, broker *client.Client, downTo, newest int64) ([]tree.Hash, error) {
	q := client.AuditQuery{PageSize: listPage, PageToken: strconv.FormatInt(newest+1, 10)}
	leaves := make([]tree.Hash, 0, max(newest-downTo, 0))
	var joint []audit.Entry // the oldest entry of the page before
	for next := newest; next > downTo; {
		page, err := broker.Audit(ctx, q)
		if err != nil {
			return nil, err
		}
		run := slices.Clone(joint)
		for _, e := range page.Items {
			entry := auditEntry(e)
			run = append(run, entry)
			if entry.Seq <= downTo {
				break
			}
			leaf, err := audit.Leaf(entry)
			if err != nil {
				return nil, err
			}
			leaves = append(leaves, leaf)
			next = entry.Seq - 1
		}
		if len(page.Items) == 0 || page.NextPageToken == "" && next > downTo {
			return nil, fmt.Errorf("audit entry %d is missing, or this caller may not read every project's entries", next)
		}
		joint = slices.Clone(run[len(run)-1:])
		slices.Reverse(run)
		if err := audit.Verify(run); err != nil {
			return nil, fmt.Errorf("%w (or this caller may not read every project's entries)", err)
		}
		q.PageToken = page.NextPageToken
	}
	return leaves, nil
}

// auditEntry is an entry as it was sealed.
func auditEntry(e v1.AuditEntry) audit.Entry {
	return audit.Entry{
		Seq: e.Seq, Time: e.Time, Request: e.Request, Principal: e.Principal, Project: e.Project,
		Action: policy.Action(e.Action), Kind: policy.Kind(e.Kind), Resource: e.Resource,
		Outcome: audit.Outcome(e.Outcome), Detail: e.Detail, Previous: e.Previous, Hash: e.Hash,
	}
}
