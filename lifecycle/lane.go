package lifecycle

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
)

// lane is the work on one part within a declared wave: stages, one after the other.
type lane struct {
	*attempt
	*post

	// stages are those that are left, h is the lease of the first.
	stages []Stage
	h      held
	// wave counts the waves that are done of the first.
	wave *int
}

// abreast are the lanes of the next declared wave, and how many stages of the plan they do: the one next stage where
// there is one part. The progress of several is not saved: what a dead process has done of them is done again, without effect.
func (a *attempt) abreast(from int) (lanes []*lane, n int) {
	next := a.plan.Stages[from:]
	for ; n < len(next) && next[n].Declared == next[0].Declared; n++ {
		part := next[n].Part
		if a.failed[part] != nil {
			continue
		}
		at := slices.IndexFunc(lanes, func(l *lane) bool { return l.Name == part })
		if at < 0 {
			at = len(lanes)
			one := slices.IndexFunc(a.posts, func(p *post) bool { return p.Name == part })
			lanes = append(lanes, &lane{attempt: a, post: a.posts[one], wave: new(int)})
		}
		lanes[at].stages = append(lanes[at].stages, next[n])
	}
	if len(lanes) == 1 && len(a.failed) == 0 {
		lanes[0].stages, lanes[0].wave, n = next[:1], &a.o.Wave, 1
	}
	return lanes, n
}

// together does something in all lanes. Where a part that fails does not keep the others from going on, it is noted.
func (a *attempt) together(ctx context.Context, lanes []*lane, do func(*lane, context.Context) error) error {
	group, within := errgroup.WithContext(ctx)
	for _, l := range slices.DeleteFunc(slices.Clone(lanes), func(l *lane) bool { return a.failed[l.Name] != nil }) {
		group.Go(func() error {
			if err := do(l, within); err != nil {
				return a.noted(l.post, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// noted notes the fault of a part. It is the error of all unless the way leads back or to the end, where each part goes as
// far as it can.
func (a *attempt) noted(p *post, err error) error {
	_, gone := errors.AsType[*broker.MissingNamespace](err)
	stops := gone || errors.Is(err, ErrCanceled) || errors.Is(err, errLeaseEnded) || errors.Is(err, job.ErrFenced)
	if stops || !p.hybrid || a.o.State != RollingBack && a.o.Type != Terminate {
		return p.fault(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed[p.Name] = p.fault(err)
	return nil
}

// partly is the fault of the first part that failed, with what became of the others.
func (a *attempt) partly() error {
	var first error
	var done []string
	for _, p := range a.posts {
		switch err := a.failed[p.Name]; {
		case err == nil:
			done = append(done, p.title())
		case first == nil:
			first = err
		}
	}
	known, is := errors.AsType[*broker.Error](first)
	if !is || len(done) == 0 {
		return first
	}
	of, word := *known, "is removed"
	if a.o.State == RollingBack {
		word = "is rolled back"
	}
	of.Detail, of.Cause = of.Detail+"; "+strings.Join(done, ", ")+" "+word, first
	return &of
}

// lease takes the lease of the lane's first stage.
func (a *lane) lease(ctx context.Context) (err error) {
	a.h, err = a.hold(ctx, a.stages[0].Grant)
	if errors.Is(err, broker.ErrQuota) && !a.begun { // the leases that the plan was made under are some of those
		a.h, err = a.instead(ctx, a.stages[0].Grant)
	}
	return err
}

// hold takes a lease for the part.
func (a *lane) hold(ctx context.Context, g StageRules) (held, error) {
	a.leasing.RLock()
	defer a.leasing.RUnlock()
	h, err := a.take(ctx, a.p, a.vim, a.leaseFor(a.o.ID, a.vim, g))
	if err == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.leases[a.Name] = h.Config.Lease
	}
	return h, err
}

// instead takes a lease for the part once those of the operation have ended that no other part uses.
func (a *lane) instead(ctx context.Context, g StageRules) (held, error) {
	a.mu.Lock()
	delete(a.leases, a.Name)
	a.mu.Unlock()
	if err := a.endLeases(ctx); err != nil {
		return held{}, err
	}
	return a.hold(ctx, g)
}

// goOn renews the lease of a stage that takes longer than the lease; if that fails, it replaces the lease.
func (a *lane) goOn(ctx context.Context, g StageRules) (held, error) {
	lease, config, err := a.Leaser.RenewLease(ctx, a.p, a.h.Config.Lease, a.Terms.LeaseTTL)
	if err == nil {
		h := a.h
		h.Config, h.until = config, lease.ExpiresAt.Add(-leaseMargin)
		if a.Now().Before(h.until) {
			return h, nil
		}
	} else {
		a.Log.InfoContext(ctx, "the lease of an operation is replaced: it cannot be renewed", "operation", a.o.ID,
			"lease", a.h.Config.Lease, "error", err)
	}
	return a.instead(ctx, g)
}

// work does the lane's stages.
func (a *lane) work(ctx context.Context) (err error) {
	for n, stage := range a.stages {
		if n > 0 {
			if a.h, err = a.instead(ctx, stage.Grant); err != nil {
				return err
			}
			*a.wave = 0
		}
		for {
			if err = a.stage(ctx, a.h, stage); err == nil {
				break
			}
			// The lease's time may have run out, and not the operation's.
			if !errors.Is(err, ErrNotReady) || a.Now().Before(a.h.until) || !a.Now().Before(a.o.Deadline) || ctx.Err() != nil {
				return err
			}
			if a.h, err = a.goOn(ctx, stage.Grant); err != nil {
				return err
			}
		}
	}
	return nil
}
