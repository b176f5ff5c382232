package broker

import (
	"context"
	"errors"
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
	_, err = session.each(ctx, v.Current.Number, func(o *opened) error {
		call, cancel := b.call(ctx)
		defer cancel()
		return tidier.Tidy(call, o.Access, Grant{
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
