package broker

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/policy/audit"
)

// source opens the generations of one VIM for a flow over its leases. It reads the
// row once, and opens each generation at most once. close clears their keys.
type source struct {
	b  *Leaser
	id string

	mu    sync.Mutex
	row   *VIM
	open  map[int64]*opened
	tried map[int64]func() (bool, error)
}

func (b *Leaser) newSource(vim string) *source {
	return &source{b: b, id: vim, open: map[int64]*opened{}, tried: map[int64]func() (bool, error){}}
}

func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.open {
		o.close()
	}
	s.open = map[int64]*opened{}
}

func (s *source) vim(ctx context.Context) (VIM, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.row == nil {
		v, err := s.b.vims.VIM(ctx, s.id)
		if err != nil {
			return VIM{}, err
		}
		s.row = &v
	}
	return *s.row, nil
}

// place adds the lease's VIM to the act's entries, if the VIM can be read.
func (s *source) place(ctx context.Context, l Lease, act *audit.Act) {
	if v, err := s.vim(ctx); err == nil {
		act.About(leaseOn(l, v))
	}
}

func (s *source) opened(ctx context.Context, g Generation) (*opened, error) {
	v, err := s.vim(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.open[g.Number]; o != nil {
		return o, nil
	}
	o, err := s.b.open(ctx, v, g)
	if err == nil {
		s.open[g.Number] = o
	}
	return o, err
}

// dead tries the stored credential of a generation once, however many leases have it: a VIM may lock a user out
// whose old password is tried often.
func (s *source) dead(number int64, try func() (bool, error)) (bool, error) {
	s.mu.Lock()
	once := s.tried[number]
	if once == nil {
		once = sync.OnceValues(try)
		s.tried[number] = once
	}
	s.mu.Unlock()
	return once()
}

// each calls do with access to one generation of the VIM. If the VIM refuses that
// generation's credential, or the credential does not open, it calls do again with the
// current generation, provided that it has the same identity. It returns the generation
// that was used last.
func (s *source) each(ctx context.Context, number int64, do func(*opened) error) (Generation, error) {
	v, err := s.vim(ctx)
	if err != nil {
		return Generation{}, err
	}
	pinned, ok := v.generation(number)
	if !ok {
		return Generation{}, &Error{Kind: ErrUnopenable, Detail: "the generation of the VIM that the lease is pinned to is gone"}
	}
	o, err := s.opened(ctx, pinned)
	if err == nil {
		err = do(o)
	}
	if !refused(err) || number == v.Current.Number || pinned.Identity != v.Current.Identity {
		return pinned, err
	}
	if o, err = s.opened(ctx, v.Current); err != nil {
		return v.Current, err
	}
	instead := *o
	instead.InsteadOf = &pinned.Discovered
	return v.Current, do(&instead)
}

// refused reports whether the call may succeed with another credential.
func refused(err error) bool {
	return errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrForbidden) || errors.Is(err, ErrUnopenable)
}

// The limits of a batch.
const (
	// batchVIMs is how many VIMs it works on at once.
	batchVIMs = 16
	// batchLeases is how many leases of one VIM it works on at once.
	batchLeases = 8
	// batchGiveUp is how many failures in a row end the work on a VIM until the next
	// pass. A VIM that has not answered at all is left after the first.
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
}

type batchItem struct {
	lease Lease
	act   *audit.Act
	why   Reason // of fresh ones
	mine  bool   // until the lease's NextAttemptAt: see beginRevocation
	do    func(context.Context, *source, Lease, *audit.Act) (Lease, error)
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
			src := b.newSource(id)
			defer src.close()
			after, _ := b.workOn(t.ctx, src, items)
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
func (b *Leaser) workOn(ctx context.Context, src *source, items []batchItem) (done []Lease, silent bool) {
	var (
		mu       sync.Mutex
		leases   errgroup.Group
		answered bool
		failures int
	)
	leases.SetLimit(batchLeases)
	for _, item := range items {
		leases.Go(func() error {
			mu.Lock()
			down := failures >= batchGiveUp || failures > 0 && !answered
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
				if l, err = do(ctx, src, item.lease, item.act); err != nil {
					b.log.WarnContext(ctx, "a lease waits for the next pass", "lease", l.ID, "vim", src.id, "error", err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			done = append(done, l)
			switch {
			case skip:
			case errors.Is(err, ErrUnreachable), errors.Is(err, ErrUnavailable):
				failures++
			default:
				answered, failures = true, 0
			}
			return nil
		})
	}
	_ = leases.Wait() // no function returns an error
	return done, failures > 0 && !answered
}
