package openstack

import (
	"context"

	"github.com/vimbroker/vimbroker/broker"
)

// Inventory implements [broker.Driver]: the registered user's application
// credentials that carry this VIM's id, those that have expired and were not deleted
// included. Those of a lease that was renewed are one.
func (d *Driver) Inventory(ctx context.Context, a broker.Access) ([]broker.Upstream, error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	s, err := d.login(ctx, a)
	if err != nil {
		return nil, err
	}
	defer s.close()
	_, all, err := s.owned(ctx, a, "")
	if err != nil {
		return nil, err
	}
	var found []broker.Upstream
	at := map[string]int{}
	for _, c := range all {
		m, ours := readMark(c.Description)
		if !ours || m.vim != a.VIM || m.lease == "" {
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
	return found, nil
}

// Forget implements [broker.Driver]: it deletes what carries this VIM's id and is
// no lease's, which is what a check that died left.
func (d *Driver) Forget(ctx context.Context, a broker.Access) error {
	ctx, cancel := bound(ctx)
	defer cancel()
	s, err := d.login(ctx, a)
	if err != nil {
		return err
	}
	defer s.close()
	all, err := s.list(ctx, s.user.ID, "")
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
}
