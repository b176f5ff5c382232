package kubernetes

import (
	"context"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// maxRevocationLag is how long the API server may honour a token whose Secret is
// gone: the life of its cache of good tokens.
const maxRevocationLag = 10 * time.Second

// Issue implements [broker.Driver]. g is what Prepare returned. Once the account
// for its role and namespaces is known, it makes two requests. A role or
// namespace that the cluster does not have is ErrInvalid with the field; an object
// of a needed name that is not ours is ErrConflict.
func (d *Driver) Issue(ctx context.Context, a broker.Access, g broker.Grant) (broker.Minted, error) {
	if err := checkTTL(g.TTL); err != nil {
		return broker.Minted{}, err
	}
	ctx, end, c, err := d.connect(ctx, a)
	if err != nil {
		return broker.Minted{}, err
	}
	defer end()
	if g.Epoch > 0 && !g.ClusterWide && len(g.Namespaces) == 0 {
		return broker.Minted{}, broker.Invalid("namespaces", "are none, and the lease is not for the whole cluster")
	}
	if g.Epoch > 0 {
		return d.issueIn(ctx, c, a, g)
	}
	account := accountOf(a, g)
	known := memoryKey{vim: a.VIM, generation: a.Generation, name: account.name()}
	for attempt := 1; ; attempt++ {
		if _, err := d.shared.ensure(ctx, known, func(ctx context.Context) (string, error) { return ours, c.make(ctx, account) }); err != nil {
			return broker.Minted{}, err
		}
		m, err := c.issue(ctx, a.VIM, known.name, g)
		if err == nil {
			return m, nil
		}
		if accountGone(err, known.name) {
			// Deleted by hand since it was last seen. Once more, from the start.
			d.shared.drop(known)
			if attempt == 1 {
				d.log.WarnContext(ctx, "service account is gone from the cluster, making it again", "vim", a.VIM, "serviceAccount", known.name)
				continue
			}
		}
		return broker.Minted{}, fault(err, "create", "serviceaccounts/token in namespace "+ours)
	}
}

// issue makes the lease's Secret and a token bound to it.
func (c *connection) issue(ctx context.Context, vim, account string, g broker.Grant) (broker.Minted, error) {
	lease, err := c.makeSecret(ctx, vim, g)
	if err != nil {
		return broker.Minted{}, err
	}
	failpoint.At("k8s.issue.secret")
	m, err := c.mint(ctx, account, lease, g.TTL)
	if notFound(err, "secrets", g.Handle) {
		return broker.Minted{}, &broker.Error{
			Kind: broker.ErrConflict, Detail: "secret " + ours + "/" + g.Handle + " was deleted while the lease was being issued",
		}
	}
	if err == nil {
		failpoint.At("k8s.issue.token")
	}
	return m, err
}

// makeSecret makes the lease's Secret, or adopts the one that an attempt that died left.
func (c *connection) makeSecret(ctx context.Context, vim string, g broker.Grant) (*corev1.Secret, error) {
	immutable := true
	made, err := c.core.Secrets(ours).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: g.Handle, Namespace: ours,
			Labels: map[string]string{managedByLabel: managedBy, vimLabel: vim, leaseLabel: g.Lease},
		},
		Type:      corev1.SecretTypeOpaque,
		Immutable: &immutable,
	}, metav1.CreateOptions{})
	switch {
	case err == nil && made.UID != "":
		return made, nil
	case err == nil:
		return nil, notKubernetes(0)
	case notFound(err, "namespaces", ours):
		return nil, err
	case !alreadyExists(err):
		return nil, fault(err, "create", "secrets in namespace "+ours)
	}
	there, err := c.core.Secrets(ours).Get(ctx, g.Handle, metav1.GetOptions{})
	if err != nil {
		return nil, fault(err, "get", "secrets in namespace "+ours)
	}
	return there, belongs(there, vim, g)
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
	token := granted.Status.Token
	if token == "" || len(token) > maxToken || !isToken(token) || granted.Status.ExpirationTimestamp.IsZero() {
		return broker.Minted{}, notKubernetes(0)
	}
	return broker.Minted{
		Credential:       broker.Credential{Kind: broker.BearerToken, Token: secret.NewText(token)},
		ExpiresAt:        granted.Status.ExpirationTimestamp.UTC(),
		MaxRevocationLag: maxRevocationLag,
	}, nil
}

// Renew implements [broker.Driver]. A lease whose service account was deleted is
// over as well: every token it had is dead, which someone wanted.
func (d *Driver) Renew(ctx context.Context, a broker.Access, g broker.Grant) (broker.Minted, error) {
	if err := checkTTL(g.TTL); err != nil {
		return broker.Minted{}, err
	}
	ctx, end, c, err := d.connect(ctx, a)
	if err != nil {
		return broker.Minted{}, err
	}
	defer end()
	if g.Epoch > 0 {
		return d.renewIn(ctx, c, a, g)
	}
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
	account := accountOf(a, g).name()
	m, err := c.mint(ctx, account, lease, g.TTL)
	if notFound(err, "secrets", g.Handle) || accountGone(err, account) {
		return broker.Minted{}, gone()
	}
	return m, fault(err, "create", "serviceaccounts/token in namespace "+ours)
}

// gone is the error of a lease that has nothing upstream any more.
func gone() error {
	return &broker.Error{
		Kind: broker.ErrNotFound, Detail: "what the lease rests on is gone from the cluster", Remedy: "issue a new lease",
	}
}

// Revoke implements [broker.Driver]. Of the Secret of that name only one that
// carries this VIM's label is deleted; another's is left alone, and none of ours is there then.
// While a finalizer holds the Secret, Revoke is ErrConflict and is to be tried again.
func (d *Driver) Revoke(ctx context.Context, a broker.Access, i broker.Issued) error {
	handle := i.Handle
	ctx, end, c, err := d.connect(ctx, a)
	if err != nil {
		return err
	}
	defer end()
	if i.Grant.Epoch > 0 {
		return d.revokeIn(ctx, c, a, i)
	}
	// An inventory knows no more than the name.
	nameless := i.Grant.Role == "" && len(i.Grant.Rules) == 0
	lease, err := c.core.Secrets(ours).Get(ctx, handle, metav1.GetOptions{})
	switch {
	case nameless && (notFound(err, "secrets", handle) || said(err, http.StatusForbidden) && knowsMode(a)):
		return c.revokeNameless(ctx, a, handle, err)
	case notFound(err, "secrets", handle):
		return c.same(ctx, a.Identity)
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
	return nil
}
