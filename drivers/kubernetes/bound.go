package kubernetes

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
)

// unbound returns the places in which the home's accounts, which stand in that namespace, lack
// its rights. It is asked for each lease and for each token, and never remembered: others
// delete bindings, and a namespace that is deleted takes them with it.
func (c *connection) unbound(ctx context.Context, h home, namespace string) ([]string, error) {
	places := h.places()
	bound, err := gather(ctx, places, func(ctx context.Context, place string) (bool, error) { return c.boundIn(ctx, h, namespace, place) })
	if err != nil {
		return nil, err
	}
	var lacking []string
	for i, place := range places {
		if !bound[i] {
			lacking = append(lacking, place)
		}
	}
	return lacking, nil
}

// boundIn reports whether a place has the home's binding and, where it has exact rules, its role,
// as the home makes them. An object that the credential may not read counts as missing: making it
// again shows which right is missing.
func (c *connection) boundIn(ctx context.Context, h home, namespace, place string) (bool, error) {
	bound, ruled := false, len(h.grant.Rules) == 0
	err := sideBySide(
		func() (err error) { bound, err = c.hasBinding(ctx, h, namespace, place); return err },
		func() error {
			if ruled {
				return nil
			}
			role, err := c.exactRole(ctx, h, place)
			ruled = role != nil && h.holds(role)
			return err
		},
	)
	if isForbidden(err) {
		return false, nil
	}
	return bound && ruled, err
}

// hasBinding looks for the home's binding under each name that it may have.
func (c *connection) hasBinding(ctx context.Context, h home, namespace, place string) (bool, error) {
	for n := 1; n <= maxBindings; n++ {
		b, err := c.binding(ctx, place, h.bindingName(n))
		if err != nil || b == nil {
			return false, err
		}
		if h.stands(b, namespace) {
			return true, nil
		}
	}
	return false, nil
}

// bindAgain gives the home's accounts its rights in the places that lack them. One that cannot
// have them is left out, unless the home has no other: its namespace is gone, or the
// credential may not bind there.
func (d *Driver) bindAgain(ctx context.Context, c *connection, h home, namespace string, lacking []string) error {
	var refusal error
	refused := 0
	for _, place := range lacking {
		err := c.placeUsable(ctx, place)
		if err == nil {
			_, err = d.bindIn(ctx, c, h, namespace, place)
		}
		switch {
		case err == nil:
			d.log.WarnContext(ctx, "what bound a lease was gone from the cluster, and is made again", "vim", h.vim, "home", h.id, "namespace", place)
		case isForbidden(err), errors.Is(err, broker.ErrConflict):
			d.log.WarnContext(ctx, "a lease has no rights in one of its namespaces", "vim", h.vim, "home", h.id, "namespace", place, "error", err)
			refused, refusal = refused+1, err
		default:
			return err
		}
	}
	failpoint.At("k8s.bound.again")
	if refused == len(h.places()) {
		return refusal
	}
	return nil
}

// placeUsable refuses a namespace of a lease that is gone, or on its way out.
func (c *connection) placeUsable(ctx context.Context, place string) error {
	if place == "" {
		return nil
	}
	_, err := c.namespaceUsable(ctx, place)
	if errors.Is(err, broker.ErrInvalid) {
		return &broker.Error{
			Kind: broker.ErrConflict, Detail: "namespace " + place + ", which the lease is limited to, is gone from the cluster or being deleted",
			Remedy: "make it there again, or revoke the lease",
		}
	}
	return err
}

// unboundHomes returns, for each namespace in which accounts of leases stand, the places in which
// those lack their rights.
func (c *connection) unboundHomes(ctx context.Context, a broker.Access, accounts []corev1.ServiceAccount) (map[string][]string, error) {
	if len(accounts) == 0 {
		return nil, nil
	}
	homes, err := c.homes(ctx, a)
	if err != nil {
		return nil, err
	}
	lacking := map[string][]string{}
	for _, s := range accounts {
		at := slices.IndexFunc(homes, func(h home) bool { return h.owns(&s) })
		if _, looked := lacking[s.Namespace]; looked || at < 0 {
			continue
		}
		if lacking[s.Namespace], err = c.unbound(ctx, homes[at], s.Namespace); err != nil {
			return nil, err
		}
	}
	return lacking, nil
}
