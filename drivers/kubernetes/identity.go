package kubernetes

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// issueIn makes the lease's own account in its grant's home, and a token of it.
func (d *Driver) issueIn(ctx context.Context, c *connection, a broker.Access, g broker.Grant) (broker.Minted, error) {
	h := homeOf(a.VIM, g)
	for attempt := 1; ; attempt++ {
		fresh := false // the home is made here and now
		namespace, known, err := d.remembered(ctx, c, a, h)
		if err == nil && !known {
			namespace, err = d.homes.ensure(ctx, h.key(a), func(ctx context.Context) (namespace string, err error) {
				namespace, fresh, err = d.makeHome(ctx, c, h)
				return namespace, err
			})
		}
		if err != nil {
			return broker.Minted{}, err
		}
		var account *corev1.ServiceAccount
		var lacking []string
		err = sideBySide(
			func() (err error) { account, err = c.makeAccount(ctx, h, namespace, g); return err },
			func() (err error) {
				if known {
					lacking, err = c.unbound(ctx, h, namespace)
				}
				return err
			},
		)
		if notFound(err, "namespaces", namespace) || err == nil && len(lacking) > 0 {
			// The home was deleted by hand since it was last seen. Start again.
			d.homes.drop(h.key(a))
			if attempt == 1 {
				d.log.WarnContext(ctx, "what leases rest on is gone from the cluster, making it again", "vim", a.VIM, "home", h.id, "unbound", lacking)
				continue
			}
		}
		if err != nil {
			return broker.Minted{}, fault(err, "create", "serviceaccounts in namespace "+namespace)
		}
		failpoint.At("k8s.issue.account")
		m, err := c.tokenOf(ctx, account, g.TTL)
		if err != nil {
			return broker.Minted{}, err
		}
		failpoint.At("k8s.issue.token")
		if err := d.try(ctx, c, a, h, fresh, account, m); err != nil {
			return broker.Minted{}, err
		}
		return m, nil
	}
}

// remembered returns the namespace in which the home was seen last, if that is still the home's: a
// namespace of a pool is not, once its claim was removed. The caller has to check its bindings.
func (d *Driver) remembered(ctx context.Context, c *connection, a broker.Access, h home) (namespace string, known bool, err error) {
	namespace, known = d.homes.recall(h.key(a))
	if !known || namespace == h.id {
		return namespace, known, nil
	}
	if known, err = c.claimed(ctx, h, namespace); err == nil && !known {
		d.homes.drop(h.key(a))
	}
	return namespace, known, err
}

// makeAccount makes the lease's service account, or adopts the one that an attempt that
// died left. Errors of the namespace are client-go's own.
func (c *connection) makeAccount(ctx context.Context, h home, namespace string, g broker.Grant) (*corev1.ServiceAccount, error) {
	automount := false
	labels := h.labels()
	labels[leaseLabel] = g.Lease
	there, fresh, err := c.core.ServiceAccounts(namespace).Make(ctx, &corev1.ServiceAccount{
		ObjectMeta:                   metav1.ObjectMeta{Name: g.Handle, Namespace: namespace, Labels: labels},
		AutomountServiceAccountToken: &automount,
	}, in("serviceaccounts", namespace))
	switch {
	case err != nil:
		return nil, err
	case fresh && there.UID == "":
		return nil, notKubernetes(0)
	case fresh:
		return there, nil
	}
	return there, h.leased(there, namespace, g)
}

// leased returns nil if the account is this lease's, and is not on its way out.
func (h home) leased(account *corev1.ServiceAccount, namespace string, g broker.Grant) error {
	path := namespace + "/" + g.Handle
	switch {
	case !h.owns(account) || account.Labels[leaseLabel] != g.Lease:
		return foreign("serviceaccount", path)
	case account.DeletionTimestamp != nil:
		return beingDeleted("serviceaccount", path)
	case account.UID == "":
		return notKubernetes(0)
	}
	return nil
}

// tokenOf asks for a token of exactly that account.
func (c *connection) tokenOf(ctx context.Context, account *corev1.ServiceAccount, ttl time.Duration) (broker.Minted, error) {
	path := account.Namespace + "/" + account.Name
	granted, err := c.core.CreateToken(ctx, account.Namespace, account.Name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: seconds(ttl)},
	})
	if notFound(err, "serviceaccounts", account.Name) {
		return broker.Minted{}, &broker.Error{
			Kind: broker.ErrConflict, Detail: "serviceaccount " + path + " was deleted while its token was asked for",
		}
	}
	if err != nil {
		return broker.Minted{}, fault(err, "create", "serviceaccounts/token in namespace "+account.Namespace)
	}
	m, err := minted(granted)
	if err != nil {
		return broker.Minted{}, err
	}
	claims := claimsOf(granted.Status.Token)
	if claims.Kubernetes.ServiceAccount.UID != string(account.UID) {
		return broker.Minted{}, &broker.Error{
			Kind: broker.ErrConflict, Detail: "serviceaccount " + path + " was replaced while its token was asked for",
		}
	}
	m.UID = string(account.UID)
	if id := printable(claims.ID); id != "" {
		m.CredentialID = "JTI=" + id
	}
	return m, nil
}

// minted is the answer to a TokenRequest.
func minted(granted *authenticationv1.TokenRequest) (broker.Minted, error) {
	token := granted.Status.Token
	if token == "" || len(token) > maxToken || !isToken(token) || granted.Status.ExpirationTimestamp.IsZero() {
		return broker.Minted{}, notKubernetes(0)
	}
	return broker.Minted{
		Credential:       broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(token)},
		ExpiresAt:        granted.Status.ExpirationTimestamp.UTC(),
		MaxRevocationLag: maxRevocationLag,
	}, nil
}

// tokenClaims are the claims that are read from a service account token.
type tokenClaims struct {
	ID         string `json:"jti"`
	Kubernetes struct {
		Namespace      string `json:"namespace"`
		ServiceAccount struct {
			Name string `json:"name"`
			UID  string `json:"uid"`
		} `json:"serviceaccount"`
	} `json:"kubernetes.io"`
}

// claimsOf reads a token's payload, which is not verified: it comes from the
// server that signs it. A payload that cannot be read gives no claims.
func claimsOf(token string) (c tokenClaims) {
	if !payload(token, &c) {
		return tokenClaims{}
	}
	return c
}

// payload decodes that of a JWT (RFC 7519); nothing is verified.
func payload(token string, into any) bool {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return false
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	return err == nil && json.Unmarshal(body, into) == nil
}

// renewIn mints one more token for a lease's account. It makes only the objects that bind that
// account.
func (d *Driver) renewIn(ctx context.Context, c *connection, a broker.Access, g broker.Grant) (broker.Minted, error) {
	h := homeOf(a.VIM, g)
	near, _ := d.near(h, a)
	var account *corev1.ServiceAccount
	var lacking []string
	err := sideBySide(
		func() (err error) { account, err = d.find(ctx, c, h, a, g.Handle); return err },
		func() (err error) { lacking, err = c.unbound(ctx, h, near); return err },
	)
	if err != nil {
		return broker.Minted{}, err
	}
	if account == nil || account.DeletionTimestamp != nil {
		return broker.Minted{}, gone()
	}
	if err := h.leased(account, account.Namespace, g); err != nil {
		return broker.Minted{}, err
	}
	if account.Namespace != near {
		if lacking, err = c.unbound(ctx, h, account.Namespace); err != nil {
			return broker.Minted{}, err
		}
	}
	if len(lacking) > 0 {
		if err := d.bindAgain(ctx, c, h, account.Namespace, lacking); err != nil {
			return broker.Minted{}, err
		}
	}
	return c.tokenOf(ctx, account, g.TTL)
}

// near is the namespace in which the home's accounts are looked for first; known: it is not a guess.
func (d *Driver) near(h home, a broker.Access) (namespace string, known bool) {
	if namespace, known = d.homes.recall(h.key(a)); known {
		return namespace, true
	}
	return h.id, false
}

// find returns the account of that name in the home; nil if there is none.
func (d *Driver) find(ctx context.Context, c *connection, h home, a broker.Access, name string) (*corev1.ServiceAccount, error) {
	get := func(namespace string) (*corev1.ServiceAccount, error) {
		account, err := c.core.ServiceAccounts(namespace).Find(ctx, name)
		switch {
		case err != nil || account == nil:
			return nil, err
		case account.UID == "":
			return nil, notKubernetes(0)
		}
		account.Namespace = namespace
		return account, nil
	}
	first, known := d.homes.recall(h.key(a))
	if known {
		if account, err := get(first); account != nil || err != nil {
			return account, err
		}
	}
	rooms, err := c.rooms(ctx, h)
	if err != nil {
		return nil, err
	}
	for _, namespace := range rooms {
		if known && namespace == first {
			continue
		}
		if account, err := get(namespace); account != nil || err != nil {
			return account, err
		}
	}
	return nil, nil
}

// revokeIn deletes the lease's account, and with it every token that anyone made of it.
func (d *Driver) revokeIn(ctx context.Context, c *connection, a broker.Access, i broker.Issued) error {
	h := homeOf(a.VIM, i.Grant)
	if i.UID == "" {
		return d.revokeUnknown(ctx, c, h, a, i)
	}
	first, known := d.near(h, a)
	gone, err := d.removeLeased(ctx, c, h, first, i)
	if err == nil && gone {
		failpoint.At("k8s.revoke.deleted")
		return nil
	}
	if err != nil && (known || !said(err, http.StatusForbidden)) {
		return fault(err, "delete", "serviceaccounts in namespace "+first)
	}
	// It is not in the first place searched: a room of the pool may hold it.
	rooms, roomsErr := c.rooms(ctx, h)
	if roomsErr != nil {
		return roomsErr
	}
	for _, namespace := range rooms {
		if namespace == first {
			if err != nil {
				return fault(err, "delete", "serviceaccounts in namespace "+first)
			}
			continue
		}
		switch gone, err := d.removeLeased(ctx, c, h, namespace, i); {
		case err != nil:
			return fault(err, "delete", "serviceaccounts in namespace "+namespace)
		case gone:
			failpoint.At("k8s.revoke.deleted")
			return nil
		}
	}
	return c.same(ctx, a.Identity)
}

// revokeUnknown revokes a lease whose account's uid was never recorded: the labels must
// say that the account is the broker's.
func (d *Driver) revokeUnknown(ctx context.Context, c *connection, h home, a broker.Access, i broker.Issued) error {
	account, err := d.find(ctx, c, h, a, i.Handle)
	switch {
	case err != nil:
		return err
	case account == nil:
		return c.same(ctx, a.Identity)
	case !h.owns(account), i.Grant.Lease != "" && account.Labels[leaseLabel] != i.Grant.Lease:
		return foreign("serviceaccount", account.Namespace+"/"+account.Name)
	}
	if err := remove(ctx, c.core.client, "serviceaccounts", account); err != nil {
		return err
	}
	failpoint.At("k8s.revoke.deleted")
	return nil
}

// removeLeased deletes the account with the lease's uid, whatever its labels say,
// and reports whether it did. Another account of that name is left alone. A
// refusal is client-go's own.
func (d *Driver) removeLeased(ctx context.Context, c *connection, h home, namespace string, i broker.Issued) (gone bool, _ error) {
	path := namespace + "/" + i.Handle
	left, err := deleteByUID(ctx, c.core.client, "serviceaccounts", namespace, i.Handle, i.UID)
	switch {
	case notFound(err, "serviceaccounts", i.Handle):
		return false, nil
	case said(err, http.StatusConflict):
		return false, &broker.Error{
			Kind: broker.ErrConflict, Detail: "serviceaccount " + path +
				" is not the one of the lease, which is gone: somebody made another of its name",
			Remedy: "see who made it and what it may do, and delete it",
		}
	case err != nil:
		return false, err
	case left == nil:
		return true, nil
	case len(left.GetFinalizers()) > 0:
		return false, beingDeleted("serviceaccount", path)
	case !h.owns(left) || i.Grant.Lease != "" && left.GetLabels()[leaseLabel] != i.Grant.Lease:
		d.log.WarnContext(ctx, "somebody changed the labels of a lease's service account; it is deleted", "vim", h.vim, "serviceAccount", path)
	}
	return true, nil
}

// accounts lists the service accounts of a namespace, or without one of all, that match.
func (c *connection) accounts(ctx context.Context, namespace, selector string) ([]corev1.ServiceAccount, error) {
	var found []corev1.ServiceAccount
	err := list(ctx, c.core.client, "ServiceAccount", namespace, selector, func(i *item) {
		found = append(found, corev1.ServiceAccount{ObjectMeta: i.meta()})
	})
	return found, err
}

func (c *connection) removeAccounts(ctx context.Context, accounts []corev1.ServiceAccount) error {
	for i := range accounts {
		if err := remove(ctx, c.core.client, "serviceaccounts", &accounts[i]); err != nil {
			return err
		}
	}
	return nil
}

// inHomes lists the accounts of the VIM's leases, wherever they stand.
func (c *connection) inHomes(ctx context.Context, a broker.Access) ([]corev1.ServiceAccount, error) {
	leases := labelled(a) + "," + leaseLabel
	found, err := c.accounts(ctx, "", leases)
	if !isForbidden(err) {
		return found, err
	}
	pool, poolErr := c.pool(ctx, a.VIM)
	switch {
	case poolErr != nil:
		return nil, poolErr
	case len(pool) == 0:
		return nil, err // neither may it see all, nor is there a pool to look at
	}
	found = nil
	for _, room := range pool {
		more, err := c.accounts(ctx, room.namespace, leases)
		if err != nil {
			return nil, err
		}
		found = slices.Concat(found, more)
	}
	return found, nil
}
