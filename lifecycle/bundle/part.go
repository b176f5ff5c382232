package bundle

import (
	"context"
	"errors"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// part opens an instance for an action, and finds what is kept below it: a configuration, a test or a subscription.
func (b *Bundles) part(
	ctx context.Context, p policy.Principal, action policy.Action, k Kind, id, name string,
) (Row, instance, *audit.Act, error) {
	_, i, act, err := b.openInstance(ctx, p, action, id)
	if err != nil {
		return Row{}, i, nil, err
	}
	r, err := b.Store.Bundle(ctx, p.Project, k, id+"/"+name)
	if errors.Is(err, broker.ErrNotFound) {
		err = missing(k)
	}
	if err == nil && action == policy.VNFShow {
		err = act.Read(ctx)
	}
	return r, i, act, b.refuse(ctx, act, err)
}

// parts are the documents of what is kept below an instance.
func parts[T any](ctx context.Context, b *Bundles, p policy.Principal, k Kind, id string) ([]T, error) {
	_, _, act, err := b.openInstance(ctx, p, policy.VNFShow, id)
	if err != nil {
		return nil, err
	}
	if err := act.Read(ctx); err != nil {
		return nil, broker.Unrecorded(err)
	}
	all := []T{}
	err = b.each(ctx, Filter{Project: p.Project, Kind: k, Under: id}, func(r Row) error {
		d, err := documentOf[T](r)
		all = append(all, d)
		return err
	})
	return all, err
}

// rowsBelow are all rows below an instance.
func (b *Bundles) rowsBelow(ctx context.Context, of Row, kinds ...Kind) (all []Row, err error) {
	for _, k := range kinds {
		err = errors.Join(err, b.each(ctx, Filter{Project: of.Project, Kind: k, Under: of.Name}, func(r Row) error {
			all = append(all, r)
			return nil
		}))
	}
	return all, err
}
