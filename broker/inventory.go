package broker

import (
	"context"
	"errors"
	"slices"
	"sync"

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
	// Unbound are active leases that have an object, and lack rights that they were granted.
	// The next credential that is minted for one brings them back.
	Unbound []Unbound
	// Unseen counts active leases whose object no credential of the VIM may look
	// for: they were issued from an earlier one, which the VIM refuses by now, and
	// the present one is not shown what belongs to that. They are neither well nor ghosts.
	Unseen int
	// Foreign are objects that are not ours, and could be used to act as a lease of
	// this VIM or to outlive one: a sentence each.
	Foreign []string
	// Settled: the orphans were removed and the ghosts ended.
	Settled bool

	// by says which generation's listing showed an object, by handle.
	by map[string]int64
}

// Unbound is a lease without some of its rights.
type Unbound struct {
	Lease Lease
	// Namespaces in which it has none; * is the whole VIM.
	Namespaces []string
}

// Discrepancy counts what an inventory found; all are zero where all is well.
//
// Unexplained counts the VIMs that keys name and no row does.
type Discrepancy struct{ Orphans, Ghosts, Unbound, Foreign, Unexplained int }

func (i Inventory) discrepancy() Discrepancy {
	return Discrepancy{Orphans: len(i.Orphans), Ghosts: len(i.Ghosts), Unbound: len(i.Unbound), Foreign: len(i.Foreign)}
}

// Inventory compares what a VIM holds of ours with the rows. With settle it removes
// the orphans and ends the ghosts.
func (b *Leaser) Inventory(ctx context.Context, p policy.Principal, ref string, settle bool) (Inventory, error) {
	action := policy.VIMInventory
	if settle {
		action = policy.VIMSettle
	}
	v, err := b.findVIM(ctx, p, action, ref)
	if err != nil {
		return Inventory{}, err
	}
	session := b.newSession(v.ID)
	defer session.close()
	if !settle {
		if err := b.read(ctx, p, action, vimResource(v)); err != nil {
			return Inventory{}, err
		}
		return b.compare(ctx, session)
	}
	act, err := b.enter(ctx, p, action, vimResource(v), policy.Wish{})
	if err != nil {
		return Inventory{}, err
	}
	inv, err := b.compare(ctx, session)
	if err != nil {
		return Inventory{}, b.refuse(ctx, act, err)
	}
	if err := b.entries.Append(ctx, act.Intent()); err != nil {
		return Inventory{}, err
	}
	if err := b.settleInventory(ctx, session, inv, act); err != nil {
		return Inventory{}, b.refuse(ctx, act, err)
	}
	inv.Settled = true
	b.discrepancies.set(v.ID, Discrepancy{Unbound: len(inv.Unbound), Foreign: len(inv.Foreign)})
	return inv, b.entries.Append(ctx, act.Done())
}

// InventoryAll is the pass that takes every VIM's inventory, for the metric. It
// settles nothing, but for objects that came too late: see removeLate.
func (b *Leaser) InventoryAll(ctx context.Context) error {
	var all []turn
	err := b.eachVIM(ctx, VIMFilter{State: VIMRegistered}, func(v VIM) {
		// The check pass sees to the first, and the second holds nothing of ours.
		if v.Health.Status != HealthUnreachable && v.Health.CanMint {
			all = append(all, turn{vim: v.ID, project: v.Project})
		}
	})
	return errors.Join(err, b.inTurn(ctx, newFairQueue(checkVIMs, checkOfProject), func() ([]turn, error) { return slices.Clone(all), nil },
		func(ctx context.Context, vim string) (again bool, err error) {
			b.takeInventory(ctx, vim)
			return false, nil
		}))
}

func (b *Leaser) takeInventory(ctx context.Context, vim string) {
	session := b.newSession(vim)
	defer session.close()
	inv, err := b.compare(ctx, session)
	if err == nil {
		err = b.removeLate(ctx, session, &inv)
	}
	if err != nil {
		b.log.WarnContext(ctx, "no inventory could be taken", "vim", vim, "error", err)
		return
	}
	if d := inv.discrepancy(); d != (Discrepancy{}) {
		b.log.ErrorContext(ctx, "upstream and rows disagree; take an inventory of the VIM to see where",
			"vim", vim, "orphans", d.Orphans, "ghosts", d.Ghosts, "unbound", d.Unbound, "foreign", d.Foreign)
	}
}

// removeLate removes orphans of leases that were never issued. A request that was
// on its way when its sender died or gave up can take effect after the lease was
// not found upstream and ended. Its row still names the object, so there is no
// doubt about it, and nobody was handed anything.
func (b *Leaser) removeLate(ctx context.Context, session *session, inv *Inventory) error {
	var others []Upstream
	for _, u := range inv.Orphans {
		l, err := b.leases.Lease(ctx, u.Lease)
		switch {
		case errors.Is(err, ErrNotFound):
		case err != nil:
			return err
		case l.VIM == inv.VIM && l.Handle == u.Handle && l.State == LeaseRevoked && l.IssuedAt.IsZero():
			if err := b.removeLateObject(ctx, session, inv.by[u.Handle], l); err != nil {
				return err
			}
			continue
		}
		others = append(others, u)
	}
	if len(others) < len(inv.Orphans) {
		inv.Orphans = others
		b.discrepancies.set(inv.VIM, inv.discrepancy())
	}
	return nil
}

// removeLateObject removes what is upstream of a lease that has ended already.
func (b *Leaser) removeLateObject(ctx context.Context, session *session, by int64, l Lease) error {
	act, err := b.enter(ctx, system("inventory"), policy.LeaseRevoke, leaseResource(l), policy.Wish{})
	if err != nil {
		return err
	}
	if err := b.entries.Append(ctx, act.With(audit.DetailReason, "appeared after the lease had ended").Intent()); err != nil {
		return err
	}
	if err := b.removeObject(ctx, session, by, l.issued()); err != nil {
		return b.refuse(ctx, act, err)
	}
	return b.entries.Append(ctx, act.Done())
}

// removeObject removes an object that a generation's listing showed.
func (b *Leaser) removeObject(ctx context.Context, session *session, by int64, i Issued) error {
	v, err := session.vim(ctx)
	if err != nil {
		return err
	}
	d, err := b.driver(v.Type)
	if err != nil {
		return err
	}
	_, err = session.each(ctx, by, func(ctx context.Context, o *opened) error { return d.Revoke(ctx, o.Access, i) })
	return err
}

// compare reads the rows, then the VIM, then the rows again: only what was wrong
// both times is wrong, and not under way.
func (b *Leaser) compare(ctx context.Context, session *session) (Inventory, error) {
	before, err := b.liveLeases(ctx, session.id)
	if err != nil {
		return Inventory{}, err
	}
	v, err := session.vim(ctx)
	if err != nil {
		return Inventory{}, err
	}
	inv := Inventory{VIM: v.ID, VIMName: v.Name, by: map[string]int64{}}
	upstream, unseen, err := b.listUpstream(ctx, session, v, before, inv.by)
	if err != nil {
		return Inventory{}, err
	}
	after, err := b.liveLeases(ctx, v.ID)
	if err != nil {
		return Inventory{}, err
	}
	inv.Upstream = len(upstream)
	unbound := map[string][]string{}
	for _, u := range upstream {
		unbound[u.Handle] = u.Unbound
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
		was, known := before[handle]
		_, there := inv.by[handle]
		switch lacks := unbound[handle]; {
		case there && known && was.State == LeaseActive && len(lacks) > 0:
			inv.Unbound = append(inv.Unbound, Unbound{Lease: l, Namespaces: lacks})
		case there, !known, was.State != LeaseActive:
		case unseen[l.VIMGeneration]:
			inv.Unseen++
		default:
			inv.Ghosts = append(inv.Ghosts, l)
		}
	}
	if inv.Foreign, err = b.foreign(ctx, session, v); err != nil {
		return Inventory{}, err
	}
	b.discrepancies.set(v.ID, inv.discrepancy())
	return inv, nil
}

// listUpstream lists what a VIM holds of ours, each object once, and notes by which
// generation it was seen. It looks through the current generation and each that a
// lease in live is pinned to: on a VIM where objects belong to a user, none sees
// those of another. unseen are the generations whose objects nothing may look for.
func (b *Leaser) listUpstream(
	ctx context.Context, session *session, v VIM, live map[string]Lease, by map[string]int64,
) (found []Upstream, unseen map[int64]bool, err error) {
	d, err := b.driver(v.Type)
	if err != nil {
		return nil, nil, err
	}
	pinned, users := map[int64]bool{}, map[int64]bool{}
	for _, l := range live {
		pinned[l.VIMGeneration] = true
		users[l.VIMGeneration] = users[l.VIMGeneration] || l.Asked() == LeaseUser
	}
	unseen = map[int64]bool{}
	for _, g := range append([]Generation{v.Current}, v.Past...) {
		current := g.Number == v.Current.Number
		if !current && !pinned[g.Number] {
			continue
		}
		_, err := session.each(ctx, g.Number, func(ctx context.Context, o *opened) error {
			access := o.Access
			access.Users = users[g.Number]
			listed, err := d.Inventory(ctx, access)
			for _, u := range listed {
				if _, seen := by[u.Handle]; !seen {
					by[u.Handle] = g.Number
					found = append(found, u)
				}
			}
			return err
		})
		if err != nil && (current || !refused(err) && !errors.Is(err, ErrUnsupported)) {
			return nil, nil, err
		}
		unseen[g.Number] = err != nil
	}
	return found, unseen, nil
}

// foreign asks a driver that can what on the VIM is not ours and could be used as if it were.
func (b *Leaser) foreign(ctx context.Context, session *session, v VIM) (found []string, err error) {
	d, err := b.driver(v.Type)
	if err != nil {
		return nil, err
	}
	inspector, ok := d.(Inspector)
	if !ok {
		return nil, nil
	}
	_, err = session.each(ctx, v.Current.Number, func(ctx context.Context, o *opened) (err error) {
		var unread error
		found, err = inspector.Foreign(ctx, o.Access, func(vim string) bool {
			_, err := b.vims.VIM(ctx, vim)
			missing, damaged := errors.Is(err, ErrNotFound), errors.Is(err, errDamaged)
			if err != nil && !missing && !damaged {
				unread = err
			}
			return !missing
		})
		return errors.Join(err, unread)
	})
	return found, err
}

// liveLeases are the leases on a VIM that may have an object there that an
// inventory shows, by handle.
func (b *Leaser) liveLeases(ctx context.Context, vim string) (map[string]Lease, error) {
	live := map[string]Lease{}
	err := b.eachLease(ctx, LeaseFilter{VIM: vim, States: liveStates}, func(l Lease) error {
		if l.Derived && !l.Unlisted {
			live[l.Handle] = l
		}
		return nil
	})
	return live, err
}

func (b *Leaser) settleInventory(ctx context.Context, session *session, inv Inventory, act *audit.Act) error {
	for _, u := range inv.Orphans {
		i := Issued{Handle: u.Handle, Grant: Grant{User: u.User}}
		if l, err := b.leases.Lease(ctx, u.Lease); err == nil && l.VIM == inv.VIM && l.Handle == u.Handle {
			i = l.issued()
			i.UID = "" // what was listed may be another object of the name
		}
		if err := b.removeObject(ctx, session, inv.by[u.Handle], i); err != nil {
			return err
		}
	}
	for _, l := range inv.Ghosts {
		l, mine, err := b.beginRevocation(ctx, l, ReasonGoneUpstream, act, b.claim())
		if errors.Is(err, errEnded) {
			continue
		}
		if err == nil && mine {
			_, err = b.takeBack(ctx, session, l, act)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// discrepancies are what the last inventory of each VIM found. Safe for concurrent use.
type discrepancies struct {
	mu          sync.Mutex
	byVIM       map[string]Discrepancy
	unexplained int // VIMs that keys name and no row does
}

func (d *discrepancies) set(vim string, found Discrepancy) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byVIM[vim] = found
}

func (d *discrepancies) forget(vim string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byVIM, vim)
}

func (d *discrepancies) setUnexplained(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unexplained = n
}

func (d *discrepancies) sum() Discrepancy {
	d.mu.Lock()
	defer d.mu.Unlock()
	sum := Discrepancy{Unexplained: d.unexplained}
	for _, found := range d.byVIM {
		sum.Orphans += found.Orphans
		sum.Ghosts += found.Ghosts
		sum.Unbound += found.Unbound
		sum.Foreign += found.Foreign
	}
	return sum
}
