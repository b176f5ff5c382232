package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
)

// maxForeign bounds what one VIM's inventory tells of others' objects.
const maxForeign = 100

// Foreign implements [broker.Inspector]. It looks for accounts, pods and token Secrets
// in the namespaces of this VIM's homes, for bindings of their accounts that are not the
// homes' own, and for namespaces of unknown VIMs. Kinds that the credential may not list
// are left out.
func (d *Driver) Foreign(ctx context.Context, a broker.Access, known func(vim string) bool) ([]string, error) {
	return over(ctx, d, a, func(ctx context.Context, c *connection) ([]string, error) {
		homes, err := c.homes(ctx, a)
		if err != nil {
			return nil, err
		}
		of := map[string]home{} // by namespace
		for _, h := range homes {
			rooms, err := c.rooms(ctx, h)
			if err != nil {
				return nil, err
			}
			for _, n := range rooms {
				of[n] = h
			}
		}
		var found []string
		for namespace, h := range of {
			more, err := c.foreignIn(ctx, h, namespace)
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		}
		for _, look := range []func(context.Context) ([]string, error){
			func(ctx context.Context) ([]string, error) { return c.foreignBindings(ctx, of) },
			func(ctx context.Context) ([]string, error) { return c.unknownVIMs(ctx, known) },
		} {
			more, err := look(ctx)
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		}
		slices.Sort(found)
		return found[:min(len(found), maxForeign)], nil
	})
}

// foreignIn finds identities, other than its leases, that could act with the rights of a home.
func (c *connection) foreignIn(ctx context.Context, h home, namespace string) ([]string, error) {
	var found []string
	accounts, err := c.accounts(ctx, namespace, "")
	if err != nil && !isForbidden(err) {
		return nil, err
	}
	for i := range accounts {
		// Every namespace has the account default, which the cluster makes.
		s := &accounts[i]
		if _, lease := s.Labels[leaseLabel]; s.Name != "default" && (!h.owns(s) || !lease) {
			found = append(found, fmt.Sprintf("serviceaccount %s/%s has the rights of leases, and is none's", namespace, printable(s.Name)))
		}
	}
	for _, kind := range []struct{ resource, says string }{
		{"pods", "pod %s/%s acts with the rights of leases"},
		{"secrets", "secret %s/%s holds a token that has the rights of leases and does not expire"},
	} {
		names, err := c.names(ctx, namespace, kind.resource)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			found = append(found, fmt.Sprintf(kind.says, namespace, printable(name)))
		}
	}
	return found, nil
}

// names lists the pods, or the Secrets with tokens of accounts, of a namespace. For Secrets it
// requests the metadata only.
func (c *connection) names(ctx context.Context, namespace, resource string) ([]string, error) {
	var page struct {
		Kind  string `json:"kind"`
		Items []struct {
			Metadata struct {
				Name        string            `json:"name"`
				Annotations map[string]string `json:"annotations"`
			} `json:"metadata"`
		} `json:"items"`
	}
	request := c.core.client.Get().Namespace(namespace).Resource(resource).Param("limit", strconv.Itoa(maxForeign)).
		SetHeader("Accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json")
	err := read(remote.Expect(ctx, remote.List), request, &page)
	switch {
	case said(err, http.StatusForbidden):
		return nil, nil
	case err != nil:
		return nil, fault(err, "list", in(resource, namespace))
	case page.Kind == "":
		return nil, notKubernetes(0)
	}
	var names []string
	for _, i := range page.Items {
		if resource != "secrets" || i.Metadata.Annotations[corev1.ServiceAccountNameKey] != "" {
			names = append(names, i.Metadata.Name)
		}
	}
	return names, nil
}

// foreignBindings finds bindings that give something to the accounts of homes, and are not the
// homes' own as these make them.
func (c *connection) foreignBindings(ctx context.Context, of map[string]home) ([]string, error) {
	wide, err := c.bindings(ctx, "ClusterRoleBinding", "", "")
	if unlessForbidden(err) != nil {
		return nil, err
	}
	narrow, err := c.bindings(ctx, "RoleBinding", "", "")
	if unlessForbidden(err) != nil {
		return nil, err
	}
	var found []string
	for _, b := range slices.Concat(wide, narrow) {
		for _, s := range b.subjects {
			namespace := namespaceOf(s)
			h, ours := of[namespace]
			if !ours || h.made(b, namespace) {
				continue
			}
			found = append(found, fmt.Sprintf("%s %s gives %s %s to accounts of leases in namespace %s",
				b.kind(), printable(b.path()), strings.ToLower(printable(b.role.Kind)), printable(b.role.Name), namespace))
		}
	}
	return found, nil
}

// made reports whether a binding is one of the home's own, as it makes them.
func (h home) made(b *binding, namespace string) bool {
	return h.owns(b.object) && slices.Contains(h.places(), b.meta.Namespace) &&
		b.role == h.roleRef(b.meta.Namespace) && b.names(group(namespace))
}

// stands reports whether a binding is one that the home made, and is to stay.
func (h home) stands(b *binding, namespace string) bool {
	return h.made(b, namespace) && b.object.GetDeletionTimestamp() == nil
}

// unknownVIMs finds namespaces that were made for VIMs that are not known.
func (c *connection) unknownVIMs(ctx context.Context, known func(vim string) bool) ([]string, error) {
	homes := map[string]int{} // by VIM
	err := list(ctx, c.core.client, "Namespace", "", vimLabel+","+grantLabel, func(i *item) {
		if i.Metadata.Deleted == nil {
			homes[i.Metadata.Labels[vimLabel]]++
		}
	})
	if err != nil {
		return nil, unlessForbidden(err)
	}
	var found []string
	for vim, n := range homes {
		if !known(vim) {
			found = append(found, fmt.Sprintf("%d namespaces with accounts of leases carry %s=%s, a VIM that is not registered here", n,
				vimLabel, printable(vim)))
		}
	}
	return found, nil
}

// Inventory implements [broker.Driver]: the accounts of this VIM's leases. Accounts
// that a finalizer still holds are included.
func (d *Driver) Inventory(ctx context.Context, a broker.Access) ([]broker.Upstream, error) {
	return over(ctx, d, a, func(ctx context.Context, c *connection) ([]broker.Upstream, error) {
		accounts, err := c.inHomes(ctx, a)
		if err != nil {
			return nil, err
		}
		unbound, err := c.unboundHomes(ctx, a, accounts)
		if err != nil {
			return nil, err
		}
		var found []broker.Upstream
		for _, s := range accounts {
			u := broker.Upstream{Handle: s.Name, Lease: s.Labels[leaseLabel], CreatedAt: s.CreationTimestamp.UTC()}
			for _, place := range unbound[s.Namespace] {
				u.Unbound = append(u.Unbound, cmp.Or(place, everywhere))
			}
			found = append(found, u)
		}
		return found, nil
	})
}

// revokeListed revokes the lease of an account that is known from an inventory only,
// by its name.
func (c *connection) revokeListed(ctx context.Context, a broker.Access, handle string) error {
	accounts, err := c.inHomes(ctx, a)
	if err != nil {
		return err
	}
	for i := range accounts {
		if accounts[i].Name == handle {
			return remove(ctx, c.core.client, "serviceaccounts", &accounts[i])
		}
	}
	return c.same(ctx, a.Identity)
}

// labelled selects what carries this VIM's label.
func labelled(a broker.Access) string { return vimLabel + "=" + a.VIM }
