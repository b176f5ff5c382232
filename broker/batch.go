package broker

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	batchVIMs   = 16
	batchLeases = 8
	// batchGiveUp is how many failures in a row end the work on a VIM until the next
	// pass. An answer ends the row of those that came before its attempt began. A VIM that
	// has not answered at all is left after the first.
	batchGiveUp = 3
	// batchBegins is how many intents it writes at once. The store may commit them
	// together.
	batchBegins = 32
)

// batch revokes many leases. The work on each VIM is bounded: a VIM that is down does
// not delay the others, and is not flooded when it comes back.
type batch struct {
	ctx   context.Context
	fresh []batchItem // not yet in state revoking
	items map[string][]batchItem
	cut   []Lease // that had ended
}

type batchItem struct {
	lease Lease
	act   *audit.Act
	why   Reason // of fresh ones
	mine  bool   // until the lease's NextAttemptAt: see beginRevocation
	do    func(context.Context, *session, Lease, *audit.Act) (Lease, error)
}

// waits reports whether the lease is to be tried now: it is due, or it is this batch's own
// for long enough.
func (i batchItem) waits(now time.Time, call time.Duration) bool {
	if i.mine {
		return now.Add(2 * call).Before(i.lease.NextAttemptAt)
	}
	return !i.lease.NextAttemptAt.After(now)
}

func (b *Leaser) newBatch(ctx context.Context) *batch {
	return &batch{ctx: ctx, items: map[string][]batchItem{}}
}

// add queues a lease that is in state revoking.
func (t *batch) add(l Lease, act *audit.Act) {
	t.items[l.VIM] = append(t.items[l.VIM], batchItem{lease: l, act: act})
}

// begin queues a lease that run moves to revoking first.
func (t *batch) begin(l Lease, why Reason, act *audit.Act) {
	t.fresh = append(t.fresh, batchItem{lease: l, act: act, why: why})
}

// beginFresh moves the fresh leases to revoking, each with a claim of that long, or 0
// if the reaper is to come to them. It skips those that have ended since.
func (t *batch) beginFresh(b *Leaser, claim time.Duration) error {
	var (
		mu    sync.Mutex
		group errgroup.Group
	)
	group.SetLimit(batchBegins)
	for _, item := range t.fresh {
		group.Go(func() error {
			l, mine, err := b.beginRevocation(t.ctx, item.lease, item.why, item.act, claim)
			if errors.Is(err, errEnded) {
				return nil
			}
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			t.items[l.VIM] = append(t.items[l.VIM], batchItem{lease: l, act: item.act, mine: mine})
			return nil
		})
	}
	t.fresh = nil
	return group.Wait()
}

// run revokes the leases and returns them as they are afterwards. It returns an error
// if intents could not be written; those leases are unchanged.
func (t *batch) run(b *Leaser) ([]Lease, error) {
	err := t.beginFresh(b, b.claim())
	var (
		mu   sync.Mutex
		done []Lease
		vims errgroup.Group
	)
	vims.SetLimit(batchVIMs)
	for id, items := range t.items {
		vims.Go(func() error {
			session := b.newSession(id)
			defer session.close()
			after, _ := b.workOn(t.ctx, session, items)
			mu.Lock()
			defer mu.Unlock()
			done = append(done, after...)
			return nil
		})
	}
	_ = vims.Wait() // workOn keeps its errors in the rows and in the log
	if len(done) > 0 {
		b.RetireKeys(t.ctx)
	}
	return done, err
}

// workOn revokes the leases of one VIM and returns them as they are afterwards. silent
// is true if the VIM was asked and never answered.
func (b *Leaser) workOn(ctx context.Context, session *session, items []batchItem) (done []Lease, silent bool) {
	var (
		mu       sync.Mutex
		leases   errgroup.Group
		answered bool
		failed   int // so many attempts
		forgiven int // of these, before the newest attempt that was answered began
	)
	leases.SetLimit(batchLeases)
	for _, item := range items {
		leases.Go(func() error {
			mu.Lock()
			before := failed
			down := failed-forgiven >= batchGiveUp || failed > 0 && !answered
			mu.Unlock()
			now := b.now()
			skip := down || ctx.Err() != nil || !item.waits(now, b.terms.CallTimeout)
			l, err := item.lease, error(nil)
			if skip && item.mine {
				if err := b.release(ctx, l); err != nil {
					b.log.WarnContext(ctx, "a lease waits for the end of its claim", "lease", l.ID, "error", err)
				}
				l.NextAttemptAt = now
			}
			if !skip {
				do := item.do
				if do == nil {
					do = b.takeBack
				}
				if l, err = do(ctx, session, item.lease, item.act); err != nil {
					b.log.WarnContext(ctx, "a lease waits for the next pass", "lease", l.ID, "vim", session.id, "error", err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			done = append(done, l)
			switch {
			case skip:
			case errors.Is(err, ErrUnreachable), errors.Is(err, ErrUnavailable):
				failed++
			default:
				answered, forgiven = true, max(forgiven, before)
			}
			return nil
		})
	}
	_ = leases.Wait() // no function returns an error
	return done, failed > 0 && !answered
}
