package broker

import (
	"context"
	"errors"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// tidyGrants closes grants that have long been without a live lease, and has drivers
// remove what they keep for them. The next pass repeats whatever fails. VIMs that are
// down or being deleted are left alone: those come back, and these are forgotten
// as a whole.
func (b *Leaser) tidyGrants(ctx context.Context) error {
	closed, err := b.epochs.CloseIdleGrants(ctx, b.now(), b.terms.TidyAfter)
	if err != nil {
		return err
	}
	if len(closed) > 0 {
		failpoint.At("tidy.closed")
	}
	byVIM := map[string][]GrantEpoch{}
	for _, g := range closed {
		if g.Damaged {
			b.log.ErrorContext(ctx, "what is stored of a grant cannot be read, so nothing is tidied for it", "vim", g.VIM, "epoch", g.Epoch)
			continue
		}
		byVIM[g.VIM] = append(byVIM[g.VIM], g)
	}
	var (
		mu     sync.Mutex
		failed []error
		group  errgroup.Group
	)
	group.SetLimit(batchVIMs)
	for id, grants := range byVIM {
		group.Go(func() error {
			if err := b.tidyVIM(ctx, id, grants); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, err)
			}
			return nil
		})
	}
	_ = group.Wait() // none fails
	return errors.Join(failed...)
}

// tidyVIM tidies grants of one VIM, and stops at the first that fails.
func (b *Leaser) tidyVIM(ctx context.Context, id string, grants []GrantEpoch) error {
	session := b.newSession(id)
	defer session.close()
	v, err := session.vim(ctx)
	if errors.Is(err, ErrNotFound) {
		return nil // the grants went with it
	}
	if err != nil || v.State != VIMRegistered || v.Health.Status == HealthUnreachable {
		return err
	}
	for _, g := range grants {
		if err := b.tidyGrant(ctx, session, v, g); err != nil {
			b.log.WarnContext(ctx, "a grant without leases is left for the next pass", "vim", id, "epoch", g.Epoch, "error", err)
			return err
		}
	}
	return nil
}

func (b *Leaser) tidyGrant(ctx context.Context, session *session, v VIM, g GrantEpoch) error {
	d, err := b.driver(v.Type)
	if err != nil {
		return err
	}
	tidier, ok := d.(Tidier)
	if !ok {
		return b.epochs.ForgetGrant(ctx, g)
	}
	act, err := b.enter(ctx, system("settle"), policy.VIMSettle, vimResource(v), policy.Wish{})
	if err != nil {
		return err
	}
	act.With(audit.DetailReason, "a grant without leases is tidied away").With(audit.DetailRole, g.Role)
	if err := b.entries.Append(ctx, act.Intent()); err != nil {
		return err
	}
	_, err = session.each(ctx, v.Current.Number, func(ctx context.Context, o *opened) error {
		return tidier.Tidy(ctx, o.Access, Grant{
			Role: g.Role, Rules: g.Rules, Namespaces: g.Namespaces, ClusterWide: g.ClusterWide, Epoch: g.Epoch,
		})
	})
	if err != nil {
		return b.refuse(ctx, act, err)
	}
	failpoint.At("tidy.removed")
	if err := b.entries.Append(ctx, act.Done()); err != nil {
		return err
	}
	if err := b.epochs.ForgetGrant(ctx, g); err != nil {
		return err
	}
	failpoint.At("tidy.forgotten")
	return nil
}

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
	_, err = session.each(ctx, l.VIMGeneration, func(ctx context.Context, o *opened) (err error) {
		left, err = c.Left(ctx, o.Access, Comparison{Stood: l.Stood, Remove: b.terms.RemoveLeft, Live: b.othersLive(l.ID)})
		if echoes(o.Access.Credential, left...) != nil {
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
