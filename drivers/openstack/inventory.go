package openstack

import (
	"context"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"

	"github.com/vimbroker/vimbroker/broker"
)

// Inventory implements [broker.Driver]: the registered user's application
// credentials that carry this VIM's id, those that have expired and were not deleted
// included, and the users of leases. Those of a lease that was renewed are one. It deletes expired probes.
func (d *Driver) Inventory(ctx context.Context, a broker.Access) (found []broker.Upstream, err error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	err = d.with(ctx, a, func(s *session) error {
		owner, all, err := s.owned(ctx, a, "")
		if err != nil {
			return err
		}
		kept, err := d.usersOf(ctx, a, s)
		if err != nil {
			return err
		}
		found = append(leasesIn(all, a.VIM), kept...)
		if owner == s.user.ID {
			if err := d.sweepProbes(ctx, s, all); err != nil {
				d.log.WarnContext(ctx, "expired probes are left for the next inventory", "vim", a.VIM, "error", err)
			}
		}
		return nil
	})
	return found, err
}

// leasesIn are the leases of a VIM among application credentials.
func leasesIn(all []applicationcredentials.ApplicationCredential, vim string) []broker.Upstream {
	var found []broker.Upstream
	at := map[string]int{}
	for _, c := range all {
		m, ours := readMark(c.Description)
		if !ours || m.vim != vim || m.lease == "" {
			continue
		}
		handle, _ := number(c.Name)
		i, seen := at[handle]
		if !seen {
			at[handle] = len(found)
			found = append(found, broker.Upstream{Handle: handle, Lease: m.lease, CreatedAt: m.issued})
		} else if m.issued.Before(found[i].CreatedAt) {
			found[i].CreatedAt = m.issued
		}
	}
	return found
}

// Forget implements [broker.Driver]: it deletes the application credentials with this
// VIM's id that belong to no lease, which a crashed check left, and ends the VIM's
// sessions.
func (d *Driver) Forget(ctx context.Context, a broker.Access) error {
	ctx, cancel := bound(ctx)
	defer cancel()
	err := d.with(ctx, a, func(s *session) error {
		all, err := s.list(ctx, s.user.ID, probePrefix)
		if err != nil {
			return err
		}
		for _, c := range all {
			if m, ours := readMark(c.Description); ours && m.vim == a.VIM && m.lease == "" {
				if err := s.remove(ctx, s.user.ID, c.ID); err != nil {
					return err
				}
			}
		}
		return nil
	})
	d.endSessions(ctx, a.VIM)
	return err
}
