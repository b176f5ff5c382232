package kubernetes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
)

// sharedAccount is the name of the service account that all leases of old share which have the
// same role and namespaces on one VIM, and of its bindings. No part can hold a newline,
// so different accounts never hash the same text.
func sharedAccount(vim string, g broker.Grant) string {
	sum := sha256.Sum256([]byte(vim + "\n" + g.Role + "\n" + strings.Join(g.Namespaces, "\n")))
	return "vim-" + hex.EncodeToString(sum[:16])
}

// belongs returns nil if the Secret is this lease's and can have a token bound to it.
func belongs(s *corev1.Secret, vim string, g broker.Grant) error {
	name := ours + "/" + g.Handle
	switch {
	case s.Labels[vimLabel] != vim || s.Labels[leaseLabel] != g.Lease:
		return foreign("secret", name)
	case s.DeletionTimestamp != nil:
		return beingDeleted("secret", name)
	case s.UID == "":
		return notKubernetes(0)
	}
	return nil
}

// mint asks for a token of the account, bound to the lease's Secret. Errors are
// client-go's own, but for an answer that makes no sense.
func (c *connection) mint(ctx context.Context, account string, lease *corev1.Secret, ttl time.Duration) (broker.Minted, error) {
	granted, err := c.core.CreateToken(ctx, ours, account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{
			ExpirationSeconds: seconds(ttl),
			BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Secret", Name: lease.Name, UID: lease.UID},
		},
	})
	if err != nil {
		return broker.Minted{}, err
	}
	return minted(granted)
}

// renewShared mints one more token for a lease of old. One whose service account was
// deleted is over: every token it had is dead, which someone wanted.
func (c *connection) renewShared(ctx context.Context, a broker.Access, g broker.Grant) (broker.Minted, error) {
	lease, err := c.core.Secrets(ours).Get(ctx, g.Handle, metav1.GetOptions{})
	switch {
	case notFound(err, "secrets", g.Handle):
		return broker.Minted{}, gone()
	case err != nil:
		return broker.Minted{}, fault(err, "get", "secrets in namespace "+ours)
	case lease.DeletionTimestamp != nil:
		return broker.Minted{}, gone()
	}
	if err := belongs(lease, a.VIM, g); err != nil {
		return broker.Minted{}, err
	}
	account := sharedAccount(a.VIM, g)
	m, err := c.mint(ctx, account, lease, g.TTL)
	if notFound(err, "secrets", g.Handle) || notFound(err, "serviceaccounts", account) || notFound(err, "namespaces", ours) {
		return broker.Minted{}, gone()
	}
	return m, fault(err, "create", "serviceaccounts/token in namespace "+ours)
}

// revokeShared deletes the Secret of a lease of old. Of the Secret of that name only one
// that carries this VIM's label is deleted; another's is left alone, and none of ours is
// there then.
func (d *Driver) revokeShared(ctx context.Context, c *connection, a broker.Access, i broker.Issued) error {
	handle := i.Handle
	// An inventory knows no more than the name.
	nameless := i.Grant.Role == "" && len(i.Grant.Rules) == 0
	lease, err := c.core.Secrets(ours).Get(ctx, handle, metav1.GetOptions{})
	switch {
	case nameless && (notFound(err, "secrets", handle) || said(err, http.StatusForbidden) && knowsMode(a)):
		return c.revokeNameless(ctx, a, handle, err)
	case notFound(err, "secrets", handle):
		if err := c.same(ctx, a.Identity); err != nil {
			return err
		}
		return d.afterShared(ctx, c, a)
	case err != nil:
		return fault(err, "get", "secrets in namespace "+ours)
	case lease.Name != handle || lease.UID == "":
		return notKubernetes(0)
	case lease.Labels[vimLabel] != a.VIM:
		d.log.WarnContext(ctx, "secret with a lease's name is not ours, left alone", "vim", a.VIM, "secret", handle)
		return nil
	}
	if err := remove(ctx, c.core.client, "secrets", lease); err != nil {
		return err
	}
	failpoint.At("k8s.revoke.deleted")
	if nameless {
		return nil
	}
	return d.afterShared(ctx, c, a)
}

// afterShared removes what leases of old share, if that was the last of them. A
// credential that may not has revoked the lease all the same.
func (d *Driver) afterShared(ctx context.Context, c *connection, a broker.Access) error {
	err := d.tidyShared(ctx, c, a)
	if isForbidden(err) {
		d.log.WarnContext(ctx, "what the last lease of its kind left bound cannot be removed", "vim", a.VIM, "error", err)
		return nil
	}
	return err
}

// tidyShared removes what leases of old share, once there is none of them.
func (d *Driver) tidyShared(ctx context.Context, c *connection, a broker.Access) error {
	left := 0
	err := list(ctx, c.core.client, "Secret", ours, "secrets", labelled(a), func(*item) { left++ })
	if err != nil {
		return fault(err, "list", "secrets in namespace "+ours)
	}
	if left > 0 {
		return nil
	}
	return c.forgetShared(ctx, a)
}

// forgetShared removes everything that carries the VIM's label besides leases: bindings, roles,
// and the accounts that leases of old share, and with these any token they ever
// had. Bindings are found by their label, and, where the credential may not list
// those of all namespaces, by what the service accounts say of themselves.
func (c *connection) forgetShared(ctx context.Context, a broker.Access) error {
	var (
		accounts         []corev1.ServiceAccount
		found, more      []*binding
		roles            []metav1.Object
		wideErr, mostErr error
	)
	err := sideBySide(
		func() (err error) {
			if accounts, err = c.accounts(ctx, ours, labelled(a)); isForbidden(err) && knowsMode(a) {
				return nil
			}
			return err
		},
		func() error { found, wideErr = c.bindings(ctx, "", labelled(a)); return nil },
		func() error { more, mostErr = c.roleBindings(ctx, "", labelled(a)); return nil },
		func() (err error) { roles, err = c.exactRoles(ctx, labelled(a)); return err },
	)
	if err != nil {
		return err
	}
	clusterWide := func(sa corev1.ServiceAccount) bool { return len(namespacesOf(&sa)) == 0 }
	if err = fault(wideErr, "list", "clusterrolebindings"); err != nil && (!isForbidden(err) || slices.ContainsFunc(accounts, clusterWide)) {
		return err // a credential that is limited to namespaces made none
	}
	if err = fault(mostErr, "list", "rolebindings in all namespaces"); errors.Is(err, broker.ErrForbidden) {
		more, err = c.bindingsOf(ctx, a, accounts)
	}
	if err != nil {
		return err
	}
	for _, b := range slices.Concat(found, more) {
		if err := c.unbind(ctx, b); err != nil {
			return err
		}
	}
	for _, o := range roles {
		resource := "roles"
		if o.GetNamespace() == "" {
			resource = "clusterroles"
		}
		if err := remove(ctx, c.rbac.client, resource, o); err != nil {
			return err
		}
	}
	return c.removeAccounts(ctx, accounts)
}

// bindingsOf looks for the bindings of each shared account in the namespaces it names.
func (c *connection) bindingsOf(ctx context.Context, a broker.Access, accounts []corev1.ServiceAccount) ([]*binding, error) {
	var found []*binding
	for i := range accounts {
		for _, namespace := range namespacesOf(&accounts[i]) {
			b, err := c.binding(ctx, namespace, accounts[i].Name)
			if err != nil {
				return nil, err
			}
			if b != nil && b.meta.Labels[vimLabel] == a.VIM {
				found = append(found, b)
			}
		}
	}
	return found, nil
}

// namespacesOf reads back what the account was limited to.
func namespacesOf(sa *corev1.ServiceAccount) []string {
	return slices.DeleteFunc(strings.Split(sa.Annotations[namespacesAnnotation], ","), func(n string) bool { return !rbac.IsLabel(n) })
}
