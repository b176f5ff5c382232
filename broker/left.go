package broker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// Comparer is a driver on whose VIMs the holder of a lease may make credentials that
// outlive it. When a lease is revoked, what stands there is compared with what stood
// when it was issued.
type Comparer interface {
	// Left says what is new, one sentence each, at most 100, without what c.Live calls
	// another lease's. It is asked when the lease is revoked.
	Left(ctx context.Context, a Access, c Comparison) ([]string, error)
}

// Comparison is what a [Comparer] is asked.
type Comparison struct {
	// Stood is what Issue said.
	Stood string
	// Live reports whether a live lease has that id and handle.
	Live func(ctx context.Context, lease, handle string) (bool, error)
	// Remove what is new, where that is nobody else's.
	Remove bool
}

// leftBehind compares, after a lease was revoked, what its holder could have made. A
// VIM that does not answer is an error, and is asked again; any other reason that
// nothing could be compared is a sentence.
func (b *Leaser) leftBehind(ctx context.Context, session *session, l Lease) ([]string, error) {
	d, err := b.driver(l.VIMType)
	if err != nil {
		return nil, err
	}
	c, compares := d.(Comparer)
	if l.Stood == "" || !compares {
		return nil, nil
	}
	var left []string
	_, err = session.each(ctx, l.VIMGeneration, func(o *opened) (err error) {
		ctx, cancel := b.call(ctx)
		defer cancel()
		left, err = c.Left(ctx, o.Access, Comparison{Stood: l.Stood, Remove: b.terms.RemoveLeft, Live: b.othersLive(l.ID)})
		if err == nil && echoes(o.Access.Credential, left...) != nil {
			left = notCompared("the VIM answers with a credential that it was sent")
		}
		return err
	})
	switch {
	case errors.Is(err, ErrUnreachable), errors.Is(err, ErrUnavailable):
		return nil, err
	case err != nil:
		left = notCompared(message(err))
	}
	if len(left) > 0 {
		b.raise(ctx, AlarmLeftBehind, l, strings.Join(left, "; "))
	}
	return left, nil
}

// othersLive says which leases but one are live.
func (b *Leaser) othersLive(not string) func(ctx context.Context, lease, handle string) (bool, error) {
	return func(ctx context.Context, lease, handle string) (bool, error) {
		if lease == not {
			return false, nil
		}
		l, err := b.leases.Lease(ctx, lease)
		if errors.Is(err, ErrNotFound) {
			return false, nil
		}
		return err == nil && l.Handle == handle && l.State.Live(), err
	}
}

// notCompared says why nothing can be compared; none where there is no reason.
func notCompared(why string) []string {
	if why == "" {
		return nil
	}
	return []string{"what the holder may have made is not known: " + why}
}

// earliest is the earliest of some times, cut to the second.
func earliest(times ...time.Time) time.Time {
	return slices.MinFunc(times, time.Time.Compare).UTC().Truncate(time.Second)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
