package bundle

import (
	"context"
	"errors"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// opened is what is kept below an instance, for an act on that.
type opened[D any] struct {
	Row

	is  D // its document
	of  instance
	act *audit.Act
}

// part opens an instance for an action, and finds what is kept below it: a configuration or a subscription. Nothing has no name.
func part[D any](
	ctx context.Context, b *Bundles, p policy.Principal, action policy.Action, k Kind, id, name string,
) (o opened[D], err error) {
	row, act, err := b.open(ctx, p, action, OfInstance, id)
	o.act = act
	if _, o.of, err = read[instance](row, err); err != nil || name == "" {
		return o, err
	}
	o.Row, o.is, err = read[D](b.Store.Bundle(ctx, p.Project, k, id+"/"+name))
	if errors.Is(err, broker.ErrNotFound) {
		err = missing(k)
	}
	return o, b.refuse(ctx, act, err)
}

// parts are the documents of what is kept below an instance, each as it is shown.
func parts[D, T any](ctx context.Context, b *Bundles, p policy.Principal, k Kind, id string, as func(D) T) ([]T, error) {
	if _, _, err := b.open(ctx, p, policy.VNFShow, OfInstance, id); err != nil {
		return nil, err
	}
	return gathered(ctx, b, Filter{Project: p.Project, Kind: k, Under: id}, func(_ Row, d D) (T, bool) { return as(d), true })
}

// gathered is what take makes of the rows that match, as far as it wants them.
func gathered[D, T any](ctx context.Context, b *Bundles, f Filter, take func(Row, D) (T, bool)) ([]T, error) {
	all := []T{}
	err := b.each(ctx, f, func(r Row) error {
		r, d, err := read[D](r, nil)
		if one, wanted := take(r, d); err == nil && wanted {
			all = append(all, one)
		}
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
