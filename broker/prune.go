package broker

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Keep says how long the past is kept; zero keeps it for ever.
type Keep struct {
	// Audit is the least age of an audit entry that is removed. It also lies behind a
	// signed checkpoint of the log that every anchor has, and was delivered to every sink.
	Audit time.Duration
	// Leases is how long a lease is kept that has ended, and whose credential is dead.
	Leases time.Duration
	// Jobs is how long a job is kept that is done.
	Jobs time.Duration
}

// Pruner removes the past, a bounded number of rows in each write, oldest first.
type Pruner interface {
	// PruneLeases removes leases that are LeaseRevoked since before a time and hold no
	// Sealed credential, and says how many. The entry records it, with the count; where
	// there are none, nothing is written.
	PruneLeases(ctx context.Context, before time.Time, limit int, e audit.Entry) (int, error)
	// PruneJobs removes jobs that are done since before a time, and says how many.
	PruneJobs(ctx context.Context, before time.Time, limit int) (int, error)
	// PruneEntries removes the audit entries up to upTo, and up to the first that was not
	// written before a time, and says how many. The entry records it, with the last that
	// was removed. It fails where upTo is not behind a signed checkpoint; of anchors the
	// store knows nothing.
	PruneEntries(ctx context.Context, before time.Time, upTo int64, limit int, e audit.Entry) (int, error)
	// Horizon is the last audit entry that was removed; 0: none was. The tree of the log
	// holds them all the same.
	Horizon(ctx context.Context) (int64, error)
	// CountPrunable counts what can be removed, each up to a number.
	CountPrunable(ctx context.Context, o Outdated, most int) (Prunable, error)
}

// Outdated says what can be removed: what is older than these times, and of audit entries
// those up to UpTo.
type Outdated struct {
	Leases, Jobs, Entries time.Time
	UpTo                  int64
}

// Prunable counts what can be removed.
type Prunable struct{ Leases, Jobs, Entries int }

const (
	// pruneEvery and pruneFor bound the pass that removes the past, and pruneAtOnce one
	// write of it: nobody waits for more than that.
	pruneEvery  = time.Minute
	pruneFor    = 20 * time.Second
	pruneAtOnce = 500
	// countAtMost bounds what a person is told about the next passes.
	countAtMost = 1_000_000
)

// prune is the pass that removes what is older than [Terms.Keep] has it, for some seconds:
// what is left is removed by the next.
func (b *Oversight) prune(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pruneFor)
	defer cancel()
	keep := b.terms.Keep
	for _, part := range []struct {
		kept  time.Duration
		prune func(before time.Time) (int, error)
	}{
		{keep.Leases, func(before time.Time) (int, error) {
			return b.past.PruneLeases(ctx, before, pruneAtOnce, b.pruned(policy.KindLease, before))
		}},
		{keep.Jobs, func(before time.Time) (int, error) { return b.past.PruneJobs(ctx, before, pruneAtOnce) }},
		{keep.Audit, func(before time.Time) (int, error) { return b.pruneEntries(ctx, before) }},
	} {
		if part.kept == 0 {
			continue
		}
		before := b.now().Add(-part.kept)
		for n := pruneAtOnce; n == pruneAtOnce; {
			var err error
			if n, err = part.prune(before); err != nil {
				if ctx.Err() != nil {
					return nil // the next pass goes on
				}
				return err
			}
			if n > 0 {
				failpoint.At("prune.removed")
			}
		}
	}
	return nil
}

func (b *Oversight) pruneEntries(ctx context.Context, before time.Time) (int, error) {
	upTo, _, err := b.prunableUpTo(ctx)
	if upTo == 0 {
		return 0, err
	}
	return b.past.PruneEntries(ctx, before, upTo, pruneAtOnce, b.pruned(audit.KindServer, before))
}

// prunableUpTo is the last audit entry that lies behind a signed checkpoint which every anchor has,
// and that was delivered to every sink, and what keeps it from being a later one.
func (b *Oversight) prunableUpTo(ctx context.Context) (upTo int64, held string, err error) {
	upTo, anchor, err := b.notary.Anchored(ctx)
	if err != nil {
		return 0, "", err
	}
	held = "the last signed checkpoint"
	if anchor != "" {
		held = "the audit anchor " + anchor
	}
	sinks, err := b.courier.Statuses(ctx)
	if err != nil {
		return 0, "", err
	}
	for _, s := range sinks {
		if s.Cursor.Seq < upTo {
			upTo, held = s.Cursor.Seq, "the audit sink "+s.Name
		}
	}
	return upTo, held, nil
}

func (b *Oversight) pruned(kind policy.Kind, before time.Time) audit.Entry {
	return audit.Entry{
		Time: b.now(), Principal: "system:server", Action: audit.ServerPrune, Kind: kind, Outcome: audit.Done,
		Detail: map[string]string{audit.DetailBefore: before.UTC().Format(time.RFC3339)},
	}
}

// Past is what the next passes remove, and what is left of the log.
type Past struct {
	Keep Keep
	// Next counts what is removed next, up to a million each.
	Next Prunable
	// Horizon is the last audit entry that was removed. UpTo is the last that may be, and
	// Held says what keeps later ones.
	Horizon, UpTo int64
	Held          string
}

// Retention says what is removed next, to who may read every project's audit log.
func (b *Oversight) Retention(ctx context.Context, p policy.Principal) (Past, error) {
	if err := b.read(ctx, p, policy.AuditRead, InProject(anyProject)); err != nil {
		return Past{}, err
	}
	past := Past{Keep: b.terms.Keep}
	var err error
	if past.Horizon, err = b.past.Horizon(ctx); err != nil {
		return Past{}, err
	}
	if past.UpTo, past.Held, err = b.prunableUpTo(ctx); err != nil {
		return Past{}, err
	}
	before := func(kept time.Duration) time.Time {
		if kept == 0 {
			return time.Time{}
		}
		return b.now().Add(-kept)
	}
	past.Next, err = b.past.CountPrunable(ctx, Outdated{
		Leases: before(past.Keep.Leases), Jobs: before(past.Keep.Jobs), Entries: before(past.Keep.Audit), UpTo: past.UpTo,
	}, countAtMost)
	return past, err
}
