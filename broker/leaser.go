package broker

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/vimbroker/vimbroker/policy"
)

// Leaser issues, renews and ends leases, and compares them with what stands on the VIMs.
type Leaser struct {
	*core
	registry upkeep
	epochs   GrantStore
	// takingBack holds the ids of leases that a call to their VIM is under way for.
	takingBack sync.Map
}

// upkeep is the [Registry] as the reaper uses it.
type upkeep interface {
	check(ctx context.Context, v VIM) (Health, error)
	drainFurther(ctx context.Context, v VIM)
}

// Lease returns one lease. Its credential is not part of it.
func (b *Leaser) Lease(ctx context.Context, p policy.Principal, id string) (Lease, error) {
	l, err := b.findLease(ctx, p, policy.LeaseShow, id)
	if err != nil {
		return Lease{}, err
	}
	return l, b.read(ctx, p, policy.LeaseShow, leaseResource(l))
}

// Leases returns a page of the leases that p may see, newest first, as VIMs does.
func (b *Leaser) Leases(ctx context.Context, p policy.Principal, q LeaseQuery) ([]Lease, string, error) {
	page, err := q.Page.Valid()
	if err != nil {
		return nil, "", err
	}
	if err := b.read(ctx, p, policy.LeaseShow, InProject(p.Project)); err != nil {
		return nil, "", err
	}
	f := LeaseFilter{
		IDPrefix: strings.ToLower(q.IDPrefix), Principal: q.Principal, Operation: q.Operation, Instance: q.Instance,
		For: q.For, DueBefore: q.DueBefore, Page: page,
	}
	if q.State != "" {
		if _, known := leaseMoves[q.State]; !known {
			return nil, "", Invalid("state", "must be pending, active, revoking, revoked or irrevocable")
		}
		f.States = []LeaseState{q.State}
	}
	if f.VIM, f.Project, err = b.leasesAmong(ctx, p, policy.LeaseShow, q.VIM); err != nil {
		return nil, "", err
	}
	found, next, err := b.leases.Leases(ctx, f)
	if err != nil {
		return nil, "", err
	}
	return slices.DeleteFunc(found, func(l Lease) bool { return !b.guard.Allows(p, policy.LeaseShow, leaseResource(l)) }), next, nil
}

// leasesAmong are the VIM and the project that leases which p sees are looked for in; each is empty where it bounds
// nothing. p sees all leases on a VIM of its own project.
func (b *Leaser) leasesAmong(ctx context.Context, p policy.Principal, action policy.Action, name string) (vim, project string, err error) {
	if !b.seesAll(p, policy.LeaseShow) {
		project = p.Project
	}
	if name == "" {
		return "", project, nil
	}
	v, err := b.visibleVIM(ctx, p, action, name)
	if err == nil && v.Project == project {
		project = ""
	}
	return v.ID, project, err
}
