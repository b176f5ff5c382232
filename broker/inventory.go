package broker

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Inventory is what a VIM holds of ours, compared with the rows both ways.
type Inventory struct {
	VIM     string
	VIMName string
	// Upstream counts the objects of ours on the VIM, Rows the active leases on it.
	Upstream, Rows int
	// Orphans are objects that no live lease names.
	Orphans []Upstream
	// Ghosts are active leases whose object is missing.
	Ghosts []Lease
	// Settled: the orphans were removed and the ghosts ended.
	Settled bool
}

// Discrepancy counts what an inventory found; both are zero where all is well.
type Discrepancy struct{ Orphans, Ghosts int }

// Inventory compares what a VIM holds of ours with the rows. With settle it removes
// the orphans and ends the ghosts.
func (b *Broker) Inventory(ctx context.Context, p policy.Principal, ref string, settle bool) (Inventory, error) {
	v, err := b.findVIM(ctx, p, ref)
	if err != nil {
		return Inventory{}, err
	}
	if !settle {
		if err := b.read(ctx, p, policy.VIMInventory, vimResource(v)); err != nil {
			return Inventory{}, err
		}
		return b.compare(ctx, v)
	}
	act, err := b.enter(ctx, p, policy.VIMSettle, vimResource(v), policy.Wish{})
	if err != nil {
		return Inventory{}, err
	}
	inv, err := b.compare(ctx, v)
	if err != nil {
		return Inventory{}, b.refuse(ctx, act, err)
	}
	if err := b.store.Append(ctx, act.Intent()); err != nil {
		return Inventory{}, err
	}
	if err := b.settleInventory(ctx, v, inv, act); err != nil {
		return Inventory{}, b.refuse(ctx, act, err)
	}
	inv.Settled = true
	b.noteDiscrepancy(v.ID, Discrepancy{})
	return inv, b.store.Append(ctx, act.Done())
}

// InventoryAll is the pass that takes every VIM's inventory, for the metric. It
// settles nothing, but for objects that came too late: see removeLate.
func (b *Broker) InventoryAll(ctx context.Context) error {
	var group errgroup.Group
	group.SetLimit(checksAtOnce)
	err := b.eachVIM(ctx, VIMFilter{State: Registered}, func(v VIM) {
		if v.Health.Status == Unreachable || !v.Health.CanMint {
			return // the check pass sees to the first, and the second holds nothing of ours
		}
		group.Go(func() error {
			inv, err := b.compare(ctx, v)
			if err == nil {
				err = b.removeLate(ctx, v, &inv)
			}
			if err != nil {
				b.log.WarnContext(ctx, "no inventory could be taken", "vim", v.ID, "error", err)
				return nil
			}
			if len(inv.Orphans)+len(inv.Ghosts) > 0 {
				b.log.ErrorContext(ctx, "upstream and rows disagree; see vimbroker vim inventory",
					"vim", v.ID, "orphans", len(inv.Orphans), "ghosts", len(inv.Ghosts))
			}
			return nil
		})
	})
	return errors.Join(err, group.Wait())
}

// removeLate removes orphans of leases that were never issued. A request that was
// on its way when its sender died or gave up can take effect after the lease was
// not found upstream and ended. Its row still names the object, so there is no
// doubt about it, and nobody was handed anything.
func (b *Broker) removeLate(ctx context.Context, v VIM, inv *Inventory) error {
	var others []Upstream
	for _, u := range inv.Orphans {
		l, err := b.store.Lease(ctx, u.Lease)
		switch {
		case errors.Is(err, ErrNotFound):
		case err != nil:
			return err
		case l.VIM == v.ID && l.Handle == u.Handle && l.State == LeaseRevoked && l.IssuedAt.IsZero():
			if err := b.removeObject(ctx, v, l); err != nil {
				return err
			}
			continue
		}
		others = append(others, u)
	}
	if len(others) < len(inv.Orphans) {
		inv.Orphans = others
		b.noteDiscrepancy(v.ID, Discrepancy{Orphans: len(others), Ghosts: len(inv.Ghosts)})
	}
	return nil
}

// removeObject removes what is upstream of a lease that has ended already.
func (b *Broker) removeObject(ctx context.Context, v VIM, l Lease) error {
	act, err := b.enter(ctx, system("reaper"), policy.LeaseRevoke, leaseResource(l), policy.Wish{})
	if err != nil {
		return err
	}
	d, err := b.driver(v.Type)
	if err != nil {
		return err
	}
	if err := b.store.Append(ctx, act.With(audit.DetailReason, "appeared after the lease had ended").Intent()); err != nil {
		return err
	}
	o, err := b.open(ctx, v, v.Current)
	if err != nil {
		return b.refuse(ctx, act, err)
	}
	defer o.close()
	call, cancel := b.call(ctx)
	defer cancel()
	if err := d.Revoke(call, o.Access, Issued{Handle: l.Handle}); err != nil {
		return b.refuse(ctx, act, err)
	}
	return b.store.Append(ctx, act.Done())
}

// compare reads the rows, then the VIM, then the rows again: only what was wrong
// both times is wrong, and not under way.
func (b *Broker) compare(ctx context.Context, v VIM) (Inventory, error) {
	d, err := b.driver(v.Type)
	if err != nil {
		return Inventory{}, err
	}
	before, err := b.liveLeases(ctx, v.ID)
	if err != nil {
		return Inventory{}, err
	}
	o, err := b.open(ctx, v, v.Current)
	if err != nil {
		return Inventory{}, err
	}
	defer o.close()
	ctx, cancel := b.call(ctx)
	defer cancel()
	upstream, err := d.Inventory(ctx, o.Access)
	if err != nil {
		return Inventory{}, err
	}
	after, err := b.liveLeases(ctx, v.ID)
	if err != nil {
		return Inventory{}, err
	}
	inv := Inventory{VIM: v.ID, VIMName: v.Name, Upstream: len(upstream)}
	there := map[string]bool{}
	for _, u := range upstream {
		there[u.Handle] = true
		_, wasLive := before[u.Handle]
		_, isLive := after[u.Handle]
		if !wasLive && !isLive {
			inv.Orphans = append(inv.Orphans, u)
		}
	}
	for handle, l := range after {
		if l.State != LeaseActive {
			continue
		}
		inv.Rows++
		if was, ok := before[handle]; ok && was.State == LeaseActive && !there[handle] {
			inv.Ghosts = append(inv.Ghosts, l)
		}
	}
	b.noteDiscrepancy(v.ID, Discrepancy{Orphans: len(inv.Orphans), Ghosts: len(inv.Ghosts)})
	return inv, nil
}

// liveLeases are the leases on a VIM that may have an object there that an
// inventory shows, by handle.
func (b *Broker) liveLeases(ctx context.Context, vim string) (map[string]Lease, error) {
	live := map[string]Lease{}
	err := b.eachLease(ctx, LeaseFilter{VIM: vim, States: liveStates}, func(l Lease) error {
		if l.Derived && !l.Unlisted {
			live[l.Handle] = l
		}
		return nil
	})
	return live, err
}

func (b *Broker) settleInventory(ctx context.Context, v VIM, inv Inventory, act *audit.Act) error {
	d, err := b.driver(v.Type)
	if err != nil {
		return err
	}
	src := b.newSource(v.ID)
	defer src.close()
	o, err := src.opened(ctx, v.Current)
	if err != nil {
		return err
	}
	for _, u := range inv.Orphans {
		call, cancel := b.call(ctx)
		err := d.Revoke(call, o.Access, Issued{Handle: u.Handle})
		cancel()
		if err != nil {
			return err
		}
	}
	for _, l := range inv.Ghosts {
		l, err := b.beginRevocation(ctx, l, GoneUpstream, act)
		if errors.Is(err, errEnded) {
			continue
		}
		if err == nil {
			_, err = b.takeBack(ctx, src, l, act)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *Broker) noteDiscrepancy(vim string, d Discrepancy) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.discrepancies[vim] = d
}

func (b *Broker) forgetDiscrepancy(vim string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.discrepancies, vim)
}

// Discrepancies sums what the last inventory of each VIM found.
func (b *Broker) Discrepancies() Discrepancy {
	b.mu.Lock()
	defer b.mu.Unlock()
	var sum Discrepancy
	for _, d := range b.discrepancies {
		sum.Orphans += d.Orphans
		sum.Ghosts += d.Ghosts
	}
	return sum
}
