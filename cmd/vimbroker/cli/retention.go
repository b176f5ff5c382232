package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

func (p *program) retentionCommand() *cobra.Command {
	return ask(p, &cobra.Command{
		Use:   "retention",
		Short: "Show how long the past is kept, and what is removed next",
		Long: `Show how long the server keeps audit entries, leases that have ended and jobs
that are done, and how many of each it removes next. Nothing is removed by this
command: the server does it by itself, a little at a time.

Audit entries are removed only behind a signed checkpoint of the log that every
anchor has, and when they were delivered to every sink. The hashes that prove
the log stay. You need the right to read every project's entries.`,
		Example: "  vimbroker retention",
	}, (*client.Client).Retention, printed(p, func(w io.Writer, r v1.Retention) {
		p.Header(w, []string{"WHAT", "KEPT", "REMOVED NEXT"})
		p.Columns(w, []string{"audit entries", r.KeepAudit, fmt.Sprint(r.Entries)})
		p.Columns(w, []string{"ended leases", r.KeepLeases, fmt.Sprint(r.Leases)})
		p.Columns(w, []string{"done jobs", r.KeepJobs, fmt.Sprint(r.Jobs)})
		fmt.Fprintf(w, "\nremoved up to entry %d; may be removed up to entry %d, because of %s\n", r.Horizon, r.UpTo, r.HeldBy)
	}))
}
