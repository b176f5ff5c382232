package broker

import (
	"context"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/policy"
)

// Registry keeps VIMs: registers, changes, checks and deletes them, and seals them under new keys.
type Registry struct {
	*core
	leaser     *Leaser
	signatures notary.Store
	keepers    []Keeper
	sealers    []Sealer
	// reserved are prefixes of label keys.
	reserved []string
}

// VIM returns one VIM, by id or name.
func (b *Registry) VIM(ctx context.Context, p policy.Principal, ref string) (VIM, error) {
	v, err := b.findVIM(ctx, p, policy.VIMShow, ref)
	if err != nil {
		return VIM{}, err
	}
	return b.shown(p, v), b.read(ctx, p, policy.VIMShow, vimResource(v))
}

// shown is a VIM as p may see it: to those of other projects who may not change it, the
// projects that it is shared with are nobody's business but their own.
func (b *Registry) shown(p policy.Principal, v VIM) VIM {
	if p.Project != v.Project && len(v.SharedWith) > 0 && !b.guard.Allows(p, policy.VIMUpdate, vimResource(v)) {
		v.SharedWith = slices.DeleteFunc(slices.Clone(v.SharedWith), func(project string) bool { return project != p.Project })
	}
	return v
}

// VIMs returns a page of the VIMs that p may see, and the next page's token. A page may
// hold fewer than was asked for, and even none, while there is a next one.
func (b *Registry) VIMs(ctx context.Context, p policy.Principal, q VIMQuery) ([]VIM, string, error) {
	page, err := q.Page.Valid()
	if err != nil {
		return nil, "", err
	}
	if err := ValidLabels(q.Labels); err != nil {
		return nil, "", err
	}
	if err := b.read(ctx, p, policy.VIMShow, InProject(p.Project)); err != nil {
		return nil, "", err
	}
	f := VIMFilter{
		IDPrefix: strings.ToLower(q.IDPrefix), Identity: q.Identity, Name: q.Name, Type: q.Type,
		State: q.State, Status: q.Status, EndsBefore: q.EndsBefore, Labels: q.Labels, Page: page,
	}
	if !b.seesAll(p, policy.VIMShow) {
		f.Project = p.Project
	}
	found, next, err := b.vims.VIMs(ctx, f)
	if err != nil {
		return nil, "", err
	}
	visible := found[:0]
	for _, v := range found {
		if v.Damaged {
			b.log.ErrorContext(ctx, "what is stored of a VIM cannot be read, so it is not listed", "vim", v.ID)
			continue
		}
		if v.State != VIMRegistering && b.guard.Allows(p, policy.VIMShow, vimResource(v)) {
			visible = append(visible, b.shown(p, v))
		}
	}
	return visible, next, nil
}

// AllVIMs returns all VIMs that a query selects, page by page: page is [Registry.VIMs], or stands for it.
func AllVIMs(
	ctx context.Context, p policy.Principal, q VIMQuery,
	page func(context.Context, policy.Principal, VIMQuery) ([]VIM, string, error),
) (all []VIM, err error) {
	for v, err := range Pages(&q.Page, func() ([]VIM, string, error) { return page(ctx, p, q) }) {
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// MostLiveOn is up to how many live leases are counted on a VIM.
const MostLiveOn = 100

// LiveOn counts, up to [MostLiveOn], the live leases on those of some VIMs on which p sees every lease.
func (b *Registry) LiveOn(ctx context.Context, p policy.Principal, vims []VIM) (map[string]int, error) {
	all := b.seesAll(p, policy.LeaseShow)
	var ids []string
	for _, v := range vims {
		if all || v.Project == p.Project && b.guard.Allows(p, policy.LeaseShow, InProject(p.Project)) {
			ids = append(ids, v.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	if err := b.read(ctx, p, policy.LeaseShow, InProject(p.Project)); err != nil {
		return nil, err
	}
	counts, err := b.leases.LiveOn(ctx, ids, MostLiveOn)
	if err != nil {
		return nil, err
	}
	for _, id := range ids { // one without any is known, too
		counts[id] += 0
	}
	return counts, nil
}

// sameSystems is how many other VIMs of one system are looked for.
const sameSystems = 10

// SameSystem returns other VIMs that p may see and that lead to the same system as v: not
// all, if there are more than ten.
func (b *Registry) SameSystem(ctx context.Context, p policy.Principal, v VIM) ([]VIM, error) {
	if v.Current.Identity == "" {
		return nil, nil
	}
	found, _, err := b.VIMs(ctx, p, VIMQuery{Identity: v.Current.Identity, Page: Page{Size: sameSystems + 1}})
	return slices.DeleteFunc(found, func(other VIM) bool {
		return other.ID == v.ID || other.Type != v.Type || other.Current.Identity != v.Current.Identity
	}), err
}
