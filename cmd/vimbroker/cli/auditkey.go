package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

func (p *program) auditKeyCommand() *cobra.Command {
	return console.Group("key", "See, rotate and revoke the keys that sign the audit log",
		`Checkpoints of the audit log are signed by a key of the server. Its public half
is the verifier key: whoever keeps it can tell a checkpoint of this log from a
forged one.`,
		"  vimbroker audit key list\n  vimbroker audit key rotate",
		ask(p, &cobra.Command{
			Use:     "list",
			Aliases: []string{"ls"},
			Short:   "List the keys that sign checkpoints, or did, oldest first",
			Long: `List the keys that sign checkpoints of the audit log, or did, and the sizes of
the log between which the checkpoints of each count.`,
			Example: "  vimbroker audit key list\n  vimbroker audit key list -o json",
		}, (*client.Client).AuditKeys, printed(p, func(w io.Writer, keys v1.List[v1.AuditKey]) {
			p.Header(w, []string{"ID", "STATE", "SINCE", "UNTIL", "ENDORSED", "VERIFIER"})
			for _, k := range keys.Items {
				until, endorsed := "", "no"
				if k.State != string(notary.Signing) {
					until = strconv.FormatInt(k.Until, 10)
				}
				if k.Endorsement != "" {
					endorsed = "yes"
				}
				console.Row(w, k.ID, k.State, strconv.FormatInt(k.Since, 10), until, endorsed, k.Verifier)
			}
		})),
		ask(p, &cobra.Command{
			Use:   "rotate",
			Short: "Replace the key that signs checkpoints",
			Long: `Make a new key, in the first key store of the server's configuration. The key
before endorses it, both sign one checkpoint, and then the private half of the
key before is destroyed. Whoever has kept the verifier key of the one before
goes on to the new one by that endorsement.`,
			Example: "  vimbroker audit key rotate",
		}, (*client.Client).RotateAuditKey, printed(p, signingFacts)),
		p.auditKeyRevokeCommand(),
	)
}

func (p *program) auditKeyRevokeCommand() *cobra.Command {
	var until int64
	c := show(p, argument{name: "ID (of a key)", complete: cobra.NoFileCompletions}, &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a key that somebody else may have, or that is lost",
		Long: `Revoke a key that signs checkpoints, or did. Its checkpoints count only up to
the size of the log that --until names; without it, none does. If the key
signs, a new one takes its place. The revoked key does not endorse it: give
the new verifier key to everybody who has kept the old one.

The log itself stays provable: a checkpoint that was anchored elsewhere before
the key leaked is one that the log must still begin with.`,
		Example: `  vimbroker audit key revoke 3a0f7d52-1c64-4d0b-9a57-5d0be3f0c9d1 \
      --until 40000`,
	}, func(registry *client.Client, ctx context.Context, id string) (v1.AuditKey, error) {
		return registry.RevokeAuditKey(ctx, id, v1.AuditKeyRevocation{Until: until})
	}, printed(p, signingFacts))
	c.Flags().Int64Var(&until, "until", 0, "size of the log up to which its checkpoints count")
	return c
}

func signingFacts(w io.Writer, k v1.AuditKey) {
	fmt.Fprintf(w, "key %s signs the audit log from entry %d on; verifier key: %s\n", k.ID, k.Since, k.Verifier)
}
