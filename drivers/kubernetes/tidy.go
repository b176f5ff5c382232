package kubernetes

import (
	"context"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
)

// Tidy implements [broker.Tidier]: it removes a grant's bindings, its role of exact
// rules, the accounts in its home, and at last the home itself.
func (d *Driver) Tidy(ctx context.Context, a broker.Access, g broker.Grant) error {
	h := homeOf(a.VIM, g)
	d.homes.drop(h.key(a))
	return d.over(ctx, a, func(ctx context.Context, c *connection) error { return d.tidyHome(ctx, c, h) })
}

// tidyHome removes the objects that give rights first, and last the object by which a
// later call finds the rest.
func (d *Driver) tidyHome(ctx context.Context, c *connection, h home) error {
	rooms, err := c.rooms(ctx, h)
	if err != nil {
		return err
	}
	for _, place := range h.places() {
		if err := c.unbindPlace(ctx, h, place, rooms); err != nil {
			return err
		}
		if err := c.removeRole(ctx, h, place); err != nil {
			return err
		}
	}
	failpoint.At("k8s.tidy.unbound")
	for _, namespace := range rooms {
		accounts, err := c.accounts(ctx, namespace, "")
		if err != nil {
			return err
		}
		if err := c.removeAccounts(ctx, accounts); err != nil {
			return err
		}
		if namespace != h.id {
			if err := c.release(ctx, h, namespace); err != nil {
				return err
			}
			continue
		}
		if err := d.removeNamespace(ctx, c, h); err != nil {
			return err
		}
	}
	return nil
}

// removeNamespace deletes the home's own namespace. If the credential may not, the
// namespace stays: empty, and bound to nothing.
func (d *Driver) removeNamespace(ctx context.Context, c *connection, h home) error {
	there, err := c.namespace(ctx, h.id)
	switch {
	case notFound(err, "namespaces", h.id):
		return nil
	case err != nil:
		return fault(err, "get", "namespace "+h.id)
	case !h.labelled(there.Metadata.Labels):
		return foreign("namespace", h.id)
	}
	// Its spec holds a finalizer of the cluster's own, which empties it in its own time.
	_, err = deleteByUID(ctx, c.core.client, "namespaces", "", h.id, string(there.Metadata.UID))
	switch {
	case notFound(err, "namespaces", h.id), said(err, 409) && there.Metadata.Deleted != nil:
		return nil
	case said(err, 403):
		d.log.WarnContext(ctx, "the credential may not delete namespaces: one that is empty and bound to nothing stays",
			"vim", h.vim, "namespace", h.id)
		return nil
	}
	return fault(err, "delete", "namespace "+h.id)
}

// unbindPlace removes the home's bindings in a place: those that carry its labels, and
// those of its names that give something to its group alone.
func (c *connection) unbindPlace(ctx context.Context, h home, place string, rooms []string) error {
	kind := "RoleBinding"
	if place == "" {
		kind = "ClusterRoleBinding"
	}
	found, err := c.bindings(ctx, kind, place, vimLabel+"="+h.vim+","+grantLabel+"="+h.id)
	if unlessForbidden(err) != nil {
		return err
	}
	for n := 1; n <= maxBindings; n++ {
		b, err := c.binding(ctx, place, h.bindingName(n))
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		ourGroup := slices.ContainsFunc(append(slices.Clone(rooms), h.id), func(room string) bool { return b.names(group(room)) })
		if h.owns(b.object) || ourGroup {
			found = append(found, b)
		}
	}
	for _, b := range found {
		if err := c.unbind(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// removeRole removes the home's role of exact rules, if it has one.
func (c *connection) removeRole(ctx context.Context, h home, place string) error {
	if len(h.grant.Rules) == 0 {
		return nil
	}
	there, err := c.exactRole(ctx, h, place)
	if err != nil || there == nil {
		return err
	}
	if !h.labelled(there.Metadata.Labels) && !sameRules(there.Rules, h.grant.Rules) {
		return nil // a foreign object of the same name, bound to nothing of the broker's
	}
	role := there.meta()
	return remove(ctx, c.rbac.client, scoped("roles", place), &role)
}

// Forget implements [broker.Driver]: it removes every home of the VIM, also homes whose grant
// is no longer known, other objects with the VIM's label, and last the broker's own account.
// Once that account is gone, nothing can be read or removed any more.
func (d *Driver) Forget(ctx context.Context, a broker.Access) error {
	return d.over(ctx, a, func(ctx context.Context, c *connection) error {
		d.homes.dropVIM(a.VIM)
		if ofOwnAccount(a) {
			if _, err := c.whoAmI(ctx); said(err, http.StatusUnauthorized) {
				d.log.WarnContext(ctx, "the broker's own account is gone from the cluster: what else it made there may be left", "vim", a.VIM)
				return nil
			}
		}
		homes, err := c.homes(ctx, a)
		if err != nil {
			return err
		}
		for _, h := range homes {
			if err := d.tidyHome(ctx, c, h); err != nil {
				return err
			}
		}
		if err := c.removeLabelled(ctx, a); err != nil {
			return err
		}
		return c.dismissAll(ctx, a)
	})
}

// homes are those that stand on the cluster, as their namespaces and claims say. One
// whose deed was changed is known by its labels, and so has no places.
func (c *connection) homes(ctx context.Context, a broker.Access) ([]home, error) {
	var (
		namespaces      []metav1.ObjectMeta
		rooms           []poolRoom
		unseen, poolErr error
	)
	err := sideBySide(
		func() error {
			unseen = list(ctx, c.core.client, "Namespace", "", labelled(a)+","+grantLabel, func(i *item) {
				namespaces = append(namespaces, i.meta())
			})
			return unlessForbidden(unseen)
		},
		func() error { rooms, poolErr = c.pool(ctx, a.VIM); return unlessForbidden(poolErr) },
	)
	// A pool, or all but the pool, may not be for this credential. One that was never checked is
	// not believed when it sees neither.
	if err == nil && unseen != nil && poolErr != nil && a.Discovered.Cluster == nil {
		err = unseen
	}
	if err != nil {
		return nil, err
	}
	var found []home
	add := func(id, text string) {
		h, ok := homeFrom(text, id)
		if !ok || h.vim != a.VIM {
			h = home{vim: a.VIM, id: id}
		}
		if !slices.ContainsFunc(found, func(f home) bool { return f.id == id }) {
			found = append(found, h)
		}
	}
	for _, n := range namespaces {
		if n.Name == n.Labels[grantLabel] {
			add(n.Name, n.Annotations[deedAnnotation])
		}
	}
	for _, room := range rooms {
		if room.home != "" && room.home != unknownHome {
			add(room.home, room.deed)
		}
	}
	return found, nil
}

// removeLabelled removes the bindings and roles that carry the VIM's label, in the cluster and in
// all namespaces. A credential that may not list some made none of them, or sees to them home
// by home.
func (c *connection) removeLabelled(ctx context.Context, a broker.Access) error {
	kinds := []string{"ClusterRoleBinding", "RoleBinding", "ClusterRole", "Role"}
	found, err := gather(ctx, kinds, func(ctx context.Context, kind string) (all []metav1.ObjectMeta, err error) {
		err = list(ctx, c.rbac.client, kind, "", labelled(a), func(i *item) { all = append(all, i.meta()) })
		return all, unlessForbidden(err)
	})
	if err != nil {
		return err
	}
	for n, kind := range kinds {
		for i := range found[n] {
			if err := remove(ctx, c.rbac.client, strings.ToLower(kind)+"s", &found[n][i]); err != nil {
				return err
			}
		}
	}
	return nil
}
