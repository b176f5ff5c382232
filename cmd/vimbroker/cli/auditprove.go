package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

func (p *program) auditProveCommand() *cobra.Command {
	var anchor string
	c := &cobra.Command{
		Use:   "prove [SEQ]",
		Short: "Prove that the log only grew, or holds an entry, from a few hashes",
		Long: `With --anchor: prove that the audit log begins with what it held when the
anchor was made, and print an anchor of now. The entries are not fetched, so
this takes the same time however long the log is. It shows that the tree was
not exchanged; that the entries are those of the tree is for "vimbroker audit
verify".

With the number of an entry: prove that the log holds it, and print the entry
as the log has it. With -o json or yaml the hashes are printed too: a proof of
RFC 6962, as golang.org/x/mod/sumdb/tlog and every other tool of the field
checks it.

The proof is checked before anything is printed. You need the right to read
every project's entries.`,
		Example: "  vimbroker audit prove --anchor \"$(cat anchor)\"\n  vimbroker audit prove 42 -o json",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.Remote(func(c *cobra.Command, args []string, registry *client.Client) error {
			if len(args) == 0 {
				if anchor == "" {
					return console.Usagef(c, "give --anchor, or the number of an entry")
				}
				kept, ok := parseAnchor(anchor)
				if !ok {
					return console.Usagef(c, "--anchor must be what \"vimbroker audit verify\" printed, like "+
						"4711:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
				}
				now, err := proveGrowth(c.Context(), registry, kept)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(p.Out, "the log only grew, by %s; anchor: %s\n",
					console.Count(now.Size-kept.Size, "entry", "entries"), anchorText(now))
				return err
			}
			seq, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || anchor != "" {
				return console.Usagef(c, "give the number of an entry, or --anchor: one of the two")
			}
			proof, now, err := proveEntry(c.Context(), registry, seq)
			if err != nil {
				return err
			}
			return p.Print(proof, func(w io.Writer) {
				fmt.Fprintf(w, "%s\nis entry %d of the log with the anchor: %s\n", proof.Line, seq, anchorText(now))
			})
		}),
	}
	c.Flags().StringVar(&anchor, "anchor", "", "an anchor that an earlier run printed")
	p.OutputFlag(c)
	return c
}

// proveGrowth asks for a proof that the log begins with the kept log, checks it, and
// returns the present log.
func proveGrowth(ctx context.Context, registry *client.Client, kept tree.Head) (tree.Head, error) {
	shown, err := registry.AuditGrowth(ctx, kept.Size)
	if err != nil {
		return tree.Head{}, err
	}
	now, proof, err := auditTree(v1.AuditTree{Size: shown.Size, Root: shown.Root, Frontier: shown.Proof})
	if err != nil {
		return tree.Head{}, err
	}
	if tree.CheckConsistency(now, kept, proof) != nil {
		return tree.Head{}, fmt.Errorf("the audit log was changed: nothing proves that it begins with the %s that the anchor "+
			"was made of", console.Count(kept.Size, "entry", "entries"))
	}
	return now, nil
}

// proveEntry asks for a proof that the log holds an entry, checks it, and returns the
// present log.
func proveEntry(ctx context.Context, registry *client.Client, seq int64) (v1.AuditProof, tree.Head, error) {
	fail := func(err error) (v1.AuditProof, tree.Head, error) { return v1.AuditProof{}, tree.Head{}, err }
	shown, err := registry.AuditProof(ctx, seq)
	if err != nil {
		return fail(err)
	}
	now, proof, err := auditTree(v1.AuditTree{Size: shown.Size, Root: shown.Root, Frontier: shown.Proof})
	if err != nil {
		return fail(err)
	}
	entry, err := audit.ParseLine([]byte(shown.Line))
	if err != nil {
		return fail(err)
	}
	if entry.Seq != seq || shown.Index != seq-1 || tree.CheckInclusion(now, shown.Index, tree.Leaf([]byte(shown.Line)), proof) != nil {
		return fail(errors.New("the server's answer does not prove that the log holds the entry"))
	}
	return shown, now, nil
}
