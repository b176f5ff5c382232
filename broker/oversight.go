package broker

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Oversight shows, proves and prunes the audit log, and says how the broker is.
type Oversight struct {
	*core
	signatures notary.Store
	past       Pruner
	status     StatusStore
	uses       TokenUseStore
	notary     *notary.Notary
	courier    *delivery.Courier
	logins     *audit.Logins
	holders    TokenHolders
	tokenUses  tokenUses
	storeProbe *probe
}

// RecordLogin records that a caller was authenticated; see [audit.Logins].
func (b *Oversight) RecordLogin(ctx context.Context, p policy.Principal) { b.logins.In(ctx, p) }

// RecordRefusedLogin records that nobody has the token that was shown; see [audit.Logins].
func (b *Oversight) RecordRefusedLogin(ctx context.Context) { b.logins.Refused(ctx) }

// WatchAudit is the pass that raises an alarm, as an error in the log, where the audit log is
// further behind than [audit.SequencedWithin], is not signed or anchored for long, or is not guarded any
// more, and where a sink is late.
func (b *Oversight) WatchAudit(ctx context.Context) error {
	behind, err := b.entries.Behind(ctx)
	if err != nil {
		return err
	}
	if behind > audit.SequencedWithin {
		b.log.ErrorContext(ctx, "audit entries wait for their place in the log: until they have it, no proof covers them", "behind", behind)
	}
	if err := b.watchSigned(ctx); err != nil {
		return err
	}
	sinks, err := b.courier.Statuses(ctx)
	if err != nil {
		return err
	}
	for _, s := range sinks {
		if s.Late() {
			b.log.ErrorContext(ctx, "an audit sink is late", "sink", s.Name, "mode", string(s.Mode), "behind", s.Behind,
				"waiting", s.Waiting, "fault", s.Fault)
		}
	}
	_, err = b.unguarded(ctx)
	return err
}

// watchSigned raises an alarm where entries have waited for long for a checkpoint, or for one that every
// anchor has, and still do when both were tried: the server may have been down, or the clock have jumped.
func (b *Oversight) watchSigned(ctx context.Context) error {
	unsigned, unanchored, err := b.auditWaits(ctx)
	late := signedLate * b.terms.CheckpointEvery
	if err != nil || max(unsigned, unanchored) <= late {
		return err
	}
	fault := b.SignAudit(ctx)
	if unsigned, unanchored, err = b.auditWaits(ctx); err != nil {
		return err
	}
	if unsigned > late {
		b.log.ErrorContext(ctx, "the audit log is not signed: no checkpoint covers its newest entries", "since", unsigned, "error", fault)
	}
	if unanchored > late {
		b.log.ErrorContext(ctx, "an anchor of the audit log does not get its checkpoints", "since", unanchored, "error", fault)
	}
	return nil
}

func (b *Oversight) auditWaits(ctx context.Context) (unsigned, unanchored time.Duration, err error) {
	if unsigned, err = b.AuditUnsigned(ctx); err != nil {
		return 0, 0, err
	}
	unanchored, err = b.auditUnanchored(ctx)
	return unsigned, unanchored, err
}

// signedLate is after how many intervals without a checkpoint an alarm is raised.
const signedLate = 10

// AuditSinks says how far each sink of the audit log has come, to who may read all of it.
func (b *Oversight) AuditSinks(ctx context.Context, p policy.Principal) ([]delivery.Status, error) {
	if err := b.read(ctx, p, policy.AuditRead, projectResource(anyProject)); err != nil {
		return nil, err
	}
	return b.courier.Statuses(ctx)
}

// unguarded names, and logs, what kept the audit log from being changed and is gone or another.
func (b *Oversight) unguarded(ctx context.Context) ([]string, error) {
	missing, err := b.entries.Unguarded(ctx)
	if err == nil && len(missing) > 0 {
		b.log.ErrorContext(ctx, "what keeps the audit log from being changed was taken away from the database, or is another", "missing", missing)
	}
	return missing, err
}

// RecordStart records that the server starts. The entry names the guards of the log that were
// taken away or changed.
func (b *Oversight) RecordStart(ctx context.Context, detail ...string) error {
	missing, err := b.unguarded(ctx)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		detail = append(detail, audit.DetailUnguarded, strings.Join(missing, ","))
	}
	return b.RecordServer(ctx, audit.ServerStart, audit.Done, detail...)
}

// RecordServer records what happened to the broker itself: its start, or a reload. Keys
// and values alternate in detail; empty values are left out.
func (b *Oversight) RecordServer(ctx context.Context, action policy.Action, outcome audit.Outcome, detail ...string) error {
	e := audit.Entry{
		Time: b.now(), Principal: "system:server", Action: action, Kind: audit.KindServer, Outcome: outcome,
		Detail: map[string]string{},
	}
	for i := 1; i < len(detail); i += 2 {
		if detail[i] != "" {
			e.Detail[detail[i-1]] = audit.Cut(detail[i])
		}
	}
	if err := b.entries.Append(ctx, e); err != nil {
		return fmt.Errorf("recording %s: %w", action, err)
	}
	return nil
}
