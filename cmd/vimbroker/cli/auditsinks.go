package cli

import (
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
)

func (p *program) auditSinksCommand() *cobra.Command {
	return ask(p, &cobra.Command{
		Use:   "sinks",
		Short: "Show how far the audit log has been delivered to each of its sinks",
		Long: `Show the sinks of the audit log: files, syslog receivers and webhooks that get
every entry, as audit.sinks of the server's configuration names them.

While a sink that is required is late, the server refuses what is not a
revocation or a read. A sink of best effort that is late and fails misses the
oldest entries: SKIPPED counts them. FAULT is what the replica that answers
saw at its last attempt. You need the right to read every project's entries.`,
		Example: "  vimbroker audit sinks",
	}, (*client.Client).AuditSinks, printed(p, func(w io.Writer, found v1.List[v1.AuditSink]) { p.auditSinksTable(w, found.Items) }))
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
